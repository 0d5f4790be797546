"""Rules for scipy.linalg."""

from typing import Any

from . import banded, cholesky, lu, systems, toeplitz

INSTEAD: dict[str, Any] = {}
REFUSED: dict[str, tuple[str, str]] = {}
