"""Copies of SciPy's modules in Python, adopted: their functions see traced values.

A copy is the code of the module, run once more in globals of its own, where SciPy's functions with
rules are their mirrors. SciPy itself stays as it is. It serves the functions that the rules follow
by their source (``by_source``), and options that a rule leaves out (``source_of``).
"""

import builtins
import functools
import importlib
from collections.abc import Callable
from importlib.abc import SourceLoader
from types import FunctionType, ModuleType
from typing import Any

from .adoption import Adoption, _lock, mirror_of
from .rules import rrule
from .rules.table.compositions import FollowedBySource
from .rules.tracing.funnel import shown

_AS_DEFINED = "as defined: "
_copies: dict[str, dict[str, Any]] = {}  # by the module's name: what its source defines


def source_of(part: Any) -> Any:
    """Return the function or class that the source of its module of SciPy's defines once more."""
    names = _copy_of(part.__module__)
    return names.get(_AS_DEFINED + part.__name__, names[part.__name__])


def _copy_of(home: str) -> dict[str, Any]:
    with _lock:
        if home not in _copies:
            _copies[home] = _copied(importlib.import_module(home))
        return _copies[home]


def _copied(module: Any) -> dict[str, Any]:
    home = module.__name__
    names: dict[str, Any] = {
        "__name__": home, "__package__": module.__package__, "__doc__": module.__doc__,
        "__file__": module.__file__, "__builtins__": builtins,
    }  # fmt: skip
    exec(module.__spec__.loader.get_code(home), names)
    instead, defined = {}, {}
    for name, part in list(names.items()):
        original = vars(module).get(name)
        if isinstance(part, ModuleType) and part.__name__.endswith("array_api_compat.numpy"):
            names[name] = importlib.import_module(".numpy", __package__)
        elif part is not original and _has_rules(original):
            instead[id(part)], defined[_AS_DEFINED + name] = original, part
    for name, part in names.items():
        if part is not names:  # some modules keep their globals
            names[name] = _with(instead, part)
    names |= defined
    Adoption()._add(names)
    for name, part in list(names.items()):
        if isinstance(part, FunctionType) and _is_left(part, home):
            names[name] = _late(part)
        elif isinstance(part, ModuleType) and _is_in_python(part):
            names[name] = _LateModule(part)
    return names


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


def _is_left(part: FunctionType, home: str) -> bool:
    """Say whether it is a function of another module of SciPy's in Python that has no mirror."""
    of = part.__globals__.get("__name__", "")
    return of.startswith("scipy.") and of != home and part.__module__ == of


def _is_in_python(part: ModuleType) -> bool:
    """Say whether it is a module of SciPy's with source, and no mirror, whose spec is ours."""
    spec = part.__spec__
    ours = spec is not None and spec.name.startswith("scipy.")
    return ours and isinstance(spec.loader, SourceLoader)  # type: ignore[union-attr]


def _late(part: FunctionType) -> Callable:
    """Return the function of the copy of its module, which is made at the first call."""

    @functools.wraps(part)
    def late(*args: Any, **kwargs: Any) -> Any:
        return source_of(part)(*args, **kwargs)

    return late


class _LateModule:
    """A module of SciPy's without a mirror: its names are those of the copy."""

    def __init__(self, original: ModuleType) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        names = _copy_of(self._original.__name__)
        return names[name] if name in names else getattr(self._original, name)
