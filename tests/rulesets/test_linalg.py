"""Linear algebra: norms, inverses, systems, determinants, factorizations."""

import warnings

import numpy as np
import pytest
from both_modes import both_engines, both_rules

import chainrules as cr
from chainrules.config import rrule_via_ad
from chainrules.testing import test_rrule

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


def unitary(n):
    return np.linalg.qr(normal(n, n) + 1j * normal(n, n))[0]


def positive(x):
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


V, W = normal(3), normal(4)
S, A, T = normal(3, 3), normal(3, 4), normal(4, 3)
STACK = normal(2, 3, 3)
NUMBER = normal(1, 1)
I = 1j  # noqa: E741


def turned(x):
    return x + I * RNG.normal(size=np.shape(x))


MATRICES = [S, STACK, NUMBER, turned(S), turned(STACK)]
SINGLE = np.float32(S)


# ---- norms ----------------------------------------------------------------------------------

# fmt: off
NORMS = [
    (V, {}), (1.5, {}),
    (S, {}),
    (STACK, {}),
    (V, {"ord": 2}), (V, {"ord": 1}), (V, {"ord": np.inf}), (V, {"ord": -np.inf}),
    (V, {"ord": 3}), (V, {"ord": 2.5}), (V, {"ord": 1.5}), (V, {"ord": 0.5}), (V, {"ord": -1}),
    (V, {"ord": 0}), (V, {"keepdims": True}),
    (S, {"axis": 0}), (S, {"axis": -1, "ord": 3}),
    (STACK, {"axis": 1, "ord": 1, "keepdims": True}),
    (S, {"ord": "fro"}), (S, {"ord": "nuc"}),
    (A, {"ord": 2}),
    (S, {"ord": -2}),
    (A, {"ord": 1}),
    (S, {"ord": -1}),
    (A, {"ord": np.inf}),
    (S, {"ord": -np.inf}),
    (STACK, {"axis": (0, 2)}), (STACK, {"axis": (2, 0), "ord": 1}),
    (STACK, {"axis": (1, 2), "ord": 2, "keepdims": True}),
    (STACK, {"axis": (-1, 0), "ord": "nuc"}),
    (STACK, {"axis": (0, 1), "ord": "fro", "keepdims": True}),
    (A, {"ord": np.inf, "axis": (1, 0)}),
]
# fmt: on


@pytest.mark.parametrize(("x", "kwargs"), NORMS)
def test_norm(x, kwargs):
    both_engines(np.linalg.norm, x, **kwargs)
    both_engines(np.linalg.norm, turned(x), **kwargs)
    test_rrule(np.linalg.norm, np.float32(x), rrule_f=rrule_via_ad, **kwargs)


@pytest.mark.parametrize(
    ("x", "kwargs"),
    [
        (V, {}),
        (STACK, {}),
        (STACK, {"axis": (0, 2)}),
        (STACK, {"axis": 1, "keepdims": True}),
        (STACK, {"ord": 3}),
        (STACK, {"axis": (0, -1), "ord": 1}),
        (STACK, {"axis": (2, 0), "ord": 2.5, "keepdims": True}),
        (STACK, {"ord": np.inf, "keepdims": True}),
    ],
)
def test_vector_norm(x, kwargs):
    both_engines(np.linalg.vector_norm, x, **kwargs)


@pytest.mark.parametrize("kwargs", [{}, {"ord": "nuc"}, {"ord": 1, "keepdims": True}, {"ord": 2}])
def test_matrix_norm(kwargs):
    both_engines(np.linalg.matrix_norm, STACK, **kwargs)


@pytest.mark.parametrize("ord", [None, 2, 1, 3, 1.5, 2.5, np.inf])
@pytest.mark.parametrize("x", [np.zeros(3), np.zeros(3) * I, np.float32([0, 0])])
def test_norm_has_no_slope_at_zero(x, ord):
    def norm(x):
        return np.linalg.norm(x, ord)

    np.testing.assert_array_equal(np.zeros_like(x), cr.grad(norm)(x))
    assert 0.0 == cr.jvp(norm, (x,), (np.ones_like(x),))[1]
    assert x.dtype == cr.grad(norm)(x).dtype


