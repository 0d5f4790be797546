"""Choosing, bounding and sorting; differences, slopes, areas, interpolation; constant functions."""

import numpy as np
import pytest
from both_modes import both, gradient
from differences import slope_of
from generic_points import text

import chainrules as cr
from chainrules.testing import check_grad

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3, 4))
Y = RNG.normal(size=(2, 3, 4))
F = X[0].astype(np.float32)
Z = X[0] + 1j * X[1]
MASK = X > 0


# ---- where and others that choose ----


def test_where():
    both(np.where, MASK, X, Y)
    both(np.where, MASK, X, 0.0)
    both(np.where, MASK, 1.0, X)
    both(np.where, MASK[0], Z, X[0])
    both(np.where, True, 0.7, 0.3)
    both(np.where, MASK, X[0, 0], X[:, :1])
    both(np.where, MASK[0], F, F[0])
    both(np.where, MASK[0, 0], 0.3, 0.7)


def test_where_does_not_read_what_it_leaves_out():
    x = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        forward = cr.jvp(lambda x: np.where(x > 0, np.sqrt(x), 0.0), (x,), (np.ones(2),))[1]
        backward = gradient(lambda x: np.where(x > 0, np.sqrt(x), 0.0), x)
    np.testing.assert_array_equal([0, 0.25], forward)
    np.testing.assert_array_equal([0, 0.25], backward)


def test_where_of_a_condition_alone():
    assert cr.grad(lambda x: x[np.where(x > 0)[0][0]])(np.array([-1.0, 2.0]))[1] == 1
    assert cr.grad(lambda x: x[np.where(x)[0][0]])(np.array([0.0, 2.0]))[1] == 1


def test_select():
    both(lambda x, y: np.select([x > 1, x > 0], [x**2, y], 3.0), X, Y)
    both(lambda x: np.select([MASK, X > -1], [0.0, x], -x), X)
    both(lambda x: np.select([MASK[0]], [1.0], x), 0.3)


@pytest.mark.parametrize("choices", [[F, 1], [1, F], [F, True], [F, F.astype(float)]])
def test_dtype_of_select(choices):
    def f(x):
        return np.select([MASK[0], ~MASK[0]], [x if c is F else c for c in choices], 2)

    assert cr.jvp(f, (F,), (F,))[0].dtype == f(F).dtype
    np.testing.assert_array_equal(cr.vjp(f, F)[0], f(F))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(mode):
    place = np.array([0, 2, 1, 0]) + (0 if mode == "raise" else 2)
    both(lambda x, y: np.choose(place, [x, y, 1.0], mode=mode), X[0], Y[0])
    both(lambda x: np.choose(place, x, mode=mode), X[0])
    both(lambda x: np.choose([[1], [0]], [x, 2 * x]), X[0, 0])


def test_choose_between_numbers_is_a_number():
    for choices in ([1.0, 2.0], [np.array(1.0), 2.0], [np.ones(()), np.ones(1)]):
        y, _ = cr.jvp(lambda x, c=choices: np.choose(0, [x * c[0], c[1]]), (3.0,), (1.0,))
        plain = np.choose(0, [3.0 * choices[0], choices[1]])
        assert (type(y), np.shape(y)) == (type(plain), np.shape(plain))


def test_choose_out_of_range():
    with pytest.raises(ValueError, match="invalid entry"):
        cr.grad(lambda x: np.choose(2, [x, x]))(1.0)


# ---- bounds ----


def test_clip():
    both(np.clip, X, -0.5, 0.7)
    both(np.clip, X, Y[0] - 1, Y[0] + 0.3)
    both(np.clip, X, None, 0.3)
    both(np.clip, X, -0.3, None)
    both(np.clip, F, -0.5, 0.7)
    both(np.clip, 0.3, -0.5, 0.2)
    both(np.clip, 0.1, X[0] - 0.5, 0.9)
    both(np.clip, X, a_min=-0.5, a_max=0.7)
    both(np.clip, X, min=-0.5, max=0.7)
    both(np.clip, X, max=0.7)
    both(lambda x, low: np.clip(x, a_min=low, a_max=1.0), X, 0.1)
    both(lambda x, low: np.clip(x, min=low), X, 0.1)
    both(lambda x, high: np.clip(x, min=-0.5, max=high), X, 0.7)
    both(lambda x: x.clip(-0.5, 0.7), X)


