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
# # Hessians by forward over reverse
#
# The Hessian $H$ of $f : \mathbb{R}^n \to \mathbb{R}$ has $n^2$ entries, and much of what it is
# good for never asks for them. Newton's method with conjugate gradients, the largest curvature,
# the convexity along a path: all of these need products $H v$. One such product costs a small
# multiple of a gradient, whatever $n$ is. This notebook computes it, checks it against the
# formula, and fits a regression with it.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

import chainrules as cr

# %matplotlib inline

# %% [markdown]
# ## A loss
#
# Logistic regression with a Gaussian prior on the weights: 569 tumours, 30 measurements each,
# and the class $s_i = \pm 1$. With the rows $u_i$ of the data, and the last parameter as the
# intercept $b$,
#
# $$ f(w, b) = \sum_i \log \bigl( 1 + e^{-s_i (u_i \cdot w + b)} \bigr) + \tfrac12 |w|^2 . $$
#
# `np.logaddexp(0, -m)` is $\log(1 + e^{-m})$ without overflow.

# %%
data = load_breast_cancer()
features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
u = np.column_stack([features, np.ones(len(features))])  # (569, 31)
s = np.where(data.target == 1, 1.0, -1.0)


def loss(w):
    margins = s * (u @ w)
    return np.sum(np.logaddexp(0.0, -margins)) + 0.5 * np.sum(w[:-1] ** 2)


gradient = cr.grad(loss)

# %% [markdown]
# ## The product
#
# The Hessian is the Jacobian of the gradient, so its product with a direction $v$ is the
# derivative of the gradient along $v$,
#
# $$ H v = \frac{d}{d \varepsilon} \nabla f(x + \varepsilon v) \Big|_{\varepsilon = 0} . $$
#
# The gradient comes from reverse mode. The derivative along one direction is what forward mode
# does best: run the whole gradient computation, tape and all, on dual numbers. That is *forward
# over reverse*, and in code it is the sentence above. `hvp` is its short name.

# %%
rng = np.random.default_rng(0)
w, v = 0.1 * rng.normal(size=31), rng.normal(size=31)

product = cr.jvp(gradient, (w,), (v,))[1]
assert np.array_equal(product, cr.hvp(loss, (w,), (v,)))

# %% [markdown]
# For this loss the Hessian is known: $H = U^\top D\, U + \mathrm{diag}(1, \dots, 1, 0)$, where
# $D$ holds $p_i (1 - p_i)$, and $p_i$ is the probability of class 1.

# %%
p = 1 / (1 + np.exp(-u @ w))
by_formula = u.T @ ((p * (1 - p))[:, None] * u) + np.diag(np.append(np.ones(30), 0.0))

assert np.allclose(product, by_formula @ v, rtol=1e-12)

# %% [markdown]
# There are other ways round, and since transformations nest, they are all one line. They agree:
#
# - *reverse over reverse*: the Hessian is symmetric, so a pullback of the gradient does as well.
#   It records a tape of a tape, and is the more costly.
# - *reverse over forward*: the gradient of the directional derivative $\nabla f \cdot v$.
# - *forward over forward* gives one number, the curvature $v^\top H v$ along $v$.

# %%
reverse_over_reverse = cr.vjp(gradient, w)[1](v)[0]
reverse_over_forward = cr.grad(lambda w: cr.jvp(loss, (w,), (v,))[1])(w)
curvature = cr.jvp(lambda w: cr.jvp(loss, (w,), (v,))[1], (w,), (v,))[1]

assert np.allclose(product, reverse_over_reverse, rtol=1e-12)
assert np.allclose(product, reverse_over_forward, rtol=1e-12)
assert np.isclose(curvature, v @ product, rtol=1e-12)


# %% [markdown]
# What it costs, measured here and now. The times depend on the machine; what matters is that a
# product costs a few gradients, and not $n = 31$ of them.


# %%
def milliseconds(f, repeat=50):
    f()
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        f()
        times.append(time.perf_counter() - started)
    return 1e3 * np.median(times)


