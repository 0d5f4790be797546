"""Conversions to plain numbers, which a traced value refuses: it would lose its derivative.

``float(x)``, ``math.sin(x)``, ``range(x)`` and ``"%g" % x`` are errors that say what to write
instead.

What they ask with says little of what the user wrote, so a text names all that it may be.
"""

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...config import EntrywiseWarning, LostDerivativeError, warn_user
from ...config.thresholds import ENTRYWISE
from ..annotations import Function, Value
from ..refusals.remedies import adopted, asked, or_adopt
from ..refusals.table import refusal
from ..shapes import shape_of
from ..signatures import name_of
from .level import Traced, value
from .running import refused
from .views import bare, root_of


def describe(x: Any) -> str:
    """Return ``float64[3, 2]`` for an array, the type's name for anything else."""
    x = value(x)
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return type(x).__name__
    name = _text_of(dtype) if isinstance(dtype, np.dtype) else str(dtype)
    shape = ", ".join(map(str, np.shape(x)))
    return f"{name}[{shape}]" if shape else name


# NumPy writes a dtype in Python, and asks for attributes of each entry of a list.
_text_of = functools.lru_cache(str)


def lost(what: str, instead: str) -> Callable:
    """Return a method that refuses to give the plain number, and says what to write instead."""

    def lose(self: Traced, *args: object, **kwargs: object) -> Any:
        raise lost_by(self, what, instead)

    return lose


def lost_by(x: Value, what: str, instead: str) -> LostDerivativeError:
    return refusal("plain number", what=what, x=describe(x), instead=instead)


def lost_to(what: str, instead: str, *, number: bool = True) -> Callable:
    """As ``lost``, for methods that much asks for: what it was, the user's line may tell.

    That it refused is noted where plain values would have given what was asked for: of many
    numbers, or a complex one, Python makes no ``number``.
    """

    def lose(self: Traced, *args: object, **kwargs: object) -> Any:
        error = lost_by(self, *(asked() or (what, or_adopt(instead))))
        x = value(self)
        fails = number and (math.prod(shape_of(x)) != 1 or np.iscomplexobj(x))
        raise error if fails else refused(error)

    return lose


KEEP = """keep the traced value:
    np.sin(x) instead of math.sin(x), x instead of np.float64(x)
    np.stack([x, y]) or cr.array([x, y]) instead of np.array([x, y], float)
    np.zeros_like(x) or np.zeros(n, like=x) for a buffer that is written to
    a + b * rng.normal() instead of rng.normal(a, b)
    from chainrules import numpy as np, for np.zeros, np.full, np.arange and np.vectorize
    and for arrays kept in an object (self.y[i] = x), make the object inside the function"""
STACK = """leave out the dtype, or let the traced value be seen:
    cr.array(x, float) instead of np.array(x, float) or np.asarray(x, float)
    np.stack([x, y]) instead of np.array([x, y], float)
    np.zeros_like(x) or np.zeros(n, like=x) for a buffer that buffer[i:j] = x is written to
    from chainrules import numpy as np, for np.zeros and other functions that make arrays
    and for arrays kept in an object (self.y[i] = x), make the object inside the function"""
TO_ARRAY = "np.array, np.asarray or a function that is not NumPy's"
SIZES = """pass integers beside the differentiated arguments, or as fields of an object: there
    they are constants, and so are tuples of integers; in a list or a dict they are not"""
_lose_array = lost_to(TO_ARRAY, STACK, number=False)
_lose_number = lost_to(TO_ARRAY, KEEP, number=False)


def whole(x: Value) -> int:
    """Return ``int(x)``, in an adopted module: it is constant between whole numbers."""
    plain = value(x)
    if id(sys._getframe(1).f_globals) in adopted and not isinstance(plain, int | np.integer):
        return int(plain)
    return _lose_whole(x)


_lose_whole = lost_to("int(x)", "write int(np.trunc(x)), which is constant")


def refuse_compiled(x: Value, f: Function) -> None:
    """Refuse a call of what numba.vectorize compiled, which passes for a ufunc."""
    raise lost_by(
        x,
        f"{name_of(f)}, which is compiled,",
        'cr.adopt("its module") and call it there by its name: then its Python runs instead',
    )


def refuse_two_precisions(x: Value, y: Value) -> None:
    """Refuse that NumPy compares two numbers in a list, of which it would make one dtype before.

    It takes the numbers in the list as objects, asks for each pair which is larger, and gives back
    one of them as it is.
    """
    kinds = {part.dtype.name for part in (x, y) if isinstance(part, np.generic)}
    if len(kinds) == 1 or not sys._getframe(2).f_globals.get("__name__", "").startswith("numpy"):
        return
    instead = or_adopt("give it np.stack([x, y]) or cr.array([x, y]) in place of the list")
    kinds_of_both = " and ".join(sorted(kinds))
    raise refusal("two precisions in a list", kinds=kinds_of_both, instead=instead)


# NumPy says that the imaginary part of an object array is 0, and asks nobody.
_lose_complex = lost_to(
    "np.array, np.asarray or a function that is not NumPy's, of complex numbers,",
    "write cr.array([z, w]) or np.stack([z, w]) instead of np.array([z, w]); z itself instead of "
    "np.asarray(z)",
    number=False,
)


# Functions that read memory as it lies: that of objects is references, of which they make numbers,
# or which they copy uncounted. By the module that asks, and its function.
_READ_MEMORY = {
    ("numpy.lib._stride_tricks_impl", "as_strided"): "np.lib.stride_tricks.as_strided",
    ("scipy.spatial.distance", "squareform"): "scipy.spatial.distance.squareform",
}
AS_IT_LIES = "write it by indices, x[np.arange(n)[:, None] - np.arange(n)] and the like"


def refuse_reader_of_memory(x: Value) -> None:
    """Refuse what would read the memory of ``x``: the first to ask outside of ``__array__``.

    ``as_strided`` may have one whose objects lie as its numbers do: of eight bytes, and no view.
    """
    asking = sys._getframe(2)
    while asking.f_code.co_name == "__array__" and asking.f_back is not None:  # a level's own
        asking = asking.f_back
    name = _READ_MEMORY.get((asking.f_globals.get("__name__", ""), asking.f_code.co_name))
    if name is None:
        return
    plain = bare(x)
    as_numbers = plain.itemsize == np.dtype(object).itemsize and plain.flags.c_contiguous
    if name.startswith("scipy.") or root_of(x)[1] or not as_numbers:
        raise lost_by(x, f"{name}, which reads memory as it lies,", or_adopt(AS_IT_LIES))


def refuse_array(x: Value, dtype: DTypeLike | None) -> None:
    """Refuse to make an array of plain numbers of ``x``."""
    if dtype is not None and np.dtype(dtype) != object:
        (_lose_array if hasattr(x, "__len__") else _lose_number)(x)
    if np.iscomplexobj(value(x)):
        _lose_complex(x)


def tell_of_entries(x: Value) -> None:
    """Warn that an object array of the many numbers of ``x`` is made, since it is a slow one."""
    if math.prod(shape_of(x)) < ENTRYWISE:
        return
    instead = or_adopt("leave np.asarray out where its argument is an array")
    warn_user(
        EntrywiseWarning(
            f"np.asarray, np.array or a function that is not NumPy's made an object array of "
            f"{describe(x)}, on which NumPy computes number by number, a thousand times slower.\n"
            f"  {instead}"
        )
    )


def index_of_entry(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the entry at ``position`` in an array of ``shape``, in C order."""
    size = math.prod(shape)
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for size {size}")
    return tuple(map(int, np.unravel_index(position % size, shape)))
