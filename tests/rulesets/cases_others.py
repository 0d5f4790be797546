"""Cases of Python's functions, of chainrules' own, and of the primitives that rules are made of."""

import functools
import itertools
import operator

import numpy as np
from generic_points import case, normal
from numpy.lib import scimath
from numpy.lib.stride_tricks import sliding_window_view

import chainrules as cr
from chainrules.rules.rulesets.arrays import indexing as numpy_indexing
from chainrules.rules.rulesets.arrays import interpolation as numpy_interpolation
from chainrules.rules.rulesets.arrays import polynomials as numpy_polynomials
from chainrules.rules.rulesets.arrays import quotients, ties
from chainrules.rules.rulesets.arrays import shapes as numpy_shapes
from chainrules.rules.rulesets.arrays.along_axes import counts as numpy_counts
from chainrules.rules.rulesets.arrays.along_axes import differences as numpy_differences
from chainrules.rules.rulesets.arrays.along_axes import ordering
from chainrules.rules.rulesets.arrays.series import FUNCTIONS
from chainrules.rules.rulesets.functions import black_boxes, checkpoint
from chainrules.rules.rulesets.functions import map as higher_order
from chainrules.rules.rulesets.functions import math as numbers_in_parts
from chainrules.rules.rulesets.linalg import matrix_functions, pseudo_inverses, svd
from chainrules.rules.rulesets.linalg import norms as numpy_norms
from chainrules.rules.rulesets.linalg import systems as numpy_linalg
from chainrules.rules.rulesets.special import elliptic
from chainrules.rules.table.compositions import with_value
from chainrules.rules.table.strong_zeros import strong_product
from chainrules.rules.tracing import funnel as calls
from chainrules.rules.tracing import options

real = functools.partial(normal, (29,))
X = real(4)
A = real(2, 3)
S = real(3, 3)
Z = X + 1j * real(4, seed=1)
SQUARE = np.array([[2.0, 0.3], [0.1, 0.7]])
N = np.array([2, 0, 2, 1])
TIES = np.array([[True, False], [False, False]])
GRID = np.array([-0.9, -0.21, 0.37, 1.3])


def turn(a, b):
    return np.sin(a) * b + b


def step(carry, x):
    carry = np.tanh(carry + x) * x
    return carry, carry * carry


