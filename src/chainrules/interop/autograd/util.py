"""As ``autograd.util``: a sequence with some entries replaced."""

from collections.abc import Iterable
from typing import Any


def subvals(x: Iterable, ivs: Iterable) -> tuple:
    """Return ``x`` as a tuple, with each ``v`` in place ``i``."""
    entries = list(x)
    for i, v in ivs:
        entries[i] = v
    return tuple(entries)


def subval(x: Iterable, i: int, v: Any) -> tuple:
    """Return ``x`` as a tuple, with ``v`` in place ``i``."""
    return subvals(x, [(i, v)])
