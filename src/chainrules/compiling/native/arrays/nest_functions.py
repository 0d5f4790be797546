"""A loop nest as a function: its arguments are those of a call, or lie where a table says."""

import math

from ..assembly.assembler import FunctionText, Lanes, Module
from ..assembly.kinds import BYTES
from ..assembly.memory import load_one
from ..assembly.operations import OPCODES, emit
from ..assembly.reductions import REDUCTIONS
from ..limits import INLINED_CALLS, INLINED_CALLS_OF_FEW, MANY_POINTS
from ..request import NativeProgram, parameters
from .axes import PIECE, AxisPieces
from .nests import Nest, fill


def write_nest(
    program: NativeProgram,
    module: Module,
    width: int,
    pieces: AxisPieces | None = None,
    name: str = "@run",
) -> None:
    """Write ``@run``, which takes the arguments of the program in order, into ``module``.

    Of a nest in ``pieces`` it does the rows from one to before another, two more arguments. One of
    another ``name`` takes a row of a table that says where its arguments lie: see :mod:`.sequence`.
    """
    fn = FunctionText(module)
    kinds = program.arguments()
    names = [f"%x{k}" for k in range(len(kinds))]
    if name != "@run":
        fn.lines += _from_table(len(kinds))
    if any(y.running is not None for y in program.outputs):
        write_scan(program, fn, names)
    elif 0 in program.shape:
        for y, k in zip(program.outputs, program.argument_of_output()):
            fill(fn, program.shape, y, names[k], width)
    else:
        functions = [op.function for op in program.ops]
        calls = sum(OPCODES[f].c_name != "" or f == "logaddexp" for f in functions)
        many = math.prod(program.shape) >= MANY_POINTS
        module.inline = calls <= (INLINED_CALLS if many else INLINED_CALLS_OF_FEW)
        if pieces is None:
            Nest(program, fn, names, width, calls).write()
        else:
            _write_pieces(program, fn, names, width, calls, pieces)
            kinds = [*kinds, *PIECE]
    text, taken = "\n".join(fn.lines), parameters(kinds) if name == "@run" else _TABLE
    module.functions[name] = (
        f"define internal void {name}({taken}) nounwind {{\nentry:\n{text}\nret void\n}}\n"
    )


_TABLE = "ptr %row, ptr %bases"


def _from_table(count: int) -> list[str]:
    """Read the arguments, each in two numbers of a row: which base, and how many bytes from it."""
    lines = []
    for k in range(count):
        lines += [
            f"%x{k}.row = getelementptr i64, ptr %row, i64 {2 + 2 * k}",
            f"%x{k}.which = load i64, ptr %x{k}.row",
            f"%x{k}.place = getelementptr ptr, ptr %bases, i64 %x{k}.which",
            f"%x{k}.base = load ptr, ptr %x{k}.place",
            f"%x{k}.next = getelementptr i64, ptr %row, i64 {3 + 2 * k}",
            f"%x{k}.bytes = load i64, ptr %x{k}.next",
            f"%x{k} = getelementptr i8, ptr %x{k}.base, i64 %x{k}.bytes",
        ]
    return lines


def _write_pieces(
    program: NativeProgram,
    fn: FunctionText,
    names: list[str],
    width: int,
    calls: int,
    pieces: AxisPieces,
) -> None:
    """Write a nest over some of its rows; the row behind the last one is the rest."""
    rows = f"%x{len(names)}", f"%x{len(names) + 1}"
    if pieces.rest is not None:
        is_rest = fn.let(f"icmp eq i64 {rows[0]}, {pieces.axes.shape[0]}")
        fn.put(f"br i1 {is_rest}, label %rest, label %rows")
        fn.start("rest")
        Nest(pieces.rest, fn, names, width, calls).write()
        fn.put("ret void")
        fn.start("rows")
    Nest(program, fn, names, width, calls, pieces.axes, rows).write()


def write_scan(program: NativeProgram, fn: FunctionText, names: list[str]) -> None:
    """Write a running sum or product along one axis, in the order in which NumPy adds."""
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
