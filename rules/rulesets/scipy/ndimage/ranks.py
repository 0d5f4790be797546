"""Filters that choose among the numbers of a window: the largest, the smallest, by their rank.

Equal numbers share a derivative evenly, as in ``np.max``.
"""

import math

import numpy as np
from scipy import ndimage

from .....config import MissingRuleError, user_line
from .... import composed, composed_each, getitem, is_traced, value
from .boundaries import CONSTANT_MODES, checked, normalized, per_axis, places


def extended(x, borders, modes, cval):
    """``x`` and what it is beyond its borders."""
    for axis, (pair, mode) in enumerate(zip(borders, modes)):
        if pair == (0, 0):
            continue
        if mode in CONSTANT_MODES:
            widths = [(0, 0)] * np.ndim(x)
            widths[axis] = pair
            x = np.pad(x, widths, constant_values=cval)
        else:
            x = np.take(x, places(np.shape(x)[axis], *pair, mode), axis)
    return x


def windows(x, footprint, origins, modes, cval):
    """In a new last axis the entries that the footprint meets at each place."""
    borders = [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(footprint.shape, origins)]
    full = extended(x, borders, modes, cval)
    flat = np.arange(math.prod(np.shape(full))).reshape(np.shape(full))
    corners = flat[tuple(slice(n) for n in np.shape(x))]
    offsets = flat[tuple(slice(n) for n in footprint.shape)][footprint]
    return np.take(np.ravel(full), corners[..., None] + offsets)


def ranked(x, own, footprint, origins, modes, cval):
    """The pixels that ``own`` was taken from; None where there are ties."""
    plain = value(x)
    found = windows(plain, footprint, origins, modes, value(cval))
    pixels = windows(np.arange(plain.size).reshape(plain.shape), footprint, origins, modes, -1)
    here = found == own[..., None]
    lowest = np.min(np.where(here, pixels, plain.size), axis=-1)
    highest = np.max(np.where(here, pixels, -1), axis=-1)
    if not np.array_equal(lowest, highest):
        return None
    y = np.take(np.ravel(x), np.maximum(lowest, 0))
    return y if np.all(lowest >= 0) else np.where(lowest < 0, cval, y)


def window_options(x, size, footprint, mode, origin, axes):
    """The footprint with all axes of the image, and an origin and a mode for each."""
    ndim = np.ndim(x)
    axes = normalized(axes, ndim)
    if footprint is None:
        footprint = np.ones([int(n) for n in per_axis(size, axes)], bool)
    footprint = np.asarray(footprint, bool)
    order = np.argsort(axes)
    shape, origins, modes = [1] * ndim, [0] * ndim, ["reflect"] * ndim
    given = per_axis(origin, axes), per_axis(mode, axes)
    for k, axis in enumerate(axes):
        shape[axis] = footprint.shape[k]
        origins[axis], modes[axis] = given[0][k], given[1][k]
    return np.transpose(footprint, order).reshape(shape), origins, modes


def named_window(x, options):
    """``window_options`` by the names of SciPy's; a footprint counts more than a size."""
    given = {"size": None, "footprint": None, "mode": "reflect", "origin": 0, "axes": None}
    given |= {name: x for name, x in options.items() if name in given}
    if given["footprint"] is not None:
        given["size"] = None
    return window_options(x, **given)


def as_chosen(y, own, name):
    """Return ``y``, whose numbers are those of ``own`` unless SciPy chose otherwise."""
    if not np.allclose(value(y), own, rtol=1e-5, equal_nan=True):
        raise MissingRuleError(
            f"scipy.ndimage.{name} chose other numbers here than those of its footprint"
            f", in {user_line()}.\n"
            "  leave holes out of footprints along one axis: SciPy goes by their size alone"
        )
    return y


def entry_of_rank(x, rank):
    n = np.shape(x)[-1]
    if rank % n in (0, n - 1):
        return np.min(x, axis=-1) if rank % n == 0 else np.max(x, axis=-1)
    return getitem(np.sort(x, axis=-1), (..., rank))


def rank_of_percentile(n, percentile):
    percentile = percentile + 100.0 if percentile < 0 else percentile
    return n - 1 if percentile == 100 else int(float(n) * percentile / 100.0)


