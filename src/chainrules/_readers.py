"""How functions of NumPy's are shown that take a list of traced numbers for an array.

NumPy asks a traced array that it is given, but not the entries of a list: of these it makes an
array of objects, with which few functions can compute.
"""

import functools
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from .rules import array_of, is_traced
from .rules.engines.buffers import buffer, buffer_if_new
from .rules.tracing.object_arrays import healed, is_plain, unmasked
from .rules.tracing.running import a_run

# Arrays that are made to be filled, or made of others and written to.
_MAKERS = """
    zeros ones empty zeros_like ones_like empty_like full_like eye identity tri copy linspace
    logspace geomspace diag diagflat tile repeat vander concatenate stack vstack hstack dstack
    column_stack fromfunction outer kron tril triu roll dot inner einsum tensordot cross where
    cumsum cumprod diff gradient interp clip sort sum mean prod
"""
_FILLED = frozenset(_MAKERS.split())
# Of lists of arrays; those of np.block say where each array goes.
_OF_LISTS = frozenset(
    {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "multi_dot"}
)
_NOT_READ = frozenset({"block"})
_LISTS = frozenset({list, tuple})


def _read(x: Any) -> Any:
    """Return a list that stands for an array as that, where something in it is traced."""
    if isinstance(x, np.ndarray):
        return x if x.dtype.kind != "O" else healed(x) if type(x) is np.ndarray else unmasked(x)
    return x if is_plain(x) or not is_traced(x) or not _is_numeric(x) else array_of(x)


def _read_each(xs: Any) -> Any:
    return [_read(x) if type(x) in _LISTS else x for x in xs] if type(xs) in _LISTS else _read(xs)


def _is_numeric(x: Any) -> bool:
    if type(x) in _LISTS:
        return all(map(_is_numeric, x))
    return hasattr(x, "dtype") or isinstance(x, Number)


def _reads(f: Callable, read: Callable, makes: bool) -> Callable:
    """Return ``f``, which takes lists of traced numbers for the arrays that they stand for.

    Where it ``makes`` an array that may be filled, the result is one that takes traced values.
    """

    @functools.wraps(f)
    def reads(*args: Any, **kwargs: Any) -> Any:
        if a_run() is None:
            return f(*args, **kwargs)
        args = tuple([read(x) if isinstance(x, _READ) else x for x in args])
        if kwargs:
            kwargs = {name: read(x) if isinstance(x, _READ) else x for name, x in kwargs.items()}
        y = f(*args, **kwargs)
        return buffer_if_new(y, (args, kwargs)) if makes else y

    reads.__shows__ = reads, f  # type: ignore[attr-defined]
    return reads


_READ = (list, tuple, np.ndarray)


def readers(names: dict) -> dict[str, Any]:
    """Return the functions of arrays among the names of a module, as they are shown here."""
    found = {name: f for name, f in names.items() if isinstance(f, type(np.sum))}
    found |= {name: f for name, f in names.items() if name in _FILLED}
    return {
        name: _reads(f, _read_each if name in _OF_LISTS else _read, name in _FILLED)
        for name, f in found.items()
        if name not in _NOT_READ
    }


class Joining:
    """``np.r_`` and ``np.c_``, in whose brackets there may be traced values."""

    def __init__(self, join: Any) -> None:
        self._join = join

    def __getattr__(self, name: str) -> Any:
        return getattr(self._join, name)

    def __len__(self) -> int:
        return len(self._join)

    def __getitem__(self, key: Any) -> Any:
        y = self._join[key]
        return y if a_run() is None else buffer(healed(y))
