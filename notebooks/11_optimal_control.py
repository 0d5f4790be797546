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
# # Optimal control, with exact Hessians
#
# How should one push, from now on, so that a machine gets where it shall with the least effort? Cut
# into time steps, that is a minimum in as many unknowns as there are steps, and SciPy's minimisers
# can look for it. Newton's method needs the Hessian, or only its products with vectors, `cr.hvp`:
# conjugate gradients do the rest (Nocedal and Wright 2006, chapter 7).
#
# First a problem whose solution has been known since Kalman (1960), then one with no formula, to
# swing up a pendulum.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import qr, solve_discrete_are, solve_triangular
from scipy.optimize import NonlinearConstraint, minimize

import chainrules as cr

cr.adopt()

# %matplotlib inline

# %% [markdown]
# ## A cart, and Riccati's recursion
#
# A cart with position and speed $x$ is pushed by $u_k$ for a tenth of a second at a time. It shall
# come to rest at zero:
#
# $$ x_{k+1} = A x_k + B u_k , \qquad
#    \text{cost} = \sum_{k < n} \bigl( x_k^\top Q\, x_k + R\, u_k^2 \bigr) + x_n^\top Q\, x_n . $$
#
# In code it is a loop. Its gradient and the products with its Hessian come with it.

# %%
STEPS, DT = 50, 0.1
A, B = np.array([[1.0, DT], [0.0, 1.0]]), np.array([DT**2 / 2, DT])
Q, R = np.diag([1.0, 0.1]), 0.1
start = np.array([1.0, 0.5])


def cost(u, x):
    total = 0.0
    for push in u:
        total = total + x @ Q @ x + R * push**2
        x = A @ x + B * push
    return total + x @ Q @ x


def product(u, v, x):
    return cr.hvp(lambda u: cost(u, x), (u,), (v,))


optimum = minimize(
    cost, np.zeros(STEPS), args=(start,), jac=cr.ad, hessp=product, method="trust-ncg", tol=1e-7
)
assert optimum.success

# %% [markdown]
# The known answer: from the last step back, the cost that is still to come is $x^\top P_k\, x$, and
# the best push is proportional to the state, $u_k = -K_k x_k$, with
#
# $$ K_k = \frac{B^\top P_{k+1} A}{R + B^\top P_{k+1} B} , \qquad
#    P_k = Q + A^\top P_{k+1} (A - B K_k) , \qquad P_n = Q . $$

# %%
p, gains = Q, []
for _ in range(STEPS):
    gains.append(B @ p @ A / (R + B @ p @ B))
    p = Q + A.T @ p @ (A - np.outer(B, gains[-1]))

x, pushes, states = start, [], [start]
for gain in reversed(gains):
    pushes.append(-gain @ x)
    x = A @ x + B * pushes[-1]
    states.append(x)

assert np.allclose(optimum.x, pushes, rtol=0, atol=1e-6)
assert np.isclose(optimum.fun, start @ p @ start, rtol=1e-12)
print(f"{optimum.nit} steps, cost {optimum.fun:.6f}, by Riccati {start @ p @ start:.6f}")

# %% [markdown]
# A minimiser can itself be differentiated. The optimal cost is a function of the state at the
# start, $x^\top P_0\, x$, so its gradient is $2 P_0 x$ and its Hessian is $2 P_0$. For many steps
# $P_0$ is the solution of the algebraic Riccati equation, for which SciPy has a solver.


# %%
def optimal_cost(x):
    options = {"jac": "ad", "hess": "ad", "method": "trust-exact", "tol": 1e-7}
    return minimize(cost, np.zeros(STEPS), args=(x,), **options).fun


assert np.allclose(cr.grad(optimal_cost)(start), 2 * p @ start, rtol=1e-9)
assert np.allclose(cr.hessian(optimal_cost)(start), 2 * p, rtol=1e-9)
assert np.allclose(p, solve_discrete_are(A, B[:, None], Q, np.array([[R]])), rtol=1e-4)
print(cr.hessian(optimal_cost)(start) / 2)

