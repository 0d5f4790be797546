"""Rules for scipy.sparse.linalg."""

from typing import Any

from . import systems

INSTEAD: dict[str, Any] = {**systems.INSTEAD}
REFUSED: dict[str, tuple[str, str]] = {}
