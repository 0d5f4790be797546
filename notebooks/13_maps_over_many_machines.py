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
# # Maps over many machines
#
# Six patients are given a medicine, and its concentration in their blood is measured. What rates
# of absorption and elimination describe them all? Each patient is a simulation in plain Python, and
# they have nothing to do with each other but the rates: a map. With `executor=` the items of
# `cr.map` are evaluated elsewhere, on threads, on processes or on the machines of a cluster, and so
# are their derivatives. The program stays the same.

# %%
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy.optimize import minimize

import chainrules as cr

# %% [markdown]
# ## The program
#
# The medicine goes from the gut to the blood at the rate $k_a$ and leaves it at the rate $k_e$ (one
# compartment, first order: Gibaldi and Perrier 1982). Runge and Kutta's steps are a Python loop.

# %%
TIMES, STEP = 8, 0.5  # a measurement each hour, in two steps


def concentrations(rates, dose):
    absorbed, eliminated = np.exp(rates)  # so that they are positive

    def slope(state):
        gut, blood = state
        return np.stack([-absorbed * gut, absorbed * gut - eliminated * blood])

    state, measured = np.stack([dose, 0.0 * dose]), []
    for _ in range(TIMES):
        for _ in range(2):
            k1 = slope(state)
            k2 = slope(state + STEP / 2 * k1)
            k3 = slope(state + STEP / 2 * k2)
            k4 = slope(state + STEP * k3)
            state = state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        measured.append(state[1])
    return np.stack(measured)


true_rates = np.log([0.8, 0.15])
rng = np.random.default_rng(0)


def patient(dose):
    noise = 0.05 * rng.normal(size=TIMES)
    return dose, concentrations(true_rates, dose) + noise


patients = [patient(dose) for dose in np.linspace(1.0, 3.0, 6)]


# %% [markdown]
# The misfit of one patient is a number, and that of all is their sum. The function that is mapped
# captures `rates`, which is differentiated: it is taken out of the function and sent to every
# worker, and what comes back is the sum of its cotangents.


# %%
def misfit(rates, executor=None):
    def of_one(patient):
        dose, measured = patient
        return np.sum((concentrations(rates, dose) - measured) ** 2)

    return sum(cr.map(of_one, patients, executor=executor))


start = np.log([0.3, 0.3])
expected = cr.value_and_grad(misfit)(start)
expected

# %% [markdown]
# ## On threads, and on processes
#
# Any object with a method `submit` is an executor. Threads run Python code one at a time, but
# NumPy's operations on large arrays in parallel. Processes run everything in parallel; functions
# are sent to them by cloudpickle.

# %%
with ThreadPoolExecutor(2) as threads:
    on_threads = cr.value_and_grad(misfit)(start, threads)

with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
    on_processes = cr.value_and_grad(misfit)(start, processes)
    curvature = cr.hessian(misfit)(start, processes)

for found in (on_threads, on_processes):
    assert np.isclose(found[0], expected[0], rtol=1e-12)
    assert np.allclose(found[1], expected[1], rtol=1e-12)
assert np.allclose(curvature, cr.hessian(misfit)(start))
curvature

# %% [markdown]
# ## On a cluster
#
# With a `dask.distributed.Client`, results may stay on the worker that made them. The tape of each
# item does (if the item is one number, its gradient). Cotangents are sent to the workers, which add
# up the results. A `LocalCluster` is a cluster of processes on this machine.

# %%
from distributed import Client, LocalCluster

cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
)
client = Client(cluster)

value, gradient = cr.value_and_grad(misfit)(start, client)
assert np.allclose(gradient, expected[1], rtol=1e-12)

# %% [markdown]
# The rates are found by Newton's method, whose products with the Hessian are maps as well.


# %%
def objective(rates):
    return cr.value_and_grad(misfit)(rates, client)


def products(rates, direction):
    return cr.hvp(lambda rates: misfit(rates, client), (rates,), (direction,))


fit = minimize(objective, start, jac=True, hessp=products, method="trust-ncg", tol=1e-6)
print(fit.nit, "steps, rates", np.exp(fit.x).round(3), "true", np.exp(true_rates).round(3))
assert np.allclose(np.exp(fit.x), np.exp(true_rates), rtol=0.05)

# %% [markdown]
# ## A worker dies
#
# Here a worker dies before the way back begins, and its data are lost. dask runs the tasks that
# made them again, on another worker. The gradient is the same.

# %%
value, pullback = cr.vjp(lambda rates: misfit(rates, client), start)
os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
(after,) = pullback(1.0)
assert np.allclose(after, expected[1], rtol=1e-12)
np.abs(after - expected[1]).max()

# %% [markdown]
# Large data are loaded by tasks, and stay on the workers: the items are then futures. Do not
# scatter them: scattered data cannot be computed again when their worker is lost, and that is an
# error.

# %%
loaded = client.map(lambda dose: (dose, concentrations(true_rates, dose)), np.linspace(1, 3, 6))


def misfit_of_loaded(rates):
    def of_one(patient):
        dose, measured = patient
        return np.sum((concentrations(rates, dose) - measured) ** 2)

    return sum(cr.map(of_one, loaded, executor=client))


print(cr.grad(misfit_of_loaded)(true_rates))  # zero: they were made by these rates

# %%
client.close()
cluster.close()

# %% [markdown]
# ## Many machines
#
# For many machines, change one line. Instead of `LocalCluster(...)`, write with the package of your
# queue or cloud
#
# ```python
# cluster = dask_jobqueue.SLURMCluster(cores=16, memory="64GB")  # and cluster.scale(20)
# ```
#
# or `client = Client("tcp://scheduler:8786")`, if a scheduler is running already. chainrules must
# be installed on the workers. `client.dashboard_link` shows what they do, and
# `cr.map(..., progress=True)` shows a progress bar. An item should take about 50 ms or more,
# because each is one task or two.
