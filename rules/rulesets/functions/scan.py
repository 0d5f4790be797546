"""``scan``: a loop that carries a value along, and gives an output at every step."""

from collections.abc import Callable
from typing import Any

from ....config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad
from ... import (
    ZERO,
    AbstractZero,
    NoTangent,
    Tangent,
    child_tangents,
    describe,
    frule,
    primitive,
    rrule,
)
from .sequences import Results, Sequence, copied, gather, pull_item, stack, sum_of_fbars, unstack


@primitive
def scan(f: Callable, carry: Any, xs: Any) -> tuple[Any, Any]:
    """Carry a value along a sequence, with an output at every step.

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` returns ``(carry, y)``.
    carry : Any
        The first carried value: a number, an array, or a container of these.
    xs : array_like
        An array (its items are rows) or another iterable.

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
    ys = []
    for x in xs:
        carry, y = pair_of(f(carry, x))
        ys.append(y)
    return copied(carry), gather(ys, stack, xs)


def pair_of(step: Any) -> Any:
    """Return what a step of ``scan`` gave, if it is a pair."""
    if not isinstance(step, tuple | list) or len(step) != 2:
        raise TypeError(
            f"scan needs f(carry, x) to return (carry, y), and it returned {describe(step)}."
        )
    return step


@frule.register(scan)
def scan_frule(config: HasForwardsMode, tangents, scan, f, carry, xs):
    _, fdot, carrydot, xsdot = tangents
    items = list(xs)
    ys, ydots = [], []
    for x, xdot in zip(items, unstack(xsdot, len(items))):
        step, stepdot = frule_via_ad(config, (fdot, carrydot, xdot), f, carry, x)
        carry, y = pair_of(step)
        carrydot, ydot = child_tangents(step, stepdot)
        ys.append(y)
        ydots.append(ydot)
    ysdot = Results(ys, stack).collect(ydots)
    return (copied(carry), gather(ys, stack, xs)), Tangent(tuple, carrydot, ysdot)


@rrule.register(scan)
def scan_rrule(config: HasReverseMode, scan, f, carry, xs):
    items = list(xs)
    ys, pullbacks = [], []
    for x in items:
        step, pullback = rrule_via_ad(config, f, carry, x)
        carry, y = pair_of(step)
        ys.append(y)
        pullbacks.append(pullback)
    results, sequence = Results(ys, stack), Sequence(xs, len(items))

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
