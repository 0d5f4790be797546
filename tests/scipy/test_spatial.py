"""Distances at their edges, rotations and what is made of these."""

import pickle

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.spatial as plain
from scipy.spatial import transform

import chainrules as cr
from chainrules.scipy import spatial
from chainrules.scipy.spatial import distance
from chainrules.scipy.spatial.transform import Rotation, Slerp

check = checks.check

rng = np.random.default_rng(4)
A, B, W = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), np.array([0.5, 1.2, 2.0])
Q = rng.normal(size=(4, 4))
V = rng.normal(size=(4, 3))
ANGLES = rng.uniform(-1, 1, (4, 3))
NEAR = {"rtol": 1e-4, "exact": False}

# ---- distances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "braycurtis", "minkowski"])
def test_weights(metric):
    check(lambda a, b, w: distance.cdist(a, b, metric, w=w), A, B, W, rtol=1e-5)
    single = getattr(distance, metric)
    check(lambda u, v, w: single(u, v, w=w), A[0], B[0], W, rtol=1e-5)


def test_parameters():
    check(lambda a, p: distance.cdist(a, B, "minkowski", p=p), A, 2.7, rtol=1e-5)
    check(lambda a, v: distance.cdist(a, B, "seuclidean", V=v), A, W, rtol=1e-5)
    check(lambda a, m: distance.cdist(a, B, "mahalanobis", VI=m @ m.T), A, V[:3], rtol=1e-4)


def test_zero_distances():
    total = cr.grad(lambda a: np.sum(distance.cdist(a, a)))(A)
    pairs = cr.grad(lambda a: 2 * np.sum(distance.pdist(a)))(A)
    np.testing.assert_allclose(pairs, total, rtol=1e-10, atol=1e-12)
    for f in (distance.euclidean, lambda u, v: distance.cdist(u[None], v[None])[0, 0]):
        np.testing.assert_array_equal(cr.grad(f)(W, W), np.zeros(3))
        with np.errstate(all="ignore"):
            assert np.all(np.isnan(cr.hessian(f)(W, W)))
    # The square is smooth.
    np.testing.assert_allclose(cr.hessian(distance.sqeuclidean)(W, W), 2 * np.eye(3))


def test_far_from_the_origin():
    shift = np.array([1e6, -1e6, 3e6])
    near = cr.grad(lambda a: np.sum(distance.cdist(a, B)))(A)
    far = cr.grad(lambda a: np.sum(distance.cdist(a, B + shift)))(A + shift)
    np.testing.assert_allclose(far, near, rtol=1e-8, atol=1e-8)


def test_squareform():
    square = distance.squareform(np.arange(1.0, 7.0))
    weights = rng.normal(size=6)
    grad = cr.grad(lambda x: distance.squareform(x) @ weights)(square)
    upper = grad[np.triu_indices(4, 1)]
    np.testing.assert_array_equal(upper, weights)
    assert np.sum(np.abs(np.tril(grad))) == 0
    check(lambda v: distance.squareform(distance.squareform(v) * 2), np.arange(1.0, 7.0))


def test_single_precision():
    a, b = A.astype(np.float32), B.astype(np.float32)
    y, pullback = cr.vjp(distance.cdist, a, b)
    assert y.dtype == distance.cdist(a, b).dtype
    assert [bar.dtype for bar in pullback(y)] == [np.float32] * 2
    assert cr.grad(lambda q: Rotation.from_quat(q).magnitude())(a[0].repeat(2)[:4]).dtype == "f"


def test_slerp_of_points():
    def unit(x):
        return x / np.linalg.norm(x)

    check(
        lambda a, b, t: spatial.geometric_slerp(unit(a), unit(b), t), A[0], A[1], [0.1, 0.7], **NEAR
    )
    check(lambda a: spatial.geometric_slerp(unit(a), unit(B[0]), 0.3), A[0], **NEAR)


def test_refused():
    for f, message in (
        (lambda a: spatial.KDTree(a), "found by comparing"),
        (lambda a: spatial.Delaunay(a), "found by comparing"),
        (lambda a: distance.dice(a[0], a[1]), "flags"),
        (lambda a: distance.cdist(a, a, out=np.zeros((4, 4))), "out="),
    ):
        with pytest.raises(cr.MissingRuleError, match=message):
            cr.grad(f)(A)
    assert isinstance(spatial.KDTree(A), plain.KDTree)
    with pytest.raises(ValueError, match="Unknown Distance Metric"):
        cr.grad(lambda a: np.sum(distance.cdist(a, a, "else")))(A)
    with pytest.raises(ValueError, match="p must be greater"):
        cr.grad(lambda a: distance.minkowski(a[0], a[1], -1))(A)


