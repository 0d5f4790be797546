"""Rules of native loops: the pushforward and the pullback of a loop are loops."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...forward import ForwardConfig
from ...reverse import ReverseConfig
from ...rules import (
    ZERO,
    AbstractZero,
    NoTangent,
    Tangent,
    add,
    as_structured,
    child_tangents,
    frule,
    instances,
    is_traced,
    rrule,
    unthunk,
)
from .layout import Layout
from .native_loop import NativeLoop, Step
from .ways import Layouts

FORWARD, REVERSE = ForwardConfig(), ReverseConfig()
Mask = tuple[bool, ...]


def _floats(layout: Layout) -> Mask:
    return tuple(not place.whole for place in layout.places)


def _kept(values: Any, mask: Mask) -> list:
    return [x for x, keeps in zip(values, mask, strict=True) if keeps]


def _spread(values: list, mask: Mask) -> list:
    """Return ``values`` where the mask is set, and zero tangents elsewhere."""
    rest = iter(values)
    return [next(rest) if holds else ZERO for holds in mask]


def _with(layout: Layout, *masks_of: tuple[Layout, Mask]) -> Layout:
    more = [form for other, mask in masks_of for form in _kept(other.forms, mask)]
    return Layout([*layout.forms, *more])


def _as_tuples(step: Step) -> Callable:
    """Return the step as a function of three tuples, of two results that are tuples."""

    def run(carry: tuple, captured: tuple, row: tuple) -> tuple:
        after, given = step.run(list(carry), list(captured), list(row))
        return tuple(after), tuple(given)

    return run


def _parts(x: tuple, t: Any) -> list:
    return [unthunk(part) for part in child_tangents(x, unthunk(t))]


# ---- forwards -----------------------------------------------------------------------------------


def pushed(loop: NativeLoop, moving: Mask, rows: Mask, zeros: frozenset[int]) -> NativeLoop:
    """Return the loop of the step's pushforward, for tangents of these captured values and rows."""
    key = "pushed", moving, rows, zeros
    if key in loop.derived:
        return loop.derived[key]
    of, step, run = loop.layouts, loop.step, _as_tuples(loop.step)
    carried, given = _floats(of.carry), _floats(of.given)
    c, k, x = len(of.carry), len(of.captured), len(of.taken)

    def push(carry: list, captured: list, row: list) -> tuple[list, list]:
        primals = tuple(carry[:c]), tuple(captured[:k]), tuple(row[:x])
        dots = (
            Tangent(tuple, *_spread(carry[c:], carried)),
            Tangent(tuple, *_spread(captured[k:], moving)),
            Tangent(tuple, *_spread(row[x:], rows)),
        )
        y, ydot = FORWARD.frule_via_ad((NoTangent(), *dots), run, *primals)
        afterdot, givendot = (_parts(part, t) for part, t in zip(y, _parts(y, ydot)))
        after, out = y
        return [*after, *_kept(afterdot, carried)], [*out, *_kept(givendot, given)]

    goes_on = None
    if step.goes_on is not None:

        def goes_on(carry: list, captured: list) -> bool:
            return step.goes_on(carry[:c], captured[:k])

    layouts = Layouts(
        _with(of.carry, (of.carry, carried)), _with(of.captured, (of.captured, moving)),
        _with(of.taken, (of.taken, rows)), _with(of.given, (of.given, given)),
    )  # fmt: skip
    made = NativeLoop(
        Step(push, step.new_captured, goes_on),
        layouts,
        loop.backwards,
        zeros | (loop.zeros or frozenset()),
    )
    return loop.derived.setdefault(key, made)


@frule.register(instances(NativeLoop))
def loop_frule(tangents, loop, count, *leaves):
    of, primals = loop.layouts, loop.split(leaves)
    dots = loop.split(tuple([unthunk(t) for t in tangents[2:]]))
    carried, given = _floats(of.carry), _floats(of.given)
    moving, rows = (tuple([not isinstance(t, AbstractZero) for t in ts]) for ts in dots[1:])
    moved = [
        _dense(x, t)
        for xs, ts, mask in zip(primals, dots, (carried, moving, rows))
        for x, t in zip(_kept(xs, mask), _kept(ts, mask))
    ]
    c, d, k, n = len(of.carry), sum(carried), sum(moving), len(of.given)
    still = [isinstance(t, AbstractZero) for t in _kept(dots[0], carried)]
    zeros = frozenset(c + i for i, zero in enumerate(still) if zero)
    carry, captured, columns = primals
    y = pushed(loop, moving, rows, zeros)(
        count, *carry, *moved[:d], *captured, *moved[d : d + k], *columns, *moved[d + k :]
    )
    after, afterdot, out, outdot = _cut(y[1:], c, d, n)
    ydot = Tangent(tuple, NoTangent(), *_spread(afterdot, carried), *_spread(outdot, given))
    if is_traced(moved):  # then all that comes of them is linear in them
        return loop(count, *leaves), ydot
    return (y[0], *after, *out), ydot