FIRST = {ndimage.percentile_filter: "percentile", ndimage.rank_filter: "rank"}
RANKS = {
    ndimage.minimum_filter: lambda n, _: 0,
    ndimage.maximum_filter: lambda n, _: n - 1,
    ndimage.median_filter: lambda n, _: n // 2,
    ndimage.rank_filter: lambda n, rank: rank,
    ndimage.percentile_filter: rank_of_percentile,
}


@composed_each({f: (f, rank) for f, rank in RANKS.items()}, value="own")
def of_rank(entry, input, *args, own, **options):
    """The entry of some rank in each window."""
    f, rank_of = entry
    first = (FIRST[f],) if f in FIRST else ()
    names = (*first, "size", "footprint", "output", "mode", "cval", "origin")
    options = {**dict(zip(names, args)), **options}
    checked(options.pop("output", None), f.__name__)
    where = (*named_window(input, options), options.get("cval", 0.0))
    y = ranked(input, own, *where)
    if y is not None:
        return y
    found = windows(input, *where)
    rank = rank_of(np.shape(found)[-1], options.get(*first) if first else None)
    return as_chosen(entry_of_rank(found, rank), own, f.__name__)


@composed_each({ndimage.minimum_filter1d: np.min, ndimage.maximum_filter1d: np.max}, value="own")
def extreme_along_axis(choose, input, size, axis=-1, output=None, mode="reflect", cval=0.0,
                       origin=0, *, own):  # fmt: skip
    checked(output, "extreme_filter1d")
    where = (*window_options(input, size, None, mode, origin, axis), cval)
    y = ranked(input, own, *where)
    if y is not None:
        return y
    return as_chosen(choose(windows(input, *where), axis=-1), own, "extreme_filter1d")


# ---- morphology of grey images --------------------------------------------------------------


FILTER_OPTIONS = ("size", "footprint", "structure", "output", "mode", "cval", "origin")


def morphology(f, largest):
    """Erosion takes the smallest entry less ``structure``, dilation the largest and ``structure``.

    Dilation goes by the window turned round.
    """

    @composed(f, value="own")
    def filtered(input, *args, own, **options):
        options = {**dict(zip(FILTER_OPTIONS, args)), **options}
        checked(options.get("output"), f.__name__)
        structure = options.get("structure")
        if structure is not None and options.get("footprint") is None:
            options["footprint"] = np.ones(np.shape(structure), bool)
        footprint, origins, modes = named_window(input, options)
        heights = 0.0
        if structure is not None:
            heights = np.reshape(structure, footprint.shape)
        if largest:
            origins = [-o - (n % 2 == 0) for n, o in zip(footprint.shape, origins)]
            footprint = np.flip(footprint)
            heights = heights if structure is None else np.flip(heights)
        if structure is not None:
            heights = np.take(np.ravel(heights), np.flatnonzero(footprint))
        where = (footprint, origins, modes, options.get("cval", 0.0))
        if structure is None and (y := ranked(input, own, *where)) is not None:
            return y
        found = windows(input, *where)
        y = np.max(found + heights, axis=-1) if largest else np.min(found - heights, axis=-1)
        return as_chosen(y, own, f.__name__)

    return filtered


erosion = morphology(ndimage.grey_erosion, largest=False)
dilation = morphology(ndimage.grey_dilation, largest=True)


def eroded(x, options):
    return erosion(x, **options) if is_traced(x) else ndimage.grey_erosion(x, **options)


def dilated(x, options):
    return dilation(x, **options) if is_traced(x) else ndimage.grey_dilation(x, **options)


MADE_OF_BOTH = {
    ndimage.grey_opening: lambda x, o: dilated(eroded(x, o), o),
    ndimage.grey_closing: lambda x, o: eroded(dilated(x, o), o),
    ndimage.morphological_gradient: lambda x, o: dilated(x, o) - eroded(x, o),
    ndimage.morphological_laplace: lambda x, o: dilated(x, o) + eroded(x, o) - 2 * x,
    ndimage.white_tophat: lambda x, o: x - dilated(eroded(x, o), o),
    ndimage.black_tophat: lambda x, o: eroded(dilated(x, o), o) - x,
}


@composed_each(MADE_OF_BOTH, value="own")
def made_of_both(formula, input, *args, **options):
    options = {**dict(zip(FILTER_OPTIONS, args)), **options}
    checked(options.pop("output", None), "grey morphology")
    return formula(input, options)
