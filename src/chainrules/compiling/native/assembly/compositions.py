"""Functions put together from those of :mod:`.mathematics`: tan, sinh, log2, arcsin, hypot, ...

Each is a line or two of identities, chosen so that nothing cancels: sinh is made of expm1, not of
the difference of two exponentials.
"""

import math
from collections.abc import Callable

from . import mathematics as own
from .assembler import Lanes

_LN2, _LN2_REST = 0.6931471805599453, 2.319046813846299558e-17


def _times_two_parts(v: Lanes, a: str, a_rest: str, b: float, b_rest: float) -> tuple[str, str]:
    """``(a + a_rest) * (b + b_rest)`` as a sum of two numbers."""
    y = v.mul(a, b)
    return y, v.fma(a_rest, b, v.fma(a, b_rest, v.fma(a, b, v.neg(y))))


def _exp2(v: Lanes, x: str) -> str:
    x = own.clamp(v, x, -1080.0, 1030.0)
    t, k = own.nearest(v, x, 1.0)
    fraction = v.sub(x, k)
    r, rest = _times_two_parts(v, fraction, "zeroinitializer", _LN2, _LN2_REST)
    tail = v.fma(v.mul(r, r), own.exp_tail(v, r), rest)
    s1, s2, _ = own.two_powers(v, t)
    return v.mul(v.mul(v.add(v.add(r, tail), 1.0), s1), s2)


def _logarithm(factor: float, rest: float) -> Callable[..., str]:
    """log(x) * (factor + rest), in two parts until the end: exact where the result is whole."""

    def log(v: Lanes, x: str) -> str:
        high, low = own.log_in_two_parts(v, x)
        y, y_rest = _times_two_parts(v, high, low, factor, rest)
        return own.log_edges(v, x, v.add(y, y_rest))

    return log


# The cube root of numbers from 0.35 to 2.83, to three digits.
_CBRT = (0.420243, 1.02589, -0.714027, 0.350336, -0.0916408, 0.00962866)


def _cbrt(v: Lanes, x: str) -> str:
    """Of 2^(3 k) f it is 2^k cbrt(f): three digits, nine by Halley's step, all by Newton's."""
    a = v.abs(x)
    e, m = own.split(v, a)
    t, k = own.nearest(v, e, 1 / 3)
    r = v.fma(k, -3.0, e)
    f = v.mul(m, v.select(v.compare("ogt", r, 0.5), 2.0, 1.0))
    f = v.mul(f, v.select(v.compare("olt", r, -0.5), 0.5, 1.0))
    y = v.polynomial(f, _CBRT)
    cube = v.mul(v.mul(y, y), y)
    y = v.mul(y, v.div(v.fma(f, 2.0, cube), v.fma(cube, 2.0, f)))
    square = v.mul(y, y)
    lost = v.fma(y, y, v.neg(square))
    excess = v.fma(lost, y, v.fma(square, y, v.neg(f)))
    y = v.sub(y, v.div(excess, v.mul(square, 3.0)))
    y = v.mul(y, own.power_of_two(v, own.whole_bits(v, t)))
    usual = v.logic("and", v.compare("ogt", a, 0.0), v.compare("olt", a, math.inf))
    return v.select(usual, v.copysign(y, x), x)


def _tan(v: Lanes, x: str) -> str:
    quadrant, s, c = own.sine_and_cosine(v, x)
    odd = v.fn.let(f"trunc {v.whole} {quadrant} to {v.truth}")
    y = v.div(v.select(odd, v.neg(c), s), v.select(odd, s, c))
    return own.unless_huge(v, x, v.select(v.compare("oeq", x, 0.0), x, y), "tan")


