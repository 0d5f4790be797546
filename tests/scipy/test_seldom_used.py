"""Methods and options of SciPy that few programs use: values, derivatives, and what is refused."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr

pytest.importorskip("scipy")

from chainrules.scipy import (
    integrate,
    interpolate,
    linalg,
    ndimage,
    signal,
    sparse,
    spatial,
    special,
    stats,
)

splinalg, Rotation = sparse.linalg, spatial.transform.Rotation
X = np.array([0.6, 1.3, 0.4, 1.1])
T = np.arange(8.0)
Y = np.sin(T)
V = np.array([1.0, -2.0, 0.5])
D = np.arange(12.0).reshape(3, 4) / 7
GRID = np.sin(np.arange(6.0)[:, None] * 0.7) * np.cos(np.arange(7.0) * 0.4)
HALF = (D > 0.5).astype(int)
ENDS = np.array([0.0, 1.0, 2.0])


# ---- interpolation ------------------------------------------------------------------------------


def samples(x):
    return Y * x[0] + np.cos(T) * x[1]


def spline(x):
    return interpolate.make_interp_spline(T, samples(x))


def curve(x):
    t, c, k = interpolate.splrep(T, samples(x))
    return t, [c, 2.0 * c], k


def through(x):
    return interpolate.InterpolatedUnivariateSpline(T, samples(x))


def cubic(x):
    return interpolate.CubicSpline(T, samples(x))


def pieces(x):
    return interpolate.PPoly(np.reshape(x, (2, 2)), ENDS)


def quick_pieces(x):
    return interpolate.PPoly.construct_fast(np.reshape(x, (2, 2)), ENDS)


def pieces_along_an_axis(x):
    c = np.reshape(x, (1, 2, 2)) * np.ones((2, 1, 1))
    return interpolate.PPoly(c, ENDS, axis=1)(np.array([0.7, 1.2]))


def coefficients_are_set(x):
    p = cubic(x)
    p.c = p.c * 2.0
    return p(2.3)


def coefficients_of_a_plain_one_are_set(x):
    p = interpolate.PPoly(np.ones((2, 2)), ENDS)
    p.c = np.reshape(x, (2, 2))
    return p(0.7)


def breakpoints_are_set(x):
    p = interpolate.PPoly(np.ones((2, 2)), ENDS)
    p.x = ENDS * x[0]
    return p(0.7)


def held(x, kind, **options):
    f = interpolate.interp1d(T, samples(x), kind=kind, bounds_error=False, **options)
    return f(np.array([0.5, 3.2]))


def in_a_box(x):
    box = [-1.0, 6.0, None, 7.5]
    f = interpolate.RectBivariateSpline(np.arange(6.0), np.arange(7.0), GRID * x[0], bbox=box)
    return f(1.5 + 0.1 * x[1], 2.2)


INTERPOLATION = {
    "splev of a spline": lambda x: interpolate.splev(2.2, spline(x)),
    "splev of a spline's slope": lambda x: interpolate.splev(np.array([1.2, 3.3]), spline(x), 1),
    "splev of a plain spline": lambda x: interpolate.splev(2 * x, spline([1.0, 2.0])),
    "splint of a spline": lambda x: interpolate.splint(0.5, 3.2, spline(x)),
    "splint to a moving end": lambda x: interpolate.splint(x[0], 3.2, spline([1.0, 2.0])),
    "splder of a spline": lambda x: interpolate.splder(spline(x), n=2)(2.2),
    "splantider of a spline": lambda x: interpolate.splantider(tck=spline(x))(2.2),
    "splint of a curve": lambda x: np.stack(interpolate.splint(0.5, 3.2, curve(x))),
    "spalde of a curve": lambda x: np.stack(interpolate.spalde(2.2, curve(x))),
    "splrep with all it tells": lambda x: interpolate.splev(
        2.2, interpolate.splrep(T, samples(x), full_output=1)[0]
    ),
    "derivative of a negative order": lambda x: spline(x).derivative(-1)(2.5),
    "antiderivative of order 0": lambda x: spline(x).antiderivative(0)(2.5),
    "BSpline.integrate to a moving end": lambda x: spline([1.0, 2.0]).integrate(x[0], 2 + x[1]),
    "get_coeffs": lambda x: through(x).get_coeffs(),
    "get_knots": lambda x: through(x).get_knots() * x[0],
    "derivatives": lambda x: through(x).derivatives(2.2),
    "derivatives at a moving point": lambda x: through([1.0, 2.0]).derivatives(x[0]),
    "PPoly.derivative(-1)": lambda x: pieces(x).derivative(-1)(0.7),
    "PPoly.antiderivative(0)": lambda x: pieces(x).antiderivative(0)(0.7),
    "PPoly along an axis": pieces_along_an_axis,
    "PPoly.construct_fast": lambda x: quick_pieces(x)(0.7),
    "its derivative": lambda x: quick_pieces(x).derivative()(0.7),
    "its antiderivative": lambda x: quick_pieces(x).antiderivative()(0.7),
    "CubicSpline.derivative": lambda x: cubic(x).derivative()(2.2),
    "CubicSpline.antiderivative": lambda x: cubic(x).antiderivative()(2.2),
    "coefficients are set": coefficients_are_set,
    "coefficients of a plain one are set": coefficients_of_a_plain_one_are_set,
    "breakpoints are set": breakpoints_are_set,
    "BarycentricInterpolator.derivatives": lambda x: interpolate.BarycentricInterpolator(
        T[:4], Y[:4]
    ).derivatives(x[:1]),
    "interp1d of the one before": lambda x: held(x, "previous"),
    "interp1d of the one behind": lambda x: held(x, "next", fill_value="extrapolate"),
    "RectBivariateSpline in a box": in_a_box,
}

# ---- sparse arrays ------------------------------------------------------------------------------


def coo(x, cls=sparse.coo_array):
    return cls((x, ([0, 1, 2, 0], [1, 0, 2, 0])), shape=(3, 3))


def csr(x):
    return coo(x).tocsr()


def matrix(x):
    return sparse.csr_matrix(coo(x, sparse.coo_matrix))


def summed(x):
    a = coo(x)
    a.sum_duplicates()
    return a.toarray()


SPARSE = {
    "copy": lambda x: coo(x).copy() @ V,
    "getrow": lambda x: matrix(x).getrow(0).toarray(),
    "getcol": lambda x: matrix(x).getcol(1).toarray(),
    "real and imag": lambda x: (coo(x * (1 + 2j)).real + coo(x * (1 + 2j)).imag).toarray(),
    "a sum over a tuple of axes": lambda x: coo(x).sum(axis=(0,)),
    "sum_duplicates": summed,
    "counts": lambda x: x * (coo(x).count_nonzero() + matrix(x).getnnz() + len(csr(x).nonzero())),
    "coords": lambda x: x * (1 + coo(x).coords[0]),
    "a matrix times a vector": lambda x: matrix(x) * V,
    "a vector times a matrix": lambda x: V * matrix(x),
    "a power of a matrix": lambda x: (matrix(x) ** 2).toarray(),
    "a power of an array": lambda x: (csr(x) ** 2).toarray(),
    "matrix_power": lambda x: splinalg.matrix_power(csr(x), 0).toarray() * x[0],
    "norms of columns": lambda x: splinalg.norm(coo(x), axis=0, ord=1),
    "diags of numbers": lambda x: sparse.diags([x[0]], 0, shape=(3, 3)).toarray(),
    "diags with one offset": lambda x: sparse.diags(x[:3], 1).toarray(),
}

# ---- the rest -----------------------------------------------------------------------------------


def rotations(x):
    return Rotation.from_rotvec(np.outer([1.0, 1.1], x[:3]))


def of_zeros(x):
    """A power of a filter whose denominator begins with a zero."""
    return signal.lfilter_zi(x[:2], np.stack([0 * x[0], 1.0 + x[1], 0.3 * x[2]]))


FURTHER = {
    "Rotation.single, shape and len": lambda x: x * (rotations(x).single + len(rotations(x))),
    "Rotation.approx_equal": lambda x: x * np.sum(rotations(x).approx_equal(rotations(x))),
    "Rotation.from_euler of a number": lambda x: Rotation.from_euler("z", x[0]).as_matrix(),
    "Rotation.create_group": lambda x: Rotation.create_group("C3")[1].as_matrix() * x[0],
    "Rotation.random": lambda x: Rotation.random(rng=3).apply(x[:3]),
    "gaussian_kde.pdf": lambda x: stats.gaussian_kde(T).pdf(x),
    "gaussian_kde.logpdf": lambda x: stats.gaussian_kde(T).logpdf(x),
    "levene of trimmed samples": lambda x: (
        stats.levene(samples(x), T * x[0], center="trimmed", proportiontocut=0.2).statistic
    ),
    "interval": lambda x: x * stats.norm.interval(0.9)[1],
    "moment": lambda x: x * stats.gamma.moment(2, 1.5),
    "nnlf": lambda x: x * stats.norm.nnlf((0.1, 1.2), T),
    "expect": lambda x: x * stats.norm(0.1).expect(lambda t: t * t),
    "multivariate_t of infinite df": lambda x: stats.multivariate_t.logpdf(
        x[:2], [0.0, 1.0], [[1.0, 0.2], [0.2, 2.0]], df=np.inf
    ),
    "multivariate_t.rvs": lambda x: stats.multivariate_t.rvs(
        x[:2], [[1.0, 0.2], [0.2, 2.0]], df=3, size=2, random_state=3
    ),
    "multivariate_normal of a number": lambda x: stats.multivariate_normal.logpdf(0.3, cov=x[0]),
    "wishart of a number": lambda x: stats.wishart.logpdf(x[0], 3, x[1]),
    "comb, exact": lambda x: x * special.comb(5, 2, exact=True),
    "perm, exact": lambda x: x * special.perm(5, 2, exact=True),
    "factorial, exact": lambda x: x * special.factorial(5, exact=True),
    "factorial of complex numbers": lambda x: (
        special.factorial(x[0] + 1j * x[1], extend="complex").real
    ),
    "firwin with a width": lambda x: signal.firwin(9, 0.2 * x[0], width=0.3),
    "firwin2, antisymmetric": lambda x: signal.firwin2(
        9, [0, 0.5, 1.0], np.stack([0 * x[0], x[0], 0 * x[0]]), antisymmetric=True
    ),
    "a chirp of one frequency": lambda x: signal.chirp(x, 2.0, 3.0, 2.0, method="hyperbolic"),
    "resample by a function": lambda x: signal.resample(samples(x), 5, window=np.cos),
    "resample by an array": lambda x: signal.resample(samples(x), 5, window=T + 1),
    "freqz with a plot": lambda x: np.abs(
        signal.freqz(x[:2], [1.0, 0.2], 4, plot=lambda w, h: None)[1]
    ),
    "freqs with a plot": lambda x: np.abs(
        signal.freqs(x[:2], [1.0, 0.2], [1.0, 2.0], plot=lambda w, h: None)[1]
    ),
    "zoom by 1": lambda x: ndimage.zoom(D * x[0], 1.0),
    "rotate by a moving angle": lambda x: ndimage.rotate(GRID, 20.0 + x[0], reshape=False),
    "shift of order 1": lambda x: ndimage.shift(samples(x), 0.5, order=1),
    "gaussian_filter along an axis": lambda x: ndimage.gaussian_filter(D * x[0], 0.7, axes=(1,)),
    "gaussian_filter of a moving width": lambda x: ndimage.gaussian_filter(
        D * x[0], x[1], axes=(1,)
    ),
    "gaussian_filter into a dtype": lambda x: ndimage.gaussian_filter(
        D * x[0], 0.7, output=np.float64
    ),
    "percentile_filter from the end": lambda x: ndimage.percentile_filter(D * x[0], -20, size=2),
    "correlate with many weights": lambda x: ndimage.correlate(
        GRID * x[0], np.outer(np.arange(5.0), np.arange(5.0)) * x[1]
    ),
    "sum_labels of few labels": lambda x: ndimage.sum_labels(D * x[0], HALF * 500, index=[500]),
    "mean of negative labels": lambda x: ndimage.mean(D * x[0], HALF * -5, index=[-5, 0]),
    "singular vectors of a wide matrix": lambda x: np.abs(
        linalg.svd(D[:2, :3] * x[0] + np.eye(2, 3) * x[1])[2][:2]
    ),
    "left eigenvectors": lambda x: np.abs(
        linalg.eig(np.reshape(x, (2, 2)), left=True, right=False)[1]
    ),
    "quad_vec": lambda x: integrate.quad_vec(lambda t: np.sin(t * x), 0.0, 1.0)[0],
    "odeint with a largest step": lambda x: integrate.odeint(
        lambda y, t: -x[0] * y, [1.0], [0.0, 1.0], hmax=0.2
    ),
    "a solution that stays 0": lambda x: (
        integrate.solve_ivp(lambda t, y: 0 * y * x[0], (0.0, 1.0), [0.0]).y[0, -1] + x[0]
    ),
    "a slerp without a way": lambda x: (
        spatial.geometric_slerp(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.5) * x[0]
    ),
}
if not hasattr(signal, "whittaker_henderson"):  # SciPy 1.18 refuses it
    FURTHER["lfilter_zi after a zero"] = of_zeros

PROGRAMS = INTERPOLATION | SPARSE | FURTHER


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    y, expected = np.asarray(f(X)), jacobian_of(f, X, 1e-5)
    for transform in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-6, atol=1e-7)
    traced, _ = cr.vjp(f, X)
    assert np.shape(traced) == y.shape
    np.testing.assert_allclose(traced, y, rtol=1e-9, atol=1e-13)
    gradient = cr.grad(lambda x: np.sum(np.sin(f(x))))
    second = cr.hessian(lambda x: np.sum(np.sin(f(x))))(X)
    np.testing.assert_allclose(second, jacobian_of(gradient, X, 1e-5), rtol=1e-5, atol=1e-6)


REFUSED = {
    "splint with all it tells": lambda x: interpolate.splint(0, 1, curve(x), full_output=1),
    "splprep with weights": lambda x: interpolate.splprep([samples(x), T], task=0, t=T, s=0),
    "make_splrep with knots": lambda x: interpolate.make_splrep(T, samples(x), t=[3.0]),
    "UnivariateSpline.roots": lambda x: through(x).roots(),
    "UnivariateSpline.get_residual": lambda x: through(x).get_residual(),
    "BSpline.insert_knot": lambda x: spline(x).insert_knot(2.5),
    "BSpline.design_matrix": lambda x: interpolate.BSpline.design_matrix(x, np.arange(9.0) - 4, 3),
    "BSpline.from_power_basis": lambda x: interpolate.BSpline.from_power_basis(cubic(x)),
    "PPoly.from_spline": lambda x: interpolate.PPoly.from_spline(spline(x)),
    "PPoly.from_spline of a tuple": lambda x: interpolate.PPoly.from_spline(
        interpolate.splrep(T, samples(x))
    ),
    "PPoly.extend": lambda x: pieces(x).extend(np.ones((2, 1)), np.array([3.0])),
    "RectBivariateSpline.integral": lambda x: interpolate.RectBivariateSpline(
        np.arange(6.0), np.arange(7.0), GRID * x[0]
    ).integral(0, 1, 0, 1),
    "RectBivariateSpline.partial_derivative": lambda x: interpolate.RectBivariateSpline(
        np.arange(6.0), np.arange(7.0), GRID * x[0]
    ).partial_derivative(1, 0),
    "BarycentricInterpolator without samples": lambda x: interpolate.BarycentricInterpolator(x),
    "a sum into out": lambda x: csr(x).sum(axis=0, out=np.zeros(3)),
    "a norm of order 2": lambda x: splinalg.norm(coo(x), 2),
    "Rotation.reduce": lambda x: rotations(x).reduce(Rotation.create_group("C3")),
    "pearsonr with a method": lambda x: stats.pearsonr(
        samples(x), T, method=stats.PermutationMethod()
    ),
    "multivariate_t.rvs with a moving df": lambda x: stats.multivariate_t.rvs(
        [0.0, 0.0], np.eye(2), df=3 * x[0]
    ),
    "pmean with a moving p of 0": lambda x: stats.pmean(x, 0 * x[0]),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("transform", [cr.jacfwd, cr.jacrev])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_refused_with_a_remedy(transform, name):
    with pytest.raises(cr.MissingRuleError, match=r"in \S*test_seldom_used.py:\d+\.\n  \w+ "):
        transform(REFUSED[name])(X)


def test_errors_of_scipy_are_its_own():
    with pytest.raises(TypeError, match="spalde does not accept BSpline instances"):
        cr.jacfwd(lambda x: interpolate.spalde(2.2, spline(x)))(X)
    for power in (0, -1):
        with pytest.raises(NotImplementedError, match="zeros something else"):
            cr.jacfwd(lambda x, n=power: coo(x).power(n).toarray())(X)
    with pytest.raises(TypeError):
        cr.jacfwd(lambda x: +coo(x))(X)


def test_frozen_distributions_of_vectors_are_pickled_with_what_they_hold():
    import copy

    def f(x):
        return copy.deepcopy(stats.multivariate_normal(x[:2], np.eye(2))).logpdf([0.1, 0.2])

    np.testing.assert_allclose(cr.jacfwd(f)(X), jacobian_of(f, X), rtol=1e-7, atol=1e-9)
