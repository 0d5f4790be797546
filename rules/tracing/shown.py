"""Object arrays that stand for a traced array elsewhere, and writes into them, which are refused.

``v = np.asarray(y); v[0] = 5`` would have to change ``y``. The array is read-only, and as it does
not own its memory nobody can make it writable; ``ufunc.at`` writes into it all the same. So the
owner of the memory knows the entries that it was given, and compares them when it goes, or when
the outermost run ends, whichever comes first.
"""

import operator
import weakref
from typing import Any

import numpy as np

from ...config import MutationError, user_line
from ..annotations import Value
from ..refusals.table import refusal
from ..shapes import FLOAT64
from .level import Traced, value
from .running import outermost_run
from .views import axes_of, laid_out


class Shown(np.ndarray):
    """Memory of an object array that stands for a traced one: what is handed out is a view of it.

    Its entries never change: where they have, the run that it belongs to fails.
    """

    given: list
    line: str
    run: weakref.ref

    def __del__(self) -> None:
        run = self.run() if hasattr(self, "run") else None
        if run is not None:
            run.written = run.written or self.written()

    def entries(self) -> list:
        return self.view(np.ndarray).reshape(-1).tolist()

    def written(self) -> MutationError | None:
        """Return the error of a write into this memory, if there was one."""
        if all(map(operator.is_, self.entries(), self.given)):
            return None
        return refusal("shown array written by at", line=self.line)


def shown(x: Value, of_python: bool = False) -> np.ndarray:
    """Return a read-only object array that stands for the traced ``x``, one number per entry."""
    owner = as_object_array(x, Shown, of_python)
    owner.flags.writeable = False
    run = outermost_run()
    if run is not None:
        owner.given, owner.line, owner.run = owner.entries(), user_line(), weakref.ref(run)
        run.shown[id(owner)] = owner
    return owner.view(np.ndarray)


def is_shown(x: Value) -> bool:
    """Say whether ``x`` is a view of an object array that stands for a traced one."""
    while type(x) is np.ndarray:
        x = x.base
    return type(x) is Shown


def refused_write(message: str) -> MutationError:
    """Return the error of a write into what ``np.asarray`` made of a traced array."""
    return refusal("shown array written", message=message)


def as_object_array(x: Any, cls: type = np.ndarray, of_python: bool = False) -> Any:
    """Return an object array that lies as the traced ``x`` does, with one number per entry.

    It is Python's where NumPy was asked for objects, as ``x.astype(object)`` has them.
    """
    if not type(x).writable:
        array: Any = np.ndarray.__new__(cls, (), object)
        array[()] = _as_entry(x, of_python)
        return array
    plain: Any = value(x)
    recorded = isinstance(plain, Traced)
    if recorded:  # it says how it lies, and its numbers are not looked at
        array = laid_out(np.empty(np.shape(plain), object), axes_of(plain)).view(cls)
    else:
        array = np.empty_like(np.asarray(plain).view(cls), object)
    for index in np.ndindex(array.shape):
        array[index] = _as_entry(x[index], of_python)
    return array


def _as_entry(number: Any, of_python: bool) -> Any:
    return number.item() if of_python and number.dtype is FLOAT64 else number
