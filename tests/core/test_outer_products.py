"""Outer products of a batch's items, in C: NumPy's bits, order, shape, warnings and errors."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import chainrules as cr
from chainrules.rules.accelerated import numbers

pytestmark = pytest.mark.skipif(numbers is None, reason="it was not compiled here")

TAME = st.sampled_from([0.0, -0.0, 1.0, -2.5, np.inf])
WILD = st.sampled_from([0.0, -1.0, 3e-200, 1e200, -np.inf, np.nan])


@st.composite
def a_block(draw, shape, entries):
    """Draw an array of a shape: in any order of its axes, with gaps, turned round, or broadcast."""
    orders = sorted(itertools.permutations(range(len(shape))))
    order = draw(st.sampled_from(orders[:1] * 4 * len(orders) + orders))
    steps = draw(st.tuples(*[st.sampled_from([1] * 9 + [2, -1])] * len(shape)))
    held = [shape[axis] * abs(steps[axis]) for axis in order]
    x = np.empty(held)
    x.flat = draw(st.lists(entries, min_size=x.size, max_size=x.size))
    x = x.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    spread = draw(st.sampled_from([False] * 9 + [True]))
    return np.broadcast_to(x[:1], shape) if spread and shape[0] else x


@st.composite
def two_blocks(draw):
    items, rows, columns = (draw(st.sampled_from([0, 1, 2, 3, 3, 4])) for _ in range(3))
    lead = draw(st.sampled_from([(items,), (items, 2), (1,)]))
    other = draw(st.sampled_from([lead, (1,) * len(lead)]))
    entries = draw(st.sampled_from([TAME.filter(np.isfinite), TAME, WILD]))
    x, z = a_block((*lead, rows, 1), entries), a_block((*other, 1, columns), entries)
    return draw(x), draw(z)


def outcome(multiply, x, z, how):
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=how):
        warnings.simplefilter("always")
        try:
            y = multiply(x, z)
        except FloatingPointError as error:
            return str(error)
    return y.tobytes("K"), y.shape, y.strides, [str(w.message) for w in caught]


@given(two_blocks(), st.sampled_from(["warn", "raise", "ignore"]))
def test_bits_order_and_warnings(blocks, how):
    y = numbers.outer_product(*blocks)
    assume(y is not None)
    assert outcome(lambda *_: y, *blocks, how) == outcome(np.multiply, *blocks, how)


def test_the_usual_ones_are_computed():
    x, z = np.arange(6.0).reshape(2, 3), np.arange(10.0).reshape(2, 5)[:, :4]
    y = numbers.outer_product(x[:, :, None], z[:, None])
    np.testing.assert_array_equal(y, x[:, :, None] * z[:, None])


@pytest.mark.parametrize(
    ("x", "z"),
    [
        (np.ones((2, 3, 1), np.float32), np.ones((2, 1, 3))),
        (np.ones((2, 3, 1)), np.ones((3, 1, 3))),
        (np.ones((3, 1)), np.ones((1, 3))),
        (np.full((2, 3, 1), 1e200), np.full((2, 1, 3), 1e200)),
        ([1.0], np.ones((2, 1, 3))),
        (np.ones((2, 3, 1)).astype(">f8"), np.ones((2, 1, 3))),
    ],
)
def test_what_is_left_to_numpy(x, z):
    assert numbers.outer_product(x, z) is None


def test_in_a_batch():
    x, z = np.arange(6.0).reshape(2, 3) - 2, np.arange(8.0).reshape(2, 4)
    y = cr.vmap(lambda x, z: x[:, None] * z)(x, z)
    np.testing.assert_array_equal(y, x[:, :, None] * z[:, None])
    with pytest.warns(RuntimeWarning, match="overflow"):
        cr.vmap(lambda x, z: x[:, None] * z)(x * 1e308, z + 1)
