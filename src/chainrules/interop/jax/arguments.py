"""Split of a function's arguments into data (numbers and arrays) and static values."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...config import ExchangeError, user_line
from ...rules import describe, dtype_of, is_traced, name_of, shape_of, type_under

_NUMBERS = (bool, int, float, complex)


class Held:
    """An argument that is no number: two are equal where what they hold is."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and type(self.x) is type(other.x) and self.x == other.x

    def __hash__(self) -> int:
        return hash(self.x)


def is_data(x: Any) -> bool:
    """Say whether ``x`` is a number or an array of numbers: of NumPy, of JAX, or a traced one."""
    return isinstance(x, _NUMBERS + _ARRAYS) or hasattr(type(x), "__jax_array__")


_ARRAYS = (np.ndarray, np.generic, jax.Array)


def kind_of(x: Any) -> Any:
    """Return what tells ``x`` apart: shape and dtype of a number or an array, or ``x``, held."""
    cls = type(x)
    if cls is np.ndarray and x.dtype.kind in "fciub":
        return x.shape, x.dtype
    if cls in _NUMBERS:
        return cls
    if not is_data(x):
        return Held(x)
    if type_under(x) in _NUMBERS:
        return type_under(x)
    dtype = dtype_of(x)
    if dtype is None or dtype.kind not in "fciub":
        raise ExchangeError(
            f"{describe(x)} is no array of numbers that both NumPy and JAX compute with, in "
            f"{user_line()}.\n  convert it, for example by x.astype(np.float32)"
        )
    return shape_of(x), dtype


def building(tree: Any, kinds: tuple) -> Callable[[Any], tuple[tuple, dict]]:
    """Return what makes the arguments of a function, with data between what is held."""

    def build(xs: Any) -> tuple[tuple, dict]:
        data = iter(xs)
        return jax.tree.unflatten(
            tree, [kind.x if type(kind) is Held else next(data) for kind in kinds]
        )

    return build


def refuse_held(f: Callable, kinds: tuple) -> None:
    """Refuse arguments that nobody can compare, or in which traced values are hidden.

    Raises
    ------
    TypeError
    """
    for kind in kinds:
        if type(kind) is not Held:
            continue
        name = type(kind.x).__name__
        remedy = (
            f"register {name} with jax.tree_util.register_dataclass, or give numbers, arrays, and "
            "containers of these"
        )
        if is_traced(kind.x):
            raise ExchangeError(
                f"{name_of(f)} was given a {name} with numbers that are differentiated, and JAX "
                f"does not know its parts, in {user_line()}.\n  {remedy}"
            )
        try:
            hash(kind)
        except TypeError:
            raise ExchangeError(
                f"{name_of(f)} was given a {name}, which is no number, array or pytree of JAX, and "
                f"is not hashable, in {user_line()}.\n  {remedy}"
            ) from None
