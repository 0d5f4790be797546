"""Samplers of other libraries on NumPy code: what they find is the posterior."""

import numpy as np
import pytest

import chainrules as cr

X = np.linspace(-1.0, 1.0, 20)
Y = 0.7 * X - 0.3 + 0.1 * np.sin(9.0 * np.arange(20.0))
NOISE = 0.2
# Linear regression with a normal prior: the posterior is normal, and known.
DESIGN = np.stack([X, np.ones(20)], 1)
PRECISION = DESIGN.T @ DESIGN / NOISE**2 + np.eye(2)
MEAN = np.linalg.solve(PRECISION, DESIGN.T @ Y / NOISE**2)
DEVIATION = np.sqrt(np.diag(np.linalg.inv(PRECISION)))


def log_density(theta):
    """Python that JAX cannot trace: writes, and a loop over numbers."""
    misfit = np.zeros_like(theta[0] * X)
    for i in range(len(X)):
        misfit[i] = theta[0] * X[i] + theta[1] - Y[i]
    return -0.5 * np.sum((misfit / NOISE) ** 2) - 0.5 * theta @ theta


def check(draws):
    assert np.all(np.abs(np.mean(draws, 0) - MEAN) < 0.3 * DEVIATION)
    np.testing.assert_allclose(np.std(draws, 0), DEVIATION, rtol=0.25)


def test_emcee_needs_values_alone():
    emcee = pytest.importorskip("emcee")
    density = cr.compile(log_density)
    numbers = np.random.default_rng(0)
    sampler = emcee.EnsembleSampler(12, 2, density)
    sampler.random_state = np.random.RandomState(0).get_state()
    sampler.run_mcmc(MEAN + 0.1 * numbers.normal(size=(12, 2)), 600)
    check(sampler.get_chain(discard=100, flat=True))


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_blackjax_takes_an_exported_density(compiled):
    blackjax, jax = pytest.importorskip("blackjax"), pytest.importorskip("jax")
    from chainrules.interop.jax import export

    with jax.enable_x64(True):
        density = export(cr.compile(log_density) if compiled else log_density)
        nuts = blackjax.nuts(density, 0.5, 1 / np.diag(PRECISION))
        step = jax.jit(nuts.step)
        state, draws = nuts.init(np.zeros(2)), []
        for key in jax.random.split(jax.random.key(0), 500):
            state, _ = step(key, state)
            draws.append(np.asarray(state.position))
    check(np.stack(draws[50:]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_numpyro_takes_an_exported_density():
    numpyro, jax = pytest.importorskip("numpyro"), pytest.importorskip("jax")
    from chainrules.interop.jax import export

    with jax.enable_x64(True):
        density = export(cr.compile(log_density))
        kernel = numpyro.infer.NUTS(potential_fn=lambda theta: -density(theta))
        chains = numpyro.infer.MCMC(kernel, num_warmup=150, num_samples=400, progress_bar=False)
        chains.run(jax.random.key(1), init_params=jax.numpy.zeros(2))
        check(np.asarray(chains.get_samples()))


def test_hamiltonian_steps_in_numpy():
    gradient, value = cr.compile(cr.grad(log_density)), cr.compile(log_density)
    numbers = np.random.default_rng(0)
    theta, draws = np.zeros(2), []
    for _ in range(600):
        momentum = numbers.normal(size=2) * np.sqrt(np.diag(PRECISION))
        at, p = theta, momentum + 0.15 * gradient(theta)
        for _ in range(5):
            at = at + 0.3 * p / np.diag(PRECISION)
            p = p + 0.3 * gradient(at)
        p = p - 0.15 * gradient(at)
        change = value(at) - value(theta)
        change -= 0.5 * np.sum((p**2 - momentum**2) / np.diag(PRECISION))
        theta = at if np.log(numbers.random()) < change else theta
        draws.append(theta)
    check(np.stack(draws))
