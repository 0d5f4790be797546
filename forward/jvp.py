"""jvp, and the engine that rules call back into in forward mode.

``jvp(f, (x,), (xdot,))`` runs ``f`` on a dual array, and ``config.frule_via_ad((fdot, xdot), f,
x)`` does it for a rule that calls back.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import (
    AsksForBlocks,
    FollowsPython,
    HasForwardsMode,
    NoReverseMode,
    RuleConfig,
    memory,
)
from ..config.tracebacks import trim_traceback
from ..rules import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    Traced,
    ZeroTangent,
    as_structured,
    children,
    frule,
    next_level,
    strip,
    unthunk,
)
from ..rules.annotations import Function, Tangentlike, Value
from ..rules.containers import LEAVES, Within, copied_containers, fold
from ..rules.engines.engine import run
from ..rules.engines.inputs import check_tangent, is_perturbable_input, taken_input
from ..rules.engines.strong_levels import Zero, as_asked, level_class
from ..rules.linear.block_level import BlockArray, BlockLevel, BlockNumber
from ..rules.loading import needed
from ..rules.refusals.table import refusal
from ..rules.shapes import FLOATS_AND_ARRAYS
from ..rules.tangents.project import gathered
from ..rules.tangents.structural import child_tangents
from ..rules.tracing.classes.own_arrays import opening
from ..rules.tracing.level import innermost
from ..rules.tracing.views import for_receiver
from ..rules.tracing.watching import stops
from .blocks import BlockDuals
from .dual import Dual, DualArray, ForwardLevel
from .still import unmarked
from .watched import WatchedBlocks, WatchedDuals


class ForwardConfig(RuleConfig, HasForwardsMode, NoReverseMode, FollowsPython):
    """The dual-number engine's configuration: rules handed it may call back in forward mode.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.frule_via_ad(cr.ForwardConfig(), (cr.NoTangent(), 1.0), lambda x: x * x, 3.0)
    (9.0, 6.0)
    """

    __slots__ = ()

    def frule_via_ad(
        self, tangents: tuple, f: Function, *args: object, **kwargs: object
    ) -> tuple[Any, Any]:
        """Push tangents through ``f`` by its rule, or else by dual numbers."""
        ruled = needed or frule.find(self, f, args) is not None
        answer = frule(self, tangents, f, *args, **kwargs) if ruled else None
        if answer is None:
            return push(self, tangents, f, args, kwargs)
        next_level()  # none is needed, but runs outside see by it that a transform ran
        return answer

    def value_via_ad(self, f: Function, *args: object, **kwargs: object) -> Any:
        """Evaluate ``f`` on dual numbers that do not move."""
        still = tuple([as_structured(x, ZeroTangent()) for x in (f, *args)])
        with np.errstate(invalid="ignore"):  # infinity times 0, which says nothing of the value
            return self.frule_via_ad(still, f, *args, **kwargs)[0]


FORWARD = ForwardConfig()


class ForwardBlocks(ForwardConfig, AsksForBlocks):
    """The configuration of forward mode with blocks of directions."""

    __slots__ = ()

    def push_block(self, directions: BlockLevel, f: Function, x: Value, block: Any) -> Any:
        """Return ``f(x)`` and its tangent, along a plain block; None where rules may answer."""
        if needed or type(self) is not ForwardBlocks or stops() is not None:
            return None
        if frule.find(self, f, (x,)) is not None:
            return None
        level = BlockDuals(self, directions)
        try:
            y = run(f, (ForwardLevel.dual(level, x, block),), {})
            ours = (type(y) is DualArray or type(y) is Dual) and y.at_level is level
            if ours and type(y.tangent) is np.ndarray:  # as nearly always
                return y.primal, directions.wrap(y.tangent)
            return strip(y, level), _tangent(level, y)
        finally:
            level.close()


FORWARD_BLOCKS = ForwardBlocks()


def push(config: RuleConfig, tangents: tuple, f: Function, args: tuple, kwargs: dict) -> tuple:
    """Run ``f`` on dual numbers; ``tangents`` begins with that of ``f`` itself."""
    level = _level(config, tangents)
    try:
        function, *duals = [
            _wrap(level, x, xdot) for x, xdot in zip((f, *args), tangents, strict=True)
        ]
        if len(args) > 1 or not LEAVES.issuperset(map(type, args)):  # one shares memory with none
            level.given = args, duals
        y = run(function, duals, kwargs)
        return strip(y, level), _tangent(level, y)
    finally:
        level.close()


_ZEROS = frozenset({NoTangent, ZeroTangent})
_PLAIN = FLOATS_AND_ARRAYS | _ZEROS


def _level(config: RuleConfig, tangents: tuple) -> ForwardLevel:
    """Return a level for these tangents: one of blocks, where they are."""
    last = tangents[-1]
    if type(last) is BlockArray and _ZEROS.issuperset(map(type, tangents[:-1])):
        directions: Any = last.at_level  # as nearly always
    else:
        directions = None if _PLAIN.issuperset(map(type, tangents)) else innermost(tangents)
    watched = stops() is not None
    if type(directions) is BlockLevel:
        blocks = level_class(WatchedBlocks if watched else BlockDuals, config)
        return blocks(config, directions)
    return level_class(WatchedDuals if watched else ForwardLevel, config)(config)


def _wrap(level: ForwardLevel, x: Value, xdot: Any) -> Any:
    """Return ``x`` with its tangents, in containers that the function may write to."""
    if type(xdot) in _ZEROS and type(x) in LEAVES:
        return x  # as the function is
    ours = type(xdot) is BlockArray and xdot.at_level is level.directions
    if ours and level.fits(x, xdot.block):
        return ForwardLevel.dual(level, x, xdot.block)  # as nearly always
    of_same = type(xdot) is type(x) or type(xdot) is BlockNumber
    if of_same and type(x) in FLOATS_AND_ARRAYS and ProjectTo(x).holds(xdot):
        return level.dual(x, xdot)

    def look(x: Value, xdot: Tangentlike) -> Any:
        xdot = unthunk(xdot)
        parts = children(x)
        if parts is not None:
            nodes = zip(parts.values, child_tangents(x, xdot), strict=True)
            return Within(nodes, copied_containers(x, parts))
        if isinstance(xdot, AbstractZero) or not is_perturbable_input(x):
            return x
        return level.wrap(x, xdot, "an input")

    return fold(look, x, xdot)


def _tangent(level: ForwardLevel, y: Value) -> Any:
    if isinstance(y, Traced) and y.at_level is level:  # as nearly always
        return unmarked(level.tangent_at(y))

    def look(y: Value) -> Any:
        if isinstance(y, Traced):
            return level.tangent_of(y) if y.at_level is level else ZeroTangent()
        parts = children(y)
        if parts is None:
            return ZeroTangent() if is_perturbable_input(y) else NoTangent()
        return Within(zip(parts.values), gathered(type(y), parts.keys))

    return fold(look, y)


def jvp(
    f: Callable,
    primals: tuple,
    tangents: tuple,
    *,
    config: RuleConfig = FORWARD,
    zero: Zero = None,
) -> tuple[Any, Any]:
    """Evaluate ``f`` and push tangents through it: Jacobian-vector products.

    Parameters
    ----------
    f : callable
        Takes the primals; returns a number, an array, or a container of these.
    primals : tuple
        The point: one entry per argument. Integers count as float64. Where one is a list,
        a dict or an object that holds these, ``f`` gets a copy of that, so that it may add to
        it; what it adds stays in the copy.
    tangents : tuple
        One per primal, of its shape and structure; ``ZeroTangent()`` where it does not move.
    config : RuleConfig, optional
        What rules are handed: a ``ForwardConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    y : Any
        ``f(*primals)``, as plain NumPy gives it.
    ydot : Any
        Its tangent, of the shape, dtype and structure of ``y``; zeros are real zeros. Its
        arrays are new ones, which may be written to.

    Raises
    ------
    TangentError
        If a tangent does not fit its primal.
    MissingRuleError
        If ``f`` calls a function that has no rule.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, ydot = cr.jvp(np.sin, (np.zeros(2),), (np.array([1.0, 2.0]),))
    >>> ydot
    array([1., 2.])
    """
    used = memory.pool.use_pool()
    try:
        primals, checked = check_tangents(primals, tangents)
        asked: Any = as_asked(config, zero)
        y, ydot = asked.frule_via_ad((NoTangent(), *checked), opening(f, primals), *primals)
        return y, as_structured(y, ydot, for_receiver)
    except BaseException as error:
        trim_traceback(error)
        raise
    finally:
        memory.pool.leave_pool(used)


def check_tuples(name: str, primals: object, tangents: object) -> None:
    """Refuse what is no tuple of primals and one of as many tangents.

    Raises
    ------
    TypeError
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise refusal("no tuples", name=name, tangent="xdot" if name == "jvp" else "v")
    check_numbers(name, len(primals), len(tangents))


def check_numbers(name: str, primals: int, tangents: int) -> None:
    """Refuse other than one tangent for each primal.

    Raises
    ------
    TypeError
    """
    if primals != tangents:
        raise refusal(
            "number of tangents",
            name=name,
            primals=f"{primals} primal{'s' * (primals != 1)}",
            tangents=f"{tangents} tangent{'s' * (tangents != 1)}",
        )


def check_tangents(primals: Any, tangents: Any) -> tuple[tuple, list]:
    """Return primals and tangents as they are now, or refuse them if they do not go together."""
    check_tuples("jvp", primals, tangents)
    primals = tuple(map(taken_input, primals))
    return primals, [
        check_tangent(x, xdot, f"the tangent of argument {i}")
        for i, (x, xdot) in enumerate(zip(primals, tangents, strict=True))
    ]