# %% [markdown]
# ## Swinging up a pendulum
#
# A pendulum, one metre and one kilogram, hangs at rest, and shall stand at rest upside down three
# seconds later. A motor at its pivot gives the torque $u = \ddot \theta + g \sin \theta$, and we
# ask for the least $\tfrac12 \int u^2 dt$.
#
# The unknowns are the angles at the time steps, and the torque follows from them by differences,
#
# $$ u_k = \frac{\theta_{k+1} - 2 \theta_k + \theta_{k-1}}{h^2} + g \sin \theta_k $$
#
# (Ober-Bloebaum and others 2011 derive this from a discrete principle of least action). Two angles
# are given at each end, to be at rest there; the others are free. Nothing has to be simulated.

# %%
N, DURATION, G = 100, 3.0, 9.81
h = DURATION / N
times = h * np.arange(N + 1)


def whole(angles):
    return np.concatenate([np.zeros(2), angles, np.full(2, np.pi)])


def torque(angles):
    theta = whole(angles)
    return (theta[2:] - 2 * theta[1:-1] + theta[:-2]) / h**2 + G * np.sin(theta[1:-1])


def effort(angles):
    return h * np.sum(torque(angles) ** 2) / 2


fraction = times[2:-2] / DURATION
guess = np.pi * fraction**2 * (3 - 2 * fraction)

# %% [markdown]
# The minimiser counts what it asks for. `products` become many: near the minimum the Hessian is
# that of the fourth derivative, whose eigenvalues are far apart, and conjugate gradients need
# about the root of their ratio.


# %%
def counted(f, start):
    """Minimise ``f``; return the answer, and after each step the products so far and the loss."""
    products, path = 0, [(0, f(start))]

    def product(x, v):
        nonlocal products
        products += 1
        return cr.hvp(f, (x,), (v,))

    def record(intermediate_result):
        path.append((products, intermediate_result.fun))

    options = {"method": "trust-ncg", "options": {"gtol": 1e-5}}
    answer = minimize(f, start, jac=cr.ad, hessp=product, callback=record, **options)
    assert np.max(np.abs(answer.jac)) < 1e-4
    return answer, np.array(path)


plain, plain_path = counted(effort, guess)
eigenvalues = np.linalg.eigvalsh(cr.hessian(effort)(plain.x))
assert eigenvalues[0] > 0
print(f"{plain.nit} steps, {plain_path[-1, 0]:.0f} products, effort {plain.fun:.6f}")
print(f"eigenvalues of the Hessian from {eigenvalues[0]:.2f} to {eigenvalues[-1]:.0f}")

# %% [markdown]
# The remedy is to choose the unknowns well. Let $D$ be the matrix of second differences, the linear
# part of the torque, $D = S T$ with orthonormal columns in $S$ and a triangle $T$. As functions of
# $z = \sqrt{h}\, T \theta$, in effect of the accelerations, the squares of the differences are
# $|z|^2$, with the identity as Hessian. What gravity adds bends few directions, so few products do.

# %%
second_differences = cr.jacobian(lambda x: torque(x) - G * np.sin(whole(x)[1:-1]))(guess)
_, triangle = qr(second_differences, mode="economic")


def angles_of(z):
    return guess + solve_triangular(triangle, z) / np.sqrt(h)


scaled, scaled_path = counted(lambda z: effort(angles_of(z)), np.zeros_like(guess))
assert np.isclose(scaled.fun, plain.fun, rtol=1e-8)
assert np.allclose(angles_of(scaled.x), plain.x, atol=1e-3)
assert scaled_path[-1, 0] < plain_path[-1, 0] / 10
print(f"{scaled.nit} steps, {scaled_path[-1, 0]:.0f} products, effort {scaled.fun:.6f}")

# %% [markdown]
# ## Is it right?
#
# There is no formula for the swing, but there are laws that it must obey.
#
# - Pontryagin's principle: the torque is the *costate*, which satisfies the equation of small
#   deviations, $\ddot u + g \cos \theta\; u = 0$. In time steps it holds exactly.
# - Energy: the work of the motor is what it takes to lift the weight by two metres, $2 g$, up to
#   the error of the differences.
# - Dynamics: a simulation with that torque, by `solve_ivp`, ends near the top.

