"""Programs of engineers and scientists as they stand: classes, buffers, math, SciPy's solvers.

Nothing here knows of derivatives but one line, ``cr.adopt()``. Each function at the end takes a
vector of parameters.
"""

# ruff: noqa: N806 (programs as users wrote them)

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, least_squares, minimize, root

import chainrules as cr

cr.adopt()

# ---- a truss of 31 bars -------------------------------------------------------------------------


class Node(NamedTuple):
    x: float
    y: float


class Bar(NamedTuple):
    start: int
    end: int


class Truss:
    """A planar girder of panels, on two supports, with a load at each lower joint."""

    def __init__(self, panels: int) -> None:
        self.nodes = [Node(float(i), 0.0) for i in range(panels + 1)]
        self.nodes += [Node(i + 0.5, 1.0) for i in range(panels)]
        top = panels + 1
        self.bars = [Bar(i, i + 1) for i in range(panels)]
        self.bars += [Bar(top + i, top + i + 1) for i in range(panels - 1)]
        self.bars += [Bar(i, top + i) for i in range(panels)]
        self.bars += [Bar(i + 1, top + i) for i in range(panels)]
        self.loads: dict = defaultdict(float)
        for i in range(1, panels):
            self.loads[2 * i + 1] -= 1.0
        fixed = {0, 1, 2 * panels + 1}
        self.free = [i for i in range(2 * len(self.nodes)) if i not in fixed]

    def stiffness(self, areas: Any) -> Any:
        K = np.zeros((2 * len(self.nodes), 2 * len(self.nodes)))
        for area, bar in zip(areas, self.bars, strict=True):
            a, b = self.nodes[bar.start], self.nodes[bar.end]
            length = math.hypot(b.x - a.x, b.y - a.y)
            c, s = (b.x - a.x) / length, (b.y - a.y) / length
            k = np.empty((4, 4))
            k[:2, :2] = k[2:, 2:] = [[c * c, c * s], [c * s, s * s]]
            k[:2, 2:] = k[2:, :2] = [[-c * c, -c * s], [-c * s, -s * s]]
            dof = [2 * bar.start, 2 * bar.start + 1, 2 * bar.end, 2 * bar.end + 1]
            K[np.ix_(dof, dof)] += area / length * k
        return K

    def compliance(self, areas: Any) -> Any:
        K = self.stiffness(areas)[np.ix_(self.free, self.free)]
        load = np.array([self.loads[i] for i in self.free])
        return load @ np.linalg.solve(K, load)


# ---- a Kalman filter ----------------------------------------------------------------------------


class Kalman:
    """A point that moves with a velocity, seen with noise: the likelihood of the noises."""

    def __init__(self, process: Any, noise: Any) -> None:
        self.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.H = np.array([[1.0, 0.0]])
        self.Q = process * np.array([[0.25, 0.5], [0.5, 1.0]])
        self.R = noise
        self.x = np.zeros(2)
        self.P = np.eye(2)
        self.loglik = 0.0

    def predict(self) -> None:
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z: float) -> None:
        S = float((self.H @ self.P @ self.H.T)[0, 0]) + self.R
        gain = (self.P @ self.H.T)[:, 0] / S
        seen = z - float((self.H @ self.x)[0])
        self.x = self.x + gain * seen
        self.P = self.P - np.outer(gain, self.H @ self.P)
        self.loglik -= 0.5 * (math.log(2 * math.pi * S) + seen * seen / S)


SEEN = np.cumsum(np.cumsum(np.random.default_rng(0).normal(size=100) * 0.1))

# ---- a thermal network --------------------------------------------------------------------------


class Network:
    """Four masses in a row, whose conductances are read off a table by temperature."""

    table_t = np.array([0.0, 20.0, 40.0, 60.0, 100.0])
    table_k = np.array([1.0, 1.1, 1.3, 1.6, 2.0])

    def __init__(self, scale: Any, capacity: Any) -> None:
        self.scale = scale
        self.capacity = capacity
        self.T = np.array([20.0, 20.0, 20.0, 20.0])

    def conductance(self, t: Any) -> Any:
        i = int(np.searchsorted(self.table_t, t)) - 1
        i = min(max(i, 0), len(self.table_t) - 2)
        part = (t - self.table_t[i]) / (self.table_t[i + 1] - self.table_t[i])
        return self.table_k[i] + part * (self.table_k[i + 1] - self.table_k[i])

    def step(self, heat: float, dt: float) -> None:
        flow = np.zeros(4)
        flow[0] = heat
        for i in range(3):
            k = self.scale * self.conductance(0.5 * (self.T[i] + self.T[i + 1]))
            q = k * (self.T[i] - self.T[i + 1])
            flow[i] -= q
            flow[i + 1] += q
        flow[3] -= 0.5 * (self.T[3] - 20.0)
        self.T += dt * flow / self.capacity


