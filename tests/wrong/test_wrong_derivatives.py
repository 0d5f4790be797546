"""Derivatives that were wrong without a word."""

import contextlib

import numpy as np
import pytest
from right_or_refused import may_refuse, same

import chainrules as cr
from chainrules.scipy import integrate


def test_hessian_of_a_list_of_indices_after_an_ellipsis():
    x = np.array([1.0, 2.0, 3.0])
    ours = cr.hessian(lambda x: np.sum(x[..., [2, 0, 1]] ** 3 * np.array([1.0, 2.0, 3.0])))(x)
    right = np.diag([12.0, 36.0, 18.0])
    same(right, ours)


def test_jacrev_of_a_permutation_of_the_last_axis():
    x = np.arange(1.0, 7.0)
    ours, right = (
        cr.jacrev(lambda a: a[..., [5, 3, 4, 2, 0, 1]] ** 3)(x),
        cr.jacfwd(lambda a: a[..., [5, 3, 4, 2, 0, 1]] ** 3)(x),
    )
    same(right, ours)


def test_sparse_hessian_of_the_diagonal_of_a_small_matrix():
    A = np.array([[0.5, 1.0], [2.0, 3.0]])
    ours, right = (
        cr.hessian(lambda a: np.sum(np.diagonal(a) ** 3), sparse=True)(A).toarray(),
        np.diag([3.0, 0, 0, 18.0]),
    )
    same(right, ours)


def test_hvp_of_as_many_directions_as_rows():
    A, V = np.arange(9.0).reshape(3, 3), np.arange(27.0).reshape(3, 3, 3)
    f = lambda a: np.trace(a) ** 2
    ours, right = cr.hvp(f, (A,), (V,), block=True), np.stack([cr.hvp(f, (A,), (v,)) for v in V])
    same(right, ours)


def test_jacfwd_of_a_write_into_a_new_array_made_from_a_row():
    def f(a):
        row = a[0]
        shifted = row - 1.0
        head = shifted[:1]
        head *= 3.0
        return row * row

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours, right = cr.jacfwd(f)(x), cr.jacrev(f)(x)
    same(right, ours)


def test_hessian_of_a_write_into_a_new_array_made_from_a_row():
    def f(a):
        row = a[0]
        shifted = row - 1.0
        head = shifted[:1]
        head *= 3.0
        return np.sum((row * row) ** 2)

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours, right = cr.hessian(f)(x).reshape(4, 4), np.diag([12.0, 48.0, 0, 0])
    same(right, ours)


def test_linearize_of_a_write_into_a_new_array_made_from_a_view():
    def f(a):
        v = a.T
        w = v + 0.0
        p = w[0]
        w[0] = 0.0
        return v

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours, right = cr.linearize(f, x)[1](np.ones((2, 2))), np.ones((2, 2))
    same(right, ours)


def test_reverse_over_forward_of_writes_into_a_new_array():
    def f(b):
        v = (b * b).reshape(-1)
        w = v + 0.0
        h = [w[i : i + 1] for i in range(2)]
        h[0] *= 3.0
        return np.sum(v**2)

    x, u = np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]])
    ours, right = cr.grad(lambda a: cr.jvp(f, (a,), (u,))[1])(x), cr.hvp(f, (x,), (u,))
    same(right, ours)


def test_jvp_of_a_tangent_in_fortran_order():
    def f(x):
        z = x * 1.5
        y = z + 0.0
        v = y.reshape(-1)
        y[0, 0] = 5.0
        return np.sum(z * z)

    x, t = np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
    ours, right = cr.jvp(f, (x,), (np.asfortranarray(t),))[1], cr.jvp(f, (x,), (t,))[1]
    same(right, ours)


def test_jvp_does_not_write_into_the_callers_tangent():
    def f(x):
        views = [x.reshape(-1) for _ in range(30)]
        x[0, 0] = 5.0
        return np.sum(x * x)

    ours = np.asfortranarray(np.ones((2, 2)))
    cr.jvp(f, (np.ones((2, 2)),), (ours,))
    right = np.ones((2, 2))
    same(right, ours)


def by_a_list(v, c):
    v[[0]] = 0.0


def by_put(v, c):
    np.put(v, [0], 0.0)


def by_add_at(v, c):
    np.add.at(v, ([0], [0]), c[1, 1] * 2)


def through_a_reshape(v, c):
    v.reshape(-1)[0] = 0.0


