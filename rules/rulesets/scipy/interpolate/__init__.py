"""Rules for scipy.interpolate.

Coefficients follow from linear systems, which are differentiated implicitly; values are linear in
the coefficients. Classes have stand-ins: objects of SciPy's own classes where nothing is traced,
whose methods see traced points; objects of ours, with the same methods, where something is.
"""

from typing import Any

from . import bsplines, cubic, fitpack, fits, piecewise

STAND_INS = (
    piecewise.PPoly, cubic.CubicSpline, cubic.PchipInterpolator, cubic.Akima1DInterpolator,
    cubic.CubicHermiteSpline, bsplines.BSpline,
    fitpack.UnivariateSpline, fitpack.InterpolatedUnivariateSpline, fitpack.LSQUnivariateSpline,
)  # fmt: skip
INSTEAD: dict[str, Any] = {cls.__name__: cls for cls in STAND_INS} | fits.INSTEAD | fitpack.INSTEAD
REFUSED: dict[str, tuple[str, str]] = {}
