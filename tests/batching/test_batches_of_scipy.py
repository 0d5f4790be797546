"""Functions of SciPy in a batch: those of entries are called once, and give what a loop gives."""

import warnings

import numpy as np
import pytest
from items_in_a_loop import looped
from scipy import stats as own

import chainrules as cr
from chainrules.scipy import interpolate, special, stats

RNG = np.random.default_rng(8)
XS = 0.1 + 0.8 * RNG.random((5, 3))

OF_ENTRIES = {
    "a number": lambda x: stats.norm.logpdf(x[0]),
    "location and scale": lambda x: stats.norm.logpdf(x, 0.1, scale=x[0]),
    "a shape, which items share in part": lambda x: stats.beta.cdf(x, 2.0, x[0]),
    "several tails": lambda x: stats.gamma.sf(x, 2.0) + stats.t.ppf(x, 4.0 + x[1]),
    "an inverse": lambda x: stats.gamma.ppf(x, 2.0 + x[0], scale=x[1]),
    "whole numbers": lambda x: stats.poisson.logpmf(3, x) + stats.binom.cdf(2, 4, x),
    "a shared point": lambda x: stats.expon.pdf(np.linspace(0.1, 1.0, 4), scale=x[0]),
    "frozen": lambda x: stats.lognorm(x[0], scale=x[1]).logpdf(x),
    "what describes it": lambda x: stats.gamma.mean(x[0]) + stats.norm.entropy(x[1], x[2]),
    "beyond the support": lambda x: stats.uniform.cdf(x * 3, 0.2, 1.0),
    "logsumexp": lambda x: special.logsumexp(x) + special.logsumexp(np.outer(x, x), axis=1),
    "softmax": lambda x: special.softmax(x) + special.log_softmax(np.outer(x, x), axis=0)[0],
}  # fmt: skip


X, Y = np.linspace(0.0, 1.0, 6), np.cos(3 * np.linspace(0.0, 1.0, 6))
OF_ENTRIES |= {
    f"{name} at points of items": lambda x, name=name: getattr(interpolate, name)(X, Y)(x)
    for name in (
        "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline", "interp1d",
        "KroghInterpolator", "InterpolatedUnivariateSpline",
    )
} | {
    "a spline at one number": lambda x: interpolate.CubicSpline(X, Y)(x[0]),
    "a spline's integral": lambda x: interpolate.CubicSpline(X, Y).integrate(x[0], x[1]),
    "Krogh's slopes": lambda x: interpolate.KroghInterpolator(X, Y).derivative(x),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ENTRIES)
def test_values_and_derivatives_are_those_of_a_loop(name):
    f = OF_ENTRIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.BatchWarning)
        for g in (f, cr.jacrev(f), cr.jacfwd(f)):
            ours, right = cr.vmap(g)(XS), looped(g, XS)
            assert ours.dtype == right.dtype
            np.testing.assert_allclose(ours, right, rtol=1e-10, atol=1e-12)


def test_a_distribution_is_asked_once(monkeypatch):
    calls = []
    logpdf = type(own.norm).logpdf

    def counted(self, *args, **kwds):
        calls.append(1)
        return logpdf(self, *args, **kwds)

    counted.__name__ = "logpdf"
    monkeypatch.setattr(type(own.norm), "logpdf", counted)
    cr.vmap(lambda x: stats.norm.logpdf(x, 0.0, 1.0))(XS)
    assert len(calls) == 1


def test_a_distribution_of_the_users_is_asked_for_each_item():
    class Triangle(own.rv_continuous):
        def _pdf(self, x):
            assert np.ndim(x) < 2  # as it may ask
            return 2 * x

    mine = Triangle(a=0.0, b=1.0)
    from chainrules.rules.rulesets.scipy.stats.univariate import is_of_scipys_distribution

    assert is_of_scipys_distribution(own.norm.pdf)
    assert not is_of_scipys_distribution(mine.pdf)


def test_truths_of_single_numbers():
    xs = np.array([0.0, 2.0, -1.0])
    for f in (np.all, np.any, np.count_nonzero, np.argmax, np.ptp):
        np.testing.assert_array_equal(cr.vmap(f)(xs), looped(f, xs))
    ours = cr.vmap(np.cumprod)(xs)
    np.testing.assert_array_equal(ours, looped(np.cumprod, xs))
