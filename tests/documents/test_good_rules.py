"""The examples of "On writing good rules", in Python."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse

import chainrules as cr
from chainrules.testing import check_grad, test_frule, test_rrule

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
CONFIG = cr.ReverseConfig()


# ---- code style -----------------------------------------------------------------------------


def test_a_named_pullback_is_named_in_the_traceback():
    """foo_pullback: if it fails, the trace of the error says which one it was."""

    def foo(x):
        return 2 * x

    @cr.rrule.register(foo)
    def foo_rrule(foo, x):
        def foo_pullback(ybar):
            raise RuntimeError("in a pullback")

        return foo(x), foo_pullback

    y, pullback = cr.rrule(foo, 2)
    assert (4, "<pullback of foo>") == (y, repr(pullback))
    with pytest.raises(RuntimeError) as caught:
        cr.grad(foo)(2.0)
    assert "foo_pullback" in [entry.name for entry in caught.traceback]


# ---- zeros ----------------------------------------------------------------------------------


def test_zeros_avoid_work():
    """ZeroTangent() instead of zeros: the pullbacks before it do not run."""
    pulled = []

    @cr.primitive
    def first(x):
        return x

    @cr.rrule.register(first)
    def first_rrule(first, x):
        def first_pullback(ybar):
            pulled.append("first")
            return NO, ybar

        return first(x), first_pullback

    @cr.primitive
    def constant(x):
        return x - x

    @cr.rrule.register(constant)
    def constant_rrule(constant, x):
        def constant_pullback(ybar):
            pulled.append("constant")
            return NO, ZERO

        return constant(x), constant_pullback

    assert 1.0 == cr.grad(lambda x: constant(first(x)) + x)(2.0)
    assert ["constant"] == pulled


def test_a_pullback_is_not_called_with_zeros():
    """A rule need not handle zeros: the output is one as well."""

    def foo(x, y):
        return x

    @cr.rrule.register(foo)
    def foo_rrule(foo, x, y):
        def foo_pullback(ybar):
            raise AssertionError("called")

        return foo(x, y), foo_pullback

    _, pullback = cr.rrule(foo, 1.0, 2.0)
    assert (ZERO,) * 3 == pullback(ZERO)
    assert (NO,) * 3 == pullback(cr.thunk(lambda: NO))


# ---- thunks ---------------------------------------------------------------------------------


def scaled(calls):
    """A product with thunks that write down when they are opened."""

    @cr.primitive
    def times(a, b):
        return a * b

    @cr.rrule.register(times)
    def times_rrule(times, a, b):
        def work(name, bar):
            calls.append(name)
            return bar

        def times_pullback(ybar):
            return NO, cr.thunk(lambda: work("a", b * ybar)), cr.thunk(lambda: work("b", a * ybar))

        return times(a, b), times_pullback

    return times


def test_thunks_are_opened_only_for_active_arguments():
    calls = []
    times = scaled(calls)
    assert 3.0 == cr.grad(lambda a: times(a, 3.0))(2.0)
    assert ["a"] == calls
    assert 2.0 == cr.grad(lambda b: times(2.0, b))(3.0)
    assert ["a", "b"] == calls


def test_thunks_at_the_surface():
    """cr.grad and cr.vjp give numbers, also where the rule answers the transform itself."""
    times = scaled([])
    assert (3.0, 2.0) == cr.grad(times, argnums=(0, 1))(2.0, 3.0)
    assert (3.0, 2.0) == cr.vjp(times, 2.0, 3.0)[1](1.0)
    assert 12.0 == cr.grad(cr.grad(lambda a: times(times(a, a), a)))(2.0)


def test_a_thunk_is_a_delayed_tangent():
    calls = []

    def compute():
        calls.append(None)
        return np.array([1.0, 2.0])

    t = cr.thunk(compute)
    assert "thunk(...)" == repr(t)
    np.testing.assert_array_equal([2.0, 4.0], 2 * t)
    np.testing.assert_array_equal([2.0, 3.0], t + 1)
    assert 3.0 == np.sum(t) == t.sum()
    assert (2.0, 2) == (t[1], len(t))
    assert 1 == len(calls)
    with pytest.raises(cr.TangentError, match="a thunk cannot be written to"):
        t[0] = 3.0
    assert 5.0 == cr.unthunk(5.0)


def test_in_place_thunks():
    """An InplaceableThunk adds itself into what the tape owns, without an array of its own."""
    added, computed = [], []

    @cr.primitive
    def pick(x, i):
        return cr.value(x)[i] if not isinstance(x, np.ndarray) else x[i]

    @cr.rrule.register(pick)
    def pick_rrule(pick, x, i):
        def pick_pullback(ybar):
            def add_into(buffer):
                added.append(i)
                buffer[i] += ybar
                return buffer

            def whole():
                computed.append(i)
                xbar = np.zeros_like(x)
                xbar[i] = ybar
                return xbar

            return NO, cr.InplaceableThunk(add_into, cr.thunk(whole)), NO

        return x[i], pick_pullback

    gradient = cr.grad(lambda x: pick(x, 0) * pick(x, 2) + pick(x, 0))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal([4.0, 0.0, 1.0], gradient)
    assert ([0, 2, 0], []) == (added, computed)


# ---- projection -----------------------------------------------------------------------------


@cr.primitive
def product(a, b):
    return a @ b


@cr.rrule.register(product)
def product_rrule(product, a, b):
    project_a, project_b = cr.ProjectTo(a), cr.ProjectTo(b)

    def product_pullback(ybar):
        abar = cr.thunk(lambda: project_a(ybar @ np.conj(b.T)))
        return NO, abar, cr.thunk(lambda: project_b(a.T @ ybar))

    return product(a, b), product_pullback


def test_product_of_dense_matrices():
    rng = np.random.default_rng(0)
    test_rrule(product, rng.normal(size=(2, 3)), rng.normal(size=(3, 2)), second_order=False)


@pytest.mark.parametrize("form", ["dia", "csr", "csc", "coo"])
def test_a_diagonal_matrix_keeps_its_diagonal(form):
    """The cotangent of a Diagonal is one: what is off the diagonal cannot be perturbed."""
    a = scipy.sparse.diags_array([1.0, 2.0, 3.0]).asformat(form)
    b = np.arange(9.0).reshape(3, 3) + 1
    y, pullback = cr.vjp(product, a, b)
    abar, bbar = pullback(np.ones((3, 3)))
    np.testing.assert_array_equal(a.toarray() @ b, y)
    assert (type(a), form, 3) == (type(abar), abar.format, abar.nnz)
    np.testing.assert_array_equal(np.diag(b.sum(1)), abar.toarray())
    np.testing.assert_array_equal(np.outer([1.0, 2.0, 3.0], np.ones(3)), bbar)


def test_float32_stays_float32():
    a, b = np.ones((2, 2), np.float32), np.ones((2, 2))
    abar, bbar = cr.grad(lambda a, b: np.sum(product(a, b)), argnums=(0, 1))(a, b)
    assert (np.float32, np.float64) == (abar.dtype, bbar.dtype)


# ---- structs --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Bar:
    a: float

    def __call__(self, x, y):
        return self.a + x + y


@dataclasses.dataclass(frozen=True)
class OtherBar:
    a: float


@cr.rrule.register(Bar)
def new_bar_rrule(new, a):
    def new_bar_pullback(bar_bar):
        return NO, bar_bar.a

    return new(a), new_bar_pullback


@cr.rrule.register(cr.instances(Bar))
def bar_rrule(bar, x, y):
    def bar_pullback(ybar):
        # Notice that the first is not NoTangent().
        return cr.Tangent(Bar, a=ybar), ybar, ybar

    return bar(x, y), bar_pullback


def test_constructors():
    """The rule of a constructor has the class for its key, and is that of no other class."""
    y, pullback = cr.rrule(Bar, 2.0)
    assert Bar(2.0) == y
    assert (NO, 3.0) == pullback(cr.Tangent(Bar, a=3.0))
    assert cr.rrule(OtherBar, 2.0) is None
    assert cr.rrule(type, 2.0) is None
    test_rrule(Bar, 2.0)


def test_functors():
    y, pullback = cr.rrule(Bar(1.0), 2.0, 3.0)
    assert 6.0 == y
    assert (cr.Tangent(Bar, a=4.0), 4.0, 4.0) == pullback(4.0)
    test_rrule(Bar(1.0), 2.0, 3.0)
    assert cr.rrule(OtherBar(1.0), 2.0, 3.0) is None


def test_a_functor_inside_a_function():
    """Its fields are inputs as well."""
    gradient = cr.grad(lambda bar, x: bar(x, x) * bar.a)(Bar(2.0), 3.0)
    assert cr.Tangent(Bar, a=8.0 + 2.0) == gradient
    assert 4.0 == cr.grad(lambda x: Bar(x)(x, 1.0) * 2)(3.0)


class Child(Bar):
    pass


def test_a_functor_of_a_subclass_has_the_rule_of_its_base():
    assert 6.0 == cr.rrule(Child(1.0), 2.0, 3.0)[0]


# ---- types that a pullback accepts ----------------------------------------------------------


def test_natural_structural_and_thunked_cotangents():
    """All of them are the same to a pullback: linear operations are defined on each."""

    def double(x):
        return 2 * x[0], 2 * x[1]

    @cr.rrule.register(double)
    def double_rrule(double, x):
        def double_pullback(ybar):
            return NO, cr.Tangent(tuple, 2 * ybar[0], 2 * ybar[1])

        return double(x), double_pullback

    _, pullback = cr.rrule(double, (1.0, 2.0))
    structural = cr.Tangent(tuple, 1.0, 3.0)
    for ybar in ((1.0, 3.0), structural, cr.thunk(lambda: structural)):
        assert (NO, cr.Tangent(tuple, 2.0, 6.0)) == pullback(ybar)
    zeros = cr.Tangent(tuple, ZERO, cr.thunk(lambda: 3.0))
    assert cr.Tangent(tuple, 0.0, 6.0) == pullback(zeros)[1]
    assert cr.Tangent(complex, re=1.0) == cr.Tangent(complex, re=1.0, im=ZERO)


def test_a_date_and_its_period():
    """A type whose tangents are of another type: a point in time, and a time span."""
    day = np.datetime64("2021-07-30")
    assert np.datetime64("2021-08-01") == day + np.timedelta64(2, "D")
    assert NO == cr.ProjectTo(day)(1.0)


# ---- not implemented ------------------------------------------------------------------------

MESSAGE = "the derivative of bessel in the order is not implemented: see issue 160"


def make_bessel(by_hand):
    @cr.primitive
    def bessel(order, x):
        return np.cos(order * np.arccos(x))

    def slope(y, order, x):
        return order * np.sin(order * np.arccos(x)) / np.sqrt(1 - x * x)

    if not by_hand:
        cr.scalar_rule(bessel, cr.not_implemented(MESSAGE), slope)
        return bessel

    @cr.frule.register(bessel)
    def bessel_frule(tangents, bessel, order, x):
        _, order_dot, xdot = tangents
        y = bessel(order, x)
        return y, cr.not_implemented(MESSAGE) * order_dot + slope(y, order, x) * xdot

    @cr.rrule.register(bessel)
    def bessel_rrule(bessel, order, x):
        y = bessel(order, x)

        def bessel_pullback(ybar):
            return NO, cr.not_implemented(MESSAGE), slope(y, order, x) * ybar

        return y, bessel_pullback

    return bessel


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_missing_partial_is_harmless_where_it_is_not_used(by_hand):
    bessel = make_bessel(by_hand)
    expected = -np.sin(0.6), 2 * 2 * 0.3  # the Chebyshev polynomial 2 x^2 - 1
    for f in (lambda x: bessel(2.0, x), lambda x: bessel(cr.stop_gradient(2.0 + x - x), x)):
        np.testing.assert_allclose(expected[1], cr.grad(f)(0.3))
        np.testing.assert_allclose(expected[1], cr.jvp(f, (0.3,), (1.0,))[1])
    np.testing.assert_allclose(expected[1], cr.grad(bessel, argnums=1)(2.0, 0.3))
    report = test_rrule(bessel, 2.0, 0.3)
    assert any("order" in reason for reason in report.skipped)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_missing_partial_is_an_error_where_it_would_reach_a_result(by_hand):
    bessel = make_bessel(by_hand)
    match = rf"{MESSAGE}\n  marked not_implemented in test_good_rules\.py:\d+"
    for f in (bessel, lambda order, x: np.exp(3 * bessel(2 * order, x))):
        for transform in (cr.grad, cr.jacfwd, cr.jacrev):
            with pytest.raises(cr.MissingDerivativeError, match=match):
                transform(f)(2.0, 0.3)
        with pytest.raises(NotImplementedError, match=match):
            cr.jvp(f, (2.0, 0.3), (1.0, 1.0))


def test_arithmetic_of_a_missing_partial():
    t = cr.not_implemented(MESSAGE)
    assert t is t + 1.0 is 1.0 + t is -t is 3 * t is t + t
    assert t is np.array([1.0]) + t is np.array([1.0]) * t
    assert ZERO == t * ZERO == ZERO * t
    assert NO == t * NO
    assert t is cr.ProjectTo(1.0)(t)
    for refused in (lambda: t - 1, lambda: t / 2, lambda: float(t), lambda: list(t)):
        with pytest.raises(cr.MissingDerivativeError, match=MESSAGE):
            refused()


# ---- rule definition tools ------------------------------------------------------------------


def test_non_differentiable_for_some_types():
    """The product of strings: times itself is differentiable for numbers."""

    @cr.primitive
    def times(a, b):
        return a * b

    cr.bilinear_rule(times, lambda ybar, a, b: ybar * b, lambda ybar, a, b: a * ybar)
    assert 3.0 == cr.grad(lambda a: times(a, 3.0))(2.0)

    @cr.primitive
    def join(a, b):
        return f"{a}{b}"

    cr.non_differentiable(join, str, str)
    y, pullback = cr.rrule(join, "a", "b")
    assert ("ab", (NO, NO, NO)) == (y, pullback(NO))
    assert ("ab", ZERO) == cr.frule((NO, NO, NO), join, "a", "b")
    assert cr.rrule(join, 1.0, 2.0) is None
    assert cr.which(cr.rrule, join, "a", "b").startswith(
        "rrule of join for (str, str): non-differentiable"
    )


def test_scalar_rules():
    """Any number of arguments and of outputs."""

    @cr.primitive
    def polar(x, y):
        return np.hypot(x, y), np.arctan2(y, x)

    cr.scalar_rule(
        polar,
        (lambda y, a, b: a / y[0], lambda y, a, b: b / y[0]),
        (lambda y, a, b: -b / y[0] ** 2, lambda y, a, b: a / y[0] ** 2),
    )
    test_rrule(polar, 3.0, 4.0)
    test_frule(polar, 3.0, 4.0)
    check_grad(lambda x, y: polar(x, y)[0] * polar(x, y)[1], 3.0, 4.0)
    ((r_x, r_y), (t_x, t_y)) = cr.derivatives_given_output(polar(3.0, 4.0), polar, 3.0, 4.0)
    np.testing.assert_allclose([0.6, 0.8, -0.16, 0.12], [r_x, r_y, t_x, t_y])


def test_derivatives_given_output():
    assert ((3.0, 2.0),) == cr.derivatives_given_output(6.0, np.multiply, 2.0, 3.0)
    assert ((2.0,),) == cr.derivatives_given_output(2.0, np.exp, None)
    with pytest.raises(cr.MissingRuleError, match="is not defined by scalar_rule"):
        cr.derivatives_given_output(1.0, np.sum, np.ones(1))


# ---- calling methods of oneself -------------------------------------------------------------


def test_a_pullback_outside_its_rule():
    """_double_it_pullback: a pullback that closes over nothing can be a function of its own."""

    def double_it(x):
        return 2 * x

    def double_it_pullback(ybar):
        return NO, 2 * ybar

    @cr.rrule.register(double_it)
    def double_it_rrule(double_it, x):
        return double_it(x), double_it_pullback

    y, pullback = cr.rrule(double_it, np.array([2.0, 3.0]))
    np.testing.assert_array_equal([4.0, 6.0], y)
    np.testing.assert_array_equal([20.0], pullback(cr.thunk(lambda: np.array([10.0])))[1])
