"""scipy.linalg beyond its cases: stacks, options, what is refused, where answers are undefined."""

import functools
import warnings

import cases_scipy_linalg
import numpy as np
import pytest
import scipy.linalg
from differences import slope_of
from generic_points import normal
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import linalg, rules_of
from chainrules.testing import check_grad

real = functools.partial(normal, (31,))
A = real(3, 3) / 2 + np.diag([1.0, 4.0, 2.5])
B = real(3, 2)
DEFINITE = A @ A.T + np.eye(3)


def total(y):
    """A number that depends on all floats in a result."""
    if isinstance(y, (tuple, list)):
        return sum(map(total, y))
    if y is None or np.asarray(cr.value(y)).dtype.kind not in "fc":
        return 0.0
    return np.sum(np.real(np.conj(y) * (0.3 + y)))


def pairing(x, t):
    return np.sum(np.real(np.conj(x) * t))


def slope(f, x, t, step=1e-4):
    return slope_of(f, (x,), (t,), step, order=4)


def check(f, x, rtol=1e-6, seed=5):
    """Compare both modes with differences, to second order, all ways of nesting two modes."""
    t = real(*np.shape(x), seed=seed) + (
        1j * real(*np.shape(x), seed=7) if np.iscomplexobj(x) else 0
    )
    expected = slope(f, x, t)
    size = max(1, abs(expected))
    assert cr.jvp(f, (x,), (t,))[1] == pytest.approx(expected, abs=rtol * size)
    assert pairing(cr.grad(f)(x), t) == pytest.approx(expected, abs=rtol * size)
    gradient, along = cr.grad(f), lambda x: cr.jvp(f, (x,), (t,))[1]
    expected = slope(lambda x: pairing(gradient(x), t), x, t)
    size = 10 * max(1, abs(expected))
    found = {
        "forward over reverse": pairing(cr.jvp(gradient, (x,), (t,))[1], t),
        "reverse over reverse": pairing(cr.grad(lambda x: pairing(gradient(x), t))(x), t),
        "forward over forward": cr.jvp(along, (x,), (t,))[1],
        "reverse over forward": pairing(cr.grad(along)(x), t),
    }
    assert found == {how: pytest.approx(expected, abs=rtol * size) for how in found}


def is_array(x):
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def first_cases(chosen):
    """The first two cases of each function, if they are chosen by their arguments."""
    return [
        pytest.param(f, args, kwargs, id=f"{f.__name__}-{number}")
        for f, cases in cases_scipy_linalg.CASES.items()
        for number, (args, kwargs) in enumerate(cases[:2])
        if chosen(f, args)
    ]


def paths(x, path=()):
    """The places of arrays in nested tuples."""
    if isinstance(x, tuple):
        return [p for i, part in enumerate(x) for p in paths(part, (*path, i))]
    return [path] if is_array(x) else []


# ---- stacks of matrices ---------------------------------------------------------------------

# hankel takes the entries of all vectors for one; block_diag and norm have no such axes.
NO_STACKS = {linalg.hankel, linalg.block_diag, linalg.norm, *cases_scipy_linalg.RICCATI}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("f", "args", "kwargs"),
    first_cases(lambda f, args: f not in NO_STACKS and any(map(is_array, args))),
)
def test_stacks(f, args, kwargs):
    at = next(i for i, x in enumerate(args) if is_array(x))
    x = args[at]
    stack = np.stack([x, x + real(*x.shape, seed=9) / 99])

    def loss(x):
        return total(f(*args[:at], x, *args[at + 1 :], **kwargs))

    try:
        loss(stack)
    except (ValueError, np.linalg.LinAlgError):
        pytest.skip("SciPy takes no stack, or is too old to")
    expected = np.stack([cr.grad(loss)(x) for x in stack])
    np.testing.assert_allclose(cr.grad(loss)(stack), expected, rtol=1e-7, atol=1e-9)
    t = real(*stack.shape, seed=3)
    assert cr.jvp(loss, (stack,), (t,))[1] == pytest.approx(pairing(expected, t), rel=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_one_vector_for_a_stack_of_matrices():
    stack = np.stack([A, DEFINITE])
    try:
        linalg.solve(stack, B[:, 0])
    except ValueError:
        pytest.skip("since SciPy 1.17")
    check(lambda x: total(linalg.solve(x, B[:, 0])), stack)
    check(lambda b: total(linalg.solve(stack, b)), B[:, 0])
    check(lambda b: total(linalg.solve_triangular(stack, b, lower=True)), B[:, 0])


# ---- arguments ------------------------------------------------------------------------------


def put(x, path, new):
    if not path:
        return new
    i, *rest = path
    return (*x[:i], put(x[i], rest, new), *x[i + 1 :])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "args", "kwargs"), first_cases(lambda f, args: len(paths(args)) > 1))
