"""Objects and fits of scipy.interpolate: value, both modes and second order, by differences."""

import pickle

import checks_of_objects as checks
import numpy as np
import pytest
import scipy.interpolate as plain
from differences import slope_of
from scipy.sparse.linalg import spsolve

import chainrules as cr
from chainrules.scipy import interpolate as ip

check = checks.check

rng = np.random.default_rng(0)
N = 9
X = np.arange(N) + rng.uniform(0, 0.5, N)
Y, YY = rng.normal(size=N), rng.normal(size=(N, 2))
AT = rng.uniform(X[0], X[-1], (3, 2))
BEYOND = np.array([X[0] - 0.3, 1.7, 4.1, X[-1] + 0.4])
W = rng.uniform(0.5, 2, N)
KNOTS = np.array([-0.6, -0.5, -0.2, 0.1, 2.2, 4.4, 8.6, 8.7, 9.0, 9.1]) + np.array(
    [0] * 6 + [0.4] * 4
)
C, CC = rng.normal(size=6), rng.normal(size=(6, 2))


def joined(y):
    return np.concatenate([y, y[:1]])


# ---- piecewise polynomials ----------------------------------------------------------------------

ENDS = ("not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.5)), ("not-a-knot", (1, 0.2)))


@pytest.mark.parametrize("bc_type", ENDS, ids=str)
def test_cubic_spline(bc_type):
    check(lambda x, y, p: ip.CubicSpline(x, y, bc_type=bc_type)(p), X, Y, BEYOND)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_cubic_spline_of_few_samples(n):
    check(lambda x, y, p: ip.CubicSpline(x, y)(p), X[:n], Y[:n], BEYOND)
    check(lambda x, y, p: ip.CubicSpline(x, y, bc_type="natural")(p), X[:n], Y[:n], BEYOND)
    check(lambda x, y, p: ip.CubicSpline(x, joined(y), bc_type="periodic")(p), X[:n], Y[: n - 1],
          BEYOND)  # fmt: skip


def test_cubic_spline_of_given_derivatives():
    check(lambda x, b: ip.CubicSpline(x, Y, bc_type=((1, b), (2, b * b)))(AT), X, 0.3)


@pytest.mark.parametrize("nu", [1, 2, 3, 4])
def test_derivatives_of_a_polynomial(nu):
    check(lambda x, y, p: ip.CubicSpline(x, y)(p, nu), X, Y, AT)
    check(lambda y, p: ip.CubicSpline(X, y).derivative(nu)(p), Y, AT, second=False)


def test_axes_and_shapes():
    check(lambda y, p: ip.CubicSpline(X, y.T, axis=1)(p), YY, AT)
    check(lambda y: ip.CubicSpline(X, y)(2.3), Y)
    check(lambda c, p: ip.PPoly(c * (1 + 2j), X)(p), rng.normal(size=(3, N - 1, 2)), AT)
    check(lambda c, x, p: ip.PPoly(c, x)(p), rng.normal(size=(3, N - 1)), X[::-1], AT)
    assert cr.jacobian(lambda y: ip.CubicSpline(X, y)(np.zeros(0)))(Y).shape == (0, N)


def test_integrals_of_a_polynomial():
    check(lambda x, y, p: ip.CubicSpline(x, y).antiderivative(2)(p), X, Y, AT, exact=False)
    check(lambda x, y, a, b: ip.CubicSpline(x, y).integrate(a, b), X, Y, 1.3, -0.4)
    check(lambda a, b: ip.CubicSpline(X, Y).integrate(a, b), 1.3, -0.4)
    turning = {"extrapolate": "periodic"}
    check(lambda x, y, a, b: ip.CubicSpline(x, y, **turning).integrate(a, b), X, Y, 0.3, 37.3)


def test_roots_of_a_polynomial():
    # Differences are taken near these roots: their number does not change.
    near = {"rtol": 1e-4, "exact": False}
    check(lambda x, y: ip.CubicSpline(x, y).roots(extrapolate=False), X, Y, **near)
    check(lambda y, a: ip.CubicSpline(X, y).solve(a, extrapolate=False), Y, 0.1, **near)
    check(lambda a: ip.CubicSpline(X, Y).solve(a, extrapolate=False), 0.1, **near)
    leap = np.array([[-1.0, 1.0]])
    found = cr.jacobian(lambda c: ip.PPoly(c, np.arange(3.0)).roots())(leap)
    assert np.isnan(found[0, 0, 1])  # it leaps over 0 at 1, where the second piece begins


def test_extrapolation():
    check(lambda x, y, p: ip.CubicSpline(x, y, extrapolate="periodic")(p), X, Y, 5 * BEYOND)
    y, ydot = cr.jvp(
        lambda y, p: ip.CubicSpline(X, y, extrapolate=False)(p), (Y, BEYOND), (Y, BEYOND)
    )
    np.testing.assert_array_equal(np.isnan(y), [True, False, False, True])
    np.testing.assert_array_equal(ydot[[0, 3]], [0, 0])


@pytest.mark.parametrize("name", ["PchipInterpolator", "Akima1DInterpolator"])
@pytest.mark.parametrize("n", [2, 3, N])
def test_shape_preserving(name, n):
    check(lambda x, y, p: getattr(ip, name)(x, y, extrapolate=True)(p), X[:n], Y[:n], BEYOND)


def test_shape_preserving_of_several():
    check(lambda x, y: ip.PchipInterpolator(x, y)(AT), X, YY)
    check(lambda x, y: ip.Akima1DInterpolator(x, y)(X[:-1] + 0.1), X, YY)
    if "method" in str(plain.Akima1DInterpolator.__init__.__kwdefaults__):
        check(lambda y: ip.Akima1DInterpolator(X, y, method="makima")(X[:-1] + 0.1), Y)
    check(lambda x, y, d: ip.CubicHermiteSpline(x, y, d)(AT), X, Y, YY[:, 0])


def test_akima_of_flat_data():
    """SciPy takes the mean of two slopes that differ by less than 1e-9: so near is it smooth."""
    y, step = np.where(np.arange(N) < 6, 0.54, 1.2), 1e-11
    moved = [plain.Akima1DInterpolator(X, y + s * step * Y)(AT) for s in (1, -1)]
    _, ydot = cr.jvp(lambda y: ip.Akima1DInterpolator(X, y)(AT), (y,), (Y,))
    np.testing.assert_allclose(ydot, (moved[0] - moved[1]) / (2 * step), atol=1e-4)


# ---- B-splines ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(6))
def test_make_interp_spline(k):
    check(lambda x, y, p: ip.make_interp_spline(x, y, k=k)(p), X, Y, BEYOND)
    if k > 1:
        closed = {"k": k, "bc_type": "periodic"}
        check(lambda x, y: ip.make_interp_spline(x, joined(y), **closed)(AT), X, Y[:-1], rtol=1e-5)


ENDS_OF_B = (
    "natural", "clamped", ([(1, 0.3)], [(2, 0.4)]), ([(1, 0.3), (2, 0.1)], None),
    (None, [(1, 0.2), (2, 0.3)]),
)  # fmt: skip


@pytest.mark.parametrize("bc_type", ENDS_OF_B, ids=str)
def test_ends_of_make_interp_spline(bc_type):
    check(lambda x, y, p: ip.make_interp_spline(x, y, bc_type=bc_type)(p), X, Y, AT)


def test_make_interp_spline_otherwise():
    check(lambda y, b: ip.make_interp_spline(X, y, bc_type=([(1, b)], [(2, b)]))(AT), Y, 0.3)
    check(lambda x, y: ip.make_interp_spline(x, y.T, axis=1)(AT), X, YY)
    check(lambda y: ip.make_interp_spline(X, y).c, Y, second=False)
    check(lambda x: ip.make_interp_spline(x, Y).t, X, second=False)
    check(lambda p: ip.make_interp_spline(X, Y)(p), AT)


@pytest.mark.parametrize("nu", range(5))
def test_values_of_a_spline(nu):
    check(lambda c, p: ip.BSpline(KNOTS, c * (1 + 1j), 3)(p, nu), CC, BEYOND)
    check(
        lambda t, c, p: ip.BSpline(t, c, 3)(p, nu), KNOTS, C, np.array([1.0, 3.0, 7.0]), rtol=1e-5
    )


def test_methods_of_a_spline():
    check(lambda c, p: ip.BSpline(KNOTS, c, 3).derivative(2)(p), CC, AT, exact=False)
    check(lambda c: ip.BSpline(KNOTS, c, 3).derivative().c, CC, second=False)
    check(lambda t, c: ip.BSpline(t, c, 3).antiderivative(2)(2.1), KNOTS, C, exact=False, rtol=1e-5)
    check(lambda t: ip.BSpline.basis_element(t)(np.linspace(1.1, 2, 4)), [0, 1.0, 1.5, 2.5, 3])
    check(lambda p: ip.BSpline(KNOTS, CC, 3)(p), BEYOND)
    check(lambda p: ip.BSpline(KNOTS, CC, 3).derivative()(p), BEYOND)


@pytest.mark.parametrize("extrapolate", [True, False, "periodic"])
def test_integral_of_a_spline(extrapolate):
    for a, b in ((-0.4, 9.4), (1.0, 3.0)):
        check(
            lambda c, a, b: ip.BSpline(KNOTS, c, 3, extrapolate).integrate(a, b),
            CC,
            a,
            b,
            second=False,
        )
        check(lambda c, a, b: ip.BSpline(KNOTS, c, 3, extrapolate).integrate(a, b), C, a, b)


def test_fitted_splines():
    check(
        lambda x, y, t, w: ip.make_lsq_spline(x, y, t, w=w)(AT),
        X,
        Y,
        KNOTS,
        W,
        rtol=1e-5,
        exact=False,
    )
    check(lambda y: ip.make_lsq_spline(X, y, KNOTS)(AT), YY, exact=False)
    smooth = ip.make_smoothing_spline
    check(lambda x, y, w, a: smooth(x, y, w=w, lam=a)(AT), X, Y, W, 0.3)
    check(lambda y: smooth(X, y, lam=0.2)(AT), Y)


def test_fitpack():
    check(lambda x, y, p: ip.splev(p, ip.splrep(x, y)), X, Y, BEYOND)
    for k in (1, 2, 4, 5):
        check(
            lambda x, y, k=k: ip.splev(AT, ip.splrep(x, y, k=k), 1), X, Y, rtol=1e-5, second=False
        )
    inner = np.array([2.3, 4.1, 5.2])
    check(lambda x, y, w, t: ip.splev(AT, ip.splrep(x, y, w=w, t=t)), X, Y, W, inner, rtol=1e-5)
    check(lambda y: ip.splev(AT, ip.splder(ip.splrep(X, y))), Y)
    check(lambda y: ip.splev(AT, ip.splantider(ip.splrep(X, y), 2)), Y)
    check(lambda y, a: ip.splint(a, 3.0, ip.splrep(X, y)), Y, 1.0)
    check(
        lambda y, p: np.stack(ip.splev(p, ip.splprep(list(y.T), s=0)[0])), YY, np.array([0.1, 0.7])
    )
    check(lambda y: ip.splprep(list(y.T), s=0)[1], YY)
    if hasattr(plain, "make_splrep"):
        check(lambda x, y: ip.make_splrep(x, y)(AT), X, Y)


@pytest.mark.parametrize("ext", [0, 1, 3])
def test_univariate_splines(ext):
    made = ip.InterpolatedUnivariateSpline
    check(lambda x, y, p: made(x, y, ext=ext)(p), X, Y, BEYOND)
    check(lambda y, p: made(X, y, ext=ext).derivative()(p), Y, BEYOND, second=False)
    check(lambda p: made(X, Y, ext=ext).derivative()(p), BEYOND, second=False)


def test_univariate_splines_otherwise():
    check(lambda y: ip.UnivariateSpline(X, y, s=0).antiderivative()(2.0), Y)
    check(lambda p: ip.UnivariateSpline(X, Y, s=1)(p), AT)
    check(lambda p: ip.UnivariateSpline(X, Y, s=1).integral(0, p), 2.0)
    check(lambda y: ip.InterpolatedUnivariateSpline(X, y, bbox=[-1, 10]).integral(0.2, 3.0), Y)
    check(lambda y, t: ip.LSQUnivariateSpline(X, y, t)(AT), Y, np.array([2.3, 4.1, 5.2]), rtol=1e-5)


# ---- one polynomial -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["KroghInterpolator", "BarycentricInterpolator"])
def test_one_polynomial(name):
    made, x, y = getattr(ip, name), X[:6], YY[:6]
    near = {"rtol": 1e-5, "exact": False}
    check(lambda x, y, p: made(x, y.T, axis=1)(p), x, y, AT[:2] / 2, **near)
    check(lambda x, y, p: made(x, y).derivative(p, 2), x, y, AT[0] / 2, second=False, **near)
    check(lambda x, y, p: made(x, y).derivatives(p, 3), x, y, AT[0] / 2, second=False, **near)
    check(lambda p: made(x, y)(p), x[2:4], **near)  # at the samples themselves
    assert isinstance(made(x, y), getattr(plain, name))


def test_repeated_abscissae():
    x = [0.0, 0, 1, 1, 1, 2, 3]
    check(lambda y, p: ip.KroghInterpolator(x, y)(p), Y[:7], np.array([0.2, 1.4]))
    with pytest.raises(cr.MissingRuleError, match="repeated"):
        cr.grad(lambda x: ip.KroghInterpolator(x, Y[:3])(0.2))(np.array([0.0, 0, 1]))


@pytest.mark.filterwarnings("ignore:`(lagrange|pade)` is deprecated")
def test_polynomials_of_numpy():
    check(lambda x, y: ip.lagrange(x, y).coeffs, X[:4], Y[:4], rtol=1e-5)
    check(lambda x, y, p: ip.lagrange(x, y)(p), X[:4], Y[:4], AT, rtol=1e-5, exact=False)
    given = [1, 1.2, 0.5, 0.3, 0.24]
    check(lambda a: np.concatenate([p.coeffs for p in ip.pade(a, 2, 1)]), given)
    check(lambda a, p: ip.pade(a, 2)[0](p) / ip.pade(a, 2)[1](p), given, 0.3)


# ---- kinds, grids and scattered points ----------------------------------------------------------

KINDS = ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic",
         "cubic", 5)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_interp1d(kind):
    check(lambda x, y, p: ip.interp1d(x, y, kind)(p), X, Y, AT)

    def filled(x, y, p, f):
        return ip.interp1d(x, y, kind, bounds_error=False, fill_value=(f, 2 * f))(p)

    check(filled, X[::-1], Y, BEYOND, 1.2, second=False)
    if kind not in ("previous", "next"):
        check(
            lambda y, p: ip.interp1d(X, y, kind, axis=1, fill_value="extrapolate")(p), YY.T, BEYOND
        )


