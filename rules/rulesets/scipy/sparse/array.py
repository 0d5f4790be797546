"""A sparse array whose stored entries are traced, at places that are constant."""

import functools

import numpy as np
from scipy import sparse

from .....config import MissingRuleError, user_line
from .... import Traced, array_of, as_library, dtype_of, innermost, value
from ....containers import Children, registered
from ....known_classes import of_libraries
from . import products
from .matrices import TracedMatrix, dense
from .places import EntryPlaces, numbered, taken
from .seeing import seeing

ATTRIBUTES = {
    "blocksize", "col", "format", "has_canonical_format", "has_sorted_indices", "indices", "indptr",
    "ndim", "offsets", "row", "shape",
}  # fmt: skip
PLACES = {"col", "coords", "indices", "indptr", "row"}
# Elementwise functions that SciPy has as methods: zero where their argument is zero.
ELEMENTWISE = (
    "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p",
    "rad2deg", "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip


class SparseArray:
    """Stands for one of SciPy's sparse arrays: ``entries`` may be traced, ``places`` are constant.

    Its methods are SciPy's. What SciPy leaves out of a result because it happens to be zero is
    kept here, for it need not stay zero.
    """

    __slots__ = ("entries", "places")
    __array_ufunc__ = None  # operators of NumPy's arrays leave them to those below
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, entries, places):
        self.entries = entries
        self.places = places

    def __repr__(self):
        return f"<{self.format} array of {self.dtype}, shape {self.shape}, {self.nnz} entries>"

    # ---- what it is ----

    def __getattr__(self, name):
        if name in ATTRIBUTES or (name == "coords" and self.format == "coo"):
            if name in PLACES:
                self.refuse_places(name)
            return getattr(self.places.numbered, name)
        if not name.startswith("_") and hasattr(type(self.places.numbered), name):
            raise MissingRuleError(
                f"{name} of a sparse array with traced entries has no rule, in {user_line()}.\n"
                "  write toarray() first, or cr.value(x) where no derivative is wanted"
            )
        raise AttributeError(f"a sparse array has no attribute {name!r}")

    @property
    def data(self):
        self.refuse_places("data")
        return self.places.stored(self.entries)

    def refuse_places(self, name):
        """Refuse what leaves out entries of a dense array that are zero, and may move."""
        if self.nnz < self.places.count:
            raise MissingRuleError(
                f"{name} of a sparse array that was made of a traced dense one leaves out what is "
                f"zero, and need not stay so, in {user_line()}.\n"
                f"  write {self.stands_for().__name__}((x[i, j], (i, j)), shape) in place of that "
                "of x, with i and j of your own, or cr.value of it where no derivative is wanted"
            )

    @property
    def dtype(self):
        return dtype_of(self.entries)

    @property
    def nnz(self):
        places = self.places
        return np.count_nonzero(value(self.entries)) if places.full else places.count

    size = nnz

    def nonzero(self):
        return self.to_scipy().nonzero()

    def count_nonzero(self, axis=None):
        return self.to_scipy().count_nonzero()

    def getnnz(self, axis=None):
        return self.to_scipy().getnnz(axis)

    @property
    def is_matrix(self):
        return isinstance(self.places.numbered, sparse.spmatrix)

    def stands_for(self):
        return type(self.places.numbered)

    def to_scipy(self):
        """Return SciPy's array with the numbers under the entries."""
        return seeing(self.places.holding(value(self.entries)))

    def with_entries(self, entries):
        return SparseArray(entries, self.places)

    def __len__(self):
        return len(self.places.numbered)  # SciPy's own error

    def __bool__(self):
        return bool(self.places.numbered)

    # ---- the entries at other places ----

    def summed(self):
        """Return the array with one entry for each index."""
        places = self.places
        if not places.repeated:
            return self
        keys, groups = np.unique(places.keys, return_inverse=True)
        coords = np.unravel_index(keys, self.shape)
        whole = at_coords(np.arange(1, len(keys) + 1), coords, self)
        entries = products.summed(self.entries, groups, len(keys))
        return renumbered(entries, whole if self.format == "coo" else whole.asformat(self.format))

    def sum_duplicates(self):
        whole = self.summed()
        self.entries, self.places = whole.entries, whole.places

    def eliminate_zeros(self):
        """Keep them: an entry that is zero here need not stay so."""

    def moved(self, f):
        """Return what ``f``, which only moves entries, makes of the array."""
        whole = self.summed()
        return renumbered(whole.entries, f(whole.places.numbered), whole.places.full)

    @property
    def T(self):  # noqa: N802 - SciPy's name
        return self.transpose()

    mT = T  # noqa: N815 - as SciPy has it since 1.18

    def transpose(self, axes=None, copy=False):
        if axes not in (None, (1, 0)):
            return self.moved(lambda x: x.transpose(axes))  # SciPy's own error
        return SparseArray(self.entries, self.places.T)

    def reshape(self, *shape, **options):
        return self.moved(lambda x: x.reshape(*shape, **options))

    def __getitem__(self, index):
        return self.moved(lambda x: x[index])

    def copy(self):
        return self.with_entries(self.entries)

    def asformat(self, format, copy=False):
        if format in ("lil", "dok"):
            raise MissingRuleError(
                f"a sparse array of format {format} cannot hold traced entries, in {user_line()}.\n"
                "  write coo_array((data, (row, col)), shape)"
            )
        return self if format in (None, self.format) else self.moved(lambda x: x.asformat(format))

    def tocsr(self, copy=False):
        return self.asformat("csr")

    def tocsc(self, copy=False):
        return self.asformat("csc")

    def tocoo(self, copy=False):
        if self.format == "coo":
            return self
        return renumbered(self.entries, self.places.numbered.tocoo(), self.places.full)

    def todia(self, copy=False):
        return self.asformat("dia")

    def tobsr(self, blocksize=None, copy=False):
        return self.moved(lambda x: x.tobsr(blocksize))

    def tolil(self, copy=False):
        return self.asformat("lil")

    def todok(self, copy=False):
        return self.asformat("dok")

    def getrow(self, i):
        return self.moved(lambda x: x.getrow(i))

    def getcol(self, j):
        return self.moved(lambda x: x.getcol(j))

    def diagonal(self, k=0):
        whole = self.summed()
        return taken(whole.entries, whole.places.numbered.diagonal(k))

    # ---- dense forms and sums ----

    def toarray(self, order=None, out=None):
        if out is not None:
            raise MissingRuleError(
                f"toarray(out=...) has no rule, in {user_line()}.\n  leave it out"
            )
        return products.toarray(self.entries, self.places, order)

    def todense(self, order=None, out=None):
        return dense(self.toarray(order, out), self.is_matrix)

    def sum(self, axis=None, dtype=None, out=None):
        if out is not None:
            raise MissingRuleError(f"sum(out=...) has no rule, in {user_line()}.\n  leave it out")
        if isinstance(axis, tuple):
            axis = axis[0] if len(axis) == 1 else None
        y = products.total(self.entries, self.places, axis)
        return dense(y if dtype is None else y.astype(dtype), self.is_matrix)

    def mean(self, axis=None, dtype=None, out=None):
        count = np.prod(self.shape) if axis is None else self.shape[axis]
        return dense(as_dense(self.sum(axis, dtype, out)) / count, self.is_matrix)

    def trace(self, offset=0):
        return np.sum(self.diagonal(offset))

    # ---- entry by entry ----

    def astype(self, dtype, casting="unsafe", copy=True):
        return self.with_entries(self.entries.astype(dtype))

    def conj(self, copy=True):
        return self.with_entries(np.conj(self.entries))

    conjugate = conj

    @property
    def real(self):
        return self.with_entries(np.real(self.entries))

    @property
    def imag(self):
        return self.with_entries(np.imag(self.entries))

    def __neg__(self):
        return self.with_entries(-self.entries)

    def __abs__(self):
        whole = self.summed()
        return whole.with_entries(np.abs(whole.entries))

    def power(self, n, dtype=None):
        if np.ndim(n) or value(n) <= 0:
            raise NotImplementedError("input is not scalar, or would make zeros something else")
        whole = self.summed()
        y = whole.with_entries(whole.entries**n)
        return y if dtype is None else y.astype(dtype)


