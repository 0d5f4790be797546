"""As ``autograd.numpy.numpy_vspaces``: spaces of arrays, for ``isinstance`` and annotations."""

from typing import Any

from ..convention import is_complex
from ..core import VSpace
from ..trees import parts_of


class _OfArrays(type):
    def __instancecheck__(cls, x: Any) -> bool:
        whole = isinstance(x, VSpace) and parts_of(x._like) is None
        return whole and (cls is ArrayVSpace or is_complex(x._like))


class ArrayVSpace(VSpace, metaclass=_OfArrays):
    """Every space of a number or an array is an instance."""


class ComplexArrayVSpace(ArrayVSpace):
    """Every space of complex numbers is an instance."""
