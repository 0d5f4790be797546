"""SciPy's functions in float32 and complex, as their rules are tested: dtypes, both modes."""

import functools
import glob
import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
from fuzz_oracle import CHECKS, Failure, Refused, attempt, expect
from fuzz_program import Program
from hypothesis import strategies as st

import chainrules as cr

RULESETS = Path(__file__).parents[1] / "rulesets"
sys.path.append(str(RULESETS))
FAMILIES = sorted(Path(path).stem for path in glob.glob(str(RULESETS / "cases_scipy_*.py")))


@functools.cache
def cases(family):
    """The cases of a family in which an array of floats is the first argument."""
    found = []
    for f, calls in importlib.import_module(family).CASES.items():
        for k, (args, _) in enumerate(calls):
            if args and type(args[0]) is np.ndarray and args[0].dtype.kind in "fc":
                found.append((f, k))
    return found


@st.composite
def programs(draw):
    family = draw(st.sampled_from([family for family in FAMILIES if cases(family)]))
    number = draw(st.integers(0, len(cases(family)) - 1))
    dtype = draw(st.sampled_from(["float32", "float32", "complex128", "complex64"]))
    every, seed = draw(st.booleans()), draw(st.integers(0, 99))
    line = f"run({family!r}, {number}, {dtype!r}, every={every}, seed={seed})"
    name = getattr(cases(family)[number][0], "__name__", "")
    return Program((), (), "None", (f"{line}  # {name}",), "dtypes")


def cast(x, dtype, rng):
    if type(x) is not np.ndarray or x.dtype.kind not in "fc":
        return x
    kind = np.dtype(dtype).kind
    if kind == "c" and x.dtype.kind == "f":
        x = x + 0.1j * rng.normal(size=x.shape)
    return x.astype(dtype) if kind == "c" or x.dtype.kind == "f" else x.astype("complex64")


def in_double(x):
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return x.astype(np.result_type(x.dtype, np.float64))
    return x


def leaves(y):
    if isinstance(y, tuple | list):
        return [leaf for part in y for leaf in leaves(part)]
    numbers = isinstance(y, np.ndarray | np.inexact | float | complex)
    return [y] if numbers and np.asarray(y).dtype != bool else []


def plain_of(f):
    """The original under a mirror."""
    while not f.__module__.startswith("scipy") and hasattr(f, "__wrapped__"):
        f = f.__wrapped__
    return f


# SciPy solves with a complex ``a`` and a real ``b`` wrongly.
WRONG_IN_SCIPY = {"solve_sylvester"}


def run(family, number, dtype, every, seed):
    f, k = cases(family)[number]
    if f.__name__ in WRONG_IN_SCIPY and not every:
        return
    args, kwargs = importlib.import_module(family).CASES[f][k]
    rng = np.random.default_rng(seed)
    args = [cast(x, dtype, rng) if every or i == 0 else x for i, x in enumerate(args)]
    x, rest = args[0], args[1:]
    plain = plain_of(f)
    doubles = [in_double(part) for part in args]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            expected, wide = (leaves(plain(*given, **kwargs)) for given in (args, doubles))
    except Exception:
        return  # SciPy has it for other dtypes only
    if not expected or not all(np.all(np.isfinite(y)) for y in expected):
        return
    xdot = cast(rng.normal(size=x.shape), x.dtype, rng)

    def g(x):
        return tuple(leaves(f(x, *rest, **kwargs)))

    try:
        ys, ydots = attempt(f"jvp in {dtype}", lambda: cr.jvp(g, (x,), (xdot,)))
    except Failure as failure:
        if "did not converge" in str(failure):
            raise Refused from failure  # an iterative solver, at the tolerance of double precision
        raise
    for y, right in zip(ys, expected, strict=True):
        if np.asarray(y).dtype != np.asarray(right).dtype:
            detail = f"{np.asarray(y).dtype} for {np.asarray(right).dtype}"
            raise Failure(f"{plain.__name__} in {dtype}: the value has another dtype", detail)
        expect(f"{plain.__name__} in {dtype}: the value", right, y, 1e-5)
    inexact = [np.asarray(y).dtype.kind in "fc" for y in ys]
    # Vectors of a matrix may point the other way in double precision.
    alike = all(np.allclose(y, z, rtol=1e-3, atol=1e-4) for y, z in zip(expected, wide))
    slopes = differences(plain, doubles, in_double(xdot), kwargs) if alike else None
    for ydot, slope, moves in zip(ydots, slopes or [], inexact):
        if moves and not isinstance(ydot, cr.ZeroTangent | cr.NoTangent):
            expect(f"{plain.__name__} in {dtype}: jvp", slope, ydot, 5e-3)
    pairing(plain.__name__, dtype, g, x, xdot, ydots, rng)


def differences(plain, doubles, xdot, kwargs):
    def at(step):
        return leaves(plain(doubles[0] + step * xdot, *doubles[1:], **kwargs))

    try:
        (a, b), (c, d) = ((at(h), at(-h)) for h in (1e-5, 3e-5))
    except Exception:
        return None
    near = [(p - q) / 2e-5 for p, q in zip(a, b)]
    far = [(p - q) / 6e-5 for p, q in zip(c, d)]
    smooth = all(np.allclose(p, q, rtol=1e-3, atol=1e-4) for p, q in zip(near, far))
    return near if smooth else None


def pairing(name, dtype, g, x, xdot, ydots, rng):
    ys, pullback = attempt(f"vjp in {dtype}", lambda: cr.vjp(g, x))
    ybars = tuple(
        [cast(np.asarray(rng.normal(size=np.shape(y))), np.asarray(y).dtype, rng)[()] for y in ys]
    )
    (xbar,) = attempt(f"pullback in {dtype}", lambda: pullback(ybars))
    if isinstance(xbar, np.ndarray) and xbar.dtype != x.dtype:
        raise Failure(f"{name} in {dtype}: the cotangent has another dtype", str(xbar.dtype))
    pairs = [(b, d) for b, d in zip(ybars, ydots) if isinstance(d, np.ndarray | np.inexact | float)]
    left = sum(np.sum(np.real(np.conj(b) * d)) for b, d in pairs)
    right = np.sum(np.real(np.conj(xbar) * xdot)) if isinstance(xbar, np.ndarray) else 0.0
    scale = 1 + sum(np.sum(np.abs(b * d)) for b, d in pairs)
    expect(f"{name} in {dtype}: vjp", left / scale, right / scale, 1e-3)


def dtypes(program):
    try:
        exec(program.setup[0], {"run": run})
    except Refused:
        return
    except Failure as failure:
        yield failure


CHECKS["dtypes"] = dtypes
