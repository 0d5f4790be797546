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
# # Products with the Jacobian
#
# The derivative of $f : \mathbb{R}^n \to \mathbb{R}^m$ at $x$ is a linear map, and its matrix is
# the Jacobian $J$, with $J_{ij} = \partial f_i / \partial x_j$. Automatic differentiation
# hardly ever forms that matrix. It multiplies by it, from the right or from the left:
#
# - **forward**: a *tangent* $\dot x$, a direction in which the input moves, becomes the velocity
#   of the output, $\dot y = J \dot x$. This is a Jacobian-vector product, `jvp`.
# - **reverse**: a *cotangent* $\bar y$, a weight on each entry of the output, becomes a weight on
#   each entry of the input, $\bar x = J^\top \bar y$. This is a vector-Jacobian product, `vjp`.
#
# Either takes a small multiple of the arithmetic of $f$ itself, however large $n$ and $m$ are. This
# notebook shows what they are, how they are computed, and how gradients and Jacobians follow.

# %%
import numpy as np

import chainrules as cr

# %% [markdown]
# ## A function with a meaning
#
# A planar robot arm has five links. The input is the angle of each joint, relative to the link
# before; the output is where the hand is. It is plain NumPy: nothing is imported from
# `chainrules` to write it, and nothing has to be changed in it.

# %%
LINKS = np.array([0.9, 0.8, 0.6, 0.4, 0.2])  # metres


def hand(angles):
    headings = np.cumsum(angles)
    return np.stack([np.sum(LINKS * np.cos(headings)), np.sum(LINKS * np.sin(headings))])


x = np.array([0.3, 0.5, -0.4, 0.2, 0.6])
hand(x)

# %% [markdown]
# ## Forward: tangents
#
# Let the joints turn with speeds $\dot x$. The hand then moves with velocity $\dot y = J \dot x$.
# `jvp` takes the point and the direction, each a tuple with one entry per argument of the
# function, and returns the value together with its velocity.

# %%
xdot = np.array([1.0, -0.5, 0.25, 0.0, 2.0])  # radians per second

y, ydot = cr.jvp(hand, (x,), (xdot,))
assert np.array_equal(y, hand(x))
ydot

# %% [markdown]
# Without any theory: take a small step along $\dot x$, forwards and backwards, and divide. The
# step that balances truncation against rounding is near the cube root of the machine precision,
# and leaves about ten correct digits. `jvp` has no step, and is exact up to rounding.


# %%
def central_difference(f, x, xdot):
    h = np.cbrt(np.finfo(np.float64).eps)
    return (f(x + h * xdot) - f(x - h * xdot)) / (2 * h)


by_differences = central_difference(hand, x, xdot)
assert np.allclose(ydot, by_differences, rtol=1e-8)
ydot - by_differences

# %% [markdown]
# ## Reverse: cotangents
#
# Let the hand push against the world with force $\bar y$. Which torques must the joints give?
# Virtual work answers: for every motion $\dot x$ the power at the hand equals the power in the
# joints, $\bar y \cdot \dot y = \bar x \cdot \dot x$. With $\dot y = J \dot x$ for all $\dot x$,
# this says $\bar x = J^\top \bar y$. Torques are cotangents.
#
# `vjp` evaluates the function and returns a *pullback*, which takes a cotangent of the output to
# a tuple of cotangents, one per argument.

# %%
y, pullback = cr.vjp(hand, x)

ybar = np.array([0.5, -2.0])  # newtons
(xbar,) = pullback(ybar)
xbar

# %% [markdown]
# The two powers are the same number. This identity connects every pair of forward and reverse
# rules, and it needs no step size, so it is a sharp test; the testing kit of the next notebook
# uses it.

# %%
assert np.isclose(ybar @ ydot, xbar @ xdot, rtol=1e-14)
ybar @ ydot, xbar @ xdot

# %% [markdown]
# The function is not evaluated again when the pullback is called. `linearize` is the same for
# the forward direction: it returns the *pushforward* $\dot x \mapsto J \dot x$ at one point.

# %%
y, pushforward = cr.linearize(hand, x)

assert np.allclose(pushforward(xdot), ydot)
assert np.allclose(pushforward(2 * xdot), 2 * ydot)
assert np.allclose(pullback(-ybar)[0], -xbar)

