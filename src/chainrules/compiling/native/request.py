"""Request for a native function: inputs, outputs, and the checked operations between them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .assembly.operation import NativeConstant, Operation, Operations
from .assembly.operations import result_kind, without_power
from .assembly.reductions import REDUCTIONS
from .assembly.tables import table


class Input(NamedTuple):
    """A value that the operations read.

    ``dtype`` is "f8", "f4", "i8", "i4" or "b1" (bytes 0 and 1). ``strides``: entries per axis of
    the iteration shape, 0 where it is broadcast; None for a Python float or bool passed by value.
    ``offset``: entries from the start of the array. ``of``: the number of an earlier input whose
    array this one reads as well; then it has no argument of its own. ``length``: of a table, from
    the offset on; it has strides of 0.
    """

    dtype: str
    strides: tuple[int, ...] | None
    offset: int = 0
    of: int | None = None
    length: int = 0

    @property
    def kind(self) -> str:
        """Return the kind of its value."""
        return table(self.length) if self.length else self.dtype


class Output(NamedTuple):
    """A value that is stored, or its reduction.

    ``value``: its number. ``strides``: entries of the output array per axis of the iteration shape,
    0 along reduced axes. ``reduce``: None, "sum", "prod", "max", "min", "any" or "all". ``offset``:
    entries from the start of the array. ``of``: the number of an earlier output into whose array
    this one goes as well; then it has no argument of its own. ``at``: the number of a value, the
    entry to which this one is added; the array begins with zeros, and the strides are 0.
    ``running``: the axis along which all totals of a reduction are stored, of a request that has
    nothing else.
    """

    value: int
    strides: tuple[int, ...]
    reduce: str | None = None
    dtype: str = "f8"
    offset: int = 0
    of: int | None = None
    at: int | None = None
    running: int | None = None


class Request(NamedTuple):
    """Elementwise operations over a shape, with reductions, to be made machine code.

    Attributes
    ----------
    shape
        The iteration shape; ``()`` for operations on single numbers, up to some hundred thousand.
    inputs
        What is read. Their values have the numbers 0, 1, ...
    ops
        Their values are numbered on. An operand is a value's number or a constant.
    outputs
        What is stored. An array may be written and read at the same time only if both have the
        same strides and offset, and never if ``shape`` is ``()``.
    """

    shape: tuple[int, ...]
    inputs: Sequence[Input]
    ops: Sequence[Operation] | Operations
    outputs: Sequence[Output]

    def key(self) -> str:
        """Return a text by which requests are known; it tells 0.0, -0.0 and False apart."""
        ops = [f"{op.function}{op.operands}" for op in self.ops]
        return f"{self.shape} {self.inputs} {ops} {self.outputs}"


class NativeProgram(NamedTuple):
    """A request with the kind of each value ("f8", "b1", ...) and the reductions as they are done.

    ``codes`` says of each operation which ``signatures`` (name and kinds of operands) it has.
    """

    shape: tuple[int, ...]
    inputs: list[Input]
    ops: Operations
    outputs: list[Output]
    kinds: list[str]
    codes: list[int]
    signatures: list[tuple[str, ...]]

    def arguments(self) -> list[str]:
        """Return the kind of each argument of a call: "array", "float" or "bool", inputs first."""
        taken = []
        for x in self.inputs:
            if x.of is None:
                by_value = "bool" if x.dtype == "b1" else "float"
                taken.append(by_value if x.strides is None else "array")
        return taken + ["array" for y in self.outputs if y.of is None]

    def lanes(self, width: int) -> int:
        """Return the number of lanes of a vector, where ``width`` doubles are one vector."""
        kinds = {*self.kinds, *[y.dtype for y in self.outputs]}
        return width if kinds & {"f8", "i8"} or not kinds & {"f4", "i4"} else 2 * width

    def argument_of_input(self) -> list[int]:
        """For each input the number of the argument that it reads."""
        return _numbered([x.of for x in self.inputs], 0)

    def argument_of_output(self) -> list[int]:
        """For each output the number of the argument that it writes."""
        return _numbered([y.of for y in self.outputs], sum(x.of is None for x in self.inputs))


def parameters(kinds: Sequence[str]) -> str:
    """The arguments of these kinds, as the native function takes them and is given them."""
    types = {"array": "ptr", "float": "double", "bool": "i1", "whole": "i64"}
    return ", ".join(f"{types[kind]} %x{k}" for k, kind in enumerate(kinds))


def _numbered(sources: list[int | None], first: int) -> list[int]:
    numbers: list[int] = []
    for source in sources:
        if source is None:
            numbers.append(first)
            first += 1
        else:
            numbers.append(numbers[source])
    return numbers


def kind_of(operand: int | NativeConstant, kinds: Sequence[str]) -> str:
    """Return the kind of an operand: a value's number, or a constant."""
    return operand.kind if isinstance(operand, NativeConstant) else kinds[operand]


def checked(request: Request) -> NativeProgram:
    """The request with its kinds; TypeError where an operation does not take its operands."""
    shape, inputs, ops, outputs = request
    kinds = [x.kind for x in inputs]
    codes, known, results = [], dict[tuple[Any, ...], int](), list[str]()
    pairs = list(ops.pairs) if isinstance(ops, Operations) else [op[:2] for op in ops]
    for k, (name, operands) in enumerate(pairs):
        if name == "power":
            name, operands, *_ = without_power(Operation(name, operands))
            pairs[k] = name, operands
        # kind_of(x, kinds), written out: this is done half a million times.
        given = [kinds[x] if type(x) is int else x.kind for x in operands]
        signature = (name, *given)
        code = known.get(signature)
        if code is None:
            code = known[signature] = len(known)
            results.append(result_kind(name, given))
        codes.append(code)
        kinds.append(results[code])
    rank = len(shape)
    places: list[Input | Output] = [*inputs, *outputs]
    if not shape and {*kinds, *[y.dtype for y in outputs]} - {"f8", "b1"}:
        raise TypeError("single numbers are of kind f8 or b1 in native code")
    for place in places:
        if place.strides is not None and len(place.strides) != rank:
            raise ValueError(f"strides {place.strides} for a shape of {rank} axes")
    done = [_settled(y, kinds[y.value]) for y in outputs]
    for k, y in enumerate(done):
        if not shape and y.reduce in ("any", "all") and kinds[y.value] == "f8":
            # There is no loop to ask whether the number differs from 0.
            done[k] = y._replace(value=len(kinds))
            pairs.append(("bool", (y.value,)))
            codes.append(known.setdefault(("bool", "f8"), len(known)))
            kinds.append("b1")
    signatures = list(known)
    return NativeProgram(shape, list(inputs), Operations(pairs), done, kinds, codes, signatures)


def _settled(y: Output, kind: str) -> Output:
    """The output with its reduction in terms of its kind: the max of truths is any."""
    if y.reduce is None:
        return y
    found = REDUCTIONS.get(y.reduce)
    if found is None:
        raise TypeError(f"no reduction {y.reduce!r} in native code")
    return y._replace(reduce=found.of_truths) if kind == "b1" and found.of_truths else y
