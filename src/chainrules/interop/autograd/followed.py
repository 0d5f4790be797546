"""Code of autograd, run on our traced values: by autograd's own tracer, with a node of ours.

A node of autograd says what is kept of a call of a primitive. ``Followed`` keeps our traced value
of the result, for which rules are asked: ours of NumPy's function, where there are some, else those
of autograd. So nothing of autograd's is changed, and the code needs no other imports. Each call is
evaluated twice, once by autograd, for what the box says of itself, and once by us.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from autograd import builtins, core
from autograd.numpy import numpy_vjps, numpy_wrapper
from autograd.tracer import Node, isbox, new_box, notrace_primitives, trace_stack
from autograd.util import func, subvals

from ... import numpy as seen
from ...reverse import vjp
from ...rules import call, frule, is_traced, map_leaves, primitive, rrule, value
from .boxes import opened
from .rules import add_frule, add_rrule, add_transposed_frule
from .trees import mapped


class Followed(Node):
    """A node that holds our traced value of what autograd computed."""

    __slots__ = ("traced",)

    def __init__(
        self, value: Any, fun: Any, args: tuple, kwargs: dict, argnums: tuple, parents: tuple
    ) -> None:
        given = subvals(args, [(i, node.traced) for i, node in zip(argnums, parents)])
        self.traced = counterpart(fun)(*given, **kwargs)

    def initialize_root(self, traced: Any) -> None:
        self.traced = traced


# Of what has no derivative there are no nodes, as for autograd's own; the set is shared with these.
notrace_primitives[Followed] = notrace_primitives[core.VJPNode]


def run_followed(f: Callable, *args: Any) -> Any:
    """Return ``f(*args)`` of code of autograd; numbers in ``args`` may be traced."""
    if not is_traced(args):
        return f(*args)
    with trace_stack.new_trace() as level:

        def boxed(x: Any) -> Any:
            return new_box(_floating(value(x)), level, Followed.new_root(x)) if is_traced(x) else x

        def unboxed(y: Any) -> Any:
            if isbox(y) and y._trace == level and type(y._node) is Followed:
                return y._node.traced
            return y

        def shown(args: Any) -> Any:
            return map_leaves(boxed, args)

        return mapped(unboxed, _opened_at(level, f(*map(shown, args)), unboxed))


def _opened_at(level: int, y: Any, unboxed: Callable) -> Any:
    return unboxed(y) if isbox(y) else opened(y)


def _floating(x: Any) -> Any:
    # There are no boxes for whole numbers.
    return x if isinstance(x, np.ndarray | np.inexact | float | complex) else np.float64(x)


# ---- what is evaluated in place of a primitive ---------------------------------------------------


def _array(args: tuple, kwargs: dict, *entries: Any) -> Any:
    return seen.array(list(entries), *args, **kwargs)


def _same_array(args: tuple, kwargs: dict, x: Any) -> Any:
    return seen.array(x, *args, **kwargs)


def _concatenate(axis: Any, *arrays: Any) -> Any:
    return np.concatenate(arrays, axis)


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return x[..., None] * np.eye(np.shape(x)[-1])


def _reshape(x: Any, shape: Any, **options: Any) -> Any:
    # autograd's own rules give the shape as an array.
    shape = tuple(shape.tolist()) if isinstance(shape, np.ndarray) else shape
    return np.reshape(x, shape, **options)


def _untake(x: Any, index: Any, space: Any) -> Any:
    _, pullback = vjp(lambda a: a[index], space.zeros())
    return pullback(x)[0]


def _container_untake(x: Any, key: Any, space: Any) -> Any:
    return space._subval(space.zeros(), key, x)


def _sum(space: Any, former: Any, x: Any) -> Any:
    return x if former is None else space._add(former, x)


STAND_INS: dict[Any, Callable] = {
    numpy_wrapper.array_from_args: _array,
    numpy_wrapper._array_from_scalar_or_array: _same_array,
    numpy_wrapper.concatenate_args: _concatenate,
    numpy_wrapper.make_diagonal: _diagonal,
    numpy_wrapper.reshape: _reshape,
    numpy_vjps.untake: _untake,
    builtins.container_untake: _container_untake,
    core.sparse_add: _sum,
    func(core.VSpace.mut_add): _sum,
}
# The bodies of primitives in these are code that our rules follow.
_FOLLOWED_BODIES = (
    "autograd.builtins", "autograd.core", "autograd.numpy.numpy_boxes",
)  # fmt: skip


@functools.cache
def counterpart(fun: Callable) -> Callable:
    """Return what computes with our traced values what the primitive ``fun`` of autograd does."""
    if fun in STAND_INS:
        return STAND_INS[fun]
    raw = getattr(fun, "fun", fun)
    if rrule.methods_of(raw) is not None or frule.methods_of(raw) is not None:
        return lambda *args, **kwargs: call(raw, args, kwargs)
    if getattr(raw, "__module__", None) in _FOLLOWED_BODIES or not has_rules(fun):
        return raw
    return with_rules(fun)


def has_rules(fun: Any) -> bool:
    """Say whether ``fun`` is a primitive of autograd to which rules were given."""
    return callable(fun) and (fun in core.primitive_vjps or fun in core.primitive_jvps)


@functools.cache
def with_rules(fun: Callable) -> Callable:
    """Return a primitive of ours with the rules of ``fun``, a primitive of autograd."""
    vjpmaker, jvp = core.primitive_vjps.get(fun), core.primitive_jvps.get(fun)
    g = primitive(fun)
    if vjpmaker is not None:
        add_rrule(g, vjpmaker, run_followed)
    if jvp is not None:
        add_frule(g, jvp, run_followed)
    elif vjpmaker is not None:
        add_transposed_frule(g, vjpmaker, run_followed)
    return g
