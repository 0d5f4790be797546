"""As ``autograd.core``: pullbacks, pushforwards, and the spaces that their values live in."""

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...config import ArgumentTypeError
from ...rules import describe, dtype_of, shape_of, value
from ..flat import conjugate
from .convention import is_complex, ones_like, pulled
from .tracer import Box, Node, getval, isbox, notrace_primitive, primitive, trace, warn_not_needed
from .trees import leaves_of, mapped

# What autograd shows here, too; the rest is found by __getattr__.
__all__ = [
    "Box", "Node", "VSpace", "backward_pass", "getval", "isbox", "make_jvp", "make_vjp",
    "notrace_primitive", "primitive", "sum_outgrads", "trace", "vspace",
]  # fmt: skip
_OF_EXTEND = {
    "JVPNode", "SparseObject", "VJPNode", "def_linear", "defjvp", "defjvp_argnum",
    "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _OF_EXTEND:  # which imports this module
        return getattr(importlib.import_module(".extend", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def backward_pass(g: Any, end_node: Any) -> Any:
    """Refuse: there is no graph of nodes to go back through."""
    raise ArgumentTypeError(
        "there is no graph to go back through.\n  write vjp, y = make_vjp(fun, x), and vjp(g)"
    )


def sum_outgrads(gs: Iterable[Any]) -> Any:
    """Return the sum of cotangents of one value."""
    first, *others = gs
    return functools.reduce(vspace(first).add, others, first)


def make_vjp(fun: Callable, x: Any) -> tuple[Callable, Any]:
    """Return ``(vjp, y)`` of a function of one argument."""
    return pulled(fun, x)


def make_jvp(fun: Callable, x: Any) -> Callable:
    """Return ``jvp`` of a function of one argument, and ``jvp(xdot)`` is ``(y, ydot)``."""
    from .differential_operators import make_jvp as of_any_argument

    return of_any_argument(fun)(x)


class VSpace:
    """The vector space of a number, an array, or a tuple, list or dict of these.

    Examples
    --------
    >>> from chainrules.interop.autograd.extend import vspace
    >>> space = vspace({"a": np.ones(2), "b": 3.0})
    >>> space.size, space.zeros()
    (3, {'a': array([0., 0.]), 'b': np.float64(0.0)})
    """

    def __init__(self, value: Any) -> None:
        self._like = mapped(_zero, value)

    @classmethod
    def register(cls, value_type: type, vspace_maker: Any = None) -> None:
        """Warn that nothing was done: a class is made known to our transforms, not to its space."""
        warn_not_needed("space", value_type)

    @property
    def iscomplex(self) -> bool:
        return is_complex(self._like)

    @property
    def shape(self) -> Any:
        return shape_of(self._like)

    @property
    def dtype(self) -> Any:
        return dtype_of(self._like)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of real numbers in it; a complex number is two."""
        return sum(int(np.size(x)) * (1 + is_complex(x)) for x in leaves_of(self._like))

    def zeros(self) -> Any:
        return mapped(_zero, self._like)  # other arrays each time

    def ones(self) -> Any:
        return ones_like(self._like)

    def randn(self) -> Any:
        def drawn(x: Any) -> Any:
            y = np.random.randn(*np.shape(x))
            y = y + 1j * np.random.randn(*np.shape(x)) if is_complex(x) else y
            return np.asarray(y, x.dtype)[()]

        return mapped(drawn, self._like)

    def standard_basis(self) -> Iterator[Any]:
        leaves = list(leaves_of(self._like))
        for k, leaf in enumerate(leaves):
            for index in np.ndindex(np.shape(leaf)):
                for number in (1.0, 1.0j) if is_complex(leaf) else (1.0,):
                    parts = [np.zeros_like(x) for x in leaves]
                    parts[k][index] = number
                    found = iter(parts)
                    yield mapped(lambda _, found=found: next(found)[()], self._like)

    def add(self, x: Any, y: Any) -> Any:
        return mapped(lambda a, b: a + b, x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        return y if x is None else self.add(x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        return mapped(lambda part: part * a, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        products = mapped(lambda a, b: np.sum(np.real(np.conj(a) * b)), x, y)
        return sum(leaves_of(products))

    def covector(self, x: Any) -> Any:
        return mapped(conjugate, x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and self._signature() == other._signature()

    def __hash__(self) -> int:
        return hash(repr(self._signature()))

    def __repr__(self) -> str:
        return f"VSpace({self._signature()})"

    def _signature(self) -> Any:
        return mapped(describe, self._like)


def _zero(x: Any) -> Any:
    x = value(x)
    dtype = dtype_of(x)
    if dtype is None or dtype.kind not in "fciub":
        raise ArgumentTypeError(
            f"there is no vector space of {describe(x)}: it is no number and no array."
        )
    return np.zeros(shape_of(x), dtype if dtype.kind in "fc" else float)[()]


def vspace(value: Any) -> VSpace:
    """Return the vector space of a number, an array, or a tuple, list or dict of these."""
    return VSpace(value)
