"""Every rule at a few points, to second order: generated from the tables of cases beside it.

The family tests look at what is particular to a function. Here each rule meets the same checks:
NumPy's own value, differences, the pairing of tangent with cotangent, and both ways of
differentiating its derivative again.
"""

import functools
import importlib
from pathlib import Path

import numpy as np
import pytest
from quietly import quietly

import chainrules as cr
from chainrules import coverage
from chainrules.rules.tracing.level import value

NAMES = ("ufuncs", "numpy", "linalg_and_fft", "special", "others", "polynomial", "methods")
SCIPY = sorted(path.stem[6:] for path in Path(__file__).parent.glob("cases_scipy_*.py"))
MODULES = [importlib.import_module(f"cases_{name}") for name in (*NAMES, *SCIPY)]
# From each function to its cases: pairs of arguments and keywords.
CASES = {f: cases for module in MODULES for f, cases in module.CASES.items()}
# It computes into its first argument: these are given a copy, and that is looked at.
WRITERS = {f for module in MODULES for f in getattr(module, "WRITERS", ())}
# The positions of arguments that are options and happen to be numbers.
FIXED = {f: at for module in MODULES for f, at in getattr(module, "FIXED", {}).items()}
# How well SciPy knows a function itself, where that is not to rounding.
TOLERANCES = {f: t for module in MODULES for f, t in getattr(module, "TOLERANCES", {}).items()}
# Why a rule, or one in float32, has no second derivative that differences can tell.
FIRST_ORDER_ONLY = {
    f: why for module in MODULES for f, why in getattr(module, "FIRST_ORDER_ONLY", {}).items()
}
# Those that are not differentiable, or not meant, in numbers of another kind.
OF_ONE_DTYPE = {f for module in MODULES for f in getattr(module, "OF_ONE_DTYPE", ())}
# Whose numbers NumPy finds by another algorithm than the one that its derivative needs, or that
# we wrote: they agree to rounding.
BY_ANOTHER_WAY = {f for module in MODULES for f in getattr(module, "BY_ANOTHER_WAY", ())}
# Read-only where NumPy writes into entries that are many at once, and warns.
READ_ONLY = {np.broadcast_arrays}
# An iterator, and a list of Python's numbers.
NO_ARRAYS = {"flat", "item", "tolist"}
HOMES = ("chainrules", "numpy", "scipy", "builtins", "operator", "functools", "itertools")
STEP = 2e-4

pytestmark = pytest.mark.every_case


@functools.cache
def name_of(f):
    module = getattr(f, "__module__", None) or ""
    owner = getattr(f, "__self__", None)
    if isinstance(f, np.ufunc) and f not in vars(np).values():
        module = "scipy.special"
    if isinstance(owner, np.ufunc):
        return f"{owner.__name__}.{f.__name__}"
    return f"{module}.{f.__name__}" if module else f.__name__


EVERY = pytest.mark.parametrize("f", [pytest.param(f, id=name_of(f)) for f in CASES])

# ---- a case as a function of the numbers in its arguments ---------------------------------------


def is_number(x):
    return isinstance(x, (int, float, complex, np.number, np.ndarray)) and not isinstance(x, bool)


def kind_of(x):
    dtype = getattr(x, "dtype", None)  # what is traced has one where the number under it does
    return (np.dtype(x.__class__) if dtype is None else dtype).kind


def wide(x):
    return np.dtype(complex if kind_of(x) == "c" else float)


def leaves(x):
    """List the numbers and arrays in nested tuples and lists."""
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in leaves(part)]
    return [x] if is_number(x) or isinstance(x, np.bool_) else []


