"""Random programs that solve, invert and factorise a few matrices, compiled beside eager."""

import warnings

import numpy as np
import pytest
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from test_random_programs import MODES
from three_ways import differences

import chainrules as cr
from chainrules.compiling.passes import factor_sharing

pytest.importorskip("scipy")

N = 4
EYE = np.eye(N)
CONSTANT = np.random.default_rng(5).normal(size=(N, N)) + 4 * EYE
SMALL = 0.1  # so that all matrices stay near the identity, far from singular ones


@pytest.fixture(autouse=True)
def small_matrices(monkeypatch):
    monkeypatch.setattr(factor_sharing, "FACTORED_ROWS", 2)


def adjoint(x):
    return np.conj(np.swapaxes(x, 0, 1))


def near_eye(x):
    return EYE + SMALL * x / (1.0 + np.sum(np.real(x * np.conj(x))))


def written(x):
    y = near_eye(x) * 1.0
    y[0] = y[0] * 2.0
    return y


def log_of(x):
    return np.linalg.slogdet(near_eye(x))[1] * x


# Each makes one matrix of two.
OPERATIONS = {
    "solve": lambda x, y: np.linalg.solve(near_eye(x), y),
    "solve, transposed": lambda x, y: np.linalg.solve(near_eye(x).T, y),
    "solve, adjoint": lambda x, y: np.linalg.solve(adjoint(near_eye(x)), y),
    "solve, conjugate": lambda x, y: np.linalg.solve(np.conj(near_eye(x)), y.T),
    "solve a vector": lambda x, y: x * np.linalg.solve(near_eye(x), y[:, 1]),
    "solve a row": lambda x, y: x + np.linalg.solve(near_eye(y).T, x[0]),
    "solve a constant": lambda x, y: np.linalg.solve(CONSTANT, x) + np.linalg.solve(CONSTANT.T, y),
    "solve what is written": lambda x, y: np.linalg.solve(written(x), y),
    "inv": lambda x, y: np.linalg.inv(near_eye(x)) @ y,
    "inv, transposed": lambda x, y: np.linalg.inv(near_eye(x).T) + y,
    "det": lambda x, y: np.linalg.det(near_eye(x)) * y,
    "det, transposed": lambda x, y: y / np.linalg.det(near_eye(x).T),
    "slogdet": lambda x, y: log_of(x) + y,
    "sign": lambda x, y: np.linalg.slogdet(near_eye(x))[0] * y,
    "Cholesky": lambda x, y: np.linalg.cholesky(near_eye(x @ adjoint(x))) @ y,
    "whitened": lambda x, y: np.linalg.solve(np.linalg.cholesky(near_eye(x @ adjoint(x))), y),
    "solved by Cholesky": lambda x, y: solved_by_cholesky(near_eye(x @ adjoint(x)), y),
    "upper": lambda x, y: np.linalg.solve(
        np.linalg.cholesky(near_eye(x @ adjoint(x)), upper=True), y
    ),
    "upper, transposed": lambda x, y: np.linalg.solve(
        np.linalg.cholesky(near_eye(x @ adjoint(x)), upper=True).T, y[:, 0]
    ) * x,
    "inverse of a factor": lambda x, y: np.linalg.inv(np.linalg.cholesky(near_eye(x @ adjoint(x)))),
    "log of a factor": lambda x, y: np.linalg.slogdet(
        np.linalg.cholesky(near_eye(x @ adjoint(x)))
    )[1] * y,
    "transposed": lambda x, y: x.T,
    "adjoint": lambda x, y: adjoint(y),
    "product": lambda x, y: x @ y,
    "sum": lambda x, y: x - 0.5 * y,
    "reversed": lambda x, y: x[::-1],
    "pairs": lambda x, y: np.linalg.solve(np.stack([near_eye(x), near_eye(y)]), x[None])[1],
}  # fmt: skip


def solved_by_cholesky(k, b):
    t = np.linalg.cholesky(k)
    return np.linalg.solve(adjoint(t), np.linalg.solve(t, b))


# Steps read matrices by their numbers, counted from the last one: so equal calls are frequent.
STEP = st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 3), st.integers(0, 3))


def program(steps):
    def f(a, b):
        made = [a, b]
        for name, i, j in steps:
            made.append(OPERATIONS[name](made[-1 - i % len(made)], made[j % len(made)]))
        return made[-1] + SMALL * sum(made[2:-1], 0.0 * a)

    return f


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_programs(mode, kind):
    rng = np.random.default_rng(3)

    def matrix():
        x = rng.normal(size=(N, N))
        return x + 1j * rng.normal(size=(N, N)) if kind == "complex" else x

    points = [(matrix(), matrix()) for _ in range(2)]

    @always_the_same(COUNTS[mode])
    @given(st.lists(STEP, min_size=2, max_size=6))
    def run(steps):
        derived = MODES[mode](program(steps))
        compiled = cr.compile(derived, check=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error", cr.config.CompileWarning)
            for args in (points[0], *points):
                found, expected = compiled(*args), derived(*args)
                said = differences(found, expected, ulps=1e5, zeros=False, orders=False)
                assert not said, (steps, said)

    run()


COUNTS = {"value": 12, "vjp": 10, "jvp": 8, "hvp": 3}
