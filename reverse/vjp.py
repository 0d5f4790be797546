"""vjp, and the engine that rules call back into in reverse mode.

``vjp(f, x)`` wraps ``x`` as the first entry of a tape, runs ``f`` on it, and gives the value and a
function that sweeps the tape. ``config.rrule_via_ad(f, x)`` does it for a rule that calls back.
"""

from collections.abc import Callable
from typing import Any

from ..config import FollowsPython, HasForwardsMode, HasReverseMode, RuleConfig, memory
from ..config.numpy_warnings import as_before, replays, settings, tell_user
from ..config.tracebacks import trim_traceback
from ..forward import ForwardConfig
from ..rules import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    Traced,
    as_structured,
    children,
    describe,
    name_of,
    next_level,
    rrule,
    strip,
    unthunk,
)
from ..rules.annotations import Function, Tangentlike, Value
from ..rules.containers import LEAVES, Within, copied_containers, fold, iterate_leaves, map_leaves
from ..rules.engines.engine import run
from ..rules.engines.inputs import check_tangent, is_perturbable_input, taken, taken_input
from ..rules.engines.strong_levels import Zero, as_asked
from ..rules.linear.program import LinearProgram
from ..rules.shapes import FLOATS, FLOATS_AND_ARRAYS
from ..rules.table.kinds import Kind
from ..rules.table.pullback import check_shape
from ..rules.tangents.filled import in_class_of, zero_tangent
from ..rules.tangents.project import gathered
from ..rules.tangents.structural import child_tangents
from ..rules.tracing.classes.own_arrays import opening
from ..rules.tracing.views import for_receiver
from .cotangents import own
from .named_entries import pullback_under_way
from .sweep import sweep
from .tape import Tape, forgetful
from .watched import new_tape


class ReverseConfig(RuleConfig, HasReverseMode, HasForwardsMode, FollowsPython):
    """The tape engine's configuration: rules handed it may call back in both modes.

    Examples
    --------
    >>> import chainrules as cr
    >>> y, pullback = cr.rrule_via_ad(cr.ReverseConfig(), lambda x: x * x, 3.0)
    >>> y, pullback(1.0)
    (9.0, (NoTangent(), 6.0))
    """

    __slots__ = ()

    def rrule_via_ad(self, f: Function, *args: object, **kwargs: object) -> tuple[Any, Callable]:
        """Evaluate ``f`` by its rule, or else on a tape; pull back to ``(fbar, *argbars)``."""
        answer = rrule(self, f, *args, **kwargs)
        if answer is not None:
            return answer
        recording = Recording(new_tape(self), taken(f), taken(args), kwargs)

        def via_ad_pullback(ybar: Tangentlike) -> tuple:
            return tuple(recording.pull(unthunk(ybar), last=False))

        return recording.y, via_ad_pullback

    def value_via_ad(self, f: Function, *args: object, **kwargs: object) -> Any:
        """Evaluate ``f`` on a tape that keeps nothing."""
        answer = rrule(self, f, *args, **kwargs)
        return Recording(forgetful(self), f, args, kwargs).y if answer is None else answer[0]

    def frule_via_ad(
        self, tangents: tuple, f: Function, *args: object, **kwargs: object
    ) -> tuple[Any, Any]:
        """Push tangents through ``f`` with dual numbers."""
        return ForwardConfig.frule_via_ad(self, tangents, f, *args, **kwargs)  # type: ignore


REVERSE = ReverseConfig()


