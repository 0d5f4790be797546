"""Functions with the traced values that they capture taken out, as parts of their own.

A rule sees what it is given. What a closure captures it does not see: such values stay with the
levels that they belong to, which record everything that is done with them. ``lifted(f)`` is ``f``
as a functor whose fields are the captured values, so that they are arguments like others;
``TakenOut(x)`` has these values, and builds ``x`` anew with others. Both look into
variables of closures, defaults, partials, bound methods and containers; what they do not find
(globals, say) stays where it is, and is recorded there.
"""

import contextlib
import copy
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ....config import MutationError, user_line, value_via_ad
from ... import (
    Engine,
    Traced,
    all_settled,
    children,
    frule,
    healed,
    holds_traced,
    innermost,
    is_primitive,
    is_traced,
    name_of,
    rrule,
    value,
)
from ...containers import Children, registered
from ...signatures import content_of
from .places import filled, in_tuples


class Lifted:
    """The function ``f`` with ``values`` in place of ``originals``, the values that it captures.

    ``f`` is a copy, and so are the objects in it; ``objects`` says of which of the user's.
    """

    __slots__ = ("f", "leading", "objects", "originals", "values")

    def __init__(
        self, f: Any, originals: list, values: list, leading: frozenset, objects: dict[int, Any]
    ) -> None:
        self.f = f
        self.originals = originals
        self.values = values
        self.leading = leading
        self.objects = objects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with opened(self) as f:
            return f(*args, **kwargs)


def _children_of_lifted(lifted: Lifted) -> Children:
    def rebuild(parts: list) -> Lifted:
        (values,) = parts
        return Lifted(lifted.f, lifted.originals, values, lifted.leading, lifted.objects)

    return Children(("values",), (lifted.values,), rebuild)


registered[Lifted] = _children_of_lifted


def lifted(f: Any) -> Any:
    """Return ``f`` with the traced values that it captures as parts; ``f`` where there is none."""
    if not isinstance(f, FUNCTIONS):
        return f
    graph = Reachable(f)
    found = [x for x in graph.objects.values() if is_of_an_engine(x)]
    if not found:
        return f
    try:
        copied, leading, objects = kept(f, found, graph)
    except TypeError:
        return f  # a container refuses to be copied
    return Lifted(copied, found, found, leading, objects)


class TakenOut:
    """``parameters`` are the traced values in ``x``: a call builds ``x`` anew with others.

    ``x`` is a function, or a container of functions and of anything else. What holds no traced
    value stays the same object, and is shared: a list that a function adds to, a counter.
    """

    def __init__(self, x: Any) -> None:
        self.x = x
        self.found: list = []
        self.parameters: list = []
        graph = Reachable(x)
        for part in graph.objects.values():
            held = part
            if isinstance(part, Traced):
                held = all_settled(part)
            elif holds_traced(part):
                held = healed(part)
            if isinstance(held, Traced):  # and no array of an adopted module, plain as yet
                self.found.append(part)
                self.parameters.append(held)
        self.leading = graph.leading_to(self.found)
        places = {id(part): i for i, part in enumerate(self.found)}
        # Where only tuples lead to the values, as in args, nothing has to be copied.
        self.places = in_tuples(x, places, self.leading) if self.found else None
        self.objects: dict[int, Any] = {}
        if self.found and self.places is None:
            self.x, self.leading, self.objects = kept(x, self.found, graph)

    def __call__(self, *values: Any) -> Any:
        if self.places is not None:
            return filled(self.x, self.places, list(map(_read_only, values)))
        read_only = list(map(_read_only, values))
        return Copies(self.found, read_only, self.leading, self.objects).of(self.x)

    def run_plain(self, run: Callable[[Any, Any], Any], name: str) -> Any:
        """Return ``run(x, level)``, for ``x`` with the numbers under its values, for ``name``.

        ``level`` is that of what functions in ``x`` give by these values, and None without any.
        What ``run`` does not keep a user's function may have kept, in a list or a variable: that
        is an error for whoever reads it, for it has no derivative.

        Raises
        ------
        MutationError
            At the end, as ``opened``.
        """
        returned = None

        def evaluate(values: list) -> None:
            nonlocal returned
            returned = self.run_with(values, run, name)

        self.aside(evaluate, value(self.parameters))
        return returned

    def run_with(self, values: list, run: Callable[[Any, Any], Any], name: str) -> Any:
        """Return ``run(x, level)``, for ``x`` with these values, of which the level is."""
        what = f"a function that {name} called writes"
        with given_others(self.x, self.found, values, self.leading, self.objects, what) as x:
            return run(x, innermost(values))

    def aside(self, f: Callable, *args: Any) -> Any:
        """Return ``f(*args)``, evaluated aside by the engine that follows the values."""
        config = getattr(innermost(self.parameters), "config", None)
        return value_via_ad(config, f, *args)


FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def is_of_an_engine(x: Any) -> bool:
    return isinstance(x, Traced) and isinstance(x.at_level, Engine)


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