@pytest.mark.parametrize("write", [by_a_list, by_put, by_add_at, through_a_reshape])
def test_a_write_with_a_cotangent_in_fortran_order(write):
    A = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(c):
        v = c * 1.0
        write(v, c)
        return np.sum(v.T * A) + np.sum(v.T * A)

    same(cr.jacfwd(f)(A), cr.grad(f)(A))
    if write is by_a_list:  # what was overwritten gets no gradient
        same(np.array([[0.0, 0.0], [4.0, 8.0]]), cr.grad(f)(A))


def test_write_by_a_list_and_an_ellipsis_under_a_mean_and_a_transpose():
    def f(b):
        v = b.copy()
        t = v.T
        v[np.array([1]), ...] += -0.08
        return np.sum(t * 0.64) + np.mean(v) ** 2

    x = np.arange(6.0).reshape(2, 3)
    ours, right = cr.grad(f)(np.stack([x, x])), cr.jacfwd(f)(np.stack([x, x]))
    same(right, ours)


def test_reverse_over_reverse_of_a_matrix_product_after_a_write():
    def f(c):
        v = c * 1.0
        v.reshape(-1)[1] = -1.05
        return np.sum(v @ v)

    x, u = np.array([[0.7, 0.3], [1.3, -1.7]]), np.array([[1.0, 0.5], [0.3, 0.2]])
    ours, right = cr.grad(lambda a: np.sum(cr.grad(f)(a) * u))(x), cr.hvp(f, (x,), (u,))
    same(right, ours)


