"""Kinds of functions that are linear in one argument, or in each of two.

``linear_rule(np.flip, flip_transpose, moves=True, axes="axis")`` says by the transpose how
cotangents come back, and by the rest what becomes of structural zeros, of views, and of many
directions at once: a ``LinearRule`` carries all that is declared of its function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..annotations import Function, Tangentlike, Value
from ..containers import is_flat
from ..shapes import dtype_of, shape_of
from ..signatures import parameters
from ..tangents.filled import as_structured
from ..tangents.project import Projector
from ..tangents.structural import Tangent
from ..tangents.zeros import AbstractZero
from ..tracing.funnel import array_of
from ..tracing.level import Traced, strip
from ..tracing.object_arrays import OBJECT, refuse_objects
from ..tracing.views import (
    is_draft,
    may_share,
    register_view,
    shares_memory,
    tie_views,
    views_of_draft,
)
from ..tracing.writing import mark_views
from .kinds import Kind, options_of
from .sums import unbroadcast


class LinearRule(Kind):
    """Linear in the first argument: ``transpose(ybar, space, **options)``.

    What else is declared with it is said at ``linear_rule``.
    """

    __slots__ = (
        "adapt", "adds", "axes", "block", "constants", "drops", "elementwise", "idles", "moves",
        "pattern", "transpose", "views",
    )  # fmt: skip
    label = "linear rule"
    linear = forgets = joins = True

    def __init__(
        self,
        f: Function,
        transpose: Callable,
        line: str,
        *,
        adapt: Callable | None = None,
        constants: tuple[str, ...] = (),
        elementwise: bool = False,
        moves: bool = False,
        adds: bool = False,
        drops: bool = False,
        idles: Callable | None = None,
        views: bool | None = None,
        axes: str | tuple[str, ...] = (),
        block: Callable | None = None,
        pattern: Callable | None = None,
    ) -> None:
        super().__init__(f, 1, options_of(transpose, 2), line)
        self.transpose = transpose
        self.adapt = adapt
        self.constants = constants
        self.elementwise = elementwise
        self.moves = moves
        self.adds = adds or moves or elementwise
        self.drops = drops
        self.idles = idles
        self.views = moves if views is None else views
        # The options that are axes, and what each is where it is not given.
        names = (axes,) if isinstance(axes, str) else axes
        defaults = {p.name: p.default for p in parameters(transpose) or ()}
        self.axes = {name: defaults[name] for name in names}
        self.block = block
        self.pattern = pattern

    def apply(self, level: Any, f: Function, args: tuple, options: dict) -> Value:
        (x,) = args
        if self.views and is_draft(x):
            y = views_of_draft(x, f, options)
            if y is not NotImplemented:
                return y
        value = x.primal if isinstance(x, Traced) and x.at_level is level else strip(x, level)
        for_type, quick = self.shortcut
        y = (quick if type(value) is for_type else f)(value, **options)  # as ``evaluate`` does
        return self.keep(level, f, args, options, (value,), y)

    def keep(
        self, level: Any, f: Function, args: tuple, options: dict, values: tuple, y: Any
    ) -> Value:
        if type(y) is np.float64:
            return level.applied(self, f, args, options, values, y)
        (x,), (value,) = args, values
        if y is value:
            return x  # NumPy gave the very same array back
        plain = type(y) is np.ndarray
        if plain and y.dtype is OBJECT:
            refuse_objects(f, y)
        traced = level.applied(self, f, args, options, values, y)
        if plain and type(value) is np.ndarray:  # as nearly always
            if y.base is not None and shares_memory(y, value):
                register_view(traced, x, f, options)
        elif may_share(y, values):
            self.tie(traced, f, args, options)
        return traced

    def tie(self, y: Value, f: Function, args: tuple, options: dict) -> None:
        if isinstance(args[0], Traced):
            tie_views(y, args[0], f, options)
        else:
            mark_views(y, args)

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        if kwargs or len(args) > 1:
            args, kwargs = Kind.bind(self, f, args, kwargs)
        if kwargs and self.adapt is not None:
            kwargs = self.adapt(args[0], **kwargs)
        if args and type(args[0]) in (list, tuple) and not is_flat(args[0]):
            # Among arrays to be joined, a list of numbers stands for an array as well.
            parts = [array_of(x) if type(x) in (list, tuple) else x for x in args[0]]
            args = (type(args[0])(parts), *args[1:])
        return args, kwargs

    def push(self, i: int, xdot: Any, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        if issubclass(type(xdot), Tangent):
            xdot = as_structured(args[0], xdot)  # a list of arrays, with real zeros
        if type(xdot) in (list, tuple) and type(args[0]) in (list, tuple):
            xdot = [_of_flags(x, dot) for x, dot in zip(args[0], xdot, strict=True)]
        if self.constants and kwargs:
            kwargs = {name: x for name, x in kwargs.items() if name not in self.constants}
        for_type, quick = self.shortcut
        return (quick if type(xdot) is for_type else self.f)(xdot, **kwargs)

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        return self.transpose(ybar, space, **kwargs)

    def counts(
        self, i: int, flags: Any, shape: tuple, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        if self.elementwise:  # of the imaginary part of real flags nothing would be left
            return np.ones(shape) if flags is None else flags
        return Kind.counts(self, i, flags, shape, args, kwargs, space)


def _of_flags(x: Value, xdot: Tangentlike) -> Any:
    # Flags have no tangents, but join arrays as zeros and ones; among tangents, as zeros.
    flags = isinstance(xdot, AbstractZero) and dtype_of(x) is not None
    return np.zeros(shape_of(x)) if flags else xdot


class BilinearRule(Kind):
    """Linear in each of two arguments: ``left(ybar, a, b)`` and ``right(ybar, a, b)``."""

    __slots__ = ("block", "pattern", "pulls")
    label = "bilinear rule"
    linear = True

    def __init__(
        self,
        f: Function,
        left: Callable,
        right: Callable,
        line: str,
        *,
        block: Callable | None = None,
        pattern: Callable | None = None,
    ) -> None:
        super().__init__(f, 2, options_of(left, 3), line)
        self.pulls = (left, right)
        self.block = block
        self.pattern = pattern

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        if kwargs or len(args) > 2:
            args, kwargs = Kind.bind(self, f, args, kwargs)
        if type(args[0]) in (list, tuple) or type(args[-1]) in (list, tuple):
            args = tuple([array_of(x) if type(x) in (list, tuple) else x for x in args])
        return args, kwargs

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        a, b = args
        return self.f(xdot, b, **kwargs) if i == 0 else self.f(a, xdot, **kwargs)

    def kept(self, active: list, y: Value, args: tuple) -> tuple[Any, tuple]:
        return None, args

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        return unbroadcast(self.pulls[i](ybar, *args, **kwargs), space.shape)
