"""Filters that follow their cutoff frequencies, and waveforms that follow time."""

# ruff: noqa: N803 - the names of SciPy's arguments

import numpy as np
from scipy import signal

from .....config import MissingRuleError
from .... import composed, getitem, value
from ...arrays.numpys_own import with_values
from ..fft import fft_
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


def moved_prototype(own, n, wn, btype, analog, ftype, output, fs, rp=None, rs=None, norm="phase"):
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
        return with_values(zpk2sos(z, p, k, analog=analog), own)
    return with_values((z, p, k) if output == "zpk" else zpk2tf(z, p, k), own)


@composed(signal.iirfilter)
def iirfilter(N, Wn, rp=None, rs=None, btype="band", analog=False, ftype="butter", output="ba",
              fs=None):  # fmt: skip
    refuse_traced(signal.iirfilter, rp=rp, rs=rs, fs=fs)
    own = signal.iirfilter(N, value(Wn), rp, rs, btype, analog, ftype, output, fs)
    norm = ftype.partition("_")[2] or "phase"
    return moved_prototype(own, N, Wn, btype, analog, ftype.partition("_")[0], output, fs, rp, rs,
                           norm)  # fmt: skip


@composed(signal.butter)
def butter(N, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.butter, fs=fs)
    own = signal.butter(N, value(Wn), btype, analog, output, fs)
    return moved_prototype(own, N, Wn, btype, analog, "butter", output, fs)


@composed(signal.cheby1)
def cheby1(N, rp, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.cheby1, rp=rp, fs=fs)
    own = signal.cheby1(N, rp, value(Wn), btype, analog, output, fs)
    return moved_prototype(own, N, Wn, btype, analog, "cheby1", output, fs, rp)


@composed(signal.cheby2)
def cheby2(N, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.cheby2, rs=rs, fs=fs)
    own = signal.cheby2(N, rs, value(Wn), btype, analog, output, fs)
    return moved_prototype(own, N, Wn, btype, analog, "cheby2", output, fs, rs=rs)


@composed(signal.ellip)
def ellip(N, rp, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    refuse_traced(signal.ellip, rp=rp, rs=rs, fs=fs)
    own = signal.ellip(N, rp, rs, value(Wn), btype, analog, output, fs)
    return moved_prototype(own, N, Wn, btype, analog, "ellip", output, fs, rp, rs)


@composed(signal.bessel)
def bessel(N, Wn, btype="low", analog=False, output="ba", norm="phase", fs=None):
    refuse_traced(signal.bessel, fs=fs)
    own = signal.bessel(N, value(Wn), btype, analog, output, norm, fs)
    return moved_prototype(own, N, Wn, btype, analog, "bessel", output, fs, norm=norm)


# ---- filters without recursion --------------------------------------------------------------


@composed(signal.firwin)
def firwin(numtaps, cutoff, *, width=None, window="hamming", pass_zero=True, scale=True, fs=None):
    """The ideal filter between each pair of cutoffs, cut off by a window."""
    refuse_traced(signal.firwin, width=width, fs=fs)
    own = signal.firwin(numtaps, value(cutoff), width=width, window=window, pass_zero=pass_zero,
                        scale=scale, fs=fs)  # fmt: skip
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
    return with_values(h, own)


# ---- spirals --------------------------------------------------------------------------------


def on_spiral(x, m, w, a):
    """The sums of ``x[n] (a w**-k)**-n``, by a convolution.

    From ``n k = (n**2 + k**2 - (k - n)**2) / 2``. Source: Bluestein (1970).
    """
    n = np.shape(x)[-1]
    k = np.arange(max(m, n))
    chirp = np.exp(np.log(w + 0j) * (k**2 / 2))
    size = n + m - 1
    kernel = fft_(np.concatenate([1 / chirp[n - 1 : 0 : -1], 1 / chirp[:m]]), size)
    y = ifft_(kernel * fft_(x * chirp[:n] * (a + 0j) ** -k[:n], size))
    return y[..., n - 1 : n + m - 1] * chirp[:m]


@composed(signal.czt)
def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1):
    refuse_traced(signal.czt, w=w, a=a)
    own = signal.czt(value(x), m, w, a, axis=axis)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    w = np.exp(-2j * np.pi / m) if w is None else w
    return with_values(np.moveaxis(on_spiral(x, m, w, a), -1, axis), own)