def test_second_derivative_of_a_norm_with_a_zero_among_the_entries():
    for ord in (2, 3, 4):
        both_engines(lambda x, ord=ord: np.linalg.norm(x, ord), np.array([0.0, 1.5, -0.5]))


def test_norm_of_one_zero_row_among_others():
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        [[0.6, 0.8], [0, 0]], cr.grad(lambda x: np.sum(np.linalg.norm(x, axis=1)))(x)
    )


def test_norm_of_nothing():
    assert (0,) == cr.grad(np.linalg.norm)(np.zeros(0)).shape


def test_norm_of_integers():
    np.testing.assert_allclose([0.6, 0.8], cr.grad(np.linalg.norm)(np.array([3, 4])))


def test_ties_share_in_the_largest_norm():
    x = np.array([2.0, -2.0, 1.0])
    np.testing.assert_array_equal([0.5, -0.5, 0], cr.grad(lambda x: np.linalg.norm(x, np.inf))(x))


@pytest.mark.parametrize(
    ("x", "kwargs"), [(STACK, {"ord": 1}), (V, {"ord": "fro"}), (S, {"ord": 3})]
)
def test_norms_that_do_not_exist(x, kwargs):
    with pytest.raises(ValueError, match="norm"):
        cr.grad(lambda x: np.linalg.norm(x, **kwargs))(x)


# ---- inverses and systems -------------------------------------------------------------------


@pytest.mark.parametrize("a", MATRICES)
def test_inv(a):
    both_rules(np.linalg.inv, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (S, V),
        (S, T.T[:, :2]),
        (STACK, V),
        (STACK, normal(3, 2)),
        (STACK, normal(2, 3, 1)),
        (S, normal(2, 3, 2)),
        (STACK, normal(1, 3, 2)),
        (STACK[:, None], normal(4, 3, 1)),
        (NUMBER, normal(1)),
        (np.zeros((0, 0)), np.zeros((0, 2))),
    ],
)
def test_solve(a, b):
    for pair in [(a, b), (turned(a), turned(b)), (a, turned(b)), (turned(a), b)]:
        both_rules(np.linalg.solve, *pair)
    test_rrule(np.linalg.solve, np.float32(a), np.float32(b))


def test_tensor_systems():
    a, b = normal(2, 3, 6), normal(2, 3)
    both_engines(np.linalg.tensorsolve, a, b)
    both_engines(np.linalg.tensorsolve, a.reshape(6, 3, 2), b.reshape(6))
    both_engines(lambda a, b: np.linalg.tensorsolve(a, b, axes=(0,)), normal(6, 2, 3), b)
    both_engines(np.linalg.tensorinv, normal(6, 2, 3), ind=1)
    both_engines(np.linalg.tensorinv, a.reshape(2, 3, 6))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, -1, -2])
def test_matrix_power(n):
    both_engines(lambda a: np.linalg.matrix_power(a, n), S)
    both_engines(lambda a: np.linalg.matrix_power(a, n), turned(STACK))


LOW = normal(4, 2) @ normal(2, 3)


@pytest.mark.parametrize("a", [S, A, T, normal(2, 4, 3), turned(A), turned(T)])
def test_pinv(a):
    both_rules(np.linalg.pinv, a)


def test_pinv_of_low_rank():
    def along(x, y):
        return np.linalg.pinv(x @ y, rtol=1e-10)

    both_engines(along, normal(4, 2), normal(2, 3))


@pytest.mark.parametrize(("a", "b"), [(T, W), (T, normal(4, 2)), (S, V), (A, V), (A, normal(3, 2))])
def test_lstsq(a, b):
    def fit(a, b):
        x, residuals, _, s = np.linalg.lstsq(a, b)
        return x, residuals, s

    both_engines(fit, a, b)
    both_engines(fit, turned(a), turned(b))


def test_cond():
    for p in (None, 2, -2, 1, np.inf, "fro", "nuc"):
        both_engines(lambda a, p=p: np.linalg.cond(a, p), S)
    both_engines(np.linalg.cond, turned(STACK))


# ---- determinants ---------------------------------------------------------------------------


@pytest.mark.parametrize("a", MATRICES)
def test_det(a):
    for f in (np.linalg.det, np.linalg.slogdet):
        both_rules(f, a)


