"""Least squares and fits by scipy.optimize, and what it has besides; what is refused."""

import checks_of_objects as checks
import numpy as np
import pytest
from differences import jacobian_of

pytest.importorskip("scipy")
import scipy.optimize as own
from scipy import sparse

import chainrules as cr
from chainrules.scipy import optimize

check = checks.check

RNG = np.random.default_rng(0)
T = np.linspace(0, 2, 9)
Y = 2 * np.exp(-1.3 * T) + 0.1 * RNG.normal(size=9)
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def model(x, a, b):
    return a * np.exp(-b * x)


def residual(p, y):
    return model(T, *p) - y


def slopes(f, y):
    """Differences of a large step, for SciPy's answers are not exact."""
    return jacobian_of(f, y, 1e-3, order=4)


def compare(solve, y=Y, rtol=1e-5):
    """Both modes of ``solve(y, optimize)`` with differences of SciPy's, and the value."""
    np.testing.assert_array_equal(
        solve(y, own), cr.jvp(lambda y: solve(y, optimize), (y,), (y,))[0]
    )
    expected = slopes(lambda y: solve(y, own), y)
    scale = np.max(np.abs(expected), initial=0.1)
    for mode in (cr.jacfwd, cr.jacrev):
        found = mode(lambda y: solve(y, optimize))(y)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)


# ---- least squares ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan", "own"])
def test_losses(loss):
    def pseudo_huber(z):
        root = np.sqrt(1 + z)
        return np.stack([2 * (root - 1), 1 / root, -0.5 / root**3])

    by = pseudo_huber if loss == "own" else loss

    def solve(y, o, scale=0.1):
        return o.least_squares(residual, [1.0, 1.0], args=(y,), loss=by, f_scale=scale, **TIGHT).x

    compare(solve, rtol=1e-4)
    if loss != "linear":
        found = cr.jacrev(lambda s: solve(Y, optimize, s))(0.1)
        expected = (solve(Y, own, 0.1001) - solve(Y, own, 0.0999)) / 2e-4
        np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-4)


def test_to_second_order():
    def solve(p):
        y = model(T, 2.0, p[0]) + p[1] * np.cos(9 * T)
        return optimize.least_squares(lambda q: residual(q, y), [1.0, 1.0], jac="ad", **TIGHT).x

    check(solve, [1.3, 0.1], rtol=1e-5, exact=False)


@pytest.mark.parametrize("field", ["fun", "jac", "grad", "cost"])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), ([0, 0], [5, 1.1])])
def test_fields_of_the_result(field, bounds):
    compare(
        lambda y, o: o.least_squares(
            residual, [1.0, 1.0], jac="3-point", args=(y,), bounds=bounds, **TIGHT
        )[field],
        rtol=1e-4,
    )


def test_fields_without_a_derivative():
    found = []
    cr.grad(
        lambda y: found.append(
            optimize.least_squares(residual, [1.0, 1.0], args=(y,), loss="cauchy")
        ) or found[0].cost
    )(Y)  # fmt: skip
    assert isinstance(found[0].nfev, int)
    assert isinstance(found[0].optimality, float)
    with pytest.raises(cr.MissingRuleError, match="the field 'jac'"):
        found[0].jac  # noqa: B018


def test_bounds_that_hold_and_move():
    def solve(p, o):
        bounds = o.Bounds(cr.array([0.0, p[0]]) if o is optimize else [0.0, p[0]], [5.0, 9.0])
        return o.least_squares(residual, [1.0, 2.5], args=(Y * p[1],), bounds=bounds, **TIGHT).x

    compare(solve, np.array([2.0, 1.1]))

    def pair(b):
        return optimize.least_squares(
            residual, [1.0, 1.0], args=(Y,), bounds=(0.0, cr.array([9.0, b])), **TIGHT
        ).x

    assert cr.jacrev(pair)(1.1)[1] == pytest.approx(1.0, abs=1e-9)


