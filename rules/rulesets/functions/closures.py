"""Functions with the traced values that they capture taken out, as parts of their own.

A rule sees what it is given. What a closure captures it does not see: such values stay with the
levels that they belong to, which record everything that is done with them. ``lifted(f)`` is ``f``
as a functor whose fields are the captured values, so that they are arguments like others;
``TakenOut(x)`` has these values, and builds ``x`` anew with others. Both look into
variables of closures, defaults, partials, bound methods and containers; what they do not find
(globals, say) stays where it is, and is recorded there. Variables of closures are as they were when
the function was taken, and in what ``TakenOut`` builds containers and fields of objects are, too:
what holds something else by now is a copy's own. (A ``Lifted`` step of a loop goes on from segment
to segment with what it has written.)
"""

import array
import contextlib
import copy
import functools
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ....config import MutationError, user_line, value_via_ad
from ... import (
    Engine,
    HeldArrays,
    Traced,
    Watch,
    all_settled,
    children,
    healed,
    holds_traced,
    innermost,
    is_traced,
    name_of,
    value,
)
from ...containers import LISTS, Children, contents, copy_holding, put_into, registered
from ...copies import copy_object
from ...signatures import content_of
from .outside import Outside
from .places import filled, in_tuples
from .reachable import Reachable, Ways


class Lifted:
    """The function ``f`` with ``values`` in place of ``originals``, the values that it captures.

    ``f`` is a copy, and so are the objects in it; ``objects`` says of which of the user's.
    ``graph`` is what is reached from it.
    """

    __slots__ = ("f", "graph", "objects", "originals", "values")

    def __init__(
        self, f: Any, originals: list, values: list, graph: Reachable, objects: dict[int, Any]
    ) -> None:
        self.f = f
        self.originals = originals
        self.values = values
        self.graph = graph
        self.objects = objects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with opened(self) as f:
            return f(*args, **kwargs)


def _children_of_lifted(lifted: Lifted) -> Children:
    def rebuild(parts: list) -> Lifted:
        (values,) = parts
        return Lifted(lifted.f, lifted.originals, values, lifted.graph, lifted.objects)

    return Children(("values",), (lifted.values,), rebuild)


registered[Lifted] = _children_of_lifted


def lifted(f: Any) -> Any:
    """Return ``f`` with the traced values that it captures as parts.

    It is ``f`` itself where it captures no variables at all, or what a recorder follows by itself.
    """
    if not isinstance(f, FUNCTIONS):
        return f
    graph = Reachable(f, with_contents=False)
    found = [x for x in graph.objects.values() if is_of_an_engine(x)]
    if not found:
        plain = not any(isinstance(x, Traced) for x in graph.objects.values())
        return Lifted(f, [], [], graph, {}) if plain and graph.cells else f
    # A copy of what leads to them, which does not change when the user's variables do.
    copies = Copies(found, found, graph.ways(found, {}))
    try:
        copied = copies.of(f)
    except TypeError:
        return f  # a container refuses to be copied
    objects = {id(made.copy): made.original for made in copies.objects}
    return Lifted(copied, found, found, Reachable(copied, with_contents=False), objects)


def as_now(f: Any) -> Any:
    """Return a lifted function with variables as they are now, which it may have written to."""
    if not (isinstance(f, Lifted) and f.graph.moved()):
        return f
    return Lifted(f.f, f.originals, f.values, Reachable(f.f, with_contents=False), f.objects)


class TakenOut:
    """``parameters`` are the traced values in ``x``: a call builds ``x`` anew with others.

    ``x`` is a function, or a container of functions and of anything else. What holds no traced
    value stays the same object, and is shared. What holds something else by now than it did when it
    was taken is copied as it was.
    """

    def __init__(self, x: Any) -> None:
        self.x = x
        self.found: list = []
        self.parameters: list = []
        self.graph = Reachable(x)
        for part in self.graph.objects.values():
            held = part
            if isinstance(part, Traced):
                held = all_settled(part)
            elif holds_traced(part):
                held = healed(part)
            if isinstance(held, Traced):  # and no array of an adopted module, plain as yet
                self.found.append(part)
                self.parameters.append(held)
        self.arrays = HeldArrays(())
        self.outside: Outside | None = None
        self.ways = self.graph.ways(self.found, {})
        places = {id(part): i for i, part in enumerate(self.found)}
        # Where only tuples lead to the values, as in args, nothing has to be copied.
        self.places = in_tuples(x, places, self.ways.to_values) if self.found else None

    def hold_all(self, watch: Watch | None = None) -> None:
        """Have plain arrays be in copies what they are now, too, and variables outside move not.

        A tape that records the call may give its ``watch``. No copy of a function reads other
        global variables: where one has moved on when it is built, that is a ``MutationError``.
        """
        self.arrays = HeldArrays(self.graph.objects.values(), watch)
        self.outside = Outside(self.graph, watch)

    def is_as_taken(self) -> bool:
        """Say whether variables, containers and fields hold what they held."""
        return not self._ways().held

    def __call__(self, *values: Any) -> Any:
        read = list(map(_read_only, values))
        ways = self._ways()
        if self.places is not None and not ways.held:
            return filled(self.x, self.places, read)
        return Copies(self.found, read, ways).of(self.x)

    def after_run(self) -> None:
        """Leave what the functions have written to themselves: a count, a log, a work array."""
        self.arrays.after_run()
        if self.outside is not None:
            self.outside.after_run()

    def _ways(self) -> Ways:
        if self.outside is not None:
            self.outside.check()
        moved = self.graph.moved() | self.arrays.moved()
        return self.graph.ways(self.found, moved) if moved else self.ways

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
        with given_others(self.x, self.found, values, self._ways(), {}, what) as x:
            y = run(x, innermost(values))
        self.after_run()
        return y

    def aside(self, f: Callable, *args: Any) -> Any:
        """Return ``f(*args)``, evaluated aside by the engine that follows the values."""
        config = getattr(innermost(self.parameters), "config", None)
        return value_via_ad(config, f, *args)


