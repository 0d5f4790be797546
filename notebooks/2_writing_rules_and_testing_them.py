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
# # Writing rules, and testing them
#
# A rule says how one function is differentiated. Most functions need none: they are made of
# NumPy calls, each with a rule of its own, and the chain rule does the rest. One writes a rule
#
# - for code that NumPy's protocols do not see into: SciPy's compiled routines, other libraries;
# - where the mathematics knows more than the program: an iteration that solves an equation;
# - where the derivative of the program is correct but overflows, cancels or costs too much.
#
# This notebook writes four rules, each in the shortest form that fits, and shows how the testing
# kit finds the mistakes one makes.

# %%
import numpy as np
from scipy import linalg, signal

import chainrules as cr
from chainrules.testing import check_grad, primal_with_tangent, test_frule, test_rrule

# %% [markdown]
# ## Where the program's derivative is not the function's
#
# Kepler's equation $E - e \sin E = M$ gives the position $E$ of a planet on an ellipse of
# eccentricity $e$ from the time, the angle $M$. Newton's method solves it in a few steps.


# %%
def kepler_loop(mean, e):
    anomaly = mean
    while np.max(np.abs(anomaly - e * np.sin(anomaly) - mean)) > 1e-14:
        residual = anomaly - e * np.sin(anomaly) - mean
        anomaly = anomaly - residual / (1 - e * np.cos(anomaly))
    return anomaly


# %% [markdown]
# Differentiating the loop works, and is right as long as the loop runs. On a circle, $e = 0$, the
# starting value is already the solution: the loop does nothing, the program returns $M$, and its
# derivative in $e$ is 0. That of the function is $\sin M$.

# %%
assert np.isclose(cr.grad(kepler_loop, argnums=1)(0.8, 1e-6), np.sin(0.8), rtol=1e-4)
assert cr.grad(kepler_loop, argnums=1)(0.8, 0.0) == 0.0

# %% [markdown]
# No engine can know this: the program says so. The mathematician knows the equation that holds at
# the end. Its total differential
#
# $$ (1 - e \cos E)\, dE - \sin E\, de = dM $$
#
# gives both partial derivatives, whatever the solver did on its way:
#
# $$ \frac{\partial E}{\partial M} = \frac{1}{1 - e \cos E}, \qquad
#    \frac{\partial E}{\partial e} = \frac{\sin E}{1 - e \cos E}. $$
#
# ## Elementwise functions: `scalar_rule`
#
# `primitive` marks a Python function as one whose calls go to its rules. `scalar_rule` takes one
# partial derivative per argument. A partial sees the output first, here $E$, and then the
# arguments; it is plain NumPy. Broadcasting, dtypes and complex conjugation are taken care of,
# and both modes come from the one definition.

# %%
kepler = cr.primitive(kepler_loop)

cr.scalar_rule(
    kepler,
    lambda y, mean, e: 1 / (1 - e * np.cos(y)),
    lambda y, mean, e: np.sin(y) / (1 - e * np.cos(y)),
)

assert np.isclose(cr.grad(kepler, argnums=1)(0.8, 0.0), np.sin(0.8), rtol=1e-15)

# %% [markdown]
# The solver is now run on plain numbers, and no step of it is recorded. Since the partials are
# ordinary NumPy code, they are differentiated in turn, and second derivatives need nothing more.

# %%
cr.hessian(lambda p: kepler(p[0], p[1]))(np.array([0.8, 0.3]))

# %% [markdown]
# ## Testing a rule
#
# `test_rrule(f, *args)` calls the rule at one point and checks what a rule promises: the value is
# that of a plain call; cotangents have the shape and dtype of their arguments; they agree with
# finite differences along random directions, within the error that the differences estimate of
# themselves; tangents and cotangents pair; nothing that was handed in is written to; and the
# second derivative agrees with differences of the first. `test_frule` does the same for the
# other direction. A good set of points is: a number, an array, a broadcast, an edge.

# %%
times = np.linspace(0.1, 3.0, 4)

for point in [(0.8, 0.3), (0.8, 0.0), (times, 0.3), (times[:, None], np.array([0.0, 0.5]))]:
    test_frule(kepler, *point)
    test_rrule(kepler, *point)

# %% [markdown]
# A test is worth something if wrong rules fail it. Here is the same function again, and a rule
# with a wrong sign.

# %%
mistaken = cr.primitive(kepler_loop)

cr.scalar_rule(
    mistaken,
    lambda y, mean, e: 1 / (1 - e * np.cos(y)),
    lambda y, mean, e: -np.sin(y) / (1 - e * np.cos(y)),
)

try:
    test_rrule(mistaken, 0.8, 0.3)
except AssertionError as error:
    print(error)
else:
    raise RuntimeError("the wrong sign was not found")

