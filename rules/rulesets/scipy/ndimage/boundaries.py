"""Boundary modes of scipy.ndimage: extension of an image beyond its borders, and its adjoint."""

import numpy as np

from .....config import MissingRuleError, user_line
from .... import is_traced

# The names of the modes in np.pad.
PAD_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
CONSTANT_MODES = ("constant", "grid-constant")


def places(n, before, after, mode):
    """From where in an axis of length ``n`` its extension is taken; -1 where from nowhere."""
    if n == 0:
        return np.full(before + after, -1)
    options = {"constant_values": -1} if mode in CONSTANT_MODES else {}
    return np.pad(np.arange(n), (before, after), PAD_MODES[mode], **options)


def folded(x, axis, before, n, mode):
    """Add what lies beyond the ``n`` entries from ``before`` on to where it was taken from.

    The adjoint of extending an axis; for plain arrays.
    """
    x = np.moveaxis(x, axis, 0)
    y = x[before : before + n].copy()
    source = places(n, before, len(x) - n - before, mode)
    for k in (*range(before), *range(before + n, len(x))):
        if source[k] >= 0:
            y[source[k]] += x[k]
    return np.moveaxis(y, 0, axis)


def checked(output, name):
    """Refuse arrays to write into, and dtypes that are not for numbers with derivatives."""
    if isinstance(output, np.ndarray) or is_traced(output):
        raise MissingRuleError(
            f"scipy.ndimage.{name} cannot write a result with a derivative into output"
            f", in {user_line()}.\n"
            "  leave output out, and use the array that is returned"
        )
    if output is not None and np.dtype(output).kind not in "fc":
        raise MissingRuleError(
            f"scipy.ndimage.{name} with output={output!r} rounds, and has no derivative"
            f", in {user_line()}.\n"
            "  give a dtype of floats, or cr.value(input)"
        )


def per_axis(option, axes):
    """One value of an option for each of ``axes``: given for all of them, or one by one."""
    if isinstance(option, str) or np.ndim(option) == 0:
        return [option] * len(axes)
    return list(option)


def normalized(axes, ndim):
    if axes is None:
        return tuple(range(ndim))
    return tuple(int(axis) % ndim for axis in np.atleast_1d(axes))
