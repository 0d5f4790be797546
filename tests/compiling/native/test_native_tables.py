"""Tables of native loops: searches, reads at computed places, and sums into computed places."""

import numpy as np
import pytest

from chainrules.compiling.native import Input, NativeConstant, Operation, Output, Request, build
from chainrules.compiling.native.assembly.operations import result_kind

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("count", [1, 7, 8, 16, 37])
@pytest.mark.parametrize("length", [1, 2, 3, 8, 31, 64, 100])
def test_searches_and_reads(length, count):
    rng = np.random.default_rng(length + count)
    table = np.sort(rng.integers(0, 9, length).astype(float))
    if length > 3:
        table[-1] = np.nan
    x = np.concatenate([rng.integers(-1, 10, count).astype(float), [np.nan, np.inf]])
    inputs = [Input("f8", (1,)), Input("f8", (0,), 0, None, length)]
    ops = [
        Operation("search left", (0, 1)), Operation("search right", (0, 1)),
        Operation("minimum", (2, NativeConstant(np.int64(length - 1)))),
        Operation("read", (4, 1)), Operation("read", (NativeConstant(np.int64(0)), 1)),
    ]  # fmt: skip
    outputs = [Output(k, (1,), None, "i8") for k in (2, 3)]
    outputs += [Output(k, (1,)) for k in (5, 6)]
    left, right = np.empty((2, len(x)), np.int64)
    read, first = np.empty((2, len(x)))
    build(Request((len(x),), inputs, ops, outputs))(x, table, left, right, read, first)
    np.testing.assert_array_equal(left, np.searchsorted(table, x))
    np.testing.assert_array_equal(right, np.searchsorted(table, x, "right"))
    np.testing.assert_array_equal(read, table[np.minimum(left, length - 1)])
    assert (first == table[0]).all() or length == 1


@pytest.mark.parametrize("count", [1, 7, 8, 37, 1000])
def test_sums_at_places_are_added_in_order(count):
    rng = np.random.default_rng(count)
    x, places = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, count), np.arange(5.0)
    at = rng.uniform(0, 5, count)
    ops = [
        Operation("search right", (1, 2)),
        Operation("subtract", (3, NativeConstant(np.int64(1)))),
    ]
    inputs = [Input("f8", (1,)), Input("f8", (1,)), Input("f8", (0,), 0, None, 5)]
    y = np.zeros(5)
    build(Request((count,), inputs, ops, [Output(0, (0,), None, "f8", 0, None, 4)]))(
        x, at, places, y
    )
    np.testing.assert_array_equal(y, np.bincount(at.astype(int), x, 5))


def test_operands_of_other_kinds():
    table = "table of 3"
    taken = {"read": ["i8", table], "search left": ["f8", table], "search right": ["f8", table]}
    for name, (first, second) in taken.items():
        assert result_kind(name, [first, second]) in ("i8", "f8")
        for kinds in ([second, first], [first, first], ["f4", table], ["b1", table]):
            with pytest.raises(TypeError, match="in native code"):
                result_kind(name, kinds)
    with pytest.raises(TypeError, match="in native code"):
        result_kind("add", ["f8", table])
