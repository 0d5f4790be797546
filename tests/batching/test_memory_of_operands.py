"""Operators on batches of any layout in memory equal those of a loop, to the bit."""

import operator
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

SPECIAL = (
    0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -2.2e-308, 1e-310, 1e-200,
    1e308, -1.7e308, 2.0**53,
)  # fmt: skip
NUMBERS = st.sampled_from(SPECIAL) | st.floats(width=64)
WHOLE = (0, 1, -3, 2**53, 2**53 + 1, 2**60 + 1, -(2**62))


def spread_out(x, step):
    """Return ``x`` at a distance of ``step`` entries, with other numbers between."""
    wide = np.full((len(x), abs(step)), 7.0)
    wide[:, 0] = x[:: 1 if step > 0 else -1]
    return wide.reshape(-1)[::step] if step > 0 else wide[::-1, 0]


def unaligned(x):
    y = np.zeros(8 * len(x) + 1, np.uint8)[1:].view(float)
    y[:] = x
    return y


def read_only(x):
    x.flags.writeable = False
    return x


VECTORS = {
    "one after another": lambda x: x,
    "with gaps": lambda x: spread_out(x, 3),
    "reversed": lambda x: x[::-1].copy()[::-1],
    "reversed, with gaps": lambda x: spread_out(x, -2),
    "one number for all": lambda x: np.broadcast_to(x[0], x.shape),
    "not aligned": unaligned,
    "of the other byte order": lambda x: x.astype(">f8"),
    "read-only": read_only,
}
ROWS = {
    "by items": lambda x: x,
    "by entries": lambda x: x.T.copy().T,
    "one row for all": lambda x: np.broadcast_to(x[0], x.shape),
    "one number for a row": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "overlapping": lambda x: np.lib.stride_tricks.as_strided(x, x.shape, (8, 8)),
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
}


@st.composite
def batches(draw, items):
    """Draw a batch of numbers, or of rows, which all operands of a program have of one length."""
    if draw(st.booleans()):
        x = np.array(draw(st.lists(NUMBERS, min_size=items, max_size=items)))
        return VECTORS[draw(st.sampled_from(sorted(VECTORS)))](x)
    x = np.array(draw(st.lists(NUMBERS, min_size=3 * items, max_size=3 * items)))
    return ROWS[draw(st.sampled_from(sorted(ROWS)))](x.reshape(items, 3))


@st.composite
def operands(draw):
    """Draw two operands, of which the second is a batch, or a number for all items."""
    items = draw(st.sampled_from([1, 2, 7, 8, 9, 17]))
    x = draw(batches(items))
    plain = NUMBERS | st.sampled_from(WHOLE) | st.booleans() | NUMBERS.map(np.float64)
    return x, draw(batches(items) | plain)


OPERATORS = {
    f.__name__: f
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le,
        operator.gt, operator.ge, operator.eq, operator.ne, np.maximum, np.fmin,
    )
}  # fmt: skip
OPERATORS |= {
    "where": lambda x, z: np.where(x < z, x, z),
    "chain": lambda x, z: (x - z) * (x + z) - 0.5 * x + 2 * z,
    "ends": lambda x, z: x[0] - x[-1] * z if np.ndim(x) else x - z,
    "of Python's numbers": lambda x, z: x.tolist() * z - z if np.ndim(x) == 0 else -x,
}


def answers(compute):
    """Return what is computed, and the kinds of its warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = compute()
    assert not [w for w in said if issubclass(w.category, cr.BatchWarning)]
    return y, {str(w.message).replace("scalar ", "") for w in said}


def are_equal(a, b):
    """Say whether arrays are equal to the bit; of a NaN the bits are nobody's."""
    a, b = np.asarray(a), np.asarray(b)
    assert (a.shape, a.dtype) == (b.shape, b.dtype.newbyteorder("="))
    b = b.astype(a.dtype)
    nan = np.isnan(a)
    return np.array_equal(nan, np.isnan(b)) and a[~nan].tobytes() == b[~nan].tobytes()


