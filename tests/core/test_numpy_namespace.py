"""chainrules.numpy: NumPy's own names, with creation functions that see traced values."""

import subprocess
import sys

import numpy
import pytest
from differences import jacobian_of, slope_of

import chainrules as cr
from chainrules import numpy as np

X = numpy.array([0.5, 1.5, 2.0])


def check(f):
    expected = jacobian_of(f, X)
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
    for name in ("sin", "pi", "int32", "ndarray", "newaxis", "lib"):
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
assert solve is np.linalg.solve is not numpy.linalg.solve
assert (random, np.lib) == (np.random, numpy.lib)
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


@pytest.mark.parametrize("make", [np.array, np.asarray])
def test_copies_by_the_names_that_wrappers_of_the_array_api_give(make):
    modes = numpy._CopyMode

    def shares(mode):
        found = []
        cr.grad(lambda x: (found.append(make(x, copy=mode) is x), numpy.sum(x))[1])(X)
        return found[0]

    assert [False, True, True] == [*map(shares, (modes.ALWAYS, modes.IF_NEEDED, modes.NEVER))]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        cr.grad(lambda x: numpy.sum(make(x, order="F", copy=modes.NEVER)))(numpy.ones((2, 3)))


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
    exact = slope_of(total, (X,), (X**2,))
    numpy.testing.assert_allclose(exact, step, rtol=1e-7)
    assert exact != 0


# ---- lists of traced numbers, where NumPy takes a list for an array ------------------------------

OF_LISTS = {
    "linalg.norm": lambda x: np.linalg.norm([x, 2 * x]),
    "linalg.solve": lambda x: np.linalg.solve([[x, 1.0], [1.0, 2.0]], [1.0, x]),
    "linalg.det": lambda x: np.linalg.det([[x, 1.0], [1.0, 2.0]]),
    "linalg.inv": lambda x: np.linalg.inv(((x, 1.0), (0.2, 1.0))),
    "linalg.pinv": lambda x: np.linalg.pinv([[x, 1.0], [0.2, 1.0]]),
    "linalg.svd": lambda x: np.linalg.svd([[x, 1.0], [0.2, 1.0]])[1],
    "linalg.eigvals": lambda x: np.sum(np.linalg.eigvals([[x, 1.0], [0.2, 1.0]]).real),
    "linalg.lstsq": lambda x: np.linalg.lstsq([[x], [0.2]], [1.0, x], rcond=None)[0],
    "linalg.multi_dot": lambda x: np.linalg.multi_dot([[[x, 1.0]], [[x], [2.0]]]),
    "fft.fft": lambda x: np.abs(np.fft.fft([x, 1.0, x * x])),
    "std": lambda x: np.std([x, 2.0, 3 * x]),
    "var": lambda x: np.var([[x, 2.0], [3 * x, 1.0]], axis=0),
    "median": lambda x: np.median([x, 2.0, 3 * x]),
    "percentile": lambda x: np.percentile([x, 2.0, 3 * x], 30),
    "quantile": lambda x: np.quantile(a=[x, 2.0, 3 * x], q=0.3),
    "nanstd": lambda x: np.nanstd([x, 1.0]),
    "cov": lambda x: np.cov([x, 2.0, 1.0], [1.0, x, 0.0]),
    "corrcoef": lambda x: np.corrcoef([x, 2.0, 1.0], [1.0, x, 0.0]),
    "polyfit": lambda x: np.polyfit([0.0, 1.0, 2.0], [x, x * x, 1.0], 1),
    "interp": lambda x: np.interp([0.5, x], [0.0, 1.0, 2.0], [x, x * x, 1.0]),
    "bincount": lambda x: np.bincount([0, 1, 1], weights=[x, x, 1.0]),
    "sum": lambda x: np.sum([x, [x * x][0], 1.0]),
    "rows": lambda x: np.linalg.det([np.array([x, 1.0]), np.array([0.5, x])]),
    "concatenate": lambda x: np.concatenate([[x, 1.0], [x * x]]),
    "stack": lambda x: np.stack(([x, 1.0], (x * x, 2.0)), axis=1),
    "block": lambda x: np.block([[np.array([[x]]), np.ones((1, 2))], [np.ones((1, 3))]]),
    "select": lambda x: np.select([[True, False]], [[x, x]], 0.0),
    "piecewise": lambda x: np.piecewise(np.array([x, 3.0]), [[True, False]], [lambda t: t * x, x]),
    "float64": lambda x: np.float64(x) * np.float32(2.0),
    "float64 of an array": lambda x: np.float64(np.array([x, x * x])),
    "complex128": lambda x: np.abs(np.complex128(x) + 1j),
    "r_": lambda x: np.r_[x, 2.0, np.array([x, x * x])],
    "c_": lambda x: np.var(np.c_[[x, 2.0], [3 * x, 1.0]], axis=0),
    "r_, written to": lambda x: filled(np.r_[0.0, 0.0], x),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, 1.0)[0],
}


