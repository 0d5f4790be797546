"""Rotations: SciPy's numbers, with the derivatives of the formulas for unit quaternions."""

import functools
from typing import Any

import numpy as np
from scipy.spatial import transform

from .... import array_of, innermost, is_traced, library_value, value, with_values
from ...arrays.quotients import not_smooth
from ..traced_objects import (
    MadeInSteps,
    as_float,
    new_object,
    own_value,
    refuse,
    refuse_derived,
    refused,
    scipys_object,
    valued,
)
from . import quaternions
from .distance import root

REFUSED: dict[str, tuple[str, str]] = {}
DEGREES = np.pi / 180


def numbers(x):
    return as_float(array_of(x))


def own_of(rotation):
    """SciPy's own rotation, with no derivative."""
    return rotation.own if isinstance(rotation, TracedRotation) else rotation


def answer(operation, made, args):
    """Return what an operation of SciPy's rotations gives, as a quaternion if it is a rotation."""
    args = [x if of is None else new_object(*of) for of, x in zip(made, args, strict=True)]
    y = getattr(transform.Rotation, operation)(*args)
    return y.as_quat() if isinstance(y, transform.Rotation) else y


def answered(operation, *args):
    """Return the answer for values outside all transforms: to a recording, one step."""
    made = [x.made if isinstance(x, MadeInSteps) else None for x in args]
    rest = [x if of is None else None for of, x in zip(made, args, strict=True)]
    return library_value(answer, (operation, made, rest), {})


def scipys(q):
    """SciPy's rotation of the quaternion ``q``, which is one of SciPy's."""
    return scipys_object(transform.Rotation, (q,), {"normalize": False})


def own_after(operation, *args):
    """SciPy's rotation after an operation on rotations."""
    return scipys(answered(operation, *args))


def looked_at(own):
    """SciPy's rotation of the numbers that it has now, at which a recording looks."""
    return new_object(*own.made) if isinstance(own, MadeInSteps) else own


def quaternion_of(rotation):
    return rotation.q if isinstance(rotation, TracedRotation) else rotation.as_quat()


def ours(own):
    """A rotation of SciPy's, as one whose methods see traced values."""
    return Rotation(own.as_quat(), normalize=False)


class TracedRotation:
    """A rotation, or a stack of these, as SciPy's ``Rotation``, whose numbers are traced."""

    def __init__(self, q, own):
        plain = own_value(own, "as_quat", (), {})
        turn = np.sum(value(q) * plain, axis=-1, keepdims=True) < 0  # q and -q are one rotation
        q = q * np.where(turn, -1.0, 1.0) if np.any(turn) else q
        self.q = with_values(q, plain) if is_traced(q) else q
        self.own = own

    @property
    def single(self):
        return np.ndim(self.q) == 1

    @property
    def shape(self):
        return np.shape(self.q)[:-1]

    def __len__(self):
        return len(looked_at(self.own)) if self.single else np.shape(self.q)[0]

    def __getitem__(self, indexer):
        return TracedRotation(self.q[indexer], own_after("__getitem__", self.own, indexer))

    @valued
    def as_quat(self, canonical=False, *, scalar_first=False):
        q = quaternions.canonical(self.q) if canonical else self.q
        return np.roll(q, 1, axis=-1) if scalar_first else q

    @valued
    def as_matrix(self):
        return quaternions.as_matrix(self.q)

    @valued
    def as_rotvec(self, degrees=False):
        v = quaternions.as_rotvec(self.q)
        return v / DEGREES if degrees else v

    @valued
    def as_mrp(self):
        return quaternions.as_mrp(self.q)

    @valued
    def as_euler(self, seq, degrees=False, **options):
        with np.errstate(invalid="ignore", divide="ignore"):
            angles, locked = quaternions.as_euler(self.q, seq)
        if np.any(locked):  # what moves the rotation moves all three angles, or may
            angles, _ = quaternions.as_euler(not_smooth(self.q, locked[..., None]), seq)
        return angles / DEGREES if degrees else angles

    def as_davenport(self, axes, order, degrees=False, **options):
        refuse("Rotation.as_davenport", "write as_euler")

    @valued
    def apply(self, vectors, inverse=False):
        q = quaternions.inverse(self.q) if inverse else self.q
        return quaternions.turned(q, numbers(vectors))

    def __mul__(self, other):
        if not isinstance(other, transform.Rotation | TracedRotation):
            return NotImplemented
        q = quaternions.product(self.q, quaternion_of(other))
        return TracedRotation(q, own_after("__mul__", self.own, own_of(other)))

    def __rmul__(self, other):
        if not isinstance(other, transform.Rotation):
            return NotImplemented
        q = quaternions.product(other.as_quat(), self.q)
        return TracedRotation(q, own_after("__mul__", other, self.own))

    def __pow__(self, n, modulus=None):
        if modulus is not None:
            raise NotImplementedError("modulus not supported")
        v = quaternions.as_rotvec(self.q) * n
        return TracedRotation(quaternions.from_rotvec(v), own_after("__pow__", self.own, n))

    def inv(self):
        return TracedRotation(quaternions.inverse(self.q), own_after("inv", self.own))

    @valued
    def magnitude(self):
        return quaternions.angle(self.q)

    def approx_equal(self, other, atol=None, degrees=False):
        return answered("approx_equal", self.own, own_of(other), atol, degrees)

    def mean(self, weights=None, axis=None):
        """The eigenvector of the largest eigenvalue of ``sum(w q q^T)``."""
        if axis is not None or np.ndim(self.q) > 2:
            refuse("Rotation.mean along an axis", "write the mean of one stack")
        q = np.reshape(self.q, (-1, 4))
        own = own_after("mean", self.own, weights)
        if weights is None and np.shape(q)[0] < 4:
            # Of few rotations the other eigenvalues are zeros, and those of ``q q^T`` are not.
            vector = q.T @ np.linalg.eigh(q @ q.T)[1][:, -1]
            side = np.where(vector @ q[0] < 0, -1.0, 1.0)  # which NumPy leaves to rounding
            return TracedRotation(quaternions.unit(side * vector), own)
        w = np.ones(np.shape(q)[0]) if weights is None else numbers(weights)
        vectors = np.linalg.eigh((q.T * w) @ q)[1]
        return TracedRotation(vectors[:, -1], own)

    def reduce(self, left=None, right=None, return_indices=False):
        refuse("Rotation.reduce", "write the product with the rotation of the group that it finds")


