"""Sparse systems, iterations, operators and eigenvalues, in programs."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as scipys
import scipy.sparse.linalg

import chainrules as cr
from chainrules.scipy import sparse
from chainrules.scipy.sparse import linalg

N = 6
B = np.linspace(1.0, 2.0, N)
MAIN, OFF = np.linspace(4.0, 5.0, N), np.linspace(-1.0, -0.5, N - 1)
DIAGONALS = np.concatenate([MAIN, OFF, 0.5 * OFF])
A = sparse.diags_array([MAIN, OFF, 0.5 * OFF], offsets=[0, 1, -1], format="csc")
RTOL = 1e-12


def banded(x, format="csc"):
    parts = [x[:N], x[N : 2 * N - 1], x[2 * N - 1 :]]
    return sparse.diags_array(parts, offsets=[0, 1, -1], format=format)


def dense(x):
    return np.diag(x[:N]) + np.diag(x[N : 2 * N - 1], 1) + np.diag(x[2 * N - 1 :], -1)


def same_derivatives(f, g, x, rtol=1e-7):
    """Compare ``f`` with ``g``, which is dense, in both modes and to second order."""
    xdot = np.random.default_rng(3).normal(size=np.shape(x))
    weights = np.cos(np.arange(np.size(g(x)))).reshape(np.shape(g(x)))

    def loss(f):
        return lambda x: np.sum(np.real(np.exp(-0.1 * f(x)) * weights))

    np.testing.assert_allclose(f(x), g(x), rtol=rtol)
    for derivative in (
        lambda f: cr.grad(f)(x),
        lambda f: cr.jvp(f, (x,), (xdot,))[1],
        lambda f: cr.hvp(f, (x,), (xdot,)),
        lambda f: cr.grad(lambda x: np.sum(np.real(cr.grad(f)(x) * xdot)))(x),
    ):
        expected, found = derivative(loss(g)), derivative(loss(f))
        scale = np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("form", ["csc", "csr"])
def test_solutions_in_the_matrix_and_in_the_right_hand_side(form):
    for b in (B, np.stack([B, B**2], axis=1)):
        same_derivatives(
            lambda x: linalg.spsolve(banded(x, form), b * x[0]),  # noqa: B023
            lambda x: np.linalg.solve(dense(x), b * x[0]),  # noqa: B023
            DIAGONALS,
        )


def test_a_column_gives_a_vector():
    same_derivatives(
        lambda b: linalg.spsolve(A, b), lambda b: np.linalg.solve(A.toarray(), b[:, 0]), B[:, None]
    )


@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_factorizations_of_complex_matrices(trans):
    turned = {"N": lambda a: a, "T": np.transpose, "H": lambda a: np.conj(a.T)}[trans]
    x = DIAGONALS * (1 + 0.3j)
    same_derivatives(
        lambda x: linalg.splu(banded(x)).solve(B * x[:N], trans),
        lambda x: np.linalg.solve(turned(dense(x)), B * x[:N]),
        x,
    )


def test_a_factorization_is_that_of_scipy():
    ours, own = linalg.splu(A), scipys.linalg.splu(A)
    assert ours.shape == own.shape
    np.testing.assert_array_equal(own.L.toarray(), ours.L.toarray())
    np.testing.assert_array_equal(own.solve(B), ours.solve(B))
    np.testing.assert_array_equal(scipys.linalg.factorized(A)(B), linalg.factorized(A)(B))
    with pytest.raises(cr.MissingRuleError, match="L of a sparse factorization has no rule"):
        cr.grad(lambda x: linalg.splu(banded(x)).L.sum())(DIAGONALS)


def test_an_incomplete_factorization_is_a_constant_operator():
    same_derivatives(
        lambda b: linalg.spilu(A).solve(b), lambda b: np.linalg.solve(A.toarray(), b), B
    )


def test_single_precision():
    single = DIAGONALS.astype(np.float32), B.astype(np.float32)
    for solve in (
        lambda x, b: linalg.spsolve(banded(x), b),
        lambda x, b: linalg.splu(banded(x)).solve(b),
        lambda x, b: linalg.cg(banded(x), b)[0],
    ):
        found = cr.grad(lambda x, b: np.sum(solve(x, b)), argnums=(0, 1))(*single)  # noqa: B023
        assert [part.dtype for part in found] == [np.float32, np.float32]


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_triangular_systems(lower, unit):
    cut = (sparse.tril, np.tril) if lower else (sparse.triu, np.triu)
    for form in ("csr", "csc"):
        same_derivatives(
            lambda x: linalg.spsolve_triangular(
                cut[0](banded(x), format=form),  # noqa: B023
                B * x[0],
                lower=lower,
                unit_diagonal=unit,
            ),
            lambda x: np.linalg.solve(
                cut[1](dense(x), -1 if lower else 1) + np.eye(N) if unit else cut[1](dense(x)),
                B * x[0],
            ),
            DIAGONALS,
        )


# ---- iterations -----------------------------------------------------------------------------

GENERAL = ["bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr"]


@pytest.mark.parametrize("name", [*GENERAL, "cg", "minres"])
def test_iterations_have_the_derivative_of_the_solution(name):
    solver = getattr(linalg, name)

    def matrix(x, make):
        a = make(x)
        return a if name in GENERAL else a + a.T

    exact = {"rtol": RTOL} if name == "minres" else {"rtol": RTOL, "atol": 0.0}
    right = lambda x: np.linalg.solve(matrix(x, dense), B * x[0])  # noqa: E731
    for make in (banded, dense):
        same_derivatives(
            lambda x: solver(matrix(x, make), B * x[0], **exact)[0],  # noqa: B023
            right,
            DIAGONALS,
        )


@pytest.mark.parametrize("name", ["gmres", "bicgstab", "cg"])
def test_iterations_by_operators_and_preconditioners(name):
    a = A if name != "cg" else A + A.T
    inverse = sparse.diags_array(1 / a.diagonal())
    without_adjoint = linalg.LinearOperator((N, N), matvec=lambda x: inverse @ x)
    for operator in (a, linalg.aslinearoperator(a)):
        for preconditioner in (None, inverse, without_adjoint):
            same_derivatives(
                lambda b: getattr(linalg, name)(operator, b, M=preconditioner, rtol=RTOL)[0],  # noqa: B023
                lambda b: np.linalg.solve(a.toarray(), b),
                B,
            )


def test_a_shift_is_part_of_the_system():
    same_derivatives(
        lambda x: linalg.minres(banded(x) + banded(x).T, B, shift=0.5, rtol=RTOL)[0],
        lambda x: np.linalg.solve(dense(x) + dense(x).T - 0.5 * np.eye(N), B),
        DIAGONALS,
    )


def test_absolute_tolerances_are_taken_relative_to_the_right_hand_side():
    n = 200
    a = sparse.diags_array([np.linspace(1, 50, n)], offsets=[0], format="csr")
    b = 1e6 * np.ones(n)
    found = cr.grad(lambda b: 1e-9 * np.sum(linalg.cg(a, b, rtol=0.0, atol=1e-5)[0]))(b)
    np.testing.assert_allclose(found, 1e-9 / np.linspace(1, 50, n), rtol=1e-6)


def test_what_has_not_converged_has_no_derivative():
    with pytest.raises(np.linalg.LinAlgError, match="cg did not converge"):
        cr.grad(lambda b: np.sum(linalg.cg(A + A.T, b, maxiter=1)[0]))(B)
    assert linalg.cg(A + A.T, B, maxiter=1)[1] == 1


def test_what_is_returned_beside_a_solution():
    def look(b):
        calls = []
        x, info = linalg.cg(A + A.T, b, x0=np.ones(N), callback=calls.append)
        assert info == 0
        assert calls
        return np.sum(x)

    own = scipys.linalg.cg(A + A.T, B, x0=np.ones(N))[0]
    assert cr.value_and_grad(look)(B)[0] == np.sum(own)


# ---- operators ------------------------------------------------------------------------------


def test_operators_are_linear():
    operator = linalg.aslinearoperator(A * (1 + 1j))
    a = A.toarray() * (1 + 1j)
    same_derivatives(lambda x: operator @ x, lambda x: a @ x, B)
    same_derivatives(lambda x: operator(x), lambda x: a @ x, B)
    same_derivatives(lambda x: operator.matvec(x), lambda x: a @ x, B)
    same_derivatives(lambda x: operator.rmatvec(x), lambda x: np.conj(a.T) @ x, B + 2j)
    same_derivatives(lambda x: operator.matmat(x), lambda x: a @ x, np.ones((N, 2)))
    same_derivatives(lambda x: x @ operator, lambda x: x @ a, B)
    same_derivatives(lambda x: operator.H @ x, lambda x: np.conj(a.T) @ x, B + 2j)
    same_derivatives(lambda x: operator**2 @ x, lambda x: a @ (a @ x), B)
    copies = copy.copy(operator), copy.deepcopy(operator), pickle.loads(pickle.dumps(operator))
    for again in copies:
        same_derivatives(lambda x: again @ x, lambda x: a @ x, B)  # noqa: B023
    two = operator + 2 * operator.T
    same_derivatives(lambda x: two @ x, lambda x: (a + 2 * a.T) @ x, B)
    found = cr.jacobian(lambda x: linalg.aslinearoperator(A) @ x)(B)
    np.testing.assert_allclose(found, A.toarray())
    with pytest.raises(ValueError, match="dimension mismatch"):
        cr.grad(lambda x: np.sum(np.real(operator @ x)))(np.ones(2))
    with pytest.raises(cr.MissingRuleError, match="an operator of SciPy's is constant"):
        cr.grad(lambda x: linalg.aslinearoperator(banded(x)).shape[0] * x[0])(DIAGONALS)


@pytest.mark.skipif(not hasattr(scipys.linalg.LinearOperator, "rdot"), reason="since SciPy 1.18")
def test_operators_take_batches():
    a = A.toarray() * (1 + 1j)
    operator = linalg.aslinearoperator(a)
    rows, stack = np.random.default_rng(4).normal(size=(N, N)), np.ones((2, N, 3)) * B[:, None]
    same_derivatives(lambda x: operator.matvec(x), lambda x: x @ a.T, rows)
    same_derivatives(lambda x: operator.rmatvec(x), lambda x: x @ np.conj(a), rows[:2])
    same_derivatives(lambda x: operator.rdot(x), lambda x: x @ a, rows[:2])
    same_derivatives(lambda x: operator @ x, lambda x: a @ x, stack)
    same_derivatives(lambda x: x @ operator, lambda x: x @ a, np.swapaxes(stack, 1, 2))
    several = linalg.aslinearoperator(np.stack([a, a]))
    with pytest.raises(cr.MissingRuleError, match="write one operator for each"):
        cr.jvp(lambda x: several @ x, (B,), (B,))


# ---- functions of matrices ------------------------------------------------------------------


def expm(a):
    """By a series, of small steps."""
    y = term = np.eye(N)
    for k in range(1, 30):
        term = term @ a / (16 * k)
        y = y + term
    for _ in range(4):
        y = y @ y
    return y


def test_exponentials_times_vectors():
    for b in (B, np.stack([B, B**2], axis=1)):
        for make in (banded, dense):
            same_derivatives(
                lambda x: linalg.expm_multiply(0.3 * make(x), b * x[0]),  # noqa: B023
                lambda x: expm(0.3 * dense(x)) @ (b * x[0]),  # noqa: B023
                DIAGONALS,
            )
    same_derivatives(
        lambda b: linalg.expm_multiply(linalg.aslinearoperator(A), b, traceA=A.trace()),
        lambda b: scipy.linalg.expm(A.toarray()) @ b,
        B,
    )
    same_derivatives(
        lambda x: linalg.expm_multiply(banded(x), B, start=0.1, stop=0.4, num=3),
        lambda x: np.stack([expm(t * dense(x)) @ B for t in (0.1, 0.25, 0.4)]),
        DIAGONALS,
    )


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms(ord):
    same_derivatives(
        lambda x: linalg.norm(sparse.csc_matrix(banded(x)), ord),
        lambda x: np.linalg.norm(dense(x), ord),
        DIAGONALS,
    )


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), (1, 0)])
def test_norms_along_axes(axis):
    orders = (None, 1, np.inf) if isinstance(axis, tuple) else (None, 1)
    for ord in orders:
        same_derivatives(
            lambda x: linalg.norm(sparse.csc_matrix(banded(x)), ord, axis=axis),  # noqa: B023
            lambda x: np.linalg.norm(dense(x), ord, axis=axis),  # noqa: B023
            DIAGONALS,
        )


# ---- eigenvalues ----------------------------------------------------------------------------


def symmetric(x, make=banded):
    a = make(x)
    return a + a.T


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
def test_eigenvalues(which):
    chosen = slice(0, 2) if which == "SA" else slice(-2, None)
    right = lambda x: np.linalg.eigvalsh(symmetric(x, dense))[chosen]  # noqa: E731
    for vectors in (False, True):

        def ours(x, vectors=vectors):
            y = linalg.eigsh(symmetric(x), k=2, which=which, return_eigenvectors=vectors)
            return np.sort(y[0] if vectors else y)

        same_derivatives(ours, right, DIAGONALS, rtol=1e-6)


def test_eigenvectors():
    same_derivatives(
        lambda x: linalg.eigsh(symmetric(x), k=2, sigma=7.0)[1] ** 2,
        lambda x: _nearest(*np.linalg.eigh(symmetric(x, dense)), 7.0) ** 2,
        DIAGONALS,
        rtol=1e-6,
    )


def _nearest(w, v, sigma):
    chosen = np.sort(np.argsort(np.abs(cr.value(w) - sigma))[:2])
    return v[:, chosen]


def test_eigenvalues_of_complex_matrices():
    def hermitian(x, make):
        a = make(x)
        return a + np.conj(a.T) if make is dense else a + a.conj().T

    x = DIAGONALS * (1 + 0.2j)

    def ours(x):
        w = linalg.eigsh(hermitian(x, banded), k=2, return_eigenvectors=False)
        return np.sum(np.sort(w) ** 2)

    expected = cr.grad(lambda x: np.sum(np.linalg.eigvalsh(hermitian(x, dense))[-2:] ** 2))(x)
    np.testing.assert_allclose(cr.grad(ours)(x), expected, rtol=1e-9)
    np.testing.assert_allclose(
        cr.jvp(ours, (x,), (1j * x,))[1], np.sum(np.real(np.conj(expected) * 1j * x)), rtol=1e-9
    )
    with pytest.raises(cr.MissingRuleError, match="none for their eigenvectors"):
        cr.grad(lambda x: np.sum(linalg.eigsh(hermitian(x, banded), k=2)[0]))(x)


def test_singular_values():
    for cut in (slice(0, 4), slice(None)):
        for turn in (lambda a: a, lambda a: a.T):
            same_derivatives(
                lambda x: np.sort(
                    linalg.svds(turn(banded(x)[cut]), k=2, return_singular_vectors=False)  # noqa: B023
                ),
                lambda x: np.linalg.svd(dense(x)[cut], compute_uv=False)[1::-1],  # noqa: B023
                DIAGONALS,
                rtol=1e-6,
            )
    with pytest.raises(cr.MissingRuleError, match="the largest singular values alone"):
        cr.grad(lambda x: np.sum(linalg.svds(banded(x), k=2)[1]))(DIAGONALS)
    with pytest.raises(cr.MissingRuleError, match="no rule for a traced dense matrix"):
        cr.grad(lambda x: np.sum(linalg.spsolve(dense(x), B)))(DIAGONALS)
    with pytest.warns(scipys.SparseEfficiencyWarning):
        own = scipys.linalg.spsolve(A.toarray(), B)
    y, _ = cr.vjp(lambda b: linalg.spsolve(A.toarray(), b), B)
    np.testing.assert_allclose(y, own)


class Scaling(linalg.LinearOperator):
    """An operator of the user's, with what it depends on in an attribute."""

    def __init__(self, p):
        self.p = p
        super().__init__(float, (5, 5))

    def _matvec(self, x):
        return (2.0 + self.p[0]) * x


