"""Cases of scipy.special's ufuncs: the points of their own tests, as numbers and as arrays."""

try:
    from scipy import special
except ImportError:
    special = None

CASES: dict = {}
TOLERANCES: dict = {}

if special is not None:
    import test_scipy_special as _points

    for _name in _points.POINTS:
        _f = getattr(special, _name)
        CASES[_f] = [(args, {}) for args in _points.POINTS[_name]]
        CASES[_f].append((tuple(_points.columns(_name)), {}))
        if _name in _points.HOLOMORPHIC:
            CASES[_f].append(((*_points.HOLOMORPHIC[_name], _points.QUARTERS[:2]), {}))
        if _name in _points.TOLERANCES:
            TOLERANCES[_f] = 10 * _points.TOLERANCES[_name]
