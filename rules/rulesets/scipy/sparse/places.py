"""Sparsity pattern: the indices of the stored entries, constant while their values are traced.

The pattern is kept as an array of SciPy's in which the entries are numbered from 1, so that
whatever SciPy does to arrays (transpose, slice, convert, stack) it does to patterns.
"""

import copy
import functools

import numpy as np
from scipy import sparse

BY_INDEX = ("coo", "csc", "csr")  # formats with an index for each entry


class EntryPlaces:
    """The pattern of a sparse array: ``numbered`` stores 1, 2, ... for them, 0 as padding.

    A pattern that is ``full`` is that of a dense array, of which SciPy's holds what is not zero:
    the derivative has all entries, for one that is zero need not stay so.
    """

    def __init__(self, numbered, ordered=False, full=False):
        self.numbered = numbered
        self.full = full and numbered.format in BY_INDEX
        if ordered:  # as is known; else it is looked at
            self.ids = None

    @property
    def shape(self):
        return self.numbered.shape

    @functools.cached_property
    def count(self):
        return np.count_nonzero(self.numbered.data)

    @functools.cached_property
    def coords(self):
        """The index of each entry, as one array for each axis."""
        stored = self.numbered.tocoo()
        axes = getattr(stored, "coords", None) or (stored.row, stored.col)
        if self.ids is None and self.numbered.format in BY_INDEX:
            return tuple(axis.astype(np.intp) for axis in axes)
        present = stored.data > 0
        order = np.argsort(stored.data[present])
        return tuple(axis[present][order].astype(np.intp) for axis in axes)

    @functools.cached_property
    def ids(self):
        """Entry number of each value that SciPy stores; None where all are stored in order."""
        ids = self.numbered.data
        return None if in_order(np.ravel(ids)) else ids

    def stored(self, entries):
        """Return ``entries`` as SciPy stores them, in blocks or diagonals, and padded."""
        if self.ids is None:
            return np.reshape(entries, np.shape(self.numbered.data))
        return taken(entries, self.ids)

    def holding(self, entries):
        """Return SciPy's array with plain ``entries``."""
        if self.full:
            y = self.numbered.copy()
            y.data = np.array(self.stored(entries))
            y.eliminate_zeros()
            return y
        if self.numbered.format in ("csr", "csc") and self.numbered.has_canonical_format:
            y = copy.copy(self.numbered)
            y.data = self.stored(entries)
            return y
        # SciPy sorts in place what is not in order, so indices and data are to be its own.
        y = self.numbered.copy()
        y.data = np.array(self.stored(entries))
        return y

    @functools.cached_property
    def T(self):  # noqa: N802 - as of an array
        ordered = self.numbered.format in BY_INDEX and self.ids is None
        return EntryPlaces(self.numbered.T, ordered, self.full)

    @functools.cached_property
    def flags(self):
        """Ones at the entries, in rows."""
        ones = np.ones(self.count, bool)
        return sparse.csr_array((ones, self.coords), self.shape)

    @functools.cached_property
    def repeated(self):
        """Say whether an index has several entries, whose sum is meant."""
        if self.numbered.format == "dia" or getattr(self.numbered, "has_canonical_format", False):
            return False
        steps = np.diff(self.keys)
        if np.all(steps > 0):
            return False
        return bool(np.any(np.diff(np.sort(self.keys)) == 0))

    @property
    def keys(self):
        """The entries' indices in the flattened array."""
        return np.ravel_multi_index(self.coords, self.shape)


def in_order(ids):
    return ids.size == 0 or bool(ids[0] == 1 and np.all(np.diff(ids) == 1))


def taken(entries, ids):
    """Return ``entries[ids - 1]``, and 0 where an id is 0."""
    if np.all(ids > 0):
        return entries[ids - 1]
    if np.size(entries) == 0:
        return np.zeros_like(entries, shape=np.shape(ids))
    return np.where(ids > 0, entries[np.maximum(ids, 1) - 1], np.zeros_like(entries[:1]))


def numbered(x):
    """Return a copy of SciPy's ``x`` with its stored numbers numbered from 1."""
    y = x.copy()
    if x.format == "dia":
        row = np.arange(x.data.shape[1]) - x.offsets[:, None]
        column = np.arange(x.data.shape[1])
        inside = (row >= 0) & (row < x.shape[0]) & (column < x.shape[1])
        y.data = np.where(inside, np.cumsum(inside).reshape(inside.shape), 0)
    else:
        y.data = np.arange(1, x.data.size + 1).reshape(x.data.shape)
    return y
