"""State of an adopted module's functions besides its globals: defaults, cells, imports, code.

Defaults and cells are given their mirrors in place. What ``import`` finds in a function is asked of
the ``__import__`` among the built-in names that the function was made with, and these stay: so a
function that imports is made once more, of its code, with an ``__import__`` that finds mirrors.
"""

import builtins
import functools
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ..rules.known_classes import library_of
from ..rules.signatures import content_of
from ..rules.tracing.classes.other_classes import array_for_numpy
from .types_in_code import with_own_types

Mirror = Callable[[Any], Any]
Undo = Callable[[], None]


_anew: dict[int, tuple[Any, Any]] = {}  # by id: functions, and what was made of their code


def made_anew(f: Any) -> Any:
    """Return the function that was made of the code of ``f`` once more; None if none was."""
    return _anew.get(id(f), (None, None))[1]


_plain: dict[int, dict] = {}  # by the id of an adopted module's globals: as they were before


def _forget(names: dict) -> None:
    _plain.pop(id(names), None)


def plain_names(names: dict) -> dict:
    """Return the globals of a module as they were before it was adopted; {} if it was not."""
    return _plain.get(id(names), {})


def home_of(names: dict) -> str:
    """Return the ``__module__`` of the classes and functions that code with these globals makes."""
    home = names.get("__name__", builtins.__name__)  # of a dict for exec
    return home if isinstance(home, str) else ""


def adopt_functions(names: dict, mirror_of: Mirror, libraries: tuple[str, ...]) -> list[Undo]:
    """Adopt what is held by the functions and classes of the module with the globals ``names``.

    Returns
    -------
    list of callable
        What takes it back, the last change first.
    """
    return _Held(names, mirror_of, libraries).undo


def with_mirrors(f: FunctionType, mirror_of: Mirror) -> FunctionType:
    """Return ``f`` with cells of its own, which hold mirrors; ``f`` itself if there are none."""
    cells = f.__closure__ or ()
    mirrors = [mirror_of(content_of(cell)) for cell in cells]
    if all(mirror is None for mirror in mirrors):
        return f
    pairs = zip(cells, mirrors, strict=True)
    return again(f, tuple(cell if mirror is None else CellType(mirror) for cell, mirror in pairs))


def is_mirror(f: FunctionType) -> bool:
    """Say whether ``f`` is a function of this package that shows another one, with its name."""
    return str(f.__globals__.get("__name__", "")).startswith("chainrules.")


def answers(part: Any) -> bool:
    """Say whether ``part`` can be asked at all: the placeholder of a missing library may raise."""
    try:
        part.__class__, getattr(part, "__module__", None)
    except Exception:
        return False
    return True


CACHED = type(functools.cache(lambda: None))
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of a type, as C code sets them


def can_change(cls: type) -> bool:
    """Say whether the class takes attributes: one that C code made does not."""
    return bool(cls.__flags__ & _HEAP) and not cls.__flags__ & _IMMUTABLE


