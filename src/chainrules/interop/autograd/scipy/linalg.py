"""As ``autograd.scipy.linalg``: ``scipy.linalg``, by ``chainrules.scipy.linalg``."""

from typing import Any

from ....scipy import linalg as _linalg

__all__ = list(_linalg.__all__)
globals().update({name: getattr(_linalg, name) for name in __all__})


def __getattr__(name: str) -> Any:
    return getattr(_linalg, name)
