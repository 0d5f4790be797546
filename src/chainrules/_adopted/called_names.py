"""Attributes that adopted modules only call: ``float`` kept by one is shown by its stand-in.

``channel.limit(x)`` with ``limit = float`` is a call of ``float``, which keeps a traced number.
Where code of an adopted module reads ``channel.limit`` as a value, to compare it with a class, say,
it stays the class itself, as everywhere else (``types_in_code.py``).
"""

import dis
import functools
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from .._numbers import SHOWN

_TELLS_CALLS = sys.version_info >= (3, 12)  # by a bit; before, methods are loaded by another step
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
# Steps that read an attribute, and how many bits stand below the place of its name.
_READS = {dis.opmap["LOAD_ATTR"]: int(_TELLS_CALLS)}
if "LOAD_SUPER_ATTR" in dis.opmap:
    _READS[dis.opmap["LOAD_SUPER_ATTR"]] = 2
_ANY = "*"
_BY_NAME = frozenset({"getattr", "attrgetter", "vars", "__dict__"})


class CalledNames:
    """Names of attributes in the code of modules, given by their globals."""

    def __init__(self, modules: list[dict]) -> None:
        self.modules = modules

    def shown(self, name: Any, part: Any) -> Any:
        """Return what an object keeps by ``name`` in place of ``part``: itself, or a stand-in."""
        if not isinstance(part, type) or part not in SHOWN or not isinstance(name, str):
            return part
        return part if {name, _ANY} & self._read else SHOWN[part]

    @functools.cached_property
    def _read(self) -> frozenset[str]:
        """Names of attributes that are read as values: any, where a module shows no code."""
        return frozenset().union(*(_read_in(_code_of(names)) for names in self.modules))


def _code_of(names: dict) -> CodeType | None:
    find = getattr(getattr(names.get("__spec__"), "loader", None), "get_code", None)
    try:
        return None if find is None else find(names["__name__"])
    except (ImportError, OSError, SyntaxError):
        return None


def _read_in(code: CodeType | None) -> frozenset[str]:
    if code is None:
        return frozenset((_ANY,))
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
