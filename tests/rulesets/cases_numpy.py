"""Cases of NumPy's functions that are no ufuncs, at generic points: away from ties and kinks."""

import functools

import numpy as np
from generic_points import case, normal

real = functools.partial(normal, (17,))
X = real(5)
W = real(5, seed=1)
Y = real(4, seed=2)
A = real(2, 3)
B = real(2, 3, seed=1)
T = np.reshape(np.linspace(-1.5, 1.7, 24)[np.argsort(real(24))], (2, 3, 4))
S = real(3, 3)
Z = real(2, 3, seed=3) + 1j * real(2, 3, seed=4)
POSITIVE = np.abs(X) + 0.3
E = np.zeros((0, 3))
F32 = A.astype(np.float32)
C64 = Z.astype(np.complex64)
ZERO_D = np.array(0.7)
N = np.array([3, 1, 2, 2])
M = np.array([[True, False, True], [False, True, True]])
NANS = np.where(M, A, np.nan)
ROWS = np.array([[0, 2, 1], [1, 1, 0]])
UP = np.sort(X)
BOTH = np.array([True, False])
DAYS = np.array(["2021-03-05", "2021-03-09"], "M8[D]")


def of_array(*more, **options):
    """The cases of a function of one array: of each kind, and along an axis."""
    plain = [case(x, *more, **options) for x in (A, F32, Z, E)]
    return plain


def along(*more, empty=True, complex_too=True, zero_d=True, keepdims=False, **options):
    """The cases of a reduction or an accumulation."""
    cases = [case(x, *more, **options) for x in (A, T, F32, X)]
    cases += [case(A, *more, axis=0, **options), case(T, *more, axis=-1, **options)]
    cases += [case(Z, *more, axis=1, **options), case(Z, *more, **options)] * complex_too
    cases += [case(E, *more, axis=1, **options)] * empty
    cases += [case(ZERO_D, *more, **options)] * zero_d
    cases += [case(T, *more, axis=(0, 2), keepdims=True, **options)] * keepdims
    return cases


