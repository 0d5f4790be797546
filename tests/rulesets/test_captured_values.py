"""Captured traced values in higher-order functions, and every order of nesting the transforms.

Each case is a function of one number written twice: with a higher-order function that has rules,
and as the loop that it stands for.
"""

import functools

import numpy as np
import pytest
from derivatives import by_jvp, by_linearize, by_vjp

import chainrules as cr

XS = np.array([0.3, -1.2, 2.0])


def total(ys):
    return functools.reduce(lambda a, b: a + b, [np.sum(y) for y in ys])


def in_f(w):
    return np.sum(cr.map(lambda x: np.sin(w * x), XS))


def in_f_loop(w):
    return total([np.sin(w * x) for x in XS])


def in_xs(w):
    return np.sum(cr.map(lambda x: x**3, XS * w))


def in_xs_loop(w):
    return total([(x * w) ** 3 for x in XS])


def in_both(w):
    return np.sum(cr.map(lambda x: w * x**2, XS * w))


def in_both_loop(w):
    return total([w * (x * w) ** 2 for x in XS])


def in_both_lists(w):
    return total(cr.map(lambda x, y: w * x * y, [w, w * w], [np.sin(w), 2.0]))


def in_both_lists_loop(w):
    return w * w * np.sin(w) + w * w * w * 2.0


def in_both_rows(w):
    return np.sum(cr.map(lambda row: w * row * row[::-1], np.stack([XS * w, XS + w])))


def in_both_rows_loop(w):
    return total([w * row * row[::-1] for row in (XS * w, XS + w)])


def map_in_map(w):
    return np.sum(cr.map(lambda x: np.sum(cr.map(lambda y: w * x * y**2, XS * x)), XS * w))


def map_in_map_loop(w):
    return total([w * (x * w) * (y * x * w) ** 2 for x in XS for y in XS])


def grad_in_map(w):
    return np.sum(cr.map(lambda x: cr.grad(lambda u: w * u**3 * x)(x), XS * w))


def grad_in_map_loop(w):
    return total([3 * w * (x * w) ** 3 for x in XS])


def map_in_grad(w):
    return cr.grad(lambda u: np.sum(cr.map(lambda x: u * w * x**2, XS * u * w)))(w * w)


def map_in_grad_loop(w):
    return total([3 * w**3 * x**2 * (w * w) ** 2 for x in XS])


def map_in_jvp(w):
    return cr.jvp(lambda u: np.sum(cr.map(lambda x: u * w * x**2, XS * u)), (w * w,), (w,))[1]


def map_in_jvp_loop(w):
    return total([3 * w * w * x**2 * (w * w) ** 2 for x in XS])


def captured_inside(u, w):
    return np.sum(cr.map(lambda x: u * u * x**2, XS * w))


def inner_in_f_outer_in_xs(w):
    return cr.grad(lambda u: captured_inside(u, w))(w * w)


def inner_in_f_outer_in_xs_forward(w):
    return cr.jvp(lambda u: captured_inside(u, w), (w * w,), (1.0,))[1]


def inner_in_f_outer_in_xs_loop(w):
    return total([2 * w * w * (x * w) ** 2 for x in XS])


def inner_in_checkpoint(w):
    return cr.grad(lambda u: cr.checkpoint(lambda x: np.sin(u * x) * u)(w))(w * w)


def inner_in_checkpoint_loop(w):
    return np.cos(w**3) * w**3 + np.sin(w**3)


def inner_in_scan(w):
    def loss(u):
        return cr.scan(lambda carry, x: (carry * u + x, None), w, XS * w)[0]

    return cr.grad(loss)(w * w)


def inner_in_scan_loop(w):
    return cr.grad(lambda u: functools.reduce(lambda c, x: c * u + x * w, XS, w))(w * w)


def reduced(w):
    return cr.reduce(lambda carry, x: carry * w + np.sin(x), XS * w, w * w)


def reduced_loop(w):
    carry = w * w
    for x in XS:
        carry = carry * w + np.sin(x * w)
    return carry


def accumulated(w):
    return np.sum(cr.accumulate(lambda carry, x: w * carry * x, XS * w) ** 2)


