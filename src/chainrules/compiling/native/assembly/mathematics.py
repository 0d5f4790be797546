"""exp, expm1, log, log1p, tanh, sin, cos, arctan and power, for any number of lanes at a time.

Each is a formula on :class:`~.assembler.Lanes`: reduce the argument, a polynomial, put together,
with selections in place of branches. The errors, measured in ``tests/compiling/native``, are
below 1.4 units in the last place here. Only sine and cosine of more than a million branch, to
the C library, where reducing takes hundreds of digits of pi.
"""

import math
from collections.abc import Callable

from .assembler import Lanes
from .functions import each_lane
from .kinds import KINDS, bits_of

_LOG2_E = 1.4426950408889634
# Of (exp(r) - 1 - r) / r^2 for |r| up to ln(2) / 2: the least error of r^2 times it, over expm1(r).
_EXP_TAIL = (
    0.5, 0.16666666666666677, 0.041666666666666505, 0.008333333333321608, 0.0013888888888962901,
    0.00019841269886206948, 2.4801587171839347e-05, 2.7557244105253594e-06, 2.7557402945316557e-07,
    2.510908101560078e-08, 2.0875326552391256e-09,
)  # fmt: skip


def nearest(v: Lanes, x: str, scale: float) -> tuple[str, str]:
    """The whole number nearest to ``scale * x``, as the last bits of a float and as a float."""
    t = v.fma(x, scale, v.format.round)
    return t, v.sub(t, v.format.round)


def power_of_two(v: Lanes, k: str) -> str:
    """2^k of whole numbers, by their exponent bits."""
    of = v.format
    return v.from_bits(v.whole_op("shl", v.whole_op("add", k, of.bias), of.mantissa))


def whole_bits(v: Lanes, t: str) -> str:
    """Of what :func:`nearest` gives first: the whole number."""
    return v.whole_op("sub", v.bits(t), bits_of(v.format.round, v.format.code))


def two_powers(v: Lanes, t: str) -> tuple[str, str, str]:
    """2^k as two factors, for subnormal and largest results, and the exponent of the second."""
    k = whole_bits(v, t)
    half = v.whole_op("ashr", k, 1)
    other = v.whole_op("sub", k, half)
    return power_of_two(v, half), power_of_two(v, other), other


def clamp(v: Lanes, x: str, low: float, high: float) -> str:
    """``x`` within limits; NaN stays."""
    x = v.select(v.compare("ogt", x, high), high, x)
    return v.select(v.compare("olt", x, low), low, x)


def exp_tail(v: Lanes, r: str) -> str:
    """(exp(r) - 1 - r) / r^2 for |r| up to ln(2) / 2."""
    return v.polynomial(r, v.few(_EXP_TAIL, 0))


def _reduced(v: Lanes, x: str, k: str, rest: str | None = None) -> tuple[str, str]:
    """expm1(x + rest - k ln 2), where small, as r and r^2 q(r) + what rounding took of r."""
    short, long_rest = v.format.ln2
    exact = v.fma(k, -short, x)
    r = v.fma(k, -long_rest, exact)
    lost = v.fma(k, -long_rest, v.sub(exact, r))
    if rest is not None:
        r = v.add(r, rest)
    return r, v.fma(v.mul(r, r), exp_tail(v, r), lost)


def _scaled(v: Lanes, expm1: str, t: str) -> str:
    """(1 + expm1) 2^k, where t has k in its last bits."""
    s1, s2, _ = two_powers(v, t)
    return v.mul(v.mul(v.add(expm1, 1.0), s1), s2)


def _exp_of_sum(v: Lanes, x: str, rest: str) -> str:
    """exp(x + rest) for x within [-746, 710] and a small rest."""
    t, k = nearest(v, x, _LOG2_E)
    r, tail = _reduced(v, x, k, rest)
    return _scaled(v, v.add(r, tail), t)


def _exp(v: Lanes, x: str) -> str:
    x = clamp(v, x, *v.format.exp)
    t, k = nearest(v, x, _LOG2_E)
    short, long_rest = v.format.ln2
    r = v.fma(k, -long_rest, v.fma(k, -short, x))
    return _scaled(v, v.fma(v.mul(r, r), exp_tail(v, r), r), t)


def expm1_within(v: Lanes, x: str) -> tuple[str, str, str]:
    """expm1 of x from where it is -1 on, 2^k (r + tail) + 2^k - 1: (one + another) * a third."""
    t, k = nearest(v, x, _LOG2_E)
    r, tail = _reduced(v, x, k)
    s1, s2, k2 = two_powers(v, t)
    one = power_of_two(v, v.whole_op("sub", 0, k2))
    return v.fma(r, s1, v.sub(s1, one)), v.mul(tail, s1), s2


