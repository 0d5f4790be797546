"""Root finders of one equation as loops, for recordings: each replay does rounds of its own.

SciPy's root finders decide from numbers what they do next, so that a recording of their rounds
would serve no other numbers. Here each is a loop that a recording holds whole, with SciPy's
formulas and tests: it ends at the root that SciPy finds. Choices are ``np.where`` rather than
``if``, since each way through a round would be recorded by itself. What SciPy raises is left to it.

Reference: SciPy's ``optimize/Zeros/*.c`` and ``_zeros_py.newton``; Brent, Algorithms for
Minimization without Derivatives (1973), chapter 4.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from .....config import MutationError
from .... import dtype_of, innermost, value
from ...functions.closures import TakenOut
from ...functions.scan import recordings
from ...functions.while_loop import while_lowerings
from .calls import SolverCall

FINEST = 4 * np.finfo(float).eps  # rtol of a bracket: SciPy refuses finer ones


def root_by_loop(call: SolverCall, name: str) -> Any:
    """Return the root that ``call`` finds, with no derivative; None where SciPy has to find it.

    ``name`` is that of the parameter that is the function.
    """
    if not recordings or (find := FINDERS.get(call.own)) is None or name not in call:
        return None
    options = {**defaults(call.own), **call}
    if not options.keys() <= KNOWN:
        return None
    given = {key: options.pop(key) for key in GIVEN & options.keys()} | {"args": call.args}
    given["f"] = given.pop(name)
    taken = TakenOut(given)
    plain = value(taken.parameters)
    if not getattr(innermost(plain), "records", False) or not _are_usual(options):
        return None
    try:
        return taken.run_with(plain, lambda given, _: find(given, options), call.own.__name__)
    except (MutationError, NotRealError):
        return None


GIVEN = {"f", "func", "a", "b", "x0", "x1", "fprime", "fprime2", "args"}
KNOWN = {*GIVEN, "xtol", "tol", "rtol", "maxiter", "full_output", "disp"}


@functools.cache
def defaults(own: Callable) -> dict[str, Any]:
    """Return the arguments of a function of SciPy that need not be given."""
    parameters = inspect.signature(own).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _are_usual(options: dict) -> bool:
    """Say whether SciPy takes these options, and returns a number alone."""
    bracket = "xtol" in options
    tolerance, rtol = options["xtol" if bracket else "tol"], options["rtol"]
    return (
        not options["full_output"]
        and all(type(x) in (int, float, np.float64) for x in (tolerance, rtol))
        and tolerance > 0
        and rtol >= (FINEST if bracket else 0)
        and type(options["maxiter"]) is int
        and options["maxiter"] > 0
    )


class NotRealError(Exception):
    """Refusal of a function whose values are no real numbers: SciPy says what it makes of them."""


def real(f: Callable, *args: Any) -> Any:
    """Return what ``f`` gives, as a float of NumPy's, which may be divided by zero.

    Raises
    ------
    NotRealError
    """
    y = f(*args)
    # A value with a derivative was captured where it is not found, as in a global variable.
    if np.ndim(y) or getattr(dtype_of(y), "kind", "") not in tuple("fiu") or value(y) is not y:
        raise NotRealError
    return np.float64(1.0) * y


GOES_ON, NEAR, LOST = 0.0, 1.0, 2.0  # fates of a search


def searched(step: Callable, maxiter: int, *state: Any) -> Any:
    """Return the root at which a search ends; None where it ends elsewhere, or is no native loop.

    ``step(rounds, *state)`` says whether it is near a root, or lost, and gives the next state,
    whose first number is the best place. It is called at most ``maxiter`` times.
    """

    def goes_on(carry: tuple) -> Any:
        return (carry[0] < maxiter) & (carry[1] == GOES_ON)

    def round_of(carry: tuple) -> tuple:
        rounds, _, *state = carry
        near, lost, *state = step(rounds, *state)
        fate = np.where(lost, LOST, np.where(near, NEAR, GOES_ON))[()]
        return (rounds + 1.0, fate, *state), ()

    for lower in while_lowerings:
        found = lower(goes_on, round_of, (np.float64(0.0), np.float64(GOES_ON), *state))
        if found is not None:
            _, fate, root, *_ = found[1]
            return root if fate == NEAR else None
    return None


def chosen(where: Any, those: tuple, others: tuple) -> tuple:
    """Return those numbers where a truth holds, and the others where it does not."""
    return tuple(np.where(where, a, b)[()] for a, b in zip(those, others, strict=True))


# ---- between two places -------------------------------------------------------------------------


def of_bracket(search: Callable, given: dict, options: dict) -> Any:
    """Return the root that ``search`` finds between two places; None if no sign changes there."""
    user, args = given["f"], given["args"]

    def f(x: Any) -> Any:
        return real(user, x.item(), *args)  # a number of Python's, as of SciPy

    a, b = (np.float64(1.0) * given[name] for name in "ab")
    fa, fb = f(a), f(b)
    if fa == 0:
        return a.item()
    if fb == 0:
        return b.item()
    if not np.sign(fa) * np.sign(fb) < 0:
        return None
    root = search(f, a, fa, b, fb, options["xtol"], options["rtol"], options["maxiter"])
    return None if root is None else root.item()


def bisection(f, a, fa, b, fb, xtol, rtol, maxiter):
    def step(rounds, x, xa, width):
        width = 0.5 * width
        x = xa + width
        fx = f(x)
        xa = np.where(np.sign(fx) == np.sign(fa), x, xa)[()]
        near = (fx == 0) | (np.abs(width) < xtol + rtol * np.abs(x))
        return near, np.isnan(fx), x, xa, width

    return searched(step, maxiter, a, a, b - a)


def brent(extrapolated, f, a, fa, b, fb, xtol, rtol, maxiter):
    """Brent's method; ``extrapolated`` is a step by three places.

    Of the places that are carried, ``x`` is the best, ``xp`` the one before, and the root is
    between ``x`` and ``xb``; ``s`` is the last step, and ``sp`` the one before. The first round
    orders the ends.
    """

    def tolerance(x):
        return (xtol + rtol * np.abs(x)) / 2

    def moved(x, fx, xp, fp, xb, fb, s, sp):
        least, half = tolerance(x), (xb - x) / 2
        with np.errstate(all="ignore"):  # of the formula that is not chosen
            secant = -fx * (x - xp) / (fx - fp)
            curved = extrapolated(fx, fp, fb, (fp - fx) / (xp - x), (fb - fx) / (xb - x))
            tried = np.where(xp == xb, secant, curved)[()]
        short = 2 * np.abs(tried) < np.minimum(np.abs(sp), 3 * np.abs(half) - least)
        good = (np.abs(sp) > least) & (np.abs(fx) < np.abs(fp)) & short
        s, sp = chosen(good, (tried, s), (half, half))
        smallest = np.where(half > 0, least, -least)[()]
        return x + np.where(np.abs(s) > least, s, smallest)[()], s, sp

    def step(rounds, x, fx, xp, fp, xb, fb, s, sp):
        after, s_after, sp_after = moved(x, fx, xp, fp, xb, fb, s, sp)
        following = after, x, fx, s_after, sp_after
        x, xp, fp, s, sp = chosen(rounds < 1, (x, xp, fp, s, sp), following)
        fx = f(x)
        lost = np.isnan(fx)
        turned = np.sign(fp) * np.sign(fx) < 0
        xb, fb, s, sp = chosen(turned, (xp, fp, x - xp, x - xp), (xb, fb, s, sp))
        places = chosen(np.abs(fb) < np.abs(fx), (xb, fb, x, fx, x, fx), (x, fx, xp, fp, xb, fb))
        x, fx, _, _, xb, _ = places
        near = (fx == 0) | (np.abs(xb - x) / 2 < tolerance(x))
        return near, lost, *places, s, sp

    zero = np.float64(0.0)
    return searched(step, maxiter, b, fb, a, fa, zero, zero, zero, zero)


def by_quadratic(fx, fp, fb, slope_p, slope_b):
    return -fx * (fb * slope_b - fp * slope_p) / (slope_b * slope_p * (fb - fp))


def by_hyperbola(fx, fp, fb, slope_p, slope_b):
    return -fx * (fb - fp) / (fb * slope_p - fp * slope_b)


def ridders(f, a, fa, b, fb, xtol, rtol, maxiter):
    def tolerance(x):  # of a negative root SciPy's is smaller than xtol
        return xtol + rtol * x

    def step(rounds, before, xa, fa, xb, fb):
        half = 0.5 * (xb - xa)
        xm = xa + half
        fm = f(xm)
        move = np.where(fb - fa > 0, half, -half)[()] * fm / np.sqrt(fm * fm - fa * fb)
        least = np.minimum(np.abs(move), np.abs(half) - 0.5 * tolerance(before))
        x = xm - np.where(move > 0, least, -least)[()]
        fx = f(x)
        left = chosen(np.sign(fx) * np.sign(fa) < 0, (xa, fa, x, fx), (x, fx, xb, fb))
        xa, fa, xb, fb = chosen(np.sign(fx) * np.sign(fm) < 0, (x, fx, xm, fm), left)
        near = (fx == 0) | (np.abs(xb - xa) < tolerance(x))
        return near, np.isnan(fx), x, xa, fa, xb, fb

    return searched(step, maxiter, np.minimum(np.abs(a), np.abs(b)), a, fa, b, fb)


# ---- from a place -------------------------------------------------------------------------------


def of_start(given: dict, options: dict) -> Any:
    """Return the root that ``newton`` finds from one place; None where it may complain."""
    x0, x1, args = given["x0"], given.get("x1"), given["args"]
    if np.ndim(x0) or getattr(dtype_of(x0), "kind", "") not in tuple("fiu"):
        return None

    def float_of(name: str) -> Any:
        f = given.get(name)
        return None if f is None else lambda x: real(f, x, *args)

    f, slope, curvature = map(float_of, ("f", "fprime", "fprime2"))
    tol, rtol, maxiter = options["tol"], options["rtol"], options["maxiter"]
    x0 = np.float64(1.0) * x0

    def is_near(x, before):
        return np.abs(x - before) <= tol + rtol * np.abs(before)

    if slope is None:
        return secant(f, x0, x1, is_near, maxiter)

    def step(rounds, x):
        fx, fdot = f(x), slope(x)
        with np.errstate(all="ignore"):
            move = fx / fdot
            if curvature is not None:
                bend = move * curvature(x) / fdot / 2
                move = np.where(np.abs(bend) < 1, move / (1.0 - bend), move)[()]
        # At a root SciPy asks for no slope; elsewhere one of zero leads nowhere, and ends it.
        after = x - np.where(fx == 0, 0.0, move)[()]
        return is_near(after, x), ~np.isfinite(after), after

    return searched(step, maxiter, x0)


def secant(f, x0, x1, is_near, maxiter):
    if x1 is None:
        x1 = x0 * (1 + 1e-4)
        x1 = x1 + np.where(x1 >= 0, 1e-4, -1e-4)[()]
    else:
        x1 = np.float64(1.0) * x1

    def step(rounds, x, fx, xp, fp):
        xs, fs, xl, fl = chosen(np.abs(fx) > np.abs(fp), (xp, fp, x, fx), (x, fx, xp, fp))
        with np.errstate(all="ignore"):
            after = (-fs / fl * xl + xs) / (1 - fs / fl)  # of equal values not finite
        return is_near(after, x), ~np.isfinite(after), after, f(after), x, fx

    f0, f1 = f(x0), f(x1)
    if x0 == x1:
        return None
    places = chosen(np.abs(f1) < np.abs(f0), (x0, f0, x1, f1), (x1, f1, x0, f0))
    return searched(step, maxiter, *places)


FINDERS: dict[Callable, Callable] = {
    optimize.bisect: functools.partial(of_bracket, bisection),
    optimize.brentq: functools.partial(of_bracket, functools.partial(brent, by_quadratic)),
    optimize.brenth: functools.partial(of_bracket, functools.partial(brent, by_hyperbola)),
    optimize.ridder: functools.partial(of_bracket, ridders),
    optimize.newton: of_start,
}
