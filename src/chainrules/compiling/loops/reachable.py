"""Objects that a step of a loop can reach: what they hold, to see whether it writes into them."""

import types
from typing import Any

import numpy as np

from ...rules.rulesets.functions.reachable import Reachable, held_in
from ..ir.looks import bits


def held_by(x: Any) -> dict[int, tuple]:
    """Return what everything that is reached from ``x`` holds, by identity; of arrays the bits.

    Of what is empty some is made when it is asked for, as the defaults of a function.
    """
    found = {i: (part, _parts_of(part)) for i, part in Reachable(x).objects.items()}
    return {i: (part, held) for i, (part, held) in found.items() if held}


def are_same(before: dict[int, tuple], after: dict[int, tuple]) -> bool:
    """Say whether nothing has been written between two looks at what is held."""
    return before.keys() == after.keys() and all(
        len(held) == len(after[i][1]) and all(map(_is_same, held, after[i][1]))
        for i, (_, held) in before.items()
    )


def _is_same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is tuple and x == y and x[:1] == ("array",))


def _parts_of(x: Any) -> list:
    if type(x) is np.ndarray and x.dtype.kind != "O":
        return [bits(x)]
    fields = {} if isinstance(x, type | types.ModuleType) else getattr(x, "__dict__", {})
    return [part for part in (*held_in(x), *fields.values()) if _holds(part)]


def _holds(x: Any) -> bool:
    return not (type(x) in (tuple, dict, list) and not x)
