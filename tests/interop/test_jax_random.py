"""A random search: nests of transformations of random functions, ours beside those of JAX."""

import numpy as np
import pytest
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from random_functions import V, W, function, functions, points

jax = pytest.importorskip("jax")

import chainrules as cr
from chainrules.interop.jax import export, import_

jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")

# Each makes a function from three numbers to three of another one.
OF_JAX = {
    "jit": jax.jit,
    "grad": lambda g: jax.grad(lambda x: jnp.sum(g(x) * W)),
    "jvp": lambda g: lambda x: jax.jvp(g, (x,), (jnp.asarray(V),))[1],
    "jvp moving": lambda g: lambda x: jax.jvp(g, (x,), (jnp.sin(x),))[1],
    "vjp": lambda g: lambda x: jax.vjp(g, x)[1](x * W)[0],
    "linearize": lambda g: lambda x: jax.linearize(g, x)[1](jnp.asarray(V)),
    "transpose": lambda g: lambda x: jax.linear_transpose(jax.linearize(g, x)[1], x)(x * V)[0],
    "checkpoint": jax.checkpoint,
    "vmap": lambda g: lambda x: jax.vmap(g)(jnp.stack([x, x + 0.1])).sum(0),
    "vmap, other axis": lambda g: lambda x: jax.vmap(g, 1, 1)(jnp.stack([x, 2 * x], 1)).sum(1),
    "vmap of directions": lambda g: (
        lambda x: jax.vmap(lambda v: jax.jvp(g, (x,), (v,))[1])(jnp.eye(3)).sum(0)
    ),
    "vmap of cotangents": lambda g: lambda x: jax.vmap(jax.vjp(g, x)[1])(jnp.eye(3))[0].sum(1),
    "scan": lambda g: (
        lambda x: jax.lax.scan(lambda c, r: (jnp.tanh(g(c) + r), c), x, jnp.stack([x, V]))[0]
    ),
    "cond": lambda g: lambda x: jax.lax.cond(x[0] > 0, g, lambda x: x**2, x),
}
OF_OURS = {
    "grad": lambda g: cr.grad(lambda x: np.sum(g(x) * W)),
    "jvp": lambda g: lambda x: cr.jvp(g, (x,), (V,))[1],
    "jvp moving": lambda g: lambda x: cr.jvp(g, (x,), (np.sin(x),))[1],
    "vjp": lambda g: lambda x: cr.vjp(g, x)[1](x * W)[0],
    "linearize": lambda g: lambda x: cr.linearize(g, x)[1](V),
    "jacfwd": lambda g: lambda x: np.sum(cr.jacfwd(g)(x), 0),
    "jacrev": lambda g: lambda x: np.sum(cr.jacrev(g)(x), 1),
    "map": lambda g: lambda x: np.sum(cr.map(g, np.stack([x, x + 0.1])), 0),
    "scan": lambda g: (
        lambda x: cr.scan(lambda c, r: (np.tanh(g(c) + r), c), x, np.stack([x, V]))[0]
    ),
    "checkpoint": cr.checkpoint,
    "Pushforward": lambda g: lambda x: cr.Pushforward(g)(x, V),
    "Pullback": lambda g: lambda x: cr.Pullback(g)(x, W * x)[0],
}


def nested(transforms, names, g):
    for name in names:
        g = transforms[name](g)
    return g


def nests(transforms):
    return st.lists(st.sampled_from(sorted(transforms)), min_size=1, max_size=3)


@pytest.mark.slow
@always_the_same(3)
@given(functions, nests(OF_JAX), points)
def test_exported_functions_under_jax(names, nest, x):
    expected = nested(OF_JAX, nest, function(names, jnp))(jnp.asarray(x))
    found = nested(OF_JAX, nest, export(function(names, np)))(jnp.asarray(x))
    assert expected.dtype == found.dtype
    np.testing.assert_allclose(expected, found, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@always_the_same(6)
@given(functions, nests(OF_OURS), points)
def test_imported_functions_under_ours(names, nest, x):
    expected = nested(OF_OURS, nest, function(names, np))(x)
    found = nested(OF_OURS, nest, import_(function(names, jnp)))(x)
    np.testing.assert_allclose(expected, found, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@always_the_same(3)
@given(functions, nests(OF_JAX), nests(OF_OURS), points)
def test_there_and_back(names, outer, inner, x):
    # Ours around a function of JAX, inside JAX.
    outer, inner = outer[:2], inner[:1]
    plain = nested(OF_OURS, inner, function(names, np))
    mixed = nested(OF_OURS, inner, import_(function(names, jnp)))
    expected = nested(OF_JAX, outer, export(plain))(jnp.asarray(x))
    found = nested(OF_JAX, outer, export(mixed))(jnp.asarray(x))
    np.testing.assert_allclose(expected, found, rtol=1e-8, atol=1e-8)
