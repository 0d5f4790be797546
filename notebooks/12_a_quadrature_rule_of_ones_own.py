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
# # A quadrature rule of one's own
#
# A numerical method is a program, and a program can be differentiated step by step. Often one
# knows better. For an integral with a parameter and moving ends, *Leibniz's rule* says
#
# $$ \frac{d}{d p} \int_a^b f(t, p)\, dt
#    = \int_a^b \partial_p f\, dt + f(b, p)\, \frac{db}{dp} - f(a, p)\, \frac{da}{dp} : $$
#
# the derivative of an integral is another integral. Nothing of how the first one was found, the
# intervals that were tried and split and the estimates of errors, belongs to it. This notebook
# writes an adaptive integrator, tells that formula to it, and measures what it is worth.
#
# (`scipy.integrate.quad` has such a rule already, in an adopted module. Here is how it is done.)

# %%
import heapq
import time
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipe, ellipk

import chainrules as cr
from chainrules.testing import test_frule, test_rrule

# %matplotlib inline

# %% [markdown]
# ## The integrator
#
# A pair of Gauss and Kronrod has 15 nodes. With all of them, a polynomial of degree 23 is
# integrated exactly; seven of them, with other weights, make Gauss's rule of degree 13. The
# difference of the two says how good they are. The numbers are those of QUADPACK (Piessens and
# others 1983), where half of each list is given, since they are symmetric.

# %%
HALF_NODES = np.array([
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144838258730, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0,
])  # fmt: skip
HALF_KRONROD = np.array([
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714,
])  # fmt: skip
HALF_GAUSS = np.array([
    0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780,
    0.0, 0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327,
])  # fmt: skip


def both_halves(half, sign=1):
    return np.concatenate([sign * half, half[-2::-1]])


NODES = both_halves(HALF_NODES, -1)
KRONROD, GAUSS = both_halves(HALF_KRONROD), both_halves(HALF_GAUSS)

assert np.isclose(KRONROD @ NODES**22, 2 / 23, rtol=1e-13)
assert np.isclose(GAUSS @ NODES**12, 2 / 13, rtol=1e-13)

# %% [markdown]
# The interval with the largest error is split in two, until the errors add up to less than
# $10^{-12}$ of the integral. The integrand takes an array of times.


# %%
def on_one_interval(f, a, b):
    ys = f((a + b) / 2 + (b - a) / 2 * NODES)
    return (b - a) / 2 * np.sum(KRONROD * ys), np.abs((b - a) / 2 * np.sum((KRONROD - GAUSS) * ys))


def adaptive(f, a, b):
    """Return the integral of ``f`` from ``a`` to ``b``, and where the intervals begin."""
    total, error = on_one_interval(f, a, b)
    heap = [(-error, a, b, total)]
    while -sum(entry[0] for entry in heap) > 1e-12 * abs(total) and len(heap) < 500:
        _, left, right, part = heapq.heappop(heap)
        middle, total = (left + right) / 2, total - part
        for start, end in ((left, middle), (middle, right)):
            part, error = on_one_interval(f, start, end)
            heapq.heappush(heap, (-error, start, end, part))
            total = total + part
    return total, sorted(entry[1] for entry in heap)


def traced_integral(f, a, b):
    return adaptive(f, a, b)[0]


# %% [markdown]
# ## An integrand with parameters
#
# A resonance is a peak $\varepsilon / ((t - c)^2 + \varepsilon^2)$, and its integral is
# $\arctan \frac{b - c}{\varepsilon} - \arctan \frac{a - c}{\varepsilon}$. The integrand is an
# object with the parameters as fields, so it has a tangent with the same fields. The narrower the
# peak, the more intervals the integrator needs, all of them near it.


# %%
@dataclass
class Resonance:
    centre: float
    width: float

    def __call__(self, t):
        return self.width / ((t - self.centre) ** 2 + self.width**2)


def area(integrate, p):
    a, b, centre, width = p
    return integrate(Resonance(centre, width), a, b)


def area_in_closed_form(p):
    a, b, centre, width = p
    return np.arctan((b - centre) / width) - np.arctan((a - centre) / width)


