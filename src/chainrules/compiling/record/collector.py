"""Pause of Python's cyclic garbage collector, while many objects are made that all stay alive."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Make no automatic collection, which would walk through each step of a recording again.

    Whoever found the collector enabled enables it again, so that recordings may nest, and overlap
    on threads.

    Examples
    --------
    >>> import gc
    >>> with collector_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
