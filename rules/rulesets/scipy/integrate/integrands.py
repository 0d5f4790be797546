"""Integrands: functions of the user's as SciPy's integrators call them, and what they give."""

import ctypes
import functools
import types

import numpy as np
from scipy import LowLevelCallable

from .....config import LostDerivativeError, MissingRuleError, MutationError, user_line
from .... import (
    TracedArray,
    TracedNumber,
    all_settled,
    array_of,
    buffer,
    healed,
    innermost,
    is_traced,
    levels_of,
    name_of,
    strip,
    value,
)
from ....shapes import FLOATS
from ....signatures import content_of
from ...functions.closures import TakenOut, is_of_an_engine
from ...functions.scan import recordings, solver_lowerings

COMPILED = (LowLevelCallable, tuple, ctypes.CFUNCTYPE(None).__base__)


def settling(f):
    """Decorator of a stand-in: arrays of an adopted module are plain until they are written to."""

    @functools.wraps(f)
    def settled(*args, **kwargs):
        args, kwargs = healed((all_settled(args), all_settled(kwargs)))
        return f(*args, **kwargs)

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
    if traced:
        build.hold_all()
    elif any(map(is_of_traced_class, build.graph.objects.values())):
        raise lost(name, functions[0], user_line())
    return build, parameters, traced


def is_of_traced_class(x):
    """Say whether the class of an object was made by a function whose traced values it holds."""
    cls = type(x)
    if "<locals>" not in cls.__qualname__:
        return False
    parts = [part for base in cls.__mro__ for part in vars(base).values()]
    functions = [part for part in parts if isinstance(part, types.FunctionType)]
    cells = [content_of(cell) for f in functions for cell in f.__closure__ or ()]
    return any(map(is_of_an_engine, (*parts, *cells)))


def one_step(f, *args, **options):
    """Return what makes ``f(*args, **options)`` one step of a recording; None where it is none.

    ``f`` is a stand-in whose solver decides by numbers to the last bit what it does next.
    """
    lower = solver_lowerings.get("jet") if recordings else None
    return None if lower is None else lower(f, args, options)


def in_one_step(f, *args, **options):
    """Return ``f(*args, **options)`` as one step of a recording; None where there is none."""
    take = one_step(f, *args, **options)
    return None if take is None else take()


def plainly(f, args, name, line, level):
    """Return ``f``, which is handed ``args`` besides, as SciPy calls it: it gives plain numbers.

    What depends on ``f`` and ``args`` is of this level. Where ``f`` writes what is traced into
    arrays that it makes of SciPy's plain ones, it is given buffers from then on, which take it.

    Raises
    ------
    LostDerivativeError
        By what is returned, where it comes by something traced in another way.
    """
    fills = False

    @functools.wraps(f, updated=("__dict__",) if hasattr(f, "__dict__") else ())
    def plain_f(*xs):
        nonlocal fills
        try:
            y = f(*(map(buffer, xs) if fills else xs), *args)
        except MutationError:
            if fills:
                raise
            fills = True
            y = f(*map(buffer, xs), *args)
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
        f"from where it cannot be replaced (a global variable, a cache, a class), in {line}.\n"
        "  pass it in args, let the function capture it as a local variable, or the object keep it "
        "in a field"
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


def as_array(y):
    """Return what the user's function gave as a number or an array, traced or plain."""
    return healed(array_of(all_settled(y)))


def number(y):
    """Return the number in ``y``, which may be an array of one."""
    if type(y) in FLOATS or (isinstance(y, TracedNumber) and not isinstance(y, TracedArray)):
        return y
    y = as_array(y) if isinstance(y, list | tuple | np.ndarray) else y
    return np.reshape(y, ()) if np.ndim(y) else y


def under(y, levels, name, f, line):
    """Return the plain number under ``y``, which is traced at these levels alone."""
    y = all_settled(healed(y))
    if not levels_of(y) <= levels:
        raise lost(name, f, line)
    return value(y)
