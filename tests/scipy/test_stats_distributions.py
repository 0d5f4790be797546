"""Distributions of one variable: SciPy's values, and derivatives that differences confirm."""

import numpy as np
import pytest
from differences import slope_of

pytest.importorskip("scipy")
import scipy.stats as own
from quietly import quietly

import chainrules as cr
from chainrules.rules.rulesets.scipy.stats import FORMULAS
from chainrules.scipy import stats

SHAPES = {
    "alpha": (3.6,), "argus": (1.4,), "crystalball": (1.2, 2.7), "foldcauchy": (4.7,),
    "genexpon": (9.1, 16.2, 3.3), "genhalflogistic": (0.8,), "jf_skew_t": (8.0, 4.0),
    "kappa3": (1.3,), "mielke": (10.4, 4.6), "pearson3": (-0.5,), "powerlognorm": (2.1, 0.45),
    "rdist": (1.6,), "recipinvgauss": (0.63,), "rel_breitwigner": (3.6,),
    "trapezoid": (0.2, 0.8), "truncweibull_min": (2.5, 0.25, 1.75), "wrapcauchy": (0.3,),
    "arcsine": (), "bernoulli": (0.3,), "beta": (2.3, 0.7), "betabinom": (5, 2.3, 0.6),
    "betanbinom": (5, 9.3, 1.2), "betaprime": (5.0, 6.0), "binom": (5, 0.4), "bradford": (0.3,),
    "burr": (10.5, 4.3), "burr12": (10.0, 4.0), "chi": (7.8,), "chi2": (5.5,), "dgamma": (1.1,),
    "dlaplace": (0.8,), "dweibull": (2.1,), "erlang": (4,), "exponnorm": (0.7,),
    "exponpow": (2.7,), "exponweib": (2.9, 1.95), "f": (9.0, 7.5), "fatiguelife": (0.8,),
    "fisk": (3.1,), "foldnorm": (1.9,), "gamma": (1.99,), "genextreme": (-0.1,),
    "gengamma": (4.4, 3.1), "genlogistic": (0.4,), "gennorm": (1.3,), "genpareto": (0.1,),
    "geom": (0.4,), "gompertz": (0.9,), "halfgennorm": (0.7,), "hypergeom": (21, 3, 12),
    "invgamma": (4.1,), "invgauss": (0.15,), "invweibull": (10.5,), "johnsonsb": (4.3, 3.2),
    "johnsonsu": (2.5, 2.2), "laplace_asymmetric": (2.0,), "loggamma": (0.4,),
    "loglaplace": (3.25,), "lognorm": (0.95,), "logser": (0.6,), "loguniform": (0.5, 1.4),
    "lomax": (2.9,), "nakagami": (4.9,), "nbinom": (4.5, 0.4), "ncf": (27.0, 27.0, 0.4),
    "nct": (14.0, 0.24), "ncx2": (21.0, 1.1), "nhypergeom": (21, 3, 12),
    "norminvgauss": (1.25, 0.5), "pareto": (2.6,), "planck": (0.5,), "poisson": (1.6,),
    "powerlaw": (1.7,), "powernorm": (4.4,), "randint": (2, 9), "reciprocal": (0.5, 1.4),
    "rice": (0.8,), "skellam": (3.2, 5.1), "skewcauchy": (0.5,), "skewnorm": (4.0,), "t": (2.7,),
    "triang": (0.2,), "truncexpon": (4.7,), "truncnorm": (-1.1, 2.7), "truncpareto": (1.8, 5.3),
    "vonmises": (2.9,), "vonmises_line": (2.9,), "weibull_max": (2.9,), "weibull_min": (1.8,),
    "yulesimon": (4.0,), "zipf": (4.5,),
}  # fmt: skip
NAMES = [name for name in FORMULAS if hasattr(own, name)]
CONTINUOUS = [name for name in NAMES if hasattr(getattr(own, name), "pdf")]
DISCRETE = [name for name in NAMES if name not in CONTINUOUS]
P = np.array([0.13, 0.46, 0.83])
# SciPy finds these by summing or by integrating, to fewer digits.
ROUGH = {"ncf": 1e-5, "nct": 1e-5, "ncx2": 1e-5, "vonmises": 1e-5, "vonmises_line": 1e-5,
         "rice": 1e-5, "skellam": 1e-5, "powernorm": 1e-5, "betabinom": 1e-5}  # fmt: skip

SLOW = {"gompertz", "vonmises", "vonmises_line"}  # SciPy integrates to find a mean


@pytest.fixture(autouse=True)
def quiet():
    with quietly():
        yield


def differences(f, x, xdot):
    return slope_of(f, (x,), (xdot,), 2e-4, order=4)


