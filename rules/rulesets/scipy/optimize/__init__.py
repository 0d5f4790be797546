"""Rules for scipy.optimize: derivatives of answers, by the equations that they solve.

SciPy finds the answer, of plain numbers. Its derivatives are those of an implicit function: of the
equations themselves for roots, of the gradient for minima, with the constraints that hold there.
See ``functions/implicit.py``.
"""

from typing import Any

from . import least_squares, minimizers, others, roots, scalar_roots

INSTEAD: dict[str, Any] = {
    **scalar_roots.INSTEAD, **roots.INSTEAD, **minimizers.INSTEAD, **least_squares.INSTEAD,
    **others.INSTEAD,
}  # fmt: skip
# What is said of them in the table of coverage.
SOLVES = "rule that calls back: by the equations that the answer solves"
STATUS = dict.fromkeys(INSTEAD.keys() - others.INSTEAD.keys(), SOLVES)
REFUSED: dict[str, tuple[str, str]] = others.REFUSED
