"""Copies of SciPy's modules in Python, adopted: their functions see traced values.

A copy is the code of the module, run once more in globals of its own, where SciPy's functions with
rules are their mirrors. SciPy itself stays as it is. It serves the functions that the rules follow
by their source (``by_source``), and options that a rule leaves out (``source_of``).
"""

import builtins
import importlib
import sys
from abc import ABCMeta
from importlib.abc import SourceLoader
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from .adoption import Adoption, _lock, mirror_of
from .rules import rrule
from .rules.known_classes import of_copies
from .rules.table.compositions import FollowedBySource, adjusted
from .rules.tracing.funnel import shown

_AS_DEFINED = "as defined: "
_copies: dict[str, dict[str, Any]] = {}  # by the module's name: what its source defines


def source_of(part: Any) -> Any:
    """Return the function or class that the source of its module of SciPy's defines once more."""
    return _defined(part.__module__, part.__name__)


def _defined(home: str, name: str) -> Any:
    names = _copy_of(home)
    return names.get(_AS_DEFINED + name, names[name])


def _copy_of(home: str) -> dict[str, Any]:
    with _lock:
        if home not in _copies:
            _copy(importlib.import_module(home))
        return _copies[home]


def _copy(module: Any) -> None:
    home = module.__name__
    names: dict[str, Any] = {
        "__name__": home, "__package__": module.__package__, "__doc__": module.__doc__,
        "__file__": module.__file__, "__builtins__": _BUILTINS,
    }  # fmt: skip
    _copies[home] = names  # modules import each other
    try:
        exec(module.__spec__.loader.get_code(home), names)
        _adopt(names, vars(module))
        adjusted.get(home, id)(names)
    except BaseException:
        del _copies[home]
        raise


def _adopt(names: dict[str, Any], originals: dict[str, Any]) -> None:
    """Put mirrors into the globals of a copy, and functions with rules for what it defines."""
    for part in list(names.values()):
        if isinstance(part, type) and part.__module__ == names["__name__"]:
            _as_scipys(part, originals.get(part.__name__))
    instead, defined = {}, {}
    for name, part in list(names.items()):
        original = originals.get(name)
        if isinstance(part, ModuleType) and part.__name__.endswith("array_api_compat.numpy"):
            names[name] = importlib.import_module(".numpy", __package__)
        elif part is not original and _has_rules(original):
            instead[id(part)], defined[_AS_DEFINED + name] = original, part
    for name, part in names.items():
        if part is originals:  # some modules keep their globals
            names[name] = names
        elif part is not names and part is not _BUILTINS:
            names[name] = _with(instead, part)
    names |= defined
    Adoption()._add(names)
    for name, part in list(names.items()):
        if isinstance(part, ModuleType) and _is_in_python(part):
            names[name] = _LateModule(part)


# ---- imports of a copy --------------------------------------------------------------------------


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """Import as Python does: what copies of SciPy's modules define comes from there."""
    module = builtins.__import__(name, globals, locals, fromlist, level)
    if not fromlist or not module.__name__.startswith("scipy"):
        return module
    if "*" in fromlist:
        fromlist = getattr(module, "__all__", [x for x in vars(module) if not x.startswith("_")])
    found = {x: _of_copy(getattr(module, x)) for x in fromlist if hasattr(module, x)}
    return SimpleNamespace(**{"__all__": list(found), **found})


_BUILTINS = {**vars(builtins), "__import__": _import}


def _of_copy(part: Any) -> Any:
    """Return what a copy defines in place of a function or class of SciPy's without a mirror."""
    if not isinstance(part, FunctionType | type) or _has_rules(part) or mirror_of(part) is not None:
        return part
    module = sys.modules.get(part.__module__)
    if module is None or not _is_in_python(module) or _is_public(part):
        return part
    name = part.__name__
    return _copy_of(part.__module__).get(name, part) if vars(module).get(name) is part else part


def _is_public(part: Any) -> bool:
    """Say whether a family shows it: classes of results are those that users ask for."""
    family = sys.modules[".".join(part.__module__.split(".")[:2])]
    return getattr(family, part.__name__, None) is part


def _as_scipys(cls: Any, original: Any) -> None:
    """Let objects of a class that a copy defines pass for SciPy's, and hold traced values."""
    of_copies.add(cls)
    if isinstance(original, ABCMeta):
        original.register(cls)
    if cls.__reduce__ is object.__reduce__:
        cls.__reduce__ = _taken_apart


def _taken_apart(x: Any) -> tuple:
    """Let an object be copied and pickled: pickle looks for its class in SciPy's own module."""
    cls = type(x)
    local = cls.__name__ != cls.__qualname__  # pickle refuses those
    return _made_anew, ((cls,) if local else (cls.__module__, cls.__name__)), vars(x)


def _made_anew(cls: Any, name: str | None = None) -> Any:
    """Return an object without its state, of a class or of the one that a copy has by this name."""
    return object.__new__(cls if name is None else _defined(cls, name))


def _with(instead: dict[int, Any], part: Any) -> Any:
    """Return ``part``, in whose lists and dicts there are functions with rules ``instead``."""
    if type(part) is dict:
        return {key: _with(instead, x) for key, x in part.items()}
    if type(part) in (list, tuple):
        return type(part)([_with(instead, x) for x in part])
    return instead.get(id(part), part)


def _has_rules(original: Any) -> bool:
    """Say whether the mirror of a function or class answers by other means than the source."""
    mirror = mirror_of(original) if callable(original) else None
    if mirror is None:
        return False
    if shown(mirror) is not original:  # it is a stand-in, or refuses
        return True
    kind = rrule.kind_of(original)
    return kind is not None and not isinstance(kind, FollowedBySource)


def _is_in_python(part: ModuleType) -> bool:
    """Say whether it is a module of SciPy's with source, and no mirror, whose spec is ours."""
    spec = part.__spec__
    ours = spec is not None and spec.name.startswith("scipy.")
    return ours and isinstance(spec.loader, SourceLoader)  # type: ignore[union-attr]


class _LateModule:
    """A module of SciPy's without a mirror: its names are those of the copy."""

    def __init__(self, original: ModuleType) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        names = _copy_of(self._original.__name__)
        return names[name] if name in names else getattr(self._original, name)