CONTAINERS = (*LISTS, dict)
ARRAYS = (np.ndarray, Traced, array.array, bytearray)
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def is_of_an_engine(x: Any) -> bool:
    return isinstance(x, Traced) and isinstance(x.at_level, Engine)


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
    moved = f.graph.moved()
    if not (f.values or moved):
        return contextlib.nullcontext(f.f)
    ways = f.graph.ways(f.originals, moved)
    return given_others(f.f, f.originals, f.values, ways, f.objects, f"{name_of(f.f)} writes")


@contextlib.contextmanager
def given_others(
    x: Any, originals: list, values: Any, ways: Ways, objects: dict, what: str
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
    copies = Copies(originals, values, ways, objects)
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
    """An object, the copy of it, what that held, and the names of fields with other values."""

    original: Any
    copy: Any
    held: dict[str, Any]
    with_values: set[str]


class Copies:
    """Copies of functions and containers, with other values in place of ``originals``.

    What the ``ways`` lead to that has moved on holds in a copy what it held.
    """

    def __init__(
        self, originals: list, values: list, ways: Ways, of_objects: dict | None = None
    ) -> None:
        self.of_values = {id(x): value for x, value in zip(originals, values, strict=True)}
        self.ways = ways
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
        if self.ways.lead(x):
            self.made[id(x)] = self._copy(x)
        return self.made[id(x)]

    def _copy(self, x: Any) -> Any:
        if isinstance(x, types.FunctionType):
            return self._copy_function(x)
        if isinstance(x, functools.partial):
            return functools.partial(self.of(x.func), *self.of(x.args), **self.of(x.keywords))
        if isinstance(x, types.MethodType):
            return types.MethodType(self.of(x.__func__), self.of(x.__self__))
        moved = self.ways.held.get(id(x))
        if isinstance(moved, ARRAYS):
            return moved
        held = contents(x) if moved is None else moved
        if held is not None:
            return self._copy_contents(x, held, moved is not None)
        parts = children(x)
        if parts is None:
            return self._copy_fields(x)
        copy = parts.rebuild([self.of(part) for part in parts.values])
        if not isinstance(x, tuple):
            to_values = [id(part) in self.ways.to_values for part in parts.values]
            held = tuple(itertools.compress(_values(copy), to_values))
            self.put.append((lambda: tuple(itertools.compress(_values(copy), to_values)), held))
        return copy

    def _copy_fields(self, x: Any) -> Any:
        made = self.made[id(x)] = copy.copy(x)  # before its fields, which may lead back to it
        for name, part in vars(x).items():
            vars(made)[name] = self.of(part)  # a property may have its name, as in np.poly1d
        return made

    def _copy_contents(self, x: Any, held: dict, moved: bool) -> Any:
        """Copy a list, a dict or an object with what it held, but for what leads to values."""
        original = self.of_objects.get(id(x), x)
        began = held if moved or original is x else contents(original) or {}
        # The copy first, to which what it holds may lead back.
        is_object = not isinstance(x, CONTAINERS)
        is_as_held = not moved and is_object
        copy = copy_object(original, (), []) if is_as_held else copy_holding(x, held)
        self.made[id(x)] = copy
        others = {name: self.of(part) for name, part in held.items() if self.ways.lead(part)}
        put_into(copy, others)
        with_values = {name for name in others if id(held[name]) in self.ways.to_values}
        if is_object:
            self.objects.append(Copied(original, copy, began | others, with_values))
        elif id(x) in self.ways.to_values:
            values = tuple((held | others).values())
            self.put.append((lambda: tuple((contents(copy) or {}).values()), values))
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
                moved = self.ways.held
                is_own = id(original) in moved
                content = moved[id(original)] if is_own else original.cell_contents
                held = cell.cell_contents = self.of(content)
                if id(content) in self.ways.to_values:
                    self.put.append((lambda cell=cell: (content_of(cell),), (held,)))
        return copy

    def _cell(self, cell: types.CellType) -> types.CellType:
        """Return an empty cell in place of one that is to hold something else."""
        if id(cell) not in self.cells:
            differs = id(cell) in self.ways.held or self.ways.lead(content_of(cell))
            self.cells[id(cell)] = types.CellType(None) if differs else cell
        return self.cells[id(cell)]

    def give_back(self) -> bool:
        """Write what was written into objects into the user's; say whether that was all there is.

        It is not where a variable, a container or a field holds something else than a value that
        was put there, or where something traced was written. A field of the user's that has moved
        on stays as it is: an evaluation for the derivative counts its own calls.
        """
        if any(not _same(look(), held) for look, held in self.put):
            return False
        for original, made, held, with_values in self.objects:
            now = contents(original) or {}
            for name, part in (contents(made) or {}).items():
                if part is not (before := held.get(name, made)):
                    if name in with_values or is_traced(part):
                        return False
                    if now.get(name, made) is before:
                        object.__setattr__(original, name, part)
        return True


def _values(x: Any) -> tuple:
    parts = children(x)
    return () if parts is None else parts.values


def _same(found: tuple, held: tuple) -> bool:
    return len(found) == len(held) and all(a is b for a, b in zip(found, held, strict=True))
