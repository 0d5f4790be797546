"""Minima by scipy.optimize: against differences of SciPy's own answers, to second order."""

import checks_of_objects as checks
import numpy as np
import pytest
from differences import jacobian_of

pytest.importorskip("scipy")
import scipy.optimize as own

import chainrules as cr
from chainrules.scipy import optimize

check = checks.check

SOLVE = {"method": "trust-exact", "jac": "ad", "hess": "ad", "tol": 1e-13}
P = np.array([1.3, 2.1])


def objective(x, p):
    return (
        (1 - x[0]) ** 2 * p[0] + p[1] * (x[1] - x[0] ** 2) ** 2 + 0.3 * np.sum(x**2)
        + x[2] * p[0] + (x[2] - p[1]) ** 4
    )  # fmt: skip


START = np.zeros(3)


def exact(p):
    return optimize.minimize(objective, START, (p,), **SOLVE).x


def slopes(f, p, step=1e-3):
    """Differences of a large step, for SciPy's answers are not exact."""
    return jacobian_of(f, p, step, order=4)


@pytest.mark.slow
def test_to_second_order_by_arguments_and_by_capture():
    check(exact, P, rtol=1e-5)
    check(
        lambda p: optimize.minimize(lambda x: objective(x, p), START, **SOLVE).x,
        P,
        rtol=1e-5,
        exact=False,
    )


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # as rounding goes, at the minimum
@pytest.mark.parametrize(
    "method",
    [
        "Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B", "TNC", "COBYLA", "COBYQA", "SLSQP",
        "trust-constr",
    ],
)  # fmt: skip
def test_methods_that_take_differences(method):
    def solve(p, where=optimize):
        return where.minimize(objective, START, args=(p,), method=method, tol=1e-10).x

    expected = slopes(exact, P)
    np.testing.assert_array_equal(solve(P, own), solve(P))
    y, pullback = cr.vjp(solve, P)
    np.testing.assert_array_equal(solve(P, own), y)
    np.testing.assert_allclose([pullback(u)[0] for u in np.eye(3)], expected, atol=2e-4)
    np.testing.assert_allclose(cr.jacfwd(solve)(P), expected, atol=2e-4)


@pytest.mark.parametrize(
    "method", ["Newton-CG", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr"]
)
def test_methods_that_take_derivatives(method):
    def solve(p):
        f = lambda x: objective(x, p)  # noqa: E731
        hess = {"hessp": "ad"} if method == "trust-krylov" else {"hess": cr.hessian(f)}
        return optimize.minimize(f, START, method=method, jac=cr.grad(f), **hess, tol=1e-9).x

    expected = slopes(exact, P)
    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(P), expected, atol=1e-5)


# ---- what is returned ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_minimum_and_its_derivatives():
    def result(p):
        return optimize.minimize(objective, START, (p,), **SOLVE)

    check(lambda p: result(p).fun, P)
    check(lambda p: result(p)["hess"], P, rtol=1e-5)
    np.testing.assert_allclose(cr.jacrev(lambda p: result(p).jac)(P), np.zeros((3, 2)), atol=1e-12)
    check(lambda p: dict(result(p))["fun"], P)
    check(lambda p: result(p).copy().get("fun"), P)
    check(lambda p: dict(result(p).items())["x"] + next(iter(result(p).values())), P, rtol=1e-5)


def test_fields_without_a_derivative():
    found = []
    cr.grad(lambda p: found.append(optimize.minimize(objective, START, (p,))) or found[0].fun)(P)
    (result,) = found
    assert result.get("nothing", 3) == 3
    assert (type(result.nfev), type(result.success), type(result.message)) == (int, bool, str)
    assert "hess_inv" in repr(result)
    with pytest.raises(cr.MissingRuleError, match="the field 'hess_inv'") as caught:
        result.hess_inv  # noqa: B018
    assert "test_optimize_minima.py:" in str(caught.value)
    assert "cr.hessian(f)(res.x)" in str(caught.value)
    with pytest.raises(AttributeError):
        result.nothing  # noqa: B018


