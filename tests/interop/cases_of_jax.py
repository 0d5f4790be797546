"""Functions of NumPy code with twins in ``jax.numpy``, and the transformations of JAX."""

import jax
import jax.numpy as jnp
import numpy as np


def twins(np):
    """The same functions, of NumPy or of ``jax.numpy``."""

    def smooth(x):
        return np.sum(np.sin(x) * x**2)

    def mixed(x):
        return np.sum(np.exp(-(x**2)) * x[::-1]) + np.prod(x)

    def branching(x):
        return np.sum(np.where(x > 0.4, x**3, np.cos(x)))

    return {"smooth": smooth, "mixed": mixed, "branching": branching}


OURS, THEIRS = twins(np), twins(jnp)


def points(dtype=None):
    return jnp.array([0.3, 0.5, 1.2], dtype)


# Each takes a function from three numbers to one, and gives what must be equal for both twins.
def transformations():
    x = points()
    rows = jnp.stack([x, 2 * x, x - 0.7])
    along = jnp.array([1.0, -2.0, 0.5])
    return {
        "call": lambda g: g(x),
        "jit": lambda g: jax.jit(g)(x),
        "grad": lambda g: jax.grad(g)(x),
        "jit(grad)": lambda g: jax.jit(jax.grad(g))(x),
        "value_and_grad": lambda g: jax.jit(jax.value_and_grad(g))(x),
        "jvp": lambda g: jax.jvp(g, (x,), (along,)),
        "jit(jvp)": lambda g: jax.jit(lambda x: jax.jvp(g, (x,), (along,)))(x),
        "vjp": lambda g: jax.vjp(g, x)[1](jnp.ones_like(x[0])),
        "linearize": lambda g: jax.linearize(g, x)[1](along),
        "jit(linearize)": lambda g: jax.jit(lambda x: jax.linearize(g, x)[1](along))(x),
        "linear_transpose": lambda g: jax.linear_transpose(jax.linearize(g, x)[1], x)(x[0]),
        "forward over reverse": lambda g: jax.jacfwd(jax.jacrev(g))(x),
        "reverse over reverse": lambda g: jax.jacrev(jax.jacrev(g))(x),
        "reverse over forward": lambda g: jax.jacrev(jax.jacfwd(g))(x),
        "forward over forward": lambda g: jax.jacfwd(jax.jacfwd(g))(x),
        "jit(hessian)": lambda g: jax.jit(jax.hessian(g))(x),
        "hvp": lambda g: jax.jit(lambda x: jax.jvp(jax.grad(g), (x,), (along,))[1])(x),
        "third, forward": lambda g: jax.jacfwd(jax.hessian(g))(x),
        "third, reverse": lambda g: jax.jacrev(jax.jacrev(jax.grad(g)))(x),
        "jit(third, mixed)": lambda g: jax.jit(jax.jacrev(jax.jacfwd(jax.grad(g))))(x),
        "vmap": lambda g: jax.vmap(g)(rows),
        "jit(vmap)": lambda g: jax.jit(jax.vmap(g))(rows),
        "vmap along another axis": lambda g: jax.vmap(g, in_axes=1)(rows),
        "vmap(vmap)": lambda g: jax.vmap(jax.vmap(g))(jnp.stack([rows, rows + 1])),
        "vmap(grad)": lambda g: jax.vmap(jax.grad(g))(rows),
        "grad(vmap)": lambda g: jax.grad(lambda r: jnp.sum(jax.vmap(g)(r) ** 2))(rows),
        "vmap(hessian)": lambda g: jax.jit(jax.vmap(jax.hessian(g)))(rows),
        "hessian(vmap)": lambda g: jax.hessian(lambda r: jnp.sum(jax.vmap(g)(r) ** 2))(rows),
        "vmap of directions": lambda g: jax.vmap(
            lambda v: jax.jvp(jax.grad(g), (x,), (v,))[1], out_axes=1
        )(rows),
        "scan": lambda g: jax.grad(
            lambda x: jax.lax.scan(lambda c, _: (c * g(c * x), c), x[0], None, length=4)[0]
        )(x),
        "jit(hessian(scan))": lambda g: jax.jit(
            jax.hessian(lambda x: jax.lax.scan(lambda c, r: (c + g(x * r), c), x[0], rows)[0])
        )(x),
        "cond": lambda g: jax.grad(lambda x: jax.lax.cond(x[0] > 0, g, lambda x: x[0], x))(x),
        "vmap(grad(cond))": lambda g: jax.jit(
            jax.vmap(jax.grad(lambda x: jax.lax.cond(x[0] > 0, g, lambda x: x[0], x)))
        )(rows),
        "while": lambda g: jax.jit(
            lambda x: jax.jvp(
                lambda x: jax.lax.while_loop(lambda c: c < 5, lambda c: c + g(x) ** 2 + 1, g(x)),
                (x,),
                (along,),
            )
        )(x),
        "checkpoint": lambda g: jax.grad(jax.checkpoint(lambda x: g(x) ** 2))(x),
        "jit(hessian(checkpoint))": lambda g: jax.jit(
            jax.hessian(jax.checkpoint(lambda x: g(x) ** 2))
        )(x),
        "inside other functions": lambda g: jax.jit(
            jax.grad(lambda x: jnp.sin(g(x) * g(x[::-1])) + g(jnp.exp(-x)))
        )(x),
    }
