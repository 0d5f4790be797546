"""Compiled functions as primitives: a transform or a batch sees one step, and compiles its own."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..config import HasBatchMode, batch_via_ad
from ..config.thresholds import CACHE_ENTRIES
from ..functions import Pullback, Pushforward
from ..rules import (
    Traced,
    batch_rule,
    dtype_of,
    instances,
    iterate_leaves,
    map_leaves,
    name_of,
    spread,
)
from ..rules.containers import LEAVES
from ..rules.rulesets.functions.foreign import Foreign
from .ir.looks import NotRecordable
from .record.state.captured_state import Captured


class Given:
    """A function with some of its arguments given."""

    __slots__ = ("counts", "f")

    def __init__(self, f: Callable, counts: tuple) -> None:
        self.f, self.counts = f, counts

    def __call__(self, *xs: Any) -> Any:
        args = list(xs)
        for k, count in self.counts:
            args.insert(k, count)
        return self.f(*args)


def with_counts(compiled: Any, counts: tuple) -> Any:
    """Return a compiled function with the integers among its arguments given."""
    bound = compiled.bound
    if counts not in bound:
        while len(bound) >= CACHE_ENTRIES:
            bound.pop(next(iter(bound)), None)
        bound[counts] = type(compiled)(Given(compiled.f, counts), *compiled.options)
    return bound[counts]


class OnItems:
    """A function on all items of a batch, by the engine of a config."""

    __slots__ = ("__name__", "batched", "config", "count", "f")

    def __init__(self, config: HasBatchMode, count: int, batched: tuple, f: Callable) -> None:
        self.config, self.count, self.batched, self.f = config, count, batched, f
        self.__name__ = name_of(f)

    def __call__(self, *xs: Any) -> Any:
        y, are_batched = batch_via_ad(self.config, self.count, self.batched, self.f, *xs)
        flags = iter(iterate_leaves(are_batched))
        return map_leaves(lambda leaf: leaf if next(flags) else self.repeated(leaf), y)

    def repeated(self, leaf: Any) -> Any:
        """Return a leaf that all items share once for each; what is no number as it is."""
        shared = dtype_of(leaf) is None and not isinstance(leaf, int)
        return leaf if shared else spread(leaf, self.count)


class CompiledStep(Foreign):
    """A compiled function with derivatives of its own, and of batches, compiled as well."""

    __slots__ = ("compiled", "of_batches")

    __primitive__: type

    def __init__(self, compiled: Any, *of: Callable) -> None:
        super().__init__(name_of(compiled.f), compiled, *of)
        self.compiled = compiled
        self.of_batches: dict[tuple, Any] = {}


LEAVES.add(CompiledStep)
CompiledStep.__primitive__ = CompiledStep


@batch_rule.register(instances(CompiledStep))
def compiled_batch(
    config: HasBatchMode, axis_size: int, batched: tuple, step: CompiledStep, *args: Any
) -> Any:
    key = axis_size, batched
    if key not in step.of_batches:
        while len(step.of_batches) >= CACHE_ENTRIES:
            step.of_batches.pop(next(iter(step.of_batches)), None)
        compiled = step.compiled
        on_items = OnItems(config, axis_size, batched, compiled.f)
        step.of_batches[key] = type(compiled)(on_items, *compiled.options)
    return step.of_batches[key](*args), True


def may_capture_traced(compiled: Any) -> bool:
    """Say whether a transform is under way in what the function captures, for all we know."""
    if compiled.untraced is None or compiled.untraced.changed():
        try:
            captured = Captured(compiled.f, frozen=False, everything=True)
            captured.settle()
        except NotRecordable:
            return True
        compiled.untraced = None if captured.traced else captured
    return compiled.untraced is None


def is_number_or_array(x: Any) -> bool:
    return isinstance(x, Traced | float | np.ndarray | np.floating) or type(x) is int


def as_foreign(compiled: Any) -> CompiledStep:
    """Return a compiled function as one with derivatives of its own, compiled as well."""

    def derived(f: Callable) -> Any:
        return type(compiled)(f, *compiled.options)

    @functools.cache
    def push(n: int) -> Foreign:
        return as_foreign(derived(Pushforward(compiled.f, arity=n)))

    @functools.cache
    def pull(n: int) -> Foreign:
        return as_foreign(derived(Pullback(compiled.f, arity=n)))

    def with_pullback(*xs: Any) -> tuple[Any, Callable]:
        return compiled(*xs), lambda *ybars: pull(len(xs))(*xs, *ybars)

    def with_tangent(xs: tuple, xdots: tuple) -> tuple[Any, tuple]:
        ydot = push(len(xs))(*xs, *xdots)
        return compiled(*xs), ydot if isinstance(ydot, tuple) else (ydot,)

    return CompiledStep(compiled, with_pullback, with_tangent, push, pull)
