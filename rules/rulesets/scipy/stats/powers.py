"""The transforms of Box and Cox, and of Yeo and Johnson."""

import numpy as np
from scipy import special, stats

from .... import composed, source_of, value
from .samples import floats, in_one_axis


@composed(stats.boxcox, value="own")
def boxcox(x, lmbda=None, alpha=None, optimizer=None):
    if lmbda is None:  # which it looks for: a minimum has a derivative
        return source_of(stats.boxcox)(x, alpha=alpha, optimizer=optimizer)
    return special.boxcox(floats(x), lmbda)


def yeojohnson_of(x, lmbda):
    right = value(x) >= 0
    up = special.boxcox1p(np.where(right, x, 0.0), lmbda)
    return np.where(right, up, -special.boxcox1p(np.where(right, 0.0, -x), 2 - lmbda))


@composed(stats.yeojohnson, value="own")
def yeojohnson(x, lmbda=None):
    if lmbda is None:
        return source_of(stats.yeojohnson)(x)
    return yeojohnson_of(floats(x), lmbda)


@composed(stats.boxcox_llf, value="own")
def boxcox_llf(lmb, data, axis=0):
    data = in_one_axis(data, axis)
    spread = np.log(np.var(special.boxcox(data, lmb), axis=-1))
    return (lmb - 1) * np.sum(np.log(data), axis=-1) - np.shape(data)[-1] / 2 * spread


@composed(stats.yeojohnson_llf, value="own")
def yeojohnson_llf(lmb, data, axis=0):
    data = in_one_axis(data, axis)
    spread = np.log(np.var(yeojohnson_of(data, lmb), axis=-1))
    signed = np.where(value(data) >= 0, np.log1p(np.abs(data)), -np.log1p(np.abs(data)))
    return (lmb - 1) * np.sum(signed, axis=-1) - np.shape(data)[-1] / 2 * spread
