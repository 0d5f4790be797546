"""Writes into what a library's function gave, in a recording as without one."""

import numpy as np
import pytest

import chainrules as cr

pytest.importorskip("scipy")
from cached import recordings

import chainrules.scipy

linalg = chainrules.scipy.linalg
V = np.array([1.0, 2.0])


def blocks(v):
    b = linalg.block_diag(v[0] * np.eye(2), v[1] * np.eye(2))
    b[2:, 0] = v[1]
    return np.sum(b @ b)


def balanced(v):
    b, (scale, _) = linalg.matrix_balance(np.outer(v, v) + np.eye(2), separate=True)
    before = np.sum(b**2)
    b[0, 1] = v[0] * 3.0
    return before + np.sum(b**3) + np.sum(scale * v)


def read_twice(v):
    b = linalg.block_diag(v[0] * np.eye(2), v[1])
    row, c = b[0], b * 2.0
    b[0] += v[1]  # is seen in the row, and not in c
    return np.sum(row**2) + np.sum(c**2) + np.sum(b**3)


def covariances(v):
    c = np.cov(np.outer(v, np.arange(3.0) ** 2) + np.eye(2, 3))
    c[0, 0] += v[1]
    return np.sum(c**2)


@pytest.mark.parametrize("transform", [cr.grad, cr.hessian, lambda f: f])
@pytest.mark.parametrize("f", [blocks, balanced, read_twice, covariances])
def test_they_are_recorded(f, transform):
    compiled, plain = cr.compile(transform(f), fallback="error"), transform(f)
    for k in range(3):
        np.testing.assert_allclose(compiled(V * (1 + k / 9)), plain(V * (1 + k / 9)), 1e-11)
    assert recordings(compiled) == 1


def test_an_answer_that_is_the_argument_itself_is_refused():
    @cr.primitive
    def same(x):
        return x

    cr.composed(same, value="own")(lambda x: x * 1.0)

    def f(x):
        x = x * 2.0
        y = same(x)
        y[0] = x[1]
        return np.sum(x**2) + np.sum(y**3)

    with pytest.raises(cr.MutationError, match="memory is seen elsewhere"):
        cr.compile(cr.grad(f), fallback="error")(V)