GRID = np.sort(rng.uniform(0, 3, 6)), np.sort(rng.uniform(0, 3, 7))
Z, ZZ = rng.normal(size=(6, 7)), rng.normal(size=(6, 7, 2))
INSIDE = np.stack([rng.uniform(g[0], g[-1], 4) for g in GRID], axis=-1)
METHODS = {m: {"method": m} for m in ("linear", "nearest", "pchip")}
# SciPy solves its systems by iteration, to some digits only, if it is not given a solver.
METHODS |= {m: {"method": m, "solver": spsolve} for m in ("slinear", "cubic", "quintic")}


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_grids(options):
    made = ip.RegularGridInterpolator
    near = {"exact": False, "rtol": 1e-4}
    check(lambda x, y, z, p: made((x, y), z, **options)(p), *GRID, Z, INSIDE, **near)
    check(lambda z, p: made(GRID, z, **options)(p), ZZ, INSIDE, second=False, **near)
    check(lambda p: made(GRID, Z, **options)(p), INSIDE, second=False, **near)
    outside = {"bounds_error": False, "fill_value": None, **options}
    check(lambda z, p: made(GRID, z, **outside)(p), Z, INSIDE + 0.1, second=False, **near)


def test_grids_otherwise():
    made = ip.RegularGridInterpolator
    check(lambda x, z: made((x, GRID[1]), z)(INSIDE), GRID[0][::-1], Z)
    check(lambda z, x, y: made(GRID, z)((x, y)), Z, INSIDE[:, 0], INSIDE[:1, 1], exact=False)
    cubic = {"method": "cubic", "solver": spsolve}
    check(lambda z, p: made(GRID, z, **cubic)(p, nu=(1, 1)), Z, INSIDE, exact=False, rtol=1e-4)
    three = np.arange(4.0), np.arange(5.0) ** 1.2, np.arange(4.0)
    z, p = rng.normal(size=(4, 5, 4)), rng.uniform(0.2, 2.8, (3, 3))
    for method in ("linear", "pchip"):
        check(lambda z, p, m=method: made(three, z, method=m)(p), z, p, exact=False, rtol=1e-5)
    with pytest.raises(ValueError, match="out of bounds"):
        cr.grad(lambda p: np.sum(made(GRID, Z)(p)))(INSIDE + 9)


