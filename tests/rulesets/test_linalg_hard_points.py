"""Linear algebra at repeated and zero eigenvalues, singular values and norms."""

import functools

import numpy as np
import pytest
import scipy.linalg
from both_modes import both_engines
from differences import slope_of

import chainrules as cr

RNG = np.random.default_rng(1)


def normal(*shape):
    return RNG.normal(size=shape)


def symmetric(x):
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2


def reverse_hessian(f):
    return cr.jacrev(cr.grad(f))


def forward_hessian(f):
    return cr.jacfwd(cr.jacfwd(f))


HESSIANS = [cr.hessian, reverse_hessian, forward_hessian, lambda f: cr.jacrev(cr.jacfwd(f))]
Q = np.linalg.qr(normal(3, 3))[0]
WEIGHTS = symmetric(normal(3, 3))
ALONG = symmetric(normal(3, 3))
HARD = [
    np.eye(3),
    np.diag([1.0, 1.0, 2.0]),
    Q @ np.diag([1.0, 1.0, 2.0]) @ Q.T,
    Q @ np.diag([1.0, 1 + 1e-9, 1 + 1e-4]) @ Q.T,
    np.zeros((3, 3)),
    np.diag([0.0, 1e-14, 1.0]),
]
close = functools.partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12)

# ---- functions of matrices ------------------------------------------------------------------


@pytest.mark.parametrize("a", HARD)
def test_exponential(a):
    def f(a):
        return cr.matrix_function(a, np.exp)

    def push(a, along):
        return scipy.linalg.expm_frechet(a, along, compute_expm=False)

    close(scipy.linalg.expm(a), f(a))
    close(push(a, ALONG), cr.jvp(f, (a,), (ALONG,))[1])
    close(push(a, WEIGHTS), cr.grad(lambda a: np.sum(WEIGHTS * f(a)))(a))
    product = cr.hvp(lambda a: np.sum(WEIGHTS * f(a)), (a,), (ALONG,))
    step = 1e-5 * ALONG
    close((push(a + step, WEIGHTS) - push(a - step, WEIGHTS)) / 2e-5, product, atol=1e-7)


@pytest.mark.parametrize("a", HARD)
@pytest.mark.parametrize("hessian", HESSIANS)
def test_cube_is_a_product_to_second_order(a, hessian):
    def product(a):
        a = symmetric(a)
        return np.sum(WEIGHTS * (a @ a @ a))

    def cube(a):
        return np.sum(WEIGHTS * cr.matrix_function(a, lambda w: w**3))

    close(cr.grad(product)(a), cr.grad(cube)(a))
    close(cr.hessian(product)(a), hessian(cube)(a))


def test_third_derivative_at_the_identity():
    def along(f, a):
        return cr.jvp(lambda a: cr.hvp(f, (a,), (ALONG,)), (a,), (WEIGHTS,))[1]

    cube = along(lambda a: np.trace(cr.matrix_function(a, lambda w: w**3)), np.eye(3))
    close(6 * symmetric(ALONG @ WEIGHTS), cube)


@pytest.mark.parametrize("g", [np.sqrt, np.log, np.abs, lambda w: 1 / w, lambda w: 2.0])
@pytest.mark.parametrize(
    "a",
    [
        np.eye(3) * 2,
        np.diag([1.0, 1.0, 2.0]),
        symmetric(normal(2, 3, 3)) + 4 * np.eye(3),
        symmetric(normal(3, 3) + 1j * normal(3, 3)) + 5 * np.eye(3),
        np.stack([np.eye(3), 3 * np.eye(3)]) + 0j,
    ],
)
def test_functions_of_definite_matrices(a, g):
    both_engines(lambda a: cr.matrix_function(a, g), a)


def test_a_complex_function():
    both_engines(lambda a: cr.matrix_function(a, lambda w: np.exp(1j * w)), symmetric(normal(3, 3)))
    both_engines(lambda a: cr.matrix_function(a, lambda w: np.exp(1j * w)), np.eye(3))


def test_single_precision_stays():
    a = np.eye(3, dtype="f4")
    abar = cr.grad(lambda a: np.sum(cr.matrix_function(a, np.exp)))(a)
    assert np.dtype("f4") == abar.dtype
    np.testing.assert_allclose(np.full((3, 3), np.e), abar, rtol=1e-6)


