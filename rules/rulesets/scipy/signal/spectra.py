"""Spectra of segments of a signal: cut, detrended, weighted by a window, and transformed."""

# ruff: noqa: N803 - the names of SciPy's arguments

import numpy as np
from scipy import signal
from scipy.fft import fftfreq, rfftfreq

from .....config import MissingRuleError
from .... import composed, linear_rule, primitive, seen, value
from ...arrays.products import conj
from ..fft import fft_, irfft, rfft
from ..fft import ifft as ifft_
from ..followed import linear_pair
from .filters import along_last, array, extended

# ---- trends ---------------------------------------------------------------------------------


def kept_as_it_is(x, overwrite_data=False, **options):
    return options


def detrend_adjoint(ybar, space, axis=-1, type="linear", bp=0, overwrite_data=False):
    """To take off the nearest trend is an orthogonal projection, and so symmetric."""
    return signal.detrend(ybar, axis, type, bp)


detrended = linear_pair(signal.detrend, detrend_adjoint, adapt=kept_as_it_is, axis=-1)

# ---- analytic signals -----------------------------------------------------------------------


def analytic_adjoint(ybar, space, hilbert, axes):
    """Half of a spectrum is left out, which is symmetric; but for the padding."""
    x = hilbert(ybar.real) + 1j * hilbert(ybar.imag)
    y = np.zeros(space.shape)
    part = [slice(None)] * x.ndim
    for axis in axes:
        part[axis] = slice(min(x.shape[axis], space.shape[axis]))
    y[tuple(part)] = x[tuple(part)].real
    return y


def hilbert_adjoint(ybar, space, N=None, axis=-1):
    return analytic_adjoint(ybar, space, lambda x: signal.hilbert(x, axis=axis), (axis,))


def hilbert2_adjoint(ybar, space, N=None, axes=(-2, -1)):
    # In older versions of SciPy there are the last two axes alone.
    def hilbert2(x):
        return np.moveaxis(signal.hilbert2(np.moveaxis(x, axes, (-2, -1))), (-2, -1), axes)

    return analytic_adjoint(ybar, space, hilbert2, axes)


linear_pair(signal.hilbert, hilbert_adjoint, axis=-1)
linear_pair(signal.hilbert2, hilbert2_adjoint)

# ---- pieces ---------------------------------------------------------------------------------


@primitive
def pieces(x, size, step):
    """Pieces of the last axis, in a new axis before it; without what is left over."""
    return np.lib.stride_tricks.sliding_window_view(x, size, -1)[..., ::step, :].copy()


@primitive
def overlapped(x, step, length):
    """Add pieces up, each ``step`` after the one before."""
    count, size = x.shape[-2:]
    y = np.zeros((*x.shape[:-2], length), x.dtype)
    for k in range(count):
        y[..., k * step : k * step + size] += x[..., k, :]
    return y


@linear_rule(pieces)
def pieces_transpose(ybar, space, size=None, step=None):
    return overlapped(ybar, step, space.shape[-1])


@linear_rule(overlapped)
def overlapped_transpose(xbar, space, step=None, length=None):
    return pieces(xbar, space.shape[-1], step)[..., : space.shape[-2], :]


def window_of(window, nperseg, n):
    """The window as an array, and the length of a piece."""
    if not isinstance(window, str | tuple):
        window = array(window)
        return window, np.shape(window)[0]
    nperseg = min(256 if nperseg is None else int(nperseg), n)
    return seen(signal.get_window)(window, nperseg), nperseg


def transformed_pieces(x, window, size, noverlap, nfft, detrend, onesided):
    """The spectra of the pieces of the last axis. Shapes: (..., pieces, frequencies)."""
    if callable(detrend):
        raise MissingRuleError(
            "spectra with a detrend function of yours have no rule.\n"
            "  give detrend='constant', 'linear' or False, or take the trend off before"
        )
    parts = pieces(x, size, size - noverlap)
    if detrend:
        parts = detrended(parts, -1, type=detrend)
    parts = window * parts
    return rfft(parts, nfft) if onesided else fft_(parts, nfft)


