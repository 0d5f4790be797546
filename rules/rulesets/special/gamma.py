"""scipy.special: gamma and beta functions, zeta functions, exponential integrals."""

import math

import numpy as np
from scipy import special

from ... import is_lazy, non_differentiable, primitive, scalar_rule
from .tools import (
    above,
    around,
    beta_density,
    finite_or,
    gamma_density,
    numerical,
    off_poles,
    or_one,
    whole,
)

# B(2j) / (2j)!, the coefficients of Euler and Maclaurin.
BERNOULLI = [b / math.factorial(2 * j) for j, b in enumerate(special.bernoulli(24)[::2])][1:]


FAR_LEFT = -1e3  # of which a sum term by term takes long: of -1e15 for ever


@primitive
def hurwitz(s, q):
    """The sum of ``(q + k)**-s`` over ``k >= 0``, for whole ``s > 1``, also for complex ``q``.

    Far left by the reflection of the polygamma function: DLMF 5.15.6.
    """
    far = np.real(q) < FAR_LEFT
    if is_lazy(q) or not np.any(far):
        return hurwitz_sum(s, q)
    mirrored = hurwitz_sum(s, np.where(far, 1 - q, q))
    return np.where(far, cotangent_derivative(s, q) - (-1) ** s * mirrored, mirrored)[()]


def cotangent_derivative(s, q):
    """Return ``(-1)**(s - 1) / (s - 1)!`` times that derivative of ``pi * cot(pi * q)``."""
    c = 1 / np.tan(math.pi * (q - np.floor(np.real(q))))
    polynomial = np.polynomial.Polynomial([0, math.pi])
    for order in range(1, s):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([1, 0, 1]) * (math.pi / order)
    return polynomial(c)


def hurwitz_sum(s, q):
    """For complex ``q``: the first terms, and Euler-Maclaurin for the rest (DLMF 25.11.5)."""
    if not np.iscomplexobj(q):
        return special.zeta(float(s), q)
    steps = max(0, math.ceil(12 - np.min(np.real(q), initial=12)))
    total = sum((q + k) ** -s for k in range(steps))
    z = q + steps
    total = total + z ** (1 - s) / (s - 1) + z**-s / 2
    factor = s
    for j, coefficient in enumerate(BERNOULLI, 1):
        total = total + coefficient * factor * z ** (1 - s - 2 * j)
        factor = factor * (s + 2 * j - 1) * (s + 2 * j)
    return total


scalar_rule(hurwitz, 0, lambda _, s, q: -s * hurwitz(s + 1, q))


def rgamma_partial(y, x):
    """``-y * psi(x)``; left of 1/2, where gamma has poles, by reflection: DLMF 5.5.3 and 5.5.4."""
    left = np.real(x) < 0.5
    slope = -y * special.psi(np.where(left, 1 - x, x))
    if not np.any(left):
        return slope
    across = np.cos(math.pi * x) * special.gamma(np.where(left, 1 - x, 1))
    return slope + np.where(left, across, 0)


non_differentiable(special.gammasgn)

# fmt: off
scalar_rule(special.psi,      lambda _, x: hurwitz(2, x))
scalar_rule(special.gamma,    lambda y, x: y * special.psi(x))
scalar_rule(special.gammaln,  lambda _, x: special.psi(x))
scalar_rule(special.loggamma, lambda _, x: special.psi(x))
scalar_rule(special.rgamma,   rgamma_partial)

scalar_rule(special.beta,
            finite_or(lambda y, a, b: y * (special.psi(a) - special.psi(a + b)),
                      numerical(special.beta, 0)),
            finite_or(lambda y, a, b: y * (special.psi(b) - special.psi(a + b)),
                      numerical(special.beta, 1)))
scalar_rule(special.betaln, lambda _, a, b: special.psi(a) - special.psi(a + b),
                            lambda _, a, b: special.psi(b) - special.psi(a + b))

# Where two gamma functions have poles, these are differences: both functions are smooth there.
scalar_rule(special.poch,
            finite_or(lambda y, a, m: y * (special.psi(a + m) - special.psi(a)),
                      numerical(special.poch, 0)),
            finite_or(lambda y, a, m: y * special.psi(a + m), numerical(special.poch, 1)))
scalar_rule(special.binom,
            finite_or(lambda y, n, k: y * (special.psi(n + 1) - special.psi(n - k + 1)),
                      numerical(special.binom, 0)),
            finite_or(lambda y, n, k: y * (special.psi(n - k + 1) - special.psi(k + 1)),
                      numerical(special.binom, 1)))

