"""scipy.ndimage: the dot-product identity over modes, origins, axes and shapes; ties; refusals."""

import warnings

import numpy as np
import pytest
import scipy.ndimage
from differences import slope_of
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import ndimage
from chainrules.scipy.spatial import distance

MODES = (
    "reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap",
)  # fmt: skip
SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
SEARCH = settings(max_examples=40)


def assert_adjoint(f, *xs):
    """``<ybar, ydot>`` is ``<xbar, xdot>``, where ``ydot`` is a difference of ``f`` itself."""
    rng = np.random.default_rng(len(xs[0]))
    y, pullback = cr.vjp(f, *xs)
    ybar = rng.normal(size=y.shape)
    xdots = [rng.normal(size=x.shape) for x in xs]
    xbars = pullback(ybar)
    # Of second degree at most, so that this is exact but for rounding.
    moved = [[x + t * xdot for x, xdot in zip(xs, xdots)] for t in (0.5, -0.5)]
    ydot = f(*moved[0]) - f(*moved[1])
    np.testing.assert_allclose(cr.jvp(f, xs, tuple(xdots))[1], ydot, atol=1e-9)
    found = sum(np.vdot(xbar, xdot) for xbar, xdot in zip(xbars, xdots))
    np.testing.assert_allclose(np.vdot(ybar, ydot), found, atol=1e-8)


