"""State that a function reads, of which another process has a copy of its own.

A module's variables, a generator of random numbers, an array that is written to: each process has
its copy. What is traced in a module would be read there as it was before, every item would draw the
same numbers, and what is written would be gone. So these are refused, where memory is not shared.
"""

import random
from typing import Any

import numpy as np

from .....config import LostDerivativeError, MutationError, user_line
from .... import is_traced, name_of, reached

_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def refuse_state(f: Any, known: set[int], name: str) -> None:
    """Refuse what ``f`` reads and would find another there; ``known`` are ids of what is sent.

    Raises
    ------
    LostDerivativeError
        If it is a traced value that a module or a class holds.
    MutationError
        If it is a generator of random numbers.
    """
    for x, place in reached(f):
        if isinstance(x, _GENERATORS):
            raise MutationError(
                f"{name_of(f)} captures a generator of random numbers, in {user_line()}, and "
                f"cr.{name} with an executor sends a copy with each item: all would draw the "
                "same.\n  draw before, and give the numbers to each item; or give each item a seed"
            )
        if place and id(x) not in known and is_traced(x):
            raise LostDerivativeError(
                f"{name_of(f)} reads a traced value from {place}, in {user_line()}, and "
                f"cr.{name} with an executor evaluates it elsewhere.\n"
                "  let it be a variable of the function around, or an argument"
            )


def for_reading_only(f: Any) -> list[tuple[list, list]]:
    """Make all arrays that came along with ``f`` read-only; return its lists, and what is in them.

    What is written to them would be seen by no one where ``f`` came from.
    """
    lists = []
    for x, place in reached(f):
        if not place and type(x) is np.ndarray:
            x.flags.writeable = False
        elif not place and type(x) is list:
            lists.append((x, list(x)))
    return lists