@pytest.mark.slow
@may_refuse
def test_threads_that_fill_arrays_inside_a_differentiated_function():
    import concurrent.futures as cf

    def piece(x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = np.sin(x[i]) + 0.5 * y[i - 1]
        return np.sum(y * y)

    x = np.linspace(0.2, 1.4, 8 * 400).reshape(8, 400)
    g = cr.grad(lambda x: sum(piece(x[i]) for i in range(8)))(x)
    ours = 0
    with cf.ThreadPoolExecutor(8) as pool:
        for _ in range(60):
            try:
                ours += not np.allclose(
                    cr.grad(lambda x: sum(pool.map(piece, [x[i] for i in range(8)])))(x), g
                )
            except ValueError:
                ours += 1
    right = 0
    same(right, ours)


@may_refuse
def test_lru_cache_that_saw_the_number_before():
    import functools

    @functools.lru_cache
    def g(x):
        return x**2

    g(3.0)
    ours, right = cr.grad(g)(3.0), 6.0
    same(right, ours)


@may_refuse
def test_dict_as_a_memo_that_saw_the_number_before():
    memo = {}

    def g(x):
        if x not in memo:
            memo[x] = x * x
        return memo[x]

    g(3.0)
    ours, right = cr.grad(g)(3.0), 6.0
    same(right, ours)


@may_refuse
def test_cached_property_of_a_dataclass_that_was_used_before():
    import dataclasses
    import functools

    @dataclasses.dataclass
    class P:
        w: object

        @functools.cached_property
        def norm(self):
            return np.sum(self.w**2)

    p = P(np.array([1.0, 2.0]))
    p.norm
    ours, right = cr.jvp(lambda p: p.norm, (p,), (P(np.ones(2)),))[1], 6.0
    same(right, ours)


def test_jvp_of_a_write_through_a_view_of_a_0d_array():
    def f(a):
        v = np.where(a > 1.39, np.sin(a), a * a)
        v.reshape(-1)[0] = 1.46
        return np.sum(v * 0.35)

    ours, right = cr.jvp(f, (np.array(0.75),), (np.array(1.0),))[1], 0.0
    same(right, ours)


def test_jacfwd_of_a_write_through_a_view_of_a_0d_argument():
    def f(a):
        a[None][...] = 0.42
        return a * 3.0

    ours, right = cr.jacfwd(f)(np.array(1.0)), 0.0
    same(right, ours)


@may_refuse
def test_write_into_what_value_hands_out():
    def f(x):
        y = x * x
        v = cr.value(x)
        v[:] = 0
        return np.sum(y)

    ours, right = cr.grad(f)(np.array([1.0, 2.0, 3.0])), np.array([2.0, 4.0, 6.0])
    same(right, ours)


@may_refuse
def test_write_into_what_stop_gradient_hands_out():
    def f(x):
        y = x * x
        v = cr.stop_gradient(x)
        v -= v.mean()
        return np.sum(y)

    ours, right = cr.grad(f)(np.array([1.0, 2.0, 3.0])), np.array([2.0, 4.0, 6.0])
    same(right, ours)


@may_refuse
def test_checkpoint_with_a_captured_array_that_changes():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        c = np.ones(3)
        z = cr.checkpoint(lambda t: np.sum(np.sin(t) * c))(x)
        c[:] = 5.0
        return z

    ours, right = cr.grad(f)(x), np.cos(x)
    same(right, ours)


@may_refuse
def test_checkpoint_with_a_captured_traced_array_that_is_written_to():
    x = np.array([1.0, 2.0, 3.0])

    def f(x):
        y = x * 1.0
        z = cr.checkpoint(lambda t: np.sum(np.sin(t) * y))(x)
        y[0] = 100.0
        return z

    ours, right = cr.grad(f)(x), np.cos(x) * x + np.sin(x)
    same(right, ours)


@may_refuse
def test_checkpoint_that_draws_random_numbers():
    rng = np.random.default_rng(0)
    y, g = cr.value_and_grad(lambda x: cr.checkpoint(lambda t: t * rng.normal())(x))(1.0)
    ours, right = g, y
    same(right, ours)


@may_refuse
def test_inner_linearize_at_asarray_of_a_traced_array():
    x = np.full(3, 0.5)
    f = lambda a: np.sum(cr.linearize(lambda t: np.tanh(t), np.asarray(a))[1](np.asarray(a)))
    ours, right = cr.value_and_grad(f)(x)[0], np.sum(0.5 / np.cosh(0.5) ** 2 * np.ones(3))
    same(right, ours)


@may_refuse
def test_jvp_of_an_object_array_of_floats():
    ours, right = (
        cr.jvp(lambda x: np.sum(x * x), (np.array([1.0, 2.0], object),), (np.ones(2),))[1],
        6.0,
    )
    same(right, ours)


@may_refuse
def test_jvp_of_a_bool_with_a_tangent():
    ours, right = cr.jvp(lambda x: x * 2.0, (True,), (1.0,))[1], 2.0
    same(right, ours)


def test_second_derivative_of_a_sum_of_sorted_squares_at_a_tie():
    ours, right = cr.hessian(lambda x: np.sum(np.sort(x) ** 2))(np.array([1.0, 1.0])), 2 * np.eye(2)
    same(right, ours)


def test_second_derivative_of_max_by_min_at_a_tie():
    ours, right = (
        cr.hessian(lambda x: np.max(x) * np.min(x))(np.array([1.0, 1.0])),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
    )
    same(right, ours)


def test_second_derivative_of_a_squared_maximum_at_zero():
    ours, right = cr.hessian(lambda x: np.maximum(x, -x) ** 2)(0.0), 2.0
    same(right, ours)


@may_refuse
def test_jacobian_of_a_function_that_writes_into_another_argument():
    def g(b, a):
        a += 1.0
        return np.concatenate([b * a, b * a])

    ours, right = cr.jacobian(g)(np.ones(1), np.zeros(1)), cr.jacfwd(g)(np.ones(1), np.zeros(1))
    same(right, ours)


@may_refuse
def test_jacobian_of_a_function_that_takes_from_an_iterator():
    it = iter([1.0, 2.0])
    ours, right = cr.jacobian(lambda x: np.stack([x, x]) * next(it))(1.0), np.ones(2)
    same(right, ours)


@may_refuse
def test_sparse_jacobian_whose_pattern_changes_in_float32():
    f = lambda x: (
        x * np.float32(1)
        + (np.roll(x, 1) * np.float32(5e-4) if cr.value(x)[0] > 0 else np.float32(0))
    )
    J, x = cr.jacobian(f, sparse=True), np.array([-1.0, 1.0, 2.0, 3.0], np.float32)
    J(x)
    x[0] = 1.0
    ours, right = J(x).toarray(), cr.jacobian(f)(x)
    same(right, ours)


class Foreign:
    """An array of a library that speaks neither of NumPy's protocols."""

    def __init__(self, entries):
        self.entries = np.asarray(entries, float)
        self.shape, self.ndim = self.entries.shape, self.entries.ndim
        self.size, self.dtype = self.entries.size, self.entries.dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(self.entries, dtype=dtype)

    def __getitem__(self, index):
        return Foreign(self.entries[index])

    def __len__(self):
        return len(self.entries)

    def __mul__(self, other):
        return Foreign(self.entries * np.asarray(other))

    __rmul__ = __mul__


def neighbours(x):
    return np.sum(x[1:] * x[:-1])


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f, x: cr.grad(f)(x),
        lambda f, x: cr.vjp(f, x)[1](1.0)[0],
        lambda f, x: [cr.jvp(f, (x,), (row,))[1] for row in np.eye(3)],
        lambda f, x: [cr.linearize(f, x)[1](row) for row in np.eye(3)],
        lambda f, x: cr.jacfwd(f)(x),
        lambda f, x: cr.jacrev(f)(x),
    ],
    ids=["grad", "vjp", "jvp", "linearize", "jacfwd", "jacrev"],
)
def test_indexing_an_argument_that_speaks_no_protocol(derivative):
    x = Foreign([1.0, 2.0, 3.0])
    may_refuse(lambda: same([2.0, 4.0, 2.0], np.asarray(derivative(neighbours, x)).tolist()))()


