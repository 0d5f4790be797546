"""Cases of scipy.signal, at generic points."""

import functools
import inspect

import numpy as np
import scipy.signal
from generic_points import case, normal

import chainrules as cr
from chainrules.scipy import signal

real = functools.partial(normal, (41,))
X, LONG, A, Z = real(6), real(40), real(5, 4), real(6) + 1j * real(6, seed=1)
K, K2 = real(3, seed=2), real(3, 2, seed=3)
NUM, DEN = np.array([0.4, 0.3, -0.2]), np.array([1.3, -0.5, 0.2])
SOS = np.array([[0.4, 0.3, -0.2, 1.0, -0.5, 0.2], [0.7, 0.1, 0.0, 1.0, 0.3, 0.1]])

# Systems: a quotient of polynomials; zeros, poles, gain; one and several inputs and outputs.
LOW, HIGH = np.array([0.4, 0.3]), np.array([1.3, 1.5, 0.7, 0.3])
ROOTS = np.array([-0.5, -0.7]), np.array([-0.3, -1.2, -2.1]), 1.3
MOVES = np.array([[-1.0, 0.3, 0.1], [0.2, -2.0, 0.4], [0.3, 0.1, -1.5]])
ONE = MOVES, real(3, 1, seed=4), real(1, 3, seed=5), np.array([[0.4]])
MANY = MOVES, real(3, 2, seed=6), real(2, 3, seed=7), real(2, 2, seed=8)
SLOW = (MOVES / 3, *MANY[1:])
TIMES, INPUT = np.linspace(0.0, 3.0, 6), real(6, seed=9)
OMEGA = np.array([0.1, 0.7, 2.0])
PLAIN = np.array([0.2, 0.5, 1.9, 0.5, 0.2])  # symmetric, and large at all frequencies

AXES = "axes" in inspect.signature(scipy.signal.hilbert2).parameters  # not in older versions

