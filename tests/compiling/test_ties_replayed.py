"""Second derivatives at ties: one recording, which makes the order among equal numbers anew."""

import numpy as np
import pytest
from cached import recordings

import chainrules as cr

TIMES = np.array([0.0, 1.0, 2.0])  # one entry is at the kink of abs, whatever x is
X = np.array([0.3, 0.5, 0.7])


def at_kink(x):
    return np.sum(x**3) + np.max(np.abs(TIMES * np.sin(x)))


def at_tie(x):
    return np.max(np.stack([x[0] * x[1], x[0] * x[1], x[2] * 0.1]))


def bounded(x):
    return np.sum(np.clip(np.stack([x[0] ** 2 * x[1], x[2]]), x[0] ** 2 * x[1], 9.0) ** 2)


def sorted_twice(x):
    return np.sort(np.concatenate([x**2, x**2])) @ np.arange(6.0)


def in_the_middle(x):
    return np.median(np.stack([x[0] * x[1], x[0] * x[1], x[0] * x[1], x[2]])) ** 2


def running(x):
    return np.sum(np.maximum.accumulate(np.stack([x[0] * x[1], x[0] * x[1], x[2]])) ** 2)


def triangular(x):
    return np.sum(np.abs(np.linalg.qr(np.outer(x, np.cos(x)) + np.diag(x))[1]) ** 3)


FUNCTIONS = [at_kink, at_tie, bounded, sorted_twice, in_the_middle, running, triangular]
HESSIANS = [cr.hessian, lambda f: cr.jacobian(cr.grad(f)), lambda f: cr.vmap(cr.hessian(f))]


@pytest.mark.parametrize("hessian", HESSIANS, ids=["hessian", "reverse", "vmap"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_it_is_recorded_once(f, hessian):
    x = np.stack([X, X * 1.1]) if hessian is HESSIANS[2] else X
    compiled, plain = cr.compile(hessian(f), fallback="error"), hessian(f)
    for k in range(4):
        np.testing.assert_allclose(compiled(x * (1 + k / 50)), plain(x * (1 + k / 50)), 1e-12)
    assert recordings(compiled) == 1
    assert "last bit" not in str(cr.explain(compiled, stage="recorded"))


def test_a_tie_that_goes_is_another_recording():
    plain = cr.hessian(lambda x: np.max(x) ** 2)
    compiled = cr.compile(plain)
    for x in ([1.0, 2.0], [2.0, 2.0], [3.0, 3.0], [2.0, 1.0], [4.0, 4.0]):
        np.testing.assert_array_equal(compiled(np.array(x)), plain(np.array(x)))
    assert recordings(compiled) == 2
