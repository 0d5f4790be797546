"""Sparse Jacobians: their pattern, found from a linear program, and their values, compressed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules import is_traced
from ..rules.blocks import Block
from ..rules.collector import paused_collector
from ..rules.patterns import Pattern, matrix
from ..rules.project import ProjectTo, dtype_of, shape_of
from .coloring import color_columns, color_symmetric
from .jacobians import FORWARD_BLOCKS, is_complex, run_program, size_of
from .leaves import leaves
from .linearize import linear_program
from .program import LinearProgram


def sparsity(f: Callable, *args: Any) -> Any:
    """Return which outputs of ``f`` depend on which inputs, as the calls at this point show.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    *args : Any
        The point. The inputs are the entries of all numbers and arrays in it, in order.

    Returns
    -------
    scipy.sparse.csr_array
        Flags, of shape (entries of the output, entries of the inputs). It may hold an entry
        that is zero, but it lacks none that is not. Of a gradient, ``cr.sparsity(cr.grad(f), x)``,
        it is the pattern of the Hessian.

    Raises
    ------
    ImportError
        Where SciPy is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.sparsity(np.diff, np.zeros(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    y, program = linear_program(FORWARD_BLOCKS, f, args)
    return pattern_of(program, leaves(args), leaves(y))


def pattern_of(program: LinearProgram, sources: list, targets: list) -> Any:
    """Return which entries of the targets a linear program makes of which of the sources."""
    from scipy import sparse

    count = sum(map(size_of, sources))
    given = []
    start = 0
    for x in sources:
        n = size_of(x)
        entries = matrix(np.arange(n), np.arange(start, start + n), (n, count))
        given.append(Pattern(shape_of(x), entries))
        start += n
    with paused_collector():
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

    ``colors`` gives every column its direction. Entry ``(rows[k], columns[k])`` of the matrix
    is found at ``(found_in[k], found_at[k])`` of the images.
    """

    def __init__(self, pattern: Any, symmetric: bool) -> None:
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

    ``known`` keeps the compressions of earlier calls, by shape. Whether that of a shape still
    holds is seen from one random direction more: where the product with the sparse matrix is
    not what the program gives, the path through the function has changed, and the pattern is
    found anew.

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
    compression = known.get(key)
    if compression is not None:
        found, holds = _evaluated(compression, program, sources, targets)
        if holds:
            return found
    pattern = pattern_of(program, sources, targets)
    compression = known[key] = Compression(pattern, symmetric)
    return _evaluated(compression, program, sources, targets)[0]


def prefers_rows(known: dict) -> bool:
    """Say whether cotangents would need by far fewer directions than tangents do."""
    compression = next(iter(known.values()))
    if compression.count < 8:
        return False
    entries = (np.ones(len(compression.rows), bool), (compression.rows, compression.columns))
    rows = color_columns(sparse_array(entries, compression.shape).T)
    return 2 * (int(rows.max(initial=-1)) + 1) < compression.count


class Seeds:
    """The directions of a compression: sums of units of one color; and one random direction."""

    def __init__(self, sources: list, colors: np.ndarray, count: int) -> None:
        self.sources = sources
        self.colors = colors
        self.count = count + 1
        self.probe = np.random.default_rng(count).uniform(0.5, 1.5, len(colors))

    def block(self, begin: int, end: int) -> list:
        """Return the directions ``begin`` to ``end``: one block for each leaf."""
        directions = np.zeros((end - begin, len(self.colors)))
        here = np.flatnonzero((begin <= self.colors) & (self.colors < end))
        directions[self.colors[here] - begin, here] = 1
        if end == self.count:
            directions[-1] = self.probe
        values, start = [], 0
        for x in self.sources:
            space, n = ProjectTo(x), size_of(x)
            part = directions[:, start : start + n].astype(space.dtype)
            values.append(Block(part.reshape(end - begin, *space.shape)))
            start += n
        return values


def _evaluated(
    compression: Compression, program: LinearProgram, sources: list, targets: list
) -> tuple[Any, bool]:
    seeds = Seeds(sources, compression.colors, compression.count)
    images = run_program(program, seeds, targets)
    flat = [np.reshape(y, (seeds.count, size_of(x))) for x, y in zip(targets, images, strict=True)]
    image = np.concatenate(flat, axis=1) if flat else np.zeros((seeds.count, 0))
    if is_traced(image):
        raise TypeError(
            "a sparse derivative holds plain numbers and cannot be differentiated again.\n"
            "  use sparse=False inside another transform"
        )
    found = compression.assembled(image[:-1])
    # Rounding is relative to what is added up; and where everything underflows, to the rest.
    scale = abs(found) @ seeds.probe
    single = np.dtype(np.float32) in map(dtype_of, [*sources, *targets])
    relative, floor = (1e-3, 1e-10) if single else (1e-7, 1e-20)
    with np.errstate(invalid="ignore"):
        bound = relative * scale + floor * np.max(scale, initial=0)
        wrong = abs(found @ seeds.probe - image[-1]) > bound
    return found, not np.any(wrong) and bool(np.all(np.isfinite(image)))
