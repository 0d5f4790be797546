"""Lomb-Scargle periodogram, of samples at uneven times."""

import numpy as np
from scipy import signal

from .... import composed, source_of
from .filters import array


def fitted_power(x, y, freqs, weights, floating):
    """Fit a cosine and a sine: return their factors, their power, ``tau`` and the variance.

    Times are taken from ``tau``, where cosine and sine are orthogonal.
    Source: Zechmeister, Kuerster (2009), the generalized Lomb-Scargle periodogram.
    """
    weights = weights / np.sum(weights)
    mean = np.sum(weights * y)

    def products(angle):
        c, s = np.cos(angle), np.sin(angle)
        cc, cs = weights @ (c * c), weights @ (c * s)
        yc, ys, ss = (weights * y) @ c, (weights * y) @ s, 1 - cc
        if floating:
            c, s = weights @ c, weights @ s
            cc, ss, cs, yc, ys = cc - c * c, ss - s * s, cs - c * s, yc - mean * c, ys - mean * s
        return cc, ss, cs, yc, ys

    angle = x[:, None] * freqs
    cc, ss, cs, _, _ = products(angle)
    tau = 0.5 * np.arctan2(2 * cs, cc - ss)
    cc, ss, _, yc, ys = products(angle - tau)
    least = np.finfo(float).epsneg
    a, b = yc / np.maximum(cc, least), ys / np.maximum(ss, least)
    variance = np.sum(weights * y * y) - (mean * mean if floating else 0.0)
    return a, b, 2 * (a * yc + b * ys), tau, variance


@composed(signal.lombscargle, value="own")
def lombscargle(x, y, freqs, precenter=False, normalize=False, *, weights=None,
                floating_mean=False):  # fmt: skip
    if precenter is True:
        options = {"weights": weights, "floating_mean": floating_mean}
        options |= {"precenter": precenter, "normalize": normalize}
        return source_of(signal.lombscargle)(x, y, freqs, **options)
    x, y, freqs = array(x), array(y), array(freqs)
    weights = np.ones(np.shape(x)) if weights is None else array(weights)
    a, b, power, tau, variance = fitted_power(x, y, freqs, weights, floating_mean)
    if normalize in (False, "power"):
        return power * (np.shape(x)[0] / 4)
    if normalize == "amplitude":
        return (a + 1j * b) * np.exp(1j * tau)
    return power / (2 * variance)
