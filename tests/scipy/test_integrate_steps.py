"""Derivatives on the nodes of QUADPACK and along the steps of BDF, by differences."""

import checks_of_objects as checks
import hypothesis
import numpy as np
import pytest
from differences import jacobian_of
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import integrate

check = checks.check
P = np.array([0.7, 1.3])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "options"),
    [
        ((0.0, 2.0), {}),
        ((2.0, 0.0), {}),
        ((0.0, np.inf), {}),
        ((-np.inf, 1.0), {}),
        ((np.inf, 0.5), {}),
        ((-np.inf, np.inf), {}),
        ((0.0, 2.0), {"points": [0.5, 1.2]}),
        ((-40.0, 30.0), {}),  # of many intervals
    ],
)
def test_each_range(ends, options):
    def f(p):
        def integrand(t):
            return np.exp(-p[0] * (t - 0.2) ** 2) * np.cos(p[1] * t)

        return integrate.quad(integrand, *ends, epsabs=1e-12, epsrel=1e-12, **options)[0]

    check(f, P)


def test_a_derivative_that_the_nodes_of_the_value_do_not_resolve():
    def f(p):
        return integrate.quad(lambda t: p * np.sin(200 * t), 0, 1)[0]

    assert cr.grad(f)(0.0) == pytest.approx((1 - np.cos(200)) / 200, rel=1e-7)


def test_a_value_by_extrapolation():
    def f(k):
        return integrate.quad(lambda t: t ** (k - 1), 0, 1)[0]

    assert cr.grad(f)(0.4) == pytest.approx(-1 / 0.4**2, rel=1e-5)


@hypothesis.given(st.floats(-1, 1), st.floats(0.1, 30), st.floats(-2, 0), st.floats(0.1, 4))
@hypothesis.settings(max_examples=40)
def test_random_integrals(shift, rate, start, length):
    def f(p):
        def integrand(t):
            return np.sin(rate * t * p[0]) / (1.0 + (p[1] * (t - shift)) ** 2)

        return integrate.quad(integrand, start, start + length)[0]

    slopes = jacobian_of(f, P, 1e-5)
    gradient = cr.grad(f)(P)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=2e-5 * rate)
    np.testing.assert_allclose(cr.jacfwd(f)(P), gradient, rtol=1e-12, atol=1e-12)


INTEGRANDS = {
    "wave": lambda t, p: np.exp(-p[0] * t * t) * np.cos(p[1] * t),
    "peak": lambda t, p: 1 / (1 + (9 * p[0] * (t - p[1] / 3)) ** 2),
    "tail": lambda t, p: np.exp(-abs(t)) * np.sin(p[0] * t + p[1]),
    "root": lambda t, p: np.sqrt(t * t + 0.1 * p[0] ** 2) * np.exp(-p[1] * t * t),
    "saturation": lambda t, p: np.tanh(20 * p[0] * (t - 0.3)) * np.exp(-p[1] * t * t),
}


