"""Numerical methods and models as people write them, which run when adopted."""

# ruff: noqa: E731, N803, N806, N812, RUF012 (programs as users wrote them)

import abc
import cmath
import contextlib
import functools
import heapq
import itertools
import math
import os
import random
import threading
import time
from typing import NamedTuple

import numpy as np
import scipy as sp
import scipy.linalg
from numpy import array, cos, dot, exp, float64, pi, sin, sqrt, zeros
from scipy import special as sc
from scipy.constants import R as RGAS
from scipy.constants import g as G0
from scipy.special import erf, expit, gamma


def from_imports(x):
    y = zeros(3)
    y[0] = sin(x)
    y[1] = sqrt(x) * pi
    y[2] = exp(-x) + G0 * RGAS
    return dot(array([1.0, 2.0, 3.0]), y) * float64(2.0)


def adaptive_simpson(a, b):
    f = lambda t: math.sin(t) * math.exp(-t)

    def rec(a, b, eps, whole):
        c = (a + b) / 2
        h = (b - a) / 12
        left = h * (f(a) + 4 * f((a + c) / 2) + f(c))
        right = h * (f(c) + 4 * f((c + b) / 2) + f(b))
        if abs(left + right - whole) <= 15 * eps:
            return left + right + (left + right - whole) / 15
        return rec(a, c, eps / 2, left) + rec(c, b, eps / 2, right)

    return rec(a, b, 1e-09, (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b)))


def romberg(k):
    R = np.zeros((6, 6))
    f = lambda t: math.exp(-k * t * t)
    for i in range(6):
        n = 2**i
        h = 1.0 / n
        R[i, 0] = h * (0.5 * f(0.0) + 0.5 * f(1.0) + sum(f(j * h) for j in range(1, n)))
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[5, 5]


def secant(c):
    x0, x1 = (1.0, 2.0)
    f = lambda x: x**3 - c * x - 2
    for _ in range(50):
        if abs(x1 - x0) < 1e-13:
            break
        x0, x1 = (x1, x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0)))
    return x1


def regula_falsi(c):
    a, b = (0.0, 3.0)
    f = lambda x: x**3 - c
    for _ in range(300):
        m = (a * f(b) - b * f(a)) / (f(b) - f(a))
        if f(m) > 0:
            b = m
        else:
            a = m
    return m


def fixed_point(a):
    x = 1.0
    for _ in range(200):
        x = math.cos(a * x)
    return x


def colebrook_iter(Re, e):
    f = 0.02
    for _ in range(60):
        f = (-2 * math.log10(e / 3.7 + 2.51 / (Re * math.sqrt(f)))) ** (-2)
    return f


def newton_system(a):
    x = np.array([1.0, 1.0])
    for _ in range(12):
        F = np.array([x[0] ** 2 + x[1] ** 2 - a, x[0] - x[1] ** 3])
        J = np.array([[2 * x[0], 2 * x[1]], [1.0, -3 * x[1] ** 2]])
        x += np.linalg.solve(J, -F)
    return x


def gradient_descent(w0):
    w = w0.copy()
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, 21):
        g = 2 * (w - np.arange(len(w)))
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-08)
    return w


def power_iteration(a):
    v = np.ones(len(a)) / math.sqrt(len(a))
    for _ in range(200):
        v = a @ v
        v /= np.linalg.norm(v)
    return v @ a @ v