def test_keyword_arguments_of_the_function():
    def solve(y):
        f = lambda p, *, y: residual(p, y)  # noqa: E731
        return optimize.least_squares(f, [1.0, 1.0], kwargs={"y": y}, **TIGHT).x

    expected = cr.jacrev(lambda y: optimize.curve_fit(model, T, y, p0=[1.0, 1.0])[0])(Y)
    np.testing.assert_allclose(cr.jacrev(solve)(Y), expected, rtol=1e-5, atol=1e-6)


def test_leastsq():
    tight = {"xtol": 1e-14, "ftol": 1e-14}
    for part in (0, 1):
        compare(
            lambda y, o, part=part: o.leastsq(
                residual, [1.0, 1.0], (y,), full_output=True, **tight
            )[part],
            rtol=1e-4,
        )
    compare(lambda y, o: o.leastsq(lambda p: residual(p, y), [1.0, 1.0], **tight)[0])
    info = cr.jvp(
        lambda y: optimize.leastsq(residual, [1.0, 1.0], (y,), full_output=True)[2]["fvec"],
        (Y,), (Y,),
    )[1]  # fmt: skip
    assert np.shape(info) == Y.shape


# ---- fits of curves -----------------------------------------------------------------------------

ERRORS = 0.1 + 0.05 * T
COVARIANCE = 0.01 * np.eye(9) + 0.001 * np.ones((9, 9))
FITS = {
    "plain": {},
    "sigma": {"sigma": ERRORS},
    "absolute": {"sigma": ERRORS, "absolute_sigma": True},
    "one sigma": {"sigma": 0.3, "absolute_sigma": True},
    "covariance": {"sigma": COVARIANCE},
    "bounds": {"bounds": ([0, 0], [5, 1.1])},
    "dogbox": {"method": "dogbox", "p0": [1.0, 1.0]},
}


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("name", FITS)
def test_curve_fit(name, part):
    compare(lambda y, o: o.curve_fit(model, T, y, **FITS[name])[part], rtol=2e-3)


def test_curve_fit_in_all_its_data():
    for part in (0, 1):
        compare(lambda t, o, part=part: o.curve_fit(model, t, Y)[part], T + 0.1, rtol=1e-4)
        compare(lambda s, o, part=part: o.curve_fit(model, T, Y, sigma=s)[part], ERRORS, rtol=1e-4)
        compare(
            lambda s, o, part=part: o.curve_fit(
                model, T, Y, sigma=COVARIANCE * s[0] + np.eye(9) * s[1], absolute_sigma=True
            )[part],
            np.array([1.2, 0.02]), rtol=1e-3,
        )  # fmt: skip
    compare(lambda c, o: o.curve_fit(lambda x, a, b: model(x, a, b) * c[0], T, Y)[0], np.ones(1))
    lists = cr.jacrev(lambda y: optimize.curve_fit(model, list(T), list(y))[0])(Y)
    arrays = cr.jacfwd(lambda y: optimize.curve_fit(model, T, y)[0])(Y)
    np.testing.assert_allclose(lists, arrays, rtol=1e-9)


def test_curve_fit_to_second_order():
    def errors(p):
        y = model(T, 2.0, p[0]) + p[1] * np.cos(9 * T)
        parameters, covariance = optimize.curve_fit(model, T, y, jac="ad", **TIGHT, method="trf")
        return np.concatenate([parameters, np.sqrt(np.diag(covariance))])

    check(errors, [1.3, 0.1], rtol=1e-4, exact=False)


def test_curve_fit_that_leaves_out_what_is_missing():
    y = np.where(np.arange(9) == 4, np.nan, Y)
    kept = np.arange(9) != 4
    whole = cr.jacrev(
        lambda y: optimize.curve_fit(model, T, y, sigma=ERRORS, nan_policy="omit")[0]
    )(y)
    part = cr.jacrev(lambda y: optimize.curve_fit(model, T[kept], y, sigma=ERRORS[kept])[0])(
        Y[kept]
    )
    np.testing.assert_allclose(whole[:, kept], part, rtol=1e-6)
    assert not np.any(whole[:, 4])