@hypothesis.given(
    st.sampled_from(sorted(INTEGRANDS)),
    st.floats(0.3, 3.0),
    st.floats(0.3, 3.0),
    st.sampled_from([(0.0, 2.0), (1.5, -2.0), (0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf)]),
)
@hypothesis.settings(max_examples=40)
def test_derivatives_are_within_the_tolerances(name, a, b, ends):
    """By complex steps of the integrand; of second derivatives by differences of these."""
    f, p = INTEGRANDS[name], np.array([a, b])

    def slopes(p):
        def slope(t, k):
            return np.imag(f(t, p + 1e-30j * np.eye(2)[k])) / 1e-30

        tight = {"epsabs": 1e-12, "epsrel": 1e-12, "limit": 500}
        return np.array([integrate.quad(slope, *ends, args=(k,), **tight)[0] for k in range(2)])

    def g(p):
        return integrate.quad(lambda t: f(t, p), *ends)[0]

    def moving(p, low, high):
        return integrate.quad(lambda t: f(t, p), low, high)[0]

    np.testing.assert_allclose(cr.grad(g)(p), slopes(p), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(cr.jacfwd(g)(p), slopes(p), rtol=1e-7, atol=1e-7)
    steps = [1e-4 * unit for unit in np.eye(2)]
    seconds = [(slopes(p + step) - slopes(p - step)) / 2e-4 for step in steps]
    np.testing.assert_allclose(cr.hessian(g)(p), seconds, rtol=2e-5, atol=2e-5)
    if np.all(np.isfinite(ends)):
        first, *by_ends = cr.grad(moving, argnums=(0, 1, 2))(p, *ends)
        np.testing.assert_allclose(first, slopes(p), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(by_ends, [-f(ends[0], p), f(ends[1], p)], rtol=1e-12)
        twice = cr.hessian(lambda x: moving(p * x[0], ends[0] * x[0], x[1]))
        both = np.array([1.0, ends[1]])
        one = cr.grad(lambda x: moving(p * x[0], ends[0] * x[0], x[1]))
        seconds = [(one(both + h) - one(both - h)) / 2e-4 for h in steps]
        # The gradients differ by what the tolerances allow.
        np.testing.assert_allclose(twice(both), seconds, rtol=2e-4, atol=2e-4)


def end_of(method, **options):
    def f(p):
        def rhs(t, y):
            return np.stack([-p[0] * y[0] + t * y[1], p[1] * y[0] - 30.0 * y[1] ** 2])

        start = np.stack([1.0 + p[0], 0.5])
        return integrate.solve_ivp(rhs, (0.0, 2.0), start, method, rtol=1e-9, atol=1e-11, **options)

    return f


@pytest.mark.slow
def test_bdf_is_near_to_radau():
    by_bdf, by_radau = (
        cr.jacobian(lambda p, m=m: end_of(m)(p).y[:, -1])(P) for m in ("BDF", "Radau")
    )
    np.testing.assert_allclose(by_bdf, by_radau, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("times", [None, np.linspace(0.1, 1.9, 7)])
def test_both_modes_and_second_order_of_bdf(times):
    def f(p):
        y = end_of("BDF", t_eval=times)(p).y
        return np.sum(y[:, -3:] ** 2)

    def exact(p):
        y = end_of("DOP853", t_eval=times)(p).y
        return np.sum(y[:, -3:] ** 2)

    if times is None:
        gradients = cr.grad(f)(P), cr.jacfwd(f)(P)
        np.testing.assert_allclose(*gradients, rtol=1e-9)
        return
    np.testing.assert_allclose(cr.grad(f)(P), cr.jacfwd(f)(P), rtol=1e-9)
    np.testing.assert_allclose(cr.grad(f)(P), cr.grad(exact)(P), rtol=1e-5)
    np.testing.assert_allclose(cr.hessian(f)(P), cr.hessian(exact)(P), rtol=1e-4, atol=1e-6)


def test_a_right_hand_side_runs_once():
    calls = []

    def run(p):
        def rhs(t, y):
            calls.append(t)
            return -p[0] * y

        return integrate.solve_ivp(rhs, (0.0, 1.0), np.array([1.0]), rtol=1e-6).y[0, -1]

    run(P)
    plain = len(calls)
    for transform in (cr.grad, cr.jacfwd, cr.jacobian):
        calls.clear()
        np.testing.assert_allclose(transform(run)(P)[0], -np.exp(-P[0]), rtol=1e-4)
        assert len(calls) == plain


@pytest.mark.slow
@hypothesis.given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 3),
    stiffness=st.floats(1.0, 300.0),
    span=st.sampled_from([(0.0, 1.0), (0.0, 3.0), (1.0, 0.4), (-1.0, 0.5)]),
    options=st.sampled_from(
        [{}, {"max_step": 0.1}, {"first_step": 1e-3}, {"dense_output": True}, {"jac": True}]
    ),
)
@hypothesis.settings(max_examples=2)
def test_random_systems_by_bdf(seed, n, stiffness, span, options):
    rng = np.random.default_rng(seed)
    sign = np.sign(span[1] - span[0])  # decaying along the way that is gone
    decay = -sign * np.diag(np.geomspace(0.3, stiffness, n))
    mixing, forcing, start = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
    times = np.sort(rng.uniform(*sorted(span), 3))[:: int(sign)]
    own = {"jac": lambda t, y: decay + 0.1 * mixing} if options.get("jac") else options

    def states(p, method="BDF", **options):
        def rhs(t, y):
            pull = decay * p[0] + 0.1 * p[1] * mixing
            return pull @ y + p[2] * np.cos(3 * t) * forcing

        tight = {"rtol": 1e-9, "atol": 1e-11}
        y0 = start * p[3]
        found = integrate.solve_ivp(rhs, span, y0, method, t_eval=times, **tight, **options)
        return found.sol(times[1]) if "dense_output" in options else found.y

    p = np.array([1.0, 1.0, 0.7, 1.2])
    pdot = rng.normal(size=4)
    y, ydot = cr.jvp(lambda p: states(p, **own), (p,), (pdot,))
    plain = states(p, **own)
    np.testing.assert_array_equal(y, plain)
    ybar = rng.normal(size=np.shape(y))
    (pbar,) = cr.vjp(lambda p: states(p, **own), p)[1](ybar)
    np.testing.assert_allclose(np.sum(ybar * ydot), pbar @ pdot, rtol=1e-8, atol=1e-9)
    h = 1e-4
    exact = {"dense_output": True} if options.get("dense_output") else {}
    ends = [states(p + s * h * pdot, "Radau", **exact) for s in (2, 1, -1, -2)]
    slope = (-ends[0] + 8 * ends[1] - 8 * ends[2] + ends[3]) / (12 * h)
    np.testing.assert_allclose(ydot, slope, rtol=1e-4, atol=1e-4 * np.max(np.abs(slope)))
