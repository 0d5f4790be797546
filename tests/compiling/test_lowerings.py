# ruff: noqa: E501 - tables of programs, one a line
"""Every function that has native code, by each of the three ways, beside plain NumPy."""
# ruff: noqa: E501 - tables are read by their rows

import math
import operator

import numpy as np
import pytest
from three_ways import WAYS, Recorded, differences, run

import chainrules as cr
from chainrules import numpy as fillable
from chainrules.compiling.ir import lowering
from chainrules.compiling.passes.fused import groups
from chainrules.compiling.passes.scalar import scalar_program, scalar_steps
from chainrules.rules import getitem, iterate_leaves
from chainrules.rules.linear.steps import part_at
from chainrules.rules.rulesets.arrays.indexing import scatter
from chainrules.rules.rulesets.arrays.quotients import guarded_quotient
from chainrules.rules.rulesets.linalg.norms import euclidean
from chainrules.rules.table.compositions import with_value
from chainrules.rules.table.linear_kinds import LinearRule
from chainrules.rules.tracing.funnel import astype, call, entry
from chainrules.rules.tracing.writing import written

pytestmark = pytest.mark.usefixtures("small_loops")

pytest.importorskip("llvmlite")

SPECIAL = np.array([
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.7, 1e300, 1e-310, -745.2, 0.3,
    -0.3,
])  # fmt: skip
ULPS = {np.logaddexp: 100.0}  # the result may be small
NATIVE = ("numbers", "fused", "many")
ONE = {operator.neg, operator.abs}
# Which of 0.0 and -0.0 is the larger one NumPy answers now so, now so.
SIGNLESS = {np.maximum, np.minimum, np.fmax, np.fmin, np.max, np.min, np.amax, np.amin, np.clip}


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
            assert not (said := differences(found, expected, **options)), (
                f"{way}, point {k}: {said}"
            )
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
        f(s, 0.5), f(m, np.full(4, 0.5)), f(m, np.array(0.5)), f(m, np.array([0.5, -1.0, 2.0, 0.0])),
    ]  # fmt: skip


def arity(f):
    return 1 if f in ONE else getattr(f, "nin", 2)


def of_pythons_floats(f):
    """A look that misses is where Python raises, or gives what is no float."""

    def h(*args):
        return call(f, args, {}) if f.__module__ == "math" else f(*args)

    one = f in ONE or (f.__module__ == "math" and f is not math.hypot and is_of_one(f))
    g = (lambda s, t: [h(s)]) if one else (lambda s, t: [h(s, t), h(s, 2), h(0.5, t), h(s, 0.5)])
    recorded = Recorded(g, 0.75, 0.25) if f is not math.acosh else Recorded(g, 1.5, 0.25)
    for way in ("replay", "numbers"):
        made = recorded.by(way)
        assert f in recorded.functions("numbers")
        for s in SPECIAL.tolist():
            for t in SPECIAL.tolist():
                try:
                    expected = g(s, t)
                except (ValueError, ZeroDivisionError, OverflowError):
                    expected = None
                try:
                    missed, found = run(made, (s, t))
                except (ValueError, ZeroDivisionError, OverflowError):
                    missed, found = True, None
                assert missed is not None or not differences(found, expected), (way, s, t)


def is_of_one(f):
    try:
        return bool(f(1.5 if f is math.acosh else 0.5)) or True
    except TypeError:
        return False


ROWS = lowering.FUNCTIONS.items()
OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert")
EACH = {f: row.op for f, row in ROWS if row.op and row.op not in OF_BITS}
PYTHONS = [f for f in EACH if f.__module__ in ("math", "_operator")]


@pytest.mark.parametrize("f", PYTHONS, ids=str)
def test_numbers_of_python(f):
    of_pythons_floats(f)


@pytest.mark.parametrize("f", [f for f in EACH if f.__module__ != "math"], ids=str)
def test_elementwise(f):
    alone = arity(f) == 1
    g = unary(f) if alone else binary(f)
    args, *others = points(SPECIAL)
    others = others[:: 3 if alone else 1]  # a pair of special numbers meets at one point alone
    if EACH[f] == "power":  # roots, where an exponent that is computed is 0.5
        others = [xs for xs in others if xs[5] != 0.5]
    check(g, args, lowered=[f], others=others, zeros=f not in SIGNLESS, ulps=ULPS.get(f, 4.0))


