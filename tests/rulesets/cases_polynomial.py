"""Cases of numpy.polynomial, whose functions are plain Python that traced values run through."""

import functools

import numpy as np
from generic_points import case, normal
from numpy import polynomial

from chainrules.rules.rulesets.arrays.series import CLASSES, FUNCTIONS, MODULES

real = functools.partial(normal, (31,))
P, Q = real(4), real(3)
X, Y, V = real(5) / 2, real(5, seed=1), real(5, seed=2) / 3
W = np.abs(V) + 0.4
C2, C3 = real(2, 3), real(2, 3, 2)
Z = P + 1j * real(4, seed=1)

# By what follows the family's prefix. (NumPy makes object arrays of traced coefficients, and
# those of complex numbers are refused.)
BY_SUFFIX: dict = {
    "add": [case(P, Q)], "sub": [case(P, Q), case(Q, P)],
    "mul": [case(P, Q)], "div": [case(P, Q), case(Q, P)], "mulx": [case(P)],
    "pow": [case(Q, 3)], "val": [case(X, P), case(0.4, P), case(X, C3[0])],
    "val2d": [case(X, Y, C2)], "val3d": [case(X, Y, V, C3)],
    "valnd": [case(np.stack([X, Y]), C2), case((X, Y, V), C3)],
    "grid2d": [case(X[:2], Y[:3], C2)], "grid3d": [case(X[:2], Y[:2], V[:3], C3)],
    "der": [case(P), case(P, 2)], "int": [case(P), case(P, 2, [0.3, 0.4])],
    "fromroots": [case(Q)], "companion": [case(P), case(Q)], "vander": [case(X, 3)],
    "vander2d": [case(X, Y, [1, 2])], "vander3d": [case(X, Y, V, [1, 2, 1])],
    "weight": [case(X * 0.6)], "line": [case(0.3, 0.7)], "trim": [case(P)],
    "valfromroots": [case(X, Q)], "interpolate": [case(lambda x, a: np.cos(a * x), 3, (0.7,))],
}  # fmt: skip
CASES: dict = {
    getattr(module, prefix + suffix): cases
    for prefix, module in MODULES.items()
    for suffix, cases in BY_SUFFIX.items()
    if hasattr(module, prefix + suffix)
}
for _prefix, _module in MODULES.items():
    for _name in (f"{_prefix}2poly", f"poly2{_prefix}"):
        if hasattr(_module, _name):
            CASES[getattr(_module, _name)] = [case(P)]
BOX = np.array([-1.0, 1.5])
CASES |= {
    polynomial.polyutils.as_series: [case([P, Q])],
    polynomial.polyutils.trimseq: [case(P)],
    polynomial.polyutils.trimcoef: [case(P)],
    polynomial.polyutils.getdomain: [case(X)],
    polynomial.polyutils.mapdomain: [case(X, BOX, BOX + Q[:2] / 9)],
    polynomial.polyutils.mapparms: [case(BOX, BOX + Q[:2] / 9)],
}

# What stands in for what is refused.
CASES |= {
    f: [
        case(X, Y, 2), case(X, real(5, 2), 1), case(X, Y, [0, 2], None, False, W),
    ]
    for name, f in FUNCTIONS.items() if name.endswith("fit")
}  # fmt: skip


class Series:
    """Something done with a series of a class, as a function of its coefficients."""

    def __init__(self, cls, what, run):
        self.__name__, self.__module__ = f"{cls.__name__}.{what}", "numpy.polynomial"
        self.cls, self.run = cls, run

    def __call__(self, c, *args):
        y = self.run(self.cls, c, *args)
        return y.coef if isinstance(y, self.cls) else y


def of_series(cls):
    return {
        "__call__": (lambda cls, c, x: cls(c)(x), [case(P, X), case(P, 0.4)]),
        "arithmetic": (lambda cls, c, d: 2 * cls(c) * cls(d) - cls(d) / 3 + 1, [case(P, Q)]),
        "division": (lambda cls, c, d: cls(c) // cls(d) + cls(c) % cls(d), [case(P, Q)]),
        "power": (lambda cls, c: cls(c) ** 2, [case(Q)]),
        "calculus": (lambda cls, c: cls(c).deriv() + cls(c).integ(k=[0.5]), [case(P)]),
        "domain": (lambda cls, c, d: cls(c, domain=d)(X), [case(P, BOX)]),
        "convert": (lambda cls, c: cls(c).convert(domain=[0, 2]), [case(P)]),
        "fromroots": (lambda cls, r: cls.fromroots(r, domain=[-2, 2]), [case(Q)]),
        "of a series": (lambda cls, c, d: cls(c)(cls(d)), [case(Q, P)]),
    }


def of_following_series(cls):
    return {
        "roots": (lambda cls, c: cls(c).roots(), [case(P)]),
        "fit": (lambda cls, x, y: cls.fit(x, y, 2), [case(X, Y)]),
        "fit in a domain": (lambda cls, x, y, w: cls.fit(x, y, 2, [], w=w), [case(X, Y, W)]),
    }


SERIES = [getattr(polynomial, name) for name in CLASSES]
for _of, _classes in ((of_series, SERIES), (of_following_series, CLASSES.values())):
    for _cls in _classes:
        for _what, (_run, _cases) in _of(_cls).items():
            CASES[Series(_cls, _what, _run)] = _cases
# Plain NumPy computes some of these in float64 even from float32, by its tables of constants.
OF_ONE_DTYPE = set(CASES)
