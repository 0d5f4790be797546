"""Arrays of dask as primals: 64 NumPy programs, what stays lazy, and what is refused."""

import warnings

import numpy as np
import pytest
from differences import jacobian_of, slope_of
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_of_arrays import PROGRAMS, A, X, point

import chainrules as cr

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

# Chunks other than three along each axis: what dask asks for.
CHUNKS = {"svd": (3, 6), "qr": (3, 6), "fft": 6}
# Dask has no such function, and gives the array to NumPy.
COMPUTED = {"sort", "convolve"}
REFUSED = {
    "interp": (cr.MissingRuleError, "np.interp of an array of dask has no derivative"),
    "buffer": (AttributeError, "make that of its parts by np.where, np.stack, np.concatenate"),
    "median": (NotImplementedError, "da.median function only works along an axis"),
}


# Where dask gives an array to NumPy, it warns, and so all other tests would fail.
GIVEN_TO_NUMPY = COMPUTED | {"eigvalsh", "det", "interp"}


@pytest.fixture(autouse=True)
def synchronous(request):
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        if getattr(request.node, "callspec", None) and GIVEN_TO_NUMPY.intersection(
            map(str, request.node.callspec.params.values())
        ):
            warnings.simplefilter("ignore", FutureWarning)
        yield


def lazy(x, name=""):
    return da.from_array(x, chunks=CHUNKS.get(name, 3))


def test_the_table_is_whole():
    assert len(PROGRAMS) == 64
    assert len(PROGRAMS) - len(REFUSED) == 61


class ComputedError(Exception):
    pass


def refuse(*args, **kwargs):
    raise ComputedError


def lazily(name, looks):
    """Refuse to compute anything, but for programs that look at numbers."""
    return dask.config.set(scheduler="synchronous" if name in looks else refuse)


LOOKS = COMPUTED | {"while", "eigvalsh", "det"}  # at numbers, in the program or in its rule
# Where it is differentiated again, too.
LOOKS_FOR_TIES = LOOKS | {"max", "maximum", "clip", "abs", "svd"}


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - REFUSED.keys()))
def test_program(name):
    f, x = PROGRAMS[name], point(name)
    v = np.random.default_rng(1).normal(size=x.shape)
    with lazily(name, LOOKS):
        gradient = cr.grad(f)(lazy(x, name))
    assert isinstance(gradient, da.Array)
    np.testing.assert_allclose(gradient, jacobian_of(f, x), rtol=2e-5, atol=1e-6)
    _, ydot = cr.jvp(f, (lazy(x, name),), (lazy(v, name),))
    along = slope_of(f, (x,), (v,))
    np.testing.assert_allclose(ydot, along, rtol=2e-5, atol=1e-6)
    with lazily(name, LOOKS_FOR_TIES):
        product = cr.hvp(f, (lazy(x, name),), (lazy(v, name),))
    right = slope_of(cr.grad(f), (x,), (v,))
    np.testing.assert_allclose(product, right, rtol=1e-4, atol=1e-5)
    if name not in COMPUTED:
        assert isinstance(ydot, da.Array)
        assert isinstance(product, da.Array)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f, x = PROGRAMS[name], lazy(point(name))
    error, pattern = REFUSED[name]
    for run in (
        lambda: cr.grad(f)(x),
        lambda: cr.jvp(f, (x,), (x,)),
        lambda: cr.hvp(f, (x,), (x,)),
    ):
        with pytest.raises(error, match=pattern):
            run()


# ---- out of core ----


def largest(x):
    """The number of bytes in the largest block, and in the largest array in the graph itself."""
    arrays = [v for layer in x.dask.layers.values() for v in dict(layer).values()]
    held = max((v.nbytes for v in arrays if isinstance(v, np.ndarray)), default=0)
    return 8 * max(np.prod([max(c) for c in x.chunks]), 1), held


