from typing import Any

from scipy.sparse.linalg import *  # noqa: F403 - all of them, where there are stubs of SciPy

def __getattr__(name: str) -> Any: ...
