"""Random draws: a function that draws would draw once for a whole batch, and runs item by item.

The generators that it can reach are found by its names: its variables, arguments and defaults, the
attributes of its objects, and those of the functions that it names. A state that has changed tells.
"""

import random
import types
from typing import Any

import numpy as np

from ..rules.containers import LEAVES
from ..rules.rulesets.functions.executors.elsewhere import codes_of, reached

# What holds no generator, and is most of what a function reads.
_PLAIN = frozenset(LEAVES) - {
    type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType,
}  # fmt: skip
_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_OF_THE_PROCESS: tuple[Any, ...] = (random.random, np.random.random)


class Generators:
    """The generators that a function can reach, and the states in which they are."""

    def __init__(self, f: Any, call: tuple) -> None:
        found: dict[int, Any] = {}
        args, kwargs = call
        given = [x for x in (*args, *kwargs.values()) if type(x) not in _PLAIN]
        for x, _ in reached((f, *given) if given else f, _PLAIN):
            for y in _bound(x):
                if isinstance(y, _GENERATORS):
                    found[id(y)] = y
        self.found = list(found.values())
        self.states = [_state(x) for x in self.found]

    def drawn(self) -> str:
        """Return the name of one whose state has changed since, or an empty text."""
        for x, before in zip(self.found, self.states, strict=True):
            if not _is_unchanged(before, _state(x)):
                return type(x).__name__
        return ""

    def restore(self) -> None:
        """Put all generators back into the states that they had."""
        for x, state in zip(self.found, self.states, strict=True):
            if isinstance(x, random.Random):
                x.setstate(state)
            elif isinstance(x, np.random.RandomState):
                x.set_state(state)
            else:
                getattr(x, "bit_generator", x).state = state


def _bound(x: Any) -> tuple:
    """Return ``x``, or the generators of the process that it draws from."""
    if type(x) is types.BuiltinFunctionType:
        return (x.__self__,)  # normal of numpy.random
    if type(x) is types.FunctionType and any("random" in code.co_names for code in codes_of(x)):
        return tuple([draw.__self__ for draw in _OF_THE_PROCESS])
    return (x,)


def _state(x: Any) -> Any:
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return x.getstate() if isinstance(x, random.Random) else getattr(x, "bit_generator", x).state


def _is_unchanged(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_is_unchanged(part, b[name]) for name, part in a.items())
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)