def test_one_argument_at_a_time(f, args, kwargs):
    for path in paths(args):
        x = args
        for i in path:
            x = x[i]

        def loss(x, path=path):
            return total(f(*put(args, path, x), **kwargs))

        t = real(*x.shape, seed=4)
        expected, scale = slope(loss, x, t), abs(loss(x)) + 1
        assert cr.jvp(loss, (x,), (t,))[1] == pytest.approx(expected, rel=1e-6, abs=1e-8 * scale)
        assert pairing(cr.grad(loss)(x), t) == pytest.approx(expected, rel=1e-6, abs=1e-8 * scale)


OVERWRITE_IS_SECOND = (linalg.det, linalg.inv, linalg.lu_factor, linalg.qr, linalg.svdvals)
OVERWRITING = (
    *OVERWRITE_IS_SECOND, linalg.lu, linalg.svd, linalg.eigvalsh, linalg.eigvals, linalg.rq,
    linalg.cholesky, linalg.cho_factor,
)  # fmt: skip


@pytest.mark.parametrize("f", OVERWRITING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("positional", [False, True])
def test_nothing_is_overwritten(f, positional):
    x = np.asfortranarray(DEFINITE)
    kept = x.copy()
    second = positional and f in OVERWRITE_IS_SECOND
    options, keywords = ((True,), {}) if second else ((), {"overwrite_a": True})
    expected = cr.grad(lambda x: total(f(x)))(x)
    found = cr.grad(lambda x: total(f(x, *options, **keywords)))(x)
    np.testing.assert_array_equal(kept, x)
    np.testing.assert_array_equal(expected, found)


@pytest.mark.parametrize("trans", [None, 0, 1, 2])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3, 2)])
@pytest.mark.parametrize("complex_too", [False, True])
def test_systems_of_constant_factors(trans, shape, complex_too):
    a, b = A + 0.3j * A.T if complex_too else A, real(2, *shape)
    if trans is None:
        a = a @ a.conj().T
        solve = functools.partial(linalg.cho_solve, scipy.linalg.cho_factor(a))
    else:
        factors = scipy.linalg.lu_factor(a)
        solve = functools.partial(linalg.lu_solve, factors, trans=trans)
    try:
        solve(b[0])
    except ValueError:
        pytest.skip("SciPy is too old for stacks")
    inverse = np.linalg.inv((a, a.T, a.conj().T)[trans or 0])

    def f(p):
        return solve(b[0] * np.sin(p[0]) + b[1] * p[1] ** 2)

    p = np.array([0.4, 1.3])
    slopes = np.stack([inverse @ (np.cos(0.4) * b[0]), inverse @ (2.6 * b[1])], axis=-1)
    np.testing.assert_allclose(slopes, cr.jacfwd(f)(p))
    check_grad(lambda p: np.sum(np.abs(f(p)) ** 2), p)


def test_right_sides_are_not_overwritten():
    a, b = np.asfortranarray(A), np.asfortranarray(B)
    kept = a.copy(), b.copy()

    def loss(a, b):
        return total([
            linalg.solve(a, b, overwrite_a=True, overwrite_b=True),
            linalg.solve_triangular(a, b, overwrite_b=True),
            linalg.cho_solve((a, True), b, overwrite_b=True),
            linalg.lu_solve(linalg.lu_factor(a, overwrite_a=True), b, overwrite_b=True),
            linalg.lstsq(a, b, overwrite_a=True, overwrite_b=True),
        ])  # fmt: skip

    cr.grad(loss, argnums=(0, 1))(a, b)
    np.testing.assert_array_equal(kept[0], a)
    np.testing.assert_array_equal(kept[1], b)


