"""Cholesky factors and systems that are large enough to be taken block by block."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.testing import test_rrule as check_rrule

N = 70
rng = np.random.default_rng(0)


def positive(*shape, imaginary=0):
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if imaginary else 0)
    return x @ np.conj(np.swapaxes(x, -1, -2)) / shape[-1] + 2 * np.eye(shape[-1])


def lower(*shape):
    return np.tril(rng.normal(size=shape)) / np.sqrt(shape[-1]) + 2 * np.eye(shape[-1])


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("a", [positive(N, N), positive(N, N, imaginary=1), positive(2, N, N)])
def test_cholesky(a, upper):
    check_rrule(np.linalg.cholesky, a, upper=upper)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_cholesky_keeps_dtype(dtype):
    a = positive(N, N).astype(dtype)
    assert dtype == cr.grad(lambda a: np.real(np.sum(np.linalg.cholesky(a))))(a).dtype


@pytest.mark.parametrize("a", [lower(N, N), lower(N, N).T, lower(2, N, N), positive(N, N)])
@pytest.mark.parametrize("b", [rng.normal(size=N), rng.normal(size=(N, 3))])
def test_solve(a, b):
    check_rrule(np.linalg.solve, a, b)


def test_solve_of_block_triangular():
    a = positive(N, N)
    a[: N // 2, N // 2 :] = 0
    check_rrule(np.linalg.solve, a, rng.normal(size=N))


def test_cotangent_of_zeros_above_the_diagonal():
    """A number that happens to be zero is an entry like any other."""
    a, b = lower(N, N), rng.normal(size=N)
    column = cr.grad(lambda x: np.sum(np.linalg.solve(a + x * np.eye(N, k=1), b) ** 2))(0.0)
    y = np.linalg.solve(a, b)
    ydot = np.linalg.solve(a, -np.append(y[1:], 0.0))
    assert 2 * y @ ydot == pytest.approx(column)


def test_cholesky_nearly_singular():
    """Half the logarithm of the determinant has the gradient ``inv(a) / 2``.

    Products of inverses of blocks lose half of its digits, where substitution keeps them.
    """
    x = np.linspace(0, 10, 2 * N)
    a = np.exp(-((x[:, None] - x) ** 2)) + 1e-9 * np.eye(2 * N)
    factor = np.linalg.cholesky(a).astype(np.longdouble)
    inverse = np.zeros_like(factor)
    for i, row in enumerate(np.eye(2 * N)):
        inverse[i] = (row - factor[i, :i] @ inverse[:i]) / factor[i, i]
    expected = inverse.T @ inverse / 2

    def half_logdet(a):
        return np.sum(np.log(np.diagonal(np.linalg.cholesky(a))))

    expected = np.tril(expected) + np.tril(expected, -1)
    errors = np.abs(cr.grad(half_logdet)(a) - expected)
    assert np.max(errors) < 3e-11 * np.max(np.abs(expected))


def test_second_derivative():
    a, b = positive(N, N), rng.normal(size=N)

    def f(x):
        factor = np.linalg.cholesky(a + x * np.eye(N))
        return np.sum(np.linalg.solve(factor, b) ** 2)

    w, v = np.linalg.eigh(a)
    expected = np.sum(2 * (v.T @ b) ** 2 / (w + 0.5) ** 3)
    assert expected == pytest.approx(cr.grad(cr.grad(f))(0.5))
    assert expected == pytest.approx(cr.hessian(f)(0.5))
    assert expected == pytest.approx(cr.jacfwd(cr.jacfwd(f))(0.5))