def test_plain_calls_are_scipys():
    calls = {own: [], optimize: []}
    answers = [
        where.minimize(lambda x, c=c: c.append(x.copy()) or objective(x, P), START)
        for where, c in calls.items()
    ]
    assert repr(answers[0]) == repr(answers[1])
    np.testing.assert_array_equal(calls[own], calls[optimize])
    # And in a transform, where nothing that it is called with is traced.
    inside = []
    cr.grad(lambda p: inside.append(optimize.minimize(objective, START, (P,))) or p)(1.0)
    assert type(inside[0]) is own.OptimizeResult
    assert repr(answers[0]) == repr(inside[0])


def test_a_function_that_gives_its_gradient():
    def pair(x, p):
        return objective(x, p), cr.grad(objective)(x, p)

    check(lambda p: optimize.minimize(pair, START, (p,), jac=True, tol=1e-12).x, P, rtol=1e-4)
    expected = cr.jacrev(exact)(P)
    for name in ("fmin_l_bfgs_b", "fmin_tnc"):
        with_output = lambda p, name=name: getattr(optimize, name)(pair, START, args=(p,))[0]  # noqa: E731
        np.testing.assert_allclose(cr.jacrev(with_output)(P), expected, atol=1e-2)


def test_callbacks_get_plain_numbers():
    seen = []
    cr.grad(lambda p: optimize.minimize(objective, START, (p,), callback=seen.append).fun)(P)
    assert {np.ndarray} == {*map(type, seen)}


def test_the_loss_of_validation_in_the_strength_of_a_penalty_to_third_order():
    rng = np.random.default_rng(0)
    x, held_out, weights = rng.normal(size=(30, 4)), rng.normal(size=(20, 4)), np.arange(1.0, 5.0)
    y, expected = x @ weights + rng.normal(size=30), held_out @ weights

    def loss(w):
        return np.mean((held_out @ w - expected) ** 2)

    def trained(strength):
        def penalised(w):
            return np.sum((x @ w - y) ** 2) + np.exp(strength) * np.sum(w**2)

        return loss(optimize.minimize(penalised, np.zeros(4), **SOLVE).x)

    def by_hand(strength):
        return loss(np.linalg.solve(x.T @ x + np.exp(strength) * np.eye(4), x.T @ y))

    for derivative in (cr.grad, cr.jacfwd, cr.hessian, lambda f: cr.grad(cr.jacfwd(cr.grad(f)))):
        assert float(derivative(by_hand)(0.3)) == pytest.approx(
            float(derivative(trained)(0.3)), rel=1e-9
        )


# ---- bounds and constraints ---------------------------------------------------------------------


def box(x, p):
    return np.sum((x - p[:3]) ** 2) + x[0] * x[1] + np.exp(x[2])


Q = np.array([-1.0, 0.3, 2.0, 0.2])
BOUNDED = ("Nelder-Mead", "Powell", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "COBYLA", "COBYQA")


def pairs(p):
    return [(p[3], None), (None, None), (None, 0.5 * p[3])]


def as_object(p):
    where = optimize if cr.rules.is_traced(p) else own
    stack = cr.array
    return where.Bounds(stack([p[3], -np.inf, -np.inf]), stack([np.inf, np.inf, 0.5 * p[3]]))


