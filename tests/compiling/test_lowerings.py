"""Every function that has native code, by each of the three ways, beside plain NumPy."""

import operator

import numpy as np
import pytest
from three_ways import WAYS, Recorded, differences, run

import chainrules as cr
from chainrules.compiling import fused, line_of_numbers, lowering
from chainrules.compiling.recorded import entry
from chainrules.rules import getitem
from chainrules.rules.linear.steps import part_at
from chainrules.rules.rulesets.arrays.indexing import scatter
from chainrules.rules.rulesets.linalg.norms import euclidean
from chainrules.rules.tracing.funnel import astype
from chainrules.rules.tracing.writing import written

pytest.importorskip("llvmlite")

SPECIAL = np.array([
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.7, 1e300, 1e-310, -745.2, 0.3,
    -0.3,
])  # fmt: skip
NATIVE = ("numbers", "fused")
ONE = {operator.neg, operator.abs}
# Which of 0.0 and -0.0 is the larger one NumPy answers now so, now so.
SIGNLESS = {np.maximum, np.minimum, np.fmax, np.fmin, np.max, np.min, np.clip}


@pytest.fixture(autouse=True)
def small_loops(monkeypatch):
    monkeypatch.setattr(fused, "SMALL", 1)


def points(special):
    """Yield arguments of equal forms: the recorded point, and others."""
    plain = np.linspace(0.1, 0.9, 16)
    for k, values in enumerate([plain, 1.0 - plain, *[special] * 16]):
        v = np.roll(values, k)
        yield (
            v[:12].reshape(3, 4).copy(), values[4:].reshape(3, 4).copy(), v[3:7].copy(),
            v[5:8].reshape(3, 1).copy(), np.asfortranarray(v[:12].reshape(3, 4)),
            np.float64(v[9]), v[2:3].reshape(()).copy(), v[7:8].reshape(1, 1).copy(),
        )  # fmt: skip


def check(f, args, ways=WAYS, lowered=(), by=NATIVE, others=(), **options):
    """Compare ``f`` by all ``ways`` at ``args`` and ``others``; ``lowered`` is native ``by`` these."""
    recorded = Recorded(f, *args)
    for way in ways:
        if way != "replay" and way not in by:
            continue
        for g in lowered if way != "replay" else ():
            assert g in recorded.functions(way), f"{way}: {g} is not native"
        made = recorded.by(way)
        for k, xs in enumerate([args, *others]):
            with np.errstate(all="ignore"):
                expected = f(*xs)
            missed, found = run(made, xs)
            assert missed is None, f"{way}, point {k}: {missed}"
            assert not (said := differences(found, expected, **options)), f"{way}, point {k}: {said}"
    with np.errstate(all="ignore"):
        said = differences(cr.compile(f, fallback="error", check=False)(*args), f(*args), **options)
        assert not said


# ---- each entry by itself -----------------------------------------------------------------------

INTEGERS = np.array([[1, 2, 3, 4], [2, -1, 3, 1], [1, 1, 2, 2]])
TRUTHS = INTEGERS > 1
GAPS = np.linspace(-1.0, 2.0, 24).reshape(3, 8)[:, ::2]


def unary(f):
    return lambda m, n, row, col, fort, s, zero, one: [
        f(m), f(m[::-1, 1:3]), f(row), f(col), f(fort), f(s), f(zero), f(one), f(m.T), f(m[:, None]),
        f(row[::-2]),
    ]  # fmt: skip


def binary(f):
    return lambda m, n, row, col, fort, s, zero, one: [
        f(m, n), f(m, row), f(col, row), f(m, s), f(s, m), f(m, 2), f(3, m), f(m, 2.0), f(-1.5, m),
        f(s, s), f(s, 2), f(0.25, s), f(zero, m), f(m, zero), f(zero, s), f(one, m), f(one, s),
        f(m, INTEGERS), f(INTEGERS, m), f(GAPS, m), f(TRUTHS, m), f(m, np.full(4, 2.0)),
        f(m, np.float64(0.5)), f(fort, fort), f(fort, m), f(m[::-1], n[:, ::-1]), f(m[1:, ::2], s),
        f(m, np.array(3.0)), f(m > 0.5, n), f(m, m), f(m[:, :1], row), f(m, np.int64(2)), f(m, True),
    ]  # fmt: skip


def arity(f):
    return 1 if f in ONE else getattr(f, "nin", 2)


@pytest.mark.parametrize("f", lowering.ELEMENTWISE, ids=str)
def test_elementwise(f):
    g = unary(f) if arity(f) == 1 else binary(f)
    args, *others = points(SPECIAL)
    check(g, args, lowered=[f], others=others, zeros=f not in SIGNLESS)


@pytest.mark.parametrize("f", lowering.OF_TRUTHS, ids=str)
def test_of_truths(f):
    def one(m, n, row, col, fort, s, zero, one):
        return [f(m > 0.5), f(row > row[0]), f(s > 0.4), f(fort < 0.5)]

    def two(m, n, row, col, fort, s, zero, one):
        a, b, c = m > 0.5, n >= 0.5, row < 0.3
        return [
            f(a, b), f(a, c), f(a, s > 0.4), f(s > 0.4, s < 0.2), f(a, True), f(False, a),
            f(a, TRUTHS), f(np.True_, a), f(a, a), f(a[::-1], c),
        ]  # fmt: skip

    args, *others = points(SPECIAL)
    g = one if f in (operator.invert, np.invert) else two
    check(g, args, lowered=[f], others=others)