@may_refuse
def test_number_that_goes_through_text():
    ours, right = cr.grad(lambda x: float(f"{x}") * x)(3.0), 6.0
    same(right, ours)


@may_refuse
def test_gradient_of_a_counter():
    import collections

    ours, right = dict(cr.grad(lambda c: c["a"] ** 2.0)(collections.Counter(a=3))), {"a": 6.0}
    same(right, ours)


def test_results_of_jvp_share_no_memory():
    t = np.ones(3)
    y, (p, q) = cr.jvp(lambda x: (x + 1.0, x - 1.0), (np.ones(3),), (t,))
    ours, right = bool(np.shares_memory(p, t) or np.shares_memory(p, q)), False
    same(right, ours)


@pytest.mark.slow
def test_large_captured_array_of_which_one_entry_changes():
    c = np.ones(10**7)
    ours = 0
    for k in range(40):

        def f(x):
            y = x * c
            c[k * 200000 + 17] = 5.0
            return np.sum(y)

        c[:] = 1.0
        with contextlib.suppress(cr.MutationError):
            ours += cr.grad(f)(2.0) != 10**7
    right = 0
    same(right, ours)


CUTS = {
    np.arcsin: (2.0, -2.0),
    np.arccos: (2.0, -2.0),
    np.arccosh: (0.5, -2.0),
    np.arctanh: (2.0, -2.0),
    np.sqrt: (-2.0,),
    np.log: (-2.0,),
    np.arcsinh: (2j, -2j),
    np.arctan: (2j, -2j),
}


@pytest.mark.parametrize("f", CUTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_on_a_branch_cut_the_sign_of_a_zero_decides(f, zero):
    for point in CUTS[f]:
        z = complex(point)
        along, step = (1.0, 1e-6) if z.real else (1j, 1e-6j)
        z = complex(z.real, zero) if z.real else complex(zero, z.imag)
        ends = [complex(z.real + h.real, z.imag) if z.real else complex(z.real, z.imag + h.imag)
                for h in (complex(step), -complex(step))]  # fmt: skip
        expected = (f(ends[0]) - f(ends[1])) / (ends[0] - ends[1]) * along
        assert abs(cr.jvp(f, (z,), (along,))[1] - expected) < 1e-6
        (zbar,) = cr.vjp(f, z)[1](1.0 + 0j)
        assert abs(np.conj(zbar) * along - expected) < 1e-6


@pytest.mark.parametrize("write", [
    lambda a, x: np.subtract.at(a, ([0],), x[:1]), lambda a, x: np.put(a, [0], x[1:]),
    lambda a, x: np.copyto(a, x), lambda a, x: np.putmask(a, [True, False], x),
])  # fmt: skip
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asarray, np.asanyarray, np.array])
def test_a_write_into_an_object_array_of_traced_numbers_is_not_lost(write, make):
    def f(x):
        a = make(x)
        write(a, x * 2.0)
        return np.sum(a * [3.0, 5.0])

    x = np.array([1.4, 0.8])
    expected = f(x.copy())
    for run in (lambda: cr.vjp(f, x)[0], lambda: cr.jvp(f, (x,), (x,))[0]):
        with contextlib.suppress(cr.MutationError):
            assert run() == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [1, 6])
