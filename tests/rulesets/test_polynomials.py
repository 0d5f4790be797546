"""Arrays of coefficients: ``np.polyval`` and its kin, roots, fits; and ``np.polynomial``."""

import warnings

import numpy as np
import pytest
from both_modes import both
from differences import jacobian_of
from numpy import polynomial

import chainrules as cr

RNG = np.random.default_rng(11)
P = RNG.normal(size=4)
Q = RNG.normal(size=3)
X = RNG.uniform(-1, 1, size=7)
Y = RNG.normal(size=7)
W = RNG.uniform(0.5, 1.5, size=7)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)


def flat(y):
    return np.concatenate([np.ravel(part) for part in y]) if isinstance(y, tuple) else y


def check_jacobians(f, x, rtol=1e-6):
    """Both engines against differences, for results that may be of any kind NumPy makes."""
    expected = jacobian_of(lambda x: flat(f(x)), x)
    for jacobian in (cr.jacfwd, cr.jacrev):
        found = jacobian(lambda x: flat(f(x)))(x).reshape(expected.shape)
        np.testing.assert_allclose(expected, found, rtol=rtol, atol=1e-6)


# ---- arithmetic ----


@pytest.mark.parametrize("f", [np.polyadd, np.polysub, np.polymul], ids=lambda f: f.__name__)
def test_arithmetic(f):
    both(f, P, Q)
    both(f, Q, P)
    both(f, P, 2.5)
    both(f, Z, Q)
    both(f, P.astype(np.float32), Q.astype(np.float32))
    np.testing.assert_array_equal(f(P, [1, 2]), cr.vjp(lambda p: f(p, [1, 2]), P)[0])


def test_polymul_drops_leading_zeros():
    p = np.array([0.0, 0.0, 2.0, 3.0])
    both(np.polymul, p[2:], Q)
    expected = np.concatenate([[0, 0], cr.grad(lambda p: np.sum(np.polymul(p, Q)))(p[2:])])
    np.testing.assert_allclose(expected, cr.grad(lambda p: np.sum(np.polymul(p, Q)))(p))
    y = cr.jvp(lambda p: np.polymul(p, Q), (np.zeros(2),), (np.ones(2),))[0]
    np.testing.assert_array_equal(np.polymul(np.zeros(2), Q), y)


def test_division():
    both(np.polydiv, P, Q)
    both(np.polydiv, P, 2.0)
    both(np.polydiv, Z, Q)
    both(lambda u, v: np.polydiv(u, v)[0], P.astype(np.float32), Q.astype(np.float32))
    both(np.polydiv, RNG.normal(size=9), Q)
    quotient, remainder = cr.vjp(np.polydiv, Q, P)[0]
    np.testing.assert_array_equal([0.0], quotient)
    np.testing.assert_array_equal(Q, remainder)


# ---- values, derivatives and integrals ----


def test_polyval():
    both(np.polyval, P, X)
    both(np.polyval, P, 0.5)
    both(np.polyval, P, X[:6].reshape(2, 3))
    both(np.polyval, Z, X)
    both(np.polyval, P, Z)
    both(np.polyval, P.astype(np.float32), X.astype(np.float32))
    assert (0,) == cr.grad(lambda p: np.sum(np.polyval(p, X)))(np.zeros(0)).shape
    expected = cr.grad(lambda p: np.sum(np.polyval(p, 1.0 * np.arange(3))))(P)
    np.testing.assert_array_equal(expected, cr.grad(lambda p: np.sum(np.polyval(p, range(3))))(P))


def test_polyval_of_integers():
    expected = cr.grad(lambda x: np.polyval([3.0, 2.0, 1.0], x))(2.0)
    found = cr.grad(lambda x: np.polyval([3, 2, 1], x))(2)
    assert expected == found
    assert np.float64 == np.asarray(found).dtype


@pytest.mark.parametrize("m", [0, 1, 2, 3, 5])
def test_polyder(m):
    both(np.polyder, P, m)
    both(np.polyder, P.astype(np.float32), m)
    with pytest.raises(ValueError, match="positive"):
        cr.grad(lambda p: np.sum(np.polyder(p, -1)))(P)


@pytest.mark.parametrize(("m", "k"), [(0, None), (1, None), (2, 1.5), (2, [1.0, 2.0]), (1, 0.5)])
def test_polyint(m, k):
    both(np.polyint, P, m, k)
    both(np.polyint, P.astype(np.float32), m, k=k)


