"""Resampling by polyphase filters and Fourier transforms, decimation, and smoothing in windows."""

import math

import numpy as np
from scipy import ndimage, signal

from .....config import MissingRuleError, user_line
from .... import bilinear_rule, composed, composed_each, is_traced, primitive, seen, value
from ...arrays.products import conj
from .. import ndimage as rules_of_ndimage  # noqa: F401 - loads them
from ..fft import fft_, irfft, rfft
from ..fft import ifft as ifft_
from .filters import along_last, array, lags, padded, sosfilt, sosfiltfilt
from .responses import refuse_traced

# ---- up, filter, down -----------------------------------------------------------------------


@primitive
def polyphase(h, x, up, down):
    """``y[k] = sum_m x[m] h[k down - m up]``, along the last axis."""
    return signal.upfirdn(h, x, up, down)


def spaced(x, step):
    """``x`` with zeros between its entries."""
    y = np.expand_dims(x, -1)
    y = np.pad(y, [(0, 0)] * np.ndim(x) + [(0, step - 1)])
    return np.reshape(y, (*np.shape(x)[:-1], np.shape(x)[-1] * step))


def signal_pull(ybar, h, x, up, down):
    """The filter turned round, with as many zeros before it as make its delay whole."""
    n = np.shape(h)[0]
    first = -(n - 1) % up
    turned = np.concatenate([np.zeros(first), conj(np.flip(h))])
    delay = (n - 1 + first) // up
    xbar = polyphase(turned, ybar, down, up)
    return padded(xbar[..., delay:], np.shape(x)[-1])


def filter_pull(ybar, h, x, up, down):
    y, x = spaced(ybar, down), spaced(x, up)
    length = max(np.shape(y)[-1], np.shape(x)[-1])
    return lags(padded(y, length), padded(x, length), np.shape(h)[0], -1)


bilinear_rule(polyphase, filter_pull, signal_pull)


@composed(signal.upfirdn, value="own")
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or is_traced(cval) or (cval != 0 and is_traced(h)):
        raise MissingRuleError(
            "scipy.signal.upfirdn has a derivative for zeros beyond the borders alone"
            f", in {user_line()}.\n"
            "  extend x by np.pad, and leave mode and cval out"
        )
    y = polyphase(array(h), along_last(array(x), axis), int(up), int(down))
    return np.moveaxis(y, -1, axis)


BACKGROUNDS = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}


@composed(signal.resample_poly, value="own")
def resample_poly(
    x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None, *, own
):
    if padtype not in (*BACKGROUNDS, "constant") or is_traced(cval):
        raise MissingRuleError(
            "scipy.signal.resample_poly has a derivative for padtype 'constant', 'mean', "
            "'median', 'minimum' and 'maximum', and a constant cval"
            f", in {user_line()}.\n  use one of them"
        )
    x = along_last(array(x), axis)
    common = math.gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    if up == down == 1:
        return np.moveaxis(x * 1, -1, axis)
    half = 10 * max(up, down)
    if isinstance(window, str | tuple):
        h = up * seen(signal.firwin)(2 * half + 1, 1.0 / max(up, down), window=window)
    else:
        h = up * array(window)
        half = (np.shape(h)[0] - 1) // 2
    before = down - half % down
    first = (half + before) // down
    count = own.shape[axis]
    h = np.concatenate([np.zeros(before), h])
    # As many zeros after it that the filter is still there for the last number.
    h = padded(h, max(np.shape(h)[0], (first + count) * down - (np.shape(x)[-1] - 1) * up))
    ground = 0.0
    if padtype in BACKGROUNDS:
        ground = BACKGROUNDS[padtype](x, axis=-1, keepdims=True)
    y = polyphase(h, x - ground, up, down)[..., first : first + count] + ground
    return np.moveaxis(y, -1, axis)


@composed(signal.decimate, value="own")
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True, *, own):
    if ftype not in ("iir", "fir"):
        raise MissingRuleError(
            f"scipy.signal.decimate has a derivative for ftype='iir' and 'fir', in {user_line()}.\n"
            "  write signal.filtfilt or signal.lfilter with the filter, and take each q-th entry"
        )
    x = array(x)
    if ftype == "fir":
        h = signal.firwin((20 * q if n is None else n) + 1, 1.0 / q, window="hamming")
        if zero_phase:
            return resample_poly(x, 1, q, axis, h)
        y = polyphase(h, along_last(x, axis), 1, q)[..., : own.shape[axis]]
        return np.moveaxis(y, -1, axis)
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
    y = along_last((sosfiltfilt if zero_phase else sosfilt)(sos, x, axis), axis)[..., ::q]
    return np.moveaxis(y, -1, axis)


