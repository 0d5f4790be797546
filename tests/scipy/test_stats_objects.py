"""Distributions as objects: frozen, at the ends of their support, sampled, refused."""

import copy
import pickle

import numpy as np
import pytest
from differences import slope_of

pytest.importorskip("scipy")
import scipy.stats as own

import chainrules as cr
from chainrules.config import MissingRuleError
from chainrules.scipy import stats

X = np.array([-0.5, 0.4, 1.7])


def slope(f, x, h=1e-5):
    return slope_of(f, (x,), (1.0,), h)


# ---- objects -------------------------------------------------------------------------------------


def test_what_is_not_traced_is_scipys():
    assert isinstance(stats.norm, own.rv_continuous)
    assert isinstance(stats.poisson, own.rv_discrete)
    assert isinstance(stats.norm(0.2, 1.5), type(own.norm(0.2, 1.5)))
    assert stats.gamma.name == "gamma"
    assert stats.gamma.shapes == "a"
    assert own.norm.expect(lambda x: x * x) == stats.norm.expect(lambda x: x * x)
    np.testing.assert_array_equal(own.norm.fit(X), stats.norm.fit(X))
    assert own.norm(1, 2).support() == stats.norm(1, 2).support()
    assert own.gamma.stats(2.0, moments="mvsk") == stats.gamma.stats(2.0, moments="mvsk")
    np.testing.assert_array_equal(
        own.gamma(2.0).rvs(3, random_state=1), stats.gamma(2.0).rvs(3, random_state=1)
    )
    assert own.kstest(X, "norm") == own.kstest(X, stats.norm.cdf)


def test_copies():
    assert pickle.loads(pickle.dumps(stats.gamma)) is stats.gamma
    assert copy.deepcopy(stats.dirichlet) is stats.dirichlet
    frozen = pickle.loads(pickle.dumps(stats.gamma(2.0, scale=3.0)))
    assert frozen.mean() == 6.0


def test_random_state_of_a_frozen_distribution():
    frozen, expected = stats.norm(0, 1), own.norm(0, 1)
    frozen.random_state = expected.random_state = 5
    assert frozen.rvs() == expected.rvs()


@pytest.mark.parametrize("keywords", [False, True])
def test_frozen(keywords):
    def loss(a, loc, scale):
        frozen = stats.gamma(a, loc=loc, scale=scale) if keywords else stats.gamma(a, loc, scale)
        return np.sum(frozen.logpdf(X + 2)) + frozen.ppf(0.3) + frozen.mean() + frozen.var()

    def plain(*p):
        return (
            np.sum(own.gamma.logpdf(X + 2, *p))
            + own.gamma.ppf(0.3, *p)
            + own.gamma.mean(*p)
            + own.gamma.var(*p)
        )

    p = 1.7, 0.3, 0.8
    assert plain(*p) == pytest.approx(cr.value_and_grad(loss)(*p)[0], rel=1e-14)
    for i, found in enumerate(cr.grad(loss, argnums=(0, 1, 2))(*p)):

        def moved(x, i=i):
            return plain(*p[:i], x, *p[i + 1 :])

        assert slope(moved, p[i]) == pytest.approx(found, rel=1e-6)


def test_plain_parameters_and_a_traced_variable():
    frozen = stats.norm(0.3, 2.0)
    np.testing.assert_allclose(-(X - 0.3) / 4, cr.grad(lambda x: np.sum(frozen.logpdf(x)))(X))
    assert cr.grad(lambda x: frozen.cdf(x))(0.7) == pytest.approx(own.norm.pdf(0.7, 0.3, 2.0))
    np.testing.assert_allclose(
        -(X - 0.3) / 4, cr.grad(lambda x: np.sum(stats.norm.logpdf(x=x, loc=0.3, scale=2)))(X)
    )