@pytest.mark.filterwarnings("ignore:delta_grad")
@pytest.mark.parametrize("method", BOUNDED)
@pytest.mark.parametrize("bounds", [pairs, as_object])
def test_bounds_that_hold_and_move(method, bounds):
    def solve(p, where=optimize):
        tol = 1e-6 if method == "COBYLA" else 1e-9
        start = np.array([0.6, 0.6, 0.0])
        return where.minimize(box, start, (p,), method=method, bounds=bounds(p), tol=tol).x

    np.testing.assert_array_equal(solve(Q, own), cr.value(cr.jvp(solve, (Q,), (Q,))[0]))
    # By hand: x[0] = p[3], x[2] = p[3] / 2, and from the gradient 2 (x[1] - p[1]) + x[0] = 0.
    expected = [[0, 0, 0, 1], [0, 1, 0, -0.5], [0, 0, 0, 0.5]]
    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(Q), expected, atol=1e-8)
    np.testing.assert_allclose(
        cr.hessian(lambda p: solve(p) @ solve(p))(Q), 2 * np.transpose(expected) @ expected,
        atol=1e-6,
    )  # fmt: skip


def test_bounds_that_do_not_hold():
    def solve(p, bounds):
        return optimize.minimize(objective, START, (p,), bounds=bounds, method="SLSQP", tol=1e-12).x

    free, wide = (cr.jacrev(lambda p, b=b: solve(p, b))(P) for b in (None, [(-9, 9)] * 3))
    np.testing.assert_allclose(free, wide, rtol=1e-6)


def disc(x, p):
    return np.sum((x - p[:3]) ** 2)


R = np.array([1.0, 2.0, 0.5, 1.3])
CONSTRAINTS = {
    "a dict": lambda p, o: {"type": "eq", "fun": lambda x: np.sum(x**2) - p[3]},
    "linear": lambda p, o: o.LinearConstraint(np.ones((1, 3)) * p[2], p[3], p[3]),
    "not linear": lambda p, o: o.NonlinearConstraint(
        lambda x: np.stack([np.sum(x**2), x[0] - x[1]]), -np.inf, cr.array([p[3], 5.0])
    ),
    "inequalities": lambda p, o: [
        {"type": "ineq", "fun": lambda x: p[3] - np.sum(x**2)},
        {"type": "ineq", "fun": lambda x, q: x[2] - q, "args": (p[2],)},
    ],
    "two sides": lambda p, o: o.NonlinearConstraint(
        lambda x: np.stack([x[0] * x[1], x[2]]),
        cr.array([p[3] / 9, 0.7]),
        cr.array([p[3] / 4, 9.0]),
    ),
}


def constrained(p, kind, where, method="SLSQP", tol=1e-12):
    return where.minimize(
        disc, [0.6, 0.5, 0.4], (p,), method=method, tol=tol,
        constraints=CONSTRAINTS[kind](p, where), options={"maxiter": 3000},
    ).x  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_constraints_to_second_order(kind):
    np.testing.assert_array_equal(
        constrained(R, kind, own), cr.jvp(lambda p: constrained(p, kind, optimize), (R,), (R,))[0]
    )
    expected = slopes(lambda p: constrained(p, kind, own), R, 1e-2)
    for mode in (cr.jacfwd, cr.jacrev):
        found = mode(lambda p: constrained(p, kind, optimize))(R)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    for mode in (cr.jacfwd, cr.jacrev):
        f = lambda p: np.sum(np.sin(constrained(p, kind, optimize)))  # noqa: E731
        expected = slopes(mode(f), R)
        np.testing.assert_allclose(mode(cr.grad(f))(R), expected, rtol=1e-3, atol=2e-3)
        np.testing.assert_allclose(mode(cr.jacfwd(f))(R), expected, rtol=1e-3, atol=2e-3)