def test_what_was_overwritten_after_a_write_sends_nothing_back_in_recorded_sweeps(n):
    def f(x):
        a = np.arccos(x, x.T)  # into x itself
        a.reshape(-1)[:1] = 2.0
        return a * a

    x = np.linspace(1.2, 0.1, n)
    expected = np.diag(np.where(np.arange(n) > 0, -2 * np.arccos(x) / np.sqrt(1 - x * x), 0.0))
    for transform in (cr.jacrev, cr.jacobian, cr.jacfwd):
        np.testing.assert_allclose(transform(f)(x.copy()), expected, atol=1e-12)
        sparse = transform(f, sparse=True)(x.copy()).toarray()
        np.testing.assert_allclose(sparse, expected, atol=1e-12)


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_larger_and_smaller_of_complex_numbers_of_python(f):
    z = 1.5 + 0.5j
    for other in (z - 9.0, z + 9.0, 0.5, 2.5 + 1j):
        slope = 1.0 if f(z, other) == z else 0.0
        assert cr.jvp(lambda z, b=other: f(z, b), (z,), (1j,))[1] == slope * 1j
        assert cr.vjp(lambda z, b=other: f(z, b), z)[1](1j)[0] == slope * 1j


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["lower", "linear", "nearest"])
def test_quantiles_of_nothing(method):
    x = np.zeros((3, 0))
    for f in (np.nanpercentile, np.nanquantile):
        y, ydot = cr.jvp(lambda x: f(x, 0.3, axis=1, method=method), (x,), (x,))
        np.testing.assert_array_equal(y, f(x, 0.3, axis=1, method=method))
        assert ydot.shape == (3,)


@pytest.mark.parametrize("f", [np.median, np.nanmedian])
@pytest.mark.parametrize("axes", [[0, -1], [0]])
def test_medians_along_a_list_of_axes(f, axes):
    x = np.array([[1.533, 0.883], [1.323, 1.603]])
    for transform in (cr.jacrev, cr.jacfwd):
        found = transform(lambda x: f(x, axis=axes))(x)
        np.testing.assert_array_equal(found, transform(lambda x: f(x, axis=tuple(axes)))(x))
        quantile = transform(lambda x: np.quantile(x, 0.5, axis=axes))(x)
        np.testing.assert_allclose(found, quantile, rtol=1e-12)


@pytest.mark.parametrize("index", [0.4, 1.7, [0.4], True])
def test_take_at_what_is_no_integer(index):
    x = np.array([1.5, 2.5])
    expected = np.zeros(2)
    expected[np.asarray(index).astype(int)] = 1.0
    np.testing.assert_array_equal(expected, cr.grad(lambda x: np.sum(np.take(x, index)))(x))


def test_multi_dot_of_two_numbers():
    assert 6.0 == cr.grad(lambda x: np.linalg.multi_dot([x, x]))(3.0)


def test_unique_values_of_complex_numbers_come_in_the_order_of_numpy():
    z = np.array([[0.633, 0.903, 0.433], [1.133, 1.403, 1.513]]) * (1 + 0.5j)
    y, ydot = cr.jvp(np.unique_values, (z,), (z,))
    np.testing.assert_array_equal(np.unique_values(z), y)
    np.testing.assert_array_equal(y, ydot)


@pytest.mark.parametrize("f", [np.var, np.std, np.prod])
def test_variance_of_complex_numbers_in_a_real_dtype_is_refused(f):
    z = np.array([1.4, 0.8, 1.3]) * (1 + 0.5j)
    for transform in (lambda: cr.vjp(lambda z: f(z, dtype=float), z), lambda: cr.jvp(
        lambda z: f(z, dtype=float), (z,), (z,)
    )):  # fmt: skip
        with pytest.raises(cr.MissingRuleError, match="dtype=float64 has no rule"):
            transform()


@pytest.mark.parametrize("f", [np.var, np.std, np.nanstd])
def test_variance_of_complex_numbers_in_a_complex_dtype_is_refused(f):
    z = np.array([1.4, 0.8, 1.3]) * (1 + 0.5j)
    with pytest.raises(cr.MissingRuleError, match="leave out dtype"):
        cr.jvp(lambda z: f(z, dtype=complex), (z,), (z,))
    y, ydot = cr.jvp(lambda x: f(x, dtype=complex), (z.real,), (z.real,))
    np.testing.assert_allclose(ydot, y * (2 if f is np.var else 1))


def test_medians_of_imaginary_parts_differentiated_again():
    """Flags of structural zeros are real, and their imaginary part is nothing."""
    a = np.random.default_rng(0).normal(size=(7, 5))

    def f(a):
        return np.sum(np.median(np.imag(a * (1 + 2j)), 0) ** 2)

    def same(a):
        return np.sum(np.median(2 * a, 0) ** 2)

    for hessian in (cr.hessian, lambda f: cr.jacrev(cr.grad(f)), lambda f: cr.jacfwd(cr.grad(f))):
        np.testing.assert_allclose(hessian(f)(a), hessian(same)(a), rtol=1e-12)