@pytest.mark.parametrize("name", OPERATORS)
@given(operands())
def test_operators_are_those_of_a_loop_in_value_and_warning(name, given_operands):
    f, (x, z) = OPERATORS[name], given_operands
    batched = np.ndim(z) > 0
    ours, warned = answers(lambda: cr.vmap(f, in_axes=(0, 0 if batched else None))(x, z))
    loop, right = answers(
        lambda: np.stack([f(a, b) for a, b in zip(x, z if batched else [z] * len(x))])
    )
    assert are_equal(ours, loop)
    assert warned == right
    if not batched and name in ("add", "sub", "mul", "truediv"):
        ours, _ = answers(lambda: cr.vmap(lambda x: f(z, x))(x))
        loop, _ = answers(lambda: np.stack([f(z, a) for a in x]))
        assert are_equal(ours, loop)


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("of_x", VECTORS)
@pytest.mark.parametrize("of_z", VECTORS)
def test_each_layout_beside_each(operate, of_x, of_z):
    rng = np.random.default_rng(3)
    for n in (1, 7, 8, 4096, 4097, 32_768, 32_769):
        x, z = VECTORS[of_x](rng.normal(size=n)), VECTORS[of_z](rng.normal(size=n))
        assert are_equal(cr.vmap(operate)(x, z), operate(x, z))
        assert are_equal(cr.vmap(lambda x: operate(0.3, x))(x), operate(0.3, x))
    assert cr.vmap(operate)(x[:0], z[:0]).shape == (0,)


EXACT = st.sampled_from([0.0, -0.0, 1.0, -2.0, 3.0, 2.0**40, np.inf, -np.inf, np.nan])


@given(st.data())
def test_sums_of_rows_and_choices_between_them(data):
    items, size = data.draw(st.sampled_from([1, 2, 9])), data.draw(st.integers(1, 9))
    x, z = (
        np.array(data.draw(st.lists(EXACT, min_size=items * size, max_size=items * size)))
        for _ in range(2)
    )
    layout = ROWS[data.draw(st.sampled_from(sorted(ROWS)))]
    x, z = layout(x.reshape(items, size)), z.reshape(items, size)
    for f in (
        lambda x, z: np.sum(x),
        lambda x, z: np.where(x < z, x, -z),
        lambda x, z: np.where(x[0], z[-1], 2),
        lambda x, z: np.where(x[0] > 0, 1.0, x[0])[()] + z,
        lambda x, z: np.clip(x + 0.5, 0.25, 2),
        lambda x, z: np.clip(x[0] + 0.5, z[0] + 0.5, 7.5),
    ):
        ours, warned = answers(lambda f=f: cr.vmap(f)(x, z))
        loop, right = answers(lambda f=f: np.stack([f(a, b) for a, b in zip(x, z)]))
        assert are_equal(ours, loop)
        assert warned == right


def test_rules_of_users_come_before_what_is_computed_at_once():
    x = np.ones((4, 3))

    @cr.batch_rule.register(np.sum)
    def of_user(axis_size, batched, f, x):
        return np.full(axis_size, 7.0), True

    try:
        np.testing.assert_array_equal(cr.vmap(lambda x: np.sum(x))(x), [7.0] * 4)
    finally:
        cr.batch_rule.unregister(np.sum)
    np.testing.assert_array_equal(cr.vmap(lambda x: np.sum(x))(x), [3.0] * 4)


def test_errors_of_numpys_settings_are_raised():
    x = np.array([1.0, 1e200, -1e200])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        cr.vmap(lambda x: x * x, ways=1)(x)
    with np.errstate(over="ignore"):
        ours, warned = answers(lambda: cr.vmap(lambda x: x * x)(x))
    assert are_equal(ours, [1.0, np.inf, np.inf])
    assert not warned


BESIDE_PYTHONS = {
    "product": lambda x, z: x.item() * z,
    "quotient": lambda x, z: z / x.item(),
    "comparison": lambda x, z: z == x.item(),
    "maximum": lambda x, z: np.maximum(x.item(), z),
    "where": lambda x, z: np.where(z > 0.2, x.item(), z),
    "clip": lambda x, z: np.clip(z, 0.0, x.item()),
    "number of NumPy's": lambda x, z: x.item() * z.dtype.type(3),
    "array for all": lambda x, z: np.ones(2, z.dtype) * x.item(),
    "sum": lambda x, z: np.sum(x.item() * z),
}


@pytest.mark.parametrize("name", BESIDE_PYTHONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int64])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_of_pythons_take_the_precision_of_what_they_meet(name, dtype, shape):
    f = BESIDE_PYTHONS[name]
    x = np.array([0.1, 0.7, 0.3])
    z = (np.ones((3, *shape)) * x.reshape(3, *(1,) * len(shape))).astype(dtype)
    assert are_equal(cr.vmap(f)(x, z), np.stack([f(a, b) for a, b in zip(x, z)]))


def test_numbers_of_pythons_do_not_warn():
    ours, warned = answers(
        lambda: cr.vmap(lambda x: x.item() * 1e200 * x.item())(np.array([1e200]))
    )
    assert are_equal(ours, [np.inf])
    assert not warned
    with np.errstate(all="raise"):
        assert cr.vmap(lambda x: x.item() * 1e200, ways=1)(np.array([1e200]))[0] == np.inf
