"""Factors of one matrix that steps of a compiled program share, beside plain NumPy."""

import warnings

import numpy as np
import pytest
from three_ways import Recorded, differences, run

import chainrules as cr
from chainrules.compiling.compiled import Compiled
from chainrules.compiling.ir.lowering import FUNCTIONS, lowering_of
from chainrules.compiling.passes import factor_sharing, factors
from chainrules.compiling.passes.factor_sharing import STANDS_FOR, Factor
from chainrules.compiling.passes.scalar import matrix_steps
from chainrules.config import CompileWarning
from chainrules.rules.rulesets.linalg.systems import inverse_or_nan
from chainrules.rules.rulesets.linalg.triangular import (
    cholesky_pull,
    inverse_of_lower,
    solve_by_blocks,
)
from chainrules.rules.tracing.funnel import call

pytest.importorskip("scipy")

N = 5
WAYS = ("replay", "fused")


@pytest.fixture(autouse=True)
def small_matrices(monkeypatch):
    monkeypatch.setattr(factor_sharing, "FACTORED_ROWS", 2)
    monkeypatch.setattr(matrix_steps, "SMALL_MATRIX", 0)


def matrices(dtype, seed=0, n=N):
    """Return a matrix, one that is positive definite, and a right-hand side."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if dtype in "FD" else 0)
    a, b = x.astype(dtype)
    return a + 3 * np.eye(n, dtype=dtype), b @ b.conj().T + np.eye(n, dtype=dtype), b


def of(f, *args):
    """Call a primitive of the rules, or a function of NumPy's, as a recorder sees it."""
    return call(f, args, {})


def solved(f, a, b):
    return [of(f, a, b[:, :1]), of(f, a, b), of(f, a.T, b), of(f, a, b @ a)]


# What factors do, of a matrix ``a`` and a Cholesky factor ``t``; all of it is to have factors.
CASES = {
    np.linalg.solve: lambda a, t, b: [
        *solved(np.linalg.solve, a, b), np.linalg.solve(t, b[0]), np.linalg.solve(np.conj(a), b),
        np.linalg.solve(np.conj(a).T, b[0]), *solved(np.linalg.solve, t, b),
        np.linalg.solve(np.conj(t), b), np.linalg.solve(np.conj(t.T), b[:, 0]),
        np.linalg.solve(a, b.T), np.linalg.solve(a, np.ones(N, a.dtype)),
        np.linalg.solve(a, b[::-1, 0]),
    ],
    solve_by_blocks: lambda a, t, b: [
        *solved(solve_by_blocks, a, b), *solved(solve_by_blocks, t, b),
        of(solve_by_blocks, np.conj(t.T), b),
    ],
    np.linalg.inv: lambda a, t, b: [
        np.linalg.inv(a), np.linalg.inv(a.T), np.linalg.inv(np.conj(a)), np.linalg.inv(t),
        np.linalg.inv(np.swapaxes(np.conj(t), -1, -2)), np.linalg.inv(t.T),
    ],
    inverse_of_lower: lambda a, t, b: [of(inverse_of_lower, t)],
    inverse_or_nan: lambda a, t, b: [
        of(inverse_or_nan, a, np.linalg.slogdet(a)[0]), of(inverse_or_nan, a.T, 1.0),
        of(inverse_or_nan, a, 0.0), of(inverse_or_nan, t, np.linalg.slogdet(t)[0]),
        of(inverse_or_nan, t.T, 0.0),
    ],
    np.linalg.det: lambda a, t, b: [
        np.linalg.det(a), np.linalg.det(a.T), np.linalg.det(np.conj(a)), np.linalg.det(t),
        np.linalg.det(np.conj(t)),
    ],
    np.linalg.slogdet: lambda a, t, b: [
        np.linalg.slogdet(a), np.linalg.slogdet(np.conj(a)), np.linalg.slogdet(a.T).logabsdet,
        tuple(np.linalg.slogdet(t)), np.linalg.slogdet(t.T)[1],
    ],
    cholesky_pull: lambda a, t, b: [of(cholesky_pull, t, np.tril(b)), of(cholesky_pull, t, t)],
}  # fmt: skip


def test_each_has_cases():
    assert CASES.keys() == {f for f, row in FUNCTIONS.items() if row.does in STANDS_FOR}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", factors.KINDS)
@pytest.mark.parametrize("upper", [False, True])
def test_each(f, dtype, upper):
    def g(a, k, b):
        factor = np.linalg.cholesky(k, upper=upper)
        lower = np.conj(factor.T) if upper else factor
        with_loop = 2.0 * np.tile(np.real(b), (4, 4))  # so that there is one
        return CASES[f](a, lower, b), with_loop.astype(np.float64) * 3

    recorded = Recorded(g, *matrices(dtype))
    for way in WAYS:
        if way == "fused" and dtype != "d":
            continue  # all of it is NumPy's
        made = recorded.by(way)
        used = {step.function for step in made_plan(made, recorded) if reads_factors(step)}
        assert STANDS_FOR[lowering_of(f).does] in used
        left = [step for step in made_plan(made, recorded) if step.function is f]
        assert not left, f"{way}: {len(left)} steps are NumPy's"
        for seed in range(2):
            args = matrices(dtype, seed)
            missed, found = run(made, args)
            assert missed is None
            assert not (said := differences(found, g(*args), ulps=2000.0, zeros=False)), said