HIGHER_ORDER: dict = {
    functools.reduce: [case(turn, X), case(turn, X, 0.3), case(turn, [0.3, 0.7, 1.1])],
    cr.reduce: [case(turn, X), case(turn, X, 0.3)],
    cr.accumulate: [case(turn, X), case(turn, X, 0.3), case(turn, A)],
    itertools.accumulate: [case(X, turn), case([0.3, 0.7, 1.1], turn)],
    cr.scan: [case(step, 0.3, X), case(step, A[0], S)],
    map: [case(np.sin, X), case(turn, X, X[::-1])],
    higher_order.map: [case(np.sin, X), case(turn, X, X[::-1]), case(np.cos, [0.3, 0.7])],
    checkpoint.evaluate: [case(turn, (0.3, 0.7), {}), case(np.cumprod, (X,), {})],
    checkpoint.repeat: [case(turn, (0.3, 0.7), {}), case(np.cumprod, (X,), {})],
    operator.getitem: [case(A, 1), case(X, N), case([0.3, 0.7], 1)],
}
PRIMITIVES: dict = {
    calls.getitem: [
        case(X, 2), case(A, (slice(None), 1)), case(X, N), case(A, A > 0), case(A, (..., None)),
        case(A, (N[:2] % 2, [0, 2])), case(X.astype(np.float32), slice(1, 3)), case(Z, N),
    ],
    calls.entry: [case(A, (0, -1)), case(0.7), case(X.astype(np.float32), (2,)), case(Z, (1,))],
    options.computed_into: [
        case(np.sum, (), np.dtype(float), X.astype(np.float32)),
        case(np.cumprod, (2, 3), np.dtype(complex), A, axis=1),
        case(np.add.reduce, (3,), np.dtype(np.float32), A),
    ],
    calls.astype: [case(A, np.float32), case(A, complex), case(X, int)],
    sliding_window_view: [case(X, 2), case(S, (2, 2)), case(S, 2, axis=0)],
    numpy_indexing.scatter: [case(X, (3,), np.dtype(float), N),
                             case(Z, (3,), np.dtype(complex), N)],
    numpy_shapes.pad_zeros: [case(A, 1), case(X, (1, 2)), case(Z, 1)],
    numpy_counts.weighted_counts: [case(X, N, 0), case(X, N, 5)],
    numpy_differences.differences: [case(A, 1, 0), case(X, 2, -1)],
    ordering.mean_in_groups: [case(A, TIES), case(Z, np.array([True, True, False]))],
    numpy_interpolation.interpolated: [
        case(X, A, GRID), case(Z, X[:3], GRID), case(X, 0.3, GRID), case(X, S, GRID),
    ],
    numpy_interpolation.into_grid: [
        case(A, (4,), A[::-1], GRID), case(Z, (4,), X, GRID), case(0.7, (4,), 0.3, GRID),
    ],
    numpy_differences.slopes: [case(X, 1), case(A, 1), case(S, 2), case(Z, 1)],
    strong_product: [case(A, A[::-1]), case(2.5, A), case(A, 0.3)],
    numpy_linalg.inverse_or_nan: [case(SQUARE, 1.0), case(np.stack([S, S.T]), np.ones(2))],
    numpy_linalg.adjugate_by_svd: [case(S), case(A[:, :2])],
    numpy_norms.euclidean: [case(X), case(A, 1), case(Z), case(A, None, True)],
    numpy_norms.power_norm: [
        case(X, p=3.0, axis=0), case(A, p=1.5, axis=1, keepdims=True), case(Z, p=3.0, axis=0)
    ],
    numpy_polynomials.roots_of: [case(X), case(Z)],
    numpy_counts.representatives: [
        case(X, index=np.array([2, 0, 1, 3]), inverse=np.array([1, 2, 0, 3]), axis=0),
    ],
    numbers_in_parts.of_parts: [case(X, 0.3), case(1.3, -0.4)],
    pseudo_inverses.pseudo_inverse: [case(SQUARE, rcond=None, rtol=np._NoValue)],
    svd.nuclear_norm: [case(S), case(A), case(SQUARE + 1j * SQUARE.T)],
    quotients.undefined: [case(X, X > 9), case(Z, X > 9)],
    quotients.kink: [case(X, X > 9), case(Z, X > 9)],
    quotients.guarded_quotient: [case(X, X[::-1]), case(A, 0.3), case(X, Z)],
    ties.steady: [case(X, number=0), case(Z, number=0), case(0.3, number=0)],
}  # fmt: skip
SCIMATH: dict = {
    getattr(scimath, name): [case(np.abs(X) / 4 + 0.2), case(0.4), case(Z)]
    for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
}
SCIMATH |= {scimath.logn: [case(2.5, X)], scimath.power: [case(X, 2.5), case(A, 2), case(A, -2)]}
C2 = real(2, 3, seed=3)
POLYNOMIALS: dict = {
    getattr(np.polynomial.polynomial, name): [case(X[:3], A[0], C2), case(0.4, 0.7, C2)]
    for name in ("polyval2d", "polygrid2d")
}
# The spectrum that it is given belongs to its point, so differences say nothing.
# And a value that is given stays what it is.
WITHOUT_CASES = {
    black_boxes.measured, matrix_functions.frechet, with_value,
    # Of constant places: np.interp has cases.
    numpy_interpolation.on_plain_grid, numpy_interpolation.slope_on_plain_grid,
    numpy_interpolation.into_plain_grid, numpy_interpolation.slopes_into_plain_grid,
    numpy_interpolation.rows_into_two,
    # Of Hermitian matrices: np.linalg.pinv has cases. Of two constants: special.ellipeinc has.
    pseudo_inverses.stein, elliptic.incomplete,
    pseudo_inverses.least_squares_solution,  # np.linalg.lstsq has cases
    # Text, which says of a number that it was traced, and files: refused (test_remaining.py).
    np.array2string, np.array_repr, np.array_str,
    np.save, np.savetxt, np.savez, np.savez_compressed,
}  # fmt: skip
# Positions of arguments that are options.
FIXED: dict = {}
OF_ONE_DTYPE = {numbers_in_parts.of_parts}
SQUARE = np.array([[2.0, 0.3], [0.1, 0.7]])

CASES: dict = {**HIGHER_ORDER, **PRIMITIVES, **SCIMATH, **POLYNOMIALS}
CASES[ordering.CLIP_OF_ARRAYS] = [case(A, -0.4, 0.6), case(X, -0.3, X + 0.2), case(0.3, -0.5, 0.2)]
for _f in FUNCTIONS.values():
    if _f.__name__.endswith("roots"):
        CASES[_f] = [case(X), case(Z), case(np.array([1.5, 0.4, -1.1]))]

try:
    from scipy import special
    from scipy.special import _ufuncs
except ImportError:
    special = None

if special is not None:
    from chainrules.rules.rulesets.special import gamma as scipy_special_gamma

    UP = np.array([0.6, 1.7, 2.9])
    for _name in dir(_ufuncs):
        if _name.startswith("_spherical"):
            _points = [case(2, 1.3), case(0, UP), case(N[:3], UP)]
            CASES[getattr(_ufuncs, _name)] = _points
    CASES[scipy_special_gamma.hurwitz] = [case(3, 1.4), case(2, UP)]
    CASES[_ufuncs._zeta] = [case(2.5, 1.4), case(UP + 1, UP)]
    CASES[_ufuncs._lambertw] = [case(0.4 + 0.3j, 0, 1e-8), case(UP + 0.2j, 0, 1e-8)]
    FIXED[_ufuncs._lambertw] = (1, 2)
    if hasattr(_ufuncs, "_log1mexp"):
        CASES[_ufuncs._log1mexp] = [case(-2.5), case(-UP)]
    if hasattr(_ufuncs, "_riemann_zeta"):
        CASES[_ufuncs._riemann_zeta] = [case(2.5), case(UP + 1)]
