"""PyMC: likelihoods of NumPy code in its models, sampled by NUTS with our gradients."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import chainrules as cr
from chainrules.interop.pytensor import export
from chainrules.scipy.integrate import solve_ivp

TIMES = np.linspace(0.5, 4.0, 8)
NOISE = 0.05


def growth(theta):
    """Logistic growth by an integrator of SciPy's."""
    rate, capacity = theta
    answer = solve_ivp(
        lambda t, y: rate * y * (1 - y / capacity), (0.0, 4.0), [0.1], t_eval=TIMES, rtol=1e-6
    )
    return answer.y[0]


OBSERVED = growth(np.array([1.5, 2.0])) + NOISE * np.sin(3.0 * np.arange(8.0))


def log_likelihood(theta):
    return -0.5 * np.sum(((growth(theta) - OBSERVED) / NOISE) ** 2)


def log_prior(theta):
    return -0.5 * np.sum(((theta - np.array([1.0, 1.5])) / 1.0) ** 2)


def posterior_on_a_grid():
    """Return means and standard deviations of the posterior, by a sum over a grid."""
    rates, capacities = np.linspace(1.1, 1.9, 41), np.linspace(1.7, 2.4, 41)
    points = np.stack(np.meshgrid(rates, capacities, indexing="ij"), -1).reshape(-1, 2)
    logs = np.array([log_likelihood(p) + log_prior(p) for p in points])
    weights = np.exp(logs - np.max(logs))
    weights /= np.sum(weights)
    means = weights @ points
    return means, np.sqrt(weights @ (points - means) ** 2)


def model_of(likelihood):
    with pm.Model() as model:
        theta = pm.Normal("theta", np.array([1.0, 1.5]), 1.0)
        pm.Potential("data", likelihood(theta))
    return model


def test_gradients_of_a_model():
    model = model_of(export(log_likelihood))
    point = {"theta": np.array([1.4, 1.9])}
    found = model.compile_dlogp()(point)
    expected = cr.grad(lambda p: log_likelihood(p) + log_prior(p))(point["theta"])
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert np.isfinite(model.compile_logp()(point))
    hessian = model.compile_d2logp(negate_output=False)(point)
    expected = cr.hessian(lambda p: log_likelihood(p) + log_prior(p))(point["theta"])
    np.testing.assert_allclose(hessian, expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nuts_over_an_integrator_finds_the_posterior():
    mean, deviation = posterior_on_a_grid()
    simulator = export(cr.compile(growth), ndim=1)
    with pm.Model():
        theta = pm.Normal("theta", np.array([1.0, 1.5]), 1.0)
        pm.Normal("y", simulator(theta), NOISE, observed=OBSERVED)
        found = pm.sample(
            300, tune=200, chains=1, cores=1, random_seed=1, progressbar=False,
            initvals={"theta": np.array([1.3, 1.8])}, compute_convergence_checks=False,
        )  # fmt: skip
    draws = found.posterior["theta"].values[0]
    assert np.all(np.abs(np.mean(draws, 0) - mean) < 0.35 * deviation)
    np.testing.assert_allclose(np.std(draws, 0), deviation, rtol=0.3)