def accumulated_loop(w):
    carry, ys = XS[0] * w, [XS[0] * w]
    for x in XS[1:]:
        carry = w * carry * x * w
        ys.append(carry)
    return total([y**2 for y in ys])


def scanned(w):
    def step(carry, x):
        return {"a": carry["a"] * w + x}, (carry["a"] * x, np.stack([w, x]))

    carry, (ys, pairs) = cr.scan(step, {"a": w}, XS * w)
    return carry["a"] ** 2 + np.sum(ys) + np.sum(pairs**2)


def scanned_loop(w):
    a, ys = w, []
    for x in XS * w:
        a, y = a * w + x, a * x + w**2 + x**2
        ys.append(y)
    return a**2 + total(ys)


def checkpointed(w):
    return cr.checkpoint(lambda u, scale=1.0: np.sin(u * w) * u * scale)(w * w, scale=w)


def checkpointed_loop(w):
    return np.sin(w**3) * w**3


def vectorized(w):
    _, ydot = cr.jvp(
        np.vectorize(lambda x, y: w**2 * x * y**2), (XS * w, XS[:, None]), (XS, XS[:, None])
    )
    return np.sum(ydot)


def vectorized_loop(w):
    return total([w**2 * x * y**2 * (1 + 2 * w) for x in XS for y in XS])


def along_axis(w):
    return np.sum(np.apply_along_axis(lambda row: w * np.cumsum(row) ** 2, 0, np.outer(XS, XS) * w))


def along_axis_loop(w):
    return total([w * np.cumsum(row * w) ** 2 for row in np.outer(XS, XS)])


def in_pieces(w):
    x = XS * w
    return np.sum(np.piecewise(x, [x < 0, x > 1], [lambda x: w * x**2, w * 3.0, np.sin]) * x)


def in_pieces_loop(w):
    x = XS * w
    return total([(w * x**2 if x < 0 else w * 3.0 if x > 1 else np.sin(x)) * x for x in x])


CASES = [
    (in_f, in_f_loop),
    (in_xs, in_xs_loop),
    (in_both, in_both_loop),
    (in_both_lists, in_both_lists_loop),
    (in_both_rows, in_both_rows_loop),
    (map_in_map, map_in_map_loop),
    (grad_in_map, grad_in_map_loop),
    (map_in_grad, map_in_grad_loop),
    (map_in_jvp, map_in_jvp_loop),
    (inner_in_f_outer_in_xs, inner_in_f_outer_in_xs_loop),
    (inner_in_f_outer_in_xs_forward, inner_in_f_outer_in_xs_loop),
    (inner_in_checkpoint, inner_in_checkpoint_loop),
    (inner_in_scan, inner_in_scan_loop),
    (reduced, reduced_loop),
    (accumulated, accumulated_loop),
    (scanned, scanned_loop),
    (checkpointed, checkpointed_loop),
    (vectorized, vectorized_loop),
    (along_axis, along_axis_loop),
    (in_pieces, in_pieces_loop),
]


ORDERS = {
    "value": [],
    "grad": [cr.grad],
    "jvp": [by_jvp],
    "vjp": [by_vjp],
    "linearize": [by_linearize],
    "grad of grad": [cr.grad, cr.grad],
    "jvp of grad": [cr.grad, by_jvp],
    "grad of jvp": [by_jvp, cr.grad],
    "jvp of jvp": [by_jvp, by_jvp],
    "vjp of linearize": [by_linearize, by_vjp],
    "linearize of vjp": [by_vjp, by_linearize],
    "grad of jvp of grad": [cr.grad, by_jvp, cr.grad],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("f", "loop"), CASES, ids=[f.__name__ for f, _ in CASES])
@pytest.mark.parametrize("number", [float, np.float64])
def test_nesting(f, loop, order, number):
    for transform in ORDERS[order]:
        f, loop = transform(f), transform(loop)
    expected = loop(number(0.7))
    np.testing.assert_allclose(f(number(0.7)), expected, rtol=1e-12)
    assert 0 != expected


def test_both_paths():
    """The example of the contract: the one path through the closure, the other through xs."""
    assert 24.0 == cr.grad(lambda w: np.sum(cr.map(lambda x: w * x, np.arange(4.0) * w)))(2.0)