# %%
theta, u = whole(plain.x), torque(plain.x)

costate = (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2 + G * np.cos(plain.x) * u[1:-1]
assert np.max(np.abs(costate)) < 1e-3 * np.max(np.abs(u))

work = u @ (theta[2:] - theta[:-2]) / 2
assert np.isclose(work, 2 * G, rtol=2e-3)


def driven(t, state):
    angle, speed = state
    return [speed, np.interp(t, times[1:-1], u) - G * np.sin(angle)]


simulated = solve_ivp(driven, (h / 2, DURATION - h / 2), [0.0, 0.0], rtol=1e-9, atol=1e-9)
assert np.allclose(simulated.y[:, -1], [np.pi, 0.0], atol=0.3)
print(f"work {work:.4f}, 2 g = {2 * G:.4f}; simulated to {simulated.y[0, -1]:.3f} radians")

# %% [markdown]
# ## A weaker motor
#
# The motor may give no more than 5 newton metres. Held still, the pendulum would need 9.81 to get
# past the horizontal. `trust-constr` takes the bounds on the torque as constraints, with their
# Jacobian and the Hessian of their multipliers, and the products with the Hessian of the effort.
#
# By Pontryagin's principle the torque is now the costate, cut off at the bounds; and the costate
# satisfies the same equation as before. It is the torque and the multiplier of its bounds.

# %%
LIMIT = 5.0
weak = minimize(
    effort,
    plain.x,
    jac=cr.ad,
    hessp=lambda x, v: cr.hvp(effort, (x,), (v,)),
    constraints=NonlinearConstraint(torque, -LIMIT, LIMIT, jac=cr.ad, hess=cr.ad),
    method="trust-constr",
    options={"gtol": 1e-6, "xtol": 1e-10},
)
weak_torque = torque(weak.x)

assert weak.success
assert np.max(np.abs(u)) > LIMIT + 0.5
assert np.max(np.abs(weak_torque)) < LIMIT + 1e-6
assert weak.fun > plain.fun

costate = weak_torque + weak.v[0] / h
residual = (costate[2:] - 2 * costate[1:-1] + costate[:-2]) / h**2
residual += G * np.cos(weak.x) * costate[1:-1]
assert np.max(np.abs(residual)) < 1e-3 * np.max(np.abs(costate))
assert np.allclose(weak_torque, np.clip(costate, -LIMIT, LIMIT), atol=0.1)
print(f"{weak.nit} steps; effort {weak.fun:.3f} in place of {plain.fun:.3f}")

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8))
for name, angles in (("free", plain.x), ("at most 5 N m", weak.x)):
    left.plot(times, whole(angles), label=name)
    middle.plot(times[1:-1], torque(angles), label=name)
left.axhline(np.pi, color="gray", linestyle=":")
left.set_title("Angle")
middle.axhline(LIMIT, color="gray", linestyle=":")
middle.axhline(-LIMIT, color="gray", linestyle=":")
middle.set_title("Torque, newton metres")
for axes in (left, middle):
    axes.set_xlabel("seconds")
    axes.legend()
for name, path in (("angles", plain_path), ("accelerations", scaled_path)):
    right.loglog(path[1:, 0], np.maximum(path[1:, 1] - plain.fun, 1e-10), "o-", label=name)
right.set_xlabel("products with the Hessian")
right.set_title("Effort above the least, by unknowns")
right.legend()
plt.show()

# %% [markdown]
# ## Sources
#
# - R. E. Kalman, *Contributions to the theory of optimal control*, Bol. Soc. Mat. Mexicana 5
#   (1960).
# - J. Nocedal and S. J. Wright, *Numerical optimization* (2006), chapters 4, 7 and 19.
# - S. Ober-Bloebaum, O. Junge and J. E. Marsden, *Discrete mechanics and optimal control: an
#   analysis*, ESAIM: COCV 17 (2011).
# - L. S. Pontryagin and others, *The mathematical theory of optimal processes* (1962).