def frequencies(nfft, fs, onesided):
    return fs * (rfftfreq if onesided else fftfreq)(nfft)


def power_scale(window, fs, scaling):
    if scaling == "density":
        return 1 / (fs * np.sum(window * window))
    return 1 / np.sum(window) ** 2


def doubled(power, nfft):
    """Count each frequency but the first, and the middle one, for its negative too."""
    counts = np.full(np.shape(power)[-1], 2.0)
    counts[0] = 1
    if nfft % 2 == 0:
        counts[-1] = 1
    return power * counts


def median_bias(n):
    """The median of n exponential variables, relative to their mean."""
    twice = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return 1 + np.sum(1.0 / (twice + 1) - 1.0 / twice)


def cross_powers(x, y, options):
    """The products of the spectra of the pieces of two signals: (..., pieces, frequencies)."""
    window, size, noverlap, nfft, detrend, onesided, fs, scaling = options
    left = transformed_pieces(x, window, size, noverlap, nfft, detrend, onesided)
    right = left
    if y is not x:
        right = transformed_pieces(y, window, size, noverlap, nfft, detrend, onesided)
    power = conj(left) * right * power_scale(window, fs, scaling)
    return doubled(power, nfft) if onesided else power


def as_long(x, n):
    missing = n - np.shape(x)[-1]
    return np.pad(x, [(0, 0)] * (np.ndim(x) - 1) + [(0, missing)]) if missing else x


def cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
                   axis, average):  # fmt: skip
    same = y is x
    x, y = along_last(array(x), axis), along_last(array(y), axis)
    n = max(np.shape(x)[-1], np.shape(y)[-1])
    x, y = as_long(x, n), as_long(y, n)
    window, size = window_of(window, nperseg, n)
    noverlap = size // 2 if noverlap is None else int(noverlap)
    nfft = size if nfft is None else int(nfft)
    onesided = return_onesided and not np.iscomplexobj(x) and not np.iscomplexobj(y)
    options = window, size, noverlap, nfft, detrend, onesided, fs, scaling
    power = cross_powers(x, x if same else y, options)
    count = np.shape(power)[-2]
    if count == 1:
        power = power[..., 0, :]
    elif average == "median":
        real, imag = np.median(np.real(power), -2), np.median(np.imag(power), -2)
        power = (real if same else real + 1j * imag) / median_bias(count)
    else:
        power = np.mean(power, -2)
    return frequencies(nfft, fs, onesided), np.moveaxis(power, -1, axis)


@composed(signal.csd, value="own")
def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
        return_onesided=True, scaling="density", axis=-1, average="mean"):  # fmt: skip
    return cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
                          scaling, axis, average)  # fmt: skip


@composed(signal.welch, value="own")
def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
          return_onesided=True, scaling="density", axis=-1, average="mean"):  # fmt: skip
    f, power = cross_spectrum(x, x, fs, window, nperseg, noverlap, nfft, detrend,
                              return_onesided, scaling, axis, average)  # fmt: skip
    return f, np.real(power)


@composed(signal.periodogram, value="own")
def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True,
                scaling="density", axis=-1):  # fmt: skip
    x = along_last(array(x), axis)
    size = np.shape(x)[-1]
    if nfft is not None and nfft < size:
        x, size = x[..., :nfft], nfft
    window = "boxcar" if window is None else window
    f, power = cross_spectrum(x, x, fs, window, size, 0, nfft, detrend, return_onesided, scaling,
                              -1, "mean")  # fmt: skip
    return f, np.moveaxis(np.real(power), -1, axis)


@composed(signal.coherence, value="own")
def coherence(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None,
              detrend="constant", axis=-1):  # fmt: skip
    options = fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis, "mean"
    f, left = cross_spectrum(x, x, *options)
    _, right = cross_spectrum(y, y, *options)
    _, both = cross_spectrum(x, y, *options)
    found = np.real(both * conj(both)) / np.real(left) / np.real(right)
    return f, found


def times(n, size, step, fs):
    return np.arange(size / 2, n - size / 2 + 1, step) / fs


