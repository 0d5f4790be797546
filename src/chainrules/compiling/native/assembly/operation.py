"""Operation: the one form in which every stage of the compiler holds what a program does.

A recording has operations by functions of NumPy on whole arrays. Loops, scalarized programs and
requests for machine code have native operations on numbers.
"""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from .kinds import kind_of_constant

INPUT = "input"  # the function of what a program is given
NO_OPTIONS: dict[str, Any] = {}


class NativeConstant(NamedTuple):
    """A number or boolean that is written into a native operation."""

    x: Any

    def __repr__(self) -> str:
        return f"const {self.x!r}"

    @property
    def kind(self) -> str:
        return kind_of_constant(self.x)


class Operation(NamedTuple):
    """A function of operands, with options, that gives one result.

    Invariants: a result is known by its number in the program, and is read by later operations
    alone. No pass changes an operation; it makes others, or refers to it and adds its own.

    Attributes
    ----------
    function
        A function of NumPy or Python in a recording; below that the name of a native operation.
    operands
        Constants, and references to results. These are a ``Slot`` anywhere in an operand in a
        recording, a loop's value while a loop is put together, and in a scalarized program and in
        a request a number. There a constant is a :class:`NativeConstant`, or has a negative number.
    options
        Keyword arguments of the function, by name.
    form
        Type, dtype and shape of the result of a recorded operation; None of a container.
    line
        The user's line, where it is asked for.
    """

    function: Any
    operands: tuple
    options: dict[str, Any] = NO_OPTIONS
    form: Any = None
    line: str = ""


class Operations:
    """The operations of a long native program, in their order.

    They are kept as plain pairs of function and operands, of which Python's collector takes no
    notice: a hundred thousand objects of a class it would look at again and again.
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Any, tuple]]) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, k: int) -> Operation:
        return Operation(*self.pairs[k])

    def __iter__(self) -> Iterator[Operation]:
        return itertools.starmap(Operation, self.pairs)