def _sinh(v: Lanes, x: str) -> str:
    """(m + m / (m + 1)) / 2 with m = expm1|x|, which is kept halved since it may be too large."""
    a = v.abs(x)
    large, small, scale = own.expm1_within(v, v.select(v.compare("ogt", a, 711.0), 711.0, a))
    half = v.mul(v.mul(v.add(large, small), 0.5), scale)
    y = v.add(half, v.mul(v.div(half, v.add(half, 0.5)), 0.5))
    y = v.select(v.compare("oeq", half, math.inf), math.inf, y)
    return v.copysign(v.select(v.compare("olt", a, 1e-8), a, y), x)


def _cosh(v: Lanes, x: str) -> str:
    """e / 2 + 1 / (2 e) with e = exp|x|, which is kept halved since it may be too large."""
    a = v.abs(x)
    large, small, scale = own.expm1_within(v, v.select(v.compare("ogt", a, 711.0), 711.0, a))
    half = v.fma(v.mul(v.add(large, small), 0.5), scale, 0.5)
    return v.add(half, v.div(0.25, half))


# fdlibm, e_asin.c: arcsin x = x + x R(x^2) up to a half.
_ASIN_P = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
_ASIN_Q = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)
_HALF_PI, _HALF_PI_REST = math.pi / 2, 6.123233995736766e-17


def _arcsin_parts(v: Lanes, x: str) -> tuple[str, str, str, str]:
    """Return the mask |x| > 1/2; u and its tail, where arcsin of u is u + tail; and |x|.

    Above a half u is sqrt((1 - |x|) / 2), and arccos|x| twice its arcsin.
    """
    a = v.abs(x)
    above = v.compare("ogt", a, 0.5)
    rest_of_one = v.mul(v.sub(1.0, a), 0.5)
    z = v.select(above, rest_of_one, v.mul(a, a))
    root = v.intrinsic("sqrt", v.select(above, rest_of_one, 1.0))
    u = v.select(above, root, a)
    # What rounding took from the root: (z - u^2) / (2 u), and 1 / 0 is not asked for.
    lost = v.div(v.fma(v.neg(u), u, z), v.add(v.add(u, u), 1e-300))
    lost = v.select(above, lost, 0.0)
    ratio = v.div(v.mul(z, v.polynomial(z, _ASIN_P)), v.polynomial(z, _ASIN_Q))
    return above, u, v.fma(u, ratio, lost), a


def _arcsin(v: Lanes, x: str) -> str:
    above, u, tail, _ = _arcsin_parts(v, x)
    # pi/2 - 2 (u + tail): first what is large
    first = v.fma(u, -2.0, _HALF_PI)
    lost = v.fma(u, -2.0, v.sub(_HALF_PI, first))
    far = v.add(first, v.add(v.fma(tail, -2.0, lost), _HALF_PI_REST))
    return v.copysign(v.select(above, far, v.add(u, tail)), x)


def _arccos(v: Lanes, x: str) -> str:
    above, u, tail, _ = _arcsin_parts(v, x)
    negative = v.compare("olt", x, 0.0)
    # |x| above a half: 2 (u + tail), or pi less that
    twice = v.mul(v.add(u, tail), 2.0)
    first = v.fma(u, -2.0, math.pi)
    lost = v.fma(u, -2.0, v.sub(math.pi, first))
    other = v.add(first, v.add(v.fma(tail, -2.0, lost), 2 * _HALF_PI_REST))
    far = v.select(negative, other, twice)
    # else pi/2 - (x + tail)
    signed, signed_tail = v.copysign(u, x), v.select(negative, v.neg(tail), tail)
    first = v.sub(_HALF_PI, signed)
    lost = v.sub(v.sub(_HALF_PI, first), signed)
    near = v.add(first, v.add(v.sub(lost, signed_tail), _HALF_PI_REST))
    return v.select(above, far, near)


_LARGE = 2.0**60


def _arcsinh(v: Lanes, x: str) -> str:
    """log1p(a + a^2 / (1 + sqrt(a^2 + 1))), and log a + log 2 where a^2 is all."""
    a = v.abs(x)
    large = v.compare("ogt", a, _LARGE)
    b = v.select(large, 1.0, a)
    square = v.mul(b, b)
    root = v.intrinsic("sqrt", v.add(square, 1.0))
    t = v.add(b, v.div(square, v.add(root, 1.0)))
    y = own.log1p(v, v.select(large, a, t))
    return v.copysign(v.select(large, v.add(y, _LN2), y), x)


