"""Statistics of a sample by scipy.stats: moments, means, spreads, distances, transforms."""

import math

import numpy as np
from scipy import special, stats

from .....config import MissingRuleError, user_line
from .... import array_of, astype, composed, dtype_of, innermost, value, with_values


def floats(x):
    """An array of floating point numbers."""
    x = array_of(x)
    return x if dtype_of(x).kind in "fc" else astype(x, float)


def in_one_axis(x, axis):
    """``x`` with what ``axis`` says as the last one."""
    x = floats(x)
    if axis is None:
        return np.reshape(x, -1)
    axes = (axis,) if np.ndim(axis) == 0 else tuple(axis)
    x = np.moveaxis(x, axes, range(-len(axes), 0))
    return np.reshape(x, (*np.shape(x)[: -len(axes)], -1))


def mean(x):
    return np.mean(x, axis=-1, keepdims=True)


def centred(x):
    return x - mean(x)


def variance(x, ddof=0):
    return np.var(x, axis=-1, ddof=ddof, keepdims=True)


def second_moment(x, ddof=0):
    """The variance of real numbers; of complex ones SciPy's, which is the mean of squares."""
    if not np.iscomplexobj(x):
        return variance(x, ddof)
    n = np.shape(x)[-1]
    return mean(centred(x) ** 2) * (n / (n - ddof))


# ---- means ---------------------------------------------------------------------------------------


def weighted_mean(x, axis, weights):
    if weights is None:
        return mean(in_one_axis(x, axis))
    weights = np.broadcast_to(floats(weights), np.shape(x))
    weights = in_one_axis(weights, axis)
    total = np.sum(weights, axis=-1, keepdims=True)
    return np.sum(weights * in_one_axis(x, axis), axis=-1, keepdims=True) / total


def of_dtype(a, dtype):
    return floats(a) if dtype is None else astype(array_of(a), dtype)


@composed(stats.gmean, value="own")
def gmean(a, axis=0, dtype=None, weights=None):
    return np.exp(weighted_mean(np.log(of_dtype(a, dtype)), axis, weights))


@composed(stats.hmean, value="own")
def hmean(a, axis=0, dtype=None, weights=None):
    return 1 / weighted_mean(1 / of_dtype(a, dtype), axis, weights)


@composed(stats.pmean, value="own")
def pmean(a, p, axis=0, dtype=None, weights=None):
    if value(p) == 0:
        if innermost((p,)) is not None:
            raise MissingRuleError(f"scipy.stats.pmean has no rule in p at 0, in {user_line()}.\n"
                                   "  write stats.gmean")  # fmt: skip
        return gmean(a, axis, dtype, weights)
    return weighted_mean(of_dtype(a, dtype) ** p, axis, weights) ** (1 / p)


@composed(stats.trim_mean, value="own")
def trim_mean(a, proportiontocut, axis=0):
    a = np.sort(in_one_axis(a, axis), axis=-1)
    n = np.shape(a)[-1]
    cut = int(value(proportiontocut) * n)
    return mean(a[..., cut : n - cut])


# ---- moments -------------------------------------------------------------------------------------


@composed(stats.moment, value="own")
def moment(a, order=1, axis=0, center=None):
    a = in_one_axis(a, axis)
    if np.ndim(order):
        return np.stack([one_moment(a, k, center) for k in order])
    return one_moment(a, order, center)


def one_moment(a, order, center):
    if center is None:
        return mean(centred(a) ** order) if order > 1 else mean(a * 0) + (order == 0)
    return mean((a - center) ** order)


@composed(stats.skew, value="own")
def skew(a, axis=0, bias=True):
    a = centred(in_one_axis(a, axis))
    n = np.shape(a)[-1]
    square = a * a
    y = mean(square * a) / mean(square) ** 1.5
    return y if bias or n < 3 else y * math.sqrt(n * (n - 1)) / (n - 2)


