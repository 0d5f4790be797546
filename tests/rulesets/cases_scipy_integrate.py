"""Cases of scipy.integrate: integrals of samples. Those of functions have tests of their own."""

import functools

import numpy as np
from generic_points import case, normal
from scipy import integrate as plain

from chainrules.rules.rulesets.scipy.integrate import (
    bdf,
    boundary_values,
    collocation,
    march,
    runge_kutta,
)
from chainrules.rules.rulesets.scipy.integrate.integral import integral, with_slopes
from chainrules.rules.rulesets.scipy.integrate.refined import refined
from chainrules.scipy import integrate

real = functools.partial(normal, (41,))


def places(*shape):
    return np.cumsum(np.random.default_rng((43, *shape)).uniform(0.3, 1.0, shape), axis=-1)


CUMULATIVE = {
    f: [
        case(real(2, n), x=places(n)) for n in (2, 3, 4, 7)
    ] + [
        case(real(2, 6), x=places(2, 6)), case(real(5, 2), x=places(5), axis=0),
        case(real(6), dx=0.3, initial=0), case(real(6)),
    ]
    for f in (integrate.cumulative_trapezoid, integrate.cumulative_simpson)
}  # fmt: skip

CASES: dict = {
    **{
        f: [case(real(2, n), x=places(n)) for n in (2, 3, 4, 5, 8)]
        + [
            case(real(6, 2), x=places(6), axis=0), case(real(2, 6), x=places(2, 6)),
            case(real(7), dx=0.3), case(real(6)), case([0.3, -0.2, 1.1]),
        ]
        for f in (integrate.trapezoid, integrate.simpson)
    },
    **CUMULATIVE,
    integrate.romb: [
        case(real(2), 0.3), case(real(3, 5)), case(real(9, 2), 0.7, axis=0), case(real(17), dx=0.1),
    ],
    integrate.fixed_quad: [
        case(np.sin, 0.2, 1.3), case(lambda t, k: np.exp(-k * t), 0.1, 2.0, (0.7,), 7),
    ],
}  # fmt: skip

# They take functions: tests/scipy/test_integrate.py, and what is in them is tested there.
WITHOUT_CASES = [
    bdf.differences, with_slopes, integral, refined, march.march, collocation.stages,
    runge_kutta.runge_kutta,
    boundary_values.solved, getattr(plain, "lebedev_rule", None), plain.newton_cotes,
]  # fmt: skip