@pytest.mark.parametrize("f", [f for f, row in ROWS if row.op in lowering.OF_BOOLEANS], ids=str)
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


# ---- functions that move entries, and those of more than one step --------------------------------

MOVES = {
    np.tril: lambda m, row: [np.tril(m), np.tril(m, -1), np.tril(m.T, k=1), np.tril(row)],
    np.triu: lambda m, row: [np.triu(m), np.triu(m, -1), np.triu(m.T, k=1), np.triu(m[None])],
    np.reshape: lambda m, row: [
        np.reshape(m, (4, 3)), np.reshape(m, -1), np.reshape(m.T, (2, -1)), m.reshape(2, 6, order="F"),
        np.reshape(m[::-1], (4, 3)), np.reshape(m.T, -1, order="A"), np.reshape(row, (4, 1)),
    ],
    np.ravel: lambda m, row: [
        np.ravel(m), np.ravel(m.T), np.ravel(m.T, order="K"), np.ravel(m.T + 1, order="K"),
        np.ravel(m, order="F"), m.ravel("A"),
    ],
    np.transpose: lambda m, row: [
        np.transpose(m), m[None].transpose(1, 2, 0), np.transpose(row), m.T + 1,
        m.reshape(2, 2, 3).transpose(1, 2, 0),
    ],
    np.swapaxes: lambda m, row: [np.swapaxes(m, 0, -1), np.swapaxes(m, 0, 1)[1:]],
    np.moveaxis: lambda m, row: [np.moveaxis(m[None], 0, -1), np.moveaxis(m, (0, 1), (1, 0))],
    np.expand_dims: lambda m, row: [np.expand_dims(m, -1), np.expand_dims(row, (0, 2))],
    np.squeeze: lambda m, row: [np.squeeze(m[:1]), np.squeeze(m[:, None], axis=1), np.squeeze(row)],
    np.broadcast_to: lambda m, row: [np.broadcast_to(row, (2, 4)), np.broadcast_to(m[:, :1], (3, 2))],
    np.concatenate: lambda m, row: [
        np.concatenate([m, m]), np.concatenate((row, row), axis=-1), np.concatenate([m, m], axis=None),
        np.concatenate([row, np.ones(4)]),
    ],
    np.stack: lambda m, row: [np.stack([row, row, row]), np.stack([m, m], axis=-1)],
    np.vstack: lambda m, row: [np.vstack([row, row]), np.vstack([m, m])],
    np.hstack: lambda m, row: [np.hstack([row, row]), np.hstack([m, m])],
    np.column_stack: lambda m, row: [np.column_stack([row, row])],
    np.dstack: lambda m, row: [np.dstack([m, m]), np.dstack([row, row])],
    np.copy: lambda m, row: [np.copy(m), np.copy(m.T), np.copy(row[::2]), m.copy()],
    np.diag: lambda m, row: [np.diag(m), np.diag(row), np.diag(row, -1), np.diag(m, 1)],
    np.diagonal: lambda m, row: [np.diagonal(m), np.diagonal(m, 1), m.diagonal()],
    np.flip: lambda m, row: [np.flip(m), np.flip(m, 1), np.flip(row), np.flip(m, (0, -1))],
    np.fliplr: lambda m, row: [np.fliplr(m)],
    np.flipud: lambda m, row: [np.flipud(m)],
    np.roll: lambda m, row: [np.roll(row, 1), np.roll(m, -1, axis=1), np.roll(m, (1, 2), (0, 1))],
    np.rollaxis: lambda m, row: [np.rollaxis(m, 1)],
    np.tile: lambda m, row: [np.tile(row, 2), np.tile(m, (2, 1))],
    np.repeat: lambda m, row: [np.repeat(row, 2), np.repeat(m, 2, axis=1), np.repeat(m, [1, 0, 2], 0)],
    np.matrix_transpose: lambda m, row: [np.matrix_transpose(m), m.mT],
    np.atleast_1d: lambda m, row: [np.atleast_1d(m), np.atleast_1d(m[0, 0])],
    np.atleast_2d: lambda m, row: [np.atleast_2d(row), np.atleast_2d(m[0, 0])],
    np.split: lambda m, row: [np.split(row, 2), np.split(m, [1, 3], axis=1)],
    np.delete: lambda m, row: [np.delete(row, 1), np.delete(m, [0, 2], axis=1)],
    np.take: lambda m, row: [np.take(row, [0, -1, 1]), np.take(m, [[0, 1]], axis=1), np.take(m, 7)],
    np.broadcast_arrays: lambda m, row: [np.broadcast_arrays(row)],
    getitem: lambda m, row: [
        m[0], m[-1, 1], m[:, None, 1], m[::-2, ::3], m[..., 0], row[[0, 2, 0]], m[[0, 1], [2, 3]],
        m[m.shape[0] - 1], m[TRUTHS], m[:, [True, False, True, True]], m[()], m[1:1],
    ],
}  # fmt: skip


