"""Integrals over one variable by QUADPACK: quad and quad_vec."""

import functools
import inspect
import warnings
from itertools import pairwise

import numpy as np
from scipy import integrate

from .....config import MissingRuleError, user_line
from .... import innermost, value, with_values
from ....shapes import FLOATS
from ...functions.scan import recordings, solver_lowerings
from .integral import flat, integral
from .integrands import as_array, in_one_step, number, plainly, rebuilt, settling
from .quadpack import by_nodes


class Quad:
    """QUADPACK, with these options, for each number that the integrand gives."""

    def __init__(self, options, line, derivative=False, sharp=False):
        self.options, self.line, self.derivative, self.sharp = options, line, derivative, sharp

    def of_derivative(self):
        return Quad(self.options, self.line, True, self.sharp)

    def check_ends(self):
        if self.options.get("weight") is not None:
            raise MissingRuleError(
                "scipy.integrate.quad with weight has no derivative in its limits, "
                f"in {self.line}.\n  write the weight into the function"
            )

    def __call__(self, f, a, b):
        shape, whole = (), {}  # what f gave at each node: for all numbers these are nearly the same

        def numbers(t):
            nonlocal shape
            if t not in whole:
                y = f(t)
                if type(y) in FLOATS:
                    shape, whole[t] = ((), np.dtype(float)), (y,)
                    return whole[t]
                y = np.asarray(y)
                shape = y.shape, y.dtype
                whole[t] = flat([y]).tolist()
            return whole[t]

        count = len(numbers(middle(a, b, self.options.get("points"))))
        parts = np.array([self.one(lambda t, i=i: numbers(t)[i], a, b) for i in range(count)])
        (shape, dtype), half = shape, count // 2
        y = parts[:half] + 1j * parts[half:] if dtype.kind == "c" else parts
        return np.reshape(y, shape)[()]

    def one(self, f, a, b):
        y, _, *more = integrate.quad(f, a, b, full_output=1, **self.options)
        if len(more) > 1:
            what = "the derivative of " if self.derivative else ""
            message = f"{what}scipy.integrate.quad in {self.line}: {more[1]}"
            warnings.warn(message, integrate.IntegrationWarning, stacklevel=3)
        return y


def middle(a, b, points=None):
    """Return a node of QUADPACK's, where an integrand may be asked for its shape."""
    if np.isinf(a) and np.isinf(b):
        return 1.0
    if np.isinf(a) or np.isinf(b):
        return float(b - np.sign(b - a)) if np.isinf(a) else float(a + np.sign(b - a))
    inside = [x for x in np.ravel(points if points is not None else []) if a < x < b or b < x < a]
    return 0.5 * float(a + (min(inside) if a < b else max(inside)) if inside else a + b)


def scalar_limit(x):
    """Return a limit as a number: SciPy takes arrays of one."""
    return np.reshape(x, ())[()] if np.ndim(x) else x


NOT_OF_PARTS = "points", "full_output", "workers", "complex_func"


def in_pieces(way, f, a, b, options, parameters):
    """The integral as a sum between break points, which are limits that move.

    A jump or a kink of the integrand moves with them, which its own derivative does not show.
    """
    low, high = sorted((value(a), value(b)))
    inside = sorted((x for x in options["points"] if low < value(x) < high), key=value)
    ends = [a, *(inside if low == value(a) else inside[::-1]), b]
    constants = {name: value(x) for name, x in options.items() if name not in NOT_OF_PARTS}
    parts = [integral(way(constants), f, *pair, *parameters) for pair in pairwise(ends)]
    return sum(parts[1:], parts[0])


NAMES_OF_QUAD = list(inspect.signature(integrate.quad).parameters)[5:]
NAMES_OF_QUAD_VEC = list(inspect.signature(integrate.quad_vec).parameters)[3:]


