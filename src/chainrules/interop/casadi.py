"""CasADi: ``export(f)`` gives it a function of NumPy code, with exact derivatives of every order.

It needs CasADi (``pip install "chainrules[casadi]"``), which nothing else here imports.
"""

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..config import ExchangeError
from ..forward import linearize
from ..rules import call, is_traced
from .flat import FlatFunction, Pull

__all__ = ["export"]
Shape = int | Sequence[int]


def export(f: Callable, *shapes: Shape, result: Shape | list = ()) -> Callable:
    """Return the function ``f`` of NumPy code as one of CasADi, with derivatives by our rules.

    Gradients are by reverse mode, Jacobians and Hessians by blocks of directions: with
    ``ca.nlpsol`` Ipopt has exact second derivatives of it. CasADi refers to what it is given, and
    does not keep it: so we do, for the rest of the process. Export once, and not in a loop.

    Parameters
    ----------
    f : callable
        Takes real numbers and arrays of one or two axes, by position, and gets copies.
    *shapes : int or sequence of int
        Of each argument: ``()`` for a number, ``n`` for a vector, a column of CasADi.
    result : int, sequence of int or list of these, optional
        Of the result; a list of shapes for a function that returns a tuple.

    Returns
    -------
    callable
        Of CasADi's ``MX`` and ``DM``. In our transforms it is ``f``.

    Raises
    ------
    RuntimeError
        CasADi's, when it is evaluated, with the text of what ``f`` raised; or, where the result is
        not what was said, with that of ours.

    Examples
    --------
    >>> import casadi as ca
    >>> from chainrules.interop.casadi import export
    >>> energy = export(lambda x: np.sum(np.sin(x) * x), 2)
    >>> x = ca.MX.sym("x", 2)
    >>> gradient = ca.Function("gradient", [x], [ca.gradient(energy(x), x)])
    >>> np.array(gradient([0.0, 1.0])).ravel().round(4)
    array([0.    , 1.3818])
    """
    if not callable(f):
        raise ExchangeError(f"export takes a function, not {type(f).__name__}.")
    ins = [_shape(shape) for shape in shapes]
    outs = [_shape(shape) for shape in (result if isinstance(result, list) else [result])]

    def build(xs: Any) -> tuple[tuple, dict]:
        return tuple([x[0] if shape == () else _matrix(x, shape) for x, shape in zip(xs, ins)]), {}

    def flatten(y: Any) -> tuple[list, None]:
        ys = list(y) if type(y) is tuple else [y]
        if [np.shape(y) for y in ys] != outs:
            raise ExchangeError(
                f"{flat} returned results of shapes {[np.shape(y) for y in ys]}, and {outs} was "
                "said.\n  write export(f, ..., result=...) with the shapes that it returns"
            )
        if any(map(np.iscomplexobj, ys)):
            raise ExchangeError(f"{flat} returned complex numbers, and CasADi has real ones only.")
        return [np.reshape(np.transpose(y), -1) for y in ys], None

    flat = FlatFunction(f, build, flatten)
    callback = Callback(flat, [_columns(shape) for shape in ins], [_columns(s) for s in outs])
    return lambda *xs: call(f, xs, {}) if is_traced(xs) else callback(*xs)


def _shape(shape: Any) -> tuple[int, ...]:
    found = (shape,) if isinstance(shape, int) else tuple(shape)
    if len(found) > 2:
        raise ExchangeError(f"CasADi has matrices, and no arrays of {len(found)} axes.")
    return found


def _columns(shape: tuple) -> tuple[int, int]:
    rows, columns = (*shape, 1, 1)[:2]
    return rows, columns


def _matrix(x: Any, shape: tuple) -> Any:
    """Return the array whose entries, column after column, are these."""
    return np.transpose(np.reshape(x, shape[::-1]))


class Pushed:
    """``(*xs, *xdots) -> ydots`` of a flat function of vectors, for so many directions in a row."""

    def __init__(self, f: Any, count: int) -> None:
        self.f, self.count = f, count

    def __call__(self, *args: Any) -> tuple:
        n = len(args) // 2
        _, pushforward = linearize(self.f, *args[:n])
        blocks = [np.reshape(xdot, (self.count, -1)) for xdot in args[n:]]
        return tuple([np.reshape(ydot, -1) for ydot in pushforward(*blocks, block=True)])


_ALIVE: list = []  # CasADi refers to callbacks, and does not keep them


class Callback(ca.Callback):
    """A flat function of vectors in CasADi, whose derivatives are such functions again."""

    def __init__(self, f: Any, ins: list, outs: list) -> None:
        super().__init__()
        self.f, self.ins, self.outs = f, ins, outs
        _ALIVE.append(self)
        self.construct("f", {})

    def get_n_in(self) -> int:
        return len(self.ins)

    def get_n_out(self) -> int:
        return len(self.outs)

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(*self.ins[i])

    def get_sparsity_out(self, k: int) -> Any:
        return ca.Sparsity.dense(*self.outs[k])

    def eval(self, args: list) -> list:
        ys = self.f(*[np.array(x.full().ravel(order="F")) for x in args])
        return [_as_matrix(y, shape) for y, shape in zip(ys, self.outs, strict=True)]

    def has_forward(self, count: int) -> bool:
        return True

    def get_forward(self, count: int, *names: Any) -> Any:
        blocks = [[(r, c * count) for r, c in shapes] for shapes in (self.ins, self.outs)]
        inner = Callback(Pushed(self.f, count), [*self.ins, *blocks[0]], blocks[1])
        return self._without_results(inner, *names)

    def has_reverse(self, count: int) -> bool:
        return count == 1

    def get_reverse(self, count: int, *names: Any) -> Any:
        pull = Pull(self.f, tuple(range(len(self.ins))), tuple(range(len(self.outs))))
        return self._without_results(Callback(pull, [*self.ins, *self.outs], self.ins), *names)

    def _without_results(self, inner: Any, name: str, ins: list, outs: list, options: dict) -> Any:
        """Return ``inner`` as a function of results, too, which CasADi gives and nobody needs."""
        n, m = len(self.ins), len(self.outs)
        shapes = [*self.ins, *self.outs, *inner.ins[n:]]
        given = [ca.MX.sym(word, *shape) for word, shape in zip(ins, shapes, strict=True)]
        found = inner.call([*given[:n], *given[n + m :]])
        return ca.Function(name, given, found, ins, outs, options)


def _as_matrix(y: Any, shape: tuple) -> Any:
    return ca.reshape(ca.DM(np.asarray(y, float)), *shape)
