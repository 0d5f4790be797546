"""Medians and quantiles; equal numbers share the derivative evenly."""

import numpy as np

from ...config import MissingRuleError
from ..calls import astype
from ..definitions import composed
from ..levels import value
from ..project import ProjectTo
from ..registry import frule, rrule
from ..tangents import NoTangent
from .numpy_accumulations import in_lanes
from .numpy_elementwise import as_array, or_one
from .numpy_reductions import restore

# ---- median ----

QUANTILE = {np.median: np.quantile, np.nanmedian: np.nanquantile}


def middle(median, a, axis):
    """The weight of each number in the median: half for each of the two numbers in the middle."""
    a = value(a)
    weights = 0.0
    for method in ("lower", "higher"):
        y = QUANTILE[median](a, 0.5, axis=axis, method=method, keepdims=True)
        attained = a == y
        number = np.sum(attained, axis=axis, keepdims=True, dtype=y.dtype)
        weights = weights + np.where(attained, 0.5 / or_one(number), 0)
    return weights


@frule.register(np.median)
@frule.register(np.nanmedian)
def median_frule(tangents, median, a, *, axis=None, keepdims=False):
    _, adot = tangents
    weights = middle(median, a, axis)
    ydot = np.sum(weights * np.where(weights, adot, 0), axis=axis, keepdims=keepdims)
    return median(a, axis=axis, keepdims=keepdims), ydot


@rrule.register(np.median)
@rrule.register(np.nanmedian)
def median_rrule(median, a, *, axis=None, keepdims=False):
    project_a = ProjectTo(a)

    def median_pullback(ybar):
        weights = middle(median, a, axis)
        return NoTangent(), project_a(weights * restore(ybar, axis, keepdims, project_a.ndim))

    return median(a, axis=axis, keepdims=keepdims), median_pullback


# ---- quantiles ----

# Hyndman and Fan (1996), sample quantiles in statistical packages: alpha and beta.
CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (1 / 2, 1 / 2),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}

STEPWISE = {
    "lower": np.floor,
    "higher": np.ceil,
    "nearest": np.round,
    "midpoint": lambda place: 0.5 * (np.floor(place) + np.ceil(place)),
}


def place_of(q, n, method):
    """Where quantile ``q`` lies among ``n`` sorted numbers, as a fractional index."""
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method in STEPWISE:
        return STEPWISE[method]((n - 1) * value(q))
    if method != "linear":
        known = ", ".join(["linear", *STEPWISE, *CONTINUOUS])
        raise MissingRuleError(
            f"quantiles by method={method!r} have no rule.\n  methods that have one: {known}"
        )
    return (n - 1) * q


def between(lanes, q, n, method, dtype):
    """Interpolate in sorted lanes, of which the first ``n`` numbers count; as NumPy 2 does."""
    place = place_of(q, n, method)
    index = np.floor(value(place)).astype(int)
    place = np.broadcast_to(place, (*np.shape(lanes)[:-1], np.shape(place)[-1]))
    below = np.clip(index, 0, np.maximum(n - 1, 0))
    above = np.where(index < 0, 0, np.clip(index + 1, 0, np.maximum(n - 1, 0)))
    a, b = (
        np.take_along_axis(lanes, np.broadcast_to(k, np.shape(place)), axis=-1)
        for k in (below, above)
    )
    t = astype(place - below, dtype)
    return np.where(t >= 0.5, b - (b - a) * (1 - t), a + (b - a) * t)


def quantiles_of(a, q, axis, method, keepdims, skip_nan):
    lanes = np.sort(in_lanes(a, axis), axis=-1)
    missing = np.isnan(lanes)
    n = np.sum(~missing, axis=-1, keepdims=True) if skip_nan else np.shape(lanes)[-1]
    dtype = np.result_type(value(a), value(q), 0.5)
    y = between(lanes, np.reshape(q, -1), n, method, dtype)
    if not skip_nan:
        y = np.where(missing[..., -1:], np.nan, y)
    y = np.moveaxis(y, -1, 0)
    kept = np.shape(np.max(value(a), axis=axis, keepdims=True)) if keepdims else np.shape(y)[1:]
    return np.reshape(y, np.shape(q) + kept)[()]


def add_quantile(quantile, skip_nan, unit):
    @composed(quantile)
    def as_composed(a, q, axis=None, out=None, overwrite_input=False, method="linear",
                    keepdims=False, *, weights=None):  # fmt: skip
        if overwrite_input or weights is not None:
            keyword = "overwrite_input" if weights is None else "weights"
            raise MissingRuleError(
                f"the rule of numpy.{quantile.__name__} does not support the keyword {keyword!r}."
            )
        return quantiles_of(a, as_array(q) / unit, axis, method, keepdims, skip_nan)


add_quantile(np.quantile, False, 1)
add_quantile(np.nanquantile, True, 1)
add_quantile(np.percentile, False, 100)
add_quantile(np.nanpercentile, True, 100)