def test_lists_and_object_arrays_of_traced_numbers():
    def of_list(x):
        return linalg.det([[x[0], x[1]], [x[1], 2.0]])

    def of_objects(x):
        return linalg.det(np.array([[x[0], x[1]], [x[1], 2.0]]))

    x = np.array([1.5, 0.3])
    np.testing.assert_allclose([2.0, -0.6], cr.grad(of_list)(x))
    np.testing.assert_allclose([2.0, -0.6], cr.grad(of_objects)(x))
    check(lambda x: total(linalg.companion([2.0, x[1], x[0]])), x)
    check(lambda x: total(linalg.solve([[x[0], 1.0], [0.3, x[1]]], [x[1], x[0]])), x)
    check(lambda x: total(linalg.solve_toeplitz([x[0] + 3, x[1]], [x[1], x[0]])), x)


def test_integers():
    a = np.array([[2, 1], [1, 3]])
    check(lambda b: total(linalg.solve(a, b)), np.array([1.0, 2.0]))
    np.testing.assert_allclose(
        cr.grad(lambda a: total(np.linalg.inv(a)))(a), cr.grad(lambda a: total(linalg.inv(a)))(a)
    )


def test_empty():
    empty = np.zeros((0, 0))
    for f in (linalg.inv, linalg.expm, linalg.eigvalsh, linalg.svdvals):
        assert cr.grad(lambda x, f=f: total(f(x)))(empty).shape == (0, 0)


