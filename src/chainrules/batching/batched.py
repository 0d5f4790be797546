"""Batched values: one number or array for each item of a batch, in an array with one axis more.

To every transform inside, and to every rule, a batched value is the plain number or array of one
item: see ``observed``. Its ``block``, of shape ``(items, *shape)``, may be traced by a transform
further out, or batched itself.
"""

from typing import Any

import numpy as np

from ..rules import TracedArray, TracedNumber, dtype_of
from ..rules.tracing.observed import Observed
from ..rules.tracing.views import bare, draft_of, follow, give_value, root_of
from ..rules.tracing.writing import hand_out
from .ways import OneByOne


class _Batched(Observed):
    """Base class of batched numbers and arrays."""

    __slots__ = ()
    block: Any

    def whole(self) -> Any:
        return self.block

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        batched: Any = self
        return TracedNumber.astype(batched, dtype, *args, **options)


class BatchedNumber(_Batched, TracedNumber):
    """A number for each item of a batch.

    Python's where ``of_python``, as ``x.item()`` and ``math.sin(x)`` give it: it raises where it is
    divided by zero, and NumPy's does not.
    """

    __slots__ = ("block", "of_python")
    of_python: bool

    __class__ = property(lambda self: type(self.sample))

    @property
    def sample(self) -> Any:
        sample = sample_of(self.block)
        return sample.item() if self.of_python else sample

    @property
    def dtype(self) -> Any:
        return dtype_of(self.block)

    shape: Any = ()
    ndim: Any = 0
    size: Any = 1

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if dtype is None and self.dtype.kind in "fc":
            self.at_level.made_objects = True
            return TracedNumber.__array__(self)  # of one batched number: np.array([x, y])
        return Observed.__array__(self, dtype, copy)

    def __hash__(self) -> int:
        return hash(self.primal)


class BatchedArray(_Batched, TracedArray):
    """An array for each item of a batch."""

    __slots__ = ("block",)

    __class__ = property(lambda self: np.ndarray)
    __hash__ = None

    @property
    def sample(self) -> Any:
        root, path = root_of(self)
        draft = None if _is_given(self) else draft_of(root)
        if draft is None:
            return np.asarray(sample_of(self.block))
        return follow(path, np.asarray(sample_of(draft[0])))

    @property
    def flags(self) -> Any:
        """Return the flags of an item: of an array in memory of its own, or of a view."""
        sample = self.sample
        return (sample.copy(order="K") if root_of(self)[0] is self else sample).flags

    def __getattr__(self, name: str) -> Any:
        if name == "block" and (root_of(self)[1] or draft_of(self) is not None):
            give_value(self)
            return self.block
        if name in _OF_MEMORY:
            raise OneByOne(self.at_level, f"x.{name} shows the memory of each item's array")
        return Observed.__getattr__(self, name)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or args not in ((), (np.ndarray,)):
            raise OneByOne(self.at_level, "x.view(...) shows the memory of each item's array")
        return self[...]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if not copy and self.dtype.kind in "fc":
            # NumPy gives the array itself: what is written into either would be seen in both.
            raise OneByOne(self.at_level, "np.asarray of an array is the array of each item")
        y = Observed.__array__(self, dtype, copy)
        if not copy:
            hand_out(root_of(self)[0], y)
        return y

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))


# What is written into the array later would be seen there.
_OF_MEMORY = frozenset({"data", "ctypes", "base", "getfield", "setfield"})
_block = vars(BatchedArray)["block"].__get__


def _is_given(x: BatchedArray) -> bool:
    try:
        _block(x)
    except AttributeError:
        return False
    return True


def sample_of(block: Any) -> Any:
    """Return the plain value of the first item."""
    return bare(block)[0]


def is_batched(x: Any) -> bool:
    """Say whether ``x`` is a batched value, of any batch."""
    kind = type(x)
    return kind is BatchedArray or kind is BatchedNumber
