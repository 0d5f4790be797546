"""Attributes that adopted modules only call: ``float`` kept by one is shown by its stand-in.

``channel.limit(x)`` with ``limit = float`` is a call of ``float``, which keeps a traced number.
Where code of an adopted module reads ``channel.limit`` as a value, to compare it with a class, say,
it stays the class itself, as everywhere else (``types_in_code.py``).
"""

import dis
import functools
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from .._numbers import SHOWN

_TELLS_CALLS = sys.version_info >= (3, 12)  # by a bit; before, methods are loaded by another step
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
# Steps that read an attribute, and how many bits stand below the place of its name.
_READS = {dis.opmap["LOAD_ATTR"]: int(_TELLS_CALLS)}
if "LOAD_SUPER_ATTR" in dis.opmap:
    _READS[dis.opmap["LOAD_SUPER_ATTR"]] = 2
_BY_NAME = frozenset({"getattr", "attrgetter", "vars", "__dict__"})


class ReadNames:
    """Names of attributes that the code of a module reads as values, given by its globals."""

    def __init__(self, names: dict) -> None:
        self.names = names

    @functools.cached_property
    def read(self) -> frozenset[str]:
        return frozenset().union(*map(_read_in, _codes_of(self.names)))


class CalledNames:
    """Names of attributes that the code of modules calls, and does not read as values."""

    def __init__(self, modules: list[ReadNames]) -> None:
        self.modules = modules

    def shown(self, name: Any, part: Any) -> Any:
        """Return what an object keeps by ``name`` in place of ``part``: itself, or a stand-in."""
        if not isinstance(part, type) or part not in SHOWN or not isinstance(name, str):
            return part
        return part if self.are_read(name) else SHOWN[part]

    def are_read(self, name: str) -> bool:
        """Say whether the code of a module reads attributes of that name as values."""
        return any(name in module.read for module in self.modules)


def _codes_of(names: dict) -> list[CodeType]:
    """Return the code of a module; where none is to be had, that of its functions and methods."""
    find = getattr(names.get("__loader__"), "get_code", None)
    with suppress(ImportError, OSError, SyntaxError):
        code = None if find is None else find(names["__name__"])
        if code is not None:
            return [code]
    parts = list(names.values())
    for cls in [part for part in parts if isinstance(part, type)]:
        parts += [getattr(part, "__func__", part) for part in vars(cls).values()]
    parts += [part.fget for part in parts if type(part) is property]
    return [part.__code__ for part in parts if type(part) is FunctionType]


def _read_in(code: CodeType) -> frozenset[str]:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    names = {code.co_names[k] for k in _places_read(code.co_code)}
    if not _BY_NAME.isdisjoint(code.co_names) or _MATCH_CLASS in code.co_code[::2]:
        for part in code.co_consts:
            names.update((part,) if isinstance(part, str) else _texts(part))
    return frozenset(names).union(*map(_read_in, inner))


def _texts(part: Any) -> Iterator[str]:
    return (text for text in part if isinstance(text, str)) if type(part) is tuple else iter(())


def _places_read(steps: bytes) -> Iterator[int]:
    """Yield the places among the names of code of the attributes that it reads as values."""
    extended = 0
    for op, low in zip(steps[::2], steps[1::2], strict=True):
        arg = extended | low
        extended = arg << 8 if op == dis.EXTENDED_ARG else 0
        if op in _READS and not (_TELLS_CALLS and arg & 1):
            yield arg >> _READS[op]
