"""Results of SciPy's tests: attributes beside the statistic and the p-value, in every transform."""

import pickle

import numpy as np
import pytest
from differences import slope_of
from scipy import stats as own

import chainrules as cr
from chainrules.scipy import stats

X = np.array([1.2, 0.7, 2.2, 1.9, 0.4])
POINTS = np.array([1.2, 1.5, 1.2])

RESULTS = {
    "ttest_1samp": lambda s, p: s.ttest_1samp(X * p + X**2, 0.1 * p),
    "ttest_1samp, axis": lambda s, p: s.ttest_1samp(np.stack([X * p + 1, X**2]).T, p, axis=0),
    "ttest_rel": lambda s, p: s.ttest_rel(X * p, X**2, alternative="less"),
    "ttest_ind": lambda s, p: s.ttest_ind(X * p, X**2),
    "ttest_ind, Welch": lambda s, p: s.ttest_ind(X * p, X**2, equal_var=False),
    "pearsonr": lambda s, p: s.pearsonr(X * p, X**2 + p**2 * np.sin(X * p)),
}
PARTS = {
    "df": lambda y: y.df,
    "low": lambda y: y.confidence_interval(0.8).low,
    "high": lambda y: y.confidence_interval(confidence_level=0.8).high,
    "statistic": lambda y: y.statistic,
}
CASES = {
    f"{name}, {part}": (RESULTS[name], PARTS[part])
    for name in RESULTS
    for part in PARTS
    if (name, part) not in {("pearsonr", "df"), ("ttest_rel", "low")}
}
CASES["linregress"] = lambda s, p: s.linregress(X, X**2 * p), lambda y: y.intercept_stderr


def of_case(name):
    call, part = CASES[name]
    return lambda s, p: np.sum(part(call(s, p)) * np.arange(1.0, 3.0)[: np.size(part(call(s, p)))])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::chainrules.errors.IndependentOutputWarning")
def test_derivatives(name):
    f, h = of_case(name), 1e-5
    expected = (f(own, 1.2 + h) - f(own, 1.2 - h)) / (2 * h)
    y, ydot = cr.jvp(lambda p: f(stats, p), (1.2,), (1.0,))
    np.testing.assert_allclose(y, f(own, 1.2), rtol=1e-14)
    np.testing.assert_allclose(ydot, expected, rtol=1e-6, atol=1e-8)
    slope = cr.grad(lambda p: f(stats, p))
    np.testing.assert_allclose(slope(1.2), ydot, rtol=1e-9, atol=1e-13)
    curvature = slope_of(slope, (1.2,), (1.0,), h)
    np.testing.assert_allclose(cr.grad(slope)(1.2), curvature, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings(
    "ignore::chainrules.errors.BatchWarning", "ignore::chainrules.errors.IndependentOutputWarning"
)
def test_each_item_of_a_batch_has_its_own(name):
    f = of_case(name)
    batched = cr.vmap(lambda p: f(stats, p))
    np.testing.assert_allclose(batched(POINTS), [f(own, p) for p in POINTS], rtol=1e-14)
    slopes = [cr.grad(lambda p: f(stats, p))(p) for p in POINTS]
    for found in (
        cr.vmap(cr.grad(lambda p: f(stats, p)))(POINTS),
        cr.grad(lambda ps: np.sum(batched(ps)))(POINTS),
        cr.jvp(batched, (POINTS,), (np.ones(3),))[1],
    ):
        np.testing.assert_allclose(found, slopes, rtol=1e-9, atol=1e-13)


def test_results_leave_a_transform_with_plain_attributes():
    def regression(p):
        return stats.linregress(X, X**2 * p)

    y, ydot = cr.jvp(regression, (1.2,), (1.0,))
    assert type(y.intercept_stderr) is np.float64
    assert y.intercept_stderr == own.linregress(X, X**2 * 1.2).intercept_stderr
    np.testing.assert_allclose(ydot.intercept_stderr, y.intercept_stderr / 1.2)
    for jacobian in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(
            jacobian(regression)(1.2).intercept_stderr, ydot.intercept_stderr
        )
    _, pullback = cr.vjp(regression, 1.2)
    np.testing.assert_allclose(pullback((1.0, 0.0, 0.0, 0.0, 0.0)), [ydot.slope])
    compiled = cr.compile(regression)
    for p in (1.2, 1.3, 1.4, 1.5):
        assert compiled(p).intercept_stderr == own.linregress(X, X**2 * p).intercept_stderr
    test, _ = cr.jvp(lambda p: stats.ttest_1samp(X * p, 0.1), (1.2,), (1.0,))
    assert test.df == 4
    assert tuple(pickle.loads(pickle.dumps(test))) == tuple(test)
    with pytest.raises(AttributeError, match="no attribute 'degrees'"):
        _ = test.degrees
