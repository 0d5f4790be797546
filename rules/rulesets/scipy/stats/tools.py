"""Helpers shared by the formulas of distributions."""

import math

import numpy as np
from scipy import special

from ...special.gamma import hurwitz

EULER = float(np.euler_gamma)
LOG_2 = math.log(2)
LOG_PI = math.log(math.pi)
LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


def trigamma(x):
    return hurwitz(2, x)


def normal_log(z):
    return -z * z / 2 - LOG_ROOT_2PI


def normal(z):
    return np.exp(normal_log(z))


def log1p_over(c, z):
    """``log1p(c * z) / c``, which is ``z`` at ``c = 0``: by its series where ``c * z`` is small."""
    u = c * z
    near = np.abs(u) < 0.01
    small = np.where(near, u, 0.0)
    series = 0.0
    for k in range(9, 0, -1):
        series = (-1) ** (k + 1) / k + small * series
    if np.all(near):
        return z * series
    far = np.log1p(np.where(near, 1.0, u)) / np.where(near, 1.0, c)
    return np.where(near, z * series, far)


def log_normal_mass(a, b):
    """The logarithm of what the normal distribution has from ``a`` to ``b``, on either side."""
    flip = a > 0
    low, high = special.log_ndtr(np.where(flip, -b, a)), special.log_ndtr(np.where(flip, -a, b))
    return high + np.log1p(-np.exp(low - high))


def two_sided(z, upper_half):
    """The distribution function of a symmetric law, from half of ``upper_half(abs(z))``."""
    right = z > 0
    half = upper_half(np.where(right, z, -z)) / 2
    return np.where(right, 1 - half, half)
