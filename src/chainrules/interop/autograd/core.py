"""As ``autograd.core``: pullbacks, pushforwards, and the spaces that their values live in."""

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ... import numpy as _numpy
from ...config import ArgumentTypeError
from ...rules import describe, dtype_of, shape_of, value
from ..flat import conjugate
from .convention import is_complex, ones_like, pulled
from .tracer import (
    Box,
    Node,
    getval,
    isbox,
    new_box,
    notrace_primitive,
    primitive,
    toposort,
    trace,
    warn_not_needed,
)
from .trees import leaves_of, mapped

# What autograd shows here, too; the rest is found by __getattr__.
__all__ = [
    "Box", "Node", "SparseObject", "VSpace", "add_outgrads", "getval", "isbox", "make_jvp",
    "make_vjp", "new_box", "notrace_primitive", "primitive", "sparse_add", "sum_outgrads",
    "toposort", "trace", "vspace",
]  # fmt: skip
_ELSEWHERE = {  # in modules that import this one
    **dict.fromkeys(("JVPNode", "VJPNode", "backward_pass"), ".nodes"),
    **dict.fromkeys(
        ("defjvp_argnums", "defvjp_argnums", "primitive_jvps", "primitive_vjps"), ".makers"
    ),
    **dict.fromkeys(
        ("def_linear", "defjvp", "defjvp_argnum", "defvjp", "defvjp_argnum"), ".extend"
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name], __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def add_outgrads(prev_g_flagged: tuple[Any, bool] | None, g: Any) -> tuple[Any, bool]:
    """Return the sum of two cotangents, and whether it is an array that nobody else has."""
    if isinstance(g, SparseObject):
        before, own = prev_g_flagged or (None, True)
        return sparse_add(g.vs, before if own else g.vs.add(g.vs.zeros(), before), g), True
    if not prev_g_flagged:
        return g, False
    return vspace(g).add(prev_g_flagged[0], g), True


def sum_outgrads(gs: Iterable[Any]) -> Any:
    """Return the sum of cotangents of one value."""
    return functools.reduce(add_outgrads, gs, None)[0]  # type: ignore[index]


def sparse_add(vs: "VSpace", x_prev: Any, x_new: "SparseObject") -> Any:
    """Return a cotangent with what ``x_new`` writes into it; None stands for zeros."""
    return x_new.mut_add(vs.zeros() if x_prev is None else x_prev)


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
        return mapped(_fillable, self._like)  # other arrays each time

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


class SparseObject:
    """A cotangent of few entries: ``mut_add`` writes them into an array, and returns it.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad, numpy as np
    >>> from chainrules.interop.autograd.extend import SparseObject, defvjp, primitive, vspace
    >>> first = primitive(lambda x: x[0])
    >>> def first_vjp(ans, x):
    ...     def vjp(g):
    ...         def mut_add(xbar):
    ...             xbar[0] += g
    ...             return xbar
    ...         return SparseObject(vspace(x), mut_add)
    ...     return vjp
    >>> defvjp(first, first_vjp)
    >>> grad(lambda x: first(x) ** 2)(np.array([3.0, 1.0]))
    array([6., 0.])
    """

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: VSpace, mut_add: Callable) -> None:
        self.vs, self.mut_add = vs, mut_add


def _zero(x: Any) -> Any:
    x = value(x)
    dtype = dtype_of(x)
    if dtype is None or dtype.kind not in "fciub":
        raise ArgumentTypeError(
            f"there is no vector space of {describe(x)}: it is no number and no array."
        )
    return np.zeros(shape_of(x), dtype if dtype.kind in "fc" else float)[()]


def _fillable(x: Any) -> Any:
    y = _numpy.zeros_like(x)  # into which traced cotangents may be written
    return y if np.ndim(x) else y[()]


def vspace(value: Any) -> VSpace:
    """Return the vector space of a number, an array, or a tuple, list or dict of these."""
    return value.vs if isinstance(value, SparseObject) else VSpace(value)
