"""Signatures of functions of NumPy's that are written in C, and tell none before NumPy 2.4.

By these a call such as ``np.concatenate(xs, 1)`` is bound to a rule's options in each version.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

_FUNCTIONS: dict[str, Callable] = {
    "bincount": lambda x, /, weights=None, minlength=0: None,
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "copyto": lambda dst, src, casting="same_kind", where=True: None,
    "dot": lambda a, b, out=None: None,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None: None,
    "inner": lambda a, b, /: None,
    "lexsort": lambda keys, axis=-1: None,
    "putmask": lambda a, /, mask, values: None,
    "vdot": lambda a, b, /: None,
    "where": lambda condition, x=None, y=None, /: None,
}
_METHODS: dict[str, Callable] = {
    "accumulate": lambda array, /, axis=0, dtype=None, out=None: None,
    "at": lambda a, indices, b=None, /: None,
    "outer": lambda a, b, /, **kwargs: None,
    "reduce": lambda array, /, axis=0, dtype=None, out=None, **kwargs: None,
    "reduceat": lambda array, /, indices, axis=0, dtype=None, out=None: None,
}


def stand_in_for(f: Any) -> Callable | None:
    """Return a function with the parameters of ``f``, if ``f`` is one of these."""
    name = getattr(f, "__name__", "")
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return _METHODS.get(name)
    return _FUNCTIONS.get(name) if f is getattr(np, name, None) else None
