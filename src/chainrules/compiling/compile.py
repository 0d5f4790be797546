"""``cr.compile``, the way in."""

import functools
from collections.abc import Callable
from typing import Any, Literal

from .compiled import Compiled


def compile(
    f: Callable | None = None,
    /,
    *,
    captured: Literal["check", "freeze"] = "check",
    paths: int = 16,
    fallback: Literal["eager", "error"] = "eager",
    check: bool = True,
) -> Any:
    """Return ``f`` as a function that is recorded at its first call, and replayed from then on."""
    if f is None:
        return functools.partial(
            compile, captured=captured, paths=paths, fallback=fallback, check=check
        )
    return Compiled(f, captured, paths, fallback, check)
