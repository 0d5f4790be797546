"""Conversions of linear systems between transfer functions, zeros and poles, and state space.

What is decided on values is the order of the system: which leading coefficients are zero.
"""

# ruff: noqa: N803 - the names of SciPy's arguments

import numpy as np
from scipy import linalg, signal

from .....config import MissingRuleError, user_line
from .... import composed, innermost, library_value, seen, value, with_values
from ..linalg.exponential import exponential
from .filters import array
from .responses import vector

solve = seen(linalg.solve)
TUPLES = "the system as a tuple: (num, den), (z, p, k) or (a, b, c, d)"


def parts_of(system):
    """The tuple that an object of SciPy's, or of ours, stands for; a tuple as it is."""
    if hasattr(system, "parts"):
        return system.parts
    if isinstance(system, signal.StateSpace):
        return system.A, system.B, system.C, system.D
    if isinstance(system, signal.TransferFunction):
        return system.num, system.den
    if isinstance(system, signal.ZerosPolesGain):
        return system.zeros, system.poles, system.gain
    return tuple(system)


def from_first(x):
    """``x`` from its first entry that is not zero."""
    return x[np.flatnonzero(value(x))[0] :]


# ---- transfer functions -----------------------------------------------------------------------


def over_first(num, den):
    """Both over the first coefficient of the denominator, and the rows as long as it is."""
    num, den = np.atleast_2d(array(num)), from_first(vector(den))
    more = np.shape(den)[0] - np.shape(num)[1]
    num = np.pad(num, [(0, 0), (more, 0)]) if more > 0 else num[:, -more:]
    return num / den[0], den / den[0]


@composed(signal.tf2ss, value="own")
def tf2ss(num, den, *, own):
    """The controller canonical form."""
    if own[3].size == 0:
        return own
    num, den = over_first(num, den)
    n = np.shape(den)[0]
    through = num[:, :1]
    if n == 1:
        return *own[:3], through
    moves = np.concatenate([-den[None, 1:], np.eye(n - 2, n - 1)])
    return moves, own[1], num[:, 1:] - through * den[1:], through


def from_coefficients(x, smallest):
    """The roots, and the first coefficient above ``smallest``, or the last one.

    Coefficients before it, which SciPy takes for zero, move the roots that there are.
    """
    first = np.flatnonzero(np.abs(value(x)) > smallest)[:1]
    gain = x[first[0] if first.size else -1]
    if first.size == 0:
        return np.zeros(0), gain
    rounding = np.where(np.arange(np.shape(x)[0]) < first, value(x), 0.0)
    return np.roots((x - rounding) / gain), gain


@composed(signal.tf2zpk, value="own")
def tf2zpk(b, a):
    b, a = np.ravel(array(b)), vector(a)
    p, first = from_coefficients(a, 0.0)
    z, gain = from_coefficients(b / first, 1e-14)
    return z, p, gain


@composed(signal.zpk2ss, value="own")
def zpk2ss(z, p, k):
    return tf2ss(*seen(signal.zpk2tf)(z, p, k))


# ---- state space ------------------------------------------------------------------------------


@composed(signal.abcd_normalize)
def abcd_normalize(A=None, B=None, C=None, D=None):
    own = library_value(signal.abcd_normalize, (A, B, C, D), {})

    def normalized(x, y):
        if x is None or np.size(value(x)) == 0:
            return y
        matrix = np.atleast_2d(array(x))
        # From SciPy 1.18 all four have one dtype.
        return matrix.astype(y.dtype, copy=False) if y.dtype.kind in "fc" else matrix

    return tuple(map(normalized, (A, B, C, D), own))


@composed(signal.ss2tf, value="own")
def ss2tf(A, B, C, D, input=0, *, own):
    """From ``det(s - a + b c) = det(s - a) (1 + c (s - a)**-1 b)``."""
    a, b, c, d = abcd_normalize(A, B, C, D)
    b, d = b[:, input : input + 1], d[:, input : input + 1]
    if np.size(a) == 0:
        return np.reshape(d, own[0].shape), own[1]
    den = np.poly(a)
    rows = [np.poly(a - b @ row[None]) + (through - 1) * den for row, through in zip(c, d)]
    return np.stack(rows), den


@composed(signal.ss2zpk, value="own")
def ss2zpk(A, B, C, D, input=0):
    num, den = ss2tf(A, B, C, D, input)
    return tf2zpk(num[0], den)


# ---- from continuous time to samples -----------------------------------------------------------


def bilinear_step(a, b, c, d, dt, alpha):
    """Generalized: between Euler's rule, forward for 0 and backward for 1."""
    identity = np.eye(np.shape(a)[0])
    implicit = identity - alpha * dt * a
    bd = solve(implicit, dt * b)
    moves = solve(implicit, identity + (1.0 - alpha) * dt * a)
    return moves, bd, solve(implicit.T, c.T).T, d + alpha * (c @ bd)


def held(a, b, dt, slopes):
    """The blocks in the upper rows of ``exp`` of the system, with its input as a state.

    The input is constant; with ``slopes``, its slope is.
    """
    n, m = np.shape(b)
    upper = np.concatenate([a, b], axis=1) * dt
    if not slopes:
        whole = np.concatenate([upper, np.zeros((m, n + m))])
        y = exponential(whole)[:n]
        return y[:, :n], y[:, n:]
    upper = np.concatenate([upper, np.zeros((n, m))], axis=1)
    middle = np.eye(m, n + 2 * m, k=n + m)
    y = exponential(np.concatenate([upper, middle, np.zeros((m, n + 2 * m))]))[:n]
    return y[:, :n], y[:, n : n + m], y[:, n + m :]


ALPHAS = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0, "backward_diff": 1.0}


def sampled(a, b, c, d, dt, method, alpha):
    if method == "gbt" or method in ALPHAS:
        return bilinear_step(a, b, c, d, dt, ALPHAS.get(method, alpha))
    if method == "zoh":
        return *held(a, b, dt, False), c, d
    if method == "foh":
        moves, first, second = held(a, b, dt, True)
        return moves, first - second + moves @ second, c, d + c @ second
    moves = exponential(a * dt)  # "impulse"
    return moves, moves @ b * dt, c, c @ b * dt


@composed(signal.cont2discrete)
def cont2discrete(system, dt, method="zoh", alpha=None):
    if hasattr(system, "parts"):
        return system.to_discrete(dt, method, alpha)
    if isinstance(system, signal.lti):
        raise MissingRuleError("scipy.signal.cont2discrete of an object has no derivative"
                               f", in {user_line()}.\n"
                               f"  write {TUPLES}")  # fmt: skip
    own = library_value(signal.cont2discrete, (system, dt, method, alpha), {})
    if len(system) == 2:
        y = ss2tf(*sampled(*tf2ss(*system), dt, method, alpha))
    elif len(system) == 3:
        y = ss2zpk(*sampled(*zpk2ss(*system), dt, method, alpha))
    else:
        given = tuple(map(array, system))
        found = sampled(*given, dt, method, alpha)
        # What stays as it is, as c and d may, is what was given.
        y = [x if any(x is part for part in given) else with_values(x, out)
             for x, out in zip(found, own)]  # fmt: skip
        return *y, dt
    return *with_values(tuple(y), own[:-1]), dt


def state_space(system):
    """``a, b, c, d`` of a tuple or of an object of SciPy's."""
    parts = parts_of(system)
    convert = {2: tf2ss, 3: zpk2ss, 4: abcd_normalize}[len(parts)]
    if innermost(parts) is None:
        return getattr(signal, convert.__name__)(*parts)
    return convert(*parts)