class Recording:
    """One evaluation of ``f`` on a tape: its value ``y``, and ``pull``."""

    __slots__ = ("inputs", "one_each", "outputs", "primals", "structure", "tape", "y")

    def __init__(
        self, tape: Tape, f: Function, args: tuple, kwargs: dict, positions: Any = None
    ) -> None:
        self.tape = tape
        # The function comes first: a functor's fields are inputs as well.
        traced = [f, *args]
        self.primals: list = []
        try:
            for i in range(-1, len(args)) if positions is None else positions:
                x = traced[1 + i]
                self.primals.append(x)
                traced[1 + i] = _wrap_inputs(tape, x)
            self.inputs = len(tape.entries)
            function, *given = traced
            if len(args) > 1 or not LEAVES.issuperset(map(type, args)):
                tape.given = args, given
            y = run(function, given, kwargs)
            # While the tape is open: what was written to gets its value when it is read.
            self.outputs: list[int | None] = []
            for part in (y,) if isinstance(y, Traced) else iterate_leaves(y):
                depends = isinstance(part, Traced) and part.at_level is tape
                self.outputs.append(part.position if depends else None)
            stripped = strip(y, tape)
        finally:
            tape.close()
        # As nearly always: numbers and arrays, and no containers.
        self.one_each = self.inputs == len(self.primals) and LEAVES.issuperset(
            map(type, self.primals)
        )
        if type(stripped) in FLOATS:
            self.y = self.structure = stripped
            return
        if isinstance(y, Traced) and y.at_level is tape and y.position < self.inputs:
            self.y = _inputs(self.primals)[y.position]  # it gave back an argument
        else:
            # The caller may write into what it gets, and the tape may read it yet.
            self.y = tape.watch.hold(stripped)
        self.structure = taken(self.y)

    def pull(self, ybar: Tangentlike, last: bool) -> list:
        """Return one cotangent per primal, in the rules' own types; ``ybar`` fits ``y``."""
        seeds = _seeds(self.outputs, self.structure, ybar)
        before = settings()
        try:
            tell_user(before)
            bars = self.tape.sweep(seeds, self.inputs, last)
        finally:
            as_before(before)
        if self.one_each:
            return bars
        rest = iter(bars)
        return [_input_cotangent(x, rest) for x in self.primals]


replays(sweep, "on the way back", pullback_under_way)


def _inputs(primals: list) -> list:
    """Return the numbers and arrays that ``_wrap_inputs`` makes entries for, in their order."""
    return [x for x in iterate_leaves(primals) if is_perturbable_input(x)]


def _wrap_inputs(tape: Tape, x: Value) -> Any:
    """Return ``x`` with entries on the tape, in containers that the function may write to."""
    if type(x) in LEAVES:
        return tape.wrap(tape.watch.hold(x), ()) if is_perturbable_input(x) else x

    def look(x: Value) -> Any:
        parts = children(x)
        if parts is None:
            return tape.wrap(tape.watch.hold(x), ()) if is_perturbable_input(x) else x
        return Within(zip(parts.values), copied_containers(x, parts))

    return fold(look, x)


def _input_cotangent(x: Value, bars: Any) -> Any:
    def look(x: Value) -> Any:
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values), gathered(type(x), parts.keys))
        return next(bars) if is_perturbable_input(x) else NoTangent()

    return fold(look, x)


def _seeds(outputs: list, y: Value, ybar: Tangentlike) -> list[tuple[int, Any]]:
    """Return the cotangents of those leaves of ``y`` that have entries, with these."""
    if len(outputs) == 1 and type(y) in LEAVES:
        (entry,) = outputs
        if entry is None:
            return []
        if type(y) not in FLOATS or type(ybar) not in FLOATS:
            space = ProjectTo(y)
            ybar = ybar if space.holds(ybar) else space(unthunk(ybar))
        return [(entry, ybar)]
    entries = iter(outputs)
    seeds: list[tuple[int, Any]] = []

    def look(y: Value, ybar: Tangentlike) -> Any:
        parts = children(y)
        if parts is not None:
            return Within(zip(parts.values, child_tangents(y, ybar), strict=True), list)
        entry = next(entries)
        if entry is not None:
            seeds.append((entry, ProjectTo(y)(unthunk(ybar))))
        return None

    fold(look, y, ybar)
    return seeds


def vjp(
    f: Callable, *primals: Value, config: RuleConfig = REVERSE, zero: Zero = None
) -> tuple[Any, Callable]:
    """Evaluate ``f`` and return its pullback: vector-Jacobian products.

    Parameters
    ----------
    f : callable
        Takes ``primals``; returns a number, an array, or a container of these.
    *primals : Any
        The point. Every one is differentiated; integers count as float64. Where one is a list,
        a dict or an object that holds these, ``f`` gets a copy of that: it may add to it, and
        what it adds stays in the copy. An object without numbers or lists is not copied.
    config : RuleConfig, optional
        What rules are handed: a ``ReverseConfig``, or a subclass with traits of its own.
    zero : "strong", optional
        Whether 0 times an infinite or undefined slope is 0: see ``grad``.

    Returns
    -------
    y : Any
        ``f(*primals)``, as plain NumPy gives it.
    pullback : callable
        ``pullback(ybar)`` is a tuple with one cotangent per primal, of the primal's shape,
        dtype and structure. ``ybar`` has those of ``y``. It may be called many times. The
        arrays are new ones each time, and may be written to.

    Raises
    ------
    MissingRuleError
        If ``f`` calls a function that has no rule; the pullback raises ``TangentError`` where
        ``ybar`` does not fit ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, pullback = cr.vjp(lambda a, x: a @ x, np.eye(2), np.array([1.0, 2.0]))
    >>> y
    array([1., 2.])
    >>> abar, xbar = pullback(np.array([1.0, 0.0]))
    >>> abar
    array([[1., 2.],
           [0., 0.]])
    """
    used = memory.pool.use_pool()
    try:
        primals = tuple(map(taken_input, primals))
        asked = as_asked(config, zero)
        y, pull = value_and_pull(asked, opening(f, primals), primals, {}, range(len(primals)))
        return y, PullbackAt(f, primals, pull, taken(y))
    except BaseException as error:
        trim_traceback(error)
        raise
    finally:
        memory.pool.leave_pool(used)


