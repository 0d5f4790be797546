"""Filters that follow their cutoff frequencies, and waveforms that follow time."""

# ruff: noqa: N803 - the names of SciPy's arguments

import math

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import composed, composed_each, linear_rule, primitive, value
from ..fft import fft_, irfft
from ..fft import ifft as ifft_
from .filters import along_last, array
from .responses import (
    bilinear_zpk,
    lp2bp_zpk,
    lp2bs_zpk,
    lp2hp_zpk,
    lp2lp_zpk,
    refuse_traced,
    vector,
    zpk2tf,
)
from .sections import zpk2sos

# ---- recursive filters ----------------------------------------------------------------------

PROTOTYPES = {
    "butter": lambda n, rp, rs, norm: signal.buttap(n),
    "cheby1": lambda n, rp, rs, norm: signal.cheb1ap(n, rp),
    "chebyshev1": lambda n, rp, rs, norm: signal.cheb1ap(n, rp),
    "chebyshevi": lambda n, rp, rs, norm: signal.cheb1ap(n, rp),
    "cheby2": lambda n, rp, rs, norm: signal.cheb2ap(n, rs),
    "chebyshev2": lambda n, rp, rs, norm: signal.cheb2ap(n, rs),
    "chebyshevii": lambda n, rp, rs, norm: signal.cheb2ap(n, rs),
    "ellip": lambda n, rp, rs, norm: signal.ellipap(n, rp, rs),
    "cauer": lambda n, rp, rs, norm: signal.ellipap(n, rp, rs),
    "elliptic": lambda n, rp, rs, norm: signal.ellipap(n, rp, rs),
    "bessel": lambda n, rp, rs, norm: signal.besselap(n, norm),
}


def moved_prototype(n, wn, btype, analog, ftype, output, fs, rp=None, rs=None, norm="phase"):
    """A filter for the frequency 1 is moved to the cutoffs, and from continuous time to samples."""
    z, p, k = PROTOTYPES[ftype.lower()](n, rp, rs, norm)
    w = vector(wn) if fs is None else 2 * vector(wn) / fs
    w = w if analog else 4 * np.tan(np.pi * w / 2)
    band = btype.lower()
    if band in ("lowpass", "low", "lp", "l", "highpass", "high", "hp", "h"):
        z, p, k = (lp2lp_zpk if band.startswith("l") else lp2hp_zpk)(z, p, k, w[0])
    else:
        stops = band in ("bandstop", "bandreject", "bands", "bs", "stop")
        move = lp2bs_zpk if stops else lp2bp_zpk
        z, p, k = move(z, p, k, np.sqrt(w[0] * w[1]), w[1] - w[0])
    if not analog:
        z, p, k = bilinear_zpk(z, p, k, 2.0)
    if output == "sos":
        return zpk2sos(z, p, k, analog=analog)
    return (z, p, k) if output == "zpk" else zpk2tf(z, p, k)


@composed(signal.iirfilter, value="own")
def iirfilter(N, Wn, rp=None, rs=None, btype="band", analog=False, ftype="butter", output="ba",
              fs=None):  # fmt: skip
    refuse_traced(signal.iirfilter, rp=rp, rs=rs, fs=fs)
    norm = ftype.partition("_")[2] or "phase"
    return moved_prototype(N, Wn, btype, analog, ftype.partition("_")[0], output, fs, rp, rs,
                           norm)  # fmt: skip


@composed(signal.butter, value="own")
def butter(N, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.butter, fs=fs)
    return moved_prototype(N, Wn, btype, analog, "butter", output, fs)


@composed(signal.cheby1, value="own")
def cheby1(N, rp, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.cheby1, rp=rp, fs=fs)
    return moved_prototype(N, Wn, btype, analog, "cheby1", output, fs, rp)


@composed(signal.cheby2, value="own")
def cheby2(N, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.cheby2, rs=rs, fs=fs)
    return moved_prototype(N, Wn, btype, analog, "cheby2", output, fs, rs=rs)


@composed(signal.ellip, value="own")
def ellip(N, rp, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.ellip, rp=rp, rs=rs, fs=fs)
    return moved_prototype(N, Wn, btype, analog, "ellip", output, fs, rp, rs)


@composed(signal.bessel, value="own")
def bessel(N, Wn, btype="low", analog=False, output="ba", norm="phase", fs=None):
    refuse_traced(signal.bessel, fs=fs)
    return moved_prototype(N, Wn, btype, analog, "bessel", output, fs, norm=norm)


# ---- filters without recursion --------------------------------------------------------------


