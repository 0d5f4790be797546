"""Tuples, lists and dicts of numbers and arrays, of which autograd makes boxes of their own."""

from collections.abc import Callable, Iterator
from typing import Any

from autograd.builtins import DictBox, SequenceBox
from autograd.tracer import getval, isbox


def opened(x: Any) -> Any:
    """Return a tuple, list or dict in place of a box of one, with boxes in it."""
    if type(x) is SequenceBox:
        return rebuilt(getval(x), [opened(x[i]) for i in range(len(x))])
    if type(x) is DictBox:
        return {key: opened(x[key]) for key in x}
    parts = parts_of(x)
    return x if parts is None else rebuilt(x, [opened(part) for part in parts])


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


def mapped(f: Callable, x: Any) -> Any:
    """Return ``x`` with ``f`` of each leaf."""
    parts = parts_of(x)
    return f(x) if parts is None else rebuilt(x, [mapped(f, part) for part in parts])


def has_box(x: Any) -> bool:
    """Say whether autograd follows something in tuples, lists and dicts."""
    return any(map(isbox, leaves_of(x)))
