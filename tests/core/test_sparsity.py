"""Sparse Jacobians and Hessians: the pattern, the numbers, and the guard."""

import builtins
import itertools

import numpy as np
import pytest
from scipy import sparse

import chainrules as cr
from chainrules.rules.linear import compression as sparse_derivatives
from chainrules.rules.linear import patterns
from chainrules.rules.linear.compression import color_columns, color_symmetric

RNG = np.random.default_rng(5)
X = RNG.normal(size=12)


def written_in_pieces(x):
    y = np.zeros(x.size + 1)
    z = np.zeros_like(x, shape=(x.size + 1,))
    z[1:] = x**2
    z[0] = x[3]
    z[::3] += 1.0
    return np.sin(z) + y


def looped(x):
    z = x.copy()
    for i in range(1, x.size):
        z[i] = z[i] * x[i - 1]
    return z


SECOND = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(12, 12)).toarray()

FUNCTIONS = {
    "diff": np.diff,
    "elementwise": lambda x: np.exp(x) * x[0],
    "matmul": lambda x: SECOND @ x**3,
    "matmul from the right": lambda x: np.reshape(x, (4, 3)) @ np.triu(np.ones((3, 3))),
    "matrix of matrices": lambda x: SECOND[:4, :4] @ np.reshape(x, (4, 3)),
    "stencil": lambda x: x[2:] - 2 * x[1:-1] + x[:-2] ** 2,
    "sums": lambda x: np.sum(np.reshape(x, (3, 4)) ** 2, axis=1, keepdims=True),
    "means": lambda x: np.mean(np.reshape(x, (3, 2, 2)) ** 2, axis=(0, -1)),
    "total": lambda x: np.sum(x[:5] * x[1:6]),
    "joined": lambda x: np.concatenate([x[:2] * x[2:4], np.ones(2), np.stack([x[0], x[5]])]),
    "moved": lambda x: np.roll(np.transpose(np.reshape(x, (3, 4))), 1, 0)[::2],
    "fancy": lambda x: x[[3, 3, 0]] * x[x > 0][:3],
    "where": lambda x: np.where(x > 0, np.log(np.abs(x)), x**2),
    "cumsum": lambda x: np.cumsum(x**2),
    "fft": lambda x: np.real(np.fft.fft(x)),
    "einsum": lambda x: np.einsum("ij,j->i", np.reshape(x, (3, 4)), np.arange(4.0)),
    "outer": lambda x: np.outer(x[:3], x[3:5]),
    "written": written_in_pieces,
    "looped": looped,
    "split": lambda x: np.split(x**2, 3)[1],
    "scalars": lambda x: cr.array([x[i] * x[i + 1] for i in range(5)]),
    "constant": lambda x: np.ones(3),
    "empty": lambda x: x[:0],
    "number": lambda x: x[2] ** 2,
    "second differences": lambda x: np.diff(np.reshape(x, (3, 4)) ** 2, 2, axis=1),
    "cumsum along an axis": lambda x: np.cumsum(np.reshape(x, (3, 4)), axis=1),
    "convolved": lambda x: np.convolve(x**2, [1.0, 0.0, 2.0], "same"),
    "kernel": lambda x: np.convolve([1.0, 2.0, 3.0], x[:2], "valid"),
    "tensordot": lambda x: np.tensordot(np.reshape(x, (3, 4)), np.eye(4)[:2], ((1,), (-1,))),
    "inner": lambda x: np.inner(np.eye(4)[1:], np.reshape(x, (3, 4))),
    "batched": lambda x: np.einsum("bij,bj->bi", np.reshape(x, (3, 2, 2)), np.ones((3, 2))),
    "norm": lambda x: x / np.linalg.norm(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_a_sparse_jacobian_is_the_dense_one(transform, name):
    f = FUNCTIONS[name]
    found = transform(f, sparse=True)(X)
    dense = np.reshape(cr.jacfwd(f)(X), (-1, X.size))
    assert isinstance(found, sparse.csr_array)
    assert found.shape == dense.shape
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("probed", [0, 256])
def test_a_pattern_has_every_entry_that_is_not_zero(name, probed, monkeypatch):
    monkeypatch.setattr(patterns, "PROBED", probed)
    f = FUNCTIONS[name]
    pattern = cr.sparsity(f, X)
    dense = np.reshape(cr.jacfwd(f)(X), (-1, X.size))
    assert pattern.dtype == bool
    assert np.all(pattern.toarray() | (dense == 0))


EXACT = ["diff", "elementwise", "matmul", "stencil", "sums", "total", "joined", "moved", "fancy",
         "matmul from the right", "matrix of matrices", "written", "scalars", "split",
         "cumsum", "einsum", "second differences", "cumsum along an axis", "convolved",
         "kernel", "tensordot", "inner", "batched"]  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_a_pattern_has_no_entry_too_many(name):
    f = FUNCTIONS[name]
    dense = np.reshape(cr.jacfwd(f)(X), (-1, X.size))
    np.testing.assert_array_equal(cr.sparsity(f, X).toarray(), dense != 0)


def test_the_pattern_of_several_arguments_and_of_containers():
    def f(p, scale):
        return {"a": p["x"] ** 2, "b": (scale * p["y"], 3)}

    point = {"x": np.ones(2), "y": 2.0}
    pattern = cr.sparsity(f, point, 3.0).toarray().astype(int)
    np.testing.assert_array_equal(pattern, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]])
    found = cr.jacobian(f, argnums=(0, 1), sparse=True)(point, 3.0)
    expected = [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 2], [0, 0, 0, 0]]
    np.testing.assert_allclose(found.toarray(), expected)