def test_close_eigenvalues_cost_no_digits():
    for gap in 10.0 ** -np.arange(0, 17, 0.5):
        a = np.diag([1.0, 1.0 + gap])
        slope = cr.jvp(lambda a: cr.matrix_function(a, np.exp)[0, 1], (a,), (np.ones((2, 2)),))[1]
        np.testing.assert_allclose(np.e * np.expm1(a[1, 1] - 1) / (a[1, 1] - 1)
                                   if a[1, 1] != 1 else np.e, slope, rtol=1e-13)  # fmt: skip


@pytest.mark.parametrize("t", [0.7, 0.0])
def test_parameters_that_the_function_captures(t):
    a = np.diag([1.0, 1.0, 2.0])

    def decay(x):
        y = cr.matrix_function(a + x[1] * ALONG, lambda w: np.exp(-x[0] * w))
        return np.sum(WEIGHTS * y)

    def expected(x):
        return np.sum(WEIGHTS * scipy.linalg.expm(-x[0] * (a + x[1] * ALONG)))

    x = np.array([t, 0.0])
    steps = 1e-4 * np.eye(2)
    slopes = [(expected(x + step) - expected(x - step)) / 2e-4 for step in steps]
    np.testing.assert_allclose(slopes, cr.grad(decay)(x), atol=1e-6)
    np.testing.assert_allclose(slopes, cr.jacfwd(decay)(x), atol=1e-6)
    x = np.array([t, 0.3])  # where the eigenvalues differ
    columns = [(cr.grad(decay)(x + step) - cr.grad(decay)(x - step)) / 2e-4 for step in steps]
    np.testing.assert_allclose(columns, cr.hessian(decay)(x), atol=1e-6)
    np.testing.assert_allclose(columns, reverse_hessian(decay)(x), atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_captured_parameters_to_second_order_at_equal_eigenvalues_are_nan_or_right():
    def decay(x):
        return cr.matrix_function(np.eye(2) + x[1] * np.ones((2, 2)), lambda w: np.exp(-x[0] * w))

    def expected(x):  # of the eigenvalues 1 and 1 + 2 x[1], with the vectors (1, -1) and (1, 1)
        return np.exp(-x[0] * (1 + 2 * x[1])) + np.exp(-x[0]) * 0

    x = np.array([0.5, 0.0])
    right = cr.hessian(expected)(x)
    for hessian in (cr.hessian, reverse_hessian):
        h = hessian(lambda x: np.sum(decay(x)) / 2)(x)
        assert np.all(np.isnan(h) | np.isclose(right, h))


def test_parameters_of_a_functor():
    class Decay:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, w):
            return np.exp(-self.rate * w)

    def trace(rate):
        return np.trace(cr.matrix_function(np.eye(2) * rate, Decay(rate)))

    close(-4 * 0.5 * np.exp(-0.25), cr.grad(trace)(0.5))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_derivative_where_the_function_has_none():
    abar = cr.grad(lambda a: cr.matrix_function(a, np.sqrt)[0, 1])(np.zeros((2, 2)))
    assert not np.isfinite(abar).any()


# ---- eigenvalues and singular values --------------------------------------------------------

SUMS = [
    lambda a: np.sum(np.linalg.eigvalsh(a + a.T)),
    lambda a: np.sum(np.linalg.eigh(a + a.T)[0]),
    lambda a: np.real(np.sum(np.linalg.eigvals(a))),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", SUMS)
@pytest.mark.parametrize("a", HARD)
@pytest.mark.parametrize("hessian", [cr.hessian, reverse_hessian])
def test_sums_of_eigenvalues_are_linear(f, a, hessian):
    np.testing.assert_array_equal(np.zeros((3,) * 4), hessian(f)(a))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("a", HARD[:3])
def test_nuclear_norm_at_equal_singular_values(a):
    """Its Hessian at a definite matrix is that of the trace of ``(a^T a)**(1/2)``."""

    def root(a):
        return np.trace(cr.matrix_function(a.T @ a, np.sqrt))

    def norm(a):
        return np.linalg.norm(a, "nuc")

    for hessian in (cr.hessian, reverse_hessian):
        np.testing.assert_allclose(cr.hessian(root)(a), hessian(norm)(a), atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(np.linalg.eigvalsh(symmetric(a)) ** 2),
        lambda a: np.sum(np.linalg.svdvals(a) ** 2),
        lambda a: np.real(np.sum(np.linalg.eigvals(a) ** 2)),
    ],
)
@pytest.mark.parametrize("a", [np.eye(3), np.zeros((3, 3)), HARD[2]])
@pytest.mark.parametrize("hessian", [cr.hessian, reverse_hessian])
def test_a_second_derivative_that_is_not_known_is_nan(f, a, hessian):
    """Never what it would be without the entries off the diagonal."""
    assert np.isfinite(cr.grad(f)(a)).all()
    assert np.isnan(hessian(f)(a)).any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_eigenvectors_of_eigenvalues_that_are_equal_up_to_rounding():
    def root(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.sqrt(w)) @ v.T * WEIGHTS)

    assert np.isnan(cr.grad(root)(HARD[2])).any()
    close(cr.grad(lambda a: np.sum(cr.matrix_function(a, np.sqrt) * WEIGHTS))(np.eye(3)),
          WEIGHTS / 2)  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_matrices_without_a_basis_of_eigenvectors():
    """A bug's test: the gradient of the product was that of the sum."""
    a = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert np.isnan(cr.grad(lambda a: np.real(np.prod(np.linalg.eigvals(a))))(a)).any()


