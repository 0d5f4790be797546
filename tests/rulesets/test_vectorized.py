"""np.vectorize, np.apply_along_axis and np.piecewise."""

import numpy as np
import pytest

import chainrules as cr
import chainrules.numpy as mirror
from chainrules.testing import check_grad, test_frule, test_rrule

XS = np.array([0.3, -1.2, 2.0])
YS = np.array([[0.7], [-0.4]])
BLOCK = np.arange(24.0).reshape(2, 3, 4) / 10 + 0.03


def bend(x, y=1.0):
    return x**3 * y if x > 0 else np.sin(x) + y


def total(f):
    return lambda *args: np.sum(np.sin(f(*args)))


# ---- vectorize ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vectorize", "args"),
    [
        (np.vectorize(bend), (XS,)),
        (np.vectorize(bend), (0.5,)),
        (np.vectorize(bend), (XS, YS)),
        (np.vectorize(bend), (YS, 2.0)),
        (np.vectorize(lambda x: (x * x, np.sin(x))), (XS,)),
        (np.vectorize(bend, excluded={1}), (XS, 2.0)),
        (np.vectorize(lambda p, x: p[0] * x + p[1], excluded={0}), (np.array([2.0, 1.0]), XS)),
        (np.vectorize(np.dot, signature="(n),(n)->()"), (BLOCK, BLOCK[0])),
        (np.vectorize(lambda a, x: a @ x, signature="(m,n),(n)->(m)"), (BLOCK, BLOCK[:, 0])),
        (np.vectorize(lambda x: (x[0], x[::-1]), signature="(n)->(),(n)"), (BLOCK,)),
    ],
)
def test_vectorize(vectorize, args):
    test_rrule(vectorize, *args)
    test_frule(vectorize, *args)


def test_vectorize_with_otypes_and_keywords():
    vectorize = np.vectorize(bend, otypes=[np.float32])
    config = cr.ReverseConfig()
    y, pullback = cr.rrule(config, vectorize, XS, y=YS)
    np.testing.assert_allclose(vectorize(XS, y=YS), y)
    assert np.float32 == y.dtype
    assert 2 == len(pullback(np.ones_like(y)))
    assert (0,) == cr.rrule(config, vectorize, XS[:0])[0].shape
    with pytest.raises(ValueError, match="size 0"):
        cr.rrule(config, np.vectorize(bend), XS[:0])


def test_transforms_of_vectorize():
    vectorize = np.vectorize(lambda x: x**3)
    np.testing.assert_allclose(3 * XS**2, cr.vjp(vectorize, XS)[1](np.ones(3))[0])
    np.testing.assert_allclose(np.diag(3 * XS**2), cr.jacobian(vectorize)(XS))
    np.testing.assert_allclose(np.diag(3 * XS**2), cr.jacfwd(vectorize)(XS))
    assert 12.0 == cr.grad(vectorize)(2.0)
    check_grad(lambda x: np.sum(np.sin(vectorize(x))), XS)
    assert cr.rrule(vectorize, XS) is None


def test_outside_of_transforms_the_mirror_is_numpys_own():
    for otypes in (None, [object]):  # NumPy hands out Python's floats, and rules hand out NumPy's
        assert float is cr.numpy.vectorize(type, otypes=otypes)(XS)[0]


# ---- apply_along_axis -----------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize(
    "f",
    [
        np.sum,
        np.cumsum,
        lambda row: np.outer(row, row),
        lambda row: [row[0], row[-1] ** 2],
        lambda row: row[0],
    ],
)
def test_apply_along_axis(f, axis):
    def apply(x):
        return np.apply_along_axis(f, axis, x)

    pulled = cr.vjp(apply, BLOCK)[0]
    np.testing.assert_array_equal(apply(BLOCK), pulled)
    check_grad(total(apply), BLOCK)


def test_apply_along_axis_hands_on_arguments():
    def weigh(row, weight, power=1):
        return np.sum(weight * row**power)

    check_grad(lambda x: np.sum(np.apply_along_axis(weigh, 0, x, XS[:2], power=2)), BLOCK)
    np.testing.assert_allclose(
        cr.grad(lambda w: np.sum(np.apply_along_axis(weigh, 0, BLOCK * w, w)))(1.0), 2 * BLOCK.sum()
    )
    with pytest.raises(ValueError, match="iteration dimensions are 0"):
        cr.vjp(lambda x: np.apply_along_axis(np.sum, 0, x), np.ones((2, 0)))
    y, pullback = cr.vjp(lambda x: np.apply_along_axis(np.sum, 0, x), np.ones((0, 2)))
    np.testing.assert_array_equal(np.zeros(2), y)
    assert (0, 2) == pullback(y)[0].shape
    with pytest.raises(np.exceptions.AxisError):
        cr.vjp(lambda x: np.apply_along_axis(np.sum, 2, x), np.ones((2, 2)))


# ---- piecewise ------------------------------------------------------------------------------


def square(x, scale=1.0):
    return scale * x**2


