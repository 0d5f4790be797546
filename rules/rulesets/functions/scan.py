"""``scan``: a loop that carries a value along, and gives an output at every step; and ``loop``.

Reverse mode keeps what a long loop carries at the beginning of each *segment*, and evaluates a
segment again when it comes to it. Of ``n`` steps in segments of ``k``, that is ``n / k`` carried
values and what ``k`` steps record, least where ``k`` is about the square root of ``n``.
"""

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from ....config import (
    AllOf,
    ArgumentValueError,
    FollowsPython,
    HasForwardsMode,
    HasReverseMode,
    frule_via_ad,
    rrule_via_ad,
)
from ....config.progress import long_work
from ....config.thresholds import SHORTEST_SEGMENT
from ....config.tracebacks import door
from ... import (
    ZERO,
    AbstractZero,
    NoTangent,
    Tangent,
    call,
    child_tangents,
    describe,
    frule,
    is_array,
    is_traced,
    rrule,
)
from ...refusals.table import refusal
from .bodies import asked, prepares_for, pushed_whole, takes_no_other
from .checkpoint import Unchanged, repeat
from .closures import as_now, lifted, opened
from .progress import Shown, bar_of, counted
from .sequences import (
    Constant,
    ResultStructure,
    Sequence,
    copied,
    gather,
    held,
    joined_leaves,
    pull_item,
    released,
    stack,
    sum_of_fbars,
    unstack,
)

Carry = TypeVar("Carry")
Item = TypeVar("Item")

# Functions of ``f``, ``carry`` and ``xs`` that answer for a whole loop, or give None.
lowerings: list[Callable[[Callable, Any, Any], tuple | None]] = []
# Functions that answer for a batch whose items go ways of their own, in a recording, or give None.
batch_lowerings: list[Callable[..., tuple | None]] = []
# Recordings that are under way in any thread, by their levels: without one no lowering answers.
recordings: list[Any] = []

# By the name of a solver a function that answers for its calls in a recording, or gives None.
solver_lowerings: dict[str, Callable[..., Any]] = {}


def attempted(f: Callable[[], Any]) -> Any:
    """Return ``f()``; where it gives None, recordings forget at which numbers it looked."""
    for recorder in recordings:
        f = functools.partial(recorder.attempted, f)
    return f()


# What jax.lax.scan has.
_INSTEAD = {
    "reverse": "turn the items, and the outputs: carry, ys = cr.scan(f, carry, xs[::-1]); ys[::-1]",
    "length": "write cr.scan(f, carry, range(n)), or cr.loop(n, step, carry)",
    "unroll": "leave it out: each step runs as Python runs it",
}


@takes_no_other(_INSTEAD)
def scan(
    f: Callable[[Carry, Item], tuple[Carry, Any]],
    carry: Carry,
    xs: Iterable[Item],
    segment: int | None = None,
    *,
    progress: bool = False,
) -> tuple[Carry, Any]:
    """Carry a value along a sequence, with an output at every step.

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` returns ``(carry, y)``. Where there is more than one segment it gives the
        same each time that it is called with the same arguments, and writes to no traced value
        that it captures; its arguments it may write into.
    carry : Any
        The first carried value: a number, an array, or a container of these.
    xs : array_like
        An array (its items are rows) or another iterable.
    segment : int, optional
        How many steps reverse mode records at a time: the square root of their number, and at
        least 64. With ``len(xs)`` it records all.
    progress : bool, optional
        Whether to show a progress bar by tqdm (the extra ``progress``). It counts the steps that
        a pullback evaluates again, too.

    Returns
    -------
    carry : Any
        The last carried value.
    ys : array
        The outputs, stacked; for outputs that are containers, a container of stacked arrays.

    Raises
    ------
    TypeError
        If ``f`` does not return a pair.
    ModuleNotFoundError
        If ``progress`` is asked for, and tqdm is not installed.
    MutationError
        By the pullback: if ``f`` does not give the same again, or if an array or a number that
        it captures has been changed. And where ``f`` writes to a traced value that it captures.

    Notes
    -----
    Reverse mode takes memory for ``n / segment`` carried values, and for what happens inside
    ``segment`` steps: it grows as the square root of the ``n`` steps (besides ``xs`` and the
    outputs). Steps are evaluated twice, but for those of the last segment. So it is with the
    traced values that ``f`` captures, as with ``checkpoint``, and in forward over reverse mode.
    Forward mode keeps nothing. What keeps all: ``linearize``, and with it ``jacfwd`` and
    ``hessian``, and the outer one of two reverse modes.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> def step(position, velocity):
    ...     return position + velocity, position**2
    >>> cr.scan(step, 1.0, np.array([1.0, 2.0]))
    (np.float64(4.0), array([1., 4.]))
    >>> float(cr.grad(lambda x: np.sum(cr.scan(step, x, np.array([1.0, 2.0]))[1]))(1.0))
    6.0
    """
    if not (is_array(xs) or isinstance(xs, list | tuple | range)):
        xs = list(xs)
    return _scan(f, carry, xs, segment, _bar(progress, "scan", len(xs)))