def _expm1(v: Lanes, x: str) -> str:
    large, small, scale = expm1_within(v, clamp(v, x, v.format.expm1, v.format.exp[1]))
    y = v.mul(v.add(large, small), scale)
    return v.select(v.compare("oeq", x, 0.0), x, y)  # -0.0 stays


# Moshier's tanh.c (Cephes): x + x z P(z) / Q(z) for |x| < 0.625.
_TANH_P = (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1)
_TANH_Q = (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0)


def _tanh(v: Lanes, x: str) -> str:
    """tanh|x| = 1 - 2 / (exp(2|x|) + 1) beyond 0.625; one division for this and for P / Q."""
    a = v.abs(x)
    a = v.select(v.compare("ogt", a, v.format.tanh), v.format.tanh, a)
    t, k = nearest(v, a, 2 * _LOG2_E)
    short, long_rest = v.format.ln2
    r = v.fma(k, -long_rest, v.fma(k, -short, v.add(a, a)))
    size = v.add(v.fma(v.mul(r, r), exp_tail(v, r), r), 1.0)
    d = v.fma(size, power_of_two(v, whole_bits(v, t)), 1.0)
    z = v.mul(a, a)
    small = v.compare("olt", a, 0.625)
    above = v.select(small, v.mul(v.mul(a, z), v.polynomial(z, _TANH_P)), -2.0)
    below = v.select(small, v.polynomial(z, _TANH_Q), d)
    return v.copysign(v.add(v.select(small, a, 1.0), v.div(above, below)), x)


# Of atanh(s) / s, as in fdlibm's e_log.c.
_LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)


def split(v: Lanes, x: str, subnormal: bool = True) -> tuple[str, str]:
    """``x = 2^e m`` of a positive number, m from sqrt(1/2) to sqrt(2); both as floats."""
    of = v.format
    if not subnormal:
        bits = v.bits(x)
    else:
        tiny = v.compare("olt", x, of.smallest_normal)
        bits = v.bits(v.select(tiny, v.mul(x, 2.0**of.upscale), x))
    above = v.whole_op("sub", bits, bits_of(math.sqrt(0.5), of.code))
    e = v.whole_op("ashr", above, of.mantissa)
    m = v.from_bits(v.whole_op("sub", bits, v.whole_op("shl", e, of.mantissa)))
    exponent = v.from_bits(v.whole_op("add", e, bits_of(of.round, of.code)))
    exponent = v.sub(exponent, of.round)
    if not subnormal:
        return exponent, m
    return v.select(tiny, v.sub(exponent, float(of.upscale)), exponent), m


def _log_positive(v: Lanes, x: str, lost: str | None = None) -> str:
    """log of x > 0: log m = f - (f^2/2 - s (f^2/2 + R)), as in fdlibm.

    With what rounding ``lost`` of a normal x, the rest is ``lost / x``, of which a few digits do.
    """
    e, m = split(v, x, subnormal=lost is None)
    f = v.sub(m, 1.0)
    s = v.div(f, v.add(f, 2.0))
    z = v.mul(s, s)
    tail = v.mul(z, v.polynomial(z, v.few(_LOG, 1)))
    half_square = v.mul(v.mul(f, f), 0.5)
    short, long_rest = v.format.ln2
    low = v.fma(e, long_rest, v.mul(s, v.add(half_square, tail)))
    if lost is not None:
        # 1/m = (1 - s) / (1 + s); the bits of 2 m / x, 0 at the largest x, are a difference.
        two = v.whole_op("add", v.bits(m), bits_of(2.0, v.format.code))
        twice = v.from_bits(v.whole_op("sub", two, v.bits(x)))
        half = v.fma(z, v.sub(1.0, s), v.sub(0.5, s))
        low = v.fma(v.mul(lost, twice), half, low)
    y = v.sub(v.sub(half_square, low), f)
    return v.fma(e, short, v.neg(y))


def log_edges(v: Lanes, x: str, y: str) -> str:
    y = v.select(v.compare("oeq", x, 0.0), -math.inf, y)
    y = v.select(v.compare("olt", x, 0.0), math.nan, y)
    return v.select(v.compare("ueq", x, math.inf), x, y)  # +inf and NaN


def _log(v: Lanes, x: str) -> str:
    return log_edges(v, x, _log_positive(v, x))


def log1p(v: Lanes, x: str) -> str:
    """log(u) + c / u, where u is 1 + x as rounded, and c what rounding took."""
    u = v.add(x, 1.0)
    y = log_edges(v, u, _log_positive(v, u, v.sub(x, v.sub(u, 1.0))))
    return v.select(v.compare("olt", v.abs(x), v.format.log1p), x, y)