# ---- what makes rotations -----------------------------------------------------------------------


def from_quat(quat, *, scalar_first=False):
    q = numbers(quat)
    return quaternions.unit(np.roll(q, -1, axis=-1) if scalar_first else q)


def from_matrix(matrix, *, assume_valid=False):
    return quaternions.from_matrix(numbers(matrix), assume_valid)


def from_rotvec(rotvec, degrees=False):
    v = numbers(rotvec)
    return quaternions.from_rotvec(v * DEGREES if degrees else v)


def from_mrp(mrp):
    return quaternions.from_mrp(numbers(mrp))


def from_euler(seq, angles, degrees=False):
    angles = numbers(angles) * DEGREES if degrees else numbers(angles)
    # About one axis SciPy takes a number, a list of one or (before 1.17) of several angles.
    if len(seq) == 1 and (np.ndim(angles) < 2 or np.shape(angles)[-1] != 1):
        angles = np.expand_dims(angles, -1)
    return quaternions.from_euler(seq, angles)


def from_davenport(axes, order, angles, degrees=False):
    axes, angles = numbers(axes), numbers(angles) * (DEGREES if degrees else 1.0)
    axes = np.reshape(axes, (-1, 3))
    axes = axes / np.linalg.norm(axes, axis=-1, keepdims=True)
    if np.ndim(angles) == 0 or (len(axes) == 1 and np.shape(angles)[-1] != 1):
        angles = np.expand_dims(angles, -1)
    q = None
    for k in range(len(axes)):
        turn = quaternions.from_rotvec(angles[..., k : k + 1] * axes[k])
        q = turn if q is None else (
            quaternions.product(turn, q) if order[0] == "e" else quaternions.product(q, turn)
        )  # fmt: skip
    return q


