"""Tables: sorted arrays that a nest searches, and arrays that it reads at computed places.

The value of a table is the address of its first entry; its kind says how many there are.
"""

from collections.abc import Sequence

from .assembler import Lanes

_TABLE = "table of "


def table(length: int) -> str:
    """Return the kind of a table of doubles."""
    return f"{_TABLE}{length}"


def is_table(kind: str) -> bool:
    return kind.startswith(_TABLE)


def read(v: Lanes, places: str, base: str) -> str:
    """The entries of a table at places in it, one for each lane."""
    index = v.of("i8")
    if v.width == 1:
        address = v.fn.let(f"getelementptr double, ptr {base}, i64 {index.number(places)}")
        return v.fn.let(f"load double, ptr {address}")
    pointers = f"<{v.width} x ptr>"
    name = f"@llvm.masked.gather.{v.suffix}.v{v.width}p0"
    declared = f"declare {v.real} {name}({pointers}, i32 immarg, {v.truth}, {v.real})"
    v.fn.module.declarations[declared] = None
    address = v.fn.let(f"getelementptr double, ptr {base}, {index.real} {index.number(places)}")
    given = f"{pointers} {address}, i32 8, {v.truth} {v.boolean(True)}, {v.real} poison"
    return v.fn.let(f"call {v.real} {name}({given})")


def searched(v: Lanes, x: str, base: str, length: int, *, right: bool) -> str:
    """The number of entries that stand before ``x``, or are not behind it, as NumPy sorts.

    The entries are in order, NaN last, so that halving without a branch finds it.
    """
    index, is_nan = v.of("i8"), v.compare("uno", x, x)

    def before(place: str) -> str:
        entry = read(v, place, base)
        if right:
            return v.logic("or", v.compare("ole", entry, x), is_nan)
        number = v.logic("and", v.compare("ord", entry, entry), is_nan)
        return v.logic("or", v.compare("olt", entry, x), number)

    at, left = index.number(0), length
    while left > 1:
        half = left // 2
        is_before = before(index.whole_op("add", at, half - 1))
        at = index.select(is_before, index.whole_op("add", at, half), at)
        left -= half
    return index.whole_op("add", at, v.fn.let(f"zext {v.truth} {before(at)} to {index.real}"))


#: Operations on tables: the kinds of their operands beside the table, and of the result.
LOOKUPS = {"search left": ("f8", "i8"), "search right": ("f8", "i8"), "read": ("i8", "f8")}


def looked_up(v: Lanes, name: str, operands: Sequence[str], kinds: Sequence[str]) -> str:
    """Write a search or a read of a table, its last operand."""
    x, base = operands
    if name == "read":
        return read(v.of("f8"), x, base)
    length = int(kinds[1].removeprefix(_TABLE))
    return searched(v.of("f8"), v.number(x), base, length, right=name == "search right")


def add_at(v: Lanes, x: str, places: str, base: str, lanes: int) -> None:
    """Add the first ``lanes`` of ``x`` to the entries at places, one after the other."""
    index = v.of("i8")
    for k in range(lanes):
        place = v.fn.let(f"getelementptr double, ptr {base}, i64 {index.lane(places, k)}")
        before = v.fn.let(f"load double, ptr {place}")
        v.fn.put(f"store double {v.fn.let(f'fadd double {before}, {v.lane(x, k)}')}, ptr {place}")
