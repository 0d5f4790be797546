"""Rules for scipy.interpolate.

Coefficients follow from linear systems, which are differentiated implicitly; values are linear in
the coefficients. Classes have stand-ins: objects of SciPy's own classes where nothing is traced,
whose methods see traced points; objects of ours, with the same methods, where something is.
"""

from typing import Any

from scipy import interpolate

from .. import source_classes
from ..traced_objects import NO_RULE, refused
from . import bsplines, cubic, fitpack, fits, grids, piecewise, polynomials, scattered

STAND_INS = (
    piecewise.PPoly, cubic.CubicSpline, cubic.PchipInterpolator, cubic.Akima1DInterpolator,
    cubic.CubicHermiteSpline, bsplines.BSpline, fitpack.UnivariateSpline,
    fitpack.InterpolatedUnivariateSpline, fitpack.LSQUnivariateSpline,
    polynomials.KroghInterpolator, polynomials.BarycentricInterpolator, grids.interp1d,
    grids.RegularGridInterpolator, grids.RectBivariateSpline, scattered.LinearNDInterpolator,
    scattered.NearestNDInterpolator, scattered.RBFInterpolator,
)  # fmt: skip
INSTEAD: dict[str, Any] = {cls.__name__: cls for cls in STAND_INS}
INSTEAD |= fits.INSTEAD | fitpack.INSTEAD
INSTEAD["Rbf"] = source_classes.by_source(interpolate.Rbf)

GIVE_KNOTS = "make_lsq_spline with knots, or make_smoothing_spline with lam"
REFUSED: dict[str, tuple[str, str]] = {
    "approximate_taylor_polynomial": (
        "it interpolates, and so knows its own result to some digits only",
        "cr.jvp in cr.jvp, for the derivatives that the polynomial is made of",
    ),
    "bisplrep": ("FITPACK chooses the knots, to meet a smoothing factor", "RectBivariateSpline"),
    "generate_knots": ("FITPACK chooses the knots, to meet a smoothing factor", GIVE_KNOTS),
    "insert": (NO_RULE, "the spline with the knots that it is to have"),
    "make_splprep": (NO_RULE, "splprep with s=0"),
    "sproot": (NO_RULE, "a root finder whose function is the spline"),
}

# Classes: why there is no derivative, and what to write.
REFUSED_CLASSES = {
    "AAA": ("it chooses the support points", "BarycentricInterpolator at points of your own"),
    "BPoly": (NO_RULE, "PPoly, or BSpline"),
    "CloughTocher2DInterpolator": (NO_RULE, "LinearNDInterpolator, or RBFInterpolator"),
    "FloaterHormannInterpolator": (NO_RULE, "BarycentricInterpolator"),
    "LSQBivariateSpline": (NO_RULE, "RectBivariateSpline"),
    "LSQSphereBivariateSpline": (NO_RULE, "RectBivariateSpline"),
    "NdBSpline": (NO_RULE, "RegularGridInterpolator"),
    "NdPPoly": (NO_RULE, "RegularGridInterpolator"),
    "RectSphereBivariateSpline": (NO_RULE, "RectBivariateSpline"),
    "SmoothBivariateSpline": (NO_RULE, "RectBivariateSpline"),
    "SmoothSphereBivariateSpline": (NO_RULE, "RectBivariateSpline"),
}
for _name, _why in REFUSED_CLASSES.items():
    if hasattr(interpolate, _name):
        INSTEAD[_name] = refused(getattr(interpolate, _name), *_why)
