"""Engineering and finance programs with loops, math and state, which run when adopted."""

# ruff: noqa: E731, N803, N806 (programs as users wrote them)

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg as la
from scipy import integrate, signal, special


def thermal_rod(k, q):
    n = 8
    T = np.zeros(n)
    T[0] = 100.0
    T[-1] = q
    for _ in range(20):
        Tn = T.copy()
        for i in range(1, n - 1):
            Tn[i] = T[i] + k * (T[i + 1] - 2 * T[i] + T[i - 1])
        T = Tn
    return T


def projectile(v, angle):
    g = 9.81
    dt = 0.01
    x, y = (0.0, 0.0)
    vx = v * math.cos(math.radians(angle))
    vy = v * math.sin(math.radians(angle))
    xs = []
    for _ in range(40):
        sp = math.hypot(vx, vy)
        vx -= 0.01 * sp * vx * dt
        vy -= (g + 0.01 * sp * vy) * dt
        x += vx * dt
        y += vy * dt
        xs.append((x, y))
    return np.array(xs)


@dataclass
class Pump:
    head: float
    curve: np.ndarray
    log: list = field(default_factory=list)

    def flow(self, speed):
        q = float(np.polyval(self.curve, speed)) * self.head
        self.log.append(q)
        return q


def pump_power(head, curve, speeds):
    p = Pump(head, curve)
    total = 0.0
    for s in speeds:
        total += p.flow(s) * 9.81 / 0.7
    return total + sum(p.log) * 0.1


class RC:
    def __init__(self, r, c):
        self.r = r
        self.c = c
        self.v = np.zeros(5)
        self.k = 0

    def step(self, u):
        prev = self.v[self.k]
        self.k = (self.k + 1) % 5
        self.v[self.k] = prev + (u - prev) / (self.r * self.c) * 0.1
        return self.v[self.k]


def rc_filter(r, c, u):
    f = RC(r, c)
    out = np.empty(len(u))
    for i, ui in enumerate(u):
        out[i] = f.step(ui)
    return out


def black_scholes(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    N = lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))
    return S * N(d1) - K * math.exp(-r * T) * N(d2)


def binomial_tree(S, sigma, r):
    n = 20
    dt = 1.0 / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    v = np.zeros(n + 1)
    for j in range(n + 1):
        v[j] = max(S * u**j * d ** (n - j) - 101.0, 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[j] = math.exp(-r * dt) * (p * v[j + 1] + (1 - p) * v[j])
    return v[0]


def truss(E, areas):
    nodes = np.array([[0, 0], [1, 0], [1, 1]])
    els = [(0, 1), (1, 2), (0, 2)]
    K = np.zeros((6, 6))
    for (a, b), ar in zip(els, areas):
        d = nodes[b] - nodes[a]
        L = np.sqrt(d @ d)
        c, s = d / L
        k = E * ar / L * np.outer([-c, -s, c, s], [-c, -s, c, s])
        dof = [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]
        for i in range(4):
            for j in range(4):
                K[dof[i], dof[j]] += k[i, j]
    free = [2, 4, 5]
    return la.solve(K[np.ix_(free, free)], np.array([0.0, 0.0, -1.0]))


def truss_ix(E, areas):
    K = np.zeros((4, 4))
    k = np.array([[1, -1], [-1, 1]])
    for i, a in enumerate(areas):
        K[np.ix_([i, i + 1], [i, i + 1])] += E * a * k
    u = np.zeros(4)
    u[1:] = np.linalg.solve(K[1:, 1:], np.ones(3))
    return u


def cholesky_own(a):
    n = len(a)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = sum(L[i, k] * L[j, k] for k in range(j))
            if i == j:
                L[i, j] = math.sqrt(a[i, i] - s)
            else:
                L[i, j] = (a[i, j] - s) / L[j, j]
    return L


def gauss_elim(a, b):
    a = np.array(a, dtype=float)
    b = np.array(b, dtype=float)
    n = len(b)
    for k in range(n):
        p = k + np.argmax(abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[k], b[p] = (b[p], b[k])
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            a[i, k:] -= m * a[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


def jacobi(a, b):
    x = np.zeros_like(b)
    D = np.diag(a)
    R = a - np.diagflat(D)
    for _ in range(60):
        x = (b - np.dot(R, x)) / D
    return x


def newton_kepler(M, e):
    E = M
    while True:
        dE = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= dE
        if abs(dE) < 1e-13:
            break
    nu = 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))
    return (E, nu)


def rk4_lorenz(state, sigma, rho):
    traj = np.zeros((30, 3))
    traj[0] = state

    def f(s):
        x, y, z = s
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z])

    h = 0.01
    for i in range(29):
        s = traj[i]
        k1 = f(s)
        k2 = f(s + h / 2 * k1)
        k3 = f(s + h / 2 * k2)
        k4 = f(s + h * k3)
        traj[i + 1] = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return traj


def block(a):
    return (la.block_diag(a, 2 * a).sum(0), la.toeplitz(a[0]))


def convolve_peak(x, w):
    return (signal.convolve(x, w, mode="same"), np.convolve(x, w))


def polyfit(x, y):
    return (np.polyfit(x, y, 1), np.poly1d(np.polyfit(x, y, 2))(0.5))


def simp(y):
    return integrate.simpson(y, dx=0.1) + integrate.trapezoid(y)


def gammas(x):
    return (
        special.gammaln(x) + special.digamma(x) + math.lgamma(x) + special.erf(x) + special.jv(1, x)
    )


# Each is right inside `with cr.adopt(this module):`.
PROGRAMS = [
    ("thermal_rod", thermal_rod, (0.2, 30.0)),
    ("projectile", projectile, (20.0, 40.0)),
    ("pump", pump_power, (3.0, np.array([0.1, 2.0, 1.0]), [1.0, 1.2])),
    ("rc", rc_filter, (2.0, 0.5, np.array([1.0, 0.5, 0.2, 1.0, 0.0, 0.3, 0.4]))),
    ("black_scholes", black_scholes, (100.0, 95.0, 0.5, 0.03, 0.2)),
    ("binomial_tree", binomial_tree, (100.0, 0.2, 0.03)),
    ("truss", truss, (2.0, np.array([1.0, 2.0, 1.5]))),
    ("truss_ix", truss_ix, (2.0, np.array([1.0, 2.0, 1.5]))),
    ("cholesky", cholesky_own, (np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]),)),
    (
        "gauss",
        gauss_elim,
        (np.array([[0.1, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), np.array([1.0, 2.0, 3.0])),
    ),
    (
        "jacobi",
        jacobi,
        (np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), np.array([1.0, 2.0, 3.0])),
    ),
    ("kepler", newton_kepler, (0.8, 0.3)),
    ("lorenz", rk4_lorenz, (np.array([1.0, 1.0, 1.0]), 10.0, 28.0)),
    ("block", block, (np.array([[1.0, 2.0], [3.0, 4.0]]),)),
    ("convolve", convolve_peak, (np.sin(np.arange(9.0)), np.array([0.2, 0.5, 0.3]))),
    ("polyfit", polyfit, (np.array([0.0, 1.0, 2.0, 3.5]), np.array([1.0, 2.0, 2.5, 4.0]))),
    ("simpson", simp, (np.array([1.0, 2.0, 2.5, 4.0, 3.0]),)),
    ("gammas", gammas, (1.7,)),
]

REFUSED = []
