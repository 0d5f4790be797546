"""Graphs of nodes, as ``autograd.tracer`` builds them: boxes, traces, classes of nodes.

The transforms here need none. Who traces by hand, by ``new_box`` or ``trace`` and a class of nodes,
gets a level whose traced values have a node each, made by the class of their parents' nodes.
"""

import collections
import contextlib
import functools
import operator
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...config import ArgumentTypeError
from ...reverse import ReverseConfig
from ...rules import (
    Engine,
    Traced,
    TracedArray,
    TracedNumber,
    call,
    describe,
    dtype_of,
    iterate_leaves,
    map_leaves,
    name_of,
    rrule,
    shape_of,
)
from ...rules.annotations import Function, Value
from ...rules.engines.engine import run


class Node:
    """Abstract class of what a graph keeps of a call; a subclass says what, in ``__init__``."""

    __slots__: Any = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        raise ArgumentTypeError(f"{type(self).__name__} says nowhere what it keeps of a call.")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        raise ArgumentTypeError(f"{type(self).__name__} says nowhere what it keeps of an input.")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the node of an input."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


def _of_trace(x: Any) -> Any:
    return x.at_level


def _value_of(x: Any) -> Any:
    return x.primal


class BoxedNumber(TracedNumber):
    """A number that has a node."""

    __slots__ = ("_node",)
    _trace, _value = property(_of_trace), property(_value_of)


class BoxedArray(TracedArray):
    """An array that has a node."""

    __slots__ = ("_node",)
    _trace, _value = property(_of_trace), property(_value_of)


class Graph(Engine):
    """One trace: each call of its boxes makes a node, and keeps nothing itself."""

    table = rrule

    def __init__(self) -> None:
        super().__init__(ReverseConfig())

    def box(self, x: Value, node: Any) -> Any:
        """Return a number or an array as one that has this node."""
        boxed: Any = BoxedArray() if len(shape_of(x)) or _is_array(x) else BoxedNumber()
        if type(boxed) is BoxedArray:
            boxed.base_and_path = None
        boxed.primal, boxed.at_level, boxed._node = x, self, node
        return boxed

    def apply_kind(
        self, kind: Any, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        return self._noted(f, args, kwargs, values, y)

    def apply_rule(self, rule: Any, f: Function, args: tuple, kwargs: dict, values: tuple) -> Value:
        return self._noted(f, args, kwargs, values, call(f, values, kwargs))

    def _noted(self, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value) -> Value:
        leaves = list(iterate_leaves(args))
        if any(callable(x) and not isinstance(x, Traced) for x in leaves):
            raise _refused(f, "calls a function")
        dtype = dtype_of(y)
        if dtype is None:
            raise _refused(f, f"gives a {type(y).__name__}")
        if dtype.kind not in "fc":
            return y
        if len(leaves) > len(args):  # its boxes are in lists: of the entries it is a function, too
            f, values = _of_leaves(f, args), tuple(iterate_leaves(values))
        argnums = tuple(i for i, x in enumerate(leaves) if self.carries(x))
        parents = tuple(leaves[i]._node for i in argnums)
        return self.box(y, type(parents[0])(y, f, values, kwargs, argnums, parents))


def _is_array(x: Any) -> bool:
    return type(x) is np.ndarray or isinstance(x, TracedArray)


def _refused(f: Function, does: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name_of(f)} {does}, and a graph of nodes holds numbers and arrays alone.\n"
        "  write vjp, y = make_vjp(fun, x), and vjp(g)"
    )


def _of_leaves(f: Function, args: tuple) -> Function:
    @functools.wraps(f)
    def of_leaves(*leaves: Any, **kwargs: Any) -> Any:
        rest = iter(leaves)
        return f(*map_leaves(lambda _: next(rest), args), **kwargs)

    return of_leaves


# By the number that a client gives a trace, such as 0, while a box of it lives.
_numbered: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()


def new_box(value: Any, trace: Any, node: Any) -> Any:
    """Return a number or an array that is followed: each call of it makes a node.

    Parameters
    ----------
    value : float, complex or array
    trace : Graph or int
        What ``trace_stack.new_trace()`` gave, or a number, which is the same trace each time.
    node : Node
        The node of an input, by ``new_root``.

    Examples
    --------
    >>> from chainrules.interop.autograd.core import VJPNode, backward_pass
    >>> from chainrules.interop.autograd.tracer import new_box
    >>> x = new_box(3.0, 0, VJPNode.new_root())
    >>> y = x * x + 1.0
    >>> float(y._value), float(backward_pass(1.0, y._node))
    (10.0, 6.0)
    """
    value = np.asarray(value)[()] if type(value) in (float, complex) else value
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        raise ArgumentTypeError(
            f"new_box takes a number or an array of floats, and no {describe(value)}."
        )
    graph = trace if isinstance(trace, Graph) else _numbered.setdefault(trace, Graph())
    return graph.box(value, node)


def trace(start_node: Any, fun: Callable, x: Any) -> tuple[Any, Any]:
    """Return the value of ``fun(x)`` and its node; None where it does not depend on ``x``."""
    graph = Graph()
    y: Any = run(fun, (new_box(x, graph, start_node),), {})
    node = y._node if graph.carries(y) else None  # type: ignore[attr-defined]
    if node is not None:
        return y.primal, node
    warnings.warn("Output seems independent of input.", stacklevel=2)
    return y, None


def toposort(end_node: Any, parents: Callable = operator.attrgetter("parents")) -> Iterator[Any]:
    """Yield the nodes of a graph from the end on, each after all that it is a parent of."""
    counts = collections.Counter([end_node])
    waiting = [end_node]
    while waiting:
        for parent in parents(waiting.pop()):
            if parent not in counts:
                waiting.append(parent)
            counts[parent] += 1
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            counts[parent] -= 1
            if counts[parent] == 0:
                ready.append(parent)


class TraceStack:
    """Traces that were begun by hand."""

    @contextlib.contextmanager
    def new_trace(self) -> Iterator[Graph]:
        """Begin a trace, inside of all that were begun before."""
        yield Graph()


trace_stack = TraceStack()
