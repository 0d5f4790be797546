"""Step control of RK23, RK45 and DOP853 as a loop: each replay takes steps of its own.

SciPy's control decides from numbers how long the next step is, so that a recording of its steps
would serve no other numbers. Here it is a loop that a recording holds whole, with SciPy's formulas,
and the steps are those that SciPy takes. Their lengths are held constant in derivatives, as they
are for the steps of SciPy itself.

Reference: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.4 and II.10.
"""

import functools

import numpy as np
from scipy import integrate

from .... import array_of, innermost, iterate_leaves, stop_gradient
from ...functions.scan import recordings
from ...functions.while_loop import while_lowerings
from .meshes import MOTION, PART
from .steps import Explicit

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # SciPy's: of the next step, and its bounds
NEAR = 4e-15  # of the time: steps as short as this are SciPy's affair
CONTROLLED = integrate.RK23, integrate.RK45, integrate.DOP853
TINY = 1e-300  # instead of zero, where it divides: the step is then as long as it may be
OPTIONS = {"rtol": 1e-3, "atol": 1e-6, "max_step": np.inf, "first_step": None}
SUCCESS = "The solver successfully reached the end of the integration interval."


@functools.cache
def answer_type():
    """Return the type of SciPy's answers."""
    return type(integrate.solve_ivp(lambda t, y: 0 * y, (0.0, 1.0), [0.0]))


def controlled(given, state, t_span, y0, method, t_eval, options, derived=True):
    """Return what ``solve_ivp`` returns, by a loop that a recording holds whole; else None.

    ``given`` are the user's function and its args, and ``state`` makes an array of what it gives.
    Where derivatives are ``derived``, steps that do not serve them are left to others.
    """
    options = OPTIONS | options
    known = method in CONTROLLED and set(options) == set(OPTIONS) and recordings
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
    control = Control(method, options, times)
    h, extra = options["first_step"], 1
    if h is None:
        h, extra = control.first_step(rhs, start, stop, y0, f0), 2
    carry = np.float64(start), np.float64(1.0) * h, y0, f0, np.float64(0.0)

    def goes_on(carry):
        return (carry[0] < stop) & (carry[1] >= NEAR * np.abs(carry[0]))

    for lower in while_lowerings:
        found = lower(goes_on, functools.partial(control.step, rhs, stop), carry)
        if found is None or found[1][0] != stop:
            continue
        if not (derived and control.rests(found, stop - start)):
            return control.answer(found, extra, start)
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
    """Steps of a method, how long the next one is, and SciPy's answer at the output ``times``.

    Where there are any, each step has the further slopes of which DOP853 makes values inside.
    """

    def __init__(self, method, options, times):
        explicit = Explicit(method)
        self.weights = explicit.regular if times is None else explicit.dense
        self.last, self.order = explicit.last, method.error_estimator_order
        several = issubclass(method, integrate.DOP853)
        self.errors = (method.E5, method.E3) if several else (method.E,)
        self.rtol, self.atol = options["rtol"], np.asarray(options["atol"], float)[()]
        self.longest, self.times = options["max_step"], times

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
        slopes, stages = [f], list(zip(self.weights.rows, self.weights.times))
        for row, c in stages[: self.last]:
            after = y + h * sum_of(row, slopes)
            slopes.append(rhs(t + c * h, after))
        largest = np.maximum(np.abs(stop_gradient(y)), np.abs(stop_gradient(after)))
        scale = self.atol + largest * self.rtol
        size = self.size(stop_gradient(h), list(map(stop_gradient, slopes)), scale)
        accepted = size < 1
        # SciPy takes no further slopes of a step that it rejects: they might overflow.
        inner = np.where(accepted, h, 0.0)[()] if stages[self.last :] else h
        for row, c in stages[self.last :]:
            slopes.append(rhs(t + c * inner, y + inner * sum_of(row, slopes)))
        factor = SAFETY * np.maximum(size, TINY) ** (-1 / (self.order + 1))
        longer = np.minimum(np.where(rejected > 0, 1.0, MOST)[()], factor)
        following = h * np.where(accepted, longer, np.maximum(LEAST, factor))[()]
        end, rejected = np.where(accepted, end, t)[()], np.where(accepted, 0.0, 1.0)[()]
        row = t, h, end, y, np.stack(slopes)
        after, last = (np.where(accepted, a, b) for a, b in ((after, y), (slopes[self.last], f)))
        return (end, following, after, last, rejected), row

    def size(self, h, slopes, scale):
        """Return the norm of the error estimate; DOP853 has one of order 5, and one of order 3."""
        errors = [sum_of(weights, slopes) / scale for weights in self.errors]
        if len(errors) == 1:
            return h * self.norm(errors[0])
        fifth, third = (self.norm(error) ** 2 for error in errors)
        return h * fifth / np.maximum(fifth + 0.01 * third, TINY) ** 0.5

    def rests(self, found, span):
        """Say what ``meshes.rests`` does of the steps that the loop took."""
        count, (_, _, last, _, _), (_, hs, _, ys, _) = stop_gradient(found)
        done = (np.arange(len(hs)) < count)[:, None]
        states = np.where(done, ys, last)
        size = np.maximum(np.max(np.abs(states), axis=0), np.abs(last))
        moved = np.maximum(np.max(states, axis=0), last) - np.minimum(np.min(states, axis=0), last)
        longest = np.max(np.where(done[:, 0], hs, 0.0))
        long = (longest > PART * span) & (longest <= 0.999 * self.longest)
        return long & np.any(moved < MOTION * (self.atol + self.rtol * size))

    def answer(self, found, extra, start):
        """Return SciPy's answer, of the steps that the loop took."""
        count, (_, _, last, _, _), (ts, hs, ends, ys, slopes) = found
        done = np.arange(len(ends)) < count
        calls = extra + count * self.last
        if self.times is None:
            accepted = done & (ends > ts)
            t = np.concatenate([[start], ends[accepted]])
            states = np.concatenate([ys[accepted], last[None]])
        else:
            # A rejected step ends where it began, and so holds no time; but the first could hold
            # the start.
            held = np.where(done, np.where(ends > start, ends, -np.inf), np.inf)
            k = np.searchsorted(held, self.times)
            t, x = np.copy(self.times), (self.times - ts[k]) / hs[k]
            weights = self.weights.inside(x)
            states = ys[k] + hs[k][:, None] * np.sum(weights[:, :, None] * slopes[k], axis=1)
            # SciPy takes the further slopes in those steps alone that hold a time.
            further = len(self.weights.rows) - self.last
            if further:
                calls = calls + further * (1 + np.sum(k[1:] > k[:-1]))
        return answer_type()(
            t=t, y=np.copy(np.transpose(states), order="C"), sol=None, t_events=None,
            nfev=calls, njev=0, nlu=0, status=0,
            y_events=None, message=SUCCESS, success=True,
        )  # fmt: skip


def sum_of(weights, slopes):
    """Return the weighted sum of slopes, without those of weight zero."""
    return sum(w * k for w, k in zip(weights.tolist(), slopes) if w)