def test_splines_on_rectangles():
    made, (x, y) = ip.RectBivariateSpline, INSIDE.T
    check(lambda z, x, y: made(*GRID, z)(x, y), Z, np.sort(x), np.sort(y)[:2], rtol=1e-5)
    check(lambda a, b, z: made(a, b, z, kx=2).ev(x, y), *GRID, Z, rtol=1e-4)
    check(lambda x, y: made(*GRID, Z).ev(x, y, dx=1), x, y, rtol=1e-5)


# Far from where four sites are on one circle, and from the edges of the triangles.
SITES = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), axis=-1).reshape(-1, 2) / 3
SITES = SITES + np.array([0.06, 0.0]) * (SITES[:, 1:] * 3) + rng.uniform(-0.01, 0.01, (12, 2))
VALUES = rng.normal(size=(12, 2))
Q = np.array([[0.45, 0.13], [0.55, 0.23], [0.8, 0.45], [0.22, 0.5]])


def test_triangles_and_neighbours():
    near = {"exact": False, "rtol": 1e-4}
    check(lambda s, v, q: ip.LinearNDInterpolator(s, v)(q), SITES, VALUES, Q, **near)
    check(lambda v, q: ip.LinearNDInterpolator(SITES, v, rescale=True)(q), VALUES, Q, **near)
    check(lambda q: ip.LinearNDInterpolator(SITES, VALUES, fill_value=0.0)(q), Q + 0.3, **near)
    check(lambda s, v, q: ip.NearestNDInterpolator(s, v)(q), SITES, VALUES, Q)


