"""Sparse arrays of dense ones, of which SciPy leaves out what is zero, by differences."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr
from chainrules import numpy as followed
from chainrules.scipy import sparse
from chainrules.scipy.sparse import linalg

RNG = np.random.default_rng(3)
SHAPE = (5, 5)
STORED = RNG.normal(size=SHAPE) * (RNG.random(SHAPE) < 0.4) + 4 * np.eye(5)
B = RNG.normal(size=5)
P = np.array([1.1, 0.7, 1.0])
PICKED = np.ix_([0, 2, 3], [0, 2, 3])
pytestmark = pytest.mark.filterwarnings(
    "ignore:the matrix subclass", "ignore:spsolve", "ignore:splu"
)


def dense(p):
    """A matrix of which some entries are zero always, and some at ``P`` alone."""
    return STORED * p[0] + np.diag(p[1] * B[:4], 1) + (p[2] - 1.0) * np.eye(5)[::-1]


PROGRAMS = {
    "spsolve": lambda p: linalg.spsolve(sparse.csr_matrix(dense(p)), B * p[1]),
    "of a transpose": lambda p: linalg.spsolve(sparse.csr_array(dense(p)).T.tocsr(), B),
    "of a part": lambda p: linalg.spsolve(sparse.csr_matrix(dense(p)).tocsc()[PICKED], B[:3]),
    "splu": lambda p: linalg.splu(sparse.csc_array(dense(p))).solve(B),
    "gmres": lambda p: linalg.gmres(sparse.csr_matrix(dense(p)), B, rtol=1e-13)[0],
    "a product": lambda p: sparse.coo_array(dense(p)) @ B,
    "product of two": lambda p: (sparse.csr_array(dense(p)) @ sparse.csr_array(STORED)).toarray(),
    "a sum of two": lambda p: (sparse.csr_array(dense(p)) + sparse.csr_array(STORED)).toarray(),
    "kron": lambda p: sparse.kron(sparse.csr_matrix(dense(p)), np.eye(2)).sum(axis=1),
    "kronsum": lambda p: sparse.kronsum(sparse.csc_matrix(dense(p)), np.eye(2)).sum(axis=0),
    "in diagonals": lambda p: sparse.dia_matrix(dense(p)) @ B,
    "in blocks": lambda p: sparse.bsr_array(dense(p)) @ B,
    "of lists": lambda p: sparse.csr_matrix([[p[0], 0.0], [p[2] - 1.0, p[1]]]) @ B[:2],
    "how many entries": lambda p: sparse.csr_matrix(dense(p)).nnz * p[0],
    "of complex numbers": lambda p: np.abs(linalg.spsolve(sparse.csc_array(dense(p) * 1j), B)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_have_entries_that_happen_to_be_zero(name):
    f = PROGRAMS[name]
    plain = f(P)
    for y in (cr.jvp(f, (P,), (P,))[0], cr.vjp(f, P)[0]):
        assert type(y) is type(plain)
        np.testing.assert_array_equal(np.asarray(y), np.asarray(plain))
    expected = jacobian_of(lambda p: np.asarray(f(p)), P)
    np.testing.assert_allclose(cr.jacfwd(f)(P), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(cr.jacrev(f)(P), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["spsolve", "splu", "product of two"])
def test_second_derivatives_and_compiled_ones(name):
    def loss(p):
        return np.sum(np.sin(PROGRAMS[name](p)))

    gradient = cr.grad(loss)
    expected = jacobian_of(gradient, P)
    np.testing.assert_allclose(cr.hessian(loss)(P), expected, rtol=1e-5, atol=1e-7)
    compiled = cr.compile(gradient)
    for p in (P, 1.2 * P, P + [0.1, -0.2, 0.0]):  # with more entries, and with fewer
        np.testing.assert_allclose(compiled(p), gradient(p), rtol=1e-12)


def test_what_is_solved_has_no_entries_that_are_zero():
    def tip(k):
        stiffness = followed.zeros((6, 6))
        for i in range(5):
            stiffness[i : i + 2, i : i + 2] += k[i] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        stiffness[0, 0] += 1.0
        a = sparse.csc_matrix(stiffness)
        assert a.nnz == 16
        return linalg.spsolve(a, np.arange(6.0))[-1]

    k = np.linspace(1.0, 2.0, 5)
    np.testing.assert_allclose(cr.grad(tip)(k), jacobian_of(tip, k), rtol=1e-6)
