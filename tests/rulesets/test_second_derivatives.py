"""Second derivatives at special points: all ways of nesting two modes, compared with differences.

The points are those of calls in NumPy's and SciPy's own tests at which a second derivative was
wrong, or NaN though it exists.
"""

import numpy as np
import pytest
from differences import slope_of
from scipy import special

import chainrules as cr
from chainrules.scipy import integrate, linalg, ndimage, signal, stats
from chainrules.scipy import special as ours

RNG = np.random.default_rng(3)
Q, R = (np.linalg.qr(RNG.normal(size=(3, 3)))[0] for _ in range(2))
TWICE = (3.0, 1.0, 1.0)  # a value that others share
SQUARE = Q @ np.diag(TWICE) @ R.T
EVEN = Q @ np.diag(TWICE) @ Q.T
FOUR = RNG.normal(size=(4, 3))
WIDE = RNG.normal(size=(3, 3))
TURNED = RNG.normal(size=(4, 3))


def even(a):
    return (a + a.T) / 2


def of_norm(a):
    return np.linalg.norm(a, 2) ** 2


def with_cut(a):
    """A pseudo-inverse by a bound that is traced, too, and cuts one singular value."""
    return np.sum(np.linalg.pinv(a, 0.3 + 0.01 * a[0, 0]) ** 2)


def cut_by_scipy(a):
    return np.sum(linalg.pinvh(even(a), atol=1.5 + 0.01 * a[0, 0]) ** 2)


def jumping(s):
    """An integrand with a jump, a kink and ends that move."""
    return np.sum(
        integrate.quad(
            lambda t: np.where(t < s[0], t * s[1], abs(t - s[1])), 0, 2 * s[0],
            points=[s[0], s[1]])[0])  # fmt: skip


def jumping_backwards(s):
    return integrate.quad(lambda t: abs(t - s[0]) * np.exp(t), 2 * s[1], 0, points=[0.2, s[0]])[0]


def of_several(s):
    y = integrate.quad_vec(lambda t: np.stack([abs(t - s[0]), t * s[1]]), 0, 2, points=s[:1])
    return np.sum(y[0])


def convolved(w):
    y = ndimage.convolve(np.array([[1, 2, 3], [4, 5, 6]], np.int8), w, output=np.float64)
    return np.sum(y**2)


PAIR = np.array([0.7, 1.1])
CASES = {
    # Singular values and eigenvalues that are single, beside others that are equal.
    "svdvals": (lambda a: np.linalg.svd(a, compute_uv=False)[0] ** 2, SQUARE),
    "svd": (lambda a: np.linalg.svd(a)[1][0] ** 2, SQUARE),
    "svdvals beside zeros": (lambda a: np.linalg.svdvals(a)[0], np.outer(FOUR[:, 0], Q[0])),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(even(a))[2] ** 2, EVEN),
    "eigh": (lambda a: np.exp(np.linalg.eigh(even(a))[0][2]), EVEN),
    "eigvalsh beside zeros": (lambda a: np.linalg.eigvalsh(even(a))[2], np.outer(Q[0], Q[0])),
    "subspace_angles": (lambda a: linalg.subspace_angles(a, TURNED)[0], FOUR),
    "nuclear norm": (lambda a: np.linalg.norm(a, "nuc") ** 2, SQUARE),
    "orthogonal_procrustes": (lambda a: linalg.orthogonal_procrustes(a, WIDE)[1] ** 2, WIDE @ Q),
    "poly": (lambda a: np.sum(np.poly(a) ** 2), np.array([[-2.0, -1.0], [1.0, 0.0]])),
    "pinv": (with_cut, WIDE),
    "pinv where the rank grows": (lambda a: np.sum(np.linalg.pinv(a, 0.4) ** 3), np.ones((4, 3))),
    "pinv of a wide matrix": (lambda a: np.sum(np.linalg.pinv(a, 0.4) ** 3), FOUR.T),
    "pinvh": (cut_by_scipy, EVEN + np.diag([0.0, 0.1, 0.7])),
    # Full correlation is the largest there is.
    "corrcoef": (lambda x: np.sum(np.corrcoef(x)), np.array([[1.0, 2, 4], [3, 5, 9], [1, 0, 2]])),
    # Integrands that are not smooth, at points that move.
    "quad": (jumping, PAIR),
    "quad, from high to low": (jumping_backwards, PAIR),
    "quad_vec": (of_several, PAIR),
    # At a quarter of the period, and beyond half of it.
    "spherical_jn": (lambda x: np.sum(ours.spherical_jn(np.arange(4), x)), np.array(0.0)),
    "spherical_in": (lambda x: np.sum(ours.spherical_in(np.arange(4), x)), np.array(0.0)),
    "ellipeinc": (lambda x: special.ellipeinc(x[0], x[1]), np.array([np.pi / 2, 0.2])),
    "ellipkinc": (lambda x: special.ellipkinc(x[0], x[1]), np.array([-4.0, 0.2])),
    "ellipkinc at 0": (lambda x: special.ellipkinc(x[0], x[1]), np.array([0.3, 0.0])),
    # Outside of the support, and in the middle of the circle.
    "pearson3.sf": (lambda x: np.sum(stats.pearson3.sf(x, -1.5)), np.array([-0.3, 2.0])),
    "pearson3.cdf": (lambda x: np.sum(stats.pearson3.cdf(x, 0.5)), np.array([0.3, -5.0])),
    "wrapcauchy.cdf": (lambda x: stats.wrapcauchy.cdf(x[0], x[1]), np.array([np.pi, 0.03])),
    "std of one number": (lambda x: np.std(x, 0)[0] + x[0, 0] ** 2, np.array([[1.3, 0.4]])),
    "nanstd": (lambda x: np.sum(np.nanstd(x, 1)), np.array([[1.3, np.nan], [0.2, 0.7]])),
    "convolution of integers": (convolved, np.array([[0.5, 0.1], [0.0, 0.5]])),
    "correlate": (lambda x: signal.correlate(x, x) ** 2, np.array(1.3)),
    "fftconvolve": (lambda x: signal.fftconvolve(x, x) ** 2, np.array(1.3)),
}