OPERATORS = {
    "a function": lambda p: linalg.LinearOperator((5, 5), lambda x: (2.0 + p[0]) * x, dtype=float),
    "twice": lambda p: linalg.LinearOperator((5, 5), lambda x: (1 + p[0]) * x, dtype=float) * 2.0,
    "a class": Scaling,
}


OF_FUNCTIONS = {"cg", "minres"}  # which need no adjoint besides


@pytest.mark.parametrize("kind", OPERATORS)
@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "minres", "eigsh"])
def test_an_operator_that_depends_on_what_is_traced_is_refused(kind, name):
    if kind == "a function" and name in OF_FUNCTIONS:
        return

    def f(p):
        a = OPERATORS[kind](p)
        solver = getattr(linalg, name)
        return np.sum(solver(a, 2)[0] if name == "eigsh" else solver(a, np.arange(5.0))[0])

    p = np.array([0.5, 1.0])
    with pytest.raises(
        cr.errors.MissingRuleError, match=f"linalg.{name} of an operator that depends"
    ):
        cr.grad(f)(p)
    with pytest.warns(cr.CompileWarning, match="runs as it always did"):
        assert cr.compile(f)(p) == pytest.approx(f(p))


def by_functions(name, turned):
    """Solve with an operator by functions, which is symmetric unless ``turned``."""

    def f(p, solve=None):
        own = np.diag(np.arange(2.0, 7.0)) + 0.3 * np.ones((5, 5))
        shift = np.eye(5)[[4, 0, 1, 2, 3]] * turned
        if solve is not None:
            a = own + p[0] * np.eye(5) + np.sin(p[1]) * shift
            return np.sum(solve(a, p[1] * np.arange(5.0)) ** 2)

        def matvec(x):
            return own @ x + p[0] * x + np.sin(p[1]) * (shift @ x)

        def rmatvec(x):
            return own.T @ x + p[0] * x + np.sin(p[1]) * (shift.T @ x)

        a = linalg.LinearOperator((5, 5), matvec, rmatvec if turned else None, dtype=float)
        y, info = getattr(linalg, name)(a, p[1] * np.arange(5.0), rtol=1e-13)
        assert info == 0
        return np.sum(y**2)

    return f


