"""scipy.signal: the dot-product identity over options, sections, states, precision, refusals."""

import functools

import numpy as np
import pytest
import scipy.signal
from differences import slope_of
from generic_points import complex_normal, normal
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import signal

random = functools.partial(normal, ())
complex_ = functools.partial(complex_normal, (), apart=9)
SEARCH = settings(max_examples=40)
SIZES = st.integers(1, 7)


def paired(y, ydot):
    return np.sum((np.conj(y) * ydot).real)


def assert_derivative(f, *xs, degree=2, step=0.5):
    """The pairing, where ``ydot`` is a difference of ``f``: exact up to the second degree."""
    y, pullback = cr.vjp(f, *xs)
    ybar = complex_(*y.shape) if np.iscomplexobj(y) else random(*y.shape)
    xdots = [(complex_ if np.iscomplexobj(x) else random)(*x.shape, seed=5) for x in xs]
    ahead, behind = ([x + t * dot for x, dot in zip(xs, xdots)] for t in (step, -step))
    ydot = (f(*ahead) - f(*behind)) / (2 * step)
    rtol = 1e-9 if degree <= 2 else 1e-5
    np.testing.assert_allclose(cr.jvp(f, xs, tuple(xdots))[1], ydot, rtol=rtol, atol=10 * rtol)
    xbars = pullback(ybar)
    assert [x.shape for x in xs] == [xbar.shape for xbar in xbars]
    assert [x.dtype for x in xs] == [xbar.dtype for xbar in xbars]
    found = sum(paired(xbar, xdot) for xbar, xdot in zip(xbars, xdots))
    np.testing.assert_allclose(paired(ybar, ydot), found, rtol=10 * rtol, atol=100 * rtol)


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@SEARCH
@given(
    shapes=st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=3),
    mode=st.sampled_from(["full", "same", "valid"]),
    draw=st.sampled_from([random, complex_]),
)
def test_adjoint_of_convolutions(name, shapes, mode, draw):
    a, b = zip(*shapes)
    if mode == "valid" and not all(m >= n for m, n in shapes):
        a, b = zip(*[sorted(pair) for pair in shapes])
    f = getattr(signal, name)
    assert_derivative(lambda a, b: f(a, b, mode), draw(*a), draw(*b, seed=1))


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@SEARCH
@given(
    a=st.tuples(SIZES, SIZES),
    b=st.tuples(SIZES, SIZES),
    mode=st.sampled_from(["full", "same", "valid"]),
    boundary=st.sampled_from(["fill", "wrap", "symm"]),
    draw=st.sampled_from([random, complex_]),
)
def test_adjoint_in_two_dimensions(name, a, b, mode, boundary, draw):
    if mode == "valid":
        a, b = zip(*[sorted(pair) for pair in zip(a, b)])
    f = getattr(signal, name)
    assert_derivative(lambda a, b: f(a, b, mode, boundary), draw(*a), draw(*b, seed=1))


@SEARCH
@given(taps=SIZES, up=st.integers(1, 4), down=st.integers(1, 4), n=SIZES)
def test_adjoint_of_polyphase_filters(taps, up, down, n):
    assert_derivative(lambda h, x: signal.upfirdn(h, x, up, down), random(taps), random(2, n))
    assert_derivative(lambda x: signal.resample_poly(x, up, down, 1), random(2, n))
    assert_derivative(lambda x: signal.resample(x, up + 3, axis=1), random(2, n))
    assert_derivative(lambda x: signal.resample(x, up + 3, axis=1), complex_(2, n))


@SEARCH
@given(nb=st.integers(1, 4), na=st.integers(1, 4), n=SIZES, axis=st.sampled_from([0, 1]))
def test_filters_in_all_arguments(nb, na, n, axis):
    shape, states = [2, 2], [2, 2]
    shape[axis], states[axis] = n, max(nb, na) - 1
    b, a, x = random(nb), 0.3 * random(na, seed=1), random(*shape)
    a[0] += 2.0

    def f(b, a, x, zi):
        y, zf = signal.lfilter(b, a, x, axis, zi)
        return np.concatenate([y, zf], axis=axis)

    assert_derivative(f, b, a, x, random(*states, seed=2), degree=9, step=1e-6)
    assert_derivative(lambda b, a, x: signal.lfilter(b, a, x, axis), b, a, x, degree=9, step=1e-6)


@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev])
def test_lfilter_of_no_signal(transform):
    b, a, x = np.array([1.0, 2.0]), np.array([1.0, 0.5]), np.ones(0)
    assert transform(lambda b: signal.lfilter(b, a, x))(b).shape == (0, 2)
    assert transform(lambda a: signal.lfilter(b, a, x))(a).shape == (0, 2)
    assert transform(lambda x: signal.lfilter(b, a, x))(x).shape == (0, 0)


SECTIONS = np.array([[0.4, 0.3, -0.2, -0.5, 0.2], [0.7, 0.1, 0.3, 0.3, 0.1]])


def as_sos(x):
    return np.concatenate([x[:, :3], np.ones((2, 1)), x[:, 3:]], axis=1)


