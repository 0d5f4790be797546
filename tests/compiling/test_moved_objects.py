"""Compiled gradients through SciPy's objects at moved arguments: right, by one recording.

What is not differentiated moves, too: data, knots and points.
"""

import warnings

import numpy as np
import pytest
from cached import recordings

import chainrules as cr

interpolate = pytest.importorskip("chainrules.scipy.interpolate")
stats = pytest.importorskip("chainrules.scipy.stats")
transform = pytest.importorskip("chainrules.scipy.spatial.transform")
Rotation = transform.Rotation

RNG = np.random.default_rng(0)
X, Y, T = np.arange(8.0), RNG.normal(size=8), np.sort(RNG.uniform(0.5, 6.5, 20))
KNOTS = np.array([0.0] * 4 + [1.5, 3.0, 4.0, 5.0] + [7.1] * 4)
SITES, AT, OF_SITES = RNG.uniform(size=(15, 2)), RNG.uniform(0.3, 0.7, (5, 2)), RNG.normal(size=15)
Q, V = np.array([0.1, 0.2, 0.3, 0.9]), RNG.normal(size=3)

PIECEWISE = ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator")
CURVES = {
    name: (lambda y, x, t, name=name: getattr(interpolate, name)(x, y)(t), (Y, X, T))
    for name in (
        *PIECEWISE, "interp1d", "make_interp_spline", "InterpolatedUnivariateSpline",
        "KroghInterpolator",
    )
}  # fmt: skip
PROGRAMS = CURVES | {
    "integral": (lambda y, x: interpolate.CubicSpline(x, y).integrate(0.5, 6.0), (Y, X)),
    "slopes": (lambda y, x, t: interpolate.CubicSpline(x, y).derivative()(t), (Y, X, T)),
    "area": (lambda y, x, t: interpolate.CubicSpline(x, y).antiderivative()(t), (Y, X, T)),
    "roots": (lambda y, x: interpolate.CubicSpline(x, y).roots(), (Y, X)),
    "make_lsq_spline": (
        lambda y, x, t: interpolate.make_lsq_spline(x, y, KNOTS[[0] * 4 + [5] + [-1] * 4])(t),
        (Y, X, T),
    ),
    "make_smoothing_spline": (
        lambda y, x, t: interpolate.make_smoothing_spline(x, y, lam=0.1)(t), (Y, X, T),
    ),
    "BSpline": (lambda y, t: interpolate.BSpline(KNOTS, y, 3)(t), (Y, T)),
    "BSpline.derivative": (lambda y, t: interpolate.BSpline(KNOTS, y, 3).derivative()(t), (Y, T)),
    "splrep": (lambda y, x, t: interpolate.splev(t, interpolate.splrep(x, y)), (Y, X, T)),
    "UnivariateSpline": (
        lambda y, x, t: interpolate.UnivariateSpline(x, y, s=0)(t), (Y, X, T),
    ),
    "RegularGridInterpolator": (
        lambda y, x, t: interpolate.RegularGridInterpolator((x,), y)(t[:, None]), (Y, X, T),
    ),
    "RectBivariateSpline": (
        lambda z, x, t: interpolate.RectBivariateSpline(x, x, z).ev(t, t),
        (RNG.normal(size=(8, 8)), X, T),
    ),
    "LinearNDInterpolator": (
        lambda z, p, q: interpolate.LinearNDInterpolator(p, z, fill_value=0.0)(q),
        (OF_SITES, SITES, AT),
    ),
    "NearestNDInterpolator": (
        lambda z, p, q: interpolate.NearestNDInterpolator(p, z)(q), (OF_SITES, SITES, AT),
    ),
    "RBFInterpolator": (
        lambda z, p, q: interpolate.RBFInterpolator(p, z)(q), (OF_SITES, SITES, AT),
    ),
    "gaussian_kde": (lambda d, t: stats.gaussian_kde(d)(t), (OF_SITES, T)),
    "norm": (lambda x, m, s: stats.norm.logpdf(x, m, s), (Y, 0.1, 1.3)),
    "norm, frozen": (lambda x, m, s: stats.norm(m, s).logcdf(x), (Y, 0.1, 1.3)),
    "gamma": (lambda a, s, x: stats.gamma.logpdf(x, a, scale=s), (2.3, 1.3, T)),
    "gamma.ppf": (lambda a, x: stats.gamma.ppf(x, a), (2.3, np.array([0.2, 0.5, 0.7]))),
    "multivariate_normal": (
        lambda m, a, x: stats.multivariate_normal.logpdf(x, m, a @ a.T + np.eye(3)),
        (V, RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))),
    ),
    "Rotation": (lambda q, v: Rotation.from_quat(q).apply(v)[:2], (Q, V)),
    "Rotation, products": (
        lambda q, v: (Rotation.from_quat(q).inv() * Rotation.from_rotvec(v) ** 1.3).as_matrix()[0],
        (Q, V),
    ),
    "Rotation, mean": (
        lambda q, v: Rotation.concatenate(
            [Rotation.from_quat(q), Rotation.from_rotvec(v)]
        ).mean().as_rotvec(),
        (Q, V),
    ),
}  # fmt: skip


@pytest.mark.parametrize("differentiated", ["first", "last", "all"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_through_objects(name, differentiated):
    f, given = PROGRAMS[name]
    places = tuple(range(len(given)))
    argnums = {"first": (0,), "last": places[-1:], "all": places}[differentiated]

    def loss(*args):
        return np.sum(np.sin(f(*args)))

    gradient = cr.grad(loss, argnums=argnums)
    compiled = cr.compile(gradient)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.CompileWarning)
        for step in range(4):
            args = [x * (1.0 + 0.002 * step) for x in given]
            for expected, found in zip(gradient(*args), compiled(*args), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert 1 == recordings(compiled)


@pytest.mark.parametrize("name", [*CURVES, "slopes", "area", "make_lsq_spline", "splrep"])
def test_values_where_points_alone_move(name):
    f, (y, x, t) = PROGRAMS[name]
    compiled = cr.compile(lambda t: f(y, x, t))
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.CompileWarning)
        for step in range(4):
            points = t * (1.0 + 0.002 * step)
            np.testing.assert_allclose(compiled(points), f(y, x, points), rtol=1e-9, atol=1e-12)
    assert 1 == recordings(compiled)
