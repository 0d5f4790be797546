"""Options of iterative solvers that a program computes: the shift moves, the others do not."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as own

import chainrules as cr
from chainrules.scipy.sparse import linalg

A, B = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
MATRICES = {"array": A, "sparse": sparse.csr_array(A), "operator": own.aslinearoperator(A)}


@pytest.mark.parametrize("name", MATRICES)
def test_shift(name):
    def f(p):
        y, _ = linalg.minres(MATRICES[name], B * p[0], shift=p[1] ** 2, rtol=1e-13)
        return y @ np.array([1.0, 0.5])

    def exact(p):
        return np.linalg.solve(A - p[1] ** 2 * np.eye(2), B * p[0]) @ np.array([1.0, 0.5])

    p = np.array([1.0, 0.7])
    y, slope = cr.value_and_grad(f)(p)
    assert y == f(p)
    np.testing.assert_allclose(slope, cr.grad(exact)(p), rtol=1e-9)
    np.testing.assert_allclose(cr.jacfwd(f)(p), slope, rtol=1e-9)
    np.testing.assert_allclose(cr.hessian(f)(p), cr.hessian(exact)(p), rtol=1e-8)
    ps = np.stack([p, p, 2 * p])
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(ps), [cr.grad(exact)(p) for p in ps], rtol=1e-8)


COMPUTED = {
    "start": lambda p: linalg.cg(A * p, B, x0=np.ones(2) * p),
    "preconditioner": lambda p: linalg.cg(A, B * p, M=np.eye(2) * p),
    "shift": lambda p: linalg.minres(A * p, B, shift=0.1 * p),
    "start, of another": lambda p: linalg.gmres(A * p, B, x0=np.ones(2) * p),
    "sparse": lambda p: linalg.bicgstab(sparse.csr_array(A), B * p, M=np.eye(2) * p),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_compiled(name):
    slope = cr.grad(lambda p: COMPUTED[name](p)[0][0])
    compiled = cr.compile(slope)
    for p in (1.0, 1.5, 2.0, 1.0):
        np.testing.assert_allclose(compiled(p), slope(p), rtol=1e-12)
    assert "1 recording" in str(compiled)
