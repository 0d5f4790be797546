"""Rules for scipy.sparse.linalg."""

import functools
import inspect
from typing import Any

from scipy.sparse import linalg

from .... import non_differentiable
from ..traced_objects import NO_RULE
from . import functions, iterative, operators, spectral, systems  # noqa: F401 - for their rules
from .array import constant
from .seeing import LinearOperator, returns_ours

INSTEAD: dict[str, Any] = {
    **systems.INSTEAD,
    "LinearOperator": LinearOperator,
    "aslinearoperator": operators.aslinearoperator,
}
DENSE = "the result is dense, whatever the pattern"
REFUSED: dict[str, tuple[str, str]] = {
    "eigs": ("no rule yet for matrices that are not symmetric", "numpy.linalg.eig(A.toarray())"),
    "expm": (DENSE, "expm_multiply(A, b), or scipy.linalg.expm(A.toarray())"),
    "funm_multiply_krylov": (NO_RULE, "expm_multiply, for the exponential"),
    "inv": (DENSE, "spsolve(A, b), or spsolve(A, numpy.eye(n))"),
    "lobpcg": (NO_RULE, "eigsh(A, k)"),
    **dict.fromkeys(
        ("lsmr", "lsqr"),
        (
            "no rule yet for sparse least squares",
            "spsolve(A.T @ A, A.T @ b); with damp, of A.T @ A + damp**2 * eye_array(n)",
        ),
    ),
    "onenormest": ("it is an estimate", "norm(A, 1)"),
}


def answers(f: Any) -> Any:
    """Return what the mirror shows for ``f``.

    Of operators that depend on what is traced it applies the system of an iterative solver alone.
    """
    shown, followed = returns_ours(f), iterative.FOLLOWED.get(inspect.unwrap(f))

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        system = args[0] if args else kwargs.get("A")
        follows = followed is not None and operators.is_by_functions(system)
        for x in (*args, *kwargs.values()):
            if isinstance(x, linalg.LinearOperator) and not (follows and x is system):
                operators.refuse_depending(f, x)
        if follows and operators.depends(system):
            return returns_ours(followed)(*args, **kwargs)
        return shown(*args, **kwargs)

    return call


for _name in ("is_sptriangular", "spbandwidth", "use_solver"):
    if hasattr(linalg, _name):
        non_differentiable(getattr(linalg, _name))
        INSTEAD[_name] = constant(getattr(linalg, _name))
