"""Objects that are reached from a function, and contents of the variables that closures capture.

A function may be evaluated again for its derivative, when its variables hold something else: a
lambda that captures the variable of a loop, say. ``Reachable`` keeps what they held.
"""

import functools
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ... import Traced, children, frule, is_primitive, rrule
from ...signatures import content_of


class CellContent(NamedTuple):
    """A variable of a closure, what it held, and the ids of the functions that capture it."""

    cell: types.CellType
    held: Any
    functions: list[int]


class Reachable:
    """Everything that is reached from ``root``, by its id, and what holds it.

    ``cells`` are the variables of closures, with what they hold now.
    """

    def __init__(self, root: Any) -> None:
        self.objects: dict[int, Any] = {id(root): root}
        self.holders: dict[int, list[int]] = {id(root): []}
        self.cells: dict[int, CellContent] = {}
        waiting = [root]
        while waiting:
            x = waiting.pop()
            for part in held_in(x):
                if id(part) not in self.objects:
                    self.objects[id(part)] = part
                    self.holders[id(part)] = []
                    waiting.append(part)
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
        """Return what variables held that hold something else by now, by the ids of cells."""
        return {i: x.held for i, x in self.cells.items() if content_of(x.cell) is not x.held}

    def leading_to(self, found: list, moved: Iterable[int] = ()) -> frozenset:
        """Return the ids of the objects ``found``, and of those that lead to one of them.

        Those that lead to a variable in ``moved`` are among them.
        """
        leading: set[int] = set()
        waiting = [*map(id, found), *(i for cell in moved for i in self.cells[cell].functions)]
        while waiting:
            i = waiting.pop()
            if i not in leading:
                leading.add(i)
                waiting += self.holders[i]
        return frozenset(leading)


def has_rules(f: Any) -> bool:
    """Say whether rules are found by the identity of ``f``, which a copy would not have."""
    tables = frule, rrule
    return is_primitive(f) or any(table.methods_of(f) is not None for table in tables)


def held_in(x: Any) -> tuple:
    """Return what a function or a container holds."""
    if isinstance(x, Traced) or type(x) is np.ndarray:
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
    library = type(x).__module__.partition(".")[0]
    known = library in ("chainrules", "scipy", "numpy") and hasattr(x, "__dict__")
    return known and not isinstance(x, type | types.ModuleType)
