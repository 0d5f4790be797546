"""Integrals over several variables, which are made of ``quad``: nquad, dblquad and tplquad."""

import functools

from scipy import integrate

from .....config import user_line
from .... import value
from ...functions.scan import recordings, solver_lowerings
from .integrands import plainly, rebuilt, settling
from .quadrature import quad


def ranged(limits):
    """Return the function that gives both limits: of the variables further out, and args."""
    return limits if callable(limits) else lambda *_: limits


def _called(f, arguments):
    return f(**arguments)


@functools.wraps(integrate.nquad)
def nquad(func, ranges, args=None, opts=None, full_output=False):
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    functions = (func, tuple(ranges), args, opts)
    build, _, traced = rebuilt("nquad", functions)
    if not traced:
        return integrate.nquad(func, ranges, args, opts, full_output)
    # First, for the errors are SciPy's own, and for what it says of its error.
    line = user_line()

    def run(known, level):
        func, ranges, args, opts = known

        def own(x):
            return plainly(x, args, "nquad", line, level) if callable(x) else value(x)

        opts = list(map(own, opts)) if isinstance(opts, list | tuple) else own(opts)
        return integrate.nquad(own(func), list(map(own, ranges)), None, opts, full_output)

    result = None
    if recordings and not full_output and (lower := solver_lowerings.get("answer")) is not None:
        given = {"func": func, "ranges": tuple(ranges), "args": args, "opts": opts}
        plainly_solved = functools.partial(_called, integrate.nquad)
        result = lower(given, plainly_solved, frozenset(given), "nquad", True)
    if result is None:
        result = build.run_plain(run, "scipy.integrate.nquad")
    depth = len(ranges)
    limits = [ranged(r) for r in ranges]
    opts = [opts or {}] * depth if opts is None or isinstance(opts, dict) else list(opts)

    def inner(*given, level):
        """Integrate over the variable of ``level``; those further out come first in ``given``."""
        low, high = limits[level](*given)
        opt = opts[level]
        opt = dict(opt(*given) if callable(opt) else opt)
        if "points" in opt:
            opt["points"] = [x for x in opt["points"] if value(low) <= x <= value(high)]
        f = functools.partial(inner, level=level - 1) if level else func
        return quad(f, low, high, args=given, **opt)[0]

    return (inner(*args, level=depth - 1), *result[1:])


@functools.wraps(integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def inner(x, *_):
        return [end_at(gfun, x), end_at(hfun, x)]

    opts = {"epsabs": epsabs, "epsrel": epsrel}
    return nquad(func, [inner, [a, b]], args=args, opts=opts)


@functools.wraps(integrate.tplquad)
def tplquad(func, a, b, gfun, hfun, qfun, rfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def innermost_limits(y, x, *_):
        return [end_at(qfun, x, y), end_at(rfun, x, y)]

    def inner(x, *_):
        return [end_at(gfun, x), end_at(hfun, x)]

    opts = {"epsabs": epsabs, "epsrel": epsrel}
    return nquad(func, [innermost_limits, inner, [a, b]], args=args, opts=opts)


def end_at(limit, *xs):
    return limit(*xs) if callable(limit) else limit


INSTEAD = {f.__name__: settling(f) for f in (nquad, dblquad, tplquad)}