# ---- rotations ----------------------------------------------------------------------------------


def test_quaternions():
    check(lambda q: Rotation.from_quat(q).as_matrix(), Q, rtol=1e-5)
    check(lambda q: Rotation.from_quat(q).as_quat(canonical=True), Q[0])
    check(lambda q: Rotation(q).as_quat(), Q[0])
    first = {"scalar_first": True}
    if "scalar_first" in (transform.Rotation.from_quat.__doc__ or ""):
        check(lambda q: Rotation.from_quat(q, **first).as_quat(**first), Q)


@pytest.mark.parametrize("scale", [1.0, 0.01, 0.0, 3.0])
def test_rotation_vectors(scale):
    v = scale * V
    check(lambda v: Rotation.from_rotvec(v).as_matrix(), v)

    def product(v):
        return Rotation.from_rotvec(v) * Rotation.from_rotvec(0.1 * v)

    check(lambda v: product(v).as_rotvec(degrees=True), v, rtol=1e-5)


def test_other_vectors():
    check(lambda v: Rotation.from_mrp(v).as_matrix(), V)
    check(lambda v: Rotation.from_rotvec(v, degrees=True).as_mrp(), 50 * V)
    check(lambda q: Rotation.from_quat(q).as_mrp(), Q, rtol=1e-5)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZYZ", "yxz"])
def test_euler_angles(seq):
    check(lambda a: Rotation.from_euler(seq, a).as_matrix(), ANGLES, exact=False)
    check(lambda a: Rotation.from_euler(seq, a, degrees=True).as_matrix(), ANGLES[0], second=False)
    check(lambda q: Rotation.from_quat(q).as_euler(seq), Q, **NEAR)
    check(lambda q: Rotation.from_quat(q).as_euler(seq, degrees=True), Q[1], second=False, **NEAR)


def test_fewer_angles():
    check(lambda a: Rotation.from_euler("zy", a).as_matrix(), ANGLES[:, :2], exact=False)
    check(lambda a: Rotation.from_euler("X", a).as_matrix(), 0.3)
    axes = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    check(
        lambda a: Rotation.from_davenport(axes, "extrinsic", a).as_matrix(), ANGLES[0], exact=False
    )
    check(lambda a: Rotation.from_davenport(axes[:2], "intrinsic", a).as_matrix(), ANGLES[:, :2],
          exact=False)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_gimbal_lock():
    locked = np.array([0.3, np.pi / 2, 0.1])
    with np.errstate(all="ignore"):
        found = cr.jacobian(lambda a: Rotation.from_euler("xyz", a).as_euler("xyz"))(locked)
    assert np.all(np.isnan(found[[0, 2]]))


def test_matrices():
    m = transform.Rotation.from_rotvec(V).as_matrix() + 0.02 * rng.normal(size=(4, 3, 3))
    check(lambda m: Rotation.from_matrix(m).as_quat(), m, **NEAR)
    check(lambda m: Rotation.from_matrix(m).as_rotvec(), m[0], **NEAR)
    # A matrix of a rotation goes through, and comes back: the derivative stays on the rotations.
    q = Q[0] / np.linalg.norm(Q[0])
    check(lambda q: Rotation.from_matrix(Rotation.from_quat(q).as_matrix()).as_quat(), q, **NEAR)


def test_matrices_beside_rotations():
    """SciPy projects what is near a rotation: beside one, the derivative is the same."""
    m = transform.Rotation.from_rotvec(V).as_matrix()
    check(lambda m: Rotation.from_matrix(m).as_rotvec(), m, **NEAR)
    check(lambda m: Rotation.from_matrix(m).as_quat(), 1.5 * m[1], **NEAR)
    check(lambda t: Rotation.from_matrix(t * np.eye(3)).as_matrix(), 1.0, **NEAR)


def test_turned_vectors():
    check(lambda q, v: Rotation.from_quat(q).apply(v), Q, V, rtol=1e-5)
    check(lambda q, v: Rotation.from_quat(q).apply(v, inverse=True), Q[0], V, rtol=1e-5)
    check(lambda q, v: Rotation.from_quat(q).apply(v), Q, V[0], rtol=1e-5)
    check(lambda v: Rotation.from_quat(Q).apply(v), V)


