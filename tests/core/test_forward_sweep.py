"""Forward sweep along a tape: one run serves both modes; every kind of entry is pushed through."""

import functools
import importlib
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
import chainrules.numpy as cnp
from chainrules.reverse import forward_sweep
from chainrules.rules.containers import iterate_leaves
from chainrules.rules.engines.arguments import Arguments
from chainrules.rules.linear import jacobians

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def tapes_for_few_numbers(monkeypatch):
    """Of so few numbers jacobian would not record a tape."""
    module = importlib.import_module("chainrules.reverse.jacrev")  # a function has its name
    monkeypatch.setattr(module, "FORWARD_AT_ONCE", 1)
    monkeypatch.setattr(module, "FORWARD_IF_SMALL", 1)


A = RNG.normal(size=(5, 3))
X = np.array([1.3, 0.7, 2.1])


def buffer(x):
    y = np.zeros(6, like=x)
    for i in range(6):
        y[i] = x[i % 3] * x[(i + 1) % 3]
    y[1:3] = y[2:4] * 2
    return y


def number_that_a_node_and_then_a_number_read(x):
    s = np.sum(x * x)
    both = np.stack([s, x[0]])
    return cnp.array([s * 2.0, np.sin(s), *both, s])


@cr.primitive
def doubled(x):
    return 2 * x * x


@cr.rrule.register(doubled)
def doubled_rrule(doubled, x):
    return doubled(x), lambda ybar: (cr.NoTangent(), 4 * x * ybar)


PROGRAMS = {
    "arrays": lambda x: np.tanh(A @ x) * np.sum(x),
    "numbers": lambda x: cnp.array([x[0] * x[1], np.sin(x[2]), x[0] / x[2], 2.0]),
    "joined": lambda x: np.concatenate([x, x**2, np.ones(2)]),
    "broadcast": lambda x: np.outer(x, x) + x[:, None] * np.ones((3, 3)) + x + np.ones((4, 1, 3)),
    "one operand broadcast": lambda x: x + np.ones((2, 3)),
    "buffer": buffer,
    "a number of a node": number_that_a_node_and_then_a_number_read,
    "structural zeros": lambda x: np.sqrt(np.where(x > 1, x - 1, 0.0)) * X,
    "several outputs": lambda x: np.linalg.qr(np.outer(x, x) + np.eye(3))[1],
    "reductions": lambda x: np.stack([np.max(x), np.prod(x), np.linalg.norm(x), np.mean(x)]),
    "container": lambda x: {"a": x * 2, "b": [x[0] ** 2, (x, 1)]},
    "complex": lambda x: np.abs((x + 1j * x**2) * np.exp(1j * x)),
    "float32": lambda x: x.astype(np.float32) * np.float32(2) * np.cos(x),
    "rule by hand": doubled,
    "rule by hand, inside": lambda x: doubled(x * x) + x,
    "scan": lambda x: cr.scan(lambda c, t: (c * t + np.sin(c), c), x[0], x)[1],
    "map": lambda x: cr.map(lambda t: t * np.sum(x), x),
    "constant": lambda x: np.ones(4),
    "the argument": lambda x: x,
}


def flat(t):
    if isinstance(t, dict):
        t = list(t.values())
    if isinstance(t, list | tuple):
        parts = [flat(part) for part in t if not isinstance(part, cr.NoTangent)]
        return np.concatenate(parts)
    return np.ravel(t)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_jacobian_is_that_of_forward_mode(f):
    np.testing.assert_allclose(flat(cr.jacobian(f)(X)), flat(cr.jacfwd(f)(X)), rtol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_jacobian_runs_the_function_once(f):
    runs = []

    def counted(x):
        runs.append(1)
        return f(x)

    with np.errstate(all="ignore"):
        cr.jacobian(counted)(X)
    assert len(runs) == 1


@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev, cr.jacobian, cr.hessian])
def test_a_jacobian_runs_the_function_once_whatever_its_size(transform):
    for n in (1, 4, 30, 300):
        for m in (1,) if transform is cr.hessian else (1, 4, 100, 3000):
            runs = []

            def f(x, m=m, runs=runs):
                runs.append(1)
                total = np.sum(x * x)
                return total if m == 1 else total * np.ones(m)

            transform(f)(np.ones(n))
            assert len(runs) == 1


@pytest.mark.parametrize("name", ["arrays", "buffer", "joined", "several outputs"])
@pytest.mark.parametrize("transform", [cr.jacobian, cr.jacrev])
def test_directions_that_do_not_fit_go_in_several_blocks(name, transform, monkeypatch):
    f = PROGRAMS[name]
    expected = transform(f)(X)
    for run, largest in ((2, 10**6), (512, 20), (512, 1)):
        monkeypatch.setattr(jacobians, "LARGEST_RUN", run)
        monkeypatch.setattr(jacobians, "LARGEST_PULLED", largest)
        monkeypatch.setattr(forward_sweep, "LARGEST_BLOCK", largest)
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-14, atol=1e-15)


