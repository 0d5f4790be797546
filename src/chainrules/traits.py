"""Configurations of engines, and the traits by which rules ask for what an engine can do.

Examples
--------
>>> import chainrules as cr
>>> issubclass(cr.ReverseConfig, cr.traits.HasReverseMode)
True
"""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from .config import config as _config
from .config.config import *

if TYPE_CHECKING:
    from .forward import ForwardConfig
    from .reverse import ReverseConfig

__all__ = ["ForwardConfig", "ReverseConfig"]
__all__ += _config.__all__

_ENGINES = {"ForwardConfig": ".forward", "ReverseConfig": ".reverse"}


def __getattr__(name: str) -> Any:
    if name in _ENGINES:  # which are loaded when they are asked for
        return getattr(_importlib.import_module(_ENGINES[name], __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
