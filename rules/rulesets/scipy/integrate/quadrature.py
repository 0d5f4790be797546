"""Integrals over one variable by QUADPACK: quad and quad_vec."""

import ctypes
import functools
import inspect
import warnings
from itertools import pairwise

import numpy as np
from scipy import LowLevelCallable, integrate

from .....config import HasForwardsMode, LostDerivativeError, MissingRuleError, user_line
from .... import (
    Traced,
    TracedArray,
    TracedNumber,
    all_settled,
    array_of,
    healed,
    innermost,
    is_lazy,
    is_traced,
    jacobian_via_ad,
    levels_of,
    name_of,
    strip,
    value,
    with_values,
)
from ....shapes import FLOATS
from ...functions.closures import TakenOut
from ...functions.scan import recordings, solver_lowerings
from .integral import flat, integral, with_slopes
from .quadpack import Nodes
from .sensitivities import NO_STATE, Columns

COMPILED = (LowLevelCallable, tuple, ctypes.CFUNCTYPE(None).__base__)


def settling(f):
    """Decorator of a stand-in: arrays of an adopted module are plain until they are written to."""

    @functools.wraps(f)
    def settled(*args, **kwargs):
        return f(*all_settled(args), **all_settled(kwargs))

    return settled


def rebuilt(name, functions, *given):
    """Return a builder of ``functions``, its parameters, and whether anything is traced.

    The parameters are the traced values that the functions capture, or are handed as ``args``.
    """
    build = TakenOut(functions)
    parameters = build.parameters
    traced = bool(parameters) or innermost(given) is not None
    if traced and any(isinstance(f, COMPILED) for f in functions[:1]):
        raise MissingRuleError(
            f"scipy.integrate.{name} of a compiled function has no derivative, in {user_line()}.\n"
            "  give it a function in Python"
        )
    return build, parameters, traced


def plainly(f, args, name, line, level):
    """Return ``f``, which is handed ``args`` besides, as SciPy calls it: it gives plain numbers.

    What depends on ``f`` and ``args`` is of this level.

    Raises
    ------
    LostDerivativeError
        By what is returned, where it comes by something traced in another way.
    """

    @functools.wraps(f, updated=("__dict__",) if hasattr(f, "__dict__") else ())
    def plain_f(*xs):
        y = f(*xs, *args)
        if type(y) in FLOATS:
            return y
        numbers = plain_numbers(y, level)
        if numbers is not None:  # as nearly always
            return numbers
        y = strip(all_settled(healed(y)), level)
        if is_traced(y):
            raise lost(name, f, line)
        return y

    return plain_f


def lost(name, f, line):
    return LostDerivativeError(
        f"scipy.integrate.{name} was called with {name_of(f)}, which reads a traced value "
        f"from where it cannot be replaced (a global variable, a cache), in {line}.\n"
        "  pass it in args, or let the function capture it as a local variable"
    )


def plain_numbers(y, level):
    """Return the floats in a list, or an array, under traced ones of this level; else None."""
    if isinstance(y, TracedArray) and y.at_level is level:
        return y.primal if type(y.primal) is np.ndarray else None
    if type(y) not in (list, tuple):
        return None
    found = []
    for x in y:
        if isinstance(x, TracedNumber) and x.at_level is level:
            x = x.primal
        if type(x) not in FLOATS:
            return None
        found.append(x)
    return found


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


def as_array(y):
    """Return what the user's function gave as a number or an array, traced or plain."""
    return healed(array_of(all_settled(y)))


def number(y):
    """Return the number in ``y``, which may be an array of one."""
    if type(y) in FLOATS or (isinstance(y, TracedNumber) and not isinstance(y, TracedArray)):
        return y
    y = as_array(y) if isinstance(y, list | tuple | np.ndarray) else y
    return np.reshape(y, ()) if np.ndim(y) else y


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
    if (found := by_nodes(build, (a, b), full_output, constants, line)) is not None:
        return found
    result = build.run_plain(run, "scipy.integrate.quad")
    f.known = result[0]
    constants.pop("complex_func", None)
    y = integral(Quad(constants, line), f, scalar_limit(a), scalar_limit(b), *parameters)
    return (y, *result[1:])


WITHOUT_NODES = ("weight", "complex_func")


def by_nodes(build, ends, full_output, options, line):
    """Return what ``quad`` returns, with the derivative on the nodes of its value.

    The integrand runs once at each node, with a block of directions: those of all parameters. None
    where it is none of few real parameters, or the derivative is not settled on these nodes.
    """
    level = innermost(build.parameters)
    config = getattr(level, "config", None)
    if (
        not isinstance(config, HasForwardsMode)
        or innermost(ends) is not None
        or any(options.get(name) for name in WITHOUT_NODES)
    ):
        return None
    parameters = strip(build.parameters, level)
    columns = Columns(NO_STATE, parameters)
    if not columns.fit_a_block(NO_STATE, parameters) or any(map(is_lazy, value(parameters))):
        return None
    ts, ys, result = [], [], ()

    def run(known, level):
        nonlocal result
        f, args = known
        levels = levels_of(*parameters) | {level}

        def at(t):
            y = f(t, *args)
            own = y
            if not isinstance(y, TracedNumber) or isinstance(y, TracedArray):
                own = y = number(y)
            ts.append(t)
            ys.append(y)
            if isinstance(y, Traced) and y.at_level is level:
                own = y.primal
            return own if type(own) in FLOATS else under(y, levels, "quad", f, line)

        result = integrate.quad(at, *ends, (), 1, **options)
        return np.stack(ys) if ys else NO_STATE

    def values(row):
        return build.run_with(columns.parts(row)[1], run, "scipy.integrate.quad")

    ys, slopes = jacobian_via_ad(config, values, columns.row(NO_STATE, parameters))
    y, error, info, *rest = result
    try:
        nodes = Nodes(ts, *ends, info)
    except ValueError:
        return None
    if not nodes.give(y, value(ys)) or not nodes.are_enough(value(slopes), **options):
        return None
    if not full_output:
        if rest:
            warnings.warn(rest[0], integrate.IntegrationWarning, stacklevel=4)
        info, rest = (), ()
    own = with_values(np.dot(nodes.weights, ys[nodes.numbers]), y)
    slopes = columns.parts(np.dot(nodes.weights, slopes[nodes.numbers]))[1]
    y = with_slopes(own, slopes, build.parameters)
    return (y, error, info, *rest) if full_output else (y, error)


def under(y, levels, name, f, line):
    """Return the plain number under ``y``, which is traced at these levels alone."""
    y = all_settled(healed(y))
    if not levels_of(y) <= levels:
        raise lost(name, f, line)
    return value(y)


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
