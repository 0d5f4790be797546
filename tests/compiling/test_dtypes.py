# ruff: noqa: E501 - tables of programs, one a line
"""Every function that has native code, over dtypes: what is native gives NumPy's numbers and dtypes."""

import operator

import numpy as np
import pytest
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.ir import lowering
from chainrules.compiling.ir.scalars import NotLowered
from chainrules.compiling.passes.fused import groups

pytest.importorskip("llvmlite")

FLOATS = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.7, 1e30, 1e-40, -80.2, 0.3, -0.3,
]  # fmt: skip
ENDS = [0, 1, -1, 2, -2, 3, -7, 5, 100, -100, 46341, 2**31 - 1, -(2**31), 4, -5, 11]
SPECIAL = {
    "f4": np.array(FLOATS, "f4"),
    "i8": np.array([*ENDS[:11], 2**63 - 1, -(2**63), 2**31, 3037000500, -11]),
    "i4": np.array(ENDS, "i4"),
    "c16": np.array([complex(x, y) for x, y in zip(FLOATS, np.roll(FLOATS, 5))]),
    "c8": np.array([complex(x, y) for x, y in zip(FLOATS, np.roll(FLOATS, 7))], "c8"),
}
PLAIN = {
    "f4": np.linspace(0.1, 0.9, 16).astype("f4"),
    "i8": np.arange(1, 17),
    "i4": np.arange(1, 17, dtype="i4"),
    "c16": np.linspace(0.1, 0.9, 16) * (1 - 0.5j),
    "c8": (np.linspace(0.1, 0.9, 16) * (1 - 0.5j)).astype("c8"),
}
# What is native of two arrays of the dtype; what becomes a float is so of integers, too.
TO_FLOATS = {
    np.true_divide, operator.truediv, np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2,
    np.log10, np.log1p, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.arcsin, np.arccos,
    np.arctan, np.arctan2, np.arcsinh, np.arccosh, np.arctanh, np.hypot, np.copysign, np.logaddexp,
    np.fabs, np.float_power,
}  # fmt: skip
EACH = {f: row.op for f, row in lowering.FUNCTIONS.items() if row.op}
OF_BITS = {f for f, op in EACH.items() if op.startswith("bitwise") or op == "invert"}
OF_INTEGERS = TO_FLOATS | {
    operator.add, np.add, operator.sub, np.subtract, operator.mul, np.multiply, operator.neg,
    np.negative, operator.abs, np.absolute, operator.lt, np.less, operator.le, np.less_equal,
    operator.gt, np.greater, operator.ge, np.greater_equal, operator.eq, np.equal, operator.ne,
    np.not_equal, np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.maximum,
    np.minimum, np.fmax, np.fmin, np.square, np.sign, operator.mod, np.remainder, np.floor_divide,
    operator.floordiv, *OF_BITS,
}  # fmt: skip
OF_COMPLEX = {
    operator.add, np.add, operator.sub, np.subtract, operator.mul, np.multiply, operator.neg,
    np.negative, operator.abs, np.absolute, operator.truediv, np.true_divide, operator.eq, np.equal,
    operator.ne, np.not_equal, np.exp, np.square, np.sign, np.isnan, np.isinf, np.isfinite,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.conjugate,
}  # fmt: skip
ALL = [f for f in EACH if f.__module__ != "math"]
NATIVE = {
    "f4": {*EACH} - OF_BITS, "i8": OF_INTEGERS, "i4": OF_INTEGERS, "c16": OF_COMPLEX,
    "c8": OF_COMPLEX,
}  # fmt: skip
SIGNLESS = {np.maximum, np.minimum, np.fmax, np.fmin}
ULPS = {np.logaddexp: 100.0}


@pytest.fixture(autouse=True)
def small_loops(monkeypatch):
    monkeypatch.setattr(groups, "LOOP_ENTRIES", 2)


def points(dtype):
    """Yield arguments of equal forms: the recorded point, and others."""
    for k, values in enumerate([PLAIN[dtype], *[SPECIAL[dtype]] * 5]):
        v = np.roll(values, 3 * k)
        yield (
            v[:12].reshape(3, 4).copy(), values[4:].reshape(3, 4).copy(), v[3:7].copy(),
            np.asfortranarray(v[:12].reshape(3, 4)), v[2:3].reshape(()).copy(),
        )  # fmt: skip


def of_one(f):
    return [
        lambda m, n, row, fort, zero: f(m), lambda m, n, row, fort, zero: f(fort.T[::-1]),
        lambda m, n, row, fort, zero: f(row[::2]),
    ]  # fmt: skip