KERNELS = ("linear", "thin_plate_spline", "cubic", "quintic", "gaussian", "multiquadric",
           "inverse_multiquadric", "inverse_quadratic")  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_radial_functions(kernel):
    made, near = ip.RBFInterpolator, {"exact": False, "rtol": 1e-4}

    def function(s, v, q, a, e):
        return made(s, v, kernel=kernel, smoothing=a, epsilon=e)(q)

    check(function, SITES, VALUES, Q, 0.1, 2.0, **near)
    check(lambda q: made(SITES, VALUES, kernel=kernel, epsilon=2.0)(q), Q, second=False, **near)


def test_radial_functions_otherwise():
    check(lambda s, v, q: ip.RBFInterpolator(s, v, neighbors=6)(q), SITES, VALUES, Q, exact=False,
          rtol=1e-4)  # fmt: skip
    # At a site r**3 is flat to second order, and |r| has a kink.
    cubic = ip.RBFInterpolator(SITES, VALUES[:, 0], kernel="cubic")
    found = cr.hessian(lambda q: cubic(q)[0])(SITES[:1])
    near = cr.hessian(lambda q: cubic(q)[0])(SITES[:1] + 1e-7)
    np.testing.assert_allclose(found, near, rtol=1e-4, atol=1e-3)
    linear = ip.RBFInterpolator(SITES, VALUES[:, 0], kernel="linear")
    assert np.all(np.isfinite(cr.grad(lambda q: linear(q)[0])(SITES[:1])))
    with np.errstate(invalid="ignore"):
        assert np.any(np.isnan(cr.hessian(lambda q: linear(q)[0])(SITES[:1])))


