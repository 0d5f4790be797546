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
# # A thousand patients at once
#
# A medicine goes from the gut to the blood and out of it again. Written for one patient, the
# simulation is a dozen lines of Python. No two patients are alike: what do a thousand of them look
# like, how certain is a prediction, and which of the rates matters? `cr.vmap` runs the unchanged
# program for all of them at once.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import chainrules as cr

# %% [markdown]
# ## One patient
#
# The medicine goes from the gut to the blood at the rate $k_a$ and leaves it at the rate $k_e$ (one
# compartment, first order: Gibaldi and Perrier 1982). The steps are Runge and Kutta's. For one dose
# the answer is known (Bateman's function), which tells whether the program is right.

# %%
STEP, STEPS = 0.25, 48  # hours


def slope(gut, blood, rates):
    return -rates[0] * gut, rates[0] * gut - rates[1] * blood


def step(gut, blood, rates):
    a, b = slope(gut, blood, rates)
    c, d = slope(gut + STEP / 2 * a, blood + STEP / 2 * b, rates)
    e, f = slope(gut + STEP / 2 * c, blood + STEP / 2 * d, rates)
    g, h = slope(gut + STEP * e, blood + STEP * f, rates)
    return gut + STEP / 6 * (a + 2 * c + 2 * e + g), blood + STEP / 6 * (b + 2 * d + 2 * f + h)


def concentrations(rates):
    gut, blood = 1.0, 0.0
    measured = []
    for _ in range(STEPS):
        gut, blood = step(gut, blood, rates)
        measured.append(blood)
    return np.stack(measured)


hours = STEP * np.arange(1, STEPS + 1)
rates = np.array([0.8, 0.15])
bateman = rates[0] / (rates[0] - rates[1]) * (np.exp(-rates[1] * hours) - np.exp(-rates[0] * hours))
assert np.allclose(concentrations(rates), bateman, atol=1e-5)

# %% [markdown]
# ## A thousand
#
# Their rates are spread by a third around the mean. `cr.vmap(f)` is a function of all of them: it
# calls `f` once, with numbers that stand for those of each patient.

# %%
rng = np.random.default_rng(0)
many = rates * np.exp(0.3 * rng.normal(size=(1000, 2)))

at_once = cr.vmap(concentrations)
curves = at_once(many)
assert np.allclose(curves[:20], [concentrations(own) for own in many[:20]], rtol=1e-12)


def seconds(f, *args, calls=5):
    times = []
    for _ in range(calls):
        start = time.process_time()
        f(*args)
        times.append(time.process_time() - start)
    return min(times)


compiled = cr.compile(at_once)
for shift in range(4):  # it is recorded once, and machine code is made
    compiled(many * (1 + 0.01 * shift))
assert np.allclose(compiled(many), curves, rtol=1e-12)
loop = seconds(lambda: [concentrations(own) for own in many[:50]]) * 20
print(f"a loop {1e3 * loop:.0f} ms, at once {1e3 * seconds(at_once, many):.1f} ms, ", end="")
print(f"compiled {1e3 * seconds(compiled, many):.2f} ms")

# %%
figure, axes = plt.subplots(figsize=(7, 3.5))
for low, high, shade in ((5, 95, 0.2), (25, 75, 0.35)):
    band = np.percentile(curves, [low, high], axis=0)
    axes.fill_between(hours, *band, color="tab:blue", alpha=shade, label=f"{low} to {high} %")
axes.plot(hours, np.median(curves, axis=0), color="tab:blue", label="median")
axes.plot(hours, bateman, "k--", label="mean rates")
axes.set(xlabel="hours", ylabel="concentration in the blood")
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## How sure is a prediction?
#
# The spread of the concentration after eight hours, by the thousand patients, and by the slopes at
# the mean alone (the delta method): $\sigma^2 \approx \sum_i (\partial c/\partial \log k_i)^2
# \sigma_i^2$. For a small spread the two agree, which is the test; at a third they need not.

# %%
AFTER = 31  # the index of eight hours


def after_eight(logs):
    return concentrations(np.exp(logs))[AFTER]


slopes = cr.grad(after_eight)(np.log(rates))
for spread in (0.03, 0.3):
    logs = np.log(rates) + spread * rng.normal(size=(4000, 2))
    by_samples = cr.vmap(after_eight)(logs).std()
    by_slopes = spread * np.hypot(*slopes)
    print(f"spread {spread}: by samples {by_samples:.4f}, by slopes {by_slopes:.4f}")
    assert spread > 0.1 or np.isclose(by_samples, by_slopes, rtol=0.05)

