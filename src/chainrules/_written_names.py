"""Bytecode of adopted functions: names that a function writes into hold buffers.

``F = 2 * A`` is a plain array, into which ``F[0] = t`` cannot write a traced value. Nobody else has
it yet. So where a function binds a new array to a name that it writes into (``F[...] = t``,
``F += t``, ``fill(F, t)``), the name holds it as a buffer, as if ``np.zeros`` had made it. Views
and other names that come after are those of the buffer. An array is new where it owns its memory,
and nothing but the stack of the function holds it. Which names are looked at decides nothing else.
"""

import dis
import re
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple
from weakref import getweakrefcount

import numpy as np

from ._bytecode import Step, with_inserted
from .rules.engines.buffers import buffer
from .rules.tracing.running import a_run

# In later versions the stack may borrow what a name holds, and a count of references says less.
_COUNTED = sys.implementation.name == "cpython" and sys.version_info < (3, 14)

_OPCODE = dis.opmap
_BINARY, _COPY, _POP_TOP = _OPCODE["BINARY_OP"], _OPCODE["COPY"], _OPCODE["POP_TOP"]
_SWAP = _OPCODE["SWAP"], 2
_OPERATORS: list[str] = [name for name, _ in dis._nb_ops]  # type: ignore[attr-defined]
_MATMUL, _IN_PLACE = map(_OPERATORS.index, ("NB_MATRIX_MULTIPLY", "NB_INPLACE_ADD"))
# How far below the top of the stack the array lies.
_WRITES = {
    _OPCODE[name]: k for name, k in (("STORE_SUBSCR", 2), ("STORE_SLICE", 3)) if name in _OPCODE
}
_CALLS = {_OPCODE[name] for name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") if name in _OPCODE}
_OLD = ("LOAD_CONST", "LOAD_GLOBAL", "FOR_ITER")
# By the opcode: whether it loads or stores variables, one or two.
_VARIABLES = {
    op: tuple(re.findall("(LOAD|STORE)_(?:FAST|DEREF)", name))
    for name, op in _OPCODE.items()
    if re.match("(LOAD|STORE)_(FAST|DEREF)", name)
}


class _IfNew:
    """Operand whose ``self @ y`` is ``y``, as a buffer if ``y`` is a new array.

    A binary operator is one instruction in all versions, and a call is not.
    """

    __slots__ = ("known",)

    def __init__(self, known: int) -> None:
        self.known = known  # how many references a new array has here

    def __matmul__(self, y: Any) -> Any:
        if type(y) is not np.ndarray or a_run() is None or sys.getrefcount(y) > self.known:
            return y
        base = y.base
        if base is not None and not _is_held_once(base):
            return y
        owner = y if base is None else base
        new = owner.flags.owndata and not (getweakrefcount(y) or getweakrefcount(owner))
        return buffer(y) if new and y.flags.writeable else y

    def __reduce__(self) -> str:
        return "IF_NEW"


class _Counts(_IfNew):
    """Operand whose ``self @ y`` counts the references that ``IF_NEW`` finds to a new array."""

    __slots__ = ()

    def __matmul__(self, y: Any) -> Any:
        base = y.base
        return sys.getrefcount(y), _references(base)


def _references(base: Any) -> int:
    return sys.getrefcount(base)


def _is_held_once(base: Any) -> bool:
    return type(base) is np.ndarray and sys.getrefcount(base) <= _OF_BASE


_OF_NEW, _ = _Counts(0) @ np.empty(1)
_, _OF_BASE = _Counts(0) @ np.empty(1)[:1]
IF_NEW = _IfNew(_OF_NEW)


def with_buffers(code: CodeType, shared: frozenset[str] = frozenset()) -> CodeType:
    """Return ``code`` such that the names which it writes into hold new arrays as buffers.

    ``shared`` are names that functions around it write into.
    """
    if not _COUNTED:
        return code
    names = written_names(code) | shared.intersection(code.co_freevars)
    consts = [
        with_buffers(x, frozenset(names)) if isinstance(x, CodeType) else x for x in code.co_consts
    ]
    changed = any(new is not old for new, old in zip(consts, code.co_consts, strict=True))
    before = _Names(code).checks(names, len(consts)) if names else {}
    if before:
        return with_inserted(code, before, (*consts, IF_NEW))
    return code.replace(co_consts=tuple(consts)) if changed else code


def written_names(code: CodeType) -> set[str]:
    """Return the variables that a function, or one inside that captures them, writes into."""
    inner = [x for x in code.co_consts if isinstance(x, CodeType)]
    captured = [written_names(x).intersection(x.co_freevars) for x in inner]
    return _Names(code).written().union(*captured)


class _Names:
    """Names that a code object writes into, found by going back along its stack."""

    def __init__(self, code: CodeType) -> None:
        self.steps = list(_steps(code))
        self.depths: list[int] = []  # of the stack before each step, as if nothing jumped
        depth = 0
        for step in self.steps:
            self.depths.append(depth)
            arg = step.arg if step.op >= dis.HAVE_ARGUMENT else None
            depth += dis.stack_effect(step.op, arg, jump=False)

    def checks(self, names: set[str], at: int) -> dict[int, list[Step]]:
        """Return the steps to insert, by offsets; the constant ``at`` is ``IF_NEW``."""
        check = [(_OPCODE["LOAD_CONST"], at), _SWAP, (_BINARY, _MATMUL)]
        before: dict[int, list[Step]] = {}
        for k, step in enumerate(self.steps):
            if not step.stores or self._is_old(k):
                continue
            steps = check if step.stores[0] in names else []
            if len(step.stores) > 1 and step.stores[1] in names:
                steps = [*steps, _SWAP, *check, _SWAP]
            if steps:
                before[step.offset] = steps
        return before

    def _is_old(self, k: int) -> bool:
        """Say whether step ``k`` binds what cannot be new, or counts in a loop."""
        last = self.steps[k - 1]
        return bool(last.loads) or dis.opname[last.op].startswith(_OLD) or last.is_in_place()

    def written(self) -> set[str]:
        """Return the names that are written into."""
        names: set[str] = set()
        aliases: list[tuple[str, str]] = []  # what a name was bound to: a part of another one
        for k, step in enumerate(self.steps):
            depth = self.depths[k]
            if step.op in _WRITES:
                names.add(self._origin(k, depth - _WRITES[step.op]))
            elif step.is_in_place():
                names.add(self._origin(k, depth - 2))
            elif step.op in _CALLS and self.steps[k + 1].op == _POP_TOP:
                names |= self._loaded(k)
            elif step.stores:
                aliases.append((step.stores[0], self._origin(k, depth - 1)))
        while more := {whole for part, whole in aliases if part in names and whole} - names:
            names |= more
        # Names of comprehensions are set aside, and may have no value to be looked at then.
        aside = [x.loads for x in self.steps if dis.opname[x.op] == "LOAD_FAST_AND_CLEAR"]
        return names.difference([""], *aside)

    def _origin(self, k: int, slot: int) -> str:
        """Return the name whose value, or a part of it, step ``k`` finds in a slot of the stack."""
        for j in range(k - 1, -1, -1):
            step, depth = self.steps[j], self.depths[j]
            if depth > slot:
                continue
            if step.op == _COPY and depth == slot:
                return self._origin(j, depth - step.arg)
            if self.depths[j + 1] > slot:
                return step.loads[slot - depth] if slot - depth < len(step.loads) else ""
        return ""

    def _loaded(self, k: int) -> set[str]:
        """Return the names that the call at step ``k`` is given."""
        names: set[str] = set()
        first = self.depths[k + 1] - 1
        for j in range(k - 1, -1, -1):
            names.update(self.steps[j].loads)
            if self.depths[j] <= first:
                break
        return names


class _Step(NamedTuple):
    """An instruction, and the variables that it loads and stores."""

    offset: int
    op: int
    arg: int
    loads: tuple[str, ...]
    stores: tuple[str, ...]

    def is_in_place(self) -> bool:
        return self.op == _BINARY and self.arg >= _IN_PLACE


def _steps(code: CodeType) -> Iterator[_Step]:
    name_of: Any = code._varname_from_oparg  # type: ignore[attr-defined]
    units, arg = code.co_code, 0
    for at in range(0, len(units), 2):
        op, arg = units[at], arg << 8 | units[at + 1]
        if op == dis.EXTENDED_ARG:
            continue
        if op:  # and no cache
            words = _VARIABLES.get(op, ())
            if not words:
                yield _Step(at, op, arg, (), ())
            elif len(words) == 1:
                names = (name_of(arg),)
                yield _Step(at, op, arg, *((names, ()) if words[0] == "LOAD" else ((), names)))
            else:
                pairs = list(zip(words, map(name_of, divmod(arg, 16)), strict=True))
                loads = tuple(name for word, name in pairs if word == "LOAD")
                stores = tuple(name for word, name in pairs if word == "STORE")
                yield _Step(at, op, arg, loads, stores)
        arg = 0