REDUCTIONS: dict = {
    f: along(keepdims=True, zero_d=f not in (np.std, np.nanstd))  # at a spread of 0 is a kink
    for f in (np.sum, np.mean, np.prod, np.var, np.std, np.nansum, np.nanprod, np.nanvar, np.nanstd)
}
EXTREMES: dict = {
    f: along(keepdims=True, complex_too=False)
    for f in (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
}
OF_NANS: dict = {
    f: [*cases, case(NANS), case(NANS, axis=1)] for f, cases in {**REDUCTIONS, **EXTREMES}.items()
    if f.__name__.startswith("nan")
}  # fmt: skip
QUANTILES: dict = {
    f: [
        case(x, q, **options)
        for x, q in ((A, 0.3 * scale), (X, np.array([0.2, 0.65]) * scale), (F32, 0.3 * scale))
        for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True})
    ]
    for f, scale in (
        (np.quantile, 1.0), (np.percentile, 100.0), (np.nanquantile, 1.0), (np.nanpercentile, 100.0)
    )
}  # fmt: skip
ACCUMULATIONS: dict = {
    f: along(zero_d=False) for f in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
}
CONSTANT: dict = {
    f: [case(A), case(F32), case(ZERO_D)]
    for f in (
        np.all, np.any, np.count_nonzero, np.fix,
        np.flatnonzero, np.iscomplex, np.iscomplexobj, np.isneginf, np.isposinf, np.isreal,
        np.isrealobj, np.ndim, np.shape, np.size, np.around, np.round, np.min_scalar_type,
        np.result_type, np.common_type,
    )
}  # fmt: skip
CONSTANT |= {
    f: [case(A), case(A, axis=0), case(F32)]
    for f in (np.argmax, np.argmin, np.argsort, np.nanargmax, np.nanargmin)
}
LIKE: dict = {f: of_array() for f in (np.zeros_like, np.ones_like, np.real, np.imag, np.copy)}
MAKERS: dict = {
    np.zeros: [case((2, 3), like=A)], np.ones: [case(3, like=A)], np.eye: [case(3, like=A)],
    np.identity: [case(3, like=A)], np.empty: [case((0, 2), like=A)],
    np.empty_like: [case(E)], np.full: [case((2, 3), 0.7, like=A)],
}  # fmt: skip
SHAPES: dict = {
    np.reshape: [case(A, (3, 2)), case(F32, -1), case(Z, (6, 1)), case(E, (3, 0)), case(0.5, 1)],
    np.ravel: [*of_array(), case(ZERO_D), case(A, order="F")],
    np.transpose: [*of_array(), case(T, (2, 0, 1))],
    np.permute_dims: [case(T, (1, 2, 0))],
    np.matrix_transpose: [*of_array(), case(T)],
    np.swapaxes: [*of_array(0, 1), case(T, 0, -1)],
    np.moveaxis: [case(T, 0, 2), case(T, (0, 1), (2, 0)), case(F32, 0, 1)],
    np.rollaxis: [case(T, 2), case(T, 1, 3)],
    np.squeeze: [case(A[None]), case(A[:, None], axis=1), case(C64[None])],
    np.expand_dims: [*of_array(1), case(A, (0, 3)), case(0.5, 0)],
    np.atleast_1d: [*of_array(), case(0.5), case(A, 0.3)],
    np.atleast_2d: [*of_array(), case(0.5), case(X)],
    np.atleast_3d: [*of_array(), case(0.5), case(X)],
    np.broadcast_to: [case(A, (4, 2, 3)), case(0.5, (2, 2)), case(F32[:1], (2, 3)),
                      case(E, (0, 3))],
    np.broadcast_arrays: [case(A, X[:3], 0.5)],
    np.flip: [*of_array(), case(T, 1), case(T, (0, 2))],
    np.fliplr: of_array(),
    np.flipud: of_array(),
    np.rot90: [*of_array(), case(T, 3, (1, 2))],
    np.roll: [*of_array(1), case(A, (1, 2), (0, 1)), case(A, 1, 0)],
    np.tile: [*of_array(2), case(X, (2, 3)), case(0.5, 3)],
    np.repeat: [*of_array(2), case(A, N[:2], axis=0), case(Y, N)],
    np.resize: [case(A, (3, 3)), case(F32, 4), case(Z, (2, 2))],
    np.pad: [
        case(A, 1), case(A, ((1, 0), (2, 1)), constant_values=0.5), case(X, 2, mode="reflect"),
        case(A, 1, mode="edge"), case(F32, 1, mode="wrap"), case(X, (1, 2), mode="symmetric"),
        case(A[:, :0], ((1, 2), (0, 0)), mode="mean"), case(A[:, :0], ((2,), (0,)), "linear_ramp"),
    ],
    np.diag: [*of_array(), case(X), case(X, 1), case(S, -1)],
    np.diagflat: [*of_array(), case(X, -1)],
    np.diagonal: [*of_array(), case(T, 1, 0, 2)],
    np.trace: [*of_array(), case(T, 0, 1, 2)],
    np.tril: [*of_array(), case(T, 1)],
    np.triu: [*of_array(), case(T, -1)],
    np.meshgrid: [case(X, Y), case(X, Y, indexing="ij", sparse=True), case(0.5, X)],
    np.ix_: [case(np.array([0, 2]), np.array([1])), case(X, Y), case(X, [True, False], Y)],
    np.trim_zeros: [case([0, 0.3, 0.7, 0]), case([0.3, 0], "b")],
    np.vander: [case(X), case(X, 3, increasing=True), case(Z[0], 4), case(F32[0])],
    np.astype: [case(A, np.float32), case(F32, float), case(A, complex), case(A, int)],
    np.array: [case(A), case([0.3, 0.7], ndmin=2), case([A, B]), case(F32)],
    np.asarray: [case(A), case([0.3, 0.7]), case(F32)],
    np.asanyarray: [case(A), case([0.3, 0.7])],
    np.ascontiguousarray: [case(A), case(0.5)],
    np.full_like: [case(A, 0.3), case(F32, 0.7), case(A, X[:3])],
    np.real_if_close: [case(A), case(Z)],
}  # fmt: skip
JOINS: dict = {
    f: [case([A, B]), case([F32, F32]), case([A, Z]), case([E, E])]
    for f in (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block)
}
JOINS |= {
    np.concat: [case((A, B)), case([A, B], axis=1)],
    np.append: [case(A, B), case(A, B, axis=0), case(X, 0.5)],
    np.insert: [case(X, 2, 0.5), case(A, 1, X[:2], axis=1), case(X, [1, 3], Y[:2])],
    np.delete: [case(X, 2), case(A, 1, axis=1), case(X, [0, 3])],
    np.split: [case(A, 3, axis=1), case(X, [1, 3])], np.array_split: [case(X, 2), case(F32, 2)],
    np.hsplit: [case(A, 3)], np.vsplit: [case(A, 2)], np.dsplit: [case(T, 2)],
}  # fmt: skip
JOINS[np.concatenate] += [case([A, B[0]], axis=None), case([A, B], axis=-1)]
JOINS[np.stack] += [case([A, B], axis=-1), case([0.3, 0.7])]
CHOICES: dict = {
    np.where: [case(M, A, B), case(M, A, 0.5), case(M, F32, F32), case(M, Z, A), case(E > 0, E, E)],
    np.select: [case([A > 0.5, A < 0], [A, B], 0.3), case([M], [F32])],
    np.choose: [case(np.array([0, 1, 1]), [X[:3], W[:3]])],
    np.take: [*of_array([1, 0, 1], axis=1), case(X, 2), case(X, ROWS), case(A, -1, axis=0)],
    np.take_along_axis: [case(A, ROWS, axis=1), case(F32, ROWS, axis=1), case(X, N, axis=0)],
    np.compress: [case(BOTH, A, axis=0), case([True, False, True], X)],
    np.extract: [case(M, A), case(M, F32)],
    np.clip: [case(A, -0.4, 0.6), case(F32, -0.4, 0.6), case(A, None, 0.3), case(X, W - 1, W + 1)],
    np.nan_to_num: [case(NANS), case(A), case(np.array([np.inf, 0.4]), posinf=0.5)],
    np.piecewise: [case(X, [X < 0, X >= 0], [np.sin, np.exp]), case(A, [A > 0.3], [0.5, np.cos])],
    np.sort: [*along(complex_too=False, empty=True, zero_d=False), case(A, axis=None)],
    np.partition: [case(A, 1), case(X, (1, 3)), case(F32, 1, axis=0)],
    np.sort_complex: [case(Z[0]), case(X)],
    np.unique: [case(X), case(X, return_inverse=True, return_counts=True)],
    np.unique_all: [case(X)], np.unique_counts: [case(X)], np.unique_inverse: [case(X)],
    np.unique_values: [case(X), case(A)],
    np.union1d: [case(X, Y)], np.intersect1d: [case(X, Y)],
    np.setdiff1d: [case(X, N)], np.setxor1d: [case(X, Y)],
    np.lexsort: [case((X, W))], np.argpartition: [case(A, 1), case(X, 2)],
    np.argwhere: [case(A)], np.nonzero: [case(A)],
    np.searchsorted: [case(UP, Y), case(UP, 0.3)], np.digitize: [case(Y, UP)],
    np.isin: [case(X, [X[0], 0.3])], np.isclose: [case(A, B)], np.allclose: [case(A, B)],
    np.array_equal: [case(A, B)], np.array_equiv: [case(A, B)],
    np.may_share_memory: [case(A, B)], np.shares_memory: [case(A, B)],
    np.can_cast: [case(np.float64, np.float32)],
    np.tril_indices_from: [case(A)], np.triu_indices_from: [case(A)],
    np.diag_indices_from: [case(S)], np.einsum_path: [case("ij,ij", A, B)],
    np.unravel_index: [case(N, (2, 3))], np.ravel_multi_index: [case((N[:2], N[1:3]), (4, 4))],
    np.packbits: [case(np.array([1, 0, 1]))],
    np.unpackbits: [case(np.array([[7, 2]], np.uint8))],
    np.busday_count: [case(DAYS[0], DAYS[1])], np.busday_offset: [case(DAYS, 1, roll="forward")],
    np.is_busday: [case(DAYS)], np.datetime_as_string: [case(DAYS)],
}  # fmt: skip
# NumPy 2.5 takes vectors of three components only.
VECTORS_IN_THE_PLANE = [case(A[:, :2], B), case(A[:, :2], B[:, :2]), case(A, B[0, :2])]
if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
    VECTORS_IN_THE_PLANE = []
