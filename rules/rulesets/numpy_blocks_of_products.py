"""How products, linear systems and transforms run on a block of directions."""

import math
import string

import numpy as np

from ..blocks import Block, aligned, block_rule, elementwise
from ..project import shape_of
from .numpy_blocks import flat, shifted
from .numpy_einsum import read_call

# Matrices of so few columns are faster multiplied as one matrix of many, by so large a matrix.
NARROW, LARGE = 4, 2000

# ---- products -------------------------------------------------------------------------------


@block_rule(np.matmul, np.linalg.matmul)
def matmul_block(a, b):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    return _matmul_left(a, b) if type(a) is Block else _matmul_right(a, b)


def _matmul_left(a, b):
    rank = len(shape_of(b))
    if rank <= 2:
        # One product with all rows at once.
        *rows, columns = shape_of(a.values)
        product = np.reshape(a.values, (math.prod(rows), columns)) @ b
        return np.reshape(product, (*rows, *shape_of(b)[1:]))
    if a.rank == 1:
        return (np.expand_dims(aligned(a, rank - 1), -2) @ b)[..., 0, :]
    return aligned(a, rank) @ b


def _matmul_right(a, b):
    rank = len(shape_of(a))
    if b.rank == 1:
        if rank <= 2:
            return b.values @ np.transpose(a)
        return (a @ np.expand_dims(aligned(b, rank - 1), -1))[..., 0]
    if rank == 2 == b.rank and b.shape[1] <= NARROW and np.size(a) >= LARGE:
        # One product with all columns at once, and the directions beside each other.
        columns = np.reshape(np.moveaxis(b.values, 0, -1), (b.shape[0], b.shape[1] * b.count))
        product = np.reshape(a @ columns, (shape_of(a)[0], b.shape[1], b.count))
        return np.moveaxis(product, -1, 0)
    return a @ aligned(b, rank)


@block_rule(np.dot)
def dot_block(a, b):
    if not (shape_of(a) and shape_of(b)):
        return elementwise(np.multiply)(a, b)
    if len(shape_of(b)) > 2 or (len(shape_of(a)) > 2 and type(b) is Block):
        return NotImplemented
    return matmul_block(a, b)


@block_rule(np.tensordot, np.linalg.tensordot)
def tensordot_block(a, b, axes=2):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, int | np.integer):
        axes = range(rank_a - axes, rank_a), range(axes)
    of_a, of_b = [(k,) if isinstance(k, int | np.integer) else tuple(k) for k in axes]
    if type(a) is Block:
        return np.tensordot(a.values, b, (shifted(of_a, rank_a), of_b))
    y = np.tensordot(a, b.values, (of_a, shifted(of_b, rank_b)))
    return np.moveaxis(y, rank_a - len(of_a), 0)


@block_rule(np.inner)
def inner_block(a, b):
    if not (shape_of(a) and shape_of(b)):
        return elementwise(np.multiply)(a, b)
    return tensordot_block(a, b, ((-1,), (-1,)))


@block_rule(np.vdot)
def vdot_block(a, b):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    if type(a) is Block:
        return np.conj(flat(a)) @ np.ravel(b)
    return flat(b) @ np.conj(np.ravel(a))


@block_rule(np.vecdot, np.linalg.vecdot)
def vecdot_block(a, b, axis=-1):
    rank = max(len(shape_of(a)), len(shape_of(b)))
    if axis >= 0:
        return NotImplemented
    return np.vecdot(aligned(a, rank), aligned(b, rank), axis=axis)


@block_rule(np.outer, np.linalg.outer)
def outer_block(a, b):
    if type(a) is Block and type(b) is Block:
        return NotImplemented
    if type(a) is Block:
        return np.expand_dims(flat(a), -1) * np.ravel(b)
    return np.expand_dims(np.ravel(a), -1) * np.expand_dims(flat(b), 1)


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


# ---- linear systems -------------------------------------------------------------------------


@block_rule(np.linalg.solve)
def solve_block(a, b):
    if type(a) is Block or len(shape_of(a)) != 2 or b.rank > 2:
        return NotImplemented
    # One factorization for all directions.
    columns = np.moveaxis(b.values, 0, -1)
    y = np.linalg.solve(a, np.reshape(columns, (b.shape[0], math.prod(b.shape[1:]) * b.count)))
    return np.moveaxis(np.reshape(y, shape_of(columns)), -1, 0)


# ---- Fourier transforms ---------------------------------------------------------------------


def along_one(transform):
    def transform_block(a, n=None, axis=-1, norm=None):
        return transform(a.values, n, shifted(axis, a.rank), norm)

    block_rule(transform)(transform_block)


def along_several(transform):
    def transform_block(a, s=None, axes=None, norm=None):
        if axes is None:
            axes = range(a.rank) if s is None else range(a.rank - len(s), a.rank)
        return transform(a.values, s, shifted(tuple(axes), a.rank), norm)

    block_rule(transform)(transform_block)


for of_one in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
    along_one(of_one)
for of_several in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn):
    along_several(of_several)
