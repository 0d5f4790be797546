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

    def __array_ufunc__(self, ufunc, method, *args):
        return Quantity(getattr(ufunc, method)(*[getattr(a, "v", a) for a in args]))

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


def test_a_result_that_is_a_quantity_is_a_container():
    x = np.array([1.0, 2.0])
    jacobian = cr.jacobian(lambda x: Quantity(x) * 2.0)(x)
    np.testing.assert_array_equal(jacobian.v, 2 * np.eye(2))
    y, ydot = cr.jvp(lambda x: Quantity(x) * 2.0, (x,), (x,))
    assert type(y) is Quantity
    np.testing.assert_array_equal(ydot.v, 2 * x)


def test_an_argument_that_is_a_quantity_is_a_container():
    gradient = cr.grad(lambda q: np.sum((q * 3.0).v ** 2))(Quantity(np.array([1.0, 2.0])))
    np.testing.assert_array_equal(gradient.v, [18.0, 36.0])