@pytest.mark.parametrize("reduce", [np.sum, np.mean, np.var, lambda x: np.sum(x, axis=0)[0]])
def test_cotangents_have_the_chunks_of_the_primal(reduce):
    # Of a sum they were one array of full size, on the client.
    x = da.ones((10**6, 50), chunks=(10**5, 50))
    _, pullback = cr.vjp(lambda x: reduce(x**2), x)
    (xbar,) = pullback(1.0)
    assert x.chunks == xbar.chunks
    assert largest(xbar) <= (8 * 10**5 * 50, 1000)


def test_a_regression_has_a_gradient_in_small_pieces():
    x = da.random.default_rng(0).normal(size=(10**6, 50), chunks=(10**5, 50))
    y = x[:, 0] > 0
    w = da.zeros(50)
    gradient = cr.grad(lambda w: np.mean(np.logaddexp(0.0, x @ w) - y * (x @ w)))(w)
    for name, layer in gradient.dask.layers.items():
        arrays = [v for v in dict(layer).values() if isinstance(v, np.ndarray)]
        assert all(v.nbytes < 10**4 for v in arrays), name


def test_zeros_are_lazy():
    x = da.ones((10**7, 50), chunks=(10**5, 50))
    unused = cr.grad(lambda w, x: w**2, argnums=1)(2.0, x)
    assert x.chunks == unused.chunks
    _, ydot = cr.jvp(lambda x: x, (x,), (cr.ZeroTangent(),))
    assert isinstance(ydot, da.Array)


def test_seeds_and_directions_of_numpy():
    x = np.arange(6.0)
    y, pullback = cr.vjp(np.sin, lazy(x))
    assert isinstance(y, da.Array)
    (xbar,) = pullback(np.ones(6))
    assert isinstance(xbar, da.Array)
    np.testing.assert_allclose(xbar, np.cos(x))
    _, ydot = cr.jvp(np.sin, (lazy(x),), (np.ones(6),))
    np.testing.assert_allclose(ydot, np.cos(x))
    _, push = cr.linearize(np.sin, lazy(x))
    np.testing.assert_allclose(push(lazy(x)), np.cos(x) * x)


def test_jacobians():
    for transform in (cr.jacfwd, cr.jacrev, cr.jacobian, cr.hessian):
        f = (lambda x: np.sum(x**3)) if transform is cr.hessian else (lambda x: x**2 * x[::-1])
        np.testing.assert_allclose(transform(f)(lazy(X)), transform(f)(X))


def test_dtypes_are_kept():
    x = lazy(X.astype(np.float32))
    assert cr.grad(lambda x: np.sum(x**2))(x).dtype == np.float32
    z = lazy(X * (1 + 2j))
    np.testing.assert_allclose(cr.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z.compute())


def test_an_index_that_dask_has_not_computed():
    x = lazy(X)
    for run in (
        lambda: cr.grad(lambda x: np.sum(x[x > 0.5] ** 2))(x),
        lambda: cr.jvp(lambda x: np.sum(x[x > 0.5] ** 2), (x,), (x,)),
    ):
        with pytest.raises(cr.MissingRuleError, match=r"write np.where\(mask, x, 0\)"):
            run()
    found = cr.grad(lambda x: np.sum(np.where(x > 0.5, x, 0) ** 2))(x)
    np.testing.assert_allclose(found, np.where(X > 0.5, 2 * X, 0))


