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
# # A Gaussian process on real data: carbon dioxide on Mauna Loa
#
# Since 1958 the air on Mauna Loa, Hawaii, has been analysed for carbon dioxide. Rasmussen and
# Williams (2006, section 5.4.3) take these data as their example of a Gaussian process with a
# covariance made of parts: a slow rise, a yearly cycle that may change, irregularities of a few
# years, and noise. The eleven parameters of the parts are those of the largest *marginal
# likelihood*, the density that the process gives to the data.
#
# Here SciPy's Cholesky factor and triangular solve are differentiated to find them. Two answers
# are known: scikit-learn computes the same likelihood, with a gradient from formulae for every
# kernel, and the book has a table of the parameters.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    ExpSineSquared,
    RationalQuadratic,
    WhiteKernel,
)
from statsmodels.datasets import co2

import chainrules as cr

cr.adopt()

# %matplotlib inline

# %% [markdown]
# ## The data
#
# Weekly values in parts per million, by Keeling and Whorf of the Scripps Institution of
# Oceanography, come with statsmodels. We take monthly means, as the book does. `t` is in years.

# %%
months = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
t = np.asarray(months.index.year + (months.index.month - 0.5) / 12)
mean = months.mean()
y = months.to_numpy() - mean

print(f"{len(t)} months, from {t[0]:.1f} to {t[-1]:.1f}, mean {mean:.1f} ppm")

# %% [markdown]
# ## The model
#
# With $d = t - t'$, the covariance of two months is the sum of four parts, and noise on the
# diagonal (equations 5.15 to 5.18 of the book):
#
# $$
# \begin{aligned}
# k_1 &= \theta_1^2 \exp\Bigl(-\frac{d^2}{2 \theta_2^2}\Bigr), &
# k_2 &= \theta_3^2 \exp\Bigl(-\frac{d^2}{2 \theta_4^2} - \frac{2 \sin^2 \pi d}{\theta_5^2}\Bigr),
# \\
# k_3 &= \theta_6^2 \Bigl(1 + \frac{d^2}{2 \theta_8 \theta_7^2}\Bigr)^{-\theta_8}, &
# k_4 &= \theta_9^2 \exp\Bigl(-\frac{d^2}{2 \theta_{10}^2}\Bigr) + \theta_{11}^2 \delta .
# \end{aligned}
# $$
#
# With the factor $L L^\top = K$ of the covariance matrix of all months, minus the logarithm of the
# marginal likelihood is
#
# $$ \tfrac12 |L^{-1} y|^2 + \sum_i \log L_{ii} + \tfrac{n}{2} \log 2 \pi . $$


# %%
def parts(theta, a, b):
    """The covariances of the times ``a`` with the times ``b``, by part, without the noise."""
    squares = (a[:, None] - b) ** 2
    cycle = 2 * np.sin(np.pi * (a[:, None] - b)) ** 2
    return (
        theta[0] ** 2 * np.exp(-squares / (2 * theta[1] ** 2)),
        theta[2] ** 2 * np.exp(-squares / (2 * theta[3] ** 2) - cycle / theta[4] ** 2),
        theta[5] ** 2 * (1 + squares / (2 * theta[7] * theta[6] ** 2)) ** -theta[7],
        theta[8] ** 2 * np.exp(-squares / (2 * theta[9] ** 2)),
    )


def factor(theta):
    return cholesky(sum(parts(theta, t, t)) + theta[10] ** 2 * np.eye(len(t)), lower=True)


def minus_log_likelihood(log_theta):
    lower = factor(np.exp(log_theta))
    z = solve_triangular(lower, y, lower=True)
    return z @ z / 2 + np.sum(np.log(np.diag(lower))) + len(y) / 2 * np.log(2 * np.pi)


guess = np.log([50.0, 50.0, 2.0, 50.0, 1.0, 1.0, 1.0, 1.0, 0.2, 0.2, 0.2])
value, gradient = cr.value_and_grad(minus_log_likelihood)(guess)

# %% [markdown]
# ## The same by scikit-learn
#
# Its kernels take squares of amplitudes where ours take amplitudes, which doubles their slopes in
# the logarithm, and it numbers the parameters of two kernels the other way round.


# %%
def of_sklearn(log_theta):
    """The same value and gradient, by the formulae in scikit-learn."""
    theta = np.exp(log_theta)
    kernel = (
        ConstantKernel(theta[0] ** 2) * RBF(theta[1])
        + ConstantKernel(theta[2] ** 2)
        * RBF(theta[3])
        * ExpSineSquared(theta[4], 1.0, periodicity_bounds="fixed")
        + ConstantKernel(theta[5] ** 2) * RationalQuadratic(theta[6], theta[7])
        + ConstantKernel(theta[8] ** 2) * RBF(theta[9])
        + WhiteKernel(theta[10] ** 2)
    )
    process = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(t[:, None], y)
    value, slopes = process.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    order, twice = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9, 10], [0, 2, 5, 8, 10]
    slopes = slopes[order]
    slopes[twice] *= 2
    return -value, -slopes, process


