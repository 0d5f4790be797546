"""Types kept as attributes that the code of adopted modules calls, and never reads as values.

``channel.limit = float`` with ``channel.limit(x)``: what is kept there may be a stand-in, which
sees traced values. A name that occurs in any other use keeps the class itself.
"""

import dis
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ._held import Undo
from ._numbers import seeing


class KeptType(NamedTuple):
    """A type among the attributes of an object: what puts and gets it there, name and type."""

    put: Callable[[str, Any], None]
    get: Callable[[str], Any]
    name: str
    part: type


def put_stand_ins(kept: Iterable[KeptType], modules: list[dict]) -> Iterator[Undo]:
    """Put stand-ins where an attribute is called only; yield what takes each back."""
    kept = [one for one in kept if seeing(one.part) is not one.part]
    names = {one.name for one in kept}
    if not names:
        return
    called = names & _called_only(names, list(_codes_of(modules)))
    for one in kept:
        if one.name in called:
            stand_in = seeing(one.part)
            one.put(one.name, stand_in)
            yield _taking_back(one, stand_in)


def _taking_back(one: KeptType, stand_in: Any) -> Undo:
    def take_back() -> None:
        if one.get(one.name) is stand_in:  # and not bound anew since
            one.put(one.name, one.part)

    return take_back


def _codes_of(modules: list[dict]) -> Iterator[CodeType]:
    """Yield the code of all functions that are defined in modules and in their classes."""
    seen: set[int] = set()
    waiting = [part for names in modules for part in names.values()]
    homes = {names.get("__name__") for names in modules}
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, FunctionType):
            yield from _inside(part.__code__)
        elif isinstance(part, type) and part.__module__ in homes:
            waiting += vars(part).values()
        elif isinstance(part, staticmethod | classmethod):
            waiting.append(part.__func__)
        elif isinstance(part, property):
            waiting += [part.fget, part.fset, part.fdel]
        elif hasattr(type(part), "cache_info"):
            waiting.append(part.__wrapped__)


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _inside(part)


def _called_only(names: set[str], codes: list[CodeType]) -> set[str]:
    """Return those of ``names`` that are attributes of calls, and nothing else."""
    called: set[str] = set()
    read: set[str] = set()
    for code in codes:
        read.update(x for x in code.co_consts if isinstance(x, str) and x in names)  # getattr
        if names.isdisjoint(code.co_names):
            continue
        for step in dis.get_instructions(code):
            if step.argval in names and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                of_call = step.opname == "LOAD_METHOD" or (_MARKED and bool((step.arg or 0) & 1))
                (called if of_call else read).add(step.argval)
    return called - read


_MARKED = "LOAD_METHOD" not in dis.opmap or dis.opmap["LOAD_METHOD"] > 255  # by a bit, since 3.12
