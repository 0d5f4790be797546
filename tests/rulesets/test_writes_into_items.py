"""Writes into items of a map, a scan or a fold: the array of which they are rows stays as it is."""

import numpy as np
import pytest

import chainrules as cr


def in_row(row):
    row[0] = 7.0
    return np.sum(row)


def in_both(carry, row):
    carry[0] = row[1] = 7.0
    return carry + row


FOLDS = {
    "map": lambda m: cr.map(in_row, m),
    "map of two": lambda m: cr.map(in_both, m, 2.0 * m),
    "map of a list": lambda m: np.stack(cr.map(in_row, [m[0], m[1]])),
    "scan": lambda m: cr.scan(lambda c, row: (c + in_row(row), row), 1.0, m)[1],
    "reduce": lambda m: cr.reduce(in_both, m),
    "reduce from": lambda m: cr.reduce(in_both, m, m[0]),
    "accumulate": lambda m: cr.accumulate(in_both, m),
    "loop": lambda m: cr.loop(2, lambda c: (c.__setitem__(0, 7.0), 2.0 * c)[1], m),
    "checkpoint": lambda m: cr.checkpoint(in_row)(m),
    "vmap": lambda m: cr.vmap(in_row)(m),
}


@pytest.mark.parametrize("name", FOLDS)
def test_in_every_transform(name):
    def f(x):
        m = np.outer(x, x)
        return np.sum(FOLDS[name](m)) * m.sum() + m[0, 0]

    x = np.array([1.0, 2.0])
    m = np.outer(x, x)
    y = f(x)
    FOLDS[name](m)
    np.testing.assert_array_equal(m, np.outer(x, x))
    values = {
        "vjp": cr.vjp(f, x)[0],
        "jvp": cr.jvp(f, (x,), (x,))[0],
        "vmap": cr.vmap(f)(x[None])[0],
        "compiled": cr.compile(f)(x),
        "hessian": cr.value_and_grad(lambda x: cr.jvp(f, (x,), (x,))[0])(x)[0],
    }
    for transform, value in values.items():
        assert value == y, transform
    slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(cr.grad(f)(x), slope, rtol=1e-7)
    np.testing.assert_allclose(cr.jvp(f, (x,), (np.ones(2),))[1], np.sum(slope), rtol=1e-7)