@composed(stats.kurtosis, value="own")
def kurtosis(a, axis=0, fisher=True, bias=True):
    a = centred(in_one_axis(a, axis))
    n = np.shape(a)[-1]
    square = a * a
    y = mean(square * square) / mean(square) ** 2
    if not bias and n > 3:
        y = ((n * n - 1) * y - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return y - 3 if fisher else y


@composed(stats.variation, value="own")
def variation(a, axis=0, ddof=0):
    a = in_one_axis(a, axis)
    return np.sqrt(variance(a, ddof)) / mean(a)


@composed(stats.sem, value="own")
def sem(a, axis=0, ddof=1):
    a = in_one_axis(a, axis)
    return np.sqrt(variance(a, ddof) / np.shape(a)[-1])


@composed(stats.gstd, value="own")
def gstd(a, axis=0, ddof=1):
    return np.exp(np.sqrt(variance(np.log(in_one_axis(a, axis)), ddof)))


@composed(stats.kstat, value="own")
def kstat(data, n=2, axis=None):
    """Unbiased estimates of the cumulants (Kendall, Stuart 12.6)."""
    a = in_one_axis(data, axis)
    count = np.shape(a)[-1]
    if n == 1:
        return mean(a)
    if n == 2:
        return second_moment(a, 1)
    a = centred(a)
    if n == 3:
        return count**2 / ((count - 1) * (count - 2)) * mean(a**3)
    scale = count**2 / ((count - 1) * (count - 2) * (count - 3))
    return scale * ((count + 1) * mean(a**4) - 3 * (count - 1) * mean(a * a) ** 2)


@composed(stats.kstatvar, value="own")
def kstatvar(data, n=2, axis=None):
    count = np.shape(in_one_axis(data, axis))[-1]
    if n == 1:
        return kstat(data, 2, axis) / count
    second, fourth = kstat(data, 2, axis), kstat(data, 4, axis)
    return (2 * count * second**2 + (count - 1) * fourth) / (count * (count + 1))


@composed(stats.describe, value="own")
def describe(a, axis=0, ddof=1, bias=True):
    x = in_one_axis(a, axis)
    ends = np.min(x, axis=-1), np.max(x, axis=-1)
    spread = second_moment(x, ddof), skew(a, axis, bias), kurtosis(a, axis, True, bias)
    return Described(np.shape(x)[-1], ends, mean(x), *spread)


Described = type(stats.describe(np.arange(4.0)))


# ---- within limits -------------------------------------------------------------------------------


def within(a, limits, inclusive):
    low, high = (None, None) if limits is None else value(tuple(limits))
    x, kept = value(a), np.ones(np.shape(a), bool)
    if low is not None:
        kept &= (x >= low) if inclusive[0] else (x > low)
    if high is not None:
        kept &= (x <= high) if inclusive[1] else (x < high)
    return kept


def sum_of(kept, a):
    return np.sum(np.where(kept, a, 0.0), axis=-1, keepdims=True)


@composed(stats.tmean, value="own")
def tmean(a, limits=None, inclusive=(True, True), axis=None):
    a = in_one_axis(a, axis)
    kept = within(a, limits, inclusive)
    return sum_of(kept, a) / np.sum(kept, axis=-1, keepdims=True)


@composed(stats.tvar, value="own")
def tvar(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    a = in_one_axis(a, axis)
    kept = within(a, limits, inclusive)
    n = np.sum(kept, axis=-1, keepdims=True)
    deviation = a - sum_of(kept, a) / n
    return sum_of(kept, deviation * np.conj(deviation)) / (n - ddof)


@composed(stats.tstd, value="own")
def tstd(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    return np.sqrt(tvar(a, limits, inclusive, axis, ddof))


@composed(stats.tsem, value="own")
def tsem(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    n = np.sum(within(in_one_axis(a, axis), limits, inclusive), axis=-1, keepdims=True)
    return np.sqrt(tvar(a, limits, inclusive, axis, ddof) / n)


@composed(stats.tmin, value="own")
def tmin(a, lowerlimit=None, axis=0, inclusive=True):
    a = in_one_axis(a, axis)
    kept = within(a, (lowerlimit, None), (inclusive, True))
    return np.min(np.where(kept, a, np.inf), axis=-1)


@composed(stats.tmax, value="own")
def tmax(a, upperlimit=None, axis=0, inclusive=True):
    a = in_one_axis(a, axis)
    kept = within(a, (None, upperlimit), (True, inclusive))
    return np.max(np.where(kept, a, -np.inf), axis=-1)


# ---- scores --------------------------------------------------------------------------------------


@composed(stats.zmap, value="own")
def zmap(scores, compare, axis=0, ddof=0):
    compare = floats(compare)
    centre = np.mean(compare, axis=axis, keepdims=True)
    return (floats(scores) - centre) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@composed(stats.zscore, value="own")
def zscore(a, axis=0, ddof=0):
    return zmap(a, a, axis, ddof)


@composed(stats.gzscore, value="own")
def gzscore(a, axis=0, ddof=0):
    return zscore(np.log(floats(a)), axis, ddof)


# ---- directions ----------------------------------------------------------------------------------


def length(x):
    return np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


@composed(stats.directional_stats)
def directional_stats(samples, *, axis=0, normalize=True):
    own = stats.directional_stats(value(samples), axis=axis, normalize=normalize)
    x = np.moveaxis(floats(samples), axis, 0)
    middle = np.mean(x / length(x) if normalize else x, axis=0)
    resultant = length(middle)
    own_values = own.mean_direction, own.mean_resultant_length
    return type(own)(*with_values((middle / length(middle), resultant), own_values))


# ---- order, circles, entropy ---------------------------------------------------------------------


@composed(stats.iqr, value="own")
def iqr(x, axis=None, rng=(25, 75), scale=1.0, interpolation="linear"):
    scales = {"normal": 2 * special.ndtri(0.75), "raw": 1.0}
    scale = scales[scale.lower()] if isinstance(scale, str) else scale
    low, high = np.percentile(in_one_axis(x, axis), sorted(rng), axis=-1, method=interpolation)
    return (high - low) / scale


@composed(stats.median_abs_deviation, value="own")
def median_abs_deviation(x, axis=0, center=None, scale=1.0):
    x = in_one_axis(x, axis)
    middle = np.median(x, axis=-1) if center is None else center(x, axis=-1)
    scale = special.ndtri(0.75) if isinstance(scale, str) else scale
    return np.median(np.abs(x - np.expand_dims(middle, -1)), axis=-1) / scale


def resultant(samples, high, low, axis):
    """The mean of the points on the unit circle, and the length of the circle over 2 pi."""
    unit = (high - low) / (2 * math.pi)
    angles = (in_one_axis(samples, axis) - low) / unit
    return mean(np.sin(angles)), mean(np.cos(angles)), unit


@composed(stats.circmean, value="own")
def circmean(samples, high=2 * math.pi, low=0, axis=None):
    y, x, unit = resultant(samples, high, low, axis)
    angle = np.arctan2(y, x)
    return low + unit * np.where(angle < 0, angle + 2 * math.pi, angle)


@composed(stats.circvar, value="own")
def circvar(samples, high=2 * math.pi, low=0, axis=None):
    return 1 - np.hypot(*resultant(samples, high, low, axis)[:2])


@composed(stats.circstd, value="own")
def circstd(samples, high=2 * math.pi, low=0, axis=None, normalize=False):
    y, x, unit = resultant(samples, high, low, axis)
    width = np.sqrt(-2 * np.log(np.hypot(y, x)))
    return width if normalize else width * unit


@composed(stats.entropy, value="own")
def entropy(pk, qk=None, base=None, axis=0):
    pk = floats(pk)
    if qk is None:
        pk = in_one_axis(pk, axis)
        terms = special.entr(pk / np.sum(pk, axis=-1, keepdims=True))
    else:
        shape = np.broadcast_shapes(np.shape(pk), np.shape(qk))
        p, q = (in_one_axis(np.broadcast_to(floats(x), shape), axis) for x in (pk, qk))
        p, q = (x / np.sum(x, axis=-1, keepdims=True) for x in (p, q))
        terms = special.rel_entr(p, q)
    total = np.sum(terms, axis=-1)
    return total if base is None else total / np.log(floats(base))
