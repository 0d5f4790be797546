"""Scans: running sums and products of rows, each entry added to the total of those before it."""

from ..assembly.assembler import FunctionText, Lanes
from ..assembly.kinds import BYTES
from ..assembly.memory import load_one
from ..assembly.operations import emit
from ..assembly.reductions import REDUCTIONS
from ..request import NativeProgram


def write_scan(program: NativeProgram, fn: FunctionText, names: list[str]) -> None:
    """Write the totals of one input along the running axis of one output, in NumPy's order."""
    (x,), (y,) = program.inputs, program.outputs
    axis, kind, add, one = y.running, y.dtype, REDUCTIONS[y.reduce or ""].op, Lanes(fn, 1)
    assert axis is not None
    steps = list(zip(x.strides or (), y.strides))

    def moved(at: list[str], index: str, k: int) -> list[str]:
        places = zip(at, steps[k])
        return [fn.address(p, fn.times(index, step), BYTES[kind]) for p, step in places]

    def rows(axes: list[int], at: list[str]) -> None:
        if axes:

            def row(index: str, _: list[str]) -> list[str]:
                rows(axes[1:], moved(at, index, axes[0]))
                return []

            fn.loop("0", str(program.shape[axes[0]]), 1, [], row)
            return
        first = load_one(fn, at[0], kind)
        fn.put(f"store {BYTES[kind]} {first}, ptr {at[1]}")

        def entry(index: str, totals: list[str]) -> list[str]:
            given, made = moved(at, index, axis)
            total = emit(one, add, [totals[0], load_one(fn, given, kind)], [kind, kind])
            fn.put(f"store {BYTES[kind]} {total}, ptr {made}")
            return [total]

        if program.shape[axis] > 1:
            fn.loop("1", str(program.shape[axis]), 1, [(BYTES[kind], first)], entry)

    at = [fn.address(name, z, BYTES[kind]) for name, z in zip(names, (x.offset, y.offset))]
    rows([k for k in range(len(program.shape)) if k != axis], at)
