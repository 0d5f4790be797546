"""Equinox's modules: their derivatives are modules, which JAX and optax know as pytrees."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("equinox")

import equinox

import chainrules as cr
from chainrules.interop.jax import import_
from chainrules.testing import central_fdm

X = np.array([0.1, 0.2, -0.3])


class Layer(equinox.Module):
    w: np.ndarray
    b: np.ndarray
    steps: int
    name: str = equinox.field(static=True)

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


class Net(equinox.Module):
    layers: list
    scale: float
    unused: np.ndarray
    activation: object = np.tanh

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scale * np.sum(self.activation(x) ** 2)


@pytest.fixture
def net():
    numbers = np.random.default_rng(0)
    layers = [
        Layer(numbers.normal(size=(3, 3)), numbers.normal(size=3), 3, f"layer {k}")
        for k in range(2)
    ]
    return Net(layers, 1.5, np.ones(2))


def loss(net, x):
    return net(x)


@pytest.mark.filterwarnings("ignore::chainrules.IndependentOutputWarning")
def test_gradients_are_modules(net):
    gradient = cr.grad(loss)(net, X)
    assert type(gradient) is Net
    assert type(gradient.layers[1]) is Layer
    assert gradient.layers[0].name == "layer 0"
    assert gradient.layers[0].steps is None
    assert gradient.activation is None
    np.testing.assert_array_equal(gradient.unused, np.zeros(2))

    def along(t):
        moved = equinox.tree_at(lambda net: net.layers[0].w, net, net.layers[0].w + t * np.eye(3))
        return loss(moved, X)

    slope = central_fdm(5, 1)(along, 0.0)
    np.testing.assert_allclose(np.trace(gradient.layers[0].w), slope, rtol=1e-6)
    _, pullback = cr.vjp(loss, net, X)
    np.testing.assert_allclose(pullback(1.0)[0].layers[1].b, gradient.layers[1].b)


def test_steps_of_an_optimiser(net):
    for _ in range(3):
        gradient = cr.grad(loss)(net, X)
        moved = equinox.apply_updates(net, jax.tree.map(lambda g: -0.1 * g, gradient))
        assert loss(moved, X) < loss(net, X)
        assert moved.layers[0].steps == 3
        assert moved.layers[0].name == "layer 0"
        net = moved


def test_a_module_is_a_tangent(net):
    gradient = cr.grad(loss)(net, X)
    _, slope = cr.jvp(lambda net: loss(net, X), (net,), (gradient,))
    leaves = [np.sum(g * g) for g in jax.tree.leaves(gradient)]
    np.testing.assert_allclose(slope, sum(leaves), rtol=1e-12)
    product = cr.hvp(lambda net: loss(net, X), (net,), (gradient,))
    assert type(product) is Net
    h = 1e-6
    shifted = equinox.apply_updates(net, jax.tree.map(lambda g: h * g, gradient))
    difference = (cr.grad(loss)(shifted, X).layers[0].w - gradient.layers[0].w) / h
    np.testing.assert_allclose(product.layers[0].w, difference, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")  # its methods hold the module
def test_a_compiled_gradient_is_a_module(net):
    compiled = cr.compile(cr.grad(loss))
    for _ in range(3):
        found = compiled(net, X)
        assert type(found) is Net
        np.testing.assert_allclose(found.layers[0].w, cr.grad(loss)(net, X).layers[0].w)


def test_functions_of_jax(net):
    with jax.enable_x64(True):
        f = import_(lambda layer, x: jax.numpy.sum(jax.numpy.tanh(layer.w @ x + layer.b) ** 2))
        gradient = cr.grad(f)(net.layers[0], X)
        assert type(gradient) is Layer
        expected = cr.grad(lambda layer: np.sum(layer(X) ** 2))(net.layers[0])
        np.testing.assert_allclose(gradient.w, expected.w, rtol=1e-6)
