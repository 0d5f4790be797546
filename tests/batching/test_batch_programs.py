"""Programs that people run many times, as batches: beside a loop, in value and derivatives."""

import warnings

import numpy as np
import pytest
from items_in_a_loop import looped

import chainrules as cr
from chainrules.scipy import optimize
from chainrules.scipy.integrate import solve_ivp

RNG = np.random.default_rng(21)


# ---- prey and predators --------------------------------------------------------------------------


def by_runge_kutta(p):
    def slope(u, v):
        return p[0] * u - p[1] * u * v, p[3] * u * v - p[2] * v

    u, v, h = 1.0, 1.0, 0.1
    for _ in range(10):
        a, b = slope(u, v)
        c, d = slope(u + h / 2 * a, v + h / 2 * b)
        e, f = slope(u + h / 2 * c, v + h / 2 * d)
        g, i = slope(u + h * e, v + h * f)
        u, v = u + h / 6 * (a + 2 * c + 2 * e + g), v + h / 6 * (b + 2 * d + 2 * f + i)
    return u + v


def by_solve_ivp(p):
    def slope(t, y):
        return [p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]]

    answer = solve_ivp(slope, (0.0, 1.0), [1.0, 1.0], t_eval=[0.5, 1.0], rtol=1e-7, atol=1e-9)
    return np.sum(answer.y)


# ---- statistics ----------------------------------------------------------------------------------


def log_likelihood(y):
    a, q, r = np.array([[1.0, 0.1], [0.0, 0.95]]), 0.01 * np.eye(2), 0.2
    x, s, total = np.zeros(2), np.eye(2), 0.0
    for k in range(8):
        x, s = a @ x, a @ s @ a.T + q
        spread = s[0, 0] + r
        error = y[k] - x[0]
        total = total + np.log(spread) + error**2 / spread
        gain = s[:, 0] / spread
        x, s = x + gain * error, s - np.outer(gain, s[0])
    return total


def statistic(sample):
    ordered = np.sort(sample)
    trimmed = ordered[2:-2]
    return np.mean(trimmed) / np.std(trimmed) + np.median(sample)


def chain(noise):
    def move(x, by):
        new = x + 0.8 * by[0]
        accepted = by[1] < 0.5 * (x * x - new * new)
        return (new if accepted else x), x

    x, path = cr.scan(move, 0.3 * noise[0, 0], noise)
    return np.mean(path**2) + x


def response(x):
    return np.sin(x[0]) + 7.0 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])


# ---- images, particles, rays ---------------------------------------------------------------------


def sharpness(patch):
    down, right = np.diff(patch, axis=0), np.diff(patch, axis=1)
    contrast = np.max(patch) - np.min(patch)
    return (np.sum(down**2) + np.sum(right**2)) / (contrast + 0.1) + np.median(patch)


def bouncing(start):
    x, v, energy = start[0], start[1], 0.0
    for _ in range(12):
        x, v = x + 0.1 * v, v - 0.1
        if x < 0:
            x, v = -x, -0.9 * v
        energy = energy + 0.1 * (v * v / 2 + x)
    return energy


def march(ray):
    def is_outside(t):
        x, y = ray[0] + t * ray[2], 0.2 - t
        return np.sqrt(x * x + (y + 2.0) ** 2) - 1.0 > 1e-9 and t < 6.0

    def step(t):
        x, y = ray[0] + t * ray[2], 0.2 - t
        return t + np.sqrt(x * x + (y + 2.0) ** 2) - 1.0

    t = cr.while_loop(is_outside, step, 0.1 * ray[1])
    return t * t if t < 6.0 else 6.0 + 0.0 * ray[0]


def valley(start):
    return optimize.minimize(
        lambda x: (x[0] - 1.0) ** 2 + 5.0 * (x[1] - x[0] ** 2) ** 2, start, jac=cr.ad, tol=1e-9
    ).x