PRODUCTS: dict = {
    np.dot: [case(A, S), case(X, W), case(T, real(4, 2)), case(2.5, A), case(F32, F32.T),
             case(T, real(2, 4, 3)), case(A, real(2, 3, 2))],
    np.inner: [case(A, B), case(X, W), case(2.5, A), case(T, T[0]), case(Z, Z)],
    np.outer: [case(X, Y), case(A, B), case(Z[0], X), case(F32[0], F32[1])],
    np.vdot: [case(X, W), case(Z, Z[::-1]), case(A, Z), case(F32, F32)],
    np.tensordot: [case(A, B), case(T, A, ((0, 1), (0, 1))), case(A, B, 0),
                   case(Z, A, ((1,), (1,)))],
    np.kron: [case(A, B), case(X, Y), case(Z, X), case(F32, 0.5), case(T, A)],
    np.cross: [case(A, B), *VECTORS_IN_THE_PLANE, case(Z, A),
               case(S, S[::-1] * 2, axis=0),
               case(S[:, :2], S[:, 1:] * 2, axis=0)],
    np.convolve: [case(X, Y), case(X, Y, "same"), case(X, Y, "valid"), case(X, Y, 1),
                  case(Z[0], X)],
    np.correlate: [case(X, Y), case(X, Y, "full"), case(Z[0], X, "same"), case(F32[0], F32[1])],
    np.einsum: [
        case("ij,ij->i", A, B), case("ij,kj", A, B), case("ii", S),
        case("i,ij,j", A[:, 0], B, X[:3]),
        case("...i,i", T, Y), case("ij->ji", Z), case("ij,jk", F32, F32.T),
    ],
    np.cov: [case(A), case(X, W), case(A.T, rowvar=False, ddof=0), case(F32), case(Z)],
    np.corrcoef: [case(A), case(X, W), case(F32)],
    np.average: [case(A), case(A, weights=POSITIVE[:3], axis=1), case(X, 0, POSITIVE), case(F32)],
}  # fmt: skip
DIFFERENCES: dict = {
    np.diff: [*of_array(), case(X[:0]), case(X[:1], 2), case(X, 2), case(A, axis=0),
              case(X, prepend=0.5, append=W[:2])],
    np.ediff1d: [case(X[:0]), case(X), case(A, 0.5, W[:2]), case(F32)],
    np.gradient: [case(X), case(A[:, [0, 1, 2]]), case(X, 0.5), case(X, UP), case(S, edge_order=2)],
    np.trapezoid: [case(X), case(X, UP), case(A, dx=0.5), case(A, axis=0), case(Z)],
    np.unwrap: [case(3 * X), case(5 * A, axis=0), case(3 * F32)],
    np.interp: [case(Y, UP, W), case(0.3, UP, W), case(Y, UP, W, 0.5, 0.7), case(Z.real[0], UP, W)],
    np.ptp: [case(A), case(A, axis=1), case(F32), case(X)],
    np.median: along(complex_too=False, empty=False, keepdims=True),
    np.nanmedian: [*along(complex_too=False, empty=False, keepdims=True), case(NANS, axis=1)],
    np.nanmean: [*REDUCTIONS[np.mean], case(NANS), case(NANS, axis=1)],
    np.angle: [case(Z), case(A), case(C64), case(0.6 + 0.3j), case(Z, deg=True)],
    np.sinc: [case(A), case(F32), case(0.4), case(Z), case(E)],
    np.i0: [case(A), case(F32), case(X)],
    np.linspace: [case(0.3, 2.0, 4), case(X[:2], Y[:2], 3), case(0.3, 2.0, 3, endpoint=False)],
    np.logspace: [case(0.3, 2.0, 4), case(0.3, 1.0, 3, base=2.5)],
    np.geomspace: [case(0.3, 2.0, 4), case(POSITIVE[:2], POSITIVE[2:4], 3)],
    np.histogram: [
        case(X, UP + 0.1), case(X, 3, (-3.0, 3.0), False, W),
        case(X, 3, (-3.0, 3.0), True, POSITIVE),
    ],
    np.histogram_bin_edges: [case(X, 3), case(X, UP)],
    np.histogram2d: [case(X, W, 2, [[-3, 3], [-3, 3]], False, POSITIVE)],
    np.histogramdd: [case((X, W), 2, [[-3, 3], [-3, 3]], False, POSITIVE)],
    np.bincount: [case(N), case(N, Y), case(N, Y, 6)],
    np.apply_along_axis: [case(np.cumsum, 1, A), case(np.sum, 0, A), case(np.sin, 0, F32)],
    np.apply_over_axes: [case(np.sum, T, [0, 2]), case(np.mean, A, 0)],
}  # fmt: skip
POLYNOMIALS: dict = {
    f: [case(X, Y), case(Y, X), case(Z[0], Y), case(X, 0.5)]
    for f in (np.polyadd, np.polysub, np.polymul, np.polydiv)
}
POLYNOMIALS |= {
    np.polyval: [case(X, A), case(X, 0.5), case(Z[0], X), case(F32[0], F32)],
    np.polyder: [case(X), case(X, 2), case(Z[0]), case(F32[0])],
    np.polyint: [case(X), case(X, 2, W[:2]), case(Z[0]), case(F32[0], 1, 0.5)],
    np.poly: [case(X), case(S), case(F32[0])],
    np.roots: [case(np.poly([1.0, 2.0, -3.0])), case(np.array([1.0, 0.4, 2.0])), case(Z[0])],
    np.polyfit: [case(X, W, 2), case(X, W, 1, None, False, POSITIVE), case(Y, real(4, 2), 1)],
}
WRITES: dict = {
    np.put: [case(A, [0, 4], Y[:2]), case(F32, [1], 0.5)],
    np.place: [case(A, M, Y), case(F32, M, [0.3])],
    np.putmask: [case(A, M, B), case(A, M, Y)],
    np.copyto: [case(A, B), case(A, 0.4, where=M), case(F32, F32[0] * 2)],
    np.fill_diagonal: [case(S, 0.5), case(S, X[:3])],
    np.put_along_axis: [case(A, ROWS[:, :1], 0.5, 1), case(A, ROWS[:, :1], Y[:2, None], axis=1)],
}
CASES: dict = {
    **REDUCTIONS, **EXTREMES, **OF_NANS, **QUANTILES, **ACCUMULATIONS, **CONSTANT, **LIKE,
    **MAKERS, **SHAPES, **JOINS, **CHOICES, **PRODUCTS, **DIFFERENCES, **POLYNOMIALS, **WRITES,
}  # fmt: skip
for _f in (np.cumulative_sum, np.cumulative_prod, np.unstack):
    CASES[_f] = [case(X), case(F32[0]), case(A, axis=1)]
CASES[np.cumulative_sum] += [case(X, include_initial=True), case(A, axis=(-1,))]
CASES[np.cumulative_prod] += [case(X, include_initial=True), case(A, axis=(-1,))]
if hasattr(np, "row_stack"):  # deprecated
    CASES[np.row_stack] = [case([A, B])]
WRITERS = set(WRITES)
# Complex medians are refused, complex unique values come in another order than NumPy's, and how
# long a remainder is depends on the rounding.
OF_ONE_DTYPE = {
    np.median, np.nanmedian, np.unique_values, np.polydiv,
    # Object arrays of complex traced numbers are refused.
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.full, np.trim_zeros,
}  # fmt: skip
