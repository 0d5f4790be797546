"""What a transform needs, loaded before the first one and not before: our rules, and others'.

Authors of rules can then import this kit, which is small, without all that uses it. What is loaded
is modules, so that threads wait for one another as for any import.
"""

import importlib
import os
from _thread import get_ident  # threading, which takes longer to import, is not needed
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType

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


# What is being imported for somebody who asked for a name, or for a derivative, and the thread.
_under_way: list[tuple[str, int]] = []


def imported(name: str) -> ModuleType:
    """Return a module of the library, or of the packages, which a fork does not cut in half."""
    entry = name, get_ident()
    _under_way.append(entry)
    try:
        return importlib.import_module(name)
    finally:
        _under_way.remove(entry)


def _wait() -> None:
    # The child would wait for ever, for a thread that it has not got. One import leads to the next;
    # and if a thread waits for what this one is importing, we go on after some rounds.
    for _ in range(20):
        others = [name for name, thread in _under_way if thread != get_ident()]
        if not others:
            return
        importlib.import_module(others[0])


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_wait)
