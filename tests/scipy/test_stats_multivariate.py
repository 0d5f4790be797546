"""Distributions of vectors and matrices, and kernel density estimates, against differences."""

import numpy as np
import pytest
from differences import slope_of

pytest.importorskip("scipy")
import scipy.stats as own

import chainrules as cr
from chainrules.config import MissingRuleError
from chainrules.scipy import stats

RNG = np.random.default_rng(3)
A = RNG.normal(size=(3, 3))
COV = A @ A.T + np.eye(3)
X = RNG.normal(size=(4, 3))
M = np.array([0.3, -0.2, 0.5])
ALPHA = np.array([0.7, 2.4, 1.3])
SIMPLEX = np.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]])
SQUARES = np.stack([COV, 2 * COV + np.eye(3)], axis=-1)
DATA = RNG.normal(size=(2, 7))
POINTS = RNG.normal(size=(2, 5))
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 0.2, 3.0])


def check(f, *xs, symmetric=()):
    """``f(module, *xs)``: SciPy's value, both modes and their derivatives, along a direction."""
    rng = np.random.default_rng(5)
    dots = [rng.normal(size=np.shape(x)) for x in xs]
    dots = [xdot + xdot.T if i in symmetric else xdot for i, xdot in enumerate(dots)]

    def ours(*xs):
        return f(stats, *xs)

    def scipys(*xs):
        return f(own, *xs)

    y, ydot = cr.jvp(ours, xs, tuple(dots))
    np.testing.assert_array_equal(scipys(*xs), y)
    expected = slope_of(scipys, xs, dots, 2e-4, order=4)
    np.testing.assert_allclose(expected, ydot, rtol=1e-7, atol=1e-8)
    ybar = rng.normal(size=np.shape(y))
    y, pullback = cr.vjp(ours, *xs)
    np.testing.assert_array_equal(scipys(*xs), y)
    paired = sum(np.sum(bar * xdot) for bar, xdot in zip(pullback(ybar), dots))
    np.testing.assert_allclose(np.sum(ybar * expected), paired, rtol=1e-6)

    def gradient(*xs):
        bars = cr.grad(lambda *xs: np.sum(ybar * ours(*xs) ** 2), argnums=tuple(range(len(xs))))(
            *xs
        )
        return sum(np.sum(bar * xdot) for bar, xdot in zip(bars, dots))

    expected = slope_of(gradient, xs, dots, 2e-4, order=4)
    np.testing.assert_allclose(expected, cr.jvp(gradient, xs, tuple(dots))[1], rtol=1e-5)
    bars = cr.grad(gradient, argnums=tuple(range(len(xs))))(*xs)
    found = sum(np.sum(bar * xdot) for bar, xdot in zip(bars, dots))
    np.testing.assert_allclose(expected, found, rtol=1e-5)


def rest_of(a, b):
    return cr.array([a, b, 1 - a - b])


CASES = {
    "normal": (lambda s, x, m, c: s.multivariate_normal.logpdf(x, m, c), X, M, COV),
    "normal of one vector": (lambda s, x, m, c: s.multivariate_normal.pdf(x, m, c), X[0], M, COV),
    "normal of a diagonal": (lambda s, x, c: s.multivariate_normal.logpdf(x, M, c), X, ALPHA),
    "normal of numbers": (
        lambda s, x, m, c: s.multivariate_normal.logpdf(x, m, c), M, np.array(0.2), np.array(2.0)),
    "normal of a number": (
        lambda s, x, c: s.multivariate_normal(M, c).logpdf(x), X, np.array(2.0)),
    "normal of a covariance": (
        lambda s, x, m: s.multivariate_normal(m, own.Covariance.from_diagonal(ALPHA)).logpdf(x),
        X, M),
    "normal with plain parameters": (lambda s, x: s.multivariate_normal(M, COV).logpdf(x), X),
    "normal entropy": (lambda s, c: s.multivariate_normal(M, c).entropy(), COV),
    "t": (lambda s, x, m, c, df: s.multivariate_t.logpdf(x, m, c, df), X, M, COV, 3.5),
    "t frozen": (lambda s, x, c: s.multivariate_t(M, c, df=4).pdf(x), X, COV),
    "dirichlet": (lambda s, a: s.dirichlet.logpdf(SIMPLEX, a), ALPHA),
    "dirichlet of fewer": (lambda s, x, a: s.dirichlet(a).pdf(x), SIMPLEX[:2], ALPHA),
    "dirichlet mean": (lambda s, a: s.dirichlet.mean(a), ALPHA),
    "dirichlet var": (lambda s, a: s.dirichlet(a).var(), ALPHA),
    "dirichlet cov": (lambda s, a: s.dirichlet.cov(a), ALPHA),
    "dirichlet entropy": (lambda s, a: s.dirichlet.entropy(a), ALPHA),
    "multinomial": (
        lambda s, a, b: s.multinomial.logpmf([[1, 2, 3], [6, 0, 0]], 6, rest_of(a, b)),
        0.25, 0.5),
    "matrix normal": (
        lambda s, x, m, u, v: s.matrix_normal.logpdf(x, m, u, v), X[:3, :2], A[:, :2], COV,
        COV[:2, :2]),
    "kde": (lambda s, x: s.gaussian_kde(DATA)(x), POINTS),
    "kde of data": (lambda s, x, d: s.gaussian_kde(d).logpdf(x), POINTS, DATA),
    "kde of numbers": (
        lambda s, x, d, w: s.gaussian_kde(d, "silverman", w).pdf(x), POINTS[0], DATA[0], WEIGHTS),
    "kde of width": (lambda s, w: s.gaussian_kde(DATA, w).logpdf(POINTS), 0.4),
    "kde of another width": (lambda s, x, d: widened(s.gaussian_kde(d)).pdf(x), POINTS, DATA),
    "kde of half the width": (lambda s, x, d, w: halved(s.gaussian_kde(d, None, w)).pdf(x), POINTS,
                              DATA, WEIGHTS),
    "kde by silverman": (lambda s, d: s.gaussian_kde(d, "silverman").factor * d, DATA),
    "kde covariance": (lambda s, d: s.gaussian_kde(d).covariance, DATA),
    "kde precision": (lambda s, d, w: s.gaussian_kde(d, None, w).inv_cov, DATA, WEIGHTS),
    "kde dataset": (lambda s, d: s.gaussian_kde(d).dataset, DATA),
    "kde weights": (lambda s, d, w: s.gaussian_kde(d, None, w).weights, DATA, WEIGHTS),
}  # fmt: skip


