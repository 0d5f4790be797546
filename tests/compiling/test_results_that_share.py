"""Results that share memory with an argument or with each other, in machine code as in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.compiling.passes.fused import groups
from chainrules.compiling.passes.scalar import scalar_program

VIEWS = [
    lambda a: a[1:], lambda a: a[::-1], lambda a: a.T, lambda a: a.reshape(-1), np.ravel,
    lambda a: a[..., None], lambda a: np.swapaxes(a, 0, -1), np.flip, lambda a: a[:],
    lambda a: a[[0]], lambda a: a * 1.0, lambda a: np.moveaxis(a, 0, -1),
    lambda a: np.squeeze(a[None]),
    lambda a: np.broadcast_to(a, (2, *a.shape)), lambda a: a.copy(), lambda a: a.reshape(4, -1),
    lambda a: np.roll(a, 1), lambda a: np.expand_dims(a, 0), lambda a: np.concatenate([a, a]),
]  # fmt: skip
ORDERS = [np.ascontiguousarray, np.asfortranarray]


def aliases(x, ys):
    """Say which results are one object, and which share memory with which, or with ``x``."""
    pairs = [(a, b) for k, a in enumerate(ys) for b in [x, *ys[:k]]]
    return [(a is b, np.shares_memory(a, b)) for a, b in pairs]


@pytest.mark.parametrize("way", ["numbers", "fused"])
@given(
    steps=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(VIEWS)), max_size=5),
    picks=st.lists(st.integers(0, 7), min_size=1, max_size=4),
    order=st.sampled_from(ORDERS),
)
@settings(max_examples=20)
def test_aliases_of_random_views(way, steps, picks, order):
    x = order(np.random.default_rng(0).normal(size=(2, 4)))

    def f(x):
        arrays = [x, x * 2]
        for k, view in steps:
            a = arrays[k % len(arrays)]
            if a.ndim and a.size < 60:
                arrays.append(view(a))
        return [arrays[k % len(arrays)] for k in picks], np.sum(np.sin(x))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "LOOP_ENTRIES", 1)
        patch.setattr(scalar_program, "SCALAR_ENTRIES", 3000 if way == "numbers" else -1)
        patch.setattr(scalar_program, "SCALAR_AVERAGE", 12 if way == "numbers" else -1)
        g = cr.compile(f, fallback="error")
        for k in (1.0, 2.0, -1.0):
            given_x = order(k * x)
            (found, _), (expected, _) = g(given_x), f(given_x)
            for y, z in zip(found, expected, strict=True):
                np.testing.assert_array_equal(y, z)
                assert y.flags.writeable >= z.flags.writeable  # a copy may be written to
            assert aliases(given_x, expected) == aliases(given_x, found)
