"""Rules for scipy.sparse: arrays whose stored entries are traced, at constant places.

Source of the rules for products and systems: Giles (2008), matrix derivative results for forward
and reverse mode, restricted to the pattern.
"""

from typing import Any

from scipy import sparse

from .... import non_differentiable
from . import arithmetic, construction, operators
from .array import constant, issparse
from .seeing import CLASSES
from .seeing import returns_ours as answers

_CONSTANT = (
    "eye", "eye_array", "identity", "rand", "random", "random_array", "isspmatrix",
    "isspmatrix_bsr", "isspmatrix_coo", "isspmatrix_csc", "isspmatrix_csr", "isspmatrix_dia",
    "isspmatrix_dok", "isspmatrix_lil", "get_index_dtype", "load_npz", "safely_cast_index_arrays",
    "issparse",
)  # fmt: skip

CONSTANT = [name for name in _CONSTANT if hasattr(sparse, name)]
INSTEAD: dict[str, Any] = {
    **{own.__name__: cls for own, cls in CLASSES.items()},
    **{name: constant(getattr(sparse, name)) for name in CONSTANT},
    "issparse": issparse,
}
REFUSED: dict[str, tuple[str, str]] = {
    "save_npz": ("a file holds plain numbers", "save_npz(file, cr.value(matrix))"),
}
for _name in CONSTANT:
    non_differentiable(getattr(sparse, _name))
if hasattr(sparse, "expand_dims"):
    REFUSED["expand_dims"] = ("sparse arrays with traced entries have two axes", "A.toarray()")
