"""scipy.special: exponentials, logistic functions, entropies, power transforms, error functions."""

import functools
import math

import numpy as np
from scipy import special
from scipy.special import _ufuncs

from ... import non_differentiable, scalar_rule
from .tools import or_one, quotient

DEGREE = math.pi / 180
LOG_2 = math.log(2)
LOG_10 = math.log(10)
ROOT_PI = math.sqrt(math.pi)
ROOT_2 = math.sqrt(2)
ROOT_2_PI = math.sqrt(2 * math.pi)


def exprel_partial(x):
    """The derivative of ``exprel(x) = hyp1f1(1, 2, x)``, without the cancellation at 0."""
    slope = special.hyp1f1(2.0, 3.0, np.where(x == -np.inf, 0, x)) / 2
    return np.where(x == -np.inf, 0, slope)


non_differentiable(special.round)

# fmt: off
scalar_rule(special.cbrt,   lambda y, _x: 1 / (3 * y * y))
scalar_rule(special.exp2,   lambda y, _x: LOG_2 * y)
scalar_rule(special.exp10,  lambda y, _x: LOG_10 * y)
scalar_rule(special.expm1,  lambda _, x: np.exp(x))
scalar_rule(special.log1p,  lambda _, x: 1 / (1 + x))
scalar_rule(special.exprel, lambda _, x: exprel_partial(x))
scalar_rule(special.cosm1,  lambda _, x: -np.sin(x))
scalar_rule(special.powm1,  lambda _, x, p: p * np.power(x * 1.0, p - 1),
                            lambda y, x, _p: special.xlogy(y + 1, x))

scalar_rule(special.sindg,  lambda _, x: DEGREE * special.cosdg(x))
scalar_rule(special.cosdg,  lambda _, x: -DEGREE * special.sindg(x))
scalar_rule(special.tandg,  lambda y, _x: DEGREE * (1 + y * y))
scalar_rule(special.cotdg,  lambda y, _x: -DEGREE * (1 + y * y))
scalar_rule(special.radian, DEGREE, DEGREE / 60, DEGREE / 3600)

scalar_rule(special.xlogy,    lambda _, _a, b: np.log(b),   lambda _, a, b: quotient(a, b))
scalar_rule(special.xlog1py,  lambda _, _a, b: np.log1p(b), lambda _, a, b: quotient(a, 1 + b))
scalar_rule(special.entr,     lambda _, x: -1 - np.log(x))
scalar_rule(special.rel_entr, lambda _, a, b: 1 + np.log(a) - np.log(b),
                              lambda _, a, b: -quotient(a, b))
scalar_rule(special.kl_div,   lambda _, a, b: np.log(a) - np.log(b),
                              lambda _, a, b: 1 - quotient(a, b))

# 1 - expit(x) is expit(-x), which does not round to 0.
scalar_rule(special.expit,     lambda y, x: y * special.expit(-x))
scalar_rule(special.logit,     lambda _, x: 1 / (x * (1 - x)))
scalar_rule(special.log_expit, lambda _, x: special.expit(-x))
# fmt: on
if hasattr(_ufuncs, "_log1mexp"):  # log(1 - exp(x)), which distributions call since SciPy 1.16
    scalar_rule(_ufuncs._log1mexp, lambda _, x: -1 / np.expm1(-x))


# ---- losses ----


def root_of_squares(delta, r):
    return np.sqrt(delta * delta + r * r)


def pseudo_huber_by_delta(_, delta, r):
    """``(s - delta)**2 / s``, where ``s - delta = r**2 / (s + delta)`` does not cancel."""
    s = root_of_squares(delta, r)
    excess = r * r / or_one(s + delta)
    return excess * excess / or_one(s)


# fmt: off
scalar_rule(special.huber, lambda _, delta, r: np.maximum(np.abs(r) - delta, 0),
                           lambda _, delta, r: np.where(np.abs(r) <= delta, r, delta * np.sign(r)))
scalar_rule(special.pseudo_huber, pseudo_huber_by_delta,
                                  lambda _, delta, r: r * delta / or_one(root_of_squares(delta, r)))
# fmt: on


# ---- Box and Cox: boxcox(x, p) = log(x) * exprel(p * log(x)) ----


def boxcox_by_power(log, p):
    return log * log * exprel_partial(p * log)


def from_zero(y, x, p):
    """Partial of ``boxcox``, at ``x = 0``, where ``y = -1 / p``, too."""
    return np.where(x == 0, -y / or_one(p), boxcox_by_power(np.log(or_one(x)), p))


def from_minus_one(y, x, p):
    """Partial of ``boxcox1p``, at ``x = -1``, where ``y = -1 / p``, too."""
    end = x == -1
    return np.where(end, -y / or_one(p), boxcox_by_power(special.log1p(np.where(end, 0.0, x)), p))


def inv_boxcox_by_power(log, p):
    """From ``boxcox(exp(log), p)`` being constant: ``-exp(log) * d(boxcox)/dp * x**-p``."""
    return -np.exp(log * (1 - p)) * boxcox_by_power(log, p)


# fmt: off
scalar_rule(special.boxcox,       lambda _, x, p: np.power(x, p - 1), from_zero)
scalar_rule(special.boxcox1p,     lambda _, x, p: np.power(1 + x, p - 1),
                                  from_minus_one)
scalar_rule(special.inv_boxcox,   lambda y, x, p: y / (1 + x * p),
                                  lambda y, _x, p: inv_boxcox_by_power(np.log(y), p))