def test_a_view_of_what_is_scaled_in_place_afterwards():
    n = 5000  # large, so that products are made in the memory of what nobody reads any more

    def f(x):
        y = np.sin(np.resize(x, n))
        first = y[: n // 2]
        z = y * 2.0
        w = z * z + y
        return np.concatenate([first, z * 3.0, w * np.cos(w), np.reshape(w, (2, -1))[0]])

    np.testing.assert_allclose(cr.jacobian(f)(X), cr.jacfwd(f)(X), rtol=1e-12, atol=1e-14)


@cr.primitive
def both(x):
    return x + 0.0, 2 * x


@cr.rrule.register(both)
def both_rrule(both, x):
    return both(x), lambda bars: (cr.NoTangent(), cr.unthunk(bars[0]) + 2 * cr.unthunk(bars[1]))


def aliases(x):
    y = np.zeros(3, like=x)
    y[:] = x
    shifted, same, (first, second) = y + 1.0, +y, both(y)
    y[0] = 0.0
    y[1:] *= 2.0
    return np.concatenate([shifted, same, first, second, y])


def test_what_shows_an_array_that_is_written_to_afterwards():
    np.testing.assert_array_equal(cr.jacobian(aliases)(X), cr.jacfwd(aliases)(X))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_second_order_of_every_program(name):
    f = PROGRAMS[name]

    def of(transform):
        return lambda x: flat(transform(f)(x))

    direction = np.array([0.3, -1.0, 0.5])
    expected = cr.jvp(of(cr.jacfwd), (X,), (direction,))[1]
    found = cr.jvp(of(cr.jacobian), (X,), (direction,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_second_order():
    f = PROGRAMS["arrays"]
    for outer in (cr.jacfwd, cr.jacrev, cr.jacobian):
        np.testing.assert_allclose(
            outer(cr.jacobian(f))(X), cr.jacfwd(cr.jacfwd(f))(X), rtol=1e-12, atol=1e-14
        )


OPERATIONS = [
    lambda a, b: a * b,
    lambda a, b: a - 2.0 * b,
    lambda a, b: np.sin(a) + b[0],
    lambda a, b: np.where(a > b, a, b * b),
    lambda a, b: np.cumsum(a) / (1.0 + b * b),
    lambda a, b: np.outer(a, b) @ a,
    lambda a, b: np.concatenate([a[1:], b[:1]]),
    lambda a, b: np.stack([np.sum(a), b[1], a[0] * b[2]]),
    lambda a, b: a[::-1] * np.max(b),
    lambda a, b: np.linalg.solve(np.eye(3) * 4 + np.outer(b, b), a),
    lambda a, b: doubled(a) * 0.1 + b,
    lambda a, b: of_numbers(*a, *b),
]


def of_numbers(a, b, c, d, e, f):
    x = np.sin(a * b + c) - d / (2.0 + b * b)
    y = np.hypot(x * e - a, 1.0) * 0.5 + x
    return np.stack([x * y, y - f * 2.0, y * y + c])


def written(a, b):
    y = np.zeros(3, like=a)
    y[0] = a[1]
    y[1:] = b[:2]
    y[1] = y[0] * y[2]
    return y


def rewritten(a, b):
    y = np.zeros((2, 3), like=a)
    y[0] = a
    before, view = y * 1.0, y[:, 1:]
    y[1, 1:] = y[0, :2] * b[0]
    first = y[0, 0]
    y[0, 0] = b[1]
    other = y.copy()
    y[:, 0] = y[1, 1:]
    y.T[2] = b[:2]
    return before[0] + y[1] * other[0] + first + np.sum(view, axis=0)[0]


OPERATIONS.extend([written, rewritten])


@given(
    st.lists(
        st.tuples(st.integers(0, len(OPERATIONS) - 1), st.integers(0, 9), st.integers(0, 9)),
        min_size=1,
        max_size=6,
    )
)
def test_random_programs(steps):
    def f(x):
        values = [x, x * 0.5]
        for k, i, j in steps:
            values.append(OPERATIONS[k](values[i % len(values)], values[j % len(values)]))
        return np.concatenate([values[-1], values[-2]])

    expected = cr.jacfwd(f)(X)
    scale = max(1.0, np.abs(expected).max())
    for transform in (cr.jacobian, cr.jacrev):
        np.testing.assert_allclose(transform(f)(X) / scale, expected / scale, atol=1e-9)


class Fit:
    """A loss whose data an object holds."""

    def __init__(self, data):
        self.held = {"data": [data]}

    def loss(self, w):
        return by(w, self.held["data"][0])


def by(w, x):
    return np.sum(np.exp(x @ w))


def test_blocks_are_for_small_data(monkeypatch):
    """Of large captured data a recorded program needs a fraction of the memory."""
    w, data, small = np.full(7, 0.1), np.ones((1000, 7)), np.ones((10, 7))
    made = []

    class Counted(jacobians.BlockLevel):
        def __init__(self, *args):
            made.append(args[0])
            super().__init__(*args)

    monkeypatch.setattr(jacobians, "BlockLevel", Counted)
    monkeypatch.setattr(jacobians, "LARGEST_BLOCK", 1000)
    for transform in (cr.jacfwd, cr.hessian):
        for x in (data, small):
            loss = Fit(x).loss
            calls: list[tuple] = [(loss, ()), (by, (x,))]
            calls += [(lambda w, x=x: by(w, x), ()), (lambda w, f=loss: f(w), ())]
            for function, others in calls:
                made.clear()
                found = transform(function)(w, *others)
                assert np.shape(found) in ((7,), (7, 7))
                assert made == ([7] if x is small else [])


def test_the_largest_array_is_looked_for_in_all_that_a_function_can_read():
    sparse = pytest.importorskip("scipy.sparse")
    matrix, fit = sparse.eye_array(30, format="csr"), Fit(np.ones((1000, 7)))

    def largest(f, *args):
        return Arguments("jacfwd", f, 0, args, {}).largest()

    assert largest(by, X, np.ones((40, 3))) == 120
    assert largest(lambda w: by(w, matrix), X) == 30
    assert largest(lambda w: fit.loss(w), X) == 7000
    assert largest(functools.partial(by, x=np.ones(50)), X) == 50
    assert largest(cr.grad(fit.loss), X) == 7000


class Pair(NamedTuple):
    u: object
    v: object


ROW_INPUTS = [
    *(1.5, np.float32(1.5), np.float64(1.5), 2, np.array(1.5), np.arange(3), np.ones((2, 2))),
    *(np.zeros(0), np.ones(3, np.float32), np.ones(3)[::2], [1.0, 2, np.ones(2), "name"]),
    *((np.ones((2, 1)), (1.0, np.array(2.0))), {"a": 1.0, "b": np.ones(2)}, [np.zeros(0), 1.0]),
    *(Pair(1.0, np.ones(2)), {"w": np.ones((2, 2)), "layers": [np.ones(2), 0.5]}),
]


def sum_of_sines(x, also=()):
    leaves = [leaf for leaf in iterate_leaves((x, also)) if not isinstance(leaf, str)]
    return sum((np.sum(np.sin(leaf)) for leaf in leaves), 0.0)


def form_of(t):
    """The classes, dtypes, shapes and numbers of a derivative."""
    if isinstance(t, tuple | list):
        return type(t), [form_of(part) for part in t]
    if isinstance(t, dict):
        return type(t), {key: form_of(part) for key, part in t.items()}
    if hasattr(t, "dtype"):
        return type(t), t.dtype, np.shape(t), np.round(t, 6).tolist()
    return repr(t)


@pytest.mark.parametrize("x", ROW_INPUTS, ids=repr)
def test_the_row_of_one_number_has_the_form_that_forward_mode_gives_it(x):
    def both(f, *args, **words):
        made = [t(f, **words)(*args) for t in (cr.jacfwd, cr.jacrev, cr.jacobian)]
        assert form_of(made[0]) == form_of(made[1]) == form_of(made[2])

    both(sum_of_sines, x)
    both(lambda x: np.array([sum_of_sines(x)]), x)
    if getattr(x, "dtype", None) != np.float32:
        # A row has the dtype of the number in forward mode, and that of the argument in reverse.
        both(sum_of_sines, x, np.ones(2), argnums=(0, 1))
        both(lambda x: np.float64(2.0) * sum_of_sines(x), x)
        both(lambda x: 1.0 + 0.0 * sum_of_sines(x), x)


def test_the_row_of_one_number_may_be_written_to():
    x = np.ones(3)
    y = cr.jacrev(lambda a, b: np.sum(a + b), argnums=(0, 1))(x, x)
    y[0][:] = 7.0
    np.testing.assert_array_equal(y[1], np.ones(3))
    kept = np.ones(3)
    row = cr.jacrev(lambda a: np.dot(kept, a))(x)
    row += 1
    np.testing.assert_array_equal(kept, np.ones(3))
