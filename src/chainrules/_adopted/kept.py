"""Functions of NumPy that an adopted module keeps: in dicts, lists, partials, objects, classes.

Where one of them is NumPy's, math's or SciPy's, its mirror is put in its place. A dict, a list and
an object stay the same ones; a tuple and a ``functools.partial`` are made anew.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

from ..config.foundations import is_of_python
from ..rules.containers import LEAVES
from ..rules.refusals.remedies import adopted
from ..rules.signatures import content_of
from .called_names import CalledNames
from .held import Mirror, answers, can_change, is_mirror

# What may be a mirror's original, of all that walks do not look into.
_ORIGINALS = frozenset({FunctionType, BuiltinFunctionType, MethodType, ModuleType, type})
_CONTAINERS = frozenset({dict, list, SimpleNamespace})
_BY_KEYS = frozenset({dict, list, FunctionType})  # what they keep has no name as an attribute
_PLAIN = frozenset(LEAVES - _ORIGINALS)


class KeptFunctions:
    """Containers of the module ``home``, into which mirrors are put."""

    def __init__(self, home: str, mirror_of: Mirror, called: CalledNames) -> None:
        self.home, self.mirror_of, self.called = home, mirror_of, called
        self.undo: list[Callable[[], None]] = []
        self.by_name: list[tuple[str, Callable[[], None]]] = []  # stand-ins, kept by called names
        self.namespaces: list[dict] = []  # of code that the module ran by exec
        self._known: dict[int, Any] = {}  # containers that were looked into, or are others'
        self._waiting: list[Any] = []

    def swapped(self, part: Any) -> Any:
        """Return what a variable of the module has in place of ``part``."""
        new = self._in_place_of(part)
        while self._waiting:
            self._look_into(self._waiting.pop())
        return new

    def take_back(self) -> None:
        """Put what was there back into the containers."""
        while self.undo:
            self.undo.pop(0)()

    def give_back(self, called: CalledNames) -> None:
        """Put classes back by the names that modules adopted since read as values."""
        for name, take_back in self.by_name:
            if called.are_read(name):
                take_back()

    def _in_place_of(self, part: Any) -> Any:
        kind = type(part)
        if kind in _PLAIN or not answers(part):
            return part
        if kind is tuple:
            parts = [self._in_place_of(x) for x in part]
            return part if _same(parts, part) else tuple(parts)
        if kind is functools.partial:
            return self._partial(part)
        if kind in _CONTAINERS or self._is_own(part, kind):
            if id(part) not in self._known:
                self._known[id(part)] = part
                self._waiting.append(part)
            return (self.mirror_of(part) or part) if kind is FunctionType else part
        mirror = self.mirror_of(part)
        if mirror is None and _is_of_no_module(part, kind):
            self._find_namespaces(part)
        return part if mirror is None else mirror

    def _find_namespaces(self, part: Any) -> None:
        """Note the globals, which are no module's, of a function or of the methods of a class."""
        for f in vars(part).values() if isinstance(part, type) else (part,):
            names = getattr(getattr(f, "__func__", f), "__globals__", {"__spec__": None})
            if "__spec__" not in names:
                self.namespaces.append(names)

    def _partial(self, part: functools.partial) -> Any:
        given = (part.func, *part.args, *part.keywords.values())
        parts = [self._in_place_of(x) for x in given]
        if _same(parts, given):
            return part
        count = 1 + len(part.args)
        named = dict(zip(part.keywords, parts[count:], strict=True))
        new = functools.partial(parts[0], *parts[1:count], **named)
        vars(new).update(vars(part))
        return new

    def _look_into(self, container: Any) -> None:
        for put, get, key, part in list(_places(container)):
            new = self._in_place_of(part)
            by_name = new is part and type(container) not in _BY_KEYS
            new = self.called.shown(key, part) if by_name else new
            if new is part:
                continue
            binds = hasattr(type(part), "__get__")  # into a method, where a class has it
            if isinstance(container, type) and isinstance(new, FunctionType) and not binds:
                new = staticmethod(new)
            if id(container) not in self._of_libraries:
                put(key, new)
                take_back = functools.partial(_take_back, put, get, key, part, new)
                self.undo.insert(0, take_back)
                if by_name:
                    self.by_name.append((key, take_back))

    def _is_own(self, part: Any, kind: type) -> bool:
        """Say whether a function, a class or an object is of a module that is adopted."""
        if kind is FunctionType and is_mirror(part):
            return False
        own = part if kind is FunctionType or isinstance(part, type) else kind
        home = getattr(own, "__module__", None)
        if kind is not FunctionType and (own is part or home == "builtins") and not can_change(own):
            return False  # what C made; Python's own have the module of classes made by exec
        module = sys.modules.get(home) if isinstance(home, str) else None
        return home == self.home or (module is not None and adopted[id(vars(module))] > 0)

    @functools.cached_property
    def _of_libraries(self) -> set[int]:
        """Ids of the dicts and lists that Python's own libraries, NumPy or SciPy keep."""
        return {
            id(part)
            for name, module in list(sys.modules.items())
            if _is_of_a_library(name) and isinstance(module, ModuleType)
            for part in (vars(module), *vars(module).values())
        }


def _is_of_a_library(module: str) -> bool:
    package = module.partition(".")[0]
    return package in ("numpy", "scipy") or is_of_python(package)


def _is_of_no_module(part: Any, kind: type) -> bool:
    """Say whether a function or a class was made by ``exec`` in a dict, as plugins are."""
    if kind is not FunctionType and not (isinstance(part, type) and can_change(part)):
        return False
    home = getattr(part, "__module__", None)
    return home is None or (isinstance(home, str) and home not in sys.modules) or home == "builtins"


def _take_back(put: Callable, get: Callable, key: Any, old: Any, new: Any) -> None:
    if get(key) is new:  # and not bound anew since
        put(key, old)


def _same(parts: Any, given: Any) -> bool:
    return all(new is old for new, old in zip(parts, given, strict=True))


def _places(container: Any) -> Iterator[tuple[Callable, Callable, Any, Any]]:
    """Yield where a container keeps something: what puts and gets it there, the key, the part."""
    if type(container) is list:
        for k, part in enumerate(container):
            yield container.__setitem__, functools.partial(_entry, container), k, part
        return
    if isinstance(container, type):
        put = functools.partial(type.__setattr__, container)
        for key, part in vars(container).items():
            if type(part) is FunctionType or not key.startswith("__"):
                yield put, vars(container).get, key, part
        return
    if type(container) is FunctionType:
        for cell in container.__closure__ or ():
            put, get = functools.partial(setattr, cell), functools.partial(_held_by, cell)
            yield put, get, "cell_contents", content_of(cell)
        put, get = functools.partial(setattr, container), functools.partial(getattr, container)
        yield put, get, "__defaults__", container.__defaults__
        names = container.__kwdefaults__
        if names is not None:
            yield from _places(names)
        return
    names = container if type(container) is dict else getattr(container, "__dict__", {})
    if type(names) is dict:
        for key, part in names.items():
            yield names.__setitem__, names.get, key, part


def _held_by(cell: CellType, _: str) -> Any:
    return content_of(cell)


def _entry(xs: list, k: int) -> Any:
    return xs[k] if k < len(xs) else None