@pytest.mark.parametrize("f", MOVES, ids=lambda f: f.__name__)
def test_moves(f):
    def g(m, row):
        moved = [MOVES[f](m, row), MOVES[f](m * 2, row + 1), MOVES[f](m > 0.5, row > 0.5)]
        return moved, [y * 2.0 for y in iterate_leaves(moved)]  # read by loops, where they lie

    args, *others = [(m, row) for m, _, row, *_ in points(SPECIAL)][:4]
    check(g, args, by=("numbers",), lowered=[f], others=others)
    check(
        g,
        args,
        by=("fused", "many"),
        lowered=[f] if lowering.lowering_of(f).views else [],
        others=others,
    )


def filled(row):
    y = fillable.ones(5)
    y[1:] = row
    return y


TABLE = np.array([-1.0, 0.0, 0.5, 0.5, 2.0])
STEPS = {
    np.sum: lambda m, row, s: [
        np.sum(m), np.sum(m, 0), np.sum(m, axis=-1), np.sum(m, axis=(0, 1)), np.sum(m, -1, keepdims=True),
        np.sum(m, keepdims=True), m.sum((0,)), np.sum(m[:, ::-1].T, 0), np.sum(m[:1]), np.sum(m[:1], 0),
        np.sum(row), np.sum(m[None], axis=(0, -1)), np.sum(s), m.sum(axis=0, keepdims=True),
        np.sum(m.T[:, None] + m[:1].T, axis=0), np.sum(m, axis=()), np.sum(m.T * 1.5, keepdims=True, axis=0),
    ],
    np.mean: lambda m, row, s: [
        np.mean(m), np.mean(m, 0), m.mean(-1), np.mean(m, (0, -1), keepdims=True), np.mean(row),
        np.mean(m[:1], 0), np.mean(m + row),
    ],
    np.prod: lambda m, row, s: [
        np.prod(m), np.prod(m, 0), m.prod(-1), np.prod(m, (0, 1), keepdims=True), np.prod(row),
    ],
    np.max: lambda m, row, s: [
        np.max(m), m.max(0), np.max(m, -1, keepdims=True), np.max(m, axis=(0, 1)), row.max(),
        np.max(m[:1]), np.max(m, axis=1, initial=0.5), np.max(row, initial=9.0, keepdims=True),
    ],
    np.amax: lambda m, row, s: [np.amax(m.T[::-1], 0), np.amax(row)],
    np.amin: lambda m, row, s: [np.amin(m.T[::-1], 0), np.amin(row)],
    np.min: lambda m, row, s: [
        np.min(m), m.min(0), np.min(m, -1, keepdims=True), np.min(m, axis=(0, 1)), row.min(),
    ],
    np.any: lambda m, row, s: [
        np.any(m > 0.5), np.any(m > 0.5, 0), (row > 0.9).any(), np.any(m, -1, keepdims=True), np.any(row),
        np.any((m > 0.3) & (m < 0.5), axis=(0, 1)),
    ],
    np.all: lambda m, row, s: [
        np.all(m > 0.5), np.all(m > 0.5, 0), (row > 0.1).all(), np.all(m, -1, keepdims=True), np.all(row),
        np.all(m != m, axis=(0,)),
    ],
    np.count_nonzero: lambda m, row, s: [np.count_nonzero(m > 0.5, 1) + 2, np.count_nonzero(m, axis=0)],
    np.cumsum: lambda m, row, s: [
        np.cumsum(row), np.cumsum(m), np.cumsum(m, 0), m.cumsum(axis=-1), np.cumsum(m.T, axis=0),
    ],
    np.searchsorted: lambda m, row, s: [
        np.searchsorted(TABLE, m), np.searchsorted(TABLE, row, "right"), np.searchsorted(TABLE, s, side="left"),
        np.searchsorted(TABLE[:0], m), np.searchsorted(TABLE, m > 0.5),
    ],
    np.cumprod: lambda m, row, s: [np.cumprod(row), np.cumprod(m), np.cumprod(m, 0), np.cumprod(m, -1)],
    np.where: lambda m, row, s: [
        np.where(m > 0.5, m, row), np.where(m > row, 1.0, m), np.where(s > 0.5, m, -m),
        np.where(row > 0.5, row, 0), np.where(m, m, row), np.where(TRUTHS, m, 2), np.where(m > 1, True, m < 0),
        np.where(m == m, m, s), np.where(m > s, row[0] > 1, m), np.where(m > 0.5, INTEGERS, row),
        np.where(m > 0.5, 1.0, 0.0), np.where(m.T > 0.5, m.T, 1.0),
    ],
    np.dot: lambda m, row, s: [
        np.dot(m, row), np.dot(row, row), np.dot(m, m.T), np.dot(2.0, m), np.dot(s, s), np.dot(m, s),
        np.dot(INTEGERS, row), np.dot(m[:1], row),
    ],
    np.matmul: lambda m, row, s: [
        np.matmul(m, row), np.matmul(row, m.T), np.matmul(m, m.T), np.matmul(row, row),
        np.matmul(INTEGERS, row), np.matmul(m > 0.5, row), np.matmul(m.T[::-1], m),
    ],
    operator.matmul: lambda m, row, s: [m @ row, m.T @ m, row @ row, INTEGERS @ row, m @ np.eye(4)],
    operator.pos: lambda m, row, s: [+m, +row, +s],
    np.positive: lambda m, row, s: [np.positive(m), np.positive(row), np.positive(s)],
    with_value: lambda m, row, s: [
        call(with_value, (m, m * 2), {}), call(with_value, (row, -row), {}), call(with_value, (s, s + 1), {}),
    ],
    guarded_quotient: lambda m, row, s: [call(guarded_quotient, (m, row), {}), call(guarded_quotient, (row, row - row), {}), call(guarded_quotient, (row - row, row - row), {}), call(guarded_quotient, (s, row), {})],
    np.outer: lambda m, row, s: [np.outer(row, row), np.outer(m, row), np.outer(row, INTEGERS[0])],
    np.zeros_like: lambda m, row, s: [
        np.zeros_like(m) + m, np.zeros_like(row), np.zeros_like(m.T), np.zeros_like(m > 0.5) | (m > 0.5),
        np.zeros_like(s), np.zeros_like(m, shape=(2,)),
    ],
    np.ones_like: lambda m, row, s: [np.ones_like(m) * m, np.ones_like(row), np.ones_like(m > 0.5) & (m > 1)],
    np.array: lambda m, row, s: [
        filled(row), cr.array([s, 2 * s, 1.0]), cr.array([row[0], s, 0.5, 2]),
    ],
    np.clip: lambda m, row, s: [
        np.clip(m, 0.2, 0.7), m.clip(0.3, None), np.clip(m, None, row), np.clip(row, s, 0.6), np.clip(s, 0, 1),
        np.clip(m, row, s), np.clip(m, 0.7, 0.2),
    ],
    astype: lambda m, row, s: [
        (m > 0.5).astype(float), m.astype(float), m.astype(np.float64, copy=False), row.astype(bool),
        (m > 0.5).astype(float) * m, (s > 0.5).astype(float), m.T.astype(float), m.astype(bool) & (m > 0.5),
    ],
    np.real: lambda m, row, s: [np.real(m), np.real(row) * 2, m.real],
    np.conjugate: lambda m, row, s: [np.conjugate(m), np.conj(s), row.conj()],
    np.linalg.norm: lambda m, row, s: [
        np.linalg.norm(m), np.linalg.norm(row), np.linalg.norm(m, axis=1), np.linalg.norm(m[:1], axis=0),
        np.linalg.norm(m, axis=-1, keepdims=True),
    ],
    scatter: lambda m, row, s: [
        scatter(m, (5, 4), np.float64, slice(1, 4)), scatter(row, (4,), np.float64, slice(None, None, -1)),
        scatter(row, (3, 4), np.float64, (slice(None, None, -1),)), scatter(s, (3,), np.float64, 1),
        scatter(m.T, (6, 3), np.float64, slice(1, 5)), scatter(row, (4, 6), np.float64, (2, slice(1, 5))),
        scatter(row, (3,), np.float64, (np.array([0, 2, 0, 1]),)), scatter(m, (3, 1, 4), np.float64, (slice(None), 0)),
    ],
    entry: lambda m, row, s: [m[0, 1].item(), row.item(2), m.item(1, 2), m.item((0, -1)), m.item(-1), s.item()],
}  # fmt: skip


