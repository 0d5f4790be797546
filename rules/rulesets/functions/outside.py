"""Variables outside of functions that these read by name: of globals, modules and classes.

A function that is evaluated again for its derivative reads them as they are by then, and no copy of
it reads others. ``Outside`` notes what they hold, to refuse what has moved on.
"""

import contextvars
import functools
import operator
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ....config import user_line
from ... import HeldArrays, Traced, Watch, codes_of, is_users
from ...containers import LISTS
from ...copies import plain_dict
from ...known_classes import is_installed, library_of
from ...refusals.table import refusal
from ...signatures import content_of
from .reachable import PLAIN, Contents, Reachable, has_rules

# Methods that make an object: of an object that is there already none of these is called.
_MAKING = {"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__"}


class Variable(NamedTuple):
    """A variable by its name in a namespace, what it held, and its name in a message."""

    namespace: Mapping[str, Any]
    name: str
    held: Any
    title: str


class Outside:
    """Variables outside that functions in a graph read by their names, as they are now.

    What the functions themselves write when they are run is no change, nor is what is added to a
    dict, or to a list in an object: that may be a memory or a log.
    """

    def __init__(self, inside: Reachable, watch: Watch | None = None) -> None:
        self.line = user_line()
        self.names: set[str] = set()
        self.spaces: dict[int, tuple[Any, set[str]]] = {}  # classes and modules
        self.noted: dict[tuple[int, str], Variable] = {}
        self.graphs: list[Reachable] = []
        known: set[int] = set()
        waiting = list(inside.objects.values())
        while waiting:
            for x in waiting:
                self._look(x)
            for space, without in self.spaces.values():
                self._note_attributes(space, without)
            parts = [part for x in self.noted.values() for part in _parts(x.held)]
            found = [x for x in parts if id(x) not in known and _leads_on(x)]
            if not found:
                break
            graph = Reachable(tuple(found), enters=_leads_on)
            waiting = [x for i, x in graph.objects.items() if i not in known][1:]
            known.update(graph.objects)
            self.graphs.append(graph)
        self.variables = list(self.noted.values())
        objects = [x for graph in self.graphs for x in graph.objects.values()]
        self.arrays = HeldArrays(objects, watch)
        self.cells = [x for graph in self.graphs for x in graph.cells.values()]
        self.contents = [self._named(x) for graph in self.graphs for x in graph.contents.values()]
        by_name = {id(x.held) for x in self.variables}
        # Lists by the name of a variable, to which nothing has been added as yet.
        self.whole = [x for x in self.contents if id(x.container) in by_name and _is_whole(x)]

    def _look(self, x: Any) -> None:
        """Note what a function names, and the classes and modules that objects lead to."""
        if isinstance(x, types.FunctionType):
            if _is_followed(x) and not has_rules(x):
                self._note_globals(x)
                self._enter(x, set())
        elif isinstance(x, contextvars.ContextVar):
            self._note(_Current(x), x.name, x.name, id(x))
        elif isinstance(x, threading.local | types.MappingProxyType):
            space = vars(x) if isinstance(x, threading.local) else x
            for name in list(space):
                self._note(space, name, str(name), id(x))
        elif isinstance(x, types.ModuleType):
            self._enter(x, set())
        elif isinstance(x, type):
            metaclass: type = type(x)
            for cls in (*x.__mro__, *metaclass.__mro__):
                self._enter(cls, set())
        elif not isinstance(x, np.ndarray | Traced) and _is_followed(type(x)):
            for cls in type(x).__mro__:
                if id(cls) not in self.spaces:
                    self._enter(cls, _MAKING)

    def _enter(self, space: Any, without: set[str]) -> None:
        if is_users(space):
            self.spaces[id(space)] = space, without

    def _note_globals(self, f: types.FunctionType) -> None:
        for code in codes_of(f):
            self.names.update(code.co_names)
            for name in code.co_names:
                if name in f.__globals__:
                    self._note(f.__globals__, name, name)

    def _note_attributes(self, space: Any, without: set[str]) -> None:
        """Note attributes of a class or a module that are named, and methods that run unnamed."""
        for name, x in vars(space).items():
            is_method = isinstance(space, type) and isinstance(x, types.FunctionType)
            is_called = is_method and name.startswith("__") and _is_followed(space)
            runs = is_called or name in self.names
            if runs and name not in without:
                self._note(vars(space), name, f"{space.__name__}.{name}", id(space))

    def _note(self, namespace: Mapping[str, Any], name: str, title: str, of: int = 0) -> None:
        key = of or id(namespace), name
        if key not in self.noted:
            self.noted[key] = Variable(namespace, name, namespace[name], title)

    def _named(self, x: Contents) -> Contents:
        """Leave the fields of an object that some function names."""
        if isinstance(x.container, (*LISTS, dict)):
            return x
        return Contents(x.container, {k: x.held[k] for k in self.names & x.held.keys()})

    def check(self) -> None:
        """Refuse what has moved on.

        Raises
        ------
        MutationError
        """
        set_anew = [x for x in self.variables if x.namespace.get(x.name) is not x.held]
        moved = [id(x.held) for x in set_anew if _differs(x.namespace.get(x.name), x.held)]
        moved += [id(x.container) for x in self.contents if _has_moved(x, _differs)]
        moved += [id(x.container) for x in self.whole if not _is_whole(x)]
        moved += [id(x.cell) for x in self.cells if _differs(content_of(x.cell), x.held)]
        moved += self.arrays.moved()
        if moved:
            raise refusal("variable outside changed", name=self._title(moved), line=self.line)

    def after_run(self) -> None:
        """Leave out what the functions have written, if only what was there."""
        self.variables = [x for x in self.variables if x.namespace.get(x.name) is x.held]
        self.contents = [x for x in self.contents if not _has_moved(x, operator.is_not)]
        self.whole = [x for x in self.whole if _is_whole(x)]
        self.cells = [x for x in self.cells if content_of(x.cell) is x.held]
        self.arrays.forget_moved()

    def _title(self, moved: list[int]) -> str:
        """Return the name of a variable that leads to what has moved."""
        leading = set(moved)
        for graph in self.graphs:
            leading |= graph.leading_to(
                [i for i in moved if i in graph.holders or i in graph.cells]
            )
        held = [(id(part), x.title) for x in self.variables for part in _parts(x.held)]
        return next((title for i, title in held if i in leading), "a variable")