_HALF_PI_REST = 6.123233995736765886130e-17
# pi / 2 in three parts; the first two end in zeros, so times a whole number they are exact.
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_LARGEST_ANGLE = 1e6
# fdlibm, k_sin.c and k_cos.c.
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def _quarter_turns(v: Lanes, x: str) -> tuple[str, str, str]:
    """The nearest quarter turn, in the last bits, and what is left of x, in two parts."""
    t, k = nearest(v, x, 2 / math.pi)
    if v.kind == "f4":  # the turns are taken off in doubles, which keep all bits
        w = v.of("f8")
        turns = v.cast("fpext", k, w)
        left = w.fma(turns, -math.pi / 2, v.cast("fpext", x, w))
        left = w.fma(turns, -_HALF_PI_REST, left)
        return v.bits(t), w.cast("fptrunc", left, v), v.number(0.0)
    first, second, third = _HALF_PI
    exact = v.fma(k, -first, x)
    nearly = v.fma(k, -second, exact)
    small = v.fma(k, -third, v.fma(k, -second, v.sub(exact, nearly)))
    r = v.add(nearly, small)
    return v.bits(t), r, v.sub(small, v.sub(r, nearly))


def sine_and_cosine(v: Lanes, x: str) -> tuple[str, str, str]:
    """The nearest quarter turn, in the last bits, and sine and cosine of what is left of x."""
    quadrant, r, rest = _quarter_turns(v, x)
    z = v.mul(r, r)
    s = v.add(v.fma(v.mul(z, r), v.polynomial(z, v.few(_SIN, 2)), rest), r)
    low = v.fma(v.mul(z, z), v.polynomial(z, v.few(_COS, 3)), v.neg(v.mul(r, rest)))
    most = v.fma(z, -0.5, 1.0)
    lost = v.fma(z, -0.5, v.sub(1.0, most))
    return quadrant, s, v.add(most, v.add(low, lost))


def _sine(v: Lanes, x: str, quarter_turns: int) -> str:
    quadrant, s, c = sine_and_cosine(v, x)
    if quarter_turns:
        quadrant = v.whole_op("add", quadrant, quarter_turns)
    odd = v.fn.let(f"trunc {v.whole} {quadrant} to {v.truth}")
    sign = v.whole_op("shl", v.whole_op("and", quadrant, 2), 8 * KINDS[v.kind].bytes - 2)
    return v.from_bits(v.whole_op("xor", v.bits(v.select(odd, c, s)), sign))


def unless_huge(v: Lanes, x: str, y: str, name: str) -> str:
    """``y``, but C's function of ``x`` where an ``x`` is huge or not finite."""
    fn, before = v.fn, v.fn.block
    huge = v.compare("ugt", v.abs(x), _LARGEST_ANGLE)
    if v.width > 1:
        kind = f"i{v.width}"
        bits = fn.let(f"bitcast {v.truth} {huge} to {kind}")
        huge = fn.let(f"icmp ne {kind} {bits}, 0")
    slow, after = fn.label(), fn.label()
    fn.put(f"br i1 {huge}, label %{slow}, label %{after}")
    fn.start(slow)
    z = each_lane(v, name, x)
    fn.put(f"br label %{after}")
    fn.start(after)
    return fn.let(f"phi {v.real} [ {y}, %{before} ], [ {z}, %{slow} ]")


def _sin(v: Lanes, x: str) -> str:
    y = v.select(v.compare("oeq", x, 0.0), x, _sine(v, x, 0))  # -0.0 stays
    return unless_huge(v, x, y, "sin")


def _cos(v: Lanes, x: str) -> str:
    return unless_huge(v, x, _sine(v, x, 1), "cos")


# Moshier's atan.c (Cephes): x + x z P(z) / Q(z) for |x| < 0.66.
_ATAN_P = (
    -6.485021904942025371773e1,
    -1.228866684490136173410e2,
    -7.500855792314704667340e1,
    -1.615753718733365076637e1,
    -8.750608600031904122785e-1,
)
_ATAN_Q = (
    1.945506571482613964425e2,
    4.853903996359136964868e2,
    4.328810604912902668951e2,
    1.650270098316988542046e2,
    2.485846490142306297962e1,
    1.0,
)


def arctan(v: Lanes, x: str) -> str:
    """arctan|x| = base + arctan t: t = -1/x beyond tan(3 pi/8), (x - 1)/(x + 1) beyond 0.66."""
    a = v.abs(x)
    far, middle = v.compare("ogt", a, 2.414213562373095), v.compare("ogt", a, 0.66)
    above = v.select(far, -1.0, v.select(middle, v.sub(a, 1.0), a))
    below = v.select(far, a, v.select(middle, v.add(a, 1.0), 1.0))
    base = v.select(far, math.pi / 2, v.select(middle, math.pi / 4, 0.0))
    rest = v.select(far, _HALF_PI_REST, v.select(middle, 0.5 * _HALF_PI_REST, 0.0))
    t = v.div(above, below)
    z = v.mul(t, t)
    ratio = v.div(v.mul(z, v.polynomial(z, _ATAN_P)), v.polynomial(z, _ATAN_Q))
    y = v.add(base, v.add(v.fma(t, ratio, rest), t))
    return v.copysign(y, x)


