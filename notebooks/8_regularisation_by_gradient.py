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
# # Regularisation, chosen by a gradient
#
# A penalty $\tfrac12 e^s |w|^2$ keeps the weights of a regression small, so that it does not learn
# the noise of its training data. How strong should it be? As strong as makes the loss on *other*
# data small. That loss depends on $s$ through the weights,
#
# $$ w(s) = \arg\min_w \; \ell_{\text{train}}(w) + \tfrac12 e^s |w|^2 , \qquad
#    v(s) = \ell_{\text{validation}}\bigl(w(s)\bigr) , $$
#
# and one usually tries some values of $s$ on a grid. With the gradient of $v$ one can go downhill,
# also where there are many strengths and no grid would do (Bengio 2000).
#
# To differentiate $w(s)$ one need not follow the steps of the minimiser. At the minimum the
# gradient of the penalised loss $f$ is zero for every $s$. Differentiated,
#
# $$ \nabla^2_{ww} f \; \dot w + \partial_s \nabla_w f \; \dot s = 0 , $$
#
# a linear system for $\dot w$: the *implicit function theorem*. The rule of
# `scipy.optimize.minimize` solves it, so that a minimiser may stand in a function like any other.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge

import chainrules as cr

cr.adopt()

# %matplotlib inline

# %% [markdown]
# ## Where the answer is known: ridge regression
#
# 442 patients with diabetes, ten measurements each, and how far the disease went on in a year
# (Efron and others 2004). We train on 60 of them, so that there is noise to be learned, validate
# on 190, and keep the rest for the end.

# %%
data = load_diabetes(scaled=False)
shuffled = np.random.default_rng(0).permutation(len(data.target))
train, validation, rest = np.split(shuffled, [60, 250])


def standardised(x):
    return (x - x[train].mean(axis=0)) / x[train].std(axis=0)


x, y = standardised(data.data), standardised(data.target)


def squares(w, rows):
    return np.mean((x[rows] @ w - y[rows]) ** 2) / 2


def penalised(w, s):
    return squares(w, train) + np.sum(np.exp(s) * w**2) / 2


def trained(s):
    options = {"jac": "ad", "hess": "ad", "method": "trust-exact", "tol": 1e-10}
    return minimize(penalised, np.zeros(10), args=(s,), **options).x


def in_closed_form(s):
    gram = x[train].T @ x[train] / len(train)
    return np.linalg.solve(gram + np.diag(np.exp(s) * np.ones(10)), x[train].T @ y[train] / 60)


ridge = Ridge(alpha=60 * np.exp(-1.0), fit_intercept=False).fit(x[train], y[train])
assert np.allclose(trained(-1.0), in_closed_form(-1.0), rtol=1e-8)
assert np.allclose(trained(-1.0), ridge.coef_, rtol=1e-8)

# %% [markdown]
# The weights of ridge regression are the solution of a linear system, which is differentiated with
# no minimiser at all. Value, slope and curvature of the validation loss agree to rounding.


# %%
def validation_loss(s, weights=trained):
    return squares(weights(s), validation)


for s in np.linspace(-8.0, 4.0, 7):
    for derivative in (cr.grad, cr.jacfwd, cr.hessian):
        ours = derivative(validation_loss)(s)
        assert np.isclose(ours, derivative(validation_loss)(s, in_closed_form), rtol=1e-8)
    print(
        f"s = {s:5.1f}   loss {validation_loss(s):.5f}   slope {cr.grad(validation_loss)(s):9.6f}"
    )

# %% [markdown]
# Now downhill: one minimiser in another. The dashes in the picture are the slopes.

# %%
best = minimize(lambda s: validation_loss(s[0]), [0.0], jac="ad", method="BFGS")
assert best.success

strengths = np.linspace(-8, 4, 97)
losses = [validation_loss(s, in_closed_form) for s in strengths]
assert best.fun <= min(losses)

figure, axes = plt.subplots(figsize=(7, 3.5))
axes.plot(strengths, losses)
for s in np.linspace(-7, 3, 6):
    value, slope = cr.value_and_grad(validation_loss)(s)
    axes.plot([s - 0.7, s + 0.7], [value - 0.7 * slope, value + 0.7 * slope], "k--", linewidth=1)
axes.plot(best.x, best.fun, "o", color="red", label=f"found with {best.nfev} gradients")
axes.set_xlabel("logarithm $s$ of the strength")
axes.set_ylabel("validation loss")
axes.set_title("Ridge regression on 60 patients")
axes.legend()
plt.show()

# %% [markdown]
# With a strength for each of the ten measurements there is no grid (five values for each would be
# ten million), but the gradient has just ten entries. It agrees with the closed form too. The
# validation loss falls, as it must. That of the patients who were kept aside does not: ten
# strengths can learn the noise of 190 patients. A gradient finds what one asks for, and one should
# ask for few things of few data.

