"""Which functions of NumPy may return a view of their first argument.

Whether one does is seen from what it returned; this says only which are worth asking.
"""

import numpy as np

from ..calls import astype, getitem
from ..views import gives_views

gives_views(
    getitem, astype, np.real, np.imag, np.reshape, np.ravel, np.squeeze, np.expand_dims,
    np.transpose, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis,
    np.rollaxis, np.flip, np.fliplr, np.flipud, np.rot90, np.broadcast_to, np.diagonal,
    np.linalg.diagonal, np.diag, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit,
    np.unstack, np.atleast_1d, np.atleast_2d, np.atleast_3d,
    np.lib.stride_tricks.sliding_window_view,
)  # fmt: skip
