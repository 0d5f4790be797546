"""Cases of scipy.linalg, at generic points."""

import functools

import numpy as np
from generic_points import case, complex_normal, normal

from chainrules.rules.rulesets.scipy.linalg import (
    banded,
    cholesky,
    eigenvalues,
    equations,
    exponential,
    lu,
    matrix_functions,
    orthogonal,
    structured,
    systems,
    toeplitz,
)
from chainrules.rules.rulesets.scipy.linalg import (
    riccati as equations_of_riccati,
)
from chainrules.scipy import linalg

real = functools.partial(normal, (29,))
wide = functools.partial(complex_normal, (29,))
S = real(3, 3) / 2 + np.diag([1.0, 4.0, 2.5])
C = wide(3, 3) / 2 + np.diag([1.0, 4.0j, 2.5])
TURNING = np.array([[1.0, -2.0, 0.3], [1.5, 0.8, -0.4], [0.2, 0.5, 2.0]])  # has complex eigenvalues
X = real(3)
A = real(2, 3)
TALL = real(4, 2)
Z = wide(3, seed=3)

SYSTEMS: dict = {
    linalg.det: [case(S), case(C)],
    linalg.inv: [case(S), case(C)],
    linalg.solve: [
        case(S, X), case(C, A.T), case(S, A.T, transposed=True), case(C, Z),
        *[case(x, X, assume_a=a) for x in (S, C) for a in ("sym", "her")],
        case(S @ S.T + np.eye(3), A.T, lower=True, assume_a="pos"),
        case(np.array([[2.0]]), np.array([[1.5]])),
    ],
    linalg.solve_triangular: [
        *[case(x, X, trans=t, lower=low) for x in (S, C) for t in range(3) for low in (0, 1)],
        case(S, A.T, unit_diagonal=True), case(C, Z, "T", unit_diagonal=True, lower=True),
    ],
}  # fmt: skip

BAND = real(4, 5) + 4 * np.eye(4)[2][:, None]  # of a matrix with 1 diagonal below, 2 above
BAND_C = wide(4, 5) + 4 * np.eye(4)[2][:, None]
LOWER = real(3, 5, seed=2) / 4 + 2 * np.eye(3)[0][:, None]  # the lower form of a definite matrix
LOWER_C = wide(3, 5, seed=2) / 4 + 2 * np.eye(3)[0][:, None]
X5 = real(5)
C5 = X5 + 4 * np.eye(5)[0]
R5 = real(5, seed=1)
BANDED: dict = {
    linalg.solve_banded: [case((1, 2), BAND, X5), case((1, 2), BAND_C, wide(5, 2)),
                          case((1, 1), BAND[1:], real(5, 2))],
    linalg.solveh_banded: [
        *[case(x, X5, lower=True) for x in (LOWER, LOWER_C, LOWER[:2])],
        *[case(x[::-1], real(5, 2)) for x in (LOWER, LOWER_C)],
    ],
    linalg.cholesky_banded: [
        *[case(x, lower=True) for x in (LOWER, LOWER_C)],
        *[case(x[::-1]) for x in (LOWER, LOWER_C)],
    ],
    linalg.cho_solve_banded: [
        *[case((x, True), X5) for x in (LOWER, LOWER_C)],
        *[case((x[::-1], False), wide(5, 2)) for x in (LOWER, LOWER_C)],
    ],
    linalg.solve_toeplitz: [case(C5, X5), case((C5, R5), real(5, 2)),
                            case((C5 * (1 + 1j), wide(5)), X5), case(C5 + 1j * R5, X5)],
    linalg.matmul_toeplitz: [case(C5, X5), case((C5, real(3)), real(3, 2)),
                             case((wide(3), wide(5)), X5), case(wide(5), wide(5, 2))],
    linalg.solve_circulant: [case(C5, X5), case(C5 + 0j, X5),
                             case(real(2, 5) + C5, real(5, 2), outaxis=-1)],
}  # fmt: skip

DEFINITE = S @ S.T + np.eye(3)
HERMITIAN = C @ np.conj(C.T) + np.eye(3)
PIVOTS = np.array([1, 1, 2], np.int32)
FACTORED: dict = {
    linalg.cholesky: [case(DEFINITE), case(HERMITIAN), case(HERMITIAN, lower=True)],
    linalg.cho_factor: [case(DEFINITE), case(HERMITIAN), case(HERMITIAN, lower=True)],
    linalg.cho_solve: [case((DEFINITE, False), X), case((C, True), X), case((C, False), A.T)],
    linalg.lu_factor: [case(S), case(C), case(TALL), case(A), case(S[::-1])],
    linalg.lu: [case(S), case(C), case(TALL), case(A, p_indices=True), case(TALL, permute_l=True)],
    linalg.lu_solve: [case((x, PIVOTS), X, trans=t) for x in (S, C) for t in range(3)]
    + [case((S, PIVOTS), A.T)],
}  # fmt: skip

