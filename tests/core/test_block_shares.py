"""Blocks of directions through selections, extremes, bounds and reductions: each is as one tangent.

Random programs over small whole numbers, which tie, and stand where slopes are infinite.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import chainrules as cr

MASKS = [np.arange(12).reshape(3, 4) % k == 0 for k in (1, 2, 3, 5)]
MASKS += [
    np.zeros((3, 4), bool),
    np.array([True, False, False, True]),
    np.array([[True], [False], [True]]),
]
GRID = np.arange(12.0).reshape(3, 4) % 5 - 1
STEPS = {
    "where": lambda z, k: np.where(MASKS[k % 7], z, 0.0),
    "where not": lambda z, k: np.where(MASKS[k % 7], 1.0, z),
    "where both": lambda z, k: np.where(MASKS[k % 7], z, 2 * z[::-1]),
    "where row": lambda z, k: np.where(MASKS[k % 7], z[:1], z),
    "where number": lambda z, k: np.where(MASKS[k % 7], z[0, k % 4], z),
    "where grid": lambda z, k: np.where(MASKS[k % 7], GRID, z),
    "where value": lambda z, k: np.where(z > k % 3, z * z, -z),
    "where integers": lambda z, k: np.where(MASKS[k % 7].astype(int), z, 0),
    "max": lambda z, k: z - np.max(z, axis=k % 2, keepdims=True),
    "max of all": lambda z, k: z - np.max(z),
    "min of axes": lambda z, k: z + np.min(z, axis=(0, 1), keepdims=True),
    "row of min": lambda z, k: z * np.min(z, axis=-2),
    "initial": lambda z, k: z + np.max(z, axis=1, keepdims=True, initial=0.0),
    "max where": lambda z, k: z + np.max(z, axis=0, where=MASKS[k % 4], initial=-9.0),
    "clip": lambda z, k: np.clip(z, -1.0, k % 3),
    "clip from": lambda z, k: np.clip(z, None, 1.0) if k % 2 else np.clip(z, 0.0, None),
    "clip by array": lambda z, k: np.clip(z, GRID - 1, z[:1]),
    "prod": lambda z, k: z + np.prod(z, axis=k % 2, keepdims=True),
    "prod of all": lambda z, k: z + np.prod(z[:2, :2]),
    "var": lambda z, k: z + np.var(z, axis=k % 2, keepdims=True),
    "std": lambda z, k: z + np.std(z),
    "norm": lambda z, k: z + np.linalg.norm(z, axis=k % 2, keepdims=True),
    "array of rows": lambda z, k: z[np.array([2, k % 3, 0])],
    "list of rows": lambda z, k: z[[k % 3, -1, 1]],
    "mask of rows": lambda z, k: z[np.array([True, True, True])],
    "table": lambda z, k: z[np.array([[0, k % 3], [1, 2]])][:, 0, :][[0, 1, 1]],
    "sum": lambda z, k: z + np.sum(z, axis=k % 2, keepdims=True),
    "sum of all": lambda z, k: z * np.sum(z),
    "sum where": lambda z, k: z + np.sum(z, axis=0, where=MASKS[k % 4]),
    "mean": lambda z, k: z + np.mean(z, axis=k % 2, keepdims=True),
    "sqrt": lambda z, k: np.sqrt(np.abs(z)),
    "turned": lambda z, k: z.T.reshape(4, 3).T[::-1],
    "cumsum": lambda z, k: np.cumsum(z, axis=k % 2) / 4,
    "maximum": lambda z, k: np.maximum(z, k % 3),
    "tanh": lambda z, k: np.tanh(z),
}  # fmt: skip
ENDS = [lambda z: z, np.sum, np.max, lambda z: np.min(z, axis=0), lambda z: z[1, 2], np.ravel]
WORDS = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 20)), max_size=5)
NUMBERS = st.lists(st.integers(-1, 2), min_size=12, max_size=12)


def program(words, end):
    def f(x):
        z = x.reshape(3, 4)
        for word, k in words:
            z = STEPS[word](z, k)
        return ENDS[end](z)

    return f


def checked(f, x):
    with np.errstate(all="ignore"):
        y = f(x)
        columns = [cr.jvp(f, (x,), (unit,)) for unit in np.eye(12)]
        block, rows = cr.jacfwd(f)(x), cr.jacrev(f)(x)
    for value, _column in columns:
        np.testing.assert_array_equal(value, y)
    stacked = np.stack([column for _, column in columns], -1)
    np.testing.assert_allclose(block, stacked, rtol=1e-9, atol=1e-9)
    known = np.isfinite(block) & np.isfinite(rows)
    np.testing.assert_allclose(block[known], rows[known], rtol=1e-7, atol=1e-6)


@given(WORDS, st.integers(0, len(ENDS) - 1), NUMBERS)
def test_random_programs(words, end, numbers):
    x = np.array(numbers, float)
    sizes = [np.max(np.abs(program(words[:n], 0)(x))) for n in range(len(words) + 1)]
    assume(max(sizes) < 1e4)  # of which rounding leaves some digits where terms cancel
    checked(program(words, end), x)


@pytest.mark.parametrize("word", STEPS)
@pytest.mark.parametrize("end", range(len(ENDS)))
def test_each_step(word, end):
    rng = np.random.default_rng(4)
    for k in range(4):
        for numbers in (rng.normal(size=12), rng.integers(-1, 3, 12), np.zeros(12)):
            checked(program([(word, k)], end), np.array(numbers, float))
            checked(program([("where", 1), (word, k), ("sqrt", 0)], end), np.array(numbers, float))


def test_hessians_of_each_step():
    x = np.random.default_rng(5).normal(size=12)
    for word in STEPS:
        f = program([(word, 1), ("tanh", 0), (word, 2)], 1)
        by_rows = np.stack([cr.hvp(f, (x,), (unit,)) for unit in np.eye(12)])
        np.testing.assert_allclose(cr.hessian(f)(x), by_rows, rtol=1e-9, atol=1e-9, err_msg=word)
