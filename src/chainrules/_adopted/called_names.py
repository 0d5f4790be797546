"""Attributes that adopted modules only call: ``float`` kept by one is shown by its stand-in.

``channel.limit(x)`` with ``limit = float`` is a call of ``float``, which keeps a traced number.
Where code of an adopted module reads ``channel.limit`` as a value, to compare it with a class, say,
it stays the class itself, as everywhere else (``types_in_code.py``).
"""

import ast
import functools
from types import CodeType, FunctionType
from typing import Any

from .._numbers import SHOWN

_BY_NAME = frozenset({"getattr", "attrgetter", "vars", "__dict__"})


class ReadNames:
    """Names of attributes that a module, given by its globals, reads as values, or may read."""

    def __init__(self, names: dict) -> None:
        self.names = names

    def has(self, name: str) -> bool:
        """Say whether attributes of that name are read: the source tells, or else the functions."""
        if self._source is None:
            return name in self._names_of_functions
        return name in self._source and name in self._read

    @functools.cached_property
    def _source(self) -> str | None:
        find = getattr(self.names.get("__loader__"), "get_source", None)
        try:
            return None if find is None else find(self.names["__name__"])
        except (ImportError, OSError, SyntaxError):
            return None

    @functools.cached_property
    def _read(self) -> set[str]:
        return _read_in(self._source or "")

    @functools.cached_property
    def _names_of_functions(self) -> set[Any]:
        """All names and constants in the functions and methods of a module without a source."""
        parts = list(self.names.values())
        for cls in [part for part in parts if isinstance(part, type)]:
            parts += [getattr(part, "__func__", part) for part in vars(cls).values()]
        parts += [part.fget for part in parts if type(part) is property]
        codes = [part.__code__ for part in parts if type(part) is FunctionType]
        for code in codes:
            codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        return {name for code in codes for name in (*code.co_names, *map(str, code.co_consts))}


class CalledNames:
    """Names of attributes that modules call, and do not read as values."""

    def __init__(self, modules: list[ReadNames]) -> None:
        self.modules = modules
        self._read: dict[str, bool] = {}

    def shown(self, name: Any, part: Any) -> Any:
        """Return what an object keeps by ``name`` in place of ``part``: itself, or a stand-in."""
        if not isinstance(part, type) or part not in SHOWN or not isinstance(name, str):
            return part
        return part if self.are_read(name) else SHOWN[part]

    def are_read(self, name: str) -> bool:
        """Say whether a module reads attributes of that name as values."""
        if name not in self._read:
            self._read[name] = any(module.has(name) for module in self.modules)
        return self._read[name]


def _read_in(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    read, by_name = set(), False
    for node in nodes:
        if isinstance(node, ast.Attribute):
            by_name |= node.attr in _BY_NAME
            if id(node) not in called and not isinstance(node.ctx, ast.Store):
                read.add(node.attr)
        elif isinstance(node, ast.Name):
            by_name |= node.id in _BY_NAME
        elif isinstance(node, ast.MatchClass):
            by_name = True  # of positions, by the names in __match_args__
            read.update(node.kwd_attrs)
    if by_name:
        constants = (node.value for node in nodes if isinstance(node, ast.Constant))
        read.update(value for value in constants if isinstance(value, str))
    return read
