"""A traced array: a sequence, and something that can be written to."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..config import MutationError, user_line
from .calls import array_of, call
from .levels import Traced, value
from .project import dtype_of
from .traced import TracedNumber, describe


class Flat:
    """``x.flat``: the entries of a traced array one after the other, to read and to write."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return self.x.size

    def __iter__(self) -> Iterator[Any]:
        return iter(call(np.ravel, (self.x,), {}))

    def __getitem__(self, index: Any) -> Any:
        return call(np.ravel, (self.x,), {})[index]

    def __setitem__(self, index: Any, v: Any) -> None:
        positions = np.arange(self.x.size)[index]
        self.x[np.unravel_index(positions, self.x.shape)] = v


def _in_place(operation: Callable) -> Callable:
    def operate(self: Any, other: Any) -> Any:
        y = operation(self, other)
        if not np.can_cast(dtype_of(y) or float, self.dtype, "same_kind"):
            raise MutationError(
                f"an in-place operator in {user_line()} gives {describe(y)}, which an array of "
                f"dtype {self.dtype} cannot hold.\n  write x = x + ... instead of x += ..."
            )
        self[...] = y
        return self

    return operate


def _refused(what: str, instead: str) -> Callable:
    def refuse(self: Traced, *args: Any, **kwargs: Any) -> Any:
        raise MutationError(
            f"{what} is not possible on a traced {describe(self)}, in {user_line()}.\n  {instead}"
        )

    return refuse


class TracedArray(TracedNumber):
    """A traced array: a traced number that is also a sequence, and that can be written to.

    ``base_and_path`` is set on views, and ``views`` on arrays that have any; see ``views.py``.
    """

    __slots__ = ("__weakref__", "base_and_path", "views")

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(value(self))

    def __getitem__(self, index: Any) -> Any:
        return self.level.getitem(self, index)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return value(x) in value(self)

    def __copy__(self) -> Any:
        return call(np.copy, (self,), {})

    def __deepcopy__(self, memo: dict) -> Any:
        return call(np.copy, (self,), {})

    def tolist(self) -> list:
        return [row.tolist() if self.ndim > 1 else row for row in self]

    @property
    def flat(self) -> "Flat":
        return Flat(self)

    # ---- writing ----

    def __setitem__(self, index: Any, v: Any) -> None:
        self.level.write(self, index, array_of(v) if isinstance(v, list | tuple) else v)

    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __ipow__, __imatmul__ = _in_place(operator.pow), _in_place(operator.matmul)
    __ifloordiv__, __imod__ = _in_place(operator.floordiv), _in_place(operator.mod)

    def fill(self, v: Any) -> None:
        self[...] = v

    def sort(self, axis: int = -1, **options: Any) -> None:
        self[...] = np.sort(self, axis=axis, **options)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> None:
        self[...] = np.partition(self, kth, axis=axis, **options)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        call(np.put, (self, indices, values, mode), {})

    resize = _refused("x.resize(...)", "write x = np.resize(x, ...) or np.reshape(x, ...)")
    __delitem__ = _refused("del x[index]", "write x = np.delete(x, index)")