@pytest.mark.parametrize("hessian", HESSIANS)
def test_products_of_matrices_have_no_hard_points(hessian):
    def cube(a):
        return np.sum(WEIGHTS * np.linalg.matrix_power(a, 3))

    for a in HARD:
        close(cr.hessian(lambda a: np.sum(WEIGHTS * (a @ a @ a)))(a), hessian(cube)(a))


def test_determinants_at_the_identity():
    eye = np.eye(3)
    turned = np.einsum("jk,li->ijkl", eye, eye)
    close(np.einsum("ij,kl->ijkl", eye, eye) - turned, cr.hessian(np.linalg.det)(eye))
    close(-turned, cr.hessian(lambda a: np.linalg.slogdet(a).logabsdet)(eye))


def test_modes_of_qr_that_are_refused():
    for mode, reason in (("raw", "reflections"), ("complete", "up to a rotation")):
        with pytest.raises(cr.MissingRuleError, match=reason):
            cr.grad(lambda a, mode=mode: np.sum(np.linalg.qr(a, mode)[1]))(normal(4, 3))


# ---- norms ----------------------------------------------------------------------------------


NORMS = [
    np.linalg.norm,
    np.linalg.vector_norm,
    lambda x: np.linalg.norm(x) ** 2,
    lambda x: np.square(np.linalg.norm(x)),
    lambda x: np.linalg.norm(np.reshape(x, (1, 2)), "fro") ** 2,
    lambda x: np.linalg.norm(x * 1j) ** 2,
    cr.checkpoint(lambda x: np.linalg.norm(x) ** 2),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", NORMS)
@pytest.mark.parametrize("hessian", HESSIANS)
def test_a_norm_has_no_second_derivative_at_zero(f, hessian):
    zero = np.zeros(2)
    assert np.isnan(hessian(f)(zero)).all()
    assert np.isnan(cr.hvp(f, (zero,), (np.array([1.0, 0.0]),))).any()
    np.testing.assert_array_equal(zero, cr.grad(f)(zero))


@pytest.mark.parametrize("f", [lambda x: x @ x, lambda x: np.sum(np.abs(x * 1j) ** 2, where=x > 1)
                               + np.dot(x, x), lambda x: np.sum(x**2)])  # fmt: skip
@pytest.mark.parametrize("hessian", HESSIANS)
def test_a_sum_of_squares_at_zero(f, hessian):
    close(2 * np.eye(2), hessian(f)(np.zeros(2)))


X = np.array([[3.0, 4.0], [0.0, 0.0]])


def test_a_zero_norm_among_others_is_an_ordinary_value():
    def rows(x):
        return np.linalg.norm(x, axis=1)

    slopes = np.array([[[0.6, 0.8], [0, 0]], np.zeros((2, 2))])
    close(slopes, cr.jacobian(rows)(X))
    close(slopes, cr.jacfwd(rows)(X))
    (xbar,) = cr.vjp(lambda x: {"rows": [rows(x)]}, X)[1]({"rows": [np.ones(2)]})
    close(slopes[0], xbar)
    close(10 * slopes[0], cr.grad(lambda x: sum(y * y for y in rows(x)))(X))
    close(slopes[0], cr.grad(lambda x: max(*rows(x)))(X))
    close(rows(X) ** 2, cr.jvp(lambda x: rows(x) ** 2, (X,), (X,))[0], rtol=0, atol=0)


def test_a_zero_norm_is_written_and_written_to():
    def f(x):
        y = np.linalg.norm(x, axis=1)
        buffer = np.zeros_like(x)
        buffer[:, 0] = y
        buffer[:, 1] = y**2
        y[1] = x[0, 0]
        y += 1.0
        return np.sum(buffer) + np.sum(y**2)

    def expected(x):
        first = np.sqrt(np.sum(x[0] ** 2))
        return first + np.sum(x**2) + (first + 1) ** 2 + (x[0, 0] + 1) ** 2

    close(expected(X), f(X))
    close(cr.grad(expected)(X), cr.grad(f)(X))
    close(cr.grad(expected)(X), cr.jacfwd(f)(X))


# ---- vectors of equal values --------------------------------------------------------------------


def rebuilt(a):
    w, v = np.linalg.eigh(a)
    return (v * w) @ v.T


def rebuilt_by_svd(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u * s @ vh


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.diag([0.0, 0, 1]), np.eye(3)])
@pytest.mark.parametrize("f", [rebuilt, rebuilt_by_svd])
def test_a_matrix_rebuilt_from_vectors_of_equal_values_has_no_wrong_gradient(f, a):
    # The eigenvectors' cotangent is 0 where w is; that says nothing of how it changes.
    found = cr.grad(lambda a: np.sum(f(a) * np.arange(9.0).reshape(3, 3)))(a)
    assert np.isnan(found).any()


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_one_zero_singular_value_of_a_matrix_that_is_not_square(shape):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    assert np.isnan(cr.grad(lambda a: np.sum(rebuilt_by_svd(a)))(a)).any()


