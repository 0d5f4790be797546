"""Kinds of functions whose derivative is zero: constant functions, new arrays, text, files.

``np.floor`` has the derivative 0, and ``np.zeros_like`` gives an array that depends on nothing.
Of text and of files numbers may be read again: those of traced values are refused then, or there.
"""

from collections.abc import Callable, Container
from typing import Any

import numpy as np

from ...config import RuleConfig, user_line
from ..annotations import Function, Value
from ..refusals.table import refusal
from ..shapes import FLOATS_AND_ARRAYS, OBJECT
from ..signatures import name_of
from ..tangents.zeros import NO_TANGENT, ZERO
from ..tracing.funnel import body, is_primitive
from ..tracing.level import Level, Traced, innermost, value
from ..tracing.writing import is_fresh
from .kinds import Kind

_PLAIN = frozenset({*FLOATS_AND_ARRAYS, int, bool, str})


class NonDifferentiable(Kind):
    """Piecewise constant, or about things that cannot be perturbed: no derivative at all."""

    __slots__ = ()
    label = "non-differentiable"
    constant = True

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        return args, kwargs

    def answer(self, level: Level, f: Function, args: tuple, kwargs: dict, settings: bool) -> Value:
        return self.run(f, tuple(map(value, args)), {k: value(x) for k, x in kwargs.items()})

    def of_plain(self, f: Function, args: tuple) -> Any:
        """Return ``f`` of plain numbers and arrays under ``args``; NotImplemented beside others."""
        values = []
        for x in args:
            while isinstance(x, Traced) and not x.records:
                x = x.primal
            if type(x) not in _PLAIN or (type(x) is np.ndarray and x.dtype is OBJECT):
                return NotImplemented
            values.append(x)
        return NotImplemented if is_primitive(f) else f(*values)

    def run(self, f: Function, args: tuple, kwargs: dict) -> Any:
        if "dtype" in kwargs and np.dtype(kwargs["dtype"]) == object:
            # np.logical_or.reduce(x, dtype=object) is one of the entries of x
            raise refusal("objects for dtype", name=name_of(f))
        level = innermost((*args, *kwargs.values()))
        if level is not None and level.records:
            return level.call(f, args, kwargs)  # which says whether it is one step
        return body(f)(*args, **kwargs)

    def frule(
        self, config: RuleConfig, tangents: tuple, f: Function, args: tuple, kwargs: dict
    ) -> tuple[Any, Any]:
        return self.run(f, args, kwargs), ZERO

    def rrule(
        self,
        config: RuleConfig,
        f: Function,
        given: tuple,
        kwargs: dict,
        wanted: Container[int] | None = None,
    ) -> tuple[Any, Callable]:
        zeros = (NO_TANGENT,) * (1 + len(given))
        return self.run(f, given, kwargs), lambda ybar: zeros


class FreshArray(NonDifferentiable):
    """Makes a new array whose numbers depend on nothing; what is written into it is followed."""

    __slots__ = ()
    label = "fresh array"

    def answer(self, level: Level, f: Function, args: tuple, kwargs: dict, settings: bool) -> Value:
        y = NonDifferentiable.answer(self, level, f, args, kwargs, settings)
        return level.constant(y) if is_fresh(y) else y

    def run(self, f: Function, args: tuple, kwargs: dict) -> Any:
        return body(f)(*args, **kwargs)


class Text(NonDifferentiable):
    """Writes a traced array as text, which cannot be read as numbers by mistake."""

    __slots__ = ()

    def run(self, f: Function, args: tuple, kwargs: dict) -> Any:
        return f"traced({NonDifferentiable.run(self, f, args, kwargs)})"


class Saved(NonDifferentiable):
    """Writes numbers to where they have no derivative when they are read again: it is refused."""

    __slots__ = ()
    label = "refused"

    def run(self, f: Function, args: tuple, kwargs: dict) -> Any:
        raise refusal("numbers in a file", name=name_of(f), line=user_line())