SINGLE = {
    linalg.eigh: DEFINITE, linalg.eig: A, linalg.eig_banded: cases_scipy_linalg.LOWER,
    linalg.solve_toeplitz: None, linalg.expm: A, linalg.solve_sylvester: None,
    linalg.logm: DEFINITE, linalg.solve_continuous_are: None,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", SINGLE, ids=lambda f: f.__name__)
def test_single_precision(f):
    """The derivative has the dtype of the argument."""
    x = DEFINITE if SINGLE[f] is None else SINGLE[f]

    def loss(x):
        if f is linalg.solve_toeplitz:
            return total(f(x[0] + 9 * np.eye(3, dtype=x.dtype)[0], x[1]))
        if f in (linalg.solve_sylvester,):
            return total(f(x, np.eye(3, dtype=x.dtype), x[::-1]))
        if f is linalg.solve_continuous_are:
            return total(f(x, x[:, :1], np.eye(3, dtype=x.dtype), np.eye(1, dtype=x.dtype)))
        w = f(x)
        return total(w[0] if isinstance(w, tuple) else w)

    single = x.astype(np.float32)
    expected = cr.grad(loss)(x)
    found = cr.grad(loss)(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(expected, found, rtol=2e-2, atol=2e-3 * np.max(np.abs(expected)))
    assert cr.jvp(loss, (single,), (single,))[1] == pytest.approx(
        cr.jvp(loss, (x,), (x,))[1], rel=2e-2
    )


# ---- options by search ----------------------------------------------------------------------


@settings(max_examples=12)
@given(
    trans=st.sampled_from([0, 1, 2, "N", "T", "C"]), lower=st.booleans(), unit=st.booleans(),
    complex_a=st.booleans(), complex_b=st.booleans(), columns=st.sampled_from([None, 1, 2]),
)  # fmt: skip
def test_triangles(trans, lower, unit, complex_a, complex_b, columns):
    a = A + 0.3j * real(3, 3, seed=1) if complex_a else A
    b = B[:, 0] if columns is None else B[:, :columns]
    b = b * (1 + 0.4j) if complex_b else b
    options = {"trans": trans, "lower": lower, "unit_diagonal": unit}
    check(lambda a: total(linalg.solve_triangular(a, b, **options)), a)
    check(lambda b: total(linalg.solve_triangular(a, b, **options)), b)


@settings(max_examples=8)
@given(
    below=st.integers(0, 3), above=st.integers(0, 3), n=st.integers(2, 6),
    complex_a=st.booleans(), columns=st.sampled_from([None, 2]),
)  # fmt: skip
def test_bands(below, above, n, complex_a, columns):
    below, above = min(below, n - 1), min(above, n - 1)
    ab = real(below + above + 1, n) * (1 + 0.3j if complex_a else 1)
    ab[above] += 5
    b = real(n) if columns is None else real(n, columns)
    check(lambda ab: total(linalg.solve_banded((below, above), ab, b)), ab)
    check(lambda b: total(linalg.solve_banded((below, above), ab, b)), b)


ASSUMED = ["gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded", "upper triangular",
           "lower triangular", None]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("assume_a", ASSUMED)
@pytest.mark.parametrize("complex_a", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_what_solve_assumes(assume_a, complex_a, lower):
    a = DEFINITE + (0.1j * real(3, 3, seed=1) if complex_a else 0)
    options = {} if assume_a is None else {"assume_a": assume_a}
    options["lower"] = lower
    try:
        linalg.solve(a, B, **options)
    except ValueError:
        pytest.skip("not in this SciPy")
    check(lambda a: total(linalg.solve(a, B, **options)), a)
    check(lambda b: total(linalg.solve(a, b, **options)), B)
    if assume_a in ("gen", "pos", "upper triangular", "lower triangular"):
        try:
            linalg.inv(a, **options)
        except TypeError:
            pytest.skip("not in this SciPy")
        check(lambda a: total(linalg.inv(a, **options)), a)
    if not complex_a:
        check(lambda a: total(linalg.solve(a, B, transposed=True, **options)), a)


@pytest.mark.parametrize("n", [47, 49, 97, 100])
@pytest.mark.parametrize("height", [1, 3, 60])
def test_banded_factor_by_blocks(n, height):
    height = min(height, n)
    low = real(height, n) / height
    low[0] += 3
    rows = np.arange(n)[:, None] - np.arange(n)

    def dense(low):
        inside = (rows >= 0) & (rows < height)
        a = np.where(inside, low[np.where(inside, rows, 0), np.arange(n)], 0)
        factor = np.linalg.cholesky(a)
        return np.sum(np.sin(factor))

    def banded(low):
        y = linalg.cholesky_banded(low, lower=True)
        inside = np.arange(height)[:, None] + np.arange(n) < n
        return np.sum(np.sin(np.where(inside, y, 0)))

    np.testing.assert_allclose(cr.grad(dense)(low), cr.grad(banded)(low), rtol=1e-9, atol=1e-11)


# ---- eigenvectors ---------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [None, "ev", "evd", "evr", "evx"])
@pytest.mark.parametrize("complex_a", [False, True])
def test_eigenvectors_of_each_driver(driver, complex_a):
    """Signs are those of each driver, and may change from point to point: this does not."""
    a = DEFINITE + (1j * (A - A.T) if complex_a else 0)

    def loss(a):
        w, v = linalg.eigh(a, driver=driver)
        weights = np.arange(3.0)[:, None]
        return total(np.sum(weights * np.abs(v) ** 2, axis=0)) + total(
            (v * np.sin(w)) @ np.conj(v.T)
        )

    check(loss, a)


def test_eigenvectors_of_two_matrices_and_both_sides():
    w = np.diag([1.0, 2.0, 4.0])

    def loss(a):
        values, left, right = linalg.eig(w + a / 9, DEFINITE, left=True)
        return total(np.abs(left)) + total(np.abs(right)) + total(values)

    check(loss, A)


def test_subset_of_two_matrices():
    def loss(b):
        w, v = linalg.eigh(A + A.T, b, subset_by_index=[1, 2], driver="gvx")
        return total(w) + total(np.abs(v))

    check(loss, DEFINITE)


def test_equal_eigenvalues():
    a = np.diag([2.0, 2.0, 5.0])
    np.testing.assert_allclose(np.eye(3), cr.grad(lambda a: np.sum(linalg.eigvalsh(a)))(a))
    last = cr.grad(lambda a: np.sum(linalg.eigh(a)[1][:, 2] ** 2 * np.arange(3.0)))(a)
    assert np.all(np.isfinite(last))
    assert np.any(np.isnan(cr.grad(lambda a: linalg.eigh(a)[1][0, 0])(a)))
    assert np.all(np.isnan(cr.grad(lambda a: total(linalg.funm(a, np.exp)))(a)))


# ---- where others give NaN ------------------------------------------------------------------


def test_equal_singular_values():
    check(lambda a: total(linalg.polar(a)), np.eye(3))
    check(lambda a: total(linalg.polar(a)[0]), real(4, 2) @ np.zeros((2, 2)) + np.eye(4, 2))
    check(lambda a: total(linalg.orthogonal_procrustes(a, B)[0]), np.linalg.qr(real(3, 2))[0])
    check(lambda a: total(linalg.pinvh(a)), np.diag([2.0, 2.0, 5.0]))
    check(lambda a: total(linalg.expm(a)), np.eye(3))
    check(lambda a: total(linalg.sqrtm(a)), np.eye(3))
    check(lambda a: total(linalg.logm(a)), 2 * np.eye(2))


def test_low_rank():
    low = real(4, 2) @ real(2, 3)
    along = low @ real(3, 3, seed=2)  # keeps the rank
    expected = slope(lambda s: total(linalg.pinv(low + s * along, rtol=1e-9)), 0.0, 1.0)
    f = cr.jvp(lambda s: total(linalg.pinv(low + s * along, rtol=1e-9)), (0.0,), (1.0,))[1]
    assert f == pytest.approx(expected, rel=1e-6)

    def fit(s):
        return total(linalg.lstsq(low + s * along, np.arange(4.0), cond=1e-9)[0])

    assert cr.grad(fit)(0.0) == pytest.approx(slope(fit, 0.0, 1.0), rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_made_up():
    singular = np.diag([0.0, 1.0])
    assert np.all(np.isnan(cr.grad(lambda a: total(linalg.sqrtm(a)))(singular)))
    assert np.all(np.isnan(cr.grad(lambda a: total(linalg.polar(a)[0]))(singular)))


def test_function_that_captures_a_traced_value():
    def loss(p):
        return total(linalg.funm(A * p, lambda w: w**p))

    check(loss, np.array(1.3))


def test_power_is_followed_too():
    check(lambda t: total(linalg.fractional_matrix_power(DEFINITE, t)), np.array(0.4))
    check(lambda t: total(linalg.fractional_matrix_power(DEFINITE, t)), np.array(2.0))


def test_jacobians():
    def f(b):
        return linalg.solve_banded(
            (1, 1), cases_scipy_linalg.BAND[:3, :] + 4 * np.eye(3)[1][:, None], b
        )

    jacobian = cr.jacobian(f)(np.ones(5))
    np.testing.assert_allclose(jacobian @ np.ones(5), f(np.ones(5)))
    hessian = cr.hessian(lambda x: total(linalg.expm(x * A)))(np.array(0.3))
    expected = slope(cr.grad(lambda x: total(linalg.expm(x * A))), np.array(0.3), 1.0)
    np.testing.assert_allclose(hessian, expected, rtol=1e-6)


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-3, 1.0, 3.0, 12.0, 30.0, 80.0])
@pytest.mark.parametrize("along", [1e-6, 1.0, 1e6])
def test_the_exponential_of_a_matrix_of_any_norm_moves_as_scipy_says(size, along):
    a, e = real(4, 4, seed=3), along * real(4, 4, seed=4)
    a *= size / np.linalg.norm(a, 1)
    expected = linalg.expm_frechet(a, e, compute_expm=False)
    found = cr.jvp(linalg.expm, (a,), (e,))[1]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    both = cr.jacfwd(lambda p: linalg.expm(a + p[0] * e + p[1] * 1e6 * e.T))(np.zeros(2))
    np.testing.assert_allclose(both[..., 0], found, rtol=0, atol=1e-13 * np.abs(found).max())


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("mode='full' for a tall", lambda a: linalg.qr(a[:, :2])),
        ("mode='raw'", lambda a: linalg.qr(a, mode="raw")),
        ("mode='full' for a wide", lambda a: linalg.rq(a[:2])),
        ("homogeneous_eigvals", lambda a: linalg.eig(a, homogeneous_eigvals=True)),
        ("homogeneous_eigvals", lambda a: linalg.eigvals(a, homogeneous_eigvals=True)),
        ("no complex eigenvectors", lambda a: linalg.eig(a - a.T, DEFINITE)),
        ("a regular b", lambda a: linalg.eigvals(a, np.diag([1.0, 1.0, 0.0]))),
        ("no eigenvectors of complex", lambda a: linalg.eig_banded(a * 1j)),
        ("does not solve", lambda a: linalg.solve_sylvester(a, a * 1j, a)),
        ("does not solve", lambda a: linalg.solve_sylvester(a * 1j, a - a.T, a)),
        ("does not solve", lambda a: linalg.solve_continuous_lyapunov(a, a * 1j)),
        ("does not solve", lambda a: linalg.solve_discrete_lyapunov(a / 9, a * 1j, "bilinear")),
        ("full rank", lambda a: linalg.subspace_angles(np.stack([a[0], a[0]], 1), a[:, :1])),
    ],
)
def test_refused_options(message, call):
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda a: total(call(a)))(A)
    call(A)


