"""Cases of scipy.linalg, at generic points."""

import numpy as np

from chainrules.scipy import linalg


def case(*args, **kwargs):
    return args, kwargs


def real(*shape, seed=0):
    return np.random.default_rng((29, seed, *shape)).normal(size=shape)


def wide(*shape, seed=0):
    return real(*shape, seed=seed) + 1j * real(*shape, seed=seed + 1)


S = real(3, 3) + 2 * np.eye(3)
C = wide(3, 3) + 2 * np.eye(3)
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
    linalg.solve_circulant: [case(C5, X5), case(C5 + 0j, X5), case(real(2, 5) + C5, real(5, 3)[:, :2], outaxis=-1)],
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

CASES: dict = {**SYSTEMS, **BANDED, **FACTORED}
