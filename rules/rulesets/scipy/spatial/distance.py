"""Distances between vectors, in pairs and all with all.

At 0 a distance that is a norm has the derivative 0 and no second one, as ``np.linalg.norm``: that
is NaN. Distances of counts and of flags are constant.
"""

import functools
import math
from typing import Any

import numpy as np
from scipy import special
from scipy.spatial import distance

from .....config import MissingRuleError
from .... import (
    AbstractZero,
    NoTangent,
    ProjectTo,
    array_of,
    composed,
    frule,
    is_traced,
    non_differentiable,
    primitive,
    rrule,
    scalar_rule,
    seen,
    value,
)
from ...arrays.indexing import scatter
from ...arrays.numpys_own import composed_for_derivatives, with_values

INSTEAD: dict[str, Any] = {}
FLAGS = "it is for vectors of flags, and with other numbers a count"
REFUSED: dict[str, tuple[str, str]] = {
    name: (FLAGS, f"{name}(u != 0, v != 0)")
    for name in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
}
non_differentiable(distance.hamming, distance.jaccard, distance.is_valid_dm, distance.is_valid_y,
                   distance.num_obs_dm, distance.num_obs_y)  # fmt: skip


# ---- roots --------------------------------------------------------------------------------------


@primitive
def root(s):
    """The square root of a sum of squares: at 0 flat, as a norm is."""
    return np.sqrt(np.maximum(s, 0))


@primitive
def half_inverse(y):
    """``1 / (2 y)``, and 0 at 0, where it has no derivative."""
    return np.divide(0.5, y, out=np.zeros_like(y), where=y != 0)[()]


scalar_rule(root, lambda y, _s: half_inverse(y))
scalar_rule(half_inverse, lambda z, y: np.where(y == 0, math.nan, -2 * z * z))


def root_of(s, own):
    """The root of ``s``, which is 0 where SciPy's ``own`` is."""
    return root(with_values(s, np.square(own)) if is_traced(s) else s)


def as_vector(x):
    x = array_of(x)
    return x if value(x).dtype.kind in "fc" else x * 1.0


# ---- sums over the last axis --------------------------------------------------------------------


def weighted(terms, w):
    return np.sum(terms if w is None else terms * w, axis=-1)


def cityblock_sum(a, b, w=None):
    return weighted(np.abs(a - b), w)


def chebyshev_sum(a, b, w=None):
    steps = np.abs(a - b)
    return np.max(steps if w is None else np.where(value(w) > 0, steps, 0.0), axis=-1)


def canberra_sum(a, b, w=None):
    steps, sizes = np.abs(a - b), np.abs(a) + np.abs(b)
    nothing = value(sizes) == 0
    return weighted(np.where(nothing, 0.0, steps / np.where(nothing, 1.0, sizes)), w)


def braycurtis_sum(a, b, w=None):
    return weighted(np.abs(a - b), w) / weighted(np.abs(a + b), w)


def minkowski_sum(a, b, p=2.0, w=None):
    steps = a - b
    if is_traced(p):
        return weighted(np.abs(steps) ** p, w) ** (1 / p)
    if w is not None:
        steps = np.where(value(w) != 0, 1.0, 0.0) * steps if p == math.inf else w ** (1 / p) * steps
    return np.linalg.norm(steps, p, axis=-1)


def jensenshannon_sum(a, b, base=None):
    a = a / np.sum(a, axis=-1, keepdims=True)
    b = b / np.sum(b, axis=-1, keepdims=True)
    m = (a + b) / 2.0
    y = np.sum(special.rel_entr(a, m) + special.rel_entr(b, m), axis=-1)
    return root((y if base is None else y / np.log(base)) / 2.0)


# What is computed from the differences, or sums, of each pair.
BY_PAIRS = {
    "cityblock": cityblock_sum,
    "chebyshev": chebyshev_sum,
    "canberra": canberra_sum,
    "braycurtis": braycurtis_sum,
    "minkowski": minkowski_sum,
    "jensenshannon": jensenshannon_sum,
}

# ---- squares by products ------------------------------------------------------------------------


@primitive
def squares(a, b):
    """``|a_i - b_j|**2`` of all rows."""
    return distance.cdist(a, b, "sqeuclidean")


@frule.register(squares)
def squares_frule(tangents, squares, a, b):
    _, adot, bdot = tangents
    return squares(a, b), 2 * along_steps(adot, bdot, a, b)


