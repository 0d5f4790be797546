"""Cases of scipy.interpolate: its functions of arrays. Objects have tests of their own."""

import functools
import inspect

import numpy as np
from generic_points import case, normal
from scipy import interpolate as plain

from chainrules.rules.rulesets.scipy.interpolate import (
    bsplines,
    grids,
    piecewise,
    scattered,
    systems,
)
from chainrules.scipy import interpolate

real = functools.partial(normal, (31,))
X = np.array([0.0, 0.9, 2.1, 2.8, 4.2, 5.0, 6.3])
Y = real(7)
YY = real(7, 2)
AT = np.array([0.4, 1.7, 3.3, 5.9])
# Its knots are differentiated too, so they are all distinct.
TCK = np.array([-0.6, -0.5, -0.2, 0.0, 1.5, 3.0, 4.6, 6.3, 6.5, 6.6, 6.9]), real(7, seed=3), 3
GRID = np.linspace(0.0, 3.0, 6) ** 1.1, np.linspace(0.0, 2.0, 5)
Z = real(6, 5)
INSIDE = np.array([[0.3, 0.2], [1.7, 1.1], [2.9, 1.8]])
SITES = np.random.default_rng(5).uniform(size=(9, 2))
NEAR = np.random.default_rng(6).uniform(0.4, 0.6, size=(3, 2))
RECT = plain.RectBivariateSpline(*GRID, Z).tck

# The order in which it adds up is random, since SciPy 1.15 by a generator that may be given.
RNG = {"rng": 0} if "rng" in inspect.signature(plain.barycentric_interpolate).parameters else {}

CASES: dict = {
    interpolate.barycentric_interpolate: [
        case(X, Y, AT, **RNG), case(X, YY, AT, der=1, **RNG), case(X, Y, 1.3, **RNG),
    ],
    interpolate.krogh_interpolate: [
        case(X, Y, AT), case(X, YY, AT, der=[0, 2]), case(X, Y, AT, der=1),
        case(X, YY.T, 1.3, axis=1),
    ],
    interpolate.pchip_interpolate: [
        case(X, Y, AT), case(X, YY, AT, der=1), case(X, YY.T, AT, axis=1),
        case(X, Y, AT, der=[0, 1]),
    ],
    interpolate.lagrange: [],
    interpolate.pade: [],
    interpolate.splev: [
        case(AT, TCK), case(AT, TCK, der=2), case(AT * 2 - 1, TCK, ext=1),
        case(AT * 2 - 1, TCK, ext=3), case(1.3, TCK),
    ],
    interpolate.spalde: [case(1.3, TCK), case(AT, TCK)],
    interpolate.splint: [case(0.3, 4.9, TCK), case(-1.0, 9.0, TCK)],
    interpolate.splder: [],
    interpolate.splantider: [],
    interpolate.splrep: [],
    interpolate.splprep: [],
    interpolate.bisplev: [
        case(INSIDE[:, 0], INSIDE[:, 1], (*RECT, 3, 3)),
        case(INSIDE[:, 0], INSIDE[:, 1], (*RECT, 3, 3), dx=1, dy=1), case(1.3, 0.4, (*RECT, 3, 3)),
    ],
    interpolate.interpn: [
        case(GRID, Z, INSIDE), case(GRID, Z, INSIDE, method="nearest"),
        case(GRID, Z, INSIDE, method="pchip"), case(GRID, Z, INSIDE, method="splinef2d"),
        case(GRID, Z, INSIDE + 1, bounds_error=False, fill_value=0.5),
        case(GRID, Z, INSIDE + 1, bounds_error=False, fill_value=None),
    ],
    interpolate.griddata: [
        case(SITES, real(9, 2), NEAR, rescale=True),
        case(SITES, real(9), NEAR, method="nearest"), case(X, Y, AT),
        case(X, Y, AT, method="cubic"),
        case(X, Y, AT, method="nearest"),
    ],
}  # fmt: skip
CASES = {f: cases for f, cases in CASES.items() if cases}
ROWS, COLUMNS = np.array([0, 1, 2, 0, 1, 2, 2]), np.array([0, 1, 2, 1, 2, 0, 2])
DISTANCES = np.array([0.3, 1.0, 2.5])
# What the rules are made of.
CASES |= {
    systems.solution: [case(np.array([3.0, 4, 2, 1, 0.5, -1, 2]), real(3, 2), ROWS, COLUMNS)],
    piecewise.piecewise_values: [
        case(real(4, 6), X, AT, 0), case(real(4, 6, 2), X, INSIDE, 1),
        case(real(3, 6), X[::-1], AT, 0),
        case(real(3, 6) + 1j, X, 1.3, 0),
    ],
    bsplines.spline_values: [
        case(TCK[1], AT, TCK[0], 3, nu) for nu in range(5)
    ] + [case(real(7, 2) + 1j, INSIDE, TCK[0], 3, 1), case(real(11), AT, TCK[0], 3, 1)],
    grids.surface_values: [
        case(INSIDE[:, 0], INSIDE[:, 1], grids.Surface(*RECT, 3, 3), 0, 0),
        case(INSIDE[:, :1], INSIDE[:, 1], grids.Surface(*RECT, 3, 3), 0, 1),
    ],
    scattered.thin_plate: [case(DISTANCES)],
    scattered.thin_plate_slope: [case(DISTANCES)],
}  # fmt: skip

# Their results are objects, or numbers beside such as are not differentiated: tests/scipy.
# And the roots of an object.
WITHOUT_CASES = {
    piecewise.piecewise_roots,
    plain.lagrange, plain.pade, plain.splder, plain.splantider, plain.splrep, plain.splprep,
    plain.make_interp_spline, plain.make_lsq_spline, plain.make_smoothing_spline,
    getattr(plain, "make_splrep", None),
} - {None}  # fmt: skip
# SciPy computes in double precision only, and takes real abscissae only.
OF_ONE_DTYPE = set(CASES)
BY_ANOTHER_WAY = set() if RNG else {interpolate.barycentric_interpolate}
FIXED = {
    systems.solution: (2, 3), piecewise.piecewise_values: (3,), bsplines.spline_values: (2, 3, 4),
    grids.surface_values: (2, 3, 4),
}  # fmt: skip
TOLERANCES = {
    interpolate.krogh_interpolate: 1e-5,
    interpolate.barycentric_interpolate: 1e-5,
    interpolate.interpn: 1e-5,
    interpolate.bisplev: 1e-5,
    grids.surface_values: 1e-5,
    interpolate.griddata: 1e-5,
    interpolate.spalde: 1e-5,
}