class PullbackAt:
    """The pullback of a function at a point: from a cotangent of its value to those of its inputs.

    ``pull`` goes back along what was recorded there, as often as one likes; ``structure`` has the
    form of the value.
    """

    __slots__ = ("__weakref__", "f", "primals", "pull", "structure")
    __name__ = "pullback"

    def __init__(self, f: Callable, primals: tuple, pull: Callable, structure: Any) -> None:
        self.f = f
        self.primals = primals
        self.pull = pull
        self.structure = structure

    def __call__(self, ybar: Tangentlike) -> tuple:
        used = memory.pool.use_pool()
        try:
            ybar = check_tangent(self.structure, ybar, "the cotangent of the output")
            xbars = self.pull(ybar, False)
            return tuple([for_user(x, xbar) for x, xbar in zip(self.primals, xbars, strict=True)])
        except BaseException as error:
            trim_traceback(error)
            raise
        finally:
            memory.pool.leave_pool(used)

    def __repr__(self) -> str:
        primals = ", ".join(map(describe, self.primals))
        return f"<pullback of {name_of(self.f)}: {describe(self.structure)} -> ({primals})>"


LEAVES.add(PullbackAt)  # what it holds are no inputs


def for_user(x: Value, xbar: Tangentlike) -> Any:
    """Return the cotangent ``xbar`` in the structure of ``x``; its arrays are the user's."""
    if type(xbar) in FLOATS_AND_ARRAYS and type(x) in LEAVES:
        return in_class_of(x, xbar)
    return as_structured(x, xbar, _another_handle)


def _another_handle(xbar: Tangentlike) -> Any:
    # Two arguments may have one cotangent, and writes into the one are none into the other.
    return for_receiver(xbar) if isinstance(xbar, Traced) else xbar


def value_and_pull(
    config: RuleConfig, f: Function, args: tuple, kwargs: dict, positions: Any
) -> tuple[Any, Callable[[Any, bool], list]]:
    """Return the value, and ``pull(ybar, last)`` giving a raw cotangent for each position."""
    rule = rrule.find(config, f, args)
    if isinstance(rule, Kind):
        answer = rule.rrule(config, f, args, kwargs, set(positions))
    else:
        answer = None if rule is None else rrule(config, f, *args, **kwargs)
    if answer is None:
        recording = Recording(new_tape(config), f, args, kwargs, positions)
        return recording.y, recording.pull
    next_level()  # none is needed, but runs outside see by it that a transform ran
    y, pull_all = answer

    def pull(ybar: Tangentlike, last: bool) -> list:
        if isinstance(ybar, AbstractZero):
            return [ybar for _ in positions]
        xbars = pull_all(ybar)
        found = [check_shape(xbars[1 + i], ProjectTo(args[i]), f, i) for i in positions]
        return [map_leaves(own, unthunk(xbar)) for xbar in found]

    return y, pull


def transposed(
    program: LinearProgram, sources: list, config: ReverseConfig = REVERSE
) -> Callable[[list], list]:
    """Return the transpose of a linear program: from cotangents of its outputs to those of inputs.

    What was recorded forwards, ``A @ xdot``, is pulled back: ``A.T @ ybar``. ``sources`` are the
    leaves that the inputs of ``program`` are tangents of.
    """
    zeros = tuple(map(zero_tangent, sources))

    def run(*values: Value) -> list:
        return program.run(list(values))

    _, pull = value_and_pull(config, run, zeros, {}, range(len(zeros)))
    return lambda ybars: pull(ybars, False)
