"""Globals of generated methods, which belong to no module: a library that makes classes fills them.

A converter of numbers among them, such as ``float``, is a stand-in where their code only calls it.
"""

import dis
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from ._numbers import seeing


def globals_of_generated(functions: list[FunctionType]) -> Iterator[tuple[dict, set[str]]]:
    """Yield the globals of these methods, and the names in them that are called and never read."""
    found: dict[int, tuple[dict, list[CodeType]]] = {}
    for f in functions:
        found.setdefault(id(f.__globals__), (f.__globals__, []))[1].append(f.__code__)
    for names, codes in found.values():
        uses = [use for code in codes for use in _uses(code)]
        yield names, {name for name, _ in uses} - {name for name, called in uses if not called}


def _uses(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Yield each read of a global variable, and whether it is that of a call."""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            yield step.argval, bool((step.arg or 0) & 1)
        elif step.opname == "LOAD_NAME":
            yield step.argval, False
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _uses(part)


def seeing_in(names: dict, called: set[str], mirror_of: Callable[[Any], Any]) -> Iterator[tuple]:
    """Yield the names that code calls whose parts have a mirror: the name, the part, the mirror."""
    for name in sorted(called & names.keys()):
        part = names[name]
        mirror = seeing(part) if isinstance(part, type) else mirror_of(part)
        if mirror is not None and mirror is not part:
            yield name, part, mirror
