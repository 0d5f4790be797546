"""Every operation against NumPy's: random and special values, widths, tails, strides, constants."""

import itertools
import platform

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from native_interpreter import apply, build, op

from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native.assembly.operations import CONVERSIONS, OPCODES, result_kind

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")

ONE = [
    "negative", "absolute", "square", "reciprocal", "sqrt", "cbrt", "exp", "exp2", "expm1",
    "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin",
    "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint",
    "sign", "logical_not", "isnan", "isinf", "isfinite", "bool",
]  # fmt: skip
TWO = [
    "add", "subtract", "multiply", "divide", "arctan2", "hypot", "power", "maximum", "minimum",
    "fmax", "fmin", "copysign", "fmod", "remainder", "floor_divide", "logaddexp", "less",
    "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
    "logical_xor",
]  # fmt: skip
OF_TRUTHS = ("logical_and", "logical_or", "logical_xor", "equal", "not_equal", "less")
LENGTHS = (1, 2, 3, 7, 8, 9, 17, 1000)
SPECIAL = np.array([
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, 2.5, np.inf, -np.inf, np.nan,
    5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e308, -1e308, 1.7976931348623157e308,
    709.78, 709.79, -745.1, -745.2, 1e-17, -1e-17, 1e15, 4503599627370497.5, 1e22,
])  # fmt: skip
UNITS = 4  # in the last place; NumPy itself is off by up to 4 in some of its loops


WHOLE = np.array([0, 1, -1, 2, -2, 3, -7, 5, 100, -100, 46341, 2**31 - 1, -(2**31), 4, -5, 11])
OF_WHOLE = [
    "negative", "absolute", "square", "sign", "logical_not", "invert", "bool", "add", "subtract",
    "multiply", "maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide", "less",
    "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
]  # fmt: skip