# ---- other numbers of frequencies -----------------------------------------------------------


def spectral_window(window, n):
    if window is None:
        return np.ones(n)
    if callable(window):
        return window(np.fft.fftfreq(n))
    if isinstance(window, str | tuple) or np.ndim(value(window)) == 0:
        refuse_traced(signal.resample, window=window)
        # As SciPy applies it: its versions differ in how they shift a window of odd length.
        impulse = np.eye(1, n)[0] + 0j
        return np.fft.fft(signal.resample(impulse, n, window=window)).real
    return array(window)


def other_frequencies(spectrum, num):
    """Leave out or add frequencies in the middle; the one in the middle stands for two."""
    n = np.shape(spectrum)[-1]
    m = min(n, num)
    low = spectrum[..., : m // 2 + 1]
    high = spectrum[..., n - (m - m // 2 - 1) :] if m - m // 2 - 1 else spectrum[..., :0]
    if m % 2 == 0 and n != num:
        middle = low[..., -1:]
        if num < n:
            middle = middle + spectrum[..., n - m // 2 : n - m // 2 + 1]
        else:
            middle = middle / 2
            high = np.concatenate([middle, high], axis=-1)
        low = np.concatenate([low[..., :-1], middle], axis=-1)
    gap = np.zeros((*np.shape(spectrum)[:-1], num - np.shape(low)[-1] - np.shape(high)[-1]))
    return np.concatenate([low, gap, high], axis=-1)


@composed(signal.resample, value="own")
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    x = array(x)
    axis = axis if np.ndim(x) > 1 else -1
    x = along_last(x, axis)
    n = np.shape(x)[-1]
    weights = spectral_window(window, n)
    if domain == "time" and not np.iscomplexobj(x):
        half = np.shape(rfft(value(x)))[-1]
        back = np.concatenate([weights[:1], np.flip(weights[1:])])
        m = min(n, num)
        scale = np.ones(m // 2 + 1)
        if m % 2 == 0 and n != num:
            scale[-1] = 2 if num < n else 0.5
        spectrum = (rfft(x) * ((weights + back) / 2)[:half])[..., : m // 2 + 1]
        y = irfft(spectrum * scale * (num / n), num)
    else:
        spectrum = fft_(x) if domain == "time" else x
        y = ifft_(other_frequencies(spectrum * weights, num) * (num / n))
    y = np.moveaxis(y, -1, axis)
    if t is None:
        return y
    return y, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


# ---- local polynomials ----------------------------------------------------------------------

convolve1d = seen(ndimage.convolve1d)


@composed(signal.savgol_filter, value="own")
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp",
                  cval=0.0):  # fmt: skip
    options = window_length, polyorder, deriv, delta
    kernel = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    if mode != "interp":
        return convolve1d(x, kernel, axis, None, mode, cval)
    x = along_last(array(x), axis)
    half = window_length // 2
    # At the ends, what the filter makes of a window alone: the same numbers for each signal.
    ends = signal.savgol_filter(np.eye(window_length), *options, 0)
    inner = convolve1d(x, kernel, -1, None, "constant")[..., half : np.shape(x)[-1] - half]
    y = [x[..., :window_length] @ ends[:half].T, inner,
         x[..., np.shape(x)[-1] - window_length :] @ ends[window_length - half :].T]  # fmt: skip
    return np.moveaxis(np.concatenate(y, axis=-1), -1, axis)


# ---- filters by rank ------------------------------------------------------------------------

rank_filter = seen(ndimage.rank_filter)


@composed(signal.order_filter, value="own")
def order_filter(a, domain, rank):
    y = rank_filter(a, rank, footprint=np.asarray(domain), mode="constant")
    return y


@composed_each({signal.medfilt: None, signal.medfilt2d: 3}, value="own")
def median(default, volume, kernel_size=None):
    kernel_size = default if kernel_size is None else kernel_size
    sizes = np.broadcast_to(3 if kernel_size is None else kernel_size, np.ndim(volume))
    size = tuple(int(n) for n in sizes)
    return rank_filter(volume, math.prod(size) // 2, size, mode="constant")


@composed(signal.wiener, value="own")
def wiener(im, mysize=None, noise=None):
    im = array(im)
    sizes = [3] * np.ndim(im) if mysize is None else np.broadcast_to(mysize, np.ndim(im)).tolist()
    correlate = seen(signal.correlate)
    ones = np.ones(sizes) / math.prod(sizes)
    mean = correlate(im, ones, "same")
    variance = correlate(im**2, ones, "same") - mean**2
    noise = np.mean(variance) if noise is None else noise
    moved = mean + (im - mean) * (1 - noise / variance)
    return np.where(variance < noise, mean, moved)
