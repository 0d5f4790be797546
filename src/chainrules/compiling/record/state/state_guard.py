"""Guards on captured state: one generated function compares each place with what was there.

Each place is an expression such as ``g0.get("rate") is e0`` with the objects that it names. All of
them together are one function, so that a comparison costs some nanoseconds.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....config.thresholds import COMPARED_PLACES
from ...ir.looks import NotRecordable, bits

NOTHING = object()

# Expressions that :mod:`..quick` knows, of {0}.
CONTENTS = "{0}.cell_contents is {1}"
FIELDS = {f"{{0}}.{name} is {{1}}": name for name in ("__code__", "__defaults__", "__kwdefaults__")}
NAMED, OF_LENGTH = "{0}.get({2}) is {1}", "len({0}) == {3}"
ABSENT = "{0}.keys().isdisjoint({1})"  # names
LISTED = "len({0}) == len({1}) and all(map(is_, {0}, {1}))"
ITEMS = LISTED.replace("is_, {0}", "is_, {0}.values()") + " and all(map(is_, {0}, {2}))"
TYPE, BASES = "type({0}) is {1}", "{0}.__mro__ is {1}"

_NOT_THERE = (ValueError, AttributeError, RuntimeError, KeyError)


class StateGuard:
    """The places of one captured state; ``is_same`` compares those that ``generate`` met."""

    def __init__(self, frozen: bool) -> None:
        self.frozen = frozen
        # where, expression, its names, and what it was made of
        self.places: list[tuple[str, str, dict[str, Any], tuple[str, tuple]]] = []
        self.is_same: Callable[[], bool] = _always

    def same(self, where: str, expression: str, *names: Any) -> None:
        """Compare ``expression`` of these objects from now on.

        Raises
        ------
        NotRecordable
            If that is one place too many.
        """
        n = len(self.places)
        given = {f"x{n}_{k}": x for k, x in enumerate(names)}
        self.places.append((where, expression.format(*given), given, (expression, names)))
        if n >= COMPARED_PLACES and not self.frozen:
            raise NotRecordable(
                f"what the function captures has more than {COMPARED_PLACES} parts, the last of "
                f"which is {where}; give it as an argument, capture only what it reads of it, "
                'or write captured="freeze"'
            )

    def generate(self) -> None:
        """Make ``is_same`` of the places that there are."""
        self.is_same = _always if self.frozen else comparing(self.places)

    def changed_place(self) -> str | None:
        """Say where something is not what it was, if anything is."""
        try:
            if self.is_same():
                return None
        except _NOT_THERE:
            pass
        for where, expression, given, _ in self.places:
            if not _is_equal(expression, given):
                return where
        return None


def _always() -> bool:
    return True


def comparing(places: list) -> Callable[[], bool]:
    """Return one function that says whether all ``places`` are what they were."""
    names: dict[str, Any] = {"is_": operator.is_, "__name__": __name__}
    for _, _, given, _ in places:
        names |= given
    text = " and ".join(f"({expression})" for _, expression, _, _ in places) or "True"
    return eval(f"lambda: {text}", names)


def _is_equal(expression: str, given: dict[str, Any]) -> bool:
    try:
        if eval(expression, {"is_": _equal, "__name__": __name__, **given}):
            return True
        left, is_, right = expression.partition(" is ")
        return bool(is_) and _equal(*(eval(part, given) for part in (left, right)))
    except (*_NOT_THERE, SyntaxError):
        return False


def _equal(a: Any, b: Any) -> bool:
    """Say whether two are the same object, or two plain numbers or texts that are equal."""
    if a is b:
        return True
    plain = (float, int, complex, bool, str, bytes)
    is_plain = type(a) in plain or isinstance(a, np.generic)
    return type(a) is type(b) and is_plain and bits(a) == bits(b)
