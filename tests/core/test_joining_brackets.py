"""``np.r_`` and ``np.c_`` in adopted code: NumPy's value in each transform, at once in a batch."""

import warnings

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr
import chainrules.numpy as cnp

X = np.array([[1.2, 0.7, 0.5], [1.5, 0.5, 0.9]])
JOINS = {
    "a number and a vector": lambda n, x: n.r_[x[0], x],
    "numbers of Python's": lambda n, x: n.r_[x, 1, 2.5, x * 2],
    "columns": lambda n, x: n.c_[x, x],
    "columns and a matrix": lambda n, x: n.c_[x, np.arange(3.0), n.outer(x, x)],
    "numbers": lambda n, x: n.c_[x[0], 2.0],
    "matrices": lambda n, x: n.r_[n.outer(x, x), n.outer(x, x)],
    "stacks": lambda n, x: n.c_[n.stack([n.outer(x, x)] * 2), n.stack([n.outer(x, x)] * 2)],
}
IN_NUMPYS_WAY = {
    "a range": lambda n, x: n.r_[x, 0:3],
    "a text": lambda n, x: n.r_["-1,2,0", x, x],
    "a list": lambda n, x: n.r_[x, [1.0, 2.0]],
    "two precisions": lambda n, x: n.r_[x.astype(np.float32), x],
    "a weak number": lambda n, x: n.r_[x.astype(np.float32), 2.0],
    "flags": lambda n, x: n.r_[x > 1, x],
    "complex": lambda n, x: n.r_[x, 1j],
    "integers": lambda n, x: n.c_[x, [1, 2, 3]],
}
ALL = {**JOINS, **IN_NUMPYS_WAY}


@pytest.mark.parametrize("f", ALL.values(), ids=ALL)
@pytest.mark.filterwarnings("ignore")
def test_values(f):
    def ours(x):
        return f(cnp, x)

    compiled, expected = cr.compile(ours), f(np, X[0])
    for y in (
        cr.vjp(ours, X[0])[0],
        cr.jvp(ours, (X[0],), (X[1],))[0],
        cr.vmap(ours)(X)[0],
        *(compiled(X[0]) for _ in range(3)),
    ):
        assert (y.dtype, y.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("f", ALL.values(), ids=ALL)
def test_derivatives(f):
    ydot = cr.jvp(lambda x: f(cnp, x), (X[0],), (X[1],))[1]
    coarse = np.asarray(ydot).dtype == np.float32 or f is IN_NUMPYS_WAY["two precisions"]
    slope = slope_of(lambda x: f(np, x), (X[0],), (X[1],), 1e-2 if coarse else 1e-5)
    np.testing.assert_allclose(ydot, slope, rtol=1e-3 if coarse else 1e-7, atol=1e-7)


@pytest.mark.parametrize("f", JOINS.values(), ids=JOINS)
def test_at_once_in_a_batch(f):
    gradient = cr.grad(lambda x: np.sum(np.sin(f(cnp, x))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        found = cr.vmap(gradient)(X)
    np.testing.assert_allclose(found, np.stack(list(map(gradient, X))))


def test_what_numpy_refuses():
    with pytest.raises(ValueError, match="dimensions"):
        cr.grad(lambda x: np.sum(cnp.r_[x, cnp.outer(x, x)]))(X[0])