def test_lists_of_traced_numbers():
    x = X[0, 0]
    low, high = [-0.5, -0.4, 0.0, -1.0], [0.7, 0.9, 1.0, 0.3]
    both(lambda x: np.clip(x, low, [0.7, x[0] ** 2, 1.0, np.sin(x[1])]), x)
    both(lambda x: np.interp(x, [0.0, 1.0], [2.0, 5.0]), 0.3)
    both(lambda x: np.interp(x, [0.0, 1.0], [x, x**2]), 0.3)
    both(lambda x: np.gradient(x, [0.0, 1.0, 3.0, 3.5]), x)
    both(lambda x: np.trapezoid(x, [0.0, 1.0, 3.0, 3.5]), x)
    both(lambda x: np.average(x, weights=[1.0, 2.0, 3.0, 4.0]), x)
    both(lambda x: np.quantile(x, [0.3, x[0] ** 2]), x)
    np.testing.assert_array_equal(
        cr.vjp(lambda x: np.clip(x, low, high), x)[0], np.clip(x, low, high)
    )


def test_clip_at_its_bounds():
    assert cr.grad(np.clip, (0, 1, 2))(1.0, 1.0, 2.0) == (0.5, 0.5, 0.0)
    assert cr.grad(np.clip, (0, 1, 2))(2.0, 1.0, 2.0) == (0.5, 0.0, 0.5)
    np.testing.assert_array_equal(
        gradient(np.clip, np.array([-1.0, 0, 0.5, 1, 2]), a_min=0, a_max=1), [0, 0.5, 1, 0.5, 0]
    )


def test_clip_does_not_read_what_it_leaves_out():
    with np.errstate(all="ignore"):
        x = np.array([0.0, 1.0])
        ydot = cr.jvp(lambda x: np.clip(np.log(x), -5.0, 5.0), (x,), (np.ones(2),))[1]
    np.testing.assert_array_equal(ydot, [0, 1])


# ---- order ----


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": None}, {"stable": True}], ids=text)
def test_sort(options):
    both(np.sort, X, **options)
    both(np.sort, F, **options)
    both(np.sort, Z, **options)
    both(np.sort, X[0, 0], **({} if options.get("axis") == 0 else options))


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": None}], ids=text)
@pytest.mark.parametrize("kth", [1, (0, -1)])
def test_partition(kth, options):
    both(np.partition, X, kth=kth, **options)
    both(np.partition, F, kth=kth, **options)
    both(lambda x: np.partition(x, kth, **options), X)


def test_sort_shares_ties_evenly():
    x = np.array([2.0, 1.0, 2.0, 2.0, 3.0, 1.0])
    expected = np.zeros((6, 6))
    expected[np.ix_([0, 1], [1, 5])] = 1 / 2
    expected[np.ix_([2, 3, 4], [0, 2, 3])] = 1 / 3
    expected[5, 4] = 1
    np.testing.assert_allclose(expected, cr.jacrev(np.sort)(x))
    np.testing.assert_allclose(expected, cr.jacfwd(np.sort)(x))
    np.testing.assert_allclose(gradient(lambda x: np.sort(x)[:1], x), gradient(np.min, x))
    assert cr.jacfwd(np.sort)(x.astype(np.float32)).dtype == np.float32
    partitioned = cr.jacobian(lambda x: np.partition(x, 3))(x)
    np.testing.assert_allclose(partitioned.sum(axis=0), np.ones(6))
    np.testing.assert_allclose(partitioned.sum(axis=1), np.ones(6))


def test_sort_leaves_its_argument():
    x = X.copy()
    np.testing.assert_array_equal(np.sort(X), cr.vjp(np.sort, x)[0])
    np.testing.assert_array_equal(X, x)
    assert gradient(np.sort, np.zeros((0,))).shape == (0,)


