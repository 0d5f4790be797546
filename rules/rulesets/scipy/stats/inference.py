"""Statistics of hypothesis tests, with their p-values, and linear regression."""

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from .....config import MissingRuleError, user_line
from .... import array_of, composed, is_traced, source_of, value, with_values
from .samples import centred, floats, in_one_axis, kurtosis, mean, skew, variance


class Tested(NamedTuple):
    """Statistic and p-value of a test."""

    statistic: Any
    pvalue: Any


class TestedAtLength(Tested):
    """Result of a test, whose intervals and degrees of freedom SciPy's own code computes if asked.

    The call is kept with it, as parts of the result that every walk sees.
    """

    def __getattr__(self, name):
        if name[:1] == "_":
            raise AttributeError(f"the result of a test has no attribute {name!r}")
        return getattr(source_of(self._test)(*self._args, **self._options), name)

    def __reduce__(self):
        return Tested, tuple(self)


def at_length(tested, test, *args, **options):
    """Return a result of ``test`` that has all attributes of SciPy's."""
    y = TestedAtLength(*tested)
    y._test, y._args, y._options = test, args, options
    return y


def tested_by_t(t, df, alternative):
    if alternative == "less":
        return Tested(t, special.stdtr(df, t))
    if alternative == "greater":
        return Tested(t, special.stdtr(df, -t))
    return Tested(t, 2 * special.stdtr(df, -np.abs(t)))


# ---- correlation and regression ------------------------------------------------------------------


def correlation(x, y):
    x, y = centred(x), centred(y)
    return mean(x * y) / np.sqrt(mean(x * x) * mean(y * y))


def tested_correlation(x, y, alternative):
    r, df = correlation(x, y), np.shape(x)[-1] - 2
    tested = tested_by_t(r * np.sqrt(df / ((1 - r) * (1 + r))), df, alternative)
    return Tested(r, tested.pvalue)


@composed(stats.pearsonr, value="own")
def pearsonr(x, y, alternative="two-sided", method=None, axis=0):
    if method is not None:
        raise MissingRuleError(
            f"scipy.stats.pearsonr has no rule for a p-value by resampling, in {user_line()}.\n"
            "  leave out method"
        )
    x, y = np.broadcast_arrays(floats(x), floats(y))
    tested = tested_correlation(in_one_axis(x, axis), in_one_axis(y, axis), alternative)
    return at_length(tested, stats.pearsonr, x, y, alternative=alternative, axis=axis)


@composed(stats.pointbiserialr, value="own")
def pointbiserialr(x, y, axis=0):
    x, y = in_one_axis(x, axis), in_one_axis(y, axis)
    return tested_correlation(x, y, "two-sided")


@composed(stats.linregress, value="own")
def linregress(x, y=None, alternative="two-sided", *, own):
    if np.iscomplexobj(value(x)) or np.iscomplexobj(value(y)):
        raise MissingRuleError(
            f"scipy.stats.linregress has no rule for complex numbers, in {user_line()}.\n"
            "  write np.linalg.lstsq"
        )
    if y is None or np.ndim(x) != 1:
        raise MissingRuleError(
            f"scipy.stats.linregress has a rule for two vectors only, in {user_line()}.\n"
            "  write linregress(x, y), once for each"
        )
    x, y = floats(x), floats(y)
    r, pvalue = tested_correlation(x, y, alternative)
    slope = mean(centred(x) * centred(y)) / variance(x)
    intercept = mean(y) - slope * mean(x)
    error = np.sqrt((1 - r * r) * variance(y) / variance(x) / (len(x) - 2))
    of_intercept = with_values(error * np.sqrt(mean(x * x)), own.intercept_stderr)
    return type(own)(slope, intercept, r, pvalue, error, intercept_stderr=of_intercept)


# ---- t, F and chi-square tests -------------------------------------------------------------------


@composed(stats.ttest_1samp, value="own")
def ttest_1samp(a, popmean, axis=0, alternative="two-sided"):
    lanes, expected = in_one_axis(a, axis), floats(popmean)
    one = np.size(expected) == 1
    expected = np.reshape(expected, ()) if one else in_one_axis(expected, axis)
    n = np.shape(lanes)[-1]
    t = (mean(lanes) - expected) / np.sqrt(variance(lanes, 1) / n)
    tested = tested_by_t(t, n - 1, alternative)
    return at_length(tested, stats.ttest_1samp, a, popmean, axis, alternative=alternative)


@composed(stats.ttest_rel, value="own")
def ttest_rel(a, b, axis=0, alternative="two-sided"):
    return ttest_1samp(floats(a) - floats(b), 0.0, axis, alternative=alternative)


def tested_means(gap, v1, n1, v2, n2, equal_var, alternative):
    """Student's test of two means, or Welch's where the variances may differ."""
    first, second = v1 / n1, v2 / n2
    if equal_var:
        df = n1 + n2 - 2.0
        spread = ((n1 - 1) * v1 + (n2 - 1) * v2) / df * (1 / n1 + 1 / n2)
    else:
        spread = first + second
        df = spread**2 / (first**2 / (n1 - 1) + second**2 / (n2 - 1))
    return tested_by_t(gap / np.sqrt(spread), df, alternative)