class _Current(dict):
    """Namespace of a context variable, by the name of which it gives what that holds now."""

    def __init__(self, variable: contextvars.ContextVar) -> None:
        super().__init__({variable.name: variable.get(None)})
        self.variable = variable

    def get(self, name: str, default: Any = None) -> Any:
        return self.variable.get(default)


def _differs(x: Any, held: Any) -> bool:
    """Say whether it is another object, and no number or text like the one before."""
    return x is not held and (type(x) not in PLAIN or repr(x) != repr(held))


def _is_whole(x: Contents) -> bool:
    """Say whether a list holds as many parts as it held."""
    return isinstance(x.container, LISTS) and len(x.container) == len(x.held)


def _has_moved(x: Contents, differs: Callable[[Any, Any], bool]) -> bool:
    """Say whether something that a container held is not there any more."""
    container, held = x
    if isinstance(container, LISTS):
        now = list(container)[: len(held)]
    elif isinstance(container, dict):
        now = list(map(functools.partial(plain_dict(container).get, container), held))
    else:
        now = [getattr(container, name, None) for name in held]
    if len(now) < len(held):
        return True
    parts = held.values()
    return any(map(operator.is_not, now, parts)) and any(map(differs, now, parts))


def _is_followed(x: Any) -> bool:
    """Say whether code is the user's own; code of installed packages counts as constant."""
    return is_users(x) and not is_installed(library_of(x))


def _leads_on(x: Any) -> bool:
    """Say whether what a variable holds is looked into: not an object of an installed package."""
    cls = type(x)
    if isinstance(x, types.FunctionType):
        return _is_followed(x)
    if isinstance(x, type | types.ModuleType):
        return is_users(x)
    if cls in PLAIN:
        return False
    library = library_of(cls)
    return isinstance(x, np.ndarray) or library == "chainrules" or not is_installed(library)


def _parts(x: Any) -> tuple:
    """Return the functions of a property or of a method of the class; else ``x`` itself."""
    if isinstance(x, classmethod | staticmethod):
        return (x.__func__,)
    if isinstance(x, property):
        return x.fget, x.fset
    return (x.func,) if isinstance(x, functools.cached_property) else (x,)
