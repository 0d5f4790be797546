"""Rules for scipy.sparse.linalg."""

from typing import Any

from scipy.sparse import linalg

from .... import non_differentiable
from ..traced_objects import NO_RULE
from . import functions, iterative, operators, spectral, systems  # noqa: F401 - for their rules
from .array import constant
from .seeing import LinearOperator, answers  # noqa: F401 - asked by the mirror

INSTEAD: dict[str, Any] = {
    **systems.INSTEAD,
    "LinearOperator": LinearOperator,
    "aslinearoperator": operators.aslinearoperator,
}
DENSE = "the result is dense, whatever the pattern"
LEAST_SQUARES = "no rule yet for sparse least squares"
REFUSED: dict[str, tuple[str, str]] = {
    "eigs": ("no rule yet for matrices that are not symmetric", "numpy.linalg.eig(A.toarray())"),
    "expm": (DENSE, "expm_multiply(A, b), or scipy.linalg.expm(A.toarray())"),
    "funm_multiply_krylov": (NO_RULE, "expm_multiply, for the exponential"),
    "inv": (DENSE, "spsolve(A, b), or spsolve(A, numpy.eye(n))"),
    "lobpcg": (NO_RULE, "eigsh(A, k)"),
    "lsmr": (LEAST_SQUARES, "spsolve(A.T @ A, A.T @ b)"),
    "lsqr": (LEAST_SQUARES, "spsolve(A.T @ A, A.T @ b)"),
    "onenormest": ("it is an estimate", "norm(A, 1)"),
}

for _name in ("is_sptriangular", "spbandwidth", "use_solver"):
    if hasattr(linalg, _name):
        non_differentiable(getattr(linalg, _name))
        INSTEAD[_name] = constant(getattr(linalg, _name))
