"""Random programs of linear and smooth functions: sparse derivatives, blocks, and dense ones."""

import numpy as np
import pytest

import chainrules as cr


def banded(n):
    return np.eye(n) - 0.5 * np.eye(n, k=1)


def filled(y):
    z = np.zeros_like(y)
    z[..., ::2] = y[..., ::2] * 2.0
    z[..., 0] += y[..., -1] ** 2
    return z


def halves(y):
    a, b = np.split(y[..., : y.shape[-1] // 2 * 2], 2, axis=-1)
    return a * b


STEPS = {
    "y ** 2": lambda y, k: y**2,
    "sin": lambda y, k: np.sin(y),
    "neighbours": lambda y, k: y * np.roll(y, k, axis=-1),
    "dots": lambda y, k: y[..., np.arange(y.shape[-1])[:: -1 if k % 2 else 1]],
    "dots with repeats": lambda y, k: y[..., [0, -1, 0]],
    "one with dots behind": lambda y, k: y[[0, -1], ...],
    "dots with an axis": lambda y, k: y[..., None, [0]],
    "several apart": lambda y, k: y[None][0, None, ..., [0, -1]],
    "mask": lambda y, k: y[..., np.arange(y.shape[-1]) % 2 == 0],
    "backwards": lambda y, k: y[..., ::-2],
    "moved": lambda y, k: np.moveaxis(y, 0, -1),
    "flat": lambda y, k: np.reshape(y, -1),
    "rows": lambda y, k: np.reshape(y, (-1, 2)) if y.size % 2 == 0 else y,
    "turned": lambda y, k: np.reshape(y, (2, -1)).T if y.size % 2 == 0 else y,
    "stacked": lambda y, k: np.stack([y, 2.0 * y], axis=k % 2) if y.ndim < 3 else y,
    "joined": lambda y, k: np.concatenate([y, np.ones_like(y), y * 3.0], axis=-1),
    "diff": lambda y, k: np.diff(y, axis=0) if y.shape[0] > 1 else y,
    "cumsum": lambda y, k: np.cumsum(y, axis=k % y.ndim),
    "sums": lambda y, k: np.sum(y, axis=k % y.ndim, keepdims=True),
    "means": lambda y, k: np.mean(y, axis=-1) if y.ndim > 1 else y,
    "where": lambda y, k: np.where(np.arange(y.shape[-1]) % 2 == 0, y, 0.5 * y),
    "product": lambda y, k: y @ banded(y.shape[-1]).astype(y.dtype),
    "product from the left": lambda y, k: banded(y.shape[0]).astype(y.dtype) @ np.reshape(
        y, (y.shape[0], -1)),
    "einsum": lambda y, k: np.einsum("...i,i->...i", y, np.arange(y.shape[-1]).astype(y.dtype)),
    "imaginary part": lambda y, k: np.imag(np.fft.fft(y)) + y,
    "there and back": lambda y, k: np.fft.irfft(np.fft.rfft(y) ** 2, y.shape[-1]),
    "diagonal": lambda y, k: np.diagonal(y) if y.ndim > 1 else np.diag(y),
    "triangle": lambda y, k: np.tril(y),
    "repeated": lambda y, k: np.repeat(y, 2, axis=k % y.ndim),
    "padded": lambda y, k: np.pad(y, 1) if y.ndim < 3 else y,
    "written": lambda y, k: filled(y),
    "halves": lambda y, k: halves(y) if y.shape[-1] > 1 else y,
    "solved": lambda y, k: np.linalg.solve(banded(y.shape[0]).astype(y.dtype), y)
    if y.ndim == 2 else y,
    "total": lambda y, k: y * np.reshape(np.add.reduce(y.sum(), axis=0), (1,) * y.ndim),
}  # fmt: skip


def program(seed):
    rng = np.random.default_rng(seed)
    chosen = [(str(name), int(rng.integers(4))) for name in rng.choice(list(STEPS), 5)]

    def run(x):
        y = x
        for name, k in chosen:
            y = STEPS[name](y, k) if 0 < y.size < 60 else y[..., :2]
            y = y if y.ndim else y[None]
        return y

    return run, chosen


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(80))
def test_a_sparse_derivative_of_a_program_is_the_dense_one(seed, dtype):
    f, chosen = program(seed)
    x = np.random.default_rng(seed).normal(size=6).astype(dtype)
    columns = np.stack([cr.jvp(f, (x,), (unit,))[1].ravel() for unit in np.eye(6, dtype=dtype)], 1)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype is np.float64 else {"rtol": 2e-3, "atol": 2e-3}
    for jacobian in (cr.jacfwd, cr.jacrev, cr.jacobian):
        dense = jacobian(f)(x)
        found = jacobian(f, sparse=True)(x)
        assert dense.dtype == found.dtype == columns.dtype
        np.testing.assert_allclose(dense.reshape(-1, 6), columns, **close, err_msg=str(chosen))
        np.testing.assert_allclose(found.toarray(), columns, **close, err_msg=str(chosen))

    def total(x):
        return np.sum(f(x) ** 2)

    products = np.stack([cr.hvp(total, (x,), (unit,)) for unit in np.eye(6, dtype=dtype)])
    scale = max(1.0, float(np.max(np.abs(products))))
    for found in (
        cr.hessian(total)(x),
        cr.hessian(total, sparse=True)(x).toarray(),
        cr.hvp(total, (x,), (np.eye(6, dtype=dtype),), block=True),
    ):
        np.testing.assert_allclose(found / scale, products / scale, **close, err_msg=str(chosen))