CASES: dict = {
    **{
        f: [
            case(X, K),
            case(A, K2, "same"),
            case(K2, A, "valid"),
            case(Z, K, method="direct"),
            case(A, K2, "same", "fft"),
        ]
        for f in (signal.convolve, signal.correlate)
    },
    **{
        f: [
            case(X, K),
            case(A, K2, "same"),
            case(A, K2, "valid"),
            case(Z, K),
            case(A, real(5, 1), axes=0),
            case(A, real(1, 2), "same", axes=[1]),
            case(LONG, K),
            case(LONG, K, "same"),
        ]
        for f in (signal.fftconvolve, signal.oaconvolve)
    },
    **{
        f: [
            case(A, K2),
            case(A, K2, "same", "wrap"),
            case(A, K2, "full", "symm"),
            case(A, K2, "same", fillvalue=0.4),
            case(A, K2, "valid"),
        ]
        for f in (signal.convolve2d, signal.correlate2d)
    },
    signal.lfilter: [
        case(NUM, DEN, X),
        case(NUM, DEN, A, 0),
        case(NUM[:2], DEN, X, zi=real(2)),
        case(NUM, 1.3, A, zi=real(5, 2)),
        case(NUM, DEN, A, 0, real(2, 4)),
        case(NUM, DEN[:2], Z),
        case(real(5), DEN, K, zi=real(4)),
    ],
    signal.sosfilt: [case(SOS, X), case(SOS, A, 0), case(SOS, A, 0, real(2, 2, 4))],
    signal.lfilter_zi: [case(NUM, DEN), case(NUM, DEN[:2])],
    signal.sosfilt_zi: [case(SOS)],
    signal.lfiltic: [case(NUM, DEN, real(2)), case(NUM, DEN[:2], real(1), real(2))],
    signal.filtfilt: [
        case(NUM, DEN, LONG),
        case(NUM, DEN, A, 0, "even", 3),
        case(NUM, DEN, A, 1, "constant", 2),
        case(NUM, DEN, A, 0, None),
    ],
    signal.sosfiltfilt: [case(SOS, LONG), case(SOS, A, 0, "even", 3), case(SOS, A, padtype=None)],
    signal.detrend: [case(X), case(A, 0, "constant"), case(LONG, bp=[10, 25]), case(Z)],
    signal.hilbert: [case(X), case(A, 7, 0), case(A, 3)],
    signal.hilbert2: [case(A), case(A, 6), *([case(A, (3, 5), (1, 0))] if AXES else [])],
    signal.welch: [
        case(LONG, nperseg=16),
        case(real(2, 30), 2.0, "boxcar", 8, 3, 12, axis=1),
        case(LONG, window=np.hamming(8), scaling="spectrum", average="median"),
        case(real(30, 2), nperseg=8, detrend="linear", axis=0),
    ],
    signal.csd: [
        case(LONG, real(40, seed=1), nperseg=16),
        case(LONG, real(36), nperseg=12, axis=0),
        case(LONG, real(40, seed=1), 2.0, nperseg=9, average="median", detrend=False),
        case(LONG, real(40) + 1j * real(40, seed=4), nperseg=16, return_onesided=False),
    ],
    signal.periodogram: [case(X), case(A, 2.0, "hann", 8, axis=0), case(LONG, nfft=20)],
    signal.coherence: [case(LONG, real(40, seed=1), nperseg=10)],
    signal.stft: [
        case(LONG, nperseg=16),
        case(A, 2.0, nperseg=3, axis=0, boundary="odd"),
        case(LONG, nperseg=10, noverlap=7, nfft=12, padded=False, scaling="psd"),
        case(LONG, nperseg=8, boundary=None, return_onesided=False, detrend="linear"),
    ],
    signal.istft: [
        case(real(5, 6) + 1j * real(5, 6, seed=1)),
        case(real(8, 4) + 1j * real(8, 4, seed=1), input_onesided=False, boundary=False),
        case(real(4, 2, 5) + 0.5j, time_axis=0, freq_axis=2, scaling="psd"),
        case(real(5, 6) + 1j * real(5, 6, seed=1), 2.5),
        case(real(3, 4) + 0.5j, fs=0.4),
    ],
    signal.spectrogram: [
        case(LONG, nperseg=16),
        case(real(2, 30), nperseg=8, mode="magnitude"),
        case(LONG, nperseg=8, mode="complex"),
        case(LONG, nperseg=8, mode="angle"),
        case(real(30, 2), nperseg=8, mode="phase", axis=0),
    ],
    signal.upfirdn: [case(K, X, 2, 3), case(real(5), A, 3, 2, 0), case(K, Z, 1, 2), case(K, X)],
    signal.resample_poly: [
        case(X, 3, 2),
        case(A, 2, 4, 1, padtype="mean"),
        case(LONG, 1, 3, window=real(7)),
        case(A, 2, 3, padtype="maximum"),
    ],
    signal.decimate: [
        case(LONG, 3),
        case(LONG, 2, 4, "fir"),
        case(LONG, 3, 5, zero_phase=False),
        case(real(2, 30), 4, ftype="fir", zero_phase=False),
    ],
    signal.resample: [
        case(X, 9),
        case(A, 3, axis=1),
        case(A, 8, window="hann"),
        case(Z, 4),
        case(Z, 9),
        case(X, 4, np.arange(6.0)),
        case(Z, 7, domain="freq"),
        case(real(7), 4),
        case(real(7), 10),
    ],
    signal.savgol_filter: [
        case(LONG, 5, 2),
        case(A, 3, 1, axis=0),
        case(LONG, 7, 3, 1, 0.5, mode="wrap"),
        case(real(2, 9), 4, 1),
        case(LONG, 5, 2, mode="constant", cval=0.3),
    ],
    signal.order_filter: [
        case(A, np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), 2),
        case(X, np.ones(3), 0),
    ],
    signal.medfilt: [case(X), case(A, 3), case(A, (1, 3))],
    signal.medfilt2d: [case(A), case(A, (1, 3))],
    signal.wiener: [case(LONG), case(A, (3, 3), 0.1)],
    signal.freqz: [
        case(NUM, DEN),
        case(NUM, 1.3, np.array([0.1, 0.7, 2.0])),
        case(real(3, 2, 1), 1.2, 5),
        case(NUM, DEN, np.array([1.0, 9.0]), fs=40.0),
        case(NUM, DEN, 0.7),
    ],
    signal.sosfreqz: [case(SOS, np.array([0.1, 0.7]))],
    **{f: [case(SOS, np.array([0.1, 0.7]))] for f in [getattr(signal, "freqz_sos", None)] if f},
    signal.freqz_zpk: [case(NUM, 0.5 * DEN[:2], 1.7, 5), case(NUM, DEN, 1.7, np.array([0.1, 0.7]))],
    signal.freqs: [case(NUM, DEN, np.array([0.1, 0.7])), case(NUM, DEN, 0.7)],
    signal.freqs_zpk: [
        case(NUM, -DEN, 1.7, np.array([0.1, 0.7])),
        case(NUM, -DEN, 1.7, 0.7),
    ],
    signal.group_delay: [
        case((NUM, DEN), 5),
        case((NUM, DEN), np.array([0.1, 0.7])),
        case((NUM, DEN), 0.7),
    ],
    signal.normalize: [case(NUM, DEN), case(real(2, 3), DEN)],
    signal.zpk2tf: [case(NUM, DEN, 1.7), case(real(2), DEN, 1.2)],
    signal.sos2tf: [case(SOS)],
    signal.deconvolve: [case(X, NUM), case(NUM[:2], DEN)],
    signal.lp2lp_zpk: [case(NUM[:2], -DEN, 1.7, 1.3)],
    signal.lp2hp_zpk: [case(NUM[:2], -DEN, 1.7, 1.3)],
    signal.lp2bp_zpk: [case(NUM[:2], -DEN, 1.7, 1.3, 0.7)],
    signal.lp2bs_zpk: [case(NUM[:2], -DEN, 1.7, 1.3, 0.7)],
    signal.bilinear_zpk: [case(NUM[:2], -DEN, 1.7, 1.3)],
    **{
        f: [case(NUM[:2], DEN, 1.3), case(NUM, DEN[:2], 1.3)]
        for f in (signal.lp2lp, signal.lp2hp, signal.bilinear)
    },
    **{
        f: [case(NUM[:2], DEN, 1.3, 0.7), case(NUM, DEN[:2], 1.3, 0.7)]
        for f in (signal.lp2bp, signal.lp2bs)
    },
    **{
        f: [
            case(3, *options, 0.3),
            case(2, *options, np.array([0.2, 0.5]), "band"),
            case(2, *options, np.array([0.2, 0.5]), "bandstop", output="zpk"),
            case(3, *options, 3.0, "high", fs=20.0),
            case(2, *options, 3.0, analog=True),
            case(3, *options, 0.3, output="sos"),
        ]
        for f, options in (
            (signal.butter, ()),
            (signal.cheby1, (1.0,)),
            (signal.cheby2, (30.0,)),
            (signal.ellip, (1.0, 30.0)),
            (signal.bessel, ()),
        )
    },
    signal.iirfilter: [case(2, np.array([0.2, 0.5]))],
    signal.firwin: [
        case(9, 0.3),
        case(8, np.array([0.2, 0.5]), pass_zero=False),
        case(9, 3.0, fs=20.0, pass_zero=False),
        case(9, np.array([0.2, 0.5]), pass_zero="bandpass", scale=False, window="hann"),
    ],
    signal.czt: [case(X), case(A, 7, axis=0), case(Z, 4, np.exp(-0.3j), 1.1)],
    signal.zoom_fft: [
        case(X, [0.2, 0.7], 5),
        case(A, 0.7, 6, fs=3, endpoint=True, axis=0),
        case(Z, 0.5),
    ],
    signal.chirp: [case(X, 1.1, 2.0, 3.3, phi=20.0)]
    + [case(X, 1.1, 2.0, 3.3, m) for m in ("quadratic", "log", "hyp")]
    + [case(X, 1.1, 2.0, 3.3, "quadratic", 10.0, False)],
    signal.gausspulse: [
        case(0.3 * X, 1.3, 0.4, -5.0),
        case(0.3 * X, 1.3, 0.4, -5.0, retquad=True, retenv=True),
        case("cutoff", 1.3, 0.4, -5.0, -50.0),
    ],
    signal.sweep_poly: [case(X, NUM, 20.0)],
    signal.sawtooth: [case(X, 0.4), case(X)],
    signal.vectorstrength: [case(0.2 * X, 1.3), case(0.2 * X, np.array([1.3, 2.1]))],
    signal.tf2ss: [case(LOW, HIGH), case(HIGH, HIGH), case(real(2, 3), HIGH), case(1.3, 2.1)],
    signal.ss2tf: [case(*ONE), case(*MANY, input=1)],
    signal.tf2zpk: [case(LOW, HIGH), case(NUM, DEN)],
    signal.zpk2ss: [case(*ROOTS)],
    signal.ss2zpk: [case(*ONE)],
    signal.abcd_normalize: [case(*ONE), case(MOVES, real(3, 2), None, real(1, 2))],
    signal.cont2discrete: [
        *(case(MANY, 0.3, m) for m in ("zoh", "foh", "bilinear", "euler", "backward_diff")),
        case((*MANY[:3], np.zeros((2, 2), int)), 0.3, "impulse"),
        case(MANY, 0.3, "gbt", 0.2),
        case((LOW, HIGH), 0.3),
        case(ROOTS, 0.3),
    ],
    signal.lsim: [
        case(ONE, INPUT, TIMES),
        case(MANY, real(6, 2), TIMES + 0.2, real(3)),
        case(ONE, INPUT, TIMES, interp=False),
        case((LOW, HIGH), INPUT, TIMES),
        case(ROOTS, None, TIMES, real(3)),
        case(ONE, INPUT[:1], TIMES[:1], real(3)),
    ],
    **{
        f: [
            case((LOW, HIGH), None, TIMES),
            case(ROOTS, N=5),
            case(ONE, start, TIMES),
            case((LOW[:1], HIGH[:2]), None, TIMES),
            case((LOW[:1], HIGH[:2]), 0.7, TIMES),
        ]
        for f, start in ((signal.step, real(3)), (signal.impulse, real(3, 1)))
    },
    signal.dlsim: [
        case((*SLOW, 0.3), real(5, 2)),
        case((LOW, HIGH, 0.3), INPUT, None, real(3)),
        case((*ROOTS, 1), INPUT[:5], np.arange(5)),
        case((*SLOW, 0.3), real(5, 2), x0=0.7),
    ],
    **{
        f: [case((*SLOW, 0.3), n=4), case((LOW, HIGH, 1), real(3), np.arange(4))]
        for f in (signal.dstep, signal.dimpulse)
    },
    **{
        f: [case((LOW, HIGH), OMEGA), case(ROOTS, OMEGA), case(ONE, n=4)]
        for f in (signal.freqresp, signal.bode)
    },
    **{
        f: [case((LOW, HIGH, 0.2), OMEGA), case((*ROOTS, 1), OMEGA), case((*ONE, 0.2), n=4)]
        for f in (signal.dfreqresp, signal.dbode)
    },
    signal.zpk2sos: [
        case(*(x / 3 for x in ROOTS)),
        case(real(4), real(3, seed=1), 1.7, "keep_odd"),
        case(*ROOTS, analog=True),
    ],
    signal.tf2sos: [case(LOW, HIGH), case(NUM, DEN)],
    signal.sos2zpk: [case(np.array([*SOS, [0.2, 0.5, 0.1, 1.0, 0.4, 0.3]]))],
    **{f: [case(LOW, HIGH), case(real(5), DEN)] for f in (signal.residue, signal.residuez)},
    **{
        f: [case(real(3), ROOTS[1], K[:2]), case(real(3), ROOTS[1], ())]
        for f in (signal.invres, signal.invresz)
    },
    signal.peak_widths: [
        case(LONG, scipy.signal.find_peaks(LONG)[0]),
        case(LONG, scipy.signal.find_peaks(LONG)[0], 0.3, wlen=9),
    ],
    signal.firwin2: [
        case(9, [0, 0.3, 0.6, 1], real(4)),
        case(7, [0, 0.3, 1], real(3), nfreqs=20, window=None),
    ],
    signal.minimum_phase: [case(PLAIN), case(PLAIN, n_fft=63)],
    signal.kaiser_beta: [case(60.0), case(30.0), case(3.0)],
    signal.kaiser_atten: [case(9, 0.3)],
    signal.iirnotch: [case(0.3, 5.0), case(30.0, 5.0, 100.0)],
    signal.iirpeak: [case(0.3, 5.0), case(30.0, 5.0, 100.0)],
    signal.czt_points: [case(4, 0.9, 1.1), case(4, None, 1.1 + 0.2j)],
    signal.gauss_spline: [case(X, 3), case(A, 2)],
    signal.peak_prominences: [case(LONG, scipy.signal.find_peaks(LONG)[0])],
    signal.find_peaks: [case(LONG, 0.3), case(LONG, 0.3, width=0.1)],
}
if hasattr(signal, "whittaker_henderson"):
    CASES[signal.whittaker_henderson] = [
        case(LONG, lamb=3.7), case(LONG, lamb=0.2, order=3), case(LONG, lamb=2.0, weights=LONG**2),
    ]  # fmt: skip
