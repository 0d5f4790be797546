"""Rules of native loops: the pushforward and the pullback of a loop are loops."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import RuleConfig, StrongZeros
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
from ..ir.looks import UnsuitedLoopError
from .layout import RowLayout, plain
from .native_loop import NativeLoop, Step
from .ways import Layouts

FORWARD, REVERSE = ForwardConfig(), ReverseConfig()
Mask = tuple[bool, ...]


def refuse_strong(config: RuleConfig) -> None:
    """Have a loop recorded by its steps where zeros are strong: its derivatives have none.

    Raises
    ------
    UnsuitedLoopError
    """
    if isinstance(config, StrongZeros):
        raise UnsuitedLoopError("strong zeros")


def chosen(values: Any, mask: Mask) -> list:
    """Return those of the values where the mask is set."""
    return [x for x, keeps in zip(values, mask, strict=True) if keeps]


def spread(values: list, mask: Mask) -> list:
    """Return ``values`` where the mask is set, and zero tangents elsewhere."""
    rest = iter(values)
    return [next(rest) if holds else ZERO for holds in mask]


def _with(layout: RowLayout, *masks_of: tuple[RowLayout, Mask]) -> RowLayout:
    more = [form for other, mask in masks_of for form in chosen(other.forms, mask)]
    return RowLayout([*layout.forms, *more])


def _as_tuples(step: Step) -> Callable:
    """Return the step as a function of three tuples, of two results that are tuples."""

    def run(carry: tuple, captured: tuple, row: tuple) -> tuple:
        after, given = step.run(list(carry), list(captured), list(row))
        return tuple(after), tuple(given)

    return run


def parts_of_tangent(x: tuple, t: Any) -> list:
    return [unthunk(part) for part in child_tangents(x, unthunk(t))]


def active_in(tangents: list) -> Mask:
    return tuple(not isinstance(t, AbstractZero) for t in tangents)


def _with_slopes(layout: RowLayout) -> Mask:
    """Return which places may have a derivative, as on one way through an item or the other."""
    return tuple(not place.whole for place in layout.places)


def only(tangents: list, mask: Mask) -> list:
    """Return the tangents where the mask is set.

    Raises
    ------
    UnsuitedLoopError
        If there is one elsewhere, on a way through the step that was not met before.
    """
    if any(moves and not known for moves, known in zip(active_in(tangents), mask)):
        raise UnsuitedLoopError("a step in which more has a derivative on some ways than on others")
    return chosen(tangents, mask)


def _settled(ask: Callable[[Mask], tuple[Mask, ...]], carried: Mask) -> tuple[Mask, ...]:
    """Return what is carried that has a derivative after any number of rounds, and the rest.

    ``ask`` says what has one after a round, where it had one before at ``carried``.
    """
    while True:
        after, *rest = ask(carried)
        wider = tuple(a or b for a, b in zip(after, carried))
        if wider == carried:
            return carried, *rest
        carried = wider


def cut(values: Any, *sizes: int) -> list[list]:
    """Return lists of these sizes, one after the other, and the rest."""
    rest, found = list(values), []
    for size in sizes:
        found.append(rest[:size])
        rest = rest[size:]
    return [*found, rest]


def _dense(x: Any, t: Any) -> Any:
    """Return the tangent, dense: of a number a number, of an array an array."""
    return np.multiply(x, 0.0) if isinstance(t, AbstractZero) else as_structured(x, t)


def moved_by(xs: list, tangents: list, mask: Mask) -> list:
    """Return dense tangents where the mask is set."""
    return [_dense(x, t) for x, t in zip(chosen(xs, mask), chosen(tangents, mask))]


def _samples(loop: NativeLoop, leaves: tuple) -> tuple[list, list, list]:
    """Return plain values of what a step reads, at the first round."""
    carry, captured, columns = loop.split(leaves)
    return plain(carry), plain(captured), [column[0] for column in plain(columns)]


# ---- forwards -----------------------------------------------------------------------------------


class PushedStep:
    """The pushforward of a step, for tangents where the masks say."""

    def __init__(self, loop: NativeLoop, moving: Mask, rows: Mask) -> None:
        self.run, self.of, self.is_wide = _as_tuples(loop.step), loop.layouts, loop.is_wide
        self.moving, self.rows = moving, rows
        self.carried: Mask = ()
        self.given: Mask = ()

    def settle(self, carried: Mask, samples: tuple[list, list, list]) -> None:
        """Find out what has a tangent, from a round at some values."""

        def ask(carried: Mask) -> tuple[Mask, Mask]:
            dots = [chosen(x, m) for x, m in zip(samples, (carried, self.moving, self.rows))]
            _, afterdot, givendot = self.push(carried, samples, dots)
            return active_in(afterdot), active_in(givendot)

        self.carried, self.given = _settled(ask, carried)
        if self.is_wide:
            self.carried, self.given = map(_with_slopes, (self.of.carry, self.of.given))

    def push(self, carried: Mask, primals: Any, dots: Any) -> tuple[tuple, list, list]:
        xs = [tuple(x) for x in primals]
        masks = carried, self.moving, self.rows
        xdots = [Tangent(tuple, *spread(list(t), m)) for t, m in zip(dots, masks)]
        y, ydot = FORWARD.frule_via_ad((NoTangent(), *xdots), self.run, *xs)
        afterdot, givendot = (
            parts_of_tangent(part, t) for part, t in zip(y, parts_of_tangent(y, ydot))
        )
        return y, afterdot, givendot

    def __call__(self, carry: list, captured: list, row: list) -> tuple[list, list]:
        sizes = map(len, (self.of.carry, self.of.captured, self.of.taken))
        cuts = [cut(x, size) for x, size in zip((carry, captured, row), sizes)]
        primals, dots = zip(*cuts)
        (after, out), afterdot, givendot = self.push(self.carried, primals, dots)
        return [*after, *only(afterdot, self.carried)], [*out, *only(givendot, self.given)]


def pushed(
    loop: NativeLoop, still: Mask, moving: Mask, rows: Mask, leaves: tuple
) -> tuple[NativeLoop, PushedStep]:
    """Return the loop of the step's pushforward, for tangents of these captured values and rows.

    ``still`` says what has no tangent before the first round.
    """
    key = "pushed", still, moving, rows
    if key in loop.derived:
        return loop.derived[key]
    of, step = loop.layouts, loop.step
    push = PushedStep(loop, moving, rows)
    push.settle(tuple(not zero for zero in still), _samples(loop, leaves))
    c, k = len(of.carry), len(of.captured)

    def goes_on(carry: list, captured: list) -> bool:
        return bool(step.goes_on is not None and step.goes_on(carry[:c], captured[:k]))

    layouts = Layouts(
        _with(of.carry, (of.carry, push.carried)), _with(of.captured, (of.captured, moving)),
        _with(of.taken, (of.taken, rows)), _with(of.given, (of.given, push.given)),
    )  # fmt: skip
    zeros = {c + i for i, zero in enumerate(chosen(still, push.carried)) if zero}
    made = NativeLoop(
        Step(push, step.new_captured, step.held, None if step.goes_on is None else goes_on),
        layouts,
        loop.backwards,
        frozenset(zeros | (loop.zeros or set())),
        loop,
    )
    return loop.derived.setdefault(key, (made, push))


@frule.register(instances(NativeLoop))
def loop_frule(
    config: RuleConfig, tangents: tuple, loop: NativeLoop, count: Any, *leaves: Any
) -> tuple:
    refuse_strong(config)
    carry, captured, columns = loop.split(leaves)
    carrydot, captureddot, columnsdot = loop.split(tuple([unthunk(t) for t in tangents[2:]]))
    still = tuple(isinstance(t, AbstractZero) for t in carrydot)
    moving, rows = active_in(captureddot), active_in(columnsdot)
    derived, push = pushed(loop, still, moving, rows, leaves)
    moved = [
        moved_by(*given)
        for given in zip(
            (carry, captured, columns),
            (carrydot, captureddot, columnsdot),
            (push.carried, moving, rows),
        )
    ]
    done, *y = derived(count, *carry, *moved[0], *captured, *moved[1], *columns, *moved[2])
    after, afterdot, out, outdot = cut(y, len(carry), len(moved[0]), len(loop.layouts.given))
    dots = *spread(afterdot, push.carried), *spread(outdot, push.given)
    ydot = Tangent(tuple, NoTangent(), *dots)
    if is_traced(moved):  # then all that comes of them is linear in them
        return loop(count, *leaves), ydot
    return (done, *after, *out), ydot


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

    given = RowLayout([*of.given.forms, *of.carry.forms])
    layouts = Layouts(of.carry, of.captured, of.taken, given)
    kept = Step(keep, step.new_captured, step.held, step.goes_on)
    made = NativeLoop(kept, layouts, loop.backwards, loop.zeros, loop)
    return loop.derived.setdefault("keeping", made)


class PulledStep:
    """The pullback of a step, for cotangents of its next carry and of what it gives where ``seen``.

    It carries the cotangent of the carry, and adds up those of the captured values.
    """

    def __init__(self, loop: NativeLoop, seen: Mask) -> None:
        self.run, self.of, self.is_wide = _as_tuples(loop.step), loop.layouts, loop.is_wide
        self.seen = seen
        self.carried: Mask = ()
        self.moving: Mask = ()
        self.rows: Mask = ()

    def settle(self, carried: Mask, samples: tuple[list, list, list]) -> None:
        """Find out what has a cotangent, from a round at some values."""
        after, given = self.run(*map(tuple, samples))

        def ask(carried: Mask) -> tuple[Mask, ...]:
            found = self.pull(carried, samples, chosen(after, carried), chosen(given, self.seen))
            return tuple(map(active_in, found))

        self.carried, self.moving, self.rows = _settled(ask, carried)
        if self.is_wide:
            read = self.of.carry, self.of.captured, self.of.taken
            self.carried, self.moving, self.rows = map(_with_slopes, read)

    def pull(self, carried: Mask, primals: Any, afterbar: list, givenbar: list) -> list[list]:
        xs = [tuple(x) for x in primals]
        _, pullback = REVERSE.rrule_via_ad(self.run, *xs)
        bars = spread(afterbar, carried), spread(givenbar, self.seen)
        _, *xbars = pullback(Tangent(tuple, *[Tangent(tuple, *bar) for bar in bars]))
        return [parts_of_tangent(x, t) for x, t in zip(xs, xbars)]

    def __call__(self, bars: list, captured: list, row: list) -> tuple[list, list]:
        afterbar, sums = cut(bars, sum(self.carried))
        given, before, givenbar = cut(row, len(self.of.taken), len(self.of.carry))
        found = self.pull(self.carried, (before, captured, given), afterbar, givenbar)
        masks = self.carried, self.moving, self.rows
        carrybar, capturedbar, rowbar = map(only, found, masks)
        return [*carrybar, *map(add, sums, capturedbar)], rowbar


def pulled(
    loop: NativeLoop, still: Mask, seen: Mask, leaves: tuple
) -> tuple[NativeLoop, PulledStep]:
    """Return the loop of the step's pullback, over the rows of the loop and its kept carries.

    ``still`` says which parts of the last carry have no cotangent, and ``seen`` which of what a
    round gives have one.
    """
    key = "pulled", still, seen
    if key in loop.derived:
        return loop.derived[key]
    of = loop.layouts
    pull = PulledStep(loop, seen)
    pull.settle(tuple(not zero for zero in still), _samples(loop, leaves))
    sums = chosen(of.captured.forms, pull.moving)
    layouts = Layouts(
        RowLayout([*chosen(of.carry.forms, pull.carried), *sums]),
        of.captured,
        _with(of.taken, (of.carry, (True,) * len(of.carry)), (of.given, seen)),
        RowLayout(chosen(of.taken.forms, pull.rows)),
    )
    zero = [*chosen(still, pull.carried), *[True] * len(sums)]
    zeros = frozenset(i for i, is_zero in enumerate(zero) if is_zero)
    step = Step(pull, loop.step.new_captured, loop.step.held)
    made = NativeLoop(step, layouts, not loop.backwards, zeros, loop)
    return loop.derived.setdefault(key, (made, pull))


@rrule.register(instances(NativeLoop))
def loop_rrule(
    config: RuleConfig, loop: NativeLoop, count: Any, *leaves: Any
) -> tuple[tuple, Callable]:
    refuse_strong(config)
    carry, captured, columns = loop.split(leaves)
    done, *y = keeping(loop)(count, *leaves)
    after, given, kept = cut(y, len(carry), len(loop.layouts.given))

    def loop_pullback(ybar: Any) -> tuple:
        _, *bars = parts_of_tangent((done, *after, *given), ybar)
        places = [*loop.layouts.carry.places, *loop.layouts.given.places]
        bars = [ZERO if place.whole else bar for place, bar in zip(places, bars, strict=True)]
        afterbar, givenbar = cut(bars, len(after))
        still, seen = tuple(isinstance(t, AbstractZero) for t in afterbar), active_in(givenbar)
        derived, pull = pulled(loop, still, seen, leaves)
        first = moved_by(after, afterbar, pull.carried)
        sums = [_dense(x, ZERO) for x in chosen(captured, pull.moving)]
        outer = moved_by(given, givenbar, seen)
        _, *xbars = derived(done, *first, *sums, *captured, *columns, *kept, *outer)
        carrybar, capturedbar, columnsbar = cut(xbars, len(first), len(sums))
        return (
            NoTangent(), NoTangent(), *spread(carrybar, pull.carried),
            *spread(capturedbar, pull.moving), *spread(columnsbar, pull.rows),
        )  # fmt: skip

    return (done, *after, *given), loop_pullback