def replaced(x, old, new):
    """Return ``x`` with ``new[i]`` for ``old[i]``, which are found by identity."""
    for a, b in zip(old, new):
        if x is a:
            return b
    if isinstance(x, (tuple, list)):
        parts = [replaced(part, old, new) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x


def run(f, args, kwargs):
    """Return the numbers in the result, or what the first argument has become."""
    if f in WRITERS:
        args = (args[0] * 1, *args[1:])
        f(*args, **kwargs)
        return (args[0],)
    return tuple(leaves(f(*args, **kwargs)))


class Case:
    """``f(*args, **kwargs)`` in the floats among ``args``, or in its integers if it has none."""

    def __init__(self, f, args, kwargs):
        self.f, self.args, self.kwargs = f, args, kwargs
        free = leaves(tuple(x for i, x in enumerate(args) if i not in FIXED.get(f, ())))
        found = [x for x in free if kind_of(x) in "fc"]
        integers = [x for x in free if isinstance(x, np.ndarray) and kind_of(x) in "iu"]
        self.numbers = tuple(found or integers)
        self.integers = not found
        rng = np.random.default_rng(3)
        self.dots = tuple(like(x, rng) for x in self.numbers)
        self.ys = self(*self.numbers)
        self.bars = tuple(like(y, rng) for y in self.ys)
        self.coarse = any(
            np.asarray(x).dtype in (np.float32, np.complex64) for x in (*found, *self.ys)
        )
        self.rtol = 2e-3 if self.coarse else TOLERANCES.get(f, 1e-6)

    def __call__(self, *numbers):
        return run(self.f, replaced(self.args, self.numbers, numbers), self.kwargs)

    def along(self, t):
        """The arguments a step away, in double precision."""
        if self.integers:
            return self.numbers
        moved = [np.asarray(x, wide(x)) + t * np.asarray(xdot, wide(x))
                 for x, xdot in zip(self.numbers, self.dots)]  # fmt: skip
        return tuple(np.asarray(x) if isinstance(old, np.ndarray) else x[()]
                     for x, old in zip(moved, self.numbers))  # fmt: skip

    def loss(self, *numbers):
        """A number that depends on every output, and not linearly."""
        total = 0.0
        for y, bar in zip(self(*numbers), self.bars):
            if kind_of(y) in "fc":
                total = total + np.sum(np.real(np.conj(y) * (bar + 0.5 * y)))
        return total

    def gradient(self, *numbers):
        return cr.grad(self.loss, argnums=tuple(range(len(numbers))))(*numbers)


def is_close(expected, found, rtol, noise):
    """Say whether a vector is as expected, to a part of its largest number and to noise."""
    bound = rtol * np.max(np.abs(expected), initial=1.0) + noise
    same = np.shape(found) == np.shape(expected)
    return same and np.allclose(found, expected, rtol=rtol, atol=bound, equal_nan=True)


def assert_slopes(case, g, found, rtol):
    """Compare derivatives of ``g``, which gives a vector, along ``dots`` with differences.

    Those of second order are near enough in most cases; where they are not, those of fourth
    order decide.
    """
    near = [g(*case.along(k * STEP)) for k in (1, -1)]
    slope = (near[0] - near[1]) / (2 * STEP)
    noise = 1e-12 * np.max(np.abs(near[0]), initial=1.0) / STEP
    if not all(is_close(slope, x, rtol, noise) for x in found.values()):
        far = [g(*case.along(k * STEP)) for k in (2, -2)]
        slope = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * STEP)
    for how, x in found.items():
        assert is_close(slope, x, rtol, noise), (how, slope, x)


def like(x, rng):
    """A random tangent of ``x``: zero where ``x`` is not a float."""
    draw = rng.normal(size=np.shape(x))
    if kind_of(x) not in "fc":
        return cr.zero_tangent(x) if kind_of(x) == "b" else 0.0 * draw
    if kind_of(x) == "c":
        draw = draw + 1j * rng.normal(size=np.shape(x))
    return draw.astype(x.dtype)[()] if hasattr(x, "dtype") else type(x)(draw)


def vector(parts, ys):
    """The parts that belong to floats among ``ys``, in one vector of real numbers."""
    flat = [np.ravel(part) for part, y in zip(parts, ys) if kind_of(y) in "fc"]
    flat = [part.astype("D").view("d") if part.dtype.kind == "c" else part for part in flat]
    return np.concatenate([np.zeros(0), *flat])


def of_dtypes(f):
    """The cases of ``f``, and the first again in float32 and in complex numbers, if it can."""
    cases = list(CASES[f])
    if isinstance(f, np.ufunc):
        return cases  # of each kind already
    kinds = {np.asarray(x).dtype.char for args, _ in cases for x in leaves(args)}
    args, kwargs = cases[0]
    numbers = [x for x in Case(f, args, kwargs).numbers if kind_of(x) == "f"]
    for char, change in (("f", np.float32), ("D", lambda x: x * (0.8 + 0.3j))):
        if char in kinds or not numbers or f in OF_ONE_DTYPE:
            continue
        changed = replaced(args, numbers, [change(x) for x in numbers])
        try:
            run(f, changed, kwargs)
        except (TypeError, AttributeError):  # NumPy's own
            continue
        cases.append((changed, kwargs))
    return cases


