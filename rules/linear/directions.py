"""Jacobians from blocks of directions, for numbers, arrays and containers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...config.thresholds import BLOCK_IN_CACHE, LARGEST_BLOCK
from ..annotations import Tangentlike, Value
from ..shapes import dtype_of, shape_of
from ..tangents.project import ProjectTo
from ..tangents.structural import AbstractZero
from ..tracing.funnel import array_of, astype
from ..tracing.level import is_traced
from .blocks import Block
from .leaves import leaves, with_leaves
from .program import LinearProgram


def is_complex(x: Value) -> bool:
    dtype = dtype_of(x)
    return dtype is not None and dtype.kind == "c"


def size_of(x: Value) -> int:
    """Return how many numbers the leaf ``x`` holds."""
    return int(np.prod(shape_of(x), dtype=int))


class Directions:
    """The unit directions of some leaves, numbered one leaf after another.

    A complex leaf has two for each number: 1, and after all of those, i.
    """

    def __init__(self, sources: list) -> None:
        self.sources = sources
        self.starts = [0]
        for x in sources:
            self.starts.append(self.starts[-1] + size_of(x) * (2 if is_complex(x) else 1))
        self.count = self.starts[-1]

    def block(self, begin: int, end: int) -> list:
        """Return the directions ``begin`` to ``end``: one value for each leaf."""
        values: list[Any] = []
        for x, start in zip(self.sources, self.starts):
            space, n = ProjectTo(x), size_of(x)
            if max(begin, start) >= min(end, start + n * (2 if is_complex(x) else 1)):
                values.append(space.zeros())
                continue
            block = np.eye(end - begin, n, begin - start, space.dtype)
            if is_complex(x):
                block += 1j * np.eye(end - begin, n, begin - start - n)
            values.append(Block(block.reshape(end - begin, *space.shape)))
        return values


def run_program(program: LinearProgram, directions: Any, targets: list) -> list:
    """Run a program for all directions; return an array ``(directions, *shape)`` per target.

    ``directions`` has a ``count`` of them for its ``sources``, and gives them in blocks.
    """
    count = directions.count
    if count == 0:
        return [block_values(y, None, 0) for y in targets]
    largest = max(program.largest, *map(size_of, directions.sources), 1)
    mean = max(program.total // len(program.steps), 1)
    step = max(1, min(count, BLOCK_IN_CACHE // mean, LARGEST_BLOCK // largest))
    chunks = []
    for begin in range(0, count, step):
        end = min(begin + step, count)
        outputs = program.run_block(directions.block(begin, end))
        chunks.append(
            [block_values(y, ydot, end - begin) for y, ydot in zip(targets, outputs, strict=True)]
        )
    if len(chunks) == 1:
        return chunks[0]
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def block_values(y: Value, ydot: Tangentlike, count: int) -> Any:
    """Return what a block gave for the target ``y``: one derivative for each of ``count``."""
    dtype = ProjectTo(y).dtype
    if type(ydot) is not Block:
        return np.zeros((count, *shape_of(y)), dtype)
    # Several directions of a number are an array, which widens a narrower one; a number does not.
    return ydot.values if dtype_of(ydot.values) == dtype else astype(ydot.values, dtype)


def run_each(apply: Callable, directions: Directions, targets: list) -> list:
    """Do the same by calls of ``apply``, from leaves to leaves, one for each direction."""
    columns: list[list] = [[] for _ in targets]
    for k in range(directions.count):
        given = [x.values[0] if type(x) is Block else x for x in directions.block(k, k + 1)]
        for column, y, ydot in zip(columns, targets, apply(given), strict=True):
            column.append(ProjectTo(y).zeros() if isinstance(ydot, AbstractZero) else ydot)
    return [
        np.stack([array_of(part) for part in column]) if column else block_values(y, None, 0)
        for y, column in zip(targets, columns, strict=True)
    ]


def arrange(
    images: list, source: Any, target: Any, transposed: bool, symmetric: bool = False
) -> Any:
    """Arrange the images of the unit directions of ``source`` as a Jacobian.

    With ``transposed`` they are those of cotangents of the output, by a pullback; with
    ``symmetric`` the Jacobian is that of a gradient, and is made symmetric to the last bit.

    Raises
    ------
    TypeError
        If a complex function of a complex argument is not holomorphic: its derivative is then
        no complex number.
    """
    sources, targets = leaves(source), leaves(target)
    starts = Directions(sources).starts
    blocks = [
        [
            _block(x, y, image[start:end], transposed)
            for x, start, end in zip(sources, starts, starts[1:], strict=False)
        ]
        for y, image in zip(targets, images, strict=True)
    ]  # blocks[i][j]: of target i in source j
    if symmetric and not any(map(is_complex, sources)):
        for i, y in enumerate(targets):
            for j, x in enumerate(sources[: i + 1]):
                turned = _swap(blocks[j][i], len(shape_of(x)))
                blocks[i][j] = (blocks[i][j] + turned) / 2
                blocks[j][i] = _swap(blocks[i][j], len(shape_of(y)))
    if transposed:
        rows = [with_leaves(target, iter(row)) for row in zip(*blocks, strict=True)]
        return with_leaves(source, iter(rows))
    columns_of = [with_leaves(source, iter(row)) for row in blocks]
    return with_leaves(target, iter(columns_of))


def _block(x: Value, y: Value, image: Any, transposed: bool) -> Any:
    """Return the block of target ``y`` in source ``x``; ``image`` has directions first."""
    if is_complex(x):
        image = _complex_image(y, image[: size_of(x)], image[size_of(x) :], transposed)
    inner, outer = shape_of(x), shape_of(y)
    if transposed:
        block = np.reshape(image, (*inner, *outer))
    else:
        block = np.reshape(np.moveaxis(image, 0, -1), (*outer, *inner))
    return block if inner or outer else block[()]


def _complex_image(y: Value, image: Any, turned: Any, transposed: bool) -> Any:
    """Combine the images of 1 and i: one complex derivative, if there is one."""
    if not is_complex(y):
        return image + 1j * turned
    if not is_traced((image, turned)) and not np.allclose(
        turned, 1j * image, rtol=1e-5, atol=1e-10, equal_nan=True
    ):
        raise TypeError(
            "the function is not holomorphic, so it has no complex Jacobian.\n"
            "  differentiate its real and imaginary parts: jacobian of np.real(f(z)), "
            "np.imag(f(z))"
        )
    return np.conj(image) if transposed else image


def _swap(block: Any, rank: int) -> Any:
    """Move the first ``rank`` axes of a block to its end."""
    return np.transpose(block, (*range(rank, np.ndim(block)), *range(rank)))