def qr_gs(a):
    m, n = a.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = a[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ a[:, j]
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return R


def cg(a, b):
    x = np.zeros(len(b))
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        ap = a @ p
        al = rs / (p @ ap)
        x += al * p
        r -= al * ap
        rn = r @ r
        p = r + rn / rs * p
        rs = rn
        if math.sqrt(rs) < 1e-14:
            break
    return x


def fft_own(x):
    n = len(x)
    if n == 1:
        return x.astype(complex)
    e, o = (fft_own(x[::2]), fft_own(x[1::2]))
    t = np.array([cmath.exp(-2j * math.pi * k / n) * o[k] for k in range(n // 2)])
    return np.concatenate([e + t, e - t])


def fft_abs(x):
    return np.abs(fft_own(x)) ** 2


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n - 1)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        den = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / den
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / den
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def natural_spline(y, t):
    n = len(y) - 1
    M = np.eye(n + 1)
    r = np.zeros(n + 1)
    for i in range(1, n):
        M[i, i - 1 : i + 2] = [1, 4, 1]
        r[i] = 6 * (y[i - 1] - 2 * y[i] + y[i + 1])
    m = np.linalg.solve(M, r)
    i = min(math.floor(t), n - 1)
    u = t - i
    return (
        (1 - u) * y[i]
        + u * y[i + 1]
        + ((1 - u) ** 3 - (1 - u)) * m[i] / 6
        + (u**3 - u) * m[i + 1] / 6
    )


class Wall(abc.ABC):
    def __init__(self, **kw):
        self.__dict__.update(kw)

    @property
    def u_value(self):
        return 1 / sum((t / k for t, k in zip(self.t, self.k)))

    @abc.abstractmethod
    def loss(self, dT): ...


class Brick(Wall):
    def loss(self, dT):
        return self.u_value * self.area * dT


def building(t, k, area):
    return sum(
        w.loss(20.0)
        for w in [Brick(t=t, k=k, area=area), Brick(t=t[::-1], k=[1.0, 2.0], area=area / 2)]
    )


class Particle(NamedTuple):
    pos: np.ndarray
    vel: np.ndarray
    m: float = 1.0


def nbody(pos, m):
    ps = [Particle(p, np.zeros(2), mi) for p, mi in zip(pos, m)]
    for _ in range(5):
        acc = [np.zeros(2) for _ in ps]
        for i, a in enumerate(ps):
            for j, b in enumerate(ps):
                if i != j:
                    d = b.pos - a.pos
                    acc[i] += b.m * d / (np.linalg.norm(d) ** 2 + 0.01) ** 1.5
        ps = [
            p._replace(vel=p.vel + 0.01 * a, pos=p.pos + 0.01 * (p.vel + 0.01 * a))
            for p, a in zip(ps, acc)
        ]
    return np.array([p.pos for p in ps])


def gen_euler(k):

    def steps():
        y = 1.0
        while True:
            y += -0.1 * k * y
            yield y

    return list(itertools.islice(steps(), 10))[-1]


def dijkstra(w):
    g = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 3)], 3: []}
    dist = {0: 0.0}
    pq = [(0.0, 0)]
    while pq:
        d, u = heapq.heappop(pq)
        for v, e in g[u]:
            nd = d + w[e]
            if nd < dist.get(v, float("inf")):
                dist[v] = nd
                heapq.heappush(pq, (nd, v))
    return dist[3]


def monte_carlo(mu, sigma):
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(50):
        z = rng.standard_normal()
        s += max(math.exp(mu + sigma * z) - 1.0, 0.0)
    return s / 50


def gbm_paths(s0, mu, sig):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(4, 5))
    S = np.zeros((4, 6))
    S[:, 0] = s0
    for t in range(5):
        S[:, t + 1] = S[:, t] * np.exp((mu - sig**2 / 2) * 0.1 + sig * math.sqrt(0.1) * Z[:, t])
    return S.mean(axis=0)


def random_uniform_own(a):
    r = random.Random(0)
    return sum(r.uniform(0, a) for _ in range(4))


def markov(p):
    P = np.array([[1 - p, p, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]])
    pi_ = np.ones(3) / 3
    for _ in range(100):
        pi_ = pi_ @ P
    return pi_


def hmm_forward(a, b):
    al = np.zeros((4, 2))
    obs = [0, 1, 0, 0]
    T = np.array([[a, 1 - a], [0.3, 0.7]])
    E = np.array([[b, 1 - b], [0.2, 0.8]])
    al[0] = [0.5 * E[0, 0], 0.5 * E[1, 0]]
    for t in range(1, 4):
        for j in range(2):
            al[t, j] = np.sum(al[t - 1] * T[:, j]) * E[j, obs[t]]
    return np.log(al[-1].sum())


def garch(om, al, be, r):
    s2 = np.empty_like(r)
    s2[0] = np.var(r)
    ll = 0.0
    for t in range(1, len(r)):
        s2[t] = om + al * r[t - 1] ** 2 + be * s2[t - 1]
        ll += -0.5 * (math.log(2 * math.pi * s2[t]) + r[t] ** 2 / s2[t])
    return ll


def arima_res(phi, th, y):
    e = np.zeros(len(y))
    for t in range(1, len(y)):
        e[t] = y[t] - phi * y[t - 1] - th * e[t - 1]
    return float(np.sum(e**2))


def kmeans_step(x, c):
    d = np.array([[np.sqrt(((xi - cj) ** 2).sum()) for cj in c] for xi in x])
    lab = d.argmin(axis=1)
    return (np.array([x[lab == k].mean(axis=0) for k in range(len(c))]), d.min(axis=1).sum())