def data(n, seed=0):
    """Numbers of many sizes, and among them the special ones."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, size=n)
    at = rng.permutation(n)[: n // 3]
    x[at] = rng.choice(SPECIAL, size=len(at))
    return x


def assert_agree(expected, y, name):
    """Equal but for the last places; the sign of zero too, which max and min may choose."""
    expected = np.asarray(expected)
    assert expected.dtype == y.dtype
    if y.dtype == bool:
        np.testing.assert_array_equal(expected, y)
        return
    np.testing.assert_array_equal(np.isnan(expected), np.isnan(y))
    fine = np.isfinite(expected) & np.isfinite(y)
    infinite = ~fine & ~np.isnan(expected)
    np.testing.assert_array_equal(expected[infinite], y[infinite])
    if y.dtype.kind == "i":
        np.testing.assert_array_equal(expected, y)
        return
    largest = np.finfo(y.dtype).max / 2
    room = UNITS * np.spacing(np.minimum(np.abs(expected[fine]), largest))
    if name == "logaddexp":  # which cancels where it is near 0
        room = room + 2 * np.finfo(y.dtype).eps
    wrong = np.abs(expected[fine] - y[fine]) > room
    assert not wrong.any(), (name, expected[fine][wrong][:5], y[fine][wrong][:5])
    if name not in ("maximum", "minimum", "fmax", "fmin"):
        zeros = fine & (expected == 0) & (y == 0)
        np.testing.assert_array_equal(np.signbit(expected[zeros]), np.signbit(y[zeros]))


def elementwise(name, *xs, out=None):
    """``name`` of arrays of one shape, through a kernel."""
    shape = np.broadcast_shapes(*(x.shape for x in xs))
    with np.errstate(all="ignore"):
        expected = np.asarray(apply(name, *xs))
    y = np.empty(shape, expected.dtype) if out is None else out
    inputs = [described(x, shape) for x in xs]
    ops = [op(name, *range(len(xs)))]
    strides = tuple(s // y.itemsize for s in y.strides)
    output = Output(len(xs), strides, None, kind(y))
    build(shape, inputs, ops, [output])(*xs, y)
    return expected, y


def kind(x):
    return x.dtype.str[1:]


def described(x, shape):
    return Input(kind(x), tuple(s // x.itemsize for s in np.broadcast_to(x, shape).strides))


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_of_float32(name):
    for n in (3, 17, 1000):
        xs = (data(n), data(n, 1))[: OPCODES[name].arity]
        with np.errstate(all="ignore"):
            xs = [x.astype("f4") for x in xs]
        assert_agree(*elementwise(name, *xs), name)


@pytest.mark.parametrize("dtype", ["i8", "i4"])
@pytest.mark.parametrize("name", OF_WHOLE)
def test_of_whole_numbers(name, dtype):
    a, b = (np.ravel(x).astype(dtype) for x in np.meshgrid(WHOLE, WHOLE))
    assert_agree(*elementwise(name, *(a, b)[: OPCODES[name].arity]), name)
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    assert_agree(*elementwise(name, *(ends, ends[::-1])[: OPCODES[name].arity]), name)


@pytest.mark.parametrize("to", CONVERSIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "b1"])
def test_conversions(dtype, to):
    if platform.machine() not in ("x86_64", "AMD64") and dtype[0] == "f" and to[0] == "i":
        pytest.skip("left to NumPy")
    for x in (data(1003), WHOLE[:7], np.array([2.0**62, -(2.0**63), 2.0**31, -(2.0**31) - 1])):
        with np.errstate(all="ignore"):
            x = x.astype(dtype)
            if dtype == "f8" and to == "float32":
                x = np.where(np.abs(x) < 1e-37, 0.0, x)  # of what is subnormal, one unit
        assert_agree(*elementwise(to, x), to)


@pytest.mark.parametrize("dtype", ["f4", "i8", "i4", "b1"])
@pytest.mark.parametrize("step", [-2, -1, 2, 3])
def test_strides_of_other_kinds(dtype, step):
    with np.errstate(all="ignore"):
        x = data(101).astype(dtype)
    y = np.zeros(101, dtype)
    a, b = elementwise("where", x[::step] > 0, x[::step], x[::-step], out=y[::step])
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("n", [1, 2, 5, 16, 100])
def test_pairs_are_stored_side_by_side(kind, n):
    x, y = np.arange(2.0 * n, dtype=kind), np.empty(2 * n + 2, kind)
    y[-2:] = -1
    inputs = [Input(kind, (2,)), Input(kind, (2,), 1)]
    outputs = [Output(2, (2,), None, kind), Output(0, (2,), None, kind, 1, 0)]
    build((n,), inputs, [op("negative", 1)], outputs)(x, x, y)
    np.testing.assert_array_equal(
        y[:-2], (1j * x.view(complex if kind == "f8" else "c8")).view(kind)
    )
    np.testing.assert_array_equal(y[-2:], -1)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", ONE)
def test_one_operand(name, n):
    assert_agree(*elementwise(name, data(n)), name)


@pytest.mark.parametrize("name", ONE)
def test_one_operand_at_special_values(name):
    assert_agree(*elementwise(name, SPECIAL), name)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", TWO)
def test_two_operands(name, n):
    assert_agree(*elementwise(name, data(n), data(n, 1)), name)


@pytest.mark.parametrize("name", TWO)
def test_two_operands_at_special_values(name):
    a, b = (np.ravel(x) for x in np.meshgrid(SPECIAL, SPECIAL))
    assert_agree(*elementwise(name, a, b), name)


@pytest.mark.parametrize("name", OF_TRUTHS)
@pytest.mark.parametrize("n", LENGTHS)
def test_of_truths(name, n):
    a, b = data(n) > 0, data(n, 1) > 0
    assert_agree(*elementwise(name, a, b), name)


@pytest.mark.parametrize("n", LENGTHS)
def test_where_float_and_bool(n):
    c, a, b = data(n) > 0, data(n, 1), data(n, 2)
    assert_agree(*elementwise("where", c, a, b), "where")
    assert_agree(*elementwise("where", c, a > 0, b > 0), "where")
    assert_agree(*elementwise("float", c), "float")


@pytest.mark.parametrize("name", ONE)
def test_a_single_number(name):
    alive = build(
        (), [Input("f8", ())], [op(name, 0)], [Output(1, (), None, result_kind(name, ["f8"]))]
    )
    for x in SPECIAL:
        assert_agree(*elementwise(name, np.array(x)), name)
    assert alive is not None  # so that the kernel is made once


@pytest.mark.parametrize("name", TWO)
def test_two_single_numbers(name):
    kind = result_kind(name, ["f8", "f8"])
    alive = build((), [Input("f8", ())] * 2, [op(name, 0, 1)], [Output(2, (), None, kind)])
    for a, b in itertools.product(SPECIAL[::3], SPECIAL[::2]):
        assert_agree(*elementwise(name, np.array(a), np.array(b)), name)
    assert alive is not None


@pytest.mark.parametrize("name", ["add", "power", "where", "maximum", "logical_or"])
def test_constants_as_operands(name):
    x = data(19)
    operands = [1.5, 0] if name != "where" else [True, 1.5, 0]
    y = np.empty(19, bool if name == "logical_or" else float)
    build((19,), [Input("f8", (1,))], [op(name, *operands)], [Output(1, (1,), None, kind(y))])(x, y)
    values = [x if type(o) is int else o for o in operands]
    with np.errstate(all="ignore"):
        assert_agree(apply(name, *values), y, name)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, -1.0, 1.0, 0.0, -0.5, 4.0])
@pytest.mark.parametrize("n", [None, 31])
def test_powers_of_constants(exponent, n):
    shape = () if n is None else (n,)
    for x in SPECIAL if n is None else [SPECIAL]:
        x, y = np.array(x), np.empty(shape)
        ops = [op("power", 0, exponent)]
        build(shape, [Input("f8", (1,) * x.ndim)], ops, [Output(1, (1,) * x.ndim)])(x, y)
        with np.errstate(all="ignore"):
            assert_agree(np.asarray(np.power(x, exponent)), y, "power")


VIEWS = {
    "reversed": lambda x: x[::-1],
    "every other": lambda x: x[::2],
    "transposed": lambda x: x.reshape(-1, 6).T,
    "middle axis": lambda x: x.reshape(-1, 3, 2).transpose(1, 0, 2),
    "columns": lambda x: x.reshape(-1, 6)[:, 1:4],
    "backwards both": lambda x: x.reshape(-1, 6)[::-1, ::-1],
    "one entry": lambda x: np.broadcast_to(x[3:4], (4, 5)),
    "row for all": lambda x: np.broadcast_to(x[:9], (4, 9)),
    "column for all": lambda x: np.broadcast_to(x[:9, None], (9, 10)),
    "with ones": lambda x: x[:12].reshape(1, 3, 1, 4, 1),
}


@pytest.mark.parametrize("truths", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_views_in_and_out(view, truths):
    x = data(120) if not truths else data(120) > 0
    seen = VIEWS[view](x)
    name = "exp" if not truths else "logical_not"
    assert_agree(*elementwise(name, seen), name)
    if 0 not in seen.strides:
        target = VIEWS[view](np.zeros(120, x.dtype))
        assert_agree(*elementwise(name, seen, out=target), name)


def test_broadcast_operands_of_three_axes():
    a, b, c = data(5).reshape(5, 1, 1), data(7).reshape(7, 1), data(3)
    y = np.empty((5, 7, 3))
    inputs = [described(x, y.shape) for x in (a, b, c)]
    ops = [op("add", 0, 1), op("sin", 0), op("multiply", 4, 2), op("subtract", 5, 3)]
    build(y.shape, inputs, ops, [Output(6, (21, 3, 1))])(a, b, c, y)
    with np.errstate(all="ignore"):
        assert_agree(np.sin(a) * c - (a + b), y, "subtract")


def test_offsets_and_several_inputs_and_outputs_of_one_array():
    x, y = data(20), np.zeros(20)
    inputs = [Input("f8", (1,)), Input("f8", (1,), 10, 0)]
    outputs = [Output(2, (1,)), Output(3, (1,), None, "f8", 10, 0)]
    build((10,), inputs, [op("add", 0, 1), op("subtract", 0, 1)], outputs)(x, y)
    with np.errstate(invalid="ignore"):
        assert_agree(np.concatenate((x[:10] + x[10:], x[:10] - x[10:])), y, "add")


def test_in_place():
    x = data(1001)
    expected = np.abs(x) + 1
    build((1001,), [Input("f8", (1,))], [op("absolute", 0), op("add", 1, 1.0)], [Output(2, (1,))])(
        x, x
    )
    assert_agree(expected, x, "add")


def test_scalars_by_value():
    x, y = data(9), np.empty(9)
    inputs = [Input("f8", (1,)), Input("f8", None), Input("b1", None)]
    ops = [op("multiply", 0, 1), op("where", 2, 3, 0)]
    kernel = build((9,), inputs, ops, [Output(4, (1,))])
    kernel(x, 2.5, True, y)
    assert_agree(2.5 * x, y, "multiply")
    kernel(x, np.float64(3.5), np.False_, y)
    assert_agree(x, y, "multiply")


def test_more_calls_than_are_written_out():
    x, y = np.linspace(0.1, 1, 21), np.empty(21)
    ops = [op("sin", k) if k % 3 else op("power", k, 1.25) for k in range(30)]
    build((21,), [Input("f8", (1,))], ops, [Output(30, (1,))])(x, y)
    expected = x
    for name, *_ in ops:
        expected = np.sin(expected) if name == "sin" else expected**1.25
    np.testing.assert_allclose(y, expected, rtol=1e-13)


def test_unknown_operations_and_wrong_operands_say_so():
    with pytest.raises(TypeError, match="no operation 'gamma'"):
        build((3,), [Input("f8", (1,))], [op("gamma", 0)], [Output(1, (1,))])
    with pytest.raises(TypeError, match="add of a bool"):
        build((3,), [Input("b1", (1,))], [op("add", 0, 0)], [Output(1, (1,))])
    with pytest.raises(TypeError, match="one choice is b1, the other f8"):
        build((3,), [Input("b1", (1,))], [op("where", 0, 0, 1.0)], [Output(1, (1,))])
    with pytest.raises(ValueError, match="2 axes"):
        build((3, 2), [Input("f8", (1,))], [], [Output(0, (1, 1))])
    with pytest.raises(TypeError, match="no reduction 'median'"):
        build((3,), [Input("f8", (1,))], [], [Output(0, (0,), "median")])
