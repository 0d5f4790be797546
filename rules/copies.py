"""Copies of containers: a list, a dict or an object of the same class that holds other values."""

import copy
import functools
from collections import OrderedDict, deque
from typing import Any

from ..config import ContainerError
from .annotations import Value


def is_cached(cls: type, name: str) -> bool:
    """Say whether an attribute is computed from the fields, and only remembered."""
    return isinstance(getattr(cls, name, None), functools.cached_property)


# Copies are filled by the methods of the plain container: those of a user's class may do
# something else, such as count or convert what they are given.


def plain_dict(x: dict) -> type[dict]:
    return OrderedDict if isinstance(x, OrderedDict) else dict


def copy_dict(x: dict, keys: tuple, values: list) -> dict:
    if type(x) is dict:
        return dict(zip(keys, values, strict=True))
    # A copy keeps the class and what else it holds, as a defaultdict its factory.
    y, plain = _copy(x), plain_dict(x)
    plain.clear(y)
    for key, value in zip(keys, values, strict=True):
        plain.__setitem__(y, key, value)
    _restore_attributes(y, x)
    return y


def copy_list(x: list, values: list) -> list:
    y = _copy(x)
    list.__setitem__(y, slice(None), values)
    _restore_attributes(y, x)
    return y


def copy_deque(x: deque, values: list) -> deque:
    y = _copy(x)
    deque.clear(y)
    deque.extend(y, values)
    _restore_attributes(y, x)
    return y


def _restore_attributes(y: Value, x: Value) -> None:
    if hasattr(x, "__dict__"):  # the copying may have called methods that change them
        y.__dict__.update(x.__dict__)


def copy_object(x: Value, names: tuple[str, ...], values: list) -> Any:
    y = _copy(x)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(y, name, value)  # frozen dataclasses forbid their own setattr
    for name in tuple(getattr(y, "__dict__", ())):
        if is_cached(type(y), name):
            object.__delattr__(y, name)  # it is that of the values before
    return y


def _copy(x: Value) -> Any:
    y = copy.copy(x)
    if y is x or type(y) is not type(x):
        raise ContainerError(
            f"copy.copy of a {type(x).__name__} gave {'itself' if y is x else type(y).__name__}, "
            "so it cannot be built anew with other values.\n"
            "  let its __copy__ return another one of its class, or give plain containers"
        )
    return y
