"""Random smooth problems, random nests of transforms: against differences of SciPy's own answers.

The parameters come by ``args``, by capture, in a dict, an object, or half and half; the answer is
differentiated up to three times, each time along another direction, in a mode chosen at random.
"""

import dataclasses
import itertools
import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")
import scipy.optimize as own
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import optimize

ORDERS = {1: (1e-3, 1e-7), 2: (2e-2, 1e-5), 3: (6e-2, 3e-4)}  # steps, and what they are good for


@dataclasses.dataclass
class Parameters:
    first: object
    rest: object


# ---- problems: how a function of x and p is handed to a solver ----------------------------------


def by_args(solve, f, p):
    return solve(f, (p,))


def by_capture(solve, f, p):
    return solve(lambda x: f(x, p), ())


def by_dict(solve, f, p):
    def unpacked(x, held):
        return f(x, np.concatenate([np.reshape(held["a"], 1), held["b"][0]]))

    return solve(unpacked, ({"a": p[0], "b": [p[1:]]},))


def by_object(solve, f, p):
    held = Parameters(p[0], p[1:])

    def unpacked(x):
        return f(x, np.concatenate([np.reshape(held.first, 1), held.rest]))

    return solve(unpacked, ())


def half_and_half(solve, f, p):
    def unpacked(x, rest):
        return f(x, np.concatenate([np.reshape(p[0], 1), rest]))

    return solve(unpacked, (p[1:],))


HANDED = (by_args, by_capture, by_dict, by_object, half_and_half)


# ---- solvers: of residuals that are monotone, and of objectives that are convex -----------------


def residual_of(matrix, kind):
    """A map from x and p to as many numbers, with one root."""
    bend = {"tanh": np.tanh, "sin": lambda x: 0.5 * np.sin(x), "cube": lambda x: 0.1 * x**3}[kind]

    def residual(x, p):
        return matrix @ x + bend(x) * np.exp(0.3 * p[0]) - np.cos(p[1:]) * (1 + x[0] * 0.1 * p[0])

    return residual


def by_root(o, n):
    return lambda f, args: o.root(f, np.zeros(n), args, tol=1e-14).x


def by_fsolve(o, n):
    return lambda f, args: o.fsolve(f, np.zeros(n), args, xtol=1e-14)


def by_newton_by_hand(o, n):
    def solve(f, args):
        def newton(*args):
            x = np.zeros(n)
            for _ in range(50):
                x = x - np.linalg.solve(cr.jacfwd(lambda x: f(x, *args))(x), f(x, *args))
                x = cr.value(x)
            return x

        return newton(*args) if o is own else cr.implicit(f)(newton)(*args)

    return solve


def by_fixed_point(o, n):
    def solve(f, args):
        step = lambda x, *args: x - 0.15 * f(x, *args)  # noqa: E731

        def iterate(*args):
            x = np.zeros(n)
            for _ in range(400):
                x = cr.value(step(x, *args))
            return x

        return iterate(*args) if o is own else cr.fixed_point(step)(iterate)(*args)

    return solve


def by_least_squares(o, n):
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    exact = {"jac": "ad"} if o is optimize else {"jac": "3-point"}
    return lambda f, args: o.least_squares(f, np.zeros(n), args=args, **tight, **exact).x


def by_minimum(o, n):
    """Of the square of the residual and a little more, so that it is a minimum, not a root."""

    def solve(f, args):
        def objective(x, *args):
            r = f(x, *args)
            return np.sum(r * r) / 2 + 0.1 * np.sum(np.cosh(x - 0.3))

        def gradient(x, *args):
            return cr.value(cr.grad(objective)(x, *args))

        def hessian(x, *args):
            return cr.value(cr.hessian(objective)(x, *args))

        exact = {"jac": gradient, "hess": hessian, "method": "trust-exact", "tol": 1e-14}
        x = o.minimize(objective, np.zeros(n), args, **exact).x
        return polished(gradient, hessian, x, args) if o is own else x

    return solve


