"""Rules for scipy.fft: as for numpy.fft, and the transforms of real numbers by cosines and sines.

A transform may compute into its argument if ``overwrite_x`` says so. A tape may hold that argument,
so where something is traced it never does.
"""

import functools
from typing import Any

import numpy as np
from scipy import fft

from ... import by_source, composed, composed_each, linear_rule, non_differentiable, seen
from ..arrays.fft import OTHER_NORM, fit, over_several_in_block, transformed, transposes
from .followed import followed

# uarray's multimethods, which are no functions of Python.
INSTEAD = {
    name: seen(getattr(fft, name))
    for name in fft.__all__
    if type(getattr(fft, name)).__name__ == "_Function"
}
REFUSED: dict[str, tuple[str, str]] = {}

by_source(fft, "fhtoffset")

non_differentiable(
    fft.next_fast_len, fft.get_workers, fft.set_workers,
    fft.set_backend, fft.skip_backend, fft.set_global_backend, fft.register_backend,
)  # fmt: skip
if hasattr(fft, "prev_fast_len"):
    non_differentiable(fft.prev_fast_len)


@composed_each({fft.fftfreq: np.fft.fftfreq, fft.rfftfreq: np.fft.rfftfreq})
def frequencies(numpys, n, d=1.0, **_):
    return numpys(n, d)


def kept_as_it_is(x, overwrite_x=False, **options):
    return options


def in_blocks(name):
    """Return by what a transform runs on a block: its axis, or its axes."""
    if name[-1] not in "n2":
        return {"axes": "axis"}
    default = (-2, -1) if name[-1] == "2" else None
    return {"block": over_several_in_block(OWN[name], default)}


# ---- Fourier transforms -----------------------------------------------------------------------

OWN: dict[str, Any] = {}
for _name, _transpose in transposes(OWN.__getitem__):
    OWN[_name] = followed(getattr(fft, _name))
    linear_rule(OWN[_name], _transpose, adapt=kept_as_it_is, **in_blocks(_name))
fft_, ifft, rfft, irfft = map(OWN.__getitem__, ("fft", "ifft", "rfft", "irfft"))


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


def transpose_by(name, before, after):
    """The transpose, by SciPy's ``name``; end terms count more before and after, by the type."""

    def transpose(ybar, axes, type, norm, orthogonalize, workers):
        if norm == "ortho" if orthogonalize is None else orthogonalize:
            first = last = 1, 1
        else:
            first, last = before.get(type, (1, 1)), after.get(type, (1, 1))
        ybar = weighted(ybar, axes, *first)
        xbar = OWN[name](ybar, PARTNER[type], None, axes, norm, workers=workers,
                         orthogonalize=orthogonalize)  # fmt: skip
        return weighted(xbar, axes, *last)

    return transpose


cosines_transpose = transpose_by("dctn", {1: (2, 2), 2: (2, 1)}, {1: (0.5, 0.5), 3: (0.5, 1)})
sines_transpose = transpose_by("dstn", {2: (1, 2)}, {3: (1, 0.5)})

# SciPy hands ``orthogonalize`` on to the transforms of real and imaginary parts, or forgets it.
_RAMP, _PLAIN = np.arange(1.0, 4.0), {"norm": "ortho", "orthogonalize": False}
ORTHOGONALIZES_COMPLEX = np.allclose(fft.dct(_RAMP + 0j, **_PLAIN), fft.dct(_RAMP, **_PLAIN))


def is_orthogonal(ybar, norm, orthogonalize):
    forgotten = np.iscomplexobj(ybar) and not ORTHOGONALIZES_COMPLEX
    return norm == "ortho" if orthogonalize is None or forgotten else orthogonalize


def of_cosines_or_sines(several_transpose, inverse):
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
        axes, _ = transformed(space, s, axes)
        return fit(several_transpose(ybar, axes, type, norm, orthogonalize, workers), space.shape)

    return one_transpose, several


for _name, _transposes in (
    ("dct", of_cosines_or_sines(cosines_transpose, inverse=False)),
    ("idct", of_cosines_or_sines(cosines_transpose, inverse=True)),
    ("dst", of_cosines_or_sines(sines_transpose, inverse=False)),
    ("idst", of_cosines_or_sines(sines_transpose, inverse=True)),
):
    for _transform, _transpose in zip((_name, f"{_name}n"), _transposes):
        OWN[_transform] = followed(getattr(fft, _transform))
        linear_rule(OWN[_transform], _transpose, adapt=kept_as_it_is, **in_blocks(_transform))


# ---- Hankel transforms ----------------------------------------------------------------------


def hankel_transpose(own, ybar, space, dln=None, mu=None, offset=0.0, bias=0.0):
    """Without bias the matrix has entries that depend on the sum of their indices alone.

    So it is symmetric; and a bias scales rows and columns by factors whose ratio is constant.
    """
    return own(ybar, dln, mu, offset, bias)


for _own in map(followed, (fft.fht, fft.ifht)):
    linear_rule(_own, functools.partial(hankel_transpose, _own))


# ---- moving the zero frequency --------------------------------------------------------------


@composed(fft.fftshift)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@composed(fft.ifftshift)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)