# ---- Hessians -----------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def arrow(x):
    return x[4] * np.sum(np.sin(x) * x[4]) + x[0] ** 3


def rosenbrock_by_numbers(x):
    return sum(100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))


@pytest.mark.parametrize("f", [rosenbrock, arrow, rosenbrock_by_numbers, np.sum, np.prod])
def test_a_sparse_hessian_is_the_dense_one_and_symmetric(f):
    found = cr.hessian(f, sparse=True)(X)
    np.testing.assert_allclose(found.toarray(), cr.hessian(f)(X), atol=1e-10)
    pattern = cr.sparsity(cr.grad(f), X).toarray()
    assert np.all(pattern | (found.toarray() == 0))


def test_an_arrow_needs_two_directions_and_a_band_three():
    n = 400
    x = RNG.normal(size=n)
    for f, colors in ((lambda x: x[0] * np.sum(np.sin(x)), 2), (rosenbrock, 3)):
        pattern = cr.sparsity(cr.grad(f), x)
        assert color_symmetric(pattern)[0].max() + 1 == colors
    found = cr.hessian(lambda x: x[0] * np.sum(np.sin(x)), sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), cr.hessian(lambda x: x[0] * np.sum(np.sin(x)))(x))


def test_rows_that_share_no_column_are_pulled_together():
    # Dense rows make every column a color of its own; their cotangents need one each.
    def f(x):
        return np.sum(np.reshape(x, (4, 50)) ** 2, axis=1)[::-1] * x[0]

    x = RNG.normal(size=200)
    jacobian = cr.jacobian(f, sparse=True)
    for _ in range(2):
        np.testing.assert_allclose(jacobian(x).toarray(), cr.jacobian(f)(x), atol=1e-12)


# ---- the guard ----------------------------------------------------------------------------------


def test_the_pattern_is_found_anew_where_the_path_changes(monkeypatch):
    def f(x):
        return x[1:] * x[:-1] if x[0] > 0 else x[1:] + x[0] ** 2

    found = []
    original = sparse_derivatives.pattern_of
    monkeypatch.setattr(
        sparse_derivatives, "pattern_of", lambda *args: found.append(1) or original(*args)
    )
    jacobian = cr.jacfwd(f, sparse=True)
    for first, times in ((1.0, 1), (2.0, 1), (-1.0, 2), (-2.0, 2), (3.0, 3)):
        x = np.concatenate([[first], X])
        np.testing.assert_allclose(jacobian(x).toarray(), cr.jacfwd(f)(x), atol=1e-12)
        assert len(found) == times


def test_a_pattern_found_before_loses_no_small_entry_of_float32():
    def f(x):
        y = x * np.float32(1)
        return y + np.roll(x, 1) * np.float32(5e-4) if x[0] > 0 else y

    jacobian = cr.jacobian(f, sparse=True)
    x = np.array([-1.0, 1.0, 2.0, 3.0], np.float32)
    for first in (-1.0, 1.0, -1.0):
        x[0] = first
        np.testing.assert_array_equal(jacobian(x).toarray(), cr.jacobian(f)(x))


PATHS = {
    "another index": lambda x, k: x[[0, k]] ** 2,
    "another slice": lambda x, k: x[k:] * np.ones(4)[: x[k:].size],
    "another mask": lambda x, k: x[np.roll([True, False, False, False], k)],
    "other zeros of a matrix": lambda x, k: np.eye(4, k=k) @ x,
    "other zeros of a kernel": lambda x, k: np.convolve(x, np.eye(3)[k]),
    "other zeros in an einsum": lambda x, k: np.einsum("ij,j->i", np.eye(4, k=k), x),
    "other numbers where each is probed": lambda x, k: np.linalg.solve(
        np.eye(4) + 1e-30 * np.eye(4, k=k), x),
    "another shift": lambda x, k: np.roll(x, k) * x[0],
    "another axis": lambda x, k: np.sum(np.reshape(x, (2, 2)), axis=k % 2),
    "another function": lambda x, k: (np.cumsum, np.flip, np.copy)[k](x),
    "another result read": lambda x, k: (x[1] * x, x[2] * x, x[3] * x)[k],
    "another place written": lambda x, k: written_at(x, k),
    "a constant that is written over": lambda x, k: matrix_of_constants(x, k) @ x,
}  # fmt: skip