OTHERS = {
    "f4": np.array([0.5, -1.5, 2.0, 3.0], "f4"), "f8": np.array([0.5, -1.5, 2.0, 3.0]),
    "i8": np.array([1, -2, 3, 4]), "i4": np.array([1, -2, 3, 4], "i4"), "u1": np.arange(1, 5, dtype="u1"),
    "b1": np.array([True, False, True, True]), "f2": np.ones(4, "f2"), "c16": np.array([1, 2j, -1, 0.5 - 1j]),
    "c8": np.array([1, 2j, -1, 0.5 - 1j], "c8"),
}  # fmt: skip


def of_two(f):
    given = [
        2,
        -1,
        True,
        0.5,
        1j,
        np.float64(0.5),
        np.float32(2.0),
        np.int64(3),
        np.array(3.0),
        *OTHERS.values(),
    ]
    fs = [
        lambda m, n, row, fort, zero: f(m, n), lambda m, n, row, fort, zero: f(m, row),
        lambda m, n, row, fort, zero: f(fort, m), lambda m, n, row, fort, zero: f(zero, row),
        lambda m, n, row, fort, zero: f(m[::-1, ::2], n[:, :2]), lambda m, n, row, fort, zero: f(m > 1, n),
        lambda m, n, row, fort, zero: f(m, m),
    ]  # fmt: skip
    for x in given:
        fs.append(lambda m, n, row, fort, zero, x=x: f(m, x))
        fs.append(lambda m, n, row, fort, zero, x=x: f(x, row))
    return fs


def works(f, args):
    try:
        with np.errstate(all="ignore"):
            f(*args)
    except (TypeError, ValueError, OverflowError):  # integers to negative powers, large numbers
        return False
    return True


def check(fs, args, others, **options):
    """Compare functions that NumPy can do at all points; return what is native in the first one."""
    known = [f for f in fs if all(works(f, xs) for xs in (args, *others))]
    if not known:
        return set()

    def together(*args):
        return [f(*args) for f in known]

    recorded = Recorded(together, *args)
    try:
        made = recorded.by("fused")
    except NotLowered:
        return set()
    for k, xs in enumerate([args, *others]):
        with np.errstate(all="ignore"):
            expected = together(*xs)
        missed, found = run(made, xs)
        assert missed is None
        assert not (said := differences(found, expected, **options)), f"point {k}: {said}"
    return native_in(fs[0], args) if fs[0] is known[0] else set()


def native_in(f, args):
    try:
        return Recorded(f, *args).functions("fused")
    except NotLowered:
        return set()


@pytest.mark.parametrize("dtype", SPECIAL)
@pytest.mark.parametrize("f", [*ALL, np.conjugate], ids=str)
def test_elementwise(f, dtype):
    args, *others = points(dtype)
    one = f in (operator.neg, operator.abs, operator.invert) or getattr(f, "nin", 2) == 1
    native = check(
        of_one(f) if one else of_two(f),
        args,
        others,
        zeros=f not in SIGNLESS,
        ulps=ULPS.get(f, 4.0),
    )
    if f in NATIVE[dtype] or f is np.conjugate:
        assert f in native


def test_functions_of_complex_numbers_are_native():
    def f(m, n, *_):
        return [g(m) if g.nin == 1 else g(m, n) for g in chosen]

    chosen = [f for f in OF_COMPLEX if isinstance(f, np.ufunc)]
    args, *others = points("c16")
    assert set(chosen) <= check([f], args, others)


def test_functions_of_complex_numbers_at_the_ends():
    def f(z):
        return [g(z) for g in OF_COMPLEX if isinstance(g, np.ufunc) and g.nin == 1]

    ends = -np.inf, -1.0, -0.0, 0.0, 1.0, 800.0, np.inf, np.nan
    z = np.array([complex(x, y) for x in ends for y in ends])
    missed, found = run(Recorded(f, np.ones(64, complex)).by("fused"), [z])
    with np.errstate(all="ignore"):
        assert missed is None
        assert not differences(found, f(z), ulps=4.0)


def test_complex_numbers_are_compared_part_by_part():
    assert differences(np.array([np.nan + 1j]), np.array([np.nan + 2j]))
    assert differences(np.array([np.inf + 1j]), np.array([np.inf + 2j]))
    assert not differences(np.array([1.0 + 1e-17j]), np.array([1.0 + 0j]))


