"""Pushforwards of functions of matrices and lanes at a stack of tangents, one a direction."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules import iterate_leaves

RNG = np.random.default_rng(5)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
B, V, TALL = RNG.normal(size=(3, 2)), RNG.normal(size=3), RNG.normal(size=(4, 2))
STACK = RNG.normal(size=(2, 3, 2))
SINGULAR = np.diag([1.0, 0.0, 0.0]) + np.eye(3, k=1)
TURN = 0.3j * RNG.normal(size=(3, 3))
la = np.linalg


def hermitian(a):
    return a @ np.conj(a.T)


CASES = {
    "inv": (la.inv, A),
    "inv, complex": (lambda a: la.inv(a + TURN), A),
    "inv, empty": (la.inv, np.zeros((0, 0))),
    "inv, structural zeros": (lambda a: la.inv(np.where(a > 1, a, 0) + 5 * np.eye(3)), A),
    "solve, vector": (lambda a: la.solve(a, V), A),
    "solve, matrix": (lambda a: la.solve(a, B), A),
    "solve, stack of matrices": (lambda a: la.solve(a, STACK), A),
    "solve, of a vector": (lambda b: la.solve(A, b), V),
    "solve, of a matrix": (lambda b: la.solve(A, b), B),
    "solve, of both": (lambda b: la.solve(A * b[0], b), V),
    "solve, of a stack": (lambda a: la.solve(np.stack([a, 2 * a]), B), A),
    "det": (la.det, A),
    "det, singular": (la.det, SINGULAR),
    "slogdet": (lambda a: la.slogdet(a)[1], A),
    "slogdet, complex": (lambda a: np.real(la.slogdet(a + TURN)[0]), A),
    "cholesky": (lambda a: la.cholesky(hermitian(a)), A),
    "cholesky, upper": (lambda a: la.cholesky(hermitian(a), upper=True), A),
    "cholesky, complex": (lambda a: np.real(la.cholesky(hermitian(a + TURN))), A),
    "eigh": (lambda a: tuple(la.eigh(hermitian(a), "U")), A),
    "eigh, complex": (lambda a: np.real(la.eigh(hermitian(a + TURN))[1]), A),
    "eigvalsh": (lambda a: la.eigvalsh(hermitian(a)), A),
    "eig": (lambda a: [np.real(y) for y in la.eig(a)], A),
    "qr": (lambda a: tuple(la.qr(a)), A),
    "qr, tall": (lambda a: tuple(la.qr(a)), TALL),
    "qr, wide": (lambda a: la.qr(a, "r"), TALL.T),
    "svd, tall": (lambda a: tuple(la.svd(a, full_matrices=False)), TALL),
    "svd, wide": (lambda a: la.svd(a)[2][:2], TALL.T),
    "svdvals": (la.svdvals, B),
    "pinv": (la.pinv, TALL),
    "lstsq": (lambda a: la.lstsq(a, V)[0], B),
    "float32": (la.inv, A.astype(np.float32)),
    "cumprod": (np.cumprod, V),
    "cumprod, of all": (np.cumprod, B),
    "cumprod, of a number": (lambda x: np.cumprod(x[0]), V),
    "cumprod, along an axis": (lambda x: np.cumprod(x, axis=-2), STACK),
    "running maximum": (np.maximum.accumulate, V),
    "running minimum, along an axis": (lambda x: np.minimum.accumulate(x, 1), STACK),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", CASES)


@EACH
def test_all_directions_at_once_are_those_one_by_one(name):
    f, x = CASES[name]
    found = list(iterate_leaves(cr.jacfwd(f)(x)))
    tolerance = 1e-4 if x.dtype == np.float32 else 1e-10
    for k, place in enumerate(np.ndindex(x.shape)):
        xdot = np.zeros_like(x)
        xdot[place] = 1
        for all_at_once, ydot in zip(
            found, iterate_leaves(cr.jvp(f, (x,), (xdot,))[1]), strict=True
        ):
            one = np.reshape(all_at_once, (*np.shape(ydot), x.size))[..., k]
            assert one.dtype == np.asarray(ydot).dtype
            np.testing.assert_allclose(one, ydot, rtol=tolerance, atol=tolerance)


@EACH
def test_second_derivatives_of_all_orders_agree(name):
    f, x = CASES[name]
    if x.dtype == np.float32 or not x.size:
        return

    def loss(x):
        return sum(np.sum(np.real(np.sin(y))) for y in iterate_leaves(f(x)))

    expected = cr.jacrev(cr.grad(loss))(x)
    for second in (cr.hessian(loss), cr.jacfwd(cr.jacfwd(loss)), cr.jacfwd(cr.grad(loss))):
        np.testing.assert_allclose(second(x), expected, rtol=1e-7, atol=1e-8)
