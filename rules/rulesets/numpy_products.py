"""Products of two arrays: linear in each, and a pull to each.

By the convention that C is R^2, the pull of ``y = a * b`` to ``a`` is ``ybar * conj(b)``.
Axes that were broadcast are summed by the kit.
"""

import numpy as np

from ..definitions import bilinear_rule, composed
from ..project import dtype_of
from .numpy_shapes import pad_zeros

# ---- matrices and vectors -------------------------------------------------------------------


def conj(x):
    """Conjugate what is complex; NumPy would copy what is real."""
    dtype = dtype_of(x)
    return x if dtype is not None and dtype.kind != "c" else np.conj(x)


def adjoint(a):
    return conj(np.swapaxes(a, -1, -2))


# Vectors have formulas of their own: to make matrices of them takes longer than a small product.


def matmul_left(ybar, a, b):
    """Shapes: (..., m, n), (..., m, k), (..., k, n); a vector lacks m or n, and ``ybar`` too."""
    if np.ndim(b) == 1:
        return ybar * conj(b) if np.ndim(a) == 1 else ybar[..., None] * conj(b)
    if np.ndim(a) == 1:
        return (conj(b) @ ybar[..., None])[..., 0]
    return ybar @ adjoint(b)


def matmul_right(ybar, a, b):
    if np.ndim(a) == 1:
        return conj(a) * ybar if np.ndim(b) == 1 else conj(a)[:, None] * ybar[..., None, :]
    if np.ndim(b) == 1:
        return (adjoint(a) @ ybar[..., None])[..., 0]
    return adjoint(a) @ ybar


bilinear_rule(np.matmul, matmul_left, matmul_right)
bilinear_rule(np.linalg.matmul, matmul_left, matmul_right)


def matvec_left(ybar, a, b):
    return np.expand_dims(ybar, -1) * conj(np.expand_dims(b, -2))


def matvec_right(ybar, a, b):
    return np.matvec(adjoint(a), ybar)


# y_j = sum_i conj(a_i) b_ij
def vecmat_left(ybar, a, b):
    return np.matvec(b, conj(ybar))


def vecmat_right(ybar, a, b):
    return np.expand_dims(a, -1) * np.expand_dims(ybar, -2)


if hasattr(np, "matvec"):  # NumPy 2.2
    bilinear_rule(np.matvec, matvec_left, matvec_right)
    bilinear_rule(np.vecmat, vecmat_left, vecmat_right)


# y = sum_i conj(a_i) b_i
def vecdot_left(ybar, a, b, axis=-1):
    abar = conj(np.expand_dims(ybar, -1)) * np.moveaxis(b, axis, -1)
    return np.moveaxis(abar, -1, from_the_end(axis, a))


def vecdot_right(ybar, a, b, axis=-1):
    bbar = np.expand_dims(ybar, -1) * np.moveaxis(a, axis, -1)
    return np.moveaxis(bbar, -1, from_the_end(axis, b))


def from_the_end(axis, x):
    """Count an axis of ``x`` from the end, where arrays that broadcast are aligned."""
    return axis if axis < 0 else axis - np.ndim(x)


bilinear_rule(np.vecdot, vecdot_left, vecdot_right)
bilinear_rule(np.linalg.vecdot, vecdot_left, vecdot_right)


# y = sum_i conj(a_i) b_i over all entries, whatever the shapes
def vdot_left(ybar, a, b):
    return conj(ybar) * np.reshape(b, np.shape(a))


def vdot_right(ybar, a, b):
    return ybar * np.reshape(a, np.shape(b))


bilinear_rule(np.vdot, vdot_left, vdot_right)


# ---- contractions ---------------------------------------------------------------------------


def contracted(a, b, axes):
    """Return the axes of ``a`` and ``b`` that are summed over, and those that are left."""
    if np.ndim(axes) == 0:
        axes = range(-axes, 0), range(axes)
    summed = [
        [axis % np.ndim(x) for axis in np.atleast_1d(chosen).tolist()]
        for x, chosen in zip((a, b), axes)
    ]
    free = [[k for k in range(np.ndim(x)) if k not in chosen] for x, chosen in zip((a, b), summed)]
    return *summed, *free


def tensordot_left(ybar, a, b, axes=2):
    a_axes, b_axes, a_free, b_free = contracted(a, b, axes)
    abar = np.tensordot(ybar, conj(b), (range(len(a_free), np.ndim(ybar)), b_free))
    order = a_free + [a_axes[k] for k in np.argsort(b_axes)]
    return np.transpose(abar, np.argsort(order))


def tensordot_right(ybar, a, b, axes=2):
    a_axes, b_axes, a_free, b_free = contracted(a, b, axes)
    bbar = np.tensordot(conj(a), ybar, (a_free, range(len(a_free))))
    order = [b_axes[k] for k in np.argsort(a_axes)] + b_free
    return np.transpose(bbar, np.argsort(order))


bilinear_rule(np.tensordot, tensordot_left, tensordot_right)
bilinear_rule(np.linalg.tensordot, tensordot_left, tensordot_right)


