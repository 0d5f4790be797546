"""Functions of NumPy in other libraries, and functions of these in NumPy programs.

``chainrules.interop.jax`` needs JAX, ``torch`` PyTorch, and so ``pytensor`` and ``casadi``; each
library is imported with its module, and not before. ``chainrules.interop.autograd`` has autograd's
names, and needs autograd for ``export`` and ``adopt`` alone.
"""

import importlib as _importlib
from typing import Any

from ..rules.rulesets.functions.foreign import Foreign

__all__ = ["Foreign"]
_LIBRARIES = ("autograd", "casadi", "jax", "pytensor", "torch")


def __getattr__(name: str) -> Any:
    if name in _LIBRARIES:
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_LIBRARIES]
