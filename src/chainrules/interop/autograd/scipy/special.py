"""As ``autograd.scipy.special``: ``scipy.special``, by ``chainrules.scipy.special``."""

from typing import Any

from ....scipy import special as _special

__all__ = list(_special.__all__)


def __getattr__(name: str) -> Any:
    return getattr(_special, name)
