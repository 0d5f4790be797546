"""Classes that are registered with JAX: their derivatives are of the class."""

import dataclasses

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import chainrules as cr
from chainrules.interop.jax import import_


@jax.tree_util.register_pytree_node_class
class Line:
    """With a count that JAX takes for a child, and a name that it takes for constant."""

    def __init__(self, slope, offset, count, name):
        self.slope, self.offset, self.count, self.name = slope, offset, count, name

    def tree_flatten(self):
        return (self.slope, self.offset, self.count), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Point:
    x: float
    lines: list
    steps: int = dataclasses.field(default=3, metadata={"static": True})


class Unknown:
    def __init__(self, slope):
        self.slope = slope


LINE = Line(np.array([1.0, 2.0]), 0.5, 2000, "a line")


def height(line):
    return np.sum(line.slope**2) * line.offset


def test_a_gradient_is_of_the_class():
    for g in (cr.grad(height)(LINE), cr.vjp(height, LINE)[1](1.0)[0]):
        assert type(g) is Line
        np.testing.assert_allclose(g.slope, LINE.slope)
        assert (g.offset, g.count, g.name) == (5.0, None, "a line")


def test_a_registered_dataclass():
    point = Point(1.5, [LINE, LINE])
    g = cr.grad(lambda p: p.x**p.steps + height(p.lines[1]))(point)
    assert type(g) is Point
    assert (g.x, g.steps) == (pytest.approx(3 * 1.5**2), 3)
    assert type(g.lines[1]) is Line
    np.testing.assert_array_equal(g.lines[0].slope, [0.0, 0.0])


def test_optimisers_step_by_it():
    g = cr.grad(height)(Line(np.array([1.0, 2.0]), 0.5, None, "a line"))
    at = Line(np.array([1.0, 2.0]), 0.5, None, "a line")
    moved = jax.tree.map(lambda x, xbar: x - 0.1 * xbar, at, g)
    assert type(moved) is Line
    assert moved.offset == 0.0
    np.testing.assert_allclose(moved.slope, [0.9, 1.8])


def test_it_is_a_tangent_and_a_second_derivative():
    g = cr.grad(height)(LINE)
    _, slope = cr.jvp(height, (LINE,), (g,))
    assert slope == pytest.approx(np.sum(g.slope**2) + g.offset**2)
    product = cr.hvp(height, (LINE,), (g,))
    assert type(product) is Line
    np.testing.assert_allclose(product.slope, 2 * 0.5 * g.slope + 2 * LINE.slope * 5.0)
    compiled = cr.compile(cr.grad(height))
    for _ in range(3):
        assert type(compiled(LINE)) is Line


def test_functions_of_jax_give_it():
    with jax.enable_x64(True):
        f = import_(lambda line: jax.numpy.sum(line.slope**2) * line.offset)
        g = cr.grad(f)(Line(np.array([1.0, 2.0]), 0.5, 2.0, "a line"))
    assert type(g) is Line
    np.testing.assert_allclose(g.slope, [1.0, 2.0])


def test_what_jax_does_not_know_has_a_tangent():
    g = cr.grad(lambda x: x.slope**2)(Unknown(1.5))
    assert type(g) is cr.Tangent
    assert g.slope == 3.0
