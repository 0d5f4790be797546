"""Solvers in a recording: SciPy's answers, at other parameters in each call."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings
from scipy import optimize as scipys

import chainrules.scipy

ours = chainrules.scipy.optimize
P = np.array([1.0, 3.0, 0.5])
TIMES = np.linspace(0.0, 2.0, 20)
DATA = 2 * np.exp(-1.3 * TIMES) + 0.1 * np.cos(9 * TIMES)


def pair(x, p):
    return [x[0] ** 2 + p[0] * x[1] - p[1], x[1] * np.exp(0.1 * x[0]) - p[2]]


def cubic(x, p):
    return x**3 + p[0] * x - p[1] * np.cos(p[2])


def bowl(x, p):
    return (x[0] - p[0]) ** 2 + p[1] * (x[1] - 0.5 * x[0] ** 2) ** 2 + np.cos(p[2] * x[0])


def misfit(x, p):
    return p[0] * x[0] * np.exp(-x[1] * TIMES) + 0.1 * p[2] - DATA


def by_minimize(**options):
    def of(m, p):
        return m.minimize(lambda x: bowl(x, p), np.array([0.5, 0.4]), **options).x

    return of


PROGRAMS = {
    "root": lambda m, p: m.root(lambda x: pair(x, p), [1.0, 1.0]).x,
    "root, lm": lambda m, p: m.root(lambda x: pair(x, p), [1.0, 1.0], method="lm").x,
    "root, args": lambda m, p: m.root(lambda x, p, a: pair(x, a * p), [1, 1], (p, 1.5)).x,
    "fsolve": lambda m, p: m.fsolve(pair, p[:2], args=p),
    "fsolve, all": lambda m, p: m.fsolve(pair, [1.0, 1.0], args=(p,), full_output=True)[0],
    "root_scalar": lambda m, p: m.root_scalar(cubic, (p,), bracket=(0.0, p[1])).root,
    "brentq, all": lambda m, p: m.brentq(lambda x: cubic(x, p), 0.0, 5.0, full_output=True)[0],
    "toms748": lambda m, p: m.toms748(lambda x: cubic(x, p), 0.0, 5.0),
    "newton, all": lambda m, p: m.newton(lambda x: cubic(x, p), 1.0, full_output=True)[0],
    "fixed_point": lambda m, p: m.fixed_point(lambda x: np.cos(p[2] * x) / p[0], 0.5),
    "bfgs": by_minimize(),
    "l-bfgs-b": by_minimize(method="L-BFGS-B"),
    "nelder-mead": by_minimize(method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}),
    "bounds": by_minimize(bounds=[(-9.0, 9.0), (None, 9.0)]),
    "slopes": lambda m, p: (
        m.minimize(f := lambda x: bowl(x, p), p[:2], jac=cr.grad(f), options={"gtol": 1e-9}).x
    ),
    "pair": lambda m, p: (
        m.minimize(cr.value_and_grad(lambda x: bowl(x, p)), [0.5, 0.4], jac=True, tol=1e-9).x
    ),
    "minimize_scalar": lambda m, p: m.minimize_scalar(lambda x: bowl([x, 0.2], p), tol=1e-10).x,
    "least_squares": lambda m, p: m.least_squares(lambda x: misfit(x, p), [1.0, 1.0]).x,
    "leastsq": lambda m, p: m.leastsq(misfit, [1.0, 1.0], args=(p,))[0],
}
COARSE = {"bfgs", "l-bfgs-b", "nelder-mead", "bounds"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_scipys_and_their_derivatives_as_without_compile(name):
    f = PROGRAMS[name]

    def loss(p):
        x = f(ours, p)
        return np.sum(np.sin(x)) * p[0] + np.sum(x * x)

    compiled = cr.compile(lambda p: f(ours, p), fallback="error")
    both, eager = cr.value_and_grad(loss), cr.compile(cr.value_and_grad(loss), fallback="error")
    near = 1e-6 if name in COARSE else 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ConvergenceWarning)
        for k in range(4):
            p = P * (1 + 0.07 * k)
            found, own = compiled(p), f(scipys, p)
            assert type(found) is type(own)
            np.testing.assert_allclose(found, own, rtol=near, atol=near)
            for a, b in zip(eager(p), both(p)):
                np.testing.assert_allclose(a, b, rtol=10 * near, atol=10 * near)
    assert recordings(compiled) <= 2
    assert recordings(eager) <= 2


@pytest.mark.parametrize("name", ["root", "root_scalar", "slopes", "least_squares"])
def test_second_derivatives(name):
    f = PROGRAMS[name]
    d = cr.hessian(lambda p: np.sum(np.sin(f(ours, p))))
    compiled = cr.compile(d, fallback="error", check=False)
    for k in range(3):
        p = P * (1 + 0.07 * k)
        np.testing.assert_allclose(compiled(p), d(p), rtol=1e-5, atol=1e-5)
    assert recordings(compiled) == 1


def test_fields_of_results():
    def fields(m, p):
        r = m.root(lambda x: pair(x, p), [1.0, 1.0])
        s = m.root_scalar(lambda x: cubic(x, p), bracket=(0.0, 5.0))
        return r.x, r.fun, r.success, r.message, r.nfev, r.fjac, s.converged, s.flag, s.iterations

    compiled = cr.compile(lambda p: fields(ours, p), fallback="error")
    for k in range(5):
        p = P * (1 + 0.03 * k)
        for found, own in zip(compiled(p), fields(scipys, p), strict=True):
            assert type(found) is type(own)
            if isinstance(own, np.ndarray):
                np.testing.assert_allclose(found, own, rtol=1e-6, atol=1e-9)
            else:
                assert found == own


@pytest.mark.parametrize("options", [{}, {"weights": np.ones(20), "increasing": False}])
def test_an_isotonic_regression_is_a_recording_for_each_number_of_blocks(options):
    def loss(p):
        answer = ours.isotonic_regression(p[0] * TIMES + p[1] * np.sin(5 * TIMES), **options)
        return np.sum(answer.x**2) + np.sum(np.sin(answer.weights) * p[0])

    counts = set()
    plain = cr.hessian(loss)
    compiled = cr.compile(plain, fallback="error")
    for k in range(8):
        p = np.array([1.0, 0.3 + 0.02 * k])
        np.testing.assert_allclose(compiled(p), plain(p), 1e-10, 1e-10)
        y = p[0] * TIMES + p[1] * np.sin(5 * TIMES)
        counts.add(len(scipys.isotonic_regression(y, **options).blocks))
    assert recordings(compiled) == len(counts)


def test_an_answer_that_is_none_is_told():
    def f(p):
        r = ours.root(lambda x: [x[0] ** 2 + p[0]], [1.0])
        return r.x[0] if r.success else -1.0

    compiled = cr.compile(f, fallback="error")
    for a in (-4.0, -2.0, 1.0, -3.0, 2.0):
        np.testing.assert_allclose(compiled(np.array([a])), np.sqrt(-a) if a < 0 else -1.0)
    assert recordings(compiled) <= 3


def test_a_field_that_is_no_number_says_so():
    def f(p):
        return ours.minimize(lambda x: bowl(x, p), [0.5, 0.4], method="L-BFGS-B").hess_inv

    with pytest.raises(NotImplementedError, match="'hess_inv' of a solver's result"):
        cr.compile(cr.grad(lambda p: np.sum(f(p) @ p[:2])))(P)


@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")
def test_functions_that_do_more_are_called():
    def f(p):
        seen = []

        def residual(x):
            seen.append(1)
            return pair(x, p)

        return np.sum(ours.root(residual, [1.0, 1.0]).x) * len(seen)

    compiled = cr.compile(f, check=False)
    for k in range(4):
        p = P * (1 + 0.07 * k)
        np.testing.assert_allclose(compiled(p), f(p), rtol=1e-9)


def test_what_a_function_captures_may_change():
    rate = {"of": 1.0}

    def f(p):
        return np.sum(ours.root(lambda x: pair(x, p * rate["of"]), [1.0, 1.0]).x)

    compiled = cr.compile(cr.grad(f), fallback="error", check=False)
    for k in range(3):
        rate["of"] = 1.0 + 0.1 * k
        np.testing.assert_allclose(compiled(P), cr.grad(f)(P), rtol=1e-9)


def test_errors_are_scipys_and_the_users():
    def f(p):
        def g(x):
            if p[0] > 2.0:
                raise ValueError("too far")
            return x * x - p[0]

        return ours.root_scalar(g, bracket=(0.0, p[1])).root

    compiled = cr.compile(f, fallback="error", check=False)
    np.testing.assert_allclose(compiled(np.array([1.0, 2.0])), 1.0)
    with pytest.raises(ValueError, match="too far"):
        compiled(np.array([3.0, 2.0]))
    with pytest.raises(ValueError, match="different signs"):
        compiled(np.array([1.0, 0.5]))
    np.testing.assert_allclose(compiled(np.array([1.44, 2.0])), 1.2)


@pytest.mark.slow
@settings(max_examples=8)
@given(
    st.sampled_from(["root", "fsolve", "root_scalar", "slopes", "pair", "least_squares"]),
    st.lists(st.tuples(*[st.floats(0.3, 3.0)] * 3), min_size=2, max_size=3),
)
def test_random_answers(name, parameters):
    def loss(p):
        return np.sum(PROGRAMS[name](ours, p))

    compiled = cr.compile(cr.value_and_grad(loss), check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for p in map(np.array, parameters):
            try:
                expected = cr.value_and_grad(loss)(p)
            except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
                with pytest.raises(type(error)):
                    compiled(p)
                continue
            bent = 1.0 + np.max(np.abs(expected[1]))  # near where two roots meet
            for found, own in zip(compiled(p), expected):
                np.testing.assert_allclose(found, own, rtol=1e-5, atol=1e-6 * bent**2)
