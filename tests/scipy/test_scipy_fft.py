"""scipy.fft: the dot-product identity over options, and that nothing is overwritten."""

import numpy as np
import pytest
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import fft

NORMS = st.sampled_from([None, "backward", "forward", "ortho"])
SHAPES = st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple)


def assert_adjoint(f, x, rng):
    """``<ybar, f(xdot)>`` is ``<pull(ybar), xdot>`` for a linear ``f``, at any number of modes."""
    y, pullback = cr.vjp(f, x)
    ybar = rng.normal(size=y.shape).astype(y.dtype)
    (xbar,) = pullback(ybar)
    assert (xbar.shape, xbar.dtype) == (x.shape, x.dtype)
    xdot = rng.normal(size=x.shape)
    np.testing.assert_allclose(np.vdot(ybar, f(xdot)).real, np.vdot(xbar, xdot).real, atol=1e-9)
    np.testing.assert_allclose(cr.jvp(f, (x,), (xdot,))[1], f(xdot), atol=1e-12)


def random(shape):
    rng = np.random.default_rng(shape)
    return rng.normal(size=shape), rng


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@settings(max_examples=25)
@given(shape=SHAPES, type=st.integers(1, 4), norm=NORMS, data=st.data())
def test_adjoint_of_real_transforms(name, shape, type, norm, data):
    x, rng = random(shape)
    orthogonalize = data.draw(st.sampled_from([None, True, False]))
    options = {"type": type, "norm": norm, "orthogonalize": orthogonalize}
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.none() | st.integers(2, 7))
    assert_adjoint(lambda x: getattr(fft, name)(x, n=n, axis=axis, **options), x, rng)
    several = getattr(fft, f"{name}n")
    axes = data.draw(st.none() | st.permutations(range(len(shape))).map(lambda p: p[:2]))
    assert_adjoint(lambda x: several(x, axes=axes, **options), x, rng)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
@settings(max_examples=25)
@given(shape=SHAPES, norm=NORMS, data=st.data())
def test_adjoint_of_fourier_transforms(name, shape, norm, data):
    x, rng = random(shape)
    axes = data.draw(st.none() | st.permutations(range(len(shape))).map(lambda p: p[:2]))
    rank = len(shape) if axes is None else len(axes)
    s = data.draw(st.none() | st.lists(st.integers(2, 6), min_size=rank, max_size=rank))
    assert_adjoint(lambda x: getattr(fft, name)(x, s, axes, norm), x, rng)


def test_nothing_is_overwritten_where_something_is_traced():
    x = np.random.default_rng(0).normal(size=8) + 0j
    kept = x.copy()
    found = cr.grad(lambda x: np.sum(np.abs(fft.fft(x * 1, overwrite_x=True)) ** 2))(x)
    np.testing.assert_allclose(found, 2 * 8 * x)  # Parseval
    cr.vjp(lambda x: fft.fft(x, overwrite_x=True), x)
    np.testing.assert_array_equal(kept, x)


def test_bad_input_gets_the_error_of_scipy():
    def loss(x):
        return np.sum(fft.dct(x, 7))

    for call in (loss, cr.grad(loss)):
        with pytest.raises(ValueError, match="invalid DCT type"):
            call(np.ones(3))


def test_constants_and_refusals():
    assert fft.next_fast_len(13) == scipy.fft.next_fast_len(13)
    with pytest.raises(cr.LostDerivativeError, match="dln"):
        cr.grad(lambda dln: np.sum(fft.fht(np.ones(4), dln, 0.3)))(0.2)
