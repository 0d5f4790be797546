"""Models with state, tables and matrices, as people of several fields write them, adopted."""

# ruff: noqa: N803, N806 (programs as users wrote them)

import bisect
import math
from collections import deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy import interpolate, linalg, optimize, signal


@dataclass
class Catchment:
    """Rainfall and runoff with two stores, after GR4J."""

    x1: float
    x2: float
    x3: float
    lag: float
    buffer: deque = field(default_factory=lambda: deque([0.0] * 3, maxlen=3))

    def __post_init__(self):
        self.production, self.routing = 0.6 * self.x1, 0.7 * self.x3
        self.ordinates = np.diff([min(1.0, t / self.lag) ** 2.5 for t in range(4)])

    def step(self, rain, pet):
        s = self.production / self.x1
        w = math.tanh(abs(rain - pet) / self.x1)
        if rain > pet:
            self.production += self.x1 * (1 - s**2) * w / (1 + s * w)
        else:
            self.production -= self.production * (2 - s) * w / (1 + (1 - s) * w)
        percolation = self.production * (1 - (1 + (4 / 9 * s) ** 4) ** -0.25)
        self.production -= percolation
        self.buffer.append(0.0)
        for i, o in enumerate(self.ordinates):
            self.buffer[i] += o * (percolation + max(rain - pet, 0.0))
        exchange = self.x2 * (self.routing / self.x3) ** 3.5
        self.routing = max(0.0, self.routing + 0.9 * self.buffer[0] + exchange)
        flow = self.routing * (1 - (1 + (self.routing / self.x3) ** 4) ** -0.25)
        self.routing -= flow
        return flow + max(0.0, 0.1 * self.buffer[0] + exchange)


def kling_gupta(p):
    model = Catchment(*p)
    q = np.array([model.step(r, e) for r, e in zip([3, 12.5, 0, 1, 20, 4], [2, 2.3, 2.6, 3, 2, 2])])
    seen = np.array([1.2, 2, 3, 1.8, 4, 5])
    r = np.corrcoef(q, seen)[0, 1]
    return 1 - math.hypot(r - 1, q.std() / seen.std() - 1, q.mean() / seen.mean() - 1)


def power_flow(load, v0):
    Y = np.zeros((3, 3), dtype=complex)
    for f, t, r, x in [(0, 1, 0.02, 0.06), (0, 2, 0.08, 0.24), (1, 2, 0.06, 0.18)]:
        y = 1 / complex(r, x)
        Y[f, f] += y
        Y[t, t] += y
        Y[f, t] -= y
        Y[t, f] -= y
    V = np.ones(3, dtype=complex)
    V[0] = v0
    for _ in range(20):
        current = Y @ V
        mismatch = (V * np.conj(current))[1:] + load[:2] + 1j * load[2:]
        F = np.r_[mismatch.real, mismatch.imag]
        if np.max(np.abs(F)) < 1e-13:
            break
        unit = np.diag(V / np.abs(V))
        dVm = np.diag(V) @ np.conj(Y @ unit) + np.diag(np.conj(current)) @ unit
        dVa = 1j * np.diag(V) @ np.conj(np.diag(current) - Y @ np.diag(V))
        J = np.block([[g(d[1:, 1:]) for d in (dVa, dVm)] for g in (np.real, np.imag)])
        dx = spla.spsolve(sp.csc_matrix(J), -F)
        va, vm = np.angle(V), np.abs(V)
        va[1:] += dx[:2]
        vm[1:] += dx[2:]
        V = vm * np.exp(1j * va)
    return np.sum((V * np.conj(Y @ V)).real)


