"""Roots, fits and Vandermonde matrices of the six series of ``np.polynomial``, for traced values.

``np.polynomial`` is plain Python that NumPy's protocols do not see. Traced values run through
most of it, but not through its eigenvalues and least squares, and through its Vandermonde matrices
number by number. ``FUNCTIONS`` has, by name (``chebroots``, ``legfit`` ...), functions that take
their place, and ``CLASSES`` the series that use these. ``chainrules.numpy.polynomial`` offers both.
"""

import functools
import warnings

import numpy as np
from numpy import polynomial

from ... import (
    AbstractStandIn,
    Traced,
    array_of,
    as_object_array,
    dense,
    dtype_of,
    healed,
    pair_rule,
    primitive,
)
from .products import adjoint

MODULES = {
    "poly": polynomial.polynomial, "cheb": polynomial.chebyshev, "leg": polynomial.legendre,
    "herm": polynomial.hermite, "herme": polynomial.hermite_e, "lag": polynomial.laguerre,
}  # fmt: skip
FUNCTIONS = {}
CLASSES = {}


def entries(x):
    """Return a traced array as an object array, on which NumPy's series compute entry by entry."""
    return as_object_array(x) if isinstance(x, Traced) else x


def define_vander(prefix, module):
    """Define the matrix of the polynomials of a series at ``x``: their slopes are series in them.

    From ``e_k' = sum_j der(e)[j, k] e_j``: ``ydot = (y @ der(e)) * xdot``.
    """
    der, plain_vander = (getattr(module, prefix + name) for name in ("der", "vander"))

    @primitive
    @functools.wraps(plain_vander)
    def vander(x, deg):
        points = healed(x)
        return plain_vander(x, deg) if points is x else vander(array_of(points), deg)

    @pair_rule(vander)
    def vander_pair(vander, x, *, deg):
        y = vander(x, deg)
        coefficients = der(np.eye(np.shape(y)[-1]))
        slopes = y[..., : len(coefficients)] @ coefficients

        def vander_pushforward(xdot):
            return slopes * np.expand_dims(np.atleast_1d(dense(xdot, x)), -1)

        def vander_pullback(ybar):
            return np.reshape(np.sum(np.conj(slopes) * ybar, axis=-1), np.shape(x))

        return y, vander_pushforward, vander_pullback

    return vander


def define_roots(prefix, module, vander):
    """Define the roots of a series, and differentiate them where they are simple.

    From ``val(y, c) = 0``: ``val(y, cdot) + slope * ydot = 0``.
    """
    val, der = (getattr(module, prefix + name) for name in ("val", "der"))
    plain_roots = getattr(module, f"{prefix}roots")

    def value_at(x, c):
        return healed(val(entries(x), entries(c)))

    @primitive
    @functools.wraps(plain_roots)
    def roots(c):
        coefficients = healed(c)
        return plain_roots(c) if coefficients is c else roots(array_of(coefficients))

    @pair_rule(roots)
    def roots_pair(roots, c):
        y = roots(c)
        n = np.size(c)

        def roots_pushforward(cdot):
            return -value_at(y, dense(cdot, c)) / value_at(y, healed(der(entries(c))))

        def roots_pullback(ybar):
            columns = vander(y, n - 1)
            slope = value_at(y, healed(der(entries(c))))
            return -adjoint(columns) @ (ybar / np.conj(slope))

        return y, roots_pushforward, roots_pullback

    return roots


def define_fit(prefix, vander):
    def fit(x, y, deg, rcond=None, full=False, w=None):
        """Least squares in the powers ``deg``: all up to a number, or those of a list."""
        x, y = array_of(healed(x)) + 0.0, array_of(healed(y)) + 0.0
        powers = np.arange(deg + 1) if np.ndim(deg) == 0 else np.sort(deg)
        columns = vander(x, int(powers[-1]))[:, powers]
        if w is not None:
            w = array_of(healed(w)) + 0.0
            columns, y = columns * w[:, None], y * (w[:, None] if np.ndim(y) == 2 else w)
        rcond = len(x) * np.finfo(dtype_of(x)).eps if rcond is None else rcond
        scale = np.sqrt(np.sum(np.real(np.conj(columns) * columns), axis=0))
        found, squares, rank, s = np.linalg.lstsq(columns / scale, y, rcond)
        if rank != len(powers) and not full:
            warnings.warn("The fit may be poorly conditioned", np.exceptions.RankWarning, 2)
        places = np.equal.outer(np.arange(powers[-1] + 1), powers).astype(found.dtype)
        c = places @ (found.T / scale).T
        return (c, [squares, rank, s, rcond]) if full else c

    fit.__name__ = fit.__qualname__ = f"{prefix}fit"
    return fit


def roots_in_domain(self):
    """The roots of the series, which may be complex, moved to its domain."""
    offset, scale = polynomial.polyutils.mapparms(self.window, self.domain)
    return offset + scale * self._roots(self.coef)


for _prefix, _module in MODULES.items():
    FUNCTIONS[f"{_prefix}vander"] = _vander = define_vander(_prefix, _module)
    FUNCTIONS[f"{_prefix}roots"] = define_roots(_prefix, _module, _vander)
    FUNCTIONS[f"{_prefix}fit"] = define_fit(_prefix, _vander)
    _types = [x for x in vars(_module).values() if isinstance(x, type)]
    _series = next(x for x in _types if x.__module__ == _module.__name__)
    _names = ("roots", "fit")
    _methods: dict = {f"_{name}": staticmethod(FUNCTIONS[_prefix + name]) for name in _names}
    _methods |= {"roots": roots_in_domain, "original": _series, "__module__": __name__}
    CLASSES[_series.__name__] = AbstractStandIn(_series.__name__, (_series,), _methods)