for name, f in {
    "loss": lambda: loss(w),
    "gradient": lambda: gradient(w),
    "Hessian times vector": lambda: cr.hvp(loss, (w,), (v,)),
    "Hessian": lambda: cr.hessian(loss)(w),
}.items():
    print(f"{name:<22}{milliseconds(f, 20):8.3f} ms")

# %% [markdown]
# ## The matrix, where it is wanted
#
# `hessian` linearises the gradient once. What the gradient does with its tangents is recorded, and
# that linear program runs once for a block of all $n$ unit vectors: far cheaper than $n$ products,
# and symmetric to the last bit. For directions of your own there is `hvp(..., block=True)`.

# %%
hessian = cr.hessian(loss)(w)

assert hessian.shape == (31, 31)
assert np.allclose(hessian, by_formula, rtol=1e-12)
assert np.array_equal(hessian, hessian.T)

directions = rng.normal(size=(5, 31))
products = cr.hvp(loss, (w,), (directions,), block=True)
assert np.allclose(products, directions @ hessian, rtol=1e-10)

# %% [markdown]
# ## The largest curvature, from products alone
#
# Repeated multiplication turns a vector towards the eigenvector of the largest eigenvalue. That
# number limits the step of gradient descent: with a step of more than $2 / \lambda_{\max}$ it
# diverges, and $1 / \lambda_{\max}$ is the safe choice. The bound $p (1 - p) \le 1/4$ is reached
# at $w = 0$, so that is where the loss is most curved.


# %%
def largest_eigenvalue(multiply, v, steps=100):
    for _ in range(steps):
        v = multiply(v / np.linalg.norm(v))
    return np.linalg.norm(v)


w0 = np.zeros(31)
steepest = largest_eigenvalue(lambda v: cr.hvp(loss, (w0,), (v,)), v)

assert np.isclose(steepest, np.linalg.eigvalsh(cr.hessian(loss)(w0))[-1], rtol=1e-6)
steepest

# %% [markdown]
# ## Newton's method against gradient descent
#
# Newton's method looks for the step $d$ with $H d = -\nabla f$. Conjugate gradients solve that
# with products only, and SciPy's `trust-ncg` adds a trust region around the point. We hand it
# the gradient and the products, and count both.

# %%
counts = {"gradient": 0, "product": 0}
newton_path = [(0, loss(w0))]


def counted_gradient(w):
    counts["gradient"] += 1
    return cr.value_and_grad(loss)(w)


def counted_product(w, v):
    counts["product"] += 1
    return cr.hvp(loss, (w,), (v,))


def record(intermediate_result):
    newton_path.append((sum(counts.values()), intermediate_result.fun))


optimum = minimize(
    counted_gradient,
    w0,
    jac=True,
    hessp=counted_product,
    method="trust-ncg",
    callback=record,
    options={"gtol": 1e-9},
)

assert np.max(np.abs(gradient(optimum.x))) < 1e-8
counts

# %% [markdown]
# Gradient descent takes a step of $1 / \lambda_{\max}$ down the gradient, at one gradient each.

# %%
w_descent = w0
descent_path = [(0, loss(w0))]
for step in range(1, 1001):
    y, wbar = cr.value_and_grad(loss)(w_descent)
    w_descent = w_descent - wbar / steepest
    descent_path.append((step, loss(w_descent)))

# %% [markdown]
# How far is each from the minimum, after how many gradients and products? A product is counted
# like a gradient, although it costs more.

# %%
rounding = 1e-12  # the loss is not known better than this


def above_the_minimum(path):
    counts, losses = np.array(path).T
    return counts, np.maximum(losses - optimum.fun, rounding)


figure, axes = plt.subplots(figsize=(7, 4))
axes.semilogy(*above_the_minimum(newton_path), "o-", label="trust-ncg")
axes.semilogy(*above_the_minimum(descent_path), label="gradient descent")
axes.set_xlabel("gradients and Hessian-vector products")
axes.set_ylabel("loss above the minimum")
axes.set_title("Logistic regression, 569 samples, 31 parameters")
axes.legend()
axes.grid(alpha=0.3)
plt.show()

