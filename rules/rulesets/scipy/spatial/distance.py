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

from .....config import MissingRuleError, user_line
from .... import (
    array_of,
    astype,
    composed,
    composed_each,
    dtype_of,
    is_traced,
    library_value,
    non_differentiable,
    value,
    with_values,
)
from ...arrays.indexing import scatter
from .rows import (
    BETWEEN_ROWS,
    OF_PAIRS,
    centred,
    distances,
    pair_distances,
    pair_squares,
    root,
    squares,
)

INSTEAD: dict[str, Any] = {}
FLAGS = "it is for vectors of flags, and with other numbers a count"
REFUSED: dict[str, tuple[str, str]] = {
    name: (FLAGS, f"{name}(u != 0, v != 0)")
    for name in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
}
non_differentiable(
    distance.is_valid_dm, distance.is_valid_y, distance.num_obs_dm, distance.num_obs_y
)


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


def hamming_sum(a, b, w=None):
    """The weights of what differs: it moves with the weights alone, as all counts do."""
    differ = value(a) != value(b)
    return weighted(differ, w) / (np.shape(a)[-1] if w is None else np.sum(w))


# From 1.15 on SciPy takes other numbers than 0 for one flag.
AS_FLAGS = distance.jaccard(np.array([1.0]), np.array([2.0])) == 0


def jaccard_sum(a, b, w=None):
    a, b = value(a), value(b)
    if AS_FLAGS:
        a, b = a != 0, b != 0
    some = (a != 0) | (b != 0)
    total = weighted(some, w)
    nothing = value(total) == 0
    differ = weighted(some & (a != b), w)
    return np.where(nothing, 0.0, differ / np.where(nothing, 1.0, total))


# What is computed from the differences, or sums, of each pair.
BY_PAIRS = {
    "hamming": hamming_sum,
    "jaccard": jaccard_sum,
    "cityblock": cityblock_sum,
    "chebyshev": chebyshev_sum,
    "canberra": canberra_sum,
    "braycurtis": braycurtis_sum,
    "minkowski": minkowski_sum,
    "jensenshannon": jensenshannon_sum,
}

# ---- squares by products ------------------------------------------------------------------------


def forms(a, b, m):
    """``(a_i - b_j) @ m @ (a_i - b_j)`` of all rows."""
    a, b = centred(a, b)
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
    "hamming": "hamm ha h matching", "jaccard": "jacc ja j",
}  # fmt: skip
CALLED = {other: name for name, others in NAMES.items() for other in (name, *others.split())}


def named(metric):
    """Return the metric's own name; None of one that is constant, or that the user wrote."""
    word = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    theirs = isinstance(metric, str) or getattr(distance, word, None) is plain_metric(metric)
    return CALLED.get(word.lower().removeprefix("test_")) if theirs else None


def plain_metric(metric):
    """SciPy's own function under one that sees traced values."""
    return getattr(metric, "__wrapped__", metric)


def is_written(metric):
    own = getattr(distance, getattr(metric, "__name__", ""), None)
    return callable(metric) and own is not plain_metric(metric)


def by_calls(metric, pairs, kwargs):
    y = np.stack([metric(u, v, **kwargs) for u, v in pairs])
    return astype(y, np.result_type(dtype_of(y), np.float64))  # as SciPy's arrays of distances


def refuse_out(out):
    if out is not None:
        raise MissingRuleError(
            f"cdist and pdist with out= have no rule, in {user_line()}.\n  write y = cdist(...)"
        )


def refuse_weights(name, metric, kwargs):
    """Refuse traced weights of a metric of flags, which has no ``name`` and counts them."""
    if name is None and is_traced(kwargs):
        raise MissingRuleError(
            f"cdist and pdist with metric={metric!r} and traced weights have no rule, in "
            f"{user_line()}.\n"
            '  write metric="hamming" or "jaccard", or sums of w over the pairs of flags'
        )


def with_w(metric, kwargs):
    """SciPy takes Minkowski's distance of order 2 for the Euclidean one."""
    if metric == "minkowski" and not is_traced(kwargs.get("p", 2.0)) and kwargs.get("p", 2.0) == 2:
        return "euclidean", {k: v for k, v in kwargs.items() if k != "p"}
    return metric, kwargs


def by_name(f, arrays, metric, kwargs, products, formula):
    """Distances by the name of a metric: by ``products``, or by a formula with SciPy's values."""
    own = library_value(f, (*arrays, plain_metric(metric)), kwargs)
    name = named(metric)
    refuse_weights(name, metric, kwargs)
    if name is None or not own.size:
        return own
    name, kwargs = with_w(name, kwargs)
    if name in products and not kwargs:
        return products[name](*arrays)
    return with_values(formula(name, own, kwargs), own)


