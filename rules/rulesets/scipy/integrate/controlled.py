"""Step control of RK23 and RK45 as a loop, for recordings: each replay takes steps of its own.

SciPy's control decides from numbers how long the next step is, so that a recording of its steps
would serve no other numbers. Here it is a loop that a recording holds whole, with SciPy's formulas,
and the steps are those that SciPy takes. Their lengths are held constant in derivatives, as they
are for the steps of SciPy itself.

Reference: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, section II.4.
"""

import functools

import numpy as np
from scipy import integrate

from .... import array_of, innermost, iterate_leaves, stop_gradient
from ...functions.while_loop import while_lowerings
from .steps import Explicit

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # SciPy's: of the next step, and its bounds
NEAR = 4e-15  # of the time: steps as short as this are SciPy's affair
CONTROLLED = {integrate.RK23: 2, integrate.RK45: 4}  # and the orders of their error estimates
OPTIONS = {"rtol": 1e-3, "atol": 1e-6, "max_step": np.inf, "first_step": None}
SUCCESS = "The solver successfully reached the end of the integration interval."


@functools.cache
def answer_type():
    """Return the type of SciPy's answers."""
    return type(integrate.solve_ivp(lambda t, y: 0 * y, (0.0, 1.0), [0.0]))


def controlled(given, state, t_span, y0, method, t_eval, options):
    """Return what ``solve_ivp`` returns, by a loop that a recording holds whole; else None.

    ``given`` are the user's function and its args, and ``state`` makes an array of what it gives.
    """
    options = OPTIONS | options
    known = method in CONTROLLED and set(options) == set(OPTIONS) and while_lowerings
    plain = (t_span, t_eval, tuple(options.values()))
    if not known or innermost(plain) is not None:
        return None
    start, stop = map(float, t_span)
    times = None if t_eval is None else np.asarray(t_eval, float)
    if not _is_usual(start, stop, y0, times, options):
        return None
    fun, args = given[0], given[1] or ()

    def rhs(t, y):
        return state(fun(t, y, *args))

    y0 = array_of(y0) + 0.0
    f0 = rhs(start, y0)
    control = Control(Explicit(method).regular, method.E, CONTROLLED[method], options)
    h, extra = options["first_step"], 1
    if h is None:
        h, extra = control.first_step(rhs, start, stop, y0, f0), 2
    carry = np.float64(start), np.float64(1.0) * h, y0, f0, np.float64(0.0)

    def goes_on(carry):
        return (carry[0] < stop) & (carry[1] >= NEAR * np.abs(carry[0]))

    for lower in while_lowerings:
        found = lower(goes_on, functools.partial(control.step, rhs, stop), carry)
        if found is not None and found[1][0] == stop:
            return control.answer(found, extra, start, times)
    return None


def _is_usual(start, stop, y0, times, options):
    """Say whether arguments are such that SciPy raises nothing, warns of nothing, and steps."""
    numbers = all(np.ndim(x) == 0 for x in (options["rtol"], options["max_step"]))
    first = options["first_step"]
    inside = times is None or (
        times.ndim == 1 and len(times) > 0 and np.all(np.diff(times) > 0)
        and start <= times[0] and times[-1] <= stop
    )  # fmt: skip
    return (
        numbers
        and start < stop
        and inside
        and np.ndim(y0) == 1
        and np.size(y0) > 0
        and np.shape(options["atol"]) in ((), np.shape(y0))
        and np.all(np.asarray(options["atol"]) >= 0)
        and options["rtol"] >= 100 * np.finfo(float).eps
        and options["max_step"] > 0
        and (first is None or 0 < first <= stop - start)
        and all(np.asarray(x).dtype == float for x in iterate_leaves(y0) if innermost((x,)) is None)
        and array_of(y0).dtype == float
    )


class Control:
    """Steps of a method with these weights, and how long the next one is."""

    def __init__(self, weights, errors, order, options):
        self.weights, self.errors, self.order = weights, errors, order
        self.rtol, self.atol = options["rtol"], np.asarray(options["atol"], float)[()]
        self.longest = options["max_step"]

    def norm(self, x):
        return np.linalg.norm(x) / np.size(x) ** 0.5

    def first_step(self, rhs, start, stop, y0, f0):
        """Return the length of the first step: Hairer's rule, as in SciPy."""
        y, f, whole = stop_gradient(y0), stop_gradient(f0), stop - start
        scale = self.atol + np.abs(y) * self.rtol
        d0, d1 = self.norm(y / scale), self.norm(f / scale)
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h0 = np.minimum(h0, whole)
        f1 = stop_gradient(rhs(start + h0, y + h0 * f))
        d2 = self.norm((f1 - f) / scale) / h0
        if d1 <= 1e-15 and d2 <= 1e-15:
            h1 = np.maximum(1e-6, h0 * 1e-3)
        else:
            h1 = (0.01 / np.maximum(d1, d2)) ** (1 / (self.order + 1))
        return np.minimum(np.minimum(100 * h0, h1), np.minimum(whole, self.longest))

    def step(self, rhs, stop, carry):
        """Try a step; return what is carried on, and the step, of which it tells the end."""
        t, h, y, f, rejected = carry
        end = np.minimum(t + np.minimum(h, self.longest), stop)
        h = end - t
        slopes = [f]
        for row, c in zip(self.weights.rows, self.weights.times):
            after = y + h * sum_of(row, slopes)
            slopes.append(rhs(t + c * h, after))
        error = h * sum_of(self.errors, slopes)
        largest = np.maximum(np.abs(stop_gradient(y)), np.abs(stop_gradient(after)))
        size = self.norm(stop_gradient(error) / (self.atol + largest * self.rtol))
        accepted = size < 1
        factor = SAFETY * np.maximum(size, 1e-300) ** (-1 / (self.order + 1))
        longer = np.minimum(np.where(rejected > 0, 1.0, MOST)[()], factor)
        following = h * np.where(accepted, longer, np.maximum(LEAST, factor))[()]
        end, rejected = np.where(accepted, end, t)[()], np.where(accepted, 0.0, 1.0)[()]
        row = t, h, end, y, np.stack(slopes)
        after, last = (np.where(accepted, a, b) for a, b in ((after, y), (slopes[-1], f)))
        return (end, following, after, last, rejected), row

    def answer(self, found, extra, start, times):
        """Return SciPy's answer, of the steps that the loop took."""
        count, (_, _, last, _, _), (ts, hs, ends, ys, slopes) = found
        rounds = np.arange(len(ends))
        if times is None:
            accepted = (rounds < count) & (ends > ts)
            t = np.concatenate([[start], ends[accepted]])
            states = np.concatenate([ys[accepted], last[None]])
        else:
            # A step that was rejected ends where it began, and so does not hold a time by itself.
            k = np.searchsorted(np.where(rounds < count, ends, np.inf), times)
            t, x = np.copy(times), (times - ts[k]) / hs[k]
            powers = np.stack([x ** (i + 1) for i in range(len(self.weights.powers))], axis=1)
            weights = powers @ self.weights.powers
            states = ys[k] + hs[k][:, None] * np.sum(weights[:, :, None] * slopes[k], axis=1)
        return answer_type()(
            t=t, y=np.copy(np.transpose(states), order="C"), sol=None, t_events=None,
            nfev=extra + count * len(self.weights.rows), njev=0, nlu=0, status=0,
            y_events=None, message=SUCCESS, success=True,
        )  # fmt: skip


def sum_of(weights, slopes):
    """Return the weighted sum of slopes, without those of weight zero."""
    return sum(w * k for w, k in zip(weights.tolist(), slopes) if w)