L23 = real(2, 3, seed=4)
ORTHOGONAL: dict = {
    linalg.qr: [case(S), case(C), case(A), case(TALL, mode="economic"), case(TALL, mode="r"),
                case(A, mode="r"), case(S, pivoting=True), case(TALL, mode="r", pivoting=True)],
    linalg.qr_multiply: [case(S, X), case(TALL, L23.T[:2], "left"), case(S, A.T, "left", True),
                         case(C, A, conjugate=True), case(TALL, real(2, 4))],
    linalg.rq: [case(S), case(C), case(TALL), case(A, mode="economic"), case(A, mode="r")],
    linalg.polar: [case(S), case(C), case(TALL), case(A, side="left"), case(S, "left")],
    linalg.orthogonal_procrustes: [case(S, S.T @ S), case(C, S),
                                   case(real(4, 3), real(4, 3, seed=1))],
    linalg.subspace_angles: [case(TALL, real(4, 2, seed=3)),
                             case(TALL, TALL + real(4, 2, seed=7) / 9),
                             case(wide(4, 2), real(4, 1)), case(real(5, 3), real(5, 2, seed=1))],
}  # fmt: skip

SINGULAR: dict = {
    linalg.svd: [case(S), case(C, compute_uv=False), case(TALL, full_matrices=False),
                 case(A, False), case(S, lapack_driver="gesvd"), case(C)],
    linalg.svdvals: [case(S), case(TALL), case(C)],
    linalg.orth: [case(S), case(TALL), case(C)],
    linalg.diagsvd: [case(X, 3, 4), case(X, 5, 3), case(X, 3, 3)],
    linalg.pinv: [case(S), case(TALL), case(C), case(A, return_rank=True), case(S, rtol=0.3)],
    linalg.pinvh: [case(S), case(C, lower=False), case(S, return_rank=True), case(S, atol=1.0)],
    linalg.lstsq: [case(TALL, real(4)), case(TALL, real(4, 2, seed=5)), case(A, real(2)),
                   case(TALL, real(4), lapack_driver="gelsy"), case(wide(4, 2), real(4)),
                   case(S, A.T, cond=0.3)],
    linalg.norm: [case(S), case(X, 3), case(C, "nuc"), case(A, 1, axis=0), case(S, np.inf)],
}  # fmt: skip

SYMMETRIC = S + S.T
EIGEN: dict = {
    linalg.eigh: [
        case(S, driver="evd"), case(HERMITIAN, driver="ev"), case(C, lower=False, driver="ev"),
        case(S, eigvals_only=True),
        *[case(x, y, type=t) for x, y in ((S, DEFINITE), (C, HERMITIAN)) for t in (1, 2, 3)],
        case(C, HERMITIAN, lower=False), case(S, subset_by_index=(1, 2)),
        case(SYMMETRIC, subset_by_value=(1.0, 99.0)), case(S, DEFINITE, subset_by_index=(0, 1)),
    ],
    linalg.eigvalsh: [case(S), case(C, HERMITIAN, type=2), case(S, subset_by_index=(1, 2))],
    linalg.eigh_tridiagonal: [
        case(X, X[:2] + 2), case(X5, R5[:4], eigvals_only=True),
        case(X5, R5[:4], select="i", select_range=(1, 2)),
        case(X5, R5[:4], select="v", select_range=(0.0, 9.0)),
    ],
    linalg.eigvalsh_tridiagonal: [case(X5, R5[:4])],
    linalg.eig_banded: [case(LOWER, lower=True), case(LOWER[::-1], select="i", select_range=(0, 1)),
                        case(LOWER_C, lower=True, eigvals_only=True)],
    linalg.eigvals_banded: [case(LOWER, lower=True), case(LOWER_C[::-1])],
    linalg.eig: [case(S), case(C), case(DEFINITE + S / 9, left=True), case(C, left=True),
                 case(np.diag(X5[:3] * 9) + S / 9, DEFINITE, left=True), case(C, S, right=False),
                 case(TURNING, left=True, right=False)],
    linalg.eigvals: [case(S), case(C), case(S, DEFINITE), case(TURNING)],
}  # fmt: skip
EQUATIONS: dict = {
    linalg.solve_sylvester: [case(S, TURNING, real(3, 3, seed=8)),
                             case(C, real(2, 2) + 4 * np.eye(2), real(3, 2)),
                             case(C, real(2, 2) + 4 * np.eye(2), wide(3, 2))],
    linalg.solve_continuous_lyapunov: [case(S, TURNING), case(C, S)],
    linalg.solve_discrete_lyapunov: [case(S / 9, TURNING), case(C / 9, S, "direct"),
                                     case(C / 9, C, "bilinear")],
}  # fmt: skip

T = TURNING / 2
FUNCTIONS: dict = {
    linalg.expm: [case(S), case(C), case(np.stack([S, T]))],
    linalg.expm_frechet: [case(S, T), case(C, T, compute_expm=False)],
    **{f: [case(T), case(C / 2)] for f in (linalg.cosm, linalg.sinm, linalg.tanm)},
    **{f: [case(T), case(C / 2)] for f in (linalg.coshm, linalg.sinhm, linalg.tanhm)},
}  # fmt: skip

