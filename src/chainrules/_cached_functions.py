"""Functions with a cache of ``functools``, as an adopted module has them.

Their arguments are keys, which a traced value cannot be: with one the function itself runs, as
where a cache does not have the answer.
"""

import functools
from types import FunctionType
from typing import Any

from ._held import CACHED, made_anew
from .rules import is_traced

__all__ = ["CACHED", "of_cached"]


def of_cached(cached: Any) -> Any:
    """Return what an adopted module has in place of a cached function; None where that stays."""
    f = cached.__wrapped__
    if not isinstance(f, FunctionType):
        return None
    run = made_anew(f) or f

    @functools.wraps(cached)
    def calls(*args: Any, **kwargs: Any) -> Any:
        return (run if is_traced((args, kwargs)) else cached)(*args, **kwargs)

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(calls, name, getattr(cached, name))
    return calls