SINGULAR = [
    np.zeros((1, 1)),
    np.diag([1.0, 0.0]),
    np.diag([2.0, 0.0, 3.0]),
    np.array([[1.0, 2.0], [2.0, 4.0]]),
    np.arange(1.0, 10.0).reshape(3, 3),
    np.diag([2.0, 0.0, 0.0]),
    np.outer([1, 2, 3.0], [1 + I, 2, -I]),
    normal(3, 2) @ normal(2, 3),
    turned(normal(4, 3)) @ turned(normal(3, 4)),
    np.stack([np.diag([1.0, 0.0, 2.0]), S]),
]


@pytest.mark.parametrize("a", SINGULAR)
def test_det_of_singular_matrices(a):
    # Differences are bad at numbers that should be 0, so something is added to them.
    both_engines(lambda a: np.linalg.det(a) + np.sum(a**2 + a, axis=(-2, -1)), a)


def test_det_of_singular_matrices_exactly():
    x = np.diag([2.0, 0.0, 3.0])
    np.testing.assert_allclose(np.diag([0.0, 6.0, 0.0]), cr.grad(np.linalg.det)(x), atol=1e-14)
    h = cr.hessian(np.linalg.det)(np.diag([0.0, 0.0, 3.0]))
    expected = np.zeros((3, 3, 3, 3))
    expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 3
    expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -3
    np.testing.assert_allclose(expected, h, atol=1e-14)


def test_det_of_almost_singular_matrices():
    a = np.diag([1.0, 1e-200, 2.0])
    np.testing.assert_allclose(np.diag([0, 2.0, 0]), cr.grad(np.linalg.det)(a), atol=1e-14)


def test_det_of_an_empty_matrix():
    assert (0, 0) == cr.grad(np.linalg.det)(np.zeros((0, 0))).shape


def test_slogdet_of_singular_matrices_is_nan_and_of_others_is_not():
    a = np.stack([np.zeros((2, 2)), np.eye(2)])
    abar = cr.grad(lambda a: np.sum(np.linalg.slogdet(a).logabsdet))(a)
    assert np.isnan(abar[0]).all()
    np.testing.assert_array_equal(np.eye(2), abar[1])


# ---- symmetric matrices ---------------------------------------------------------------------


@pytest.mark.parametrize("a", MATRICES)
def test_cholesky(a):
    a = positive(a)
    both_rules(np.linalg.cholesky, a)
    both_rules(np.linalg.cholesky, a, upper=True)


@pytest.mark.parametrize("a", [*MATRICES, normal(6, 6), turned(normal(5, 5))])
@pytest.mark.parametrize("UPLO", ["L", "U"])
def test_eigh(a, UPLO):  # noqa: N803
    """Also of what is not symmetric: one triangle is read, and the other has no derivative."""
    both_rules(np.linalg.eigh, a, UPLO=UPLO)
    both_rules(np.linalg.eigvalsh, a, UPLO=UPLO)


def test_eigenvalues_of_the_identity_have_a_derivative():
    for f in (
        lambda a: np.sum(np.linalg.eigvalsh(a)),
        lambda a: np.sum(np.linalg.eigh(a).eigenvalues),
        lambda a: np.real(np.sum(np.linalg.eigvals(a))),
        lambda a: np.real(np.sum(np.linalg.eig(a).eigenvalues)),
        lambda a: np.sum(np.linalg.svd(a, compute_uv=False)),
        lambda a: np.sum(np.linalg.svd(a).S),
        lambda a: np.sum(np.linalg.svdvals(a)),
    ):
        np.testing.assert_allclose(np.eye(3), cr.grad(f)(np.eye(3)), atol=1e-15)


def test_an_eigenvector_of_its_own_eigenvalue_among_equal_ones():
    a = np.diag([2.0, 2.0, 5.0])
    for f in (lambda a: np.linalg.eigh(a)[1][0, 2] ** 2, lambda a: np.linalg.svd(a)[0][1, 0] ** 2):
        assert np.isfinite(cr.grad(f)(a)).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_depends_on_eigenvectors_of_equal_eigenvalues_is_not_made_up():
    def root(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.sqrt(w)) @ v.T * STACK[0])

    assert np.isnan(cr.grad(root)(np.eye(3))).any()