scalar_rule(special.gammainc,  numerical(special.gammainc, 0, above(0)),
                               lambda _, a, x: gamma_density(a, x))
scalar_rule(special.gammaincc, numerical(special.gammaincc, 0, above(0)),
                               lambda _, a, x: -gamma_density(a, x))
scalar_rule(special.betainc,   numerical(special.betainc, 0, above(0)),
                               numerical(special.betainc, 1, above(0)),
                               lambda _, a, b, x: beta_density(a, b, x))
scalar_rule(special.betaincc,  numerical(special.betaincc, 0, above(0)),
                               numerical(special.betaincc, 1, above(0)),
                               lambda _, a, b, x: -beta_density(a, b, x))
# fmt: on

scalar_rule(special.zetac, numerical(special.zetac, 0, around(1)))

# Python functions of scipy.special call these.
_ufuncs = special._ufuncs
_zeta = _ufuncs._zeta
scalar_rule(_zeta, numerical(_zeta, 0, above(1)), lambda _, s, q: -s * _zeta(s + 1, q))
if hasattr(_ufuncs, "_riemann_zeta"):
    scalar_rule(_ufuncs._riemann_zeta, numerical(_ufuncs._riemann_zeta, 0, around(1)))
scalar_rule(_ufuncs._lambertw, lambda y, _z, _k, _tol: np.exp(-y) / (1 + y), 0, 0)


# ---- exponential and trigonometric integrals ----


def spence_partial(_, z):
    """``log(z) / (1 - z)``, by ``hyp2f1`` near 1, where that is 0 / 0."""
    near = np.abs(z - 1) < 0.5
    series = -special.hyp2f1(1.0, 1.0, 2.0, np.where(near, 1 - z, 0))
    far = np.where(near, 2.0, z)
    return np.where(near, series, np.log(far) / (1 - far))


def expn_partial(y, n, x):
    """``-expn(n - 1, x)``; below order 0 by the recurrence of DLMF 8.19.12."""
    below = -(np.exp(-x) + y) / x
    return np.where(n == 0, below, -special.expn(np.maximum(n - 1, 0), x))


def sin_quotient(x):
    return (np.sin(x) + (x == 0)) / or_one(x)


def sinh_quotient(x):
    return (np.sinh(x) + (x == 0)) / or_one(x)


# fmt: off
scalar_rule(special.spence, spence_partial)
scalar_rule(special.exp1,   lambda _, x: -np.exp(-x) / x)
scalar_rule(special.expi,   lambda _, x: np.exp(x) / x)
scalar_rule(special.expn,   whole(special.expn, "the order n"), expn_partial)
scalar_rule(special.sici,   (lambda _, x: sin_quotient(x),),  (lambda _, x: np.cos(x) / x,))
scalar_rule(special.shichi, (lambda _, x: sinh_quotient(x),), (lambda _, x: np.cosh(x) / x,))
# fmt: on


# ---- hypergeometric functions, and others that are power series ----


# fmt: off
scalar_rule(special.hyp0f1, numerical(special.hyp0f1, 0, off_poles),
                            lambda _, v, z: special.hyp0f1(v + 1, z) / v)
scalar_rule(special.hyp1f1, numerical(special.hyp1f1, 0), numerical(special.hyp1f1, 1, off_poles),
                            lambda _, a, b, z: a / b * special.hyp1f1(a + 1, b + 1, z))
scalar_rule(special.hyp2f1, numerical(special.hyp2f1, 0), numerical(special.hyp2f1, 1),
                            numerical(special.hyp2f1, 2, off_poles),
                            lambda _, a, b, c, z:
                                a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z))
scalar_rule(special.hyperu, numerical(special.hyperu, 0), numerical(special.hyperu, 1),
                            lambda _, a, b, x: -a * special.hyperu(a + 1, b + 1, x))

scalar_rule(special.wright_bessel,
            numerical(special.wright_bessel, 0, above(0)),
            numerical(special.wright_bessel, 1, above(0)),
            lambda _, a, b, x: special.wright_bessel(a, a + b, x))
scalar_rule(special.log_wright_bessel,
            numerical(special.log_wright_bessel, 0, above(0)),
            numerical(special.log_wright_bessel, 1, above(0)),
            lambda y, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - y))

scalar_rule(special.wrightomega, lambda y, _z: y / (1 + y))
# fmt: on