@functools.cache
def cases_of(f):
    return [Case(f, *case) for case in of_dtypes(f)]


def quiet(test):
    """Ignore warnings of a function at its points, which are the business of its own tests."""

    @functools.wraps(test)
    def run(f):
        with quietly():
            test(f)

    return run


def assert_same_values(expected, found, rtol):
    assert len(expected) == len(found)
    for y, z in zip(expected, found):
        assert np.asarray(y).dtype == np.asarray(z).dtype
        assert np.shape(y) == np.shape(z)
        if kind_of(y) in "fc":
            np.testing.assert_allclose(y, z, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(y, z)


def assert_zero(parts):
    for part in parts:
        assert isinstance(part, (cr.NoTangent, cr.ZeroTangent)) or not np.any(part)


# ---- the tests ----------------------------------------------------------------------------------


def functions_with_rules():
    """Functions of NumPy, SciPy, Python and chainrules; other tests register some of theirs."""
    for module in coverage.modules().values():
        for name, f in coverage.functions(module):
            if coverage.row_of(name, f).status == coverage.IN_PYTHON and f is not np.fromfunction:
                yield f
    for f in {**cr.frule.methods, **cr.rrule.methods}:
        module = getattr(f, "__module__", None)
        home = (module or "").partition(".")[0].lstrip("_")
        if (module or "").startswith("chainrules.interop."):
            continue  # it has tests of its own, beside the other library
        if home in HOMES or np.ufunc in (type(f), type(getattr(f, "__self__", None))):
            yield f


# Before any test runs: examples in docstrings register rules, too.
WITH_RULES = list(functions_with_rules())


def layers(f):
    """``f``, and the functions that it wraps, one inside the other."""
    while f is not None:
        yield f
        f = getattr(f, "__wrapped__", None)


def without_cases():
    return {f for module in MODULES for f in getattr(module, "WITHOUT_CASES", ())}


def test_every_rule_has_a_case():
    without = without_cases()
    # Of SciPy's functions those that chainrules.scipy shows have the cases.
    shown = {layer for f in (*CASES, *without) for layer in layers(f)}
    found = {f for f in WITH_RULES if not CASES.get(f) and f not in shown}
    assert [] == sorted(map(name_of, found - without))


@EVERY
@quiet
def test_first_order(f):
    for case in cases_of(f):
        rounding = 1e-5 if case.coarse else 1e-9
        if not case.numbers:
            assert_zero(cr.rrule(f, *case.args, **case.kwargs)[1](0.0))
            continue
        ys, ydots = cr.jvp(case, case.numbers, case.dots)
        assert_same_values(case.ys, ys, rounding)
        ys, pullback = cr.vjp(case, *case.numbers)
        assert_same_values(case.ys, ys, rounding)
        xbars = pullback(case.bars)
        if case.integers:
            assert_zero((*ydots, *xbars))
            continue
        for values, tangents in ((case.ys, ydots), (case.numbers, xbars)):
            for x, t in zip(values, tangents):
                if kind_of(x) in "fc":
                    assert (np.shape(x), np.asarray(x).dtype) == (np.shape(t), np.asarray(t).dtype)
        ydot, xbar = vector(ydots, case.ys), vector(xbars, case.numbers)
        values = functools.partial(lambda case, *xs: vector(case(*xs), case.ys), case)
        assert_slopes(case, values, {"forward": ydot}, case.rtol)
        left = vector(case.bars, case.ys) * ydot
        right = xbar * vector(case.dots, case.numbers)
        size = np.sum(np.abs(left)) + np.sum(np.abs(right)) + 1
        np.testing.assert_allclose(np.sum(left), np.sum(right), atol=rounding * size)


@EVERY
@quiet
def test_second_order(f):
    if f in FIRST_ORDER_ONLY:
        pytest.skip(FIRST_ORDER_ONLY[f])
    for case in cases_of(f):
        if case.coarse or case.integers:
            continue
        xs = case.numbers

        def paired(*xs, case=case):
            pairs = zip(case.dots, case.gradient(*xs))
            return sum(np.sum(np.real(np.conj(xdot) * xbar)) for xdot, xbar in pairs)

        gradients = functools.partial(
            lambda case, *xs: vector(case.gradient(*xs), case.numbers), case
        )
        over = {
            "forward over reverse": cr.jvp(case.gradient, xs, case.dots)[1],
            "reverse over reverse": cr.grad(paired, argnums=tuple(range(len(xs))))(*xs),
        }
        found = {how: vector(parts, xs) for how, parts in over.items()}
        assert_slopes(case, gradients, found, 10 * case.rtol)


# ---- NumPy's own value, to the last bit and as it lies in memory --------------------------------


def as_base(x, order):
    """Return an array in the order of C of which ``laid_out(x, order)`` is made."""
    if order == "C" or not isinstance(x, np.ndarray) or x.ndim == 0:
        return x
    return np.array(x.T, order="C") if order == "F" else np.repeat(x, 2, axis=-1)


def laid_out(base, order):
    if order == "C" or not isinstance(value(base), np.ndarray) or base.ndim == 0:
        return base
    return base.T if order == "F" else base[..., ::2]


def order_of_axes(y):
    strides = [-abs(step) for step, n in zip(y.strides, y.shape) if n > 1]
    return np.argsort(strides, kind="stable").tolist() if y.size else []


def bits(y):
    return np.where(y == y, y, np.nan).tobytes()  # one NaN is as good as another


def appearance(y, bases):
    """Everything about a result that a program can see."""
    y = value(y)
    seen = {"type": type(y)}
    if isinstance(y, np.ndarray) and y.dtype.kind in "biufc":
        flags = y.flags
        seen |= {"dtype": y.dtype, "shape": y.shape, "axes": order_of_axes(y)}
        seen |= {name: flags[name] for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE")}
        seen["of"] = [np.shares_memory(y, value(x)) for x in bases if isinstance(x, np.ndarray)]
    return seen


def results(case, bases, order):
    """The numbers and arrays that ``case.f`` gives, or what its first argument becomes."""
    numbers = tuple(laid_out(x, order) for x in bases)
    args = replaced(case.args, case.numbers, numbers)
    if case.f in WRITERS:
        return run(case.f, args, case.kwargs)
    return leaves_of(case.f(*args, **case.kwargs))


def leaves_of(x):
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in leaves_of(part)]
    # Of traced numbers in an array of NumPy's own, made by plain Python, nothing can be said.
    plain = value(x)
    return [x] if is_number(plain) and np.asarray(plain).dtype.kind != "O" else []


def traced_and_plain(case, order):
    """Yield each mode, with what NumPy gives and what the traced call does."""
    bases = tuple(as_base(x, order) for x in case.numbers)
    expected = [(appearance(y, bases), y) for y in results(case, bases, order)]
    found = []

    def look(*bases):
        ys = results(case, bases, order)
        found.extend((appearance(y, bases), value(y)) for y in ys)
        return 0.0

    for mode, through in THROUGH.items():
        found.clear()
        through(look, bases)
        yield mode, expected, found


THROUGH = {
    "forward": lambda f, xs: cr.jvp(f, xs, tuple(map(cr.zero_tangent, xs))),
    "reverse": lambda f, xs: cr.vjp(f, *xs),
}


VALUES = pytest.mark.parametrize("f", [
    pytest.param(f, id=name_of(f)) for f in CASES if getattr(f, "__name__", "") not in NO_ARRAYS
])  # fmt: skip


@VALUES
@quiet
def test_value_is_that_of_numpy(f):
    for case in cases_of(f):
        arrays = [x for x in case.numbers if isinstance(x, np.ndarray)]
        for order in ("C", "F", "strided"):
            if not case.numbers or (order != "C" and not arrays):
                continue
            for mode, expected, found in traced_and_plain(case, order):
                if len(found) != len(expected):
                    continue  # in an array of objects
                for (seen, y), (seen_traced, z) in zip(expected, found):
                    if f in READ_ONLY:
                        seen["WRITEABLE"] = seen_traced["WRITEABLE"]
                    where = f"{mode}, {order}, {[np.shape(x) for x in case.numbers]}"
                    assert seen == seen_traced, where
                    if f in BY_ANOTHER_WAY:
                        np.testing.assert_allclose(y, z, rtol=1e-5 if case.coarse else 1e-12,
                                                   atol=1e-12)  # fmt: skip
                    elif kind_of(np.asarray(y)) in "biufc":
                        assert bits(np.asarray(y)) == bits(np.asarray(z)), where
