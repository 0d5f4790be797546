"""Arguments that all items share: each run of the function gets them as they were given.

Plain arrays are lent as views that cannot be written to, which costs no memory. A function that
writes into one stops there, and runs again on copies: what it writes is seen by no other item, and
not by the caller.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rules import Traced
from ..rules.tracing.views import for_receiver


class SharedArguments:
    """The arguments that have no axis of items, as they are lent to each run."""

    __slots__ = ("copies", "lent")

    def __init__(self) -> None:
        self.copies = False
        self.lent = False  # whether there was a plain array

    def lend(self, leaves: Sequence, batched: Sequence[bool]) -> list:
        """Return the leaves for one run; None where each item has its own."""
        if all(batched):
            return [None] * len(leaves)
        made: dict[int, Any] = {}
        for x, has_items in zip(leaves, batched, strict=True):
            if not has_items and id(x) not in made:
                made[id(x)] = self._lent(x)
        return [None if has_items else made[id(x)] for x, has_items in zip(leaves, batched)]

    def _lent(self, x: Any) -> Any:
        if isinstance(x, Traced):
            return for_receiver(x) if type(x).writable else x
        if not isinstance(x, np.ndarray):
            return x
        if type(x) is not np.ndarray or self.copies:
            return x.copy(order="K") if x.flags.writeable else x
        self.lent = True
        y = x.view()
        y.flags.writeable = False
        return y

    def copies_after(self, error: Exception) -> bool:
        """Say whether to run again on copies, as an array that is lent was to be written to."""
        text = str(error)
        if self.copies or not self.lent or not ("read-only" in text or "readonly" in text):
            return False
        self.copies = True
        return True