p = np.array([-1.0, 2.0, 0.3, 1e-2])
assert np.isclose(area(traced_integral, p), area_in_closed_form(p), rtol=1e-12)
print(f"{len(adaptive(Resonance(0.3, 1e-2), -1.0, 2.0)[1])} intervals")

# %% [markdown]
# The program can be differentiated as it stands. Python's comparisons, which steer it, see plain
# numbers, and the derivative is that of the sum over the intervals that it chose. It is right, but
# everything that was tried on the way has been recorded.

# %%
exact = cr.grad(area_in_closed_form)(p)
assert np.allclose(cr.grad(lambda p: area(traced_integral, p))(p), exact, rtol=1e-9)

# %% [markdown]
# ## The rule
#
# First the integrator runs on plain numbers, at full speed, for the sake of its intervals.
# `cr.value` strips what is traced. They give nodes and weights, as fractions of $b - a$, and with
# these the integral is one sum.
#
# Then the derivative of the integrand at these nodes is asked from the engine that is at work, in
# one call for all nodes. The rule gets a `config` and calls back through it. Forwards, the tangent
# of the integrand is integrated; backwards, the pullback of the integrand gets the weights. The
# two terms at the ends are Leibniz's.


# %%
@cr.primitive
def integral(f, a, b):
    return adaptive(f, a, b)[0]


def nodes_and_weights(f, a, b):
    plain_a, plain_b = cr.value(a), cr.value(b)
    _, begins = adaptive(cr.value(f), plain_a, plain_b)
    edges = (np.append(begins, plain_b) - plain_a) / (plain_b - plain_a)  # from 0 to 1
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    nodes = np.ravel(middles[:, None] + halves[:, None] * NODES)
    weights = np.ravel(halves[:, None] * KRONROD)
    return a + (b - a) * nodes, (b - a) * weights


@cr.frule.register(integral)
def integral_frule(config: cr.HasForwardsMode, tangents, integral, f, a, b):
    _, fdot, adot, bdot = tangents
    t, weights = nodes_and_weights(f, a, b)
    ys, ydots = cr.frule_via_ad(config, (fdot, cr.ZeroTangent()), f, t)
    return np.sum(weights * ys), np.sum(weights * ydots) + f(b) * bdot - f(a) * adot


@cr.rrule.register(integral)
def integral_rrule(config: cr.HasReverseMode, integral, f, a, b):
    t, weights = nodes_and_weights(f, a, b)
    ys, pullback = cr.rrule_via_ad(config, f, t)

    def integral_pullback(ybar):
        fbar, _ = pullback(weights * ybar)
        return cr.NoTangent(), fbar, -f(a) * ybar, f(b) * ybar

    return np.sum(weights * ys), integral_pullback


# %% [markdown]
# The kit tests both against finite differences, in the fields of the integrand and in the ends, and
# second derivatives too: the rules are made of functions that have rules, so they can themselves
# be differentiated.

# %%
test_frule(integral, Resonance(0.3, 0.2), 0.2, 1.7)
test_rrule(integral, Resonance(0.3, 0.2), 0.2, 1.7)

# %% [markdown]
# ## Known answers
#
# All derivatives of the area, in both modes, and its Hessian:

# %%
for derivative in (cr.grad, cr.jacfwd, cr.hessian):
    expected = derivative(area_in_closed_form)(p)
    found = derivative(lambda p: area(integral, p))(p)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))

# %% [markdown]
# The period of a pendulum that swings out to the angle $\theta$ is $4 \sqrt{l/g}\, K(m)$ with
# $m = \sin^2 \frac{\theta}{2}$ and the complete elliptic integral
#
# $$ K(m) = \int_0^{\pi/2} \frac{dt}{\sqrt{1 - m \sin^2 t}} , \qquad
#    K'(m) = \frac{E(m) - (1 - m) K(m)}{2 m (1 - m)} . $$
#
# SciPy has $K$ and $E$ (`ellipk`, `ellipe`). The integrand here is a function on the spot, which
# captures $m$: that is found, too. The second derivative comes from differentiating the formula
# for the first.