CASES[signal.lombscargle] = [
    case(np.arange(9) + 0.2 * real(9), real(9), OMEGA + 0.2, **options)
    for options in (
        {},
        {"normalize": True, "floating_mean": True},
        # Of sum 1, since SciPy 1.15 divides the caller's own array by its sum.
        {"normalize": "amplitude", "weights": np.repeat([1 / 4, 1 / 8, 1 / 16], [1, 4, 4])},
    )
]
# By SciPy's own source.
BY_SOURCE: dict = {
    signal.band_stop_obj: [
        case(1.2, 0, np.array([1.0, 3.0]), np.array([1.4, 2.2]), 1.0, 40.0, "butter"),
        case(2.5, 1, np.array([1.0, 3.0]), np.array([1.4, 2.2]), 1.0, 40.0, "cheby"),
    ],
    **{
        f: [
            case(0.2, 0.3, 1.0, 40.0),
            case(np.array([0.2, 0.5]), np.array([0.1, 0.6]), 1.0, 40.0),
            case(21.0, 13.0, 3.1, 37.0, fs=200.0),
            case(0.7, 0.92, 1.0, 40.0, analog=True),
        ]
        for f in (signal.buttord, signal.cheb1ord, signal.cheb2ord, signal.ellipord)
    },
    signal.iirdesign: [
        case(0.2, 0.3, 1.0, 40.0),
        case(20.0, 30.0, 1.0, 40.0, fs=100.0, ftype="cheby1", output="zpk"),
    ],
    signal.cheb1ap: [case(3, 1.0)],
    signal.cheb2ap: [case(4, 30.0)],
    signal.ellipap: [case(3, 1.0, 30.0)],
    signal.iircomb: [case(300.0, 30.0, "notch", 2100.0), case(300.0, 30.0, "peak", 2100.0)],
    signal.gammatone: [case(440.0, "iir", fs=16000.0), case(440.0, "fir", 3, 9, 16000.0)],
    signal.kaiserord: [case(60.0, 0.3), case(30.0, 0.3)],
    signal.firls: [
        case(9, np.array([0.02, 0.3, 0.6, 0.97]), np.array([1.0, 0.9, 0.1, 0.2])),
        case(7, np.array([0.02, 0.3, 0.6, 0.97]), real(4) ** 2, weight=np.array([1.0, 2.0])),
    ],
    signal.savgol_coeffs: [case(7, 3, 1, 0.7), case(5, 2, 1, 0.7, 1)],
    signal.cspline1d: [case(X), case(X, 0.3)],
    signal.cspline1d_eval: [case(X, np.array([0.3, 2.2, 3.6, 9.2]), 0.7, -0.5)],
    signal.qspline1d: [case(X)],
    signal.qspline1d_eval: [case(X, np.array([0.3, 2.2, 3.6, 9.2]), 0.7, -0.4)],
    signal.envelope: [
        case(LONG, (1, None)),
        case(LONG, (2, 9), residual="all"),
        case(real(3, 20), (1, 6), axis=1, residual=None),
    ],
    signal.get_window: [case(("kaiser", 4.2), 9), case(("gaussian", 2.1), 8), case(3.3, 7)],
    signal.windows.chebwin: [case(9, 60.0), case(8, 70.0, False)],
    signal.windows.exponential: [case(9, None, 2.3), case(9, 1.7, 2.3, False)],
    signal.windows.gaussian: [case(9, 2.1), case(8, 2.1, False)],
    signal.windows.general_cosine: [case(9, np.array([0.6, 0.3, 0.2]))],
    signal.windows.general_gaussian: [case(9, 1.3, 2.1)],
    signal.windows.general_hamming: [case(9, 0.7)],
    signal.windows.kaiser: [case(9, 4.2), case(8, 4.2, False)],
    signal.windows.kaiser_bessel_derived: [case(8, 4.2)],
    signal.windows.taylor: [case(9, 3, 35.0), case(9, 3, 35.0, False)],
    signal.windows.tukey: [case(9, 0.6)],
}
if hasattr(signal, "closest_STFT_dual_window"):
    BY_SOURCE[signal.closest_STFT_dual_window] = [case(real(6) ** 2, 3, real(6, seed=2))]
