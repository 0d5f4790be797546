from typing import Any

from scipy.optimize import *  # noqa: F403 - all of them, where there are stubs of SciPy

def __getattr__(name: str) -> Any: ...