# %%
def by_integral(m):
    return integral(lambda t: 1 / np.sqrt(1 - m * np.sin(t) ** 2), 0.0, np.pi / 2)


def slope_of_k(m):
    return (ellipe(m) - (1 - m) * ellipk(m)) / (2 * m * (1 - m))


for m in (0.1, 0.5, 0.9):
    h = 1e-4
    curvature = (slope_of_k(m + h) - slope_of_k(m - h)) / (2 * h)
    assert np.isclose(by_integral(m), ellipk(m), rtol=1e-12)
    assert np.isclose(cr.grad(by_integral)(m), slope_of_k(m), rtol=1e-11)
    assert np.isclose(cr.hessian(by_integral)(m), curvature, rtol=1e-5)

# %% [markdown]
# ## What it is worth
#
# For peaks from broad to narrow, the time of the gradient with respect to both ends, centre and
# width, and of the Hessian, in multiples of the time of the integral. The times are of this
# machine, at this moment; the best of five.


# %%
def seconds(f):
    times = []
    for _ in range(5):
        started = time.perf_counter()
        f()
        times.append(time.perf_counter() - started)
    return min(times)


ways = {"traced": traced_integral, "by the rule": integral}
derivatives = {"gradient": cr.grad, "Hessian": cr.hessian}
intervals, measured = [], {}
for width in (1.0, 0.1, 1e-2, 1e-3, 1e-4):
    p = np.array([-1.0, 2.0, 0.3, width])
    intervals.append(len(adaptive(Resonance(0.3, width), -1.0, 2.0)[1]))
    once = seconds(lambda p=p: area(traced_integral, p))
    for name, derivative in derivatives.items():
        for way, integrate in ways.items():
            slope = derivative(lambda p, integrate=integrate: area(integrate, p))
            times = seconds(lambda slope=slope, p=p: slope(p)) / once
            measured.setdefault((name, way), []).append(times)

print("intervals                 ", *(f"{n:7}" for n in intervals))
for (name, way), times in measured.items():
    print(f"{name + ', ' + way:<27}", *(f"{x:7.1f}" for x in times))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
for (name, way), times in measured.items():
    style = "o-" if way == "by the rule" else "s--"
    left.semilogy(intervals, times, style, label=f"{name}, {way}")
left.set_xlabel("intervals that the integrator ended with")
left.set_ylabel("times the integral")
left.set_title("Cost of derivatives")
left.set_ylim(1, 1500)
left.legend(ncols=2, fontsize=8)

begins = np.array(adaptive(Resonance(0.3, 1e-2), -1.0, 2.0)[1])
fine = np.sort(np.concatenate([np.linspace(-1, 2, 500), np.linspace(0.2, 0.4, 500)]))
right.plot(fine, Resonance(0.3, 1e-2)(fine))
right.plot(begins, np.full_like(begins, -4.0), "|", color="black", label="intervals begin")
right.set_title("The peak of width 0.01")
right.legend()
plt.show()

# %% [markdown]
# Traced, the gradient costs four or five integrals, and the Hessian 25 to 40. By the rule it is the
# integral, one call of the integrand for all nodes, and a fixed amount besides, which matters where
# there are few intervals.
#
# One thing to keep in mind: the nodes were chosen for the integral, and its derivative uses the
# same ones. Where the derivative of the integrand is much sharper than the integrand, it has fewer
# digits than the value. That holds for tracing, too.

# %%
for width in (0.1, 1e-3):
    p = np.array([-1.0, 2.0, 0.3, width])
    expected = cr.hessian(area_in_closed_form)(p)
    found = cr.hessian(lambda p: area(integral, p))(p)
    error = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
    print(f"width {width}: error of the Hessian {error:.1e} of its largest entry")
    assert error < 1e-6

# %% [markdown]
# ## Sources
#
# - R. Piessens, E. de Doncker-Kapenga, C. W. Ueberhuber and D. K. Kahaner, *QUADPACK* (1983).
# - M. Abramowitz and I. A. Stegun, *Handbook of mathematical functions* (1964), chapter 17:
#   elliptic integrals.