@composed(signal.zoom_fft)
def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    refuse_traced(signal.zoom_fft, fn=fn, fs=fs)
    own = signal.zoom_fft(value(x), fn, m, fs=fs, endpoint=endpoint, axis=axis)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    first, last = (0.0, fn) if np.size(fn) == 1 else fn
    step = (last - first) / (m - 1 if endpoint else m)
    w, a = np.exp(-2j * np.pi * step / fs), np.exp(2j * np.pi * first / fs)
    return with_values(np.moveaxis(on_spiral(x, m, w, a), -1, axis), own)


# ---- waveforms ------------------------------------------------------------------------------


@composed(signal.chirp)
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, **options):
    own = signal.chirp(*value((t, f0, t1, f1)), method, value(phi), vertex_zero, **options)
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
    return with_values(np.exp(1j * phase) if np.iscomplexobj(own) else np.cos(phase), own)


@composed(signal.gausspulse)
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    own = signal.gausspulse(*value((t, fc, bw, bwr, tpr)), retquad, retenv)
    decay = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    if isinstance(t, str):
        return with_values(np.sqrt(-np.log(10.0 ** (tpr / 20.0)) / decay), own)
    t = array(t)
    envelope = np.exp(-decay * t * t)
    waves = [envelope * np.cos(2 * np.pi * fc * t)]
    waves += [envelope * np.sin(2 * np.pi * fc * t)] * retquad + [envelope] * retenv
    return with_values(tuple(waves) if len(waves) > 1 else waves[0], own)


@composed(signal.sweep_poly)
def sweep_poly(t, poly, phi=0):
    refuse_traced(signal.sweep_poly, poly=poly if isinstance(poly, np.poly1d) else None)
    own = signal.sweep_poly(*value((t, poly, phi)))
    poly = poly.coeffs if isinstance(poly, np.poly1d) else vector(poly)
    turns = np.polyval(np.polyint(poly), array(t))
    return with_values(np.cos(2 * np.pi * turns + phi * (np.pi / 180)), own)


@composed(signal.sawtooth)
def sawtooth(t, width=1):
    own = signal.sawtooth(*value((t, width)))
    t, width = array(t), array(width)
    place = np.mod(t, 2 * np.pi)
    rises = value(place) < 2 * np.pi * value(width)
    up = place / (np.pi * np.where(rises, width, 1.0)) - 1
    down = (np.pi * (width + 1) - place) / (np.pi * (1 - np.where(rises, 0.0, width)))
    return with_values(np.where(rises, up, down), own)


@composed(signal.vectorstrength)
def vectorstrength(events, period):
    own = signal.vectorstrength(*value((events, period)))
    turns = vector(events) / vector(period)[:, None]
    mean = np.mean(np.exp(2j * np.pi * turns), axis=1)
    strength, phase = np.abs(mean), np.angle(mean)
    if np.ndim(period) == 0:
        strength, phase = strength[0], phase[0]
    return with_values((strength, phase), own)


# ---- peaks ----------------------------------------------------------------------------------


def over_bases(x, peaks, left, right):
    return getitem(x, peaks) - np.maximum(getitem(x, left), getitem(x, right))


@composed(signal.peak_prominences)
def peak_prominences(x, peaks, wlen=None):
    own = signal.peak_prominences(value(x), peaks, wlen)
    return with_values(over_bases(array(x), np.asarray(peaks), *own[1:]), own[0]), *own[1:]


@composed(signal.find_peaks)
def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None,
               wlen=None, rel_height=0.5, plateau_size=None):  # fmt: skip
    """Where peaks are does not move with their heights, which are told with them if asked for."""
    options = value((height, threshold, distance, prominence, width, wlen, rel_height,
                     plateau_size))  # fmt: skip
    peaks, told = signal.find_peaks(value(x), *options)
    if width is not None:
        raise MissingRuleError(
            "scipy.signal.find_peaks has no derivative of the widths of peaks.\n"
            "  leave width out, or look for peaks in cr.value(x)"
        )
    x = array(x)
    if "peak_heights" in told:
        told["peak_heights"] = with_values(getitem(x, peaks), told["peak_heights"])
    for name, beside in (("left_thresholds", peaks - 1), ("right_thresholds", peaks + 1)):
        if name in told:
            told[name] = with_values(getitem(x, peaks) - getitem(x, beside), told[name])
    if "prominences" in told:
        bases = told["left_bases"], told["right_bases"]
        told["prominences"] = with_values(over_bases(x, peaks, *bases), told["prominences"])
    return peaks, told
