"""Designs of filters and waveforms, most of them by SciPy's own source, and chirp-z transforms."""

import numpy as np
from scipy import signal

from .... import by_source, composed, is_traced, linear_rule, primitive, source_of, value
from .filters import along_last, array
from .responses import refuse_traced

by_source(signal, """
    bessel butter cheby1 cheby2 ellip firls firwin firwin2 firwin_2d gammatone iircomb iirdesign
    iirfilter iirnotch iirpeak minimum_phase savgol_coeffs
    cheb1ap cheb2ap ellipap
    band_stop_obj buttord cheb1ord cheb2ord ellipord kaiser_atten kaiser_beta kaiserord
    czt_points gauss_spline gausspulse sweep_poly vectorstrength
""")  # fmt: skip

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
    if is_traced((w, a)):
        return source_of(signal.czt)(x, m, w, a, axis=axis)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    return np.moveaxis(on_spiral(x, m, w, a), -1, axis)


@composed(signal.zoom_fft, value="own")
def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    if is_traced((fn, fs)):
        return source_of(signal.zoom_fft)(x, fn, m, fs=fs, endpoint=endpoint, axis=axis)
    x = along_last(array(x), axis)
    m = np.shape(x)[-1] if m is None else m
    first, last = (0.0, fn) if np.size(fn) == 1 else fn
    step = (last - first) / (m - 1 if endpoint else m)
    w, a = np.exp(-2j * np.pi * step / fs), np.exp(2j * np.pi * first / fs)
    return np.moveaxis(on_spiral(x, m, w, a), -1, axis)


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


@composed(signal.sawtooth, value="own")
def sawtooth(t, width=1):
    t, width = array(t), array(width)
    place = np.mod(t, 2 * np.pi)
    rises = value(place) < 2 * np.pi * value(width)
    up = place / (np.pi * np.where(rises, width, 1.0)) - 1
    down = (np.pi * (width + 1) - place) / (np.pi * (1 - np.where(rises, 0.0, width)))
    return np.where(rises, up, down)
