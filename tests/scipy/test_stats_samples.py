"""scipy.stats' functions of samples: random ones, ties, objects, refusals."""

import functools

import numpy as np
import pytest
import scipy.stats
from differences import slope_of
from generic_points import normal
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import stats

random = functools.partial(normal, ())
SEARCH = settings(max_examples=25)


def flat(y):
    if isinstance(y, tuple | list):
        return np.concatenate([np.zeros(0), *map(flat, y)])
    return np.ravel(y)


FUNCTIONS = {
    "skewtest": {"alternative": ["two-sided", "less", "greater"]},
    "kurtosistest": {"alternative": ["two-sided", "less", "greater"]},
    "normaltest": {},
    "differential_entropy": {
        "method": ["auto", "vasicek", "van es", "ebrahimi", "correa"],
        "window_length": [None, 1, 4],
    },
    "lmoment": {"order": [2, [1, 2, 3, 4], [4, 1]], "standardize": [True, False]},
    "combine_pvalues": {"method": ["fisher", "pearson", "mudholkar_george", "tippett", "stouffer"]},
    "false_discovery_control": {"method": ["bh", "by"]},
    "levene": {"center": ["median", "mean", "trimmed"]},
    "theilslopes": {"method": ["joint", "separate"], "alpha": [0.9, 0.3]},
    "siegelslopes": {"method": ["hierarchical", "separate"]},
    "expectile": {"alpha": [0.2, 0.5, 0.9]},
    "sigmaclip": {"low": [1.2, 4.0], "high": [1.5, 4.0]},
    "scoreatpercentile": {"per": [0, 30, 100, [20.0, 61.0]]},
}
LINES = {"theilslopes", "siegelslopes", "expectile", "sigmaclip", "scoreatpercentile"}
PROBABILITIES = {"combine_pvalues", "false_discovery_control"}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if hasattr(stats, name)])
@SEARCH
@given(data=st.data(), n=st.integers(9, 14), seed=st.integers(0, 999))
def test_random_samples(name, data, n, seed):
    options = {word: data.draw(st.sampled_from(x)) for word, x in FUNCTIONS[name].items()}
    one = name in LINES
    x, xdot = (random(n) if one else random(n, 2, seed=s) for s in (seed, seed + 1))
    if name in PROBABILITIES:
        x = scipy.stats.norm.cdf(x)
        xdot = xdot * x * (1 - x)
    if not one:
        axis = data.draw(st.sampled_from([0, 1] if name in PROBABILITIES else [0]))
        options["axis"] = axis

    def f(x, family=stats):
        samples = (x, 2 * x[:7] ** 2) if name == "levene" else (x,)
        return flat(getattr(family, name)(*samples, **options))

    if name == "levene" and not _has_axis():
        return
    step = 1e-7  # the order does not change within it
    expected = (f(x + step * xdot, scipy.stats) - f(x - step * xdot, scipy.stats)) / (2 * step)
    y, ydot = cr.jvp(f, (x,), (xdot,))
    np.testing.assert_array_equal(f(x, scipy.stats), y)
    scale = 1 + np.max(np.abs(expected))
    np.testing.assert_allclose(expected, ydot, rtol=1e-4, atol=1e-5 * scale)
    ybar = random(*y.shape, seed=3)
    xbar = cr.vjp(f, x)[1](ybar)[0]
    np.testing.assert_allclose(ybar @ ydot, np.sum(xbar * xdot), rtol=1e-9, atol=1e-9 * scale)


def _has_axis():
    try:
        scipy.stats.levene(np.ones((3, 2)), np.arange(6.0).reshape(3, 2), axis=0)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.expectile(x, 0.3),
        lambda x: stats.scoreatpercentile(x, 40),
        lambda x: stats.theilslopes(x)[0],
        lambda x: stats.false_discovery_control(x / 9)[1],
        lambda x: stats.sigmaclip(x, 1.5, 1.5)[2],
    ],
)
def test_ties_are_the_same_in_both_modes(f):
    x = np.array([1.0, 2.0, 2.0, 3.0, 2.0, 5.0, 1.0])
    forward, backward = cr.jacfwd(f)(x), cr.jacrev(f)(x)
    assert np.all(np.isfinite(forward))
    np.testing.assert_allclose(forward, backward, atol=1e-14)


