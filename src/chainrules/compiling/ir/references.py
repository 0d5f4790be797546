"""References of a program to the results of its steps: itself (``Slot``), or a copy of it."""

from typing import Any

from ...rules.containers import LEAVES, iterate_leaves
from ...rules.linear.steps import Slot


class CopyOf:
    """Stands in the output for another array of the numbers of step ``position``."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


LEAVES.add(CopyOf)


def has_slots(x: Any) -> bool:
    return any(type(leaf) is Slot or type(leaf) is CopyOf for leaf in iterate_leaves(x))
