"""Answers of CVXPY, differentiated by the conditions of optimality."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr

cvxpy = pytest.importorskip("cvxpy")

P = np.array([[2.0, 0.5], [0.5, 1.0]])
G = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
Q, H = np.array([-2.0, -2.0]), np.array([1.0, 0.0, 0.0])


def conditions(z, q, h):
    x, duals = z[:2], z[2:]
    return np.concatenate([P @ x + q + G.T @ duals, np.minimum(duals, h - G @ x)])


@cr.implicit(conditions)
def solution(q, h):
    x = cvxpy.Variable(2)
    limits = G @ x <= h
    objective = cvxpy.Minimize(cvxpy.quad_form(x, P) / 2 + q @ x)
    cvxpy.Problem(objective, [limits]).solve("CLARABEL")
    return np.concatenate([x.value, limits.dual_value])


@pytest.mark.parametrize("h", [H, np.array([3.0, 0.0, 0.0]), np.array([2.0, -1.0, -0.5])])
def test_a_quadratic_programme_beside_differences(h):
    for transform in (cr.jacfwd, cr.jacrev):
        expected = jacobian_of(lambda q: solution(q, h)[:2], Q, 1e-3)
        found = transform(solution)(Q, h)[:2]
        np.testing.assert_allclose(found, expected, 0, 1e-5)
        expected = jacobian_of(lambda h: solution(Q, h)[:2], h, 1e-3)
        found = transform(solution, argnums=1)(Q, h)[:2]
        np.testing.assert_allclose(found, expected, 0, 1e-5)


def test_in_a_loss_and_to_second_order():
    def loss(q):
        return np.sum((solution(q, H)[:2] - 1.0) ** 2)

    slopes = np.array([[-0.5, 0.5], [0.5, -0.5]])
    np.testing.assert_allclose(cr.grad(loss)(Q), 2 * slopes @ [-0.75, -0.25], 0, 1e-6)
    np.testing.assert_allclose(cr.hessian(loss)(Q), 2 * slopes @ slopes, 0, 1e-6)


def test_a_limit_that_is_just_reached_is_refused_or_shared():
    with pytest.raises(cr.SingularJacobianError):
        cr.jacobian(solution)(np.array([-1.0, -2.0]), np.array([3.0, 0.0, 0.0]))
