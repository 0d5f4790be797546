# ruff: noqa: E501 - tables of programs, one a line
"""Random programs over dtypes, mixed: values, gradients, jvp and hvp compiled, beside eager."""

import warnings

import numpy as np
import pytest
from beside_eager import compiled
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st
from quietly import quietly
from some_arguments import of_some
from test_random_programs import map_leaves

import chainrules as cr
from chainrules.compiling.agreement import agree
from chainrules.compiling.passes.fused import groups
from chainrules.config import CompileWarning
from chainrules.rules import iterate_leaves

pytest.importorskip("llvmlite")

N, ROWS = 24, 3
EPS = float(np.finfo(np.float32).eps)
DTYPES = ("f8", "f4", "c16", "c8", "i8", "i4", "b1")

ONE = [
    lambda x: -x, lambda x: x * x, lambda x: np.exp(x * 0.25), lambda x: np.sin(x), lambda x: np.tanh(x),
    lambda x: x**2, lambda x: x[::-1], lambda x: np.abs(x) + 1, lambda x: np.conj(x), lambda x: x.real,
    lambda x: x.imag + x, lambda x: np.square(x), lambda x: np.log1p(x * x), lambda x: 1 / (x * x + 2),
    lambda x: np.where(x.real > 0, x, 2), lambda x: x.astype("f4") if x.dtype.kind != "c" else x.astype("c8"),
    lambda x: x > 0 if x.dtype.kind != "c" else x == x, lambda x: np.sum(x, 0) + x, lambda x: x - np.mean(x),
    lambda x: x * np.float32(0.5), lambda x: 0.5 * x, lambda x: x + 2, lambda x: x * 1j, lambda x: x * np.float64(1.5),
    lambda x: np.max(x.real) * x, lambda x: x.astype("i8") if x.dtype.kind in "bi" else x,
    lambda x: x // 3 if x.dtype.kind in "bi" else x / 3,  # of floats the last bit would tell
    lambda x: np.sum(x) + x, lambda x: (x.T + 1).T, lambda x: np.sum(x * x, 1, keepdims=True) + x,
]  # fmt: skip
TWO = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / (y * y + 3), lambda x, y: x + y[0],
    lambda x, y: np.where(x.real > y.real, x, y), lambda x, y: np.where(x == y, x, y), lambda x, y: x * (y != 0),
    lambda x, y: np.maximum(x.real, y.real), lambda x, y: x[:, ::-1] * y, lambda x, y: (x > y) if "c" not in x.dtype.kind + y.dtype.kind else x,
    lambda x, y: x[:, :1] + y, lambda x, y: np.concatenate([x[1:], y[:1]]), lambda x, y: np.hypot(x.real, y.real),
]  # fmt: skip

programs = st.tuples(
    st.lists(st.sampled_from(DTYPES), min_size=2, max_size=3),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=9),
    st.integers(0, 2**16),
)  # fmt: skip


@pytest.fixture(autouse=True)
def small_loops(monkeypatch):
    monkeypatch.setattr(groups, "LOOP_ENTRIES", 2)


def built(steps):
    """The function of arrays that does these steps; one that NumPy refuses is left out."""

    def f(*xs):
        values = list(xs)
        for which, a, b in steps:
            x, y = values[a % len(values)], values[b % len(values)]
            try:
                z = ONE[which % len(ONE)](x) if which < 50 else TWO[which % len(TWO)](x, y)
            except (TypeError, ValueError):
                continue
            values.append(z)
        return values[len(xs) :]

    return f


def total(f):
    def g(*xs):
        parts = [
            np.sum(y.real * (0.7 + k)) + 0.3 * np.sum(y.imag) for k, y in enumerate(f(*xs))
        ]  # of which none is the negative of another
        return sum(parts, 0.0)

    return g


def inputs(dtypes, seed):
    rng = np.random.default_rng(seed)
    xs = []
    for dtype in dtypes:
        x = rng.normal(size=(ROWS, N // ROWS)) * 2
        if dtype[0] == "c":
            x = x + 1j * rng.normal(size=x.shape)
        xs.append((x > 0) if dtype == "b1" else x.astype(dtype))
    return tuple(xs)


def outcome(g, xs):
    try:
        return map_leaves(
            lambda y: y + np.zeros_like(y) if np.asarray(y).dtype.kind in "fc" else y, g(*xs)
        )
    except CompileWarning:
        raise
    except Exception as error:
        return type(error).__name__


def differs(found, expected):
    """Compare types and forms; numbers to what float32 has, of which there is some in most."""
    if isinstance(expected, str) or isinstance(found, str):
        return None if found == expected else f"{found} for {expected}"
    types = [[type(x) for x in iterate_leaves(y)] for y in (found, expected)]
    if types[0] != types[1]:
        return f"{types[0]} for {types[1]}"
    return None if agree(found, expected, 1.0, EPS) else f"{found} for {expected}"


def largest(y):
    """Return the size of the largest number of results."""
    parts = [np.abs(x) for x in iterate_leaves(y) if np.asarray(x).dtype.kind in "fc"]
    return max([float(np.max(x, initial=0.0)) for x in parts], default=np.inf)


def difference(program):
    dtypes, steps, seed = program
    points = [inputs(dtypes, seed), inputs(dtypes, seed + 1)]
    f = built(steps)
    moved = [k for k, dtype in enumerate(dtypes) if dtype[0] in "fc"]
    modes = {"value": f, "total": total(f)}
    if moved:
        modes["gradient"] = cr.value_and_grad(total(f), argnums=tuple(moved))
        modes["jvp"] = lambda *xs: jvp(f, moved, xs)
        modes["hvp"] = lambda *xs: hvp(total(f), moved, xs)
    for mode, g in modes.items():
        with quietly():
            warnings.filterwarnings("error", ".*native code gave something else")
            compiled_g = compiled(g)
            for k, xs in enumerate([points[0], points[1], points[0]]):
                expected = outcome(g, xs)
                try:
                    found = outcome(compiled_g, xs)
                except CompileWarning:
                    if largest(expected) < 1e-4:
                        break  # what is left where all cancels is rounding
                    raise
                if said := differs(found, expected):
                    return f"{mode}, call {k}: {said}"
    return None


def jvp(f, moved, xs):
    g, some = of_some(f, moved, xs)
    return cr.jvp(g, some, tuple(x * 0.5 for x in some))


def hvp(f, moved, xs):
    g, some = of_some(f, moved, xs)
    return cr.hvp(g, some, tuple(x * 0.5 for x in some))


@pytest.mark.slow
@always_the_same(10)
@given(programs)
def test_random_programs_over_dtypes(program):
    assert not (found := difference(program)), found