def logistic_fit(X, y):
    w = np.zeros(X.shape[1])
    for _ in range(8):
        p = 1 / (1 + np.exp(-X @ w))
        W = np.diag(p * (1 - p))
        w += np.linalg.solve(X.T @ W @ X + 0.001 * np.eye(len(w)), X.T @ (y - p))
    return w


def pca(x):
    xc = x - x.mean(0)
    w, v = np.linalg.eigh(xc.T @ xc)
    return (w[::-1], np.abs(v[:, -1]))


def ewma(x, a):
    out = [x[0]]
    for v in x[1:]:
        out.append(a * v + (1 - a) * out[-1])
    return np.asarray(out, dtype=np.float64)


def rolling(x):
    return (
        np.array([np.mean(x[max(0, i - 2) : i + 1]) for i in range(len(x))]),
        np.convolve(x, np.ones(3) / 3, "valid"),
    )


def rotations(r, p, y):
    Rx = np.eye(3)
    Rx[1:, 1:] = [[cos(r), -sin(r)], [sin(r), cos(r)]]
    Rz = np.identity(3)
    Rz[:2, :2] = np.array([[math.cos(y), -math.sin(y)], [math.sin(y), math.cos(y)]])
    Ry = np.array([[cos(p), 0, sin(p)], [0, 1, 0], [-sin(p), 0, cos(p)]])
    return Rz @ Ry @ Rx


def dh_arm(q):
    T = np.eye(4)
    for th, d, a, al in zip(q, [0.3, 0, 0.1], [0.0, 0.5, 0.4], [math.pi / 2, 0, 0]):
        ct, st, ca, sa = (math.cos(th), math.sin(th), math.cos(al), math.sin(al))
        T = T @ np.array(
            [
                [ct, -st * ca, st * sa, a * ct],
                [st, ct * ca, -ct * sa, a * st],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ],
            dtype=float,
        )
    return T[:3, 3]


def haversine(la1, lo1, la2, lo2):
    la1, lo1, la2, lo2 = map(math.radians, [la1, lo1, la2, lo2])
    h = (
        math.sin((la2 - la1) / 2) ** 2
        + math.cos(la1) * math.cos(la2) * math.sin((lo2 - lo1) / 2) ** 2
    )
    return 2 * 6371 * math.asin(min(1, math.sqrt(h)))


def polygon(pts):
    a = 0.0
    n = len(pts)
    for i in range(n):
        x1, y1 = pts[i]
        x2, y2 = pts[(i + 1) % n]
        a += x1 * y2 - x2 * y1
    return abs(a) / 2


def mandel(c):
    z = 0j
    n = 0
    while abs(z) <= 2 and n < 10:
        z = z * z + complex(c, 0.1)
        n += 1
    return (z.real, z.imag, abs(z))


def impedance(R, L, C):
    w = 2 * np.pi * np.logspace(1, 3, 4)
    Z = R + 1j * w * L * 1e-3 + 1 / (1j * w * C * 1e-6)
    return (20 * np.log10(np.abs(Z)), np.angle(Z, deg=True))


def abcd(f, length):
    Z0 = 50.0
    b = f * length
    M = np.array([[cmath.cos(b), 1j * Z0 * cmath.sin(b)], [1j * cmath.sin(b) / Z0, cmath.cos(b)]])
    return np.abs(M @ M).ravel()


def antoine(T):
    return 10 ** (8.07131 - 1730.63 / (233.426 + T))


def rachford(z, K):
    V = 0.5
    for _ in range(50):
        f = sum((zi * (k - 1) / (1 + V * (k - 1)) for zi, k in zip(z, K)))
        df = -sum((zi * (k - 1) ** 2 / (1 + V * (k - 1)) ** 2 for zi, k in zip(z, K)))
        V -= f / df
    return V


def cstr(k0, tau):
    c = np.array([1.0, 0.0, 0.0])
    for _ in range(100):
        r1, r2 = (k0 * c[0], 0.5 * k0 * c[1])
        c += 0.05 * np.array([(1 - c[0]) / tau - r1, -c[1] / tau + r1 - r2, -c[2] / tau + r2])
    return c


def pr_eos(T, P):
    a, b = (0.45724 * (8.314 * 190.6) ** 2 / 4600000.0, 0.0778 * 8.314 * 190.6 / 4600000.0)
    A_ = a * P / (8.314 * T) ** 2
    B = b * P / (8.314 * T)
    r = np.roots([1, B - 1, A_ - 3 * B**2 - 2 * B, -(A_ * B - B**2 - B**3)])
    z = max(v.real for v in r if abs(v.imag) < 1e-08)
    return z


