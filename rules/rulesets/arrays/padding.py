"""``np.pad`` in all its modes.

Copies of entries come by a map of indices, everything else axis by axis, as NumPy builds it:
what pads an axis depends on the axes before it, with their padding.
"""

import numpy as np

from ....config import MissingRuleError, user_line
from ... import array_of, astype, composed, dtype_of, is_traced, own_valued, value
from .building import indices_of
from .elementwise import as_array
from .shapes import pad_widths, pad_zeros

STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


@composed(np.pad)
def pad(array, pad_width, mode="constant", **options):
    if mode == "constant" and not options:  # as nearly always, which NumPy does itself
        return pad_zeros(as_array(array), pad_width)
    return padded(array, pad_width, mode, **options)


def in_any_mode(array, pad_width, mode, **options):
    array = as_array(array)
    if callable(mode):
        raise MissingRuleError(
            "the rule of numpy.pad does not support a function as mode: it writes into plain "
            f"arrays, in {user_line()}.\n  build the parts, and join them with np.concatenate"
        )
    check_call(array, pad_width, mode, options)
    if mode == "empty":
        return pad_zeros(array, pad_width)
    if mode == "constant":
        constants = options.get("constant_values", 0)
        zero = not is_traced(constants) and np.ndim(constants) == 0 and constants == 0
        return pad_zeros(array, pad_width) if zero else pad_constants(array, pad_width, constants)
    if mode in STATISTICS or mode == "linear_ramp" or options.get("reflect_type") == "odd":
        return pad_by_axis(array, pad_width, mode, options)
    return np.take(array, np.pad(indices_of(array), pad_width, mode))


padded = own_valued(np.pad, in_any_mode)


def check_call(array, pad_width, mode, options):
    """Let NumPy refuse what it does not take; of the result only the dtype is looked at."""
    plain = {name: value(option) for name, option in options.items()}
    # Small numbers where there are no others: what is put around them may be NaN.
    zeros = np.zeros_like(value(array), **({} if plain else {"dtype": np.int8}))
    np.pad(zeros, pad_width, mode, **plain)
    if dtype_of(array).kind in "iu" and mode in ("linear_ramp", "mean", "median"):
        raise MissingRuleError(
            f"numpy.pad with mode={mode!r} rounds integers, and would lose their derivatives"
            f", in {user_line()}.\n"
            "  convert the array before, with x.astype(float)"
        )


def pad_constants(array, pad_width, constants):
    """Pad with constants, which may be traced: one, or one before and after for each axis."""
    if not is_traced(constants):
        around = np.pad(np.zeros_like(value(array)), pad_width, constant_values=constants)
        return pad_zeros(array, pad_width) + around
    shape = (np.ndim(array), 2)
    constants = astype(np.broadcast_to(array_of(constants), shape), dtype_of(array))
    source = np.concatenate([np.ravel(array), np.ravel(constants)])
    numbers = indices_of(constants, np.size(array))
    return np.take(source, np.pad(indices_of(array), pad_width, constant_values=numbers))


def pad_by_axis(array, pad_width, mode, options):
    pairs = (np.ndim(array), 2)
    ends = end_values(options.get("end_values", 0), pairs, dtype_of(array))
    counts = np.broadcast_to(np.array(options.get("stat_length"), object), pairs)
    for axis, widths in enumerate(pad_widths(pad_width, np.ndim(array))):
        if widths[0] == widths[1] == 0:  # the axis may be empty
            continue
        x = np.moveaxis(array, axis, -1)
        if mode in STATISTICS:
            x = with_statistics(x, widths, counts[axis], STATISTICS[mode])
        elif mode == "linear_ramp":
            x = with_ramps(x, widths, ends[axis])
        else:
            x = with_odd_reflections(x, widths, int(mode == "symmetric"))
        array = np.moveaxis(x, -1, axis)
    return array


def end_values(ends, pairs, dtype):
    """One end before and one after for each axis; plain ones as numbers that have no dtype."""
    if is_traced(ends):
        return np.broadcast_to(astype(array_of(ends), dtype), pairs)
    return np.broadcast_to(ends, pairs).tolist()


def with_statistics(x, widths, counts, statistic):
    n = np.shape(x)[-1]
    counts = [n if count is None else min(n, count) for count in counts]
    chunks = x[..., : counts[0]], x[..., n - counts[1] :]
    before, after = (
        np.broadcast_to(statistic(chunk, axis=-1, keepdims=True), (*np.shape(x)[:-1], width))
        for chunk, width in zip(chunks, widths)
    )
    return np.concatenate([before, x, after], axis=-1)


def with_ramps(x, widths, ends):
    before, after = (
        np.linspace(end, edge, width, endpoint=False, dtype=dtype_of(x), axis=-1)
        for end, edge, width in zip(ends, (x[..., 0], x[..., -1]), widths)
    )
    return np.concatenate([before, x, np.flip(after, -1)], axis=-1)


def with_odd_reflections(x, widths, repeats_edge):
    """Turn ``x`` about its ends, again and again until the widths are filled."""
    before, after = widths
    period = np.shape(x)[-1]
    if period == 1:  # NumPy repeats the only entry.
        return np.repeat(x, before + 1 + after, axis=-1)
    first = 1 - repeats_edge
    while before > 0 or after > 0:
        n = np.shape(x)[-1]
        step = period - first  # from an entry to where it comes again, and back
        reach = (n - first) // step * step
        left, right = min(reach, before), min(reach, after)
        head = 2 * x[..., :1] - np.flip(x[..., first : first + left], -1)
        tail = 2 * x[..., -1:] - np.flip(x[..., n - first - right : n - first], -1)
        x = np.concatenate([head, x, tail], axis=-1)
        before, after = before - left, after - right
    return x