# %%
ten = minimize(
    validation_loss, np.full(10, best.x[0]), jac="ad", method="L-BFGS-B", bounds=[(-10, 6)] * 10
)
assert ten.fun < best.fun
for s in (best.x[0] * np.ones(10), ten.x):
    ours, theirs = (cr.grad(validation_loss)(s, weights) for weights in (trained, in_closed_form))
    assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-12)

for name, s in (("one strength", best.x[0]), ("ten strengths", ten.x)):
    print(f"{name:<14} validation {validation_loss(s):.4f}   rest {squares(trained(s), rest):.4f}")

# %% [markdown]
# ## Where it is not: logistic regression
#
# 569 tumours are to be told apart by 30 features: of ten properties of the nuclei in a picture the
# mean, the standard error and the largest value. The errors may deserve another penalty than the
# rest, so there are two strengths. The loss is that of cross validation: four times a quarter of
# the tumours is left out, the weights are fitted to the others, and the quarter gives the loss.

# %%
tumours = load_breast_cancer()
u = (tumours.data - tumours.data.mean(axis=0)) / tumours.data.std(axis=0)
u = np.column_stack([u, np.ones(len(u))])
signs = np.where(tumours.target == 1, 1.0, -1.0)
is_error = np.repeat([0, 1, 0], 10)  # the columns: means, errors, largest values

quarters = np.array_split(np.random.default_rng(1).permutation(len(u)), 4)
folds = [(np.setdiff1d(np.arange(len(u)), quarter), quarter) for quarter in quarters]


def logistic(w, rows):
    return np.mean(np.logaddexp(0.0, -signs[rows] * (u[rows] @ w)))


def penalised_logistic(w, s, rows):
    return logistic(w, rows) + np.sum(np.exp(s)[is_error] * w[:-1] ** 2) / 2


def cross_validation(s):
    options = {"jac": "ad", "hess": "ad", "method": "trust-exact", "tol": 1e-10}
    total = 0.0
    for rows, left_out in folds:
        w = minimize(penalised_logistic, np.zeros(31), args=(s, rows), **options).x
        total += logistic(w, left_out) / len(folds)
    return total


# %% [markdown]
# There is no closed form, but differences of the loss do: of fourth order, their error is that of
# rounding, and each needs sixteen more fits.

# %%
start, h = np.array([-3.0, -3.0]), 1e-2
gradient = cr.grad(cross_validation)(start)


def difference(e):
    near = cross_validation(start + h * e) - cross_validation(start - h * e)
    far = cross_validation(start + 2 * h * e) - cross_validation(start - 2 * h * e)
    return (8 * near - far) / (12 * h)


assert np.allclose(gradient, [difference(e) for e in np.eye(2)], rtol=1e-6)
gradient

# %% [markdown]
# Second derivatives exist as well: with the Hessian of the cross validation a trust region needs a
# handful of steps. The grid is for the picture, and for one more check: no point of it is better.

# %%
path = [start]
best = minimize(
    cross_validation, start, jac="ad", hess="ad", method="trust-exact", tol=1e-5,
    callback=lambda s: path.append(s.copy()),
)  # fmt: skip
assert best.success
assert np.all(np.linalg.eigvalsh(cr.hessian(cross_validation)(best.x)) > 0)

grid = np.linspace(-9, -1, 6)
table = np.array([[cross_validation(np.array([a, b])) for a in grid] for b in grid])
assert best.fun <= np.min(table)
print(
    f"loss {cross_validation(start):.4f} at the start, {best.fun:.4f} after {len(path) - 1} steps"
)

# %%
figure, axes = plt.subplots(figsize=(6, 4.5))
contours = axes.contourf(grid, grid, table, levels=20)
figure.colorbar(contours, label="loss of cross validation")
axes.plot(*np.transpose(path), "o-", color="white")
axes.plot(*best.x, "o", color="red")
axes.set_xlabel("log strength on means and largest values")
axes.set_ylabel("log strength on errors")
axes.set_title(f"{len(path) - 1} steps on a loss of four minimisations")
plt.show()

# %% [markdown]
# ## Sources
#
# - Y. Bengio, *Gradient-based optimization of hyperparameters*, Neural Computation 12 (2000).
# - F. Pedregosa, *Hyperparameter optimization with approximate gradient*, ICML (2016).
# - B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, *Least angle regression*, Annals of
#   Statistics 32 (2004): the diabetes data.
# - W. N. Street, W. H. Wolberg and O. L. Mangasarian, *Nuclear feature extraction for breast tumor
#   diagnosis* (1993).
