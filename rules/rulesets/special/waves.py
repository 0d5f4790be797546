"""scipy.special: Mathieu, spheroidal wave and parabolic cylinder functions.

Each comes with its derivative, and the derivative of that is told by the differential equation.
Parameters of the equation are differentiated numerically.
"""

import math

import numpy as np
from scipy import special

from ... import scalar_rule
from .tools import anywhere, around, numerical, whole

DEGREE = math.pi / 180


def numerical_outputs(f, i):
    return numerical(f, i, output=0), numerical(f, i, output=1)


# ---- Mathieu ----


for _f in special.mathieu_a, special.mathieu_b:
    scalar_rule(_f, whole(_f, "the order m"), numerical(_f, 1))


def mathieu_rule(f, characteristic):
    """``y'' = (2 q cos(2 x) - a) y``, of ``x`` in degrees (DLMF 28.2.1)."""
    by_q = numerical_outputs(f, 1)
    order = whole(f, "the order m")

    def slope_by_x(y, m, q, x):
        return (2 * q * np.cos(2 * DEGREE * x) - characteristic(m, q)) * y[0] * DEGREE

    scalar_rule(
        f, (order, by_q[0], lambda y, _m, _q, _x: y[1] * DEGREE), (order, by_q[1], slope_by_x)
    )


def modified_rule(f, characteristic):
    """``y'' = (a - 2 q cosh(2 x)) y`` (DLMF 28.20.1)."""
    by_q = numerical_outputs(f, 1)
    order = whole(f, "the order m")

    def slope_by_x(y, m, q, x):
        return (characteristic(m, q) - 2 * q * np.cosh(2 * x)) * y[0]

    scalar_rule(f, (order, by_q[0], lambda y, _m, _q, _x: y[1]), (order, by_q[1], slope_by_x))


mathieu_rule(special.mathieu_cem, special.mathieu_a)
mathieu_rule(special.mathieu_sem, special.mathieu_b)
modified_rule(special.mathieu_modcem1, special.mathieu_a)
modified_rule(special.mathieu_modcem2, special.mathieu_a)
modified_rule(special.mathieu_modsem1, special.mathieu_b)
modified_rule(special.mathieu_modsem2, special.mathieu_b)


# ---- spheroidal ----


def prolate_slope(m, c, eigenvalue, y, x):
    """``(1 - x**2) w'' = 2 x w' - (eigenvalue - c**2 x**2 - m**2 / (1 - x**2)) w``, DLMF 30.2.1."""
    p = (1 - x) * (1 + x)
    return (2 * x * y[1] - (eigenvalue - c * c * x * x - m * m / p) * y[0]) / p


def oblate_slope(m, c, eigenvalue, y, x):
    """As ``prolate_slope``, with ``i c`` for ``c``."""
    p = (1 - x) * (1 + x)
    return (2 * x * y[1] - (eigenvalue + c * c * x * x - m * m / p) * y[0]) / p


def oblate_radial_slope(m, c, eigenvalue, y, x):
    """As ``oblate_slope``, with ``i x`` for ``x``."""
    p = 1 + x * x
    return (-2 * x * y[1] + (eigenvalue - c * c * x * x - m * m / p) * y[0]) / p


def spheroidal_rules(f, f_cv, eigenvalue_of, slope, radius):
    numbers = [whole(f, "the order m"), whole(f, "the degree n")]

    def slope_by_x(y, m, n, c, x):
        return slope(m, c, eigenvalue_of(m, n, c), y, x)

    by_c = numerical_outputs(f, 2)
    scalar_rule(
        f,
        (*numbers, by_c[0], lambda y, _m, _n, _c, _x: y[1]),
        (*numbers, by_c[1], slope_by_x),
    )

    # With any other number than the eigenvalue the equation does not hold.
    by_c, by_cv = numerical_outputs(f_cv, 2), numerical_outputs(f_cv, 3)
    scalar_rule(
        f_cv,
        (*numbers, by_c[0], by_cv[0], lambda y, _m, _n, _c, _cv, _x: y[1]),
        (*numbers, by_c[1], by_cv[1], numerical(f_cv, 4, radius, output=1)),
    )


for _f in special.pro_cv, special.obl_cv:
    scalar_rule(_f, whole(_f, "the order m"), whole(_f, "the degree n"), numerical(_f, 2))

for _name in "ang1", "rad1", "rad2":
    _f, _f_cv = getattr(special, f"pro_{_name}"), getattr(special, f"pro_{_name}_cv")
    spheroidal_rules(_f, _f_cv, special.pro_cv, prolate_slope, around(-1, 1))

spheroidal_rules(special.obl_ang1, special.obl_ang1_cv, special.obl_cv, oblate_slope, around(-1, 1))
for _name in "rad1", "rad2":
    _f, _f_cv = getattr(special, f"obl_{_name}"), getattr(special, f"obl_{_name}_cv")
    spheroidal_rules(_f, _f_cv, special.obl_cv, oblate_radial_slope, anywhere)


# ---- parabolic cylinder ----


def cylinder_rule(f, potential):
    """``w'' = potential(v, x) w`` (DLMF 12.2.2 to 12.2.4, 12.14.1)."""
    by_v = numerical_outputs(f, 0)
    scalar_rule(
        f,
        (by_v[0], lambda y, _v, _x: y[1]),
        (by_v[1], lambda y, v, x: potential(v, x) * y[0]),
    )


cylinder_rule(special.pbdv, lambda v, x: x * x / 4 - v - 0.5)
cylinder_rule(special.pbvv, lambda v, x: x * x / 4 - v - 0.5)
cylinder_rule(special.pbwa, lambda a, x: a - x * x / 4)