def made_plan(made, recorded):
    shared = hasattr(made, "writer")
    plan = made.writer.plan if shared else factor_sharing.factored(recorded.recorder)
    return plan.values()


def reads_factors(step):
    return bool(step.operands) and isinstance(step.operands[0], Factor | factors.LU)


# ---- what is shared -----------------------------------------------------------------------------


def count(f, *args):
    """Return how many matrices are factorised by LU, and how many triangles are taken as such."""
    plan = factor_sharing.factored(Recorded(f, *args).recorder).values()
    made = {
        (type(x), id(x) if isinstance(x, factors.LU) else x.position)
        for step in plan
        if reads_factors(step)
        for x in step.operands[:1]
    }
    triangles = {
        step.operands[0].position
        for step in plan
        if reads_factors(step) and getattr(step.operands[0], "make", None) is not factors.LU
        and not isinstance(step.operands[0], factors.LU)
    }  # fmt: skip
    return len(made) - len(triangles), len(triangles)


A, K, B = matrices("d")
solve, inv, det, slogdet, cholesky = (
    getattr(np.linalg, name) for name in ("solve", "inv", "det", "slogdet", "cholesky")
)


def rewritten(a, b):
    k = a + 1.0
    y = solve(k, b)
    k[0, 0] = 7.0
    return y, slogdet(k)[1]


def rewritten_through_a_view(a, b):
    k = a * 1.0
    y = solve(k, b)
    k.T[1] = 7.0
    return y, slogdet(k)[1], inv(k)


