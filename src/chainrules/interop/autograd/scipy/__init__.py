"""As ``autograd.scipy``: SciPy, by ``chainrules.scipy``, which see."""

import importlib as _importlib
from typing import Any

from .... import scipy as _scipy


def __getattr__(name: str) -> Any:
    if name in ("integrate", "linalg", "misc", "signal", "special", "stats"):
        return _importlib.import_module(f".{name}", __name__)
    return getattr(_scipy, name)