# %% [markdown]
# ## Linear functions: `linear_rule`
#
# If $f$ is linear, its pushforward is $f$ itself, and the pullback is its transpose. So the
# transpose is all there is to write.
#
# An exponential moving average, $y_t = m\, y_{t-1} + (1 - m)\, x_t$, is linear in $x$. SciPy
# computes it in compiled code, which a derivative cannot pass through, and the call fails:


# %%
def smooth_in_scipy(x, memory=0.9):
    return signal.lfilter([1 - memory], [1, -memory], x)


series = np.sin(np.linspace(0, 6, 40)) + 0.1 * np.cos(np.arange(40.0))
try:
    cr.grad(lambda x: np.sum(smooth_in_scipy(x) ** 2))(series)
except cr.LostDerivativeError as error:
    print(f"{type(error).__name__}: {error}")
else:
    raise RuntimeError("the derivative was lost")

# %% [markdown]
# The filter looks back in time: $y_t$ depends on $x_t, x_{t-1}, \dots$ Its transpose looks
# forward: $x_t$ is in charge of $y_t, y_{t+1}, \dots$ with the same weights. So it is the same
# filter, run backwards in time. `space` has the shape and dtype of the argument, and not its
# data; the arguments after the first are options.

# %%
smooth = cr.primitive(smooth_in_scipy)


@cr.linear_rule(smooth)
def smooth_transpose(ybar, space, memory=0.9):
    return np.flip(smooth(np.flip(ybar), memory))


test_frule(smooth, series)
test_rrule(smooth, series, memory=0.5)

# %% [markdown]
# The transpose is written with `smooth`, which has a rule, and `np.flip`, which has one too. That
# makes the rule itself differentiable, in any mode and to any order.

# %%
hessian = cr.hessian(lambda x: np.sum(smooth(x) ** 4))(series)
assert np.allclose(hessian, hessian.T)
assert np.allclose(hessian, cr.jacrev(cr.grad(lambda x: np.sum(smooth(x) ** 4)))(series))

# %% [markdown]
# ## By hand: `frule` and `rrule`
#
# What is neither elementwise nor linear is written out. A symmetric positive definite system
# $A y = b$ is best solved by a Cholesky factorisation, in SciPy. Differentiate the equation,
#
# $$ \dot A y + A \dot y = \dot b \quad\Longrightarrow\quad \dot y = A^{-1} (\dot b - \dot A y), $$
#
# and the forward rule is there. For the reverse one, write out what the weight $\bar y$ gives,
#
# $$ \bar y \cdot \dot y = (A^{-\top} \bar y) \cdot (\dot b - \dot A y), $$
#
# and read off the factors of $\dot b$ and of $\dot A$: with $\bar b = A^{-\top} \bar y$, which is
# another solve with the same matrix, $\bar A = -\bar b\, y^\top$.


# %%
@cr.primitive
def solve_spd(a, b):
    """Solve a @ y = b for a symmetric positive definite a: (n, n), and b: (n,)."""
    return linalg.cho_solve(linalg.cho_factor(a), b)


@cr.frule.register(solve_spd)
def solve_spd_frule(tangents, solve_spd, a, b):
    _, adot, bdot = tangents
    y = solve_spd(a, b)
    return y, solve_spd(a, bdot - adot @ y)


@cr.rrule.register(solve_spd)
def solve_spd_rrule(solve_spd, a, b):
    y = solve_spd(a, b)
    project_a, project_b = cr.ProjectTo(a), cr.ProjectTo(b)

    def solve_spd_pullback(ybar):
        bbar = solve_spd(a, ybar)
        abar = cr.thunk(lambda: project_a(-np.outer(bbar, y)))
        return cr.NoTangent(), abar, project_b(bbar)

    return y, solve_spd_pullback


# %% [markdown]
# What to note:
#
# - Both rules have the signature of the call that they answer; the tangents come before it.
# - Tangents and cotangents start with that of the function itself. A function can be an object
#   with fields of its own; `solve_spd` is a plain function, and has `NoTangent()`.
# - A tangent may be `ZeroTangent()`, for an argument that does not move. It adds and multiplies
#   like a zero of every shape, so the formula stays as it is.
# - `ProjectTo(a)` brings a cotangent into the space of `a`: its shape, its dtype, real if `a` is.
# - `thunk` puts off work. The engine opens it only where the argument is differentiated: for a
#   constant matrix the outer product is never computed.
# - Inside, `solve_spd` is called again rather than SciPy, so that second derivatives work.

# %%
rng = np.random.default_rng(0)
root = rng.normal(size=(4, 4))
a, b = root @ root.T + 4 * np.eye(4), rng.normal(size=4)

try:
    test_rrule(solve_spd, a, b)
except AssertionError as error:
    print(error)
else:
    raise RuntimeError("the test ought to have left the symmetric matrices")