def _cut(values: Any, *sizes: int) -> list[list]:
    """Return lists of these sizes, one after the other, and the rest."""
    rest, found = list(values), []
    for size in sizes:
        found.append(rest[:size])
        rest = rest[size:]
    return [*found, rest]


def _dense(x: Any, t: Any) -> Any:
    """Return the tangent, dense: of a number a number, of an array an array."""
    return np.multiply(x, 0.0) if isinstance(t, AbstractZero) else as_structured(x, t)


# ---- backwards ----------------------------------------------------------------------------------


def keeping(loop: NativeLoop) -> NativeLoop:
    """Return the loop that gives, besides, the carry that each round began with."""
    if "keeping" in loop.derived:
        return loop.derived["keeping"]
    of, step = loop.layouts, loop.step

    def keep(carry: list, captured: list, row: list) -> tuple[list, list]:
        before = list(carry)
        after, given = step.run(carry, captured, row)
        return after, [*given, *before]

    given = Layout([*of.given.forms, *of.carry.forms])
    layouts = Layouts(of.carry, of.captured, of.taken, given)
    made = NativeLoop(
        Step(keep, step.new_captured, step.goes_on), layouts, loop.backwards, loop.zeros
    )
    return loop.derived.setdefault("keeping", made)


def pulled(loop: NativeLoop, seen: Mask, zeros: frozenset[int]) -> NativeLoop:
    """Return the loop of the step's pullback, over the rows of the loop and its kept carries.

    ``seen`` says of which of what a round gives there are cotangents.
    """
    key = "pulled", seen, zeros
    if key in loop.derived:
        return loop.derived[key]
    of, run = loop.layouts, _as_tuples(loop.step)
    carried, moving, rows = _floats(of.carry), _floats(of.captured), _floats(of.taken)
    c, x, b = len(of.carry), len(of.taken), sum(carried)

    def pull(bars: list, captured: list, row: list) -> tuple[list, list]:
        given, before, givenbar = row[:x], row[x : x + c], row[x + c :]
        primals = tuple(before), tuple(captured), tuple(given)
        _, pullback = REVERSE.rrule_via_ad(run, *primals)
        ybar = Tangent(
            tuple,
            Tangent(tuple, *_spread(bars[:b], carried)),
            Tangent(tuple, *_spread(givenbar, seen)),
        )
        xbars = pullback(ybar)[1:]
        found = [_parts(part, t) for part, t in zip(primals, xbars)]
        carrybar, capturedbar, rowbar = map(_kept, found, (carried, moving, rows))
        return [*carrybar, *map(add, bars[b:], capturedbar)], rowbar

    layouts = Layouts(
        Layout(_kept(of.carry.forms, carried) + _kept(of.captured.forms, moving)),
        of.captured,
        _with(of.taken, (of.carry, (True,) * c), (of.given, seen)),
        Layout(_kept(of.taken.forms, rows)),
    )
    made = NativeLoop(Step(pull, loop.step.new_captured), layouts, not loop.backwards, zeros)
    return loop.derived.setdefault(key, made)


@rrule.register(instances(NativeLoop))
def loop_rrule(loop, count, *leaves):
    of, n = loop.layouts, len(loop.layouts.given)
    _carry, captured, columns = loop.split(leaves)
    carried, moving, rows = _floats(of.carry), _floats(of.captured), _floats(of.taken)
    c = len(of.carry)
    done, *y = keeping(loop)(count, *leaves)
    after, given, kept = _cut(y, c, n)

    def loop_pullback(ybar):
        _, *bars = _parts((done, *after, *given), ybar)
        afterbar, givenbar = _kept(bars[:c], carried), bars[c:]
        seen = tuple([not isinstance(t, AbstractZero) for t in givenbar])
        still = [isinstance(t, AbstractZero) for t in afterbar]
        first = [_dense(x, t) for x, t in zip(_kept(after, carried), afterbar)]
        sums = [_dense(x, ZERO) for x in _kept(captured, moving)]
        zeros = frozenset(i for i, zero in enumerate([*still, *[True] * len(sums)]) if zero)
        outer = [_dense(x, t) for x, t in zip(_kept(given, seen), _kept(givenbar, seen))]
        _, *xbars = pulled(loop, seen, zeros)(
            done, *first, *sums, *captured, *columns, *kept, *outer
        )
        carrybar, capturedbar, columnsbar = _cut(xbars, len(first), len(sums))
        spread = _spread(carrybar, carried), _spread(capturedbar, moving), _spread(columnsbar, rows)
        return NoTangent(), NoTangent(), *[bar for bars in spread for bar in bars]

    return (done, *after, *given), loop_pullback
