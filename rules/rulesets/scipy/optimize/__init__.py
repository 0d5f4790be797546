"""Rules for scipy.optimize: derivatives of answers, by the equations that they solve.

SciPy finds the answer, of plain numbers. Its derivatives are those of an implicit function: of the
equations themselves for roots, of the gradient for minima, with the constraints that hold there.
"""

from typing import Any

from . import least_squares, minimizers, roots, scalar_roots

INSTEAD: dict[str, Any] = {
    **scalar_roots.INSTEAD, **roots.INSTEAD, **minimizers.INSTEAD, **least_squares.INSTEAD,
}  # fmt: skip
REFUSED: dict[str, tuple[str, str]] = {}