scalar_rule(special.inv_boxcox1p, lambda y, x, p: (1 + y) / (1 + x * p),
                                  lambda y, _x, p: inv_boxcox_by_power(special.log1p(y), p))
# fmt: on


def tukey_slope(y, p):
    """The derivative of the quantile ``boxcox(y, p) - boxcox(1 - y, p)``."""
    return np.power(y, p - 1) + np.power(1 - y, p - 1)


def within(y, partial):
    """``partial(y)`` inside the support of a distribution, 0 outside."""
    inside = (y > 0) & (y < 1)
    return np.where(inside, partial(np.where(inside, y, 0.5)), 0)


def tukey_by_power(y, p):
    ends = boxcox_by_power(np.log(y), p) - boxcox_by_power(special.log1p(-y), p)
    return -ends / tukey_slope(y, p)


scalar_rule(
    special.tklmbda,
    lambda y, _x, p: within(y, lambda y: 1 / tukey_slope(y, p)),
    lambda y, _x, p: within(y, lambda y: tukey_by_power(y, p)),
)


# ---- error functions ----


def tail(square):
    """Sum of ``(2k+1)!! / (-2 square)**k``, which converges far enough for ``|square| > 144``."""
    return functools.reduce(
        lambda rest, k: 1 - (2 * k + 1) / (2 * square) * rest, range(14, 0, -1), 1
    )


def far_or_near(far, square, x, at_far, at_near):
    """``at_far(square)`` where ``far``: there ``at_near`` is the difference of near numbers."""
    return np.where(far, at_far(np.where(far, square, 200.0)), at_near(np.where(far, 1.0, x)))


def erfcx_partial(y, x):
    square = x * x
    far = (np.abs(square) > 144) & (np.real(x) > 0)
    return far_or_near(
        far,
        square,
        x,
        lambda square: -tail(square) / (ROOT_PI * square),
        lambda x: 2 * x * np.where(far, 1.0, y) - 2 / ROOT_PI,
    )


def dawsn_partial(y, x):
    square = x * x
    far = np.real(square) > 144
    return far_or_near(
        far,
        square,
        x,
        lambda square: -tail(-square) / (2 * square),
        lambda x: 1 - 2 * x * np.where(far, 1.0, y),
    )


def wofz_partial(y, z):
    """From ``wofz(z) = erfcx(-i z)``."""
    return -1j * erfcx_partial(y, -1j * z)


def voigt_partial(x, sigma, gamma):
    """The derivative of ``wofz`` at ``z = (x + i gamma) / (sigma sqrt(2))``."""
    z = (x + 1j * gamma) / (ROOT_2 * sigma)
    return z, wofz_partial(special.wofz(z), z) / (2 * ROOT_PI * sigma * sigma)


def voigt_by_sigma(y, x, sigma, gamma):
    """``sigma`` scales ``z`` and the profile."""
    z, slope = voigt_partial(x, sigma, gamma)
    return -ROOT_2 * np.real(z * slope) - y / sigma


def owens_t_by_h(_, h, a):
    return -np.exp(-h * h / 2) * special.erf(a * h / ROOT_2) / (2 * ROOT_2_PI)


def owens_t_by_a(_, h, a):
    return np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a))


# fmt: off
scalar_rule(special.erf,     lambda _, x: 2 / ROOT_PI * np.exp(-x * x))
scalar_rule(special.erfc,    lambda _, x: -2 / ROOT_PI * np.exp(-x * x))
scalar_rule(special.erfi,    lambda _, x: 2 / ROOT_PI * np.exp(x * x))
scalar_rule(special.erfcx,   erfcx_partial)
scalar_rule(special.dawsn,   dawsn_partial)
scalar_rule(special.wofz,    wofz_partial)
scalar_rule(special.erfinv,  lambda y, _x: ROOT_PI / 2 * np.exp(y * y))
scalar_rule(special.erfcinv, lambda y, _x: -ROOT_PI / 2 * np.exp(y * y))

scalar_rule(special.ndtr,      lambda _, x: np.exp(-x * x / 2) / ROOT_2_PI)
scalar_rule(special.ndtri,     lambda y, _p: ROOT_2_PI * np.exp(y * y / 2))
# The density over ndtr(x), both of them without their common factor exp(-x**2 / 2).
scalar_rule(special.log_ndtr,  lambda _, x: ROOT_2 / ROOT_PI / special.erfcx(-x / ROOT_2))
scalar_rule(special.ndtri_exp, lambda y, _x: ROOT_PI / ROOT_2 * special.erfcx(-y / ROOT_2))

scalar_rule(special.voigt_profile,
            lambda _, x, sigma, gamma: np.real(voigt_partial(x, sigma, gamma)[1]),
            voigt_by_sigma,
            lambda _, x, sigma, gamma: -np.imag(voigt_partial(x, sigma, gamma)[1]))
scalar_rule(special.owens_t, owens_t_by_h, owens_t_by_a)

scalar_rule(special.fresnel, (lambda _, x: np.sin(math.pi / 2 * (x * x)),),
                             (lambda _, x: np.cos(math.pi / 2 * (x * x)),))
# K+ = exp(-i(x**2 + pi/4)) F+ / sqrt(pi), and K- is its conjugate.
scalar_rule(special.modfresnelp,
            (lambda _, x: -np.exp(1j * (x * x)),),
            (lambda y, x: -2j * x * y[1] - (1 - 1j) / ROOT_2_PI,))
scalar_rule(special.modfresnelm,
            (lambda _, x: -np.exp(-1j * (x * x)),),
            (lambda y, x: 2j * x * y[1] - (1 + 1j) / ROOT_2_PI,))
# fmt: on
