"""Values that a function leaves behind, evaluated aside, have no derivative: never in silence.

A rule that calls a function of the user's back evaluates it more than once, with other values in
place of the traced ones. A list that the function adds to holds these, and reading it is an error.
"""

import numpy as np
import pytest
from differences import slope_of

import chainrules as cr
import chainrules.numpy as followed
from chainrules.scipy import integrate, optimize

STEPS = np.ones(100)  # more than are recorded at a time

# Each hands ``keep`` a number that depends on ``k``, and returns one as well.
PROGRAMS = {
    "checkpoint": lambda k, keep: cr.checkpoint(lambda x: keep(x * k))(k),
    "checkpoint of nothing captured": lambda k, keep: cr.checkpoint(lambda x: keep(x * x))(k),
    "scan": lambda k, keep: cr.scan(lambda c, x: (keep(c * np.sin(k)), x), k, STEPS)[0],
    "loop": lambda k, keep: cr.loop(100, lambda c: keep(np.sin(c)), k),
    "quad": lambda k, keep: integrate.quad(lambda t: keep(k * t), 0, 1)[0],
    "quad, args": lambda k, keep: integrate.quad(lambda t, k: keep(k * t), 0, 1, (k,))[0],
    "quad_vec": lambda k, keep: integrate.quad_vec(lambda t: keep(k * t), 0, 1)[0],
    "dblquad": lambda k, keep: integrate.dblquad(lambda s, t: keep(k * t), 0, 1, 0, 1)[0],
    "solve_ivp": lambda k, keep: np.sum(
        integrate.solve_ivp(lambda t, y: keep(-k) * y, (0, 1), np.ones(1)).y[:, -1]
    ),
    "solve_ivp, args": lambda k, keep: np.sum(
        integrate.solve_ivp(lambda t, y, k: keep(-k) * y, (0, 1), np.ones(1), args=(k,)).y[:, -1]
    ),
    "LSODA": lambda k, keep: np.sum(
        integrate.solve_ivp(lambda t, y: keep(-k) * y, (0, 1), np.ones(1), "LSODA").y[:, -1]
    ),
    "odeint": lambda k, keep: np.sum(
        integrate.odeint(lambda y, t: keep(-k) * y, np.ones(1), np.linspace(0, 1, 3))
    ),
    "brentq": lambda k, keep: optimize.brentq(lambda x: keep(x * k) - 1, 0, 10),
}


def in_a_list(program, k):
    kept = []
    y = program(k, lambda x: kept.append(x) or x)
    return y + kept[-1]


def in_a_variable(program, k):
    kept = None

    def keep(x):
        nonlocal kept
        kept = x
        return x

    return program(k, keep) + kept


def in_an_array(program, k):
    kept = followed.zeros(2)

    def keep(x):
        kept[0] = x
        return x

    return program(k, keep) + kept[0]


def in_an_array_that_is_traced(program, k):
    kept = np.zeros(2) + k

    def keep(x):
        kept[0] = 3.0
        return x * kept[1]

    return program(k, keep) + kept[0]


TRANSFORMS = {
    "grad": cr.grad,
    "jvp": lambda f: lambda k: cr.jvp(f, (k,), (1.0,)),
    "forward over reverse": lambda f: cr.jacfwd(cr.grad(f)),
    "reverse over reverse": lambda f: cr.jacrev(cr.grad(f)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    "leave", [in_a_list, in_a_variable, in_an_array, in_an_array_that_is_traced]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_left_behind(name, leave, transform):
    def f(k):
        return leave(PROGRAMS[name], k)

    assert np.isfinite(f(1.3))
    try:
        derivative = TRANSFORMS[transform](f)(1.3)
    except (cr.EscapedTraceError, cr.MutationError):
        return
    # Where the function is evaluated once, with the values themselves, it is right as well.
    np.testing.assert_allclose(derivative, expected(f, transform), rtol=1e-5)


def expected(f, transform):
    h = 1e-4
    if "over" in transform:
        return (f(1.3 + h) - 2 * f(1.3) + f(1.3 - h)) / h**2
    slope = slope_of(f, (1.3,), (1.0,), h)
    return (f(1.3), slope) if transform == "jvp" else slope


# (In an integral within an integral the list holds, already, values of the outer one.)
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"dblquad"}))
def test_what_nobody_reads_may_be_kept(name):
    def f(k, kept):
        return PROGRAMS[name](k, lambda x: kept.append(x) or x)

    slope = (f(1.3 + 1e-5, []) - f(1.3 - 1e-5, [])) / 2e-5
    for transform in (cr.grad, lambda f: lambda k: cr.jvp(f, (k,), (1.0,))[1]):
        np.testing.assert_allclose(transform(lambda k: f(k, []))(1.3), slope, rtol=1e-2)
