"""Cases of products of matrices, numpy.linalg and numpy.fft, at generic points."""

import functools

import numpy as np
from generic_points import case, complex_normal, normal

real = functools.partial(normal, (23,))
wide = functools.partial(complex_normal, (23,))
S = real(3, 3) + 2 * np.eye(3)
STACK = real(2, 3, 3, seed=5) + 2 * np.eye(3)
A = real(2, 3)
TALL = real(4, 2)
X = real(3)
C = wide(3, 3) + 2 * np.eye(3)
S32 = S.astype(np.float32)
SYMMETRIC = S + S.T
DEFINITE = S @ S.T + np.eye(3)
HERMITIAN = C @ np.conj(C.T) + np.eye(3)
E = np.zeros((0, 3, 3))
SQUARE = [case(x) for x in (S, STACK, C, S32, E)]
ANY = [case(x) for x in (S, A, TALL, STACK, C, S32)]


PRODUCTS: dict = {
    np.matmul: [
        case(S, A.T), case(STACK, S), case(X, S), case(S, X), case(X, X[::-1] * 2), case(C, S),
        case(S32, S32.T), case(STACK, X), case(E, S),
    ],
    np.vecdot: [case(A, X), case(X, X[::-1] * 2), case(C, S)],
}  # fmt: skip
PRODUCTS[np.matvec] = [case(S, X), case(STACK, A), case(C, X), case(S32, S32[0])]
PRODUCTS[np.vecmat] = [case(X, S), case(A, STACK), case(C[0], S), case(S32[0], S32)]
L = np.linalg
LINALG: dict = {
    L.det: SQUARE, L.inv: SQUARE, L.slogdet: SQUARE,
    L.solve: [case(S, X), case(S, A.T), case(STACK, A[:, :, None]), case(C, X), case(S32, S32[0])],
    L.cholesky: [case(DEFINITE), case(HERMITIAN), case(DEFINITE[None]), case(DEFINITE, upper=True)],
    L.qr: [case(S), case(TALL), case(C), case(STACK), case(TALL, mode="r")],
    L.svd: [case(S, full_matrices=False), case(TALL, full_matrices=False),
            case(A, compute_uv=False), case(STACK, compute_uv=False)],
    L.svdvals: [case(S), case(TALL), case(C), case(S32)],
    L.eigh: [case(SYMMETRIC), case(SYMMETRIC[None], "U")],
    L.eigvalsh: [case(SYMMETRIC), case(HERMITIAN), case(SYMMETRIC[None], "U")],
    L.eig: [case(DEFINITE + 0.1 * S)], L.eigvals: [case(S), case(C), case(STACK)],
    L.pinv: [case(S), case(TALL), case(A), case(C), case(S, rcond=0.4), case(STACK, rtol=0.4)],
    L.lstsq: [case(TALL, real(4)), case(S, X, rcond=0.4),
              case(TALL, real(4, 2, seed=5)), case(A, real(2))],
    L.cond: [case(S), case(TALL), case(S, 1), case(S, "fro"), case(C)],
    L.norm: [
        *ANY, case(X), case(X, 1), case(X, 3), case(X, np.inf), case(S, "nuc"), case(S, 2),
        case(S, 1), case(STACK, "fro", (1, 2)), case(A, axis=1, keepdims=True),
    ],
    L.matrix_norm: [case(S), case(STACK, ord="nuc"), case(C, ord=2), case(S, ord=np.inf)],
    L.vector_norm: [
        case(X), case(A, axis=1), case(C, ord=3), case(A, ord=2.0), case(S32),
        case(A[:, :0], axis=0),
    ],
    L.matrix_power: [case(S, 3), case(S, -2), case(S, 0), case(C, 2), case(STACK, 1)],
    L.matrix_rank: [case(S), case(TALL)],
    L.multi_dot: [case([A, S, S, X]), case([X, S, A.T]), case([S, C])],
    L.tensorinv: [case(real(2, 3, 6), ind=2), case(real(4, 2, 2), ind=1)],
    L.tensorsolve: [case(real(2, 3, 6), A), case(S, X)],
    L.cross: [case(A, A[::-1] * 2), case(X, X[::-1] * 2)],
    L.diagonal: [case(S), case(STACK, offset=1)],
    L.matmul: [case(S, A.T), case(STACK, C)], L.matrix_transpose: [case(A), case(STACK)],
    L.outer: [case(X, A[0]), case(C[0], X)], L.tensordot: [case(S, A, axes=((1,), (1,)))],
    L.trace: [case(S), case(STACK, offset=1), case(C)], L.vecdot: [case(A, X), case(C, S)],
}  # fmt: skip

# ---- numpy.fft ---------------------------------------------------------------------------------

V, W = real(6), wide(5)
B, D = real(3, 4), wide(3, 4)
F = np.fft
LINES = [case(V), case(W), case(V, 4), case(V, 9), case(D, axis=0), case(B, 5, -1, "ortho"),
         case(V.astype(np.float32)), case(W, norm="forward")]  # fmt: skip
REAL_LINES = [case(V), case(V, 4), case(V, 9), case(B, axis=0), case(B, 5, -1, "ortho"),
              case(V.astype(np.float32))]  # fmt: skip
PLANES = [case(B), case(D), case(D, (2, 5)), case(B, axes=(1, 0), norm="ortho")]
REAL_PLANES = [case(B), case(B, (2, 5)), case(B, axes=(1, 0), norm="ortho")]
HALF = [case(W), case(W, 7), case(D, axis=0), case(D, 5, -1, "ortho")]
HALF_PLANES = [case(D), case(D, (3, 5)), case(D, axes=(1, 0), norm="forward")]
FFT: dict = {
    F.fft: LINES, F.ifft: LINES, F.rfft: REAL_LINES, F.ihfft: REAL_LINES, F.irfft: HALF,
    F.hfft: HALF, F.fft2: PLANES, F.ifft2: PLANES, F.fftn: PLANES, F.ifftn: PLANES,
    F.rfft2: REAL_PLANES, F.rfftn: REAL_PLANES, F.irfft2: HALF_PLANES, F.irfftn: HALF_PLANES,
    F.fftshift: [case(V), case(D), case(B, axes=1)], F.ifftshift: [case(V), case(D), case(B, 1)],
}  # fmt: skip
CASES: dict = {**PRODUCTS, **LINALG, **FFT}
# By the decomposition with vectors, which the derivative needs; NumPy leaves the vectors out.
BY_ANOTHER_WAY = {L.eigvalsh, L.svdvals, L.svd, L.norm, L.matrix_norm, L.cond}
