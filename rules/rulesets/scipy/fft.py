"""Rules for scipy.fft: as for numpy.fft, and the transforms of real numbers by cosines and sines.

A transform may compute into its argument if ``overwrite_x`` says so. A tape may hold that argument,
so where something is traced it never does.
"""

import numpy as np
from scipy import fft

from ... import composed, linear_rule, non_differentiable, seen
from ..arrays.fft import OTHER_NORM, fit, multiplicity
from .followed import followed

# uarray's multimethods, which are no functions of Python.
INSTEAD = {
    name: seen(getattr(fft, name))
    for name in fft.__all__
    if type(getattr(fft, name)).__name__ == "_Function"
}
REFUSED = {"fhtoffset": ("no rule yet", "fhtoffset(cr.value(dln), ...) where it is constant")}

non_differentiable(
    fft.next_fast_len, fft.fftfreq, fft.rfftfreq, fft.get_workers, fft.set_workers,
    fft.set_backend, fft.skip_backend, fft.set_global_backend, fft.register_backend,
)  # fmt: skip
if hasattr(fft, "prev_fast_len"):
    non_differentiable(fft.prev_fast_len)


def kept_as_it_is(x, overwrite_x=False, **options):
    return options


def transform(f, transpose):
    own = followed(f)
    linear_rule(own, transpose, adapt=kept_as_it_is)
    return own


# ---- along one axis -------------------------------------------------------------------------


def fft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                  overwrite_x=False):  # fmt: skip
    x = ifft(ybar, axis=axis, norm=OTHER_NORM[norm], workers=workers)
    return fit(x, space.shape)


def ifft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                   overwrite_x=False):  # fmt: skip
    return fit(fft_(ybar, axis=axis, norm=OTHER_NORM[norm], workers=workers), space.shape)


def rfft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                   overwrite_x=False):  # fmt: skip
    n = space.shape[axis] if n is None else n
    halves = ybar / multiplicity(n, axis, ybar)
    return fit(irfft(halves, n, axis, OTHER_NORM[norm], workers=workers), space.shape)


def irfft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                    overwrite_x=False):  # fmt: skip
    spectrum = rfft(ybar, axis=axis, norm=OTHER_NORM[norm], workers=workers)
    return fit(spectrum * multiplicity(np.shape(ybar)[axis], axis, ybar), space.shape)


# hfft(x, norm) is irfft(conj(x), other norm), and ihfft(x, norm) is conj(rfft(x, other norm)).
def hfft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                   overwrite_x=False):  # fmt: skip
    spectrum = ihfft(ybar, axis=axis, norm=OTHER_NORM[norm], workers=workers)
    return fit(spectrum * multiplicity(np.shape(ybar)[axis], axis, ybar), space.shape)


def ihfft_transpose(ybar, space, n=None, axis=-1, norm=None, workers=None, plan=None,
                    overwrite_x=False):  # fmt: skip
    n = space.shape[axis] if n is None else n
    halves = ybar / multiplicity(n, axis, ybar)
    return fit(hfft(halves, n, axis, OTHER_NORM[norm], workers=workers), space.shape)


fft_ = transform(fft.fft, fft_transpose)
ifft = transform(fft.ifft, ifft_transpose)
rfft = transform(fft.rfft, rfft_transpose)
irfft = transform(fft.irfft, irfft_transpose)
hfft = transform(fft.hfft, hfft_transpose)
ihfft = transform(fft.ihfft, ihfft_transpose)


# ---- along several axes ---------------------------------------------------------------------


def over_axes(shape, s, axes):
    """Return the axes that are transformed, and the length that each is cropped or padded to."""
    if s is not None:
        s = np.atleast_1d(s).tolist()
    if axes is None:
        axes = range(len(shape)) if s is None else range(len(shape) - len(s), len(shape))
    axes = [axis % len(shape) for axis in np.atleast_1d(axes).tolist()]
    lengths = [-1] * len(axes) if s is None else s
    return axes, [shape[k] if n == -1 else n for k, n in zip(axes, lengths)]


def fftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                   overwrite_x=False):  # fmt: skip
    axes, _ = over_axes(space.shape, s, axes)
    return fit(ifftn(ybar, axes=axes, norm=OTHER_NORM[norm], workers=workers), space.shape)


def ifftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                    overwrite_x=False):  # fmt: skip
    axes, _ = over_axes(space.shape, s, axes)
    return fit(fftn(ybar, axes=axes, norm=OTHER_NORM[norm], workers=workers), space.shape)


def rfftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                    overwrite_x=False):  # fmt: skip
    axes, s = over_axes(space.shape, s, axes)
    halves = ybar / multiplicity(s[-1], axes[-1], ybar)
    return fit(irfftn(halves, s, axes, OTHER_NORM[norm], workers=workers), space.shape)


def irfftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                     overwrite_x=False):  # fmt: skip
    axes, _ = over_axes(space.shape, s, axes)
    spectrum = rfftn(ybar, axes=axes, norm=OTHER_NORM[norm], workers=workers)
    n = np.shape(ybar)[axes[-1]]
    return fit(spectrum * multiplicity(n, axes[-1], ybar), space.shape)


def hfftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                    overwrite_x=False):  # fmt: skip
    axes, _ = over_axes(space.shape, s, axes)
    spectrum = ihfftn(ybar, axes=axes, norm=OTHER_NORM[norm], workers=workers)
    n = np.shape(ybar)[axes[-1]]
    return fit(spectrum * multiplicity(n, axes[-1], ybar), space.shape)


def ihfftn_transpose(ybar, space, s=None, axes=None, norm=None, workers=None, plan=None,
                     overwrite_x=False):  # fmt: skip
    axes, s = over_axes(space.shape, s, axes)
    halves = ybar / multiplicity(s[-1], axes[-1], ybar)
    return fit(hfftn(halves, s, axes, OTHER_NORM[norm], workers=workers), space.shape)


def in_two_axes(transpose):
    """Return the transpose of the form whose default is the last two axes."""

    def transpose_in_two_axes(ybar, space, s=None, axes=(-2, -1), norm=None, workers=None,
                              plan=None, overwrite_x=False):  # fmt: skip
        return transpose(ybar, space, s, axes, norm, workers)

    return transpose_in_two_axes


fftn = transform(fft.fftn, fftn_transpose)
ifftn = transform(fft.ifftn, ifftn_transpose)
rfftn = transform(fft.rfftn, rfftn_transpose)
irfftn = transform(fft.irfftn, irfftn_transpose)
hfftn = transform(fft.hfftn, hfftn_transpose)
ihfftn = transform(fft.ihfftn, ihfftn_transpose)
for _over_two, _transpose in (
    (fft.fft2, fftn_transpose), (fft.ifft2, ifftn_transpose),
    (fft.rfft2, rfftn_transpose), (fft.irfft2, irfftn_transpose),
    (fft.hfft2, hfftn_transpose), (fft.ihfft2, ihfftn_transpose),
):  # fmt: skip
    transform(_over_two, in_two_axes(_transpose))


# ---- cosines and sines ----------------------------------------------------------------------

# Of the four types one and four are symmetric, two and three each other's transpose: all of them
# but for the first or the last entries, where not orthogonalized.
PARTNER = {1: 1, 2: 3, 3: 2, 4: 4}


def weighted(x, axes, first, last):
    """``x``, with its first and last entries along each of ``axes`` times a number."""
    for axis in axes if (first, last) != (1, 1) else ():
        weights = np.ones(np.shape(x)[axis], np.finfo(x.dtype).dtype)
        weights[0] *= first
        weights[-1] *= last
        x = x * np.reshape(weights, (-1,) + (1,) * (np.ndim(x) - 1 - axis % np.ndim(x)))
    return x


