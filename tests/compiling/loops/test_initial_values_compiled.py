"""``solve_ivp`` in a recording: SciPy's steps, counts and values, at other parameters each call."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_transforms import TRANSFORMS

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings_of_each
from scipy.integrate import solve_ivp as scipys

import chainrules.scipy

solve_ivp = chainrules.scipy.integrate.solve_ivp
P = np.array([1.5, 1.0, 3.0, 1.0])
METHODS = ["RK45", "RK23", "DOP853"]


def lotka(t, y, a, b, c, d):
    return [a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]]


def pendulum(t, y, a, b, c, d):
    return [y[1], -a * np.sin(y[0]) - 0.3 * b * y[1] + 0.5 * c * np.cos(d * t)]


def chain(t, y, a, b, c, d):
    return a * np.roll(y, 1) - (a + 0.1 * b) * y + 0.1 * c * np.sin(d * t)


def decay(t, y, a, b, c, d):
    return -a * y if t < 2.0 + 0.1 * b else -a * y + c * np.exp(-d * t)


FIELDS = {"lotka": (lotka, 2), "pendulum": (pendulum, 2), "chain": (chain, 4), "decay": (decay, 1)}


def solved(solver, p, name="lotka", **options):
    f, n = FIELDS[name]
    y0 = 1.0 + 0.2 * p[0] * np.arange(n) * np.ones(n)
    return solver(lambda t, y: f(t, y, *p), (0.0, 6.0), y0, **options)


OPTIONS = [
    {"t_eval": np.linspace(0.0, 6.0, 13)},
    {"t_eval": [0.5, 2.5], "rtol": 1e-6, "atol": 1e-9},
    {"t_eval": [6.0], "max_step": 0.2},
    {"t_eval": [0.0, 3.0], "first_step": 0.7, "rtol": 1e-7},
    {},
    {"rtol": 1e-5, "max_step": 0.5},
]


@pytest.mark.parametrize(
    ("method", "name", "options"),
    [
        pytest.param(METHODS[(i + j) % 3], name, options, id=f"{METHODS[(i + j) % 3]}-{name}-{j}")
        for i, name in enumerate(FIELDS)
        for j, options in enumerate(OPTIONS)
    ],  # each two of these meet
)
def test_steps_and_values_are_scipys(method, name, options, rounds):
    def f(p):
        answer = solved(solve_ivp, p, name, method=method, **options)
        return answer.t, answer.y, answer.nfev, answer.status, answer.success, answer.message

    compiled = cr.compile(f, fallback="error", check=False)
    for k in range(3):
        p = P * (1 + 0.07 * k)
        own = solved(scipys, p, name, method=method, **options)
        t, y, nfev, status, success, message = compiled(p)
        # Errors are differences of slopes: the length of a step is known to fewer digits. By
        # DOP853, SciPy's own moves in the fifth one if the parameters move in the last.
        moves = method == "DOP853" and "rtol" not in options
        np.testing.assert_allclose(t, own.t, rtol=1e-4 if moves else 1e-8)
        np.testing.assert_allclose(y, own.y, rtol=1e-3 if moves else 1e-8, atol=1e-10)
        assert (nfev, status, success, message) == (own.nfev, 0, True, own.message)
    assert rounds
    if options.get("t_eval") is not None:
        # Twice as many steps are one more.
        assert recordings_of_each(compiled) in ([1], [2])


def test_further_slopes_are_those_of_accepted_steps(rounds):
    # The first step is rejected, and holds the start; its further slopes would overflow.
    options = {"method": "DOP853", "t_eval": [0.0, 1e-3, 3.0], "first_step": 6.0, "rtol": 1e-7}

    def f(p):
        answer = solved(solve_ivp, p, **options)
        return answer.y, answer.nfev

    compiled = cr.compile(f, fallback="error", check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for p in (P, 1.1 * P, 0.9 * P):
            y, nfev = compiled(p)
            own = solved(scipys, p, **options)
            np.testing.assert_allclose(y, own.y, rtol=1e-10)
            assert nfev == own.nfev
    assert len(rounds) >= 3


def loss(p, name="lotka", **options):
    answer = solved(solve_ivp, p, name, **options)
    return np.sum(np.sin(answer.y) ** 2) + answer.y[0, -1] * p[1]


@pytest.mark.parametrize(
    ("method", "transform", "name"),
    [
        *(("RK45", transform, name) for transform in ("grad", "jvp") for name in FIELDS),
        ("RK45", "hvp", "lotka"),
        ("RK45", "hessian", "chain"),
        ("RK45", "jacrev", "lotka"),
        ("DOP853", "grad", "chain"),
        ("DOP853", "jvp", "decay"),
        ("DOP853", "hvp", "pendulum"),
    ],  # second orders are made of these, and take seconds
)
def test_derivatives_are_those_of_the_steps(method, transform, name, rounds):
    options = {"t_eval": np.linspace(0.0, 6.0, 7), "rtol": 1e-5, "atol": 1e-7, "method": method}
    d = TRANSFORMS[transform](lambda p: loss(p, name, **options))
    compiled = cr.compile(d, fallback="error", check=False)
    for k in range(2):
        p = P * (1 + 0.07 * k)
        for found, expected in zip(np.atleast_1d(compiled(p)), np.atleast_1d(d(p))):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert rounds


@settings(max_examples=4)
@given(
    st.sampled_from(sorted(FIELDS)),
    st.sampled_from(METHODS),
    st.sampled_from([1e-3, 1e-5, 1e-8]),
    st.lists(st.floats(0.0, 6.0), min_size=1, max_size=6, unique=True).map(sorted),
    st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4),
)
def test_random_problems(name, method, rtol, times, p):
    options = {"method": method, "rtol": rtol, "t_eval": times}
    d = cr.value_and_grad(lambda p: loss(p, name, **options))
    compiled = cr.compile(d, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (P, np.array(p)):
            value, slopes = compiled(x)
            expected, own = d(x)
            np.testing.assert_allclose(value, expected, rtol=1e-7)
            np.testing.assert_allclose(slopes, own, rtol=1e-5, atol=1e-6)


def test_what_is_no_loop_is_as_it_was():
    # Events, dense output, other methods, and times that are differentiated.
    def dense(p):
        return solved(solve_ivp, p, dense_output=True).sol(2.0)[0]

    def ended(p):
        answer = solve_ivp(lambda t, y: -p[0] * y, (0.0, p[1]), [1.0])
        return answer.y[0, -1]

    def stiff(p):
        return solved(solve_ivp, p, method="Radau", t_eval=[3.0]).y[0, 0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        for f in (dense, ended, stiff):
            np.testing.assert_allclose(cr.compile(cr.grad(f))(P), cr.grad(f)(P), rtol=1e-9)


@pytest.mark.parametrize("bad", [{"t_eval": [7.0]}, {"t_eval": [2.0, 1.0]}, {"max_step": -1.0}])
def test_errors_are_scipys(bad):
    def f(p):
        return solved(solve_ivp, p, **bad).y[0, -1]

    with pytest.raises(ValueError) as plain:  # noqa: PT011
        solved(scipys, P, **bad)
    with pytest.raises(ValueError, match=str(plain.value)[:20]):
        cr.compile(cr.grad(f))(P)


def test_a_problem_that_blows_up_is_left_to_scipy():
    def f(p):
        return solve_ivp(lambda t, y: p[0] * y * y, (0.0, 3.0), [1.0], t_eval=[0.2]).y[0, 0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(cr.compile(cr.grad(f))(P), cr.grad(f)(P), rtol=1e-7)
