"""Responses of a linear system: to inputs over time, and to each frequency."""

# ruff: noqa: N803 - the names of SciPy's arguments

import numpy as np
from scipy import signal

from .....config import MissingRuleError, user_line
from .... import (
    composed,
    composed_each,
    is_traced,
    library_value,
    pair_rule,
    primitive,
    thunk,
    value,
    with_values,
)
from ...arrays.products import adjoint
from ..linalg.exponential import exponential
from .filters import array
from .responses import frequencies, from_roots, vector
from .systems import held, parts_of, state_space

# ---- steps of equal length --------------------------------------------------------------------


@primitive
def driven(m, v):
    """``y[i] = y[i - 1] @ m + v[i]``, from rest.

    Shapes: ``m``: (n, n); ``v``, ``y``: (steps, n).
    """
    y = np.array(v, np.result_type(m, v))
    for i in range(1, len(y)):
        y[i] += y[i - 1] @ m
    return y


def steps_before(y):
    return np.concatenate([np.zeros_like(y[:1]), y[:-1]])


@pair_rule(driven)
def driven_pair(driven, m, v):
    """The adjoint runs backwards: ``vbar[i] = vbar[i + 1] @ m^H + ybar[i]``."""
    y = driven(m, v)

    def driven_pushforward(mdot, vdot):
        return driven(m, steps_before(y) @ mdot + vdot)

    def driven_pullback(ybar):
        vbar = np.flip(driven(adjoint(m), np.flip(ybar, 0)), 0)
        return thunk(lambda: adjoint(steps_before(y)) @ vbar), vbar

    return y, driven_pushforward, driven_pullback


# ---- continuous time --------------------------------------------------------------------------


def states(system, inputs, times, start, interp):
    """The states at ``times``, and the inputs as an array, or None."""
    a, b, _, _ = system
    start = np.broadcast_to(0.0 if start is None else array(start), np.shape(a)[:1])
    if value(times)[0] != 0 or is_traced(times):
        start = start @ exponential(a.T * times[0])
    start = np.reshape(start, (1, -1))
    if np.shape(times)[0] == 1:
        return start
    dt = times[1] - times[0]
    if inputs is None:
        moves = exponential(a.T * dt)
        pushes = np.zeros((np.shape(times)[0] - 1, np.shape(a)[0]))
    elif not interp:
        moves, first = (x.T for x in held(a, b, dt, False))
        pushes = inputs[:-1] @ first
    else:
        moves, first, second = (x.T for x in held(a, b, dt, True))
        pushes = inputs[:-1] @ (first - second) + inputs[1:] @ second
    return driven(moves, np.concatenate([start, pushes]))


def outputs(system, x, inputs):
    y = x @ system[2].T
    return y if inputs is None else y + inputs @ system[3].T


@composed(signal.lsim, value="own")
def lsim(system, U, T, X0=None, interp=True):
    system = state_space(system)
    times = vector(T)
    inputs = None if U is None or np.ndim(value(U)) == 0 else vector(U)
    if inputs is not None and np.ndim(inputs) == 1:
        inputs = np.reshape(inputs, (np.shape(times)[0], -1))
    x = states(system, inputs, times, X0, interp)
    return times, outputs(system, x, inputs), x


def response_times(system, n):
    """As SciPy chooses them: seven times the slowest time constant."""
    rate = np.min(np.abs(np.real(np.linalg.eigvals(system[0]))))
    return np.linspace(0.0, 7 / rate, n) if value(rate) else np.linspace(0.0, 7.0, n)


def jump_of_state(b, start, shape):
    return np.squeeze(b if start is None else b + array(start)), None


def jump_of_input(b, start, shape):
    return start, np.ones((*shape, 1))


@composed_each({signal.impulse: jump_of_state, signal.step: jump_of_input}, value="own")
def answer(starts_with, system, X0=None, T=None, N=None):
    """The answer to a jump, of the input or of the state."""
    system = state_space(system)
    times = response_times(system, 100 if N is None else N) if T is None else vector(T)
    start, inputs = starts_with(system[1], X0, np.shape(times))
    x = states(system, inputs, times, start, False)
    return times, outputs(system, x, inputs)