# %% [markdown]
# ## Which rate matters, and when?
#
# The gradients of all concentrations of a patient are a Jacobian, and those of all patients a batch
# of these: `vmap` of `jacfwd`. Transforms nest in any order.

# %%
sensitivities = cr.vmap(cr.jacfwd(lambda logs: concentrations(np.exp(logs))))(np.log(many))
assert sensitivities.shape == (1000, STEPS, 2)
assert np.allclose(
    sensitivities[7], cr.jacrev(lambda k: concentrations(np.exp(k)))(np.log(many[7]))
)
figure, axes = plt.subplots(figsize=(7, 3))
for i, name in enumerate(("absorption", "elimination")):
    band = np.percentile(sensitivities[:, :, i], [5, 50, 95], axis=0)
    axes.fill_between(hours, band[0], band[2], alpha=0.25)
    axes.plot(hours, band[1], label=name)
axes.set(xlabel="hours", ylabel="slope in the log of the rate")
axes.legend()
figure.tight_layout()

# %% [markdown]
# Without slopes, and for any spread, Sobol's indices say which share of the variance each rate has
# (Saltelli et al. 2010, the estimators of Jansen): two independent thousands, one rate of which is
# exchanged. With a small spread the shares are those of the squared slopes.


# %%
def shares(spread, count=4000):
    a, b = np.log(rates) + spread * rng.normal(size=(2, count, 2))
    f = cr.compile(cr.vmap(after_eight))
    of_a, of_b = f(a), f(b)
    variance = np.concatenate([of_a, of_b]).var()
    found = []
    for i in range(2):
        exchanged = a.copy()
        exchanged[:, i] = b[:, i]
        found.append(1 - ((of_b - f(exchanged)) ** 2).mean() / (2 * variance))
    return np.array(found)


print(shares(0.03).round(3), (slopes**2 / np.sum(slopes**2)).round(3), shares(0.3).round(3))
assert np.allclose(shares(0.03), slopes**2 / np.sum(slopes**2), atol=0.08)

# %% [markdown]
# ## Branches
#
# A second dose is taken when the concentration has fallen below a threshold: an `if` on a number.
# JAX refuses it in a batch. Here the batch is split where the condition differs between patients,
# and the program runs again for each part.


# %%
def with_second_dose(rates):
    gut, blood, peak = 1.0, 0.0, 0.0
    for k in range(STEPS):
        gut, blood = step(gut, blood, rates)
        if k == 23 and blood < 0.35:  # after six hours
            gut = gut + 0.5
        peak = max(peak, blood)
    return np.stack([peak, blood])


ends = cr.vmap(with_second_dose, ways=200)(many)
assert np.allclose(ends[:20], [with_second_dose(own) for own in many[:20]], rtol=1e-12)
again = cr.vmap(lambda own: concentrations(own)[23] < 0.35)(many)
print(
    f"{again.mean():.0%} take a second dose; they end at {ends[again, 1].mean():.2f}, "
    f"the others at {ends[~again, 1].mean():.2f}"
)

# %% [markdown]
# `max(peak, blood)` compares numbers, too, so the batch is split by the step of the peak. That is
# why `ways` is larger here. `np.maximum(peak, blood)` would not split it.
#
# The derivative of the last concentration in the size of the dose, for all patients:


# %%
def end_of(dose, rates):
    gut, blood = dose, 0.0
    for k in range(STEPS):
        gut, blood = step(gut, blood, rates)
        if k == 23 and blood < 0.35:
            gut = gut + 0.5
    return blood


slope_of_dose = cr.vmap(cr.grad(end_of), in_axes=(None, 0))(1.0, many)
assert np.allclose(slope_of_dose, curves[:, -1])  # the model is linear in the first dose
slope_of_dose[:4].round(4)

# %% [markdown]
# Compiled, such a batch is one native loop over the patients, with the branches inside, on as many
# threads as you ask for. A hundred thousand patients:

# %%
crowd = rates * np.exp(0.3 * rng.normal(size=(100_000, 2)))
of_crowd = cr.compile(cr.vmap(end_of, in_axes=(None, 0)), threads=2)
for _ in range(3):  # each way is recorded when somebody first takes it
    crowd_ends = of_crowd(1.0, crowd)
assert np.allclose(crowd_ends[:20], [end_of(1.0, own) for own in crowd[:20]], rtol=1e-12)
loop = seconds(lambda: [end_of(1.0, own) for own in crowd[:50]]) * 2000
print(f"a loop {loop:.0f} s, compiled {1e3 * seconds(of_crowd, 1.0, crowd):.0f} ms")
