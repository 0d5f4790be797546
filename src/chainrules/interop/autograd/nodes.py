"""Nodes with derivatives, as in ``autograd.core``: a pass back, and tangents that go forward.

A node asks ``primitive_vjps`` or ``primitive_jvps`` for the rule of its function, which may be one
that ``defvjp`` and ``defjvp`` gave, or any other of ours in their form.
"""

from typing import Any

from .core import add_outgrads
from .graph import Node, toposort
from .makers import primitive_jvps, primitive_vjps


class VJPNode(Node):
    """Node that keeps its parents, and the pullback to them."""

    __slots__ = ("parents", "vjp")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.parents = parents
        self.vjp = primitive_vjps[fun](parent_argnums, value, args, kwargs)

    def initialize_root(self) -> None:
        self.parents, self.vjp = [], lambda g: ()


class JVPNode(Node):
    """Node that keeps the tangent."""

    __slots__ = ("g",)

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        given = [parent.g for parent in parents]
        self.g = primitive_jvps[fun](parent_argnums, given, value, args, kwargs)

    def initialize_root(self, g: Any) -> None:
        self.g = g


def backward_pass(g: Any, end_node: Any) -> Any:
    """Return the cotangent of the input that the graph of ``end_node`` begins with."""
    outgrads = {end_node: (g, False)}
    for node in toposort(end_node):
        outgrad, _ = outgrads.pop(node)
        for parent, ingrad in zip(node.parents, node.vjp(outgrad), strict=True):
            outgrads[parent] = add_outgrads(outgrads.get(parent), ingrad)
    return outgrad
