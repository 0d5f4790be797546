"""Printed form of a program: one line for each operation, with its form and the user's line.

The grammar of the lines is in docs/compiling.md. Every stage of the compiler prints its own
operations as lines of one form, :class:`PrintedLine`.
"""

from typing import Any, NamedTuple

import numpy as np

from ...rules import name_of
from ...rules.linear.steps import Slot
from .forms import ValueForm
from .references import CopyOf

WIDE = 24  # characters, from which a constant is printed by its form alone


class PrintedLine(NamedTuple):
    """One line of a printed program: ``result = name(operands)``.

    ``kind`` is the form or dtype of the result; ``line`` is the user's line that it stems from.
    """

    result: str
    name: str
    operands: tuple[str, ...] = ()
    kind: str = ""
    line: str = ""

    def __str__(self) -> str:
        text = f"{self.name}({', '.join(self.operands)})" if self.operands else self.name
        text = f"{self.result} = {text}" if self.result else text
        if self.kind:
            text = f"{text:40} : {self.kind}"
        return f"  {text:60} # {self.line}" if self.line else f"  {text}"


def shown(form: ValueForm | None) -> str:
    """Return ``float64[3, 2]`` for the form of an array, and the name of a number's type."""
    if form is None:
        return "-"
    if not form.array:
        return str(form.kind.__name__)
    return f"{form.kind}[{', '.join(map(str, form.shape))}]"


def short_name(f: Any) -> str:
    """Return ``sum`` for ``numpy.sum``."""
    return name_of(f).rpartition(".")[2]


def operand_text(x: Any) -> str:
    """Return an operand as it is printed: ``v3`` for the result of step 3, else a constant.

    Examples
    --------
    >>> operand_text((Slot(3), 2.0, np.zeros((4, 5))))
    '(v3, 2.0, const float64[4, 5])'
    """
    if isinstance(x, Slot | CopyOf):
        return f"v{x.position}"
    if isinstance(x, np.ndarray):
        return f"const {shown(ValueForm.of(x))}"
    if type(x) is tuple or type(x) is list:
        text = ", ".join(map(operand_text, x))
        return f"[{text}]" if type(x) is list else f"({text}{',' * (len(x) == 1)})"
    if type(x) is dict:
        return f"{{{', '.join(f'{k!r}: {operand_text(v)}' for k, v in x.items())}}}"
    if type(x) is slice:
        ends = ["" if part is None else operand_text(part) for part in (x.start, x.stop, x.step)]
        return ":".join(ends if ends[2] else ends[:2])
    if callable(x):
        return short_name(x)
    text = repr(x)
    return text if len(text) <= WIDE else f"const {type(x).__name__}"


def arguments_text(args: tuple, kwargs: dict) -> tuple[str, ...]:
    """Return the operands of a call, in the order in which it is written."""
    return (
        *map(operand_text, args),
        *(f"{name}={operand_text(x)}" for name, x in kwargs.items()),
    )