@pytest.mark.parametrize("name", sorted(rules_of("linalg").REFUSED))
def test_refused(name):
    with pytest.raises(cr.MissingRuleError, match=rf"scipy.linalg.{name} has no derivative"):
        cr.grad(lambda a: total(getattr(linalg, name)(a, A)))(A)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: linalg.solve(a, np.ones(4)), lambda a: linalg.cholesky(-a),
        lambda a: linalg.inv(a[:2]), lambda a: linalg.solve_triangular(0 * a, np.ones(3)),
        lambda a: linalg.expm(a[:2]), lambda a: linalg.norm(a, "no"), lambda a: linalg.eigh(a[:2]),
        lambda a: linalg.solve_toeplitz((a[0], a[1][:2]), a[0]),
        lambda a: linalg.solve(a, a, assume_a="no"), lambda a: linalg.det(a * np.nan),
        lambda a: linalg.solve_banded((1, 1), a, np.ones(4)), lambda a: linalg.logm(a[:2]),
    ],
)  # fmt: skip
def test_errors_are_those_of_scipy(call):
    with pytest.raises(Exception) as expected:  # noqa: PT011 - any
        call(A)
    with pytest.raises(type(expected.value)):
        cr.grad(lambda a: total(call(a)))(A)
    with pytest.raises(type(expected.value)):
        cr.jvp(lambda a: total(call(a)), (A,), (A,))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: linalg.solve(a), lambda a: linalg.solve(a, a, b=a), lambda a: linalg.solve(b=a),
        lambda a: linalg.inv(a, False, True, 1, 2, 3, 4),
    ],
)  # fmt: skip
@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd])
def test_arguments_that_do_not_fit_are_pythons_errors(call, transform):
    with pytest.raises(TypeError, match="argument"):
        transform(lambda a: total(call(a)))(A)