@rrule.register(squares)
def squares_rrule(squares, a, b):
    """``ydot = 2 (a_i - b_j) @ (adot_i - bdot_j)``, by products of matrices."""
    project_a, project_b = ProjectTo(a), ProjectTo(b)

    def squares_pullback(ybar):
        abar, bbar = steps_transpose(ybar, a, b)
        return NoTangent(), project_a(2 * abar), project_b(2 * bbar)

    return squares(a, b), squares_pullback


@primitive
def distances(a, b):
    """``|a_i - b_j|`` of all rows."""
    return distance.cdist(a, b)


@frule.register(distances)
def distances_frule(tangents, distances, a, b):
    _, adot, bdot = tangents
    y = distances(a, b)
    return y, 2 * half_inverse(y) * along_steps(adot, bdot, a, b)


@rrule.register(distances)
def distances_rrule(distances, a, b):
    """From ``y**2 = squares``: ``y * ydot = (a_i - b_j) @ (adot_i - bdot_j)``."""
    y = distances(a, b)
    project_a, project_b = ProjectTo(a), ProjectTo(b)

    def distances_pullback(ybar):
        abar, bbar = steps_transpose(2 * half_inverse(y) * ybar, a, b)
        return NoTangent(), project_a(abar), project_b(bbar)

    return y, distances_pullback


def along_steps(adot, bdot, a, b):
    """``(a_i - b_j) @ (adot_i - bdot_j)``, by one product: the rows have the terms side by side."""
    a, b = moved(a, b)
    terms = []
    if not isinstance(adot, AbstractZero):
        along = np.sum(a * adot, axis=1, keepdims=True)
        terms += [(along, np.ones((np.shape(b)[0], 1))), (-adot, b)]
    if not isinstance(bdot, AbstractZero):
        along = np.sum(b * bdot, axis=1, keepdims=True)
        terms += [(np.ones((np.shape(a)[0], 1)), along), (-a, bdot)]
    left, right = (np.concatenate(part, axis=1) for part in zip(*terms))
    return left @ right.T


def moved(a, b):
    """Move all rows alike, so that less of them cancels in their differences."""
    middle = np.mean(value(b), axis=0)
    return a - middle, b - middle


def steps_transpose(ybar, a, b):
    """``sum_j ybar_ij (a_i - b_j)`` and ``sum_i ybar_ij (b_j - a_i)``."""
    a, b = moved(a, b)
    return sum_of_steps(ybar, a, b), sum_of_steps(ybar.T, b, a)


def sum_of_steps(ybar, a, b):
    sums = ybar @ np.concatenate([np.ones((np.shape(b)[0], 1)), b], axis=1)
    return sums[:, :1] * a - sums[:, 1:]


# ---- of the rows of one matrix, each pair once --------------------------------------------------


@primitive
def pair_squares(x):
    """``|x_i - x_j|**2`` for all i < j."""
    return distance.pdist(x, "sqeuclidean")


@primitive
def pair_distances(x):
    """``|x_i - x_j|`` for all i < j."""
    return distance.pdist(x)


def along_pairs(xdot, x):
    places = np.triu_indices(np.shape(x)[0], 1)
    return along_steps(xdot, xdot, x, x)[places]


def pairs_transpose(ybar, x):
    both = seen(distance.squareform)(ybar)
    x, _ = moved(x, x)
    return sum_of_steps(both, x, x)


@frule.register(pair_squares)
def pair_squares_frule(tangents, pair_squares, x):
    return pair_squares(x), 2 * along_pairs(tangents[1], x)


@rrule.register(pair_squares)
def pair_squares_rrule(pair_squares, x):
    project_x = ProjectTo(x)

    def pair_squares_pullback(ybar):
        return NoTangent(), project_x(pairs_transpose(2 * ybar, x))

    return pair_squares(x), pair_squares_pullback


@frule.register(pair_distances)
def pair_distances_frule(tangents, pair_distances, x):
    y = pair_distances(x)
    return y, 2 * half_inverse(y) * along_pairs(tangents[1], x)


@rrule.register(pair_distances)
def pair_distances_rrule(pair_distances, x):
    y = pair_distances(x)
    project_x = ProjectTo(x)

    def pair_distances_pullback(ybar):
        return NoTangent(), project_x(pairs_transpose(2 * half_inverse(y) * ybar, x))

    return y, pair_distances_pullback


# These have SciPy's own values: of all with all, and of pairs.
ROWS = {"euclidean": (distances, pair_distances), "sqeuclidean": (squares, pair_squares)}


