"""scipy.special: orthogonal polynomials and Legendre functions.

A polynomial of degree n has as derivative one of degree ``n - 1`` (DLMF 18.9.15 to 18.9.28).
Between the degrees the functions are what SciPy computes for a float degree.
"""

import numpy as np
from scipy import special

from ... import scalar_rule
from .tools import around, numerical, whole


def one_less(f, n, *args):
    """``f(n - 1, *args)``, and 0 for degree 0."""
    lowest = n == 0
    if not np.any(lowest):
        return f(n - 1, *args)
    return np.where(lowest, 0, f(np.where(lowest, 0, n - 1), *args))


def half(n, a, b):
    return (n + a + b + 1) / 2


jacobi = special.eval_jacobi
gegenbauer = special.eval_gegenbauer


def legendre_slope(n, x):
    """The derivative of ``P_n``, which is ``P_m`` for ``m = -1 - n``."""
    n = np.where(n < -0.5, -1 - n, n)
    return half(n, 0, 0) * one_less(jacobi, n, 1.0, 1.0, x)


def second_kind_slope(n, x):
    """The derivative of ``U_n``, which is ``-U_m`` for ``m = -2 - n``, and so 0 for degree -1."""
    below = n < -1
    degree = np.where(below, -2 - n, np.where(n == -1, 0, n))
    return np.where(below, -2, 2) * one_less(gegenbauer, degree, 2.0, x)


# fmt: off
for _f, _partial in (
    (special.eval_legendre,    lambda _, n, x: legendre_slope(n, x)),
    (special.eval_sh_legendre, lambda _, n, x: 2 * legendre_slope(n, 2 * x - 1)),
    (special.eval_chebyt,      lambda _, n, x: n * one_less(special.eval_chebyu, n, x)),
    (special.eval_chebyu,      lambda _, n, x: second_kind_slope(n, x)),
    (special.eval_chebyc,      lambda _, n, x: n * one_less(special.eval_chebys, n, x)),
    (special.eval_chebys,      lambda _, n, x: second_kind_slope(n, x / 2) / 2),
    (special.eval_sh_chebyt,   lambda _, n, x: 2 * n * one_less(special.eval_sh_chebyu, n, x)),
    (special.eval_sh_chebyu,   lambda _, n, x: 2 * second_kind_slope(n, 2 * x - 1)),
    (special.eval_laguerre,    lambda _, n, x: -one_less(special.eval_genlaguerre, n, 1.0, x)),
):
    scalar_rule(_f, numerical(_f, 0), _partial)

for _f, _factor in (special.eval_hermite, 2), (special.eval_hermitenorm, 1):
    scalar_rule(_f, whole(_f, "the degree n"),
                lambda _, n, x, f=_f, factor=_factor: factor * n * one_less(f, n, x))

scalar_rule(special.eval_genlaguerre,
            numerical(special.eval_genlaguerre, 0), numerical(special.eval_genlaguerre, 1),
            lambda _, n, a, x: -one_less(special.eval_genlaguerre, n, a + 1, x))
scalar_rule(gegenbauer,
            numerical(gegenbauer, 0), numerical(gegenbauer, 1, around(0)),
            lambda _, n, a, x: 2 * a * one_less(gegenbauer, n, a + 1, x))
scalar_rule(jacobi,
            numerical(jacobi, 0), numerical(jacobi, 1), numerical(jacobi, 2),
            lambda _, n, a, b, x: half(n, a, b) * one_less(jacobi, n, a + 1, b + 1, x))
# These have the leading coefficient 1.
scalar_rule(special.eval_sh_jacobi,
            numerical(special.eval_sh_jacobi, 0), numerical(special.eval_sh_jacobi, 1),
            numerical(special.eval_sh_jacobi, 2),
            lambda _, n, p, q, x: n * one_less(special.eval_sh_jacobi, n, p + 2, q + 1, x))
# fmt: on


def lpmv_partial(y, m, v, x):
    """DLMF 14.10.5."""
    return ((v + m) * special.lpmv(m, v - 1, x) - v * x * y) / ((1 - x) * (1 + x))


scalar_rule(
    special.lpmv,
    whole(special.lpmv, "the order m"),
    numerical(special.lpmv, 1),
    lpmv_partial,
)
