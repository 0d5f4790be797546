"""Operations on complex numbers as operations on their real and imaginary parts, as NumPy's loops.

``op("add", x, y)`` is the operation "add" of two real values, and an operand here is a pair of
real values. What takes complex numbers apart is done in the loop, and nothing else is in memory.
"""

import math
from collections.abc import Callable
from typing import Any

Op = Callable[..., Any]
Pair = tuple[Any, Any]


def _by_parts(name: str) -> Callable:
    """Return an operation that is done to each part."""
    return lambda op, *xs: tuple([op(name, *parts) for parts in zip(*xs, strict=True)])


def _multiply(op: Op, a: Pair, b: Pair) -> Pair:
    def times(x: Any, y: Any) -> Any:
        return op("multiply", x, y)

    real = op("subtract", times(a[0], b[0]), times(a[1], b[1]))
    return real, op("add", times(a[0], b[1]), times(a[1], b[0]))


def _divide(op: Op, a: Pair, b: Pair) -> Pair:
    """Smith's way: the smaller part of the divisor by the larger one is all that is squared."""
    sizes = op("absolute", b[0]), op("absolute", b[1])
    first = op("greater_equal", *sizes)
    larger, smaller = op("where", first, *b), op("where", first, b[1], b[0])
    ratio = op("divide", smaller, larger)
    scale = op("divide", 1.0, op("add", larger, op("multiply", smaller, ratio)))
    scaled = op("multiply", a[0], ratio), op("multiply", a[1], ratio)
    real = op("add", op("where", first, a[0], scaled[0]), op("where", first, scaled[1], a[1]))
    imag = op("subtract", op("where", first, a[1], scaled[1]), op("where", first, scaled[0], a[0]))
    by_zero = op("logical_and", op("equal", b[0], 0.0), op("equal", b[1], 0.0))
    return tuple(
        [
            op("where", by_zero, op("divide", x, sizes[0]), op("multiply", part, scale))
            for x, part in zip(a, (real, imag), strict=True)
        ]
    )


_MUCH = 80.0  # of which exp is finite as a float32, too


def _exp(op: Op, z: Pair) -> Pair:
    """exp(x) (cos y + i sin y); a large exp(x) in two factors, since cos y may be small."""
    x, y = z
    large = op("greater", x, _MUCH)
    size = op("exp", op("where", large, op("subtract", x, _MUCH), x))
    rest = op("where", large, math.exp(_MUCH), 1.0)
    real, imag = (op("multiply", op("multiply", size, op(f, y)), rest) for f in ("cos", "sin"))
    imag = op("where", op("equal", y, 0.0), y, imag)  # also where the size is infinite
    # Of an infinite or undefined angle the size is known where it is 0 or infinite.
    astray = op("logical_not", op("isfinite", y))
    nothing = op("logical_and", astray, op("equal", x, -math.inf))
    everything = op("logical_and", astray, op("equal", x, math.inf))
    real = op("where", nothing, 0.0, op("where", everything, math.inf, real))
    return real, op("where", nothing, 0.0, imag)


def _sign(op: Op, z: Pair) -> Pair:
    """z / abs(z); along an axis where that part is infinite."""
    size = op("hypot", *z)
    real, imag = (op("divide", x, size) for x in z)
    endless = [op("isinf", x) for x in z]
    real = op("where", endless[0], op("sign", z[0]), op("where", endless[1], 0.0, real))
    imag = op("where", endless[1], op("sign", z[1]), op("where", endless[0], 0.0, imag))
    lost = op("logical_or", op("logical_and", *endless), op("isnan", size))
    nothing = op("equal", size, 0.0)
    return tuple([op("where", nothing, 0.0, op("where", lost, math.nan, x)) for x in (real, imag)])


def _square(op: Op, z: Pair) -> Pair:
    return _multiply(op, z, z)


def _of_parts(test: str, joined: str) -> Callable:
    """Return a truth about two parts, or those of two numbers."""
    return lambda op, *xs: op(joined, *[op(test, *parts) for parts in zip(*xs, strict=True)])


#: By the name of the operation: what gives a pair, or one real value or truth.
COMPLEX: dict[str, Callable] = {
    "add": _by_parts("add"), "subtract": _by_parts("subtract"), "negative": _by_parts("negative"),
    "multiply": _multiply, "divide": _divide, "square": _square, "exp": _exp, "sign": _sign,
    "conjugate": lambda op, z: (z[0], op("negative", z[1])),
    "absolute": lambda op, z: op("hypot", *z),
    "equal": _of_parts("equal", "logical_and"), "not_equal": _of_parts("not_equal", "logical_or"),
    "isnan": _of_parts("isnan", "logical_or"), "isinf": _of_parts("isinf", "logical_or"),
    "isfinite": _of_parts("isfinite", "logical_and"),
}  # fmt: skip