def test_sort_complex():
    both(np.sort_complex, X[0, 0])
    both(np.sort_complex, Z[0])


# ---- differences, slopes, areas ----


@pytest.mark.parametrize(
    "options", [{}, {"n": 2}, {"axis": 0}, {"axis": 1, "n": 2}, {"n": 0}], ids=text
)
def test_diff(options):
    both(np.diff, X, **options)
    both(np.diff, F, **options)
    both(np.diff, Z, **options)


def test_diff_with_ends():
    both(lambda x: np.diff(x, prepend=0.0), X)
    both(lambda x: np.diff(x, 2, axis=1, prepend=x[:, :1], append=1.0), X)
    both(lambda x, a: np.diff(x, append=a), X[0, 0], 0.3)
    both(lambda a: np.diff(X, prepend=a), Y[:, :, :2])
    assert gradient(np.diff, X[0, 0, :1]).shape == (1,)


def test_ediff1d():
    both(np.ediff1d, X)
    both(lambda x, a, b: np.ediff1d(x, a, b), X[0], 0.3, X[1, 0])
    both(lambda x: np.ediff1d(x, to_begin=1.0), X[0])


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order):
    places = np.cumsum(RNG.uniform(0.5, 1.5, size=4))
    both(np.gradient, X[0, 0], edge_order=edge_order)
    both(lambda x, h: np.gradient(x, h, axis=1, edge_order=edge_order), X, 0.3)
    both(lambda x: np.gradient(x, edge_order=edge_order, axis=(1, 2)), X)
    both(lambda x, t: np.gradient(x, t, axis=-1, edge_order=edge_order), X, places)
    both(lambda x: np.gradient(x, 0.3, places, axis=(1, 2), edge_order=edge_order), X)
    for h in (0.3, places, np.arange(4)):
        y = cr.vjp(lambda x, h=h: np.gradient(x, h, axis=2, edge_order=edge_order), X)[0]
        np.testing.assert_array_equal(np.gradient(X, h, axis=2, edge_order=edge_order), y)


def test_gradient_complains():
    with pytest.raises(ValueError, match="too small"):
        gradient(np.gradient, np.ones(2), edge_order=2)
    with pytest.raises(TypeError, match="invalid number"):
        gradient(lambda x: np.gradient(x, 1.0, 2.0), np.ones(3))


def test_trapezoid():
    both(np.trapezoid, X)
    both(np.trapezoid, F, dx=0.3, axis=0)
    both(np.trapezoid, Z)
    both(lambda y, x: np.trapezoid(y, x), X, np.arange(4.0) ** 2)
    both(lambda y, x: np.trapezoid(y, x, axis=1), X, Y)
    both(lambda y, h: np.trapezoid(y, dx=h), X, 0.3)
    y = cr.vjp(lambda x: np.trapezoid(x, dx=0.3, axis=1), X)[0]
    np.testing.assert_array_equal(np.trapezoid(X, dx=0.3, axis=1), y)


# ---- interpolation, counts ----

PLACES = np.array([0.0, 1.0, 1.5, 3.0])


@pytest.mark.parametrize("options", [{}, {"left": -1.0, "right": 7.0}, {"period": 3.3}], ids=text)
def test_interp(options):
    x = np.array([[-0.4, 0.3, 1.2], [2.8, 3.1, 1.7]])
    both(lambda x, xp, fp: np.interp(x, xp, fp, **options), x, PLACES, X[0, 0])
    both(lambda x: np.interp(x, PLACES, X[0, 0], **options), 0.3)
    both(lambda fp: np.interp(x, PLACES, fp, **options), Z[0])
    given = np.concatenate([x.ravel(), PLACES])
    y = cr.vjp(lambda fp: np.interp(given, PLACES, fp, **options), X[0, 0])[0]
    np.testing.assert_array_equal(np.interp(given, PLACES, X[0, 0], **options), y)