def test_products():
    constant = Rotation.from_quat(Q[1])
    check(
        lambda q, p: (Rotation.from_quat(q) * Rotation.from_quat(p)).as_matrix(),
        Q,
        Q[::-1],
        rtol=1e-5,
    )
    check(lambda p: (constant * Rotation.from_quat(p) * constant).inv().as_matrix(), Q, rtol=1e-5)
    check(lambda q: Rotation.from_quat(q).magnitude(), Q, rtol=1e-5)
    check(lambda q: (Rotation.from_quat(q) ** 1.7).as_matrix(), Q, rtol=1e-5, exact=False)
    check(lambda q: Rotation.from_quat(q)[1:3].as_matrix(), Q, second=False)
    joined = Rotation.concatenate
    check(lambda q: joined([Rotation.from_quat(q), Rotation.identity()]).as_matrix(), Q, rtol=1e-5)


def test_means():
    w = np.array([0.5, 1, 2, 1.2])
    check(lambda q, w: Rotation.from_quat(q).mean(w).as_matrix(), Q, w, **NEAR)
    check(lambda w: Rotation.from_quat(Q).mean(w).as_matrix(), w, **NEAR)
    other = V[::-1] + 0.3
    check(lambda a, b, w: Rotation.align_vectors(a, b, w)[0].as_matrix(), V, other, w, **NEAR)
    check(lambda a, b: Rotation.align_vectors(a, b)[1], V, other, **NEAR)


def test_slerp():
    times = np.array([0, 1.0, 2, 3.5])
    at = np.array([0.2, 1.4, 3.0])
    check(lambda q, s, t: Slerp(s, Rotation.from_quat(q))(t).as_matrix(), Q, times, at, **NEAR)
    constant = Slerp(times, Rotation.from_quat(Q))
    check(lambda t: constant(t).as_matrix(), at, **NEAR)
    check(lambda t: constant(t).as_matrix(), 0.3, **NEAR)


def test_rotations_are_scipys_own_where_nothing_is_traced():
    ours, theirs = Rotation.from_quat(Q), transform.Rotation.from_quat(Q)
    for f in (
        lambda r: r, lambda r: r * r, lambda r: r.inv(), lambda r: r[0], lambda r: r**2,
        lambda r: r.mean(), lambda r: type(r).concatenate([r, r]),
    ):  # fmt: skip
        assert isinstance(f(ours), transform.Rotation)
        np.testing.assert_array_equal(f(ours).as_matrix(), f(theirs).as_matrix())
    np.testing.assert_array_equal(ours.as_euler("xyz"), theirs.as_euler("xyz"))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).as_quat(), theirs.as_quat())
    at = [0.3, 1.2]
    expected = transform.Slerp([0, 1, 2, 3], theirs)(at).as_quat()
    np.testing.assert_array_equal(Slerp([0, 1, 2, 3], ours)(at).as_quat(), expected)


def test_closures():
    def rate(q):
        r = Rotation.from_quat(q)
        return cr.jvp(lambda t: (r * Rotation.from_rotvec(t * W)).as_matrix(), (0.0,), (1.0,))[1]

    check(rate, Q[0], exact=False, rtol=1e-5)


def test_refused_rotations():
    for f, message in (
        (lambda q: Rotation.from_quat(q).as_davenport(np.eye(3), "e"), "as_davenport"),
        (lambda q: Rotation.align_vectors(q[:1, :3], q[1:2, :3]), "one vector"),
        (lambda q: transform and spatial.transform.RotationSpline([0, 1], q), "RotationSpline"),
    ):
        with pytest.raises(cr.MissingRuleError, match=message):
            cr.grad(f)(Q)
    with pytest.raises(ValueError, match="zero norm"):
        cr.grad(lambda q: Rotation.from_quat(q).magnitude())(np.zeros(4))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_second_derivative_of_the_mean_of_few_rotations(count):
    def f(p):
        rows = [[p, 0.1, 0.0], [0.0, 0.7, 0.2], [0.3 * p * p, 0.2, -0.1], [0.1, p, 0.2]][:count]
        turns = np.stack([np.stack([1.0 * x for x in row]) for row in rows])
        return Rotation.from_rotvec(turns).mean().as_rotvec()[0]

    p, h = 1.1, 1e-4
    curvature = (f(p + h) - 2 * f(p) + f(p - h)) / h**2
    np.testing.assert_allclose(cr.hessian(f)(p), curvature, atol=1e-6)
    np.testing.assert_allclose(cr.jvp(cr.grad(f), (p,), (1.0,))[1], curvature, atol=1e-6)
