"""Choice between a kind and its form with strong zeros, by the config that asks.

``strong_zeros`` says which classes of kinds have such a form.
"""

import copy
import functools
from typing import Any

from ...config import RuleConfig, StrongZeros

strong_kinds: dict[type, type] = {}


@functools.cache
def _strong(kind: Any) -> Any:
    made = copy.copy(kind)
    made.__class__ = strong_kinds[type(kind)]
    if hasattr(made, "_rows"):  # of a kind of several outputs
        made._rows = list(map(_strong, kind.rows))
    return made


def with_strong_zeros(kind: Any) -> Any:
    """Return the kind that does the same with strong zeros; itself, where it has no slopes."""
    return _strong(kind) if type(kind) in strong_kinds else kind


def for_config(kind: Any, config: RuleConfig) -> Any:
    """Return the kind that answers an engine with this config."""
    return with_strong_zeros(kind) if isinstance(config, StrongZeros) else kind
