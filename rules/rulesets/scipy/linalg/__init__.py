"""Rules for scipy.linalg."""

from typing import Any

from . import banded, cholesky, eigenvalues, equations, exponential, lu, orthogonal, singular_values, systems, toeplitz

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}
