"""Sums of parts and writes in place, counts and looks in native loops, beside NumPy."""

import numpy as np
import pytest
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules import numpy as fillable
from chainrules.compiling.passes.fused.groups import NumpyCall
from chainrules.rules.rulesets.arrays.indexing import scatter

pytestmark = pytest.mark.usefixtures("small_loops")

pytest.importorskip("llvmlite")

SHAPE = (12, 4)


def at(x, k, dtype=np.float64):
    return scatter(x, SHAPE, np.dtype(dtype), k)


def sums(x, dtype=np.float64, n=6):
    y = at(x * 2, 0, dtype)
    for k in range(1, n):
        y = y + at(x * k, k, dtype)
    return y


def read_twice(x):
    y = sums(x)
    z = y + at(x, 2)
    return z, y


def viewed(x):
    y = sums(x)
    first = y[0] * 3
    return (y + at(x, 0))[1:, ::2], first


def part_read_twice(x):
    part = at(x, 3)
    return sums(x) + part, part * 2


def of_itself(x):
    y = sums(x)
    return (y + y) + at(x, 1)


def looked_at(x):
    y = sums(x)
    return y + at(x, 1) if np.sum(y) > -1e300 else y


def called(x):
    y = np.sort(sums(x), axis=0) + at(x, 1)
    z = y + at(x, 2)
    return np.sort(z + at(x, 11)), np.sort(x)


def from_the_left(x):
    return at(x, 4) + (at(x, 2) + (at(x, -1) + at(x, 2)))


def of_slices(x):
    m = x * np.arange(3.0)[:, None]
    y = scatter(m, (20, 8), np.dtype(float), (slice(2, 17, 5), slice(None, None, -2)))
    y = y + scatter(m, (20, 8), np.dtype(float), (slice(0, 3), slice(4)))
    return y + scatter(m.T, (8, 20), np.dtype(float), (slice(4), slice(3))).T


def large_parts(x):
    y = scatter(x, (6,), np.dtype(float), slice(4))
    return (
        y
        + scatter(x, (6,), np.dtype(float), slice(2, None))
        + scatter(x, (6,), np.dtype(float), slice(1, 5))
    )


def two_sums(x):
    a, b = at(x, 0), at(x, 1)
    for k in range(2, 5):
        a, b = a + at(x * k, k), at(x + k, k) + b
    return a * b, a - b


PROGRAMS = [
    sums, read_twice, viewed, part_read_twice, of_itself, looked_at, called, from_the_left,
    of_slices, large_parts, two_sums,
]  # fmt: skip
POINTS = [
    np.array([0.3, -1.2, 2.0, 0.7]), np.array([-0.0, 0.0, -0.0, 1.0]),
    np.array([np.nan, np.inf, -np.inf, 1e-310]), np.array([1e300, -1e300, 5.0, -5.0]),
]  # fmt: skip


def agree(f, way, ulps):
    """Compare what a way of running a recording gives with NumPy's, at all points, twice."""
    made = Recorded(f, POINTS[0]).by(way)
    for x in [*POINTS, *POINTS]:
        with np.errstate(all="ignore"):
            missed, found = run(made, (x.copy(),))
            if missed is None:
                assert not differences(found, f(x.copy()), ulps=ulps)