def filled(y, x):
    y[1] = x
    return y


@pytest.mark.parametrize("x", [1.3, numpy.float64(1.3)], ids=["float", "float64"])
@pytest.mark.parametrize("f", OF_LISTS.values(), ids=OF_LISTS)
def test_lists_of_traced_numbers_are_read_as_the_arrays_they_stand_for(f, x):
    plain = f(x)
    y, ydot = cr.jvp(f, (x,), (1.0,))
    assert (type(y), numpy.asarray(y).dtype) == (type(plain), numpy.asarray(plain).dtype)
    numpy.testing.assert_array_equal(y, plain)
    step = slope_of(f, (x,), (1.0,), 1e-5)
    numpy.testing.assert_allclose(ydot, step, rtol=1e-7, atol=1e-8)
    weights = numpy.cos(numpy.arange(1.0, numpy.size(plain) + 1)).reshape(numpy.shape(plain))
    numpy.testing.assert_allclose(
        cr.grad(lambda x: numpy.sum(weights * f(x)))(x), numpy.sum(weights * ydot), rtol=1e-12
    )


def test_the_classes_of_numbers_are_numpys_to_all_who_ask():
    for name in ("float16", "float32", "float64", "complex64", "complex128", "longdouble"):
        shown, cls = getattr(np, name), getattr(numpy, name)
        assert (shown == cls, cls == shown, hash(shown)) == (True, True, hash(cls))
        assert numpy.dtype(shown) == numpy.zeros(2, shown).dtype == numpy.dtype(cls)
        assert type(shown(1)) is cls
        assert type(shown([1, 2])) is numpy.ndarray
        assert isinstance(cls(1), shown)
        assert issubclass(cls, shown)
        assert numpy.issubdtype(numpy.dtype(cls), shown)
        assert not numpy.issubdtype(numpy.dtype(int), shown)
        assert (repr(shown), shown.__name__) == (repr(cls), cls.__name__)
    assert np.double == np.float64 == np.float64(1).dtype.type


class Operator:
    """Something that a rule may be for."""


def test_a_rule_for_a_function_shown_here_is_the_functions():
    @cr.rrule.register(np.linalg.cond)
    def cond_rrule(cond, x: Operator):
        return 2.0, lambda ybar: (cr.NoTangent(), cr.NoTangent())

    assert cr.rrule(numpy.linalg.cond, Operator())[0] == 2.0
    assert cr.rrule(np.linalg.cond, Operator())[0] == 2.0


def test_an_array_may_be_filled_while_its_entries_are_counted():
    def products(x):
        y = np.empty((3, 3))
        for (i, j), _ in np.ndenumerate(y):
            y[i, j] = x[i] * x[j]
        return np.sum(y) + sum(v * i for (i,), v in np.ndenumerate(x))

    x = np.array([1.0, 2.0, 3.0])
    for jacobian in (cr.jacrev, cr.jacfwd):
        np.testing.assert_allclose(jacobian(products)(x), 2 * np.sum(x) + np.arange(3.0))
    assert list(np.ndenumerate(x)) == list(numpy.ndenumerate(x))