value_of_sklearn, gradient_of_sklearn, _ = of_sklearn(guess)

assert np.isclose(value, value_of_sklearn, rtol=1e-8)
assert np.allclose(gradient, gradient_of_sklearn, rtol=1e-5, atol=1e-6)
print(np.max(np.abs(gradient - gradient_of_sklearn)))

# %% [markdown]
# ## The most likely parameters
#
# L-BFGS-B finds them from gradients. The Hessian at the end says how sharply they are determined:
# as in notebook 7, its inverse is the covariance of the logarithms.

# %%
fit = minimize(minus_log_likelihood, guess, jac="ad", method="L-BFGS-B")
assert fit.success
assert np.allclose(cr.grad(minus_log_likelihood)(fit.x), of_sklearn(fit.x)[1], rtol=1e-5, atol=1e-5)

hessian = cr.hessian(minus_log_likelihood)(fit.x)
deviations = np.sqrt(np.diag(np.linalg.inv(hessian)))
print(f"minus log likelihood {value:.1f}, and after {fit.nfev} gradients {fit.fun:.2f}")

# %% [markdown]
# The last column is the book's, whose table goes on to the end of 2003 and so has 24 months more.
# All eleven are within two of our deviations. (They are found from almost the same data, so one
# should expect no less.) The exponent $\theta_8$ is hardly determined, which the Hessian knows:
# its logarithm is uncertain by more than two.

# %%
MEANING = [
    "rise, ppm", "its time scale, years", "cycle, ppm", "its decay, years", "its smoothness",
    "irregular, ppm", "its time scale, years", "its exponent", "correlated noise, ppm",
    "its time scale, years", "noise, ppm",
]  # fmt: skip
book = np.array([66, 67, 2.4, 90, 1.3, 0.66, 1.2, 0.78, 0.18, 1.6 / 12, 0.19])

for row in zip(MEANING, np.exp(fit.x), deviations, book):
    print("{:<24}{:8.3f}, times or by exp({:.2f}){:10.3f}".format(*row))

assert np.all(np.abs(fit.x - np.log(book)) < 2 * deviations)

# %% [markdown]
# ## The parts, and a prediction
#
# The expected value of the process given the data is a sum over the parts of the covariance, so
# each part has a curve of its own. scikit-learn predicts the same sum.
#
# The band on the left is two deviations of the process. What came was more: the mean of 2010 was
# 390 ppm (NOAA). Emissions grew faster than before, and a process that knows nothing but the past
# returns to its mean. On the right, the irregular part has the slow years after the eruption of
# Pinatubo in 1991.

# %%
theta = np.exp(fit.x)
later = np.arange(1985, 2011, 1 / 12)
lower = factor(theta)
by_part = [k @ cho_solve((lower, True), y) for k in parts(theta, later, t)]
expected = mean + sum(by_part)
explained = solve_triangular(lower, sum(parts(theta, later, t)).T, lower=True)
band = 2 * np.sqrt(np.sum(theta[[0, 2, 5, 8, 10]] ** 2) - np.sum(explained**2, axis=0))

predicted = mean + of_sklearn(fit.x)[2].predict(later[:, None])
assert np.allclose(expected, predicted, rtol=0, atol=1e-4)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
left.plot(t, months, ".", color="black", markersize=3, label="measured")
left.plot(later, expected, label="expected")
left.fill_between(later, expected - band, expected + band, alpha=0.3)
left.axvline(t[-1], color="gray", linestyle=":")
left.plot(2010.5, 390.1, "x", color="red", label="mean of 2010")
left.set_xlim(1985, 2011)
left.set_ylim(340, 395)
left.set_ylabel("carbon dioxide, ppm")
left.legend()

year = t > 1985
for name, k in zip(["cycle", "irregular"], parts(theta, t[year], t)[1:3]):
    right.plot(t[year], k @ cho_solve((lower, True), y), label=name)
right.set_ylabel("ppm")
right.set_ylim(-4, 5)
right.set_xlim(1985, 2002)
right.set_xticks([1985, 1990, 1995, 2000])
right.set_title("Two of the parts")
right.legend(ncols=2)
plt.show()

# %% [markdown]
# ## Sources
#
# - C. E. Rasmussen and C. K. I. Williams, *Gaussian processes for machine learning* (2006),
#   sections 5.4.1 and 5.4.3.
# - C. D. Keeling and T. P. Whorf, *Atmospheric CO2 concentrations derived from flask air samples at
#   sites in the SIO network*, CDIAC (2004), as shipped with statsmodels.
# - NOAA Global Monitoring Laboratory, *Trends in atmospheric carbon dioxide*, annual means of
#   Mauna Loa.