def test_directions():
    x = random(5, 3)

    def f(x, family=stats):
        y = family.directional_stats(x)
        assert type(y) is type(scipy.stats.directional_stats(cr.value(x)))
        return np.append(y.mean_direction * 1, y.mean_resultant_length)

    step, xdot = 1e-6, random(5, 3, seed=1)
    expected = slope_of(f, (x,), (xdot,), step)
    y, ydot = cr.jvp(f, (x,), (xdot,))
    np.testing.assert_array_equal(f(x, scipy.stats), y)
    np.testing.assert_allclose(expected, ydot, rtol=1e-7)
    np.testing.assert_allclose(cr.jacrev(f)(x).reshape(4, -1) @ xdot.ravel(), ydot, rtol=1e-10)


def test_scores_of_samples_of_other_lengths():
    x, y = random(7), random(5, seed=1)

    def second(y):
        return scipy_or_ours.obrientransform(x, y)[1]

    scipy_or_ours = scipy.stats
    if not isinstance(scipy.stats.obrientransform(x, y), tuple):
        scipy_or_ours = stats
        with pytest.raises(cr.MissingRuleError, match="one length"):
            cr.jacrev(second)(y)
        return
    step = 1e-6
    expected = np.stack([second(y + step * u) - second(y - step * u) for u in np.eye(5)], -1)
    scipy_or_ours = stats
    for jacobian in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(expected / (2 * step), jacobian(second)(y), atol=1e-8)


def test_a_skew_of_zero():
    x = np.array([-0.5, 0.7])
    found = cr.grad(lambda x: np.sum(stats.pearson3.logpdf(x, 0.0)))(x)
    np.testing.assert_allclose(-x, found)
    with pytest.raises(cr.MissingRuleError, match=r"skew where it is 0.*test_stats_samples\.py"):
        cr.grad(lambda skew: np.sum(stats.pearson3.logpdf(x, skew)))(0.0)
    outside = cr.grad(lambda x, skew: stats.pearson3.cdf(x, skew), argnums=(0, 1))(-9.0, 2.0)
    assert outside == (0.0, 0.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: stats.spearmanr(x, x**2)[0], "has steps"),
        (lambda x: stats.shapiro(x)[0], "no rule yet"),
    ],
)
def test_refusals(f, message):
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda x: np.sum(f(x)))(random(9))


@pytest.mark.parametrize("weighed", [False, True])
def test_equal_points_of_one_sample_are_no_kink(weighed):
    """All points of the one lie above those of the other: the distance is that of the means."""
    w = np.array([0.5, 1.0, 2.0, 1.5]) if weighed else np.ones(4)
    x, v = np.array([0.6, 1.1, 0.6, 1.1]), np.array([-3.0, -2.0])
    given = (w, None) if weighed else ()

    def f(x):
        return stats.wasserstein_distance(np.sin(x), v, *given)

    np.testing.assert_allclose(cr.grad(f)(x), w / np.sum(w) * np.cos(x), rtol=1e-12)
    expected = np.diag(-w / np.sum(w) * np.sin(x))
    for hessian in (cr.hessian, lambda f: cr.jacrev(cr.grad(f)), lambda f: cr.jacfwd(cr.jacfwd(f))):
        np.testing.assert_allclose(hessian(f)(x), expected, atol=1e-12)


def test_equal_samples_are_nearest():
    x = np.array([1.0, 3.0, 2.0])
    for weights in ((), (np.ones(3), np.ones(3))):
        f = lambda x, w=weights: stats.wasserstein_distance(x, np.array([3.0, 1.0, 2.0]), *w)  # noqa: E731
        np.testing.assert_array_equal(cr.grad(f)(x), np.zeros(3))
        np.testing.assert_array_equal(cr.jacfwd(f)(x), np.zeros(3))
