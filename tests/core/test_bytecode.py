"""Assembler of code objects: what is inserted changes nothing that was there."""

import dis
import importlib.util
import itertools
import types
from pathlib import Path

import pytest

from chainrules._bytecode import with_inserted

NOP = dis.opmap["NOP"], 0
# Modules of Python's with long jumps, exceptions, generators, and coroutines.
MODULES = ["dataclasses", "statistics", "asyncio.tasks", "_pydecimal", "contextlib"]


def source_of(name):
    path = importlib.util.find_spec(name).origin
    return compile(Path(path).read_text("utf-8"), path, "exec")


def all_codes(code):
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from all_codes(part)


def shape(code):
    return [
        (x.opname, None if x.opcode in dis.hasjrel else x.argval, x.positions)
        for x in dis.get_instructions(code)
        if x.opname not in ("NOP", "EXTENDED_ARG")
    ]


@pytest.mark.parametrize("name", MODULES)
def test_nothing_inserted_is_the_same_code(name):
    for code in all_codes(source_of(name)):
        same = with_inserted(code, {}, code.co_consts)
        assert same.co_code == code.co_code
        assert same.co_exceptiontable == code.co_exceptiontable
        assert list(same.co_positions()) == list(code.co_positions())


@pytest.mark.parametrize("name", MODULES)
def test_instructions_keep_their_order_and_their_places_in_the_source(name):
    for code in all_codes(source_of(name)):
        before = {x.offset: [NOP] * 3 for x in dis.get_instructions(code)}
        assert shape(with_inserted(code, before, code.co_consts)) == shape(code)


def spread(code):
    """Return a code object whose jumps are all long."""
    consts = tuple(spread(x) if isinstance(x, types.CodeType) else x for x in code.co_consts)
    steps = list(dis.get_instructions(code))
    before = {
        step.offset: [NOP] * 60
        for last, step in itertools.pairwise(steps)
        if step.opname.startswith(("STORE_FAST", "STORE_DEREF", "RETURN"))
        and last.opname != "FOR_ITER"
    }
    return with_inserted(code, before, consts)


def test_code_with_long_jumps_and_exceptions_runs():
    names = types.ModuleType("decimal_spread")
    names.__dict__["__name__"] = "_pydecimal"
    exec(spread(source_of("_pydecimal")), vars(names))
    assert str(names.Decimal(2).sqrt()) == "1.414213562373095048801688724"
    with pytest.raises(names.InvalidOperation):
        names.Decimal("nothing")
    statistics = types.ModuleType("statistics_spread")
    exec(spread(source_of("statistics")), vars(statistics))
    for _ in range(50):  # until the interpreter has specialized it
        assert statistics.quantiles(range(10)) == [1.75, 4.5, 7.25]
        assert statistics.mean([1, 2, 3.5]) == 6.5 / 3


def test_errors_name_the_line():
    code = compile("def f(x):\n    y = x\n    y = 1 / y\n    return y\n", "text.py", "exec")
    names = {}
    exec(spread(code), names)
    with pytest.raises(ZeroDivisionError) as caught:
        names["f"](0)
    assert caught.traceback[-1].lineno == 2  # from 0
