"""linearize: run a function once, then push tangents through it as often as one likes.

The function runs on dual numbers whose tangents are themselves followed. What is done with
them is a straight-line linear program; the pushforward runs that program again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import (
    AbstractZero,
    NoTangent,
    Traced,
    TracedArray,
    TracedNumber,
    ZeroTangent,
    as_structured,
    body,
    children,
    frule,
    getitem,
    is_traced,
    next_level,
    strip,
    value,
)
from ..rules.collector import paused_collector
from ..rules.kinds import FreshArray, NonDifferentiable
from ..rules.operands import is_array
from ..rules.project import structural
from ..rules.surface import check_tangent, is_perturbable_input
from ..rules.tangents import child_tangents
from ..rules.views import Path, copied, follow, is_fresh, living_views, raised, root_of, tie_views
from ..rules.watch import Watch
from ..rules.zeros import zero_tangent
from .jvp import FORWARD


class LinearNumber(TracedNumber):
    """A tangent in the making: the number that step ``index`` of the program gives."""

    __slots__ = ("index",)
    index: int


class LinearArray(TracedArray):
    """A tangent in the making: the array that step ``index`` of the program gives."""

    __slots__ = ("index",)
    index: int


class LinearProgram:
    """What a function does with its tangents: a list of ``(f, args, kwargs)``."""

    __slots__ = ("inputs", "number", "steps", "watch")

    def __init__(self) -> None:
        self.number = next_level()
        self.inputs = 0
        self.watch = Watch()
        self.steps: list[tuple | None] = []

    def wrap(self, xdot: Any, step: tuple | None) -> Any:
        """Append ``step`` and return its result, followed."""
        traced: Any = LinearArray() if is_array(xdot) else LinearNumber()
        traced.value = xdot
        traced.level = self
        traced.index = len(self.steps)
        self.steps.append(step)
        return traced

    def input(self, x: Any) -> Any:
        """Return a tangent of ``x`` that is still to be given, with a sample of its values."""
        parts = children(x)
        if parts is not None:
            return structural(type(x), parts.keys, [self.input(part) for part in parts.values])
        if not is_perturbable_input(x):
            return NoTangent()
        self.inputs += 1
        return self.wrap(zero_tangent(x) + 1, None)

    def unary(self, ufunc: Any, operation: Callable, x: Any) -> Any:
        return self.call(operation, (x,), {})

    def binary(self, ufunc: Any, operation: Callable, a: Any, b: Any) -> Any:
        for x in (a, b):
            if isinstance(x, Traced) and x.level.number > self.number:
                return x.level.binary(ufunc, operation, a, b)
        return self.call(operation, (a, b), {})

    def call(self, f: Any, args: tuple, kwargs: dict) -> Any:
        """Run ``f`` on the samples, and remember that it was called."""
        rule = frule.find(None, f, args)
        if isinstance(rule, NonDifferentiable | FreshArray):
            y = body(f)(*map(value, args), **{k: value(x) for k, x in kwargs.items()})
            return self.constant(y) if isinstance(rule, FreshArray) and is_fresh(y) else y
        y = f(*(strip(x, self) for x in args), **{k: strip(x, self) for k, x in kwargs.items()})
        followed = (
            tuple([self.watch.hold(x) for x in _slots(args, self)]),
            self.watch.hold_all(_slots(kwargs, self)) if kwargs else kwargs,
        )
        parts = children(y)
        if parts is None:
            if not is_perturbable_input(y):
                return y
            traced = self.wrap(y, (f, *followed))
            if args and isinstance(args[0], LinearArray) and args[0].level is self:
                tie_views(traced, args[0], _at, {"f": f, "rest": args[1:], "options": kwargs})
            return traced
        whole = self.wrap(0.0, (f, *followed)).index
        return self._parts(y, whole)

    def getitem(self, x: Any, index: Any) -> Any:
        return self.call(getitem, (x, index), {})

    def _parts(self, y: Any, whole: int) -> Any:
        parts = children(y)
        assert parts is not None
        wrapped = []
        for position, part in enumerate(parts.values):
            step: tuple = (_part, (_Slot(whole), position), {})
            if children(part) is not None:
                wrapped.append(self._parts(part, self.wrap(0.0, step).index))
            else:
                wrapped.append(self.wrap(part, step) if is_perturbable_input(part) else part)
        return parts.rebuild(wrapped)

    def constant(self, x: Any) -> Any:
        """Return ``x`` as an array of tangents that depends on none of the inputs yet."""
        return self.wrap(x, (np.array, (x,), {}))

    def write(self, x: Any, index: Any, v: Any) -> None:
        """Remember ``x[index] = v`` as a step that makes a new array."""
        root, path = root_of(x)
        step: tuple = (_written, _slots((root, path, index, v), self), {})
        sample = _written(root.value, path, index, strip(v, self))
        again = self.wrap(sample, step)
        root.value, root.index = again.value, again.index
        for view in living_views(root):
            made = follow(root_of(view)[1], root)
            view.value, view.index = made.value, made.index

    def run(self, tangents: list) -> list:
        """Return the result of every step, given the tangents of the inputs."""
        self.watch.check()
        results: list[Any] = []
        given = iter(tangents)
        for step in self.steps:
            if step is None:
                results.append(next(given))
            else:
                f, args, kwargs = step
                if kwargs:
                    kwargs = _fill(kwargs, results)
                results.append(f(*_fill(args, results), **kwargs))
        return results


def _at(x: Any, f: Any, rest: tuple, options: dict) -> Any:
    return f(x, *rest, **options)


def _written(x: Any, path: Path, index: Any, v: Any) -> Any:
    y = raised(copied(x), v)
    follow(path, y)[index] = v
    return y


class _Slot:
    """Stands in a program for the result of step ``index``."""

    __slots__ = ("index",)
    __array_ufunc__ = None

    def __init__(self, index: int) -> None:
        self.index = index


def _part(y: Any, position: int) -> Any:
    parts = children(y)
    assert parts is not None
    return parts.values[position]


def _slots(x: Any, program: LinearProgram) -> Any:
    if isinstance(x, Traced):
        return _Slot(x.index) if x.level is program else x  # type: ignore[attr-defined]
    parts = children(x)
    if parts is None or not is_traced(x):
        return x
    return parts.rebuild([_slots(part, program) for part in parts.values])


def _fill(x: Any, results: list) -> Any:
    kind = type(x)
    if kind is _Slot:
        return results[x.index]
    if kind is tuple or kind is list:
        return kind([_fill(part, results) for part in x])
    if kind is dict:
        return {key: _fill(part, results) for key, part in x.items()}
    return x


def linearize(f: Callable, *primals: Any) -> tuple[Any, Callable]:
    """Evaluate ``f`` once and return its pushforward at that point.

    Parameters
    ----------
    f : callable
        Takes ``primals``; returns a number, an array, or a container of these.
    *primals : Any
        The point. Every one is differentiated; integers count as float64.

    Returns
    -------
    y : Any
        ``f(*primals)``.
    pushforward : callable
        ``pushforward(*tangents)`` is the tangent of ``y``; one tangent per primal. It may be
        called many times, and does not evaluate ``f`` again.

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
    """
    program = LinearProgram()
    tangents = [program.input(x) for x in primals]
    with paused_collector():
        y, ydot = FORWARD.frule_via_ad((NoTangent(), *tangents), f, *primals)
    outputs = _outputs(y, ydot, program)

    def pushforward(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise TypeError(f"there are {len(primals)} primals and {len(tangents)} tangents.")
        given: list[Any] = []
        for i, (x, xdot) in enumerate(zip(primals, tangents, strict=True)):
            checked = check_tangent(x, xdot, f"the tangent of argument {i}")
            _collect(x, as_structured(x, checked), given)
        with paused_collector():
            results = program.run(given)
        return as_structured(y, _result(y, outputs, results))

    return y, pushforward


def _outputs(y: Any, ydot: Any, program: LinearProgram) -> Any:
    """Return the step that gives each tangent of ``y``, in the structure of its parts."""
    parts = children(y)
    if parts is not None:
        given = child_tangents(y, ydot)
        return [_outputs(*pair, program) for pair in zip(parts.values, given, strict=True)]
    if isinstance(ydot, Traced) and ydot.level is program:
        return _Slot(ydot.index)  # type: ignore[attr-defined]
    return ydot


def _collect(x: Any, xdot: Any, given: list) -> None:
    parts = children(x)
    if parts is not None:
        for part, partdot in zip(parts.values, child_tangents(x, xdot), strict=True):
            _collect(part, partdot, given)
    elif is_perturbable_input(x):
        given.append(xdot)


def _result(y: Any, outputs: Any, results: list) -> Any:
    parts = children(y)
    if parts is not None:
        found = [_result(*pair, results) for pair in zip(parts.values, outputs, strict=True)]
        return structural(type(y), parts.keys, found)
    if type(outputs) is not _Slot:
        return outputs if isinstance(outputs, AbstractZero) else ZeroTangent()
    ydot = results[outputs.index]
    # A step may hand on the very array that it was given.
    return ydot.copy() if type(ydot) is np.ndarray else ydot