# %%
assert sum(counts.values()) < 200
assert descent_path[-1][1] - optimum.fun > 1e-2

# %% [markdown]
# The reason is in the Hessian at the minimum. Gradient descent shrinks the error in an
# eigenvector of eigenvalue $\lambda$ by the factor $1 - \lambda / \lambda_{\max}$ in each step.
# The smallest eigenvalues decide how long it takes; conjugate gradients need about the root of
# that, and get much of it for free where the eigenvalues come in clusters.

# %%
hessian = cr.hessian(loss)(optimum.x)
eigenvalues = np.linalg.eigvalsh(hessian)
assert np.all(eigenvalues > 0)
print(f"from {eigenvalues[0]:.3f} to {eigenvalues[-1]:.1f}, and at the start up to {steepest:.0f}")

# %% [markdown]
# ## What else the Hessian tells
#
# The loss is minus the logarithm of a posterior density, up to a constant. Near its peak it is a
# Gaussian with covariance $H^{-1}$ (Laplace's approximation), so the diagonal of the inverse
# gives the uncertainty of each weight: which of them could as well be zero? Most of them, it turns
# out. Radius, perimeter and area of a tumour say the same, and the data cannot tell which of the
# three deserves the weight.

# %%
deviations = np.sqrt(np.diag(np.linalg.inv(hessian)))
clear = np.abs(optimum.x[:-1]) > 2 * deviations[:-1]

for j in np.argsort(-np.abs(optimum.x[:-1]))[:5]:
    print(f"{data.feature_names[j]:<24}{optimum.x[j]:7.2f} +- {deviations[j]:.2f}")
print(f"{np.sum(clear)} of 30 weights are more than two deviations from zero")

# %% [markdown]
# ## Functions of the Hessian that are differentiated again
#
# Nothing stops at the second order. Along the direction $v$, the third derivative is one more
# `jvp` of the product:

# %%
third = cr.jvp(lambda w: cr.hvp(loss, (w,), (v,)), (w,), (v,))[1]
d = (p * (1 - p) * (1 - 2 * p))[:, None] * u * (u @ v)[:, None]

assert np.allclose(third, d.T @ (u @ v), rtol=1e-10)

# %% [markdown]
# ## Where most of the Hessian is zero
#
# A signal of $n = 20\,000$ samples is to be smoothed: stay close to the data, pay for every jump,
# but for large jumps only in proportion, so that edges survive. Each sample meets its neighbours
# only, so the Hessian has three diagonals. `sparse=True` finds that out from the recorded
# program, and needs three directions for the whole matrix. With a sparse solver Newton's method
# is then a matter of milliseconds per step.

# %%
from scipy.sparse.linalg import spsolve

position = np.linspace(0, 6, 20_000)
signal = np.sign(np.sin(2 * position)) * position + 0.5 * rng.normal(size=position.size)


def roughness(x):
    jumps = np.sum(np.sqrt(1 + (np.diff(x) / 0.02) ** 2) - 1)
    return 0.5 * np.sum((x - signal) ** 2) + 0.5 * jumps


sparse_hessian = cr.hessian(roughness, sparse=True)
pattern = cr.sparsity(cr.grad(roughness), signal)[:6, :6]
print(pattern.toarray().astype(int))

# %%
smooth, steps = signal.copy(), 0
while np.max(np.abs(cr.grad(roughness)(smooth))) > 1e-8:
    step = spsolve(sparse_hessian(smooth).tocsc(), cr.grad(roughness)(smooth))
    scale = 1.0
    while roughness(smooth - scale * step) > roughness(smooth):
        scale /= 2
    smooth, steps = smooth - scale * step, steps + 1

assert steps < 100
print(f"{steps} Newton steps, {sparse_hessian(smooth).nnz} entries in the Hessian")

# %%
figure, axes = plt.subplots(figsize=(7, 3))
axes.plot(position, signal, ",", alpha=0.5)
axes.plot(position, smooth)
axes.set_title("20 000 samples, smoothed by Newton's method")
plt.show()