def beam_fe(E, q):
    n = 3
    L = 1.0 / n
    K = np.zeros((2 * (n + 1), 2 * (n + 1)))
    F = np.zeros(2 * (n + 1))
    k = (
        E
        / L**3
        * np.array(
            [
                [12, 6 * L, -12, 6 * L],
                [6 * L, 4 * L * L, -6 * L, 2 * L * L],
                [-12, -6 * L, 12, -6 * L],
                [6 * L, 2 * L * L, -6 * L, 4 * L * L],
            ]
        )
    )
    for e in range(n):
        s = slice(2 * e, 2 * e + 4)
        K[s, s] += k
        F[s] += q * L / 2 * np.array([1, L / 6, 1, -L / 6])
    u = np.zeros_like(F)
    free = np.arange(2, len(F))
    u[free] = sp.linalg.solve(K[np.ix_(free, free)], F[free])
    return u


def wave1d(c):
    u = np.zeros((10, 20))
    x = np.linspace(0, 1, 20)
    u[0] = np.exp(-100 * (x - 0.5) ** 2)
    u[1] = u[0]
    for n in range(1, 9):
        u[n + 1, 1:-1] = (
            2 * u[n, 1:-1] - u[n - 1, 1:-1] + c**2 * (u[n, 2:] - 2 * u[n, 1:-1] + u[n, :-2])
        )
    return u[-1]


def lbm(om):
    f = np.ones((3, 8))
    f[1, 3] += 0.1
    c = [0, 1, -1]
    w = [2 / 3, 1 / 6, 1 / 6]
    for _ in range(4):
        rho = f.sum(axis=0)
        u = (f[1] - f[2]) / rho
        for i in range(3):
            f[i] += om * (w[i] * rho * (1 + 3 * c[i] * u) - f[i])
        f[1] = np.roll(f[1], 1)
        f[2] = np.roll(f[2], -1)
    return f.sum(axis=0)


def ising_mf(J):
    m = 0.5
    for _ in range(100):
        m = math.tanh(J * m + 0.1)
    return m


def integrate_erf(s):
    return erf(s) + gamma(s) + expit(s) + sc.j0(s) + sp.special.xlogy(s, 2.0)


def wrapper_deco(x):

    def timed(f):

        @functools.wraps(f)
        def g(*a, **k):
            time.perf_counter()
            r = f(*a, **k)
            os.environ.get("X")
            return r

        return g

    @timed
    def h(x, *, p=2):
        return x**p

    return h(x, p=3)


def ctxt(x):
    with contextlib.suppress(KeyError), np.errstate(divide="ignore"):
        y = {}["a"]
    with threading.Lock():
        y = x * 2
    return y


def ternary_clip(x):
    return (np.array([v if 0 < v < 1 else 0.0 if v <= 0 else 1.0 for v in x]), np.clip(x, 0, 1))


def table_lookup(x):
    xs = np.linspace(0, 2, 5)
    ys = xs**2
    i = np.clip(np.searchsorted(xs, x) - 1, 0, 3)
    return ys[i] + (x - xs[i]) * (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i])


def bilinear(img, x, y):
    x0, y0 = (int(np.floor(x)), int(np.floor(y)))
    a, b = (x - x0, y - y0)
    return (
        img[y0, x0] * (1 - a) * (1 - b)
        + img[y0, x0 + 1] * a * (1 - b)
        + img[y0 + 1, x0] * (1 - a) * b
        + img[y0 + 1, x0 + 1] * a * b
    )


def accumulate_outer(x):
    C = np.zeros((len(x[0]), len(x[0])))
    for r in x:
        C += np.outer(r - x.mean(axis=0), r - x.mean(axis=0))
    C /= len(x) - 1
    return (C, np.cov(x.T))


def batch_dot(a):
    B = np.einsum("bij,bjk->bik", a, a)
    B -= np.eye(2)
    return (np.linalg.inv(B), np.linalg.det(B))


def fancy_set(x):
    a = np.zeros((3, 3))
    i, j = np.triu_indices(3, 1)
    a[i, j] = x
    a[j, i] = -x
    a[a < 0] *= 2
    return a @ a


def ix_add(x):
    a = np.zeros((4, 4))
    a[np.ix_([0, 2], [1, 3])] += np.outer(x, x)
    np.add.at(a, ([0, 0], [1, 1]), x)
    return a