@composed(distance.cdist)
def cdist(XA, XB, metric="euclidean", *, out=None, **kwargs):  # noqa: N803 - SciPy's own names
    refuse_out(out)
    a, b = as_vector(XA), as_vector(XB)
    if is_written(metric):
        y = by_calls(metric, [(u, v) for u in a for v in b], kwargs)
        return np.reshape(y, (np.shape(a)[0], np.shape(b)[0]))

    def formula(name, own, kwargs):
        rows = functools.partial(np.concatenate, [a, b])
        return all_with_all(name, a, b, own, rows, kwargs)

    return by_name(distance.cdist, (a, b), metric, kwargs, BETWEEN_ROWS, formula)


@composed(distance.pdist)
def pdist(X, metric="euclidean", *, out=None, **kwargs):  # noqa: N803 - SciPy's own name
    refuse_out(out)
    x = as_vector(X)
    i, j = np.triu_indices(np.shape(x)[0], 1)
    if is_written(metric):
        return by_calls(metric, [(x[m], x[n]) for m, n in zip(i, j)], kwargs)

    def formula(name, own, kwargs):
        if name in BY_PAIRS:
            return BY_PAIRS[name](x[i], x[j], **kwargs)
        if "euclidean" in name:
            return euclidean_pairs(name, x, **kwargs)
        return all_with_all(name, x, x, distance.squareform(own), lambda: x, kwargs)[i, j]

    return by_name(distance.pdist, (x,), metric, kwargs, OF_PAIRS, formula)


# ---- of two vectors -----------------------------------------------------------------------------


@composed(distance.minkowski, value="own")
def minkowski(u, v, p=2, w=None):
    return minkowski_sum(as_vector(u), as_vector(v), p, None if w is None else as_vector(w))


@composed(distance.euclidean, value="own")
def euclidean(u, v, w=None):
    return minkowski(u, v, 2, w)


# From 1.18 on SciPy squares the lengths of complex steps, and before it the steps.
OF_LENGTHS = np.real(distance.sqeuclidean(np.array([1j]), np.array([0j]))) > 0


@composed(distance.sqeuclidean, value="own")
def sqeuclidean(u, v, w=None):
    steps = as_vector(u) - as_vector(v)
    squared = steps * (np.conj(steps) if OF_LENGTHS else steps)
    return weighted(squared, None if w is None else as_vector(w))


@composed(distance.seuclidean, value="own")
def seuclidean(u, v, V):  # noqa: N803 - SciPy's own name
    return np.linalg.norm((as_vector(u) - as_vector(v)) / np.sqrt(as_vector(V)))


@composed(distance.mahalanobis, value="own")
def mahalanobis(u, v, VI):  # noqa: N803 - SciPy's own name
    step, m = as_vector(u) - as_vector(v), np.atleast_2d(as_vector(VI))
    return root(step @ m @ step)


OF_VECTORS = ("cityblock", "chebyshev", "canberra", "braycurtis", "hamming", "jaccard")


@composed_each({getattr(distance, name): BY_PAIRS[name] for name in OF_VECTORS}, value="own")
def of_vectors(metric, u, v, w=None):
    return metric(as_vector(u), as_vector(v), None if w is None else as_vector(w))


@composed(distance.correlation, value="own")
def correlation(u, v, w=None, centered=True):
    u, v, w = as_vector(u)[None], as_vector(v)[None], None if w is None else as_vector(w)
    return cosines(u, v, w, centered)[0, 0]


@composed(distance.cosine, value="own")
def cosine(u, v, w=None):
    return correlation(u, v, w, False)


@composed(distance.jensenshannon, value="own")
def jensenshannon(p, q, base=None, *, axis=0, keepdims=False):
    p, q = (np.moveaxis(as_vector(x), axis, -1) for x in (p, q))
    y = jensenshannon_sum(p, q, base)
    return np.expand_dims(y, axis) if keepdims else y


@composed(distance.directed_hausdorff, value="own")
def directed_hausdorff(u, v, rng=0, *, own, **seed):
    _, i, j = own
    return np.linalg.norm(array_of(u)[i] - array_of(v)[j]), i, j


@composed(distance.squareform, value="own")
def squareform(X, force="no", checks=True, *, own):  # noqa: N803 - SciPy's own name
    x = array_of(X)
    if np.ndim(x) == 2:
        return x[np.triu_indices(np.shape(x)[0], 1)]
    places = np.triu_indices(len(own), 1)
    half = scatter(x, own.shape, own.dtype, places)
    return half + half.T