POSITIVE = DEFINITE + T
MIXED = np.diag([-1.0, 0.7, 2.0]) + real(3, 3, seed=9) / 9  # real, and of it only complex results
FUNCTIONS |= {
    linalg.logm: [case(POSITIVE), case(C), case(T), case(MIXED)],
    linalg.sqrtm: [case(POSITIVE), case(C), case(T), case(MIXED)],
    linalg.signm: [case(T), case(C)],
    linalg.fractional_matrix_power: [case(POSITIVE, 0.4), case(C, 3), case(T, -2),
                                     case(MIXED, 1.5)],
    linalg.funm: [case(S, np.sin), case(T, lambda w: w * w), case(C, np.log), case(MIXED, np.log)],
}  # fmt: skip


def riccati(f):
    """The equation for the Hermitian parts of two coefficients: others SciPy does not take."""

    def solve_are(a, b, q, r, e=None, s=None, **options):
        q, r = ((x + np.conj(x.T)) / 2 for x in (q, r))
        return f(a, b, q, r, e, s, **options)

    solve_are.__name__, solve_are.__module__ = f.__name__, f.__module__
    return solve_are


E3 = np.eye(3) + real(3, 3, seed=6) / 9
PLANT = (TURNING, A.T, DEFINITE, 2 * np.eye(2))
PLANT_C = (C / 3, C[:, :2], HERMITIAN, 2 * np.eye(2))
RICCATI: dict = {
    # SciPy's balancing fails for most e.
    riccati(f): [case(*PLANT), case(*PLANT_C, s=A.T / 9), case(*PLANT, E3, A.T / 9, balanced=False),
                 case(*PLANT_C, E3 + C / 30, balanced=False)]
    for f in (linalg.solve_continuous_are, linalg.solve_discrete_are)
}  # fmt: skip

STRUCTURED: dict = {
    linalg.toeplitz: [case(X), case(Z), case(X, X5)],
    linalg.hankel: [case(X), case(Z, X5)],
    linalg.circulant: [case(X), case(real(2, 3))],
    linalg.convolution_matrix: [case(X, 4), case(X, 4, "same"), case(Z, 4, mode="valid")],
    linalg.leslie: [case(X, X5[:2])],
    linalg.companion: [case(X5), case(wide(4))],
    linalg.fiedler_companion: [case(X5), case(wide(6)), case(X), case(X[:2])],
    linalg.fiedler: [case(X), case(X5)],
    linalg.block_diag: [case(S, A, X), case(C, 2.0)],
    linalg.khatri_rao: [case(A, S), case(A, C)],
    linalg.matrix_balance: [case(S * np.array([1.0, 99.0, 0.01])), case(np.triu(S), separate=True)],
}  # fmt: skip
STRUCTURED[linalg.cdf2rdf] = [
    case(np.array([0.3 + 0.2j, 0.3 - 0.2j]), np.array([[0.5 + 0.1j, 0.5 - 0.1j], [0.2, 0.2]]))
]
if hasattr(linalg, "kron"):
    STRUCTURED[linalg.kron] = [case(A, S)]
CONSTANT: dict = {f: [case(S)] for f in (linalg.bandwidth, linalg.issymmetric, linalg.ishermitian)}

# Signs of vectors are others in float32, and in SciPy's default for eigh from point to point.
OF_ONE_DTYPE = {
    linalg.cdf2rdf,
    linalg.eigh,
    linalg.eig,
    linalg.eig_banded,
    linalg.eigh_tridiagonal,
    *RICCATI,
}
CASES: dict = {**SYSTEMS, **BANDED, **FACTORED, **ORTHOGONAL, **SINGULAR, **EIGEN, **EQUATIONS,
               **FUNCTIONS,
               **RICCATI, **STRUCTURED, **CONSTANT}  # fmt: skip

# What the functions above come down to; functions of sizes and types; and those that only take
# Hermitian matrices, in which the cases above are not.
WITHOUT_CASES = {
    systems.dense_solve, systems.dense_inverse, cholesky.lower_factor,
    eigenvalues.tridiagonal_values, equations.twice_hermitian,
    systems.triangular_solve, banded.banded_solve, banded.hermitian_solve,
    structured.built, structured.added_up, toeplitz.toeplitz_solve, lu.square_factors,
    lu.factored_solve, cholesky.definite_solve,
    orthogonal.unitary_of_tall,
    equations.sylvester, equations.continuous_lyapunov, equations.discrete_lyapunov,
    exponential.exponential, exponential.exponential_along,
    matrix_functions.logarithm, matrix_functions.logarithm_along, matrix_functions.square_root,
    matrix_functions.sign, equations_of_riccati.continuous, equations_of_riccati.discrete,
    *[f.__wrapped__ for f in (
        linalg.dft, linalg.hadamard, linalg.helmert, linalg.hilbert, linalg.invhilbert,
        linalg.pascal, linalg.invpascal, linalg.find_best_blas_type, linalg.get_blas_funcs,
        linalg.get_lapack_funcs, linalg.solve_continuous_are, linalg.solve_discrete_are,
    )],
}  # fmt: skip