@pytest.mark.parametrize("way", ["replay", "fused", "many"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_sums_are_numpys_to_the_bit(f, way):
    agree(f, way, ulps=0.0)


@pytest.mark.parametrize("dtype", ["f4", "c16", "c8"])
def test_other_dtypes(dtype):
    def f(x):
        return sums(x, dtype)

    x = POINTS[0].astype(dtype)
    made = Recorded(f, x).by("many")
    for k in range(3):
        assert not differences(run(made, (x + x.dtype.type(k),))[1], f(x + x.dtype.type(k)))


def test_small_parts_are_added_in_place():
    made = Recorded(sums, POINTS[0]).by("many")
    assert len(made.groups.in_place.memory_of) == 5
    assert not Recorded(large_parts, POINTS[0]).by("many").groups.in_place.memory_of
    assert not Recorded(part_read_twice, POINTS[0]).by("many").groups.in_place.parts
    assert 4 not in made.groups.in_place.parts


def rows(x):
    y = 0.0
    for t in range(60):
        y = np.sin(y) + np.sum(x[t] ** 2) * np.cos(x[t - 1, 0])
    return y


@pytest.mark.parametrize("transform", [cr.grad, cr.value_and_grad])
def test_derivatives_of_a_loop_over_rows(transform):
    f = transform(rows)
    g, x = cr.compile(f), np.random.default_rng(0).normal(size=(60, 30))
    for k in range(3):
        assert not differences(g(x + 0.01 * k), f(x + 0.01 * k), ulps=1e7)


def test_second_derivatives_of_a_loop_over_rows():
    def f(x, v):
        return cr.hvp(rows, (x,), (v,))[1]

    g, x = cr.compile(f), np.random.default_rng(0).normal(size=(60, 30))
    for k in range(3):
        np.testing.assert_allclose(g(x + 0.01 * k, x), f(x + 0.01 * k, x), rtol=1e-8, atol=1e-8)


# ---- indices at equal distances, counts, looks --------------------------------------------------

INDICES = [
    [0, 11], [11, 0], [-1, 3], [5], [1, 3, 5], [-2, -4, -6], [7, 7], [0, 1, 3], [2, 1, 0], [0, -1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("wrapped", [True, False])
def test_entries_scattered_at_equal_distances(index, wrapped):
    index = np.array(index)

    def f(x):
        given = x[: len(index)] * 2.0
        return scatter(given, (12,), np.dtype(float), (index,) if wrapped else index) + 1.0

    for way in ("replay", "fused", "many"):
        made = Recorded(f, POINTS[0]).by(way)
        for x in POINTS:
            assert not differences(run(made, (x,))[1], f(x), ulps=0.0)
    distances = set(np.diff(index % 12).tolist())
    native = scatter in Recorded(f, POINTS[0]).functions("many")
    assert native == (len(distances) <= 1 and 0 not in distances)


def counts(x):
    m = x * np.arange(1.0, 5.0)[:, None]
    some, each = np.count_nonzero(m > 0.5), np.count_nonzero(m > 0.5, axis=0)
    return some, each, each * 2.0, np.count_nonzero(m, axis=1), np.equal(some, 3), some != 7


def count_of_whole(x):
    return np.count_nonzero((x * 3.0).astype(int)), np.count_nonzero(x > 100.0)


@pytest.mark.parametrize("f", [counts, count_of_whole], ids=lambda f: f.__name__)
def test_counts(f):
    for way in ("replay", "fused", "many"):
        made = Recorded(f, POINTS[0]).by(way)
        for x in (POINTS[0], POINTS[1], POINTS[3] * 1e-300, -POINTS[0]):
            missed, found = run(made, (x,))
            assert missed is None
            assert not differences(found, f(x))


def ways_of_a_maximum(x):
    for t in range(30):
        top = np.max(x, axis=0)
        x = x - top * 0.1 if np.count_nonzero(x == top) == x.shape[1] else x * 0.5 + t
        if np.any(np.isnan(x)):
            return np.zeros(x.shape[1])
    return np.sum(x, axis=0)


def test_looks_that_wait_for_the_next_call_find_the_first_that_missed():
    g = cr.compile(ways_of_a_maximum)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 40))
    tied = x.copy()
    tied[1] = tied[0] = 9.0
    unknown = x.copy()
    unknown[3, 2] = np.nan
    for given in (x, x + 1.0, tied, x * 2.0, unknown, tied + 1.0, x, unknown):
        np.testing.assert_allclose(g(given), ways_of_a_maximum(given), rtol=1e-12)


# ---- writes -------------------------------------------------------------------------------------


def rows_written(x):
    y = fillable.zeros((6, 4))
    for k in range(5):
        y[k + 1] = np.sin(y[k]) + x * k
    return y


def of_itself_shifted(x):
    y = fillable.zeros(9)
    y[:4] = x
    y[1:] = y[:-1] * 2.0
    y[2:] = y[:-2]
    y[::-2] = y[:5] + 1.0
    return y


def seen_before_and_after(x):
    y = fillable.zeros((3, 4))
    y[0] = x
    before, part = y.copy(), y[0] * 1.0
    y[0, 1:3] = -1.0
    y[1] = before[0] + y[0]
    return before, part, y, y[0]


def broadcast(x):
    y = fillable.ones((3, 4))
    y[...] = x
    y[1:, ::2] = x[:1]
    y[:, 3] = 7
    y[-1, -1] = x[0]
    y[None, 0, 1] = x[2]
    return y


def through_views(x):
    y = fillable.zeros((3, 4))
    y[1] = x
    z = y[1:]
    z[0, 2] = x[3]
    y.T[0] = x[:3]
    z[1] = y[0] + 1.0
    return y, z


def at_other_places(x):
    y = fillable.zeros((3, 4))
    y[[0, 2], [1, 1]] = x[:2]
    y[np.array([True, False, True])] += x
    y[1:1] = x
    return y


def of_an_argument(x):
    y = np.copy(x)
    y[1:3] = x[:2] * 2.0
    z = np.copy(x)
    return y, np.copy(y) + z, z


def truths_and_integers(x):
    y = fillable.zeros((3, 4))
    y[0] = x > 0.5
    y[1] = np.arange(4)
    y[2, 0] = x[1] > 0.0
    return y


WRITES = [
    rows_written, of_itself_shifted, seen_before_and_after, broadcast, through_views,
    at_other_places, of_an_argument, truths_and_integers,
]  # fmt: skip


@pytest.mark.parametrize("way", ["replay", "fused", "many"])
@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_writes_are_numpys_to_the_bit(f, way):
    agree(f, way, ulps=4.0)


@pytest.mark.parametrize("dtype", ["f4", "c16", "c8"])
def test_writes_of_other_dtypes(dtype):
    def f(x):
        y = fillable.zeros((6, 4), dtype)
        for k in range(4):
            y[k] = x * k
            y[k + 1, ::2] = y[k, 1:3] - 1.0
            y[5, k] = x[k]
        return y

    x = POINTS[0].astype(dtype)
    for way in ("replay", "fused", "many"):
        made = Recorded(f, x).by(way)
        for k in range(3):
            assert not differences(run(made, (x + x.dtype.type(k),))[1], f(x + x.dtype.type(k)))


def rod(x, rate):
    for _ in range(60):
        y = np.copy(x)
        y[1:-1] = x[1:-1] + rate * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        x = y
    return np.sum(x * x)


def plate(x, rate):
    m = np.reshape(x[:36], (6, 6))
    for _ in range(40):
        n = np.copy(m)
        n[1:-1, 1:-1] += rate * (m[2:, 1:-1] + m[:-2, 1:-1] + m[1:-1, 2:] - 3.0 * m[1:-1, 1:-1])
        n[0] = np.sin(m[-1])
        m = n
    return np.sum(m * m)


@pytest.mark.parametrize("f", [rod, plate], ids=lambda f: f.__name__)
def test_derivatives_of_steps_that_write_are_native(f):
    def first(x, rate):
        return cr.value_and_grad(f, argnums=(0, 1))(x, rate)

    def second(x, rate):
        return cr.hvp(f, (x, rate), (np.cos(x), 1.0))[1]

    x = np.random.default_rng(0).normal(size=50)
    for derived in (first, second):
        g = cr.compile(derived)
        for k in range(3):
            args = x + 0.01 * k, 0.1 + 0.01 * k
            assert not differences(g(*args), derived(*args), ulps=1e6, zeros=False)
    made = Recorded(first, x, 0.1).by("many")
    assert sum(made.is_made(call) for call in made.groups.items if type(call) is NumpyCall) < 60


# ---- reads at constant places -------------------------------------------------------------------

PLACES = [
    [0, 1, 2], [5, 3, 1], [0, 1, 4, 5, 8, 9], [11, 7, 3, 10, 6, 2], [2, 2, 2], [0, 0, 1, 1], [7],
    [0, 1, 2, 6, 7, 8], [0, 1, 5], [1, 2, 4, 8], [-1, -2, -3], [3, 4, 0, 1], [-12, 11],
]  # fmt: skip


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_entries_read_at_constant_places(places):
    places = np.array(places)

    def f(x):
        y = np.concatenate([x, x * 2.0, np.sin(x)])
        rows = np.reshape(y, (3, 4))[places % 3]
        return y[places], y[::-1][places] * 2.0, y[(places,)] + 1.0, rows

    for way in ("replay", "fused", "many"):
        made = Recorded(f, POINTS[0]).by(way)
        for x in POINTS:
            with np.errstate(all="ignore"):
                assert not differences(run(made, (x,))[1], f(x))
