"""Functions and classes of SciPy that are followed by their source: classes, options, refusals."""

import pickle
import types

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.interpolate
import scipy.signal

import chainrules as cr
from chainrules.rules import source_of
from chainrules.scipy import interpolate, signal, stats

rng = np.random.default_rng(11)
X = rng.normal(size=40)
WINDOW = scipy.signal.windows.hann(8)
check = checks.check


def real(z):
    return np.concatenate([np.ravel(np.real(z)), np.ravel(np.imag(z))])


def stft(x):
    return signal.ShortTimeFFT(WINDOW, 4, 1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: real(stft(x).stft(x)),
        lambda x: stft(x).spectrogram(x),
        lambda x: np.real(stft(x).istft(stft(x).stft(x) ** 2, k1=40)),
        lambda x: real(signal.ShortTimeFFT(WINDOW * x[:8] ** 2, 4, 1.0).stft(X)),
        lambda x: signal.ShortTimeFFT.from_window(("gaussian", x[0] ** 2), 1.0, 8, 4).win,
        lambda x: real(signal.CZT(40, 9)(x)),
        lambda x: real(signal.CZT(40, 5, a=1.0 + x[0])(X)),
        lambda x: real(signal.ZoomFFT(40, [0.1, 0.3], 7)(x)),
        lambda x: interpolate.Rbf(x[:9], X[:9], X[9:18])(0.3, 0.2),
        lambda x: interpolate.Rbf(X[:9], X[9:18], X[18:27], function="gaussian")(x[0], x[1]),
    ],
)
def test_objects(f):
    check(f, X, rtol=1e-5, exact=False)


@pytest.mark.parametrize(
    ("f", "x"), [(stats.boxcox, X[:12] ** 2 + 0.1), (stats.yeojohnson, X[:12])]
)
def test_powers_that_are_looked_for(f, x):
    """The power is that of a largest likelihood, which moves with the data."""
    check(lambda x: f(x)[0], x, rtol=1e-3, second=False)
    check(lambda x: np.asarray(f(x)[1]), x, rtol=1e-3, second=False)


def test_values_are_those_of_scipy_to_the_last_bit():
    own = scipy.signal.ShortTimeFFT(WINDOW, 4, 1.0)
    np.testing.assert_array_equal(own.stft(X), cr.jvp(lambda x: stft(x).stft(x), (X,), (X,))[0])
    b, a = cr.jvp(lambda w: signal.butter(3, w), (0.3,), (1.0,))[0]
    np.testing.assert_array_equal((b, a), scipy.signal.butter(3, 0.3))


def test_objects_are_those_of_scipy():
    made = stft(X)
    assert isinstance(made, scipy.signal.ShortTimeFFT)
    assert isinstance(scipy.signal.CZT(5), signal.CZT)
    again = pickle.loads(pickle.dumps(signal.CZT(5, 3)))
    np.testing.assert_array_equal(again(X[:5]), scipy.signal.CZT(5, 3)(X[:5]))


@pytest.mark.filterwarnings("ignore:Use of parameter 'precenter'")
@pytest.mark.parametrize(
    ("f", "t"),
    [
        (lambda t: signal.butter(2, 20.0, fs=1.0 * t)[0], 90.0),
        (lambda t: signal.ellip(3, t, 40.0, 0.3)[1], 0.7),
        (lambda t: signal.cheby2(3, t, 0.3)[0], 31.0),
        (lambda t: signal.firwin(9, 0.3, width=t), 0.2),
        (lambda t: signal.firwin2(9, [0.0, t, 1.0], [1.0, 0.4, 0.1]), 0.6),
        (lambda t: real(signal.czt(X[:9], 5, np.exp(-1j * t))), 0.4),
        (lambda t: real(signal.zoom_fft(X[:9], [t, 0.7], 5)), 0.2),
        (lambda t: real(signal.freqz([1.0, 2.0], [1.0, 0.3], [0.2, 0.4], fs=1.0 * t)[1]), 3.0),
        (lambda t: signal.group_delay(([1.0, 2.0], [1.0, 0.3]), [0.2, 0.4], fs=1.0 * t)[1], 3.0),
        (lambda t: signal.filtfilt([1.0, t], [1.0, 0.3], X, method="gust"), 0.2),
        (lambda t: stats.bayes_mvs([1.0, 1.0 * t, 0.3, 2.7, 0.9])[1].statistic, 2.1),
        (lambda t: signal.buttord([1.0 * t, 0.6], [0.05, 0.7], 1.0, 40.0)[1], 0.1),
        (lambda t: signal.welch(X, nperseg=16, window=("kaiser", t))[1], 3.0),
        (lambda t: real(signal.stft(X, nperseg=16, window=("gaussian", t))[2]), 3.0),
        (lambda t: signal.resample_poly(X, 3, 2, window=("kaiser", t)), 3.0),
        (lambda t: signal.lombscargle(np.arange(40.0), X * t, [0.3, 0.7], precenter=True), 1.3),
    ],
)
def test_options_that_a_rule_leaves_out(f, t):
    check(f, t, rtol=1e-5, exact=False)


GAP = np.where(np.arange(9) == 3, np.nan, 0.0)


@pytest.mark.parametrize(
    "f",
    [
        stats.skew, stats.kurtosis, lambda x, **omit: stats.moment(x, 3, **omit),
        lambda x, **omit: stats.ttest_ind(x, X[9:17], **omit).statistic,
        lambda x, **omit: stats.ttest_1samp(x, 0.3, **omit).pvalue,
        lambda x, **omit: stats.hmean(np.exp(x), **omit),
        lambda x, **omit: np.nansum(stats.zscore(x, **omit) ** 3),
        stats.circmean, stats.iqr, stats.median_abs_deviation, stats.sem,
        lambda x, **omit: stats.skew(np.stack([x, X[:9]]), axis=1, **omit),
    ],
)  # fmt: skip
def test_data_with_gaps(f):
    """Options of SciPy's decorators, which a rule does not know: the copies have them."""

    def omitting(x):
        return f(x + GAP, nan_policy="omit")

    def kept(x):
        return f(x[np.isfinite(GAP)], nan_policy="omit")

    check(omitting, X[:9], rtol=1e-5)
    if np.ndim(omitting(X[:9])) == 0:
        np.testing.assert_allclose(cr.grad(omitting)(X[:9])[4], cr.grad(kept)(X[:9])[4])


def test_trimmed_means():
    check(lambda x: stats.ttest_ind(x, X[9:20], trim=0.2).statistic, X[:9], rtol=1e-5)
    check(lambda x: stats.ttest_ind(x, X[9:20], trim=0.2).pvalue, X[:9], rtol=1e-5, exact=False)


def test_what_the_source_drops_is_refused_by_the_name_of_the_function():
    def drops(t):
        return source_of(scipy.signal.remez)(5, [0.0, t, 0.3, 0.5], [1, 0])

    with pytest.raises(cr.MissingRuleError, match="remez has no derivative in what is"):
        cr.grad(lambda t: np.sum(drops(t)))(0.1)


def test_scipys_own_modules_stay_as_they_are():
    module = types.ModuleType("program")
    exec("from scipy import signal\ndef f(w): return signal.butter(2, w)[0][0]", vars(module))
    before = dict(vars(scipy.signal._filter_design))
    with cr.adopt(module):
        cr.grad(module.f)(0.3)
    assert before == vars(scipy.signal._filter_design)
    assert scipy.signal.butter(2, 0.3)[0].dtype == np.float64
