"""Einstein sums, and other products of many factors.

An einsum is linear in every operand, and its derivatives are einsums of ``ybar`` and the
other operands.
"""

import functools
import string
import sys

import numpy as np

from ... import (
    AbstractZero,
    Block,
    NoTangent,
    ProjectTo,
    block_rule,
    composed,
    frule,
    linear_in,
    non_differentiable,
    pattern_rule,
    rrule,
    shape_of,
    sum_tangents,
    thunk,
)
from .indexing import scatter
from .products import conj
from .subscripts import einsum_pattern, plan, read_call

non_differentiable(np.einsum_path)


# ---- einsum ---------------------------------------------------------------------------------


@frule.register(np.einsum)
def einsum_frule(tangents, einsum, *args, optimize=False):
    subscripts, positions = read_call(args)
    operands = [args[i] for i in positions]

    def pushed(k, xdot):
        moved = [*operands[:k], xdot, *operands[k + 1 :]]
        return einsum(str(subscripts), *moved, optimize=optimize)

    given = [(k, tangents[1 + i]) for k, i in enumerate(positions)]
    parts = [pushed(k, xdot) for k, xdot in given if not isinstance(xdot, AbstractZero)]
    return einsum(*args, optimize=optimize), sum_tangents(parts)


@rrule.register(np.einsum)
def einsum_rrule(einsum, *args, optimize=False):
    subscripts, positions = read_call(args)
    operands = [args[i] for i in positions]
    # A path that was given for the operands is none for their cotangents.
    optimize_pull = optimize is not False

    def einsum_pullback(ybar):
        xbars = [NoTangent()] * len(args)
        for k, i in enumerate(positions):
            pull = functools.partial(einsum_pull, k, ybar, subscripts, operands, optimize_pull)
            xbars[i] = thunk(pull)
        return NoTangent(), *xbars

    return einsum(*args, optimize=optimize), einsum_pullback


def einsum_pull(k, ybar, subscripts, operands, optimize):
    """Pull ``ybar`` to operand ``k``: contract it with the other operands."""
    project_x = ProjectTo(operands[k])
    letters = subscripts.inputs[k]
    factors = [conj(x) for x in [*operands[:k], *operands[k + 1 :]]]
    call, own, found = plan(subscripts, k)
    xbar = np.einsum(call, ybar, *factors, optimize=optimize)
    sizes = dict(zip(letters, np.shape(operands[k])))
    # A letter that occurs nowhere else was summed over: its axis is broadcast.
    if own != found:
        xbar = np.expand_dims(xbar, tuple(axis for axis, x in enumerate(own) if x not in found))
    xbar = fit_axes(xbar, tuple(sizes[x] for x in own))
    if own != letters:
        # A letter that occurs twice reads a diagonal.
        grid = np.ogrid[tuple(slice(sizes[x]) for x in own)]
        index = tuple(grid[own.index(x)] for x in letters)
        xbar = scatter(xbar, project_x.shape, xbar.dtype, index)
    return project_x(xbar)


linear_in[np.einsum] = sys.maxsize


@block_rule(np.einsum)
def einsum_block(*args, **options):
    # The blocks are told apart by their letters, so one axis more is one letter more.
    shapes = [np.empty(shape_of(x)) if type(x) is Block else x for x in args]
    subscripts, positions = read_call(shapes)
    operands = [args[i] for i in positions]
    used = "".join(subscripts.inputs)
    letter = next(letter for letter in string.ascii_letters if letter not in used)
    inputs = [
        letter + term if type(x) is Block else term for term, x in zip(subscripts.inputs, operands)
    ]
    values = [x.values if type(x) is Block else x for x in operands]
    return np.einsum(f"{','.join(inputs)}->{letter}{subscripts.output}", *values, **options)


pattern_rule(np.einsum)(einsum_pattern)


def fit_axes(xbar, shape):
    """Sum or broadcast axes, as many as ``shape`` has, to its lengths."""
    given = np.shape(xbar)
    if given == shape:
        return xbar
    axes = tuple(k for k, (n, m) in enumerate(zip(given, shape)) if m == 1 and n != 1)
    xbar = np.sum(xbar, axes, keepdims=True) if axes else xbar
    return np.broadcast_to(xbar, shape) if np.shape(xbar) != shape else xbar


# ---- chains of matrices ---------------------------------------------------------------------


@composed(np.linalg.multi_dot)
def multi_dot(arrays):
    arrays = list(arrays)
    if len(arrays) == 2:
        return np.dot(*arrays)  # whatever they are, as in NumPy
    shapes = [np.shape(a) for a in arrays]
    sizes = [shapes[0][0] if len(shapes[0]) == 2 else 1, *(shape[0] for shape in shapes[1:])]
    sizes.append(shapes[-1][1] if len(shapes[-1]) == 2 else 1)
    split = best_split(tuple(sizes))

    def product(i, j):
        return arrays[i] if j - i == 1 else np.dot(product(i, split[i, j]), product(split[i, j], j))

    return product(0, len(arrays))


@functools.lru_cache(maxsize=256)
def best_split(sizes):
    """Return where to split each part of a chain of matrices, whose lengths are ``sizes``."""
    count = len(sizes) - 1
    cost = {(i, i + 1): 0 for i in range(count)}
    split = {}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length
            costs = {
                k: cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j)
            }
            split[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[split[i, j]]
    return split
