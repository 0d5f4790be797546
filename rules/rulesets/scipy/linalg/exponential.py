"""Matrix exponential, functions made of it, and the derivative of a function of a matrix.

The derivative of a function of a matrix along ``e`` is the upper right block of the function of
``[[a, e], [0, a]]``, so the derivative of the derivative is the derivative at a larger matrix.
Source: Higham (2008), functions of matrices, theorem 3.6; SciPy has that of the exponential by
Al-Mohy and Higham (2009).
"""

import functools
import math

import numpy as np
from scipy import linalg

from .....config.thresholds import SMALL_EXPONENTIAL
from .... import (
    Block,
    block_rule,
    composed,
    composed_each,
    is_traced,
    pair_rule,
    primitive,
    pushes_stacks,
    seen,
    shape_of,
)
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


def largest_norm(a):
    """Return the largest sum of a column of a matrix, or of all matrices in a stack."""
    return float(np.add.reduce(np.abs(a), -2).max(initial=0))


@primitive
def exponential(a):
    return linalg.expm(a)


@primitive
def exponential_along(a, e):
    """The derivative of the exponential at ``a`` along ``e``, for each matrix in a stack.

    Where ``e`` has one axis more, in front, along each of these.
    """
    several = np.ndim(e) > np.ndim(a)
    y = np.empty(np.shape(e if several else a), np.result_type(a, e, np.float32))
    rows, given = (y, e) if several else (y[None], np.asarray(e)[None])
    n, size, along = np.shape(a)[-1], largest_norm(a), largest_norm(given)
    halvings = max(math.frexp(size / UNSQUARED)[1], 0)
    # Where it has nothing to square, the larger exponential is as exact, and faster.
    if 0 < n <= SMALL_EXPONENTIAL and halvings <= MOST_SQUARED and math.isfinite(size + along):
        scale = max(along / max(size / 2**halvings, 1.0), 1.0)
        part, at_once = a / 2**halvings if halvings else a, 2 * SMALL_EXPONENTIAL // n - 1
        for begin in range(0, len(rows), at_once):
            some = slice(begin, begin + at_once)
            x, moved = exponential_of_arrow(part, given[some] / scale)
            for _ in range(halvings):  # of exp(2 a) = exp(a) @ exp(a)
                x, moved = x @ x, x @ moved + moved @ x
            np.multiply(moved, scale / 2**halvings, out=rows[some])
        return y
    y[...] = np.nan
    for k, *index in np.ndindex(rows.shape[:-2]):
        here = tuple(index)
        if np.isfinite(given[k][here]).all():
            rows[k][here] = linalg.expm_frechet(a[here], given[k][here], compute_expm=False)
    return y


def exponential_of_arrow(a, rows):
    """Return the first row of the exponential of ``[[a, e, f], [0, a, 0], [0, 0, a]]``.

    It is the exponential of ``a``, and its derivatives along each of ``rows``, here e and f.
    """
    *stack, n, _ = np.shape(a)
    count, last = 1 + len(rows), len(stack)
    arrow = np.zeros((*stack, count, n, count, n), np.result_type(a, rows))
    arrow[..., 0, :, 0, :] = a
    for k, e in enumerate(rows, 1):
        arrow[..., k, :, k, :] = a
        arrow[..., 0, :, k, :] = e
    y = linalg.expm(arrow.reshape((*stack, count * n, count * n)))[..., :n, :]
    y = y.reshape((*stack, n, count, n)).transpose((last + 1, *range(last + 1), last + 2))
    return y[0], y[1:]


def along_each(f_along, a, e):
    """Return ``f_along(a, e)``, also of many directions of one ``a``."""
    if shape_of(a) == shape_of(e) or (f_along is exponential_along and not is_traced((a, e))):
        return f_along(a, e)
    return f_along(np.broadcast_to(a, shape_of(e)), e)


@block_rule(exponential_along)
def exponential_along_block(a, e):
    return NotImplemented if type(a) is Block else along_each(exponential_along, a, e.values)


def holomorphic_rules(f, f_along):
    """Give the rules of a function of a matrix, and of its derivative at ``a`` along ``e``.

    The pull follows from ``trace(p @ f_along(a, e)) == trace(f_along(a, p) @ e)``. At ``a^H`` it
    would be wrong on a branch cut, as the logarithm's, where ``f(a^H)`` is not ``f(a)^H``.
    """

    def f_along_transpose(a, ybar):
        return adjoint(f_along(a, adjoint(ybar)))

    @pair_rule(f)
    def f_pair(f, a):
        y, push = f(a), functools.partial(along_each, f_along, a)
        return y, push, lambda ybar: f_along_transpose(a, ybar)

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
pushes_stacks(exponential)


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
