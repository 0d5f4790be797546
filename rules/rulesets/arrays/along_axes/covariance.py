"""Covariances and correlations, composed of sums and products."""

import warnings

import numpy as np

from .... import composed, stop_gradient
from ..elementwise import as_array


@composed(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    x = in_rows(m, rowvar)
    if len(x) == 0:
        return np.zeros((0, 0))  # as NumPy does, whatever y is
    if y is not None:
        x = np.concatenate([x, in_rows(y, rowvar)])
    if dtype is None:
        dtype = np.result_type(x, np.float64)
    x = np.astype(x, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    given = [np.asarray(w) for w in (fweights, aweights) if w is not None]
    if not given:
        centred = weighted = x - np.mean(x, axis=1, keepdims=True)
        count = np.shape(x)[1] - ddof
    else:
        weights = given[0] * given[-1] if len(given) == 2 else given[0]
        total = np.sum(weights)
        centred = x - np.sum(x * weights, axis=1, keepdims=True) / total
        weighted = centred * weights
        count = total - ddof * (1 if aweights is None else np.sum(weights * given[-1]) / total)
    if count <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        count = 0.0
    # A conjugate of real numbers would be a copy, whose product with the array rounds otherwise.
    columns = np.transpose(weighted)
    products = np.dot(centred, np.conj(columns) if np.iscomplexobj(columns) else columns)
    return np.squeeze(np.astype(products * np.true_divide(1, count), dtype))


def in_rows(x, rowvar):
    """Return an array with one row for each variable."""
    x = as_array(x)
    rows = np.atleast_2d(x)
    return np.transpose(rows) if not rowvar and np.ndim(x) != 1 else rows


def within_one(x):
    """Return ``x`` between -1 and 1, without a kink: a full correlation is largest there."""
    return x - stop_gradient(x - np.clip(x, -1, 1))  # rounding may lead out; arccos should not


@composed(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    deviations = np.sqrt(np.real(np.diag(c)))
    c = c / np.expand_dims(deviations, 1) / deviations
    real = within_one(np.real(c))
    return real + 1j * within_one(np.imag(c)) if np.iscomplexobj(c) else real
