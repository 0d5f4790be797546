"""Fourier transforms: every keyword, cropping and padding, odd and even lengths."""

import itertools

import numpy as np
import pytest
from both_modes import both_rules

import chainrules as cr

RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 4))
Z = X + 1j * RNG.normal(size=(5, 4))
Z3 = RNG.normal(size=(2, 3, 4)) + 1j * RNG.normal(size=(2, 3, 4))

FROM_COMPLEX = (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
FROM_REAL = (np.fft.rfft, np.fft.ihfft)
ALONG_ONE = (*FROM_COMPLEX, *FROM_REAL)
OF_COMPLEX_GRIDS = (np.fft.fftn, np.fft.ifftn, np.fft.irfftn)
GRIDS = (*OF_COMPLEX_GRIDS, np.fft.rfftn)
PLANES = (np.fft.fft2, np.fft.ifft2, np.fft.irfft2, np.fft.rfft2)
SHIFTS = (np.fft.fftshift, np.fft.ifftshift)
NORMS = ("backward", "ortho", "forward")


def both(f, *args, second_order=False, **options):
    # The rules are linear: one second derivative of each is enough.
    both_rules(f, *args, second_order=second_order, fkwargs=options)


def arguments(f):
    """The arrays that ``f`` takes: real for the spectra of real signals."""
    return (X,) if f in (*FROM_REAL, np.fft.rfftn, np.fft.rfft2) else (X, Z)


def matrix_of(f, size, **options):
    """The real matrix of ``f``, for complex arguments of this size, by columns."""
    return np.stack([in_reals(f(row, **options)) for row in in_complex(np.eye(2 * size))], -1)


def in_reals(y):
    return np.concatenate([np.real(y), np.imag(y)], -1)


def in_complex(rows):
    half = rows.shape[-1] // 2
    return rows[:, :half] + 1j * rows[:, half:]


@pytest.mark.parametrize("f", ALONG_ONE, ids=lambda f: f.__name__)
def test_second_order(f):
    for x in arguments(f):
        both(f, x, second_order=True)
        hessian = cr.hessian(lambda x: np.sum(np.abs(f(x)) ** 2))(np.real(x[0]))
        numbers = in_reals(f(np.eye(4)))
        np.testing.assert_allclose(2 * numbers @ numbers.T, hessian, atol=1e-12)


@pytest.mark.parametrize("f", ALONG_ONE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [None, 1, 2, 3, 4, 5, 6, 9])
def test_lengths(f, n):
    for x, axis in itertools.product(arguments(f), (0, -1)):
        both(f, x, n=n, axis=axis)


@pytest.mark.parametrize("f", ALONG_ONE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("norm", NORMS)
def test_norms(f, norm):
    for x in arguments(f):
        both(f, x, norm=norm)
        both(f, x, 3, 0, norm)


@pytest.mark.parametrize("f", FROM_COMPLEX, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 4, 7])
@pytest.mark.parametrize("norm", NORMS)
def test_pullback_is_the_transposed_matrix(f, n, norm):
    y, pullback = cr.vjp(lambda z: f(z, n, norm=norm), Z[0])
    rows = matrix_of(f, 4, n=n, norm=norm)
    real = np.isrealobj(y)
    for ybar, row in zip(np.eye(n), rows):
        (zbar,) = pullback(ybar if real else ybar + 0j)
        np.testing.assert_allclose(row, in_reals(zbar), atol=1e-14)


@pytest.mark.parametrize(("n", "counts"), [(5, [1, 2, 2]), (6, [1, 2, 2, 1])])
def test_entries_of_half_a_spectrum_stand_for_one_or_two(n, counts):
    """By Parseval, n times the energy of x is that of the spectrum."""
    x = RNG.normal(size=n)
    np.testing.assert_allclose(2 * n * x, cr.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x))
    spectrum = np.fft.rfft(x)
    zbar = cr.grad(lambda z: np.sum(np.fft.irfft(z, n) ** 2))(spectrum)
    np.testing.assert_allclose(2 * np.array(counts) * spectrum / n, zbar)


def test_imaginary_parts_that_irfft_does_not_read():
    zbar = cr.grad(lambda z: np.sum(np.fft.irfft(z) * np.arange(6.0)))(Z[0])
    np.testing.assert_array_equal([0, 0], zbar.imag[[0, -1]])


