"""Texts of guards: what a recording has looked at, and a replay compares."""

from typing import Any

import numpy as np

from ..ir.looks import Look


def seen_by(look: Look) -> str:
    """Return a text of what a look has seen, of which it is a guard."""
    seen = _of_bits(look.seen)
    text = f"{look.kind} is {seen!r}"
    if look.kind == "structure":
        text = f"shape is {seen[0]}" if len(seen) == 2 else f"type is {seen[0]}"
    elif look.kind == "container":
        text = "None" if seen is None else f"{seen[0].__name__} of {len(seen[1])}"
    elif look.kind == "value":
        text = f"{'an array' if seen is None else repr(seen)}, to the last bit"
    return text


def _of_bits(seen: Any) -> Any:
    """Return the number or tuple of which these are the ``bits``; None of an array."""
    match seen:
        case ("tuple", *parts):
            return tuple(map(_of_bits, parts))
        case ("float", str(digits)):
            return float.fromhex(digits)
        case (str(dtype), bytes(raw)):
            return np.frombuffer(raw, dtype)[0].item()
        case (_, x):
            return x
    return None
