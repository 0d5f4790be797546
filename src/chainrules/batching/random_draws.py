"""Random draws: a function that draws would draw once for a whole batch, and runs item by item.

The generators that it can reach are found by its names: its variables, arguments and defaults, the
attributes of its objects, and those of the functions that it names. A state that has changed tells.
"""

import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..config.thresholds import CODES_KEPT
from ..rules import codes_of, reached
from ..rules.containers import LEAVES, iterate_leaves
from ..rules.engines.arguments import Transformed
from ..rules.signatures import content_of

# What holds no generator, and is most of what a function reads.
_PLAIN = frozenset(LEAVES) - {
    Transformed, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType,
    types.ModuleType,
}  # fmt: skip
_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_DRAWS: tuple[Any, ...] = (random.random, np.random.random)
_OF_THE_PROCESS = tuple([draw.__self__ for draw in _DRAWS])
# Modules of libraries whose functions draw from the generators of the process.
_DRAWING = {
    "random", "statistics", "numpy.random", "scipy", "scipy.cluster", "scipy.optimize",
    "scipy.sparse", "scipy.stats",
}  # fmt: skip
# Modules that most functions name, and none of whose functions draws unless it is named so.
_QUIET = {
    "chainrules", "chainrules.numpy", "cmath", "functools", "itertools", "math", "numpy",
    "numpy.linalg", "operator", "scipy.special",
}  # fmt: skip


class Generators:
    """The generators that a function can reach, and the states in which they are."""

    def __init__(self, f: Any, call: tuple) -> None:
        args, kwargs = call
        self.found: list[Any] = []
        self.states: list[Any] = []
        if not kwargs and _PLAIN.issuperset(map(type, args)) and _is_plain(f):
            return  # as most have none
        found: dict[int, Any] = {}
        given = (f, *args, *kwargs.values())
        for x, _ in reached(tuple([x for x in given if not _is_plain(x)]), _PLAIN):
            for y in _bound(x):
                if isinstance(y, _GENERATORS):
                    found[id(y)] = y
        self.found += found.values()
        self.states += map(_state, self.found)

    def drawn(self) -> str:
        """Return the name of one whose state has changed since, or an empty text."""
        for x, before in zip(self.found, self.states, strict=True):
            if not _is_unchanged(before, _state(x)):
                return type(x).__name__
        return ""

    def restore(self) -> None:
        """Put all generators back into the states that they had."""
        _restore(self.found, self.states)


class Draws:
    """Draws of a call for one item after another, by generators among its arguments.

    A generator that the function made is one for each item: all find it in the same state. (Of
    one from outside the batch is done again, in the order of the items.)
    """

    __slots__ = ("after", "before", "differ", "found")

    def __init__(self, given: tuple) -> None:
        self.found = [x for x in iterate_leaves(given) if isinstance(x, _GENERATORS)]
        self.before = [_state(x) for x in self.found]
        self.after: list | None = None
        self.differ = False  # whether they are in unlike states after the items

    def as_first(self, of_item: Callable[[int], Any], k: int) -> Any:
        """Return ``of_item(k)`` with all generators as they were before the first item."""
        if not self.found:
            return of_item(k)
        _restore(self.found, self.before)
        y = of_item(k)
        states = [_state(x) for x in self.found]
        if self.after is None:
            self.after = states
        self.differ = self.differ or not all(map(_is_unchanged, self.after, states))
        return y


# By the identity of a code, which is kept with them: the names in it and in its functions, and None
# where one of them draws.
_named: dict[int, tuple[types.CodeType, tuple | None]] = {}


def _names_in(f: types.FunctionType) -> tuple | None:
    """Return the names that ``f`` reads; None where one of them may draw."""
    code = f.__code__
    known = _named.get(id(code))
    if known is None:
        if len(_named) >= CODES_KEPT:
            _named.clear()
        names = {name for part in codes_of(f) for name in part.co_names}
        known = _named[id(code)] = code, tuple(names) if _DRAWING.isdisjoint(names) else None
    return known[1]


def _is_plain(x: Any) -> bool:
    """Say at a glance that ``x`` holds no generator: as a function of numbers and of libraries."""
    waiting = [x]
    seen: set[int] = set()
    for x in waiting:
        cls = type(x)
        if cls in _PLAIN or id(x) in seen:
            continue
        if cls is types.FunctionType:
            seen.add(id(x))
            names = _names_in(x)
            if names is None or x.__kwdefaults__:
                return False
            variables = x.__globals__
            for name in names:
                if name in variables:
                    waiting.append(variables[name])
            waiting += x.__defaults__ or ()
            if x.__closure__:
                waiting += map(content_of, x.__closure__)
        elif cls is Transformed:
            waiting.append(x.__wrapped__)
        elif cls is types.ModuleType:
            if x.__name__ not in _QUIET:
                return False
        elif cls is not types.BuiltinFunctionType or type(x.__self__) is not types.ModuleType:
            return False
    return True


def _bound(x: Any) -> tuple:
    """Return ``x``, or the generators of the process that it draws from."""
    if type(x) is types.BuiltinFunctionType:
        return (x.__self__,)  # normal of numpy.random
    codes = codes_of(x) if type(x) is types.FunctionType else ()
    if not all(_DRAWING.isdisjoint(code.co_names) for code in codes):
        return _OF_THE_PROCESS
    named = isinstance(x, types.FunctionType | type)
    home = vars(x if named else type(x)).get("__module__")
    home = x.__name__ if isinstance(x, types.ModuleType) else str(home)
    if ".".join(home.removeprefix("chainrules.").split(".")[:2]) in _DRAWING:
        return x, *_OF_THE_PROCESS
    return (x,)


def _restore(generators: list, states: list) -> None:
    for x, state in zip(generators, states, strict=True):
        if isinstance(x, random.Random):
            x.setstate(state)
        elif isinstance(x, np.random.RandomState):
            x.set_state(state)
        else:
            getattr(x, "bit_generator", x).state = state


def _state(x: Any) -> Any:
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return x.getstate() if isinstance(x, random.Random) else getattr(x, "bit_generator", x).state


def _is_unchanged(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_is_unchanged(part, b[name]) for name, part in a.items())
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)
