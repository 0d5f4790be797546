"""Derivatives of solutions that rest at an equilibrium, where SciPy's steps grow without bound."""

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import integrate

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
MODES = {"forward": cr.jacfwd, "reverse": cr.jacrev}


def pendulum(t, y, length):
    return [y[1], -np.sin(y[0]) / length]


def swing(method, y0, length, span=(0.0, 10.0), **options):
    given = {"rtol": 1e-6, "atol": 1e-8} | options
    return integrate.solve_ivp(pendulum, span, y0, method, args=(length,), **given)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("method", METHODS)
def test_pendulum_at_rest(method, mode):
    found = mode(lambda y0: swing(method, y0, 1.0).y[:, -1])(np.zeros(2))
    c, s = np.cos(10.0), np.sin(10.0)
    np.testing.assert_allclose(found, [[c, s], [-s, c]], atol=1e-4)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_times_inside_and_a_dense_answer(mode):
    times = np.array([1.0, 4.0, 7.5])

    def f(y0):
        answer = swing("RK45", y0, 1.0, t_eval=times, dense_output=True)
        return np.stack([answer.y[0], answer.sol(times)[0]])

    found = mode(f)(np.zeros(2))
    expected = np.stack([np.cos(times), np.sin(times)], axis=1)
    np.testing.assert_allclose(found, [expected, expected], atol=1e-4)


def test_second_derivative_at_rest():
    def f(q):
        return swing("DOP853", q[:2], q[2], rtol=1e-9, atol=1e-11).y[0, -1]

    # By q[0] and the length: the linear motion cos(t / sqrt(length)) of a unit swing.
    found = cr.hessian(f)(np.array([0.0, 0.0, 1.0]))
    assert found[0, 2] == pytest.approx(0.5 * 10.0 * np.sin(10.0), rel=1e-5)


def test_backward_in_time_and_tolerances_of_each_state():
    def f(y0):
        return swing("RK45", y0, 1.0, span=(10.0, 0.0), atol=np.array([1e-8, 1e-7])).y[0, -1]

    found = cr.grad(f)(np.zeros(2))
    np.testing.assert_allclose(found, [np.cos(10.0), -np.sin(10.0)], atol=1e-4)


@pytest.mark.parametrize("start", [1e-13, 1e-10])
def test_nearly_at_rest(start):
    def f(y0):
        return swing("RK45", y0, 1.0).y[0, -1]

    found = cr.grad(f)(np.array([start, 0.0]))
    np.testing.assert_allclose(found, [np.cos(10.0), np.sin(10.0)], atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_one_state_at_rest_while_another_moves(method):
    def infected(i0):
        def rates(t, y):
            return [-0.01 * y[0], (3.0 * y[0] / 100.0 - 1.0) * y[1]]

        return integrate.solve_ivp(rates, (0.0, 5.0), [100.0, i0], method).y[1, -1]

    grown = np.exp(3.0 * (1 - np.exp(-0.05)) / 0.01 - 5.0)
    assert cr.grad(infected)(0.0) == pytest.approx(grown, rel=2e-2)


def test_odeint_at_rest():
    def f(y0):
        return integrate.odeint(lambda y, t: pendulum(t, y, 1.0), y0, [0.0, 10.0])[-1, 0]

    np.testing.assert_allclose(cr.grad(f)(np.zeros(2)), [np.cos(10.0), np.sin(10.0)], atol=1e-5)


def test_compiled_before_it_comes_to_rest():
    def f(y0):
        return swing("RK45", y0, 1.0).y[0, -1]

    slope = cr.compile(cr.grad(f))
    slope(np.array([0.3, 0.1]))
    np.testing.assert_allclose(slope(np.zeros(2)), [np.cos(10.0), np.sin(10.0)], atol=1e-4)


def test_polynomials_which_have_no_error_in_any_step():
    def f(v):
        return integrate.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, 2.0), [0.0, v]).y[0, -1]

    assert cr.grad(f)(3.0) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_is_off(method):
    def f(p):
        fun = lambda t, y: -y + p * np.sin(20 * t)  # noqa: E731
        return integrate.solve_ivp(fun, (0.0, 3.0), [0.0], method, rtol=1e-5).y[0, -1]

    e, c, s = np.exp(-3.0), np.cos(60.0), np.sin(60.0)
    assert cr.grad(f)(0.0) == pytest.approx((s - 20 * c + 20 * e) / 401, rel=1e-3)


def test_an_orbit_in_a_plane_keeps_the_steps_that_resolve_its_tangents():
    calls = 0

    def orbit(t, y):
        nonlocal calls
        calls += 1
        r3 = (y[0] ** 2 + y[1] ** 2 + y[2] ** 2) ** 1.5
        return np.array([y[3], y[4], y[5], -y[0] / r3, -y[1] / r3, -y[2] / r3])

    def height(vz):
        y0 = np.array([1.0, 0.0, 0.0, 0.0, 1.1, 0.0]) + vz * np.eye(6)[5]
        return integrate.solve_ivp(orbit, (0.0, 6.0), y0).y[2, -1]

    height(0.0)
    plain, calls = calls, 0
    found = cr.grad(height)(0.0)
    assert calls <= 2.5 * plain
    assert found == pytest.approx((height(1e-3) - height(-1e-3)) / 2e-3, rel=3e-2)
