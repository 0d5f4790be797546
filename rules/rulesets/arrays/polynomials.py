"""Polynomials as arrays of coefficients, the highest power first: ``np.polyval`` and its kin.

``np.roots`` is differentiated by the implicit function theorem, at simple roots; everything
else is composed. ``np.poly1d`` computes by these functions. Most functions of ``np.polynomial``
are plain Python, which traced values run through; the two with a dispatcher are here.
"""

import types
import warnings

import numpy as np

from ... import (
    array_of,
    astype,
    composed,
    dense,
    dtype_of,
    pair_rule,
    primitive,
    value,
)
from .products import adjoint
from .shapes import pad_zeros


def coefficients(p):
    """Return ``p``, which may be a number, a list or a ``poly1d``, as an array of coefficients."""
    return np.atleast_1d(p.coeffs if isinstance(p, np.poly1d) else array_of(p))


def with_type_of(inputs, p):
    """Return coefficients as a ``poly1d``, where one of the inputs was one."""
    return np.poly1d(p) if any(isinstance(x, np.poly1d) for x in inputs) else p


# ---- arithmetic -----------------------------------------------------------------------------


def of_equal_length(a, b):
    a, b = coefficients(a), coefficients(b)
    n = max(len(a), len(b))
    return [x if len(x) == n else pad_zeros(x, ((n - len(x), 0),)) for x in (a, b)]


@composed(np.polyadd)
def polyadd(a1, a2):
    a, b = of_equal_length(a1, a2)
    return with_type_of((a1, a2), a + b)


@composed(np.polysub)
def polysub(a1, a2):
    a, b = of_equal_length(a1, a2)
    return with_type_of((a1, a2), a - b)


def without_leading_zeros(p):
    p = np.trim_zeros(coefficients(p), "f")
    return p if len(p) else np.zeros(1, dtype_of(p))


@composed(np.polymul)
def polymul(a1, a2):
    product = np.convolve(without_leading_zeros(a1), without_leading_zeros(a2))
    return with_type_of((a1, a2), product)


@composed(np.polydiv)
def polydiv(u, v):
    """Long division; the remainder loses its leading zeros, as NumPy takes them for rounding."""
    divisor, remainder = coefficients(v) + 0.0, coefficients(u) + 0.0
    remainder = astype(remainder, dtype_of(remainder[0] + divisor[0]))
    scale = 1.0 / divisor[0]
    steps = len(remainder) - len(divisor) + 1
    quotient = []
    for k in range(steps):
        quotient.append(scale * remainder[k])
        remainder = remainder - pad_zeros(quotient[k] * divisor, ((k, steps - 1 - k),))
    quotient = np.stack(quotient) if quotient else np.zeros(1, dtype_of(remainder))
    small = np.isclose(remainder[:-1], 0, rtol=1e-14)
    remainder = remainder[np.argmin(np.append(small, False)) :]
    return with_type_of((u, v), quotient), with_type_of((u, v), remainder)


# ---- values, derivatives and integrals ------------------------------------------------------


@composed(np.polyval)
def polyval(p, x):
    """Horner's scheme, in the order in which NumPy computes it."""
    p = coefficients(p)
    x = x if isinstance(x, np.poly1d) else array_of(x)
    y = 0 if isinstance(x, np.poly1d) else np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


@composed(np.polyder)
def polyder(p, m=1):
    m = int(value(m))
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    y = coefficients(p)
    for _ in range(m):
        y = y[:-1] * np.arange(len(y) - 1, 0, -1)
    return with_type_of((p,), y)