@pytest.mark.parametrize("f", STEPS, ids=lambda f: f.__name__)
def test_steps(f):
    ulps = 4.0 if f in EXACT else 200.0
    args, *others = [(m, row, s) for m, _, row, _, _, s, *_ in points(SPECIAL)]
    if f not in EXACT:
        others = others[:1]
    for by in NATIVE:
        g = STEPS[f] if by == "numbers" or f in IN_LOOPS else with_a_loop(STEPS[f])
        native = f in IN_NUMBERS if by == "numbers" else f in IN_LOOPS
        check(
            g,
            args,
            by=(by,),
            lowered=[f] if native else [],
            others=others,
            zeros=f not in SIGNLESS,
            ulps=ulps,
        )


def with_a_loop(f):
    return lambda m, row, s: [f(m, row, s), f(m * 2 + 1, row - 1, s)]


EXACT = {
    np.max, np.min, np.amax, np.amin, np.any, np.all, np.where, np.zeros_like, np.ones_like, np.array, np.clip, astype, np.real,
    np.conjugate, scatter, entry, np.count_nonzero, np.searchsorted,
}  # fmt: skip
REDUCTIONS = {f for f, row in ROWS if row.does in groups._REDUCTIONS}
IN_LOOPS = {*REDUCTIONS, np.where, astype, scatter}
IN_NUMBERS = {f for f, row in ROWS if row.does in scalar_steps.STEPS}