@pytest.mark.parametrize(
    ("name", "turned"), [("cg", 0.0), ("minres", 0.0), ("gmres", 1.0), ("lgmres", 1.0)]
)
def test_an_operator_by_functions_of_what_is_traced(name, turned):
    f, p = by_functions(name, turned), np.array([0.5, 1.2])
    y, gradient = cr.value_and_grad(f)(p)
    assert f(p) == y
    dense_one = lambda p: f(p, np.linalg.solve)  # noqa: E731
    np.testing.assert_allclose(gradient, cr.grad(dense_one)(p), rtol=1e-9)
    np.testing.assert_allclose(cr.jacfwd(f)(p), gradient, rtol=1e-9)
    expected = cr.hessian(dense_one)(p)
    np.testing.assert_allclose(cr.hessian(f)(p), expected, rtol=1e-8)
    np.testing.assert_allclose(cr.jacrev(cr.grad(f))(p), expected, rtol=1e-8)


def test_an_operator_by_functions_without_its_adjoint():
    def f(p):
        a = linalg.LinearOperator((5, 5), lambda x: (2.0 + p) * x, dtype=float)
        return np.sum(linalg.gmres(a, np.arange(5.0))[0])

    with pytest.raises(cr.MissingRuleError, match=r"needs its adjoint, in .*\n.*rmatvec"):
        cr.grad(f)(1.0)