def test_all_that_curve_fit_returns():
    found = []
    cr.grad(
        lambda y: (
            found.append(optimize.curve_fit(model, T, y, full_output=True))
            or np.sum(found[0][2]["fvec"])
        )
    )(Y)
    *_, info, message, flag = found[0]
    assert (type(info["nfev"]), type(message), type(flag)) == (int, str, int)


@pytest.mark.filterwarnings("ignore:Covariance of the parameters")
def test_a_covariance_that_is_not_known():
    p, covariance = cr.jvp(lambda y: optimize.curve_fit(model, T[:2], y), (Y[:2],), (Y[:2],))[1]
    assert np.all(np.isfinite(p))
    assert not np.any(covariance)


def test_a_loss_of_curve_fit_is_refused():
    with pytest.raises(cr.MissingRuleError, match="write least_squares"):
        cr.jacrev(lambda y: optimize.curve_fit(model, T, y, method="trf", loss="cauchy")[0])(Y)


def test_too_many_parameters():
    with pytest.raises(cr.SingularJacobianError, match="singular"):
        cr.jacrev(lambda y: optimize.curve_fit(lambda x, a, b: (a + b) * x, T, y)[0])(Y)


# ---- linear least squares -----------------------------------------------------------------------

A, B = RNG.normal(size=(8, 4)), RNG.normal(size=8)


def test_nnls():
    assert 0 < np.count_nonzero(own.nnls(A, B)[0]) < 4
    check(lambda a, b: optimize.nnls(a, b)[0], A, B)
    check(lambda a, b: optimize.nnls(a, b)[1], A, B)


def test_linear_least_squares_without_a_derivative():
    touching = np.array([2.0, 0.0])
    for solve in (
        lambda b: optimize.nnls(np.eye(2), b)[0],
        lambda b: optimize.lsq_linear(np.eye(2), b, (0, 9), method="bvls").x,
    ):
        with pytest.raises(cr.SingularJacobianError, match="just touches the answer"):
            cr.jacrev(solve)(touching)
    with pytest.raises(cr.SingularJacobianError, match="not full rank"):
        cr.jacrev(lambda b: optimize.lsq_linear(np.ones((3, 2)), b).x)(np.arange(3.0))


def test_lsq_linear():
    x = own.lsq_linear(A, B, (-0.9, 0.8)).x
    assert 0 < np.count_nonzero((x > -0.89) & (x < 0.79)) < 4
    check(lambda a, b: optimize.lsq_linear(a, b).x, A, B)
    compare(lambda b, o: o.lsq_linear(A, b, (-0.9, 0.8), method="bvls").x, B)
    compare(lambda c, o: o.lsq_linear(A, B, (-c[0], c[1]), method="bvls").x, np.array([0.9, 0.8]))
    for field in ("fun", "cost"):
        compare(lambda b, o, f=field: o.lsq_linear(A, b, (-0.9, 0.8), method="bvls")[f], B)
    dense = cr.jacrev(lambda b: optimize.lsq_linear(A, b).x)(B)
    for matrix in (sparse.csr_array(A), sparse.csc_matrix(A)):
        found = cr.jacrev(lambda b, m=matrix: optimize.lsq_linear(m, b, lsmr_tol=1e-13).x)(B)
        np.testing.assert_allclose(found, dense, rtol=1e-9)
    with pytest.raises(cr.MissingRuleError, match="operator"):
        cr.jacrev(lambda b: optimize.lsq_linear(sparse.linalg.aslinearoperator(A), b).x)(B)


# ---- the rest -----------------------------------------------------------------------------------


def test_isotonic_regression():
    y, w = np.array([1.0, 3.2, 2.0, 2.5, 5.0, 4.0]), np.arange(1.0, 7.0)
    check(lambda y: optimize.isotonic_regression(y).x, y)
    check(lambda y, w: optimize.isotonic_regression(y, weights=w).x, y, w)
    check(lambda y, w: optimize.isotonic_regression(y, weights=w, increasing=False).weights, y, w)