def test_vectors_that_are_selected_leave_those_of_equal_values_alone():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4))  # two singular values are 0

    def truncated(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum((u[:, :2] * s[:2] @ vh[:2]) ** 3)

    def leading(a):
        v = np.linalg.eigh(a @ a.T)[1]
        return np.sum((2 * v)[:, -1] ** 4)

    for f in (truncated, leading):
        xdot = a @ rng.normal(size=(4, 4))  # the rank stays
        slope = slope_of(f, (a,), (xdot,))
        assert np.sum(cr.grad(f)(a) * xdot) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    "a", [np.zeros((2, 2)), np.zeros((3, 2)), np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])]
)
def test_qr_of_dependent_columns_says_what_it_is(a):
    def f(a):
        return np.sum(np.linalg.qr(a)[1])

    line = f.__code__.co_firstlineno + 1
    expected = (
        "numpy.linalg.qr has no derivative where the columns of a matrix that make q are linearly "
        "dependent, as those of a singular one: r has a 0 on its diagonal, in "
        f"test_linalg_hard_points.py:{line}.\n"
        "  use np.linalg.svd, lstsq or pinv, or qr of columns that are independent; cr.value(a) "
        "where no derivative is wanted"
    )
    y, pullback = cr.vjp(f, a)
    assert f(a) == y
    for derivative in (
        lambda: pullback(1.0),
        lambda: cr.jvp(f, (a,), (a,)),
        lambda: cr.hessian(f)(a),
    ):
        with pytest.raises(cr.MissingDerivativeError) as error:
            derivative()
        assert str(error.value) == expected


def test_eigenvalues_of_a_matrix_without_a_basis():
    """No eigenvectors but one: NaN, and no error of NumPy's about a singular matrix."""
    a = np.array([[0.0, 1.0], [0.0, 0.0]])
    with np.errstate(all="ignore"):
        _, wdot = cr.jvp(np.linalg.eigvals, (a,), (np.eye(2),))
        assert np.isnan(wdot).all()
        assert np.isnan(cr.grad(lambda a: np.real(np.linalg.eigvals(a)[0]))(a)).any()


@np.errstate(all="ignore")
def test_a_determinant_of_numbers_that_are_not_finite():
    """It is NaN, alone, where LAPACK does not converge."""
    singular, plain = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[3.0, 1.0], [0.0, 1.0]])
    for bad in (np.nan, np.inf):
        stack = np.stack([singular, np.array([[bad, 1.0], [1.0, 2.0]]), plain])
        xbar = cr.grad(lambda a: np.sum(np.linalg.det(a)))(stack)
        assert np.isnan(xbar[1]).all()
        np.testing.assert_allclose(xbar[0], [[4, -2], [-2, 1]], atol=1e-14)
        np.testing.assert_allclose(xbar[2], [[1, 0], [-1, 3]], atol=1e-14)
        ydot = cr.jvp(np.linalg.det, (stack,), (stack,))[1]
        np.testing.assert_allclose(ydot, [0, np.nan, 6], atol=1e-14)
        assert np.isnan(cr.grad(np.linalg.det)(stack[1])).all()
