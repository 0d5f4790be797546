"""Integrals over several variables: nquad and kin by ``quad``, qmc_quad by drawn points."""

import functools

import numpy as np
from scipy import integrate

from .....config import MissingRuleError, user_line
from .... import array_of, value, with_values
from ...functions.scan import recordings, solver_lowerings
from .integrands import as_array, plainly, rebuilt, settling
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


@functools.wraps(integrate.qmc_quad)
def qmc_quad(func, a, b, *, n_estimates=8, n_points=1024, qrng=None, log=False):
    build, parameters, traced = rebuilt("qmc_quad", (func,), a, b)
    options = {"n_estimates": n_estimates, "n_points": n_points, "qrng": qrng, "log": log}
    if not traced:
        return integrate.qmc_quad(func, a, b, **options)
    line, drawn = user_line(), []

    def run(known, level):
        plain_func = plainly(*known, (), "qmc_quad", line, level)

        def own_func(x):
            drawn.append(x)
            return plain_func(x)

        return integrate.qmc_quad(own_func, value(a), value(b), **options)

    own = build.run_plain(run, "scipy.integrate.qmc_quad")
    a, b = (np.reshape(array_of(x), -1) for x in np.broadcast_arrays(a, b))
    points = [x for x in drawn if np.shape(x) == (len(a), n_points)][-n_estimates:]
    if log or len(points) < n_estimates:
        what = "log=True" if log else "a function that takes one point at a time"
        raise MissingRuleError(
            f"scipy.integrate.qmc_quad has no derivative for {what}, in {line}.\n"
            "  write np.log(qmc_quad(...).integral), of a function of points (n_dim, n_points)"
        )
    (func,) = build(*parameters)
    volume, means = np.prod(b - a), []
    for x in points:  # in the same places of a box whose corners move
        share = (x - value(a)[:, None]) / (value(b) - value(a))[:, None]
        means.append(np.mean(as_array(func(a[:, None] + share * (b - a)[:, None]))))
    estimates = volume * np.stack(means)
    error = np.std(estimates, ddof=1) / np.sqrt(n_estimates)
    return type(own)(*with_values((np.mean(estimates), error), (own[0], own[1])))


INSTEAD = {f.__name__: settling(f) for f in (nquad, dblquad, tplquad, qmc_quad)}