def test_every_entry_has_a_case():
    stepwise = {written, part_at, operator.getitem, euclidean}  # below, in programs
    assert set(scalar_steps.STEPS) == {row.does for f, row in ROWS if f in IN_NUMBERS}
    assert IN_NUMBERS - stepwise == set(STEPS)
    assert set(STEPS) >= REDUCTIONS
    assert {f for f, row in ROWS if row.moves or row.views} == set(MOVES)


def test_rows_say_what_the_kinds_of_rules_say():
    cr.grad(lambda x: x)(1.0)  # loads the rules
    for f, row in ROWS:
        kind = cr.rrule.kind_of(f)
        if isinstance(kind, LinearRule):
            assert not row.moves or kind.moves, f
            assert not row.views or kind.views, f
        if row.op and f.__module__ != "math" and kind is not None and not kind.constant:
            assert kind.elementwise, f  # those of math may take several arguments


# ---- what comes in pieces, is written, or has a derivative ---------------------------------------


def buffer(m, row, s):
    y = fillable.zeros((3, 4))
    y[1] = row
    y[:, ::2] += m[:, 1:3]
    y[0, -1] = s
    z = y.copy()
    z.T[1] = 2.0
    z[::-1][0, 1:3] *= row[:2]
    z[[0, 2], [1, 1]] = m[0, :2]
    return y, z


def whole(m, row, s):
    y = fillable.zeros(3, int)
    y[0] = 2
    y[1:] = 3
    z = fillable.arange(4)
    z[1] = 5
    return row[:3] * y + z[:3]


def truth_buffer(m, row, s):
    y = (row > 2.0).copy()
    y[1:3] = row[:2] > 0.3
    y[0] = s > 0.5
    return y, np.where(y, row, 0.0)


def rounded(m, row, s):
    y = np.cumsum(row > 0.3).copy()
    y[:] = row * 10
    return (
        y,
        y * 0.5,
        (row * 10).astype(int),
        (row * 10).astype(int) * 0.5,
        (row * 7).astype(np.int64) + 1,
    )


def pieces(m, row, s):
    a, b = np.split(m, 2, axis=1)
    first, *_ = row
    return a @ b.T + first, [part * 2 for part in np.split(row, [1, 3])]


