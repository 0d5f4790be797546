"""Distributions of scipy.stats that are objects: all methods, in parameters and points."""

import copy
import pickle
import warnings

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.stats as own
from hypothesis import given
from hypothesis import strategies as st
from quietly import quietly

import chainrules as cr
from chainrules.scipy import stats

pytestmark = pytest.mark.skipif(not hasattr(own, "Binomial"), reason="since SciPy 1.16")

AT_POINTS = ["pdf", "logpdf", "cdf", "logcdf", "ccdf", "logccdf"]
AT_CHANCES = ["icdf", "iccdf"]
OF_ALL = ["entropy", "mean", "variance", "standard_deviation", "skewness", "kurtosis", "median"]
METHODS = [*AT_POINTS, *AT_CHANCES, *OF_ALL]

FORMULAS = {
    "normal": (lambda of, p: of.Normal(mu=p[0], sigma=p[1]), [0.3, 1.2]),
    "standard normal": (lambda of, p: of.Normal() * p[1] + p[0], [0.3, 1.2]),
    "uniform": (lambda of, p: of.Uniform(a=p[0], b=p[1]), [0.3, 1.2]),
    "logistic": (lambda of, p: p[0] + p[1] * of.Logistic(), [0.3, 1.2]),
}
# Some of their methods integrate, or look for a root.
BY_SEARCH = {
    "mixture": (
        lambda of, p: of.Mixture(
            [of.Normal(mu=p[0], sigma=1.0), of.Normal(mu=1.0, sigma=p[1])],
            weights=[p[2], 1 - p[2]],
        ),
        [0.3, 1.2, 0.4],
    ),
    "truncated": (
        lambda of, p: of.truncate(of.Normal(mu=p[0]), lb=p[1], ub=p[2]),
        [0.3, -0.5, 1.4],
    ),
    "ordered": (
        lambda of, p: of.order_statistic(of.Normal(mu=p[0], sigma=p[1]), r=3, n=5),
        [0.3, 1.5],
    ),
    "exponential": (lambda of, p: of.exp(of.Normal(mu=p[0], sigma=p[1])), [0.3, 0.5]),
    "logarithm": (lambda of, p: of.log(of.Uniform(a=p[0], b=p[1])), [1.3, 2.5]),
    "absolute": (lambda of, p: of.abs(of.Normal(mu=p[0], sigma=p[1])), [0.3, 0.5]),
    "gamma": (lambda of, p: of.make_distribution(of.gamma)(a=p[0]), [2.3]),
}  # fmt: skip
POINT, CHANCE = 0.57, 0.35


def called(of, make, method, p, x):
    """Call a method of a distribution, at a point or a chance where it takes one."""
    distribution = make(of, p)
    if method in AT_POINTS:
        return getattr(distribution, method)(x)
    return getattr(distribution, method)(*([CHANCE + 0.1 * x] if method in AT_CHANCES else []))


def asked(method, table, name):
    make, p = table[name]

    def f(p, x):
        return called(stats, make, method, p, x)

    expected = called(own, make, method, p, POINT)
    return f, p, expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name, method):
    f, p, expected = asked(method, FORMULAS, name)
    assert f(p, POINT) == expected
    checks.check(f, p, POINT, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BY_SEARCH)
