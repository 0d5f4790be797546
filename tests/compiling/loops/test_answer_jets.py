"""Solvers that decide by last bits, in a recording: one step, which calls SciPy in each replay."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings
from scipy.interpolate import CubicSpline

import chainrules.scipy

ours = chainrules.scipy.integrate
P = np.array([0.8, 0.5])
TIMES = np.linspace(0.0, 3.0, 5)
FOOD = CubicSpline(np.linspace(0.0, 3.0, 5), [1.0, 1.1, 0.9, 1.0, 1.2])


def prey(t, y, p, food=1.0):
    met = 0.1 * y[0] * y[1]
    return np.stack([p[0] * food * y[0] - met, 0.5 * met - p[1] * y[1]])


def fed(t, y, p):
    return prey(t, y, p, float(FOOD(t)))


def slopes(t, y, p):
    return np.array([[p[0] - 0.1 * y[1], -0.1 * y[0]], [0.05 * y[1], 0.05 * y[0] - p[1]]])


def crossing(t, y, p):
    return y[0] - 12.0


def by_ivp(f=prey, **options):
    options = {"t_eval": TIMES} | options

    def of(p):
        y0 = np.stack([10.0, 5.0 * p[1]])
        return ours.solve_ivp(f, (0.0, 3.0), y0, args=(p,), **options).y / 10

    return of


PROGRAMS = {
    "BDF": by_ivp(method="BDF"),
    "BDF, mesh": by_ivp(method="BDF", t_eval=None),
    "Radau": by_ivp(method="Radau", rtol=1e-6),
    "Radau, jac": by_ivp(method="Radau", jac=slopes),
    "LSODA": by_ivp(method="LSODA"),
    "events": by_ivp(events=crossing),
    "spline": by_ivp(fed),
    "backward": lambda p: (
        ours.solve_ivp(lambda t, y: prey(t, y, p), (3.0, 0.0), [10.0, 5.0], t_eval=TIMES[::-1]).y
    ),
    "dense": lambda p: ours.solve_ivp(
        prey, (0.0, 3.0), np.stack([10.0, 5.0 * p[1]]), args=(p,), dense_output=True
    ).sol(TIMES * p[0]),
    "boundary": lambda p: ours.solve_bvp(
        lambda x, y: np.vstack([y[1], -p[0] * y[0]]),
        lambda a, b: np.stack([a[0] - p[1], b[0]]),
        TIMES,
        np.full((2, 5), 0.1),
    ).sol(TIMES[:3]),
    "odeint": lambda p: ours.odeint(lambda y, t: -p * y * y, np.stack([1.0, 2.0 * p[0]]), TIMES),
    "weight": lambda p: ours.quad(
        lambda x: np.exp(-p[0] * x * x) * p[1], 0.0, 2.0, weight="cos", wvar=3.0
    )[0],
    "quad_vec": lambda p: ours.quad_vec(lambda x: np.exp(-p * x) * np.cos(p[1] * x), 0.0, 2.0)[0],
}
DERIVED = {
    "value": lambda f: lambda p: f(p),
    "grad": lambda f: cr.grad(lambda p: np.sum(np.sin(f(p)))),
    "jvp": lambda f: lambda p: cr.jvp(f, (p,), (p[::-1],))[1],
    "hessian": lambda f: cr.hessian(lambda p: np.sum(np.sin(f(p)))),
    "hvp": lambda f: lambda p: cr.hvp(lambda p: np.sum(np.sin(f(p))), (p,), (p[::-1],)),
}


SOME = {"BDF", "dense", "quad_vec"}
CASES = [
    pytest.param(name, by, marks=() if name in SOME else pytest.mark.slow)
    for name in PROGRAMS
    for by in (DERIVED if name in SOME else ("value", "grad", "hessian"))
]


@pytest.mark.parametrize(("name", "transform"), CASES)
def test_replays_are_as_without_compile(name, transform):
    d = DERIVED[transform](PROGRAMS[name])
    compiled = cr.compile(d, fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for k in range(4):
            p = P * (1 + 0.002 * k)
            np.testing.assert_allclose(compiled(p), d(p), rtol=1e-12, atol=1e-13)
    assert recordings(compiled) <= (4 if name in ("BDF, mesh", "boundary") else 1)


@pytest.mark.slow
@given(
    name=st.sampled_from(sorted(set(PROGRAMS) - {"Radau, jac", "LSODA"})),
    by=st.sampled_from(["grad", "jacrev", "jvp"]),
    shift=st.floats(0.9, 1.1),
    other=st.floats(0.5, 1.5),
)
@settings(max_examples=20)
def test_parts_that_stay_have_no_derivative(name, by, shift, other):
    """Arguments beside those that are differentiated are given to the solver as they are."""
    f = PROGRAMS[name]

    def loss(a, b, n):
        y = f(np.stack([a * 0.8, b * 0.5]))
        return np.sum(np.cos(y) * b) * n

    d = {
        "grad": cr.grad(loss),
        "jacrev": cr.jacrev(loss, argnums=(0, 1)),
        "jvp": lambda a, b, n: cr.jvp(lambda b: loss(a, b, n), (b,), (1.0,))[1],
    }[by]
    compiled = cr.compile(d, fallback="error")
    for a, b, n in ((1.0, other, 2), (shift, other, 2), (shift, 1.0, 3)):
        np.testing.assert_allclose(compiled(a, b, n), d(a, b, n), rtol=1e-12, atol=1e-13)


def test_answers_of_other_structures():
    def f(p):
        answer = ours.solve_ivp(prey, (0.0, 3.0), [10.0, 5.0], args=(p,), events=crossing)
        times = answer.t_events[0]
        return times[0] if len(times) else answer.y[0, -1]

    compiled = cr.compile(cr.grad(f), fallback="error")
    for a in (0.8, 0.2, 0.81, 0.21):
        p = np.array([a, 0.5])
        np.testing.assert_allclose(compiled(p), cr.grad(f)(p), rtol=1e-12)


def test_fields_are_scipys():
    def fields(p):
        answer = ours.solve_ivp(prey, (0.0, 3.0), [10.0, 5.0], "BDF", TIMES, args=(p,))
        return answer.t, answer.nfev, answer.njev, answer.success, answer.message, answer.sol

    compiled = cr.compile(fields, fallback="error")
    for k in range(3):
        for found, own in zip(compiled(P * (1 + 0.1 * k)), fields(P * (1 + 0.1 * k)), strict=True):
            assert type(found) is type(own)
            np.testing.assert_array_equal(found, own)


def test_fields_and_solution_of_one_answer():
    def both(p):
        answer = ours.solve_ivp(prey, (0.0, 3.0), [10.0, 5.0], args=(p,), dense_output=True)
        assert "y" in answer
        assert set(answer.keys()) >= {"t", "y", "sol", "nfev"}
        return answer.y[:, -1] - answer.sol(3.0), answer.t, answer.nfev

    compiled = cr.compile(both, fallback="error")
    for k in range(3):
        for found, own in zip(compiled(P * (1 + 0.002 * k)), both(P * (1 + 0.002 * k))):
            np.testing.assert_allclose(found, own, atol=1e-12)


def test_what_is_no_step_is_evaluated_as_it_is():
    """A method of a dense output, and values at many times that are differentiated."""

    def slope(p):
        x, y = np.linspace(0.0, 1.0, 5), np.zeros((2, 5))
        answer = ours.solve_bvp(
            lambda x, y: np.vstack([y[1], -p[0] * y[0]]),
            lambda a, b: np.stack([a[0] - p[1], b[0]]),
            x,
            y,
        )
        return np.sum(answer.sol.derivative()(0.5))

    def at_many(p):
        answer = ours.solve_ivp(prey, (0.0, 3.0), [10.0, 5.0], args=(p,), dense_output=True)
        return np.sum(answer.sol(p[0] * np.linspace(0.0, 3.0, 40)))

    for f in (slope, at_many):
        compiled = cr.compile(cr.grad(f))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.CompileWarning)
            for k in range(2):
                p = P * (1 + 0.1 * k)
                np.testing.assert_allclose(compiled(p), cr.grad(f)(p), rtol=1e-9)


def test_what_a_function_reads_is_read_in_each_replay():
    rates = {"growth": 1.0}

    def f(p):
        def rhs(t, y):
            return prey(t, y, p * rates["growth"])

        return np.sum(ours.solve_ivp(rhs, (0.0, 3.0), [10.0, 5.0], "BDF", TIMES).y)

    compiled = cr.compile(cr.grad(f))
    for growth in (1.0, 1.0, 1.2, 0.9):
        rates["growth"] = growth
        np.testing.assert_allclose(compiled(P), cr.grad(f)(P), rtol=1e-12)


def test_what_a_function_does_besides_is_no_step():
    """It is seen by what comes after it, and so the whole is recorded as before."""

    def counted(p):
        calls = []

        def integrand(x):
            calls.append(x)
            return np.exp(-p[0] * x * x)

        y = ours.quad(integrand, 0.0, 20.0, weight="cos", wvar=3.0)[0]
        return y * len(calls)

    def kept(p):
        last = {}

        def rhs(t, y):
            last["t"] = t
            return prey(t, y, p)

        y = ours.solve_ivp(rhs, (0.0, 3.0), [10.0, 5.0], "BDF", TIMES).y
        return np.sum(y) * last["t"]

    for f in (counted, kept):
        compiled = cr.compile(f)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.CompileWarning)
            for k in range(4):
                p = P * (1 + 3.0 * k)
                np.testing.assert_allclose(compiled(p), f(p), rtol=1e-12)


def test_errors_of_the_users_function_are_its_own():
    def f(p):
        def rhs(t, y):
            if p[0] > 1.0:
                raise ArithmeticError("too fast")
            return prey(t, y, p)

        return np.sum(ours.solve_ivp(rhs, (0.0, 3.0), [10.0, 5.0], "BDF", TIMES).y)

    compiled = cr.compile(cr.grad(f))
    for a in (0.8, 1.2, 0.7, 1.3):
        p = np.array([a, 0.5])
        if a > 1.0:
            with pytest.raises(ArithmeticError, match="too fast"):
                compiled(p)
        else:
            np.testing.assert_allclose(compiled(p), cr.grad(f)(p), rtol=1e-12)


def test_many_parameters():
    def f(p):
        def rhs(t, y):
            return -np.sum(p) / 40 * y + p[:3]

        return np.sum(ours.solve_ivp(rhs, (0.0, 1.0), p[:3], "BDF", [0.5, 1.0]).y)

    compiled, p = cr.compile(cr.grad(f)), np.linspace(0.5, 1.5, 40)
    with pytest.warns(cr.CompileWarning, match="solve_ivp in .* has derivatives by 43 numbers"):
        np.testing.assert_allclose(compiled(p), cr.grad(f)(p), rtol=1e-12)
    np.testing.assert_allclose(compiled(p + 1), cr.grad(f)(p + 1), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::chainrules.BatchWarning")
def test_batches():
    f = cr.vmap(cr.grad(lambda p: np.sum(PROGRAMS["BDF"](p))))
    compiled = cr.compile(f)
    for k in range(3):
        ps = np.stack([P, P * 1.1, P * 0.9]) * (1 + 0.01 * k)
        np.testing.assert_allclose(compiled(ps), f(ps), rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "transform"), [("RK45", "hessian"), ("RK23", "hvp"), ("BDF", "hvp")]
)
def test_second_derivatives_of_solutions_are_recorded_once(method, transform):
    d = DERIVED[transform](by_ivp(method=method))
    compiled = cr.compile(d, fallback="error")
    for k in range(4):
        p = P * (1 + 0.01 * k)
        np.testing.assert_allclose(compiled(p), d(p), rtol=1e-9)
    assert recordings(compiled) == 1


def test_beside_loops_that_are_unrolled():
    """A solver is a step even where loops are written down round by round."""

    def f(p):
        seen = []
        cr.loop(3, lambda x: (seen.append(1), x * p[0])[1], p[1])
        return np.sum(PROGRAMS["BDF"](p)) * len(seen)

    compiled = cr.compile(cr.grad(f))
    for k in range(3):
        p = P * (1 + 0.01 * k)
        np.testing.assert_allclose(compiled(p), cr.grad(f)(p), rtol=1e-12)
    assert recordings(compiled) == 1


def test_strong_zeros():
    f = cr.compile(lambda p: cr.grad(lambda p: np.sum(PROGRAMS["BDF"](p)), zero="strong")(p))
    np.testing.assert_allclose(f(P), cr.grad(lambda p: np.sum(PROGRAMS["BDF"](p)))(P), rtol=1e-12)