def forms(a, b, m):
    """``(a_i - b_j) @ m @ (a_i - b_j)`` of all rows."""
    middle = np.mean(value(b), axis=0)
    a, b = a - middle, b - middle
    am, bm = a @ m, b @ m
    return np.sum(am * a, axis=1)[:, None] + np.sum(bm * b, axis=1) - am @ b.T - a @ bm.T


def cosines(a, b, w=None, centered=False):
    if centered:
        share = None if w is None else w / np.sum(w)
        mean = functools.partial(np.mean, axis=1) if w is None else lambda x: x @ share
        a, b = a - mean(a)[:, None], b - mean(b)[:, None]
    aw, bw = (a, b) if w is None else (a * w, b * w)
    lengths = np.sqrt(np.sum(aw * a, axis=1))[:, None] * np.sqrt(np.sum(bw * b, axis=1))
    return 1.0 - (aw @ b.T) / lengths


def inverse_covariance(rows):
    return np.linalg.inv(np.atleast_2d(np.cov(rows.T))).T


def all_with_all(metric, a, b, own, rows, kwargs):
    """The distances of the rows of ``a`` from those of ``b``; SciPy's are ``own``.

    ``rows`` gives all rows, where the metric takes their variances.
    """
    if metric in BY_PAIRS:
        return BY_PAIRS[metric](a[:, None], b[None], **kwargs)
    if metric in ("cosine", "correlation"):
        return cosines(a, b, centered=metric == "correlation", **kwargs)
    if metric == "mahalanobis":
        m = kwargs.get("VI")
        return root_of(forms(a, b, inverse_covariance(rows()) if m is None else array_of(m)), own)
    if metric == "seuclidean":
        v = kwargs.get("V")
        v = np.var(rows(), axis=0, ddof=1) if v is None else array_of(v)
        return distances(a / np.sqrt(v), b / np.sqrt(v))
    w = kwargs.get("w")
    if w is not None:
        a, b = a * np.sqrt(w), b * np.sqrt(w)
    return squares(a, b) if metric == "sqeuclidean" else distances(a, b)


def euclidean_pairs(metric, x, w=None, V=None):  # noqa: N803 - SciPy's own name
    if metric == "seuclidean":
        w = 1 / (np.var(x, axis=0, ddof=1) if V is None else array_of(V))
    if w is not None:
        x = x * np.sqrt(w)
    return pair_squares(x) if metric == "sqeuclidean" else pair_distances(x)


NAMES = {
    "chebyshev": "chebychev cheby cheb ch", "cityblock": "cblock cb c", "correlation": "co",
    "cosine": "cos", "euclidean": "euclid eu e", "jensenshannon": "js",
    "mahalanobis": "mahal mah", "minkowski": "mi m pnorm", "seuclidean": "se s",
    "sqeuclidean": "sqe sqeuclid", "canberra": "", "braycurtis": "",
}  # fmt: skip
CALLED = {other: name for name, others in NAMES.items() for other in (name, *others.split())}


def named(metric):
    """Return the metric's own name; None of one that is constant, or that the user wrote."""
    word = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    theirs = isinstance(metric, str) or getattr(distance, word, None) is plain(metric)
    return CALLED.get(word.lower().removeprefix("test_")) if theirs else None


def plain(metric):
    """SciPy's own function under one that sees traced values."""
    return getattr(metric, "__wrapped__", metric)


def is_written(metric):
    own = getattr(distance, getattr(metric, "__name__", ""), None)
    return callable(metric) and own is not plain(metric)


def by_calls(metric, pairs, kwargs):
    return np.stack([metric(u, v, **kwargs) for u, v in pairs])


def refuse_out(out):
    if out is not None:
        raise MissingRuleError("cdist and pdist with out= have no rule.\n  write y = cdist(...)")


def with_w(metric, kwargs):
    """SciPy takes Minkowski's distance of order 2 for the Euclidean one."""
    if metric == "minkowski" and not is_traced(kwargs.get("p", 2.0)) and kwargs.get("p", 2.0) == 2:
        return "euclidean", {k: v for k, v in kwargs.items() if k != "p"}
    return metric, kwargs


@composed(distance.cdist)
def cdist(XA, XB, metric="euclidean", *, out=None, **kwargs):  # noqa: N803 - SciPy's own names
    refuse_out(out)
    a, b = as_vector(XA), as_vector(XB)
    if is_written(metric):
        y = by_calls(metric, [(u, v) for u in a for v in b], kwargs)
        return np.reshape(y, (np.shape(a)[0], np.shape(b)[0]))
    own = distance.cdist(value(a), value(b), plain(metric), **value(kwargs))
    name = named(metric)
    if name is None or not own.size:
        return own
    name, kwargs = with_w(name, kwargs)
    if name in ROWS and not kwargs:
        return ROWS[name][0](a, b)
    rows = functools.partial(np.concatenate, [a, b])
    return with_values(all_with_all(name, a, b, own, rows, kwargs), own)