MASK = np.array([[True, False, True, False], [True, True, False, False], [False, True, True, True]])
DTYPES = ("f8", "f4", "i8", "i4", "c16", "c8", "b1")


def kept_real(f):
    """Of complex numbers NumPy warns."""
    return lambda m, *rest: f(m if m.dtype.kind != "c" else m.real, *rest)


STEPS = {
    "sum": [
        lambda m, row, zero: np.sum(m), lambda m, row, zero: np.sum(m, 0), lambda m, row, zero: m.sum(-1),
        lambda m, row, zero: np.sum(m, axis=(0, 1), keepdims=True), lambda m, row, zero: np.sum(m.T[::-1], 0),
        lambda m, row, zero: np.sum(row), lambda m, row, zero: np.sum(m > 1), lambda m, row, zero: np.sum(m + m.T[:3, :1], -1),
        lambda m, row, zero: np.sum(m.real), lambda m, row, zero: np.sum(m + zero, 0),
    ],
    "mean": [
        lambda m, row, zero: np.mean(m), lambda m, row, zero: np.mean(m, 0), lambda m, row, zero: m.mean(-1),
        lambda m, row, zero: np.mean(m, (0, -1), keepdims=True), lambda m, row, zero: np.mean(m > 1),
    ],
    "prod": [
        lambda m, row, zero: np.prod(m), lambda m, row, zero: np.prod(m, 0), lambda m, row, zero: m.prod(-1),
    ],
    "max": [
        lambda m, row, zero: np.max(m), lambda m, row, zero: m.max(0), lambda m, row, zero: np.max(m, -1, keepdims=True),
        lambda m, row, zero: np.max(row),
    ],
    "min": [
        lambda m, row, zero: np.min(m), lambda m, row, zero: m.min(0), lambda m, row, zero: np.min(m, -1, keepdims=True),
    ],
    "any": [
        lambda m, row, zero: np.any(m), lambda m, row, zero: np.any(m, 0), lambda m, row, zero: np.any(m == m[0]),
    ],
    "all": [
        lambda m, row, zero: np.all(m), lambda m, row, zero: np.all(m, 0), lambda m, row, zero: np.all(m == m[0], 1),
    ],
    "where": [
        lambda m, row, zero: np.where(m == row, m, row), lambda m, row, zero: np.where(MASK, m, 0),
        lambda m, row, zero: np.where(MASK, 2, m), lambda m, row, zero: np.where(MASK, m, 0.5),
        lambda m, row, zero: np.where(m, m, row), lambda m, row, zero: np.where(MASK, m, 1j),
        lambda m, row, zero: np.where(MASK, m, np.float64(1)), lambda m, row, zero: np.where(m != row, zero, m),
        lambda m, row, zero: np.where(MASK, m > row, m < row), lambda m, row, zero: np.where(MASK, OTHERS["f4"], m),
    ],
    "astype": [
        lambda m, row, zero: m.astype("f8") if m.dtype.kind != "c" else m.astype("c16"),
        lambda m, row, zero: m.astype("f4") if m.dtype.kind != "c" else m.astype("c8"),
        lambda m, row, zero: m.astype("c16"), lambda m, row, zero: row.astype("c8"), lambda m, row, zero: m.astype(bool),
        lambda m, row, zero: m.astype("f2" if m.dtype.kind != "c" else "c16"), lambda m, row, zero: (m == row).astype("i4"),
        kept_real(lambda m, row, zero: m.astype("i8")), kept_real(lambda m, row, zero: m.astype("i4")),
        lambda m, row, zero: m.T.astype(m.dtype), lambda m, row, zero: (m == row).astype(m.dtype),
    ],
    "real": [
        lambda m, row, zero: np.real(m) * 2, lambda m, row, zero: m.imag + 1, lambda m, row, zero: m[::-1, 1:].real + 1,
        lambda m, row, zero: (m * 2).real + row.imag, lambda m, row, zero: m.T.real[1:] + 1, lambda m, row, zero: m.real,
        lambda m, row, zero: np.imag(m + row), lambda m, row, zero: (m + row).imag * (m + row).real.T[:3, :1],
    ],
    "views": [
        lambda m, row, zero: m[::-1, ::2] + row[::2], lambda m, row, zero: (m + row).T + zero,
        lambda m, row, zero: m[:, 1:] != m[:, :-1], lambda m, row, zero: m[None, :, ::3] + row[1],
        lambda m, row, zero: np.broadcast_to(row, (2, 4)) + zero, lambda m, row, zero: m.reshape(4, 3)[::2] + m[:2, :3],
        lambda m, row, zero: m[[0, 2]] + row, lambda m, row, zero: m[MASK] + zero,
    ],
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STEPS)
def test_steps(name, dtype):
    if dtype in SPECIAL:
        every = [(m, row, zero) for m, _, row, _, zero in points(dtype)]
    else:
        every = [
            (m.real.astype(dtype), row.real.astype(dtype), zero.real.astype(dtype))
            for m, _, row, _, zero in points("c8")
        ]
    (args, *others), ulps = every, 4.0
    if name == "mean" or (name in ("sum", "prod") and dtype[0] in "fc"):
        others, ulps = [tuple(np.asarray(x * 2, dtype) for x in args)], 200.0
    check(STEPS[name], args, others, ulps=ulps, zeros=name not in ("max", "min"))


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "b1"])
def test_what_is_native(dtype):
    """One loop, and no call of NumPy's."""

    def f(m, row):
        y = np.where(m == row, m * row + 1, m - row)
        return y, np.sum(y, 0), np.sum(y[:, ::2]), y[::-1] * 2

    x = np.arange(240).reshape(3, 80).astype(dtype)
    made = Recorded(f, x, x[0].copy()).by("fused")
    assert made.how[0].endswith(", 0 calls of NumPy")


