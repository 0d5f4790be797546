"""Rules for Python's modules math and cmath: their own numbers, and the derivatives of NumPy's.

They are asked through ``chainrules.math`` and ``chainrules.cmath``, which show the two modules with
functions that see traced numbers.
"""

import cmath
import functools
import importlib
import math
import operator

import numpy as np

from ....config.thresholds import FEW_NUMBERS
from ... import array_of, composed, non_differentiable, primitive, rrule, scalar_rule, seen
from ..arrays.elementwise import on_the_plane

SLOPE_OF_ERF = 2 / math.sqrt(math.pi)

# The functions that NumPy has by the same name, or by another one.
SAME = """
    acosh asinh atanh acos asin atan cos cosh exp sin sinh sqrt tan tanh log10
    atan2 cbrt copysign degrees exp2 expm1 fabs fmod ldexp log1p log2 nextafter pow radians
"""
NUMPYS = {
    "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "acos": "arccos",
    "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power",
}  # fmt: skip
STEPS = """
    ceil comb factorial floor gcd isclose isfinite isinf isnan isnormal isqrt
    issubnormal lcm perm signbit trunc ulp
"""

for _module in (math, cmath):
    for _name in SAME.split():
        if hasattr(_module, _name):
            _kind = rrule.scalars[getattr(np, NUMPYS.get(_name, _name))]
            scalar_rule(getattr(_module, _name), *_kind.given)
    for _name in STEPS.split():
        if hasattr(_module, _name):
            non_differentiable(getattr(_module, _name))


def special(name):
    """A function of scipy.special, for the derivatives that need one."""
    return getattr(importlib.import_module("scipy.special"), name)


scalar_rule(math.erf, lambda _, x: SLOPE_OF_ERF * np.exp(-x * x))
scalar_rule(math.erfc, lambda _, x: -SLOPE_OF_ERF * np.exp(-x * x))
scalar_rule(math.gamma, lambda y, x: y * special("digamma")(x))
scalar_rule(math.lgamma, lambda _, x: special("digamma")(x))
scalar_rule(math.remainder, 1, lambda y, x, z: np.rint((y - x) / z))
scalar_rule(math.modf, (1,), (0,))
scalar_rule(math.frexp, (lambda y, x: np.ldexp(np.ones_like(x), -y[1]),), (0,))


@primitive
def of_parts(real, imag):
    """``complex(real, imag)``, where ``1j * imag`` loses signs of zeros and infinities."""
    z = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), complex)
    z.real, z.imag = real, imag
    return z[()]


scalar_rule(of_parts, 1, 1j)


@composed(math.log, value="own", of_numbers=np.log)
def log(x, base=math.e):
    return np.log(x) if base == math.e else np.log(x) / np.log(base)


@composed(cmath.log, value="own", of_numbers=np.log)
def complex_log(z, base=math.e):
    y = np.log(on_the_plane(z))
    return y if base == math.e else y / np.log(on_the_plane(base))


@composed(math.hypot, value="own", of_numbers=np.hypot)
def hypot(*coordinates):
    return np.linalg.norm(array_of(coordinates))


@composed(math.dist, value="own")
def dist(p, q):
    return np.linalg.norm(array_of(list(p)) - array_of(list(q)))


@composed(math.fsum, value="own")
def fsum(seq):
    numbers = list(seq)
    return sum(numbers, 0.0) if len(numbers) <= FEW_NUMBERS else np.sum(array_of(numbers))


@composed(math.prod, value="own")
def prod(iterable, start=1):
    factors = list(iterable)
    if len(factors) <= FEW_NUMBERS:
        return functools.reduce(operator.mul, factors, start)
    return start * np.prod(array_of(factors))


@composed(cmath.phase, value="own")
def phase(z):
    return np.angle(z)


@composed(cmath.polar, value="own")
def polar(z):
    return np.abs(z), np.angle(z)


@composed(cmath.rect, value="own")
def rect(r, phi):
    return r * np.cos(phi) + 1j * (r * np.sin(phi))


if hasattr(math, "sumprod"):  # since Python 3.12

    @composed(math.sumprod, value="own")
    def sumprod(p, q):
        return np.dot(array_of(list(p)), array_of(list(q)))


if hasattr(math, "fma"):  # since Python 3.13

    @composed(math.fma, value="own")
    def fma(x, y, z):
        return x * y + z


@functools.wraps(math.fsum)
def fsum_of_any(seq):
    """As ``math.fsum``; a generator is looked through, too."""
    return seen(math.fsum)(list(seq))


# What the modules are shown with: see chainrules._mirrors.
INSTEAD = {"fsum": fsum_of_any}
REFUSED: dict[str, tuple[str, str]] = {}
