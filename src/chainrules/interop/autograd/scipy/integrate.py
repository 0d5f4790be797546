"""As ``autograd.scipy.integrate``: ``scipy.integrate``, by ``chainrules.scipy.integrate``."""

from typing import Any

from ....scipy import integrate as _integrate

__all__ = list(_integrate.__all__)
globals().update({name: getattr(_integrate, name) for name in __all__})


def __getattr__(name: str) -> Any:
    return getattr(_integrate, name)
