"""Rules for scipy.spatial: distances, Procrustes analysis, rotations; hulls have no derivative."""

import numpy as np
from scipy import spatial

from .... import array_of, composed, non_differentiable, value
from ..traced_objects import refused
from .distance import as_vector, minkowski_sum

TREE = "which points are near, and how they are joined, is found by comparing"
DRAWS = "it draws a picture", "it with cr.value(...)"
REMEDY = "cr.value(points) here, and distances between the points that it finds"
REFUSED: dict[str, tuple[str, str]] = {
    "convex_hull_plot_2d": DRAWS, "delaunay_plot_2d": DRAWS, "voronoi_plot_2d": DRAWS,
}  # fmt: skip
INSTEAD = {
    name: refused(getattr(spatial, name), TREE, REMEDY)
    for name in (
        "KDTree", "cKDTree", "ConvexHull", "Delaunay", "HalfspaceIntersection", "Rectangle",
        "SphericalVoronoi", "Voronoi",
    )
}  # fmt: skip
non_differentiable(spatial.tsearch)


@composed(spatial.minkowski_distance_p, value="own")
def minkowski_distance_p(x, y, p=2.0):
    """The distance without the root."""
    x, y = as_vector(x), as_vector(y)
    if p == np.inf:
        return np.max(np.abs(y - x), axis=-1)
    return np.sum(np.abs(y - x) ** (1 if p == 1 else p), axis=-1)


@composed(spatial.minkowski_distance, value="own")
def minkowski_distance(x, y, p=2.0):
    return minkowski_sum(as_vector(x), as_vector(y), p)


@composed(spatial.distance_matrix, value="own")
def distance_matrix(x, y, p=2.0, threshold=1000000):
    return minkowski_sum(as_vector(x)[:, None], as_vector(y)[None], p)


@composed(spatial.procrustes, value="own")
def procrustes(data1, data2):
    """Rows moved to the mean 0 and scaled to the norm 1, the second ones turned to the first.

    The turn is ``u @ vh`` of the singular value decomposition of ``b^T a``, transposed. Where that
    is singular, it is not determined, and the value is the one that SciPy has found.
    """
    a, b = (as_vector(array_of(x)) for x in (data1, data2))
    a, b = a - np.mean(a, axis=0), b - np.mean(b, axis=0)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    u, s, vh = np.linalg.svd((b.T @ a).T)
    b = b @ (u @ vh).T * np.sum(s)
    return a, b, np.sum(np.square(a - b))


@composed(spatial.geometric_slerp, value="own")
def geometric_slerp(start, end, t, tol=1e-07):
    """The circle through two unit vectors, in the plane that these span."""
    start, end, t = (as_vector(array_of(x)) for x in (start, end, t))
    c = start @ end
    across = end - c * start
    s = np.linalg.norm(across)
    if value(s) == 0:
        return start + 0 * np.expand_dims(t, -1)
    angle = np.expand_dims(t * np.arctan2(s, c), -1)
    return start * np.cos(angle) + across / s * np.sin(angle)
