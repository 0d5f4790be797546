"""Which linear functions add up entries without negative weights: structural zeros pass them.

What was masked, overwritten or left out after ``np.log(x)`` sends no cotangent back to it, also
through a copy, a transpose or a sum that stands between.
"""

import numpy as np

from ..calls import astype
from ..kinds import LinearRule
from ..masked import entry_by_entry
from ..registry import rrule
from . import numpy_building, numpy_indexing, numpy_joining, numpy_reductions
from .numpy_shapes import pad_zeros
from .numpys_own import with_value

# The modules that define the rules come first.
DEFINED_IN = numpy_building, numpy_indexing, numpy_joining, numpy_reductions

KEEP_ALL = (
    np.reshape, np.ravel, np.copy, np.expand_dims, np.squeeze, np.broadcast_to, np.transpose,
    np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis,
    np.flip, np.fliplr, np.flipud, np.rot90, np.roll, np.repeat, np.tile, pad_zeros, np.diagflat,
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block, np.sum,
    np.mean, np.cumsum,
)  # fmt: skip
LEAVE_OUT = (
    np.tril, np.triu, np.diagonal, np.linalg.diagonal, np.diag, np.trace, np.linalg.trace,
    np.lib.stride_tricks.sliding_window_view,
)  # fmt: skip

entry_by_entry.update((astype, with_value))

for function in (*KEEP_ALL, *LEAVE_OUT):
    rule = rrule.kinds.get(function)
    if isinstance(rule, LinearRule):
        rule.moves = True
        rule.selects = function in LEAVE_OUT
