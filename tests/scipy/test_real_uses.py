"""SciPy's solvers in programs whose answers are known: the cores of notebooks 7 to 12."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("scipy")
import scipy.linalg as plain_linalg

import chainrules as cr
from chainrules.scipy import integrate, linalg, optimize
from chainrules.testing import test_frule as check_frule
from chainrules.testing import test_rrule as check_rrule

NEWTON = {"jac": "ad", "hess": "ad", "method": "trust-exact"}


# ---- a fit of a differential equation -----------------------------------------------------------

# Pelts of 1900 to 1920 in thousands, from Carpenter (2018), see notebook 7.
HARES = [30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1, 40.3, 57.0, 76.6, 52.3,
         19.5, 11.2, 7.6, 14.6, 16.2, 24.7]  # fmt: skip
LYNXES = [4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4, 8.0, 12.3, 19.5, 45.7, 51.1,
          29.7, 15.8, 9.7, 10.1, 8.6]  # fmt: skip
PELTS = np.array([HARES, LYNXES])


def minus_log_likelihood(p):
    def rates(t, z, theta):
        u, v = z
        return [(theta[0] - theta[1] * v) * u, (-theta[2] + theta[3] * u) * v]

    theta, start, log_sigma = np.exp(p[:4]), np.exp(p[4:6]), p[6:, None]
    z = integrate.solve_ivp(
        rates, (0, 20), start, "DOP853", np.arange(21.0), args=(theta,), rtol=1e-6, atol=1e-6
    ).y
    return np.sum(((np.log(PELTS) - np.log(z)) / np.exp(log_sigma)) ** 2 / 2 + log_sigma)


def test_hare_and_lynx():
    """From near Carpenter's means one step of Newton's method arrives; his deviations are ours."""
    stan = np.array([0.545, 0.028, 0.803, 0.024, 33.956, 5.933, 0.250, 0.252])
    deviations = np.array([0.064, 0.004, 0.092, 0.004, 2.856, 0.535, 0.045, 0.044])
    most_likely = np.array([0.5400, 0.027156, 0.7966, 0.023702, 34.599, 5.8437, 0.21838, 0.22008])
    assert np.all(np.abs(most_likely - stan) < deviations)

    p = np.log(most_likely)
    gradient, hessian = cr.grad(minus_log_likelihood)(p), cr.hessian(minus_log_likelihood)(p)
    assert np.all(np.abs(np.linalg.solve(hessian, gradient)) < 1e-4)
    found = np.sqrt(np.diag(np.linalg.inv(hessian)))
    np.testing.assert_allclose(found, deviations / most_likely, rtol=0.3)
    # The slope in log sigma is n - sum(r**2) / sigma**2, and its own slope there is 2 * n.
    np.testing.assert_allclose(np.diag(hessian)[6:], 42.0, rtol=1e-3)


# ---- a minimiser in a loss ----------------------------------------------------------------------


def test_strengths_of_ridge_regression():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(40, 5)), np.array([1.0, -2.0, 0.0, 0.5, 0.0])
    y = x @ weights + rng.normal(size=40)
    train, validation = slice(0, 15), slice(15, 40)

    def minimised(s):
        def penalised(w):
            return np.sum((x[train] @ w - y[train]) ** 2) + np.sum(np.exp(s) * w**2)

        return optimize.minimize(penalised, np.zeros(5), **NEWTON, tol=1e-10).x

    def solved(s):
        return linalg.solve(x[train].T @ x[train] + np.diag(np.exp(s)), x[train].T @ y[train])

    s = np.linspace(-1.0, 2.0, 5)
    for derivative in (cr.grad, cr.jacfwd, cr.hessian):
        ours, closed = (
            derivative(lambda s, w=w: np.sum((x[validation] @ w(s) - y[validation]) ** 2))(s)
            for w in (minimised, solved)
        )
        np.testing.assert_allclose(ours, closed, rtol=1e-8, atol=1e-9)


def test_the_rows_of_a_fold_stay_integers():
    """At second order, arrays of integers in ``args`` were handed to the function as floats."""
    x = np.arange(1.0, 7.0).reshape(3, 2)
    rows, both = np.array([0, 2]), np.arange(2)

    def residuals(w, s, rows):
        return x[rows] @ w - np.exp(s)

    def losses(s):
        def penalised(w, s, rows):
            return np.sum(residuals(w, s, rows) ** 2) + np.exp(s) * np.sum(w**2)

        w = optimize.minimize(penalised, np.zeros(2), (s, rows), **NEWTON, tol=1e-10).x
        root = optimize.root(residuals, np.zeros(2), (s, rows), tol=1e-10).x
        scalar = optimize.brentq(lambda w, s, i: w**3 - x[0, i] * s, 0.0, 9.0, (s, both[1]))
        return np.stack([w @ w, root @ root, scalar])

    def by_hand(s):
        a, b = x[rows], np.exp(s) * np.ones(2)
        w = linalg.solve(a.T @ a + np.exp(s) * np.eye(2), a.T @ b)
        root = linalg.solve(a, b)
        return np.stack([w @ w, root @ root, (2.0 * s) ** (1 / 3)])

    for outer in (cr.jacfwd, cr.jacrev):
        for inner in (cr.jacfwd, cr.jacrev):
            expected = outer(inner(by_hand))(0.3)
            np.testing.assert_allclose(outer(inner(losses))(0.3), expected, rtol=1e-8)


# ---- a marginal likelihood ----------------------------------------------------------------------


def test_gaussian_process():
    """The gradient of Rasmussen and Williams (2006), equation 5.9."""
    t = np.linspace(0, 5, 30)
    y = np.sin(2 * t) + 0.1 * np.cos(31 * t)
    squares = (t[:, None] - t) ** 2

    def minus_log_likelihood(log_theta):
        scale, length, noise = np.exp(log_theta)
        k = scale**2 * np.exp(-squares / (2 * length**2)) + noise**2 * np.eye(30)
        lower = linalg.cholesky(k, lower=True)
        z = linalg.solve_triangular(lower, y, lower=True)
        return z @ z / 2 + np.sum(np.log(np.diag(lower)))

    theta = scale, length, noise = 1.2, 0.7, 0.15
    smooth = scale**2 * np.exp(-squares / (2 * length**2))
    inverse = np.linalg.inv(smooth + noise**2 * np.eye(30))
    alpha = inverse @ y
    slopes = (2 * smooth, smooth * squares / length**2, 2 * noise**2 * np.eye(30))
    expected = [-np.sum((np.outer(alpha, alpha) - inverse) * slope) / 2 for slope in slopes]
    for mode in (cr.grad, cr.jacfwd):
        np.testing.assert_allclose(mode(minus_log_likelihood)(np.log(theta)), expected, rtol=1e-9)


# ---- steady states ------------------------------------------------------------------------------


@pytest.mark.parametrize("v1", [0.6, 0.99, 1.4])
def test_a_switch_of_goldbeter_and_koshland(v1):
    def by_root(v1, v2, j1, j2):
        def balance(x):
            return v1 * (1 - x) / (j1 + 1 - x) - v2 * x / (j2 + x)

        return optimize.brentq(balance, 0.0, 1.0, xtol=1e-14)

    def by_formula(v1, v2, j1, j2):
        b = v2 - v1 + j1 * v2 + j2 * v1
        return 2 * v1 * j2 / (b + np.sqrt(b**2 - 4 * (v2 - v1) * v1 * j2))

    for derivative in (cr.grad, cr.jacfwd, cr.hessian):
        found, expected = (derivative(f)(v1, 1.0, 0.05, 0.08) for f in (by_root, by_formula))
        assert found == pytest.approx(expected, rel=1e-8)


def test_theorems_of_metabolic_control():
    """Summation (Kacser and Burns 1973) and connectivity (Westerhoff and Chen 1984)."""
    stoichiometry = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 1.0, -1.0, -1.0]])

    def rates(e, s):
        s1, s2 = s
        return np.stack([
            e[0] * (5 - s1 / 10) / (6 + s1 + (s2 / 0.5) ** 4), e[1] * (s1 - s2 / 5) / (1 + s1 + s2),
            e[2] * s2 / (0.3 + s2), e[3] * s2 / (2 + s2),
        ])  # fmt: skip

    def log_concentrations(log_e):
        def balance(log_s):
            return stoichiometry @ rates(np.exp(log_e), np.exp(log_s))

        return optimize.root(balance, np.zeros(2), jac="ad", tol=1e-10).x

    def log_fluxes(log_e):
        return np.log(rates(np.exp(log_e), np.exp(log_concentrations(log_e))))

    log_e = np.log([10.0, 8.0, 1.0, 2.0])
    log_s = log_concentrations(log_e)
    elasticities = cr.jacobian(lambda log_s: np.log(rates(np.exp(log_e), np.exp(log_s))))(log_s)
    near = {"rtol": 0, "atol": 1e-10}
    for mode in (cr.jacfwd, cr.jacrev):
        fluxes, concentrations = mode(log_fluxes)(log_e), mode(log_concentrations)(log_e)
        np.testing.assert_allclose(np.sum(fluxes, axis=1), np.ones(4), **near)
        np.testing.assert_allclose(np.sum(concentrations, axis=1), np.zeros(2), **near)
        np.testing.assert_allclose(fluxes @ elasticities, np.zeros((4, 2)), **near)
        np.testing.assert_allclose(concentrations @ elasticities, -np.eye(2), **near)


# ---- optimal control ----------------------------------------------------------------------------


def test_riccati():
    a, b = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([0.02, 0.2])
    q, r, steps = np.diag([1.0, 0.1]), 0.1, 15

    def cost(u, x):
        total = 0.0
        for push in u:
            total = total + x @ q @ x + r * push**2
            x = a @ x + b * push
        return total + x @ q @ x

    p = q
    for _ in range(steps):
        gain = b @ p @ a / (r + b @ p @ b)
        p = q + a.T @ p @ (a - np.outer(b, gain))
    start = np.array([1.0, 0.5])
    by_products = optimize.minimize(
        cost, np.zeros(steps), (start,), "trust-ncg", jac="ad",
        hessp=lambda u, v, x: cr.hvp(lambda u: cost(u, x), (u,), (v,)), tol=1e-7,
    )  # fmt: skip
    assert by_products.x[0] == pytest.approx(-gain @ start, abs=1e-6)
    assert by_products.fun == pytest.approx(start @ p @ start, rel=1e-12)

    def optimal_cost(x):
        return optimize.minimize(cost, np.zeros(steps), (x,), **NEWTON, tol=1e-7).fun

    np.testing.assert_allclose(cr.grad(optimal_cost)(start), 2 * p @ start, rtol=1e-9)
    np.testing.assert_allclose(cr.hessian(optimal_cost)(start), 2 * p, rtol=1e-9)
    for _ in range(200):
        gain = b @ p @ a / (r + b @ p @ b)
        p = q + a.T @ p @ (a - np.outer(b, gain))
    np.testing.assert_allclose(p, plain_linalg.solve_discrete_are(a, b[:, None], q, [[r]]))


def test_a_swing_up_obeys_its_costate():
    """A bounded torque is the costate, cut off (Pontryagin's principle)."""
    n, g, limit = 40, 9.81, 5.0
    h = 3.0 / n
    fraction = np.arange(2, n - 1) / n
    guess = np.pi * fraction**2 * (3 - 2 * fraction)

    def torque(angles):
        theta = np.concatenate([np.zeros(2), angles, np.full(2, np.pi)])
        return (theta[2:] - 2 * theta[1:-1] + theta[:-2]) / h**2 + g * np.sin(theta[1:-1])

    def effort(angles):
        return h * np.sum(torque(angles) ** 2) / 2

    def residual(costate, angles):
        curvature = (costate[2:] - 2 * costate[1:-1] + costate[:-2]) / h**2
        return curvature + g * np.cos(angles) * costate[1:-1]

    free = optimize.minimize(effort, guess, **NEWTON, tol=1e-6).x
    assert np.max(np.abs(residual(torque(free), free))) < 1e-4
    bounds = optimize.NonlinearConstraint(torque, -limit, limit, jac="ad", hess="ad")
    weak = optimize.minimize(
        effort, free, jac="ad", hessp=lambda x, v: cr.hvp(effort, (x,), (v,)),
        method="trust-constr", constraints=bounds, options={"gtol": 1e-6, "xtol": 1e-10},
    )  # fmt: skip
    costate = torque(weak.x) + weak.v[0] / h
    assert np.max(np.abs(torque(free))) > limit + 0.5
    assert np.max(np.abs(torque(weak.x))) < limit + 1e-6
    assert np.max(np.abs(residual(costate, weak.x))) < 1e-3
    np.testing.assert_allclose(torque(weak.x), np.clip(costate, -limit, limit), atol=0.1)


# ---- a rule that calls back ---------------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(15)


def on_one_interval(f, a, b):
    return (b - a) / 2 * np.sum(WEIGHTS * f((a + b) / 2 + (b - a) / 2 * NODES))


def adaptive(f, a, b):
    """Return the integral, and where the intervals begin that it is the sum of."""
    whole = on_one_interval(f, a, b)
    todo, begins, total = [(a, b, whole)], [], 0.0
    while todo:
        left, right, once = todo.pop()
        middle = (left + right) / 2
        halves = [(left, middle), (middle, right)]
        parts = [on_one_interval(f, *ends) for ends in halves]
        if abs(sum(parts) - once) < 1e-13 * abs(whole) or right - left < 1e-6:
            total = total + sum(parts)
            begins += [left, middle]
        else:
            todo += [(*ends, part) for ends, part in zip(halves, parts)]
    return total, sorted(begins)


@cr.primitive
def integral(f, a, b):
    return adaptive(f, a, b)[0]


def nodes_and_weights(f, a, b):
    plain_a, plain_b = cr.value(a), cr.value(b)
    edges = np.append(adaptive(cr.value(f), plain_a, plain_b)[1], plain_b)
    edges = (edges - plain_a) / (plain_b - plain_a)
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    nodes = np.ravel(middles[:, None] + halves[:, None] * NODES)
    return a + (b - a) * nodes, (b - a) * np.ravel(halves[:, None] * WEIGHTS)


@cr.frule.register(integral)
def integral_frule(config: cr.HasForwardsMode, tangents, integral, f, a, b):
    _, fdot, adot, bdot = tangents
    t, weights = nodes_and_weights(f, a, b)
    ys, ydots = cr.frule_via_ad(config, (fdot, cr.ZeroTangent()), f, t)
    return np.sum(weights * ys), np.sum(weights * ydots) + f(b) * bdot - f(a) * adot


@cr.rrule.register(integral)
def integral_rrule(config: cr.HasReverseMode, integral, f, a, b):
    t, weights = nodes_and_weights(f, a, b)
    ys, pullback = cr.rrule_via_ad(config, f, t)

    def integral_pullback(ybar):
        fbar, _ = pullback(weights * ybar)
        return cr.NoTangent(), fbar, -f(a) * ybar, f(b) * ybar

    return np.sum(weights * ys), integral_pullback


@dataclass
class Resonance:
    centre: float
    width: float

    def __call__(self, t):
        return self.width / ((t - self.centre) ** 2 + self.width**2)


def area_in_closed_form(p):
    a, b, centre, width = p
    return np.arctan((b - centre) / width) - np.arctan((a - centre) / width)


def by_object(p):
    return integral(Resonance(p[2], p[3]), p[0], p[1])


def by_closure(p):
    return integral(lambda t: p[3] / ((t - p[2]) ** 2 + p[3] ** 2), p[0], p[1])


def by_tracing(p):
    return adaptive(Resonance(p[2], p[3]), p[0], p[1])[0]


@pytest.mark.parametrize("area", [by_object, by_closure, by_tracing])
def test_leibniz(area):
    p = np.array([-1.0, 2.0, 0.3, 0.02])
    for derivative in (cr.grad, cr.jacfwd, cr.hessian):
        expected = derivative(area_in_closed_form)(p)
        tolerance = 1e-8 * np.max(np.abs(expected))
        np.testing.assert_allclose(derivative(area)(p), expected, rtol=1e-9, atol=tolerance)


def test_the_rule_of_leibniz():
    check_frule(integral, Resonance(0.3, 0.2), 0.2, 1.7)
    check_rrule(integral, Resonance(0.3, 0.2), 0.2, 1.7)


def test_the_period_of_a_pendulum():
    """Of the complete elliptic integral: K' = (E - (1 - m) K) / (2 m (1 - m))."""
    from scipy.special import ellipe, ellipk

    def by_integral(m):
        return integral(lambda t: 1 / np.sqrt(1 - m * np.sin(t) ** 2), 0.0, np.pi / 2)

    for m in (0.1, 0.9):
        slope = (ellipe(m) - (1 - m) * ellipk(m)) / (2 * m * (1 - m))
        assert by_integral(m) == pytest.approx(ellipk(m), rel=1e-12)
        assert cr.grad(by_integral)(m) == pytest.approx(slope, rel=1e-11)
        assert cr.jacfwd(by_integral)(m) == pytest.approx(slope, rel=1e-11)
