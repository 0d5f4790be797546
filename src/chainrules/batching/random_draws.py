"""Random draws: a function that draws would draw once for a whole batch, and runs item by item.

The generators that it can reach are found by its names: its variables, arguments and defaults, the
attributes of its objects, and those of the functions that it names. A state that has changed tells.
"""

import functools
import random
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..rules.containers import LEAVES
from ..rules.tracing.funnel import content_of

_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_LIBRARIES = {"builtins", "chainrules", "math", "numpy", "scipy"}
_DEPTH = 8
LEAVES_BUT_FUNCTIONS = LEAVES - {
    types.FunctionType, types.MethodType, types.BuiltinFunctionType,
}  # fmt: skip


class Generators:
    """The generators that a function can reach, and the states in which they are."""

    def __init__(self, *given: Any) -> None:
        self.found: dict[str, Any] = {}
        waiting, seen = [(x, _DEPTH) for x in given], set()
        while waiting:
            x, depth = waiting.pop()
            if type(x) in LEAVES_BUT_FUNCTIONS or id(x) in seen:
                continue
            seen.add(id(x))
            if isinstance(x, _GENERATORS):
                self.found[f"{type(x).__name__}({len(self.found)})"] = x
            elif depth:
                waiting += [(part, depth - 1) for part in _parts(x)]
        self.states = self._now()

    def drawn(self) -> str:
        """Return the name of one whose state has changed since, or an empty text."""
        for name, before, now in zip(self.found, self.states, self._now(), strict=True):
            if repr(before) != repr(now):
                return name.partition("(")[0]
        return ""

    def restore(self) -> None:
        """Put all generators back into the states that they had."""
        for x, state in zip(self.found.values(), self.states, strict=True):
            if isinstance(x, random.Random):
                x.setstate(state)
            elif isinstance(x, np.random.RandomState):
                x.set_state(state)
            else:
                getattr(x, "bit_generator", x).state = state

    def _now(self) -> list[Any]:
        return [_state(x) for x in self.found.values()]


def _parts(x: Any) -> Iterable[Any]:
    """Return what a function, a container or an object holds, and what a function names."""
    kind = type(x)
    if kind is types.FunctionType:
        return _of_function(x)
    if kind is types.MethodType:
        return x.__func__, x.__self__
    if kind is types.BuiltinFunctionType:
        return (x.__self__,)  # normal of numpy.random
    if kind is functools.partial:
        return x.func, *x.args, *x.keywords.values()
    if kind in (list, tuple, set, frozenset):
        return x
    if kind is dict:
        return x.values()
    if kind is types.ModuleType or _is_library(kind.__module__):
        return ()
    return *getattr(x, "__dict__", {}).values(), *vars(kind).values()


def _of_function(f: types.FunctionType) -> list:
    names = f.__globals__
    if _is_library(f.__module__):
        return []
    held = [*map(content_of, f.__closure__ or ()), *(f.__defaults__ or ())]
    held += [*(f.__kwdefaults__ or {}).values(), getattr(f, "__wrapped__", None)]
    named = _names_in(f.__code__)
    if "random" in named:
        held += [random.random, np.random.random]  # bound to the generators of the process
    return held + [names[name] for name in named if name in names]


@functools.lru_cache(maxsize=1024)
def _names_in(code: types.CodeType) -> frozenset[str]:
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return frozenset(code.co_names).union(*inner)


def _is_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES


def _state(x: Any) -> Any:
    if isinstance(x, np.random.RandomState):
        return x.get_state()
    return x.getstate() if isinstance(x, random.Random) else getattr(x, "bit_generator", x).state
