"""Places of values in nested tuples: where they stand, and the tuple with others in their place."""

from typing import Any


def in_tuples(x: Any, places: dict, leading: frozenset) -> list | None:
    """Return where in the tuple ``x`` are which values: by number, or a list for a tuple within.

    None where something else than a tuple leads to one.
    """
    if type(x) is not tuple:
        return None
    found: list = []
    for k, part in enumerate(x):
        if id(part) in places:
            found.append((k, places[id(part)]))
        elif id(part) in leading:
            within = in_tuples(part, places, leading)
            if within is None:
                return None
            found.append((k, within))
    return found


def filled(x: tuple, places: list, values: list) -> tuple:
    """Return the tuple with these values in the places that ``in_tuples`` found."""
    parts = list(x)
    for k, place in places:
        parts[k] = values[place] if type(place) is int else filled(x[k], place, values)
    return tuple(parts)