def test_arguments_by_name_and_in_any_order():
    expected = cr.grad(lambda a: total(linalg.solve(a, A[0], True, assume_a="pos")))(A)
    found = cr.grad(lambda a: total(linalg.solve(assume_a="pos", lower=True, b=A[0], a=a)))(A)
    np.testing.assert_array_equal(found, expected)


def test_factors_of_a_matrix_whose_last_pivot_is_zero():
    a = np.array([[-1.0, 0.4, 0.3], [0.6, -0.9, 0.2], [0.0, 0.0, 0.0]])
    a[2] = 0.3 * a[0] + 0.2 * a[1]
    weights = np.arange(1.0, 10.0).reshape(3, 3)

    def f(a):
        return np.sum(linalg.lu_factor(a)[0] * weights) + np.sum(linalg.lu(a)[1][:, 0] ** 2)

    for adot in np.random.default_rng(3).normal(size=(3, 3, 3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=linalg.LinAlgWarning)
            slope = slope_of(f, (a,), (adot,))
            assert np.sum(cr.grad(f)(a) * adot) == pytest.approx(slope, rel=1e-7)
            assert cr.jvp(f, (a,), (adot,))[1] == pytest.approx(slope, rel=1e-7)
            slopes = [np.sum(cr.grad(f)(a + h * adot) * adot) for h in (1e-5, -1e-5)]
            bend = np.sum(cr.hvp(f, (a,), (adot,)) * adot)
        assert bend == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6)
