"""Jacobians from blocks of directions, for numbers, arrays and containers.

``Directions(leaves((w, b)))`` are the unit tangents of the entries of ``w``, then of ``b``.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...config import HasForwardsMode, HasReverseMode, RuleConfig, frule_via_ad, rrule_via_ad
from ...config.progress import ending, long_work
from ...config.thresholds import (
    BLOCK_IN_CACHE,
    DUAL_BLOCK,
    LARGEST_BLOCK,
    LARGEST_PULLED,
    LARGEST_RUN,
    UNITS_KEPT,
)
from ..annotations import Tangentlike, Value
from ..containers import Within, children, fold, iterate_leaves
from ..engines.inputs import is_perturbable_input
from ..refusals.table import refusal
from ..shapes import FLOAT64, FLOATS, dtype_of, is_lazy, shape_of
from ..tangents.filled import as_structured
from ..tangents.project import ProjectTo
from ..tangents.structural import child_tangents, derivative_like
from ..tangents.thunks import unthunk
from ..tangents.zeros import NO_TANGENT, AbstractZero, NoTangent, ZeroTangent
from ..tracing.funnel import array_of, astype
from ..tracing.level import is_traced
from ..tracing.operands import is_array
from ..tracing.views import writeable
from .block_level import BlockLevel, TooLargeBlock
from .blocks import Block
from .program import LinearProgram


def is_plain_leaf(x: Value) -> bool:
    """Say whether ``x`` is a float or an array of floats, as most are: no container to walk."""
    return type(x) in FLOATS or (type(x) is np.ndarray and x.dtype is FLOAT64)


def leaves(x: Value) -> list:
    """Return the numbers and arrays in ``x`` that can be perturbed."""
    if type(x) is tuple and all(map(is_plain_leaf, x)):
        return [*x]
    if is_plain_leaf(x):
        return [x]
    return [leaf for leaf in iterate_leaves(x) if is_perturbable_input(leaf)]


def tangent_leaves(x: Value, t: Tangentlike) -> list:
    """Return the parts of the tangent ``t`` that belong to ``leaves(x)``."""
    if is_plain_leaf(x):
        t = unthunk(t)
        return [ZeroTangent() if isinstance(t, AbstractZero) else t]
    found: list[Any] = []

    def look(x: Value, t: Tangentlike) -> Within | None:
        t = unthunk(t)
        parts = children(x)
        if parts is not None:
            return Within(zip(parts.values, child_tangents(x, t)), list)
        if is_perturbable_input(x):
            found.append(ZeroTangent() if isinstance(t, AbstractZero) else t)
        return None

    fold(look, x, t)
    return found


def with_leaves(x: Value, values: Iterator) -> Any:
    """Return a derivative with the structure of ``x`` and the next ``values`` as its leaves."""
    if is_plain_leaf(x):
        return next(values)
    if type(x) is tuple and all(map(is_plain_leaf, x)):
        return tuple([next(values) for _ in x])

    def look(x: Value) -> Any:
        parts = children(x)
        if parts is None:
            return next(values) if is_perturbable_input(x) else NoTangent()
        return Within(zip(parts.values), partial(derivative_like, x))

    return fold(look, x)


def linear_program(config: RuleConfig, f: Callable, primals: tuple) -> tuple[Any, LinearProgram]:
    """Return ``f(*primals)``, and its pushforward from the leaves of the primals to those of y."""
    program = LinearProgram()
    y, ydot = frule_via_ad(config, (NO_TANGENT, *map(program.input, primals)), f, *primals)
    program.finish(tangent_leaves(y, ydot))
    return y, program


def recorded(apply: Callable, x: Value, y: Value) -> LinearProgram:
    """Return a map of tangents of ``x`` to those of ``y`` as a program from leaves to leaves."""
    program = LinearProgram()
    program.finish(tangent_leaves(y, apply(program.input(x))))
    return program


def is_complex(x: Value) -> bool:
    dtype = dtype_of(x)
    return dtype is not None and dtype.kind == "c"


def size_of(x: Value) -> int:
    """Return how many numbers the leaf ``x`` holds."""
    return math.prod(shape_of(x))


class Directions:
    """Directions of some leaves, each the sum of the unit directions that have its color.

    The unit directions are numbered one leaf after another; a complex leaf has two for each
    number: 1, and after all of those, i. Without ``colors`` each is a direction by itself.
    """

    def __init__(self, sources: list, colors: np.ndarray | None = None) -> None:
        self.sources = sources
        self.plain = len(sources) == 1 and is_plain_leaf(sources[0])  # as nearly always
        sizes = [size_of(x) * (1 + (not self.plain and is_complex(x))) for x in sources]
        self.starts = [0, *itertools.accumulate(sizes)]
        self.colors = colors
        self.count = self.starts[-1] if colors is None else int(colors.max(initial=-1)) + 1

    def block(self, begin: int, end: int) -> list:
        """Return the directions ``begin`` to ``end``: one value for each leaf."""
        if self.colors is None:
            size = self.starts[-1]
            kept = size <= UNITS_KEPT
            units = _units(size)[begin:end].copy() if kept else np.eye(end - begin, size, begin)
            if self.plain:
                return [Block(units.reshape(end - begin, *shape_of(self.sources[0])))]
        else:
            units = np.equal.outer(np.arange(begin, end), self.colors)
        values: list[Any] = []
        for x, start, stop in zip(self.sources, self.starts, self.starts[1:], strict=False):
            space, part = ProjectTo(x), units[:, start:stop]
            if not part.any():
                values.append(space.zeros())
                continue
            if is_complex(x):
                n = size_of(x)
                part = part[:, :n] + 1j * part[:, n:]
            values.append(Block(part.astype(space.dtype).reshape(end - begin, *space.shape)))
        return values

    def single(self, k: int) -> list:
        """Return direction ``k``, a unit direction: one value for each leaf."""
        values: list[Any] = []
        for x, start, stop in zip(self.sources, self.starts, self.starts[1:], strict=False):
            space = ProjectTo(x)
            value = np.zeros(space.shape, space.dtype)
            if start <= k < stop:
                turn, place = divmod(k - start, size_of(x))
                value.reshape(-1)[place] = 1j if turn else 1
            values.append(value if is_array(x) else value[()])
        return values


_units = functools.cache(np.eye)  # all unit directions of so many numbers, to be copied


class GivenDirections:
    """Directions of some leaves that the caller gives: each a ``Block``, or zeros."""

    def __init__(self, sources: list, values: list, count: int) -> None:
        self.sources, self.values, self.count, self.plain = sources, values, count, False

    def block(self, begin: int, end: int) -> list:
        """Return the directions ``begin`` to ``end``: one value for each leaf."""
        given = self.values
        return [Block(x.values[begin:end]) if type(x) is Block else x for x in given]


def run_program(program: LinearProgram, directions: Any, targets: list) -> list:
    """Run a program for all directions; return an array ``(directions, *shape)`` per target."""
    count = directions.count
    if count == 0:
        return [block_values(y, None, 0) for y in targets]
    largest = max(program.largest, *map(size_of, directions.sources), 1)
    mean = max(program.total // len(program.steps), 1)
    step = max(1, min(count, BLOCK_IN_CACHE // mean, LARGEST_BLOCK // largest))
    chunks = []
    runs = -(-count // step)
    work = long_work("linear map", runs * len(program.plan), "operations")
    for begin in range(0, count, step):
        end = min(begin + step, count)
        outputs = program.run_block(directions.block(begin, end), work)
        chunks.append(
            [block_values(y, ydot, end - begin) for y, ydot in zip(targets, outputs, strict=True)]
        )
    if len(chunks) == 1:
        return chunks[0]
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def push_all(
    config: RuleConfig,
    f: Callable,
    primals: tuple,
    directions: Any,
    largest: int = 1,
) -> tuple[Any, list]:
    """Return ``f(*primals)``, and an array ``(directions, *shape)`` for each leaf of it.

    ``f`` runs once. It pushes directions as a block, which takes as many times the memory of its
    arrays. Of very many, or where the ``largest`` array that is known of has many numbers, what
    ``f`` does with one direction is recorded, and run again for as many at once as there is room
    for.
    """
    sources, count = directions.sources, directions.count
    plain = directions.plain and len(primals) == 1 and primals[0] is sources[0]
    largest = largest if plain else max([largest, *map(size_of, sources)])
    few = 0 < count <= DUAL_BLOCK and count * max(count, largest) <= LARGEST_BLOCK
    if not few or (not plain and any(map(is_lazy, sources))):
        y, program = linear_program(config, f, primals)
        return y, run_program(program, directions, leaves(y))
    level, given = BlockLevel(count), directions.block(0, count)
    quick = getattr(config, "push_block", None) if plain else None
    if quick is None or (pair := quick(level, f, primals[0], given[0].values)) is None:
        xdots = with_leaves(primals, map(level.of, given))
        pair = frule_via_ad(config, (NO_TANGENT, *xdots), f, *primals)
    y, ydot = pair
    if level.carries(ydot) and is_plain_leaf(ydot.block) and is_plain_leaf(y):
        return y, [writeable(ydot.block)]  # as nearly always
    return y, _values_of_blocks(level, leaves(y), tangent_leaves(y, ydot))


def pull_all(pull: Callable, y: Value, x: Value, directions: Any, singly: bool = False) -> list:
    """Return an array ``(directions, *shape)`` for each leaf of ``x``: what ``pull`` makes of them.

    ``pull`` takes cotangents of ``y`` to those of ``x``: a block of them, or ``singly``.
    """

    def apply(ybars: list) -> list:
        return tangent_leaves(x, pull(with_leaves(y, iter(ybars))))

    def pull_block(level: BlockLevel, ybars: list) -> list:
        return _values_of_blocks(level, leaves(x), apply(list(map(level.of, ybars))))

    if directions.count == 1 or (singly and directions.count):
        rows = [apply(directions.single(k)) for k in range(directions.count)]
        pairs = zip(leaves(x), zip(*rows, strict=True), strict=True)
        return [np.stack([array_of(as_structured(p, row)) for row in rows]) for p, rows in pairs]
    if any(map(is_lazy, directions.sources)):
        return run_program(recorded(pull, y, x), directions, leaves(x))
    return in_blocks(pull_block, directions, LARGEST_PULLED)


def in_blocks(run: Callable, directions: Any, largest: int) -> list:
    """Return the arrays that ``run(level, values)`` makes of all directions, in large blocks.

    Where ``run`` meets a block of more than ``largest`` numbers, it is called again for half as
    many directions.
    """
    begin, step = 0, min(directions.count, LARGEST_RUN)
    chunks: list[list] = []
    work = long_work("pullbacks", directions.count, "directions")
    with ending(work):
        while begin < directions.count or not chunks:
            step = min(step, directions.count - begin)
            level = BlockLevel(step, largest if step > 1 else None)
            try:
                chunks.append(run(level, directions.block(begin, begin + step)))
                begin += step
                if work is not None:
                    work.update(step)
            except TooLargeBlock:
                step = (step + 1) // 2
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def _values_of_blocks(level: BlockLevel, targets: list, derivatives: list) -> list:
    pairs = zip(targets, derivatives, strict=True)
    return [writeable(block_values(y, level.as_block(ydot), level.count)) for y, ydot in pairs]


def block_values(y: Value, ydot: Tangentlike | Block | None, count: int) -> Any:
    """Return what a block gave for the target ``y``: one derivative for each of ``count``."""
    dtype = ProjectTo(y).dtype
    if type(ydot) is not Block:
        return np.zeros((count, *shape_of(y)), dtype)
    # Several directions of a number are an array, which widens a narrower one; a number does not.
    return ydot.values if dtype_of(ydot.values) == dtype else astype(ydot.values, dtype)


def arrange(
    images: list, source: object, target: object, transposed: bool, symmetric: bool = False
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
    if is_plain_leaf(source) and is_plain_leaf(target):
        block, rank = laid_out(source, target, images[0], transposed), len(shape_of(source))
        return _swap((block + _swap(block, rank)) / 2, rank) if symmetric else block
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
        image, turned = np.split(image, 2)
        image = _complex_image(y, image, turned, transposed)
    return laid_out(x, y, image, transposed)


def laid_out(x: Value, y: Value, image: Any, transposed: bool = False) -> Any:
    """Return the images of one direction for each number of ``x`` as a block of a Jacobian."""
    inner, outer = shape_of(x), shape_of(y)
    if len(inner) == 1 >= len(outer) and not transposed:
        return image.T if outer else image
    if transposed:
        block = image.reshape((*inner, *outer))
    else:
        axes = (*range(1, 1 + len(outer)), 0)  # np.moveaxis takes ten times as long
        block = image.transpose(axes).reshape((*outer, *inner))
    return block if inner or outer else block[()]


def _complex_image(y: Value, image: Any, turned: Any, transposed: bool) -> Any:
    """Combine the images of 1 and i: one complex derivative, if there is one."""
    if not is_complex(y):
        return image + 1j * turned
    if not is_traced((image, turned)) and not np.allclose(
        turned, 1j * image, rtol=1e-5, atol=1e-10, equal_nan=True
    ):
        raise refusal("not holomorphic")
    return np.conj(image) if transposed else image


def _swap(block: Any, rank: int) -> Any:
    """Move the first ``rank`` axes of a block to its end."""
    return np.transpose(block, (*range(rank, len(shape_of(block))), *range(rank)))


# ---- for rules, by the config that they are given ----


def jacobian_via_ad(config: RuleConfig, f: Callable, x: Value) -> tuple[Any, Any]:
    """Return ``f(x)`` and its Jacobian, with the engine behind ``config``.

    In forward mode, if the engine has it: ``f`` is run once, for all directions.

    Shapes: ``x``, a real number or array, ``f(x)`` likewise; the Jacobian is
    ``f(x).shape + x.shape``.

    Examples
    --------
    >>> from chainrules.rules import jacobian_via_ad
    >>> jacobian_via_ad(cr.ForwardConfig(), lambda x: x * x, np.array([1.0, 2.0]))[1]
    array([[2., 0.],
           [0., 4.]])
    """
    if not isinstance(config, HasForwardsMode):
        return _by_rows(config, f, x)
    if shape_of(x) == ():
        y, ydot = frule_via_ad(config, (NO_TANGENT, ProjectTo(x).dtype.type(1)), f, x)
        return y, as_structured(y, unthunk(ydot))
    y, images = push_all(config, f, (x,), Directions([x]))
    return y, arrange(images, x, y, transposed=False)


def _by_rows(config: RuleConfig, f: Callable, x: Value) -> tuple[Any, Any]:
    y, pullback = rrule_via_ad(config, f, x)
    units = np.eye(np.size(y), dtype=ProjectTo(y).dtype)
    rows = [as_structured(x, pullback(np.reshape(unit, shape_of(y)))[1]) for unit in units]
    return y, np.reshape(array_of(rows), shape_of(y) + shape_of(x))


def gradient_via_ad(config: RuleConfig, f: Callable, x: Value) -> Any:
    """Return the gradient of ``f``, which returns a real number, at the real number or array ``x``.

    In reverse mode, if the engine behind ``config`` has it.

    Examples
    --------
    >>> from chainrules.rules import gradient_via_ad
    >>> gradient_via_ad(cr.ForwardConfig(), lambda x: np.sum(x * x), np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if not isinstance(config, HasReverseMode):
        return jacobian_via_ad(config, f, x)[1]
    y, pullback = rrule_via_ad(config, f, x)
    return as_structured(x, unthunk(pullback(ProjectTo(y)(1.0))[1]))