PROGRAMS = {
    "Runge-Kutta": (by_runge_kutta, 1 + 0.2 * RNG.random((9, 4))),
    "solve_ivp": (by_solve_ivp, 1 + 0.2 * RNG.random((4, 4))),
    "Kalman filter": (log_likelihood, RNG.normal(size=(6, 8))),
    "bootstrap": (statistic, RNG.normal(size=(7, 20))),
    "Markov chains": (
        chain, np.stack([RNG.normal(size=(6, 40)), np.log(RNG.random((6, 40)))], axis=2)
    ),
    "sensitivity": (response, RNG.normal(size=(12, 3))),
    "image patches": (sharpness, RNG.random((8, 5, 5))),
    "particles": (bouncing, np.abs(RNG.normal(size=(9, 2)))),
    "rays": (march, np.stack([RNG.normal(size=20), RNG.random(20), RNG.normal(size=20) / 9], 1)),
}  # fmt: skip
LONG = ("solve_ivp", "rays", "Runge-Kutta")  # to compile
ONE_AFTER_ANOTHER = ("solve_ivp", "Markov chains", "particles")  # without compile, by a warning


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_batch_and_its_derivatives_are_those_of_a_loop(name):
    f, xs = PROGRAMS[name]
    right, slopes = looped(f, xs), looped(cr.grad(f), xs)
    dots = np.cos(xs)
    with warnings.catch_warnings():
        kind = "ignore" if name in ONE_AFTER_ANOTHER else "error"
        warnings.simplefilter(kind, cr.BatchWarning)
        np.testing.assert_allclose(cr.vmap(f)(xs), right, rtol=1e-10)
        np.testing.assert_allclose(cr.vmap(cr.grad(f))(xs), slopes, rtol=1e-8, atol=1e-10)
        ydot = cr.jvp(cr.vmap(f), (xs,), (dots,))[1]
        xsbar = cr.grad(lambda xs: np.sum(cr.vmap(f)(xs)))(xs)
    axes = tuple(range(1, xs.ndim))
    np.testing.assert_allclose(ydot, np.sum(slopes * dots, axis=axes), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(xsbar, slopes, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] if x in LONG else []) for x in PROGRAMS]
)
def test_compiled_without_a_warning(name):
    f, xs = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for transform in (lambda f: f, cr.grad):
            compiled = cr.compile(cr.vmap(transform(f)))
            for k in range(2):
                moved = xs * (1 + 0.01 * k)
                ours, right = compiled(moved), looped(transform(f), moved)
                np.testing.assert_allclose(ours, right, rtol=1e-7, atol=1e-9)


def test_an_ensemble_of_starts_of_a_minimizer():
    starts = RNG.normal(size=(6, 2))
    right = looped(valley, starts)
    np.testing.assert_allclose(right, np.ones((6, 2)), atol=1e-4)
    with pytest.warns(cr.BatchWarning, match="one item after another"):
        np.testing.assert_allclose(cr.vmap(valley)(starts), right)
    compiled = cr.compile(cr.vmap(valley))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(3):
            np.testing.assert_allclose(compiled(starts + k), np.ones((6, 2)), atol=1e-4)


def test_shares_of_the_variance_by_sobols_indices():
    def total(x):
        return x[0] + 2.0 * x[1]

    a, b = RNG.normal(size=(2, 4000, 2))
    f = cr.compile(cr.vmap(total))
    of_a, of_b = f(a), f(b)
    for i, share in enumerate((0.2, 0.8)):
        exchanged = a.copy()
        exchanged[:, i] = b[:, i]
        found = 1 - np.mean((of_b - f(exchanged)) ** 2) / (2 * np.var(of_a))
        assert abs(found - share) < 0.1


def test_a_thousand_hessians_are_batches_of_batches():
    xs = RNG.normal(size=(50, 3))

    def hessian(x):
        return cr.vmap(lambda v: cr.jvp(cr.grad(response), (x,), (v,))[1])(np.eye(3))

    np.testing.assert_allclose(
        cr.vmap(hessian)(xs), looped(cr.hessian(response), xs), rtol=1e-9, atol=1e-12
    )
    compiled = cr.compile(cr.vmap(hessian))
    for k in range(3):
        right = looped(cr.hessian(response), xs + k)
        np.testing.assert_allclose(compiled(xs + k), right, rtol=1e-9, atol=1e-11)