def counted(m, row, s):
    n = np.sum(m > 0.5)
    k = np.count_nonzero(m > 0.5, axis=0)
    return (
        n * 0.5,
        k,
        k + 1,
        -k,
        k / 2,
        np.cumsum(row > 0.2),
        np.where(row > 0.3, 1, 2),
        np.dot(k, 2),
        k * k,
        np.where(row > 0.3, row > 2, 3) * 0.5,
    )


def truths(m, row, s):
    a, b = row > 0.5, row < 0.8
    return [
        np.max(a), np.min(b), np.sum(a), np.mean(a), np.prod(a), np.any(a), np.max(m > 0.5, 0), a * 1.0, a + 1,
        a - row, -row * a, abs(a), np.fmax(a, b), np.fmin(a, b), np.clip(a, 0, 1), np.where(a, b, 2),
        np.where(a, 1, b), np.square(row * a), np.sqrt(a * 4.0), np.sign(a * 1), np.floor(a), np.isnan(a), a == b,
        a < b, a @ np.abs(m.T), np.dot(a, np.abs(row)), np.outer(a, row), np.cumprod(a), np.copysign(row, a), np.power(row, a),
        np.absolute(a), np.linalg.norm(a), np.trunc(a), a**2, np.positive(row), np.conjugate(a), np.real(a),
        np.rint(a), np.logical_not(row), row.astype(bool) + a, np.minimum(a, row), np.hypot(a, b),
        np.reciprocal(row) * b, np.count_nonzero(a), np.ceil(a) if np.__version__ > "2.1" else a,
    ]  # fmt: skip


def integers(m, row, s):
    i = INTEGERS
    k = np.count_nonzero(m > 0.5, axis=0)
    return [
        i * m, m // i, k // 2, k % 2, k**2, np.maximum(k, 2), np.sum(k), np.mean(k), np.prod(k), np.max(k), k[::-1],
        np.stack([k, k]), k @ k, np.where(k > 1, k, 0), np.clip(k, 1, 2), np.sqrt(k), k > 1, k == k, abs(k - 3),
        np.cumsum(k), k.astype(float), np.linalg.norm(k), np.hypot(k, 1), np.exp(k), k * 2**53 + 1, -k, np.float64(2) ** k,
        np.outer(k, k), np.matmul(k, INTEGERS.T), np.minimum(k, 1.5), k & 1, np.sign(k), np.square(k), np.fmax(k, 2),
        np.power(k, 2), np.reciprocal(k + 1.0), np.zeros_like(k) + k, np.ones_like(k), np.floor(k), np.real(k),
    ]  # fmt: skip


def norms(m, row, s):
    return [
        np.linalg.norm(row, 1), np.linalg.norm(row, 2), np.linalg.norm(m, "fro"), np.linalg.norm(row, np.inf),
        np.linalg.norm(m, None, 1), np.linalg.norm(m, 2, 0), np.linalg.norm(row, 0), np.linalg.norm(m, 1, axis=1),
    ]  # fmt: skip


def settings(m, row, s):
    return [
        np.sum(m, 0, None), np.sum(m, axis=0, dtype=np.float64), np.sum(m, initial=2.0), np.max(m, 0, initial=0.5),
        np.sum(m, where=TRUTHS), np.sum(m, 0, np.float64, None, True), np.max(m, 0, None, True), m.max(1, keepdims=True),
        np.cumsum(m, 1, float),
        np.add.reduce(m), np.add.accumulate(row), np.multiply.outer(row, row), np.maximum.reduce(m, axis=1),
        np.clip(m, a_min=0.2, a_max=0.5), np.mean(m, 0, np.float64), np.zeros_like(m, dtype=int) + 1.0 * m,
        np.ones_like(m, dtype=bool), np.zeros_like(row, dtype=bool) | (row > 0.2), np.copy(m.T, order="C"),
        np.broadcast_arrays(row, np.zeros((2, 4)))[0] + 1, np.broadcast_arrays(row, np.zeros((2, 4), int))[1] + row,
        np.float_power(m, 2), np.divmod(m, 0.3), np.modf(m), np.round(m, 1),
    ]  # fmt: skip


