"""Functions of NumPy code in libraries that stand on JAX."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from chainrules.interop.jax import export

jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")

RATES = np.array([1.5, 2.0])


def simulate(theta):
    """Logistic growth by Euler's steps: Python loops and a branch, which JAX would unroll."""
    rate, capacity = theta
    y, seen = 0.1, []
    for _ in range(8):
        for _ in range(3):
            y = y + 0.1 * rate * y * (1 - y / capacity)
        if y < 0:
            raise ValueError("extinct")
        seen.append(y)
    return np.stack(seen)


def observed():
    return simulate(RATES)


@pytest.mark.slow
def test_a_fit_with_optax():
    optax = pytest.importorskip("optax")
    model = export(simulate)
    optimiser = optax.adam(0.1)

    @jax.jit
    def step(theta, state):
        gradient = jax.grad(lambda theta: jnp.sum((model(theta) - observed()) ** 2))(theta)
        updates, state = optimiser.update(gradient, state)
        return optax.apply_updates(theta, updates), state

    theta = jnp.array([1.0, 1.0])
    state = optimiser.init(theta)
    for _ in range(300):
        theta, state = step(theta, state)
    np.testing.assert_allclose(RATES, theta, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # it asks at zero as well
def test_a_fit_with_optimistix():
    optimistix = pytest.importorskip("optimistix")
    model = export(simulate)
    found = optimistix.least_squares(
        lambda theta, _: model(theta) - observed(),
        optimistix.LevenbergMarquardt(rtol=1e-10, atol=1e-10),
        jnp.array([1.0, 1.0]),
    )
    np.testing.assert_allclose(RATES, found.value, rtol=1e-7)


@pytest.mark.slow
def test_samples_with_numpyro():
    numpyro = pytest.importorskip("numpyro")
    from numpyro.infer import MCMC, NUTS

    simulator = export(simulate)

    def model():
        normal, lognormal = numpyro.distributions.Normal, numpyro.distributions.LogNormal
        rate = numpyro.sample("rate", lognormal(0.0, 0.5))
        capacity = numpyro.sample("capacity", lognormal(0.5, 0.5))
        y = simulator(jnp.stack([rate, capacity]))
        numpyro.sample("y", normal(y, 0.05), obs=jnp.asarray(observed()))

    chains = MCMC(NUTS(model), num_warmup=100, num_samples=100, progress_bar=False)
    chains.run(jax.random.key(0))
    samples = chains.get_samples()
    assert RATES[0] == pytest.approx(float(samples["rate"].mean()), abs=0.3)
    assert RATES[1] == pytest.approx(float(samples["capacity"].mean()), abs=0.4)
