"""Array API standard: the namespace and the device of traced arrays and of NumPy's traced numbers.

A function that is written to the standard asks ``x.__array_namespace__()`` for the functions to
call. The namespace of a traced value is the mirror of its primal's, whose functions see traced
values. A primal that has none, as a float or an array of dask, leaves the traced value without one.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..annotations import Value
from .views import bare

# By a namespace, what loads its mirror: of NumPy, ``chainrules.numpy``.
mirrors: dict[ModuleType, Callable[[], ModuleType]] = {}


def follow_standard(cls: type) -> None:
    """Give a class of traced values the attributes of the standard that NumPy's arrays have."""
    cls.__array_namespace__ = property(_asked_for_namespace)  # type: ignore[attr-defined]
    cls.device = property(lambda self: bare(self).device)  # type: ignore[attr-defined]
    cls.to_device = property(_asked_for_device)  # type: ignore[attr-defined]


def _asked_for_namespace(x: Value) -> Callable:
    of_primal = bare(x).__array_namespace__  # or an AttributeError, as of the primal

    def namespace(*, api_version: str | None = None) -> Any:
        found = of_primal(api_version=api_version)
        return mirrors[found]() if found in mirrors else found

    return namespace


def _asked_for_device(x: Value) -> Callable:
    of_primal = bare(x).to_device

    def to_device(device: object, /, *, stream: object = None) -> Value:
        of_primal(device, stream=stream)  # or its refusal: NumPy has one device
        return x

    return to_device
