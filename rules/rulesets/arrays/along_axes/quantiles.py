"""Medians and quantiles; equal numbers share the derivative evenly.

``overwrite_input`` allows a function to destroy its argument, and none of these makes use of it.
"""

import numpy as np

from .....config import MissingRuleError, user_line
from .... import astype, composed, reduction_rule, value, with_values, write_out
from ..elementwise import as_array, or_one
from ..ties import chooses, in_order
from .accumulations import in_lanes
from .reductions import fit_weights

# ---- median ----

QUANTILE = {np.median: np.quantile, np.nanmedian: np.nanquantile}


def one_or_several(axis):
    """An axis, or a tuple of them: these functions take lists and arrays, too."""
    return tuple(axis) if np.ndim(axis) else axis


def places_in_order(a):
    """The places of numbers among each other, in their order at a tie, as real numbers."""
    (ordered,) = in_order(a)
    places = np.unique(ordered, return_inverse=True)[1]
    return [np.where(np.isnan(ordered), np.nan, np.reshape(places, np.shape(a)))]


def median_options(a, axis=None, overwrite_input=False, **options):
    return {"axis": one_or_several(axis), **options}


@reduction_rule(np.median, np.nanmedian, adapt=median_options)
@chooses(places_in_order)
def median_weights(median, a, y, axis, overwrite_input=False):
    """Half for each of the two numbers in the middle; equal ones share evenly."""
    if np.iscomplexobj(a):
        raise MissingRuleError(
            f"np.{median.__name__} of complex numbers, ordered by their real parts first, has no "
            f"rule, in {user_line()}.\n  take it of the real and of the imaginary part"
        )
    if 0 in np.shape(a):  # NumPy's quantiles do not take it
        return np.zeros(np.shape(a), bool), np.ones(np.shape(a))
    weights = 0.0
    for method in ("lower", "higher"):
        y = QUANTILE[median](a, 0.5, axis=axis, method=method, keepdims=True)
        attained = a == y
        number = np.sum(attained, axis=axis, keepdims=True, dtype=y.dtype)
        weights = weights + np.where(attained, 0.5 / or_one(number), 0)
    return weights != 0, 1 / (weights + (weights == 0))


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


# These take one number of the sample: the index is the next whole one, and where there is no
# fraction the one given or, of two that are equally near, the even one counting from 1.
DISCRETE = {
    "inverted_cdf": (0, lambda below: True),
    "closest_observation": (0.5, lambda below: below % 2 == 1),
}


def place_of(q, n, method):
    """Return the fractional index of quantile ``q`` among ``n`` sorted numbers."""
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method in STEPWISE:
        return STEPWISE[method]((n - 1) * value(q))
    if method == "averaged_inverted_cdf":
        return n * value(q) - 1
    if method != "linear":
        known = ", ".join(["linear", *STEPWISE, *CONTINUOUS, *DISCRETE, "averaged_inverted_cdf"])
        raise ValueError(f"{method!r} is not a valid method. Use one of: {known}")
    return (n - 1) * q


def interpolated_quantiles(lanes, q, n, method, dtype):
    """Interpolate in sorted lanes, of which the first ``n`` numbers count.

    The value is NumPy's own; it interpolates from the nearer of the two numbers, for rounding.
    """
    place = place_of(q, n, method)
    index = np.floor(value(place)).astype(int)
    place = np.broadcast_to(place, (*np.shape(lanes)[:-1], np.shape(place)[-1]))
    below = np.clip(index, 0, np.maximum(n - 1, 0))
    above = np.where(index < 0, 0, np.clip(index + 1, 0, np.maximum(n - 1, 0)))
    a, b = at_places(lanes, below), at_places(lanes, above)
    t = place - below
    if method == "averaged_inverted_cdf":
        t = np.where(t == 0, 0.5, 1)
    return a + (b - a) * astype(t, dtype)


def at_places(lanes, index):
    shape = (*np.shape(lanes)[:-1], np.shape(index)[-1])
    return np.take_along_axis(lanes, np.broadcast_to(index, shape), axis=-1)


def discrete(lanes, q, n, method):
    """Take the number of the sorted lanes that a method of steps points at."""
    shift, stays = DISCRETE[method]
    place = n * value(q) - 1 - shift
    below = np.floor(place)
    index = np.where((place == below) & stays(below), below, below + 1).astype(int)
    return at_places(lanes, np.clip(index, 0, np.maximum(n - 1, 0)))


def weighted(a, lanes, q, n, weights):
    """Take the first number of the sorted lanes up to which the weights sum to ``q`` of all.

    The result does not change with the weights, but for jumps.
    """
    order = np.argsort(value(a), axis=-1)
    weights = np.where(np.arange(order.shape[-1]) < n, np.take_along_axis(weights, order, -1), 0)
    cdf = np.cumsum(weights, axis=-1, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # of a lane of NaN alone
        cdf = (cdf / cdf[..., -1:]).astype(q.dtype)
    if np.any(cdf[..., 0] == 0):
        cdf[cdf == 0] = -1  # so that the quantile 0 is the first number with a weight
    index = np.sum(cdf[..., None, :] < q[:, None], axis=-1)
    return at_places(lanes, np.clip(index, 0, np.maximum(n - 1, 0)))


def quantiles_of(a, q, axis, method, keepdims, skip_nan, weights):
    axis = one_or_several(axis)
    unsorted = in_lanes(a, axis)
    lanes = np.sort(unsorted, axis=-1)
    missing = np.isnan(lanes)
    n = np.sum(~missing, axis=-1, keepdims=True) if skip_nan else np.shape(lanes)[-1]
    flat = np.reshape(q, -1)
    if weights is not None:
        weights = np.broadcast_to(fit_weights(weights, np.shape(a), axis), np.shape(a))
        y = weighted(unsorted, lanes, value(flat), n, in_lanes(weights, axis))
    elif method in DISCRETE:
        y = discrete(lanes, flat, n, method)
    else:
        y = interpolated_quantiles(lanes, flat, n, method, np.result_type(value(a), value(q), 0.5))
    if not skip_nan and np.any(missing):
        y = np.where(missing[..., -1:], np.nan, y)
    y = np.moveaxis(y, -1, 0)
    kept = np.shape(np.max(value(a), axis=axis, keepdims=True)) if keepdims else np.shape(y)[1:]
    return np.reshape(y, np.shape(q) + kept)[()]


def add_quantile(quantile, skip_nan, unit):
    @composed(quantile)
    def as_composed(a, q, axis=None, out=None, overwrite_input=False, method="linear",
                    keepdims=False, *, weights=None):  # fmt: skip
        a, q, weights = as_array(a), as_array(q), value(weights)
        options = {"axis": axis, "method": method, "keepdims": keepdims, "weights": weights}
        own = quantile(value(a), value(q), **options)  # first: it may refuse
        if 0 not in np.shape(a):
            own = with_values(
                quantiles_of(a, q / unit, axis, method, keepdims, skip_nan, weights), own
            )
        return write_out(quantile, own, out)


add_quantile(np.quantile, False, 1)
add_quantile(np.nanquantile, True, 1)
add_quantile(np.percentile, False, 100)
add_quantile(np.nanpercentile, True, 100)
