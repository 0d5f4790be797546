"""Functions of NumPy that belong to no family, and those whose arguments are no numbers."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ... import composed, non_differentiable, saved, written_as_text


@composed(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    y = a
    for axis in np.atleast_1d(axes).tolist():
        axis = axis + np.ndim(a) if axis < 0 else axis
        reduced = func(y, axis)
        kept = reduced if np.ndim(reduced) == np.ndim(y) else np.expand_dims(reduced, axis)
        if np.ndim(kept) != np.ndim(y):
            raise ValueError("function is not returning an array of the correct shape")
        y = kept
    return y


@composed(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    """Slice off zeros at the ends; they depend on nothing as long as they are 0."""
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(np.ndim(filt)) if axis is None else normalize_axis_tuple(axis, np.ndim(filt))
    places = np.argwhere(filt)
    index = [slice(None)] * np.ndim(filt)
    for k in axes:
        first, last = (places[:, k].min(), places[:, k].max()) if len(places) else (0, -1)
        front = "f" in trim or not len(places)
        back = "b" in trim or not len(places)
        index[k] = slice(first if front else None, last + 1 if back else None)
    return filt[tuple(index)] if index else filt


# Dates cannot be perturbed.
non_differentiable(np.busday_count, np.busday_offset, np.datetime_as_string, np.is_busday)
saved(np.save, np.savetxt, np.savez, np.savez_compressed)
written_as_text(np.array2string, np.array_repr, np.array_str)