def _exact_sum(v: Lanes, a: str, b: str) -> tuple[str, str]:
    """``a + b`` as rounded, and what rounding took; any order of size."""
    s = v.add(a, b)
    bb = v.sub(s, a)
    return s, v.add(v.sub(a, v.sub(s, bb)), v.sub(b, bb))


# 2 / (2 k + 3) for k >= 1: atanh(s) = s + s^3 (1/3 + z/5 + z^2/7 + ...) with z = s^2.
_ATANH = [2 / (2 * k + 3) for k in range(1, 12)]
_TWO_THIRDS, _TWO_THIRDS_REST = 0.6666666666666666, 3.7007434154171886e-17


def log_in_two_parts(v: Lanes, x: str) -> tuple[str, str]:
    """log of x > 0 to some 68 bits, as a sum of two doubles: what a power needs."""
    e, m = split(v, x)
    f = v.sub(m, 1.0)
    d = v.add(f, 2.0)
    d_rest = v.sub(f, v.sub(d, 2.0))
    # s = f / (f + 2), and its rest
    s = v.div(f, d)
    s_rest = v.div(v.fma(v.neg(s), d_rest, v.fma(v.neg(s), d, f)), d)
    z = v.mul(s, s)
    z_rest = v.fma(v.add(s, s), s_rest, v.fma(s, s, v.neg(z)))
    # t = 2/3 + 2/5 z + ..., and its rest
    p = v.mul(z, v.polynomial(z, _ATANH))
    t = v.add(p, _TWO_THIRDS)
    t_rest = v.add(v.add(v.sub(_TWO_THIRDS, t), p), _TWO_THIRDS_REST)
    cube = v.mul(s, z)
    cube_rest = v.fma(s, z_rest, v.fma(s_rest, z, v.fma(s, z, v.neg(cube))))
    u = v.mul(cube, t)
    u_rest = v.fma(cube, t_rest, v.fma(cube_rest, t, v.fma(cube, t, v.neg(u))))
    # e ln 2 + 2 s + u
    short, long_rest = v.format.ln2
    first, first_rest = _exact_sum(v, v.mul(e, short), v.add(s, s))
    second, second_rest = _exact_sum(v, first, u)
    rest = v.add(v.add(first_rest, second_rest), v.fma(s_rest, 2.0, u_rest))
    rest = v.fma(e, long_rest, rest)
    high = v.add(second, rest)
    return high, v.add(v.sub(second, high), rest)


def _power(v: Lanes, x: str, y: str) -> str:
    """x^y = exp(y log|x|) and the cases of C's ``pow``."""
    a = v.abs(x)
    high, low = log_in_two_parts(v, a)
    high = v.select(v.compare("oeq", a, 0.0), -math.inf, high)
    high = v.select(v.compare("oeq", a, math.inf), math.inf, high)
    product = v.mul(y, high)
    rest = v.fma(y, low, v.fma(y, high, v.neg(product)))
    # Where the product is beyond what exp can give, or not finite, so is the rest.
    usual = v.compare("olt", v.abs(product), 745.5)
    size = _exp_of_sum(v, clamp(v, product, *v.format.exp), v.select(usual, rest, 0.0))
    whole = v.compare("oeq", v.intrinsic("trunc", y), y)
    half = v.mul(y, 0.5)
    odd = v.logic("and", whole, v.compare("une", v.intrinsic("trunc", half), half))
    signed = v.select(odd, v.copysign(size, x), size)
    # A negative number to a power that is no whole number, infinities apart.
    negative = v.logic("and", v.compare("olt", x, 0.0), v.compare("ogt", x, -math.inf))
    signed = v.select(v.choose(negative, v.logic("xor", whole, True), False), math.nan, signed)
    signed = v.select(v.compare("uno", x, y), math.nan, signed)
    # 1^y and x^0 are 1 even for NaN; (-1)^inf is 1.
    infinite = v.compare("oeq", v.abs(y), math.inf)
    unit = v.logic("and", v.compare("oeq", a, 1.0), infinite)
    one = v.logic("or", v.compare("oeq", x, 1.0), v.compare("oeq", y, 0.0))
    return v.select(v.logic("or", one, unit), 1.0, signed)


#: NumPy's name and what writes the function.
FUNCTIONS: dict[str, Callable[..., str]] = {
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": log1p,
    "tanh": _tanh,
    "sin": _sin,
    "cos": _cos,
    "arctan": arctan,
    "power": _power,
}

#: Those whose formula holds for float32 as well; others are computed in doubles, and rounded.
SINGLE = frozenset({"exp", "expm1", "log", "log1p", "tanh", "sin", "cos"})
