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
# # The steady state of a reaction network
#
# In a cell, substances are made and used up at the same rate most of the time: it is in a *steady
# state*. Which enzyme controls how much flows? If an enzyme gets one percent more active, and the
# flux then rises by $C$ percent, $C$ is its *control coefficient*. Such numbers are derivatives of
# the solution of a system of equations, and they obey laws, found by Kacser and Burns (1973) and by
# Heinrich and Rapoport (1974), which are the known answers here.
#
# The equations are solved by SciPy, those with several unknowns by `scipy.optimize.root`. A
# solution $s$ satisfies $f(s, p) = 0$ for all $p$, so that $\partial_s f\, \dot s + \partial_p f\,
# \dot p = 0$. The rules of these solvers solve this linear system, and a steady state can be
# differentiated like any function.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root

import chainrules as cr

cr.adopt()

# %matplotlib inline

# %% [markdown]
# ## A switch with a formula
#
# A kinase puts phosphate on a protein, with speed $v_1$ at most, and a phosphatase takes it off,
# with $v_2$. Of all the protein the part $x$ is phosphorylated, and both enzymes saturate:
#
# $$ \dot x = \frac{v_1 (1 - x)}{J_1 + 1 - x} - \frac{v_2\, x}{J_2 + x} . $$
#
# Goldbeter and Koshland (1981) solved $\dot x = 0$, a quadratic equation. With
# $B = v_2 - v_1 + J_1 v_2 + J_2 v_1$,
#
# $$ x = \frac{2 v_1 J_2}{B + \sqrt{B^2 - 4 (v_2 - v_1)\, v_1 J_2}} . $$


# %%
def phosphorylated(v1, v2, j1, j2):
    def balance(x):
        return v1 * (1 - x) / (j1 + 1 - x) - v2 * x / (j2 + x)

    return brentq(balance, 0.0, 1.0, xtol=1e-14)


def goldbeter_koshland(v1, v2, j1, j2):
    b = v2 - v1 + j1 * v2 + j2 * v1
    return 2 * v1 * j2 / (b + np.sqrt(b**2 - 4 * (v2 - v1) * v1 * j2))


p = (1.1, 1.0, 0.05, 0.08)
assert np.isclose(phosphorylated(*p), goldbeter_koshland(*p), rtol=1e-12)
for derivative in (cr.grad, cr.jacfwd):
    slopes = derivative(phosphorylated, argnums=(0, 1, 2, 3))(*p)
    expected = derivative(goldbeter_koshland, argnums=(0, 1, 2, 3))(*p)
    assert np.allclose(slopes, expected, rtol=1e-10)
assert np.isclose(cr.hessian(phosphorylated)(*p), cr.hessian(goldbeter_koshland)(*p), rtol=1e-9)
cr.grad(phosphorylated)(*p)

# %% [markdown]
# Where both enzymes are saturated the switch is sharp. The *response coefficient*
# $d \log x / d \log v_1$ counts how many percent more are phosphorylated for one percent more
# kinase. Enzymes far from saturation (large $J$) give at most one.

# %%
stimuli = np.geomspace(0.5, 2.0, 41)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
for j in (1.0, 0.1, 0.02):

    def response(log_v1, x=phosphorylated, j=j):
        return np.log(x(np.exp(log_v1), 1.0, j, j))

    found = np.array([cr.value_and_grad(response)(u) for u in np.log(stimuli)])
    exact = [cr.grad(response)(u, goldbeter_koshland) for u in np.log(stimuli)]
    assert np.allclose(found[:, 1], exact, rtol=1e-7)
    left.semilogx(stimuli, np.exp(found[:, 0]), label=f"$J = {j}$")
    right.semilogx(stimuli, found[:, 1])
left.legend()
left.set_title("Part that is phosphorylated")
right.set_title("Response coefficient")
for axes in (left, right):
    axes.set_xlabel("$v_1 / v_2$")
    axes.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
    axes.minorticks_off()
plt.show()

# %% [markdown]
# ## A pathway with a branch and a feedback
#
# Enzyme 1 makes $s_1$ out of a supply; enzyme 2 turns it into $s_2$; enzymes 3 and 4 use that up
# for two products. The last substance inhibits the first enzyme, as is common in nature:
#
# $$
# \text{supply} \xrightarrow{\;v_1\;} s_1 \xrightarrow{\;v_2\;} s_2
# \begin{cases} \xrightarrow{\;v_3\;} \\ \xrightarrow{\;v_4\;} \end{cases}
# \qquad\qquad
# \begin{aligned}
# \dot s_1 &= v_1 - v_2 \\ \dot s_2 &= v_2 - v_3 - v_4
# \end{aligned}
# $$
#
# The rates are of the kind of Michaelis and Menten, the first two reversible. Each is proportional
# to the activity $e_i$ of its enzyme. The unknowns are the logarithms of the concentrations, which
# keeps these positive.

# %%
STOICHIOMETRY = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 1.0, -1.0, -1.0]])


def rates(e, s):
    s1, s2 = s
    return np.stack([
        e[0] * (5 - s1 / 10) / (6 + s1 + (s2 / 0.5) ** 4),
        e[1] * (s1 - s2 / 5) / (1 + s1 + s2),
        e[2] * s2 / (0.3 + s2),
        e[3] * s2 / (2 + s2),
    ])  # fmt: skip


def concentrations(e):
    def balance(log_s):
        return STOICHIOMETRY @ rates(e, np.exp(log_s))

    solution = root(balance, np.zeros(2), jac=cr.ad, tol=1e-10)
    assert solution.success
    return np.exp(solution.x)


def fluxes(e):
    return rates(e, concentrations(e))


