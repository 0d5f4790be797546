"""The matrix exponential, the functions made of it, and how such a function is differentiated.

The derivative of a function of a matrix along ``e`` is the upper right block of the function of
``[[a, e], [0, a]]``, so the derivative of the derivative is the derivative at a larger matrix.
Source: Higham (2008), functions of matrices, theorem 3.6; SciPy has that of the exponential by
Al-Mohy and Higham (2009).
"""

import math

import numpy as np
from scipy import linalg

from .....config.thresholds import SMALL_EXPONENTIAL
from .... import Block, block_rule, composed, composed_each, pair_rule, primitive, seen, shape_of
from ...arrays.products import adjoint

UNSQUARED = 2.0  # norm of a matrix, up to which one of twice that is not scaled and squared
MOST_SQUARED = 4  # times, without a loss of digits that ``expm_frechet`` has not


def block_triangle(a, e, corner=None):
    """Return ``[[a, e], [0, a]]``; with a corner, that in place of the second ``a``."""
    upper = np.concatenate([a, e], axis=-1)
    lower = np.concatenate([np.zeros_like(e), a if corner is None else corner], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def blocks(x):
    """Return the blocks on the diagonal, and the one in the upper right corner."""
    n = np.shape(x)[-1] // 2
    return x[..., :n, :n], x[..., n:, n:], x[..., :n, n:]


def one_norm(a):
    """Return the largest sum of a column of each matrix, with the axes of a matrix."""
    return np.abs(a).sum(axis=-2, keepdims=True).max(axis=-1, keepdims=True, initial=0)


@primitive
def exponential(a):
    return linalg.expm(a)


@primitive
def exponential_along(a, e):
    """The derivative of the exponential at ``a`` along ``e``, for each matrix in a stack."""
    y = np.empty(np.shape(a), np.result_type(a, e, np.float32))
    n, size, along = np.shape(a)[-1], one_norm(a), one_norm(e)
    halvings = max(math.frexp(size.max(initial=0) / UNSQUARED)[1], 0)
    # Where it has nothing to square, the larger exponential is as exact, and faster.
    if 0 < n <= SMALL_EXPONENTIAL and halvings <= MOST_SQUARED and np.isfinite(size + along).all():
        scale = np.maximum(along / np.maximum(size / 2**halvings, 1.0), 1.0)
        triangle = np.zeros((*y.shape[:-2], 2 * n, 2 * n), y.dtype)
        triangle[..., :n, :n] = triangle[..., n:, n:] = a / 2**halvings
        triangle[..., :n, n:] = e / scale
        x, _, moved = blocks(linalg.expm(triangle))
        for _ in range(halvings):  # of exp(2 a) = exp(a) @ exp(a)
            x, moved = x @ x, x @ moved + moved @ x
        y[...] = scale / 2**halvings * moved
        return y
    y[...] = np.nan
    for index in np.ndindex(np.shape(a)[:-2]):
        if np.isfinite(e[index]).all():
            y[index] = linalg.expm_frechet(a[index], e[index], compute_expm=False)
    return y


@block_rule(exponential_along)
def exponential_along_block(a, e):
    if type(a) is Block:
        return NotImplemented
    return exponential_along(np.broadcast_to(a, shape_of(e.values)), e.values)


def holomorphic_rules(f, f_along):
    """Give the rules of a function of a matrix, and of its derivative at ``a`` along ``e``.

    The pull follows from ``trace(p @ f_along(a, e)) == trace(f_along(a, p) @ e)``. At ``a^H`` it
    would be wrong on a branch cut, as the logarithm's, where ``f(a^H)`` is not ``f(a)^H``.
    """

    def f_along_transpose(a, ybar):
        return adjoint(f_along(a, adjoint(ybar)))

    @pair_rule(f)
    def f_pair(f, a):
        return f(a), lambda adot: f_along(a, adot), lambda ybar: f_along_transpose(a, ybar)

    @pair_rule(f_along)
    def f_along_pair(f_along, a, e):
        def f_along_pushforward(adot, edot):
            moved = block_triangle(adot + np.zeros_like(a), edot + np.zeros_like(e))
            return blocks(f_along(block_triangle(a, e), moved))[2]

        def f_along_pullback(ybar):
            zeros = np.zeros_like(ybar)
            moved = f_along_transpose(block_triangle(a, e), block_triangle(zeros, ybar, zeros))
            first, last, corner = blocks(moved)
            return first + last, corner

        return f_along(a, e), f_along_pushforward, f_along_pullback


holomorphic_rules(exponential, exponential_along)


@composed(linalg.expm)
def expm(A):  # noqa: N803 - SciPy's name
    return exponential(A)


@composed(linalg.expm_frechet, value="own")
def expm_frechet(A, E, method=None, compute_expm=True):  # noqa: N803
    shape = np.broadcast_shapes(np.shape(A), np.shape(E))
    A, E = np.broadcast_to(A, shape), np.broadcast_to(E, shape)  # noqa: N806
    along = exponential_along(A, E)
    return (exponential(A), along) if compute_expm else along


# ---- functions made of exponentials ---------------------------------------------------------


def cosine_and_sine(a):
    """From ``exp(i a) = cos(a) + i sin(a)``, with that of ``-i a`` where ``a`` is complex."""
    forth = seen(linalg.expm)(1j * a)
    if not np.iscomplexobj(a):
        return np.real(forth), np.imag(forth)
    back = seen(linalg.expm)(-1j * a)
    return (forth + back) / 2, (forth - back) / 2j


def hyperbolic(a):
    forth, back = seen(linalg.expm)(a), seen(linalg.expm)(-a)
    return (forth + back) / 2, (forth - back) / 2


@composed_each({linalg.cosm: cosine_and_sine, linalg.coshm: hyperbolic}, value="own")
def even_part(parts, A):  # noqa: N803
    return parts(A)[0]


@composed_each({linalg.sinm: cosine_and_sine, linalg.sinhm: hyperbolic}, value="own")
def odd_part(parts, A):  # noqa: N803
    return parts(A)[1]


@composed_each({linalg.tanm: cosine_and_sine, linalg.tanhm: hyperbolic}, value="own")
def odd_over_even(parts, A):  # noqa: N803
    return np.linalg.solve(*parts(A))