@composed(distance.pdist)
def pdist(X, metric="euclidean", *, out=None, **kwargs):  # noqa: N803 - SciPy's own name
    refuse_out(out)
    x = as_vector(X)
    i, j = np.triu_indices(np.shape(x)[0], 1)
    if is_written(metric):
        return by_calls(metric, [(x[m], x[n]) for m, n in zip(i, j)], kwargs)
    own = distance.pdist(value(x), plain(metric), **value(kwargs))
    name = named(metric)
    if name is None or not own.size:
        return own
    name, kwargs = with_w(name, kwargs)
    if name in ROWS and not kwargs:
        return ROWS[name][1](x)
    if name in BY_PAIRS:
        return with_values(BY_PAIRS[name](x[i], x[j], **kwargs), own)
    if "euclidean" in name:
        return with_values(euclidean_pairs(name, x, **kwargs), own)
    square = distance.squareform(own)
    y = all_with_all(name, x, x, square, lambda: x, kwargs)[i, j]
    return with_values(y, own)


# ---- of two vectors -----------------------------------------------------------------------------


@composed_for_derivatives(distance.minkowski)
def minkowski(u, v, p=2, w=None):
    return minkowski_sum(as_vector(u), as_vector(v), p, None if w is None else as_vector(w))


@composed_for_derivatives(distance.euclidean)
def euclidean(u, v, w=None):
    return minkowski(u, v, 2, w)


@composed_for_derivatives(distance.sqeuclidean)
def sqeuclidean(u, v, w=None):
    steps = as_vector(u) - as_vector(v)
    return weighted(steps * steps, None if w is None else as_vector(w))


@composed_for_derivatives(distance.seuclidean)
def seuclidean(u, v, V):  # noqa: N803 - SciPy's own name
    return np.linalg.norm((as_vector(u) - as_vector(v)) / np.sqrt(as_vector(V)))


@composed_for_derivatives(distance.mahalanobis)
def mahalanobis(u, v, VI):  # noqa: N803 - SciPy's own name
    step, m = as_vector(u) - as_vector(v), np.atleast_2d(as_vector(VI))
    return root(step @ m @ step)


@composed_for_derivatives(distance.cityblock)
def cityblock(u, v, w=None):
    return cityblock_sum(as_vector(u), as_vector(v), None if w is None else as_vector(w))


@composed_for_derivatives(distance.chebyshev)
def chebyshev(u, v, w=None):
    return chebyshev_sum(as_vector(u), as_vector(v), None if w is None else as_vector(w))


@composed_for_derivatives(distance.canberra)
def canberra(u, v, w=None):
    return canberra_sum(as_vector(u), as_vector(v), None if w is None else as_vector(w))


@composed_for_derivatives(distance.braycurtis)
def braycurtis(u, v, w=None):
    return braycurtis_sum(as_vector(u), as_vector(v), None if w is None else as_vector(w))


@composed_for_derivatives(distance.correlation)
def correlation(u, v, w=None, centered=True):
    u, v, w = as_vector(u)[None], as_vector(v)[None], None if w is None else as_vector(w)
    return cosines(u, v, w, centered)[0, 0]


@composed_for_derivatives(distance.cosine)
def cosine(u, v, w=None):
    return correlation(u, v, w, False)


@composed_for_derivatives(distance.jensenshannon)
def jensenshannon(p, q, base=None, *, axis=0, keepdims=False):
    p, q = (np.moveaxis(as_vector(x), axis, -1) for x in (p, q))
    y = jensenshannon_sum(p, q, base)
    return np.expand_dims(y, axis) if keepdims else y


@composed_for_derivatives(distance.directed_hausdorff)
def directed_hausdorff(u, v, rng=0, **seed):
    _, i, j = distance.directed_hausdorff(value(u), value(v), rng, **seed)
    return np.linalg.norm(array_of(u)[i] - array_of(v)[j]), i, j


@composed_for_derivatives(distance.squareform)
def squareform(X, force="no", checks=True):  # noqa: N803 - SciPy's own name
    x = array_of(X)
    own = distance.squareform(value(x), force, checks)
    if np.ndim(x) == 2:
        return x[np.triu_indices(np.shape(x)[0], 1)]
    places = np.triu_indices(len(own), 1)
    half = scatter(x, own.shape, own.dtype, places)
    return half + half.T