@pytest.mark.parametrize(
    "index",
    [
        np.s_[2],
        np.s_[-1, 1:3],
        np.s_[::-2, None],
        np.s_[..., None, 3],
        np.s_[[0, 0, 5, -1]],
        np.s_[1:, [2, 2, 2, 1, 0]],
        np.s_[np.array([[0, 1], [1, 1]])],
        np.s_[[0, 1, 1], [2, 3, 3]],
        np.s_[[0, 1, 1], None],
        np.s_[None, :, [4, 4]],
        np.s_[A[:, 0] > 1],
        np.s_[:, A[0] > 1],
        np.s_[3, [1, 1]],
    ],
)
def test_indices(index):
    def f(a):
        return np.sum(a[index] ** 3)

    v = np.random.default_rng(1).normal(size=A.shape)
    np.testing.assert_allclose(cr.grad(f)(lazy(A)), jacobian_of(f, A), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(cr.jvp(f, (lazy(A),), (lazy(v),))[1], cr.jvp(f, (A,), (v,))[1])
    np.testing.assert_allclose(cr.hvp(f, (lazy(A),), (lazy(v),)), cr.hvp(f, (A,), (v,)))


def test_many_reads_of_one_place_are_added_in_pairs():
    x, labels = np.arange(5.0), np.random.default_rng(0).integers(0, 5, 300)
    gradient = cr.grad(lambda x: np.sum(x[labels] ** 2))(da.from_array(x, chunks=5))
    np.testing.assert_allclose(gradient, 2 * x * np.bincount(labels))


def test_writes():
    def f(x):
        y = 2 * x
        z = y.copy()
        y[1:3] = x[:2] ** 2
        y[5] = 1.0
        part = y[2:4]
        y[2] = x[0]
        y[np.array([True, False] * 3)] = 0.5
        return np.sum(y**2 * x) + np.sum(z**3) + part[1] ** 2

    v = np.ones(6)
    np.testing.assert_allclose(cr.grad(f)(lazy(X)), jacobian_of(f, X), rtol=1e-6)
    np.testing.assert_allclose(cr.jvp(f, (lazy(X),), (lazy(v),))[1], cr.jvp(f, (X,), (v,))[1])
    np.testing.assert_allclose(cr.hvp(f, (lazy(X),), (lazy(v),)), cr.hvp(f, (X,), (v,)))


# ---- random programs ----

STEPS = {
    "sin": np.sin,
    "square": lambda x: x**2 / 4,
    "softplus": lambda x: np.logaddexp(0, x),
    "cumsum": lambda x: np.cumsum(x, axis=0) / 3,
    "slices": lambda x: np.concatenate([x[1:], x[:1]]) * x,
    "backwards": lambda x: x[::-1] + x / 2,
    "twice": lambda x: x[[0, 0, *range(1, 5)]],
    "pairs": lambda x: x[[0, 1, 1, 2, 4, 4], [0, 1, 1, 2, 2, 3]][:, None] * x,
    "centred": lambda x: x - np.mean(x, axis=1, keepdims=True),
    "scaled": lambda x: x / (1 + np.var(x, axis=0)),
    "product": lambda x: x @ (x.T @ x) / 9,
    "flattened": lambda x: np.reshape(np.ravel(x) * 2, (6, 4)),
    "a number for a shape": lambda x: np.reshape(np.reshape(np.reshape(x, -1) * 2, 24), (6, 4)),
    "diagonal": lambda x: x + np.diagonal(x, 1)[1],
    "where": lambda x: np.where(x > 0.1, x, 0.1 * x),
    "padded": lambda x: np.pad(x, ((1, 0), (0, 0)))[:6] + x,
    "repeated": lambda x: np.repeat(x, 2, axis=0)[3:9],
    "largest": lambda x: x + np.max(x, axis=0),
    "einsum": lambda x: np.einsum("ij,kj->ij", x, x[:2]),
}


def test_second_derivatives_at_a_tie():
    x, v = (
        np.array([[1.0, 1.0, 0.5], [2.0, 0.3, 2.0]]),
        np.array([[0.3, 0.7, 1.0], [-1.0, 0.2, 0.4]]),
    )

    def f(x):
        return np.sum(np.max(np.sin(x), axis=1) ** 2)

    product = cr.hvp(f, (da.from_array(x, chunks=(1, 2)),), (da.from_array(v, chunks=(1, 2)),))
    np.testing.assert_allclose(product, cr.hvp(f, (x,), (v,)), rtol=1e-12)


@pytest.mark.slow
@settings(max_examples=3)
@given(
    st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=4),
    st.sampled_from([(3, 2), (6, 1), (1, 4), (4, 3)]),
    st.integers(0, 10**6),
)
def test_random_programs(names, chunks, seed):
    def f(x):
        for name in names:
            x = STEPS[name](x)
        return np.sum(np.tanh(x) * weights)

    rng = np.random.default_rng(seed)
    x, v, weights = rng.normal(size=(3, 6, 4))
    own, along = (da.from_array(part, chunks=chunks) for part in (x, v))
    gradient = cr.grad(f)(own)
    assert isinstance(gradient, da.Array)
    np.testing.assert_allclose(gradient, cr.grad(f)(x), rtol=1e-9, atol=1e-12)
    ydot = cr.jvp(f, (own,), (along,))[1]
    np.testing.assert_allclose(ydot, cr.jvp(f, (x,), (v,))[1], rtol=1e-9, atol=1e-12)
    product = cr.hvp(f, (own,), (along,))
    np.testing.assert_allclose(product, cr.hvp(f, (x,), (v,)), rtol=1e-8, atol=1e-11)


