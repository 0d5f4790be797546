"""Rotations as unit quaternions ``(x, y, z, w)``, along the last axis.

At angle 0 vectors and angles are smooth in the quaternion, and their formulas quotients of zeros:
these are powers of the square of the sine there.

Source: Shuster (1993), a survey of attitude representations; Bernardes and Viollet (2022),
quaternion to Euler angles conversion.
"""

import math

import numpy as np

from .... import value
from ...linalg.matrix_functions import matrix_function


def unit(q):
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def product(p, q):
    """The rotation by ``q``, and then by ``p``."""
    pv, qv, pw, qw = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = pw * qv + qw * pv + cross(pv, qv)
    return np.concatenate([vector, pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)], axis=-1)


def cross(a, b):
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def inverse(q):
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def turned(q, v):
    """Turn vectors: ``v + 2 w (q x v) + 2 q x (q x v)``."""
    across = 2 * cross(q[..., :3], v)
    return v + q[..., 3:] * across + cross(q[..., :3], across)


def canonical(q):
    """Of ``q`` and ``-q`` the one whose last number that is not 0 is positive."""
    plain = value(q)
    order = plain[..., [3, 0, 1, 2]]
    first = np.argmax(order != 0, axis=-1)
    sign = np.take_along_axis(order, np.expand_dims(first, -1), -1)
    return q * np.where(sign < 0, -1.0, 1.0)


# ---- functions of squares, smooth at 0 ----------------------------------------------------------

TERMS = 12  # of the series, below 1/4


def coefficients_of_sine():
    """``sin(sqrt(s) / 2) / sqrt(s)`` and ``cos(sqrt(s) / 2)`` in powers of ``s``."""
    sine = [(-1) ** k / (math.factorial(2 * k + 1) * 2.0 ** (2 * k + 1)) for k in range(TERMS)]
    cosine = [(-1) ** k / (math.factorial(2 * k) * 4.0**k) for k in range(TERMS)]
    return sine, cosine


SINE, COSINE = coefficients_of_sine()
# 2 asin(r) / r in powers of r**2.
ARCSINE = [2.0 * math.comb(2 * k, k) / (4.0**k * (2 * k + 1)) for k in range(30)]


def series(coefficients, s):
    y = 0.0 * s
    for coefficient in reversed(coefficients):
        y = y * s + coefficient
    return y


def near_zero(coefficients, s, small, elsewhere):
    """A power series where ``s`` is small, else the function of it."""
    at = value(s) < small
    if not np.any(at):
        return elsewhere(s)
    inner = series(coefficients, np.where(at, s, 0.0))
    if np.all(at):
        return inner
    return np.where(at, inner, elsewhere(np.where(at, 1.0, s)))


def from_rotvec(v):
    s = np.sum(v * v, axis=-1, keepdims=True)
    share = near_zero(SINE, s, 0.25, lambda s: np.sin(np.sqrt(s) / 2) / np.sqrt(s))
    cosine = near_zero(COSINE, s, 0.25, lambda s: np.cos(np.sqrt(s) / 2))
    return np.concatenate([v * share, cosine], axis=-1)


def as_rotvec(q):
    q = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    s = np.sum(v * v, axis=-1, keepdims=True)
    # With w >= 0 the sine and the cosine tell the angle; near 0 it is the arcsine of sqrt(s / n).
    n = s + w * w
    small = value(s / n) < 0.05
    r = np.where(small, s / n, 0.0)
    safe = np.where(small, 1.0, s)
    far = 2 * np.arctan2(np.sqrt(safe), w) / np.sqrt(safe)
    return v * np.where(small, series(ARCSINE, r) / np.sqrt(n), far)


def angle(q):
    """The angle of the rotation; at 0 it is bent, as a norm is."""
    length = np.linalg.norm(q[..., :3], axis=-1)
    return 2 * np.arctan2(length, np.abs(q[..., 3]))


# ---- other representations ----------------------------------------------------------------------


def as_matrix(q):
    x, y, z, w = (q[..., k] for k in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_orthogonal(m):
    """Of four formulas, each with a square root of its own, the one whose number is largest."""
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    diagonal = np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], trace], axis=-1)
    choice = np.argmax(value(diagonal), axis=-1)[..., None]
    off = {(i, j): m[..., i, j] for i in range(3) for j in range(3)}
    cases = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts = [None, None, None, off[k, j] - off[j, k]]
        parts[i] = 1 - trace + 2 * off[i, i]
        parts[j], parts[k] = off[j, i] + off[i, j], off[k, i] + off[i, k]
        cases.append(np.stack(parts, axis=-1))
    last = [off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1], 1 + trace]
    q = np.stack(last, axis=-1)
    for i in range(3):
        q = np.where(choice == i, cases[i], q)
    return unit(q)


def orthogonal_factor(m):
    """The rotation nearest to each matrix, smooth where singular values are equal."""
    return m @ matrix_function(np.swapaxes(m, -1, -2) @ m, lambda squares: 1 / np.sqrt(squares))


def from_matrix(m, assume_valid=False):
    """SciPy leaves out the projection of what is a rotation already, but not of what is near."""
    return from_orthogonal(m if assume_valid else orthogonal_factor(m))


def from_mrp(v):
    s = np.sum(v * v, axis=-1, keepdims=True)
    return np.concatenate([2 * v, 1 - s], axis=-1) / (1 + s)


def as_mrp(q):
    sign = np.where(value(q)[..., 3:] < 0, -1.0, 1.0)
    return sign * q[..., :3] / (1 + sign * q[..., 3:])


def about(axis, angles):
    """Rotations about one of the axes 0, 1, 2."""
    sine, cosine = np.sin(angles / 2), np.cos(angles / 2)
    nothing = 0 * sine
    return np.stack([sine if k == axis else nothing for k in range(3)] + [cosine], axis=-1)


def from_euler(seq, angles):
    intrinsic = seq.isupper()
    q = None
    for k, letter in enumerate(seq.lower()):
        turn = about("xyz".index(letter), angles[..., k])
        q = turn if q is None else product(q, turn) if intrinsic else product(turn, q)
    return q


def as_euler(q, seq):
    """Two half-angles are angles of points in a plane; where one of these is 0 there is a lock."""
    extrinsic = seq.islower()
    axes = ["xyz".index(letter) for letter in seq.lower()]
    i, j, k = axes if extrinsic else axes[::-1]
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x = [q[..., m] for m in range(4)]
    if symmetric:
        a, b, c, d = x[3], x[i], x[j], x[k] * sign
    else:
        a, b, c, d = x[3] - x[j], x[i] + x[k] * sign, x[j] + x[3], x[k] * sign - x[i]
    second = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    first, third = half_sum - half_difference, half_sum + half_difference
    if not symmetric:
        third, second = third * sign, second - math.pi / 2
    angles = [first, second, third] if extrinsic else [third, second, first]
    locked = np.minimum(np.hypot(value(a), value(b)), np.hypot(value(c), value(d))) < 1e-7
    return np.stack(angles, axis=-1), locked
