"""Sparse Jacobians: their pattern, found from a linear program, and their values, compressed.

A tridiagonal Jacobian takes three directions, however large it is.

Columns that no row sees two of share one direction. What was found for one program holds for
another that has an equal structure.

Source: Curtis, Powell and Reid (1974), on the estimation of sparse Jacobian matrices.
"""

from itertools import accumulate
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ...config import MissingPackageError
from ..refusals.table import refusal
from ..shapes import shape_of
from ..tangents.zeros import AbstractZero
from ..tracing.level import is_traced, value
from .jacobians import Directions, is_complex, run_program, size_of
from .patterns import INTEGERS, NOTHING, NUMBERS, Pattern, matrix, what_is_read
from .program import LinearProgram
from .steps import Slot, reads_of

# What is equal where it is the same, beside numbers, arrays and what holds these.
_COMPARED = (
    int, str, bytes, slice, type(None), type(...), type, np.dtype, np.ufunc, FunctionType,
    BuiltinFunctionType,
)  # fmt: skip


def scipy_sparse() -> Any:
    """Return the module ``scipy.sparse``."""
    try:
        from scipy import sparse
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "sparse=True, and sparsity, need SciPy, which is not installed.\n"
            '  pip install "chainrules[scipy]"; in a checkout, pip install ".[scipy]"',
            name="scipy",
        ) from error
    return sparse


def pattern_of(program: LinearProgram, sources: list, targets: list) -> Any:
    """Return which entries of the targets a linear program makes of which of the sources."""
    sparse = scipy_sparse()
    starts = [0, *accumulate(map(size_of, sources))]
    count = starts[-1]
    units = sparse.eye_array(count, dtype=bool, format="csr")
    given = [
        Pattern(shape_of(x), units[start:stop])
        for x, start, stop in zip(sources, starts, starts[1:], strict=False)
    ]
    rows = [sparse.csr_array((0, count), dtype=bool)]
    for y, ydot in zip(targets, program.run_pattern(given), strict=True):
        none = sparse.csr_array((size_of(y), count), dtype=bool)
        rows.append(ydot.rows if type(ydot) is Pattern else none)
    pattern = sparse.csr_array(sparse.vstack(rows))
    pattern.sum_duplicates()
    return pattern


class Compression:
    """A pattern, and the directions that find all of its entries.

    ``structure`` is that of the program whose pattern it is. ``colors`` gives every column its
    direction. Entry ``(rows[k], columns[k])`` of the matrix is found at ``(found_in[k],
    found_at[k])`` of the images.
    """

    def __init__(self, pattern: Any, structure: list, symmetric: bool) -> None:
        self.pattern, self.structure = pattern, structure
        self.shape = pattern.shape
        if symmetric:
            # A pattern may be larger on one side of the diagonal than on the other.
            pattern = pattern.T.tocsr() + pattern
            self.colors, alone = color_symmetric(pattern)
        else:
            self.colors, alone = color_columns(pattern), None
        self.count = int(self.colors.max(initial=-1)) + 1
        entries = pattern.tocoo()
        self.rows, self.columns = entries.row, entries.col
        self.found_in, self.found_at = self.colors[self.columns], self.rows
        if alone is not None:
            turned = alone[self.rows] & ~alone[self.columns]
            self.found_in = np.where(turned, self.colors[self.rows], self.found_in)
            self.found_at = np.where(turned, self.columns, self.found_at)

    def matrix(self, program: LinearProgram, sources: list, targets: list) -> Any:
        """Return the sparse matrix of a program that has the structure."""
        directions = Directions(sources, self.colors)
        images = run_program(program, directions, targets)
        pairs = zip(targets, images, strict=True)
        flat = [np.reshape(image, (self.count, size_of(y))) for y, image in pairs]
        image = np.concatenate(flat, axis=1) if flat else np.zeros((self.count, 0))
        if is_traced(image):
            raise refusal("sparse and differentiated")
        entries = image[self.found_in, self.found_at], (self.rows, self.columns)
        return scipy_sparse().csr_array(entries, self.shape)


def sparse_matrix(
    program: LinearProgram, sources: list, targets: list, known: dict, symmetric: bool = False
) -> Any:
    """Return the matrix of a linear program, by as few directions as its pattern allows.

    ``known`` keeps the compressions of earlier calls, by shape. That of a shape holds where the
    program does the same steps as then, with the same indices and zeros; else the path through
    the function has changed, and the pattern is found anew.

    Raises
    ------
    TypeError
        If something is complex.
    """
    if any(map(is_complex, [*sources, *targets])):
        raise refusal("sparse and complex")
    key = tuple(shape_of(x) for x in sources), tuple(shape_of(y) for y in targets)
    structure = structure_of(program)
    compression = known.get(key)
    if compression is None or compression.structure != structure:
        pattern = pattern_of(program, sources, targets)
        if compression is not None and same_pattern(compression.pattern, pattern):
            compression.structure = structure
        else:
            compression = known[key] = Compression(pattern, structure, symmetric)
    return compression.matrix(program, sources, targets)


