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
# # A slow simulation made fast
#
# A simulation is a loop, and a loop over numbers is what Python does slowest. Its gradient takes
# several times as long, and a fit asks for hundreds of gradients. `cr.compile` records
# once what a gradient does with its numbers, and runs that as machine code, without an edit: the
# loop, its branches and its derivative stay as they are written. (Machine code needs llvmlite;
# without it the recording is replayed by NumPy.)

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import chainrules as cr

# %matplotlib inline

# %% [markdown]
# ## Hares and lynxes
#
# The equations of Lotka and Volterra, integrated by the method of Runge and Kutta, number by
# number, as one writes it down.

# %%
STEPS, DT = 300, 0.05


def rates(hares, lynxes, parameters):
    birth, hunt, growth, death = parameters
    return (birth - hunt * lynxes) * hares, (growth * hares - death) * lynxes


def populations(parameters, steps=STEPS):
    x, y, found = 1.0, 0.5, []
    for _ in range(steps):
        k1 = rates(x, y, parameters)
        k2 = rates(x + DT / 2 * k1[0], y + DT / 2 * k1[1], parameters)
        k3 = rates(x + DT / 2 * k2[0], y + DT / 2 * k2[1], parameters)
        k4 = rates(x + DT * k3[0], y + DT * k3[1], parameters)
        x = x + DT / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        y = y + DT / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        found.append(x)
        found.append(y)
    return np.stack(found)


truth = np.array([1.1, 0.8, 0.6, 0.9])
rng = np.random.default_rng(0)
measured = populations(truth) * np.exp(0.05 * rng.normal(size=2 * STEPS))


def misfit(parameters):
    return np.mean((populations(parameters) - measured) ** 2)


# %% [markdown]
# Eagerly, as it is:

# %%
eager = cr.value_and_grad(misfit)
start = np.array([1.0, 0.7, 0.7, 1.0])


def seconds(f, *args, repeat=5):
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        f(*args)
        taken.append(time.process_time() - begin)
    return min(taken)


print(f"value {seconds(misfit, start):.2e} s, value and gradient {seconds(eager, start):.2e} s")

# %% [markdown]
# ## Compiled
#
# The same function, compiled. The first call records it.

# %%
compiled = cr.compile(cr.value_and_grad(misfit))

begin = time.process_time()
first = compiled(start)
print(f"first call {time.process_time() - begin:.2f} s")
compiled(start)  # which is compared with the function itself
print(f"then {seconds(compiled, start):.2e} s")

value, slope = eager(start)
assert np.isclose(first[0], value, rtol=1e-12)
assert np.allclose(first[1], slope, rtol=1e-9)

# %% [markdown]
# What was recorded.

# %%
lines = str(cr.explain(compiled)).splitlines()
print("\n".join(lines[:8]))

# %% [markdown]
# ## The fit, and its errors
#
# SciPy's BFGS calls it as any function. What the noise does to the parameters is found by fitting
# again and again, to data with other noise: hundreds of gradients, which eagerly take seconds.
# The measured values are an argument then, so that one recording serves them all.


# %%
def misfit_to(parameters, values):
    return np.mean((populations(parameters) - values) ** 2)


slope_of = cr.compile(cr.value_and_grad(misfit_to))


def fitted(values):
    return minimize(slope_of, start, args=(values,), jac=True, method="BFGS")


fit = fitted(measured)
begin = time.process_time()
noise = 0.05 * rng.normal(size=(50, 2 * STEPS))
again = [fitted(populations(fit.x) * np.exp(part)) for part in noise]
taken, count = time.process_time() - begin, sum(other.nfev for other in again)
errors = np.std([other.x for other in again], axis=0)
print(
    f"{count} gradients in {taken:.1f} s; eagerly they take {count * seconds(eager, start):.0f} s"
)
for name, x, error, true in zip(("birth", "hunt", "growth", "death"), fit.x, errors, truth):
    print(f"{name:7} {x:.4f} +- {error:.4f}   (true: {true})")
assert np.all(np.abs(fit.x - truth) < 4 * errors)

# %% [markdown]
# Where the way of a program depends on values (`if lynxes > 2.5`), each way is recorded when it is
# first taken, at the price of a first call. Near an optimum ways repeat; where they do not,
# compile the part that is the same in all of them by itself.

# %% [markdown]
# ## How time grows
#
# The gradient for more and more steps: eagerly some microseconds for each operation, in machine
# code less than a nanosecond. `benchmarks/results.md` compares with `jax.jit` and with JAX's own
# loops, for programs that these can take.

# %%
counts = [25, 50, 100, 200, 400]
times = {"eager": [], "compiled": []}
for count in counts:

    def last(parameters, count=count):
        return populations(parameters, count)[-1] ** 2

    slope = cr.value_and_grad(last)
    fast = cr.compile(slope)
    fast(truth), fast(truth)
    times["eager"].append(seconds(slope, truth, repeat=3))
    times["compiled"].append(seconds(fast, truth, repeat=20))

figure, axes = plt.subplots(figsize=(5, 3.5))
for name, taken in times.items():
    axes.loglog(counts, taken, "o-", label=name)
axes.set_xticks(counts, counts)
axes.tick_params(axis="x", which="minor", labelbottom=False)
axes.set_xlabel("steps")
axes.set_ylabel("seconds of a gradient")
axes.legend()
figure.tight_layout()
assert times["compiled"][-1] < times["eager"][-1]