def test_such_an_operator_in_a_solver_of_an_equation():
    def apply(p, y):
        return (2.0 + p[0]) * y

    def solve(b, p):
        operator = linalg.LinearOperator((5, 5), lambda x: apply(p, x), dtype=float)
        return linalg.cg(operator, b, rtol=1e-12)[0]

    solved = cr.implicit(lambda y, b, p: apply(p, y) - b)(solve)
    p, b = np.array([0.5]), np.arange(5.0)
    found = cr.jacobian(lambda p: solved(b * p[0], p))(p)
    np.testing.assert_allclose(found, cr.jacobian(lambda p: b * p[0] / (2.0 + p[0]))(p))


def bidiagonal(p):
    upper = sparse.diags([np.ones(3)], [1], shape=(4, 4), format="csc")
    return sparse.identity(4, format="csc") * 2.0 - upper * p[0]


SOLVES = {
    "spsolve": lambda p: linalg.spsolve(bidiagonal(p), p[1] * np.ones(4)),
    "spsolve of csr": lambda p: linalg.spsolve(bidiagonal(p).tocsr(), np.ones(4)),
    "splu": lambda p: linalg.splu(bidiagonal(p)).solve(p[1] * np.ones(4)),
    "splu, adjoint": lambda p: linalg.splu(bidiagonal(p)).solve(np.ones(4), "T"),
    "factorized": lambda p: linalg.factorized(bidiagonal(p))(np.ones(4)),
    "of constants": lambda p: linalg.splu(bidiagonal(np.ones(2))).solve(p[1] * np.ones(4)),
}


@pytest.mark.parametrize("f", SOLVES.values(), ids=SOLVES)
@pytest.mark.parametrize("transform", [lambda f: f, cr.jacobian], ids=["value", "jacobian"])
def test_solves_are_recorded_and_batched(f, transform):
    g = transform(f)
    compiled = cr.compile(g)
    points = np.array([[0.5, 1.0], [0.55, 1.1], [0.3, -1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.CompileWarning)
        warnings.simplefilter("error", cr.BatchWarning)
        for p in points:
            np.testing.assert_allclose(compiled(p), g(p), rtol=1e-12)
        np.testing.assert_allclose(cr.vmap(g)(points), np.stack(list(map(g, points))))
    assert "1 recording>" in repr(compiled)