@composed(np.polyint)
def polyint(p, m=1, k=None):
    m = int(value(m))
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(array_of(k))
    if len(constants) == 1 and m > 1:
        constants = np.broadcast_to(constants, m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    y = coefficients(p)
    if m == 0 and np.ndim(p) == 0:
        y = np.reshape(y, ())  # NumPy gives back what it was given, as an array
    for i in range(m):
        y = np.concatenate([y / np.arange(len(y), 0, -1), constants[i : i + 1]])
    return with_type_of((p,), y)


# ---- roots ----------------------------------------------------------------------------------


def by_traces(a):
    """The coefficients of ``det(s - a)``, which are smooth where eigenvalues meet.

    With ``m = a m' + c``, where ``m'`` and ``c`` are those of the step before.
    Source: Faddeev, Leverrier; Gantmacher (1959), the theory of matrices, IV.5.
    """
    n = np.shape(a)[0]
    identity = np.eye(n)
    m, coefficients = identity, [np.ones(())]
    for k in range(1, n + 1):
        moved = a @ m
        coefficients.append(-np.trace(moved) / k)
        m = moved + coefficients[-1] * identity
    return np.stack(coefficients)


def characteristic(a):
    """The coefficients of ``det(s - a)``: by traces, unless these are spoilt by rounding.

    They are with many states, or with eigenvalues of many sizes. Then it is made of the
    eigenvalues, and NaN in its derivative where they meet.
    """
    plain = value(a)
    y = by_traces(a)
    sizes = np.abs(np.linalg.eigvals(plain)) + 1e-14 * np.linalg.norm(plain)
    if np.all(np.abs(value(y) - np.poly(plain)) <= 1e-11 * np.poly(-sizes)):
        return y
    return from_roots(np.linalg.eigvals(a))


@composed(np.poly, value="own")
def poly(seq_of_zeros, *, own):
    zeros = np.atleast_1d(array_of(seq_of_zeros))
    if np.ndim(zeros) == 2 and len(zeros) == np.shape(zeros)[1] != 0:
        y = characteristic(zeros)
        return y if np.iscomplexobj(own) else np.real(y)
    if np.ndim(zeros) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    return from_roots(zeros)


def from_roots(zeros):
    """Multiply out ``(x - r)``, root by root."""
    y = np.ones(1, np.mintypecode(dtype_of(zeros).char))
    for zero in zeros:
        y = pad_zeros(y, ((0, 1),)) - zero * pad_zeros(y, ((1, 0),))
    if np.iscomplexobj(y) and np.array_equal(np.sort(zeros), np.sort(np.conj(zeros))):
        return np.real(y)
    return y if len(zeros) else 1.0


def slope_at_roots(p, y):
    """Return the derivative of the polynomial at its roots; at a multiple root it is 0."""
    return np.polyval(np.polyder(p), y)


@primitive
def roots_of(p):
    """``np.roots`` of an array."""
    return np.roots(p)


@composed(np.roots)
def roots(p):
    return roots_of(coefficients(p))


@pair_rule(roots_of)
def roots_of_pair(roots_of, p):
    """From ``polyval(p, y) = 0``: ``polyval(pdot, y) + slope * ydot = 0``.

    A multiple root has no derivative, and this is infinite there, or NaN.
    """
    y = roots_of(p)

    def roots_of_pushforward(pdot):
        return -(np.vander(y, np.size(p)) @ dense(pdot, p)) / slope_at_roots(p, y)

    def roots_of_pullback(ybar):
        pbar = -adjoint(np.vander(y, np.size(p))) @ (ybar / np.conj(slope_at_roots(p, y)))
        return pbar

    return y, roots_of_pushforward, roots_of_pullback


# ---- fitting --------------------------------------------------------------------------------


@composed(np.polyfit, value="own")
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    deg = int(value(deg))
    order = deg + 1
    x, y = array_of(x) + 0.0, array_of(y) + 0.0
    check_samples(x, y, deg, w, order if cov is True or (cov and cov != "unscaled") else 0)
    rcond = len(x) * np.finfo(dtype_of(x)).eps if rcond is None else rcond
    powers = np.vander(x, order)
    if w is not None:
        w = array_of(w) + 0.0
        powers, y = powers * w[:, None], y * (w[:, None] if np.ndim(y) == 2 else w)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    powers = powers / scale
    c, squares, rank, s = np.linalg.lstsq(powers, y, rcond)
    c = (c.T / scale).T
    if full:
        return c, squares, rank, s, rcond
    if rank != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, 2)
    if not cov:
        return c
    variance = np.linalg.inv(powers.T @ powers) / np.outer(scale, scale)
    factor = 1 if cov == "unscaled" else squares / (len(x) - order)
    return c, (variance if np.ndim(y) == 1 else variance[:, :, None]) * factor


def check_samples(x, y, deg, w, fewest):
    """Raise what NumPy raises where it cannot fit."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if np.ndim(x) != 1:
        raise TypeError("expected 1D vector for x")
    if 0 in np.shape(x):
        raise TypeError("expected non-empty vector for x")
    if np.ndim(y) not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    if w is not None and np.shape(w) != np.shape(x):
        raise TypeError("expected a 1-d array of weights of the same length as y")
    if fewest and len(x) <= fewest:
        raise ValueError("the number of data points must exceed order to scale the "
                         "covariance matrix")  # fmt: skip


# ---- np.polynomial: the lowest power first ----------------------------------------------------


def values_at(x, c):
    """Horner's scheme along the first axis of ``c``; the others broadcast with ``x``."""
    c = c + 0.0 if dtype_of(c).kind in "bui" else c  # as NumPy has it, where integers wrap around
    y = c[-1] + x * 0
    for coefficient in c[-2::-1]:
        y = coefficient + y * x
    return y


def polygrid2d(x, y, c):
    x, y, c = array_of(x), array_of(y), array_of(c)
    rows = values_at(x, np.reshape(c, np.shape(c) + (1,) * np.ndim(x)))
    return values_at(y, np.reshape(rows, np.shape(rows) + (1,) * np.ndim(y)))


def polyval2d(x, y, c):
    x, y, c = array_of(x), array_of(y), array_of(c)
    if np.shape(x) != np.shape(y):
        raise ValueError("x, y are incompatible")
    return values_at(y, values_at(x, np.reshape(c, np.shape(c) + (1,) * np.ndim(x))))


for _body in polygrid2d, polyval2d:
    _f = getattr(np.polynomial.polynomial, _body.__name__)
    if not isinstance(_f, types.FunctionType):  # since NumPy 2.4 they dispatch
        composed(_f)(_body)


if hasattr(np.polynomial.polynomial, "polyvalnd"):  # since NumPy 2.5

    @composed(np.polynomial.polynomial.polyvalnd)
    def polyvalnd(pts, c):
        first, *others = pts
        y = np.polynomial.polynomial.polyval(first, c)
        for x in others:
            y = np.polynomial.polynomial.polyval(x, y, tensor=False)
        return y