class _Held:
    def __init__(self, names: dict, mirror_of: Mirror, libraries: tuple[str, ...]) -> None:
        self.names, self.home = names, home_of(names)
        self.mirror_of, self.libraries = mirror_of, libraries
        self.undo: list[Undo] = []
        self.known: dict[int, tuple[Any, Any]] = {}  # what was looked at, and what stands for it
        self.builtins: dict | None = None
        plain = dict(names)  # from which numba compiles later what it has not compiled so far
        _plain.setdefault(id(names), plain)
        self.undo.insert(0, lambda: _forget(names))
        for name, part in plain.items():
            if not answers(part):
                continue
            if not name.startswith("__"):
                self._put(names.__setitem__, names.get, name, part, self._seeing(part))
            if library_of(type(part)) == "numba":
                self._compile_with(plain, part)

    def _put(self, put: Callable, get: Callable, name: Any, old: Any, new: Any) -> None:
        if new is old:
            return

        def take_back() -> None:
            if get(name) is new:  # and not bound anew since
                put(name, old)

        put(name, new)
        self.undo.insert(0, take_back)

    def _compile_with(self, names: dict, compiled: Any) -> None:
        compiler = getattr(compiled, "_dispatcher", compiled)  # of numba.vectorize, or njit
        compiler = getattr(compiler, "_compiler", compiler)
        f = getattr(compiler, "py_func", None)
        if isinstance(f, FunctionType) and f.__globals__ is self.names:
            put, get = functools.partial(setattr, compiler), functools.partial(getattr, compiler)
            self._put(put, get, "py_func", f, again(f, f.__closure__, names))

    def _is_ours(self, part: Any) -> bool:
        if type(part) is FunctionType:
            named = part.__module__ == self.home and not is_mirror(part)
            return part.__globals__ is self.names or named
        is_class = issubclass(type(part), type)  # and no proxy, which takes no other code or bases
        return is_class and part.__module__ == self.home and can_change(part)

    def _seeing(self, part: Any) -> Any:
        """Return what stands for a function, a class or a method; the same where that will do."""
        if id(part) not in self.known:
            self.known[id(part)] = part, part
            self.known[id(part)] = part, self._look(part)
        return self.known[id(part)][1]

    def _look(self, part: Any) -> Any:
        kind = type(part)
        if kind is CACHED or (isinstance(part, FunctionType) and kind is not FunctionType):
            self._seeing(getattr(part, "__wrapped__", None))  # a cache, or a proxy as wrapt's
            return part
        if kind is np.vectorize:
            self._seeing(part.pyfunc)
            return part
        if kind is staticmethod or kind is classmethod:
            seen = self._seeing(part.__func__)
            f = self.mirror_of(part.__func__) or seen
            return part if f is part.__func__ else kind(f)
        if kind is property:
            get, put, delete = map(self._seeing, (part.fget, part.fset, part.fdel))
            same = (get, put, delete) == (part.fget, part.fset, part.fdel)
            return part if same else property(get, put, delete, part.__doc__)
        if not self._is_ours(part):
            return part
        if isinstance(part, type):
            put, get = functools.partial(type.__setattr__, part), vars(part).get
            for name, method in list(vars(part).items()):
                seen = self._seeing(method)
                if name == "__array__" and isinstance(seen, FunctionType):
                    seen = array_for_numpy(seen)
                self._put(put, get, name, method, seen)
            self._derive_from_mirrors(part)
            return part
        return self._function(part)

    def _derive_from_mirrors(self, cls: type) -> None:
        """Derive the class from the mirrors of its bases, as if it were defined after adoption."""
        mirrors = map(self.mirror_of, cls.__bases__)
        bases = tuple(
            mirror if isinstance(mirror, type) and base in mirror.__mro__ else base
            for base, mirror in zip(cls.__bases__, mirrors, strict=True)
        )
        if bases != cls.__bases__:
            put, get = functools.partial(setattr, cls), functools.partial(getattr, cls)
            self._put(put, get, "__bases__", cls.__bases__, bases)

    def _function(self, f: FunctionType) -> FunctionType:
        for name in ("__defaults__", "__kwdefaults__"):
            given = getattr(f, name)
            if given:
                put, get = functools.partial(setattr, f), functools.partial(getattr, f)
                self._put(put, get, name, given, self._mirrored(given))
        for cell in f.__closure__ or ():
            held = content_of(cell)
            new = self._seeing(held) if self._is_ours(held) else self.mirror_of(held)
            put, get = functools.partial(setattr, cell), functools.partial(getattr, cell)
            self._put(put, get, "cell_contents", held, held if new is None else new)
        if f.__globals__ is self.names:
            put, get = functools.partial(setattr, f), functools.partial(getattr, f)
            self._put(put, get, "__code__", f.__code__, with_own_types(f.__code__, self.names))
        return self._importing(f) if self._imports(f) else f

    def _mirrored(self, defaults: Any) -> Any:
        if isinstance(defaults, dict):
            values = tuple(defaults.values())
            new = self._mirrored(values)
            return defaults if new is values else dict(zip(defaults, new, strict=True))
        mirrors = [self.mirror_of(x) for x in defaults]
        if all(mirror is None for mirror in mirrors):
            return defaults
        pairs = zip(defaults, mirrors, strict=True)
        return tuple(x if mirror is None else mirror for x, mirror in pairs)

    def _imports(self, f: FunctionType) -> bool:
        """Say whether ``f`` may import one of the libraries.

        It has its name, and not only as that of a global variable.
        """
        if f.__globals__ is not self.names:
            return False
        if getattr(f, "__builtins__", {}).get("__import__") is _import_of(self.mirror_of):
            return False  # it was made for an adoption before
        code = f.__code__
        local = {*code.co_varnames, *code.co_cellvars}
        froms = [
            x for x in code.co_consts if isinstance(x, tuple) and x and {*x} <= {*code.co_names}
        ]
        return any(
            name.partition(".")[0] in self.libraries
            and (name not in self.names or name in local or bool(froms))
            for name in code.co_names
        )

    def _importing(self, f: FunctionType) -> FunctionType:
        """Return ``f`` as one whose imports find mirrors."""
        if self.builtins is None:
            self.builtins = {**vars(builtins), "__import__": _import_of(self.mirror_of)}
        before = self.names["__builtins__"]
        self.names["__builtins__"] = self.builtins  # which a function that is made now keeps
        try:
            new = again(f, f.__closure__)
        finally:
            self.names["__builtins__"] = before
        _anew[id(f)] = f, new  # for modules that imported it

        def forget() -> None:
            _anew.pop(id(f), None)

        self.undo.insert(0, forget)
        return new


def again(
    f: FunctionType, cells: tuple[CellType, ...] | None, names: dict | None = None
) -> FunctionType:
    """Make a function of the code of ``f`` once more, with the same globals or with ``names``."""
    names = f.__globals__ if names is None else names
    new = FunctionType(f.__code__, names, f.__name__, f.__defaults__, cells)
    new.__kwdefaults__, new.__annotations__ = f.__kwdefaults__, f.__annotations__
    new.__doc__, new.__module__, new.__qualname__ = f.__doc__, f.__module__, f.__qualname__
    vars(new).update(vars(f))
    return new


@functools.cache
def _import_of(mirror_of: Mirror) -> Callable:
    """Return an ``__import__`` that gives mirrors for the modules that have one."""

    def seeing_import(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        part = builtins.__import__(name, globals, locals, fromlist, level)
        mirror = None if level else mirror_of(part)
        return part if mirror is None else mirror

    return seeing_import