def test_all_the_ways_to_say_it():
    p = 1.7, 0.3, 0.8
    cases = (
        (lambda d, a: d.median(a, 0.3, 0.8)),
        (lambda d, a: d.interval(0.9, a, 0.3, scale=0.8)[1]),
        (lambda d, a: d.interval(0.9, a, 0.3, scale=0.8)[0]),
        (lambda d, a: d.stats(a, 0.3, 0.8)[1]),
        (lambda d, a: d(a, 0.3, 0.8).stats(moments="m")),
        (lambda d, a: d.moment(2, a, 0.3, 0.8)),
        (lambda d, a: d(a, 0.3, 0.8).moment(1)),
        (lambda d, a: d.nnlf((a, 0.3, 0.8), X + 2)),
        (lambda d, a: d(a, 0.3, 0.8).std()),
        (lambda d, a: d(a, 0.3, 0.8).interval(0.5)[0]),
    )
    for f in cases:
        assert f(own.gamma, p[0]) == cr.value(
            cr.jvp(lambda a, f=f: f(stats.gamma, a), (1.7,), (1.0,))[0]
        )
        expected = slope(lambda a, f=f: f(own.gamma, a), 1.7)
        assert expected == pytest.approx(cr.grad(lambda a, f=f: f(stats.gamma, a))(1.7), rel=1e-6)


def test_discrete():
    k = np.array([0, 2, 5])

    def f(mu):
        return np.sum(stats.poisson(mu).logpmf(k))

    assert cr.grad(f)(1.7) == pytest.approx(np.sum(k / 1.7 - 1))
    assert cr.grad(cr.grad(f))(1.7) == pytest.approx(-np.sum(k / 1.7**2))
    # A whole number does not move, and a quantile of one has steps.
    assert cr.grad(lambda k: stats.poisson.logpmf(k, 1.7))(2.0) == 0
    assert cr.grad(lambda mu: stats.poisson.ppf(0.4, mu) + mu)(1.7) == 1
    np.testing.assert_array_equal(
        [0.0, 0.0], cr.grad(lambda mu: np.sum(stats.poisson.pmf([-1, 0.5], mu)))(np.array([1.7, 2]))
    )


# ---- support, validity, dtypes -------------------------------------------------------------------


HALF_LINES = ["expon", "gamma", "beta", "lognorm", "weibull_min", "pareto", "invgamma", "uniform",
              "powerlaw", "halfnorm", "rayleigh"]  # fmt: skip


@pytest.mark.parametrize("name", HALF_LINES)
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SciPy's at infinity, and of log(0)
def test_outside_of_the_support(name, method):
    shapes = {"beta": (2.3, 1.7), "expon": (), "uniform": (), "halfnorm": (), "rayleigh": ()}
    shapes = shapes.get(name, (2.3,))
    dist, scipys = getattr(stats, name), getattr(own, name)
    x = np.array([-1.0, 0.0, 0.7, 1.6, np.inf])
    x[1] = scipys.support(*shapes)[0]

    def f(x, *p):
        return getattr(dist, method)(x, *p)

    inside = np.isfinite(scipys.logpdf(x, *shapes))
    for y in (cr.vjp(f, x, *shapes)[0], cr.jvp(f, (x, *shapes), (np.ones(5), *shapes))[0]):
        np.testing.assert_array_equal(getattr(scipys, method)(x, *shapes), y)

    def total(x, *p):
        return np.sum(np.where(np.isfinite(getattr(scipys, method)(cr.value(x), *shapes)),
                               f(x, *p), 0.0))  # fmt: skip

    xbar, *shapebars = cr.grad(total, argnums=tuple(range(1 + len(shapes))))(x, *shapes)
    assert np.all(np.isfinite(xbar))
    assert np.all(xbar[~inside] == 0)
    at = x[inside & np.isfinite(getattr(scipys, method)(x, *shapes))]
    for i, found in enumerate(shapebars):

        def values(s, i=i):
            return np.sum(getattr(scipys, method)(at, *shapes[:i], s, *shapes[i + 1 :]))

        assert slope(values, shapes[i]) == pytest.approx(found, rel=1e-5, abs=1e-7)


