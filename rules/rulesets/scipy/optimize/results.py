"""Results of SciPy's solvers, with fields that follow traced values."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .....config import MissingRuleError, user_line
from .... import with_values


class Later:
    """A field that is made when it is read: SciPy's value, with the derivative of ``make()``."""

    __slots__ = ("make",)

    def __init__(self, make: Callable) -> None:
        self.make = make


REFUSED_FIELD = object()


class CountInResult:
    """A whole number of a recorded answer: Python's, which is looked at, where it is read."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def read(self, name: str) -> int:
        if self.x is REFUSED_FIELD:
            raise MissingRuleError(
                f"the field {name!r} of a solver's result is no number or array, and is none of a "
                f"recording, in {user_line()}.\n"
                "  read it outside of what is compiled"
            )
        return int(self.x)


class ReadResult(OptimizeResult):
    """A result that computes some of its fields when they are read, by whatever way."""

    def __iter__(self) -> Iterator:  # so that dict(result) reads its fields
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - it is this

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]


class RecordedResult(ReadResult):
    """A solver's result in a recording."""

    def __getitem__(self, name: str) -> Any:
        x = super().__getitem__(name)
        return x.read(name) if isinstance(x, CountInResult) else x


class TracedResult(ReadResult):
    """SciPy's result ``own``, some of whose fields are traced, or made when they are read.

    Numbers that count or judge the solver's work are SciPy's. Arrays without a derivative here, as
    approximations that are made of the steps of the solver, are refused when they are read.
    """

    def __init__(self, own: dict, **fields: Any) -> None:
        raw = {name: dict.__getitem__(own, name) for name in dict.keys(own)}
        super().__init__(raw)
        object.__setattr__(self, "_own", own)
        for name, x in raw.items():
            if name in fields:
                self[name] = fields[name]
            elif isinstance(x, CountInResult):
                self[name] = Later(functools.partial(own.__getitem__, name))
            elif _may_have_derivatives(x):
                self[name] = Later(refusal(name))

    def __getitem__(self, name: str) -> Any:
        x = super().__getitem__(name)
        if isinstance(x, Later):
            x = self[name] = with_values(x.make(), self._own[name])
        return x

    def copy(self) -> "TracedResult":
        made = TracedResult(self._own)
        made.update({name: dict.__getitem__(self, name) for name in self})
        return made

    def __repr__(self) -> str:
        return repr(self._own)


def _may_have_derivatives(x: Any) -> bool:
    """Say whether ``x`` is an array of real numbers, or holds or applies some."""
    if isinstance(x, dict):
        return True  # a result of another call
    if isinstance(x, list | tuple):
        return any(map(_may_have_derivatives, x))
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fcO"
    return hasattr(x, "matvec") or hasattr(x, "toarray")


def refusal(name: str) -> Callable:
    """Return what raises, when the field ``name`` is read."""

    def refuse() -> Any:
        raise MissingRuleError(
            f"the field {name!r} of a solver's result has no derivative: it is made of the "
            f"solver's steps, in {user_line()}.\n"
            "  compute it from the field x: cr.hessian(f)(res.x), for example"
        )

    return refuse
