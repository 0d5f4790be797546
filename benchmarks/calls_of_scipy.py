"""The calls that ``scipy_functions.py`` measures, of arrays so large that numbers cost most.

A call is written over a namespace, which is ``scipy`` or ``chainrules.scipy``. What is an array of
floats among its arguments is differentiated.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RNG = np.random.default_rng(3)
N = 200


def real(*shape: int) -> Any:
    return RNG.normal(size=shape)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.5, 3.0, size=shape)


def spread(n: int) -> Any:
    """A matrix whose eigenvalues are apart, positive, and hardly complex."""
    return np.diag(np.linspace(1.0, 4.0, n)) + real(n, n) / (8 * n)


def definite(n: int) -> Any:
    a = real(n, n)
    return a @ a.T / n + np.diag(np.linspace(1.0, 3.0, n))


class Call:
    """A name, a function of a namespace and of arrays, and the arrays."""

    def __init__(self, name: str, f: Callable, *inputs: Any) -> None:
        self.name, self.f, self.inputs = name, f, inputs


def call(path: str, *given: Any, note: str = "", pick: Any = None, **options: Any) -> Call:
    """The function under this name; ``pick`` selects of its results those to differentiate."""
    chosen = [k for k, x in enumerate(given) if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    pick = pick or (lambda y: y)

    def f(scipy: Any, *inputs: Any) -> Any:
        args = list(given)
        for k, x in zip(chosen, inputs, strict=True):
            args[k] = x
        return pick(operator.attrgetter(path)(scipy)(*args, **options))

    return Call(f"{path}{', ' * bool(note)}{note}", f, *[given[k] for k in chosen])


def linalg() -> Iterator[Call]:
    a, b, x, s = real(N, N) + 9 * np.eye(N), real(N, N), real(N), definite(N)
    t = np.triu(real(N, N) / N) + np.diag(np.linspace(1.0, 2.0, N))
    yield call("linalg.solve", a, x, note="a vector")
    yield call("linalg.solve", a, b, note="a matrix")
    yield call("linalg.solve", s, x, assume_a="pos", note="definite")
    yield call("linalg.solve", s, x, assume_a="sym", note="symmetric")
    yield call("linalg.solve_triangular", t, b)
    yield call(
        "linalg.solve_banded", (1, 1), real(3, 20000) + np.array([[0], [6], [0]]), real(20000)
    )
    yield call("linalg.solveh_banded", real(3, 20000) / 9 + np.array([[0], [0], [6]]), real(20000))
    yield call("linalg.cholesky_banded", real(3, 20000) / 9 + np.array([[0], [0], [6]]))
    yield call("linalg.solve_toeplitz", np.r_[30.0, real(399)], real(400))
    yield call("linalg.matmul_toeplitz", real(400), real(400, 20))
    yield call("linalg.solve_circulant", np.r_[30.0, real(19999)], real(20000))
    for name in ("inv", "det", "pinv"):
        yield call(f"linalg.{name}", a)
    yield call("linalg.pinvh", s)
    yield call("linalg.pinv", real(400, 100), note="400 x 100")
    yield call("linalg.lstsq", real(400, 100), real(400), pick=lambda y: y[0], note="400 x 100")
    yield call("linalg.lu", a)
    yield call("linalg.lu_factor", a, pick=lambda y: y[0])
    yield Call("linalg.lu_solve", lambda s, f, b: s.linalg.lu_solve((f, np.arange(N)), b), a, b)
    yield call("linalg.cholesky", s)
    yield call("linalg.cho_factor", s, pick=lambda y: y[0])
    yield Call("linalg.cho_solve", lambda s, c, b: s.linalg.cho_solve((c, False), b), t, b)
    yield call("linalg.qr", a)
    yield call("linalg.qr", real(400, 100), mode="economic", note="400 x 100")
    yield call("linalg.qr", a, mode="r", note="r alone")
    yield call("linalg.rq", a)
    yield call("linalg.qr_multiply", a, x)
    yield call("linalg.svd", real(100, 100))
    yield call("linalg.svd", real(400, 60), full_matrices=False, note="400 x 60")
    yield call("linalg.svdvals", b)
    yield call("linalg.eig", spread(60))
    yield call("linalg.eigvals", spread(60))
    yield call("linalg.eigh", definite(100))
    yield call("linalg.eigh", definite(100), definite(100), note="generalised")
    yield call("linalg.eigvalsh", definite(100))
    yield call("linalg.eigh_tridiagonal", np.linspace(1, 200, N), real(N - 1))
    yield call("linalg.eigvalsh_tridiagonal", np.linspace(1, 200, N), real(N - 1))
    yield call(
        "linalg.eig_banded", real(3, N) / 9 + np.linspace(1, 200, N) * np.array([[0], [0], [1]])
    )
    for name in ("polar", "orth"):
        yield call(f"linalg.{name}", real(100, 80))
    yield call("linalg.subspace_angles", real(400, 20), real(400, 20))
    yield call("linalg.orthogonal_procrustes", real(400, 60), real(400, 60), pick=lambda y: y[0])
    for name in ("expm", "cosm", "sinm", "tanm", "sinhm", "coshm", "tanhm"):
        yield call(f"linalg.{name}", real(60, 60) / 12)
    yield call("linalg.expm_frechet", real(60, 60) / 12, real(60, 60))
    for name in ("logm", "sqrtm", "signm"):
        yield call(f"linalg.{name}", spread(60))
    yield call("linalg.fractional_matrix_power", spread(40), 0.3)
    yield call("linalg.solve_sylvester", spread(60), spread(60), real(60, 60))
    yield call("linalg.solve_continuous_lyapunov", spread(60), real(60, 60))
    yield call("linalg.solve_discrete_lyapunov", spread(20) / 5, real(20, 20))
    yield call(
        "linalg.solve_discrete_lyapunov",
        spread(60) / 5,
        real(60, 60),
        method="bilinear",
        note="bilinear",
    )
    for name in ("continuous", "discrete"):
        left, right = spread(40) / (1 if name == "continuous" else 3), real(40, 5)
        yield call(f"linalg.solve_{name}_are", left, right, np.eye(40), np.eye(5))
    for name in ("toeplitz", "hankel"):
        yield call(f"linalg.{name}", real(400), real(400))
    yield call("linalg.circulant", real(400))
    yield call("linalg.block_diag", *[real(100, 100)] * 4)
    yield call("linalg.khatri_rao", real(30, 400), real(30, 400))
    yield call("linalg.norm", real(400, 400))
    yield call("linalg.norm", b, 2, note="ord=2")
    yield call("linalg.convolution_matrix", real(400), 400)
    yield call("linalg.companion", positive(400))


def special() -> Iterator[Call]:
    x, y, few = positive(20000), positive(20000), positive(5000)
    for name in ("gamma", "gammaln", "digamma", "erf", "erfinv", "ndtr", "log_ndtr", "ndtri",
                 "expit", "logit", "j0", "j1", "i0", "i1e", "k0", "ellipk", "ellipe", "spence",
                 "erfcx", "dawsn", "exp1", "expi", "entr", "xlogy", "xlog1py", "rel_entr", "beta",
                 "betaln", "huber", "sici", "wofz", "lambertw", "airy"):  # fmt: skip
        small = name in ("erfinv", "ndtri", "logit", "ellipk", "ellipe")
        two = name in ("xlogy", "xlog1py", "rel_entr", "beta", "betaln", "huber")
        given = (x, y) if two else (x / 4,) if small else (x,)
        yield call(f"special.{name}", *given)
    for name in ("jv", "yv", "iv", "kv", "ive", "kve"):
        yield call(f"special.{name}", 1.5, few)
    yield call("special.gammainc", 2.5, few)
    yield call("special.gammainc", few, few[::-1].copy(), note="a too")
    yield call("special.gammaincinv", 2.5, few / 4)
    yield call("special.betainc", 2.5, 1.5, few / 4)
    yield call("special.betainc", few, few[::-1].copy(), few / 4, note="a, b too")
    yield call("special.betaincinv", 2.5, 1.5, few / 4)
    yield call("special.stdtr", 3.5, few)
    yield call("special.hyp1f1", 0.7, 1.9, few)
    yield call("special.hyp2f1", 0.7, 0.4, 1.9, few / 4)
    yield call("special.zeta", 1.0 + few)
    yield call("special.polygamma", 2, few)
    yield call("special.multigammaln", 3 + few, 3)
    yield call("special.owens_t", few, few[::-1].copy())
    yield call("special.comb", 5 + few, few)
    yield call("special.factorial", few)
    for name in ("eval_legendre", "eval_chebyt", "eval_hermite", "eval_laguerre"):
        yield call(f"special.{name}", 5, x / 4)
    yield call("special.spherical_jn", 2, x)
    many = real(400, 400)
    for name in ("logsumexp", "softmax", "log_softmax"):
        yield call(f"special.{name}", many, axis=1)


SHAPES: dict[str, tuple[float, ...]] = {
    "norm": (), "t": (4.5,), "gamma": (2.3,), "beta": (2.3, 1.7), "lognorm": (0.7,), "expon": (),
    "weibull_min": (1.8,), "chi2": (3.5,), "f": (5.0, 7.0), "cauchy": (), "gumbel_r": (),
    "laplace": (), "logistic": (), "pareto": (2.5,), "uniform": (), "invgamma": (3.2,),
    "genextreme": (0.2,), "skewnorm": (1.5,), "truncnorm": (-1.0, 2.0), "vonmises": (1.5,),
    "rice": (0.8,), "exponnorm": (1.3,),
}  # fmt: skip


def stats() -> Iterator[Call]:
    for name, shapes in SHAPES.items():
        x = RNG.uniform(0.1, 0.9, size=1000 if name == "skewnorm" else 10000)
        x = x + 1.0 if name in ("pareto", "truncnorm") else x
        x = x - 1.0 if name == "truncnorm" else x
        for method in ("logpdf", "cdf"):
            args = (x, *map(np.float64, shapes))
            yield Call(
                f"stats.{name}.{method}",
                lambda s, *args, name=name, method=method: getattr(getattr(s.stats, name), method)(
                    *args
                ),
                *args,
            )
    counts = RNG.integers(0, 9, size=10000)
    for name, discrete in {"poisson": (3.5,), "nbinom": (4.0, 0.4), "geom": (0.3,)}.items():
        yield Call(
            f"stats.{name}.logpmf",
            lambda s, *p, name=name: getattr(s.stats, name).logpmf(counts, *p),
            *map(np.float64, discrete),
        )
    yield Call(
        "stats.binom.logpmf", lambda s, p: s.stats.binom.logpmf(counts, 12, p), np.float64(0.4)
    )
    yield Call(
        "stats.norm.ppf",
        lambda s, q, m, w: s.stats.norm.ppf(q, m, w),
        RNG.uniform(size=10000),
        np.float64(0.3),
        np.float64(1.2),
    )
    yield Call(
        "stats.gamma.ppf",
        lambda s, q, a: s.stats.gamma.ppf(q, a),
        RNG.uniform(size=2000),
        np.float64(2.3),
    )
    x, m, c = real(1000, 20), real(20), definite(20)
    yield Call(
        "stats.multivariate_normal.logpdf",
        lambda s, x, m, c: s.stats.multivariate_normal.logpdf(x, m, c),
        x,
        m,
        c,
    )
    yield Call(
        "stats.multivariate_normal.logpdf, 200",
        lambda s, x, m, c: s.stats.multivariate_normal.logpdf(x, m, c),
        real(100, N),
        real(N),
        definite(N),
    )
    yield Call(
        "stats.multivariate_t.logpdf",
        lambda s, x, m, c: s.stats.multivariate_t.logpdf(x, m, c, 4.5),
        x,
        m,
        c,
    )
    p = RNG.dirichlet(np.ones(20), size=1)[0]
    yield Call(
        "stats.dirichlet.logpdf", lambda s, p, a: s.stats.dirichlet.logpdf(p, a), p, positive(20)
    )
    yield Call(
        "stats.wishart.logpdf",
        lambda s, x, c: s.stats.wishart.logpdf(x, 45, c),
        definite(40),
        definite(40),
    )
    yield Call(
        "stats.gaussian_kde", lambda s, d, x: s.stats.gaussian_kde(d)(x), real(300), real(300)
    )
    long, two = real(40000), real(40000)
    for name in (
        "zscore",
        "skew",
        "kurtosis",
        "moment",
        "sem",
        "iqr",
        "median_abs_deviation",
        "trim_mean",
    ):
        options: dict[str, Any] = {"proportiontocut": 0.1} if name == "trim_mean" else {}
        yield call(f"stats.{name}", long, **options)
    yield call("stats.gmean", np.abs(long))
    yield call("stats.boxcox_llf", 0.4, np.abs(long))
    yield call("stats.pearsonr", long, two, pick=lambda y: y[0])
    yield call("stats.linregress", long, two, pick=lambda y: y[0])
    yield call("stats.ttest_ind", long, two, pick=lambda y: y[0])
    yield call("stats.wasserstein_distance", long, two)
    yield call("stats.entropy", np.abs(long), np.abs(two))


def interpolate() -> Iterator[Call]:
    x, y, at = np.sort(real(400)), real(400), RNG.uniform(-1, 1, size=20000)
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
        yield Call(
            f"interpolate.{name}",
            lambda s, x, y, at, name=name: getattr(s.interpolate, name)(x, y)(at),
            x,
            y,
            at,
        )
    yield Call(
        "interpolate.CubicSpline, made",
        lambda s, x, y: s.interpolate.CubicSpline(x, y).c,
        np.sort(real(4000)),
        real(4000),
    )
    yield Call(
        "interpolate.make_interp_spline",
        lambda s, x, y, at: s.interpolate.make_interp_spline(x, y)(at),
        x,
        y,
        at,
    )
    yield Call(
        "interpolate.make_smoothing_spline",
        lambda s, y, at: s.interpolate.make_smoothing_spline(x, y, lam=0.1)(at),
        y,
        at,
    )
    yield Call(
        "interpolate.interp1d", lambda s, x, y, at: s.interpolate.interp1d(x, y)(at), x, y, at
    )
    knots = np.r_[[-2.0] * 4, np.linspace(-1.5, 1.5, 90), [2.0] * 4]
    yield Call(
        "interpolate.BSpline", lambda s, c, at: s.interpolate.BSpline(knots, c, 3)(at), real(94), at
    )
    yield Call(
        "interpolate.splev", lambda s, c, at: s.interpolate.splev(at, (knots, c, 3)), real(94), at
    )
    grid, points = np.linspace(-1, 1, 60), RNG.uniform(-0.9, 0.9, size=(5000, 2))
    for method in ("linear", "cubic"):
        yield Call(
            f"interpolate.RegularGridInterpolator, {method}",
            lambda s, z, p, m=method: s.interpolate.RegularGridInterpolator(
                (grid, grid), z, method=m
            )(p),
            real(60, 60),
            points if method == "linear" else points[:500],
        )
    yield Call(
        "interpolate.RBFInterpolator",
        lambda s, x, y, at: s.interpolate.RBFInterpolator(x, y)(at),
        real(150, 2),
        real(150),
        real(150, 2),
    )
    yield Call(
        "interpolate.LinearNDInterpolator",
        lambda s, y, at: s.interpolate.LinearNDInterpolator(points[:300], y)(at),
        real(300),
        points[300:],
    )
    yield call(
        "interpolate.barycentric_interpolate",
        np.cos(np.arange(60) / 59 * np.pi),
        real(60),
        at[:2000],
    )


def signal() -> Iterator[Call]:
    x, k, num, den = real(40000), real(64), np.array([0.4, 0.3, -0.2]), np.array([1.3, -0.5, 0.2])
    sos = np.array([[0.4, 0.3, -0.2, 1.0, -0.5, 0.2], [0.7, 0.1, 0.0, 1.0, 0.3, 0.1]])
    yield call("signal.convolve", x, k)
    yield call("signal.fftconvolve", x, real(20000))
    yield call("signal.oaconvolve", x, real(400))
    yield call("signal.correlate", x, k)
    yield call("signal.convolve2d", real(200, 200), real(7, 7))
    yield call("signal.lfilter", num, den, x)
    yield Call("signal.lfilter, x alone", lambda s, x: s.signal.lfilter(num, den, x), x)
    yield call("signal.sosfilt", sos, x)
    yield Call("signal.sosfilt, x alone", lambda s, x: s.signal.sosfilt(sos, x), x)
    yield call("signal.filtfilt", num, den, x)
    yield Call("signal.filtfilt, x alone", lambda s, x: s.signal.filtfilt(num, den, x), x)
    yield Call("signal.sosfiltfilt, x alone", lambda s, x: s.signal.sosfiltfilt(sos, x), x)
    yield call("signal.savgol_filter", x, 11, 3)
    for name in ("detrend", "hilbert"):
        yield call(f"signal.{name}", x)
    for name in ("welch", "periodogram", "stft", "spectrogram"):
        yield call(f"signal.{name}", x, pick=lambda y: y[-1])
    for name in ("csd", "coherence"):
        yield call(f"signal.{name}", x, real(40000), pick=lambda y: y[-1])
    z = real(129, 300) + 1j * real(129, 300)
    yield call("signal.istft", z, pick=lambda y: y[-1])
    yield call("signal.resample", x, 20000)
    yield call("signal.resample_poly", x, 2, 3)
    yield call("signal.decimate", x, 4)
    yield call("signal.upfirdn", k, x, 3, 2)
    yield call("signal.wiener", x)
    yield call("signal.medfilt", x[:10000], 5)
    yield call("signal.freqz", num, den, 4096, pick=lambda y: y[-1])
    yield call("signal.czt", x)
    yield call("signal.lombscargle", np.sort(positive(400)), real(400), positive(400))
    a = (real(4, 4) - 5 * np.eye(4), real(4, 1), real(1, 4), real(1, 1))
    t = np.linspace(0, 3, 400)
    yield Call("signal.lsim", lambda s, u, *abcd: s.signal.lsim(abcd, u, t)[1], real(400), *a)
    yield Call("signal.freqresp", lambda s, *abcd: s.signal.freqresp(abcd, t)[1], *a)


def ndimage() -> Iterator[Call]:
    x, k = real(200, 200), real(5, 5)
    yield call("ndimage.convolve", x, k)
    yield call("ndimage.correlate", x, k)
    yield call("ndimage.convolve1d", x, real(9))
    yield call("ndimage.gaussian_filter", x, 2.0)
    yield call("ndimage.gaussian_gradient_magnitude", x, 2.0)
    yield call("ndimage.gaussian_laplace", x, 2.0)
    yield call("ndimage.uniform_filter", x, 5)
    for name in ("sobel", "laplace"):
        yield call(f"ndimage.{name}", x)
    for name in ("median_filter", "maximum_filter", "grey_erosion", "grey_opening"):
        yield call(f"ndimage.{name}", x, 5)
    yield call("ndimage.percentile_filter", x, 30, 5)
    yield call("ndimage.spline_filter", x)
    points = RNG.uniform(5, 190, size=(2, 10000))
    for order in (1, 3):
        yield call("ndimage.map_coordinates", x, points, order=order, note=f"order {order}")
    yield call("ndimage.zoom", x, 1.5)
    yield call("ndimage.shift", x, 0.5)
    yield call("ndimage.rotate", x, 30.0)
    yield call("ndimage.affine_transform", x, np.eye(2) + real(2, 2) / 20)
    yield call("ndimage.fourier_gaussian", x, 2.0)
    labels = RNG.integers(0, 50, size=(200, 200))
    for name in ("sum_labels", "mean", "variance", "maximum", "median"):
        yield call(f"ndimage.{name}", x, labels=labels, index=np.arange(50))
    yield call("ndimage.center_of_mass", np.abs(x))


def fft() -> Iterator[Call]:
    x, z, image = real(40000), real(40000) + 1j * real(40000), real(200, 200)
    for name in ("fft", "rfft", "ifft", "hfft", "dct", "dst", "idct"):
        yield call(f"fft.{name}", z if name == "hfft" else x)
    yield call("fft.irfft", z)
    yield call("fft.fft", z, note="complex")
    for name in ("fft2", "rfft2", "fftn", "dctn"):
        yield call(f"fft.{name}", image)
    yield call("fft.fftshift", image)
    yield call("fft.fht", real(4096), 0.01, 0.5)


def spatial() -> Iterator[Call]:
    a, b = real(300, 5), real(300, 5)
    for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation",
                 "canberra", "braycurtis", "minkowski", "seuclidean", "mahalanobis"):  # fmt: skip
        yield call("spatial.distance.cdist", a, b, name, note=name)
        if name in ("euclidean", "minkowski", "cosine"):
            yield call("spatial.distance.pdist", a, name, note=name)
    yield call("spatial.distance.cdist", a, b, "minkowski", p=3.0, note="p=3")
    yield call("spatial.distance.jensenshannon", np.abs(real(20000)), np.abs(real(20000)))
    yield call("spatial.distance.squareform", np.abs(real(N * (N - 1) // 2)))
    yield call("spatial.distance_matrix", a, b)
    q, v, w = real(20000, 4), real(20000, 3), real(20000, 4)
    rotation = "spatial.transform.Rotation"
    made = {
        "from_quat, apply": lambda r, q, v, w: r.from_quat(q).apply(v),
        "from_quat, as_matrix": lambda r, q, v, w: r.from_quat(q).as_matrix(),
        "from_rotvec, as_quat": lambda r, q, v, w: r.from_rotvec(v).as_quat(),
        "from_euler, as_quat": lambda r, q, v, w: r.from_euler("xyz", v).as_quat(),
        "as_rotvec": lambda r, q, v, w: r.from_quat(q).as_rotvec(),
        "as_euler": lambda r, q, v, w: r.from_quat(q).as_euler("xyz"),
        "from_matrix, as_quat": lambda r, q, v, w: (
            r.from_matrix(r.from_quat(q).as_matrix()).as_quat()
        ),
        "product": lambda r, q, v, w: (r.from_quat(q) * r.from_quat(w)).as_quat(),
    }  # fmt: skip
    for name, f in made.items():
        yield Call(
            f"Rotation.{name}", lambda s, *x, f=f: f(operator.attrgetter(rotation)(s), *x), q, v, w
        )
    yield Call(
        "Slerp",
        lambda s, q, t: s.spatial.transform.Slerp(
            np.arange(100.0), s.spatial.transform.Rotation.from_quat(q)
        )(t).as_quat(),
        q[:100],
        RNG.uniform(0, 99, size=5000),
    )


def sparse() -> Iterator[Call]:
    n = 2000
    row = np.r_[
        np.arange(n), np.arange(n - 1), np.arange(1, n), np.arange(n - 40), np.arange(40, n)
    ]
    column = np.r_[
        np.arange(n), np.arange(1, n), np.arange(n - 1), np.arange(40, n), np.arange(n - 40)
    ]
    entries = np.where(row == column, 5.0, -1.0 + 0.1 * np.cos(np.minimum(row, column)))
    b, block = real(n), real(n, 20)

    def made(s: Any, e: Any, form: str = "csc") -> Any:
        return s.sparse.coo_array((e, (row, column)), shape=(n, n)).asformat(form)

    on: dict[str, tuple] = {
        "sparse.coo to csr": (lambda s, e: made(s, e, "csr").data, entries),
        "sparse, a @ block": (lambda s, e, x: made(s, e, "csr") @ x, entries, block),
        "sparse, a @ a": (lambda s, e: (made(s, e, "csr") @ made(s, e, "csr")).data, entries),
        "sparse, a + a.T": (lambda s, e: (made(s, e, "csr") + made(s, e, "csr").T).data, entries),
        "sparse, sum": (lambda s, e: made(s, e, "csr").sum(axis=0), entries),
        "sparse.kron": (lambda s, e, x: s.sparse.kron(made(s, e), x).data, entries, real(3, 3)),
        "sparse.linalg.spsolve": (
            lambda s, e, b: s.sparse.linalg.spsolve(made(s, e), b),
            entries,
            b,
        ),
        "sparse.linalg.splu": (
            lambda s, e, b: s.sparse.linalg.splu(made(s, e)).solve(b),
            entries,
            b,
        ),
        "sparse.linalg.factorized": (
            lambda s, e, b: s.sparse.linalg.factorized(made(s, e))(b),
            entries,
            b,
        ),
        "sparse.linalg.cg": (
            lambda s, e, b: s.sparse.linalg.cg(made(s, e, "csr"), b, rtol=1e-10)[0],
            entries,
            b,
        ),
        "sparse.linalg.gmres": (
            lambda s, e, b: s.sparse.linalg.gmres(made(s, e, "csr"), b, rtol=1e-10)[0],
            entries,
            b,
        ),
        "sparse.linalg.bicgstab": (
            lambda s, e, b: s.sparse.linalg.bicgstab(made(s, e, "csr"), b, rtol=1e-10)[0],
            entries,
            b,
        ),
        "sparse.linalg.expm_multiply": (
            lambda s, e, b: s.sparse.linalg.expm_multiply(made(s, e, "csr"), b),
            entries / 5,
            b,
        ),
        "sparse.linalg.eigsh, values": (
            lambda s, e: s.sparse.linalg.eigsh(made(s, e, "csr"), k=4, return_eigenvectors=False),
            entries * (1 + row * column / n**2),
        ),
        "sparse.linalg.eigsh": (
            lambda s, e: s.sparse.linalg.eigsh(made(s, e, "csr"), k=4),
            entries * (1 + row * column / n**2),
        ),
        "sparse.linalg.svds, values": (
            lambda s, e: s.sparse.linalg.svds(
                made(s, e, "csr"), k=4, return_singular_vectors=False
            ),
            entries * (1 + row * column / n**2),
        ),
        "sparse.linalg.norm": (lambda s, e: s.sparse.linalg.norm(made(s, e, "csr")), entries),
    }
    for name, (f, *inputs) in on.items():
        yield Call(name, f, *inputs)


FAMILIES = (linalg, special, stats, interpolate, signal, ndimage, fft, spatial, sparse)
