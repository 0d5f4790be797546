"""Choice between a kind and its form with strong zeros, by the config that asks.

``strong_zeros`` says which classes of kinds have such a form.
"""

import copy
from typing import Any

from ...config import RuleConfig, StrongZeros

strong_kinds: dict[type, type] = {}


def with_strong_zeros(kind: Any) -> Any:
    """Return the kind that does the same with strong zeros; itself, where it has no slopes.

    It is kept by the kind itself, and goes with it.
    """
    if type(kind) not in strong_kinds:
        return kind
    if not hasattr(kind, "strong"):
        made = copy.copy(kind)
        made.__class__ = strong_kinds[type(kind)]
        if hasattr(made, "_rows"):  # of a kind of several outputs
            made._rows = list(map(with_strong_zeros, kind.rows))
        kind.strong = made
    return kind.strong


def for_config(kind: Any, config: RuleConfig) -> Any:
    """Return the kind that answers an engine with this config."""
    return with_strong_zeros(kind) if isinstance(config, StrongZeros) else kind