@pytest.mark.parametrize("f", GRIDS, ids=lambda f: f.__name__)
def test_of_grids(f):
    for x in arguments(f):
        both(f, x, second_order=True)
        both(f, x, s=(3, 6), axes=(0, 1), norm="ortho")
        both(f, x, s=(7, -1), axes=(1, 0), norm="forward")
        both(f, x, axes=(0,))
        both(f, x[:, :3], axes=(-1, 0))


@pytest.mark.parametrize("f", GRIDS, ids=lambda f: f.__name__)
def test_of_stacks(f):
    x = Z3 if f in OF_COMPLEX_GRIDS else Z3.real
    both(f, x)
    both(f, x, axes=(2, 0))
    both(f, x, s=(2, 2, 5), axes=(0, 1, 2), norm="ortho")
    both(f, x, s=(4, 5), axes=(-3, 1))


@pytest.mark.filterwarnings("ignore:`axes` should not be `None`:DeprecationWarning")
def test_lengths_without_axes():
    both(np.fft.fftn, Z3, s=(2, 5))
    both(np.fft.rfftn, Z3.real, s=(4, 3))
    both(np.fft.irfftn, Z3, s=(4, 3))


@pytest.mark.parametrize("f", PLANES, ids=lambda f: f.__name__)
def test_of_planes(f):
    for x in arguments(f):
        both(f, x, second_order=True)
        both(f, x, s=(6, 3), norm="forward")
        both(f, x, (3, 5), (1, 0))
    both(f, Z3.real)


def test_repeated_axes():
    with pytest.raises(cr.MissingRuleError, match="one after the other"):
        cr.grad(lambda x: np.sum(np.abs(np.fft.fftn(x, axes=(0, 0)))))(X)


@pytest.mark.parametrize("f", SHIFTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1)])
def test_shifts(f, axes):
    both(f, X[:, :3], axes=axes, second_order=True)
    both(f, Z, axes)


@pytest.mark.parametrize("f", [*ALONG_ONE, *GRIDS, *PLANES, *SHIFTS], ids=lambda f: f.__name__)
def test_of_float32_and_integers_and_nothing(f):
    x = X.astype(np.float32)
    y, pullback = cr.vjp(f, x)
    (xbar,) = pullback(y)
    assert np.float32 == xbar.dtype
    assert np.dtype(np.float32 if np.isrealobj(y) else np.complex64) == y.dtype
    both(f, x)
    if len(arguments(f)) == 2:
        both(f, Z.astype(np.complex64))
    xbar = cr.grad(lambda x: np.sum(np.abs(f(x)) ** 2))(np.arange(20).reshape(5, 4))
    assert np.float64 == xbar.dtype
    options = {"axes": (1, 2)} if f in (*GRIDS, *PLANES) else {}
    both(f, np.zeros((0, 5, 4)), **options)


def test_the_cotangent_keeps_single_precision():
    for f in ALONG_ONE:
        y, pullback = cr.rrule(f, X.astype(np.float32))
        assert np.float32 == pullback(y)[1].dtype
        tangents = (cr.NoTangent(), X.astype(np.float32))
        assert y.dtype == cr.frule(tangents, f, X.astype(np.float32))[1].dtype


@pytest.mark.parametrize("f", [np.fft.fftfreq, np.fft.rfftfreq])
def test_frequencies_follow_the_spacing(f):
    """They are plain Python, and linear in 1 / d."""
    expected = -f(5, 0.5) / 0.5
    np.testing.assert_allclose(expected, cr.jacfwd(lambda d: f(5, d))(0.5))
    np.testing.assert_allclose(expected, cr.jacrev(lambda d: f(5, d))(0.5))


def test_a_convolution():
    def loss(a, b):
        spectrum = np.fft.rfft(a, 8) * np.fft.rfft(b, 8)
        return np.sum(np.fft.irfft(spectrum, 8)[:7] ** 3)

    expected = cr.grad(lambda a, b: np.sum(np.convolve(a, b) ** 3), argnums=(0, 1))(X[0], X[1])
    found = cr.grad(loss, argnums=(0, 1))(X[0], X[1])
    np.testing.assert_allclose(expected, found)


def test_out():
    def loss(x):
        y = np.zeros_like(x + 0j)
        np.fft.fft(x, out=y)
        return np.sum(np.abs(y) ** 2)

    np.testing.assert_allclose(2 * 4 * X, cr.grad(loss)(X))
    with pytest.raises(cr.MutationError, match="out="):
        cr.grad(lambda x: np.sum(np.abs(np.fft.fft(x, out=np.zeros((5, 4), complex)))))(X)