def _arccosh(v: Lanes, x: str) -> str:
    """log1p(t + sqrt(2 t + t^2)) with t = x - 1, and log x + log 2 where x^2 is all."""
    large = v.compare("ogt", x, _LARGE)
    t = v.sub(v.select(large, 2.0, x), 1.0)
    s = v.add(t, v.intrinsic("sqrt", v.fma(t, t, v.add(t, t))))
    y = own.log1p(v, v.select(large, x, s))
    y = v.select(large, v.add(y, _LN2), y)
    return v.select(v.compare("olt", x, 1.0), math.nan, y)


def _arctanh(v: Lanes, x: str) -> str:
    """log1p(2 a / (1 - a)) / 2; below a half 2 a + 2 a^2 / (1 - a), which rounds less."""
    a = v.abs(x)
    twice = v.add(a, a)
    below = v.sub(1.0, a)
    near = v.add(twice, v.div(v.mul(twice, a), below))
    t = v.select(v.compare("olt", a, 0.5), near, v.div(twice, below))
    return v.copysign(v.mul(own.log1p(v, t), 0.5), x)


def _ordered(v: Lanes, x: str, y: str) -> tuple[str, str, str]:
    """Return the mask |y| > |x|, the larger absolute value, and the smaller one."""
    a, b = v.abs(x), v.abs(y)
    above = v.compare("ogt", b, a)
    return above, v.select(above, b, a), v.select(above, a, b)


def _hypot(v: Lanes, x: str, y: str) -> str:
    """sqrt(x^2 + y^2), scaled by a power of two where the squares would be too large or small."""
    _, larger, smaller = _ordered(v, x, y)
    huge, tiny = v.compare("ogt", larger, 2.0**500), v.compare("olt", larger, 2.0**-500)
    scale = v.select(huge, 2.0**-600, v.select(tiny, 2.0**600, 1.0))
    back = v.select(huge, 2.0**600, v.select(tiny, 2.0**-600, 1.0))
    a, b = v.mul(larger, scale), v.mul(smaller, scale)
    result = v.mul(v.intrinsic("sqrt", v.fma(a, a, v.mul(b, b))), back)
    infinite = v.logic(
        "or", v.compare("oeq", v.abs(x), math.inf), v.compare("oeq", v.abs(y), math.inf)
    )
    return v.select(infinite, math.inf, result)


def _arctan2(v: Lanes, y: str, x: str) -> str:
    """arctan of the smaller by the larger, turned into the right eighth of the circle."""
    above, larger, smaller = _ordered(v, x, y)
    ratio = v.div(smaller, larger)
    # 0 / 0 and inf / inf
    ratio = v.select(v.compare("oeq", smaller, 0.0), 0.0, ratio)
    ratio = v.select(v.compare("oeq", smaller, math.inf), 1.0, ratio)
    angle = own.arctan(v, ratio)
    angle = v.select(above, v.add(v.sub(_HALF_PI, angle), _HALF_PI_REST), angle)
    negative = v.fn.let(f"icmp slt {v.whole} {v.bits(x)}, {v.integer(0)}")  # -0.0 too
    angle = v.select(negative, v.add(v.sub(math.pi, angle), 2 * _HALF_PI_REST), angle)
    return v.select(v.compare("uno", x, y), math.nan, v.copysign(angle, y))


#: NumPy's name and what writes the function.
COMPOSED: dict[str, Callable[..., str]] = {
    "exp2": _exp2,
    "log2": _logarithm(1.4426950408889634, 2.0355273740931033e-17),
    "log10": _logarithm(0.4342944819032518, 1.098319650216765e-17),
    "cbrt": _cbrt,
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
    "hypot": _hypot,
    "arctan2": _arctan2,
}
