"""Rules for scipy.linalg: the values are those of SciPy, which takes stacks of matrices, too.

Each file is about one family of functions.
"""

from typing import Any

from scipy import linalg

from .... import by_source
from . import (
    banded,
    cholesky,
    eigenvalues,
    equations,
    exponential,
    lu,
    matrix_functions,
    orthogonal,
    riccati,
    singular_values,
    structured,
    systems,
    toeplitz,
)

INSTEAD: dict[str, Any] = {}

by_source(linalg, "cdf2rdf")

CHANGED = "changes a factorization that is given: no rule yet"
REFUSED: dict[str, tuple[str, str]] = {
    "clarkson_woodruff_transform": (
        "the sketch is drawn at random anew", "sketch @ x, with a sketch of your own",
    ),
    "cossin": ("its vectors are known up to signs and rotations", "svdvals of the blocks"),
    "expm_cond": ("it is an estimate of a norm", "norm(expm_frechet(a, e)) for some e"),
    "hessenberg": ("its reflections depend on rounding where entries vanish", "eigvals, or qr"),
    "ldl": ("its pivots may be blocks, which are not factored", "cholesky, or lu"),
    "null_space": ("any rotation of the basis is one", "the projector np.eye(n) - pinv(a) @ a"),
    "ordqz": ("an order of eigenvalues is no function of the matrices", "eigvals(a, b)"),
    "qr_delete": (CHANGED, "qr(np.delete(a, k, axis), mode='economic')"),
    "qr_insert": (CHANGED, "qr(np.insert(a, k, u, axis), mode='economic')"),
    "qr_update": (CHANGED, "qr(a + np.outer(u, v), mode='economic')"),
    "qz": ("its vectors are known up to phases, and blocks may change", "eigvals(a, b)"),
    "rsf2csf": ("its rotations are known up to phases", "eig, or eigvals"),
    "schur": ("its vectors are known up to phases, and blocks may change", "eigh, eig or eigvals"),
}  # fmt: skip