@pytest.mark.filterwarnings("ignore:delta_grad")
@pytest.mark.parametrize("method", ["trust-constr", "COBYLA", "COBYQA"])
@pytest.mark.parametrize("kind", ["a dict", "inequalities"])
def test_constraints_by_other_methods(kind, method):
    tol = 1e-6 if method == "COBYLA" else 1e-9
    expected = cr.jacrev(lambda p: constrained(p, kind, optimize))(R)
    found = cr.jacrev(lambda p: constrained(p, kind, optimize, method, tol))(R)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_constraints_with_exact_derivatives():
    circle = optimize.NonlinearConstraint(lambda x: x @ x, 1.0, 1.0, jac="ad", hess="ad")

    def solve(a):
        return optimize.minimize(
            lambda x: x @ a, [0.5, 0.5], jac="ad", hess="ad", method="trust-constr",
            constraints=circle, tol=1e-12,
        ).x  # fmt: skip

    a = np.array([1.0, 2.0])
    size = np.hypot(*a)
    expected = -(np.eye(2) - np.outer(a, a) / size**2) / size
    np.testing.assert_allclose(cr.jacrev(solve)(a), expected, rtol=1e-6)


@pytest.mark.parametrize("jac", ["ad", cr.ad])
@pytest.mark.parametrize("listed", [False, True])
def test_constraints_in_dicts_with_exact_derivatives(jac, listed):
    disc = {"type": "ineq", "fun": lambda x, r: r - x @ x, "args": (1.0,), "jac": jac}
    given = [disc, {"type": "ineq", "fun": lambda x: x[0] + 5.0}] if listed else disc

    def solve(a):
        return optimize.minimize(
            lambda x: x @ a, [0.5, 0.5], jac=jac, method="SLSQP", constraints=given, tol=1e-12
        ).x

    a = np.array([1.0, 2.0])
    np.testing.assert_allclose(solve(a), -a / np.hypot(*a), rtol=1e-6)
    expected = -(np.eye(2) - np.outer(a, a) / 5.0) / np.sqrt(5.0)
    np.testing.assert_allclose(cr.jacrev(solve)(a), expected, rtol=1e-5)
    assert disc["jac"] is jac


def test_the_hessian_of_constraints_is_weighed_by_their_multipliers():
    curved = optimize.NonlinearConstraint(
        lambda x: np.stack([x[0] ** 2 * x[1], x[1] ** 3]), 0.0, 1.0, hess="ad"
    )
    found = curved.hess(np.array([0.5, 2.0]), np.array([3.0, -1.0]))
    np.testing.assert_allclose(found, [[12.0, 3.0], [3.0, -12.0]])


def test_constraints_of_the_older_names():
    def line(x, a):
        return np.sum((x - a) ** 2)

    a = np.array([1.0, 2.0])
    expected = [[0.5, -0.5], [-0.5, 0.5]]  # onto the line x[0] + x[1] = 1
    for solve in (
        lambda a: optimize.fmin_slsqp(
            line, [0.0, 0.0], [lambda x, a: x[0] + x[1] - 1], args=(a,), iprint=0, acc=1e-12
        ),
        lambda a: optimize.fmin_slsqp(
            lambda x: line(x, a), [0.0, 0.0], f_ieqcons=lambda x: np.ones(1) - x[0] - x[1],
            iprint=0, acc=1e-12, full_output=True,
        )[0],
        lambda a: optimize.fmin_slsqp(
            line, [0.0, 0.0], f_eqcons=lambda x, a: cr.array([x[0] + x[1] - 1 + 0 * a[0]]),
            fprime="ad", fprime_eqcons=lambda x, a: np.ones((1, 2)) + 0 * a, args=(a,),
            iprint=0, acc=1e-12,
        ),
        lambda a: optimize.fmin_cobyla(line, [0.0, 0.0], [lambda x, a: 1 - x[0] - x[1]], (a,)),
        lambda a: optimize.fmin_cobyla(
            lambda x: line(x, a), [0.0, 0.0], lambda x: 1 - x[0] - x[1], consargs=()
        ),
    ):  # fmt: skip
        for mode in (cr.jacfwd, cr.jacrev):
            np.testing.assert_allclose(mode(solve)(a), expected, atol=1e-9)
    moving = lambda b: optimize.fmin_slsqp(  # noqa: E731
        lambda x: line(x, a), [0.0, 0.0], eqcons=[lambda x: x[0] + x[1] - b], iprint=0, acc=1e-12
    )
    np.testing.assert_allclose(cr.jacrev(moving)(1.0), [0.5, 0.5], atol=1e-9)