def random(shape, seed=0):
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def origins(data, shape):
    return [data.draw(st.integers(-(n // 2), (n - 1) // 2)) for n in shape]


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@SEARCH
@given(shape=SHAPES, mode=st.sampled_from(MODES), cval=st.sampled_from([0.0, 1.5]), data=st.data())
def test_adjoint_of_kernels(name, shape, mode, cval, data):
    size = data.draw(st.tuples(*[st.integers(1, 5) for _ in shape]))
    options = {"mode": mode, "cval": cval, "origin": origins(data, size)}
    f = getattr(ndimage, name)
    assert_adjoint(lambda x, w: f(x, w, **options), random(shape), random(size, 1))


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d"])
@SEARCH
@given(shape=SHAPES, mode=st.sampled_from(MODES), cval=st.sampled_from([0.0, 1.5]), data=st.data())
def test_adjoint_along_one_axis(name, shape, mode, cval, data):
    size = data.draw(st.integers(1, 9))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    (origin,) = origins(data, (size,))
    f = getattr(ndimage, name)
    assert_adjoint(lambda x, w: f(x, w, axis, None, mode, cval, origin),
                   random(shape), random((size,), 1))  # fmt: skip
    # The mean over each window is a kernel of equal numbers.
    assert_adjoint(lambda x: ndimage.uniform_filter1d(x, size, axis, None, mode, cval, origin),
                   random(shape))  # fmt: skip


@pytest.mark.parametrize(
    "f",
    [
        lambda x, mode: ndimage.gaussian_filter(x, 0.9, mode=mode, cval=0.3),
        lambda x, mode: ndimage.gaussian_laplace(x, 0.7, mode=mode),
        lambda x, mode: ndimage.laplace(x, mode=mode, cval=0.3),
        lambda x, mode: ndimage.sobel(x, 0, mode=mode),
        lambda x, mode: ndimage.prewitt(x, mode=mode, cval=0.3),
        lambda x, mode: ndimage.uniform_filter(x, 2, mode=mode, cval=0.3),
    ],
)
@settings(SEARCH, max_examples=20)
@given(shape=SHAPES, mode=st.sampled_from(MODES))
def test_adjoint_of_filters(f, shape, mode):
    assert_adjoint(lambda x: f(x, mode), random(shape))


@SEARCH
@given(shape=SHAPES, mode=st.sampled_from(MODES), order=st.integers(0, 5), data=st.data())
def test_adjoint_of_interpolation(shape, mode, order, data):
    if order > 1 and min(shape) == 1:
        return  # SciPy does not filter these in some of the modes
    places = data.draw(st.sampled_from([3.0, 8.0, 40.0])) * random((len(shape), 7), 2)
    options = {"order": order, "mode": mode, "cval": 0.4, "prefilter": data.draw(st.booleans())}
    assert_adjoint(lambda x: ndimage.map_coordinates(x, places, **options), random(shape))
    assert_adjoint(lambda x: ndimage.shift(x, places[:, 0], **options), random(shape))
    assert_adjoint(lambda x: ndimage.zoom(x, 1.7, **options), random(shape))
    if order > 1:
        assert_adjoint(lambda x: ndimage.spline_filter(x, order, mode=mode), random(shape))


@SEARCH
@given(shape=SHAPES, mode=st.sampled_from(MODES), data=st.data())
def test_filters_by_rank_are_linear_beside_a_point(shape, mode, data):
    size = data.draw(st.tuples(*[st.integers(1, 3) for _ in shape]))
    foot = np.random.default_rng(size).random(size) < 0.7
    foot.flat[0] = True
    if len(shape) == 1:
        foot[:] = True
    options = {"footprint": foot, "mode": mode, "cval": 0.2, "origin": origins(data, size)}
    x, xdot = random(shape), random(shape, 1)
    rank = data.draw(st.integers(0, int(foot.sum()) - 1))

    def f(x):
        return ndimage.rank_filter(x, rank, **options)

    expected = slope_of(f, (x,), (xdot,), 1e-7)
    np.testing.assert_allclose(expected, cr.jvp(f, (x,), (xdot,))[1], atol=1e-6)


def test_a_hole_in_a_line_is_as_scipy_has_it_or_refused():
    x, xdot = random((9,)), random((9,), 1)

    def f(x):
        return ndimage.median_filter(x, footprint=[1, 1, 0, 0, 1])

    windows = np.pad(x, 2, "symmetric")[np.arange(9)[:, None] + [0, 1, 4]]
    if not np.array_equal(f(x), np.sort(windows)[:, 1]):
        with pytest.raises(cr.MissingRuleError, match="chose other numbers"):
            cr.jvp(f, (x,), (xdot,))
        return
    expected = slope_of(f, (x,), (xdot,), 1e-7)
    np.testing.assert_allclose(expected, cr.jvp(f, (x,), (xdot,))[1], atol=1e-6)


def test_ties_share_evenly():
    x = np.array([1.0, 3.0, 3.0, 0.0])
    y = cr.grad(lambda x: ndimage.maximum_filter(x, 2, mode="nearest")[2])(x)
    np.testing.assert_array_equal([0.0, 0.5, 0.5, 0.0], y)
    slope = cr.grad(lambda x: ndimage.grey_erosion(x, 3)[1])(np.array([2.0, 1.0, 1.0, 3.0]))
    np.testing.assert_array_equal([0.0, 0.5, 0.5, 0.0], slope)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("mode", MODES)
def test_coordinates_move(mode, order):
    x, places = random((6, 5)), 2.5 + 2.5 * random((2, 9), 3)

    def loss(x, places):
        y = ndimage.map_coordinates(x, places, order=order, mode=mode, cval=0.3)
        return np.sum(y**3)

    found = cr.grad(loss, argnums=1)(x, places)
    t, direction = 1e-6, random((2, 9), 4)
    expected = (loss(x, places + t * direction) - loss(x, places - t * direction)) / (2 * t)
    np.testing.assert_allclose(expected, np.sum(found * direction), rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore:The behavior of affine_transform")
def test_sigma_angle_and_matrix_move():
    x = random((7, 6))
    for f, at in (
        (lambda s: ndimage.gaussian_filter(x, s, radius=4), 0.9),
        (lambda s: ndimage.gaussian_laplace(x, s, radius=4), 0.9),
        (lambda s: ndimage.rotate(x, s, mode="mirror"), 33.0),
        (lambda s: ndimage.shift(x, (s, 2 * s), mode="wrap"), 0.3),
        (lambda s: ndimage.affine_transform(x, np.array([1.0, 0.5]) * s, mode="reflect"), 0.83),
        (lambda s: ndimage.map_coordinates(x, x[:2] * 3, cval=s), 0.3),
        (lambda s: ndimage.correlate(x, np.ones((3, 2)), mode="constant", cval=s), 0.3),
    ):
        expected = slope_of(f, (at,), (1.0,), 1e-5)
        np.testing.assert_allclose(expected, cr.jvp(f, (at,), (1.0,))[1], atol=1e-6)
        np.testing.assert_allclose(
            cr.grad(lambda s, f=f: np.sum(f(s)))(at), expected.sum(), atol=1e-5
        )


def test_single_stays_single_and_complex_complex():
    x = random((5, 4)).astype(np.float32)
    assert cr.grad(lambda x: np.sum(ndimage.gaussian_filter(x, 0.8) ** 2))(x).dtype == np.float32
    z = random((5, 4)) + 1j * random((5, 4), 1)
    found = cr.grad(lambda z: np.sum(np.abs(ndimage.shift(z, 0.3, mode="wrap")) ** 2))(z)
    assert found.dtype == complex
    parts = [cr.grad(lambda x: np.sum(ndimage.shift(x, 0.3, mode="wrap") ** 2))(x)
             for x in (z.real, z.imag)]  # fmt: skip
    np.testing.assert_allclose(found, parts[0] + 1j * parts[1])


def test_what_tells_of_pixels_alone_is_constant():
    def loss(x):
        distances = ndimage.distance_transform_edt(x > 0)
        return np.sum(x * distances) + ndimage.label(x > 0)[1]

    x = random((4, 5))
    expected = scipy.ndimage.distance_transform_edt(x > 0)
    np.testing.assert_array_equal(expected, cr.grad(loss)(x))
    with pytest.raises(cr.MissingRuleError, match="how far apart pixels are"):
        cr.grad(lambda s: np.sum(ndimage.distance_transform_edt(x > 0, sampling=s)))(1.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: ndimage.generic_filter(x, np.mean, 3), "calls a function of yours"),
        (lambda x: ndimage.geometric_transform(x, lambda k: k), "map_coordinates"),
        (lambda x: ndimage.sobel(x, output=np.zeros((4, 5))), "into output"),
        (lambda x: ndimage.gaussian_filter(x, 1.0, output=int), "rounds"),
    ],
)
def test_refusals(f, message):
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda x: np.sum(f(x)))(random((4, 5)))


def test_bad_input_gets_the_error_of_scipy():
    with pytest.raises(ValueError, match="origin"):
        cr.grad(lambda x: np.sum(ndimage.correlate1d(x, np.ones(3), origin=5)))(np.ones(4))
    with pytest.raises(RuntimeError, match="no footprint"):
        cr.grad(lambda x: np.sum(ndimage.median_filter(x)))(np.ones(4))


@pytest.mark.parametrize("mode", ["nearest", "grid-constant", "mirror", "constant"])
def test_places_in_a_list(mode):
    """One array for each axis, as ``np.meshgrid`` gives them."""
    image, x = random((5, 4)), np.array([0.7, 1.6, 2.3])

    def f(x):
        return ndimage.map_coordinates(image, [x, 0.8 * x], mode=mode)

    expected = cr.jacfwd(
        lambda x: ndimage.map_coordinates(image, np.stack([x, 0.8 * x]), mode=mode)
    )
    for jacobian in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(jacobian(f)(x), expected(x), rtol=1e-12)


def filled(f, dtype=float):
    """The array that ``f`` writes into, as a function of the image."""

    def g(x):
        y = np.zeros(np.shape(x), dtype)
        f(x, y)
        return y

    return g


INTO_ARRAYS = {
    "a filter": filled(lambda x, y: ndimage.gaussian_filter(x, 1.0, output=y)),
    "by position": filled(lambda x, y: ndimage.maximum_filter(x, 3, None, y)),
    "a spectrum": filled(lambda x, y: ndimage.fourier_gaussian(x, 1.0, output=y)),
    "labels": filled(lambda x, y: ndimage.label(x > 0.5, output=y), np.int32),
    "distances": filled(lambda x, y: ndimage.distance_transform_edt(x > 0.5, distances=y)),
    "distances of pairs": lambda x: filled(lambda _, y: distance.cdist(x, x, out=y))(np.eye(4)),
}


@pytest.mark.parametrize("name", INTO_ARRAYS)
def test_results_that_are_written_into_an_array(name):
    """Compiled code writes where no transform sees it: with the items, or not at all."""
    f, images = INTO_ARRAYS[name], np.random.default_rng(3).uniform(size=(3, 4, 5))
    expected = [f(x) for x in images]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it goes item after item, and runs as it is
        np.testing.assert_array_equal(cr.vmap(f)(images), expected)
        compiled = cr.compile(f)
        for x, y in zip((*images, *images), (*expected, *expected), strict=True):
            np.testing.assert_array_equal(compiled(x), y)
    if name not in ("labels", "distances"):
        with pytest.raises(cr.MissingRuleError, match="cannot write into out"):
            cr.grad(lambda x: np.sum(f(x)))(images[0])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.convolve(x, np.ones((2,) * x.ndim)),
        lambda x: ndimage.correlate1d(x, [1.0, 2.0, 0.5]),
        lambda x: ndimage.gaussian_filter(x, 1.0),
        lambda x: ndimage.uniform_filter(x, 3),
    ],
)
def test_images_without_pixels(f, shape):
    x = np.zeros(shape)
    y, pullback = cr.vjp(f, x)
    assert np.shape(y) == np.shape(pullback(y)[0]) == shape
    assert np.shape(cr.hvp(lambda x: np.sum(f(x) ** 2), (x,), (x,))) == shape


def test_weights_over_an_image_without_pixels():
    slope = cr.grad(lambda w: np.sum(ndimage.convolve(np.zeros(0), w)))(np.ones(3))
    np.testing.assert_array_equal(slope, np.zeros(3))