def test_integrals_and_roots(name, method):
    if (name, method) == ("gamma", "entropy"):
        pytest.skip("SciPy's own formula of gamma drops it: refused")
    f, p, expected = asked(method, BY_SEARCH, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f(p, POINT) == expected
        checks.check(f, p, POINT, rtol=1e-4, second=False, exact=False)


@pytest.mark.parametrize(
    ("make", "slope"),
    [
        (lambda t: stats.exp(stats.Normal(mu=t, sigma=0.5)), np.exp(0.3 - 0.25)),
        (lambda t: stats.order_statistic(stats.Normal(mu=t, sigma=1.0), r=2, n=3), 1.0),
        (lambda t: stats.truncate(stats.Normal(mu=t), lb=-2.0, ub=3.0), 1.0),
    ],
)
def test_modes_are_where_the_density_is_stationary(make, slope):
    """SciPy finds them to 8 digits: differences would be too coarse."""
    np.testing.assert_allclose(cr.grad(lambda t: make(t).mode()[()])(0.3), slope, rtol=1e-6)


def test_binomial():
    n, k = 10, 4
    checks.check(lambda p: stats.Binomial(n=n, p=p).logpmf(k), 0.3)
    checks.check(lambda p: stats.Binomial(n=n, p=p).variance(), 0.3)
    with pytest.raises(cr.MissingRuleError, match="_binom_cdf has no rrule"):
        cr.grad(lambda p: stats.Binomial(n=n, p=p).cdf(k))(0.3)


def test_samples_move_with_their_parameters():
    def drawn(mu, sigma):
        return stats.Normal(mu=mu, sigma=sigma).sample(5, rng=np.random.default_rng(2))

    np.testing.assert_array_equal(
        drawn(0.3, 1.2), own.Normal(mu=0.3, sigma=1.2).sample(5, rng=np.random.default_rng(2))
    )
    checks.check(drawn, 0.3, 1.2)


X = np.linspace(-1.0, 2.0, 7)


def likelihood(p):
    return -np.sum(stats.Normal(mu=p[0], sigma=np.exp(p[1])).logpdf(X))


def test_batches_and_compiled():
    ps = np.array([[0.1, 0.2], [0.4, -0.3], [1.0, 0.1]])
    expected = [cr.grad(likelihood)(p) for p in ps]
    np.testing.assert_allclose(cr.vmap(cr.grad(likelihood))(ps), expected, rtol=1e-13)
    compiled = cr.compile(cr.grad(likelihood))
    for _ in range(3):
        np.testing.assert_allclose([compiled(p) for p in ps], expected, rtol=1e-13)


def test_captured_ones():
    made = stats.Normal(mu=0.3, sigma=1.2)
    checks.check(lambda x: made.cdf(x), X)
    compiled = cr.compile(cr.grad(lambda x: np.sum(made.logpdf(x))))
    for k in (1.0, 1.1, 0.9, 0.8):
        np.testing.assert_allclose(compiled(k * X), (0.3 - k * X) / 1.2**2)


def test_integrands_that_capture_one():
    from chainrules.scipy import integrate

    def mean_square(mu):
        made = stats.Normal(mu=mu, sigma=1.0)
        return integrate.quad(lambda x: x * x * made.pdf(x), -9.0, 9.0)[0]

    np.testing.assert_allclose(cr.grad(mean_square)(0.3), 0.6, rtol=1e-6)


def test_objects_pass_for_scipys():
    made = stats.Normal(mu=0.3, sigma=1.2)
    assert isinstance(made, stats.Normal)
    assert isinstance(made, own.Normal)
    assert isinstance(own.Normal(), stats.Normal)
    assert issubclass(stats.Normal, own.Normal)
    assert repr(made) == repr(own.Normal(mu=0.3, sigma=1.2))
    for again in (copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert type(again) is type(made)
        assert again.pdf(0.2) == made.pdf(0.2)


def test_classes_of_users():
    class Wider(stats.Normal):
        """Normal, with a method of its own and a formula of another."""

        def mode(self):
            return self.mu * 1.0

        def spread(self):
            return self.icdf(0.75) - self.icdf(0.25) + super().median()

    def f(mu, sigma):
        made = Wider(mu=mu, sigma=sigma)
        return made.spread() + made.mode() * made.pdf(0.2)

    assert issubclass(Wider, stats.Normal)
    assert issubclass(Wider, own.Normal)
    assert isinstance(Wider(mu=0.1, sigma=1.0), stats.Normal)
    assert not issubclass(Wider, stats.Uniform)
    checks.check(f, 0.3, 1.2, exact=False)


# ---- random compositions ------------------------------------------------------------------------

MAKERS = [
    lambda made, p: stats.Normal(mu=p[0], sigma=1.0 + p[1] ** 2),
    lambda made, p: stats.Uniform(a=p[0] - 3.0, b=3.0 + p[1] ** 2),
    lambda made, p: stats.Logistic() * (1.5 + p[0]),
]
STEPS = [
    lambda made, p: made + p[0],
    lambda made, p: (0.7 + p[1] ** 2) * made,
    lambda made, p: p[1] - made,
    lambda made, p: stats.truncate(made, lb=-1.5 + 0.2 * p[0], ub=2.5),
    lambda made, p: stats.abs(made),
    lambda made, p: stats.exp(0.3 * made),
    lambda made, p: stats.order_statistic(made, r=2, n=3),
]


@given(
    st.sampled_from(MAKERS),
    st.lists(st.sampled_from(STEPS), max_size=2),
    st.sampled_from([*AT_POINTS, *AT_CHANCES, "median"]),
    st.floats(0.2, 0.6),
)
def test_compositions(maker, steps, method, x):
    p = np.array([0.31, 0.45])

    def f(p, x):
        made = maker(None, p)
        for step in steps:
            made = step(made, p)
        if method in AT_POINTS:
            return getattr(made, method)(1.2 * x)
        return getattr(made, method)(*([x] if method in AT_CHANCES else []))

    with quietly():
        try:
            slope = checks.differences(f, (p, x), (pdot := np.array([0.6, -0.8]), 0.7))
        except (NotImplementedError, ValueError):
            return  # SciPy has no such composition
        _, ydot = cr.jvp(f, (p, x), (pdot, 0.7))
        pbar, xbar = cr.grad(f, (0, 1))(p, x)
    if not np.isfinite(slope):
        return
    np.testing.assert_allclose(ydot, slope, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(pbar @ pdot + 0.7 * xbar, ydot, rtol=1e-8, atol=1e-10)