def test_a_bound_that_just_touches():
    def solve(a):
        return optimize.minimize(lambda x: (x[0] - a) ** 2, [0.5], bounds=[(0, 1)]).x[0]

    assert cr.grad(solve)(0.4) == pytest.approx(1.0)
    assert cr.grad(solve)(1.4) == 0.0
    assert cr.grad(solve)(-3.0) == 0.0
    for a in (0.0, 1.0):
        with pytest.raises(cr.SingularJacobianError, match="just touches the answer") as caught:
            cr.grad(solve)(a)
        assert "test_optimize_minima.py:" in str(caught.value)


def test_a_bound_that_others_imply():
    """At a corner of the simplex more bounds hold than there are unknowns."""

    def solve(a):
        return optimize.minimize(
            lambda x: x @ a + np.sum(x**2), np.ones(3) / 3, bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda x: np.sum(x) - 1}, method="SLSQP",
        ).x  # fmt: skip

    np.testing.assert_allclose(cr.jacrev(solve)(np.array([-9.0, 1.0, 2.0])), 0.0, atol=1e-12)
    inside = cr.jacrev(solve)(np.array([-0.5, 0.2, 9.0]))
    np.testing.assert_allclose(inside, [[-0.25, 0.25, 0], [0.25, -0.25, 0], [0, 0, 0]], atol=1e-8)


def test_unknowns_that_the_objective_does_not_see():
    with pytest.raises(cr.SingularJacobianError, match="is singular"):
        cr.jacrev(lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, np.ones(2)).x)(1.0)
    with pytest.raises(cr.SingularJacobianError, match="is singular"):
        cr.jacrev(lambda a: optimize.minimize(lambda x: np.sum(np.abs(x - a)), [0.3]).x)(1.0)


def test_no_convergence():
    f = lambda a: optimize.minimize(  # noqa: E731
        lambda x: np.sum(np.cosh(x - a)), [5.0], method="BFGS", options={"maxiter": 1}
    )
    with pytest.warns(cr.ConvergenceWarning):
        cr.grad(lambda a: f(a).x[0])(1.0)


# ---- one unknown --------------------------------------------------------------------------------


def quartic(x, a):
    return (x - a) ** 4 + (x - 1) ** 2


SCALAR = {
    "brent": lambda a, o: o.minimize_scalar(quartic, args=(a,), tol=1e-12).x,
    "golden": lambda a, o: o.minimize_scalar(quartic, args=(a,), method="golden", tol=1e-12).x,
    "bounded": lambda a, o: (
        o.minimize_scalar(quartic, bounds=(-1, 5), args=(a,), options={"xatol": 1e-12}).x
    ),
    "at an end": lambda a, o: (
        o.minimize_scalar(quartic, bounds=(-1, a / 4), args=(a,), options={"xatol": 1e-12}).x
    ),
    "fminbound": lambda a, o: o.fminbound(quartic, -1, 5, (a,), xtol=1e-12),
    "all of fminbound": lambda a, o: o.fminbound(quartic, -1, 5, (a,), full_output=True)[1],
    "function brent": lambda a, o: o.brent(quartic, (a,), tol=1e-12),
    "function golden": lambda a, o: o.golden(lambda x: quartic(x, a), tol=1e-12),
    "all of brent": lambda a, o: o.brent(quartic, (a,), full_output=True)[1],
    "the minimum": lambda a, o: o.minimize_scalar(quartic, args=(a,)).fun,
}


