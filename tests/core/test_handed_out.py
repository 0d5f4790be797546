"""Derivatives that are handed out belong to their receiver, also under an outer transform."""

import numpy as np
import pytest

import chainrules as cr

X = np.arange(1.0, 4.0)
INNER = {
    "sum": np.sum,
    "first": lambda t: t.reshape(-1)[0] * 1.0,
    "broadcast": lambda t: np.sum(np.broadcast_to(np.sum(t), (2, 3))),
}
HANDED_OUT = {
    "grad": lambda f, b: cr.grad(f)(b),
    "value_and_grad": lambda f, b: cr.value_and_grad(f)(b)[1],
    "of the second": lambda f, b: cr.value_and_grad(lambda t, s: f(t) * np.sum(s), argnums=1)(b, b)[
        1
    ],
    "of two": lambda f, b: cr.grad(lambda t, s: f(t) * f(s), argnums=(0, 1))(b, b)[1],
    "of a list": lambda f, b: cr.grad(lambda t: f(t[0]) * f(t[1]))([b, b])[1],
    "vjp": lambda f, b: cr.vjp(f, b)[1](1.0)[0],
    "vjp of a tuple": lambda f, b: cr.vjp(lambda t: (t * 1.0, f(t)), b)[1]((b, 1.0))[0],
    "jacobian": lambda f, b: cr.jacobian(f)(b),
    "jacrev": lambda f, b: cr.jacrev(lambda t: f(t) * np.ones(2))(b),
    "jacfwd": lambda f, b: cr.jacfwd(lambda t: f(t) * np.ones(2))(b),
    "hessian": lambda f, b: cr.hessian(f)(b),
    "hvp": lambda f, b: cr.hvp(f, (b,), (b,)),
    "hvp of a block": lambda f, b: cr.hvp(f, (b,), (np.ones((2, 3)),), block=True),
    "jvp": lambda f, b: cr.jvp(lambda t: np.broadcast_to(f(t), (3,)), (b,), (b,))[1],
    "jvp of a constant": lambda f, b: cr.jvp(lambda t: b * np.ones(3), (b,), (b,))[1],
    "jvp of itself": lambda f, b: cr.jvp(lambda t: t, (b,), (b,))[1],
    "linearize": lambda f, b: cr.linearize(lambda t: np.broadcast_to(f(t), (3,)), b)[1](b),
    "a block of it": lambda f, b: cr.linearize(lambda t: np.broadcast_to(f(t), (3,)), b)[1](
        np.ones((2, 3)), block=True
    ),
    "grad of checkpoint": lambda f, b: cr.grad(lambda t: cr.checkpoint(f)(t))(b),
}
OUTER = {
    "none": lambda g: g(X),
    "reverse": lambda g: cr.grad(lambda b: np.sum(g(b)))(X),
    "forward": lambda g: cr.jvp(g, (X,), (X,)),
    "reverse twice": lambda g: cr.grad(lambda c: np.sum(cr.grad(lambda b: np.sum(g(b)))(c)))(X),
    "forward over reverse": lambda g: cr.jvp(cr.grad(lambda b: np.sum(g(b))), (X,), (X,)),
}


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("transform", HANDED_OUT)
@pytest.mark.parametrize("f", INNER.values(), ids=INNER)
def test_a_derivative_may_be_written_to(f, transform, outer):
    def g(b):
        derivative = HANDED_OUT[transform](f, b)
        assert derivative.flags.writeable
        derivative[..., 0] = 1.0
        derivative *= 2.0
        return derivative

    OUTER[outer](g)


def test_a_gradient_is_written_to_and_differentiated_again():
    def f(b):
        v = cr.value_and_grad(lambda t, s: np.sum(t * t) * np.sum(s), argnums=1)(b, b)[1]
        v[0] = 1.0
        return np.sum(v) + np.sum(b * b)

    np.testing.assert_allclose(cr.grad(f)(X), 2 * X + 2 * 2 * X)
    np.testing.assert_allclose(cr.jvp(f, (X,), (np.ones(3),))[1], np.sum(6 * X))