@composed(signal.firwin, value="own")
def firwin(numtaps, cutoff, *, width=None, window="hamming", pass_zero=True, scale=True, fs=None):
    """The ideal filter between each pair of cutoffs, cut off by a window."""
    refuse_traced(signal.firwin, width=width, fs=fs)
    half_rate = 1.0 if fs is None else fs / 2
    cutoff = vector(cutoff) / half_rate
    if width is not None:
        attenuation = signal.kaiser_atten(numtaps, float(width) / half_rate)
        window = ("kaiser", signal.kaiser_beta(attenuation))
    count = np.shape(cutoff)[0]
    if isinstance(pass_zero, str):
        pass_zero = pass_zero in ("bandstop", "lowpass")
    edges = [cutoff[k] for k in range(count)]
    edges = [0.0] * bool(pass_zero) + edges
    edges = edges + [1.0] * (len(edges) % 2)
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    h = 0.0
    for left, right in zip(edges[::2], edges[1::2]):
        h = h + right * np.sinc(right * m) - left * np.sinc(left * m)
    h = h * signal.get_window(window, numtaps, fftbins=False)
    if scale:
        left, right = edges[:2]
        middle = 0.5 * (left + right)
        middle = 0.0 if value(left) == 0 else 1.0 if value(right) == 1 else middle
        h = h / np.sum(h * np.cos(np.pi * m * middle))
    return h