@pytest.mark.parametrize(
    "f",
    [
        lambda c, x: signal.sosfilt(as_sos(c), x),
        lambda c, x: signal.sosfilt(as_sos(c), x, zi=random(2, 2, 2))[1],
        lambda c, x: signal.sosfiltfilt(as_sos(c), x, padlen=4),
        lambda c, x: signal.sosfilt_zi(as_sos(c)) * np.mean(x),
        lambda c, x: signal.sosfreqz(as_sos(c), 5)[1] * np.mean(x),
    ],
)
def test_sections_move(f):
    x = random(2, 9)
    assert_derivative(f, SECTIONS, x, degree=9, step=1e-6)
    twice = cr.jvp(cr.grad(lambda c: np.sum(np.abs(f(c, x)) ** 2)), (SECTIONS,), (SECTIONS,))[1]
    ahead, behind = (cr.grad(lambda c: np.sum(np.abs(f(c, x)) ** 2))(SECTIONS * (1 + t))
                     for t in (1e-5, -1e-5))  # fmt: skip
    np.testing.assert_allclose((ahead - behind) / 2e-5, twice, rtol=1e-5, atol=1e-5)


def test_a_filter_is_fitted_through_its_cutoff():
    x = random(60)

    def loss(cutoff):
        b, a = signal.butter(2, cutoff)
        return np.sum(signal.filtfilt(b, a, x) ** 2)

    np.testing.assert_allclose(slope_of(loss, (0.3,), (1.0,)), cr.grad(loss)(0.3), rtol=1e-6)


def test_sampling_rate_and_window_move():
    x = random(40)
    for f in (
        lambda s: signal.welch(x, s, nperseg=8)[1],
        lambda s: signal.welch(x, s, nperseg=8)[0],
        lambda s: signal.stft(x, s, np.hamming(8) ** s, 8, scaling="psd")[2],
        lambda s: signal.spectrogram(x, s, np.hamming(8))[1],
    ):
        expected = slope_of(f, (1.5,), (1.0,))
        np.testing.assert_allclose(expected, cr.jvp(f, (1.5,), (1.0,))[1], atol=1e-7)


def test_peaks_are_where_they_are_and_their_heights_move():
    x = random(30)
    peaks = scipy.signal.find_peaks(x)[0]

    def loss(x):
        found, told = signal.find_peaks(x, height=-9.0, prominence=0.0, threshold=0.0)
        assert found.dtype.kind == "i"
        return np.sum(told["peak_heights"]) + np.sum(told["prominences"] * told["left_thresholds"])

    t, xdot = 1e-6, random(30, seed=1)
    expected = slope_of(loss, (x,), (xdot,), t)
    np.testing.assert_allclose(expected, np.sum(cr.grad(loss)(x) * xdot), rtol=1e-6)
    heights = cr.grad(lambda x: np.sum(x[signal.find_peaks(x)[0]]))(x)
    np.testing.assert_array_equal(np.isin(np.arange(30), peaks), heights)


def test_single_stays_single():
    x = random(40).astype(np.float32)
    for f in (
        lambda x: signal.lfilter([0.5, 0.2], [1.0, -0.3], x),
        lambda x: signal.fftconvolve(x, x),
        lambda x: signal.welch(x, nperseg=8)[1],
        lambda x: signal.savgol_filter(x, 5, 2),
        lambda x: np.real(signal.hilbert(x)),
        lambda x: signal.medfilt(x),
    ):
        assert cr.grad(lambda x, f=f: np.sum(f(x) ** 2))(x).dtype == np.float32


def test_nothing_is_overwritten():
    x = random(40)
    kept = x.copy()
    cr.grad(lambda x: np.sum(signal.detrend(x * 1, overwrite_data=True) ** 2 + x**2))(x)
    np.testing.assert_array_equal(kept, x)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: signal.upfirdn([1.0, 2.0], x, 2, mode="reflect"), "zeros beyond"),
        (lambda x: signal.resample_poly(x, 2, 1, padtype="reflect"), "padtype"),
        (lambda x: signal.welch(x, nperseg=8, detrend=lambda x: x)[1], "of yours"),
        (lambda x: signal.decimate(x, 2, ftype=scipy.signal.dlti([1], [1])), "ftype"),
        (lambda x: signal.remez(5, [0.0, x[0], 0.3, 0.5], [1, 0]), "designs a filter"),
        (lambda x: signal.windows.dpss(9, x[0]), "eigenvectors"),
        (lambda x: signal.place_poles(x[:4].reshape(2, 2), np.eye(2), [-1, -2]), "chooses"),
    ],
)
def test_refusals(f, message):
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(lambda x: np.sum(f(x)))(np.abs(random(40)))


def test_bad_input_gets_the_error_of_scipy():
    with pytest.raises(ValueError, match="padlen"):
        cr.grad(lambda x: np.sum(signal.filtfilt([1.0, 2.0], [1.0], x)))(np.ones(4))
    with pytest.raises(ValueError, match="same dimensionality"):
        cr.grad(lambda x: np.sum(signal.convolve(x, np.ones((2, 2)))))(np.ones(4))
    with pytest.raises(ValueError, match="zi"):
        cr.grad(lambda x: np.sum(signal.lfilter([1.0, 2.0], [1.0], x, zi=[1.0, 2.0])[0]))(
            np.ones(4)
        )
