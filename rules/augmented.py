"""``buffer += x`` with a plain ``buffer``, where it is certain that the name may be bound anew.

NumPy calls ``add(buffer, x, out=buffer)``, and the statement binds what that returns. A new array
can take the buffer's place if a local name is all that refers to it: no other name, no view, no
container. That is read off the statement's bytecode and the buffer's reference count.
"""

import dis
import functools
import sys
from types import FrameType
from typing import Any

import numpy as np

_SKIPPED = {dis.opmap.get("CACHE"), dis.opmap["EXTENDED_ARG"]}
# From 3.14 on a name may borrow its reference, and a count says nothing.
_COUNTS = sys.implementation.name == "cpython" and sys.version_info < (3, 14)


def is_rebound(inputs: tuple, out: tuple) -> bool:
    """Say whether a ufunc's ``out`` is a buffer that only the name in ``buffer += x`` holds.

    To be called from ``__array_ufunc__`` itself: its caller's frame is looked at.
    """
    buffer = out[0]
    return (
        type(buffer) is np.ndarray
        and buffer is inputs[0]
        and buffer.base is None
        and _COUNTS
        and sys.getrefcount(buffer) <= _private_count()
        and _is_statement(sys._getframe(2))
    )


def _is_statement(frame: FrameType) -> bool:
    """Say whether ``frame`` is at an operator such as ``+=`` on a local name."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if (code[at], code[at + 1]) not in _operators():
        return False
    at += 2
    while code[at] in _SKIPPED:
        at += 2
    store = dis.opname[code[at]]
    return store.startswith("STORE_FAST") or store == "STORE_DEREF"


@functools.cache
def _operators() -> frozenset:
    """Return the instructions of the augmented assignments, with their arguments."""
    statements = [f"a {symbol}= b" for symbol in ("+", "-", "*", "/", "//", "%", "**")]
    instructions = dis.get_instructions(compile("\n".join(statements), "", "exec"))
    return frozenset((i.opcode, i.arg) for i in instructions if i.opname == "BINARY_OP")


class _Probe:
    """An operand that counts the references to the array it is added to."""

    def __init__(self) -> None:
        self.count = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out")
        self.look(inputs, out)
        return self

    def look(self, inputs: tuple, out: tuple) -> None:
        buffer = out[0]
        self.count = sys.getrefcount(buffer)


@functools.cache
def _private_count() -> int:
    """Return how often a buffer is referred to that one name holds; 0 if that tells nothing."""

    def alone() -> int:
        probe, buffer = _Probe(), np.zeros(1)
        buffer += probe  # type: ignore[call-overload]
        return probe.count

    def shared() -> int:
        probe, buffer = _Probe(), np.zeros(1)
        other = buffer
        buffer += probe  # type: ignore[call-overload]
        del other
        return probe.count

    def given(buffer: Any) -> int:
        probe = _Probe()
        buffer += probe
        return probe.count

    def held() -> int:
        mine = np.zeros(1)
        return given(mine) if mine.size else 0

    return alone() if alone() < min(shared(), held()) else 0