@pytest.mark.parametrize(
    ("x", "pieces"),
    [
        (XS, lambda x: ([x < 0, x > 1], [square, np.sin])),
        (XS, lambda x: ([x < 0, x > 1], [square, np.sin, np.exp])),
        (XS, lambda x: ([x < 0], [square, 3.0])),
        (XS, lambda x: (x < 0, [square, np.exp])),
        (XS, lambda x: ([x < 9, x > 1], [square, np.exp])),
        (XS, lambda x: ([x > 9, x > 1], [np.log, np.exp])),
        (XS, lambda x: ([x > 0], [np.sqrt, 1])),
        (XS, lambda x: ([x < 1], [lambda part: np.mean(part) * np.ones(2), np.cumsum])),
        (0.5, lambda x: ([x < 1], [square])),
        (0.5, lambda x: ([x > 1], [square, np.exp])),
        (BLOCK, lambda x: ([x < 1, x > 2], [square, np.sin, np.exp])),
        (BLOCK, lambda x: ([x[:, :, 0] < 1], [square, np.sin])),
        (XS + 1j, lambda x: ([np.real(x) < 1], [square, np.exp])),
    ],
)
def test_piecewise(x, pieces):
    def f(x):
        return np.piecewise(x, *pieces(x))

    y, pullback = cr.vjp(f, x)
    np.testing.assert_array_equal(f(x), y)
    assert f(x).dtype == y.dtype
    check_grad(lambda x: np.sum(np.abs(f(x)) ** 2), x)
    assert np.shape(x) == np.shape(pullback(np.ones_like(y))[0])


def test_piecewise_hands_on_arguments():
    def f(x, a):
        pieces = [square, lambda x, scale: x * scale]
        return np.sum(np.piecewise(x * a, [x < 0], pieces, scale=a) * a)

    check_grad(f, XS, 0.7)
    with pytest.raises(cr.LostDerivativeError):
        cr.grad(lambda a: np.piecewise(XS, [XS < 0], [square, np.sin], scale=a)[1])(2.0)


def test_piecewise_keeps_the_dtype_of_x():
    x = XS.astype(np.float32)
    y, pullback = cr.vjp(lambda x: np.piecewise(x, [x < 0], [lambda x: x * np.pi, np.sin]), x)
    assert (np.float32, np.float32) == (y.dtype, pullback(y)[0].dtype)


def test_piecewise_evaluates_a_function_only_where_it_answers():
    with np.errstate(all="raise"):
        gradient = cr.grad(lambda x: np.sum(np.piecewise(x, [x > 0], [np.sqrt, 0.0])))(XS)
    np.testing.assert_allclose([0.5 / np.sqrt(0.3), 0.0, 0.5 / np.sqrt(2.0)], gradient)


def test_piecewise_needs_as_many_functions_as_conditions():
    with pytest.raises(ValueError, match="functions are expected"):
        cr.grad(lambda x: np.sum(np.piecewise(x, [x > 0], [np.sin] * 3)))(XS)


class Halved(float):
    """Its product with a number of Python's is half of it."""

    def __rmul__(self, x):
        return x * (0.5 * float(self))


class HalvedByNumPy(float):
    """Its ufuncs see half of it, and the operators of Python's numbers all."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return getattr(ufunc, method)(*[0.5 * x for x in inputs], **options)


@pytest.mark.parametrize("x", [np.array(1.3), np.array([1.3, 2.1])])
def test_entries_are_pythons_numbers_beside_a_float_of_its_own(x):
    f = np.vectorize(lambda v: v * Halved(1.7))
    y, ydot = cr.jvp(f, (x,), (np.ones_like(x),))
    np.testing.assert_allclose(y, f(x))
    np.testing.assert_allclose(ydot, np.full_like(x, 0.85))
    with pytest.raises(cr.LostDerivativeError):  # and not half of the value, in silence
        cr.jvp(np.vectorize(lambda v: v * HalvedByNumPy(1.7)), (x,), (np.ones_like(x),))


def halves(v):
    return np.sin(v), v * 2.0


@pytest.mark.parametrize("x", [1.3, np.array(1.3), np.array([1.3, 2.1]), np.array([[1.3], [2.1]])])
@pytest.mark.parametrize("otypes", [[object], "O", [np.ndarray]])
def test_results_that_are_objects_are_kept_as_numpy_keeps_them(x, otypes):
    def f(x):
        return mirror.array(mirror.vectorize(halves, otypes=otypes)(x).tolist())

    y, ydot = cr.jvp(f, (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(y, np.array(np.vectorize(halves, otypes=otypes)(x).tolist()))
    np.testing.assert_allclose(ydot, np.stack([np.cos(x), np.full_like(x, 2.0)], axis=-1))
    (xbar,) = cr.vjp(f, x)[1](np.ones_like(y))
    np.testing.assert_allclose(xbar, np.cos(x) + 2.0)


@pytest.mark.parametrize("x", [1.3, np.array([1.3, 2.1])])
def test_arguments_by_name_have_derivatives(x):
    def f(x, k):
        y, z = mirror.vectorize(lambda v, k=1.0: (v * k, v + k))(v=x, k=k)
        return y * z + mirror.vectorize(lambda v, k: v * k**2, excluded=["k"])(x, k=k)

    k = 0.7
    y, ydot = cr.jvp(f, (x, k), (np.zeros_like(x), 1.0))
    np.testing.assert_allclose(y, x * k * (x + k) + x * k**2)
    np.testing.assert_allclose(ydot, x**2 + 4.0 * x * k)
    xbar, kbar = cr.vjp(f, x, k)[1](np.ones_like(y))
    np.testing.assert_allclose(xbar, 2.0 * x * k + 2.0 * k**2)
    np.testing.assert_allclose(kbar, np.sum(ydot))


def test_no_entries():
    """NumPy answers with no objects, or asks for the dtype; traced values went round in circles."""
    import chainrules.numpy as seen

    doubled = seen.frompyfunc(lambda x: 2 * x, 1, 1)
    floats = seen.vectorize(lambda x: 2 * x, otypes=[float])
    for f in (lambda x: doubled(x).astype(float), floats):
        for x in (np.zeros(0), np.zeros((2, 0))):
            assert x.shape == cr.vjp(f, x)[0].shape == cr.jvp(f, (x,), (x,))[0].shape
            assert x.shape * 2 == cr.jacrev(f)(x).shape
    with pytest.raises(ValueError, match="size 0"):
        cr.vjp(seen.vectorize(lambda x: 2 * x), np.zeros(0))
