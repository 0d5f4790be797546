"""Functions of SciPy with random options, of vectors, matrices and sparse arrays, in a chain.

``<a;b;c>`` in a call stands for one of these. ``v`` is a vector, ``u`` another of its length, ``A``
a matrix, ``M`` one that is square and regular, ``S`` symmetric and positive, ``t`` plain and
ascending, as long as ``v``, ``D`` sparse.
"""

import re

from fuzz_program import Program
from hypothesis import strategies as st

SETUP = (
    "from chainrules.scipy import fft, interpolate, linalg, ndimage, signal, sparse, spatial",
    "from chainrules.scipy import special, stats",
    "from chainrules.scipy.sparse import linalg as splinalg",
)
CALLS = {
    "fft": """
fft.<fft;ifft;rfft;hfft>(v.real<;, 4;, 9>, norm=<None;'ortho';'forward'>)
fft.<fft;ifft>(v<;, 4;, 9>, norm=<None;'ortho';'forward'>)
fft.fft2(A<;, (2, 4)>)
fft.fftn(A, axes=<[0];[1];(1, 0)>)
fft.<dct;idct;dst;idst>(v.real, type=<1;2;3;4>, norm=<None;'ortho';'forward'>)
fft.irfft(v<;, 5;, 8>)
fft.<dctn;dstn>(A.real, type=<1;2>)
fft.<fftshift;ifftshift>(A<;, 0;, axes=[1]>)
fft.ifftn(A, norm='ortho')
fft.fft(A, axis=<0;1;-1>, n=<2;5>)
fft.fht(v.real, 0.3, <0.0;0.7>)
""",
    "linalg": """
linalg.solve(M, <v[:3];A.T;np.eye(3)>)
linalg.solve(S, v[:3], assume_a=<'pos';'sym';'her';'gen'>)
linalg.solve(M, v[:3], transposed=True)
linalg.solve_triangular(M, v[:3], trans=<0;'T';'C'>, lower=<True;False>)
linalg.solve_triangular(M, A.T, unit_diagonal=True)
linalg.inv(M)
linalg.det(M)
linalg.cholesky(S, lower=<True;False>)
linalg.cho_solve(linalg.cho_factor(S, <True;False>), v[:3])
linalg.lu_solve(linalg.lu_factor(M), v[:3], trans=<0;1;2>)
linalg.lu(M)[<1;2>]
linalg.qr(M)[<0;1>]
linalg.qr(M, mode='economic')[1]
linalg.svdvals(M)
linalg.pinv(A)
linalg.eigvalsh(S)
linalg.eigh(S, np.diag([1.0, 2.0, 3.0]))[0]
linalg.eigvalsh(S, subset_by_index=[0, 1])
linalg.lstsq(<M;S>, v[:3])[0]
linalg.expm(<M;S;0.3 * A[:2, :2]>)
linalg.logm(S)
linalg.sqrtm(S)
linalg.<sinm;cosm;tanhm>(0.3 * M)
linalg.solve_sylvester(M, S, np.eye(3))
linalg.solve_continuous_lyapunov(-S, M)
linalg.solve_discrete_lyapunov(0.1 * M, S)
linalg.toeplitz(v[:3]<;, u[:2]>)
linalg.hankel(v[:3])
linalg.circulant(v)
linalg.block_diag(M, v[:2], A)
linalg.norm(<v;A;M>)
linalg.norm(v, <1;2;3;np.inf>)
linalg.norm(A, <'fro';1;np.inf>, axis=(0, 1))
linalg.polar(M)[<0;1>]
linalg.solve_toeplitz(np.array([4.0, 1.0, 0.5]) + v[:3], u[:3])
linalg.fractional_matrix_power(S, <0.5;-0.3;2>)
linalg.solve_banded((1, 1), np.array([[0.0, 0.3, 0.2], [4, 5, 6], [0.1, 0.2, 0]]) + 0.1 * M,
    v[:3])
linalg.expm_frechet(M, S)[1]
linalg.solveh_banded(np.array([[4.0, 5.0, 6.0], [0.3, 0.2, 0.0]]), v[:3], lower=True)
linalg.matmul_toeplitz(v[:3], u[:3])
""",
    "signal": """
signal.convolve(<v;u>, <v[:3];u[:2]>, <'full';'same';'valid'>, method=<'direct';'fft';'auto'>)
signal.fftconvolve(v, u[:3], mode=<'full';'same'>)
signal.correlate(v, u[:3], <'full';'same';'valid'>)
signal.convolve2d(A, M[:2, :2], <'full';'same'>, boundary=<'fill';'wrap';'symm'>)
signal.lfilter(v[:2], u[:3], <v;A.T>)
signal.lfilter([0.3, 0.2], [1.0, -0.4], A, axis=<0;1;-1>)
signal.detrend(<v;A>, type=<'linear';'constant'>)
signal.sosfilt([[0.4, 0.3, -0.2, 1.0, -0.5, 0.2]], v)
signal.savgol_filter(v, <3;5>, <1;2>, deriv=<0;1>, mode=<'interp';'nearest';'wrap';'constant'>)
signal.hilbert(v.real)
signal.welch(v.real, nperseg=<4;6>)[1]
signal.periodogram(v<;, detrend=False;, scaling='spectrum'>)[1]
signal.stft(v.real, nperseg=4)[2]
signal.resample(v, <4;9>)
signal.resample_poly(v, 3, <2;4>)
signal.decimate(v, 2, ftype='fir')
signal.medfilt(v.real)
signal.filtfilt([0.3, 0.2], [1.0, -0.4], v<, padtype=None;, padlen=2>)
signal.upfirdn(v[:3], u, <1;2>, <1;2>)
signal.freqz(v[:3], u[:3], worN=4)[1]
signal.tf2zpk([1.0, 0.3], v[:3])[1]
signal.unit_impulse(4) * v[0]
signal.csd(v.real, u.real, nperseg=4)[1]
signal.lsim((v[:2].real, 1.0 + u[:3].real), [0.3, 1.0, 0.5], [0.0, 0.5, 1.0])[1]
signal.gausspulse(v.real)
signal.sawtooth(v.real, 0.3)
""",
    "ndimage": """
ndimage.<gaussian_filter;gaussian_filter1d>(<v.real;A.real>, <0.7;1.3>, order=<0;1>,
    mode=<'reflect';'wrap';'constant';'nearest'>)
ndimage.uniform_filter(A.real, <2;3>, mode=<'reflect';'mirror'>)
ndimage.<convolve;correlate>(A.real, M.real[:2, :2], mode=<'wrap';'constant'>, cval=<0.0;0.4>)
ndimage.<sobel;prewitt;laplace>(A.real)
ndimage.map_coordinates(A.real, [u.real[:2] * 0.6, u.real[1:3] * 0.7], order=<1;3>,
    mode=<'constant';'nearest';'mirror'>)
ndimage.shift(v.real, <0.3;-0.7>, order=<1;3>)
ndimage.zoom(v.real, <1.5;2>, order=<1;2>)
ndimage.<maximum_filter;minimum_filter>(v.real, 3)
ndimage.spline_filter(v.real, order=<2;3>)
ndimage.<sum;mean;variance>(v.real, [0, 1, 0, 1, 1, 1], [0, 1])
ndimage.rotate(A.real, 20.0, reshape=False)
ndimage.center_of_mass(A.real)[0]
ndimage.percentile_filter(v.real, 40, 3)
ndimage.affine_transform(A.real, [[0.9, 0.1], [0.0, 1.1]], order=<1;3>)
""",
    "interpolate": """
interpolate.CubicSpline(t, <v;u>, bc_type=<'not-a-knot';'natural';'clamped'>)(<0.7;v.real;
    [0.3, 2.4]>, <0;1>)
interpolate.PchipInterpolator(t, v.real)(<0.7;u.real>)
interpolate.Akima1DInterpolator(t, v.real + np.sin(5 * t))(<0.7;u.real>)
interpolate.interp1d(t, v, kind=<'linear';'cubic';'nearest'>)(u.real)
interpolate.make_interp_spline(t, v.real, k=<1;2;3>)(<0.7;u.real>)
interpolate.CubicHermiteSpline(t, v, u)(<1.3;u.real>)
interpolate.BSpline(np.arange(9.0), v, 2)(<3.3;2.1 + u.real>)
interpolate.RegularGridInterpolator((t[:2], t[:3]), A.real)(<[[0.3, 0.7]];[u.real[:2] * 0.4]>)
interpolate.RBFInterpolator(t[:, None], v.real, kernel=<'cubic';'linear';
    'thin_plate_spline'>)(u.real[:2, None])
interpolate.CubicSpline(t, v).integrate(0.3, <2.0;u[0].real>)
interpolate.barycentric_interpolate(t, v, u.real[:2])
interpolate.griddata(t, v.real, u.real)
interpolate.CubicSpline(t + 0.1 * u.real, v)(1.7)
interpolate.splev(u.real, interpolate.splrep(t, v.real))
interpolate.PPoly(A, [0.0, 1.0, 2.0, 3.0])(0.3 + u.real)
""",
    "special": """
special.logsumexp(<v.real;A.real>, axis=<None;-1;0>, b=<None;2.0>)
special.<softmax;log_softmax>(A.real, axis=<0;1;None>)
special.<gammaln;erf;expit;psi;j0>(v.real)
special.<beta;xlogy;betaln>(v.real, u.real)
special.polygamma(<0;1;2>, v.real)
special.multigammaln(2.0 + v.real, 2)
special.<eval_legendre;eval_chebyt>(3, 0.4 * v.real)
special.gammainc(v.real, u.real)
""",
    "stats": """
stats.norm.<pdf;logpdf;cdf;logsf>(v.real, loc=u.real, scale=<1.3;0.5 + v.real>)
stats.gamma.<logpdf;cdf>(v.real, u.real, scale=1.2)
stats.beta.logpdf(0.3 * v.real, u.real, 1.5)
stats.t(2.0 + u.real).<pdf;cdf;ppf>(0.3)
stats.poisson.logpmf(<2;[0, 3]>, v.real[:1])
stats.expon(scale=v.real).<pdf;sf>(0.7)
stats.multivariate_normal(v.real[:3], S.real).<logpdf;pdf>(u.real[:3])
stats.<zscore;gzscore>(v.real)
stats.gaussian_kde(v.real)(u.real[:2])
stats.<skew;kurtosis;variation;gmean;hmean;sem;iqr>(<v.real;A.real>)
stats.trim_mean(v.real, <0.1;0.2>)
stats.moment(v.real, <2;3>)
stats.entropy(v.real<;, u.real>)
stats.pearsonr(v.real, u.real)[0]
stats.linregress(t, v.real)[<0;1>]
stats.wasserstein_distance(v.real, u.real)
stats.lognorm(0.3 + v.real).<logpdf;cdf>(0.8)
stats.dirichlet.logpdf([0.2, 0.3, 0.5], v.real[:3])
stats.boxcox_llf(0.3, v.real)
stats.weibull_min.logpdf(v.real, u.real)
stats.describe(v.real)[<2;3>]
""",
    "spatial": """
spatial.distance.<cdist>(A.real, 0.3 + A.real[::-1], <'euclidean';'sqeuclidean';'cosine';
    'cityblock';'chebyshev';'correlation'>)
spatial.distance.pdist(A.real + [[0.0], [0.7]], <'euclidean';'seuclidean';'braycurtis';'canberra'>)
spatial.distance.<euclidean;cosine;minkowski>(v.real, 0.2 + u.real)
spatial.transform.Rotation.from_rotvec(v.real[:3]).<as_matrix;as_quat;as_rotvec>()
spatial.transform.Rotation.from_euler('xyz', v.real[:3]).apply(u.real[:3])
spatial.distance.squareform(v.real[:3])
spatial.procrustes(A.T.real, (A + M[:2]).T.real)[1]
""",
    "sparse": """
(D @ <v[:3];M;A.T>)
(D.T @ v[:3])
(M @ D)
(D * <2.0;v[0]>).toarray()
(D + D.T).toarray()
D.sum(axis=<0;1;None>)
D.power(2).toarray()
splinalg.spsolve(<D;D.tocsc()>, <v[:3];u[:3]>)
splinalg.splu(D.tocsc()).solve(v[:3])
splinalg.expm_multiply(0.2 * D, v[:3])
D.multiply(M).toarray()
(D @ D).toarray()
D[<0;1:;[0, 2]>].toarray()
sparse.kron(D, sparse.csr_array(np.eye(2))).toarray()
sparse.block_array([[D, None], [None, D.T]]).toarray()
sparse.diags_array(v).toarray()
sparse.diags_array([v[:2], u[:3]], offsets=[1, 0]).toarray()
D.diagonal(<0;1>)
sparse.hstack([D, D]).toarray()
splinalg.norm(D)
D.reshape((9, 1)).toarray()
sparse.tril(D, <0;-1>).toarray()
D.trace()
(-D).toarray()
(D / u[1]).toarray()
D.mean()
sparse.<csr_array;csc_array;coo_array;bsr_array;dia_array>(D.<tocsr;tocsc;tocoo;tobsr;todia>()).toarray()
(sparse.csr_matrix(D.<tocsc;tocoo>()) ** <0;2;3>).toarray()
D.tocsr()[<0;1>, <0;2>]
""",
}
MADE = {
    "v": ["x", "x[::-1]", "2.0 * x", "np.sin(x) + 1.3", "x.copy()"],
    "u": [
        "x",
        "np.cos(x) + 1.5",
        "x + np.arange(6.0)",
        "np.array([0.7, 1.2, 0.4, 0.9, 1.1, 0.6])",
        "x[::-1] * x",
    ],
    "A": [
        "x.reshape(2, 3)",
        "x.reshape(3, 2).T",
        "np.asfortranarray(np.outer(x[:2], x[3:]))",
        "np.stack([x[:3], x[3:]])",
    ],
    "M": [
        "np.diag(x[:3]) + 0.1 * np.outer(x[3:], x[:3]) + np.eye(3)",
        "(x[:3] * np.eye(3) + 2.0 * np.eye(3) - 0.3).T",
    ],
    "S": ["np.diag(np.abs(x[:3])) + 0.1 * np.outer(x[3:], x[3:]).real + np.diag([1.0, 2.0, 4.0])"],
    "t": ["np.arange(6.0)", "np.array([0.0, 0.4, 1.1, 1.9, 2.6, 3.5])"],
    "D": [
        "sparse.csr_array((x + 1.0, ([0, 0, 1, 1, 2, 2], [0, 2, 1, 0, 2, 1])), shape=(3, 3))",
        "sparse.csc_array((x[:5] + 1.0, ([0, 1, 2, 2, 0], [0, 1, 2, 0, 1])), shape=(3, 3))",
        "sparse.coo_array((x[:4] + 1.0, ([0, 1, 2, 2], [0, 1, 2, 2])), shape=(3, 3)).tocsr()",
    ],
}


