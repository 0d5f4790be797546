"""Smoothing by a penalty on differences, after Whittaker and Henderson (since SciPy 1.18)."""

import numpy as np
from scipy import signal, special

from .....config import MissingRuleError, user_line
from .... import composed, library_value, value, with_values
from ..linalg.banded import solveh_banded
from ..optimize.results import TracedResult
from .filters import array


def bands_of_penalty(n, order):
    """The lower form of ``D.T @ D``, where ``D @ x`` are differences of n numbers."""
    d = (-1.0) ** np.arange(order + 1) * special.binom(order, np.arange(order + 1))
    bands = [np.convolve(np.ones(n - order), d[: order + 1 - i] * d[i:]) for i in range(order + 1)]
    return np.stack([np.pad(band, (0, i)) for i, band in enumerate(bands)])


def scipys_smooth(y, lamb, order, weights):
    return signal.whittaker_henderson(y, lamb=lamb, order=order, weights=weights).x


def whittaker_henderson(signal, *, lamb="reml", order=2, weights=None):
    """From ``(w + lamb * D.T @ D) @ x = w * y``, with the weights ``w`` on a diagonal."""
    if isinstance(lamb, str):
        raise MissingRuleError(
            "scipy.signal.whittaker_henderson has no derivative where it looks for lamb, in "
            f"{user_line()}.\n  give lamb: that which it finds without a derivative is a field of "
            "its result"
        )
    own = library_value(scipys_smooth, (signal, lamb, order, weights), {})
    y, w = array(signal) * 1.0, 1.0 if weights is None else array(weights) * 1.0
    w, y = np.broadcast_to(w, np.shape(y)), np.where(np.isfinite(value(y)), y, 0.0)
    diagonal = np.eye(order + 1, 1) * w
    x = solveh_banded(lamb * bands_of_penalty(np.size(own), order) + diagonal, w * y, lower=True)
    return TracedResult({"x": own, "lamb": lamb}, x=with_values(x, own), lamb=lamb)


if hasattr(signal, "whittaker_henderson"):
    composed(signal.whittaker_henderson)(whittaker_henderson)