@composed(signal.firwin2, value="own")
def firwin2(numtaps, freq, gain, *, nfreqs=None, window="hamming", antisymmetric=False, fs=None):
    """The gains between the given ones, as a filter with linear phase, cut off by a window."""
    refuse_traced(signal.firwin2, freq=freq, fs=fs)
    freq, gain = np.asarray(freq, float), array(gain)
    if np.any(np.diff(freq) == 0):
        raise MissingRuleError("scipy.signal.firwin2 has no rule for a gain that jumps"
                               f", in {user_line()}.\n"
                               "  write two frequencies that are a little apart")  # fmt: skip
    nfreqs = 1 + 2 ** math.ceil(math.log2(numtaps)) if nfreqs is None else nfreqs
    x = np.linspace(0.0, freq[-1], nfreqs)
    turn = np.exp(-(numtaps - 1) / 2 * 1j * np.pi * x / freq[-1]) * (1j if antisymmetric else 1)
    h = irfft(np.interp(x, freq, gain) * turn)[:numtaps]
    if window is not None:
        h = h * signal.get_window(window, numtaps, fftbins=False)
    if antisymmetric and numtaps % 2:
        h = h * (np.arange(numtaps) != numtaps // 2)
    return h


@composed(signal.minimum_phase, value="own")
def minimum_phase(h, method="homomorphic", n_fft=None, *, half=True, own):
    """The cepstrum, folded onto positive times. Source: Oppenheim, Schafer (2009), 13.5."""
    if method != "homomorphic":
        raise MissingRuleError("scipy.signal.minimum_phase has a rule for method='homomorphic'"
                               f", in {user_line()}.\n"
                               "  write method='homomorphic'")  # fmt: skip
    count = np.shape(h)[0]
    n = 2 ** math.ceil(math.log2(2 * (count - 1) / 0.01)) if n_fft is None else int(n_fft)
    size = np.abs(fft_(array(h), n))
    size = size + 1e-7 * np.min(np.where(size > 0, size, np.inf))
    cepstrum = np.real(ifft_(np.log(size))) * (0.5 if half else 1.0)
    fold = np.where(np.arange(n) < n // 2, 2.0, 0.0)
    fold[0] = 1.0
    if n % 2:
        fold[n // 2] = 1.0
    y = np.real(ifft_(np.exp(fft_(cepstrum * fold))))
    return y[: np.shape(own)[0]]


def kaiser_shape(a):
    """Source: Oppenheim, Schafer (2009), 7.62."""
    if value(a) > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if value(a) > 21 else 0.0 * a


composed(signal.kaiser_beta, value="own")(kaiser_shape)


@composed(signal.kaiser_atten, value="own")
def kaiser_atten(numtaps, width):
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


# ---- one frequency --------------------------------------------------------------------------


@composed_each({signal.iirnotch: False, signal.iirpeak: True}, value="own")
def filter_at(peak, w0, Q, fs=2.0, **options):
    """Source: Orfanidis (1996), introduction to signal processing, 11.3."""
    w0 = 2 * np.pi * array(w0) / fs
    gain = 1 / (1 + np.tan(w0 / Q / 2))
    cosine, one = np.cos(w0), np.ones(())
    b = [1 - gain, 0 * gain, gain - 1] if peak else [gain, -2 * gain * cosine, gain]
    a = [one, -2 * gain * cosine, 2 * gain - 1]
    return np.stack(b), np.stack(a)


# ---- spirals --------------------------------------------------------------------------------


@primitive
def on_spiral(x, m, w, a):
    """The sums of ``x[n] (a w**-k)**-n`` for each k below ``m``, along the last axis."""
    return signal.czt(x, m, w, a)


@linear_rule(on_spiral)
def on_spiral_transpose(ybar, space, m=None, w=None, a=1.0):
    """The sums of ``ybar[k] conj(w)**(n k)`` are such sums again."""
    n = space.shape[-1]
    w = np.exp(-2j * np.pi / m) if w is None else w + 0j
    return on_spiral(ybar, n, np.conj(w), 1.0) * np.conj(a + 0j) ** -np.arange(n)


@composed(signal.czt)
def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1):
    refuse_traced(signal.czt, w=w, a=a)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    return np.moveaxis(on_spiral(x, m, w, a), -1, axis)


@composed(signal.zoom_fft, value="own")
def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    refuse_traced(signal.zoom_fft, fn=fn, fs=fs)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    first, last = (0.0, fn) if np.size(fn) == 1 else fn
    step = (last - first) / (m - 1 if endpoint else m)
    w, a = np.exp(-2j * np.pi * step / fs), np.exp(2j * np.pi * first / fs)
    return np.moveaxis(on_spiral(x, m, w, a), -1, axis)


@composed(signal.czt_points, value="own")
def czt_points(m, w=None, a=1 + 0j):
    w = np.exp(-2j * np.pi / m) if w is None else w
    return a * (w + 0j) ** -np.arange(m)


# ---- waveforms ------------------------------------------------------------------------------


@composed(signal.chirp, value="own")
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, **options):
    t = array(t)
    if method in ("linear", "lin", "li"):
        turns = f0 * t + 0.5 * ((f1 - f0) / t1) * t * t
    elif method in ("quadratic", "quad", "q"):
        rate = (f1 - f0) / t1**2
        turns = f0 * t + rate * t**3 / 3
        if not vertex_zero:
            turns = f1 * t + rate * ((t1 - t) ** 3 - t1**3) / 3
    elif value(f0) == value(f1):
        refuse_traced(signal.chirp, f0=f0, f1=f1)
        turns = f0 * t
    elif method in ("logarithmic", "log", "lo"):
        turns = t1 / np.log(f1 / f0) * f0 * ((f1 / f0) ** (t / t1) - 1.0)
    else:
        pole = -f1 * t1 / (f0 - f1)
        turns = -pole * f0 * np.log(np.abs(1 - t / pole))
    phase = 2 * np.pi * turns + np.pi / 180 * phi
    turning = options.get("complex", False)
    return np.exp(1j * phase) if turning else np.cos(phase)


@composed(signal.gausspulse, value="own")
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    decay = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    if isinstance(t, str):
        return np.sqrt(-np.log(10.0 ** (tpr / 20.0)) / decay)
    t = array(t)
    envelope = np.exp(-decay * t * t)
    waves = [envelope * np.cos(2 * np.pi * fc * t)]
    waves += [envelope * np.sin(2 * np.pi * fc * t)] * retquad + [envelope] * retenv
    return tuple(waves) if len(waves) > 1 else waves[0]


@composed(signal.sweep_poly, value="own")
def sweep_poly(t, poly, phi=0):
    refuse_traced(signal.sweep_poly, poly=poly if isinstance(poly, np.poly1d) else None)
    poly = poly.coeffs if isinstance(poly, np.poly1d) else vector(poly)
    turns = np.polyval(np.polyint(poly), array(t))
    return np.cos(2 * np.pi * turns + phi * (np.pi / 180))


@composed(signal.gauss_spline, value="own")
def gauss_spline(x, n):
    variance = (n + 1) / 12.0
    return np.exp(-(array(x) ** 2) / 2 / variance) / math.sqrt(2 * math.pi * variance)


@composed(signal.sawtooth, value="own")
def sawtooth(t, width=1):
    t, width = array(t), array(width)
    place = np.mod(t, 2 * np.pi)
    rises = value(place) < 2 * np.pi * value(width)
    up = place / (np.pi * np.where(rises, width, 1.0)) - 1
    down = (np.pi * (width + 1) - place) / (np.pi * (1 - np.where(rises, 0.0, width)))
    return np.where(rises, up, down)


@composed(signal.vectorstrength, value="own")
def vectorstrength(events, period):
    turns = vector(events) / vector(period)[:, None]
    mean = np.mean(np.exp(2j * np.pi * turns), axis=1)
    strength, phase = np.abs(mean), np.angle(mean)
    if np.ndim(period) == 0:
        strength, phase = strength[0], phase[0]
    return strength, phase
