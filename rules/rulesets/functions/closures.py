"""Functions with the traced values that they capture taken out, as parts of their own.

A rule sees what it is given. What a closure captures it does not see: such values stay with the
levels that they belong to, which record everything that is done with them. ``lifted(f)`` is ``f``
as a functor whose fields are the captured values, so that they are arguments like others. It
looks into variables of closures, defaults, partials, bound methods and containers; what it does
not find (globals, say) stays where it is, and is recorded there.
"""

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ....config import MutationError, user_line
from ... import Engine, Traced, children, frule, is_primitive, is_traced, name_of, rrule
from ...containers import Children, registered


class Lifted:
    """The function ``f`` with ``values`` in place of ``originals``, the values that it captures.

    ``f`` is a copy, and so are the objects in it; ``objects`` says of which of the user's.
    """

    __slots__ = ("f", "objects", "originals", "values")

    def __init__(self, f: Any, originals: list, values: list, objects: dict[int, Any]) -> None:
        self.f = f
        self.originals = originals
        self.values = values
        self.objects = objects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with opened(self) as f:
            return f(*args, **kwargs)


def _children_of_lifted(lifted: Lifted) -> Children:
    def rebuild(parts: list) -> Lifted:
        (values,) = parts
        return Lifted(lifted.f, lifted.originals, values, lifted.objects)

    return Children(("values",), (lifted.values,), rebuild)


registered[Lifted] = _children_of_lifted


def lifted(f: Any) -> Any:
    """Return ``f`` with the traced values that it captures as parts; ``f`` where there is none."""
    if not isinstance(f, FUNCTIONS):
        return f
    found = list({id(x): x for x in _reached(f) if is_of_an_engine(x)}.values())
    if not found:
        return f
    # A copy of what leads to them, which does not change when the user's variables do.
    copies = Copies(found, found)
    try:
        copy = copies.of(f)
    except TypeError:
        return f  # a container refuses to be copied
    return Lifted(copy, found, found, {id(made.copy): made.original for made in copies.objects})


FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def is_of_an_engine(x: Any) -> bool:
    return isinstance(x, Traced) and isinstance(x.level, Engine)


def has_rules(f: Any) -> bool:
    """Say whether rules are found by the identity of ``f``, which a copy would not have."""
    tables = frule, rrule
    return is_primitive(f) or any(table.methods_of(f) is not None for table in tables)


