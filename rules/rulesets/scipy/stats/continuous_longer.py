"""Continuous distributions whose formulas need more than a line."""

import math

import numpy as np
from scipy import special

from .... import value
from .formulas import Formulas
from .tools import LOG_2, LOG_PI, LOG_ROOT_2PI, log_normal_mass, normal_log

log, exp, sqrt = np.log, np.exp, np.sqrt
log_ndtr = special.log_ndtr
LONGER = {}


def triangle(z, c):
    """Up to the mode ``c``, which may be an end, and down from it."""
    up = (z < c) | (c == 1)
    return np.where(up, 2 * z / np.where(up, c, 1.0), 2 * (1 - z) / np.where(up, 1.0, 1 - c))


def triangle_below(z, c):
    up = (z < c) | (c == 1)
    below = 1 - (1 - z) ** 2 / np.where(up, 1.0, 1 - c)
    return np.where(up, z * z / np.where(up, c, 1.0), below)


LONGER["triang"] = Formulas(
    density=triangle,
    cdf=triangle_below,
    mean=lambda c: (c + 1) / 3,
    var=lambda c: (1 - c + c * c) / 18,
    entropy=lambda c: 0.5 - LOG_2 + 0 * c,
)


def share_below(z, a, b):
    """The share of the normal mass from ``a`` to ``b`` that is below ``z``.

    Above 0 by what is further out, so that nothing cancels.
    """
    total, flip = log_normal_mass(a, b), a > 0
    near, far = np.where(flip, -z, a), np.where(flip, -a, z)
    return exp(log_ndtr(far) - total) - exp(log_ndtr(near) - total)


def end_density(x, a, b):
    return exp(normal_log(x) - log_normal_mass(a, b))


def end_moment(x, a, b):
    infinite = np.isinf(x)
    return np.where(infinite, 0.0, x) * end_density(x, a, b)


def truncated_mean(a, b):
    return end_density(a, a, b) - end_density(b, a, b)


LONGER["truncnorm"] = Formulas(
    lambda z, a, b: normal_log(z) - log_normal_mass(a, b),
    cdf=share_below,
    sf=lambda z, a, b: share_below(-z, -b, -a),
    mean=truncated_mean,
    var=lambda a, b: 1 + end_moment(a, a, b) - end_moment(b, a, b) - truncated_mean(a, b) ** 2,
    entropy=lambda a, b: (
        0.5 + LOG_ROOT_2PI + log_normal_mass(a, b) + (end_moment(a, a, b) - end_moment(b, a, b)) / 2
    ),
)


def vonmises_below(z, kappa):
    """By its Fourier series (Abramowitz, Stegun 9.6.34); it goes on rising past the circle."""
    sizes = value(kappa)
    most = np.max(sizes, initial=1.0, where=np.isfinite(sizes))
    j = np.arange(1.0, 20 + 9 * np.sqrt(most))
    z, kappa = np.expand_dims(z, -1), np.expand_dims(kappa, -1)
    terms = special.ive(j, kappa) / special.i0e(kappa) * np.sin(j * z) / j
    return 0.5 + z[..., 0] / (2 * math.pi) + np.sum(terms, axis=-1) / math.pi


LONGER["vonmises"] = LONGER["vonmises_line"] = Formulas(
    lambda z, kappa: kappa * special.cosm1(z) - LOG_2 - LOG_PI - log(special.i0e(kappa)),
    cdf=vonmises_below,
    mean=lambda kappa: 0 * kappa,
    entropy=lambda kappa: (
        LOG_2 + LOG_PI + log(special.i0e(kappa))
        + kappa * (1 - special.i1e(kappa) / special.i0e(kappa))
    ),
)  # fmt: skip


def norminvgauss_log(z, a, b):
    tail = np.hypot(1.0, z)
    scale = sqrt(a * a - b * b) + b * z - a * tail
    return log(a / math.pi) + scale - log(tail) + log(special.k1e(a * tail))


LONGER["norminvgauss"] = Formulas(
    norminvgauss_log,
    mean=lambda a, b: b / sqrt(a * a - b * b),
    var=lambda a, b: a * a / (a * a - b * b) ** 1.5,
)