# ---- what is SciPy's own, and what is refused ---------------------------------------------------


def test_objects_are_scipys_own_where_nothing_is_traced():
    made = {
        "CubicSpline": (X, Y), "PchipInterpolator": (X, Y), "BSpline": (KNOTS, C, 3),
        "InterpolatedUnivariateSpline": (X, Y), "interp1d": (X, Y), "KroghInterpolator": (X, Y),
        "RBFInterpolator": (SITES, VALUES), "LinearNDInterpolator": (SITES, VALUES),
    }  # fmt: skip
    for name, args in made.items():
        ours, theirs = getattr(ip, name)(*args), getattr(plain, name)(*args)
        assert isinstance(ours, getattr(plain, name))
        at = Q if name[:3] in ("RBF", "Lin") else AT
        np.testing.assert_array_equal(ours(at), theirs(at))
        if name not in ("interp1d", "KroghInterpolator"):
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours))(at), theirs(at))
    assert isinstance(ip.make_interp_spline(X, Y), plain.BSpline)
    assert isinstance(ip.CubicSpline(X, Y).derivative(), plain.PPoly)


def test_later_writes():
    y, z = Y.copy(), Z.copy()
    line, grid = ip.interp1d(X, y), ip.RegularGridInterpolator(GRID, z)
    slope = cr.grad(line)(2.3)
    y[:], z[:] = 0, 0
    assert cr.grad(line)(2.3) == slope
    np.testing.assert_array_equal(cr.grad(lambda p: grid(p)[0])(INSIDE[:1]), 0 * INSIDE[:1])


