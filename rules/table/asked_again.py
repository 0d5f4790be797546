"""Guard against endless dispatch: an operand's class that hands a call back to the rule it is from.

A rule evaluates ``f(*args)``. Where a type among ``args`` has NumPy's protocols, and asks ``frule``
for what it was just asked, that goes on until Python's stack ends.
"""

from contextvars import ContextVar
from typing import Any

from ...config import RuleError, user_line
from ..annotations import Function
from ..signatures import name_of

TIMES = 8  # a rule may ask for itself, with another config or type, but not so often

# The questions under way: each with the one around it.
_question: ContextVar[tuple | None] = ContextVar("question", default=None)


class Asked:
    """Context of one question to a table of rules, that may be asked inside itself a few times."""

    __slots__ = ("question", "table", "token")

    def __init__(self, table: str, config: Any, f: Function, args: tuple) -> None:
        self.table, self.question = table, (config, f, args)

    def __enter__(self) -> None:
        around = _question.get()
        times, each = 0, around
        while each is not None and _is_question(each[0], self.question):
            times, each = times + 1, each[1]
        if times >= TIMES:
            _, f, args = self.question
            raise RuleError(
                f"{self.table} of {name_of(f)} was asked for the same arguments "
                f"({', '.join(type(x).__name__ for x in args)}) while it answers for them, in "
                f"{user_line()}: one of them hands the call back.\n"
                f"  give {self.table} the value under your type, of each entry of a list, too"
            )
        self.token = _question.set((self.question, around))

    def __exit__(self, *_: object) -> None:
        _question.reset(self.token)


def _is_question(a: tuple, b: tuple) -> bool:
    return a[0] is b[0] and a[1] is b[1] and _are_same(a[2], b[2])


def _are_same(xs: Any, ys: Any) -> bool:
    """Say whether two sequences hold the same objects; rules may make a list anew."""
    return len(xs) == len(ys) and all(
        x is y or (type(x) is type(y) and type(x) in (list, tuple) and _are_same(x, y))
        for x, y in zip(xs, ys, strict=True)
    )