def test_wasserstein_distance_of_samples_that_share_points():
    """Each sorted point of one lies above that of the other: it is a difference of means."""
    stats = pytest.importorskip("chainrules.scipy.stats")
    x = np.array([0.93, 1.22, 1.02, 0.68, 0.93, 1.5])

    def f(x):
        return stats.wasserstein_distance(x[::-1], x + np.arange(6.0))

    np.testing.assert_allclose(f(x), 2.5)
    np.testing.assert_allclose(cr.grad(f)(x), np.zeros(6), atol=1e-12)
    np.testing.assert_allclose(cr.jacfwd(f)(x), np.zeros(6), atol=1e-12)
    other = np.array([2.0, 1.22, 0.1])
    sign = np.where(x > 1.1, 1.0, -1.0)
    found = cr.grad(lambda x: stats.wasserstein_distance(x, np.full(6, 1.1)))(x)
    np.testing.assert_allclose(found, sign / 6)
    assert np.isfinite(cr.hessian(lambda x: stats.energy_distance(x, other))(x)).all()


@pytest.mark.parametrize("write", ["copyto", "mask", "rows"])
def test_a_second_pull_through_a_write_before_a_maximum(write):
    """The first sweep wrote into the marks of what the maximum had chosen."""
    x = np.array([[0.72, 0.7], [-0.88, 0.51]])

    def f(x):
        if write == "copyto":
            np.copyto(x, x[::-1], where=x > 0)
        elif write == "mask":
            x[x > 0] = x[::-1][x > 0]
        else:
            x[[0]] = x[[1]]
        return np.max(np.abs(x), axis=-1)

    pullback = cr.vjp(f, x)[1]
    first = [pullback(unit)[0] for unit in np.eye(2)]
    np.testing.assert_array_equal([pullback(unit)[0] for unit in np.eye(2)], first)
    np.testing.assert_array_equal(cr.jacfwd(f)(x), first)


@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev])
def test_clip_between_bounds_that_meet(transform):
    """It is one of the two where a bound alone moves: no derivative is shared with the other."""

    def clip(v):
        return np.clip(v[:1], v[1:2], v[2:])

    for v, slopes in [
        ((1.0, 0.0, 0.0), (0, 0, 1)), ((0.0, 1.0, 0.0), (0, 0, 1)),
        ((0.0, 0.0, 1.0), (0.5, 0.5, 0)), ((-1.0, 0.0, 0.0), (0, 0.5, 0.5)),
        ((0.0, -1.0, 0.0), (0.5, 0, 0.5)), ((0.0, 0.0, 0.0), (1 / 3, 1 / 3, 1 / 3)),
    ]:  # fmt: skip
        np.testing.assert_allclose(transform(clip)(np.array(v)), [slopes], rtol=1e-15)
        np.testing.assert_allclose(
            transform(lambda v: np.clip(*v))(np.array(v)), slopes, rtol=1e-15
        )


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 3)])
def test_rows_of_a_jacobian_through_a_number_written_into_a_row(shape):
    """The cotangent of a row that was read alone counted as one of a number."""

    def f(x):
        x[0] = x[1, 1] * 2.0
        return np.stack([x[0], x[1] * 3.0]), sum(list(x))

    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    for ours, right in zip(cr.jacrev(f)(x), cr.jacfwd(f)(x)):
        np.testing.assert_array_equal(ours, right)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("solver", ["odeint", "quad", "scan"])
def test_a_variable_that_is_bound_anew_after_a_solver_has_read_it(solver, compiled):
    # The derivative evaluates the function of the user's once more, when s is another value.
    def f(x):
        s = x * 1.0
        if solver == "odeint":
            y = integrate.odeint(lambda y, t: -y * s, [1.0], [0.0, 0.5, 1.0])[-1, 0]
        elif solver == "quad":
            y = integrate.quad(lambda t: np.exp(-t * s), 0.0, 1.0)[0]
        else:
            y = cr.scan(lambda c, t: (np.sin(c * s) + t, c), s, np.arange(5.0), segment=2)[0]
        s = s * s
        return y + s

    gradient = cr.value_and_grad(f)
    gradient = cr.compile(gradient) if compiled else gradient
    for x in (0.7, 0.9, 0.7):
        y, ours = gradient(x)
        same(f(x), y)
        assert abs(ours - (f(x + 1e-4) - f(x - 1e-4)) / 2e-4) < 1e-5