def polished(gradient, hessian, x, args):
    """Three steps of Newton's method: SciPy stops where the objective does not fall any more."""
    for _ in range(3):
        x = x - np.linalg.solve(hessian(x, *args), gradient(x, *args))
    return x


def by_bounded_minimum(o, n):
    """The first unknown is held by a bound."""

    def solve(f, args):
        def objective(x, *args):
            r = f(x, *args)
            return np.sum(r * r) / 2 + 12.0 * x[0]

        if o is own:  # the others, with the first where it is held
            rest = lambda y, *args: objective(np.concatenate([[-0.5], y]), *args)  # noqa: E731
            y = own.minimize(rest, np.zeros(n - 1), args, tol=1e-12).x if n > 1 else np.zeros(0)
            g, h = (lambda y, *a, d=d: d(rest)(y, *a) for d in (cr.grad, cr.hessian))
            return np.concatenate([[-0.5], polished(g, h, y, args)])
        bounds = [(-0.5, None)] + [(None, None)] * (n - 1)
        x = o.minimize(objective, np.zeros(n), args, bounds=bounds, jac="ad", tol=1e-12)
        return x.x

    return solve


def by_brentq(o, n):
    def solve(f, args):
        first = lambda x, *args: f(x * np.ones(1), *args)[0]  # noqa: E731
        return np.reshape(o.brentq(first, -9.0, 9.0, args, xtol=1e-14, rtol=1e-14), 1)

    return solve


def by_scalar_minimum(o, n):
    def solve(f, args):
        objective = lambda x, *args: f(x * np.ones(1), *args)[0] ** 2 + 0.1 * np.cosh(x)  # noqa: E731
        if o is own:
            slope = lambda x, *args: cr.value(cr.grad(objective)(x, *args))  # noqa: E731
            return np.reshape(own.brentq(slope, -9.0, 9.0, args, xtol=1e-14, rtol=1e-14), 1)
        return np.reshape(o.minimize_scalar(objective, args=args, tol=1e-12).x, 1)

    return solve


OF_MANY = (by_root, by_fsolve, by_newton_by_hand, by_fixed_point, by_least_squares, by_minimum,
           by_bounded_minimum)  # fmt: skip
OF_ONE = (*OF_MANY, by_brentq, by_scalar_minimum)
SLOW = (by_newton_by_hand, by_fixed_point, by_minimum, by_bounded_minimum, by_scalar_minimum)


@st.composite
def problems(draw):
    n = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = 2.0 * np.eye(n) + 0.4 * rng.normal(size=(n, n)) / n
    solver = draw(st.sampled_from(OF_ONE if n == 1 else OF_MANY))
    order = draw(st.sampled_from([1, 2] if solver in SLOW else [1, 2, 2, 3]))
    modes = draw(st.lists(st.sampled_from(list(MODES)), min_size=order, max_size=order))
    return {
        "solver": solver,
        "handed": draw(st.sampled_from(HANDED)),
        "n": n,
        "residual": residual_of(matrix, draw(st.sampled_from(["tanh", "sin", "cube"]))),
        "p": rng.normal(size=n + 1) * 0.7,
        "directions": rng.normal(size=(order, n + 1)),
        "weights": rng.normal(size=n),
        "modes": modes,
    }


# ---- nests of derivatives -----------------------------------------------------------------------

MODES = {
    "jvp": lambda f: cr.jvp(f, (0.0,), (1.0,))[1],
    "grad": lambda f: cr.grad(f)(0.0),
    "vjp": lambda f: cr.vjp(f, 0.0)[1](1.0)[0],
    "jacfwd": lambda f: cr.jacfwd(f)(0.0),
    "linearize": lambda f: cr.linearize(f, 0.0)[1](1.0),
    "block": lambda f: cr.jacfwd(lambda t: f(t[0] + t[1]))(np.zeros(2))[1],
    "gradient of many": lambda f: cr.grad(lambda t: f(t[0] - t[1]))(np.zeros(2))[0],
}


