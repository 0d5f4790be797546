"""Entries put into an array of another library: of dask, say, which is made of pieces of others.

``np.add.at`` needs memory to add into. What is read once is set instead; of what is read several
times the shares are added up first, in pairs, so that n of them take log(n) rounds.
"""

import math

import numpy as np


def put(x, shape, dtype, index):
    """Zeros of ``shape``, in chunks, with ``x`` added at ``index``."""
    parts = whole_index(index, len(shape))
    if any(part is None for part in parts):
        # An axis that the index adds is one of length 1 that it reads all of.
        lengths = iter(shape)
        longer = tuple([1 if part is None else next(lengths) for part in parts])
        index = tuple([slice(None) if part is None else part for part in parts])
        return np.reshape(put(x, longer, dtype, index), shape)
    arrays = [k for k, part in enumerate(parts) if isinstance(part, np.ndarray)]
    if not arrays:
        return placed(x, shape, dtype, tuple(parts))
    # Integers beside arrays are arrays, too.
    read = [k for k, part in enumerate(parts) if not isinstance(part, slice)]
    places = np.broadcast_arrays(*(parts[k] for k in read))
    rank = places[0].ndim
    together = read[-1] - read[0] == len(read) - 1
    first = sum(isinstance(part, slice) for part in parts[: read[0]]) if together else 0
    x = np.moveaxis(x, range(first, first + rank), range(rank))
    rest = x.shape[rank:]
    sizes = [shape[k] for k in read]
    flat = np.ravel_multi_index(
        [place % n for place, n in zip(places, sizes, strict=True)], sizes
    ).ravel()
    rows, flat = summed(np.reshape(x, (flat.size, *rest)), flat)
    y = placed(rows, (math.prod(sizes), *rest), dtype, flat)
    y = np.moveaxis(np.reshape(y, (*sizes, *rest)), range(len(read)), read)
    return placed(y, shape, dtype, tuple(p if isinstance(p, slice) else slice(None) for p in parts))


def whole_index(index, rank):
    """Return one part for each axis, and None for each that is added; masks as integers."""
    parts = []
    for part in index if type(index) is tuple else (index,):
        part = np.asarray(part) if isinstance(part, list | tuple) else part
        if isinstance(part, np.ndarray) and part.dtype.kind == "b":
            parts.extend(np.nonzero(part))
        else:
            parts.append(part)
    named = sum(part is not None and part is not ... for part in parts)
    at = next((k for k, part in enumerate(parts) if part is ...), len(parts))
    filling = [slice(None)] * (rank - named)
    return [*parts[:at], *filling, *parts[at + 1 :]]


def summed(x, places):
    """Return the sums of the rows of ``x`` that go to one place, and these places, ascending."""
    order = np.argsort(places, kind="stable")
    places = places[order]
    x = rows_of(x, order)
    while places.size > 1 and np.any(places[1:] == places[:-1]):
        starts = np.concatenate([[True], places[1:] != places[:-1]])
        within = np.arange(places.size) - np.flatnonzero(starts)[np.cumsum(starts) - 1]
        even = np.flatnonzero(within % 2 == 0)
        second = np.minimum(even + 1, places.size - 1)
        paired = (even + 1 < places.size) & (places[second] == places[even])
        mask = np.asarray(np.reshape(paired, (-1,) + (1,) * (x.ndim - 1)), like=x)
        mates = np.where(mask, rows_of(x, second), 0)
        x, places = rows_of(x, even) + mates, places[even]
    return x, places


def rows_of(x, index):
    same = index.size == x.shape[0] and np.array_equal(index, np.arange(index.size))
    return x if same else np.take(x, index, 0)


def placed(x, shape, dtype, index):
    """Zeros of ``shape``, with ``x`` set at ``index``, which reads nothing twice."""
    if x.shape == shape and all_of(index, shape):
        return x.astype(dtype)
    y = np.zeros_like(x, dtype=dtype, shape=shape)
    if 0 not in x.shape:  # dask refuses to write nothing
        y[index] = x
    return y


def all_of(index, shape):
    """Say whether ``index`` reads all there is, in its order."""
    if isinstance(index, np.ndarray):
        return np.array_equal(index, np.arange(shape[0]))
    return all(part == slice(None) for part in index)
