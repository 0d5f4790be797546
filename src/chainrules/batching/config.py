"""Configuration of the engine of batches, by which rules call back into it."""

from collections.abc import Callable
from typing import Any

from ..config import HasBatchMode, NoForwardsMode, NoReverseMode, RuleConfig


class BatchConfig(RuleConfig, HasBatchMode, NoForwardsMode, NoReverseMode):
    """Config that rules for batches are handed: it calls back into the engine of ``cr.vmap``."""

    __slots__ = ()

    def batch_via_ad(
        self, axis_size: int, batched: tuple, f: Callable[..., Any], *args: Any
    ) -> tuple[Any, Any]:
        from .batch import call_on_batch

        return call_on_batch(axis_size, batched, f, args)


BATCHES = BatchConfig()
