"""Rules for scipy.fftpack: transforms by those of scipy.fft, and periodic operators.

A derivative, a shift or a Hilbert transform of a periodic sequence is a convolution with a kernel
of its own. So its transpose is the same on the reversed sequence.
"""

from typing import Any

import numpy as np
from scipy import fftpack

from ... import composed, composed_each, non_differentiable
from ..arrays.fft import fit
from .fft import OWN, PARTNER
from .followed import linear_pair

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}

non_differentiable(fftpack.next_fast_len)


@composed(fftpack.rfftfreq, value="own")
def rfftfreq(n, d=1.0):
    return (np.arange(1, n + 1) // 2) / (n * d)


@composed_each({fftpack.fft: OWN["fft"], fftpack.ifft: OWN["ifft"]}, value="own")
def fourier(transform, x, n=None, axis=-1, overwrite_x=False):
    return transform(x, n, axis)


@composed_each({fftpack.fftn: OWN["fftn"], fftpack.ifftn: OWN["ifftn"]}, value="own")
def fourier_of_several(transform, x, shape=None, axes=None, overwrite_x=False):
    return transform(x, shape, axes)


@composed_each({fftpack.fft2: OWN["fft2"], fftpack.ifft2: OWN["ifft2"]}, value="own")
def fourier_of_two(transform, x, shape=None, axes=(-2, -1), overwrite_x=False):
    return transform(x, shape, axes)


# ---- real sequences, packed: y[0], and then the real and the imaginary part of each frequency ----


@composed(fftpack.rfft, value="own")
def rfft(x, n=None, axis=-1, overwrite_x=False):
    n = np.shape(x)[axis] if n is None else n
    z = np.moveaxis(OWN["rfft"](x, n, axis), axis, -1)
    parts = np.reshape(np.stack([np.real(z), np.imag(z)], axis=-1), (*np.shape(z)[:-1], -1))
    # The imaginary part of the first frequency is zero, as of an even n that of the last.
    packed = np.concatenate([parts[..., :1], parts[..., 2 : n + 1]], axis=-1)
    return np.moveaxis(packed, -1, axis)


@composed(fftpack.irfft, value="own")
def irfft(x, n=None, axis=-1, overwrite_x=False):
    x = np.moveaxis(x, axis, -1)
    n = np.shape(x)[-1] if n is None else n
    x = fit(x, (*np.shape(x)[:-1], n))
    zero = np.zeros_like(x[..., :1])
    ends = [zero] if n % 2 == 0 else []
    parts = np.concatenate([x[..., :1], zero, x[..., 1:], *ends], axis=-1)
    pairs = np.reshape(parts, (*np.shape(parts)[:-1], -1, 2))
    y = OWN["irfft"](pairs[..., 0] + 1j * pairs[..., 1], n, -1)
    return np.moveaxis(y, -1, axis)


# ---- cosines and sines: without a norm, an inverse is not scaled ---------------------------------


SAME = {type: type for type in PARTNER}
ALONG_ONE = {fftpack.dct: ("dct", SAME), fftpack.dst: ("dst", SAME)}
ALONG_ONE |= {fftpack.idct: ("dct", PARTNER), fftpack.idst: ("dst", PARTNER)}
ALONG_SEVERAL = {fftpack.dctn: ("dctn", SAME), fftpack.dstn: ("dstn", SAME)}
ALONG_SEVERAL |= {fftpack.idctn: ("dctn", PARTNER), fftpack.idstn: ("dstn", PARTNER)}


@composed_each(ALONG_ONE, value="own")
def cosines_or_sines(entry, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
    name, types = entry
    return OWN[name](x, types[int(type)], n, axis, norm)


@composed_each(ALONG_SEVERAL, value="own")
def cosines_or_sines_of_several(entry, x, type=2, shape=None, axes=None, norm=None,
                                overwrite_x=False):  # fmt: skip
    name, types = entry
    return OWN[name](x, types[int(type)], shape, axes, norm)


# ---- periodic operators --------------------------------------------------------------------------


def reversed_in_time(x):
    """Reverse a periodic sequence: the entry at ``k`` goes to ``-k``."""
    return np.roll(x[::-1], 1)


def convolution_adjoint(f):
    def adjoint(ybar, space, *, _cache=None, **options):
        return reversed_in_time(f(reversed_in_time(ybar), **options))

    return adjoint


for _f in (
    fftpack.diff, fftpack.tilbert, fftpack.itilbert, fftpack.hilbert, fftpack.ihilbert,
    fftpack.shift, fftpack.sc_diff, fftpack.cs_diff, fftpack.cc_diff, fftpack.ss_diff,
):  # fmt: skip
    linear_pair(_f, convolution_adjoint(_f))
