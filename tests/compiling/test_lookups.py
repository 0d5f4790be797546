"""Lookups of compiled programs, ``np.searchsorted`` and ``np.interp``, beside NumPy's own."""

import numpy as np
import pytest
from beside_eager import differs
from cached import recordings
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from three_ways import Recorded, run

import chainrules as cr
from chainrules.compiling.ir.looks import bits
from chainrules.rules import iterate_leaves

pytest.importorskip("llvmlite")

INF, NAN = np.inf, np.nan
ENTRIES = (-INF, -2.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 1.0, 1.5, 3.0, INF)


def by_loops(f, *xs):
    """Return what loops of a recording give, which call nothing of NumPy's."""
    made = Recorded(f, *xs).by("fused")
    assert "0 calls of NumPy" in made.how[0], made.how
    return made


def told(y):
    """Return what tells two results apart, but for the sign of a NaN."""
    return [bits(np.where(np.isnan(x), NAN, x)) for x in iterate_leaves(y)]


def numbers(entries, least, most):
    return st.lists(st.sampled_from(entries), min_size=least, max_size=most)


@always_the_same(50)
@given(st.data())
def test_searches_are_numpys(data):
    table = np.sort(np.array(data.draw(numbers((*ENTRIES, NAN), 2, 17))))
    x = np.array(data.draw(numbers((*ENTRIES, NAN, -3.0, 2.0, 0.1), 16, 40)))
    side = data.draw(st.sampled_from(["left", "right"]))

    def f(table, x):
        return np.searchsorted(table, x, side=side), np.searchsorted(table, x[::2] * 1.0, side)

    made = by_loops(f, table, np.concatenate([x, x]))
    moved = np.sort(np.array(data.draw(numbers((*ENTRIES, NAN), len(table), len(table)))))
    for given_table in (table, moved):
        both = np.concatenate([x[::-1], x])
        assert bits(run(made, (given_table, both))[1]) == bits(f(given_table, both))


@always_the_same(50)
@given(st.data())
def test_interpolation_is_numpys_to_the_last_bit(data):
    xp = np.sort(np.array(data.draw(numbers(ENTRIES, 2, 17))))
    fp = np.array(data.draw(numbers((*ENTRIES, NAN), len(xp), len(xp))))
    x = np.array(data.draw(numbers((*ENTRIES, NAN, -3.0, 2.0, 0.1, 0.3), 16, 40)))
    if data.draw(st.booleans()):
        fp, x = np.exp(-fp * 0.7), x * 1.1

    def f(x, xp, fp, fpdot):
        y, slope = cr.jvp(lambda x: np.interp(x, xp, fp), (x,), (x * 0.0 + 1.0,))
        return y, slope, cr.jvp(lambda fp: np.interp(x, xp, fp), (fp,), (fpdot,))

    with np.errstate(all="ignore"):
        made = by_loops(f, x, xp, fp, fp[::-1].copy())
        for points in (x, x[::-1].copy()):
            given_all = points, xp, fp, fp[::-1].copy()
            assert told(run(made, given_all)[1]) == told(f(*given_all))


XP, FP = np.array([-1.0, 0.0, 0.5, 0.5, 2.0]), np.array([1.0, -2.0, 0.3, 4.0, 2.0])
X = np.linspace(-2.0, 3.0, 24)


def wave(x, xp, fp):
    return np.sum(np.sin(np.interp(x * 1.5, xp, fp)) * x)


def through_an_index(x, xp, fp):
    k = np.searchsorted(xp, x)
    return np.sum(np.where(k == 2, x * x, x) * np.interp(x, xp, np.exp(fp * 0.3)))


def columns(x, xp, fp):
    z = x.reshape(4, 6).T
    return np.sum(np.interp(z, xp, fp) * np.interp(z[:, ::2], xp, fp)[:, :1])


def own_table(x, xp, fp):
    return np.sum(np.interp(x * 0.5, XP, fp)) * np.sum(np.interp(x, xp, FP) ** 2)


def strided(x, xp, fp):
    table = np.stack([fp, fp * 2.0], axis=1)
    return np.sum(np.interp(x, xp, table[:, 1]) * x)


