"""Algebraic Riccati equations.

The solution x makes a residual zero, so ``xdot`` is what makes up for how the residual moves with
the coefficients: a Lyapunov equation with the closed loop. Source: Kao and Hennequin (2020),
automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations.
"""

import numpy as np
from scipy import linalg

from .....config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad
from .... import NoTangent, composed, frule, primitive, rrule
from ...arrays.products import adjoint
from .equations import continuous_lyapunov, discrete_lyapunov


def times(a, e):
    return a if e is None else a @ e


def plus_adjoint(a, s):
    return a if s is None else a + adjoint(s)


def hermitian(x):
    return (x + adjoint(x)) / 2


def over(x, e):
    """Return ``inv(e)^H @ x @ inv(e)``, where ``e`` is None for the identity."""
    if e is None:
        return x
    moved = np.linalg.solve(adjoint(e), x)
    return adjoint(np.linalg.solve(adjoint(e), adjoint(moved)))


def over_adjoint(x, e):
    """Return ``inv(e) @ x @ inv(e)^H``, the transpose of ``over``."""
    return x if e is None else over(x, adjoint(e))


def riccati_rules(solve, residual, closed_loop, lyapunov):
    """Give the rules of ``solve(balanced, *coefficients)``.

    ``lyapunov(m, x)`` solves for what makes up for the residual ``x``, where ``m`` is the closed
    loop over ``e``; that of ``m^H`` is its transpose.
    """

    def loop(x, *coefficients):
        e = coefficients[4]
        moved = adjoint(closed_loop(x, *coefficients))
        return moved if e is None else np.linalg.solve(adjoint(e), moved)

    @frule.register(solve)
    def riccati_frule(config: HasForwardsMode, tangents, solve, balanced, *coefficients):
        y = solve(balanced, *coefficients)
        moved = (NoTangent(), NoTangent(), *tangents[2:])
        _, rest = frule_via_ad(config, moved, residual, y, *coefficients)
        return y, lyapunov(loop(y, *coefficients), over(rest, coefficients[4]))

    @rrule.register(solve)
    def riccati_rrule(config: HasReverseMode, solve, balanced, *coefficients):
        y = solve(balanced, *coefficients)
        _, residual_pullback = rrule_via_ad(config, residual, y, *coefficients)

        def riccati_pullback(ybar):
            weight = lyapunov(adjoint(loop(y, *coefficients)), ybar)
            weight = over_adjoint(weight, coefficients[4])
            _, _, *coefficients_bar = residual_pullback(weight)
            return NoTangent(), NoTangent(), *coefficients_bar

        return y, riccati_pullback


@primitive
def continuous(balanced, a, b, q, r, e, s):
    return linalg.solve_continuous_are(a, b, q, r, e, s, balanced)


def continuous_gain(x, a, b, q, r, e, s):
    moved = plus_adjoint(adjoint(b) @ times(x, e), s)
    return moved, np.linalg.solve(r, moved)


def continuous_residual(x, a, b, q, r, e, s):
    """``E^H x a + a^H x E - (E^H x b + s) inv(r) (b^H x E + s^H) + q``."""
    moved, gain = continuous_gain(x, a, b, q, r, e, s)
    along = adjoint(a) @ times(x, e)
    return hermitian(along + adjoint(along) - adjoint(moved) @ gain + q)


def continuous_loop(x, a, b, q, r, e, s):
    return a - b @ continuous_gain(x, a, b, q, r, e, s)[1]


riccati_rules(
    continuous,
    continuous_residual,
    continuous_loop,
    lambda m, x: continuous_lyapunov(m, -x),
)


@primitive
def discrete(balanced, a, b, q, r, e, s):
    return linalg.solve_discrete_are(a, b, q, r, e, s, balanced)


def discrete_gain(x, a, b, q, r, e, s):
    moved = plus_adjoint(adjoint(b) @ x @ a, s)
    return moved, np.linalg.solve(r + adjoint(b) @ x @ b, moved)


def discrete_residual(x, a, b, q, r, e, s):
    """``a^H x a - E^H x E - (a^H x b + s) inv(r + b^H x b) (b^H x a + s^H) + q``."""
    moved, gain = discrete_gain(x, a, b, q, r, e, s)
    kept = x if e is None else adjoint(e) @ x @ e
    return hermitian(adjoint(a) @ x @ a - kept - adjoint(moved) @ gain + q)


def discrete_loop(x, a, b, q, r, e, s):
    return a - b @ discrete_gain(x, a, b, q, r, e, s)[1]


riccati_rules(
    discrete,
    discrete_residual,
    discrete_loop,
    discrete_lyapunov,
)


def matrices(*coefficients):
    """Numbers are matrices of one entry."""
    return [x if x is None or np.ndim(x) > 1 else np.atleast_2d(x) for x in coefficients]


@composed(linalg.solve_continuous_are)
def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    return continuous(balanced, *matrices(a, b, q, r, e, s))


@composed(linalg.solve_discrete_are)
def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    return discrete(balanced, *matrices(a, b, q, r, e, s))