def test_outside_says_nothing_of_location_and_scale():
    def f(x, loc, scale):
        return np.sum(stats.expon.pdf(x, loc, scale))

    xbar, locbar, scalebar = cr.grad(f, argnums=(0, 1, 2))(np.array([-1.0, 2.0]), 0.5, 1.5)
    pdf = own.expon.pdf(2.0, 0.5, 1.5)
    np.testing.assert_allclose([0, -pdf / 1.5], xbar)
    assert pdf / 1.5 == pytest.approx(locbar)
    assert pdf * (1.5 / 1.5**2 - 1 / 1.5) == pytest.approx(scalebar, abs=1e-12)


def test_invalid_parameters_have_no_derivative():
    scales = np.array([2.0, -1.0])
    with np.errstate(all="ignore"):
        y, pullback = cr.vjp(lambda s: stats.norm.logpdf(0.3, 0.1, s), scales)
        (bar,) = pullback(np.ones(2))
    np.testing.assert_array_equal(own.norm.logpdf(0.3, 0.1, scales), y)
    assert np.isfinite(bar[0])
    assert np.isnan(bar[1])
    assert np.isnan(cr.grad(lambda p: stats.norm.ppf(p))(1.5))
    assert np.isnan(cr.grad(lambda x: stats.norm.pdf(x))(np.nan))


def test_far_in_the_tails():
    for x in (30.0, -30.0):
        for method in ("logcdf", "logsf"):

            def f(x, method=method):
                return getattr(stats.norm, method)(x)

            expected = slope(lambda x, method=method: getattr(own.norm, method)(x), x)
            assert expected == pytest.approx(cr.grad(f)(x), rel=1e-5, abs=1e-100)
    p = 1e-200
    assert 1 / own.norm.pdf(own.norm.ppf(p)) == pytest.approx(cr.grad(stats.norm.ppf)(p))
    assert -1 / own.norm.pdf(own.norm.isf(p)) == pytest.approx(cr.grad(stats.norm.isf)(p))