SHARED = {
    "one matrix": (1, 0, lambda a, b: (solve(a, b), slogdet(a)[1])),
    "its transpose": (1, 0, lambda a, b: (solve(a.T, b), det(a), solve(a.T.T, b))),
    "by axes": (1, 0, lambda a, b: (solve(np.transpose(a, (1, 0)), b), det(np.swapaxes(a, 1, 0)))),
    "equal steps": (1, 0, lambda a, b: (solve(a * 2.0 + 1.0, b), det(a * 2.0 + 1.0))),
    "equal parts": (1, 0, lambda a, b: (solve(a[:2, :2], b[:2]), slogdet(a[:2, :2])[1])),
    "an inverse": (1, 0, lambda a, b: inv(a @ b)),
    "a constant": (1, 0, lambda a, b: solve(K, b)),
    "a gradient": (1, 0, cr.grad(lambda a, b: np.sum(solve(a, b)) + slogdet(a)[1])),
    "a determinant's gradient": (1, 0, cr.value_and_grad(lambda a, b: det(a))),
    "an hvp": (1, 0, lambda a, b: cr.hvp(lambda a: slogdet(a)[1], (a,), (b,))),
    "an hvp of solve": (1, 0, lambda a, b: cr.hvp(lambda a: np.sum(solve(a, b) ** 2), (a,), (b,))),
    "Cholesky": (0, 1, lambda a, b: solve(cholesky(a @ a.T), b)),
    "Cholesky, twice": (
        0, 1, lambda a, b: solve(cholesky(a @ a.T).T, solve(cholesky(a @ a.T), b)),
    ),
    "Cholesky, upper": (0, 1, lambda a, b: solve(cholesky(a @ a.T, upper=True).T, b)),
    "Cholesky's gradient": (0, 1, cr.grad(lambda a, b: np.sum(solve(cholesky(a @ a.T), b)))),
    "two of them": (2, 0, lambda a, b: (solve(a, b), solve(b, a), det(a), slogdet(b)[1])),
    "none": (0, 0, lambda a, b: (solve(a, b), slogdet(a + 1e-9)[1])),
    "written between": (0, 0, rewritten),
    "written through a view": (1, 0, rewritten_through_a_view),
    "other constants": (0, 0, lambda a, b: (solve(a * 2.0, b), det(a * -2.0), slogdet(a * 2)[1])),
    "signs of zero": (0, 0, lambda a, b: (solve(a + 0.0, b), det(a + -0.0))),
    "another diagonal": (0, 0, lambda a, b: (solve(a[:2, :2], b[:2]), det(a[1:3, 1:3]))),
    "no transpose": (0, 0, lambda a, b: (solve(a.swapaxes(0, 0)[::-1], b), det(a))),
    "stacks": (0, 0, lambda a, b: (solve(np.stack([a, b]), b), det(np.stack([a, b])))),
    "not square enough": (0, 0, lambda a, b: (det(a[:1, :1]), inv(a[:1, :1]))),
    "a triangle that is none": (0, 0, lambda a, b: of(cholesky_pull, np.tril(a), b)),
    "integers": (1, 0, lambda a, b: (solve(a, np.arange(N)), det(a), solve(a.T, b > 0))),
    "another dtype": (0, 0, lambda a, b: (solve(a, b + 1j), det(a))),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_what_is_shared(name):
    lus, triangles, f = SHARED[name]
    assert (lus, triangles) == count(f, A, B)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        g = cr.compile(f)
        for args in ((A, B), (A, B), (A + 0.1, B - 0.1)):
            found = differences(g(*args), f(*args), ulps=2000.0, zeros=False, orders=False)
            assert not found


def test_two_that_are_equal_are_two_arrays():
    f = cr.compile(lambda a: (np.linalg.inv(a), np.linalg.inv(a), np.linalg.cholesky(a @ a.T),
                              np.linalg.cholesky(a @ a.T)))  # fmt: skip
    for _ in range(2):
        y, z, c, d = f(A)
        assert not np.shares_memory(y, z)
        assert not np.shares_memory(c, d)
        np.testing.assert_array_equal(y, z)


def test_a_constant_that_changes():
    a = A.copy()
    f = cr.compile(lambda b: np.linalg.solve(a, b))
    for _ in range(3):
        np.testing.assert_allclose(f(B), np.linalg.solve(a, B))
        a[0, 0] += 1.0


# ---- where there is no inverse, and where there is hardly one ------------------------------------

SINGULAR = {
    "zeros": np.zeros((N, N)),
    "a row": np.where(np.arange(N)[:, None] == 2, 0.0, A),
    "a column": np.where(np.arange(N) == 2, 0.0, A),
    "ones": np.ones((N, N)),
    "nan": np.where(np.eye(N) > 0, np.nan, A),
    "infinite": np.where(np.eye(N) > 0, np.inf, A),
    "integers": np.arange(float(N * N)).reshape(N, N),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("dtype", ["d", "D"])
def test_singular(name, dtype):
    def both(a):
        return np.linalg.solve(a, B), np.linalg.slogdet(a)

    def logs(a):
        return slogdet(a), det(a), slogdet(a.T), np.sum(a)

    x, y = A.astype(dtype), SINGULAR[name].astype(dtype)
    f, g, h = (cr.compile(f) for f in (both, logs, slope_of_slogdet))
    for args in (x, x, y):
        with np.errstate(all="ignore"):
            assert said(f, args) == said(both, args)
            assert said(g, args) == said(logs, args)
            assert said(h, args) == said(slope_of_slogdet, args)


def slope_of_slogdet(a):
    return cr.vjp(lambda a: slogdet(a)[1], a)[1](1.0)


def said(f, a):
    """Return the numbers that a function gives but for rounding, or its error."""
    try:
        y = f(a)
    except np.linalg.LinAlgError as error:
        return str(error)
    parts = [np.round(np.ravel(part), 6) for part in cr.rules.iterate_leaves(y)]
    return np.array2string(np.concatenate(parts) + 0.0, precision=5)


def test_hardly_regular(monkeypatch):
    """Numbers that differ by more than rounding are NumPy's, and a warning says so."""
    # No other test may have them: see conftest.py.
    monkeypatch.setattr(Compiled, "_in_some_way", Compiled._in_some_way.__wrapped__)
    n = 12
    a = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)

    def f(s, b):
        k = s * a
        return solve(k, b), solve(k.T, b)  # of one size, with which differences are compared

    g = cr.compile(f)
    b = np.ones(n)
    with pytest.warns(CompileWarning, match="native code gave something else"):
        found = [g(s, b) for s in (1.0, 1.5, 2.0)]
    for s, xs in zip((1.0, 1.5, 2.0), found, strict=True):
        for x, y in zip(xs, f(s, b), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * np.abs(y).max())
    (kind,) = g.kinds.values()
    assert kind.root is not None  # it is replayed


def test_without_scipy(monkeypatch):
    monkeypatch.setattr(factors, "available", lambda: False)
    for name in ("a gradient", "Cholesky's gradient", "a constant"):
        f = SHARED[name][2]
        assert count(f, A, B) == (0, 0)
        g = cr.compile(f)
        for _ in range(3):
            assert not differences(g(A, B), f(A, B))


def test_pieces_of_a_replay(monkeypatch):
    """Each piece of a long replay has factors of its own."""
    from chainrules.compiling.passes import source

    monkeypatch.setattr(source, "PIECE_LINES", 3)
    recorded = Recorded(SHARED["an hvp"][2], A, B)
    made = recorded.by("replay")
    assert len(made.pieces) > 2
    assert not differences(run(made, (A, B))[1], SHARED["an hvp"][2](A, B), ulps=2000.0)


def test_what_explain_says():
    f = cr.compile(lambda a, b: (solve(a, b), slogdet(a)[1], np.tile(a, (3, 3)) * 2.0))
    f(A, B)
    text = str(cr.explain(f))
    assert "LAPACK's" in text or "by NumPy" in text