def american_put(S0, sigma, r):
    dt, K = 0.25, 1.1
    Z = np.random.default_rng(42).standard_normal((40, 4))
    S = S0 * np.exp(np.cumsum((r - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * Z, axis=1))
    cash = np.maximum(K - S[:, -1], 0)
    for t in (2, 1, 0):
        cash = cash * np.exp(-r * dt)
        itm = S[:, t] < K
        X = np.polynomial.laguerre.lagvander(S[itm, t], 2)
        coef, *_ = np.linalg.lstsq(X, cash[itm], rcond=None)
        idx = np.flatnonzero(itm)[K - S[itm, t] > X @ coef]
        cash[idx] = (K - S[:, t])[idx]
    return np.exp(-r * dt) * cash.mean()


def regulator(q, r, a):
    A, B = np.array([[1, 0.1], [a, 0.95]]), np.array([[0.005], [0.1]])
    Q = np.diag([q, 1.0])
    P = linalg.solve_discrete_are(A, B, Q, np.array([[r]]))
    K = np.linalg.solve(r + B.T @ P @ B, B.T @ P @ A)
    root, x, cost = np.sqrt(np.diag(Q)), np.array([1.0, 0.0]), 0.0
    for _ in range(3):
        u = np.clip(-(K @ x)[0], -0.8, 0.8)
        cost += np.linalg.norm(root * x) ** 2 + r * u * u
        x = A @ x + B[:, 0] * u
    return cost + x @ P @ x


PRESSURE, TEMPERATURE = np.linspace(1, 10, 6), np.linspace(300, 600, 7)
ENTHALPY = 2 + 2.1e-3 * TEMPERATURE - np.outer(8e-3 * PRESSURE**1.3, TEMPERATURE / 400)


class Steam:
    def __init__(self, table):
        self._spline = interpolate.RectBivariateSpline(PRESSURE, TEMPERATURE, table)

    def h(self, p, T):
        return self._spline(p, T)[0, 0]

    def temperature(self, p, h):
        return optimize.brentq(lambda T: self.h(p, T) - h, 300, 600, xtol=1e-12)


def turbine(p, T, efficiency):
    steam = Steam(ENTHALPY)
    h1 = steam.h(p, T)
    h2 = h1 - efficiency * (h1 - steam.h(0.5 * p, 0.8 * T))
    return steam.temperature(0.5 * p, h2) / 500, (h1 - h2) / h1


@dataclass
class Hazard:
    times: list = field(default_factory=list)
    rates: list = field(default_factory=list)

    def survival(self, t):
        H, before = 0.0, 0.0
        for end, rate in zip(self.times, self.rates):
            H += rate * (min(t, end) - before)
            if t <= end:
                break
            before = end
        return math.exp(-H)


def credit_curve(spreads, recovery, r):
    curve = Hazard()
    for T, s in zip((1.0, 3.0), spreads):

        def mispricing(h):
            trial = Hazard([*curve.times, T], [*curve.rates, h])  # noqa: B023
            grid = np.arange(0.5, T + 0.1, 0.5)  # noqa: B023
            q = [trial.survival(t) for t in grid]
            legs = zip(np.exp(-r * grid), [1.0, *q], q)
            return sum(d * ((1 - recovery) * (a - b) - s * 0.5 * b) for d, a, b in legs)  # noqa: B023

        curve.rates.append(optimize.brentq(mispricing, 1e-6, 2.0, xtol=1e-15))
        curve.times.append(T)
    return curve.survival(2.0), 10 * curve.rates[bisect.bisect(curve.times, 2.2)]


Pulse = namedtuple("Pulse", "axis angle wait")


def spin_echoes(flip, T2, offset):
    M, signals = np.tile([0.0, 0, 1], (3, 1)), []
    for axis, angle, wait in [Pulse("x", flip, 0.02), Pulse("y", 2 * flip, 0.02)] * 2:
        i, j = (k for k in range(3) if k != "xyz".index(axis))
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[i, j], R[j, i] = -np.sin(angle), np.sin(angle)
        M = M @ R.T
        turn = 2 * np.pi * offset * np.linspace(-1, 1, 3) * wait
        c, s, decay = np.cos(turn), np.sin(turn), np.exp(-wait / T2)
        M[:, 0], M[:, 1] = decay * (c * M[:, 0] - s * M[:, 1]), decay * (s * M[:, 0] + c * M[:, 1])
        signals.append(abs((M[:, 0] + 1j * M[:, 1]).mean()))
    return np.array(signals)


class Biquad:
    __slots__ = ("a", "b", "z")

    def __init__(self, fc, q):
        w = 2 * math.pi * fc
        alpha, c = math.sin(w) / (2 * q), math.cos(w)
        scale = 1 + alpha
        self.b = [v / scale for v in ((1 - c) / 2, 1 - c, (1 - c) / 2)]
        self.a = [v / scale for v in (1 + alpha, -2 * c, 1 - alpha)]
        self.z = [0.0, 0.0]

    def tick(self, x):
        y = self.b[0] * x + self.z[0]
        self.z[0] = self.b[1] * x - self.a[1] * y + self.z[1]
        self.z[1] = self.b[2] * x - self.a[2] * y
        return y


def equaliser(fc, q, x):
    f = Biquad(fc, q)
    blocks = [np.array([f.tick(v) for v in x[i : i + 4]]) for i in range(0, len(x), 4)]
    y, zi = signal.lfilter(f.b, f.a, x, zi=np.zeros(2))
    return 20 * np.log10(np.sqrt(np.mean(np.concatenate(blocks) ** 2))), zi, y[-1]


PROGRAMS = [
    ("kling_gupta", kling_gupta, (np.array([120.0, -0.5, 60.0, 1.7]),)),
    ("power_flow", power_flow, (np.array([0.4, 0.3, 0.1, 0.2]), 1.05)),
    ("american_put", american_put, (1.0, 0.25, 0.05)),
    ("regulator", regulator, (2.0, 0.1, -0.2)),
    ("turbine", turbine, (5.3, 520.0, 0.8)),
    ("credit_curve", credit_curve, (np.array([0.1, 0.13]), 0.4, 0.03)),
    ("spin_echoes", spin_echoes, (1.4, 0.1, 5.0)),
    ("equaliser", equaliser, (0.06, 0.8, np.random.default_rng(1).normal(size=12))),
]

REFUSED: list = []
