"""The funnel: every call that may involve a traced value ends in ``call``."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike

from ...config import LostDerivativeError, MutationError
from ...config.tracebacks import trim_traceback
from ..accelerated import numbers
from ..annotations import Function, Index, P, Value
from ..refusals.table import refusal
from ..shapes import dtype_of, is_lazy
from ..signatures import content_of
from .level import Traced, innermost, type_under
from .views import bare

R = TypeVar("R")
T = TypeVar("T")


def call(f: Function, args: tuple, kwargs: dict) -> Any:
    """Evaluate ``f`` at the innermost level among its arguments, or plainly where there is none."""
    level = innermost((f, *args, *kwargs.values()) if kwargs else (f, *args))
    if level is None:
        return body(f)(*args, **kwargs)
    return level.call(f, args, kwargs)


def body(f: Function) -> Any:
    """Return what runs when no rule of ``f`` answers: the function under ``@primitive``."""
    if not is_primitive(f):
        return shown(f)
    return f.__made__ if isinstance(f, type) else f.__body__  # type: ignore[attr-defined]


def is_primitive(f: Function) -> bool:
    """Say whether ``@primitive`` made ``f``; ``functools.wraps`` copies its mark to others."""
    return getattr(f, "__primitive__", None) is f


def shown(f: Function) -> Function:
    """Return the function of a library whose calls ``f`` shows, else ``f`` itself.

    What shows one has a mark with its own name: ``functools.wraps`` copies it to others.
    """
    shower, of_library = getattr(f, "__shows__", (None, f))
    return of_library if shower is f else f


def as_imported(f: Function) -> Function:
    """Mark a function of another library, whose parts have the rules that it has not itself."""
    f.__imported__ = f  # type: ignore[attr-defined]
    return f


def is_imported(f: Function) -> bool:
    """Say whether ``f`` is of another library; ``functools.wraps`` copies its mark to others."""
    return getattr(f, "__imported__", None) is f


def is_seen(f: Function) -> bool:
    """Say whether calls of ``f`` with traced values are seen: by NumPy's protocols, or by us."""
    return is_primitive(f) or is_numpys(f)


def is_numpys(f: Function) -> bool:
    """Say whether ``f`` is a function, a ufunc, or a method of one, that has NumPy's protocols."""
    return isinstance(getattr(f, "__self__", f), np.ufunc | type(np.sum))


@overload
def primitive(f: type[T], run: Callable = ...) -> type[T]: ...
@overload
def primitive(f: Callable[P, R], run: Callable = ...) -> Callable[P, R]: ...
def primitive(f: Function, run: Callable | None = None) -> Any:
    """Return ``f`` as a function whose calls with traced values use its rules.

    It is ``cr.primitive``, which says more, without its keywords. ``run(f, args, kwargs)`` calls
    ``f`` where nothing is traced.
    """
    if isinstance(f, type) and f.__flags__ & _DEFINED_IN_PYTHON:
        return _seen_class(f)

    @functools.wraps(f)
    def wrapper(*args: object, **kwargs: object) -> Any:
        try:
            level = innermost((*args, *kwargs.values()) if kwargs else args)
            if level is not None:
                return level.call(wrapper, args, kwargs)
            try:
                return f(*args, **kwargs) if run is None else run(f, args, kwargs)
            except Exception as error:
                _explain_captured(wrapper, (*args, *kwargs.values()), error)
                raise
        except BaseException as error:
            trim_traceback(error)
            raise

    wrapper.__primitive__ = wrapper  # type: ignore[attr-defined]
    wrapper.__body__ = f  # type: ignore[attr-defined]  # users may change __wrapped__
    return wrapper


def _explain_captured(f: Function, args: tuple, error: Exception) -> None:
    """Say that a function among ``args`` brought the traced value that the body cannot follow.

    Raises
    ------
    LostDerivativeError
        If that is why ``f``, whose arguments are plain, failed.
    """
    lost = LostDerivativeError, MutationError
    met = isinstance(error, lost) or isinstance(error.__cause__, lost)
    if met and any(map(_captures_traced, args)):
        raise refusal("captured by an argument", name=f.__name__) from error


def _captures_traced(x: Value, depth: int = 3) -> bool:
    """Say whether a function, or one that it captures, holds a traced value."""
    if isinstance(x, functools.partial):
        held = (x.func, *x.args, *x.keywords.values())
    else:
        x = getattr(x, "__func__", x)
        cells = getattr(x, "__closure__", None) or ()
        held = (*(getattr(x, "__defaults__", None) or ()), *map(content_of, cells))
    return innermost(held) is not None or (
        depth > 0 and any(_captures_traced(part, depth - 1) for part in held)
    )


_DEFINED_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _seen_class(cls: type) -> type:
    """Return a subclass of ``cls`` whose constructor sends traced values to its rules."""
    metaclass: Any = type(cls)

    class Seen(metaclass):
        def __call__(self, *args: object, **kwargs: object) -> Any:
            # A subclass of the user's has a constructor of its own, without these rules.
            level = innermost((*args, *kwargs.values())) if is_primitive(self) else None
            if level is None:
                return super().__call__(*args, **kwargs)
            return level.call(self, args, kwargs)

        def __made__(self, *args: object, **kwargs: object) -> Any:
            return super().__call__(*args, **kwargs)

        @property
        def __signature__(self) -> inspect.Signature:
            cls: Any = self
            made = cls.__new__ if cls.__init__ is object.__init__ else cls.__init__
            return inspect.signature(functools.partial(made, None))

    same = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    # Without a dict where cls has none; and @dataclass above @primitive looks for its annotations.
    same |= {"__slots__": (), "__annotations__": inspect.get_annotations(cls)}
    seen = Seen(cls.__name__, (cls,), same)
    seen.__primitive__ = seen
    return seen