def derivative(f, p, directions, modes):
    """Differentiate ``f(p + t0 * d0 + t1 * d1 + ...)`` in every t, one inside the other."""
    if len(modes) == 0:
        return f(p)
    return MODES[modes[0]](
        lambda t: derivative(f, p + t * directions[0], directions[1:], modes[1:])
    )


def differences(f, p, directions):
    """The same by products of central differences of fourth order."""
    step, _ = ORDERS[len(directions)]
    stencil = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    total = 0.0
    for places in itertools.product(stencil, repeat=len(directions)):
        weight = np.prod([stencil[k] for k in places]) / step ** len(directions)
        total += weight * f(p + step * np.asarray(places) @ directions)
    return total


def holds(problem):
    solver, handed, n = problem["solver"], problem["handed"], problem["n"]
    residual, weights, p = problem["residual"], problem["weights"], problem["p"]

    def answer(p, o):
        return weights @ handed(solver(o, n), residual, p)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy's, of tolerances that are too small
        warnings.simplefilter("error", cr.ConvergenceWarning)
        expected = differences(lambda p: answer(p, own), p, problem["directions"])
        found = derivative(
            lambda p: answer(p, optimize), p, problem["directions"], problem["modes"]
        )
        other = derivative(
            lambda p: answer(p, optimize), p, problem["directions"], problem["modes"][::-1]
        )
    _, close = ORDERS[len(problem["modes"])]
    assert float(found) == pytest.approx(float(expected), rel=close, abs=close)
    assert float(other) == pytest.approx(float(found), rel=1e-6, abs=1e-7)


@pytest.mark.slow
@settings(max_examples=30)
@given(problems())
def test_random_problems(problem):
    holds(problem)


# ---- bounds and constraints ---------------------------------------------------------------------


def constrained(p, o, rng):
    """A convex problem in a box, perhaps with curved constraints, all of which move with p."""
    n, m = rng.integers(2, 5), rng.integers(0, 3)
    root = rng.normal(size=(n, n))
    matrix = root @ root.T / n + 0.5 * np.eye(n)
    pull = rng.normal(size=n) * 3 + rng.normal(size=n) * p[0]
    rows, room, moves = rng.normal(size=(m, n)), rng.uniform(0.2, 1, m), rng.normal(size=m) * 0.3
    lower, upper = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
    constraints = []
    if m:
        inside = lambda x: room + moves * p[1] - rows @ x - 0.1 * np.sum(x * x)  # noqa: E731
        constraints.append({"type": "ineq", "fun": inside})
    if rng.random() < 0.3:
        surface = lambda x, p: np.sum(x) - 0.1 * p[0] - 0.05 * np.sum(x**3)  # noqa: E731
        constraints.append({"type": "eq", "fun": surface, "args": (p,)})
    return o.minimize(
        lambda x: x @ matrix @ x / 2 + np.sum(np.cosh(0.5 * x)) + pull @ x, np.zeros(n),
        bounds=[(a, b + 0.1 * p[1]) for a, b in zip(lower, upper, strict=True)],
        constraints=constraints, method="SLSQP", tol=1e-13, options={"maxiter": 500},
    ).x  # fmt: skip


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_random_constraints(seed):
    def solve(p, o):
        return constrained(p, o, np.random.default_rng(seed))

    step, p = 1e-3, np.zeros(2)
    expected = np.stack(
        [(solve(step * u, own) - solve(-step * u, own)) / (2 * step) for u in np.eye(2)], axis=-1
    )
    backward, forward = (mode(lambda p: solve(p, optimize))(p) for mode in (cr.jacrev, cr.jacfwd))
    np.testing.assert_allclose(backward, expected, atol=2e-3)
    np.testing.assert_allclose(forward, backward, atol=1e-9)
