"""Frequency responses of filters, and conversions between representations of a filter."""

# ruff: noqa: N803 - the names of SciPy's arguments

import operator

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import (
    by_source,
    composed,
    composed_each,
    is_traced,
    library_value,
    source_of,
    value,
    with_values,
)
from .filters import array, filtered


def refuse_traced(f, **options):
    for name, x in options.items():
        if is_traced(x):
            raise MissingRuleError(
                f"scipy.signal.{f.__name__} has no derivative in {name}, in {user_line()}.\n"
                f"  write {name}=cr.value(...), where no derivative is wanted"
            )


def vector(x):
    return np.atleast_1d(array(x))


# ---- responses ------------------------------------------------------------------------------


def polynomial(coefficients, z):
    """``sum_k c[k] z**k``, for the first axis of ``c``."""
    if np.ndim(coefficients) == 1:
        return z[..., None] ** np.arange(np.shape(coefficients)[0]) @ coefficients
    y = coefficients[-1]
    for k in range(np.shape(coefficients)[0] - 2, -1, -1):
        y = coefficients[k] + z * y
    return y


def is_index(x):
    """Say whether SciPy takes ``x`` for a number of frequencies, where a float is one of them."""
    try:
        return operator.index(x) is not None
    except TypeError:
        return False


def frequencies(own, w):
    """Return those that were given, or that SciPy chose, being told at most how many."""
    return own if w is None or is_index(value(w)) else vector(w)


def angles(own_w, worN, fs):
    """The frequencies in radians for each sample."""
    return 2 * np.pi * frequencies(own_w, worN) / fs


@composed(signal.freqz)
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    if is_traced(fs):
        return source_of(signal.freqz)(b, a, worN, whole, plot, fs, include_nyquist)
    own = library_value(signal.freqz, (b, a, worN, whole, None, fs, include_nyquist), {})
    w = angles(own[0], worN, fs)
    z = np.exp(-1j * w)
    y = w * (fs / (2 * np.pi)), polynomial(vector(b), z) / polynomial(vector(a), z)
    y = with_values(y, own)
    if plot is not None:
        plot(*y)
    return y


# SciPy has it under a second name since 1.15.
OF_SECTIONS = [getattr(signal, name) for name in ("sosfreqz", "freqz_sos") if hasattr(signal, name)]


@composed_each({f: f for f in OF_SECTIONS}, value="own")
def response_of_sections(f, sos, worN=512, whole=False, fs=2 * np.pi, *, own):
    if is_traced(fs):
        return source_of(f)(sos, worN, whole, fs)
    sos, w = np.atleast_2d(array(sos)), angles(own[0], worN, fs)
    z = np.exp(-1j * w)
    h = 1.0
    for k in range(np.shape(sos)[0]):
        h = h * (polynomial(sos[k, :3], z) / polynomial(sos[k, 3:], z))
    return w * (fs / (2 * np.pi)), h


def from_roots(roots, x):
    return np.prod(x[..., None] - vector(roots), axis=-1)


@composed(signal.freqz_zpk, value="own")
def freqz_zpk(z, p, k, worN=512, whole=False, fs=2 * np.pi, *, own):
    if is_traced(fs):
        return source_of(signal.freqz_zpk)(z, p, k, worN, whole, fs)
    w = angles(own[0], worN, fs)
    x = np.exp(1j * w)
    h = k * from_roots(z, x) / from_roots(p, x)
    return w * (fs / (2 * np.pi)), h


@composed(signal.freqs)
def freqs(b, a, worN=200, plot=None):
    own = library_value(signal.freqs, (b, a, worN), {})
    # What SciPy chooses by the roots of the filter is taken as it is.
    w = frequencies(own[0], worN)
    s = 1j * w
    h = np.polyval(vector(b), s) / np.polyval(vector(a), s)
    h = with_values(h, own[1])
    if plot is not None:
        plot(w, h)
    return w, h


@composed(signal.freqs_zpk, value="own")
def freqs_zpk(z, p, k, worN=200, *, own):
    w = frequencies(own[0], worN)
    s = 1j * w
    return w, k * from_roots(z, s) / from_roots(p, s)


@composed(signal.group_delay, value="own")
def group_delay(system, w=512, whole=False, fs=2 * np.pi, *, own):
    if is_traced(fs):
        return source_of(signal.group_delay)(system, w, whole, fs)
    b, a = map(vector, system)
    w = angles(own[0], w, fs)
    z = np.exp(-1j * w)
    c = np.convolve(b, np.conj(np.flip(a)))
    slope = polynomial(c * np.arange(np.shape(c)[0]), z) / polynomial(c, z)
    return w * (fs / (2 * np.pi)), np.real(slope) - np.shape(a)[0] + 1


# ---- other forms of a filter ----------------------------------------------------------------

by_source(
    signal,
    """
    bilinear_zpk lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk sos2tf
    zpk2tf
    """,
)


def as_normalized(num, den, own):
    """The end of each polynomial, as long as SciPy leaves it, over the first of the lower one."""
    num, den = (x[..., np.shape(x)[-1] - y.shape[-1] :] for x, y in zip((num, den), own))
    return num / den[0], den / den[0]


@composed(signal.normalize, value="own")
def normalize(b, a, *, own):
    num = array(b)
    num = np.atleast_2d(num) if own[0].ndim == 2 else np.ravel(num)
    return as_normalized(num, vector(a), own)


@composed(signal.deconvolve, value="own")
def deconvolve(signal_, divisor, *, own):
    num, den = vector(signal_), vector(divisor)
    n = np.shape(num)[0] - np.shape(den)[0] + 1
    if n < 1:
        return own[0], num
    quotient = filtered(num, den, np.eye(1, n)[0], -1)
    return quotient, num - np.convolve(den, quotient)


def of_powers(x, expand, length):
    """Replace the power i of s in a polynomial by the polynomial ``expand(i)``: its coefficients.

    ``expand`` gives the degrees and the coefficients.
    """
    total = 0.0
    for i in range(np.shape(x)[0]):
        degrees, terms = expand(i)
        total = total + np.flip(x)[i] * (terms @ np.eye(length)[degrees])
    return np.flip(total)


@composed(signal.bilinear, value="own")
def bilinear(b, a, fs=1.0, *, own):
    """From s to ``2 fs (z - 1) / (z + 1)``, times a power of the denominator."""
    b, a = (x[np.flatnonzero(value(x))[0] :] for x in (vector(b), vector(a)))
    n = max(np.shape(b)[0], np.shape(a)[0]) - 1

    def expand(i):
        terms = np.poly([1.0] * i + [-1.0] * (n - i))[::-1]
        return np.arange(n + 1), terms * (2 * fs) ** i

    return as_normalized(*(of_powers(x, expand, n + 1) for x in (b, a)), own)
