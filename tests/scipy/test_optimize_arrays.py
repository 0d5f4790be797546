"""Traced numbers inside arrays of NumPy's own, and in arrays that adopted modules fill."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from differences import slope_of

import chainrules as cr
from chainrules import numpy as followed
from chainrules.scipy import optimize


def product(x, p):
    return x**3 - p[0] * p[1]


def filled(a):
    p = followed.zeros(2)
    p[0] = a
    p[1] = 1.0
    return p


def captured(p):
    return optimize.brentq(lambda x: product(x, p), 0, 3)


def by_hand(p):
    return np.cbrt(p[0] * p[1])


SOLVERS = {
    "an array of objects": lambda a: optimize.brentq(product, 0, 3, (np.array([a, 1.0]),)),
    "a filled array": lambda a: optimize.brentq(product, 0, 3, (filled(a),)),
    "implicit, objects": lambda a: cr.implicit(product)(by_hand)(np.array([a, 1.0])),
    "implicit, filled": lambda a: cr.implicit(product)(by_hand)(filled(a)),
    "captured": lambda a: captured(np.array([a, 1.0])),
    "captured, filled": lambda a: captured(filled(a)),
    "by keyword": lambda a: optimize.root(product, [1.0], args=(np.array([a, 1.0]),)).x[0],
    "nnls": lambda a: optimize.nnls(np.array([[a, 0.5], [0.5, 2.0]]), np.array([a, 2.0]))[0][0],
    "lsq_linear": lambda a: optimize.lsq_linear(np.array([[a, 1.0], [0.5, 2.0]]), np.ones(2)).x[0],
    "bounds": lambda a: optimize.minimize(square, [0.5], bounds=np.array([[0.0, a]])).x[0],
    "filled bounds": lambda a: optimize.minimize(square, [0.5], bounds=[filled(a)[::-1]]).x[0],
    "Bounds": lambda a: optimize.minimize(
        square, [0.5], bounds=optimize.Bounds(np.zeros(1), np.array([a]))
    ).x[0],
    "LinearConstraint": lambda a: optimize.minimize(
        square, [0.0, 0.0], method="SLSQP", tol=1e-14,
        constraints=optimize.LinearConstraint(np.array([[a, 1.0]]), -np.inf, np.array([a])),
    ).x[0],
    "least_squares": lambda a: optimize.least_squares(
        square_root_of, [1.0], args=(np.array([a]),), bounds=(np.zeros(1), np.array([9.0 * a]))
    ).x[0],
    "curve_fit": lambda a: optimize.curve_fit(
        lambda x, m: m * x, np.array([1.0, 2.0, 3.0]), np.array([a, 2 * a, 4.0])
    )[0][0],
    "isotonic_regression": lambda a: optimize.isotonic_regression(np.array([1, a, a * 0.5])).x[1],
}  # fmt: skip


def square(x):
    return np.sum((x - 3) ** 2)


def square_root_of(x, a):
    return x**2 - a


@pytest.mark.parametrize("name", SOLVERS)
def test_nothing_is_lost(name):
    solve, a, h = SOLVERS[name], 2.0, 1e-3
    expected = slope_of(solve, (a,), (1.0,), h)
    assert abs(expected) > 1e-3
    for mode in (cr.grad, cr.jacfwd):
        assert float(mode(solve)(a)) == pytest.approx(float(expected), rel=1e-3)


def test_options_of_ones_own_solver():
    solve = cr.implicit(lambda x, a: x - a)(lambda a, start: a)
    with pytest.raises(cr.LostDerivativeError, match="option 'start'"):
        cr.grad(lambda a: solve(1.0, start=np.array([a, 1.0])))(2.0)
