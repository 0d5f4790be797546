"""Helpers of the rules for scipy.special: numerical partials, densities, guarded quotients."""

import numpy as np
from scipy import special

from ... import array_of, astype, dtype_of, not_implemented, value

# Central differences of eighth order: weights of f(x + k h) - f(x - k h), for k from 1 to 4.
OFFSETS = np.array([1, 2, 3, 4, -1, -2, -3, -4])
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
# The same from one side, for f(x + k h) - f(x) and k from 1 to 8.
AHEAD = np.arange(1, 9)
WEIGHTS_AHEAD = np.array([8, -14, 56 / 3, -35 / 2, 56 / 5, -14 / 3, 8 / 7, -1 / 8])
STEP = 0.02


def anywhere(x):
    """The length over which a function of ``x`` changes, where 1 will do."""
    return np.ones_like(x)


def above(low):
    """As ``anywhere``, with a singularity at ``low``; wider far from it, as distributions are."""
    return lambda x: np.minimum(np.abs(x - low), np.sqrt(1 + np.abs(x - low)))


def around(*points):
    """As ``anywhere``, with a singularity at each of ``points``."""

    def radius(x):
        return np.minimum(1, np.min(np.stack([np.abs(x - point) for point in points]), axis=0))

    return radius


def off_poles(x):
    """As ``anywhere``, with singularities at 0, -1, -2, ..."""
    return np.minimum(1, np.abs(x - np.minimum(np.rint(np.real(x)), 0)))


def numerical(f, i, radius=anywhere, output=None):
    """The partial of ``f`` in argument ``i`` by central differences, for parameters such as orders.

    Where no closed form exists. Eight points, at multiples of 0.02 of ``radius``, over which
    ``f`` must be analytic, and changes by factors, not by orders of magnitude: a relative error
    of about 1e-11, or 100 times that of ``f`` itself if that is more. float64 inside whatever
    the arguments are. It is ordinary NumPy code, so that its derivatives in the other arguments
    are differences of their exact partials; again in argument ``i`` they lose two digits more.
    Where ``radius`` is 0, at the end of a domain, they are differences to the right. At infinity
    a function that has a value there is flat.
    """

    def differences(args, h, ahead):
        ndim = max(np.ndim(a) for a in args)

        def at(offsets):
            offsets = offsets.reshape(-1, *(1,) * ndim)
            values = f(*args[:i], args[i] + h * offsets, *args[i + 1 :])
            return values if output is None else values[output]

        weights = (WEIGHTS_AHEAD if ahead else WEIGHTS).reshape(-1, *(1,) * ndim)
        values = at(AHEAD if ahead else OFFSETS)
        gaps = values - at(np.zeros(1)) if ahead else values[:4] - values[4:]
        return np.sum(gaps * weights, axis=0) / h

    def partial(y, *args):
        x = args[i]
        with np.errstate(all="ignore"):
            point = array_of(value(x))
            wanted = STEP * np.abs(radius(point.astype(np.result_type(point, float))))
            ends = wanted == 0
            wanted = np.where(ends | np.isinf(wanted), STEP, wanted)
            h = np.exp2(np.floor(np.log2(wanted)))  # x + k h then has no rounding error
            slope = differences(args, h, ahead=False)
            if np.any(ends):
                slope = np.where(ends, differences(args, h, ahead=True), slope)
        dtype = dtype_of(y if output is None else y[output])
        return slope if dtype is None or dtype.itemsize > 8 else astype(slope, dtype)

    return partial


def finite_or(formula, fallback):
    """``formula``, and ``fallback`` where that is not finite: at poles that cancel."""

    def partial(y, *args):
        with np.errstate(all="ignore"):
            found = formula(y, *args)
        finite = np.isfinite(found)
        return found if np.all(finite) else np.where(finite, found, fallback(y, *args))

    return partial


def whole(f, name):
    """The partial in an argument that has to be a whole number."""
    return not_implemented(f"{name} of {f.__name__} is a whole number; it has no derivative")


def or_one(x):
    """``x``, but 1 where it is 0: what to divide by where the result is 0 anyway."""
    return x + (x == 0)


def quotient(a, b):
    """``a / b``, and 0 where both are 0."""
    return a / (b + ((a == 0) & (b == 0)))


def scaled_power(x, p, log_scale):
    """``x**p * exp(log_scale)``, by logarithms but where ``x`` is 0: they have no slope there."""
    end = x == 0
    if not np.any(end):
        return np.exp(special.xlogy(p, x) + log_scale)
    with np.errstate(divide="ignore"):
        at_end = np.where(end, x, 1.0) ** p * np.exp(log_scale)
    return np.where(end, at_end, np.exp(special.xlogy(p, np.where(end, 1.0, x)) + log_scale))


def gamma_density(a, x):
    """``x**(a-1) exp(-x) / gamma(a)``; 0 where one of the two is infinite."""
    infinite = np.isinf(a) | np.isinf(x)
    if np.any(infinite):
        a, x = np.where(infinite, 2.0, a), np.where(infinite, 0.0, x)
    return scaled_power(x, a - 1, -x - special.gammaln(a))


def beta_density(a, b, x):
    """``x**(a-1) (1-x)**(b-1) / beta(a, b)``; 0 where ``a`` or ``b`` is infinite."""
    infinite = np.isinf(a) | np.isinf(b)
    if np.any(infinite):
        a, b, x = np.where(infinite, 2.0, a), np.where(infinite, 2.0, b), np.where(infinite, 0.0, x)
    scale, upper = special.betaln(a, b), x == 1
    if not np.any(upper):
        return scaled_power(x, a - 1, special.xlog1py(b - 1, -x) - scale)
    low, high = np.where(upper, 0.5, x), np.where(upper, x, 0.5)
    at_low = scaled_power(low, a - 1, special.xlog1py(b - 1, -low) - scale)
    at_high = scaled_power(1 - high, b - 1, special.xlogy(a - 1, high) - scale)
    return np.where(upper, at_high, at_low)
