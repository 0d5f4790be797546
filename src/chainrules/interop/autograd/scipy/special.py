"""As ``autograd.scipy.special``: ``scipy.special``, by ``chainrules.scipy.special``."""

from typing import Any

from ....scipy import special as _special

__all__ = list(_special.__all__)
globals().update({name: getattr(_special, name) for name in __all__})


def __getattr__(name: str) -> Any:
    return getattr(_special, name)
