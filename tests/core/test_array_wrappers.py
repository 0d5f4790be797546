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