@pytest.mark.parametrize("name", SCALAR)
def test_one_unknown(name):
    solve = SCALAR[name]
    y = cr.jvp(lambda a: solve(a, optimize), (3.0,), (1.0,))[0]
    assert (solve(3.0, own), np.shape(solve(3.0, own))) == (y, np.shape(y))

    def by_hand(a):  # the root of the derivative; or the end of the interval
        x = a / 4 if name == "at an end" else optimize.brentq(cr.grad(quartic), -1, 5, (a,))
        return quartic(x, a) if name.startswith(("all", "the")) else x

    for mode in (cr.jacfwd, cr.jacrev, cr.hessian):
        expected = mode(by_hand)(3.0)
        found = mode(lambda a: solve(a, optimize))(3.0)
        assert float(expected) == pytest.approx(float(found), abs=2e-5)


# ---- older names, global optimisers -------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["fmin", "fmin_bfgs", "fmin_cg", "fmin_powell", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc"]
)
def test_older_names(name):
    more = {
        "fmin": {"xtol": 1e-9, "ftol": 1e-12}, "fmin_ncg": {"fprime": "ad", "fhess_p": "ad"},
        "fmin_l_bfgs_b": {"approx_grad": True}, "fmin_tnc": {"fprime": "ad", "messages": 0},
    }.get(name, {})  # fmt: skip
    quiet = {} if name in ("fmin_l_bfgs_b", "fmin_tnc") else {"disp": 0}

    def solve(p):
        y = getattr(optimize, name)(objective, START, args=(p,), **more, **quiet)
        return y[0] if isinstance(y, tuple) else y

    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(P), cr.jacfwd(exact)(P), atol=5e-3)


def test_all_that_older_names_return():
    x, minimum, *_ = cr.jvp(
        lambda p: optimize.fmin(objective, START, (p,), full_output=True, disp=0)[:2], (P,), (P,)
    )[1]
    slope = cr.jvp(lambda p: optimize.minimize(objective, START, (p,)).fun, (P,), (P,))[1]
    assert (np.shape(x), float(minimum)) == ((3,), pytest.approx(float(slope), rel=1e-3))
    with pytest.raises(cr.MissingRuleError, match="arrays that are made of its steps"):
        cr.jacrev(
            lambda p: optimize.fmin_bfgs(objective, START, args=(p,), full_output=1, disp=0)[0]
        )(P)
    report = []
    cr.jacrev(
        lambda p: (
            report.append(optimize.fmin_l_bfgs_b(objective, START, args=(p,), approx_grad=1))
            or report[0][0]
        )
    )(P)
    with pytest.raises(cr.MissingRuleError, match="the field 'grad'"):
        report[0][2]["grad"]


BOX = [(-2.0, 5.0)]
GLOBAL = {
    "differential_evolution": lambda f, a, o: o.differential_evolution(f, BOX, (a,), seed=0),
    "dual_annealing": lambda f, a, o: o.dual_annealing(f, BOX, (a,), maxiter=10, seed=0),
    "basinhopping": lambda f, a, o: o.basinhopping(
        f, [1.0], niter=2, seed=0, minimizer_kwargs={"args": (a,)}
    ),
    "shgo": lambda f, a, o: o.shgo(f, BOX, (a,)),
    "direct": lambda f, a, o: o.direct(f, BOX, args=(a,)),
}


@pytest.mark.parametrize("name", GLOBAL)
def test_global_optimisers(name):
    def f(x, a):
        return quartic(x[0], a)

    def solve(a, o=optimize):
        return GLOBAL[name](f, a, o)

    slope = cr.grad(lambda a: optimize.brent(quartic, (a,)))(3.0)
    y, ydot = cr.jvp(lambda a: solve(a).x[0], (3.0,), (1.0,))
    assert y == solve(3.0, own).x[0]
    assert ydot == pytest.approx(slope, abs=1e-4)
    assert cr.grad(lambda a: solve(a).x[0])(3.0) == pytest.approx(ydot)
    expected = cr.grad(lambda a: optimize.brent(quartic, (a,), full_output=True)[1])(3.0)
    assert cr.grad(lambda a: solve(a).fun)(3.0) == pytest.approx(expected, abs=1e-3)


