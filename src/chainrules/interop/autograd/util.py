"""As ``autograd.util``."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .graph import toposort as toposort


def subvals(x: Iterable, ivs: Iterable) -> tuple:
    """Return ``x`` as a tuple, with each ``v`` in place ``i``."""
    entries = list(x)
    for i, v in ivs:
        entries[i] = v
    return tuple(entries)


def subval(x: Iterable, i: int, v: Any) -> tuple:
    """Return ``x`` as a tuple, with ``v`` in place ``i``."""
    return subvals(x, [(i, v)])


def func(f: Callable) -> Callable:
    """Return ``f``."""
    return f


def quick_grad_check(
    fun: Callable, arg0: Any, extra_args: tuple = (), kwargs: dict | None = None, **_: Any
) -> None:
    """Check the gradient in the first argument; autograd has deprecated it."""
    from .test_util import check_grads

    warnings.warn("write check_grads(f, modes=['rev'], order=1)(x)", stacklevel=2)
    check_grads(fun, modes=["rev"], order=1)(arg0, *extra_args, **(kwargs or {}))
