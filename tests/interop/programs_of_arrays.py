"""NumPy programs of one array, each with a number for its value."""

import numpy as np
import scipy.special as sp

rng = np.random.default_rng(0)
X = rng.uniform(0.2, 0.9, 6)
A = rng.uniform(0.5, 1.5, (6, 6))
S = A @ A.T + np.eye(6)
MASK = np.array([True, False] * 3)


def loop(x):
    return sum(x[i] ** 2 for i in range(6))


def buffer(x):
    y = np.zeros_like(x)
    for i in range(1, 6):
        y[i] = 0.5 * y[i - 1] + x[i]
    return np.sum(y**2)


def halved(x):
    s = np.sum(x)
    while s > 1:
        s = s / 2
    return s


def softmax(a):
    return np.sum((np.exp(a) / np.sum(np.exp(a), axis=1, keepdims=True)) ** 2)


def symmetric(a):
    return (a + a.T) / 2


OF_VECTORS = {
    "sum": lambda x: np.sum(np.sin(x) * x),
    "method sum": lambda x: (x * x).sum(),
    "mean": lambda x: np.mean(x**2),
    "var": np.var,
    "std": np.std,
    "max": lambda x: np.max(x) ** 2,
    "prod": np.prod,
    "where": lambda x: np.sum(np.where(x > 0.5, x**2, x)),
    "clip": lambda x: np.sum(np.clip(x, 0.3, 0.7) ** 2),
    "maximum": lambda x: np.sum(np.maximum(x, 0.5) ** 2),
    "abs": lambda x: np.sum(np.abs(x - 0.5) ** 3),
    "tanh": lambda x: np.sum(np.tanh(x)),
    "logaddexp": lambda x: np.sum(np.logaddexp(x, 0)),
    "power": lambda x: np.sum(x**2.5),
    "hypot": lambda x: np.sum(np.hypot(x, 1)),
    "slice": lambda x: np.sum(x[1:] * x[:-1]),
    "reverse": lambda x: np.sum(x[::-1] * x),
    "index": lambda x: x[0] * x[3],
    "indices": lambda x: np.sum(x[[0, 2, 2]] ** 2),
    "mask": lambda x: np.sum(x[MASK] ** 2),
    "newaxis": lambda x: np.sum((x[:, None] - x[None, :]) ** 2 * x),
    "reshape": lambda x: np.sum(np.reshape(x, (2, 3))[0] ** 2),
    "concatenate": lambda x: np.sum(np.concatenate([x, x**2]) ** 2),
    "stack": lambda x: np.sum(np.stack([x, x**2])[1] ** 2),
    "cumsum": lambda x: np.sum(np.cumsum(x) ** 2),
    "diff": lambda x: np.sum(np.diff(x) ** 2),
    "roll": lambda x: np.sum(np.roll(x, 1) * x),
    "pad": lambda x: np.sum(np.pad(x, 1) ** 2),
    "sort": lambda x: np.sum(np.sort(x)[:2] ** 2),
    "norm": np.linalg.norm,
    "outer": lambda x: np.sum(np.outer(x, x) ** 2),
    "dot": lambda x: np.dot(x, x) ** 2,
    "fft": lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2),
    "convolve": lambda x: np.sum(np.convolve(x, np.ones(3)) ** 2),
    "interp": lambda x: np.sum(np.interp(x, np.arange(3.0), np.array([0.0, 1.0, 4.0]))),
    "trapezoid": lambda x: np.trapezoid(x**2),
    "median": lambda x: np.median(x) ** 2,
    "gradient": lambda x: np.sum(np.gradient(x) ** 2),
    "repeat": lambda x: np.sum(np.repeat(x, 2) ** 2),
    "tile": lambda x: np.sum(np.tile(x, 2) ** 2),
    "polyval": lambda x: np.sum(np.polyval(np.array([1.0, 2.0, 3.0]), x) ** 2),
    "erf": lambda x: np.sum(sp.erf(x)),
    "gammaln": lambda x: np.sum(sp.gammaln(x)),
    "loop": loop,
    "buffer": buffer,
    "while": halved,
}
OF_MATRICES = {
    "matmul": lambda a: np.sum((a @ a) ** 2),
    "einsum": lambda a: np.sum(np.einsum("ij,jk->ik", a, a) ** 2),
    "tensordot": lambda a: np.sum(np.tensordot(a, a, 1) ** 2),
    "transpose": lambda a: np.sum(a.T * a),
    "sum axis": lambda a: np.sum(np.sum(a, axis=0) ** 2),
    "mean keepdims": lambda a: np.sum((a - np.mean(a, axis=1, keepdims=True)) ** 2 * a),
    "softmax": softmax,
    "trace": lambda a: np.trace(a) ** 2,
    "diag": lambda a: np.sum(np.diag(a) ** 2),
    "tril": lambda a: np.sum(np.tril(a) ** 2),
    "inv": lambda a: np.sum(np.linalg.inv(a)),
    "solve": lambda a: np.sum(np.linalg.solve(a, np.ones(6)) ** 2),
    "det": lambda a: np.linalg.det(a),
    "cholesky": lambda a: np.sum(np.linalg.cholesky(symmetric(a)) ** 3),
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a) ** 2),
    "svd": lambda a: np.sum(np.linalg.svd(a)[1] ** 3),
    "qr": lambda a: np.sum(np.linalg.qr(a)[1] ** 2 * a),
    "cov": lambda a: np.sum(np.cov(a) ** 2),
}
PROGRAMS = {**OF_VECTORS, **OF_MATRICES}
DEFINITE = {"inv", "solve", "cholesky", "eigvalsh"}


def point(name):
    """The array at which the program is differentiated."""
    return X if name in OF_VECTORS else S if name in DEFINITE else A
