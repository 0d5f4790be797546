"""Memory of arrays while a transform runs: it comes from a pool, where the accelerator is built.

A door takes ``used = memory.pool.use_pool()`` before it runs, and ``memory.pool.leave_pool(used)``
after. Blocks of arrays that are freed inside are kept for the next arrays of their size, since to
be given them anew by the system takes longer than most operations on them: see
``rules/accelerated/memory_pool.h``.
"""

from typing import Any


class NoPool:
    """In place of the pool, where there is none: NumPy allocates as it always does."""

    @staticmethod
    def use_pool() -> bool:
        """Return whether the pool was not in use, and is now."""
        return False

    @staticmethod
    def leave_pool(used: bool) -> None:
        """Take back what ``use_pool`` has done."""

    @staticmethod
    def empty_pool() -> int:
        """Give all kept blocks back to the system; return how many bytes they had."""
        return 0


pool: Any = NoPool  # the accelerator, when it is loaded