def _elementwise(name):
    f = getattr(np, name)

    def method(self):
        whole = self.summed()
        return whole.with_entries(f(whole.entries))

    method.__name__ = name
    return method


def _compared(name):
    def compare(self, other):
        return getattr(self.to_scipy(), name)(plain(other))

    compare.__name__ = name
    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"):
    setattr(SparseArray, _name, _compared(_name))
for _name in ELEMENTWISE:
    setattr(SparseArray, _name, _elementwise(_name))


def _children(x):
    """The entries are what moves."""
    return Children(("entries",), (x.entries,), lambda values: x.with_entries(*values))


registered[SparseArray] = _children


def issparse(x):
    """Say whether ``x`` is a sparse array: SciPy's, or one with traced entries."""
    return type(x) is SparseArray or sparse.issparse(x)


def plain(x):
    """Return ``x`` with nothing traced in it: SciPy's own arrays, and plain numbers."""
    return x.to_scipy() if type(x) is SparseArray else value(x)


def constant(f):
    """Return a function that is ``f``, of SciPy's, of plain numbers: its result does not move."""

    @functools.wraps(f)
    def calls(*args, **kwargs):
        return f(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})

    return calls


as_library[SparseArray] = of_libraries[SparseArray] = SparseArray.to_scipy


def as_dense(x):
    """Return ``x``, which is not sparse, as an array; a number, whose dtype is weak, as it is."""
    if type(x) is TracedMatrix:
        return x.x
    if isinstance(x, Traced | int | float | complex):
        return x
    return array_of(x) if innermost((x,)) else np.asarray(x)


def lifted(x):
    """Return ``x``, sparse, as a ``SparseArray``: its entries are constant if it is SciPy's."""
    if type(x) is SparseArray:
        return x
    x = x if hasattr(x, "data") and x.format not in ("lil", "dok") else x.tocsr()
    whole = EntryPlaces(numbered(x))
    return SparseArray(np.ravel(x.data)[np.ravel(whole.numbered.data) > 0], whole)


def renumbered(entries, y, full=False):
    """Return the array of the entries at the places where ``y`` has their numbers."""
    if not sparse.issparse(y):  # an entry, or its dense form
        if np.ndim(y) > 0:
            return taken(entries, np.asarray(y))
        return entries[y - 1] if y > 0 else dtype_of(entries).type(0)
    ids = np.ravel(y.data)
    present = ids > 0
    chosen = ids[present]
    y = y.copy()
    y.data = np.where(present, np.cumsum(present), 0).reshape(y.data.shape)
    whole = np.array_equal(chosen, np.arange(1, np.size(entries) + 1))
    return SparseArray(entries if whole else entries[chosen - 1], EntryPlaces(y, full=full))


def at_coords(data, coords, like):
    """Return SciPy's coo array or matrix, as ``like`` is one."""
    make = sparse.coo_matrix if like.is_matrix else sparse.coo_array
    return make((data, coords), shape=like.shape)
