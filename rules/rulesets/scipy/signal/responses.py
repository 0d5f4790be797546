"""Frequency responses of filters, and conversions between representations of a filter."""

# ruff: noqa: N803 - the names of SciPy's arguments

import math
import operator

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import composed, composed_each, is_traced, library_value, source_of, value, with_values
from .filters import array, filtered, padded


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


# ---- polynomials, roots, sections -----------------------------------------------------------


def as_normalized(num, den, own):
    """The end of each polynomial, as long as SciPy leaves it, over the first of the lower one."""
    num, den = (x[..., np.shape(x)[-1] - y.shape[-1] :] for x, y in zip((num, den), own))
    return num / den[0], den / den[0]


@composed(signal.normalize, value="own")
def normalize(b, a, *, own):
    num = array(b)
    num = np.atleast_2d(num) if own[0].ndim == 2 else np.ravel(num)
    return as_normalized(num, vector(a), own)


@composed(signal.zpk2tf, value="own")
def zpk2tf(z, p, k, *, own):
    if own[0].ndim > 1:
        raise MissingRuleError("scipy.signal.zpk2tf of several sets of zeros has no rule yet"
                               f", in {user_line()}.\n"
                               "  call it for one after the other")  # fmt: skip
    return vector(k) * np.poly(vector(z)), np.poly(vector(p))


@composed(signal.sos2tf, value="own")
def sos2tf(sos, *, own):
    sos, b, a = array(sos), np.ones(1), np.ones(1)
    for k in range(np.shape(sos)[0]):
        b, a = np.convolve(b, sos[k, :3]), np.convolve(a, sos[k, 3:])
    ends = (x[np.shape(x)[0] - y.shape[0] :] for x, y in zip((b, a), own))
    return tuple(ends)


@composed(signal.deconvolve, value="own")
def deconvolve(signal_, divisor, *, own):
    num, den = vector(signal_), vector(divisor)
    n = np.shape(num)[0] - np.shape(den)[0] + 1
    if n < 1:
        return own[0], num
    quotient = filtered(num, den, np.eye(1, n)[0], -1)
    return quotient, num - np.convolve(den, quotient)


# ---- from one frequency to another ----------------------------------------------------------


@composed(signal.lp2lp_zpk, value="own")
def lp2lp_zpk(z, p, k, wo=1.0):
    z, p = vector(z), vector(p)
    return wo * z, wo * p, k * wo ** degree(z, p)


def degree(z, p):
    return np.shape(p)[0] - np.shape(z)[0]


def gain(z, p):
    return np.real(np.prod(-z) / np.prod(-p))


@composed(signal.lp2hp_zpk, value="own")
def lp2hp_zpk(z, p, k, wo=1.0):
    z, p = vector(z), vector(p)
    zeros = np.concatenate([wo / z, np.zeros(degree(z, p))])
    return zeros, wo / p, k * gain(z, p)


def split(x, wo):
    """The two places that a root at ``x`` goes to, on both sides of ``wo`` and of ``-wo``."""
    if not np.iscomplexobj(x):
        x = x + 0j  # whose square has the zero that SciPy's has, on the same side of the cut
    root = np.sqrt(x**2 - wo**2)
    return np.concatenate([x + root, x - root])


@composed(signal.lp2bp_zpk, value="own")
def lp2bp_zpk(z, p, k, wo=1.0, bw=1.0):
    z, p = vector(z), vector(p)
    zeros = np.concatenate([split(z * bw / 2, wo), np.zeros(degree(z, p))])
    return zeros, split(p * bw / 2, wo), k * bw ** degree(z, p)


@composed(signal.lp2bs_zpk, value="own")
def lp2bs_zpk(z, p, k, wo=1.0, bw=1.0):
    z, p = vector(z), vector(p)
    ones = np.ones(degree(z, p))
    zeros = np.concatenate([split(bw / 2 / z, wo), 1j * wo * ones, -1j * wo * ones])
    return zeros, split(bw / 2 / p, wo), k * gain(z, p)


@composed(signal.bilinear_zpk, value="own")
def bilinear_zpk(z, p, k, fs):
    z, p, twice = vector(z), vector(p), 2.0 * fs
    zeros = np.concatenate([(twice + z) / (twice - z), -np.ones(degree(z, p))])
    scale = np.real(np.prod(twice - z) / np.prod(twice - p))
    return zeros, (twice + p) / (twice - p), k * scale


@composed(signal.lp2lp, value="own")
def lp2lp(b, a, wo=1.0, *, own):
    b, a = vector(b), vector(a)
    powers = [1 / wo ** np.arange(np.shape(x)[0] - 1, -1, -1) for x in (b, a)]
    return as_normalized(b * powers[0], a * powers[1], own)


@composed(signal.lp2hp, value="own")
def lp2hp(b, a, wo=1.0, *, own):
    b, a = vector(b), vector(a)
    n = max(np.shape(b)[0], np.shape(a)[0])
    turned = [padded(np.flip(x) * wo ** np.arange(np.shape(x)[0]), n) for x in (b, a)]
    return as_normalized(*turned, own)


def of_powers(x, expand, length):
    """Replace the power i of s in a polynomial by the polynomial ``expand(i)``: its coefficients.

    ``expand`` gives the degrees and the coefficients.
    """
    total = 0.0
    for i in range(np.shape(x)[0]):
        degrees, terms = expand(i)
        total = total + np.flip(x)[i] * (terms @ np.eye(length)[degrees])
    return np.flip(total)


def binomials(n):
    return np.array([math.comb(n, k) for k in range(n + 1)], float)


@composed(signal.lp2bp, value="own")
def lp2bp(b, a, wo=1.0, bw=1.0, *, own):
    """From s to ``(s**2 + wo**2) / (bw s)``, times a power of s."""
    b, a = vector(b), vector(a)
    n = max(np.shape(b)[0], np.shape(a)[0]) - 1

    def expand(i):
        k = np.arange(i + 1)
        return n - i + 2 * k, binomials(i) * wo ** (2 * (i - k)) / bw**i

    return as_normalized(*(of_powers(x, expand, 2 * n + 1) for x in (b, a)), own)


@composed(signal.lp2bs, value="own")
def lp2bs(b, a, wo=1.0, bw=1.0, *, own):
    """From s to ``bw s / (s**2 + wo**2)``, times a power of the denominator."""
    b, a = vector(b), vector(a)
    n = max(np.shape(b)[0], np.shape(a)[0]) - 1

    def expand(i):
        k = np.arange(n - i + 1)
        return i + 2 * k, binomials(n - i) * wo ** (2 * (n - i - k)) * bw**i

    return as_normalized(*(of_powers(x, expand, 2 * n + 1) for x in (b, a)), own)


@composed(signal.bilinear, value="own")
def bilinear(b, a, fs=1.0, *, own):
    """From s to ``2 fs (z - 1) / (z + 1)``, times a power of the denominator."""
    b, a = (x[np.flatnonzero(value(x))[0] :] for x in (vector(b), vector(a)))
    n = max(np.shape(b)[0], np.shape(a)[0]) - 1

    def expand(i):
        terms = np.poly([1.0] * i + [-1.0] * (n - i))[::-1]
        return np.arange(n + 1), terms * (2 * fs) ** i

    return as_normalized(*(of_powers(x, expand, n + 1) for x in (b, a)), own)