@functools.wraps(integrate.quad)
def quad(func, a, b, args=(), full_output=0, *more, **options):
    options |= dict(zip(NAMES_OF_QUAD, more))
    args = args if isinstance(args, tuple) else (args,)
    constants = {name: value(x) for name, x in options.items()}
    build, parameters, traced = rebuilt("quad", (func, args), a, b, options)
    if not traced:
        return integrate.quad(func, a, b, args, full_output, **options)
    line = user_line()
    for name in ("wvar",):
        if innermost((options.get(name),)) is not None:
            raise MissingRuleError(
                f"scipy.integrate.quad has no derivative in {name}, in {line}.\n"
                "  write the weight into the function"
            )

    def f(t, *parameters):
        func, args = build(*parameters)
        return number(func(t, *args))

    def run(known, level):
        own = plainly(*known, "quad", line, level)
        return integrate.quad(own, value(a), value(b), (), full_output, **constants)

    if innermost((options.get("points"),)) is not None and options.get("weight") is None:
        own = build.run_plain(run, "scipy.integrate.quad")
        way = functools.partial(Quad, line=line, sharp=True)
        ends = scalar_limit(a), scalar_limit(b)
        return (with_values(in_pieces(way, f, *ends, options, parameters), own[0]), *own[1:])
    if recordings and not full_output and (lower := solver_lowerings.get("quad")) is not None:
        ends = scalar_limit(a), scalar_limit(b)
        if (found := lower(func, args, ends, options, line)) is not None:
            return found
    if not full_output and (found := in_one_step(quad, func, a, b, args, **options)) is not None:
        return found
    if (found := by_nodes(build, (a, b), full_output, constants, line)) is not None:
        return found
    result = build.run_plain(run, "scipy.integrate.quad")
    f.known = result[0]
    constants.pop("complex_func", None)
    y = integral(Quad(constants, line), f, scalar_limit(a), scalar_limit(b), *parameters)
    return (y, *result[1:])


class QuadVec:
    """``quad_vec``, with these options."""

    def __init__(self, options, line, sharp=False):
        self.options, self.line, self.sharp = options, line, sharp

    def of_derivative(self):
        return self

    def check_ends(self):
        pass

    def __call__(self, f, a, b):
        def flattened(t):
            return np.asarray(f(t), float)

        y, _, info = integrate.quad_vec(f, a, b, full_output=True, **self.options)
        if info.status not in (0, 2):  # converged, or as far as rounding allows
            warnings.warn(
                f"the derivative of scipy.integrate.quad_vec in {self.line}: {info.message}",
                integrate.IntegrationWarning,
                stacklevel=3,
            )
        return y


@functools.wraps(integrate.quad_vec)
def quad_vec(f, a, b, *more, args=(), **options):
    options |= dict(zip(NAMES_OF_QUAD_VEC, more))
    args = args if isinstance(args, tuple) else (args,)
    build, parameters, traced = rebuilt("quad_vec", (f, args), a, b, options)
    own_args = {"args": args} if args else {}
    if not traced:
        return integrate.quad_vec(f, a, b, **options, **own_args)
    if (found := in_one_step(quad_vec, f, a, b, args=args, **options)) is not None:
        return found
    line = user_line()
    constants = {name: value(x) for name, x in options.items()}

    def integrand(t, *parameters):
        f, args = build(*parameters)
        return as_array(f(t, *args))

    def run(known, level):
        own = plainly(*known, "quad_vec", line, level)
        return integrate.quad_vec(own, value(a), value(b), **constants)

    result = build.run_plain(run, "scipy.integrate.quad_vec")
    if innermost((options.get("points"),)) is not None:
        way = functools.partial(QuadVec, line=line, sharp=True)
        parts = in_pieces(way, integrand, a, b, options, parameters)
        return (with_values(parts, result[0]), *result[1:])
    integrand.known = result[0]
    for name in ("full_output", "workers"):
        constants.pop(name, None)
    y = integral(QuadVec(constants, line), integrand, a, b, *parameters)
    return (y, *result[1:])


INSTEAD = {f.__name__: settling(f) for f in (quad, quad_vec)}