def written_at(x, k):
    y = np.zeros_like(x)
    y[k] = x[3] ** 2
    return y


def matrix_of_constants(x, k):
    m = np.zeros_like(x, shape=(4, 4))
    m[k] = 1.0
    return m * 1.0


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev, cr.jacobian])
def test_a_pattern_is_kept_for_the_same_steps_only(transform, name):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    now = [0]

    def f(x):
        return PATHS[name](x, now[0])

    jacobian = transform(f, sparse=True)
    for k in (0, 1, 2, 2, 0):
        now[0] = k
        dense = cr.jacfwd(f)(x)
        np.testing.assert_allclose(jacobian(x).toarray(), dense, atol=1e-300)


@pytest.mark.parametrize("name", ["elementwise", "matmul", "norm", "written", "einsum", "cumsum"])
def test_a_pattern_is_found_once_where_only_numbers_change(name, monkeypatch):
    colored = []
    original = sparse_derivatives.Compression
    monkeypatch.setattr(
        sparse_derivatives, "Compression", lambda *args: colored.append(1) or original(*args)
    )
    jacobian = cr.jacfwd(FUNCTIONS[name], sparse=True)
    for k in range(1, 4):
        np.testing.assert_allclose(
            jacobian(k * X).toarray(), cr.jacfwd(FUNCTIONS[name])(k * X), atol=1e-12
        )
    assert len(colored) == 1


def test_the_imaginary_part_of_a_transform_has_a_pattern():
    x = RNG.normal(size=6)
    for f in (
        lambda x: np.imag(np.fft.fft(x)),
        lambda x: np.fft.irfft(np.fft.rfft(x) * 1j),
        lambda x: np.fft.fft(x).imag[1:3] * x[:2],
    ):
        for transform in (cr.jacfwd, cr.jacrev):
            found = transform(f, sparse=True)(x).toarray()
            np.testing.assert_allclose(found, cr.jacfwd(f)(x), atol=1e-12)


def test_a_linear_function_of_real_numbers_only_is_probed_by_i_as_well():
    @cr.primitive
    def imaginary(z):
        return np.array(z.imag)

    cr.linear_rule(imaginary, lambda ybar, space: 1j * ybar)
    found = cr.jacfwd(lambda x: imaginary(x * (1 + 2j)), sparse=True)(X)
    np.testing.assert_allclose(found.toarray(), 2 * np.eye(12))


def test_another_shape_has_a_pattern_of_its_own():
    jacobian = cr.jacobian(np.diff, sparse=True)
    for n in (4, 6, 4):
        assert jacobian(np.ones(n)).nnz == 2 * (n - 1)


def test_a_nan_in_the_derivative_is_kept():
    with np.errstate(all="ignore"):
        found = cr.jacobian(np.sqrt, sparse=True)(np.array([1.0, 0.0, -1.0])).toarray()
    assert np.isfinite(found[0, 0])
    assert not np.isfinite(found[1, 1])
    assert np.isnan(found[2, 2])


# ---- colors -------------------------------------------------------------------------------------


def test_no_row_sees_two_columns_of_one_color():
    pattern = sparse.csr_array(RNG.random((60, 40)) < 0.08)
    colors = color_columns(pattern)
    for i in range(60):
        seen = colors[pattern[[i]].nonzero()[1]]
        assert len(set(seen.tolist())) == len(seen)
    empty = np.flatnonzero(pattern.toarray().sum(0) == 0)
    assert np.all(colors[empty] == -1)


# ---- what is refused ----------------------------------------------------------------------------


def test_complex_and_nested_sparse_derivatives_are_refused():
    with pytest.raises(TypeError, match="a sparse derivative is of real functions"):
        cr.jacobian(np.sin, sparse=True)(X + 1j)
    with pytest.raises(TypeError, match="cannot be differentiated again"):
        cr.grad(lambda x: cr.jacobian(np.sin, sparse=True)(x).sum())(X)


def test_a_function_of_which_nothing_is_known_is_refused_where_it_is_large():
    @cr.primitive
    def blurred(x):
        return np.fft.irfft(np.fft.rfft(x) ** 1, x.size)

    cr.linear_rule(blurred, lambda ybar, space: ybar)
    with pytest.raises(cr.MissingRuleError, match="nothing is known of which entries blurred"):
        cr.sparsity(blurred, np.ones(20_000))


def test_without_scipy_the_error_says_which_extra_to_install(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("scipy"):
            raise ModuleNotFoundError("No module named 'scipy'", name=name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for run in (
        lambda x: cr.sparsity(np.sin, x),
        cr.hessian(lambda x: np.sum(x**3), sparse=True),
        *(make(np.sin, sparse=True) for make in (cr.jacfwd, cr.jacrev, cr.jacobian)),
    ):
        with pytest.raises(ModuleNotFoundError, match=r"need SciPy(?s:.*)chainrules\[scipy\]"):
            run(X)
