"""Attributes that adopted modules only call: ``float`` kept by one is shown by its stand-in.

``channel.limit(x)`` with ``limit = float`` is a call of ``float``, which keeps a traced number.
Where code of an adopted module reads ``channel.limit`` as a value, to compare it with a class, say,
it stays the class itself, as everywhere else (``types_in_code.py``).
"""

import ast
import functools
from typing import Any

from .._numbers import SHOWN

_BY_NAME = frozenset({"getattr", "attrgetter", "vars", "__dict__"})


class CalledNames:
    """Names of attributes in the source of modules, given by their globals."""

    def __init__(self, modules: list[dict]) -> None:
        self.modules = modules
        self._read: dict[str, bool] = {}

    def shown(self, name: Any, part: Any) -> Any:
        """Return what an object keeps by ``name`` in place of ``part``: itself, or a stand-in."""
        if not isinstance(part, type) or part not in SHOWN or not isinstance(name, str):
            return part
        if name not in self._read:
            self._read[name] = any(_is_read(name, source) for source in self._sources)
        return part if self._read[name] else SHOWN[part]

    @functools.cached_property
    def _sources(self) -> list[str | None]:
        return list(map(_source_of, self.modules))


def _is_read(name: str, source: str | None) -> bool:
    """Say whether a module reads an attribute as a value, or may: it shows no source."""
    return source is None or (name in source and name in _read_in(source))


@functools.lru_cache(256)
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


def _source_of(names: dict) -> str | None:
    find = getattr(getattr(names.get("__spec__"), "loader", None), "get_source", None)
    try:
        return None if find is None else find(names["__name__"])
    except (ImportError, OSError, SyntaxError):
        return None
