"""A transform of a function that has a rule is no function with that rule, nor is any wrapper."""

import functools

import numpy as np
import pytest

import chainrules as cr
import chainrules.math
import chainrules.numpy
import chainrules.scipy.spatial.distance
import chainrules.scipy.special


@cr.primitive
def product(u, v):
    return np.sum(u * v) ** 2


@cr.rrule.register(product)
def product_rrule(product, u, v):
    y = np.sum(u * v)
    return y * y, lambda ybar: (cr.NoTangent(), 2.0 * y * ybar * v, 2.0 * y * ybar * u)


X, V = np.array([0.5, 1.2, 2.0]), np.array([1.0, 0.3, 1.7])
CALLS = [
    (chainrules.scipy.spatial.distance.sqeuclidean, (X, V)),
    (chainrules.scipy.special.logsumexp, (X,)),
    (chainrules.scipy.special.gammaln, (1.3,)),
    (chainrules.math.sin, (0.7,)),
    (chainrules.numpy.mean, (X,)),
    (np.var, (X,)),
    (np.sin, (0.7,)),
    (product, (X, V)),
]
EVERY = pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
INNER: list = [cr.grad, cr.value_and_grad, cr.jacfwd, cr.jacrev, cr.jacobian, cr.hessian]
OUTER = {
    "jvp": lambda g, args: cr.jvp(g, args, args)[1],
    "linearize": lambda g, args: cr.linearize(g, *args)[1](*args),
    "jacrev": lambda g, args: cr.jacrev(g)(*args),
    "checkpoint": lambda g, args: cr.checkpoint(g)(*args),
    "compile": lambda g, args: cr.compile(g)(*args),
    "map": lambda g, args: cr.map(g, *[np.stack([x, x]) for x in args]),
    "loop": lambda g, args: cr.jacfwd(cr.jacrev(lambda x: g(x, *args[1:])))(args[0]),
}


def assert_same(a, b):
    for x, y in zip(*(list(cr.flatten(part)[0].ravel()) for part in (a, b)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def spread(f, count):
    """As ``f``, without any mark of it."""
    return (lambda x: f(x)) if count == 1 else (lambda x, y: f(x, y))


@EVERY
@pytest.mark.parametrize("inner", INNER, ids=lambda t: t.__name__)
@pytest.mark.parametrize("outer", list(OUTER))
def test_a_transform_of_a_transform(f, args, inner, outer):
    if f is product and inner is cr.hessian:
        pytest.skip("it has a rule in reverse mode only")
    expected = OUTER[outer](inner(spread(f, len(args))), args)
    assert_same(expected, OUTER[outer](inner(f), args))


@EVERY
def test_wraps_copies_marks_and_no_rules(f, args):
    @functools.wraps(f)
    def doubled(*args):
        return 2.0 * f(*args)

    assert_same(2.0 * np.asarray(cr.grad(f)(*args)), cr.grad(doubled)(*args))
    assert_same(2.0 * cr.jvp(f, args, args)[1], cr.jvp(doubled, args, args)[1])
    assert_same(2.0 * np.asarray(cr.grad(f)(*args)), cr.compile(cr.grad(doubled))(*args))
    y, pullback = cr.vjp(doubled, *args)
    assert_same(2.0 * f(*args), y)
    assert_same(2.0 * np.asarray(cr.vjp(f, *args)[1](1.0)[0]), pullback(1.0)[0])