def _scan(
    f: Callable, carry: Any, xs: Any, segment: int | None, progress: Shown | None
) -> tuple[Any, Any]:
    if recordings and progress is None:
        for lower in lowerings:
            if (y := lower(f, carry, xs)) is not None:
                return y
    if len(xs) > steps_in_segment(len(xs), segment):
        f = lifted(f)
    if not is_traced(xs) and is_traced((f, carry)):
        xs = Constant(copied(xs))
    options: dict[str, Any] = {"segment": segment}
    if progress is not None:
        options["progress"] = progress
    return call(scan, (f, held(carry), xs), options)


def _bar(progress: bool, name: str, steps: int) -> Shown | None:
    """Return a bar: one that is asked for, or that of long work, unless it is recorded."""
    return bar_of(progress, name, steps) or (None if recordings else long_work(name, steps))


def part_of(xs: Any, part: slice) -> Any:
    return Constant(xs.x[part]) if type(xs) is Constant else xs[part]


@door
def loop(
    n: int,
    step: Callable[[Carry], Carry],
    carry: Carry,
    segment: int | None = None,
    *,
    progress: bool = False,
) -> Carry:
    """Carry a value through ``n`` steps.

    Parameters
    ----------
    n : int
    step : callable
        ``step(carry)`` returns the next carried value, and else is as ``f`` of ``scan``. (One that
        is told its number k: ``scan(lambda carry, k: (step(carry, k), None), carry, range(n))``.)
    carry : Any
        The first carried value: a number, an array, or a container of these.
    segment : int, optional
        How many steps reverse mode records at a time: see ``scan``, also for the memory and the
        time that it takes, and for what is raised.
    progress : bool, optional
        Whether to show a progress bar, as ``scan`` does.

    Returns
    -------
    Any
        The last carried value.

    Raises
    ------
    ValueError
        If ``n`` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> babylonian = lambda a: cr.loop(10, lambda x: (x + a / x) / 2, 1.0)
    >>> float(babylonian(9.0)), float(cr.grad(babylonian)(9.0))
    (3.0, 0.16666666666666666)
    """
    count = operator.index(n)
    if count < 0:
        raise refusal("negative number of steps", count=count)

    step = asked(step)

    @functools.wraps(step, updated=())
    def stepping(carry: Any, _: int) -> tuple[Any, None]:
        return step(carry), None

    bar = _bar(progress, "loop", count)
    return _scan(stepping, carry, range(count), segment, bar)[0]


def steps(
    f: Callable,
    carry: Any,
    xs: Any,
    segment: int | None = None,
    progress: Shown | bool | None = None,
) -> tuple[Any, Any]:
    """Do what ``scan`` does, as a loop."""
    carry, xs = released((carry, xs))
    progress = bar_of(progress, "scan", len(xs))
    ys = []
    # Copies, since a step may write into its carry, which an output may be.
    carry = copied(carry)
    with opened(f) as step:
        step = asked(step)
        for x in counted(xs, progress):
            carry, y = pair_of(step(carry, copied(x)))
            ys.append(y if y is None else copied(y))
    return copied(carry), gather(ys, stack, xs)


prepares_for(scan, steps)


