"""As ``autograd.misc.tracers``."""

import functools
from collections.abc import Callable
from typing import Any


def const_graph(fun: Callable, *args: Any, **kwargs: Any) -> Callable:
    """Return ``fun`` with these arguments given: here it runs each time, and no graph is kept."""
    return functools.wraps(fun)(functools.partial(fun, *args, **kwargs))
