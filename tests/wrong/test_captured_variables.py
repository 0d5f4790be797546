"""Variables of loops that a closure captures: a derivative is computed when they have moved on."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy.integrate import odeint, quad, solve_ivp
from chainrules.scipy.optimize import root

COUNTS = 1, 2, 3


def integrals(p):
    return sum(quad(lambda t: np.exp(-k * p[1] * t) * np.cos(p[0] * t), 0, 3)[0] for k in COUNTS)


def roots(p):
    return sum(root(lambda x: [x[0] ** k + x[0] - p[0] - p[1]], [1.0]).x[0] for k in COUNTS)


def decays(method):
    def end(p):
        total = 0.0
        for k in COUNTS:
            fall = lambda t, y: [-k * p[0] * y[0]]
            options = {"method": method, "rtol": 1e-8, "atol": 1e-8}
            total = total + solve_ivp(fall, (0, 1), [p[1]], **options).y[0, -1]
        return total

    return end


def older(p):
    total = 0.0
    for k in COUNTS:
        total = total + odeint(lambda y, t: -k * p[0] * y, p[1:], [0, 1.0])[-1, 0]
    return total


def scanned(steps):
    def end(p):
        total = 0.0
        for k in COUNTS:
            step = lambda y, x: (y * p[0] ** k + x, None)
            total = total + cr.scan(step, p[1], np.linspace(0, 1, steps))[0]
        return total

    return end


def scanned_without_captured_values(p):
    return sum(cr.scan(lambda y, x: (0.9**k * y + x, None), p[1], np.ones(40))[0] for k in COUNTS)


def checkpointed(p):
    return sum(cr.checkpoint(lambda y: np.sin(y * p[0] ** k))(p[1]) for k in COUNTS)


def checkpointed_without_captured_values(p):
    return sum(cr.checkpoint(lambda y: np.sin(k * y))(p[1]) for k in COUNTS) * p[0]


def running_total(p):
    """The sum that the function captures is a traced value, and another one in each round."""
    total = p[0]
    for _ in COUNTS:
        total = total + cr.checkpoint(lambda y: np.sin(y * total))(p[1])
    return total


def helper_in_a_variable(p):
    total = 0.0
    for k in COUNTS:

        def power(y):
            return y**k

        total = total + cr.checkpoint(lambda y: power(y) * p[0])(p[1])
    return total


PROGRAMS = {
    "quad": integrals,
    "root": roots,
    "RK45": decays("RK45"),
    "Radau": decays("Radau"),
    "BDF": decays("BDF"),
    "LSODA": decays("LSODA"),
    "odeint": older,
    "scan": scanned(40),
    "long scan": scanned(500),
    "scan of nothing": scanned_without_captured_values,
    "checkpoint": checkpointed,
    "checkpoint of nothing": checkpointed_without_captured_values,
    "running total": running_total,
    "helper": helper_in_a_variable,
}
X = np.array([0.9, 0.7])


def differences(f, x):
    moves = 1e-4 * np.eye(len(x))
    near = [8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h)) for h in moves]
    return np.array(near) / 12e-4


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_gradients_are_those_of_the_variables_as_they_were(f):
    np.testing.assert_allclose(cr.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("second", [cr.hessian, lambda f: cr.jacrev(cr.grad(f))])
def test_second_derivatives(f, second):
    np.testing.assert_allclose(second(f)(X), differences(cr.grad(f), X), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["quad", "root", "RK45", "scan", "scan of nothing", "checkpoint"])
def test_compiled(name):
    f = PROGRAMS[name]
    compiled = cr.compile(cr.grad(f), fallback="error", check=False)
    for scale in (1.0, 1.01, 0.98):
        np.testing.assert_allclose(compiled(scale * X), cr.grad(f)(scale * X), rtol=1e-9)


def test_a_variable_that_the_function_writes_to_itself():
    """Its own count begins anew where it is evaluated again, and the user's stays one."""
    calls = 0

    def layer(x):
        nonlocal calls
        calls += 1
        return x**2 * calls

    assert 6.0 == cr.grad(cr.checkpoint(layer))(3.0)
    assert 1 == calls


def test_a_variable_that_is_bound_later():
    def recursive(x, n):
        return x if n == 0 else np.sin(again(x, n - 1))

    f = cr.checkpoint(lambda x: recursive(x, 2))
    again = recursive
    expected = np.cos(np.sin(0.5)) * np.cos(0.5)
    np.testing.assert_allclose(cr.grad(f)(0.5), expected, rtol=1e-14)


def counted_in_a_loop(w, segment):
    count = 0

    def step(c):
        nonlocal count
        count += 1
        return c * w * count

    return cr.loop(5, step, w, segment=segment) + count


def counted_beside(w, segment):
    """Its count begins in the program, and goes on after the loop."""
    count, weight = 1, 0.5

    def step(c, x):
        nonlocal count, weight
        count, weight = count + 1, weight * x
        return c * count + weight * w, c

    first, ys = cr.scan(step, w, np.array([1.0, 0.5, 2.0, 1.5]), segment=segment)
    second, _ = cr.scan(step, first, np.ones(5), segment=segment)
    return second + np.sum(ys) * count + weight


def counted_in_a_while_loop(w, segment):
    count = 0

    def step(c):
        nonlocal count
        count += 1
        return c + w / count

    return cr.while_loop(lambda c: count < 70 * segment, step, w) * count


@pytest.mark.parametrize("segment", [1, 2, 3])
@pytest.mark.parametrize("f", [counted_in_a_loop, counted_beside, counted_in_a_while_loop])
def test_a_count_goes_on_from_segment_to_segment(f, segment):
    w, h = 0.7, 1e-6
    slope = (f(w + h, segment) - f(w - h, segment)) / (2 * h)
    for y, ydot in (
        cr.value_and_grad(f)(w, segment),
        cr.jvp(lambda w: f(w, segment), (w,), (1.0,)),
    ):
        assert y == f(w, segment)
        np.testing.assert_allclose(ydot, slope, rtol=1e-7)
    curvature = (cr.grad(f)(w + h, segment) - cr.grad(f)(w - h, segment)) / (2 * h)
    for order in (cr.hessian(f), cr.grad(cr.grad(f)), cr.jacfwd(cr.jacfwd(f))):
        np.testing.assert_allclose(order(w, segment), curvature, rtol=1e-6, atol=1e-4)