def calls(family):
    """The calls of a family, one a line; what is indented goes on with the line before."""
    return re.sub(r"\n +", " ", CALLS[family].strip()).split("\n")


@st.composite
def programs(draw):
    numbers = [round(draw(st.floats(0.3, 1.6)), 2) for _ in range(6)]
    family = draw(st.sampled_from(sorted(CALLS)))
    scale = ""
    if family in ("fft", "linalg", "signal", "sparse") and draw(st.integers(0, 3)) == 0:
        scale = " * (1.0 - 0.4j)"
    elif draw(st.integers(0, 7)) == 0:
        scale = ".astype(np.float32)"
    call = draw(st.sampled_from(calls(family)))
    while match := re.search(r"<([^<>]*)>", call):
        choice = draw(st.sampled_from(match[1].split(";")))
        call = call[: match.start()] + choice + call[match.end() :]
    used = [name for name in MADE if re.search(rf"\b{name}\b", call)]
    body = [f"{name} = {draw(st.sampled_from(MADE[name]))}" for name in used]
    body.append(f"y = {call}")
    result = draw(st.sampled_from(["y", "y", "np.sum(y * y)", "np.sin(y) * x[0]"]))
    return Program((("x", f"np.array({numbers}){scale}"),), tuple(body), result, SETUP)
