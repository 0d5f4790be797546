"""What a transform needs, loaded before the first one and not before: our rules, and others'.

Authors of rules can then import this kit, which is small, without all that uses it. What is loaded
is modules, so that threads wait for one another as for any import.
"""

from collections.abc import Callable
from contextvars import ContextVar

# What loads something, and says whether it is there; the face puts these in, in their order.
needed: list[Callable[[], bool]] = []


# In this thread: what is loaded registers rules, and may differentiate.
_loading = ContextVar("loading", default=False)


def load() -> None:
    """Load what is needed and is not there yet."""
    if _loading.get():
        return
    token = _loading.set(True)
    try:
        for is_loaded in tuple(needed):
            if is_loaded() and is_loaded in needed:  # another thread may have waited for it, too
                needed.remove(is_loaded)
    finally:
        _loading.reset(token)
