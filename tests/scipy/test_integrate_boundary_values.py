"""solve_bvp: value, both modes and second order, by differences of SciPy's own."""

import checks_of_objects as checks
import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import integrate

check = checks.check


def bratu(k, b, end=1.0, **options):
    def fun(x, y):
        return np.stack([y[1], -k * np.exp(y[0])])

    def bc(ya, yb):
        return np.stack([ya[0], yb[0] - b])

    x = np.linspace(0, 1, 5) * end
    return integrate.solve_bvp(fun, bc, x, np.zeros((2, 5)), tol=1e-6, **options)


def test_states_at_the_mesh():
    check(lambda k, b: bratu(k, b).y[:, 2], 0.8, 0.1)
    check(lambda k, b: bratu(k, b).yp[:, 2], 0.8, 0.1)


def test_the_solution_at_points():
    check(lambda k, b, x: bratu(k, b).sol(x), 0.8, 0.1, [0.3, 0.55])
    check(lambda k: bratu(k, 0.0).sol.derivative()(0.4), 0.8)


def test_a_mesh_that_moves():
    check(lambda k, end: bratu(k, 0.1, end).sol(0.4), 0.8, 1.1)
    check(lambda end: bratu(0.8, 0.1, end).x, 1.1)


def test_unknown_parameters():
    def frequency(k, q):
        def fun(x, y, p):
            return [y[1], -(p[0] ** 2) * k * y[0]]

        def bc(ya, yb, p):
            return np.array([ya[0], yb[0] * q, ya[1] - p[0]])

        x, y = np.linspace(0, 1, 9), np.zeros((2, 9))
        y[0] = np.sin(3 * x)
        return integrate.solve_bvp(fun, bc, x, y, p=[3.0], tol=1e-6).p

    check(frequency, 1.2, 1.0)
    assert cr.grad(lambda k: frequency(k, 1.0)[0])(1.2) == pytest.approx(
        -np.pi / 2 * 1.2**-1.5, rel=1e-6
    )


def test_what_goes_wrong():
    def no_solution(k):  # beyond the fold there is none
        return bratu(k, 0.0, max_nodes=50).y[0, 1]

    for transform in (cr.grad, lambda f: lambda k: cr.jvp(f, (k,), (1.0,))):
        with pytest.raises(
            RuntimeError, match=r"solve_bvp in test_integrate_boundary.*no solution"
        ):
            transform(no_solution)(20.0)
        with pytest.raises(
            cr.MissingRuleError, match=r"(?s)singular term S.*boundary_values.py.*begin"
        ):
            transform(
                lambda k: integrate.solve_bvp(
                    lambda x, y: k * y, lambda a, b: a - k, [0, 1.0], np.zeros((1, 2)), S=[[0.0]]
                ).y[0, 0]
            )(1.0)
