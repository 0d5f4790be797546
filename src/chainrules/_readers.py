"""Mirrors of NumPy's functions that make arrays, or take a list of traced numbers for an array.

NumPy asks a traced array that it is given, but not the entries of a list: of these it makes an
array of objects, with which few functions can compute. Where nothing traced comes in, a mirror
calls the original with the arguments as they are; while a transform runs, an array that is new
comes back as a buffer.
"""

import functools
import itertools
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from . import _rulesets
from .rules import (
    Traced,
    all_settled,
    array_of,
    dtype_of,
    innermost,
    positional_names,
    rrule,
    value,
)
from .rules.accelerated import numbers
from .rules.containers import LEAVES
from .rules.engines.buffers import (
    BUFFERS,
    BufferArray,
    buffer,
    buffer_if_new,
    buffers_if_new,
    is_writer,
)
from .rules.known_classes import passing
from .rules.shapes import FLOAT64
from .rules.tracing.funnel import call
from .rules.tracing.object_arrays import (
    OBJECT,
    array_shown_by,
    entries_of,
    healed,
    holds_arrays,
    is_object_array,
    is_plain,
    unmasked,
)
from .rules.tracing.running import a_run
from .rules.tracing.writing import mark_views_of_healed

CONSTRUCTORS = _rulesets.arrays.building.CONSTRUCTORS
# Arrays that are made to be filled, or made of others and written to.
_MAKERS = """
    zeros ones empty zeros_like ones_like empty_like full_like eye identity tri copy linspace
    logspace geomspace diag diagflat tile repeat vander concatenate stack vstack hstack dstack
    column_stack fromfunction outer kron tril triu roll dot inner einsum tensordot cross where
    cumsum cumprod diff gradient interp clip sort sum mean prod meshgrid indices convolve correlate
    unique histogram histogram_bin_edges bincount percentile quantile median var std max min ptp
    polyval polyfit poly roots trapezoid pad insert append delete take compress nan_to_num unwrap
    average cov corrcoef nansum nanmean nanstd nanmax nanmin apply_along_axis
"""
_OF_ARRAYS = ("numpy.linalg", "numpy.fft")  # modules whose functions make arrays
# Of the entries of an object array NumPy does not ask these.
_PREDICATES = (np.isfinite, np.isinf, np.isnan)
_FILLED = frozenset(_MAKERS.split())
# Of lists of arrays, which may have several shapes; those of np.block say where each array goes.
_JOINS = {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "multi_dot"}
_OF_LISTS = _JOINS | {"select", "choose", "histogram2d", "histogramdd"}
_NOT_READ = frozenset({"block"})
_LISTS = frozenset({list, tuple})


def _read(x: Any) -> Any:
    """Return a list that stands for an array as that, where something in it is traced."""
    if isinstance(x, np.ndarray):
        if x.dtype.kind != "O" or holds_arrays(x):
            return x
        return healed(x) if type(x) is np.ndarray else unmasked(x)
    return x if is_plain(x) or innermost((x,)) is None or not _is_numeric(x) else array_of(x)


def _numbers_of(x: Any) -> Any:
    """Return an object array of traced numbers, of whatever class, as a traced array."""
    if not isinstance(x, np.ndarray) or type(x) is np.ndarray or np.ma.isMaskedArray(x):
        return _read(x)
    return entries_of(x) if x.dtype.kind == "O" else x


def _read_each(xs: Any) -> Any:
    if holds_arrays(xs):
        return [*xs]  # as NumPy does
    return [_read(x) if type(x) in _LISTS else x for x in xs] if type(xs) in _LISTS else _read(xs)


def _is_numeric(x: Any) -> bool:
    if type(x) in _LISTS:
        return all(map(_is_numeric, x))
    return hasattr(x, "dtype") or isinstance(x, Number)


def _reads(f: Callable, read: Callable, makes: bool) -> Callable:
    """Return ``f``, which takes lists of traced numbers for the arrays that they stand for.

    Where it ``makes`` an array that may be filled, the result is one that takes traced values. An
    array that it writes into stays what it is.
    """
    names = positional_names(f)
    written = names[0] if is_writer(f) else "out"
    target = names.index(written) if written in names else -1

    @functools.wraps(f)
    def reads(*args: Any, **kwargs: Any) -> Any:
        if a_run() is None:
            return f(*args, **kwargs)
        given = args
        for x in args:  # nearly always there is nothing to be read
            if isinstance(x, Traced):
                continue
            if type(x) not in LEAVES or (type(x) is np.ndarray and x.dtype is OBJECT):
                read_of = [x if k == target else _as_read(x, read) for k, x in enumerate(args)]
                args = tuple(read_of)
                break
        if kwargs:
            kwargs = {k: x if k == written else _as_read(x, read) for k, x in kwargs.items()}
        y = _asked(f, args, kwargs)
        if args is not given:
            mark_views_of_healed(y, args, given)
        if not makes:
            return y
        return buffers_if_new(y, (args, kwargs) if kwargs else args)

    return _as_shown(reads, f)


def _asked(f: Callable, args: tuple, kwargs: dict) -> Any:
    """Call ``f``, whose rule answers also where only an option is traced, of which NumPy asks none.

    ``np.linalg.norm(x, p)`` would compare ``p`` with 2, and go on without its derivative.
    """
    options = (*args[1:], *kwargs.values()) if kwargs else args[1:]
    for x in options:
        if isinstance(x, Traced):
            break
    else:
        return f(*args, **kwargs)
    if numbers is not None:
        y = numbers.answer_call(f, args, kwargs)
        if y is not NotImplemented:
            return y
    if isinstance(args[0] if args else x, Traced) or rrule.kind_of(f) is None:
        return f(*args, **kwargs)
    return call(f, args, kwargs)