e = np.array([10.0, 8.0, 1.0, 2.0])
print("concentrations", concentrations(e))
print("fluxes        ", fluxes(e))

# %% [markdown]
# Is this where the cell would go? The Jacobian of the rates of change has eigenvalues with negative
# real parts, so the state is stable; and from some way off the differential equations lead there.

# %%
motion = cr.jacobian(lambda s: STOICHIOMETRY @ rates(e, s))(concentrations(e))
assert np.all(np.linalg.eigvals(motion).real < 0)

approach = solve_ivp(lambda t, s: STOICHIOMETRY @ rates(e, s), (0, 60), [0.1, 0.1], rtol=1e-9)
assert np.allclose(approach.y[:, -1], concentrations(e), rtol=1e-4)

# %% [markdown]
# ## Control
#
# In logarithms, control coefficients are Jacobians: $C^J = \partial \log v / \partial \log e$ of
# the fluxes, and $C^S = \partial \log s / \partial \log e$ of the concentrations. If every enzyme
# gets $\lambda$ times as active, all rates are $\lambda$ times as large and the concentrations
# stay. The *summation theorems* say just that:
#
# $$ \sum_i C^J_{ki} = 1 , \qquad \sum_i C^S_{ji} = 0 . $$


# %%
def control(e):
    """The control coefficients of the four fluxes and of the two concentrations."""
    of_fluxes = cr.jacobian(lambda log_e: np.log(fluxes(np.exp(log_e))))
    of_concentrations = cr.jacobian(lambda log_e: np.log(concentrations(np.exp(log_e))))
    return of_fluxes(np.log(e)), of_concentrations(np.log(e))


flux_control, concentration_control = control(e)

assert np.allclose(np.sum(flux_control, axis=1), 1, rtol=0, atol=1e-10)
assert np.allclose(np.sum(concentration_control, axis=1), 0, rtol=0, atol=1e-10)
print(np.round(flux_control, 3))

# %% [markdown]
# Steady fluxes balance at every activity, so the control over the first flux is that over the
# second, and the mean of those over the branches, weighted by what flows there.
#
# The *connectivity theorems* tie control to the *elasticities*
# $\epsilon = \partial \log v / \partial \log s$, which an enzyme has on its own, in a test tube. A
# change of concentrations that the network did not ask for is undone by it (Westerhoff and Chen
# 1984):
#
# $$ C^J \epsilon = 0 , \qquad C^S \epsilon = - 1 . $$

# %%
log_s = np.log(concentrations(e))
elasticities = cr.jacobian(lambda log_s: np.log(rates(e, np.exp(log_s))))(log_s)

assert np.allclose(flux_control @ elasticities, 0, atol=1e-10)
assert np.allclose(concentration_control @ elasticities, -np.eye(2), atol=1e-10)

v = fluxes(e)
assert np.allclose(flux_control[0], flux_control[1], atol=1e-10)
assert np.allclose(v[0] * flux_control[0], v[2:] @ flux_control[2:], atol=1e-10)
np.round(elasticities, 3)

# %% [markdown]
# And without theory, one enzyme a percent more active, then a percent less:

# %%
up, down = (np.log([fluxes(e * np.exp(h * u)) for u in np.eye(4)]) for h in (0.01, -0.01))
assert np.allclose(flux_control, np.transpose(up - down) / 0.02, rtol=1e-3, atol=1e-4)

# %% [markdown]
# ## Who is in control
#
# The activity of enzyme 4, one of the two demands, is varied. With little demand the product piles
# up and inhibits its supply: then the two demands have almost all control over the flow, and this
# is how the feedback makes a cell produce what it needs (Hofmeyr and Cornish-Bowden 2000). With
# much demand the inhibition is gone, and control goes to the supply. The coefficients of the four
# enzymes add up to one everywhere.

# %%
demands = np.geomspace(0.3, 100, 30)
states = [(concentrations(np.array([10.0, 8.0, 1.0, d])), d) for d in demands]
controls = np.array([control(np.array([10.0, 8.0, 1.0, d]))[0][0] for d in demands])
assert np.allclose(np.sum(controls, axis=1), 1, atol=1e-10)
assert controls[0, 0] < controls[0, 2] + controls[0, 3]
assert controls[-1, 0] > controls[-1, 2] + controls[-1, 3]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
for i, line in enumerate(controls.T):
    left.semilogx(demands, line, label=f"enzyme {i + 1}")
left.semilogx(demands, np.sum(controls, axis=1), "k:", label="sum")
left.set_ylim(-0.05, 1.5)
left.set_title("Control over the flux $v_1$")
left.legend(ncols=3, fontsize=8)
right.loglog(demands, [s for s, _ in states], label=["$s_1$", "$s_2$"])
right.set_title("Concentrations")
right.legend()
for axes in (left, right):
    axes.set_xlabel("activity of enzyme 4")
plt.show()

# %% [markdown]
# ## Sources
#
# - A. Goldbeter and D. E. Koshland, *An amplified sensitivity arising from covalent modification in
#   biological systems*, PNAS 78 (1981).
# - H. Kacser and J. A. Burns, *The control of flux*, Symp. Soc. Exp. Biol. 27 (1973); R. Heinrich
#   and T. A. Rapoport, *A linear steady-state treatment of enzymatic chains*, Eur. J. Biochem. 42
#   (1974).
# - H. V. Westerhoff and Y.-D. Chen, *How do enzyme activities control metabolite concentrations?*,
#   Eur. J. Biochem. 142 (1984).
# - J.-H. S. Hofmeyr and A. Cornish-Bowden, *Regulating the cellular economy of supply and demand*,
#   FEBS Letters 476 (2000).