def halved(estimate):
    estimate.set_bandwidth(estimate.factor / 2)
    return estimate


def widened(estimate):
    estimate.set_bandwidth(0.7)
    estimate.set_bandwidth()  # as it was
    return estimate


@pytest.mark.filterwarnings("ignore:Some rows")  # of a multinomial, by rounding
@pytest.mark.parametrize("name", CASES)
def test_against_differences(name):
    f, *xs = CASES[name]
    check(f, *xs)


@pytest.mark.parametrize("name", ["wishart", "invwishart"])
def test_wishart(name):
    """SciPy reads both triangles of some of these."""

    def f(s, x, df, scale):
        return getattr(s, name).logpdf(x, df, scale)

    check(f, COV, 4.5, COV + 0.3, symmetric=(0, 2))
    check(lambda s, df, scale: getattr(s, name)(df, scale).pdf(SQUARES), 4.5, COV,
          symmetric=(1,))  # fmt: skip


def test_samples_move_with_mean_and_covariance():
    def second_moment(m, c):
        x = stats.multivariate_normal.rvs(m, c, size=20000, random_state=7)
        np.testing.assert_array_equal(
            own.multivariate_normal.rvs(M, COV, size=20000, random_state=7), cr.value(x)
        )
        return np.mean(np.sum(x * x, axis=1))

    mbar, cbar = cr.grad(second_moment, argnums=(0, 1))(M, COV)
    np.testing.assert_allclose(2 * M, mbar, atol=0.1)
    np.testing.assert_allclose(np.eye(3), np.tril(cbar), atol=0.1)


def test_what_is_not_traced_is_scipys():
    frozen = stats.multivariate_normal(M, COV)
    assert isinstance(frozen, type(own.multivariate_normal(M, COV)))
    assert frozen.cdf(X).shape == (4,)
    np.testing.assert_array_equal(COV, frozen.cov)
    kde = stats.gaussian_kde(DATA)
    assert isinstance(kde, own.gaussian_kde)
    np.testing.assert_array_equal(own.gaussian_kde(DATA).evaluate(POINTS), kde.evaluate(POINTS))
    with pytest.raises(ValueError, match="must be a vector"):
        cr.grad(lambda x: np.sum(stats.multivariate_normal.logpdf(x, np.eye(3))))(X)


def test_refused():
    for f, match in (
        (lambda x: stats.multivariate_normal.cdf(x, M, COV), "cdf has no derivative"),
        (lambda x: stats.multivariate_normal.logpdf(x, M, np.ones((3, 3)), True), "definite"),
        (lambda x: stats.dirichlet.rvs(x), "rvs has no derivative"),
        (lambda x: stats.dirichlet_multinomial.logpmf([1, 2, 3], x, 6), "no rule yet"),
        (lambda x: stats.vonmises_fisher(x, 2.0).logpdf(M), "no rule yet"),
        (lambda x: stats.gaussian_kde(x, lambda kde: 0.3)(x), "bw_method"),
    ):
        with pytest.raises(MissingRuleError, match=match):
            cr.grad(lambda x, f=f: np.sum(f(x)))(ALPHA)


def test_what_has_no_derivative_of_a_density_of_traced_data():
    with pytest.raises(MissingRuleError, match=r"gaussian_kde\.resample of traced data"):
        cr.grad(lambda d: stats.gaussian_kde(d).resample(3)[0, 0])(DATA)
    with pytest.raises(AttributeError):
        cr.grad(lambda d: stats.gaussian_kde(d).resampled)(DATA)


def test_a_distribution_whose_parameter_is_a_list_is_refused():
    with pytest.raises(MissingRuleError, match="poisson_binom, whose parameter is a list"):
        cr.grad(lambda q: stats.poisson_binom.ppf(q, [0.2, 0.7]))(0.4)
