"""The lock of all that makes native code; a fork waits for it, and for LLVM's.

A child has only the thread that forks. So nobody may hold a lock at that moment, nor be in the
midst of what one protects: the forking thread takes the locks before, and lets go of them in both.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

# One for all: targets are made once, known kernels are looked up, LLVM parses for one thread.
making = threading.RLock()
Made = TypeVar("Made")


def made_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Keep what is made, one for all of the process: of two threads' one would let go, in use."""
    kept = functools.cache(make)

    @functools.wraps(make)
    def made() -> Made:
        with making:
            return kept()

    return made


def _of_llvm() -> Any:
    """The lock under which llvmlite calls LLVM, if that is loaded."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock = getattr(library, "_lock", None)
    return lock if hasattr(lock, "__enter__") else None


_held: list[Any] = []


def _before() -> None:
    making.acquire()
    lock = _of_llvm()
    if lock is not None:
        lock.__enter__()
    _held.append(lock)


def _after() -> None:
    lock = _held.pop()
    if lock is not None:
        lock.__exit__(None, None, None)
    making.release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
