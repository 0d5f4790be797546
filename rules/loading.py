"""Lazy loading of rulesets, ours and those of packages, just before the first transform.

``import chainrules`` loads no rule; the first ``cr.grad(f)(x)`` calls ``load()``.

Authors of rules can then import this kit, which is small, without all that uses it. What is loaded
is modules, so that threads wait for one another as for any import. Ours are imported by a thread of
their own, for which the one that asks waits: a signal handler that interrupts it, and asks for the
same, waits too, where it would find half a module; and Ctrl-C leaves none.
"""

import importlib
import importlib._bootstrap
import os
import sys
from _thread import allocate_lock, get_ident, start_new_thread  # threading takes longer to import
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType
from typing import Any

# What loads something, and says whether it is there; the face puts these in, in their order.
needed: list[Callable[[], bool]] = []

# Whether what this thread calls is being loaded, which registers rules, and may differentiate.
_loading = ContextVar("loading", default=False)
# What is being imported for somebody who asked for a name, or for a derivative, and the thread.
_under_way: list[tuple[str, int]] = []


def lacking() -> bool:
    """Say whether something is needed, and this thread is not loading it already."""
    return bool(needed) and not _loading.get()


def load() -> None:
    """Load what is needed and is not there yet."""
    if _loading.get():
        return
    for is_loaded in tuple(needed):
        if is_loaded() and is_loaded in needed:  # another thread may have waited for it, too
            needed.remove(is_loaded)


def imported(name: str) -> ModuleType:
    """Return a module of the library, whole."""
    module = sys.modules.get(name)
    if module is not None and not getattr(module.__spec__, "_initializing", False):
        return module
    if _loading.get():
        return importlib.import_module(name)
    if _is_in_a_search():  # for which another thread would wait, as this one for that
        return imported_here(name)
    failed: list[BaseException] = []
    ended = allocate_lock()

    def run() -> None:
        try:
            imported_here(name)
        except BaseException as error:
            failed.append(error)
        finally:
            ended.release()

    ended.acquire()
    start_new_thread(run, ())
    ended.acquire()
    if failed:
        raise failed[0]
    return sys.modules[name]


def _is_in_a_search() -> bool:
    """Say whether this thread looks for a module, in an import hook, and so locks all imports."""
    search = importlib._bootstrap._find_spec.__code__  # type: ignore[attr-defined]
    frame: Any = sys._getframe()
    while frame is not None and frame.f_code is not search:
        frame = frame.f_back
    return frame is not None


def imported_here(name: str) -> ModuleType:
    """Import a module, in this thread."""
    entry = name, get_ident()
    _under_way.append(entry)
    try:
        return alone(importlib.import_module, name)
    finally:
        _under_way.remove(entry)


def alone(f: Callable, *args: object) -> Any:
    """Call ``f``; of what it calls, in this thread, nothing else is loaded meanwhile."""
    token = _loading.set(True)
    try:
        return f(*args)
    finally:
        _loading.reset(token)


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