def test_function_of_a_matrix():
    def root(a):
        w, v = np.linalg.eigh(a + np.conj(a.T))
        return (v * np.sqrt(w)) @ np.conj(v.T)

    both_engines(root, positive(S))
    both_engines(root, positive(turned(S)))


# ---- general matrices -----------------------------------------------------------------------


ROTATING = np.array([[0.3, -1.0, 0.2], [1.1, 0.4, 0.0], [0.1, 0.5, 2.0]])


@pytest.mark.parametrize(
    "a", [ROTATING, np.diag([1.0, 2.0, 4.0]) + 0.1 * S, turned(S), turned(STACK)]
)
def test_eig(a):
    both_rules(np.linalg.eig, a)
    both_engines(np.linalg.eigvals, a)


SHAPES = [S, A, T, NUMBER, STACK, normal(2, 4, 3), normal(5, 2)]


@pytest.mark.parametrize("a", [*SHAPES, *map(turned, SHAPES)])
@pytest.mark.parametrize("full_matrices", [True, False])
def test_svd(a, full_matrices):
    rows, columns = a.shape[-2:]
    if not full_matrices or abs(rows - columns) <= (0 if np.iscomplexobj(a) else 1):
        both_rules(np.linalg.svd, a, full_matrices=full_matrices)


def test_svd_with_all_vectors():
    """Vectors that belong to no singular value are known up to a rotation among themselves."""

    def projectors(a):
        u, s, vh = np.linalg.svd(a)
        k = s.shape[-1]
        u, v = u[:, k:], np.conj(vh[k:].T)
        return u @ np.conj(u.T), v @ np.conj(v.T)

    for a in (normal(5, 2), normal(2, 5), turned(A), turned(normal(4, 2))):
        both_engines(projectors, a)


@pytest.mark.parametrize("a", [*SHAPES, turned(A)])
def test_singular_values(a):
    both_rules(np.linalg.svd, a, compute_uv=False)
    both_engines(np.linalg.svdvals, a)


def test_singular_values_with_a_zero():
    abar = cr.grad(lambda a: np.linalg.svdvals(a)[0])(np.diag([2.0, 0.0]))
    np.testing.assert_allclose(np.diag([1.0, 0.0]), abar)


@pytest.mark.parametrize("a", [*SHAPES, *map(turned, SHAPES)])
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_qr(a, mode):
    both_rules(np.linalg.qr, a, mode=mode)


def test_qr_modes():
    test_rrule(np.linalg.qr, A, mode="complete")
    with pytest.raises(cr.MissingRuleError, match="does not support mode='complete'"):
        cr.grad(lambda a: np.sum(np.linalg.qr(a, "complete").R))(T)


def test_hermitian_shortcuts_are_refused():
    for f in (np.linalg.svd, np.linalg.pinv):
        with pytest.raises(cr.MissingRuleError, match="does not support the keyword 'hermitian'"):
            cr.grad(lambda a, f=f: np.sum(f(a, hermitian=True)[0]))(S)


# ---- all of them ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.inv,
        np.linalg.pinv,
        np.linalg.det,
        np.linalg.slogdet,
        np.linalg.eigh,
        np.linalg.eigvalsh,
        np.linalg.svd,
        np.linalg.qr,
        lambda a: np.linalg.cholesky(a @ a.T + np.float32(1) * np.eye(3, dtype="f4")),
        lambda a: np.linalg.solve(a, a[0]),
        lambda a: np.linalg.norm(a, 3, axis=0),
        lambda a: np.linalg.matrix_power(a, 3),
    ],
)
def test_single_precision(f):
    a = SINGLE + 2 * np.eye(3, dtype="f4")
    both_engines(f, a, second_order=False)


def test_gradients_of_real_losses_of_complex_matrices_point_uphill():
    a, step = turned(S), 1e-6

    def loss(a):
        return np.linalg.slogdet(a).logabsdet + np.abs(np.linalg.det(a)) ** 2

    abar = cr.grad(loss)(a)
    for unit in (1, I):
        moved = a.copy()
        moved[0, 1] += step * unit
        slope = (loss(moved) - loss(a)) / step
        np.testing.assert_allclose(slope, np.real(np.conj(unit) * abar[0, 1]), rtol=1e-4)


def test_no_warnings_for_plain_calls():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cr.hessian(lambda a: np.linalg.slogdet(a).logabsdet)(S)
