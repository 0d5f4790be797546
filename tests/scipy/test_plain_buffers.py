"""An array that an adopted module makes while a transform runs is plain until it is written to."""

import sys
import types

import numpy as np
import pytest

import chainrules as cr

SOURCE = """
import numpy as np
from scipy import interpolate, signal, sparse, stats

def product(x):
    return sparse.csr_matrix(np.array([[1.0, 0, 2.0], [0, 3.0, 0]])) @ x

def filled(x):
    a = np.zeros((3, 3))
    a[0, 1], a[2, 2] = 2.0, 1.0
    return sparse.csc_array(a) @ x

def by_rows(x):
    return sparse.lil_matrix(np.eye(3)).tocsr() @ x

def refused_function(x):
    return x * stats.spearmanr(np.arange(4.0), np.array([1.0, 3.0, 2.0, 5.0]))[0]

def keyword(x):
    return np.convolve(x, signal.remez(5, bands=np.array([0, 0.1, 0.3, 0.5]), desired=[1, 0]))

def refused_class(x):
    return x * interpolate.AAA(np.arange(4.0), np.arange(4.0) ** 2)(1.5)

def system(x):
    return signal.lti(np.ones(2), np.arange(1.0, 4.0)).step(T=np.linspace(0, 1, 3))[1] * x

def traced_system(x):
    a = np.array([[0.0, 1.0], [-x[0], -x[1]]])
    system = signal.StateSpace(a, np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1)))
    t = np.linspace(0, 1, 4)
    return signal.lsim(system, np.ones(4), t, X0=np.array([x[2], 0.0]))[1][-1]

def traced_later(x):
    a = np.zeros(3)
    s = sparse.csr_matrix((a, np.arange(3), np.arange(4)))
    a[0] = x[0]
    return s @ x

def traced_before(x):
    a = np.zeros(3)
    a[0] = x[0]
    return sparse.lil_matrix(a[:, None] * np.eye(3)) @ x
"""
X = np.array([1.0, 2.0, 3.0])
NAMES = ["product", "filled", "by_rows", "refused_function", "keyword", "system"]
NAMES += ["refused_class"] if hasattr(__import__("scipy.interpolate").interpolate, "AAA") else []


@pytest.fixture(scope="module")
def module():
    made = types.ModuleType("plain_buffers")
    exec(compile(SOURCE, "plain_buffers.py", "exec"), vars(made))
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


@pytest.mark.parametrize("name", NAMES)
def test_a_buffer_that_holds_nothing_traced(module, name):
    expected = np.stack([getattr(module, name)(row) for row in np.eye(3)], axis=-1)
    with cr.adopt(module):
        f = getattr(module, name)
        np.testing.assert_allclose(expected, cr.jacfwd(f)(X), atol=1e-14)
        np.testing.assert_allclose(expected, cr.jacrev(f)(X), atol=1e-14)
        assert (cr.vjp(f, X)[0] == f(X)).all()


def test_systems_of_traced_matrices(module):
    f, step = module.traced_system, 1e-6
    expected = np.stack([f(X + step * u) - f(X - step * u) for u in np.eye(3)], -1) / (2 * step)
    with cr.adopt(module):
        for jacobian in (cr.jacfwd, cr.jacrev):
            np.testing.assert_allclose(expected, jacobian(module.traced_system)(X), rtol=1e-7)


def test_one_that_is_written_to_later(module):
    with cr.adopt(module), pytest.raises(cr.MutationError, match="others may see"):
        cr.jacrev(module.traced_later)(X)


def test_one_that_holds_something_traced(module):
    with cr.adopt(module), pytest.raises(cr.MissingRuleError, match="cannot hold traced entries"):
        cr.jacrev(module.traced_before)(X)
