"""Tests of the shape of one sample, and of the spread of several."""

import math

import numpy as np
import scipy
from scipy import special, stats

from .....config import MissingRuleError, user_line
from .... import composed
from .samples import floats, in_one_axis, kurtosis, mean, skew, trim_mean, variance


def tested_by_normal(z, alternative):
    if alternative == "less":
        return z, special.ndtr(z)
    if alternative == "greater":
        return z, special.ndtr(-z)
    return z, 2 * special.ndtr(-np.abs(z))


# ---- normality --------------------------------------------------------------------------------


@composed(stats.skewtest, value="own")
def skewtest(a, axis=0, alternative="two-sided"):
    """Source: D'Agostino, Belanger, D'Agostino (1990)."""
    n = np.shape(in_one_axis(a, axis))[-1]
    y = skew(a, axis) * math.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    spread = 3.0 * (n * n + 27 * n - 70) * (n + 1) * (n + 3)
    spread = spread / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w = math.sqrt(2 * (spread - 1)) - 1
    z = np.arcsinh(y / math.sqrt(2 / (w - 1))) / math.sqrt(0.5 * math.log(w))
    return tested_by_normal(z, alternative)


@composed(stats.kurtosistest, value="own")
def kurtosistest(a, axis=0, alternative="two-sided"):
    """Source: Anscombe, Glynn (1983)."""
    n = np.shape(in_one_axis(a, axis))[-1]
    spread = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1.0) * (n + 3) * (n + 5))
    x = (kurtosis(a, axis, False) - 3.0 * (n - 1) / (n + 1)) / math.sqrt(spread)
    skewness = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness = skewness * math.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    b = 6.0 + 8 / skewness * (2 / skewness + math.sqrt(1 + 4 / skewness**2))
    root = np.cbrt((1 - 2 / b) / (1 + x * math.sqrt(2 / (b - 4))))
    z = (1 - 2 / (9 * b) - root) / math.sqrt(2 / (9 * b))
    return tested_by_normal(z, alternative)


@composed(stats.normaltest, value="own")
def normaltest(a, axis=0):
    statistic = skewtest(a, axis)[0] ** 2 + kurtosistest(a, axis)[0] ** 2
    return statistic, special.chdtrc(2, statistic)


# ---- equal spread -----------------------------------------------------------------------------

CENTERS = {"median": lambda x: np.median(x, axis=-1, keepdims=True), "mean": mean}


# Before SciPy 1.17 the samples themselves are trimmed, and not their means alone.
TRIMS_SAMPLES = np.lib.NumpyVersion(scipy.__version__) < "1.17.0"


def without_ends(x, part):
    """The samples without the least ones and the greatest, of each as large a part."""
    cut = int(part * np.shape(x)[-1])
    return np.sort(x, axis=-1)[..., cut : np.shape(x)[-1] - cut]


@composed(stats.levene, value="own")
def levene(*samples, center="median", proportiontocut=0.05, axis=0):
    """The test of equal means (f_oneway), of the distances from the centers."""
    groups = [in_one_axis(x, axis) for x in samples]
    middle = CENTERS.get(center, lambda x: trim_mean(x, proportiontocut, -1))
    if center == "trimmed" and TRIMS_SAMPLES:
        groups = [without_ends(x, proportiontocut) for x in groups]
        middle = mean
    groups = [np.abs(x - middle(x)) for x in groups]
    sizes = [np.shape(x)[-1] for x in groups]
    total, k = sum(sizes), len(groups)
    centre = sum(n * mean(x) for n, x in zip(sizes, groups)) / total
    outer = sum(n * (mean(x) - centre) ** 2 for n, x in zip(sizes, groups))
    inner = sum(n * variance(x) for n, x in zip(sizes, groups))
    statistic = (total - k) * outer / ((k - 1.0) * inner)
    return statistic, special.fdtrc(k - 1.0, float(total - k), statistic)


def spread_scores(a):
    n = np.shape(a)[0]
    square = (a - np.mean(a)) ** 2
    total = np.sum(square)
    return ((n - 1.5) * n * square - 0.5 * total) / ((n - 1) * (n - 2))


@composed(stats.obrientransform, value="own")
def obrientransform(*samples, own):
    scores = tuple(spread_scores(floats(x)) for x in samples)
    if isinstance(own, tuple):  # since SciPy 1.18
        return scores
    if own.dtype == object:
        raise MissingRuleError(
            f"scipy.stats.obrientransform has a rule for samples of one length, in {user_line()}.\n"
            "  write obrientransform(x), once for each"
        )
    return np.stack(scores)


# ---- several tests ----------------------------------------------------------------------------


@composed(stats.combine_pvalues, value="own")
def combine_pvalues(pvalues, method="fisher", weights=None, axis=0):
    p = in_one_axis(pvalues, axis)
    n = float(np.shape(p)[-1])
    logs, rests = np.sum(np.log(p), axis=-1), np.sum(np.log1p(-p), axis=-1)
    if method == "fisher":
        return -2 * logs, special.chdtrc(2 * n, -2 * logs)
    if method == "pearson":
        return 2 * rests, special.chdtr(2 * n, -2 * rests)
    if method == "mudholkar_george":
        df = 5 * n + 4
        t = (rests - logs) * (math.sqrt(3 / n) / math.pi * math.sqrt(df / (df - 2)))
        return rests - logs, special.stdtr(df, -t)
    if method == "tippett":
        least = np.min(p, axis=-1)
        return least, -np.expm1(n * np.log1p(-least))
    weights = in_one_axis(np.broadcast_to(1.0 if weights is None else floats(weights),
                                          np.shape(floats(pvalues))), axis)  # fmt: skip
    length = np.sqrt(np.sum(weights * weights, axis=-1))
    z = -np.sum(weights * special.ndtri(p), axis=-1) / length
    return z, special.ndtr(-z)


@composed(stats.false_discovery_control, value="own")
def false_discovery_control(ps, axis=0, method="bh"):
    """Benjamini, Hochberg (1995), or Yekutieli (2001)."""
    p = floats(ps)
    if axis is None:
        p, axis = np.reshape(p, -1), 0
    if np.size(p) <= 1 or np.shape(p)[axis] <= 1:
        return p
    p = np.moveaxis(p, axis, -1)
    rank = np.arange(1.0, np.shape(p)[-1] + 1)
    order = np.argsort(p, axis=-1)
    scale = len(rank) / rank * (np.sum(1 / rank) if method.lower() == "by" else 1.0)
    p = np.flip(np.take_along_axis(p, order, -1) * scale, -1)
    p = np.flip(np.minimum.accumulate(p, axis=-1), -1)
    p = np.take_along_axis(p, np.argsort(order, axis=-1), -1)
    return np.clip(np.moveaxis(p, -1, axis), 0.0, 1.0)
