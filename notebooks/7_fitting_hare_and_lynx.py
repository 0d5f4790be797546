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
# # Fitting a differential equation: hare and lynx
#
# From 1900 to 1920 the Hudson's Bay Company wrote down how many pelts of snowshoe hares and of
# lynxes its trappers brought in. The numbers go up and down, the lynx after the hare. Lotka (1925)
# and Volterra (1926) explained such cycles by two equations: hares $u$ multiply and are eaten,
# lynxes $v$ starve and multiply by eating,
#
# $$ \dot u = (\alpha - \beta v)\, u , \qquad \dot v = (-\gamma + \delta u)\, v . $$
#
# Which $\alpha, \beta, \gamma, \delta$ fit the pelts best, and how well does the table determine
# them? The first question wants the gradient of the likelihood through an ODE solver, the second
# its Hessian. Carpenter (2018) answered both by sampling, with Stan, so the answers are known.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import chainrules as cr

cr.adopt()  # from here on SciPy's solvers in this notebook can be differentiated

# %matplotlib inline

# %% [markdown]
# ## The data
#
# Thousands of pelts a year. Hewitt, *The conservation of the wild life of Canada* (1921), published
# the company's records; this table is the one of Carpenter's case study, which has it from Howard
# (2009).

# %%
years = np.arange(1900, 1921)
hares = [30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1, 40.3, 57.0, 76.6, 52.3,
         19.5, 11.2, 7.6, 14.6, 16.2, 24.7]  # fmt: skip
lynxes = [4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4, 8.0, 12.3, 19.5, 45.7, 51.1,
          29.7, 15.8, 9.7, 10.1, 8.6]  # fmt: skip
pelts = np.array([hares, lynxes])

# %% [markdown]
# ## The likelihood
#
# The pelts are proportional to the populations, up to errors that are themselves proportional:
# the logarithm of each count is normal around the logarithm of the solution, with a deviation
# $\sigma$ for each species. The unknowns are the four rates, the two populations of 1900 and the
# two deviations. All are positive, so we look for their logarithms $p$.
#
# Nothing here knows of derivatives; `solve_ivp` is called as always.

# %%
NAMES = ["alpha", "beta", "gamma", "delta", "hares of 1900", "lynxes of 1900", "sigma_u", "sigma_v"]


def rates(t, z, theta):
    alpha, beta, gamma, delta = theta
    u, v = z
    return [(alpha - beta * v) * u, (-gamma + delta * u) * v]


def populations(p, times):
    theta, start = np.exp(p[:4]), np.exp(p[4:6])
    span = (years[0], times[-1])
    return solve_ivp(rates, span, start, t_eval=times, args=(theta,), rtol=1e-6, atol=1e-6).y


def minus_log_likelihood(p):
    log_sigma = p[6:, None]
    residuals = (np.log(pelts) - np.log(populations(p, years))) / np.exp(log_sigma)
    return np.sum(residuals**2 / 2 + log_sigma)


# %% [markdown]
# ## The fit
#
# The gradient is that of the steps that the solver took. All eight slopes come from one pass back
# through the solution; finite differences would solve the equations eight times more, and lose
# half of the digits. In an adopted notebook `jac=cr.ad` asks for that gradient. It is the same as
# `minimize(cr.value_and_grad(f), ..., jac=True)`.

# %%
guess = np.log([0.5, 0.02, 0.9, 0.03, 30.0, 4.0, 0.5, 0.5])
fit = minimize(minus_log_likelihood, guess, jac=cr.ad, method="BFGS", options={"gtol": 1e-3})

assert fit.success
print(f"{fit.nfev} gradients, minus log likelihood {fit.fun:.4f}")

# %% [markdown]
# At the maximum each $\sigma^2$ must be the mean square of the residuals of its species: the
# derivative by $\log \sigma$ is $n - \sum r^2 / \sigma^2$. That much is known without a computer.

# %%
residuals = np.log(pelts) - np.log(populations(fit.x, years))
assert np.allclose(np.exp(fit.x[6:]), np.sqrt(np.mean(residuals**2, axis=1)), rtol=1e-4)

