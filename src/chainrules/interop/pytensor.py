"""PyTensor, and so PyMC: ``export(f)`` gives it a function of NumPy code, with its derivatives.

It needs PyTensor (``pip install "chainrules[pytensor]"``), which nothing else here imports.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op

from ..config import ExchangeError, user_line
from ..rules import call, is_traced
from .flat import FlatFunction, Pull, Push, base_of, plain

__all__ = ["export"]


def export(f: Callable, ndim: int | Sequence[int] = 0) -> Callable:
    """Return the function ``f`` of NumPy code as one of PyTensor, with derivatives by our rules.

    ``pytensor.gradient`` differentiates it in both modes and to every order. It runs as Python,
    which PyTensor's C and numba call and its JAX cannot: export it there by ``interop.jax``.

    Parameters
    ----------
    f : callable
        Takes real numbers and arrays, by position, and gets copies. It returns one, or a tuple.
    ndim : int or sequence of int, optional
        How many axes the result has; for a function that returns a tuple, of each of its entries.

    Returns
    -------
    callable
        Of PyTensor's variables. Results are of float32 where all arguments in floating point are,
        else of float64. In our transforms it is ``f``.

    Raises
    ------
    TypeError
        If an argument is complex; and when it is evaluated, if the result is not what was said.

    Examples
    --------
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from chainrules.interop.pytensor import export
    >>> energy = export(lambda x: np.sum(np.sin(x) * x))
    >>> x = pt.dvector("x")
    >>> gradient = pytensor.function([x], pt.grad(energy(x), x), mode="FAST_COMPILE")
    >>> gradient(np.array([0.0, 1.0])).round(4)
    array([0.    , 1.3818])
    """
    if not callable(f):
        raise ExchangeError(f"export takes a function, not {type(f).__name__}.")
    one = isinstance(ndim, int)
    # Without a structure of its own: a tuple is as many results.
    flat = FlatFunction(
        f, lambda xs: (xs, {}), lambda y: (list(y) if type(y) is tuple else [y], None)
    )
    op = Function(flat, (ndim,) if isinstance(ndim, int) else tuple(ndim))

    def exported(*args: Any) -> Any:
        if is_traced([x for x in args if not isinstance(x, Variable)]):
            return call(f, args, {})
        ys = op(*args, return_list=True)
        return ys[0] if one else tuple(ys)

    return exported


class Function(Op):
    """A flat function in PyTensor: one class for all of them, and for their derivatives."""

    __props__ = ("f", "ndims")

    def __init__(self, f: Any, ndims: tuple[int, ...]) -> None:
        self.f, self.ndims = f, ndims

    def __str__(self) -> str:
        return repr(self.f)

    def make_node(self, *args: Any) -> Any:
        xs = [pt.as_tensor_variable(x) for x in args]
        if any(x.dtype.startswith("complex") for x in xs):
            raise ExchangeError(f"{base_of(self.f)} has a complex argument, in {user_line()}.")
        single = {x.dtype for x in xs if _moves(x)} == {"float32"}
        dtype = "float32" if single else "float64"
        return Apply(self, xs, [pt.tensor(dtype=dtype, shape=(None,) * n) for n in self.ndims])

    def perform(self, node: Any, inputs: list, storage: list) -> None:
        ys = self.f(*[plain(np.asarray(x)) for x in inputs])
        found = tuple(map(np.ndim, ys))
        if found != self.ndims:
            raise ExchangeError(
                f"{base_of(self.f)} returned results of {found} axes, and of {self.ndims} was said."
                "\n  write export(f, ndim=...) with as many as it returns"
            )
        for cell, y, variable in zip(storage, ys, node.outputs, strict=True):
            if np.asarray(y).dtype.kind == "c":
                raise ExchangeError(f"{base_of(self.f)} returned complex numbers.")
            cell[0] = np.array(y, variable.dtype)  # a copy: PyTensor may write to it

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[_moves(x)] * len(self.ndims) for x in node.inputs]

    def pullback(self, inputs: list, outputs: list, cotangents: list) -> list:
        argnums, outs = [i for i, x in enumerate(inputs) if _moves(x)], _connected(cotangents)
        found = [disconnected_type() for _ in inputs]
        if argnums and outs:
            pull = Function(
                Pull(self.f, tuple(argnums), tuple(outs)), tuple([inputs[i].ndim for i in argnums])
            )
            xbars = pull(*inputs, *[cotangents[k] for k in outs], return_list=True)
            for i, xbar in zip(argnums, xbars, strict=True):
                found[i] = xbar.astype(inputs[i].dtype)
        return found

    def L_op(self, inputs: list, outputs: list, cotangents: list) -> list:  # noqa: N802
        """Do what ``pullback`` does, by the name that PyTensor had for it before 3."""
        return self.pullback(inputs, outputs, cotangents)

    def R_op(self, inputs: list, tangents: list) -> list:  # noqa: N802
        """Do what ``pushforward`` does, by the name that PyTensor had for it before 3."""
        dots = [disconnected_type() if dot is None else dot for dot in tangents]
        return self.pushforward(inputs, [None for _ in self.ndims], dots)

    def pushforward(self, inputs: list, outputs: list, tangents: list) -> list:
        argnums = [i for i in _connected(tangents) if _moves(inputs[i])]
        if not argnums:
            return [disconnected_type() for _ in outputs]
        push = Push(self.f, tuple(argnums), tuple(range(len(outputs))))
        dots = [tangents[i] for i in argnums]
        ydots: list = Function(push, self.ndims)(*inputs, *dots, return_list=True)
        return ydots


def _moves(x: Any) -> bool:
    return bool(x.dtype.startswith("float"))


def _connected(variables: list) -> list[int]:
    return [k for k, x in enumerate(variables) if not isinstance(x.type, DisconnectedType)]