def test_single_precision():
    x, y, at = (a.astype(np.float32) for a in (X, Y, AT))
    grads = cr.grad(lambda x, y, p: np.sum(ip.CubicSpline(x, y)(p)), argnums=(0, 1, 2))(x, y, at)
    assert [g.dtype for g in grads] == [np.float32] * 3
    assert cr.grad(lambda y: np.sum(ip.interp1d(x, y)(at)))(y).dtype == np.float32
    assert (
        cr.jvp(lambda y: ip.interp1d(x, y)(at), (y,), (y,))[1].dtype == ip.interp1d(x, y)(at).dtype
    )


def test_closures():
    def curve(y):
        spline = ip.CubicSpline(X, y)
        return cr.grad(lambda p: spline(p))(2.3)  # the slope there, which depends on y

    check(curve, Y, exact=False)
    check(lambda y: ip.CubicSpline(X, y)(2.3, 1), Y)


REFUSED = {
    "chooses the knots": [
        lambda y: ip.UnivariateSpline(X, y), lambda y: ip.splrep(X, y, s=0.1),
        lambda y: ip.UnivariateSpline(X, y, s=0.5), lambda y: ip.splrep(X, y, w=W),
    ],
    "several polynomials": [lambda y: ip.CubicSpline(X, YY * y[0]).roots()],
    "without lam": [lambda y: ip.make_smoothing_spline(X, y)],
    "per or task": [lambda y: ip.splrep(X, y, per=1)],
    "CloughTocher2DInterpolator": [lambda y: ip.CloughTocher2DInterpolator(SITES[:N], y)],
    "method='cubic'": [lambda y: ip.griddata(SITES[:N], y, Q, "cubic")],
    "smoothing factor": [lambda y: ip.RectBivariateSpline(*GRID, Z * y[0], s=1)],
    "no rule yet": [lambda y: ip.insert(2.0, ip.splrep(X, y)),
                    lambda y: ip.BPoly(y.reshape(-1, 1), [0, 1]),
                    lambda y: ip.NdPPoly(y[None, :], (X,))],
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "f"), [(message, f) for message, fs in REFUSED.items() for f in fs]
)
def test_refused(message, f):
    with pytest.raises(cr.MissingRuleError, match=message):
        cr.grad(f)(Y)


def test_errors_are_scipys_own():
    with pytest.raises(ValueError, match="strictly increasing"):
        cr.grad(lambda y: ip.CubicSpline(X[::-1], y)(1.0))(Y)
    with pytest.raises(ValueError, match="bc_type"):
        cr.grad(lambda y: ip.CubicSpline(X, y, bc_type="else")(1.0))(Y)
    with pytest.raises(ValueError, match="interpolation range"):
        cr.grad(lambda y: ip.interp1d(X, y)(99.0))(Y)


def test_spline_of_two_variables_at_traced_numbers():
    """The spline itself is plain, and no option is given; it ended in a foreign error."""
    x = np.arange(5.0)
    spline = ip.RectBivariateSpline(x, x, np.outer(np.sin(x), np.cos(x)))
    y = lambda t: float(spline(t, 2.3)[0, 0])  # noqa: E731 - beside the next one
    expected = slope_of(y, (1.3,), (1.0,), 1e-5)
    assert cr.grad(lambda t: spline(t, 2.3)[0, 0])(1.3) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("degrees", [(3, 3), (1, 1), (2, 3)])
def test_a_plain_spline_of_two_variables_has_slopes_by_scipy(degrees):
    """It ran by recurrences: a derivative took 100 values."""
    spline = ip.RectBivariateSpline(*GRID, Z, kx=degrees[0], ky=degrees[1])
    x, y = INSIDE.T
    check(lambda x, y: spline.ev(x, y), x, y, rtol=1e-5)  # FITPACK has no slopes of these degrees
    check(lambda x, y: spline(x[0], y[0])[0, 0] + spline.ev(x[1], 99.0), x, y, rtol=1e-5)
    steps = str(cr.explain(cr.grad(lambda x: spline.ev(x, 1.3)), 1.1))
    assert "surface_values" in steps
    slopes = cr.vmap(cr.grad(lambda x: spline.ev(x, 1.3)))(x)  # all at once: it does not warn
    np.testing.assert_allclose(slopes, spline.ev(x, 1.3, dx=1) if degrees[0] > 1 else slopes)
    assert cr.jacobian(lambda x: spline.ev(x, 1.3), sparse=True)(x).nnz == len(x)
