"""Operators of dask's arrays that leave a traced array on their right to answer.

A traced array passes for one of NumPy's, which dask would put into a chunk. With
``cr.adopt("dask.array.core")`` dask asks here whether to leave an operator to the other operand, so
that ``D @ w`` is answered by ``w``.
"""

from typing import Any

from dask.array import core

from ..rules import Traced

_dasks = core._should_delegate


def _should_delegate(array: Any, other: Any) -> bool:
    return issubclass(type(other), Traced) or _dasks(array, other)