# ---- samples ----------------------------------------------------------------------------------


def with_interval(system):
    """The parts of a system of samples, and its interval."""
    if hasattr(system, "dt"):
        return parts_of(system), system.dt
    return tuple(system[:-1]), system[-1]


def on_line(t, u, points):
    """The line through the two values of ``u`` that are next to each point."""
    k = np.clip(np.searchsorted(value(t), value(points), "right") - 1, 0, len(value(t)) - 2)
    share = (points - t[k]) / (t[k + 1] - t[k])
    return u[k] + (u[k + 1] - u[k]) * share[:, None]


@composed(signal.dlsim, value="own")
def dlsim(system, u, t=None, x0=None, *, own):
    parts, dt = with_interval(system)
    a, b, c, d = state_space(parts)
    u = vector(u)
    u = u[:, None] if np.ndim(u) == 1 else u
    n = np.shape(own[0])[0]
    times = np.linspace(0.0, (n - 1) * dt if t is None else array(t)[-1], n)
    if t is not None:
        u = on_line(array(t), u, times)
    start = np.broadcast_to(0.0 if x0 is None else array(x0), np.shape(a)[:1])
    pushes = u[: n - 1] @ b.T
    x = driven(a.T, np.concatenate([start[None], pushes]))
    y = times, x @ c.T + u[:n] @ d.T, x
    return y[: len(own)]


@composed_each({signal.dimpulse: lambda n: np.eye(1, n)[0], signal.dstep: np.ones}, value="own")
def answers(shaped, system, x0=None, t=None, n=None):
    """The answers to a jump in each of the inputs."""
    parts, dt = with_interval(system)
    system = (*state_space(parts), dt)
    if t is None:
        n = 100 if n is None else n
        t = np.linspace(0, n * dt, n, endpoint=False)
    t = array(t)
    count, inputs = np.shape(t)[0], np.shape(system[1])[1]
    found = [
        dlsim(system, shaped(count)[:, None] * np.eye(inputs)[i], t, x0) for i in range(inputs)
    ]
    return found[-1][0], tuple(y for _, y, _ in found)


# ---- frequencies ------------------------------------------------------------------------------


def transferred(parts, s):
    """``d + c (s - a)**-1 b`` for one input and output, or the quotient that it is."""
    if len(parts) == 2:
        num, den = parts
        return np.polyval(np.ravel(array(num)), s) / np.polyval(vector(den), s)
    if len(parts) == 3:
        z, p, k = parts
        return k * from_roots(z, s) / from_roots(p, s)
    a, b, c, d = state_space(parts)
    inner = np.linalg.solve(np.reshape(s, (-1, 1, 1)) * np.eye(np.shape(a)[0]) - a, b + 0j)
    return np.ravel(c @ inner + d)


def at_frequencies(own, w, n):
    if is_traced(n):
        raise MissingRuleError(
            f"n, of a frequency response, is a count, and has no derivative, in {user_line()}.\n"
            "  write w=np.stack([...]) for frequencies"
        )
    return frequencies(own, w)


@composed(signal.freqresp, value="own")
def freqresp(system, w=None, n=10000, *, own):
    w = at_frequencies(own[0], w, n)
    return w, transferred(parts_of(system), 1j * w)


@composed(signal.dfreqresp, value="own")
def dfreqresp(system, w=None, n=10000, whole=False, *, own):
    w = at_frequencies(own[0], w, n)
    return w, transferred(with_interval(system)[0], np.exp(1j * w))


def decibels_and_degrees(h):
    return 20 * np.log10(np.abs(h)), np.unwrap(np.angle(h)) * (180 / np.pi)


@composed(signal.bode)
def bode(system, w=None, n=100):
    own = library_value(signal.bode, (system, w, n), {})
    w, h = freqresp(system, w, n)
    return w, *with_values(decibels_and_degrees(h), own[1:])


@composed(signal.dbode, value="own")
def dbode(system, w=None, n=100):
    w, h = dfreqresp(system, w, n)
    return w / with_interval(system)[1], *decibels_and_degrees(h)
