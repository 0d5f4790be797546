"""chainrules.numpy: NumPy's own names, with creation functions that see traced values."""

import subprocess
import sys

import numpy
import pytest

import chainrules as cr
from chainrules import numpy as np

X = numpy.array([0.5, 1.5, 2.0])


def check(f):
    h = 1e-6
    expected = numpy.stack(
        [(f(X + h * unit) - f(X - h * unit)) / (2 * h) for unit in numpy.eye(3)], axis=-1
    )
    for transform in (cr.jacfwd, cr.jacrev):
        numpy.testing.assert_allclose(transform(f)(X), expected, rtol=1e-7, atol=1e-8)
    y = f(X)
    traced = cr.vjp(f, X)[0]
    numpy.testing.assert_array_equal(traced, y)
    assert traced.dtype == y.dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([[x[0], 1], [x[1] * x[2], 2]]),
        lambda x: np.array(x),
        lambda x: np.array([x, x * x], dtype=float, ndmin=3),
        lambda x: np.asarray(x, dtype=float) * 2,
        lambda x: np.asarray([x[0], x[2]]),
        lambda x: np.full((2, 3), x),
        lambda x: np.full(4, x[1], dtype=float),
        lambda x: np.arange(x[0], 4.0, x[1]),
        lambda x: np.fromiter((xi * xi for xi in x), float),
        lambda x: np.vectorize(lambda a, b: a * b if a > b else a + b)(x, x[::-1]),
        lambda x: np.linalg.norm(np.array([x[0], x[1]])) * np.exp(x),
    ],
)
def test_creation_functions(f):
    check(f)


def test_everything_else_is_numpys_own():
    for name in ("sin", "linalg", "fft", "random", "pi", "float32", "ndarray", "newaxis"):
        assert getattr(np, name) is getattr(numpy, name)
    with pytest.raises(AttributeError):
        np.no_such_name()
    numpy.testing.assert_array_equal(np.array([1, 2], dtype=np.int8), numpy.array([1, 2], np.int8))
    numpy.testing.assert_array_equal(np.full(2, 3), numpy.full(2, 3))
    numpy.testing.assert_array_equal(np.arange(2, 9, 3), numpy.arange(2, 9, 3))
    assert np.vectorize(lambda x: x + 1)(X).shape == (3,)
    assert np.fromiter([1, 2, 3], int, 2).tolist() == [1, 2]


IMPORTS = """
from chainrules import numpy as np
from chainrules.numpy.linalg import solve
import chainrules.numpy.fft
import chainrules.numpy.lib.stride_tricks
import chainrules.numpy.polynomial.chebyshev as chebyshev
import chainrules.numpy.random as random
from chainrules.numpy.polynomial import Polynomial
import numpy
import chainrules as cr
assert (solve, np.fft, random) == (numpy.linalg.solve, numpy.fft, numpy.random)
assert (np.linalg, cr.numpy.fft, np.lib) == (numpy.linalg, numpy.fft, numpy.lib)
assert chebyshev is np.polynomial.chebyshev is not numpy.polynomial.chebyshev
assert Polynomial is np.polynomial.Polynomial
assert numpy.linalg.__name__ == numpy.linalg.__spec__.name == "numpy.linalg"
numpy.testing.assert_allclose(cr.grad(np.linalg.det)(2 * numpy.eye(2)), 2 * numpy.eye(2))
assert cr.grad(lambda x: solve(x * numpy.eye(1), numpy.ones(1))[0])(2.0) == -0.25
try:
    import chainrules.numpy.nothing
except ModuleNotFoundError:
    print("done")
"""


def test_modules_within_are_imported_by_name_and_break_nothing():
    # In a process of its own: what such an import leaves behind is left in sys.modules.
    run = subprocess.run([sys.executable, "-P", "-c", IMPORTS], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("done\n", "")


def test_arrays_are_copied_as_numpy_does():
    def f(x):
        y = np.array(x)
        y[0] = 7.0
        return x[0] + np.sum(y)

    numpy.testing.assert_array_equal(cr.grad(f)(X), [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.astype(object),
        lambda x: x.astype("O", copy=False),
        lambda x: x[1].astype(object),
        lambda x: numpy.astype(x, object),
        lambda x: numpy.asarray(x, object),
        lambda x: np.array(x, dtype=object),
        lambda x: np.array([x[0], 2.0, [x[1] * x[2]][0]], dtype=object),
        lambda x: np.asarray(x, dtype=object),
        lambda x: np.ascontiguousarray([x[0], x[1]], "O"),
        lambda x: np.full(3, x[1], dtype=object),
        lambda x: np.full_like(x, x[1], dtype=object),
        lambda x: np.fromiter(iter(x), object),
        lambda x: np.linspace(x[0], x[1], 3, dtype=object),
        lambda x: np.logspace(x[0], x[1], 3, dtype=object),
        lambda x: cr.array(x, object),
        lambda x: cr.array([x[0], x[1]], object),
    ],
)
def test_arrays_of_dtype_object_hold_traced_numbers(f):
    """The derivative was 0: NumPy was asked for an array of plain numbers."""
    expected = numpy.sum(f(X * 1.0))

    def total(x):
        return numpy.sum(f(x * 1.0))

    numpy.testing.assert_allclose(expected, cr.value_and_grad(total)(X)[0])
    step = cr.jacfwd(lambda t: total(X + t * X**2))(0.0)
    numpy.testing.assert_allclose(cr.grad(total)(X) @ X**2, step)
    exact = (total(X + 1e-6 * X**2) - total(X - 1e-6 * X**2)) / 2e-6
    numpy.testing.assert_allclose(exact, step, rtol=1e-7)
    assert exact != 0
