"""Classes of users that say themselves what NumPy's ufuncs mean, and are no arrays: quantities."""

import numpy as np
import pytest

import chainrules as cr


class Quantity:
    def __init__(self, v):
        self.v = v

    def __mul__(self, k):
        return Quantity(self.v * getattr(k, "v", k))

    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc, method, *args, **options):
        return Quantity(getattr(ufunc, method)(*[getattr(a, "v", a) for a in args], **options))

    def __array_function__(self, f, types, args, kwargs):
        return NotImplemented


class Reflected(Quantity):
    """Without __array_function__'s way out: it answers operators alone."""

    __array_ufunc__ = None


class OneSided(Quantity):
    """It has no reflected operator: NumPy's protocol is its only say."""

    __rmul__ = None


ROWS = [3.0, np.array([1.0, 2.0]), np.ones((2, 0))]


@pytest.mark.parametrize("x", ROWS, ids=["float", "array", "empty"])
@pytest.mark.parametrize("cls", [Quantity, Reflected], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("side", ["left", "right", "twice"])
def test_on_either_side_the_derivative_goes_through(cls, side, x):
    def f(x):
        q = cls(2.0)
        made = {"left": lambda: x * q, "right": lambda: q * x, "twice": lambda: x * (q * x)}[side]
        return made().v

    expected = f(x)
    slope = 2.0 if side != "twice" else 4.0 * x
    y, ydot = cr.jvp(f, (x,), (np.ones_like(x)[()],))
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_allclose(ydot, slope * np.ones_like(x))
    y, pullback = cr.vjp(f, x)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_allclose(pullback(np.ones_like(x)[()])[0], slope * np.ones_like(x))


def test_a_ufunc_of_a_number_and_a_quantity():
    def f(x):
        return np.multiply(x, Quantity(2.0)).v

    assert cr.grad(f)(3.0) == 2.0
    assert cr.jvp(f, (3.0,), (1.0,)) == (6.0, 2.0)
    assert cr.grad(cr.grad(lambda x: np.multiply(x, Quantity(x)).v))(3.0) == 2.0


@pytest.mark.parametrize("transform", [cr.grad, lambda f: lambda x: cr.jvp(f, (x,), (1.0,))])
def test_an_operator_that_nobody_answers_is_pythons_error(transform):
    with pytest.raises(TypeError):
        transform(lambda x: (x * OneSided(2.0)).v)(3.0)


def test_numpys_numbers_and_arrays_ask_the_ufunc_where_python_asks_the_operator():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(cr.jacobian(lambda x: (x * OneSided(2.0)).v)(x), 2 * np.eye(2))
    assert cr.grad(lambda x: (x[0] * OneSided(2.0)).v)(x).tolist() == [2.0, 0.0]
    np.testing.assert_array_equal(cr.jacobian(lambda x: (x * TwoSaid(3.0)).v)(x), 3 * np.eye(2))
    assert cr.grad(lambda x: (x * TwoSaid(3.0)).v)(2.0) == 30.0


class TwoSaid(Quantity):
    """Its operator says ten times what its ufuncs say."""

    def __rmul__(self, k):
        return Quantity(10 * self.v * k)


def test_the_derivative_of_a_result_that_is_a_quantity_is_plain():
    x = np.array([1.0, 2.0])
    jacobian = cr.jacobian(lambda x: Quantity(x) * 2.0)(x)
    assert type(jacobian) is np.ndarray
    np.testing.assert_array_equal(jacobian, 2 * np.eye(2))
    y, ydot = cr.jvp(lambda x: Quantity(x) * 2.0, (x,), (x,))
    assert (type(y), type(ydot)) == (Quantity, np.ndarray)
    np.testing.assert_array_equal(ydot, 2 * x)
    assert cr.grad(lambda x: Quantity(x) * 3.0)(2.0) == 3.0


def test_so_is_the_derivative_of_an_argument_that_is_one():
    x = np.array([1.0, 2.0])
    gradient = cr.grad(lambda q: np.sum((q * 3.0).v ** 2))(Quantity(x))
    np.testing.assert_array_equal(gradient, 18.0 * x)
    _, pullback = cr.vjp(lambda q: [q * 3.0, q], Quantity(x))
    np.testing.assert_array_equal(pullback([x, 2 * x])[0], 5 * x)
    _, ydot = cr.jvp(lambda q: q * 3.0, (Quantity(x),), (x,))
    np.testing.assert_array_equal(ydot, 3 * x)
    with pytest.raises(cr.TangentError, match="plain number or array"):
        cr.jvp(lambda q: q, (Quantity(x),), (Quantity(x),))


class Uncertain(Quantity):
    def __init__(self, v, sigma):
        self.v, self.sigma = v, sigma


def test_what_holds_more_than_a_number_is_an_object_as_any_other():
    gradient = cr.grad(lambda q: q.v * q.sigma**2)(Uncertain(3.0, 2.0))
    assert (gradient.v, gradient.sigma) == (4.0, 12.0)


def test_beside_an_array_what_asks_for_nothing_is_met_entry_by_entry_as_by_numpy():
    x = np.array([1.0, 2.0])

    def f(x):
        return np.stack([q.v for q in x * Plain(3.0)])

    np.testing.assert_array_equal(f(x), 3 * x)
    np.testing.assert_array_equal(cr.jacobian(f)(x), 3 * np.eye(2))


class Plain:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, k):
        return Plain(k * self.v)


class Tagged(Quantity):
    """It says that it is an array, and that functions of NumPy are for it to answer."""

    shape = property(lambda self: np.shape(self.v))
    dtype = property(lambda self: np.asarray(self.v).dtype)

    def __array_function__(self, f, types, args, kwargs):
        return Tagged(f(*[getattr(a, "v", a) for a in args], **kwargs))


def test_it_is_asked_whatever_it_says_of_itself():
    x = np.array([1.0, 2.0])
    for product in (
        lambda x, q: x * q,
        np.multiply,
        np.dot,
        lambda x, q: np.multiply(x, q, dtype=float),
    ):
        np.testing.assert_array_equal(
            cr.jacobian(lambda x, product=product: product(x, Tagged(3.0)).v)(x), 3 * np.eye(2)
        )


def test_the_gradient_of_an_array_without_axes_is_one():
    for f in (lambda x: x * x, lambda x: 2.0 * x, np.sin):
        assert type(cr.grad(f)(np.array(1.0))) is np.ndarray
        assert type(cr.vjp(f, np.array(1.0))[1](1.0)[0]) is np.ndarray
    curvature = cr.grad(lambda x: np.sum(cr.grad(lambda x: x * x * x)(x)))(np.array(2.0))
    assert (type(curvature), curvature) == (np.ndarray, 12.0)
    compiled = cr.compile(cr.grad(lambda x: x * x))
    assert [type(compiled(np.array(1.0))) for _ in range(3)] == [np.ndarray] * 3
