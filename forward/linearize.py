"""linearize: run a function once, then push tangents through it as often as one likes.

``y, push = linearize(f, x)`` records what ``f`` does with a tangent; ``push(xdot)`` runs only that
again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import RuleConfig, TangentError, memory
from ..config.numpy_warnings import as_before, settings, tell_user
from ..config.tracebacks import door, trim_traceback
from ..rules import AbstractZero, as_structured, describe, name_of
from ..rules.annotations import Tangentlike, Value
from ..rules.containers import LEAVES
from ..rules.engines.inputs import check_tangent, taken, taken_input
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.linear.blocks import Block
from ..rules.linear.jacobians import (
    GivenDirections,
    leaves,
    linear_program,
    push_all,
    run_program,
    tangent_leaves,
    with_leaves,
)
from ..rules.shapes import shape_of
from ..rules.tangents.filled import zero_tangent
from ..rules.tangents.project import ProjectTo
from ..rules.tracing.classes.own_arrays import opening
from ..rules.tracing.views import for_receiver
from .jvp import FORWARD, check_numbers


@door
def linearize(
    f: Callable, *primals: Value, config: RuleConfig = FORWARD, zero: Zero = None
) -> tuple[Any, Callable]:
    """Evaluate ``f`` once and return its pushforward at that point.

    Parameters
    ----------
    f : callable
        Takes ``primals``; returns a number, an array, or a container of these.
    *primals : Any
        The point. Every one is differentiated; integers count as float64.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    y : Any
        ``f(*primals)``.
    pushforward : callable
        ``pushforward(*tangents)`` is the tangent of ``y``; one tangent per primal. It may be
        called many times, and does not evaluate ``f`` again. With ``block=True`` each tangent
        has one more axis, the first, along which the directions lie, and so has the result.

    Raises
    ------
    TangentError
        When the pushforward is called with a tangent that does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, pushforward = cr.linearize(np.sin, 0.0)
    >>> float(pushforward(1.0)), float(pushforward(2.0))
    (1.0, 2.0)
    >>> pushforward(np.array([1.0, 2.0, 3.0]), block=True)
    array([1., 2., 3.])
    """
    primals = tuple(map(taken_input, primals))
    y, program = linear_program(as_asked(config, zero), opening(f, primals), primals)
    return y, PushforwardAt(f, primals, program, taken(y))  # the caller may change y


class PushforwardAt:
    """The pushforward of a function at a point: a linear map from tangents to a tangent.

    ``program`` is what was recorded there, and runs as often as one likes; ``structure`` has the
    form of the value.
    """

    __slots__ = ("__weakref__", "f", "primals", "program", "structure", "targets")
    __name__ = "pushforward"

    def __init__(self, f: Callable, primals: tuple, program: Any, structure: Any) -> None:
        self.f = f
        self.primals = primals
        self.program = program
        self.structure = structure
        self.targets = leaves(structure)

    def __call__(self, *tangents: Any, block: bool = False) -> Any:
        before, used = settings(), memory.pool.use_pool()
        try:
            tell_user(before)
            primals, program, targets = self.primals, self.program, self.targets
            check_numbers("linearize", len(primals), len(tangents))
            if block:
                results = run_program(program, _given(primals, tangents), targets)
            else:
                given: list[Any] = []
                for i, (x, xdot) in enumerate(zip(primals, tangents, strict=True)):
                    checked = check_tangent(x, xdot, f"the tangent of argument {i}")
                    given += tangent_leaves(x, as_structured(x, checked))
                results = list(map(as_structured, targets, program.run(given)))
            # A step may hand on the very array that it was given.
            return with_leaves(self.structure, map(for_receiver, results))
        except BaseException as error:
            trim_traceback(error)
            raise
        finally:
            memory.pool.leave_pool(used)
            as_before(before)

    def __repr__(self) -> str:
        primals = ", ".join(map(describe, self.primals))
        return f"<pushforward of {name_of(self.f)}: ({primals}) -> {describe(self.structure)}>"


LEAVES.add(PushforwardAt)  # what it holds are no inputs


def push_blocks(f: Callable, primals: tuple, tangents: tuple, config: RuleConfig) -> Any:
    """Return the tangents of ``f``, with the directions as their first axis, as the given ones."""
    primals = tuple(map(taken_input, primals))
    y, images = push_all(config, opening(f, primals), primals, _given(primals, tangents))
    return with_leaves(y, map(for_receiver, images))


def _given(primals: tuple, tangents: tuple) -> GivenDirections:
    values: list[Any] = []
    count: int | None = None
    for i, (x, xdot) in enumerate(zip(primals, tangents, strict=True)):
        count = _collect_blocks(x, xdot, f"the tangent of argument {i}", values, count)
    return GivenDirections(leaves(primals), values, count or 0)


def _collect_blocks(
    x: Value, xdot: Tangentlike, what: str, given: list, count: int | None
) -> int | None:
    """Append a block for each leaf of ``x``; return how many directions there are.

    Raises
    ------
    TangentError
        If an array has no axis of directions, or not as many directions as the others.
    """
    for leaf, part in zip(leaves(x), tangent_leaves(x, xdot), strict=True):
        if isinstance(part, AbstractZero):
            given.append(zero_tangent(leaf))
            continue
        shape = shape_of(part)
        if not shape or shape[1:] != shape_of(leaf) or count not in (None, shape[0]):
            wanted = "directions" if count is None else count
            raise TangentError(
                f"{what} has shape {shape}; a block of directions has shape "
                f"{(wanted, *shape_of(leaf))}."
            )
        count = shape[0]
        space = ProjectTo(np.broadcast_to(np.zeros((), ProjectTo(leaf).dtype), shape))
        given.append(Block(space(part)))
    return count