# %% [markdown]
# ## What happens inside, forward
#
# A program is a composition of simple functions, $f = f_3 \circ f_2 \circ f_1$, and the chain
# rule makes its Jacobian a product, $J = J_3 J_2 J_1$. Forward mode multiplies from the right,
# $J_3 (J_2 (J_1 \dot x))$: each intermediate value carries its tangent along. A *dual number* is
# a value together with its tangent, and fifteen lines of Python show the idea:


# %%
class Dual:
    def __init__(self, value, dot):
        self.value, self.dot = value, dot

    def __add__(self, other):
        return Dual(self.value + other.value, self.dot + other.dot)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.dot * other.value + self.value * other.dot)

    def sin(self):  # np.sin calls this method of objects that it does not know
        return Dual(np.sin(self.value), np.cos(self.value) * self.dot)


def product(a, b):
    return a * np.sin(a * b)


ours = product(Dual(1.5, 1.0), Dual(0.5, 0.0)).dot
theirs = cr.jvp(product, (1.5, 0.5), (1.0, 0.0))[1]
assert np.isclose(ours, theirs, rtol=1e-15)
ours

# %% [markdown]
# `cr.jvp` does this for all of NumPy: its dual numbers implement the protocols
# `__array_ufunc__` and `__array_function__`, by which NumPy hands over a call whose arguments
# it does not know. What to do in each call is said by a rule, an *frule*.
#
# ## What happens inside, reverse
#
# Reverse mode multiplies from the left, $((\bar y^\top J_3) J_2) J_1$. It starts from the
# output, so it needs the intermediate values in the opposite order. They are written down on a
# *tape* while the function runs, together with a pullback for each step, and the tape is then
# read backwards. A value that is used twice receives two contributions, which are added. In
# full, for the same `product`:


# %%
class Node:
    def __init__(self, value, tape, pullback=None):
        self.value, self.tape, self.pullback, self.bar = value, tape, pullback, 0.0
        tape.append(self)

    def __mul__(self, other):
        def mul_pullback(bar):
            self.bar += other.value * bar
            other.bar += self.value * bar

        return Node(self.value * other.value, self.tape, mul_pullback)

    def sin(self):
        def sin_pullback(bar):
            self.bar += np.cos(self.value) * bar

        return Node(np.sin(self.value), self.tape, sin_pullback)


tape = []
a, b = Node(1.5, tape), Node(0.5, tape)
y = product(a, b)
y.bar = 1.0
for node in reversed(tape):
    if node.pullback is not None:
        node.pullback(node.bar)

abar, bbar = cr.vjp(product, 1.5, 0.5)[1](1.0)
assert np.isclose(a.bar, abar, rtol=1e-15)
assert np.isclose(b.bar, bbar, rtol=1e-15)
a.bar, b.bar

# %% [markdown]
# ## Gradients
#
# A function with one real output has a Jacobian with one row. The pullback of $\bar y = 1$ is
# that row: the whole gradient in one reverse pass, for a thousand inputs as for one. `grad`
# does that, and `value_and_grad` also keeps the value that was computed on the way.

# %%
WEIGHTS = np.array([3.0, 2.0, 1.5, 1.0, 0.5])  # newtons, at the end of each link


def energy(angles):
    """Potential energy of the arm: weights at their heights, and a spring in each joint."""
    heights = np.cumsum(LINKS * np.sin(np.cumsum(angles)))
    return np.sum(WEIGHTS * heights) + 0.5 * np.sum(angles**2)


gradient = cr.grad(energy)(x)
value, same_gradient = cr.value_and_grad(energy)(x)

assert value == energy(x)
assert np.array_equal(gradient, same_gradient)
assert np.array_equal(gradient, cr.vjp(energy, x)[1](1.0)[0])
gradient

# %% [markdown]
# `argnums` says which arguments to differentiate: a number gives one gradient, a tuple of
# numbers a tuple of gradients.


# %%
def squared_error(w, b, u, v):
    return np.mean((u @ w + b - v) ** 2)


rng = np.random.default_rng(0)
u, v, w = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=3)

wbar, bbar = cr.grad(squared_error, argnums=(0, 1))(w, 0.1, u, v)
residual = u @ w + 0.1 - v
assert np.allclose(wbar, 2 * u.T @ residual / 20)
assert np.allclose(bbar, 2 * np.mean(residual))