# %% [markdown]
# ## The error bars
#
# Near its maximum the likelihood is a Gaussian, whose covariance is the inverse of the Hessian of
# its minus logarithm. The Hessian is the derivative of the gradient, so differences of the
# gradient have to agree with it, as far as they have digits.

# %%
hessian = cr.hessian(minus_log_likelihood)(fit.x)

gradient, h = cr.grad(minus_log_likelihood), 1e-4
by_differences = [(gradient(fit.x + h * e) - gradient(fit.x - h * e)) / (2 * h) for e in np.eye(8)]
assert np.allclose(hessian, by_differences, rtol=1e-4, atol=1e-5 * np.max(hessian))

covariance = np.linalg.inv(hessian)
estimates = np.exp(fit.x)
deviations = estimates * np.sqrt(np.diag(covariance))  # since d exp(p) = exp(p) dp

# %% [markdown]
# Beside them, means and deviations of 4000 samples of the posterior as Carpenter (2018) gives
# them. His priors are weak, and a mean is not a maximum, so small differences are expected: all
# are within one deviation, and the deviations themselves are close. (Those of the two $\sigma$
# are the least so. With 21 data each, their distribution is skew, and a Gaussian is not.)

# %%
published = np.array([0.545, 0.028, 0.803, 0.024, 33.956, 5.933, 0.250, 0.252])
published_deviations = np.array([0.064, 0.004, 0.092, 0.004, 2.856, 0.535, 0.045, 0.044])

for row in zip(NAMES, estimates, deviations, published, published_deviations):
    print("{:<16}{:8.3f} +- {:5.3f}     Stan {:8.3f} +- {:5.3f}".format(*row))

assert np.all(np.abs(estimates - published) < published_deviations)
assert np.all(np.abs(deviations / published_deviations - 1) < 0.3)

# %% [markdown]
# ## How well is the curve known?
#
# The parameters are correlated, so their error bars do not say it. A small change of $p$ moves
# the curve by its Jacobian $J$, so the covariance of the logarithm of the curve is $J C J^\top$,
# with $C$ that of the parameters (the *delta method*). The Jacobian is that of `populations`
# itself: of 2 x 121 numbers with respect to eight. Beyond the data the band gets wider, for a small
# error of the period adds up.

# %%
times = np.linspace(1900, 1930, 121)
curves = populations(fit.x, times)
slopes = cr.jacfwd(lambda p: np.log(populations(p, times)))(fit.x)  # (2, 121, 8)
bands = np.sqrt(np.einsum("sti,ij,stj->st", slopes, covariance, slopes))

print("within the data", np.round(np.mean(bands[:, times <= 1920], axis=1), 3))
print("ten years later", np.round(np.mean(bands[:, times > 1920], axis=1), 3))
assert np.all(np.mean(bands[:, times > 1920], axis=1) > np.mean(bands[:, times <= 1920], axis=1))

figure, axes = plt.subplots(figsize=(8, 4))
for name, seen, curve, band in zip(["hares", "lynxes"], pelts, curves, bands):
    (line,) = axes.plot(times, curve, label=name)
    axes.fill_between(times, curve * np.exp(-2 * band), curve * np.exp(2 * band), alpha=0.2)
    axes.plot(years, seen, "o", color=line.get_color())
axes.axvline(1920, color="gray", linestyle=":")
axes.set_ylim(0, 100)
axes.set_xticks(np.arange(1900, 1931, 5))
axes.set_ylabel("thousands of pelts")
axes.set_title("Fit to 1920, two deviations of the curve, and ten years ahead")
axes.legend()
plt.show()

# %% [markdown]
# ## Sources
#
# - B. Carpenter, *Predator-prey population dynamics: the Lotka-Volterra model in Stan* (2018),
#   [mc-stan.org](https://mc-stan.org/users/documentation/case-studies/lotka-volterra-predator-prey.html).
# - A. J. Lotka, *Elements of physical biology* (1925); V. Volterra, *Fluctuations in the abundance
#   of a species considered mathematically*, Nature 118 (1926).
# - C. G. Hewitt, *The conservation of the wild life of Canada* (1921).
# - P. Howard, *Modeling basics*, lecture notes, Texas A&M University (2009).