class Reachable:
    """Everything that is reached from ``root``, by its id, and what holds it."""

    def __init__(self, root: Any) -> None:
        self.objects: dict[int, Any] = {id(root): root}
        self.holders: dict[int, list[int]] = {id(root): []}
        waiting = [root]
        while waiting:
            x = waiting.pop()
            for part in held_in(x):
                if id(part) not in self.objects:
                    self.objects[id(part)] = part
                    self.holders[id(part)] = []
                    waiting.append(part)
                self.holders[id(part)].append(id(x))

    def leading_to(self, found: list) -> frozenset:
        """Return the ids of the objects ``found``, and of those that lead to one of them."""
        leading: set[int] = set()
        waiting = list(map(id, found))
        while waiting:
            i = waiting.pop()
            if i not in leading:
                leading.add(i)
                waiting += self.holders[i]
        return frozenset(leading)


def kept(x: Any, found: list, graph: Reachable) -> tuple[Any, frozenset, dict[int, Any]]:
    """Return a copy of what leads to ``found``, the ids of that in it, and whose copies it has."""
    # It does not change when the user's variables do.
    copies = Copies(found, found, graph.leading_to(found))
    copied = copies.of(x)
    objects = {id(made.copy): made.original for made in copies.objects}
    return copied, Reachable(copied).leading_to(found), objects


def opened(f: Any) -> contextlib.AbstractContextManager[Callable]:
    """Give the function that ``f`` stands for: of a ``Lifted``, a copy that captures its values.

    Raises
    ------
    MutationError
        At the end, if the function has written to a captured value, or to what held one: nobody
        would see it. What it has written of plain values into an object goes into the user's.
    """
    if not isinstance(f, Lifted):
        return contextlib.nullcontext(f)
    what = f"{name_of(f.f)} writes"
    return given_others(f.f, f.originals, f.values, f.leading, f.objects, what)


@contextlib.contextmanager
def given_others(
    x: Any, originals: list, values: Any, leading: frozenset, objects: dict, what: str
) -> Iterator[Any]:
    """Give a copy of ``x`` with other values, which are not written to."""

    def complaint() -> MutationError:
        return MutationError(
            f"{what} to a traced value that it captures, or to what holds one, in {user_line()}; "
            "it is evaluated again for its derivative, and must not.\n"
            "  return what is new, or carry it along; write into a copy (x.copy())"
        )

    values = list(map(_read_only, values))
    before = [_number_of(x) for x in values]
    copies = Copies(originals, values, leading, objects)
    try:
        yield copies.of(x)
    except ValueError as error:
        if "read-only" in str(error):
            raise complaint() from error
        raise
    if not copies.give_back() or any(map(_differ, before, values)):
        raise complaint()


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

    def __init__(
        self, originals: list, values: list, leading: frozenset, of_objects: dict | None = None
    ) -> None:
        self.of_values = {id(x): value for x, value in zip(originals, values, strict=True)}
        self.leading = leading  # the ids of what leads to one of the originals
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
        return id(x) in self.leading

    def _copy(self, x: Any) -> Any:
        if isinstance(x, types.FunctionType):
            return self._copy_function(x)
        if isinstance(x, functools.partial):
            return functools.partial(self.of(x.func), *self.of(x.args), **self.of(x.keywords))
        if isinstance(x, types.MethodType):
            return types.MethodType(self.of(x.__func__), self.of(x.__self__))
        parts = children(x)
        if parts is None:
            return self._copy_fields(x)
        if not isinstance(x, tuple | list | dict):
            return self._copy_object(x, parts)
        values = tuple(map(self.of, parts.values))
        copy = parts.rebuild(list(values))
        self.put.append((lambda: _values(copy), values))
        return copy

    def _copy_fields(self, x: Any) -> Any:
        made = self.made[id(x)] = copy.copy(x)  # before its fields, which may lead back to it
        for name, part in vars(x).items():
            vars(made)[name] = self.of(part)  # a property may have its name, as in np.poly1d
        return made

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
            if cell is not original and content_of(cell) is None:
                held = cell.cell_contents = self.of(original.cell_contents)
                self.put.append((lambda cell=cell: (content_of(cell),), (held,)))
        return copy

    def _cell(self, cell: types.CellType) -> types.CellType:
        """Return an empty cell in place of one from which the other values are reached."""
        if id(cell) not in self.cells:
            leads = self._leads(content_of(cell))
            self.cells[id(cell)] = types.CellType(None) if leads else cell
        return self.cells[id(cell)]

    def give_back(self) -> bool:
        """Write what was written into objects into the user's; say whether that was all there is.

        It is not where a variable, a container or a field holds something else than a value that
        was put there, or where something traced was written.
        """
        if any(not _same(look(), held) for look, held in self.put):
            return False
        for original, made, fields in self.objects:
            for name, part in _attributes(made).items():
                if name in fields:
                    if part is not fields[name]:
                        return False
                elif part is not getattr(original, name, made):
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