def numbers(m, row, s):
    t = float(s)
    return [
        t * 2,
        s * t,
        s**2,
        s**3.0,
        s**-1,
        s**0.5,
        abs(s),
        -s,
        s // 0.3,
        s % 0.3,
        divmod(s, 0.3),
        s == t,
    ]


def simplified(m, row, s):
    return [
        m * 1, m * -1.0, 1.0 * m, m / 1, m / -1.0, m - 0.0, 0.0 - m, m - -0.0, m + 0.0, m * 0.0, m**0, m**1, m**4,
        -1 * m, 0.0 + (0.0 + m), -0.0 + m, 0.0 + (m + -0.0), (m * 0.0) + 0.0, m**-2, m**2.5, 1 / m, m - m, m / m,
        np.where(True, m, row), m * np.float64(1), s * 1, s / 1, s - 0, s**4, s**3, s * -1,
    ]  # fmt: skip


PROGRAMS = [
    buffer, whole, truth_buffer, rounded, pieces, counted, truths, integers, norms, settings, simplified,
]  # fmt: skip


def each_part(f):
    """Yield functions that give one part each, since one that is not native keeps all from being so."""
    m, _, row, _, _, s, *_ = next(points(SPECIAL))
    count = len(f(m, row, s))
    if type(f(m, row, s)) not in (list, tuple):
        yield f
        return
    for k in range(count):
        yield lambda m, row, s, k=k: [f(m, row, s)[k], m * 2.0]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_programs(f, way):
    args, *others = [(m, row, s) for m, _, row, _, _, s, *_ in points(SPECIAL)]
    others = [*others[:1], *[tuple(x * k - 1 for x in args) for k in (3.0, 11.0, -7.0)]]
    others = [(m, row, np.float64(s)) for m, row, s in others] + points_of_specials(f)
    for k, g in enumerate(each_part(f)):
        try:
            agrees(g, way, args, others)
        except AssertionError as error:
            raise AssertionError(f"part {k}: {error}") from None


def points_of_specials(f):
    if f not in (simplified, buffer, truth_buffer):
        return []
    return [(m, row, s) for m, _, row, _, _, s, *_ in points(SPECIAL)][2:]


def agrees(g, way, args, others):
    """Compare a program by one way, if it has one; a look that misses here misses in a replay."""
    recorded = Recorded(g, *args)
    try:
        made = recorded.by(way)
    except scalar_program.NotLowered:
        return False
    except Exception as error:
        if isinstance(error, RuntimeError):
            raise  # it is LLVM's
        return False
    for k, xs in enumerate([args, *others]):
        with np.errstate(all="ignore"):
            expected = g(*xs)
        missed, found = run(made, xs)
        if missed is not None:
            assert run(recorded.by("replay"), xs)[0] == missed
            continue
        assert not (said := differences(found, expected, ulps=200.0)), f"point {k}: {said}"
    return True


def test_what_the_first_repetition_computes_for_all():
    """A KeyError, in a loop found again whose first repetition gives a value to all others."""
    g = cr.value_and_grad(lambda s, x: np.sum(np.hypot(s, x)), argnums=(0, 1))
    args, others = (np.float64(0.3), np.linspace(0.1, 0.9, 24)), [(np.float64(2.0), np.ones(24))]
    check(g, args, others=others, lowered=[np.hypot], by=("numbers",), ulps=200.0)


@pytest.mark.slow
def test_a_large_view_that_is_copied():
    """A process ended here: NumPy was asked where ``ravel`` of a view lies, of too little memory."""
    f = cr.compile(lambda x: np.sum((x * 2.0).T.ravel()) + np.sum((x + 1.0)[::-1].reshape(-1)))
    x = np.ones((3000, 2000))
    assert f(x) == f(x) == 4 * x.size


def test_a_stack_that_is_read_by_its_columns():
    """BLAS is given a copy of small matrices that lie transposed."""

    def f(x, w):
        return (2.0 * x) @ np.swapaxes(w * 3.0, -1, -2), np.matmul(x + 1.0, w.transpose(0, 2, 1))

    rng = np.random.default_rng(2)
    args, others = [(rng.normal(size=(3, 100, 4)), rng.normal(size=(3, 5, 4))) for _ in range(2)]
    check(f, args, by=("fused",), others=[others], ulps=200.0)
    assert Recorded(f, *args).by("fused").source.count("ascontiguousarray") == 2
