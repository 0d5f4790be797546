"""Einstein sums, and other products of many factors.

An einsum is linear in every operand, and its derivatives are einsums of ``ybar`` and the
other operands.
"""

import functools
import string
import sys

import numpy as np

from ....config import defined_at
from ... import (
    Block,
    Kind,
    NoTangent,
    add_kind,
    composed,
    dtype_of,
    non_differentiable,
    shape_of,
    spread_over,
    tie_result,
)
from .indexing import scatter
from .products import conj
from .subscripts import einsum_pattern, plan, read_call

non_differentiable(np.einsum_path)


# ---- einsum ---------------------------------------------------------------------------------


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


class EinsumRule(Kind):
    """Linear in each operand; among the arguments are the subscripts, too."""

    __slots__ = ()
    label = "multilinear rule"
    linear = joins = True
    block = staticmethod(einsum_block)
    pattern = staticmethod(einsum_pattern)

    def __init__(self, einsum):
        super().__init__(einsum, sys.maxsize, {"optimize"}, defined_at(einsum_pull))

    def kept(self, active, y, args):
        return None, args

    def tie(self, y, einsum, args, kwargs):
        for k in read_call(args)[1]:  # NumPy gives a view of one operand where it adds up nothing
            tie_result(y, einsum, args, k, kwargs)

    def push(self, i, xdot, y, args, kwargs):
        return self.f(*args[:i], xdot, *args[i + 1 :], **kwargs)

    def pull(self, i, ybar, y, args, kwargs, space):
        subscripts, positions = read_call(args)
        if i not in positions:
            return NoTangent()
        others = [conj(args[k]) for k in positions if k != i]
        # A path that was given for the operands is none for their cotangents.
        optimize = bool(kwargs) and kwargs["optimize"] is not False
        return einsum_pull(positions.index(i), ybar, subscripts, others, space, optimize)


def einsum_pull(k, ybar, subscripts, others, space, optimize):
    """Pull ``ybar`` to operand ``k``: contract it with the conjugates of the others."""
    call, own, index = plan(subscripts, k)
    xbar = np.einsum(call, ybar, *others, optimize=optimize) if call else ybar
    # A letter that occurs nowhere else was summed over: its axis is broadcast.
    xbar = xbar[index] if index else xbar
    letters = subscripts.inputs[k]
    if own == letters:
        return fit_axes(xbar, space)
    # A letter that occurs twice reads a diagonal.
    sizes = dict(zip(letters, space.shape))
    lengths = tuple(sizes[x] for x in own)
    grid = np.ogrid[tuple(map(slice, lengths))]
    places = tuple(grid[own.index(x)] for x in letters)
    xbar = np.broadcast_to(sum_axes(xbar, lengths), lengths)
    return scatter(xbar, space.shape, dtype_of(xbar), places)


def fit_axes(xbar, space):
    """Sum or broadcast axes to their lengths in ``space``."""
    if shape_of(xbar) == space.shape:
        return xbar
    xbar = sum_axes(xbar, space.shape)
    return xbar if shape_of(xbar) == space.shape else spread_over(xbar, space)


def sum_axes(xbar, shape):
    """Sum over the axes that have length 1 in ``shape``."""
    axes = tuple([k for k, (n, m) in enumerate(zip(shape_of(xbar), shape)) if n != m == 1])
    return np.sum(xbar, axes, keepdims=True) if axes else xbar


add_kind(np.einsum, EinsumRule(np.einsum))


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
