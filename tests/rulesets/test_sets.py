"""Functions of sets: NumPy's values, also of numbers that come twice where it is told none does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr

SETS = {
    "setdiff1d": np.setdiff1d,
    "setxor1d": np.setxor1d,
    "intersect1d": np.intersect1d,
    "union1d": lambda a, b, unique: np.union1d(a, b),
    "isin": lambda a, b, unique: a[np.isin(a, b, assume_unique=unique)],
}
NUMBERS = st.lists(st.integers(0, 6).map(float), max_size=9).map(np.array)


@pytest.mark.parametrize("f", SETS.values(), ids=SETS)
@given(NUMBERS, NUMBERS, st.booleans())
def test_values_and_slopes(f, a, b, unique):
    a, b = a.astype(float), b.astype(float)
    expected = f(a, b, unique)
    y, pullback = cr.vjp(lambda a, b: f(a, b, unique), a, b)
    np.testing.assert_array_equal(y, expected)
    # Each result is one of the numbers: moved alike, all results are, and so back.
    z, ydot = cr.jvp(lambda a, b: f(a, b, unique), (a, b), (np.ones_like(a), np.ones_like(b)))
    np.testing.assert_array_equal(z, expected)
    np.testing.assert_allclose(ydot, np.ones_like(expected))
    assert sum(np.sum(x) for x in pullback(np.ones_like(y))) == pytest.approx(len(expected))
