"""The rule of Takahasi and Mori, whose nodes come ever nearer to the ends, as ``tanhsinh`` has it.

Source: Bailey, Jeyabalan and Li (2005), a comparison of three high-precision quadrature schemes.
"""

import math

import numpy as np

from .... import array_of, value

BASE = 8  # nodes on each side at level 0


def nodes_of(level, cut, dtype):
    """Distances from the nearer end, above ``cut``, of ends at -1 and 1; and the weights."""
    last = math.asinh(math.log(0.5 / np.finfo(dtype).smallest_normal - 1) / math.pi)
    h = last / BASE / 2**level
    t = h * np.arange(BASE * 2**level + 1)
    u = np.pi / 2 * np.sinh(t)
    near, w = 1 / (np.exp(u) * np.cosh(u)), h * np.pi / 2 * np.cosh(t) / np.cosh(u) ** 2
    w[0] /= 2  # of the middle, which both sides have
    return near[near > cut].astype(dtype), w[near > cut].astype(dtype)


def integrated(f, a, b, near, w):
    """The integral of ``f`` from ``a`` to ``b``, which may be infinite.

    Shapes: ``a``, ``b``: S. ``f`` takes nodes (*S, n); the result is S, or what f makes of it.
    """
    a, b = array_of(a)[..., None], array_of(b)[..., None]
    turned = value(a) > value(b)
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    has_a, has_b = np.isfinite(value(a)), np.isfinite(value(b))
    ways = [
        (has_a & has_b, on_interval(np.where(has_a, a, 0.0), np.where(has_b, b, 1.0), near, w)),
        (~has_a & ~has_b, everywhere(near, w)),
        (has_a, onwards(np.where(has_a, a, 0.0), 1.0, near, w)),
        (has_b, onwards(np.where(has_b, b, 0.0), -1.0, near, w)),
    ]
    x, weights, counts = ways.pop()[1]
    for where, way in reversed(ways):
        if np.any(where):
            x, weights = np.where(where, way[0], x), np.where(where, way[1], weights)
            counts = np.where(where, way[2], counts)
    weights = np.where(turned, -1.0, 1.0) * weights
    return np.sum(np.where(counts, weights * f(x), 0.0), axis=-1)


# Each way gives nodes, their weights, and which of them count: not what rounding puts on an end.


def on_interval(a, b, near, w):
    half = (b - a) / 2
    x = np.concatenate([a + half * near, b - half * near], axis=-1)
    weights = np.concatenate([half * w, half * w], axis=-1)
    inside = (value(x) > value(a)) & (value(x) < value(b))
    return x, weights, inside | (value(a) == value(b))


def onwards(end, sign, near, w):
    """From ``end`` to an infinity: ``x = end + sign * (1 - s) / s``, for s from 0 to 1."""
    s, rest = np.concatenate([near, 2 - near]) / 2, np.concatenate([2 - near, near]) / 2
    counts = s > np.sqrt(np.finfo(w.dtype).smallest_normal)
    s = np.where(counts, s, 1.0)
    x = end + sign * rest / s
    return x, np.tile(w / 2, 2) / s**2, counts & (value(x) != value(end))


def everywhere(near, w):
    """``x = s / (1 - s**2)``, for s from -1 to 1."""
    counts = near > np.finfo(w.dtype).eps
    s, rest = np.where(counts, 1 - near, 0.0), np.where(counts, near * (2 - near), 1.0)
    x = np.concatenate([-s, s]) / np.tile(rest, 2)
    return x, np.tile(w * (1 + s**2) / rest**2, 2), np.tile(counts, 2)