@pytest.mark.parametrize("p", [3.0, np.array(3.0), np.array([3.0]), np.array([3.0, 2.0])])
def test_polyint_no_times_is_what_it_was_given(p):
    y, ydot = cr.jvp(lambda p: np.polyint(p, 0), (p,), (np.ones_like(p),))
    plain = np.polyint(p, 0)
    assert (type(y), y.shape, y.dtype) == (type(plain), plain.shape, plain.dtype)
    np.testing.assert_array_equal(y, plain)
    np.testing.assert_array_equal(ydot, np.ones_like(p))


def test_polyint_checks():
    with pytest.raises(ValueError, match="positive"):
        cr.grad(lambda p: np.sum(np.polyint(p, -1)))(P)
    with pytest.raises(ValueError, match="length 1"):
        cr.grad(lambda p: np.sum(np.polyint(p, 3, [1.0, 2.0])))(P)
    both(lambda p, k: np.polyint(p, 2, k), P, np.array([0.3, 0.4]))


# ---- roots ----


def test_poly():
    both(np.poly, P)
    both(np.poly, Z)
    both(np.poly, P.astype(np.float32))
    both(np.poly, np.array([[2.0, 0.3], [0.1, -1.0]]))
    check_jacobians(lambda x: np.poly(np.stack([x[0] + 1j * x[1], x[0] - 1j * x[1]])), Q[:2])
    assert 1.0 == cr.vjp(np.poly, np.zeros(0))[0]
    with pytest.raises(ValueError, match="square"):
        cr.vjp(np.poly, np.zeros((2, 3)))


def test_roots():
    both(np.roots, np.poly([1.0, 2.0, -3.0]))
    both(np.roots, P)
    both(np.roots, np.array([1.0, 0.0, 1.0]))
    both(np.roots, Z)
    both(np.roots, np.array([1.0, 0.2, 1.5], np.float32))
    jacobian = cr.jacrev(np.roots)(np.array([1, -3, 2]))
    assert np.float64 == jacobian.dtype
    np.testing.assert_allclose(cr.jacfwd(np.roots)(np.array([1.0, -3.0, 2.0])), jacobian)


def test_roots_at_zero_and_at_infinity():
    # A last coefficient of 0 is a root at 0; a first one is a root that came from infinity.
    for p in (np.array([1.0, -3.0, 2.0, 0.0]), np.array([0.0, 1.0, -3.0, 2.0])):
        y = np.roots(p)
        expected = -np.vander(y, 4) / np.polyval(np.polyder(p), y)[:, None]
        np.testing.assert_allclose(expected, cr.jacrev(np.roots)(p), rtol=1e-12)
        np.testing.assert_allclose(expected, cr.jacfwd(np.roots)(p), rtol=1e-12)


def test_lists():
    both(lambda b, c: np.roots([1.0, b, c]), -3.0, 2.0)
    both(lambda b, c: np.roots([1, b, c]), 0.2, 2.0)
    both(lambda b, c: np.poly([1.0, b, c]), -3.0, 2.0)
    both(lambda b, c: np.polyval([1.0, b, c], 3.0), -3.0, 2.0)


def test_no_roots():
    assert (0,) == cr.vjp(np.roots, np.array([2.0]))[0].shape
    np.testing.assert_array_equal([0.0], cr.vjp(np.roots, np.array([2.0]))[1](np.zeros(0))[0])
    np.testing.assert_array_equal(np.zeros((0, 2)), cr.jacrev(np.roots)(np.zeros(2)))


def test_double_roots_have_no_derivative():
    with np.errstate(all="ignore"):
        jacobian = cr.jacrev(np.roots)(np.array([1.0, -2.0, 0.0, 0.0]))
    assert not np.isfinite(jacobian[1:]).any()


def test_poly_undoes_roots():
    p = np.poly([0.5, 2.0, -1.0])
    jacobian = cr.jacrev(lambda p: np.poly(np.roots(p)))(p)
    np.testing.assert_allclose(np.eye(4)[1:, 1:], jacobian[1:, 1:], atol=1e-12)
    hessian = cr.hessian(lambda p: np.sum(np.poly(np.roots(p))[1:]))(p)
    np.testing.assert_allclose(0, hessian[1:, 1:], atol=1e-10)


# ---- fitting ----


def test_polyfit():
    both(np.polyfit, X, Y, 2)
    both(np.polyfit, X, np.stack([Y, X * Y], 1), 1)
    both(np.polyfit, X.astype(np.float32), Y.astype(np.float32), 1)
    both(lambda x, y, w: np.polyfit(x, y, 1, w=w), X, Y, W)
    both(lambda y, w: np.polyfit(X, np.stack([y, 2 * y**2], 1), 1, w=w), Y, W)