def same_pattern(a: Any, b: Any) -> bool:
    """Say whether two sorted patterns of one shape have the same entries."""
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def prefers_rows(known: dict) -> bool:
    """Say whether cotangents would need by far fewer directions than tangents do."""
    compression = next(iter(known.values()))
    if compression.count < 8:
        return False
    pattern = matrix(compression.rows, compression.columns, compression.shape)
    return 2 * (int(color_columns(pattern.T).max()) + 1) < compression.count


# ---- the structure of a program: what its pattern depends on ----


def structure_of(program: LinearProgram) -> list:
    """Return of each step its function, which results it reads, and what else its pattern reads.

    A step that reads a result which depends on no input reads numbers, of which nothing else is
    known; so there, and where that result was made, all numbers count.
    """
    followed = set(program.inputs)
    structure: list = [list(program.inputs)]
    for index, f, args, kwargs, places, _ in program.plan:
        if kwargs is None:
            reads = [read for read in places if read is not None]
        else:
            reads = reads_of(args, kwargs)
        if not followed.isdisjoint(reads):
            followed.add(index)
        look = what_is_read(f) if reads and followed.issuperset(reads) else NUMBERS
        structure.append((index, f, reads, described(args, look), described(kwargs, look)))
    structure.append([y.position if type(y) is Slot else None for y in program.outputs])
    return structure


def described(x: Any, look: int) -> Any:
    """Return what counts of an argument, in parts that are equal where it is the same.

    What cannot be compared is equal to nothing.
    """
    cls = type(x)
    if cls is Slot or issubclass(cls, AbstractZero):
        return cls
    if cls is tuple or cls is list:
        return cls, [described(part, look) for part in x]
    if cls is dict:
        return [(name, described(part, look)) for name, part in x.items()]
    x = value(x)
    if look == NOTHING:
        return shape_of(x)
    if isinstance(x, np.generic | float | complex):
        x = np.asarray(x)
    if type(x) is not np.ndarray:
        return (cls, x) if isinstance(x, _COMPARED) else object()
    if x.dtype.kind not in "fc" or look == NUMBERS:
        return object() if x.dtype.kind == "O" else (x.shape, x.dtype.str, x.tobytes())
    return x.shape if look == INTEGERS else (x.shape, np.packbits(x != 0).tobytes())


# ---- colorings ----


def color_columns(pattern: Any) -> np.ndarray:
    """Return a color for each column of a sparse matrix, such that no row has a color twice.

    Columns with many entries come first; each takes the first color that is free in all of
    its rows. A column with no entry has color -1.

    Parameters
    ----------
    pattern : scipy.sparse array
        Of shape (m, n).

    Returns
    -------
    array of int
        Of shape (n,).
    """
    columns = pattern.tocsc()
    starts, rows = columns.indptr.tolist(), columns.indices.tolist()
    colors = np.full(pattern.shape[1], -1)
    taken = [0] * pattern.shape[0]  # by row: a bit for each color
    for j in np.argsort(-np.diff(columns.indptr), kind="stable").tolist():
        here = rows[starts[j] : starts[j + 1]]
        if not here:
            break
        used = 0
        for i in here:
            used |= taken[i]
        free = ~used & (used + 1)  # the lowest bit that is not set
        colors[j] = free.bit_length() - 1
        for i in here:
            taken[i] |= free
    return colors


def color_symmetric(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    """Color the columns of a symmetric matrix, and say which columns stand alone.

    A column with very many entries gets a color to itself. Its row is then known too, by
    symmetry, so the other columns need not differ in it.

    Returns
    -------
    colors : array of int
        Of shape (n,).
    alone : array of bool
        Which columns have a color to themselves; what is known of their rows is in them.
    """
    n = pattern.shape[0]
    degrees = np.diff(pattern.tocsr().indptr)
    order = np.argsort(-degrees, kind="stable")
    # With k columns alone, at least as many colors more are needed as the next row has entries.
    bounds = np.arange(n) + degrees[order]
    k = int(np.argmin(bounds)) if n else 0
    alone = np.zeros(n, bool)
    alone[order[:k]] = True
    others = pattern.tocoo()
    kept = ~alone[others.row] & ~alone[others.col]
    rest = type(pattern)((others.data[kept], (others.row[kept], others.col[kept])), pattern.shape)
    colors = color_columns(rest)
    first = colors.max(initial=-1) + 1
    colors[order[:k]] = first + np.arange(k)
    # A column that meets only those alone needs no direction of its own.
    return colors, alone
