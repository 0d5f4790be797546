"""Text that reads and writes single values: in arrays that are passed, and in memory ``@m``."""

from ..assembly.assembler import FunctionText, Lanes
from ..assembly.kinds import BYTES
from ..assembly.memory import load_one
from ..assembly.operations import converted


def read_entry(fn: FunctionText, base: str, at: str, dtype: str) -> str:
    """An entry of an array."""
    return load_one(fn, fn.address(base, at, BYTES[dtype]), dtype)


def write_entry(fn: FunctionText, x: str, kind: str, base: str, at: str, dtype: str) -> None:
    """Write a value of ``kind`` to an entry of an array of ``dtype``."""
    one = Lanes(fn, 1)
    if dtype == "f8":
        fn.put(f"store double {converted(one, x, kind, 'f8')}, ptr {fn.address(base, at)}")
    else:
        byte = fn.let(f"zext i1 {converted(one, x, kind, 'b1')} to i8")
        fn.put(f"store i8 {byte}, ptr {fn.address(base, at, 'i8')}")


def read_slot(fn: FunctionText, address: str, kind: str) -> str:
    """A value from @m, where truths are 0.0 and 1.0."""
    x = fn.let(f"load double, ptr {address}")
    return x if kind == "f8" else fn.let(f"fcmp une double {x}, 0.0")


def write_slot(fn: FunctionText, address: str, x: str, kind: str) -> None:
    if kind == "b1":
        x = fn.let(f"uitofp i1 {x} to double")
    fn.put(f"store double {x}, ptr {address}")