def test_sums_of_float32_are_no_worse_than_numpys():
    x = (np.random.default_rng(0).random((1000, 300)) ** 4).astype("f4")
    made = Recorded(lambda x: [np.sum(x), np.sum(x, 0), np.sum(x, 1), np.mean(x)], x).by("fused")
    assert made.how[0].endswith(" 0 calls of NumPy")
    _, found = run(made, [x])
    wide = x.astype(float)
    for axis, y in zip((None, 0, 1), found):
        exact = np.sum(wide, axis)
        assert y.dtype == np.float32
        room = 1.5 * np.max(np.abs(np.sum(x, axis) - exact)) + np.max(np.spacing(y))
        assert np.max(np.abs(y - exact)) <= room
    np.testing.assert_allclose(found[3], wide.mean(), rtol=2.0**-22)


@pytest.mark.parametrize("dtype", ["f4", "i4", "c16"])
def test_on_threads(dtype):
    def f(x):
        return x * 2 + 1, np.sum(x), np.sum(x, 0), np.sum(x, -1), np.mean(x)

    for shape in ((200_001,), (3, 70_001), (70_001, 3)):
        x = (np.arange(np.prod(shape)).reshape(shape) % 7 - 2).astype(dtype)
        x = x * (1 - 2j) if dtype == "c16" else x
        found = cr.compile(f, threads=2, fallback="error", check=False)(x)
        for y, expected in zip(found, f(x)):
            assert y.dtype == expected.dtype
            np.testing.assert_allclose(y, expected, rtol=1e-4 if dtype == "f4" else 1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_choice_of_constants_is_compared_at_once(dtype):
    """The masks of a gradient of ``where`` are made with float64, and none of it is computed."""

    def f(x):
        chosen = np.where(x > 0.5, 1.0, 0.0)
        return [g(chosen, 0.0) for g in (np.equal, np.not_equal, np.less, np.greater_equal)]

    x = np.linspace(0.0, 1.0, 40).astype(dtype)
    _, found = run(Recorded(f, x).by("fused"), [x[::-1].copy()])
    for y, expected in zip(found, f(x[::-1])):
        np.testing.assert_array_equal(y, expected)


def test_a_gradient_of_float32_is_one_loop():
    def loss(x):
        y = np.tanh(x) * 2.0 + np.exp(-x) / (1 + x**2)
        return np.sum(np.where(x > 0.5, y, np.sin(y)))

    x = np.linspace(0.0, 1.0, 100, dtype="f4")
    step = cr.compile(cr.value_and_grad(loss), fallback="error")
    y, slope = step(x)
    assert (y.dtype, slope.dtype) == (np.float32, np.float32)
    assert "1 loops, 0 calls of NumPy" in str(cr.explain(step))
    np.testing.assert_allclose(slope, cr.grad(loss)(x), rtol=1e-5)


def test_why_a_step_is_numpys():
    f = cr.compile(lambda x, z: (np.exp(x.astype("f2")), x**5, np.sin(z) + z, x + x))
    with np.errstate(all="ignore"):
        f(np.arange(20), np.ones(20) * 1j)
    said = str(cr.explain(f))
    for why in (
        "numpy.exp: numbers of float16", "pow: power of i8", "numpy.sin: sin of complex numbers",
    ):  # fmt: skip
        assert why in said
