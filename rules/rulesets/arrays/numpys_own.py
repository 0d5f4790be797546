"""Compositions whose value has the dtype, or the order of memory, that NumPy gives it."""

import numpy as np

from ... import astype, composed, computed_into, value, with_values


@composed(computed_into, value="own")
def rounded_into(f, shape, dtype, *args, **kwargs):
    return astype(f(*args, **kwargs), dtype)


def laid_out_like(y, x):
    """``y``, in the order of memory that NumPy gives a new array which is to be like ``x``."""
    own = np.empty_like(x, y.dtype)
    own[...] = value(y)
    return with_values(y, own)
