"""Sparse Jacobians: their pattern, found from a linear program, and their values, compressed."""

from typing import Any

import numpy as np

from ..annotations import Value
from ..shapes import shape_of
from ..tangents.project import ProjectTo
from ..tracing.level import is_traced
from .blocks import Block
from .coloring import color_columns, color_symmetric
from .directions import is_complex, run_program, size_of
from .patterns import Pattern, matrix
from .program import LinearProgram
from .structure import structure_of


def scipy_sparse() -> Any:
    """Return the module ``scipy.sparse``."""
    try:
        from scipy import sparse
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sparse=True, and sparsity, need SciPy, which is not installed.\n"
            '  pip install "chainrules[scipy]"; in a checkout, pip install ".[scipy]"',
            name="scipy",
        ) from error
    return sparse


def pattern_of(program: LinearProgram, sources: list, targets: list) -> Any:
    """Return which entries of the targets a linear program makes of which of the sources."""
    sparse = scipy_sparse()
    count = sum(map(size_of, sources))
    given = []
    start = 0
    for x in sources:
        n = size_of(x)
        entries = matrix(np.arange(n), np.arange(start, start + n), (n, count))
        given.append(Pattern(shape_of(x), entries))
        start += n
    found = program.run_pattern(given)
    rows = [
        ydot.rows if type(ydot) is Pattern else sparse.csr_array((size_of(y), count), dtype=bool)
        for y, ydot in zip(targets, found, strict=True)
    ]
    if not rows:
        return sparse.csr_array((0, count), dtype=bool)
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

    def assembled(self, images: np.ndarray) -> Any:
        """Return the sparse matrix from the images of the seeds, (colors, rows)."""
        entries = images[self.found_in, self.found_at], (self.rows, self.columns)
        return sparse_array(entries, self.shape)


def sparse_array(entries: Any, shape: tuple[int, int]) -> Any:
    """Return ``scipy.sparse.csr_array(entries, shape)``."""
    from scipy import sparse

    return sparse.csr_array(entries, shape)


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
        raise TypeError(
            "a sparse derivative is of real functions.\n"
            "  differentiate the real and the imaginary part"
        )
    key = tuple(shape_of(x) for x in sources), tuple(shape_of(y) for y in targets)
    structure = structure_of(program)
    compression = known.get(key)
    if compression is None or compression.structure != structure:
        pattern = pattern_of(program, sources, targets)
        if compression is not None and same_pattern(compression.pattern, pattern):
            compression.structure = structure
        else:
            compression = known[key] = Compression(pattern, structure, symmetric)
    return _evaluated(compression, program, sources, targets)


def same_pattern(a: Value, b: Value) -> bool:
    """Say whether two sorted patterns of one shape have the same entries."""
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def prefers_rows(known: dict) -> bool:
    """Say whether cotangents would need by far fewer directions than tangents do."""
    compression = next(iter(known.values()))
    if compression.count < 8:
        return False
    entries = (np.ones(len(compression.rows), bool), (compression.rows, compression.columns))
    rows = color_columns(sparse_array(entries, compression.shape).T)
    return 2 * (int(rows.max(initial=-1)) + 1) < compression.count


class Seeds:
    """The directions of a compression: sums of units of one color."""

    def __init__(self, sources: list, colors: np.ndarray, count: int) -> None:
        self.sources = sources
        self.colors = colors
        self.count = count

    def block(self, begin: int, end: int) -> list:
        """Return the directions ``begin`` to ``end``: one block for each leaf."""
        directions = np.zeros((end - begin, len(self.colors)))
        here = np.flatnonzero((begin <= self.colors) & (self.colors < end))
        directions[self.colors[here] - begin, here] = 1
        values, start = [], 0
        for x in self.sources:
            space, n = ProjectTo(x), size_of(x)
            part = directions[:, start : start + n].astype(space.dtype)
            values.append(Block(part.reshape(end - begin, *space.shape)))
            start += n
        return values


def _evaluated(
    compression: Compression, program: LinearProgram, sources: list, targets: list
) -> Any:
    seeds = Seeds(sources, compression.colors, compression.count)
    images = run_program(program, seeds, targets)
    flat = [np.reshape(y, (seeds.count, size_of(x))) for x, y in zip(targets, images, strict=True)]
    image = np.concatenate(flat, axis=1) if flat else np.zeros((seeds.count, 0))
    if is_traced(image):
        raise TypeError(
            "a sparse derivative holds plain numbers and cannot be differentiated again.\n"
            "  use sparse=False inside another transform"
        )
    return compression.assembled(image)
