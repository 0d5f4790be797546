"""The quick ends of NumPy's functions, beside the functions: the same to the last bit."""

import itertools

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.table.shortcuts import SHORTCUTS

M = np.random.default_rng(3).normal(size=(3, 70))
DTYPES = (float, np.float32, np.float16, complex, int, bool)
OPTIONS: tuple[dict, ...] = (
    {},
    {"axis": 0},
    {"axis": -1},
    {"axis": 1, "keepdims": True},
    {"where": M > 0},
)


def assert_same(expected, found):
    assert type(expected) is type(found)
    assert (expected.dtype, expected.shape) == (found.dtype, found.shape)
    np.testing.assert_array_equal(expected, found)


@pytest.mark.parametrize("f", [np.sum, np.prod, np.mean, np.max, np.amax, np.min, np.amin])
def test_reductions(f):
    for dtype, options in itertools.product(DTYPES, OPTIONS):
        if "where" in options and f not in (np.sum, np.prod, np.mean):
            options = {**options, "initial": 0}
        x = M.astype(dtype)
        assert_same(f(x, **options), SHORTCUTS[f][1](x, **options))


def test_others():
    for dtype in DTYPES:
        x = M.astype(dtype)
        assert_same(np.cumsum(x), SHORTCUTS[np.cumsum][1](x))
        assert_same(np.cumsum(x, axis=1), SHORTCUTS[np.cumsum][1](x, axis=1))
        for bounds in ((None, 1), (0, None), (0, 1), (-1.0, M)):
            assert_same(np.clip(x, *bounds), SHORTCUTS[np.clip][1](x, *bounds))
        for options in ({}, {"axes": None}, {"axes": [1, 0]}, {"axes": (0, -1)}):
            assert_same(np.transpose(x, **options), SHORTCUTS[np.transpose][1](x, **options))
        for options in ({}, {"order": "F"}, {"copy": True}):
            assert_same(np.reshape(x, (7, -1), **options),
                        SHORTCUTS[np.reshape][1](x, shape=(7, -1), **options))  # fmt: skip
        for options in ({}, {"order": "F"}):
            assert_same(np.ravel(x, **options), SHORTCUTS[np.ravel][1](x, **options))
        for options in ({}, {"axis": 1}):
            assert_same(
                np.repeat(x, 2, **options), SHORTCUTS[np.repeat][1](x, repeats=2, **options)
            )
            assert_same(
                np.squeeze(x[:, :1], **options), SHORTCUTS[np.squeeze][1](x[:, :1], **options)
            )
        for options in ({}, {"offset": 1}, {"axis1": 1, "axis2": 0, "dtype": complex}):
            assert_same(np.trace(x, **options), SHORTCUTS[np.trace][1](x, **options))
    for parts in ([1.0, np.float64(2)], [1, 2.0], [np.float32(1), np.float32(2)], [M, M]):
        assert_same(np.stack(parts), SHORTCUTS[np.stack][1](parts))
    with pytest.raises(ValueError, match="at least one"):
        SHORTCUTS[np.stack][1]([])


def test_a_list_of_indices_that_changes_later_is_kept_as_it_was():
    def f(x):
        places = [0, 2, 2]
        y = x[places]
        places[:] = [1, 1, 1]
        return np.sum(y)

    np.testing.assert_array_equal([1.0, 0.0, 2.0], cr.grad(f)(np.ones(3)))
