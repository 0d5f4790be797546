"""Cases of scipy.spatial and scipy.spatial.distance."""

import numpy as np
from generic_points import case, normal
from scipy import spatial as plain

from chainrules.rules.rulesets.scipy.spatial import rows as rules
from chainrules.scipy import spatial
from chainrules.scipy.spatial import distance


def real(*shape, seed=0):
    """Numbers that are not near 0, where absolute values are bent."""
    x = normal((37,), *shape, seed=seed)
    return np.where(np.abs(x) < 0.1, 0.7, x)


A, B, W = real(4, 3), real(5, 3, seed=4), np.array([0.5, 1.2, 2.0])
U, V = real(3), real(3, seed=1)
P, Q = np.abs(U) + 0.1, np.abs(V) + 0.1
VI = np.diag(W) + 0.1
FLAGS = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 3]])
SINGLE = ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
          "minkowski", "sqeuclidean")  # fmt: skip

CASES: dict = {
    getattr(distance, name): [case(U, V), case(U, V, w=W), case(*A[:2])] for name in SINGLE
}
CASES[distance.minkowski] += [case(U, V, p=1), case(U, V, p=3.5, w=W), case(U, V, p=np.inf)]
CASES |= {
    distance.seuclidean: [case(U, V, W)],
    distance.mahalanobis: [case(U, V, VI)],
    distance.jensenshannon: [
        case(P, Q), case(P, Q, 2.0), case(np.abs(A), np.abs(B[:4]), axis=1, keepdims=True),
    ],
    distance.cdist: [
        *(case(A, B, name) for name in (*SINGLE, "seuclidean", "mahalanobis")),
        *(case(A, B, name, w=W) for name in SINGLE),
        case(np.abs(A), np.abs(B), "jensenshannon"), case(A, B, "seuclidean", V=W),
        case(A, B, "mahalanobis", VI=VI), case(A, B, "minkowski", p=3), case(A, B, "m", p=1),
        case(A, B, "hamming"), case(FLAGS, FLAGS, "hamming", w=W), case(FLAGS, FLAGS, "ja", w=W),
        case(A, B, distance.cosine), case(A, B, lambda u, v: u @ v + u[0]),
    ],
    distance.pdist: [
        *(case(B, name) for name in (*SINGLE, "seuclidean", "mahalanobis")),
        *(case(B, name, w=W) for name in SINGLE),
        case(np.abs(B), "jensenshannon"), case(B, "seuclidean", V=W), case(B, "minkowski", p=3),
        case(FLAGS, "matching", w=W), case(FLAGS, "jaccard", w=W), case(FLAGS, "dice", w=W),
        case(B, "mahalanobis", VI=VI), case(B, lambda u, v: u @ v + u[0] ** 2), case(B[:1]),
    ],
    distance.squareform: [case(real(6)), case(real(1))],
    distance.directed_hausdorff: [case(A, B)],
    distance.hamming: [case(U, V), case(*FLAGS[:2], W), case(*FLAGS[1:], w=W)],
    distance.jaccard: [case(U, V), case(*FLAGS[:2], W), case(*FLAGS[1:], w=W)],
    distance.is_valid_dm: [case(distance.squareform(np.abs(real(6))))],
    distance.is_valid_y: [case(real(6))],
    distance.num_obs_dm: [case(distance.squareform(np.abs(real(6))))],
    distance.num_obs_y: [case(real(6))],
    spatial.distance_matrix: [case(A, B), case(A, B, 1), case(A, B, 3.0)],
    spatial.minkowski_distance: [case(A, B[:4]), case(A, B[:4], 1), case(A, B[0], 3.0)],
    spatial.minkowski_distance_p: [case(A, B[:4]), case(A, B[:4], np.inf), case(A, B[0], 3.0)],
    spatial.procrustes: [case(real(5, 3, seed=2), B)],
}  # fmt: skip
# What the rules are made of.
CASES |= {
    rules.squares: [case(A, B)],
    rules.distances: [case(A, B)],
    rules.pair_squares: [case(B)],
    rules.pair_distances: [case(B)],
    rules.root: [case(W)],
    rules.half_inverse: [case(W)],
}
# Of unit vectors only, and of a triangulation: tests/scipy.
WITHOUT_CASES = {plain.geometric_slerp, plain.tsearch}
# SciPy computes in double precision, and of real numbers; a matrix of distances is symmetric.
OF_ONE_DTYPE = set(CASES)
FIXED = {
    distance.minkowski: (2,), distance.jensenshannon: (2,), spatial.distance_matrix: (2,),
    spatial.minkowski_distance: (2,), spatial.minkowski_distance_p: (2,),
}  # fmt: skip
TOLERANCES = {
    distance.cdist: 1e-5, distance.pdist: 1e-5, distance.mahalanobis: 1e-5,
    distance.jensenshannon: 1e-5, spatial.procrustes: 1e-5, distance.correlation: 1e-5,
    distance.cosine: 1e-5,
}  # fmt: skip
