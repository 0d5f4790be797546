# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Rules that call back: functions of functions
#
# A rule for `np.sin` knows the derivative of the sine. A rule for `map` knows the derivative of
# mapping, and nothing about the function that is mapped: that came from the user a moment ago.
# To differentiate it, the rule has to ask the engine that is at work just now. But a rule that
# named the engine would serve only that one.
#
# The way out is an argument. An engine hands the rule its *configuration*, and the rule calls
# back through that. This notebook writes such rules, and then writes two engines for them.

# %%
import math
from dataclasses import dataclass

import numpy as np

import chainrules as cr
from chainrules.testing import check_grad, test_frule, test_rrule

# %% [markdown]
# ## A function that iterates another
#
# `iterate(f, x, n)` applies `f` to `x`, `n` times. With $x_{k+1} = f(x_k)$, the chain rule says
#
# $$ \dot x_{k+1} = f'(x_k)\, \dot x_k , \qquad \bar x_k = f'(x_k)^\top\, \bar x_{k+1} , $$
#
# and if `f` has parameters of its own, each step adds to their cotangent.


# %%
@cr.primitive
def iterate(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


# %% [markdown]
# In the rules, every derivative of `f` is asked from the configuration. The forward rule needs
# an engine with a forward mode, and says so by annotating its first parameter with the trait
# `HasForwardsMode`; to an engine without one the rule does not exist. `frule_via_ad` takes
# the tangents of the function and of its arguments, and returns the value with its tangent.


# %%
@cr.frule.register(iterate)
def iterate_frule(config: cr.HasForwardsMode, tangents, iterate, f, x, n):
    _, fdot, xdot, _ = tangents
    for _ in range(n):
        x, xdot = cr.frule_via_ad(config, (fdot, xdot), f, x)
    return x, xdot


# %% [markdown]
# `rrule_via_ad` returns the value with a pullback, and the pullback gives the cotangent of the
# function before that of its argument. The loop runs forwards to collect pullbacks, and backwards
# to use them.


# %%
@cr.rrule.register(iterate)
def iterate_rrule(config: cr.HasReverseMode, iterate, f, x, n):
    pullbacks = []
    for _ in range(n):
        x, pullback = cr.rrule_via_ad(config, f, x)
        pullbacks.append(pullback)

    def iterate_pullback(xbar):
        fbar = cr.ZeroTangent()
        for pullback in reversed(pullbacks):
            step_bar, xbar = pullback(xbar)
            fbar = fbar + step_bar
        return cr.NoTangent(), fbar, xbar, cr.NoTangent()

    return x, iterate_pullback


# %% [markdown]
# The function to iterate is one time step of a pendulum. It is an object with two parameters, so
# it has a tangent of its own: one with the same fields.


# %%
@dataclass
class Pendulum:
    length: float
    damping: float

    def __call__(self, state, dt=0.05):
        angle, speed = state
        acceleration = -9.81 / self.length * np.sin(angle) - self.damping * speed
        speed = speed + dt * acceleration
        return np.stack([angle + dt * speed, speed])


pendulum, start = Pendulum(length=1.5, damping=0.1), np.array([1.0, 0.0])
end = iterate(pendulum, start, 40)

y, ydot = cr.jvp(lambda state: iterate(pendulum, state, 40), (start,), (np.array([1.0, 0.0]),))
_, pullback = cr.vjp(lambda p, state: iterate(p, state, 40), pendulum, start)
pendulum_bar, start_bar = pullback(np.array([1.0, 0.0]))

assert np.allclose(y, end)
assert np.isclose(start_bar[0], ydot[0])
pendulum_bar

# %% [markdown]
# The last line says how the final angle answers to the length and to the damping. Both rules pass
# the tests of the kit, against finite differences also in the fields of the pendulum.

# %%
test_frule(iterate, pendulum, start, 5)
test_rrule(iterate, pendulum, start, 5)

# %% [markdown]
# `which` explains who answers, and why. Without a configuration there is nobody to call back, so
# there is no rule.

# %%
print(cr.which(cr.rrule, cr.ReverseConfig(), iterate, pendulum, start, 40))
print(cr.which(cr.rrule, cr.ForwardConfig(), iterate, pendulum, start, 40))
print(cr.which(cr.rrule, iterate, pendulum, start, 40))

assert "has HasReverseMode" in cr.which(cr.rrule, cr.ReverseConfig(), iterate, pendulum, start, 40)
assert cr.rrule(iterate, pendulum, start, 40) is None

# %% [markdown]
# ## An engine that answers by finite differences
#
# The contract of an engine is small: be a `RuleConfig` with traits, and implement what they
# promise. This one has a forward mode. It asks the rules first, and takes a central difference
# where there is none.


# %%
class FiniteDifferences(cr.RuleConfig, cr.HasForwardsMode, cr.NoReverseMode):
    def frule_via_ad(self, tangents, f, *args):
        answer = cr.frule(self, tangents, f, *args)
        if answer is not None:
            return answer
        h = 6e-6
        _, *dots = tangents
        after = f(*(x + h * xdot for x, xdot in zip(args, dots)))
        before = f(*(x - h * xdot for x, xdot in zip(args, dots)))
        return f(*args), (after - before) / (2 * h)


# %% [markdown]
# The rule for `iterate` has never heard of it, and works with it at once. Here every step is a
# finite difference, and the steps are composed by the rule. So the function may be one that no
# engine can look into, such as `math.lgamma`, which is compiled and takes only plain numbers.


# %%
def opaque(x):
    return math.lgamma(1.5 + x)


no = cr.NoTangent()
y, ydot = cr.frule_via_ad(FiniteDifferences(), (no, no, 1.0, no), iterate, opaque, 0.7, 3)

h = 6e-6
expected = (iterate(opaque, 0.7 + h, 3) - iterate(opaque, 0.7 - h, 3)) / (2 * h)
assert np.isclose(ydot, expected, rtol=1e-7)

# %% [markdown]
# Dual numbers refuse that function, as they must: its derivative would be lost.

# %%
try:
    cr.jvp(lambda x: iterate(opaque, x, 3), (0.7,), (1.0,))
except cr.LostDerivativeError as error:
    print(error)
else:
    raise RuntimeError("math.lgamma was differentiated")

# %% [markdown]
# The library's own `cr.map`, `cr.reduce`, `cr.accumulate` and `cr.scan` are written in the same
# way, and are open to the same engines:

# %%
xs = np.array([0.5, 1.0, 2.0])
y, ydot = cr.frule_via_ad(FiniteDifferences(), (no, no, np.ones(3)), cr.map, opaque, xs)

slopes = [(opaque(x + h) - opaque(x - h)) / (2 * h) for x in xs]
assert np.allclose(ydot, slopes)
print(cr.which(cr.frule, FiniteDifferences(), cr.map, opaque, xs))

# %% [markdown]
# ## An engine that keeps a log
#
# An existing engine can be extended too. This one is the tape, and writes down when a rule calls
# back, and when it pulls back. `vjp` takes the configuration to hand to rules as `config`.


# %%
class Logging(cr.ReverseConfig):
    def __init__(self):
        self.log = []

    def rrule_via_ad(self, f, *args, **kwargs):
        number = sum(line.startswith("forwards") for line in self.log) + 1
        self.log.append(f"forwards {number}")
        y, pullback = super().rrule_via_ad(f, *args, **kwargs)

        def logged_pullback(ybar):
            self.log.append(f"backwards {number}")
            return pullback(ybar)

        return y, logged_pullback


def three_steps(state):
    return iterate(pendulum, state, 3)


logging = Logging()
ybar = np.array([1.0, 0.0])
_, logged_pullback = cr.vjp(three_steps, start, config=logging)
_, pullback = cr.vjp(three_steps, start)

assert np.allclose(logged_pullback(ybar)[0], pullback(ybar)[0])
assert " ".join(logging.log) == (
    "forwards 1 forwards 2 forwards 3 backwards 3 backwards 2 backwards 1"
)
logging.log

# %% [markdown]
# ## An engine with traced values of its own
#
# An engine that does not only call functions, but follows what happens inside them, needs values
# that tell it: numbers and arrays of its own. `Engine` is the base of ours, too. Whatever its
# traced values meet, an operator, an index, a function of NumPy, `cr.map` or a primitive, comes
# down to one of two methods: a rule of a *kind*, such as the partials of `np.sin`, or a rule by
# hand. What it answers besides, for speed or for writes into arrays, it overrides.

# %%
from chainrules.rules import Engine, ProjectTo, TracedArray, TracedNumber, frule, strip, unthunk


class Pair(TracedNumber):
    __slots__ = ("tangent",)


class PairArray(TracedArray):
    __slots__ = ("tangent",)


class Pairs(Engine):
    """Forward mode in twenty lines: values in pairs with their tangents."""

    table = frule

    def apply_kind(self, kind, f, args, kwargs, values, y):
        return self.pair(y, kind.push_all(map(self.tangent_of, args), y, values, kwargs))

    def apply_rule(self, rule, f, args, kwargs, values):
        tangents = tuple(map(self.tangent_of, (f, *args)))
        return self.pair(*frule.run(rule, self.config, tangents, strip(f, self), values, kwargs))

    def pair(self, x, xdot):
        traced = PairArray() if isinstance(x, np.ndarray) else Pair()
        traced.primal, traced.at_level = x, self
        traced.tangent = ProjectTo(x)(np.broadcast_to(unthunk(xdot), np.shape(x))[()])
        return traced

    def tangent_of(self, x):
        return x.tangent if self.carries(x) else cr.ZeroTangent()


level = Pairs(cr.ForwardConfig())
x = level.pair(np.array([0.5, 1.0, 2.0]), np.ones(3))
y = np.linalg.norm(np.exp(-x)[1:] * x[0]) + np.sum(x**2)

expected = cr.jvp(
    lambda x: np.linalg.norm(np.exp(-x)[1:] * x[0]) + np.sum(x**2), (x.primal,), (x.tangent,)
)
assert np.allclose([y.primal, y.tangent], expected)
float(y.tangent)

# %% [markdown]
# ## A trait of one's own
#
# Any class can be a trait. Reverse mode has to remember every step until the way back; for a long
# simulation that is too much. The remedy is to remember the states only, and to run each step
# once more on the way back. Whether that is wanted is not for the rule to guess, so the engine
# says it by a trait, `SavesMemory`, and a second rule asks for that as well.


# %%
class SavesMemory:
    """The engine would rather compute twice than remember."""


class LeanConfig(cr.ReverseConfig, SavesMemory):
    pass


@cr.rrule.register(iterate)
def iterate_lean_rrule(config: cr.AllOf[cr.HasReverseMode, SavesMemory], iterate, f, x, n):
    states = []
    for _ in range(n):
        states.append(x)
        x = f(x)

    def iterate_lean_pullback(xbar):
        fbar = cr.ZeroTangent()
        for state in reversed(states):
            _, pullback = cr.rrule_via_ad(config, f, state)
            step_bar, xbar = pullback(xbar)
            fbar = fbar + step_bar
        return cr.NoTangent(), fbar, xbar, cr.NoTangent()

    return x, iterate_lean_pullback


print(cr.which(cr.rrule, LeanConfig(), iterate, pendulum, start, 40))
assert "iterate_lean_rrule" in cr.which(cr.rrule, LeanConfig(), iterate, pendulum, start, 40)
assert "iterate_rrule" in cr.which(cr.rrule, cr.ReverseConfig(), iterate, pendulum, start, 40)

test_rrule(iterate, pendulum, start, 5, config=LeanConfig())

# %% [markdown]
# Both give the same cotangents. `tracemalloc` tells what each had to keep between the way there
# and the way back.

# %%
import tracemalloc


def kilobytes_kept(config, steps=2000):
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    _, pullback = cr.vjp(lambda state: iterate(pendulum, state, steps), start, config=config)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / 1000, pullback(ybar)[0]


kept, bar = kilobytes_kept(cr.ReverseConfig())
kept_lean, bar_lean = kilobytes_kept(LeanConfig())

assert np.allclose(bar, bar_lean)
assert kept_lean < kept / 5
print(f"kept for 2000 steps: {kept:.0f} kB, and lean {kept_lean:.0f} kB")

# %% [markdown]
# ## Captured variables
#
# Functions handed to `map` are often written on the spot and use variables around them. These
# are not among the arguments of the call, and still belong to the derivative. Here `w` is both in
# the closure and in the sequence:


# %%
def response(w, xs):
    return np.sum(cr.map(lambda x: np.exp(-x) * np.sin(w * x), w * xs))


def response_in_numpy(w, xs):
    return np.sum(np.exp(-w * xs) * np.sin(w * w * xs))


xs = np.linspace(0.1, 2.0, 5)
for derivative in (cr.grad, cr.jacfwd, cr.jacrev):
    assert np.isclose(derivative(response)(1.3, xs), derivative(response_in_numpy)(1.3, xs))
    second = derivative(derivative(response))(1.3, xs)
    assert np.isclose(second, derivative(derivative(response_in_numpy))(1.3, xs))

# %% [markdown]
# ## `scan`, on a Kalman filter
#
# `cr.scan(f, carry, xs)` carries a value along a sequence and puts out something at every step:
# `f(carry, x)` returns the next carry and an output. A filter is of that form. A position drifts
# at random with variance $q$ per step, and is measured with variance $r$. The carry is what the
# filter believes, a mean and a variance; the output is the log-probability of each measurement.


# %%
def log_likelihood(log_variances, measurements):
    q, r = np.exp(log_variances)

    def step(belief, measurement):
        mean, variance = belief
        variance = variance + q  # it has drifted since
        total = variance + r
        surprise = measurement - mean
        log_probability = -0.5 * (surprise**2 / total + np.log(2 * np.pi * total))
        gain = variance / total
        return (mean + gain * surprise, (1 - gain) * variance), log_probability

    _, log_probabilities = cr.scan(step, (0.0, 1.0), measurements)
    return np.sum(log_probabilities)


rng = np.random.default_rng(1)
track = np.cumsum(0.3 * rng.normal(size=300))
measurements = track + 0.8 * rng.normal(size=300)

check_grad(log_likelihood, np.array([-1.0, 0.0]), measurements[:20])

# %% [markdown]
# With a gradient and a Hessian of two parameters, a handful of Newton steps finds the most likely
# variances. They were $0.3^2$ and $0.8^2$ when the data were made, and the Hessian tells how well
# 300 measurements can know them.

# %%
theta = np.log([0.1, 0.5])
for _ in range(8):
    slope = cr.grad(log_likelihood)(theta, measurements)
    curvature = cr.hessian(log_likelihood)(theta, measurements)
    theta = theta - np.linalg.solve(curvature, slope)

assert np.max(np.abs(cr.grad(log_likelihood)(theta, measurements))) < 1e-8
assert np.all(np.linalg.eigvalsh(curvature) < 0)  # a maximum

deviation = np.sqrt(np.diag(np.linalg.inv(-curvature)))
assert np.all(np.abs(theta - np.log([0.3**2, 0.8**2])) < 3 * deviation)
print("standard deviations of drift and measurement:", np.exp(theta / 2))

# %% [markdown]
# Next: `4_hessians_by_forward_over_reverse`, on a larger problem.
