"""Order statistics, and statistics of a part of a sample. The order of the numbers is constant."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from .....config import MissingRuleError, user_line
from .... import composed, library_value, value
from .samples import floats, in_one_axis

# ---- entropy ----------------------------------------------------------------------------------


def with_ends(x, m):
    ends = np.repeat(x[..., :1], m, axis=-1), np.repeat(x[..., -1:], m, axis=-1)
    return np.concatenate([ends[0], x, ends[1]], axis=-1)


def vasicek(x, m):
    n = np.shape(x)[-1]
    x = with_ends(x, m)
    return np.mean(np.log(n / (2 * m) * (x[..., 2 * m :] - x[..., : -2 * m])), axis=-1)


def van_es(x, m):
    n = np.shape(x)[-1]
    logs = np.log((n + 1) / m * (x[..., m:] - x[..., :-m]))
    constant = np.sum(1 / np.arange(m, n + 1)) + math.log(m) - math.log(n + 1)
    return np.sum(logs, axis=-1) / (n - m) + constant


def ebrahimi(x, m):
    n = np.shape(x)[-1]
    i = np.arange(1, n + 1)
    c = np.where(i <= m, 1 + (i - 1) / m, 2.0)
    c = np.where(i >= n - m + 1, 1 + (n - i) / m, c)
    x = with_ends(x, m)
    return np.mean(np.log(n * (x[..., 2 * m :] - x[..., : -2 * m]) / (c * m)), axis=-1)


def correa(x, m):
    n = np.shape(x)[-1]
    steps = np.arange(-m, m + 1)[:, None]
    x = np.take(with_ends(x, m), np.arange(n) + steps + m, axis=-1)
    gaps = x - np.mean(x, axis=-2, keepdims=True)
    slopes = np.sum(gaps * steps, axis=-2) / (n * np.sum(gaps * gaps, axis=-2))
    return -np.mean(np.log(slopes), axis=-1)


ENTROPIES = {"vasicek": vasicek, "van es": van_es, "ebrahimi": ebrahimi, "correa": correa}


@composed(stats.differential_entropy, value="own")
def differential_entropy(values, window_length=None, base=None, axis=0, method="auto"):
    x = np.sort(in_one_axis(values, axis), axis=-1)
    n, method = np.shape(x)[-1], method.lower()
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    y = ENTROPIES[method](x, m)
    return y if base is None else y / np.log(base)


# ---- moments and quantiles --------------------------------------------------------------------


@composed(stats.lmoment, value="own")
def lmoment(sample, order=None, axis=0, sorted=False, standardize=True):
    """Sums of the numbers in order, with the weights of Legendre's polynomials.

    Source: Hosking (1990).
    """
    x = in_one_axis(sample, axis)
    x = x if sorted else np.sort(x, axis=-1)
    n, order = np.shape(x)[-1], np.asarray([1, 2, 3, 4] if order is None else order)
    k = np.arange(np.max(order))
    signs = (-1.0) ** (k[:, None] - k)
    legendre = signs * special.binom(k[:, None], k) * special.binom(k[:, None] + k, k)
    most = np.where(k < n, special.binom(n - 1, k), np.nan)[:, None]  # of fewer there is none
    below = special.binom(np.arange(n), k[:, None]) / most / n
    y = np.stack([x @ (row[: i + 1] @ below[: i + 1]) for i, row in enumerate(legendre)])
    if standardize and len(k) > 2:
        y = np.concatenate([y[:2], y[2:] / y[1]])
    return y[order - 1]


@composed(stats.scoreatpercentile, value="own")
def scoreatpercentile(a, per, limit=(), interpolation_method="fraction", axis=None, *, own):
    if np.size(own) == 0 or np.size(value(a)) == 0:
        return own
    a = floats(a)
    if len(limit):
        low, high = value(limit)
        a = a[(low <= value(a)) & (value(a) <= high)]
    a = np.sort(in_one_axis(a, axis), axis=-1)
    whole = {"lower": np.floor, "higher": np.ceil}.get(interpolation_method, lambda x: x)

    def score(per):
        place = whole(per / 100 * (np.shape(a)[-1] - 1))
        i = min(int(value(place)), max(np.shape(a)[-1] - 2, 0))
        j = min(i + 1, np.shape(a)[-1] - 1)
        return a[..., i] + (a[..., j] - a[..., i]) * (place - i)

    return score(per) if np.ndim(per) == 0 else np.stack([score(x) for x in per])


@composed(stats.expectile, value="own")
def expectile(a, alpha=0.5, weights=None, axis=..., *, own):
    """The mean whose weights are ``alpha`` above it and ``1 - alpha`` below."""
    # Without an axis it is that of all, before SciPy 1.18, or of each column.
    axis = axis if axis is not ... else None if np.ndim(own) == 0 else 0
    x = in_one_axis(a, axis)
    above = value(x) > np.reshape(own, (*np.shape(x)[:-1], 1))
    shares = np.where(above, alpha, 1 - alpha)
    if weights is not None:
        shares = shares * in_one_axis(np.broadcast_to(floats(weights), np.shape(a)), axis)
    return np.sum(shares * x, axis=-1) / np.sum(shares, axis=-1)


# Source: Hyndman and Fan (1996). Of each name ``a`` and ``b`` in the formula for p.
CONTINUOUS_CDFS = {
    "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
pieces_of = np.vectorize(functools.partial(np.searchsorted, side="right"), signature="(n),(m)->(m)")


def estimated_cdf(x, y, method="linear", axis=0, *, own):
    """The piecewise linear function through the samples in order; steps do not move."""
    if np.size(own) == 0 or method not in CONTINUOUS_CDFS:
        return own
    x, y = (np.reshape(floats(x), -1 if axis is None else np.shape(x)) for x in (x, y))
    axis, ndim = axis or 0, max(np.ndim(x), np.ndim(y), 1)
    x, y = (np.reshape(x, (*(1,) * (ndim - np.ndim(x)), *np.shape(x))) for x in (x, y))
    x, y = np.sort(np.moveaxis(x, axis, -1), axis=-1), np.moveaxis(y, axis, -1)
    n, (a, b) = np.shape(x)[-1], CONTINUOUS_CDFS[method]
    place = np.clip(library_value(pieces_of, (x, y), {}), min(1, n - 1), n - 1)
    x = np.broadcast_to(x, (*np.shape(place)[:-1], n))
    low = np.take_along_axis(x, np.maximum(place - 1, 0), axis=-1)
    high = np.take_along_axis(x, place, axis=-1)
    apart = value(high > low)
    share = np.where(apart, (y - low) / np.where(apart, high - low, 1.0), 1.0)
    p = np.clip((place + share - a) / (n + 1 - a - b), 0.0, 1.0)
    beyond = value((y < x[..., :1]) | (y > x[..., -1:]))
    return np.moveaxis(np.where(beyond, 0.0, p), -1, axis)


if hasattr(stats, "estimated_cdf"):  # since SciPy 1.18
    composed(stats.estimated_cdf, value="own")(estimated_cdf)


@composed(stats.sigmaclip, value="own")
def sigmaclip(a, low=4.0, high=4.0, *, own):
    """Return the entries that are kept, and limits made of their mean and their deviation."""
    _, lower, upper = own
    a = np.reshape(floats(a), -1)
    kept = a[(value(a) >= lower) & (value(a) <= upper)]
    centre, spread = np.mean(kept), np.std(kept)
    return Clipped(kept, centre - spread * low, centre + spread * high)


class Clipped(NamedTuple):
    clipped: Any
    lower: Any
    upper: Any


# ---- lines ------------------------------------------------------------------------------------


class Line(NamedTuple):
    slope: Any
    intercept: Any


class LineAndLimits(NamedTuple):
    slope: Any
    intercept: Any
    low_slope: Any
    high_slope: Any


def points_of(f, y, x, axis):
    if axis is not None and np.ndim(y) > 1:
        raise MissingRuleError(
            f"scipy.stats.{f} has a rule for one line, in {user_line()}.\n  write it once for each"
        )
    y = np.reshape(floats(y), -1)
    return y, np.arange(float(np.shape(y)[0])) if x is None else np.reshape(floats(x), -1)


def intercept_of(y, x, slope, jointly):
    return np.median(y - slope * x) if jointly else np.median(y) - slope * np.median(x)


@composed(stats.theilslopes, value="own")
def theilslopes(y, x=None, alpha=0.95, method="separate", axis=None, *, own):
    y, x = points_of("theilslopes", y, x, axis)
    i, j = np.nonzero(value(x)[:, None] > value(x))
    slopes = np.sort((y[i] - y[j]) / (x[i] - x[j]))
    slope = np.median(slopes)
    # The limits are two of the slopes: which ones depends on counts alone.
    limits = [slopes[np.argmin(np.abs(value(slopes) - limit))] for limit in own[2:]]
    return LineAndLimits(slope, intercept_of(y, x, slope, method == "joint"), *limits)


@composed(stats.siegelslopes, value="own")
def siegelslopes(y, x=None, method="hierarchical", axis=None):
    y, x = points_of("siegelslopes", y, x, axis)
    slopes, intercepts = [], []
    for j in range(np.shape(x)[0]):
        others = np.flatnonzero(value(x) != value(x)[j])
        gaps = x[j] - x[others]
        slopes.append(np.median((y[j] - y[others]) / gaps))
        intercepts.append(np.median((y[others] * x[j] - y[j] * x[others]) / gaps))
    slope = np.median(np.stack(slopes))
    if method == "separate":
        return Line(slope, np.median(np.stack(intercepts)))
    return Line(slope, intercept_of(y, x, slope, True))