def test_constraints_of_the_local_minimizer():
    def solve(a):
        held = {"type": "ineq", "fun": lambda x: a - x[0]}
        return optimize.basinhopping(
            lambda x: quartic(x[0], 9.0), [0.5], niter=1, seed=0,
            minimizer_kwargs={"method": "SLSQP", "constraints": held},
        ).x[0]  # fmt: skip

    for mode in (cr.grad, cr.jacfwd):
        assert float(mode(solve)(2.0)) == pytest.approx(1.0)


def test_global_optimisers_at_a_bound():
    def solve(b):
        return optimize.differential_evolution(lambda x: np.sum((x - 3) ** 2), [(0, b)], seed=0).x[
            0
        ]

    assert cr.grad(solve)(2.0) == pytest.approx(1.0)


def test_unknowns_that_are_whole_numbers():
    def solve(a):
        return optimize.differential_evolution(
            lambda x: (x[0] - 2.2) ** 2 + (x[1] - a * x[0]) ** 2, [(0, 5), (-9, 9)],
            integrality=[True, False], seed=0,
        ).x  # fmt: skip

    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(0.7), [0.0, 2.0], atol=1e-9)


def test_brute():
    f = lambda x, a: quartic(x[0], a)  # noqa: E731
    slope = cr.grad(lambda a: optimize.brent(quartic, (a,)))(3.0)
    for full in (False, True):
        found = cr.grad(
            lambda a, full=full: (
                optimize.brute(f, BOX, (a,), full_output=full)[0][0]
                if full
                else optimize.brute(f, BOX, (a,))[0]
            )
        )(3.0)
        assert found == pytest.approx(slope, abs=1e-3)
    with pytest.raises(cr.MissingRuleError, match="a point of its grid"):
        cr.grad(lambda a: optimize.brute(f, BOX, (a,), finish=None))(3.0)


# ---- exact derivatives for SciPy ----------------------------------------------------------------


def test_exact_derivatives_save_calls():
    x0 = np.array([-1.2, 1.0] * 5)

    def calls_of(where, **more):
        calls = []
        answer = where.minimize(lambda x: calls.append(1) or where.rosen(x), x0, **more)
        return len(calls), answer

    for method in ("BFGS", "L-BFGS-B", "SLSQP"):
        by_differences, _ = calls_of(own, method=method)
        exactly, _ = calls_of(optimize, method=method, jac="ad")
        assert exactly < by_differences / 4
    count, answer = calls_of(optimize, method="trust-exact", jac="ad", hess="ad")
    assert count < 100
    assert np.max(np.abs(answer.jac)) < 1e-4


@pytest.mark.parametrize(
    ("options", "once"),
    [
        ({}, True), ({"method": "BFGS"}, True), ({"method": "CG"}, True),
        ({"method": "L-BFGS-B", "bounds": [(0, 5), (0, 5)]}, True), ({"method": "SLSQP"}, False),
        ({"constraints": own.NonlinearConstraint(lambda x: x[0], 0, 5)}, False),
    ],
)  # fmt: skip
def test_value_and_gradient_are_of_one_run_where_a_method_wants_both(options, once):
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return np.sum((x - 1.0) ** 4 + x**2)

    found = optimize.minimize(counted, np.array([0.5, 2.0]), jac="ad", **options)
    plain = own.minimize(counted, np.array([0.5, 2.0]), **options)
    np.testing.assert_allclose(found.x, plain.x, atol=1e-4)
    calls = 0
    found = optimize.minimize(counted, np.array([0.5, 2.0]), jac="ad", **options)
    assert calls == (found.nfev if once else found.nfev + found.njev)


def test_ad_is_asked_for_where_derivatives_are_given():
    with pytest.raises(ValueError, match="Unknown solver"):
        optimize.minimize(objective, START, (P,), "ad")