@pytest.mark.filterwarnings("ignore:The NumPy global RNG was seeded")  # by a program elsewhere
def test_assignments():
    cost = RNG.normal(size=(4, 4))

    def chosen(cost):
        return np.sum(cost[optimize.linear_sum_assignment(cost)] ** 2)

    check(chosen, cost)
    check(lambda a: optimize.quadratic_assignment(a, cost).fun, cost)


def test_rosenbrock():
    x, p = np.array([0.3, 1.2, -0.5, 0.8]), np.array([1.0, 2.0, -1.0, 0.5])
    for f in (optimize.rosen, optimize.rosen_der, optimize.rosen_hess):
        check(f, x, rtol=1e-5)
    check(optimize.rosen_hess_prod, x, p, rtol=1e-5)
    np.testing.assert_array_equal(
        own.rosen([1, 2]), cr.jvp(optimize.rosen, ([1.0, 2],), ([1, 1],))[0]
    )


REFUSED = {
    "linprog": lambda x: optimize.linprog(x, bounds=(0, 1)).x,
    "milp": lambda x: optimize.milp(x, bounds=own.Bounds(0, 1)).x,
    "approx_fprime": lambda x: optimize.approx_fprime(np.ones(2), lambda z: np.sum(z * x)),
    "check_grad": lambda x: optimize.check_grad(own.rosen, own.rosen_der, x),
    "line_search": lambda x: optimize.line_search(
        lambda z: np.sum((z - x) ** 2), lambda z: 2 * (z - x), np.zeros(2), np.ones(2)
    )[0],
    "bracket": lambda x: optimize.bracket(lambda z: (z - x[0]) ** 2)[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name):
    assert name in optimize._rules.REFUSED
    for transform in (cr.jacfwd, cr.jacrev):
        with pytest.raises(
            cr.MissingRuleError, match=f"optimize.{name} has no derivative"
        ) as caught:
            transform(REFUSED[name])(np.array([1.0, 2.0]))
        assert "test_optimize_fits.py:" in str(caught.value)
        assert "\n  write " in str(caught.value)


def test_what_is_refused_is_scipys_where_nothing_is_traced():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(
        own.approx_fprime(x, own.rosen, 1e-6), optimize.approx_fprime(x, own.rosen, 1e-6)
    )
    assert own.check_grad(own.rosen, own.rosen_der, x) == optimize.check_grad(
        own.rosen, own.rosen_der, x
    )
    assert optimize.linprog([1.0], bounds=(2, 3)).x == 2.0
    assert own.bracket(lambda x: (x - 1) ** 2) == optimize.bracket(lambda x: (x - 1) ** 2)


def test_every_name_of_scipys_is_there():
    assert set(own.__all__) == set(optimize.__all__)
    assert [] == [name for name in own.__all__ if not hasattr(optimize, name)]


def test_a_pattern_beside_exact_derivatives_makes_them_sparse():
    n, calls, seen = 60, [], []
    pattern = np.concatenate([np.eye(n - 1, n, k=0) + np.eye(n - 1, n, k=1), np.eye(n - 1, n)])

    def residual(x, a=1.0):
        calls.append(1)
        return np.concatenate([10 * (x[1:] - x[:-1] ** 2), a - x[:-1]])

    def run(where, **more):
        calls.clear()
        answer = where.least_squares(residual, np.full(n, 0.5), **more)
        seen.append(answer.jac)
        np.testing.assert_allclose(answer.x, np.ones(n), atol=1e-6)
        return len(calls)

    assert run(optimize, jac="ad") < run(own) / 20
    assert run(optimize, jac="ad", jac_sparsity=pattern) < run(own, jac_sparsity=pattern) * 0.7
    np.testing.assert_allclose(seen[2].toarray(), seen[0], atol=1e-4)

    def best(a, **more):
        return optimize.least_squares(residual, np.full(n, 0.5), args=(a,), jac="ad", **more).x

    sparse = cr.jacobian(lambda a: best(a, jac_sparsity=pattern))(1.0)
    np.testing.assert_allclose(sparse, cr.jacobian(best)(1.0), rtol=1e-5)