if hasattr(signal, "firwin_2d"):
    BY_SOURCE[signal.firwin_2d] = [case((5, 7), (("kaiser", 4.2), "hann"))]
CASES |= BY_SOURCE
# One column of sos is to be ones: the others are differentiated in tests of their own.
FIXED = {
    signal.sosfilt: (0,),
    signal.sosfiltfilt: (0,),
    signal.order_filter: (1,),
    signal.sosfreqz: (0,),
    signal.find_peaks: (1,),
    signal.zoom_fft: (2,),
    signal.iircomb: (0, 3),
    signal.savgol_filter: (4,),
    signal.lsim: (2,),
    signal.step: (2,),
    signal.impulse: (2,),
}
if hasattr(signal, "freqz_sos"):
    FIXED[signal.freqz_sos] = (0,)
WITHOUT_CASES = {
    getattr(scipy.signal, name)
    for name in (
        "argrelextrema", "argrelmax", "argrelmin", "besselap", "buttap", "check_COLA", "check_NOLA",
        "choose_conv_method", "correlation_lags", "find_peaks_cwt", "findfreqs",
        "max_len_seq", "square", "unit_impulse",
    )
} | {
    getattr(scipy.signal.windows, name)
    for name in (
        "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine",
        "flattop", "hamming", "hann", "lanczos", "nuttall", "parzen", "triang",
    )
} | {
    f for f in cr.rrule.methods if "rulesets.scipy.signal" in (getattr(f, "__module__", None) or "")
}  # fmt: skip
OF_ONE_DTYPE = {
    *BY_SOURCE,
    signal.sosfreqz,
    getattr(signal, "freqz_sos", None),
    signal.butter,
    signal.cheby1,
    signal.cheby2,
    signal.ellip,
    signal.bessel,
    signal.iirfilter,
    signal.firwin,
    signal.sawtooth,
    signal.chirp,
    signal.gausspulse,
    signal.sweep_poly,
    signal.vectorstrength,
    signal.find_peaks,
    signal.peak_widths,
    signal.tf2ss,
    signal.tf2zpk,
    signal.ss2tf,
    signal.ss2zpk,
    signal.zpk2ss,
    signal.zpk2sos,
    signal.tf2sos,
    signal.sos2zpk,
    signal.cont2discrete,
    signal.lsim,
    signal.step,
    signal.impulse,
    signal.dlsim,
    signal.dstep,
    signal.dimpulse,
    signal.freqresp,
    signal.bode,
    signal.dfreqresp,
    signal.dbode,
    signal.residue,
    signal.residuez,
    signal.invres,
    signal.invresz,
    signal.minimum_phase,
    signal.firwin2,
    signal.kaiser_beta,
    signal.kaiser_atten,
    signal.iirnotch,
    signal.iirpeak,
    signal.czt_points,
    signal.lombscargle,
    signal.peak_prominences,
    signal.lp2lp,
    signal.lp2hp,
    signal.lp2bp,
    signal.lp2bs,
    signal.bilinear,
    signal.bilinear_zpk,
    signal.lp2lp_zpk,
    signal.lp2hp_zpk,
    signal.lp2bp_zpk,
    signal.lp2bs_zpk,
    signal.zpk2tf,
    signal.hilbert,
    signal.hilbert2,
    signal.order_filter,
    signal.medfilt,
    signal.medfilt2d,
}
