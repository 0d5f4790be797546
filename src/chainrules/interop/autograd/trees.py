"""Tuples, lists and dicts of numbers and arrays."""

from collections.abc import Callable, Iterator
from typing import Any


def parts_of(x: Any) -> list | None:
    """Return what a tuple, list or dict holds; None of all else."""
    if isinstance(x, dict):
        return list(x.values())
    return list(x) if isinstance(x, tuple | list) else None


def rebuilt(x: Any, parts: list) -> Any:
    """Return a tuple, list or dict as ``x`` is, with these parts."""
    if isinstance(x, dict):
        return type(x)(zip(x, parts, strict=True))
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def leaves_of(x: Any) -> Iterator[Any]:
    parts = parts_of(x)
    if parts is None:
        yield x
    else:
        for part in parts:
            yield from leaves_of(part)


def mapped(f: Callable, x: Any, *others: Any) -> Any:
    """Return ``x`` with ``f`` of each leaf, and of those in its place in ``others``."""
    parts = parts_of(x)
    if parts is None:
        return f(x, *others)
    if isinstance(x, dict):
        beside = [[other[key] for key in x] for other in others]
    else:
        beside = [list(other) for other in others]
    return rebuilt(x, [mapped(f, *entries) for entries in zip(parts, *beside, strict=True)])