def test_interp_of_ends():
    x = np.array([-1.0, 0.5, 9.0])
    check_grad(lambda x: np.interp(x, PLACES, X[0, 0], x[1] ** 2, np.sin(x[2])), x)


def test_bincount():
    x = np.array([0, 2, 2, 5])
    both(lambda w: np.bincount(x, w), X[0, 0])
    both(lambda w: np.bincount(x, weights=w, minlength=9), X[0, 0])
    assert cr.grad(lambda x: np.sum(x * np.bincount(np.array([0, 2, 2]))))(np.ones(3))[2] == 2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bins": 4},
        {"bins": PLACES - 1},
        {"range": (-1, 1.5)},
        {"density": True},
    ],
    ids=text,
)
def test_histogram(options):
    x = np.ravel(X)
    both(lambda x, w: np.histogram(x, weights=w, **options), x, np.abs(x) + 0.1)
    both(lambda x: np.histogram(x, **options), x)
    both(lambda x: np.histogram_bin_edges(x, bins="sturges"), X)
    for y, plain in zip(
        cr.vjp(lambda w: np.histogram(x, weights=w, **options), x**2)[0],
        np.histogram(x, weights=x**2, **options),
    ):
        np.testing.assert_allclose(y, plain, rtol=1e-13)
    assert cr.grad(lambda x: np.histogram(x, bins=2)[1][1])(np.array([0.0, 1.0]))[0] == 0.5


# ---- sets ----