def test_polyfit_with_covariance():
    both(lambda x, y: np.polyfit(x, y, 1, cov=True), X, Y)
    both(lambda x, w: np.polyfit(x, Y, 2, w=w, cov="unscaled"), X, W)
    both(lambda y: np.polyfit(X, np.stack([y, y**2], 1), 1, cov=True), Y)
    c, squares, rank, s, rcond = cr.vjp(lambda y: np.polyfit(X, y, 2, full=True), Y)[0]
    for expected, found in zip(np.polyfit(X, Y, 2, full=True), (c, squares, rank, s, rcond)):
        np.testing.assert_allclose(expected, found)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda x: np.polyfit(x, Y, -1)),
        (TypeError, lambda x: np.polyfit(x[None], Y, 1)),
        (TypeError, lambda x: np.polyfit(x[:0], Y, 1)),
        (TypeError, lambda x: np.polyfit(x[:3], Y, 1)),
        (TypeError, lambda x: np.polyfit(x, Y[:, None, None], 1)),
        (TypeError, lambda x: np.polyfit(x, Y, 1, w=W[:3])),
        (ValueError, lambda x: np.polyfit(x[:2], Y[:2], 1, cov=True)),
    ],
)
def test_polyfit_checks(error, call):
    with pytest.raises(error):
        call(X)
    with pytest.raises(error):
        cr.vjp(call, X)


def test_polyfit_warns_of_rank():
    with pytest.warns(np.exceptions.RankWarning):
        cr.vjp(lambda y: np.polyfit(np.ones(7), y, 1), Y)


# ---- poly1d ----


def test_poly1d():
    check_jacobians(lambda p: np.poly1d(p)(X), P)
    check_jacobians(lambda x: np.poly1d(P)(x), X)
    check_jacobians(lambda p: (np.poly1d(p) * np.poly1d(Q) + np.poly1d(p)).coeffs, P)
    check_jacobians(lambda p: np.poly1d(p).deriv().coeffs, P)
    check_jacobians(lambda p: np.poly1d(p).integ(k=2.0).coeffs, P)
    check_jacobians(lambda p: (np.poly1d(p) ** 2).coeffs, P)
    check_jacobians(lambda p: np.poly1d(p).roots, np.poly([1.0, 2.0, 4.0]))


# ---- np.polynomial ----

FAMILIES = {
    "poly": polynomial.polynomial, "cheb": polynomial.chebyshev, "leg": polynomial.legendre,
    "herm": polynomial.hermite, "herme": polynomial.hermite_e, "lag": polynomial.laguerre,
}  # fmt: skip
C2 = RNG.normal(size=(2, 3))

# Traced values run through these: by NumPy's own Python, entry by entry.
VISIBLE = {
    "add": (P, Q), "sub": (P, Q), "mulx": (P,), "pow": (Q, 2), "val": (X[:3], P), "der": (P,),
    "int": (P,), "fromroots": (Q,), "vander": (X[:3], 2), "val2d": (X[:3], Y[:3], C2),
    "grid2d": (X[:2], Y[:3], C2), "vander2d": (X[:2], Y[:2], [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", VISIBLE)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_runs_in_python(family, name):
    f = getattr(FAMILIES[family], family + name)
    args = VISIBLE[name]
    for i, x in enumerate(args):
        if isinstance(x, np.ndarray):
            check_jacobians(lambda x, i=i: f(*args[:i], x, *args[i + 1 :]), x)


def test_the_two_that_dispatch():
    both(polynomial.polynomial.polyval2d, X[:2], Y[:2], C2)
    both(polynomial.polynomial.polyval2d, 0.5, 0.7, RNG.normal(size=(2, 3, 2)))
    both(polynomial.polynomial.polygrid2d, X[:2], Y[:3], C2)
    both(polynomial.polynomial.polygrid2d, X[:2], 0.5, C2)
    with pytest.raises(ValueError, match="incompatible"):
        cr.vjp(polynomial.polynomial.polyval2d, X[:2], Y[:3], C2)


def test_series_objects():
    check_jacobians(lambda x: polynomial.Polynomial(P)(x), X)
    check_jacobians(lambda x: polynomial.Chebyshev(P)(x), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_jacobians(lambda p: polynomial.Polynomial(p)(X), P)
