"""A random search: nests of autograd's operators of random functions, its own beside ours."""

import warnings

import numpy as onp
import pytest
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from random_functions import V, W, function, functions, points

autograd = pytest.importorskip("autograd")

import autograd.numpy as anp
from autograd.extend import defvjp, primitive

import chainrules as cr
from chainrules.interop import autograd as drop_in
from chainrules.interop.autograd import adopt, export
from chainrules.interop.autograd import numpy as dnp


@primitive
def bump(x):
    return onp.exp(-(onp.asarray(x, float) ** 2))


defvjp(bump, lambda ans, x: lambda g: -2 * x * bump(x) * g)

# Each makes a function from three numbers to three of another one.
OPERATORS = {
    "grad": lambda ag, np, g: ag.grad(lambda x: np.sum(g(x) * W)),
    "grad of a list": lambda ag, np, g: (
        lambda x: ag.grad(lambda p: np.sum(g(p[0]) * p[1]))([x, W])[0]
    ),
    "value_and_grad": lambda ag, np, g: (
        lambda x: np.sum(np.stack([*ag.make_vjp(g)(x)[0](V).reshape(1, 3), g(x)]), axis=0)
    ),
    "elementwise_grad": lambda ag, np, g: ag.elementwise_grad(g),
    "jacobian": lambda ag, np, g: lambda x: np.sum(ag.jacobian(g)(x), axis=0),
    "hvp": lambda ag, np, g: lambda x: ag.make_hvp(lambda x: np.sum(np.sin(g(x))))(x)[0](V),
    "hessian": lambda ag, np, g: lambda x: np.dot(ag.hessian(lambda x: np.sum(g(x) ** 2))(x), V),
    "checkpoint": lambda ag, np, g: ag.checkpoint(g),
    "complex": lambda ag, np, g: (
        lambda x: np.imag(ag.grad(lambda z: np.sum(np.abs(g(np.real(z)) + z) ** 2))(x + 0.5j * x))
    ),
}


def nested(names, ag, np, g):
    for name in names:
        g = OPERATORS[name](ag, np, g)
    return g


nests = st.lists(st.sampled_from(sorted(OPERATORS)), min_size=1, max_size=2)


def assert_close(expected, found):
    onp.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Output seems independent")
        yield


@always_the_same(25)
@given(functions, nests, points)
def test_the_drop_in(names, nest, x):
    expected = nested(nest, autograd, anp, function(names, anp))(x)
    assert_close(expected, nested(nest, drop_in, dnp, function(names, dnp))(x))


@always_the_same(25)
@given(functions, nests, points)
def test_exported_functions(names, nest, x):
    expected = nested(nest, autograd, anp, function(names, anp))(x)
    assert_close(expected, nested(nest, autograd, anp, export(function(names, onp)))(x))


@always_the_same(25)
@given(functions, st.lists(st.sampled_from(["grad", "elementwise_grad"]), max_size=1), points)
def test_adopted_functions(names, nest, x):
    g = nested(nest, autograd, anp, lambda x: bump(function(names, anp)(x)))

    def loss(x):
        return anp.sum(anp.sin(g(x)))

    adopted = adopt(loss)
    assert_close(autograd.grad(loss)(x), cr.grad(adopted)(x))
    assert_close(autograd.hessian(loss)(x), cr.hessian(adopted)(x))
    assert_close(anp.dot(autograd.grad(loss)(x), V), cr.jvp(adopted, (x,), (V,))[1])