def _as_read(x: Any, read: Callable) -> Any:
    cls = type(x)
    if cls is np.ndarray:
        return x if x.dtype is not OBJECT else read(x)
    return read(x) if cls not in LEAVES and isinstance(x, _READ) else array_shown_by(x)


_READ = (list, tuple, np.ndarray)


def _of_anything(f: Callable) -> Callable:
    """Return ``f``, which makes an array of anything, also where that is traced."""
    made_of_traced = CONSTRUCTORS[f]
    listed = f is np.fromiter  # what is iterated over can be looked at but once

    @functools.wraps(f)
    def makes(*args: Any, **kwargs: Any) -> Any:
        if listed and a_run() is not None:
            args, kwargs = _listed(args, kwargs)
        for x in (*args, *kwargs.values()) if kwargs else args:
            if not is_plain(x):
                break
        else:
            return _new(f(*args, **kwargs), args)
        level = innermost((*args, *kwargs.values()))
        if level is BUFFERS:
            given = args[0] if args else None
            if type(given) is BufferArray and not isinstance(given.primal, Traced):
                return level.call(f, args, kwargs)  # which may be the result
            args, kwargs = all_settled(args), all_settled(kwargs)
            level = innermost((*args, *kwargs.values()))
            if type(given) is BufferArray and level is not None:
                y = made_of_traced(*args, **kwargs)
                return given if y is given.primal else y
        if level is not None:
            if args and type(args[0]) in passing:
                args = (array_shown_by(args[0]), *args[1:])
            return made_of_traced(*args, **kwargs)
        if args and a_run() is not None:
            shown = array_shown_by(args[0])
            if shown is not args[0]:
                return makes(shown, *args[1:], **kwargs)
        y = f(*args, **kwargs)
        if is_object_array(y):
            # One that is read-only is the copy of a traced array that NumPy was given.
            new = all(y is not x for x in args)
            y = healed(y) if new or not y.flags.writeable else y
        return _new(y, args)

    return _as_shown(makes, f)


def _new(y: Any, args: tuple) -> Any:
    """Return an array as a buffer, where a transform runs and it is none of ``args``."""
    if a_run() is None:
        return y
    for x in args:
        if y is x:
            return y
    return buffer(y) if getattr(y, "base", None) is None else buffer_if_new(y, args)


def _listed(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Return arguments of ``np.fromiter`` with a list of what it would take from an iterator."""
    count = kwargs.get("count", args[2] if len(args) > 2 else -1)
    if args:
        return (list(itertools.islice(args[0], None if count < 0 else count)), *args[1:]), kwargs
    entries = kwargs.pop("iter", ())
    return args, {"iter": list(itertools.islice(entries, None if count < 0 else count)), **kwargs}


def _as_shown(f: Callable, original: Callable) -> Callable:
    """Mark ``f`` as the mirror of ``original``; pickle finds it by its name among the mirrors."""
    f.__shows__ = f, original  # type: ignore[attr-defined]
    f.__module__ = f"{__package__}.{original.__module__}"
    return f


def readers(names: dict) -> dict[str, Any]:
    """Return the functions of arrays among the names of a module, as they are shown here.

    One function is shown by one, whatever names it has.
    """
    return {name: _shown_reader(f) for name, f in names.items() if _is_reader(f)}


def _is_reader(f: Any) -> bool:
    name = getattr(f, "__name__", "")
    if not callable(f) or isinstance(f, type) or name in _NOT_READ or type(f).__hash__ is None:
        return False
    return isinstance(f, type(np.sum)) or name in _FILLED or f in CONSTRUCTORS or f in _PREDICATES


@functools.cache
def _shown_reader(f: Callable) -> Callable:
    name = f.__name__
    if f in _PREDICATES:
        return _reads(f, _numbers_of, False)
    if f in CONSTRUCTORS:
        return _of_anything(f)
    makes = name in _FILLED or f.__module__ in _OF_ARRAYS
    return _reads(f, _read_each if name in _OF_LISTS else _read, makes)


def _is_of_float64(x: Any) -> bool:
    number = isinstance(x, np.ndarray | Number)
    return type(x) in (int, float) or (number and dtype_of(x) == FLOAT64)


class Joining:
    """``np.r_``, ``np.c_`` and ``np.mgrid``, in whose brackets there may be traced values."""

    def __init__(self, join: Any) -> None:
        self._join = join

    def __getattr__(self, name: str) -> Any:
        return getattr(self._join, name)

    def __len__(self) -> int:
        return len(self._join)

    def __getitem__(self, key: Any) -> Any:
        if a_run() is None:
            return self._join[key]
        parts = key if type(key) is tuple else (key,)
        traced = self._join is not np.mgrid and innermost(parts) is not None
        if traced and all(map(_is_of_float64, parts)):
            return self._joined(*map(np.atleast_1d, parts))
        y = self._join[key]
        y, plain = healed(y), value(key)
        if innermost((y,)) is not None and innermost((plain,)) is None:
            dtype = self._join[plain].dtype  # in which a number is weak, and an object is not
            y = y if dtype_of(y) == dtype else y.astype(dtype)
        return buffer(y)

    def _joined(self, *parts: Any) -> Any:
        """Join arrays of float64, of which some are traced."""
        if self._join is np.r_:
            return np.concatenate(parts)
        return np.concatenate([x[:, None] if x.ndim == 1 else x for x in parts], axis=-1)
