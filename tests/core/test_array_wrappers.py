"""Objects with ``__array__`` and no more of NumPy's protocols, which show traced arrays."""

import numpy as np
import pytest
from differences import jacobian_of
from modules_of_text import module_of

import chainrules as cr

WRAPPERS = """
import numpy as np

class Box:
    def __init__(self, a):
        self.a = np.array(a, dtype=float)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.a, dtype=dtype)

class Still:
    calls = 0

    def __array__(self, dtype=None, copy=None):
        Still.calls += 1
        return np.array([1.0, 2.0])

def converted(x):
    return np.sum(np.asarray(Box([x[0], 2.0, x[1]])) ** 2)

def reduced(x):
    return np.sum(Box([x[0], 2.0, x[1]])) ** 2

def written(x):
    y = np.zeros((2, 3))
    y[0] = Box([x[0], 2.0, x[1]])
    y[1] = Box([1.0, 2.0, 3.0])
    return np.sum(y**3)

def beside(x):
    return np.dot(x, Box([1.0, 2.0])) + np.dot(Box([x[1], 2.0]), Box([1.0, x[0]]))

def by_keyword(x):
    return np.sum(np.clip(Box([x[0], 2.0, x[1]]), a_min=Box([1.0, 1.0, 1.0]), a_max=9.0) ** 2)

def still(x):
    return np.sum(np.asarray(Still()) * x)
"""
X = np.array([1.5, 0.7])


@pytest.mark.parametrize(
    "name", ["converted", "reduced", "written", "beside", "by_keyword", "still"]
)
def test_objects_that_show_a_traced_array_stand_for_it(name):
    made = module_of(WRAPPERS, "adopted_wrappers")
    f = getattr(made, name)
    expected = jacobian_of(f, X)
    with cr.adopt(made):
        for mode in (cr.jacfwd, cr.jacrev):
            np.testing.assert_allclose(expected, mode(f)(X), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(cr.jacfwd(cr.jacrev(f))(X), cr.hessian(f)(X))
        assert f(X) == cr.value_and_grad(f)(X)[0]


def test_a_result_that_shows_a_traced_array_is_refused():
    made = module_of(WRAPPERS, "adopted_wrappers")
    with cr.adopt(made), pytest.raises(cr.LostDerivativeError, match="Box"):
        cr.jvp(lambda x: made.Box([x[0], 2.0]), (X,), (X,))


class Tenths:
    """An object that shows an array, and into which NumPy puts results of operators on arrays."""

    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.v, dtype)

    def __array_wrap__(self, y, context=None, scalar=False):
        return Tenths(np.asarray(y) * 10.0)


@pytest.mark.parametrize("x", [np.array(1.3), np.array([1.3]), np.float64(1.3)])
def test_results_of_arrays_are_put_into_the_class(x):
    def f(x):
        y = x * Tenths(1.7)
        return np.sum(y.v if type(y) is Tenths else y)

    assert cr.jvp(f, (x,), (np.ones_like(x),))[0] == pytest.approx(f(x))
    slope = 1.7 if type(x) is np.float64 else 17.0  # a number of NumPy's reads the array in it
    np.testing.assert_allclose(cr.grad(f)(x), np.full_like(x, slope))


def test_a_number_with_a_unit_of_astropys_is_refused_in_words():
    def f(x):  # as a Quantity raises it, whose operators get the number in it
        raise TypeError(f"operand type(s) all returned NotImplemented: <Quantity {x} kg>, 0.5")

    with pytest.raises(cr.LostDerivativeError, match=r"write np\.stack\(\[x\]\) \* unit"):
        cr.grad(f)(2.0)