def check(ours, scipys, x, rtol=1e-7, second=False):
    """``ours`` has the value of ``scipys`` at ``x``, and its derivatives in both modes."""
    xdot = 0.5 + np.random.default_rng(4).random(len(x))
    expected = differences(scipys, x, xdot)
    y, ydot = cr.jvp(ours, (x,), (xdot,))
    np.testing.assert_array_equal(scipys(x), y)
    finite = np.isfinite(y)
    expected = expected[finite]
    atol = rtol * np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(expected, ydot[finite], rtol=rtol, atol=atol)
    if not np.all(finite):  # an infinite mean, or no mass
        return
    y, pullback = cr.vjp(ours, x)
    np.testing.assert_array_equal(scipys(x), y)
    ybar = np.linspace(0.5, 1.5, len(y))
    scale = np.sum(np.abs(ybar * ydot))
    np.testing.assert_allclose(np.sum(ybar * ydot), pullback(ybar)[0] @ xdot, atol=1e-10 * scale)
    if not second:
        return

    def gradient(x):
        return cr.grad(lambda x: np.sum(ybar * ours(x) ** 2))(x)

    expected = differences(gradient, x, xdot)
    atol = 10 * rtol * np.max(np.abs(expected), initial=1.0)
    found = cr.jvp(gradient, (x,), (xdot,))[1]
    np.testing.assert_allclose(expected, found, rtol=10 * rtol, atol=atol)
    again = cr.grad(lambda x: gradient(x) @ xdot)(x)
    np.testing.assert_allclose(found, again, rtol=1e-7, atol=1e-8 * np.max(np.abs(found)))


def of_continuous(name, method, dist):
    """``method`` of a vector: three points, then shapes, location and scale."""
    n = len(SHAPES.get(name, ()))

    def f(v):
        return getattr(dist, method)(v[:3], *[v[3 + i] for i in range(n)], v[3 + n], scale=v[4 + n])

    return f


def point(name, x):
    return np.array([*x, *map(float, SHAPES.get(name, ())), 0.3, 1.7])


@pytest.mark.parametrize("name", CONTINUOUS)
def test_functions_of_a_continuous_variable(name):
    shapes, dist = SHAPES.get(name, ()), getattr(own, name)
    x = dist.ppf(P, *shapes, 0.3, 1.7)
    rtol = ROUGH.get(name, 1e-7)
    for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        if FORMULAS[name].of[method] is None:
            continue
        ours, scipys = (of_continuous(name, method, d) for d in (getattr(stats, name), dist))
        check(ours, scipys, point(name, x), rtol, second=method in ("logpdf", "cdf"))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles(name):
    if FORMULAS[name].of["cdf"] is None or FORMULAS[name].of["pdf"] is None:
        pytest.skip("no rule yet")
    for method in ("ppf", "isf"):
        ours, scipys = (of_continuous(name, method, getattr(d, name)) for d in (stats, own))
        check(ours, scipys, point(name, P), 10 * ROUGH.get(name, 1e-7), second=method == "ppf")


@pytest.mark.parametrize("name", NAMES)
def test_mean_variance_and_entropy(name):
    n, kinds = len(SHAPES.get(name, ())), FORMULAS[name].of
    if FORMULAS[name].whole and len(FORMULAS[name].whole) == n:
        pytest.skip("all parameters are whole numbers")
    whole = len(FORMULAS[name].whole)
    for method in ("mean", "var", "std", "entropy"):
        if kinds["var" if method == "std" else method] is None and n > 0:
            continue

        def f(v, dist, method=method):
            scale = () if name in DISCRETE else (v[1 + n],)
            shapes = [*SHAPES.get(name, ())[:whole], *[v[i] for i in range(whole, n)]]
            return np.reshape(getattr(dist, method)(*shapes, v[n], *scale), 1)

        x = point(name, ())
        check(
            lambda v, f=f: f(v, getattr(stats, name)),
            lambda v, f=f: f(v, getattr(own, name)),
            x, ROUGH.get(name, 1e-7), second=method == "mean" and name not in SLOW,
        )  # fmt: skip


@pytest.mark.parametrize("name", DISCRETE)
def test_functions_of_a_whole_number(name):
    shapes, dist, whole = SHAPES[name], getattr(own, name), FORMULAS[name].whole
    k = dist.ppf(P, *shapes)
    free = np.array(shapes[len(whole) :], float)
    for method in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"):
        if FORMULAS[name].of[method] is None or not len(free):
            continue

        def f(v, dist, method=method):
            parameters = (*shapes[: len(whole)], *[v[i] for i in range(len(free))])
            return getattr(dist, method)(k + 1, *parameters, loc=1)

        ours, scipys = (lambda v, f=f, d=d: f(v, getattr(d, name)) for d in (stats, own))
        check(ours, scipys, free, ROUGH.get(name, 1e-7), second=method == "logpmf")


@pytest.mark.parametrize("name", ["cdf", "sf"])
def test_a_loggamma_far_left_where_the_exponential_underflows(name):
    f, c, h = getattr(stats.loggamma, name), 1e-3, 1e-9
    for x in (-800.0, np.array([-720.0, -3.0])):
        expected = (f(x, c + h) - f(x, c - h)) / (2 * h)
        y, ydot = cr.jvp(lambda c, x=x: f(x, c), (c,), (1.0,))
        np.testing.assert_array_equal(y, f(x, c))
        np.testing.assert_allclose(ydot, expected, rtol=1e-4)