def test_float32():
    x = X.astype(np.float32)
    y, pullback = cr.vjp(lambda x, loc: stats.norm.logpdf(x, loc, 2.0), x, np.float32(0.3))
    assert own.norm.logpdf(x, np.float32(0.3), 2.0).dtype == y.dtype
    xbar, locbar = pullback(np.ones_like(y))
    assert (xbar.dtype, np.asarray(locbar).dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(-(x - 0.3) / 4, xbar, rtol=1e-6)


def test_empty_and_broadcast():
    assert cr.grad(lambda x: np.sum(stats.gamma.logpdf(x, 2.0)))(np.zeros(0)).shape == (0,)
    a = np.array([[0.7], [1.9]])
    abar = cr.grad(lambda a: np.sum(stats.gamma.logpdf(X + 1, a)))(a)
    expected = slope(lambda a: np.sum(own.gamma.logpdf(X + 1, a), axis=1, keepdims=True), a)
    np.testing.assert_allclose(expected, abar, rtol=1e-7)


def test_lists_of_traced_numbers_and_closures():
    def f(a):
        return np.sum(stats.norm.logpdf([a, 2 * a, 0.3], loc=a))

    assert slope(lambda a: np.sum(own.norm.logpdf([a, 2 * a, 0.3], loc=a)), 0.4) == pytest.approx(
        cr.grad(f)(0.4)
    )

    def inner(a):
        return cr.grad(lambda x: stats.gamma.cdf(x, a))(1.3)

    assert slope(lambda a: own.gamma.pdf(1.3, a), 2.4) == pytest.approx(
        cr.grad(inner)(2.4), rel=1e-6
    )


def test_a_shape_at_its_limit():
    """The generalized laws at 0 are smooth: of Gumbel, and exponential."""
    x = np.array([0.3, 1.1])
    for dist, scipys in ((stats.genextreme, own.genextreme), (stats.genpareto, own.genpareto)):
        for h in (0.0, 1e-9):
            expected = slope(lambda c, scipys=scipys: np.sum(scipys.logpdf(x, c)), h, 1e-4)
            found = cr.grad(lambda c, dist=dist: np.sum(dist.logpdf(x, c)))(h)
            assert expected == pytest.approx(found, rel=1e-6)


# ---- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "shapes"), [
    ("norm", ()), ("gamma", (2.3,)), ("beta", (2.3, 0.8)), ("t", (3.7,)), ("weibull_min", (1.7,)),
    ("lognorm", (0.4,)), ("vonmises", (1.2,)), ("truncnorm", (-1.0, 2.0)),
])  # fmt: skip
def test_samples_move_as_the_distribution_does(name, shapes):
    """The derivative of the share below x, as a sum over samples, is that of the formula."""
    loc, scale, n = 0.4, 1.3, 3
    dist = getattr(stats, name)
    p = (*shapes, loc, scale)

    def draw(*p):
        return dist.rvs(*p[:-2], loc=p[-2], scale=p[-1], size=n, random_state=4)

    expected = getattr(own, name).rvs(*shapes, loc=loc, scale=scale, size=n, random_state=4)
    y, pullback = cr.vjp(draw, *p)
    np.testing.assert_array_equal(expected, y)
    found = np.stack([pullback(e) for e in np.eye(n)])
    if name == "vonmises":  # drawn on the circle
        return

    def tail(*p):
        return getattr(own, name).cdf(expected, *p)

    density = getattr(own, name).pdf(expected, *p)
    for i in range(len(p)):
        moved = slope(lambda s, i=i: tail(*p[:i], s, *p[i + 1 :]), p[i])
        np.testing.assert_allclose(-moved / density, found[:, i], rtol=1e-5, atol=1e-8)


def test_frozen_samples():
    def f(a):
        return np.sum(stats.gamma(a, scale=2.0).rvs(size=4, random_state=1))

    def g(a):
        return np.sum(stats.gamma.rvs(a, scale=2.0, size=4, random_state=1))

    assert cr.grad(f)(1.7) == cr.grad(g)(1.7)


# ---- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("f", "match"), [
    (lambda x: stats.poisson.rvs(x), "rvs has no derivative"),
    (lambda x: stats.gamma.fit(x), "fit has no derivative"),
    (lambda x: stats.norm.fit(x), "fit has no derivative"),
    (lambda x: stats.norm(x).expect(np.sin), "expect has no derivative"),
    (lambda x: stats.gamma.stats(x, moments="s"), "moments='mv'"),
    (lambda x: stats.gamma.moment(3, x), "orders up to 2"),
    (lambda x: stats.levy_stable.pdf(x, 1.8, -0.5), "no rule yet"),
    (lambda x: stats.binom.pmf(2, x * 10, 0.3), "n of scipy.stats.binom is a whole number"),
    (lambda x: stats.spearmanr(x, X), "ranks"),
    (lambda x: np.real(stats.norm.pdf(x + 1j)), "real numbers"),
    (lambda x: stats.ttest_ind(x, X, method=own.PermutationMethod(9)).statistic, "resampled"),
    (lambda x: stats.gamma(x).support(), "support has no derivative"),
])  # fmt: skip
def test_refused(f, match):
    with pytest.raises(MissingRuleError, match=match):
        cr.grad(lambda x: np.sum(f(x)))(np.array([0.3, 0.8, 1.2]))


def test_bad_input_is_scipys_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        cr.grad(lambda x: np.sum(stats.gamma.logpdf(x)))(X)
    with pytest.raises(AttributeError, match="pdf"):
        cr.grad(lambda x: np.sum(stats.poisson.pdf(x, 1.7)))(X)
