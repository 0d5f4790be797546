"""Levels with strong zeros, and the option ``zero="strong"`` by which transforms ask for them."""

import copy
import functools
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np

from ...config import RuleConfig, StrongZeros
from ..annotations import Function, Value
from ..refusals.table import refusal
from ..table.kinds import Kind
from ..table.strength import with_strong_zeros
from ..tracing.level import Level, Traced, is_traced
from .engine import Engine

C = TypeVar("C", bound=RuleConfig)
L = TypeVar("L", bound=Engine)
Zero = Literal["strong"] | None


class StrongLevel(Engine):
    """The part of a level with strong zeros: each product with a slope is made by a kind."""

    __slots__ = ()

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        kind = self.table.scalars.get(ufunc)
        if kind is None:
            return self.call(ufunc, (x,), {})
        return self._elementwise(kind, ufunc, operation, (x,))

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        kind = self.table.scalars.get(ufunc)
        if kind is None:
            return self.call_operator(ufunc, operation, a, b)
        for x in (a, b):
            answer = None if self.carries(x) else self.meet(ufunc, operation, a, b, x)
            if answer is not None:
                return answer
        return self._elementwise(kind, ufunc, operation, (a, b))

    def _elementwise(self, kind: Any, ufunc: np.ufunc, operation: Callable, args: tuple) -> Value:
        self.check_live()
        values = tuple([x.primal if self.carries(x) else x for x in args])
        y = operation(*values)
        if kind.branch is not None and isinstance(y, Traced) and is_traced(y):
            y = kind.branch(y, *values)
        return self.applied(kind, ufunc, args, {}, values, y)

    def multiply_add(self, xbar: Any, ybar: Any, factor: Any) -> Value:
        return Level.multiply_add(self, xbar, ybar, factor)

    def apply_kind(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        return super().apply_kind(with_strong_zeros(kind), f, args, kwargs, values, y)


@functools.cache
def _strong_class(cls: Any) -> Any:
    """Return the class of levels ``cls`` with strong zeros, or of configs with their trait."""
    part = StrongLevel if issubclass(cls, Engine) else StrongZeros
    bases = (part, cls) if part is StrongLevel else (cls, part)
    return type(f"Strong{cls.__name__}", bases, {"__slots__": (), "__module__": cls.__module__})


def level_class(cls: type[L], config: RuleConfig) -> type[L]:
    """Return the class of a level for ``config``: ``cls``, or that with strong zeros."""
    return _strong_class(cls) if isinstance(config, StrongZeros) else cls


def as_asked(config: C, zero: Zero) -> C:
    """Return the config of a transform that was called with ``zero``.

    Raises
    ------
    ValueError
        If ``zero`` is neither None nor "strong".
    """
    if zero is None or isinstance(config, StrongZeros):
        return config
    if zero != "strong":
        raise refusal("value of an option", name="zero", x=repr(zero), known="'strong', None")
    asked = copy.copy(config)
    cls: Any = type(config)
    asked.__class__ = _strong_class(cls)
    return asked