# %% [markdown]
# The test is right to complain. It moved `a` in a random direction, and the result is no longer
# symmetric; but Cholesky reads only one triangle, and does not see what happens in the other. Our
# rule is true on symmetric matrices, so only there can it be tested: `primal_with_tangent`
# chooses the direction. (The second derivative would be tested in a random direction all the
# same. It is left out here, and `check_grad` below makes up for it.)

# %%
direction = rng.normal(size=(4, 4))
symmetric_a = primal_with_tangent(a, direction + direction.T)

test_frule(solve_spd, symmetric_a, b, second_order=False)
test_rrule(solve_spd, symmetric_a, b, second_order=False)

# %% [markdown]
# `check_grad` does for a function of one's own what these do for a rule. Here the matrix is the
# covariance of a Gaussian process, symmetric by construction, and we differentiate the fit to
# some data in the length scale and in the noise.

# %%
places = np.linspace(0.0, 1.0, 12)
squared_distances = (places[:, None] - places[None, :]) ** 2
heights = np.sin(6 * places)


def misfit(scale, noise):
    covariance = np.exp(-0.5 * squared_distances / scale**2) + noise**2 * np.eye(12)
    return heights @ solve_spd(covariance, heights)


check_grad(misfit, 0.2, 0.1)
cr.grad(misfit, argnums=(0, 1))(0.2, 0.1)

# %% [markdown]
# ## Which rule answers?
#
# Annotations on the parameters after the function select by type, the most specific first. A
# fallback for everything and a special case for one class can live side by side; `which` tells
# which one would answer, and why.


# %%
class Diagonal:
    """A diagonal matrix, kept as its entries."""

    def __init__(self, entries):
        self.entries = entries


@cr.primitive
def quadratic(x, a):
    """x^T a x."""
    return np.sum(a.entries * x**2) if isinstance(a, Diagonal) else x @ a @ x


@cr.rrule.register(quadratic)
def quadratic_rrule(quadratic, x, a):
    def quadratic_pullback(ybar):
        return cr.NoTangent(), (a + a.T) @ x * ybar, cr.thunk(lambda: np.outer(x, x) * ybar)

    return quadratic(x, a), quadratic_pullback


@cr.rrule.register(quadratic)
def quadratic_diagonal_rrule(quadratic, x, a: Diagonal):
    def quadratic_pullback(ybar):
        abar = cr.Tangent(Diagonal, entries=x**2 * ybar)
        return cr.NoTangent(), 2 * a.entries * x * ybar, abar

    return quadratic(x, a), quadratic_pullback


print(cr.which(cr.rrule, quadratic, b, a))
print(cr.which(cr.rrule, quadratic, b, Diagonal(b)))
assert "quadratic_diagonal_rrule" in cr.which(cr.rrule, quadratic, b, Diagonal(b))

test_rrule(quadratic, b, a)
test_rrule(quadratic, b, Diagonal(np.array([1.0, 2.0, 3.0, 4.0])))

# %% [markdown]
# The cotangent of an object is a `Tangent` with the names of its fields. The same comes out of
# `grad`: nothing needs to be registered for that.

# %%
gradient = cr.grad(quadratic, argnums=1)(b, Diagonal(np.ones(4)))
assert np.allclose(gradient.entries, b**2)
gradient

# %% [markdown]
# ## What has no derivative, and what nobody has written yet
#
# `non_differentiable` says that the output does not change with the input, as with counting and
# rounding. `not_implemented` stands for a partial that exists but is missing: it is no zero, and
# if it would reach a result, there is an error instead of a wrong number.


# %%
@cr.primitive
def count_above(x, threshold):
    return np.sum(np.asarray(x > threshold))


cr.non_differentiable(count_above)
assert np.allclose(cr.grad(lambda x: count_above(x, 0.0) * x[0])(b), [np.sum(b > 0), 0, 0, 0])


# %%
@cr.primitive
def power_series(x, order):
    return x**order


cr.scalar_rule(
    power_series,
    lambda y, x, order: order * x ** (order - 1),
    lambda y, x, order: cr.not_implemented("the derivative of power_series in its order"),
)

assert np.isclose(cr.grad(power_series)(2.0, 3.0), 12.0)
try:
    cr.grad(power_series, argnums=1)(2.0, 3.0)
except cr.MissingDerivativeError as error:
    print(error)
else:
    raise RuntimeError("a derivative that nobody wrote has reached a result")

# %% [markdown]
# In short:
#
# | the function is | write |
# |---|---|
# | elementwise | `scalar_rule(f, *partials)` |
# | linear in its first argument | `linear_rule(f, transpose)` |
# | linear in each of two | `bilinear_rule(f, left, right)` |
# | constant in steps | `non_differentiable(f)` |
# | anything else | `frule.register(f)`, `rrule.register(f)` |
# | a Python function to be run through after all | `opt_out(rrule, f, *types)` |
#
# Next: `3_map_and_reduce_that_call_back`, for functions that take functions.