# %% [markdown]
# ## Jacobians
#
# When the matrix itself is wanted, it is put together from products: forward mode gives a column
# for each unit tangent, so `jacfwd` takes $n$ passes; reverse mode a row for each unit cotangent,
# so `jacrev` takes $m$. `jacobian` looks at the sizes and picks. The result has the output's
# shape followed by the input's.

# %%
columns = np.stack([pushforward(unit) for unit in np.eye(5)], axis=1)
rows = np.stack([pullback(unit)[0] for unit in np.eye(2)])

assert np.allclose(rows, columns)
assert np.allclose(cr.jacfwd(hand)(x), columns)
assert np.allclose(cr.jacrev(hand)(x), columns)
assert cr.jacobian(hand)(x).shape == (2, 5)
cr.jacobian(hand)(x)

# %% [markdown]
# ## Derivatives of derivatives
#
# The results are ordinary functions, so they can be differentiated again, in any order of modes
# and to any depth. Each transformation keeps its values apart from those of the others: in
#
# $$ \frac{d}{dx} \Bigl( x \cdot \frac{d}{dy} (x + y) \Bigr) = \frac{d}{dx} (x \cdot 1) = 1 $$
#
# an engine that confused the two perturbations would answer 2.

# %%
assert cr.grad(lambda x: x * cr.grad(lambda y: x + y)(1.0))(1.0) == 1.0

nth = np.sin
for expected in (np.cos(0.7), -np.sin(0.7), -np.cos(0.7), np.sin(0.7)):
    nth = cr.grad(nth)
    assert np.isclose(nth(0.7), expected, rtol=1e-12)

# %% [markdown]
# ## Containers, integers, complex numbers
#
# Arguments and results may be dicts, lists, tuples, dataclasses and nests of them; a derivative
# has the structure of the thing differentiated.

# %%
parameters = {"layers": [rng.normal(size=(3, 4)), rng.normal(size=(4, 1))], "scale": 2.0}


def network(parameters, u):
    first, second = parameters["layers"]
    return parameters["scale"] * np.sum(np.tanh(u @ first) @ second)


gradients = cr.grad(network)(parameters, u)
assert gradients.keys() == parameters.keys()
assert [layer.shape for layer in gradients["layers"]] == [(3, 4), (4, 1)]
assert np.isclose(gradients["scale"], network(parameters, u) / 2)

# %% [markdown]
# Integers count as float64, and float32 stays float32.

# %%
assert cr.grad(lambda n: n**3)(2) == 12.0
assert cr.grad(lambda x: np.sum(x**2))(np.ones(3, np.float32)).dtype == np.float32

# %% [markdown]
# A complex number is a point of the plane. The gradient of a real function of $z = x + iy$ is
# $\partial f / \partial x + i \, \partial f / \partial y$, which points uphill: $|z|^2$ has the
# gradient $2z$. Of a holomorphic function, `jvp` is multiplication by $f'(z)$.

# %%
z = 1.0 + 2.0j
assert np.isclose(cr.grad(lambda z: np.abs(z) ** 2)(z), 2 * z)
assert np.isclose(cr.jvp(np.exp, (z,), (1.0 + 0.0j,))[1], np.exp(z))

# %% [markdown]
# ## What is refused
#
# Two things can go wrong when plain code is differentiated: a derivative gets lost, or it is
# asked for where there is none to be had. Neither is passed over. `math.sin` wants a plain
# number, so it would cut the derivative off; `grad` needs one real output. The message says what
# to write instead.

# %%
import math


def complaint(f, *args):
    try:
        f(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


lost = complaint(cr.grad(lambda x: x * math.sin(x)), 1.0)
print(lost)
assert "write np.sin" in lost

# %%
many = complaint(cr.grad(hand), x)
print(many)
assert "needs a scalar output" in many

# %% [markdown]
# Comparisons give plain booleans, so that `if`, `while` and `for` are Python's own: the
# derivative is that of the branch that was taken. And where a constant is meant, it is said
# aloud.


# %%
def newton_sqrt(x):
    y = x
    while abs(y * y - x) > 1e-14 * x:
        y = 0.5 * (y + x / y)
    return y


assert np.isclose(cr.grad(newton_sqrt)(2.0), 0.5 / np.sqrt(2.0))
assert cr.grad(lambda x: x * cr.stop_gradient(x))(3.0) == 3.0

# %% [markdown]
# Next: `2_writing_rules_and_testing_them`.
