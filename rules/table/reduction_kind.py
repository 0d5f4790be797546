"""Reductions: functions of all entries along some axes, with a derivative in each entry.

One function weighs the entries: ``y`` moves by the sum of ``weights * xdot``. So

    @reduction_rule(np.prod)
    def prod_weights(prod, x, y, axis):
        return product_of_others(x, axis)

is the derivative of ``np.prod`` in both directions, with ``axis``, ``keepdims``, ``dtype`` and
``where``, which the kind sees to.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config import MissingRuleError
from ..signatures import parameters
from .kinds import Kind

OPTIONS = {"axis", "dtype", "keepdims", "where"}


def restore(y: Any, axis: Any, keepdims: bool, ndim: int) -> Any:
    """Give back to ``y`` the axes that a reduction of ``ndim`` axes dropped."""
    if axis is None or keepdims or ndim == 0:
        return y
    if type(axis) is int and ndim > 1:
        return y[(slice(None),) * (axis % ndim) + (None,)]  # expand_dims takes far longer
    return np.expand_dims(y, axis)


def select(where: Any, x: Any, otherwise: Any = 0) -> Any:
    """Return ``x`` where it counts."""
    return x if where is True else np.where(where, x, otherwise)


def refuse_integers(x: Any, dtype: Any = None, **options: Any) -> dict:
    """Refuse a ``dtype`` to which a conversion is piecewise constant."""
    if dtype is None:
        return options
    if np.dtype(dtype).kind not in "fc":
        raise MissingRuleError(
            f"dtype={np.dtype(dtype)} truncates the numbers, and would truncate their tangents.\n"
            "  convert the argument before, with x.astype(...): its derivative is then 0"
        )
    return {"dtype": dtype, **options}


def refuse_real(x: Any, dtype: Any = None, **options: Any) -> dict:
    """Refuse a real ``dtype`` for complex numbers, too: NumPy drops imaginary parts on its way."""
    if dtype is not None and np.iscomplexobj(x) and np.dtype(dtype).kind != "c":
        raise MissingRuleError(
            f"a reduction of complex numbers with dtype={np.dtype(dtype)} has no rule.\n"
            "  leave out dtype, or take the real part before"
        )
    return refuse_integers(x, dtype, **options)


class ReductionRule(Kind):
    """``weights(f, x, y, axis, **options)`` are dy/dx, where ``y`` keeps the axes that are reduced.

    A weight w of a map from C to R means ``ydot = Re(sum(w * xdot))``.
    """

    __slots__ = ("adapt", "asked", "axis", "weights")
    label = "reduction rule"

    def __init__(self, f: Any, weights: Callable, line: str, adapt: Callable) -> None:
        named = {p.name: p.default for p in (parameters(weights) or ())[2:]}
        self.asked = named.keys() - {"y", "axis"}
        axis = named["axis"]
        self.axis = None if axis is inspect.Parameter.empty else axis
        self.weights = weights
        self.adapt = adapt
        super().__init__(f, 1, OPTIONS | self.asked, line)

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        args, kwargs = Kind.bind(self, f, args, kwargs)
        return args, self.adapt(args[0], **kwargs) if kwargs else kwargs

    def _weights(self, x: Any, y: Any, axis: Any, options: dict) -> Any:
        y = restore(y, axis, options.get("keepdims", False), np.ndim(x))
        asked = {name: option for name, option in options.items() if name in self.asked}
        return self.weights(self.f, x, y, axis, **asked)

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        (x,) = args
        axis = kwargs.get("axis", self.axis)
        terms = self._weights(x, y, axis, kwargs) * select(kwargs.get("where", True), xdot)
        keepdims = kwargs.get("keepdims", False)
        return np.sum(terms, axis=axis, dtype=kwargs.get("dtype"), keepdims=keepdims)

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        (x,) = args
        axis = kwargs.get("axis", self.axis)
        weights = self._weights(x, y, axis, kwargs)
        ybar = restore(ybar, axis, kwargs.get("keepdims", False), space.ndim)
        return space(select(kwargs.get("where", True), np.conj(weights) * ybar))