def maker(name, formula):
    plain = getattr(transform.Rotation, name)

    @functools.wraps(plain)
    def make(*args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            return ours(plain(*args, **kwargs))
        own = scipys_object(transform.Rotation, args, kwargs, name)
        q = formula(*args, **kwargs)
        return TracedRotation(np.reshape(q, np.shape(own_value(own, "as_quat", (), {}))), own)

    return staticmethod(make)


class Rotation(transform.Rotation):
    """``scipy.spatial.transform.Rotation``, whose methods see traced values."""

    from_quat = maker("from_quat", from_quat)
    from_matrix = maker("from_matrix", from_matrix)
    from_rotvec = maker("from_rotvec", from_rotvec)
    from_mrp = maker("from_mrp", from_mrp)
    from_euler = maker("from_euler", from_euler)
    from_davenport = maker("from_davenport", from_davenport)

    def __new__(cls, *args, **kwargs):
        if innermost((*args, *kwargs.values())) is None:
            new = super().__new__  # of a class in Cython, before SciPy 1.17, it takes arguments
            return new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
        refuse_derived(cls)
        own = scipys_object(transform.Rotation, args, kwargs)
        return TracedRotation(quaternions.unit(numbers([*args, *kwargs.values()][0])), own)

    @staticmethod
    def identity(*args, **kwargs):
        return ours(transform.Rotation.identity(*args, **kwargs))

    @staticmethod
    def random(*args, **kwargs):
        return ours(transform.Rotation.random(*args, **kwargs))

    @staticmethod
    def create_group(*args, **kwargs):
        return ours(transform.Rotation.create_group(*args, **kwargs))

    @staticmethod
    def concatenate(rotations):
        listed = [rotations] if hasattr(rotations, "as_quat") else list(rotations)
        if not any(isinstance(r, TracedRotation) for r in listed):
            return ours(transform.Rotation.concatenate(listed))
        q = np.concatenate([np.reshape(quaternion_of(r), (-1, 4)) for r in listed])
        return TracedRotation(q, scipys(q))

    @staticmethod
    def align_vectors(a, b, weights=None, return_sensitivity=False):
        """The rotation that brings ``b`` to ``a``: the factor ``u @ vh`` of ``sum(w a b^T)``."""
        given = None if weights is None else value(weights)
        own, *rest = transform.Rotation.align_vectors(value(a), value(b), given, return_sensitivity)
        if innermost((a, b, weights)) is None:
            return ours(own), *rest
        a, b = np.atleast_2d(numbers(a)), np.atleast_2d(numbers(b))
        infinite = weights is not None and np.any(np.isinf(value(weights)))
        if return_sensitivity or infinite or np.shape(a)[0] == 1:
            refuse("align_vectors of one vector, with an infinite weight or return_sensitivity",
                   "write it with two vectors or more, and finite weights")  # fmt: skip
        w = np.ones(np.shape(a)[0]) if weights is None else numbers(weights)
        u, s, vh = np.linalg.svd((a.T * w) @ b)
        sign = np.array([1.0, 1.0, np.sign(np.linalg.det(value(u) @ value(vh)))])
        q = quaternions.from_orthogonal((u * sign) @ vh)
        squares = np.sum(w * np.sum(a * a + b * b, axis=1)) - 2 * np.sum(s * sign)
        own_squares = np.square(np.asarray(rest[0]))
        return TracedRotation(q, own), with_values(root(with_values(squares, own_squares)), rest[0])

    def followed(self):
        return TracedRotation(self.as_quat(), self)

    def apply(self, vectors, inverse=False):
        if is_traced(vectors):
            return self.followed().apply(vectors, inverse)
        return super().apply(vectors, inverse)

    def __mul__(self, other):
        return NotImplemented if isinstance(other, TracedRotation) else ours(super().__mul__(other))

    def __pow__(self, n, modulus=None):
        return self.followed() ** n if is_traced(n) else ours(super().__pow__(n, modulus))

    def __getitem__(self, indexer):
        return ours(super().__getitem__(indexer))

    def inv(self):
        return ours(super().inv())

    def mean(self, weights=None, *axis, **options):
        if is_traced(weights):
            return self.followed().mean(weights, *axis, **options)
        return ours(super().mean(weights, *axis, **options))


# ---- between rotations --------------------------------------------------------------------------


class TracedSlerp:
    """Rotations between those at some times, about fixed axes and evenly."""

    def __init__(self, times, rotations, own):
        self.times, self.rotations, self.own = numbers(times), rotations, own

    def __call__(self, times):
        own, t, plain = self.own(value(times)), numbers(times), value(self.times)
        i = np.clip(np.searchsorted(plain, value(t)) - 1, 0, len(plain) - 2)
        share = (t - self.times[i]) / (self.times[i + 1] - self.times[i])
        q = quaternion_of(self.rotations)
        step = quaternions.as_rotvec(quaternions.product(quaternions.inverse(q[i]), q[i + 1]))
        turn = quaternions.from_rotvec(step * share[..., None])
        return TracedRotation(quaternions.product(q[i], turn), own)


class Slerp(transform.Slerp):
    """``scipy.spatial.transform.Slerp``, whose methods see traced values."""

    def __new__(cls, times, rotations):
        if not (is_traced(times) or isinstance(rotations, TracedRotation)):
            return super().__new__(cls)
        refuse_derived(cls)
        own = transform.Slerp(value(times), looked_at(own_of(rotations)))
        return TracedSlerp(times, rotations, own)

    def __call__(self, times):
        if is_traced(times):
            stack = Rotation.concatenate([self.rotations, self._last])
            return TracedSlerp(self.times, stack, super().__call__)(times)
        return ours(super().__call__(times))

    def __init__(self, times, rotations):
        super().__init__(times, rotations)
        self._last = ours(rotations)[len(rotations) - 1]


INSTEAD: dict[str, Any] = {"Rotation": Rotation, "Slerp": Slerp}
for _name, _remedy in (("RotationSpline", "Slerp"), ("RigidTransform", "Rotation and sums")):
    if hasattr(transform, _name):
        INSTEAD[_name] = refused(getattr(transform, _name), "no rule yet", _remedy)
