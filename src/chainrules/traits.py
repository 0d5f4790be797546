"""Configurations of engines, and the traits by which rules ask for what an engine can do.

Examples
--------
>>> import chainrules as cr
>>> issubclass(cr.ReverseConfig, cr.traits.HasReverseMode)
True
"""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from .config import (
    AllOf,
    AsksForBlocks,
    FollowsPython,
    HasBatchMode,
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    StrongZeros,
    batch_via_ad,
    frule_via_ad,
    rrule_via_ad,
)

if TYPE_CHECKING:
    from .forward import ForwardConfig
    from .reverse import ReverseConfig

__all__ = [
    "AllOf",
    "AsksForBlocks",
    "FollowsPython",
    "ForwardConfig",
    "HasBatchMode",
    "HasForwardsMode",
    "HasReverseMode",
    "NoForwardsMode",
    "NoReverseMode",
    "ReverseConfig",
    "RuleConfig",
    "StrongZeros",
    "batch_via_ad",
    "frule_via_ad",
    "rrule_via_ad",
]

_ENGINES = {"ForwardConfig": ".forward", "ReverseConfig": ".reverse"}


def __getattr__(name: str) -> Any:
    if name in _ENGINES:  # which are loaded when they are asked for
        return getattr(_importlib.import_module(_ENGINES[name], __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