def steps_in_segment(count: int, segment: int | None) -> int:
    """Return how many of ``count`` steps reverse mode records at a time."""
    if segment is None:
        return max(SHORTEST_SEGMENT, math.isqrt(max(count - 1, 0)) + 1)
    if operator.index(segment) < 1:
        raise ArgumentValueError(f"a segment has at least one step, not {segment}.")
    return segment


def concatenated(pieces: list) -> Any:
    """Return stacks of results one after the other, as one stack."""
    return joined_leaves(np.concatenate, pieces)


def pair_of(step: Any) -> Any:
    """Return what a step of ``scan`` gave, if it is a pair."""
    if not isinstance(step, tuple | list) or len(step) != 2:
        raise refusal("no pair of a step", step=describe(step))
    return step


@frule.register(scan)
def scan_frule(config: HasForwardsMode, tangents, scan, f, carry, xs, segment=None, progress=None):
    _, fdot, carrydot, xsdot = tangents
    carry, xs = released((carry, xs))
    items = list(xs)
    progress = bar_of(progress, "scan", len(items))
    ys, ydots = [], []
    for x, xdot in counted(zip(items, unstack(xsdot, len(items))), progress):
        step, stepdot = frule_via_ad(config, (fdot, carrydot, xdot), f, carry, x)
        carry, y = pair_of(step)
        carrydot, ydot = child_tangents(step, stepdot)
        ys.append(y)
        ydots.append(ydot)
    ysdot = ResultStructure(ys, stack).collect(ydots)
    return (copied(carry), gather(ys, stack, xs)), Tangent(tuple, carrydot, ysdot)


@rrule.register(scan)
def scan_rrule(config: HasReverseMode, scan, f, carry, xs, segment=None, progress=None):
    given, (carry, xs) = xs, released((carry, xs))
    items = list(xs)
    progress = bar_of(progress, "scan", len(items))
    ys, pullbacks = [], []
    for x in counted(items, progress):
        step, pullback = rrule_via_ad(config, f, carry, x)
        carry, y = pair_of(step)
        ys.append(y)
        pullbacks.append(pullback)
    results, sequence = ResultStructure(ys, stack), Sequence(given, len(items))

    def scan_pullback(ybar):
        carrybar, ysbar = ybar
        fbars, xbars = [], []
        for pullback, bar in zip(reversed(pullbacks), reversed(results.split(ysbar))):
            idle = isinstance(carrybar, AbstractZero) and isinstance(bar, AbstractZero)
            stepbar = ZERO if idle else Tangent(tuple, carrybar, bar)
            fbar, carrybar, xbar = pull_item(pullback, stepbar, 3)
            fbars.append(fbar)
            xbars.append(xbar)
        return NoTangent(), sum_of_fbars(f, fbars), carrybar, sequence.collect(xbars[::-1])

    return (copied(carry), gather(ys, stack, xs)), scan_pullback


pushed_whole(scan, steps)


@rrule.register(scan)
def followed_scan_rrule(
    config: AllOf[HasReverseMode, FollowsPython], scan, f, carry, xs, segment=None, progress=None
):
    count = len(released(xs))
    segment = steps_in_segment(count, segment)
    progress = bar_of(progress, "scan", count)
    options = {} if progress is None else {"progress": progress}
    if count <= segment:
        return rrule_via_ad(config, steps, f, carry, xs, **options)
    unchanged = Unchanged(f)
    last = (count - 1) // segment * segment
    if progress is not None:
        progress.expect(last)  # which the pullback evaluates again

    def in_segments(f, carry, xs):
        """Do what ``steps`` does, such that one segment is recorded at a time."""
        pieces = []
        for i in range(0, last, segment):
            part = part_of(xs, slice(i, i + segment))
            f = as_now(f)
            carry, ys = repeat(steps, (f, held(carry), part), options)
            pieces.append(ys)
        f = as_now(f)
        carry, ys = steps(f, carry, part_of(xs, slice(last, None)), **options)
        return carry, concatenated([*pieces, ys])

    y, pullback = rrule_via_ad(config, in_segments, f, carry, xs)

    def followed_scan_pullback(ybar):
        unchanged.check()
        return pullback(ybar)

    return y, followed_scan_pullback
