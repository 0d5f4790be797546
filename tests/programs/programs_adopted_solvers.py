"""Programs that solve equations with scipy.optimize, which run when adopted."""

# ruff: noqa: N803, N806 (programs as users wrote them)

import math
from dataclasses import dataclass

import numpy as np
import scipy
import scipy.optimize as opt
from scipy import stats
from scipy.optimize import brentq, fsolve

TIGHT = dict(xtol=1e-14, rtol=1e-14)  # noqa: C408


def friction_factor(reynolds, roughness):
    """Colebrook's equation."""

    def f(x):
        return 1 / math.sqrt(x) + 2 * math.log10(roughness / 3.7 + 2.51 / (reynolds * math.sqrt(x)))

    return brentq(f, 0.005, 0.1, **TIGHT)


def implied_volatility(price, S, K, T, r):
    def excess(sigma, *args):
        S, K, T, r = args
        d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
        d2 = d1 - sigma * math.sqrt(T)
        return S * stats.norm.cdf(d1) - K * math.exp(-r * T) * stats.norm.cdf(d2) - price

    return opt.brentq(excess, 1e-3, 3.0, args=(S, K, T, r), **TIGHT)


def internal_rate(flows):
    def value(rate):
        total = 0.0
        for t, c in enumerate(flows):
            total += c / (1 + rate) ** t
        return total

    return float(opt.root_scalar(value, bracket=[0.0, 1.0], method="brentq", **TIGHT).root)


def van_der_waals(p, T, a):
    b, R = 0.04, 0.0821
    volume = scipy.optimize.newton(
        lambda v: (p + a / v**2) * (v - b) - R * T, R * T / p, tol=1e-14, maxiter=100
    )
    return p * volume / (R * T)


def diodes(source, conductances):
    """Two nodes, a diode from each to ground; the residual fills an array."""

    def currents(v):
        out = np.zeros(2)
        out[0] = conductances[0] * (source - v[0]) + conductances[1] * (v[1] - v[0])
        out[1] = conductances[1] * (v[0] - v[1])
        for i in range(2):
            out[i] -= 1e-3 * (math.exp(v[i] / 0.3) - 1)
        return out

    v, _, flag, message = fsolve(currents, [0.3, 0.3], xtol=1e-12, full_output=True)
    if flag != 1:
        raise RuntimeError(message)
    return v


@dataclass
class Reactor:
    k: np.ndarray
    feed: float

    def rates(self, c):
        r1 = self.k[0] * c[0]
        r2 = self.k[1] * c[1] ** 2
        return np.array([self.feed - r1 - 0.1 * c[0], r1 - 2 * r2 - 0.1 * c[1], r2 - 0.1 * c[2]])

    def steady(self):
        found = opt.root(self.rates, np.ones(3), tol=1e-12)
        assert np.all(np.abs(found.fun) < 1e-9)
        return found.x


def reactor(k, feed):
    return Reactor(k, feed).steady()


def orbit(mean_anomaly, e):
    anomaly = opt.fixed_point(lambda E: mean_anomaly + e * np.sin(E), mean_anomaly, xtol=1e-14)
    return math.cos(anomaly) - e


def equilibrium(prices):
    """Of two in one: the demand at each wage is itself a root."""

    def demand(wage):
        return opt.brentq(lambda h: prices[0] / (1 + h) ** 2 - wage, -0.9, 99.0, **TIGHT)

    return opt.brentq(lambda w: demand(w) - w * prices[1], 0.05, 0.9, **TIGHT)


def ridge_by_nnls(A, b):
    x, rnorm = opt.nnls(A, b)
    return x.sum() + rnorm


PROGRAMS = [
    ("friction_factor", friction_factor, (1e5, 1e-3)),
    ("implied_volatility", implied_volatility, (10.0, 100.0, 95.0, 0.5, 0.03)),
    ("internal_rate", internal_rate, (np.array([-100.0, 30.0, 40.0, 50.0, 20.0]),)),
    ("van_der_waals", van_der_waals, (10.0, 350.0, 3.6)),
    ("diodes", diodes, (1.0, np.array([0.02, 0.05]))),
    ("reactor", reactor, (np.array([0.5, 0.2]), 1.0)),
    ("orbit", orbit, (0.8, 0.3)),
    ("equilibrium", equilibrium, (np.array([1.3, 2.0]),)),
    (
        "nnls",
        ridge_by_nnls,
        (np.array([[1.0, 2.0, 0.5], [0.3, 1.0, 1.5], [2.0, 0.1, 0.2], [0.4, 0.5, 0.6]]),
         np.array([1.0, -0.5, 2.0, 0.3])),
    ),
]  # fmt: skip

REFUSED: list = []