def test_reshaping_by_the_method_and_reading_nothing():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    lazy = da.from_array(x, chunks=(1, 3))
    for f in (
        lambda x: np.sum(np.mean(x, axis=-1, keepdims=True).reshape(-1) ** 2),
        lambda x: np.sum(x.reshape((6,))[0] ** 2) + np.sum(x[None][1:]),
    ):
        np.testing.assert_allclose(cr.grad(f)(lazy), cr.grad(f)(x), rtol=1e-12)


LEFT = da.from_array(np.arange(12.0).reshape(4, 3) + 0.5, chunks=(2, 3))
ON_THE_LEFT = {
    "@": lambda d, w: np.sum((d @ w) ** 2),
    "*": lambda d, w: np.sum(np.sin(d * w)),
    "+": lambda d, w: np.sum((d + w) ** 2),
    "-": lambda d, w: np.sum((d - w) ** 2),
    "/": lambda d, w: np.sum(d / w),
    "**": lambda d, w: np.sum(d**w),
    ">": lambda d, w: np.sum((d > w) * w),
    "where": lambda d, w: np.sum(np.where(d > w, d * w, w)),
    "maximum": lambda d, w: np.sum(np.maximum(d, 3.0 * w)),
    "number": lambda d, w: np.sum(d * w[0] - w[1]),
    "method": lambda d, w: (d * w).mean(axis=0)[1],
    "exp of dask": lambda d, w: np.sum(da.exp(-d * w)),
    "dask beside": lambda d, w: np.sum((np.zeros_like(d) + d * w) ** 2),
}


@pytest.mark.parametrize("name", ON_THE_LEFT)
def test_arrays_of_dask_on_the_left_where_its_core_is_adopted(name):
    f, w = ON_THE_LEFT[name], np.array([0.3, 0.7, 1.1])
    plain = np.asarray(LEFT)
    expected = [(f(plain, w + 1e-6 * e) - f(plain, w - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    with cr.adopt("dask.array.core"):
        gradient = cr.grad(lambda w: f(LEFT, w))(w)
        _, pushed = cr.jvp(lambda w: f(LEFT, w), (w,), (np.ones(3),))
        hessian = cr.hessian(lambda w: f(LEFT, w))(w)
    np.testing.assert_allclose(np.asarray(gradient), expected, 1e-5, 1e-7)
    np.testing.assert_allclose(np.asarray(pushed), np.sum(expected), 1e-5, 1e-7)
    np.testing.assert_allclose(np.asarray(hessian), cr.hessian(lambda w: f(plain, w))(w), 1e-9)


def test_dask_is_as_it_was_when_that_is_undone():
    with cr.adopt("dask.array.core"):
        pass
    with pytest.raises(cr.LostDerivativeError, match="a Dask array beside a traced array"):
        cr.grad(lambda w: np.sum(LEFT @ w))(np.ones(3))
