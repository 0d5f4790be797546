"""Compiled functions as primitives: a transform sees one step, and compiles its derivatives."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..functions import Pullback, Pushforward
from ..rules import Traced, name_of
from ..rules.rulesets.functions.foreign import Foreign


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


def is_number_or_array(x: Any) -> bool:
    return isinstance(x, Traced | float | np.ndarray | np.floating) or type(x) is int


def as_foreign(compiled: Any) -> Foreign:
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

    return Foreign(name_of(compiled.f), compiled, with_pullback, with_tangent, push, pull)
