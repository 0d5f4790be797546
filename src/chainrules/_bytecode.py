"""Assembler: code objects with instructions inserted, as their compiler would have written them.

Jumps, the table of exceptions and that of positions follow the instructions that they name.
"""

import dis
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

Step = tuple[int, int]  # an opcode and its argument
_EXTENDED, _CACHE = dis.opmap["EXTENDED_ARG"], 0
_LONG, _NONE = 14, 15  # kinds of entries in the table of positions
_JUMPS = frozenset(dis.hasjrel)
_MOST = 8  # code units that an entry of that table is for


class _Instruction:
    """An instruction with its cache; ``first`` is its old offset, -1 where it is inserted."""

    __slots__ = ("arg", "caches", "first", "offset", "op", "positions", "sign", "target", "units")

    def __init__(self, first: int, op: int, arg: int, caches: int, positions: tuple) -> None:
        self.first, self.op, self.arg, self.caches = first, op, arg, caches
        self.positions = positions
        self.offset = self.target = -1  # of the opcode, behind its extended arguments
        self.sign = self.units = 1  # of a jump: 1 forwards, -1 backwards

    def prefixes(self) -> int:
        return max((self.arg.bit_length() - 1) // 8, 0) if self.arg > 255 else 0


def caches_of(op: int) -> int:
    """Return how many code units an instruction keeps for the interpreter."""
    known: Any = dis._inline_cache_entries  # type: ignore[attr-defined]
    return known.get(dis.opname[op], 0) if isinstance(known, dict) else known[op]


def with_inserted(code: CodeType, before: Mapping[int, list[Step]], consts: tuple) -> CodeType:
    """Return ``code`` with steps before the instructions at some offsets.

    Parameters
    ----------
    code : code
    before : mapping from int to list of (opcode, argument)
        The steps, none of them a jump, by the offset of the instruction that they precede.
        They need one place on the stack more, at most.
    consts : tuple
        The constants of the result.
    """
    instructions = list(_instructions(code, before))
    starts = _assemble(instructions)
    table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    return code.replace(
        co_code=b"".join(_bytes(x) for x in instructions),
        co_consts=consts,
        co_stacksize=code.co_stacksize + 1,
        co_exceptiontable=bytes(_exceptions(table, starts)),
        co_linetable=bytes(_lines(instructions, code.co_firstlineno)),
    )


def _instructions(code: CodeType, before: Mapping[int, list[Step]]) -> Iterator[_Instruction]:
    positions, units = list(code.co_positions()), code.co_code
    at = first = arg = 0
    while at < len(units):
        op, arg = units[at], arg << 8 | units[at + 1]
        if op == _EXTENDED:
            at += 2
            continue
        end = at + 2
        while end < len(units) and units[end] == _CACHE:
            end += 2
        where = positions[at // 2]
        inserted = [
            _Instruction(-1, *step, caches_of(step[0]), where) for step in before.get(at, ())
        ]
        own = _Instruction(first, op, arg, (end - at) // 2 - 1, where)
        if inserted:  # what jumped to the instruction goes through them
            own.first, inserted[0].first = -1, first
        if op in _JUMPS:
            own.sign = -1 if "BACKWARD" in dis.opname[op] else 1
            own.target = end + 2 * own.sign * arg
        yield from inserted
        yield own
        at = first = end
        arg = 0


def _assemble(instructions: list[_Instruction]) -> dict[int, int]:
    """Settle offsets and jumps; return the new offset of each old one."""
    grows = True
    while grows:
        grows, at, starts = False, 0, {}
        for x in instructions:
            if x.first >= 0:
                starts[x.first] = at
            x.offset = at + 2 * (x.units - 1)
            at = x.offset + 2 + 2 * x.caches
        starts[-2] = at  # the end
        for x in instructions:
            if x.target >= 0:
                end = x.offset + 2 + 2 * x.caches
                x.arg = x.sign * (starts[x.target] - end) // 2
            if 1 + x.prefixes() > x.units:
                x.units, grows = 1 + x.prefixes(), True
    return starts


def _bytes(x: _Instruction) -> bytes:
    parts = x.arg.to_bytes(x.units, "big")
    units = [bytes([_EXTENDED, part]) for part in parts[:-1]] + [bytes([x.op, parts[-1]])]
    return b"".join(units) + bytes(2 * x.caches)


def _exceptions(table: Iterable[Any], starts: dict[int, int]) -> Iterator[int]:
    for entry in table:
        start, target = starts[entry.start], starts[entry.target]
        end = starts.get(entry.end, starts[-2])
        first, *rest = _big_endian(start // 2)
        yield 0x80 | first
        yield from rest
        yield from _big_endian((end - start) // 2)
        yield from _big_endian(target // 2)
        yield from _big_endian(entry.depth << 1 | entry.lasti)


def _big_endian(number: int) -> Iterator[int]:
    sixths = max((number.bit_length() + 5) // 6, 1)
    for k in range(sixths - 1, -1, -1):
        yield number >> 6 * k & 63 | (64 if k else 0)


def _lines(instructions: list[_Instruction], line: int) -> Iterator[int]:
    for x in instructions:
        start, end, column, end_column = x.positions
        left = x.units + x.caches
        while left:
            units = min(left, _MOST)
            left -= units
            if start is None:
                yield 0x80 | _NONE << 3 | units - 1
                continue
            step = start - line
            line = start
            yield 0x80 | _LONG << 3 | units - 1
            yield from _little_endian(step << 1 if step >= 0 else -step << 1 | 1)
            yield from _little_endian((end or start) - start)
            yield from _little_endian(0 if column is None else column + 1)
            yield from _little_endian(0 if end_column is None else end_column + 1)


def _little_endian(number: int) -> Iterator[int]:
    while number > 63:
        yield number & 63 | 64
        number >>= 6
    yield number