def test_unique_shares_among_equal_numbers():
    _, pullback = cr.vjp(np.unique, np.array([1.0, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(pullback(np.array([10.0, 20.0, 30.0]))[0], [5, 5, 20, 30])
    both(lambda x: np.unique(x, axis=1), X)
    both(lambda x: np.unique(x, return_counts=True)[0], X)
    y, inverse, counts = cr.vjp(lambda x: np.unique(x, False, True, True), X)[0]
    for expected, found in zip(np.unique(X, False, True, True), (y, inverse, counts)):
        np.testing.assert_array_equal(expected, found)
    for f in (
        np.unique_values,
        lambda x: np.unique_all(x)[0],
        lambda x: np.unique_counts(x).values,
    ):
        both(f, X[0])
    assert cr.vjp(np.unique_inverse, X)[0].inverse_indices.shape == X.shape


def test_sets():
    x = np.array([3.0, 1.0, 2.0, 1.0])
    both(lambda x: np.union1d(x, Y[0]), X[0])
    both(lambda x: np.setdiff1d(x, Y[0, 0]), X[0, 0])
    np.testing.assert_array_equal(gradient(lambda x: np.setdiff1d(x, [1.0]), x), [1, 0, 1, 0])
    np.testing.assert_array_equal(gradient(lambda x: np.intersect1d(x, [1.0]), x), [0, 1, 0, 0])
    np.testing.assert_array_equal(gradient(lambda x: np.setxor1d(x, [1.0]), x), [1, 0, 1, 0])
    both(lambda x, y: np.setxor1d(x, y), X[0], Y[0])
    assert cr.vjp(lambda x: np.intersect1d(x, [1.0], False, True), x)[0][1:] == (1, 0)


# ---- constant functions ----


@pytest.mark.parametrize(
    "f",
    [
        np.floor, np.ceil, np.rint, np.trunc, np.round, np.around, np.spacing, np.isnan,
        np.signbit, np.logical_not, np.argmax, np.argmin, np.nanargmax, np.argsort, np.any, np.all,
        np.count_nonzero, np.argwhere, np.flatnonzero, np.iscomplex, np.isreal, np.iscomplexobj,
        np.shape, np.size, np.ndim, np.zeros_like, np.ones_like,
        lambda x: np.floor_divide(x, 0.3), lambda x: x // 0.3, lambda x: x > 0, lambda x: x == x,
        lambda x: np.isclose(x, 0.3), lambda x: np.allclose(x, 0.3), lambda x: np.less(x, 0.3),
        lambda x: np.searchsorted(PLACES, x), lambda x: np.digitize(x, PLACES),
        lambda x: np.argpartition(x, 2), lambda x: np.lexsort((x,)), lambda x: np.isin(x, [0.3]),
        lambda x: np.array_equal(x, x), lambda x: np.full_like(x, 0.3), lambda x: round(x[0]),
    ],
    ids=lambda f: getattr(f, "__name__", str(f)),
)  # fmt: skip
def test_constant(f):
    x = X[0, 0]
    y = cr.jvp(f, (x,), (np.ones(4),))
    np.testing.assert_array_equal(f(x), y[0])
    assert isinstance(y[1], cr.NoTangent | tuple) or not np.any(y[1])
    xbar = cr.grad(lambda x: np.sum(x * np.sum(cr.value(f(x)))))(x)
    np.testing.assert_allclose(xbar, np.sum(f(x)) * np.ones(4))


def test_text_of_traced_arrays():
    seen = []

    def f(x):
        seen.extend([np.array2string(x), np.array_repr(x), np.array_str(x)])
        return np.sum(x)

    cr.grad(f)(np.ones(2))
    assert seen == ["traced([1. 1.])", "traced(array([1., 1.]))", "traced([1. 1.])"]
    with pytest.raises(ValueError, match="could not be read"):
        cr.jvp(
            lambda x: np.fromstring(np.array2string(x)[1:-1], sep=" "), (np.ones(2),), (np.ones(2),)
        )


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan, -0.0, 1.0, 2.0, 0.5])
@pytest.mark.parametrize("heights", [[1.0, 3.0, 2.0], [1.0, np.inf, 2.0]])
def test_interpolation_is_numpys_at_infinities(x, heights):
    x, grid = np.array([x, 0.3]), np.array([0.0, 1.0, 2.0])
    expected = np.interp(x, grid, heights)
    f = lambda x, y: np.interp(x, grid, y)  # noqa: E731
    args = x, np.array(heights)
    np.testing.assert_array_equal(cr.jvp(f, args, args)[0], expected)
    np.testing.assert_array_equal(cr.vjp(f, *args)[0], expected)
    np.testing.assert_array_equal(cr.jvp(lambda x: f(x, args[1]), (x,), (x,))[0], expected)


@pytest.mark.parametrize("transform", [cr.grad, cr.jacfwd, cr.jacrev])
def test_an_index_beyond_all_integers_is_numpys_error(transform):
    with pytest.raises(IndexError):
        transform(lambda x: np.sum(x[[2**70]]))(np.ones(3))


PLAIN = np.array([1.2, 0.7, 2.2, 1.9, 0.4])
CLIPPED = {
    "function": lambda p: np.clip(PLAIN, 0.5, p**2),
    "method": lambda p: PLAIN.clip(0.5, p**2),
    "method, both": lambda p: PLAIN.clip(min=0.5 * p, max=p**2) * p,
    "method, upper": lambda p: PLAIN.clip(max=p**2),
    "a number": lambda p: np.clip(0.3, p**2, 3.0),
    "traced": lambda p: (PLAIN * p).clip(0.5 * p, p**2),
}


@pytest.mark.parametrize("name", CLIPPED)
def test_bounds_of_what_is_plain(name):
    def f(p):
        return np.sum(CLIPPED[name](p))

    p, h = 1.1, 1e-4
    slope, curvature = slope_of(f, (p,), (1.0,), h), (f(p + h) - 2 * f(p) + f(p - h)) / h**2
    np.testing.assert_allclose(cr.grad(f)(p), slope, rtol=1e-6)
    np.testing.assert_allclose(cr.jvp(f, (p,), (1.0,))[1], slope, rtol=1e-6)
    np.testing.assert_allclose(cr.grad(cr.grad(f))(p), curvature, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cr.hessian(f)(p), curvature, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(np.array([p, p])), [slope] * 2, rtol=1e-6)
    compiled = cr.compile(cr.grad(f))
    for q in (p, 1.3, 0.9, p):
        np.testing.assert_allclose(compiled(q), cr.grad(f)(q))
