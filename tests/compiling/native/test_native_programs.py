"""Programs against the interpreter: random straight lines, repetition, loop nests of many steps."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st
from native_interpreter import build, interpret, op

from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native.scalars.loops import RepeatedRun, find_runs

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")

# Those whose results are the same to the last bit by any way to compute them. (Not copysign: the
# sign of a NaN is nobody's.)
EXACT = {
    "add": "ff", "subtract": "ff", "multiply": "ff", "divide": "ff", "negative": "f",
    "absolute": "f", "square": "f", "sqrt": "f", "floor": "f", "sign": "f", "rint": "f",
    "fmax": "ff", "fmod": "ff", "remainder": "ff", "floor_divide": "ff", "where": "bff",
    "less": "ff", "equal": "ff", "isnan": "f", "logical_and": "bb", "logical_or": "bb",
    "logical_xor": "bb", "logical_not": "b", "float": "b", "bool": "f",
}  # fmt: skip
TO_TRUTH = ("less", "equal", "isnan", "bool")
NUMBERS = (0.0, -0.0, 1.0, -1.5, 2.0, 0.1, 7.0, np.inf)


def program(rng, count, kinds, near=None):
    """Random operations over values of these kinds ("f" or "b")."""
    kinds, ops = list(kinds), []
    for _ in range(count):
        name = str(rng.choice(list(EXACT)))
        operands = []
        for kind in EXACT[name]:
            first = 0 if near is None or rng.random() < 0.1 else max(0, len(kinds) - near)
            choice = [k for k in range(first, len(kinds)) if kinds[k] == kind]
            if choice and rng.random() < 0.85:
                operands.append(int(rng.choice(choice)))
            else:
                operands.append(
                    float(rng.choice(NUMBERS)) if kind == "f" else bool(rng.integers(2))
                )
        ops.append(op(name, *operands))
        kinds.append(
            "b"
            if name in TO_TRUTH or (EXACT[name][0] == "b" and name not in ("float", "where"))
            else "f"
        )
    return ops, kinds


def run_scalar(x, truths, ops, kinds, wanted):
    """A program of ``x`` and ``truths``: the values ``wanted``, by NumPy and natively."""
    inputs = [Input("f8", (), k, 0 if k else None) for k in range(len(x))]
    inputs += [Input("b1", (), k, len(x) if k else None) for k in range(len(truths))]
    y = np.full(len(wanted), 9.0)
    outputs = [Output(v, (), None, "f8", k, 0 if k else None) for k, v in enumerate(wanted)]
    build((), inputs, ops, outputs)(*(a for a in (x, truths) if len(a)), y)
    values = interpret([*x, *truths], ops)
    return np.array([float(values[v]) for v in wanted]), y


seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    "wanted",
    [[5] * 12, [29] * 12, [*range(40)], [*range(39, -1, -1)], [*range(21, 40, 2), 7, 7, 8]],
)
def test_results_at_equal_distances_are_copied_in_loops(wanted):
    ops = [op("add", k, 0.5) for k in range(20)]
    np.testing.assert_array_equal(*run_scalar(np.arange(20.0) ** 2, (), ops, "f" * 40, wanted))


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds)
def test_random_numbers(seed):
    rng = np.random.default_rng(seed)
    x, truths = rng.normal(size=4), rng.random(2) < 0.5
    ops, kinds = program(rng, int(rng.integers(1, 120)), "ffffbb")
    wanted = [int(k) for k in rng.integers(0, len(kinds), 10)]
    np.testing.assert_array_equal(*run_scalar(x, truths, ops, kinds, wanted))


@settings(max_examples=30)
@given(seed=seeds)
def test_random_nests(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 12, size=rng.integers(1, 4)))
    inputs, arrays = [], []
    for _ in range(3):
        x = rng.normal(size=[n if rng.random() < 0.7 else 1 for n in shape])
        inputs.append(Input("f8", tuple(s // 8 for s in np.broadcast_to(x, shape).strides)))
        arrays.append(x)
    ops, kinds = program(rng, int(rng.integers(1, 40)), "fff")
    outputs, results = [], []
    for v in rng.integers(0, len(kinds), 3):
        y = np.empty(shape, float if kinds[v] == "f" else bool)
        dtype = "f8" if kinds[v] == "f" else "b1"
        outputs.append(Output(int(v), tuple(s // y.itemsize for s in y.strides), None, dtype))
        results.append(y)
    build(shape, inputs, ops, outputs)(*arrays, *results)
    values = interpret(arrays, ops)
    for out, y in zip(outputs, results):
        np.testing.assert_array_equal(np.broadcast_to(values[out.value], shape), y)


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=seeds)
def test_random_repetition(seed):
    """A body over and over, whose operands are near, far, in arrays, constants; and some noise."""
    rng = np.random.default_rng(seed)
    period, count = int(rng.integers(1, 12)), int(rng.integers(20, 80))
    x = rng.normal(size=count + 8)
    truths = rng.random(1) < 0.5
    kinds = ["f"] * len(x) + ["b"]
    names = [
        str(rng.choice(["add", "subtract", "multiply", "fmax", "where", "less", "sqrt"]))
        for _ in range(period)
    ]
    ways = rng.integers(0, 8, size=(period, 3))
    first, ops = len(kinds), []
    for r in range(count):
        for j, name in enumerate(names):
            operands = []
            for o, kind in enumerate(EXACT[name]):
                t = first + r * period + j
                near = {0: t - 1, 1: t - period, 2: t - 2 * period, 3: first + j}.get(
                    int(ways[j, o])
                )
                if kind == "f" and ways[j, o] == 4:
                    operands.append(r)
                elif kind == "f" and ways[j, o] == 5:
                    operands.append(float(r) / 8)
                elif near is not None and 0 <= near < len(kinds) and kinds[near] == kind:
                    operands.append(int(near))
                else:
                    choice = [k for k in range(len(kinds)) if kinds[k] == kind]
                    operands.append(int(rng.choice(choice)))
            if rng.random() < 0.02:
                name, operands = "negative", [0]
            ops.append(op(name, *operands))
            kinds.append("b" if name == "less" else "f")
    wanted = [int(k) for k in rng.integers(0, len(kinds), 20)]
    wanted += list(range(first, len(kinds), period))
    np.testing.assert_array_equal(*run_scalar(x, truths, ops, kinds, wanted))


@pytest.mark.slow
@pytest.mark.parametrize("near", [20, None])
def test_several_functions(near):
    rng = np.random.default_rng(5)
    x, truths = rng.normal(size=3), rng.random(2) < 0.5
    ops, kinds = program(rng, 4500, "fffbb", near)
    wanted = [int(k) for k in rng.integers(0, len(kinds), 300)]
    np.testing.assert_array_equal(*run_scalar(x, truths, ops, kinds, wanted))


def test_a_recurrence_forward_and_back():
    """As reverse mode records it: a sweep that keeps its values, one that reads them backwards."""
    n = 500
    x = np.linspace(0.9, 1.1, n)
    ops, states = [], [0]
    for k in range(1, n):
        ops += [op("multiply", states[-1], k), op("sqrt", n + len(ops))]
        states.append(n + len(ops) - 1)
    bar = 1.0
    bars = []
    for k in range(n - 1, 0, -1):
        ops += [op("multiply", bar, 0.5), op("divide", n + len(ops), states[k])]
        last = n + len(ops) - 1
        ops += [op("multiply", last, states[k - 1]), op("multiply", last, k)]
        bars.append(n + len(ops) - 2)
        bar = n + len(ops) - 1
    wanted = [*bars, *states]
    expected, y = run_scalar(x, np.zeros(0, bool), ops, [], wanted)
    np.testing.assert_array_equal(expected, y)


def test_results_that_are_inputs_and_constants():
    n = 100
    x = np.arange(float(n))
    ops = [op("multiply", 0, 0.0), op("float", True)]
    wanted = [n, *range(n), *[n + 1] * 20, 3, 1, 2, *range(n - 1, -1, -1)]
    expected, y = run_scalar(x, np.zeros(0, bool), ops, [], wanted)
    np.testing.assert_array_equal(expected, y)


def test_numbers_by_value_and_truths_as_results():
    less, flags = np.empty(2, bool), np.empty(())
    inputs = [Input("f8", None), Input("f8", ()), Input("b1", None)]
    ops = [op("less", 0, 1), op("logical_xor", 3, 2)]
    outputs = [
        Output(3, (), None, "b1"),
        Output(4, (), None, "b1", 1, 0),
        Output(4, (), "sum"),
    ]
    kernel = build((), inputs, ops, outputs)
    kernel(1.0, np.array(2.0), False, less, flags)
    assert (True, True, 1.0) == (*less, flags)
    kernel(3.0, np.array([2.0]), False, less, flags)
    assert (False, False, 0.0) == (*less, flags)


def runs(text):
    return find_runs(np.array([ord(c) for c in text]))


def test_runs_are_found():
    assert [RepeatedRun(0, 3, 100)] == runs("abc" * 100)
    assert [RepeatedRun(2, 3, 100), RepeatedRun(303, 2, 200)] == runs(
        "xy" + "abc" * 100 + "d" + "ef" * 200 + "z"
    )
    assert [RepeatedRun(0, 1, 200)] == runs("d" * 200)
    assert [] == runs("abc" * 10)
    assert [] == runs("")
    rng = np.random.default_rng(0)
    assert [] == find_runs(rng.integers(0, 50, 1000))


@settings(max_examples=50)
@given(seed=seeds)
def test_runs_repeat_and_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(6):
        body = rng.integers(0, 4, rng.integers(1, 30))
        pieces += [np.tile(body, rng.integers(1, 40)), rng.integers(0, 4, rng.integers(0, 20))]
    codes = np.concatenate(pieces)
    end = 0
    for run in find_runs(codes):
        assert end <= run.start
        assert run.times >= 2
        end = run.end
        assert end <= len(codes)
        body = codes[run.start : run.end].reshape(run.times, run.period)
        assert (body == body[0]).all()