def dot_left(ybar, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return ybar * conj(b)
    if np.ndim(a) <= 2 and np.ndim(b) <= 2:
        return matmul_left(ybar, a, b)
    return tensordot_left(ybar, a, b, (-1, max(np.ndim(b) - 2, 0)))


def dot_right(ybar, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return ybar * conj(a)
    if np.ndim(a) <= 2 and np.ndim(b) <= 2:
        return matmul_right(ybar, a, b)
    return tensordot_right(ybar, a, b, (-1, max(np.ndim(b) - 2, 0)))


bilinear_rule(np.dot, dot_left, dot_right)


def inner_left(ybar, a, b):
    scalar = np.ndim(a) == 0 or np.ndim(b) == 0
    return ybar * conj(b) if scalar else tensordot_left(ybar, a, b, (-1, -1))


def inner_right(ybar, a, b):
    scalar = np.ndim(a) == 0 or np.ndim(b) == 0
    return ybar * conj(a) if scalar else tensordot_right(ybar, a, b, (-1, -1))


bilinear_rule(np.inner, inner_left, inner_right)


# ---- products of every entry with every entry -----------------------------------------------


def outer_left(ybar, a, b):
    return np.reshape(ybar @ conj(np.ravel(b)), np.shape(a))


def outer_right(ybar, a, b):
    return np.reshape(conj(np.ravel(a)) @ ybar, np.shape(b))


bilinear_rule(np.outer, outer_left, outer_right)
bilinear_rule(np.linalg.outer, outer_left, outer_right)


def as_blocks(ybar, a, b):
    """Give ``ybar`` of ``kron`` an axis of ``a``, then one of ``b``, for each of its own."""
    rank = np.ndim(ybar)
    a, b = (np.reshape(x, (1,) * (rank - np.ndim(x)) + np.shape(x)) for x in (a, b))
    pairs = [length for pair in zip(np.shape(a), np.shape(b)) for length in pair]
    return np.reshape(ybar, pairs), a, b


def kron_left(ybar, a, b):
    shape, rank = np.shape(a), np.ndim(ybar)
    ybar, _, b = as_blocks(ybar, a, b)
    return np.reshape(np.tensordot(ybar, conj(b), (range(1, 2 * rank, 2), range(rank))), shape)


def kron_right(ybar, a, b):
    shape, rank = np.shape(b), np.ndim(ybar)
    ybar, a, _ = as_blocks(ybar, a, b)
    return np.reshape(np.tensordot(ybar, conj(a), (range(0, 2 * rank, 2), range(rank))), shape)


bilinear_rule(np.kron, kron_left, kron_right)


# ---- in three dimensions --------------------------------------------------------------------


def in_three(ybar, a, b, axisa, axisb, axisc):
    """Bring vectors to the last axis, and give those in the plane a third entry of 0."""
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if np.shape(a)[-1] == 2 and np.shape(b)[-1] == 2:
        nothing = np.zeros_like(ybar)
        return np.stack([nothing, nothing, ybar], axis=-1), with_third(a), with_third(b)
    return np.moveaxis(ybar, axisc, -1), with_third(a), with_third(b)


def with_third(x):
    return x if np.shape(x)[-1] == 3 else pad_zeros(x, [(0, 0)] * (np.ndim(x) - 1) + [(0, 1)])


# y . ybar = (a x b) . ybar = a . (b x ybar) = b . (ybar x a)
def cross_left(ybar, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    n = np.shape(a)[axisa]
    ybar, _, b = in_three(ybar, a, b, axisa, axisb, axisc)
    return np.moveaxis(np.cross(conj(b), ybar)[..., :n], -1, from_the_end(axisa, a))


def cross_right(ybar, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    n = np.shape(b)[axisb]
    ybar, a, _ = in_three(ybar, a, b, axisa, axisb, axisc)
    return np.moveaxis(np.cross(ybar, conj(a))[..., :n], -1, from_the_end(axisb, b))


bilinear_rule(np.cross, cross_left, cross_right)


@composed(np.linalg.cross)
def linalg_cross(x1, x2, /, *, axis=-1):
    return np.cross(x1, x2, axis=axis)


# ---- convolutions ---------------------------------------------------------------------------


def as_full(ybar, a, v, mode):
    """Put ``ybar`` where the entries of this mode are in the full convolution."""
    short, long = sorted((np.size(a), np.size(v)))
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    return pad_zeros(ybar, (start, short + long - 1 - start - np.size(ybar)))


# y_n = sum_m a_m v_{n - m}
def convolve_left(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(v), "valid")


def convolve_right(ybar, a, v, mode="full"):
    return np.correlate(as_full(ybar, a, v, mode), np.ravel(a), "valid")


bilinear_rule(np.convolve, convolve_left, convolve_right)


@composed(np.correlate)
def correlate(a, v, mode="valid"):
    if np.size(a) >= np.size(v):
        return np.convolve(a, conj(np.flip(v)), mode)
    return conj(np.flip(np.convolve(v, conj(np.flip(a)), mode)))