def cosines_transpose(ybar, axes, type, norm, orthogonalize, workers):
    before = {1: (2, 2), 2: (2, 1)}.get(type, (1, 1))
    after = {1: (0.5, 0.5), 3: (0.5, 1)}.get(type, (1, 1))
    if norm == "ortho" if orthogonalize is None else orthogonalize:
        before = after = 1, 1
    ybar = weighted(ybar, axes, *before)
    xbar = dctn(ybar, PARTNER[type], None, axes, norm, workers=workers,
                orthogonalize=orthogonalize)  # fmt: skip
    return weighted(xbar, axes, *after)


def sines_transpose(ybar, axes, type, norm, orthogonalize, workers):
    before = {2: (1, 2)}.get(type, (1, 1))
    after = {3: (1, 0.5)}.get(type, (1, 1))
    if norm == "ortho" if orthogonalize is None else orthogonalize:
        before = after = 1, 1
    ybar = weighted(ybar, axes, *before)
    xbar = dstn(ybar, PARTNER[type], None, axes, norm, workers=workers,
                orthogonalize=orthogonalize)  # fmt: skip
    return weighted(xbar, axes, *after)


# SciPy hands ``orthogonalize`` on to the transforms of real and imaginary parts, or forgets it.
_RAMP, _PLAIN = np.arange(1.0, 4.0), {"norm": "ortho", "orthogonalize": False}
ORTHOGONALIZES_COMPLEX = np.allclose(fft.dct(_RAMP + 0j, **_PLAIN), fft.dct(_RAMP, **_PLAIN))


def is_orthogonal(ybar, norm, orthogonalize):
    forgotten = np.iscomplexobj(ybar) and not ORTHOGONALIZES_COMPLEX
    return norm == "ortho" if orthogonalize is None or forgotten else orthogonalize


def transposes(several_transpose, inverse):
    """Return the transposes along one axis and several, of a transform or of its inverse."""

    def turned(type, norm):
        return (PARTNER[type], OTHER_NORM[norm]) if inverse else (type, norm)

    def one_transpose(ybar, space, type=2, n=None, axis=-1, norm=None, overwrite_x=False,
                      workers=None, orthogonalize=None):  # fmt: skip
        orthogonalize = is_orthogonal(ybar, norm, orthogonalize)
        type, norm = turned(type, norm)
        xbar = several_transpose(ybar, (axis,), type, norm, orthogonalize, workers)
        return fit(xbar, space.shape)

    def several(ybar, space, type=2, s=None, axes=None, norm=None, overwrite_x=False,
                workers=None, orthogonalize=None):  # fmt: skip
        orthogonalize = is_orthogonal(ybar, norm, orthogonalize)
        type, norm = turned(type, norm)
        axes, _ = over_axes(space.shape, s, axes)
        return fit(several_transpose(ybar, axes, type, norm, orthogonalize, workers), space.shape)

    return one_transpose, several


dct_transpose, dctn_transpose = transposes(cosines_transpose, inverse=False)
idct_transpose, idctn_transpose = transposes(cosines_transpose, inverse=True)
dst_transpose, dstn_transpose = transposes(sines_transpose, inverse=False)
idst_transpose, idstn_transpose = transposes(sines_transpose, inverse=True)
transform(fft.dct, dct_transpose)
transform(fft.idct, idct_transpose)
transform(fft.dst, dst_transpose)
transform(fft.idst, idst_transpose)
dctn = transform(fft.dctn, dctn_transpose)
transform(fft.idctn, idctn_transpose)
dstn = transform(fft.dstn, dstn_transpose)
transform(fft.idstn, idstn_transpose)


# ---- Hankel transforms ----------------------------------------------------------------------


def hankel(f):
    """Without bias the matrix has entries that depend on the sum of their indices alone.

    So it is symmetric; and a bias scales rows and columns by factors whose ratio is constant.
    """
    own = followed(f)

    @linear_rule(own)
    def hankel_transpose(ybar, space, dln=None, mu=None, offset=0.0, bias=0.0):
        return own(ybar, dln, mu, offset, bias)


hankel(fft.fht)
hankel(fft.ifht)


# ---- moving the zero frequency --------------------------------------------------------------


@composed(fft.fftshift)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@composed(fft.ifftshift)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)