@composed(stats.ttest_ind, value="own")
def ttest_ind(a, b, axis=0, equal_var=True, permutations=None, random_state=None,
              alternative="two-sided", trim=0, method=None):  # fmt: skip
    if permutations or method is not None:
        raise MissingRuleError(
            f"scipy.stats.ttest_ind has no rule for resampled data, in {user_line()}.\n"
            "  leave out permutations and method"
        )
    given = {"axis": axis, "equal_var": equal_var, "alternative": alternative}
    if trim:
        return source_of(stats.ttest_ind)(a, b, trim=trim, **given)
    x, y = in_one_axis(a, axis), in_one_axis(b, axis)
    n1, n2 = np.shape(x)[-1], np.shape(y)[-1]
    v1, v2 = variance(x, 1), variance(y, 1)
    tested = tested_means(mean(x) - mean(y), v1, n1, v2, n2, equal_var, alternative)
    return at_length(tested, stats.ttest_ind, a, b, **given)


@composed(stats.ttest_ind_from_stats, value="own")
def ttest_ind_from_stats(mean1, std1, nobs1, mean2, std2, nobs2, equal_var=True,
                         alternative="two-sided"):  # fmt: skip
    v1, v2 = floats(std1) ** 2, floats(std2) ** 2
    n1, n2 = floats(nobs1), floats(nobs2)
    gap = floats(mean1) - floats(mean2)
    return tested_means(gap, v1, n1, v2, n2, equal_var, alternative)


@composed(stats.f_oneway, value="own")
def f_oneway(*samples, axis=0, equal_var=True):
    if not equal_var:
        raise MissingRuleError(f"scipy.stats.f_oneway has no rule for equal_var=False, in "
                               f"{user_line()}.\n  leave out equal_var")  # fmt: skip
    groups = [in_one_axis(x, axis) for x in samples]
    everything = np.concatenate(groups, axis=-1)
    between, rest = len(groups) - 1, np.shape(everything)[-1] - len(groups)
    middle = mean(everything)
    inner = sum(np.shape(x)[-1] * variance(x) for x in groups)
    outer = sum(np.shape(x)[-1] * (mean(x) - middle) ** 2 for x in groups)
    f = outer / between / (inner / rest)
    return Tested(f, special.fdtrc(between, rest, f))


@composed(stats.bartlett, value="own")
def bartlett(*samples, axis=0):
    groups = [in_one_axis(x, axis) for x in samples]
    sizes = [np.shape(x)[-1] - 1 for x in groups]
    spreads, k, total = [variance(x, 1) for x in groups], len(groups), sum(sizes)
    pooled = sum(n * v for n, v in zip(sizes, spreads)) / total
    gap = total * np.log(pooled) - sum(n * np.log(v) for n, v in zip(sizes, spreads))
    statistic = gap / (1 + (sum(1 / n for n in sizes) - 1 / total) / (3 * (k - 1)))
    return Tested(statistic, special.chdtrc(k - 1, statistic))


@composed(stats.jarque_bera, value="own")
def jarque_bera(x, axis=None):
    n = np.shape(in_one_axis(x, axis))[-1]
    statistic = n / 6 * (skew(x, axis) ** 2 + kurtosis(x, axis) ** 2 / 4)
    return Tested(statistic, special.chdtrc(2, statistic))


POWERS = {
    "pearson": 1, "log-likelihood": 0, "freeman-tukey": -0.5, "mod-log-likelihood": -1,
    "neyman": -2, "cressie-read": 2 / 3,
}  # fmt: skip


@composed(stats.power_divergence, value="own")
def power_divergence(f_obs, f_exp=None, ddof=0, axis=0, lambda_=None):
    """Cressie, Read (1984); 0 and -1 are limits."""
    observed = floats(f_obs)
    expected = np.mean(observed, axis=axis, keepdims=True) if f_exp is None else floats(f_exp)
    shape = np.broadcast_shapes(np.shape(observed), np.shape(expected))
    observed, expected = (
        in_one_axis(np.broadcast_to(x, shape), axis) for x in (observed, expected)
    )
    power = POWERS[lambda_] if isinstance(lambda_, str) else 1 if lambda_ is None else lambda_
    limit = None if is_traced(power) else power  # a traced one stands beside the limits
    if limit == 1:
        terms = (observed - expected) ** 2 / expected
    elif limit == 0:
        terms = 2 * special.xlogy(observed, observed / expected)
    elif limit == -1:
        terms = 2 * special.xlogy(expected, expected / observed)
    else:
        terms = observed * ((observed / expected) ** power - 1) * 2 / (power * (power + 1))
    statistic = np.sum(terms, axis=-1)
    df = np.shape(observed)[-1] - 1.0 - array_of(ddof)
    return Tested(statistic, special.chdtrc(df, statistic))


@composed(stats.chisquare, value="own")
def chisquare(f_obs, f_exp=None, ddof=0, axis=0, sum_check=True):
    return power_divergence(f_obs, f_exp, ddof, axis, 1)