# ---- a controller -------------------------------------------------------------------------------


class PID:
    """A controller with limits, and a ring buffer for the slope."""

    def __init__(self, kp: Any, ki: Any, kd: Any, dt: float) -> None:
        self.kp, self.ki, self.kd, self.dt = kp, ki, kd, dt
        self.total = 0.0
        self.ring = np.zeros(4)
        self.at = 0

    def __call__(self, error: Any) -> Any:
        oldest = self.ring[self.at]
        self.ring[self.at] = error
        self.at = (self.at + 1) % len(self.ring)
        slope = (error - oldest) / (len(self.ring) * self.dt)
        self.total += error * self.dt
        u = self.kp * error + self.ki * self.total + self.kd * slope
        if u > 10.0:
            u = 10.0
        elif u < -10.0:
            u = -10.0
        return u


class Filter:
    """A low pass with a ring buffer of its last states."""

    def __init__(self, r: Any, c: Any) -> None:
        self.r, self.c = r, c
        self.v = np.zeros(5)
        self.k = 0

    def step(self, u: float) -> Any:
        before = self.v[self.k]
        self.k = (self.k + 1) % 5
        self.v[self.k] = before + (u - before) / (self.r * self.c) * 0.1
        return self.v[self.k]


# ---- a fit of an ODE ----------------------------------------------------------------------------


@dataclass
class Data:
    t: Any
    y: Any
    sigma: float


