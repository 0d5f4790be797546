"""Bytecode of adopted functions: a type's name, as a value, loads Python's or NumPy's own class.

In an adopted module ``float`` and ``np.float64`` name stand-ins, which see traced values where they
are called. In the functions that the module has when it is adopted the names stand for these in
calls alone, and in ``float.__pow__``. Wherever else one is read, as in ``t is float`` or
``a.dtype.type is np.float64``, it is replaced by a constant: the class. ``type(x)`` gives the
classes themselves there.
"""

import builtins
import dis
import sys
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from .._numbers import METHOD_NAMES, SCALARS, Map, type_of

_BUILT_IN = {cls.__name__: cls for cls in (float, complex, type, map)}
_CLASSES: dict[int, type] = {id(cls): cls for cls in (*_BUILT_IN.values(), *SCALARS)}
_CLASSES |= {id(shown): cls for cls, shown in SCALARS.items()} | {id(Map): map}
_NAMES = {*_BUILT_IN, *[name for name, part in vars(np).items() if id(part) in _CLASSES]}
_NULL_COMES_LAST = sys.version_info >= (3, 13)  # of what a call needs on the stack

Position = tuple[int, int]


def with_own_types(code: CodeType, names: dict) -> CodeType:
    """Return ``code`` with classes for the names of types that it reads as values.

    Parameters
    ----------
    code : code
        Of a function with the globals ``names``.

    Returns
    -------
    code
        The same code where there is nothing to replace.
    """
    return _Rewritten(code, names).code()


class _Rewritten:
    def __init__(self, code: CodeType, names: dict) -> None:
        self.before, self.names = code, names
        self.consts = [
            with_own_types(part, names) if isinstance(part, CodeType) else part
            for part in code.co_consts
        ]
        self.bytes = bytearray(code.co_code)
        self.steps: list[dis.Instruction] = []
        if any(name in _NAMES or id(names.get(name)) in _CLASSES for name in code.co_names):
            self._replace()

    def _replace(self) -> None:
        self.steps = list(dis.get_instructions(self.before))
        bound = {step.argval for step in self.steps if step.opname == "STORE_NAME"}
        for k, step in enumerate(self.steps):
            if step.opname == "LOAD_GLOBAL":
                self._global(k, step)
            elif step.opname == "LOAD_NAME" and step.argval not in bound:  # in the body of a class
                cls = _CLASSES.get(id(self._found(step.argval)))
                if cls is not None and not self._is_called(k):
                    self._load(k, k, cls)

    def code(self) -> CodeType:
        same = len(self.consts) == len(self.before.co_consts) and all(
            new is old for new, old in zip(self.consts, self.before.co_consts, strict=True)
        )
        if same:
            return self.before
        return self.before.replace(co_consts=tuple(self.consts), co_code=bytes(self.bytes))

    def _found(self, name: str) -> Any:
        return self.names.get(name, vars(builtins).get(name))

    def _global(self, k: int, step: dis.Instruction) -> None:
        called = bool((step.arg or 0) & 1)
        part = self._found(step.argval)
        cls = _CLASSES.get(id(part))
        if cls is not None:
            if not called and str(self.steps[k + 1].argval) not in METHOD_NAMES:
                self._load(k, k, cls)
            elif cls is type:
                self._load(k, k, type_of, called=True)
        elif not called and isinstance(part, ModuleType) and part.__name__ == "numpy":
            after = self.steps[k + 1]
            cls = _CLASSES.get(id(vars(np).get(after.argval)))
            read = after.opname == "LOAD_ATTR" and not after.is_jump_target
            if cls is not None and read and not self._is_called(k + 1):
                self._load(k, k + 1, cls)

    def _is_called(self, k: int) -> bool:
        """Say whether the name that is read at step ``k`` is the function of a call.

        The source tells, by the place of each instruction: the next larger expression that begins
        where this one does is a call, or is none. Without places it counts as one.
        """
        begin, end = _span(self.steps[k])
        if begin is None or end is None:
            return True
        larger = [
            (other_end, step.opname)
            for step in self.steps
            for other, other_end in (_span(step),)
            if other == begin and other_end is not None and other_end > end
        ]
        least = min(larger, default=((0, 0), ""))[0]
        return any(name.startswith("CALL") for other_end, name in larger if other_end == least)

    def _load(self, first: int, last: int, x: Any, called: bool = False) -> None:
        """Load a constant in place of what the steps ``first`` to ``last`` load."""
        while first and self.steps[first - 1].opname == "EXTENDED_ARG":
            first -= 1
        begin, end = self.steps[first].offset, self.steps[last + 1].offset
        at = len(self.consts)
        load = bytes([dis.opmap["LOAD_CONST"], at & 255])
        if at > 255:
            load = bytes([dis.EXTENDED_ARG, at >> 8]) + load
        if called:
            null = bytes([dis.opmap["PUSH_NULL"], 0])
            load = load + null if _NULL_COMES_LAST else null + load
        if len(load) > end - begin:
            return  # of more than 256 constants, in the body of a class
        self.consts.append(x)
        nothing = bytes([dis.opmap["NOP"], 0]) * ((end - begin - len(load)) // 2)
        self.bytes[begin:end] = load + nothing


def _span(step: dis.Instruction) -> tuple[Position | None, Position | None]:
    at = step.positions
    if at is None or None in at:
        return None, None
    return (at.lineno, at.col_offset), (at.end_lineno, at.end_col_offset)  # type: ignore[return-value]
