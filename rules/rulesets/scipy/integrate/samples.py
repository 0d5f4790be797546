"""Integrals of samples: linear in ``y``, and rational in where the samples lie."""

import numpy as np
from scipy import integrate
from scipy.special import gammaln, roots_legendre

from .... import array_of, composed, dtype_of, library_value, value


def along_last(y, x, dx, axis):
    """Return the samples along the last axis, and the widths between them, (..., N - 1)."""
    y = array_of(y)
    y = y if np.issubdtype(np.result_type(value(y)), np.inexact) else y * 1.0
    shape = np.shape(y)
    if x is None:
        between = list(shape)
        between[axis] -= 1
        widths = np.moveaxis(np.broadcast_to(array_of(dx), tuple(between)), axis, -1)
    elif np.ndim(x) == 1:
        widths = np.diff(array_of(x))
    else:
        widths = np.diff(np.moveaxis(np.broadcast_to(array_of(x), shape), axis, -1))
    y = np.moveaxis(y, axis, -1)
    return y, np.broadcast_to(widths, (*np.shape(y)[:-1], np.shape(widths)[-1]))


@composed(integrate.trapezoid, value="own")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y, h = along_last(y, x, dx, axis)
    return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)


@composed(integrate.cumulative_trapezoid, value="own")
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y, h = along_last(y, x, dx, axis)
    return from_initial(np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1), initial, axis)


def from_initial(sums, initial, axis):
    """Return sums from ``initial`` on, which comes first if it is given."""
    if initial is not None:
        initial = array_of(initial)
        initial = np.moveaxis(initial, axis, -1) if np.ndim(initial) else initial
        first = np.broadcast_to(initial, (*np.shape(sums)[:-1], 1))
        sums = np.concatenate([first, sums + first], axis=-1)
    return np.moveaxis(sums, -1, axis)


def ratio(a, b):
    """``a / b``, and 0 where ``b`` is 0: samples may lie at the same place."""
    none = value(b) == 0
    return np.where(none, 0.0, a / np.where(none, 1.0, b))


def parabolas(y, h):
    """Integrals of the parabolas through three samples each, for an odd number of samples."""
    a, b = h[..., :-1:2], h[..., 1::2]
    y0, y1, y2 = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    both = a + b
    middle = both * ratio(both, a * b)
    ends = y0 * (2 - ratio(1.0, ratio(a, b))) + y2 * (2 - ratio(a, b))
    return np.sum(both / 6 * (ends + y1 * middle), axis=-1)


@composed(integrate.simpson, value="own")
def simpson(y, x=None, *, dx=1.0, axis=-1):
    y, h = along_last(y, x, dx, axis)
    n = np.shape(y)[-1]
    if n % 2:
        return parabolas(y, h)
    if n == 2:
        return h[..., 0] * (y[..., 0] + y[..., 1]) / 2
    a, b = h[..., -2], h[..., -1]  # the last one, by Cartwright's formula
    alpha = ratio(2 * b**2 + 3 * a * b, 6 * (a + b))
    beta = ratio(b**2 + 3 * a * b, 6 * a)
    eta = ratio(b**3, 6 * a * (a + b))
    last = alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]
    return parabolas(y[..., :-1], h[..., :-1]) + last


def first_halves(y, h):
    """The integrals up to the middle one of three samples, for all three in a row."""
    a, b = h[..., :-1], h[..., 1:]
    whole, part = a / (a + b), a / b
    return a / 6 * (
        (3 - whole) * y[..., :-2] + (3 + whole * part + whole) * y[..., 1:-1]
        - whole * part * y[..., 2:]
    )  # fmt: skip


@composed(integrate.cumulative_simpson, value="own")
def cumulative_simpson(y, *, x=None, dx=1.0, axis=-1, initial=None):
    n = np.shape(y)[axis]
    if n < 3:
        y, h = along_last(y, x, dx, axis)
        pieces = h * (y[..., 1:] + y[..., :-1]) / 2
        return from_initial(np.cumsum(pieces, axis=-1), initial, axis)
    y, h = along_last(y, x, dx, axis)
    forwards = first_halves(y, h)
    backwards = first_halves(y[..., ::-1], h[..., ::-1])[..., ::-1]
    at = np.arange(n - 1)
    of_backwards = (at % 2 == 1) | (at == n - 2)
    both = np.concatenate([forwards, backwards], axis=-1)
    pieces = both[..., np.where(of_backwards, n - 2 + at - 1, at)]
    return from_initial(np.cumsum(pieces, axis=-1), initial, axis)


@composed(integrate.romb, value="own")
def romb(y, dx=1.0, axis=-1, show=False):
    y = np.moveaxis(array_of(y), axis, -1)
    step = np.shape(y)[-1] - 1
    h = step * dx
    row = [(y[..., 0] + y[..., -1]) / 2 * h]
    while step > 1:
        added = h * np.sum(y[..., step // 2 :: step], axis=-1)
        before, row = row, [(row[0] + added) / 2]
        for j, former in enumerate(before, start=1):
            row.append(row[-1] + (row[-1] - former) / (4**j - 1))
        step, h = step // 2, h / 2
    return row[-1]


@composed(integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    if np.isinf(value(a)) or np.isinf(value(b)):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    # Since SciPy 1.18 in the precision of the limits.
    own, _ = library_value(integrate.fixed_quad, (np.positive, a, b), {"n": n})
    x, w = (np.real(part).astype(dtype_of(own)) for part in roots_legendre(n))
    y = (b - a) * (x + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(w * array_of(func(y, *args)), axis=-1), None


@composed(integrate.newton_cotes, value="own")
def newton_cotes(rn, equal=0):
    x = array_of(rn)
    n = np.shape(x)[0] - 1
    x = value(x) if equal else x  # which takes the places for equally spaced ones
    order = np.arange(n + 1)
    powers = (2 * x / n - 1) ** order[:, None]
    moments = np.where(order % 2, 0.0, 2 / (order + 1))  # from -1 to 1
    weights = np.linalg.solve(powers, moments) * n / 2
    order = n + 1  # of the first power that the rule need not integrate
    error = n / (order + 1) - (x / n) ** order @ weights
    return weights, error * np.exp(order * np.log(n) - gammaln(order + 1))