class Feeding:
    """Prey and predators with a food supply that is interpolated, and buffers for the slopes."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.food = CubicSpline(np.linspace(0.0, 10.0, 6), [1.0, 1.1, 0.9, 1.0, 1.2, 1.0])
        self.weight = 1.0 / math.sqrt(data.sigma)

    def rhs(self, t: float, y: Any, p: Any) -> Any:
        dy = np.zeros(2)
        met = y[0] * y[1]
        dy[0] = p[0] * float(self.food(t)) * y[0] - p[1] * met
        dy[1] = p[3] * met - p[2] * y[1]
        return dy

    def states(self, p: Any) -> Any:
        t = self.data.t
        return solve_ivp(
            self.rhs, (0.0, t[-1]), [10.0, 5.0], t_eval=t, args=(p,), rtol=1e-8, atol=1e-8
        ).y

    def residuals(self, p: Any) -> Any:
        return self.weight * (np.log(self.states(p)) - np.log(self.data.y)).ravel()


TRUE = np.array([0.8, 0.1, 0.6, 0.05])
NEAR = np.array([0.75, 0.11, 0.65, 0.045])


def feeding() -> Feeding:
    t = np.linspace(0.0, 10.0, 30)
    model = Feeding(Data(t, np.ones((2, 30)), 0.04))
    noise = np.random.default_rng(1).normal(size=(2, 30))
    model.data.y = model.states(TRUE) * np.exp(0.05 * noise)
    return model


# ---- notebook 7: hares and lynxes ---------------------------------------------------------------

YEARS = np.arange(1900.0, 1921.0)
GUESS = np.log([0.5, 0.02, 0.9, 0.03, 30.0, 4.0, 0.5, 0.5])


def rates(t: float, z: Any, theta: Any) -> Any:
    alpha, beta, gamma, delta = theta
    u, v = z
    return [(alpha - beta * v) * u, (-gamma + delta * u) * v]


def minus_log_likelihood(p: Any, pelts: Any) -> Any:
    theta, start = np.exp(p[:4]), np.exp(p[4:6])
    answer = solve_ivp(
        rates, (1900.0, 1920.0), start, t_eval=YEARS, args=(theta,), rtol=1e-6, atol=1e-6
    )
    log_sigma = p[6:, None]
    residuals = (np.log(pelts) - np.log(answer.y)) / np.exp(log_sigma)
    return np.sum(residuals**2 / 2 + log_sigma)


# ---- as functions of a vector -------------------------------------------------------------------

TRUSS = Truss(8)
TIMES = np.linspace(0.0, 15.0, 60)
GRID = np.linspace(0.0, 4.0, 30)


def truss(areas: Any) -> Any:
    return TRUSS.compliance(areas)


def kalman(p: Any) -> Any:
    kalman = Kalman(p[0], p[1])
    for z in SEEN:
        kalman.predict()
        kalman.update(z)
    return kalman.loglik


def thermal(p: Any) -> Any:
    network = Network(p[0], p[1])
    total = 0.0
    for k in range(200):
        network.step(40.0 if k < 100 else 10.0, 0.05)
        total += (network.T[0] - 50.0) ** 2
    return total


def pid(p: Any) -> Any:
    controller = PID(p[0], p[1], p[2], 0.05)
    x, v, cost = 0.0, 0.0, 0.0
    for _ in range(300):
        error = 1.0 - x
        u = controller(error)
        v += (u - 0.5 * v - 2.0 * x) * 0.05
        x += v * 0.05
        cost += error * error * 0.05
    return cost


def low_pass(p: Any) -> Any:
    low = Filter(p[0], p[1])
    out = np.empty(50)
    for i in range(50):
        out[i] = low.step(math.sin(0.3 * i))
    return out


def binomial_tree(p: Any) -> Any:
    n = 20
    dt = 1.0 / n
    up = math.exp(p[1] * math.sqrt(dt))
    down = 1.0 / up
    q = (math.exp(p[2] * dt) - down) / (up - down)
    v = np.zeros(n + 1)
    for j in range(n + 1):
        v[j] = max(p[0] * up**j * down ** (n - j) - 101.0, 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[j] = math.exp(-p[2] * dt) * (q * v[j + 1] + (1.0 - q) * v[j])
    return v[0]


def black_scholes(p: Any) -> Any:
    s, k, t, r, sigma = p
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    below = [0.5 * (1.0 + math.erf(d / math.sqrt(2.0))) for d in (d1, d2)]
    return s * below[0] - k * math.exp(-r * t) * below[1]


def kepler(p: Any) -> Any:
    anomaly, e = p
    x = anomaly
    while True:
        dx = (x - e * math.sin(x) - anomaly) / (1.0 - e * math.cos(x))
        x -= dx
        if abs(dx) < 1e-13:
            return x


def lotka_volterra(p: Any) -> Any:
    def rhs(t: float, y: Any) -> Any:
        met = y[0] * y[1]
        return np.stack([p[0] * y[0] - p[1] * met, p[3] * met - p[2] * y[1]])

    y0 = np.array([10.0, 5.0])
    return solve_ivp(rhs, (0.0, 15.0), y0, t_eval=TIMES, rtol=1e-6, atol=1e-6).y.ravel()


def robertson(logs: Any) -> Any:
    p = np.exp(logs)

    def rhs(t: float, y: Any) -> Any:
        slow, fast, back = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
        return np.stack([back - slow, slow - back - fast, fast])

    y0 = np.array([1.0, 0.0, 0.0])
    return solve_ivp(rhs, (0.0, 100.0), y0, "BDF", rtol=1e-6, atol=1e-9).y[0, -1]


def integral(p: Any) -> Any:
    return quad(lambda x: np.exp(-p[0] * x) * np.cos(p[1] * x), 0.0, 2.0)[0]


def root_of_two(p: Any) -> Any:
    def f(x: Any) -> Any:
        return np.stack([x[0] + p[0] * x[1] ** 2 - 1.0, x[1] - p[1] * np.sin(x[0])])

    return root(f, np.array([0.5, 0.5])).x


def bracketed(p: Any) -> Any:
    return brentq(lambda x: x**3 + p[0] * x - p[1], 0.0, 3.0)


def smallest(p: Any) -> Any:
    def f(x: Any) -> Any:
        return (x[0] - p[0]) ** 2 + p[1] * (x[1] - x[0] ** 2) ** 2

    return minimize(f, np.zeros(2), method="BFGS").x


def fitted(p: Any) -> Any:
    seen = p[0] * np.exp(-p[1] * GRID) + p[2] * np.cos(3.0 * GRID)
    return least_squares(lambda x: x[0] * np.exp(-x[1] * GRID) - seen, np.ones(2)).x


# ---- whole fits, by a Jacobian or a gradient that is given, or by differences --------------------

MODEL = feeding()


def fit_feeding(jac: Any) -> Any:
    return least_squares(MODEL.residuals, NEAR, jac=jac).x


def fit_hares(jac: Any, pelts: Any) -> Any:
    return minimize(
        minus_log_likelihood, GUESS, args=(pelts,), jac=jac, method="BFGS", options={"gtol": 1e-3}
    ).x