@primitive
def getitem(x: Any, index: Index) -> Value:
    """Read ``x[index]``."""
    try:
        return x[index]
    except (NotImplementedError, TypeError):
        if not is_lazy(x):
            raise
        return read_points(x, index)


def read_points(x: Any, index: Index) -> Any:
    """Read ``x[index]`` of an array of dask by several arrays, or by one of several axes.

    Dask calls it ``x.vindex``, takes nothing else but full slices beside, and puts first what the
    arrays read.
    """
    parts = list(index if type(index) is tuple else (index,))
    if any(part is ... for part in parts):
        at = next(k for k, part in enumerate(parts) if part is ...)
        parts[at : at + 1] = [slice(None)] * (x.ndim - len(parts) + 1)
    read = [k for k, part in enumerate(parts) if not isinstance(part, slice)]
    y = x.vindex[tuple(parts)]
    rank = np.broadcast(*(np.asarray(parts[k]) for k in read)).ndim
    together = read[-1] - read[0] == len(read) - 1
    return np.moveaxis(y, range(rank), range(read[0], read[0] + rank)) if together else y


@primitive
def astype(x: Value, dtype: DTypeLike, **options: object) -> Any:
    """Convert ``x`` to another dtype."""
    return (x if hasattr(x, "astype") else np.asarray(x)[()]).astype(dtype, **options)


@primitive
def entry(x: Value, index: tuple = ()) -> Any:
    """Read one entry as a number of Python's, as ``x.item(*index)`` does."""
    return np.asarray(x)[index].item()


def convert(x: Any, dtype: DTypeLike, options: dict) -> Any:
    """Convert a traced ``x`` as its method ``astype`` does: to itself, where it may be no copy."""
    whole, may_be_itself = not options and type_under(x) is np.ndarray, options.get("copy") is False
    if (whole or may_be_itself) and x.dtype == np.dtype(dtype):
        if whole:
            return call(np.copy, (x,), {})
        if lies_in_order(x, options.get("order", "K")):
            return x
    if np.dtype(dtype) == object:
        return x.__array__(copy=True)  # of traced numbers, which keep the derivative
    return call(astype, (x, dtype), options)


def lies_in_order(x: Any, order: str | None) -> bool:
    """Say whether the memory of an array, or a number, is in an order that is asked for."""
    flags = getattr(x, "flags", None)
    if flags is None or order not in ("A", "C", "F"):
        return True
    return (order != "F" and flags.c_contiguous) or (order != "C" and flags.f_contiguous)


def as_dtype(x: Value, dtype: DTypeLike) -> Any:
    """Convert a traced ``x``; of dtype object are arrays of traced numbers, as ``asarray`` gives.

    Of plain objects NumPy would make, with no derivative, what the rules take for constants.
    """
    return np.asarray(x, dtype) if np.dtype(dtype) == object else astype(x, dtype)


def array_of(x: Value, dtype: DTypeLike | None = None, **options: Any) -> Any:
    """Build an array from nested sequences of numbers and arrays, traced ones included.

    Parameters
    ----------
    x : array_like
        As for ``np.array``; the entries may be traced.
    dtype : dtype, optional
    **options
        Passed to ``np.array`` where nothing is traced.

    Returns
    -------
    array
        Of the shape that ``np.array`` gives.

    Examples
    --------
    >>> import chainrules as cr
    >>> cr.jacobian(lambda x: cr.array([x, x * x]))(3.0)
    array([1., 6.])
    """
    if isinstance(x, Traced):
        return x if dtype is None else as_dtype(x, dtype)
    if type(x) is np.ndarray and x.dtype.hasobject and any(isinstance(v, Traced) for v in x.flat):
        x = x.tolist()
    stacked = _joined(x)
    if stacked is NotImplemented:
        if innermost((x,)) is None:
            return np.array(x, dtype, **options)
        stacked = _stack(x)
    return stacked if dtype is None else as_dtype(stacked, dtype)


_INTEGERS = np.dtype(int)
_EXACT = 1 << 53  # up to which all integers are floats


def _beside_floats(parts: list) -> list:
    """Return parts of an array with floats for integers, as NumPy has them beside traced floats.

    Joins of floats alone are the ones that take a short way.
    """
    dtypes = (dtype_of(p) for p in parts if isinstance(p, Traced))
    if not any(dtype is not None and dtype.kind in "fc" for dtype in dtypes):
        return parts

    def part(p: Any) -> Any:
        if type(p) is int:
            return float(p) if -_EXACT <= p <= _EXACT else p
        return p.astype(float) if type(p) is np.ndarray and p.dtype is _INTEGERS else p

    return list(map(part, parts))


def _joined(x: Value) -> Any:
    """Return a list of numbers as an array, where one is traced; NotImplemented of all else."""
    return NotImplemented if numbers is None else numbers.join_numbers(x)


def _stack(x: Value) -> Any:
    if not isinstance(x, list | tuple):
        return x
    parts = [_stack(part) if isinstance(part, list | tuple) else part for part in x]
    y = _joined(parts)
    if y is NotImplemented:
        if innermost(parts) is None:
            return np.array(parts)
        y = np.stack(_beside_floats(parts))
    # NumPy's array lies in C order, where np.stack keeps that of its parts.
    plain = bare(y)
    return y if type(plain) is not np.ndarray or plain.flags.c_contiguous else np.copy(y, "C")
