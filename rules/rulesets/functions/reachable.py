"""Objects that are reached from a function, and what its variables, fields and containers hold.

A function may be evaluated again for its derivative, when these hold something else: a lambda that
captures the variable of a loop, a model whose field was set anew. ``Reachable`` keeps what they
held.
"""

import functools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ....config.foundations import FOUNDATIONS
from ... import Traced, children, frule, is_primitive, rrule
from ...containers import contents
from ...known_classes import library_of
from ...signatures import content_of

COMPILERS = ("numba",)  # libraries whose objects are functions of machine code, with a memory
# Types whose objects hold nothing, are no array and no function of the user's.
PLAIN = frozenset({
    float, int, complex, bool, str, bytes, type(None), slice, range, np.ufunc, type(np.sum),
    types.BuiltinFunctionType, *map(type, map(np.dtype, "?bhilqBHILQefdgFDG")),
})  # fmt: skip


class CellContent(NamedTuple):
    """A variable of a closure, what it held, and the ids of the functions that capture it."""

    cell: types.CellType
    held: Any
    functions: list[int]


class Contents(NamedTuple):
    """A list, a dict or an object, and what it held, by index, key or field."""

    container: Any
    held: dict[Any, Any]

    def has_moved(self) -> bool:
        x, held = self.container, self.held
        if type(x) is list:
            return len(x) != len(held) or any(map(operator.is_not, x, held.values()))
        now = x if type(x) is dict else getattr(x, "__dict__", None)
        if type(now) is dict and now.keys() == held.keys():
            return any(now[name] is not part for name, part in held.items())
        now = contents(x) or {}  # without what it has computed of them
        return now.keys() != held.keys() or any(now[name] is not held[name] for name in held)


class Reachable:
    """Everything that is reached from ``root``, by its id, and what holds it.

    ``cells`` are variables of closures, ``contents`` the user's containers and objects, with what
    they hold now. A library's object is nobody's to set back: what only it leads to may be its
    memory of what it has computed. Numbers and texts are left out, and what ``enters`` denies.
    """

    def __init__(
        self,
        root: Any,
        *,
        with_contents: bool = True,
        enters: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        self.enters = enters
        self.objects: dict[int, Any] = {id(root): root}
        self.holders: dict[int, list[int]] = {id(root): []}
        self.cells: dict[int, CellContent] = {}
        self.contents: dict[int, Contents] = {}
        of_libraries: list = []
        self._walk([root], of_libraries, with_contents)
        self._walk(of_libraries, of_libraries, False)

    def _walk(self, waiting: list, of_libraries: list, with_contents: bool) -> None:
        """Look into what is ``waiting``: ``of_libraries`` gets what a library's object holds."""
        while waiting:
            x = waiting.pop()
            held = None if library_of(type(x)) in COMPILERS else contents(x)
            if held is not None and with_contents:
                self.contents[id(x)] = Contents(x, held)
            of_library = held is None and _has_fields(x)
            for part in held_in(x) if held is None else held.values():
                if type(part) in PLAIN:
                    continue
                if id(part) not in self.objects:
                    if not self.enters(part):
                        continue
                    self.objects[id(part)] = part
                    self.holders[id(part)] = []
                    aside = of_library and not is_users_function(part)
                    (of_libraries if aside else waiting).append(part)
                self.holders[id(part)].append(id(x))
            if isinstance(x, types.FunctionType) and not has_rules(x):
                self._note_cells(x)

    def _note_cells(self, f: types.FunctionType) -> None:
        for cell in f.__closure__ or ():
            if id(cell) not in self.cells:
                try:
                    held = cell.cell_contents
                except ValueError:  # bound later
                    continue
                self.cells[id(cell)] = CellContent(cell, held, [])
            self.cells[id(cell)].functions.append(id(f))

    def moved(self) -> dict[int, Any]:
        """Return what variables and containers held, by their ids, that hold something else now."""
        moved = {i: x.held for i, x in self.cells.items() if content_of(x.cell) is not x.held}
        return moved | {i: x.held for i, x in self.contents.items() if x.has_moved()}

    def leading_to(self, found: Iterable[int]) -> frozenset[int]:
        """Return these ids, of objects and variables, and those of all that leads to them."""
        leading: set[int] = set()
        waiting = list(found)
        while waiting:
            i = waiting.pop()
            if i in self.cells:
                waiting += self.cells[i].functions
            elif i not in leading:
                leading.add(i)
                waiting += self.holders[i]
        return frozenset(leading)

    def ways(self, values: list, moved: dict[int, Any]) -> "Ways":
        """Return the ways from the root to these values, and to what has moved on."""
        to_moved = self.leading_to(moved) if moved else frozenset()
        return Ways(self.leading_to(map(id, values)), to_moved, moved)


class Ways(NamedTuple):
    """Ids of what leads to values, and to variables and containers that have moved on.

    ``held`` is what these held, by their ids.
    """

    to_values: frozenset[int]
    to_moved: frozenset[int]
    held: dict[int, Any]

    def lead(self, x: Any) -> bool:
        return id(x) in self.to_values or id(x) in self.to_moved


def is_users_function(f: Any) -> bool:
    """Say whether ``f`` is a function or a method that a library's object was given."""
    if isinstance(f, types.MethodType):
        return library_of(type(f.__self__)) not in FOUNDATIONS
    return isinstance(f, types.FunctionType) and library_of(f) not in FOUNDATIONS


def has_rules(f: Any) -> bool:
    """Say whether rules are found by the identity of ``f``, which a copy would not have."""
    tables = frule, rrule
    return is_primitive(f) or any(table.methods_of(f) is not None for table in tables)


def held_in(x: Any) -> tuple:
    """Return what a function or a container holds."""
    if isinstance(x, Traced) or type(x) is np.ndarray or library_of(type(x)) in COMPILERS:
        return ()
    if isinstance(x, types.FunctionType):
        if has_rules(x):
            return ()
        cells = [content_of(cell) for cell in x.__closure__ or ()]
        return (*cells, *filter(None, (x.__defaults__, x.__kwdefaults__)))
    if isinstance(x, functools.partial):
        return x.func, x.args, x.keywords
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    parts = children(x)
    if parts is not None:
        return parts.values
    return tuple(vars(x).values()) if _has_fields(x) else ()


def _has_fields(x: Any) -> bool:
    """Say whether ``x`` is an object of a library that keeps functions: a spline, a wrapper."""
    known = library_of(type(x)) in FOUNDATIONS and hasattr(x, "__dict__")
    return known and not isinstance(x, type | types.ModuleType)
