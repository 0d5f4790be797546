"""scipy.signal, linear systems: random ones, those at hard points, objects, refusals."""

import functools
import pickle

import numpy as np
import pytest
import scipy.signal
from differences import slope_of
from generic_points import normal
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import signal

random = functools.partial(normal, ())
SEARCH = settings(max_examples=10)
TIMES = np.linspace(0.0, 2.0, 5)


def flat(y):
    """The numbers in ``y``, as real ones."""
    if isinstance(y, tuple | list):
        return np.concatenate([np.zeros(0), *map(flat, y)])
    y = np.ravel(y)
    return np.concatenate([np.real(y), np.imag(y)]) if np.iscomplexobj(y) else y


def assert_derivatives(f, *xs, rtol=1e-5, twice=True):
    """Differences, the pairing, and the same again for the gradient of a loss."""
    positions = tuple(range(len(xs)))
    xdots = tuple(random(*np.shape(x), seed=5) for x in xs)
    weights = random(*flat(f(*xs)).shape, seed=6)

    def loss(*xs):
        y = flat(f(*xs))
        return np.sum(weights * y + 0.3 * np.sin(y))

    gradient = cr.grad(loss, argnums=positions)

    def along(*xs):
        return sum(np.sum(xbar * xdot) for xbar, xdot in zip(gradient(*xs), xdots))

    y, ydot = cr.jvp(lambda *xs: flat(f(*xs)), xs, xdots)
    np.testing.assert_array_equal(flat(f(*xs)), y)
    expected = slope_of(lambda *xs: flat(f(*xs)), xs, xdots)
    scale = 1 + np.max(np.abs(expected))
    np.testing.assert_allclose(expected, ydot, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(along(*xs), cr.jvp(loss, xs, xdots)[1], rtol=1e-8, atol=1e-8)
    if not twice:
        return
    expected = slope_of(lambda *xs: flat(gradient(*xs)), xs, xdots)
    scale = 1 + np.max(np.abs(expected))
    for found in (cr.jvp(gradient, xs, xdots)[1], cr.grad(along, argnums=positions)(*xs)):
        np.testing.assert_allclose(expected, flat(found), rtol=10 * rtol, atol=10 * rtol * scale)


def stable(n, inputs, outputs, seed):
    """Matrices whose eigenvalues are apart and have negative real parts."""
    a = np.diag(-0.5 - 0.7 * np.arange(n)) + 0.1 * random(n, n, seed=seed)
    return a, random(n, inputs, seed=seed), random(outputs, n, seed=seed), random(outputs, inputs)


SIZES = st.integers(1, 4)
SEEDS = st.integers(0, 99)


@SEARCH
@given(n=SIZES, inputs=st.integers(1, 2), outputs=st.integers(1, 2), seed=SEEDS)
def test_random_state_spaces(n, inputs, outputs, seed):
    parts = stable(n, inputs, outputs, seed)
    u, x0 = random(5, inputs, seed=seed), random(n, seed=seed)
    method = ("zoh", "foh", "bilinear", "euler", "backward_diff")[seed % 5]
    for f, *xs in (
        (lambda *parts: signal.ss2tf(*parts, input=inputs - 1), *parts),
        (lambda dt, *parts: signal.cont2discrete(parts, dt, method), 0.3, *parts),
        (lambda u, x0, *p: signal.lsim(p, u, TIMES, x0, seed % 2 == 0), u, x0, *parts),
        (lambda u, x0, *p: signal.dlsim((*p, 0.3), u, x0=x0), u, x0, *parts),
    ):
        assert_derivatives(f, *xs, twice=seed % 4 == 0)


@pytest.mark.slow
@SEARCH
@given(count=st.integers(0, 4), more=st.integers(0, 2), zeros=st.integers(0, 2), seed=SEEDS)
def test_random_transfer_functions(count, more, zeros, seed):
    poles = -0.4 - 0.6 * np.arange(count + more) - 0.1 * np.abs(random(count + more, seed=seed))
    den = np.poly(poles) * 1.7 if len(poles) else np.array([1.7])
    num = np.poly(-0.3 - 0.5 * np.arange(count))
    num, den = np.atleast_1d(num), np.atleast_1d(den)

    def with_zeros(x):
        return np.concatenate([np.zeros(zeros), x])

    w = np.array([0.3, 1.1])
    functions = [
        lambda num, den: signal.tf2ss(num, with_zeros(den)),
        lambda num, den: signal.tf2zpk(num, with_zeros(den)),
    ]
    if len(poles):
        functions += [
            signal.residue,
            lambda num, den: signal.cont2discrete((num, den), 0.3),
            lambda num, den: signal.step((num, den), N=4),
            lambda num, den: signal.bode((num, den), w),
        ]
    for f in functions:
        assert_derivatives(f, num, den, twice=seed % 4 == 0)


@SEARCH
@given(
    order=st.integers(1, 7),
    kind=st.sampled_from(["low", "high", "band", "bandstop"]),
    analog=st.booleans(),
    ftype=st.sampled_from(["butter", "cheby1", "cheby2", "ellip", "bessel"]),
)
def test_filters_in_sections(order, kind, analog, ftype):
    wn = np.array([0.2, 0.5]) if kind.startswith("band") else np.array(0.3)
    order = max(order // 2, 1) if kind.startswith("band") else order

    def sections(wn):
        return signal.iirfilter(order, wn, 1, 30, kind, analog, ftype, "sos")

    np.testing.assert_array_equal(
        scipy.signal.iirfilter(order, wn, 1, 30, kind, analog, ftype, "sos"),
        cr.jvp(sections, (wn,), (wn,))[0],
    )
    step = 1e-6
    expected = (sections(wn * (1 + step)) - sections(wn * (1 - step))) / (2 * step)
    scale = np.max(np.abs(expected))
    found = cr.jvp(sections, (wn,), (wn,))[1]
    np.testing.assert_allclose(expected, found, rtol=1e-5, atol=1e-6 * scale)
    jacobian = cr.jacrev(sections)(wn)
    paired = jacobian * wn if wn.ndim == 0 else jacobian @ wn
    np.testing.assert_allclose(found, paired, rtol=1e-9, atol=1e-9 * scale)


# ---- hard points ------------------------------------------------------------------------------


def test_the_characteristic_polynomial_where_eigenvalues_meet():
    """A double integrator: its eigenvalues are both 0, its transfer function is smooth."""
    parts = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.eye(1, 2), np.eye(1)
    assert_derivatives(signal.ss2tf, *parts)
    assert_derivatives(lambda a: signal.cont2discrete((a, *parts[1:]), 0.1), parts[0])
    assert_derivatives(lambda a: signal.freqresp((a, *parts[1:]), [0.3, 2.0]), parts[0])


@pytest.mark.parametrize("seed", range(40))
def test_the_characteristic_polynomial_of_eigenvalues_of_many_sizes(seed):
    """By whatever way, it is that which their derivatives give where they are apart."""
    draw = np.random.default_rng(seed)
    n, spread = int(draw.integers(2, 13)), draw.uniform(0, 3)
    a = np.diag(-np.exp(spread * draw.normal(size=n))) + 0.1 * draw.normal(size=(n, n))
    adot = draw.normal(size=(n, n)) * np.max(np.abs(a))
    b, c, d = np.zeros((n, 1)), np.zeros((1, n)), np.zeros((1, 1))
    found = cr.jvp(lambda a: signal.ss2tf(a, b, c, d)[1], (a,), (adot,))[1]
    np.testing.assert_allclose(cr.jvp(np.poly, (a,), (adot,))[1], found, rtol=1e-8)


def test_a_leading_coefficient_of_zero_moves_the_finite_roots():
    """Whatever its own root does, which comes from infinity."""

    def zero(lead):
        return signal.tf2zpk(cr.array([lead, 2.0, 3.0]), [1.0, 5.0, 6.0])[0][-1]

    with pytest.warns(scipy.signal.BadCoefficients):
        found = cr.grad(zero)(0.0)
    roots = [np.roots([lead, 2.0, 3.0])[-1] for lead in (1e-5, -1e-5)]
    np.testing.assert_allclose((roots[0] - roots[1]) / 2e-5, found, rtol=1e-6)


def test_a_leading_zero_of_the_denominator():
    def pole(lead):
        return signal.tf2zpk([1.0], cr.array([lead, 2.0, 3.0]))[1][-1]

    roots = [np.roots([lead, 2.0, 3.0])[-1] for lead in (1e-5, -1e-5)]
    np.testing.assert_allclose((roots[0] - roots[1]) / 2e-5, cr.grad(pole)(0.0), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
def test_an_object_whose_leading_coefficient_is_zero():
    """A controller that has no derivative part yet: it feels what one would do."""

    def last(gains, family=signal):
        system = family.lti([gains[0], gains[1], 0.3], [1.0, 2.0, 0.5])
        return system.output(TIMES, TIMES)[1][-1] + system.bode([0.7])[1][0]

    gains = np.array([0.0, 0.7])
    step = 1e-5
    expected = [(last(gains + step * u, scipy.signal) - last(gains - step * u, scipy.signal))
                for u in np.eye(2)]  # fmt: skip
    np.testing.assert_allclose(np.array(expected) / (2 * step), cr.grad(last)(gains), rtol=1e-6)
    assert cr.jvp(lambda g: signal.lti(g, [1.0, 2.0]).num, (gains,), (gains,))[0].shape == (1,)


def test_the_leading_zero_of_a_numerator_feeds_through():
    def through(lead):
        _, _, c, d = signal.tf2ss(cr.array([lead, 1.0, 2.0]), np.array([1.0, 3.0, 4.0]))
        return 2 * d[0, 0] + np.sum(c * np.array([1.0, 10.0]))

    with pytest.warns(scipy.signal.BadCoefficients):
        assert cr.grad(through)(0.0) == 2 - 3 - 40


def test_an_input_of_zeros_still_counts():
    system = [1.0], [1.0, 2.0]

    def last(u):
        return signal.lsim(system, u, TIMES)[1][-1]

    found = cr.grad(last)(np.zeros(5))
    np.testing.assert_allclose([scipy.signal.lsim(system, u, TIMES)[1][-1] for u in np.eye(5)],
                               found, atol=1e-14)  # fmt: skip


@pytest.mark.parametrize("f", [signal.residue, signal.residuez])
def test_repeated_roots_have_no_fractions(f):
    with pytest.raises(cr.MissingRuleError, match=r"repeated roots.*test_systems\.py"):
        cr.grad(lambda b: np.sum(np.real(f(b, [1.0, 2.0, 1.0])[0])))(np.array([1.0, 3.0]))


@pytest.mark.parametrize("f", [signal.invres, signal.invresz])
def test_fractions_of_repeated_poles(f):
    def of_first(r, p):
        return f(r, cr.array([p[0], p[0], p[1], p[1], p[1]]), [0.3])

    assert_derivatives(of_first, random(5), np.array([-0.3, -1.2]))


def test_errors_of_scipy():
    one = np.ones(2)
    with pytest.raises(ValueError, match="Improper"):
        cr.grad(lambda x: signal.tf2ss(x, [1.0])[3])(one)
    with pytest.raises(ValueError, match="equally spaced"):
        cr.grad(lambda t: np.sum(signal.lsim(([1.0], [1.0, 2.0]), t, t**2)[1]))(TIMES)
    with pytest.raises(AttributeError, match="continuous-time"):
        cr.grad(lambda u: np.sum(signal.lsim(scipy.signal.dlti([1.0], [1.0]), u, TIMES)[1]))(TIMES)


# ---- objects ----------------------------------------------------------------------------------

NUM, DEN = np.array([0.4, 0.3]), np.array([1.3, 1.5, 0.7])
PARTS = stable(2, 1, 1, 3)
ROOTS = np.array([-0.7]), np.array([-0.4, -1.9])


@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
@pytest.mark.parametrize(
    "f",
    [
        lambda num, den: signal.lti(num, den).step(T=TIMES),
        lambda num, den: signal.TransferFunction(num, den).output(TIMES**2, TIMES),
        lambda num, den: signal.TransferFunction(num, den).to_ss().impulse(T=TIMES),
        lambda num, den: signal.lti(num, den).to_zpk().bode([0.3, 0.4]),
        lambda num, den: signal.ZerosPolesGain(signal.lti(num, den)).gain,
        lambda num, den: signal.StateSpace(signal.lti(num, den)).to_tf().num,
        lambda num, den: signal.lti(num, den).poles,
        lambda num, den: signal.lti(num, den).zeros,
        lambda num, den: signal.lti(num, den).to_discrete(0.2).impulse(n=5),
        lambda num, den: signal.cont2discrete(signal.lti(num, den), 0.2).den,
        lambda num, den: signal.dlti(num, den, dt=0.2).freqresp([0.3, 0.4]),
        lambda num, den: signal.dlti(num, den).output(TIMES, None),
        lambda num, den: signal.lsim(signal.lti(num, den), TIMES, TIMES),
        lambda num, den: signal.dbode(signal.dlti(num, den, dt=0.2), [0.3, 0.4]),
    ],
)
def test_objects(f):
    assert_derivatives(f, NUM, DEN)


def test_objects_made_of_roots_and_matrices():
    assert_derivatives(lambda *parts: signal.StateSpace(*parts).to_zpk().zeros, *PARTS)
    assert_derivatives(lambda z, p: signal.ZerosPolesGain(z, p, 2.0).to_tf().num, *ROOTS)
    assert_derivatives(lambda u: signal.lsim(scipy.signal.lti(NUM, DEN), u, TIMES), TIMES)


def test_what_an_object_is():
    def look(num):
        system = signal.lti(num, DEN)
        assert isinstance(system, signal.lti)
        assert isinstance(system, signal.TransferFunction)
        assert not isinstance(system, signal.StateSpace | signal.dlti)
        assert (system.inputs, system.outputs, system.dt) == (1, 1, None)
        assert "traced" in repr(system)
        assert signal.dlti(num, DEN).dt is True
        return np.sum(system.num)

    cr.grad(look)(NUM)
    plain = signal.lti(NUM, DEN)
    assert type(plain) is type(scipy.signal.lti(NUM, DEN))
    assert isinstance(plain, signal.lti)
    assert not isinstance(plain, signal.StateSpace)
    assert issubclass(scipy.signal.StateSpace, signal.StateSpace)
    assert type(pickle.loads(pickle.dumps(plain))) is type(plain)


class Mine(signal.lti):
    def __new__(cls, *args):
        return object.__new__(cls)

    def __init__(self, *args):
        self.args = args


def test_a_class_of_the_users():
    assert Mine(1.0, 2.0).args == (1.0, 2.0)
    assert isinstance(Mine(1.0), Mine)
    assert not isinstance(signal.lti(NUM, DEN), Mine)


@pytest.mark.parametrize(
    "f",
    [
        lambda t: signal.freqresp(signal.lti([], [t, 1.0, 1.3], [5.0]), w=[1.0, 2.0])[1],
        lambda t: signal.freqresp(signal.lti([], [1.0, 2.0], t), w=[1.0, 2.0])[1],
        lambda t: signal.freqresp(signal.lti([], [1.0, 2.0], [t]), w=[1.0, 2.0])[1],
        lambda t: signal.dlti([1.0], [1.0, 0.4], dt=t).freqresp(w=[0.3, 0.7])[1],
        lambda t: signal.dlti([1.0], [1.0, t], dt=0.1).freqresp(w=[0.3, 0.7])[1],
    ],
)
def test_compiled_with_a_number_for_a_part(f):
    def g(t):
        return np.sum(np.abs(f(t)))

    compiled = cr.compile(g)
    for t in (0.3, 0.3, 0.4, 0.7):
        np.testing.assert_allclose(compiled(t), g(t), rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: signal.lti(x, DEN).to_thing(), AttributeError, "to_thing"),
        (lambda x: signal.lti(x, DEN)._as_ss(), cr.MissingRuleError, "functions of its parts"),
        (
            lambda x: signal.cont2discrete(scipy.signal.lti(NUM, DEN), x[0]),
            cr.MissingRuleError,
            "as a tuple",
        ),
    ],
)
def test_refusals(f, error, message):
    with pytest.raises(error, match=message):
        cr.grad(lambda x: np.sum(flat(f(x))))(NUM)