def _parts(x: Any) -> tuple:
    """Return what a function or a container holds."""
    if isinstance(x, types.FunctionType):
        if has_rules(x):
            return ()
        cells = [_content(cell) for cell in x.__closure__ or ()]
        return (*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    if isinstance(x, functools.partial):
        return x.func, x.args, x.keywords
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    parts = children(x)
    return () if parts is None else parts.values


def _reached(f: Any) -> Iterator[Any]:
    """Yield everything that is reached from ``f``, once."""
    seen: dict[int, Any] = {}
    waiting = [f]
    while waiting:
        x = waiting.pop()
        if id(x) not in seen:
            seen[id(x)] = x
            yield x
            waiting += _parts(x)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


@contextlib.contextmanager
def opened(f: Any) -> Iterator[Callable]:
    """Give the function that ``f`` stands for: of a ``Lifted``, a copy that captures its values.

    Raises
    ------
    MutationError
        At the end, if the function has written to a captured value, or to what held one: nobody
        would see it. What it has written of plain values into an object goes into the user's.
    """
    if not isinstance(f, Lifted):
        yield f
        return
    values = [_read_only(x) for x in f.values]
    before = [_number_of(x) for x in values]
    copies = Copies(f.originals, values, f.objects)
    try:
        yield copies.of(f.f)
    except ValueError as error:
        if "read-only" in str(error):
            raise MutationError(_complaint(f)) from error
        raise
    if not copies.give_back() or any(map(_differ, before, values)):
        raise MutationError(_complaint(f))


def _complaint(f: Lifted) -> str:
    return (
        f"{name_of(f.f)} writes to a traced value that it captures, or to what holds one, in "
        f"{user_line()}; it is evaluated again for its derivative, and must not.\n"
        "  return what is new, or carry it along; write into a copy (x.copy())"
    )


def _read_only(x: Any) -> Any:
    """Return ``x`` for reading: it may be the array that an outer level keeps."""
    if type(x) is np.ndarray:
        x = x.view()
        x.flags.writeable = False
    return x


def _number_of(x: Any) -> Any:
    return x.peek() if isinstance(x, Traced) else None


def _differ(before: Any, x: Any) -> bool:
    return isinstance(x, Traced) and x.peek() is not before


class Copied(NamedTuple):
    """An object, the copy of it, and the fields of the copy that were given other values."""

    original: Any
    copy: Any
    fields: dict[str, Any]


class Copies:
    """Copies of functions and containers, with other values in place of ``originals``."""

    def __init__(self, originals: list, values: list, of_objects: dict | None = None) -> None:
        self.of_values = {id(x): value for x, value in zip(originals, values, strict=True)}
        self.of_objects = of_objects or {}  # the user's, where a copy is copied again
        self.made: dict[int, Any] = {}
        self.cells: dict[int, types.CellType] = {}
        # What was put where, to see whether it has been replaced.
        self.put: list[tuple[Callable, tuple]] = []
        self.objects: list[Copied] = []

    def of(self, x: Any) -> Any:
        """Return ``x`` with the other values; ``x`` itself where it holds none of them."""
        if id(x) in self.of_values:
            return self.of_values[id(x)]
        if id(x) in self.made:
            return self.made[id(x)]
        self.made[id(x)] = x  # for whoever holds itself, until it is known what it becomes
        if self._leads(x):
            self.made[id(x)] = self._copy(x)
        return self.made[id(x)]

    def _leads(self, x: Any) -> bool:
        return any(id(part) in self.of_values for part in _reached(x))

    def _copy(self, x: Any) -> Any:
        if isinstance(x, types.FunctionType):
            return self._copy_function(x)
        if isinstance(x, functools.partial):
            return functools.partial(self.of(x.func), *self.of(x.args), **self.of(x.keywords))
        if isinstance(x, types.MethodType):
            return types.MethodType(self.of(x.__func__), self.of(x.__self__))
        parts = children(x)
        assert parts is not None
        if not isinstance(x, tuple | list | dict):
            return self._copy_object(x, parts)
        values = tuple(map(self.of, parts.values))
        copy = parts.rebuild(list(values))
        self.put.append((lambda: _values(copy), values))
        return copy

    def _copy_object(self, x: Any, parts: Children) -> Any:
        """Copy an object as it is now, but for the fields that lead to other values."""
        original = self.of_objects.get(id(x), x)
        named = dict(zip(parts.keys, parts.values, strict=True))
        fields = {name: self.of(part) for name, part in named.items() if self._leads(part)}
        now = children(original)
        assert now is not None
        held = dict(zip(now.keys, now.values, strict=True))
        copy = now.rebuild([fields.get(name, part) for name, part in held.items()])
        for name in fields.keys() - held.keys():
            object.__setattr__(copy, name, fields[name])
        self.objects.append(Copied(original, copy, fields))
        return copy

    def _copy_function(self, f: types.FunctionType) -> Any:
        cells = tuple(map(self._cell, f.__closure__ or ()))
        copy = types.FunctionType(f.__code__, f.__globals__, f.__name__, None, cells or None)
        self.made[id(f)] = copy
        copy.__dict__.update(f.__dict__)
        copy.__qualname__, copy.__module__ = f.__qualname__, f.__module__
        copy.__defaults__ = self.of(f.__defaults__)
        copy.__kwdefaults__ = self.of(f.__kwdefaults__)
        for cell, original in zip(cells, f.__closure__ or (), strict=True):
            if cell is not original and _content(cell) is None:
                held = cell.cell_contents = self.of(original.cell_contents)
                self.put.append((lambda cell=cell: (_content(cell),), (held,)))
        return copy

    def _cell(self, cell: types.CellType) -> types.CellType:
        """Return an empty cell in place of one from which the other values are reached."""
        if id(cell) not in self.cells:
            leads = self._leads(_content(cell))
            self.cells[id(cell)] = types.CellType(None) if leads else cell
        return self.cells[id(cell)]

    def give_back(self) -> bool:
        """Write what was written into objects into the user's; say whether that was all there is.

        It is not where a variable, a container or a field holds something else than a value that
        was put there, or where something traced was written.
        """
        if any(not _same(look(), held) for look, held in self.put):
            return False
        for original, copy, fields in self.objects:
            for name, part in _attributes(copy).items():
                if name in fields:
                    if part is not fields[name]:
                        return False
                elif part is not getattr(original, name, copy):
                    if is_traced(part):
                        return False
                    object.__setattr__(original, name, part)
        return True


def _attributes(x: Any) -> dict[str, Any]:
    """Return what an object holds, but for what it has computed from its fields to remember it."""
    parts = children(x)
    named = {} if parts is None else dict(zip(parts.keys, parts.values, strict=True))
    named |= getattr(x, "__dict__", {})
    computed = functools.cached_property
    return {k: v for k, v in named.items() if not isinstance(getattr(type(x), k, None), computed)}


def _values(x: Any) -> tuple:
    parts = children(x)
    return () if parts is None else parts.values


def _same(found: tuple, held: tuple) -> bool:
    return len(found) == len(held) and all(a is b for a, b in zip(found, held, strict=True))
