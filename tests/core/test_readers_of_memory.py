"""Functions that read the memory of an array as it lies, in modules that nobody adopted.

The array that stands for a traced one holds references: beside them are others, or none.
"""

import pkgutil

import numpy as np
import pytest

import chainrules as cr

as_strided = np.lib.stride_tricks.as_strided
X = np.array([1.0, 2.0, 3.0, 4.0])


BOTH = {"reverse": cr.grad, "forward": lambda f: lambda x: cr.jvp(f, (x,), (np.ones_like(x),))}


def total(f):
    return lambda x: np.sum(f(x).copy() ** 2)


def test_windows_of_an_array():
    found = cr.grad(total(lambda x: as_strided(x, (3, 2), (8, 8))))(X)
    np.testing.assert_array_equal(found, 2 * X * [1, 2, 2, 1])


@pytest.mark.parametrize("mode", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: as_strided(x[2:], (2, 2), (-8, 8)), X),
        (lambda x: as_strided(x, (2, 2), (4, 4)), X.astype(np.float32)),
        (lambda x: as_strided(x.T, (2, 2), (8, 16)), X.reshape(2, 2)),
    ],
    ids=["of a view", "of narrow numbers", "of a transpose"],
)
def test_what_does_not_lie_so_is_refused(mode, f, x):
    with pytest.raises(cr.LostDerivativeError, match="as_strided, which reads memory as it lies"):
        mode(total(f))(x)


@pytest.mark.parametrize("mode", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("name", ["linalg.circulant", "spatial.distance.squareform"])
def test_functions_of_scipy(mode, name):
    pytest.importorskip("scipy.spatial.distance")
    f = pkgutil.resolve_name(f"scipy.{name}")
    with pytest.raises(cr.LostDerivativeError, match="which reads memory as it lies"):
        mode(total(f))(X[:3])