def pid_class_attr(x):

    class K:
        gain = 2.0
        hist = []

    k = K()
    K.gain = x
    k.hist.append(x)
    return k.gain * sum(k.hist)


s3 = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])


v3 = np.array([0.5, 1.5, 2.2])


rg = np.random.default_rng(0)


# Each is right inside `with cr.adopt(this module):`.
PROGRAMS = [
    ("from_imports", from_imports, (0.7,)),
    ("adaptive_simpson", adaptive_simpson, (0.1, 1.2)),
    ("romberg", romberg, (0.7,)),
    ("secant", secant, (1.2,)),
    ("regula_falsi", regula_falsi, (2.0,)),
    ("fixed_point", fixed_point, (0.8,)),
    ("colebrook_iter", colebrook_iter, (100000.0, 0.0001)),
    ("newton_system", newton_system, (2.0,)),
    ("gradient_descent", gradient_descent, (v3,)),
    ("power_iteration", power_iteration, (s3,)),
    ("qr_gs", qr_gs, (s3,)),
    ("cg", cg, (s3, v3)),
    ("fft_abs", fft_abs, (rg.normal(size=4),)),
    ("thomas", thomas, (np.array([0.5, 0.2]), v3 + 2, np.array([0.1, 0.3]), v3)),
    ("natural_spline", natural_spline, (np.array([1.0, 2.0, 0.5, 3.0]), 1.3)),
    ("building", building, (np.array([0.1, 0.2]), np.array([0.5, 1.2]), 10.0)),
    ("nbody", nbody, (rg.normal(size=(3, 2)), v3)),
    ("gen_euler", gen_euler, (0.8,)),
    ("dijkstra", dijkstra, (np.array([1.0, 0.5, 0.3, 2.0]),)),
    ("monte_carlo", monte_carlo, (0.1, 0.3)),
    ("gbm_paths", gbm_paths, (1.0, 0.1, 0.3)),
    ("random_uniform_own", random_uniform_own, (1.2,)),
    ("markov", markov, (0.3,)),
    ("hmm_forward", hmm_forward, (0.6, 0.7)),
    ("garch", garch, (0.1, 0.2, 0.6, v3)),
    ("arima_res", arima_res, (0.5, 0.2, v3)),
    ("kmeans_step", kmeans_step, (rg.normal(size=(6, 2)), rg.normal(size=(2, 2)))),
    ("logistic_fit", logistic_fit, (rg.normal(size=(6, 2)), np.array([1.0, 0, 1, 0, 1, 1]))),
    ("pca", pca, (rg.normal(size=(6, 2)),)),
    ("ewma", ewma, (v3, 0.3)),
    ("rolling", rolling, (v3,)),
    ("rotations", rotations, (0.1, 0.2, 0.3)),
    ("dh_arm", dh_arm, (v3,)),
    ("haversine", haversine, (48.0, 2.0, 45.0, 5.0)),
    ("polygon", polygon, (np.array([[0.0, 0], [1, 0.1], [0.8, 1]]),)),
    ("mandel", mandel, (-0.5,)),
    ("impedance", impedance, (10.0, 10.0, 10.0)),
    ("abcd", abcd, (0.3, 1.2)),
    ("antoine", antoine, (80.0,)),
    ("rachford", rachford, (np.array([0.5, 0.5]), np.array([2.0, 0.4]))),
    ("cstr", cstr, (0.8, 1.2)),
    ("pr_eos", pr_eos, (250.0, 2000000.0)),
    ("beam_fe", beam_fe, (2.0, 1.0)),
    ("wave1d", wave1d, (0.5,)),
    ("lbm", lbm, (0.8,)),
    ("ising_mf", ising_mf, (0.8,)),
    ("integrate_erf", integrate_erf, (0.8,)),
    ("wrapper_deco", wrapper_deco, (1.2,)),
    ("ctxt", ctxt, (1.2,)),
    ("ternary_clip", ternary_clip, (np.array([-0.5, 0.4, 1.3]),)),
    ("table_lookup", table_lookup, (1.2,)),
    ("bilinear", bilinear, (rg.normal(size=(3, 3)), 0.4, 1.2)),
    ("accumulate_outer", accumulate_outer, (rg.normal(size=(4, 2)),)),
    ("batch_dot", batch_dot, (rg.normal(size=(2, 2, 2)),)),
    ("fancy_set", fancy_set, (v3,)),
    ("ix_add", ix_add, (np.array([1.0, 2.0]),)),
    ("pid_class_attr", pid_class_attr, (1.2,)),
]

REFUSED = []