def single(x, xp, fp):
    return np.sum(np.interp(x.astype(np.float32), xp, fp) * x)


def twice(x, xp, fp):
    return np.sum(np.interp(np.interp(x, xp, fp) * 0.5, xp, fp) ** 2)


def as_long_as_its_table(x, xp, fp):
    table = np.sin(x)
    return np.sum(np.interp(np.sort(x)[::-1] * 0.5, np.arange(24.0), table) * table)


PROGRAMS = [
    wave, through_an_index, columns, own_table, strided, single, twice, as_long_as_its_table,
]  # fmt: skip
TRANSFORMS = {
    "value": lambda f: f,
    "gradient": lambda f: cr.value_and_grad(f, argnums=(0, 2)),
    "slope": lambda f: (
        lambda x, xp, fp: cr.jvp(lambda x, fp: f(x, xp, fp), (x, fp), (x * 0.5, fp + 1.0))
    ),
    "second": lambda f: (
        lambda x, xp, fp: cr.grad(
            lambda x, fp: sum(
                np.sum(y**2) for y in cr.grad(lambda x, fp: f(x, xp, fp), (0, 1))(x, fp)
            ),
            (0, 1),
        )(x, fp)
    ),
    "Hessian": lambda f: lambda x, xp, fp: cr.hessian(lambda fp: f(x, xp, fp))(fp),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("by_groups")
def test_programs(f, transform):
    f = TRANSFORMS[transform](f)
    c = cr.compile(f, fallback="error")
    for k in range(4):
        given = X[:: (-1) ** k] + 0.13 * k, XP * (1 + 0.1 * k), FP - 0.4 * k
        assert not differs(c(*given), f(*given)), k
        away = np.append(X[3:], [NAN, INF, -INF]), XP, FP
    with np.errstate(all="ignore"):
        assert not differs(c(*away), f(*away))
    assert recordings(c) == 1


def test_gradients_are_those_of_differences():
    x = X + 0.011
    found = cr.compile(cr.grad(wave, argnums=(0, 2)))
    for k in range(3):
        moved = x * (1 + 0.01 * k)
        step = 1e-6
        for which, bar in enumerate(found(moved, XP, FP)):
            for entry in (0, 3, 4):
                ends = []
                for sign in (-step, step):
                    given = [moved.copy(), XP, FP.copy()]
                    given[2 * which][entry] += sign
                    ends.append(wave(*given))
                assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(bar[entry], abs=1e-7)


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "a sorter": lambda x: np.searchsorted(XP, x, sorter=np.arange(5)),
        "whole numbers": lambda x: np.searchsorted(np.arange(5), x.astype(int)),
        "few": lambda x: np.searchsorted(XP, x[:3]),
        "complex": lambda x: np.interp(x, XP, FP * 1j),
        "one entry": lambda x: np.interp(x, XP[:1], FP[:1]),
        "ends": lambda x: np.interp(x, XP, FP, left=3.0, right=x[0]),
        "a period": lambda x: np.interp(x, XP, FP, period=1.5),
        "empty": lambda x: np.interp(x[:0], XP, FP),
        "single table": lambda x: np.searchsorted(XP.astype(np.float32), x),
    }.items(),
)
def test_what_stays_numpys(name, call):
    f = cr.value_and_grad(lambda x: np.sum(np.real(call(x)) * 1.0) + np.sum(x**3))
    c = cr.compile(f, fallback="error")
    for k in range(3):
        assert not differs(c(X + 0.1 * k), f(X + 0.1 * k)), name


def test_a_table_longer_than_a_vector_of_the_machine():
    rng = np.random.default_rng(0)
    xp, fp = np.sort(rng.normal(size=1000)), rng.normal(size=1000)

    def f(x, fp):
        return np.sum(np.interp(x, xp, fp) ** 2)

    c = cr.compile(cr.value_and_grad(f, argnums=(0, 1)))
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(37, 5))
        given = x.T if seed % 2 else x, fp + seed
        assert not differs(c(*given), cr.value_and_grad(f, argnums=(0, 1))(*given))