def complex_pieces(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
                   boundary=None, padded=False):  # fmt: skip
    """Return frequencies, times and spectra as ``stft`` does, whose squares are scaled powers."""
    x = along_last(array(x), axis)
    window, size = window_of(window, nperseg, np.shape(x)[-1])
    noverlap = size // 2 if noverlap is None else int(noverlap)
    nfft = size if nfft is None else int(nfft)
    step = size - noverlap
    if boundary == "zeros":
        x = np.pad(x, [(0, 0)] * (np.ndim(x) - 1) + [(size // 2, size // 2)])
    elif boundary is not None:
        x = extended(x, size // 2, boundary)
    if padded:
        x = as_long(x, np.shape(x)[-1] + -(np.shape(x)[-1] - size) % step % size)
    onesided = return_onesided and not np.iscomplexobj(x)
    spectra = transformed_pieces(x, window, size, noverlap, nfft, detrend, onesided)
    spectra = spectra * np.sqrt(power_scale(window, fs, scaling))
    t = times(np.shape(x)[-1], size, step, fs)
    t = t if boundary is None else t - size / 2 / fs
    return frequencies(nfft, fs, onesided), t, spectra, nfft if onesided else None


def with_times_last(spectra, axis):
    return np.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis)


@composed(signal.stft, value="own")
def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False,
         return_onesided=True, boundary="zeros", padded=True, axis=-1,
         scaling="spectrum"):  # fmt: skip
    scaling = "density" if scaling == "psd" else scaling
    f, t, spectra, _ = complex_pieces(x, fs, window, nperseg, noverlap, nfft, detrend,
                                      return_onesided, scaling, axis, boundary,
                                      padded)  # fmt: skip
    return f, t, with_times_last(spectra, axis)


@composed(signal.spectrogram, value="own")
def spectrogram(x, fs=1.0, window=("tukey", 0.25), nperseg=None, noverlap=None, nfft=None,
                detrend="constant", return_onesided=True, scaling="density", axis=-1,
                mode="psd"):  # fmt: skip
    window, size = window_of(window, nperseg, np.shape(x)[axis])
    noverlap = size // 8 if noverlap is None else noverlap
    f, t, spectra, nfft = complex_pieces(x, fs, window, None, noverlap, nfft, detrend,
                                         return_onesided, scaling, axis)  # fmt: skip
    if mode == "psd":
        spectra = np.real(spectra * conj(spectra))
        spectra = spectra if nfft is None else doubled(spectra, nfft)
    elif mode == "magnitude":
        spectra = np.abs(spectra)
    elif mode != "complex":
        spectra = np.angle(spectra)
    spectra = with_times_last(spectra, axis)
    if mode == "phase":
        spectra = np.unwrap(spectra, axis=axis - 1 if axis < 0 else axis)
    return f, t, spectra


@composed(signal.istft, value="own")
def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True,
          boundary=True, time_axis=-1, freq_axis=-2, scaling="spectrum", *, own):  # fmt: skip
    ndim = np.ndim(Zxx)
    time_axis, freq_axis = time_axis % ndim, freq_axis % ndim
    spectra = np.moveaxis(array(Zxx), (time_axis, freq_axis), (-2, -1))
    whole = np.shape(spectra)[-1]
    whole = 2 * (whole - 1) if input_onesided else whole
    size = whole if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = size if input_onesided and size == whole + 1 else whole
    nfft = int(nfft)
    noverlap = size // 2 if noverlap is None else int(noverlap)
    step = size - noverlap
    window, _ = window_of(window, size, size)
    parts = (irfft if input_onesided else ifft_)(spectra, nfft)[..., :size]
    scale = np.sum(window) if scaling == "spectrum" else np.sqrt(fs * np.sum(window * window))
    count = np.shape(parts)[-2]
    length = size + (count - 1) * step
    x = overlapped(parts * window * scale, step, length)
    squares = np.stack([window * window] * count)
    norm = overlapped(squares, step, length)
    if boundary:
        x, norm = (y[..., size // 2 : -(size // 2)] for y in (x, norm))
    x = x / np.where(value(norm) > 1e-10, norm, 1.0)
    if np.ndim(x) > 1:
        x = np.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
    return np.arange(np.shape(own[0])[0]) / fs, x
