"""Functions of NumPy whose result does not change with their arguments, or not between jumps.

Traced arguments are read for their numbers only, and the result is plain.
"""

import numpy as np

from ... import non_differentiable

STEPS = (
    np.ceil, np.fix, np.floor, np.floor_divide, np.rint, np.round, np.around, np.spacing, np.trunc,
)  # fmt: skip

COMPARISONS = (
    np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal,
    np.allclose, np.array_equal, np.array_equiv, np.isclose, np.isin,
    np.isfinite, np.isinf, np.isnan, np.isnat, np.isneginf, np.isposinf, np.signbit,
    np.iscomplex, np.iscomplexobj, np.isreal, np.isrealobj,
)  # fmt: skip

LOGIC = (
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.all, np.any,
    np.bitwise_and, np.bitwise_count, np.bitwise_or, np.bitwise_xor, np.invert,
    np.left_shift, np.right_shift, np.gcd, np.lcm, np.packbits, np.unpackbits,
)  # fmt: skip

POSITIONS = (
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argpartition, np.argsort, np.lexsort,
    np.argwhere, np.count_nonzero, np.flatnonzero, np.nonzero,
    np.digitize, np.searchsorted,
    np.diag_indices_from, np.tril_indices_from, np.triu_indices_from,
    np.ravel_multi_index, np.unravel_index,
)  # fmt: skip

DESCRIPTIONS = (
    np.ndim, np.shape, np.size, np.can_cast, np.common_type, np.min_scalar_type, np.result_type,
    np.may_share_memory, np.shares_memory, np.einsum_path,
)  # fmt: skip

non_differentiable(*STEPS, *COMPARISONS, *LOGIC, *POSITIONS, *DESCRIPTIONS)