def pairing(x, y):
    return np.sum(np.where(y == 0, 0, x) * y)  # of an entry that is NaN nothing is asked


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_in_all_modes(name):
    f, x = CASES[name]
    u, v = np.where(np.isnan(x), 0, np.random.default_rng(7).normal(size=(2, *np.shape(x))))
    gradient, along = cr.grad(f), lambda x: cr.jvp(f, (x,), (u,))[1]
    slope = slope_of(f, (x,), (v,), 1e-4, order=4)
    assert pairing(gradient(x), v) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    expected = slope_of(along, (x,), (v,), 1e-4, order=4)
    size = max(1, abs(expected))
    found = {
        "forward over forward": cr.jvp(along, (x,), (v,))[1],
        "forward over reverse": pairing(cr.jvp(gradient, (x,), (u,))[1], v),
        "reverse over forward": pairing(cr.grad(along)(x), v),
        "reverse over reverse": pairing(cr.grad(lambda x: pairing(gradient(x), u))(x), v),
        "compiled": pairing(cr.compile(lambda x: cr.jvp(gradient, (x,), (u,))[1])(x), v),
        "of a batch": pairing(cr.vmap(lambda x: cr.hvp(f, (x,), (u,)))(np.stack([x, x]))[1], v),
    }
    assert found == {how: pytest.approx(expected, abs=1e-6 * size) for how in found}


NEGATIVE = [special.eval_legendre, special.eval_sh_legendre, special.eval_chebyt,
            special.eval_chebyu, special.eval_chebyc, special.eval_chebys,
            special.eval_sh_chebyt, special.eval_sh_chebyu]  # fmt: skip


@pytest.mark.parametrize("f", NEGATIVE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("degree", [-1, -2, -5, -2.5])
def test_polynomials_of_negative_degree(f, degree):
    def y(x):
        return f(degree, x)

    for order in (y, cr.grad(y)):
        expected = slope_of(order, (0.4,), (1.0,), 1e-4, order=4)
        assert cr.grad(order)(0.4) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("f", [signal.convolve, signal.correlate, signal.fftconvolve])
@pytest.mark.parametrize("shapes", [((0,), (3,)), ((3,), (0,)), ((0, 2), (3, 2))])
def test_convolutions_of_empty_arrays(f, shapes):
    a, b = map(np.ones, shapes)
    try:
        y = f(a, b, "same")
    except ValueError:
        pytest.skip("SciPy refuses them")
    bars = cr.vjp(lambda a, b: f(a, b, "same"), a, b)[1](np.ones_like(y))
    assert [np.shape(bar) for bar in bars] == list(shapes)
    assert not any(map(np.any, bars))


def test_equal_values_that_are_used_have_no_second_derivative():
    """Nobody knows how the weights of equal eigenvalues would differ if these did."""
    for f, x in [
        (lambda a: np.sum(np.linalg.eigvalsh(even(a)) ** 2), EVEN),
        (lambda a: np.sum((np.linalg.eigvalsh(even(a)) - 1) ** 2), EVEN),
        (lambda a: np.linalg.svdvals(a)[1] ** 2, SQUARE),
    ]:
        with np.errstate(all="ignore"):
            assert np.isnan(cr.hessian(f)(x)).any()
            assert np.isnan(cr.jacrev(cr.grad(f))(x)).any()
            assert np.isnan(cr.jacrev(cr.jacfwd(f))(x)).any()
