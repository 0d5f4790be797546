"""Programs of fields with idioms of their own: kinetics, optics, insurance, hydrology, robotics."""

# ruff: noqa: N803, N806 (programs as users wrote them)

import enum
import itertools
import math
from collections import defaultdict, deque
from functools import reduce

import numpy as np
from scipy import linalg

SPECIES = ["A", "B", "C", "D"]
REACTIONS = [
    ({"A": 1}, {"B": 1}, "k1"),
    ({"B": 2}, {"C": 1, "B": 1}, "k2"),
    ({"B": 1, "C": 1}, {"A": 1, "D": 1}, "k3"),
]


def kinetics(rates, c):
    """Mass action, with stoichiometry in dicts, by Runge and Kutta."""

    def rhs(c):
        conc, dc = dict(zip(SPECIES, c)), defaultdict(float)
        for left, right, k in REACTIONS:
            v = rates[k]
            for s, n in left.items():
                v = v * conc[s] ** n
            for s, n in left.items():
                dc[s] -= n * v
            for s, n in right.items():
                dc[s] += n * v
        return np.array([dc[s] for s in SPECIES])

    for _ in range(4):
        k1 = rhs(c)
        k2 = rhs(c + 0.05 * k1)
        c = c + 0.1 * k2
    return dict(zip(SPECIES, c))


def fresnel(theta, n, kappa):
    """Reflection off an absorbing medium."""
    N = n + 1j * kappa
    ci = np.cos(theta)
    ct = np.sqrt(1 - (np.sin(theta) / N) ** 2 + 0j)
    rs = (ci - N * ct) / (ci + N * ct)
    rp = (N * ci - ct) / (N * ci + ct)
    return np.stack([np.abs(rs) ** 2, np.abs(rp) ** 2, np.angle(rp / rs)])


def thin_film(n, d, lam):
    M = np.eye(2, dtype=complex)
    for ni, di in zip(n, d):
        delta = 2 * np.pi * ni * di / lam
        M = M @ np.array(
            [
                [np.cos(delta), 1j * np.sin(delta) / ni],
                [1j * ni * np.sin(delta), np.cos(delta)],
            ]
        )
    B, C = M @ np.array([1, 1.52])
    r = (B - C) / (B + C)
    return float(abs(r) ** 2)


def annuity(q, i):
    """Reserves of a life insurance, by the recursion of a table."""
    p = np.cumprod(1 - np.insert(q, 0, 0.0))[:-1]
    v = 1 / (1 + i)
    discount = v ** np.arange(len(q))
    premium = (p * q * discount * v).sum() / (p * discount).sum()
    reserves, V = np.empty(len(q)), 0.0
    for t in range(len(q)):
        V = ((V + premium) * (1 + i) - q[t]) / (1 - q[t])
        reserves[t] = V
    return premium, reserves


def patches(state, mix, gamma):
    """An epidemic in cities, each of which is a dict."""
    state, hist = [dict(p) for p in state], []
    for _ in range(4):
        forces = [
            sum(mix[i, j] * p["I"] / (p["S"] + p["I"] + p["R"]) for j, p in enumerate(state))
            for i in range(len(state))
        ]
        for p, force in zip(state, forces):
            infected, recovered = p["beta"] * force * p["S"], gamma * p["I"]
            p["S"] -= infected
            p["I"] += infected - recovered
            p["R"] += recovered
        hist.append([p["I"] for p in state])
    return np.array(hist).max(axis=0)


def muskingum(inflow, K, x):
    D = 2 * K * (1 - x) + 1
    c0, c1, c2 = (1 - 2 * K * x) / D, (1 + 2 * K * x) / D, (2 * K * (1 - x) - 1) / D
    out = np.zeros_like(inflow)
    out[0] = inflow[0]
    for i in range(1, len(inflow)):
        out[i] = c0 * inflow[i] + c1 * inflow[i - 1] + c2 * out[i - 1]
    return out


class Link:
    def __init__(self, a, alpha, d):
        self.a, self.alpha, self.d = a, alpha, d

    def T(self, q):
        ct, st, ca, sa = np.cos(q), np.sin(q), np.cos(self.alpha), np.sin(self.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0, sa, ca, self.d],
                [0, 0, 0, 1],
            ]
        )


ARM = [Link(0.0, np.pi / 2, 0.3), Link(0.5, 0.0, 0.0), Link(0.4, 0.0, 0.1)]


def arm(q):
    T = reduce(np.matmul, (link.T(qi) for link, qi in zip(ARM, q)))
    R = T[:3, :3]
    return np.r_[T[:3, 3], np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0])]


def erlang(lam, mu):
    a, c = lam / mu, 3
    s = sum(a**k / math.factorial(k) for k in range(c))
    top = a**c / math.factorial(c) / (1 - a / c)
    waits = top / (s + top)
    return {"P": waits, "W": waits / (c * mu - lam)}


def lindley(between, service):
    waits = itertools.accumulate(
        zip(between, service), lambda w, p: max(w + p[1] - p[0], 0.0), initial=0.0
    )
    return np.mean(list(waits))


TREE, TIPS = (("a", "b"), ("c", "d")), {"a": 0, "b": 0, "c": 1, "d": 3}


def felsenstein(lengths, kappa):
    """Likelihood of a tree, by recursion to its tips."""
    Q = np.full((4, 4), 0.25)
    for i, j in [(0, 2), (2, 0), (1, 3), (3, 1)]:
        Q[i, j] *= kappa
    Q[np.diag_indices(4)] = 0
    Q[np.diag_indices(4)] = -Q.sum(1)

    def partials(node):
        if isinstance(node, str):
            L = np.zeros(4)
            L[TIPS[node]] = 1
            return node, L
        (n1, l1), (n2, l2) = map(partials, node)
        return n1 + n2, (linalg.expm(Q * lengths[n1]) @ l1) * (linalg.expm(Q * lengths[n2]) @ l2)

    return np.log(partials(TREE)[1] @ np.full(4, 0.25))


def delay(x, feedback):
    line, out = deque([0.0] * 4, maxlen=4), []
    for s in x:
        y = s + feedback * line[0]
        line.append(y)
        out.append(y)
    return np.asarray(out)


class State(enum.Enum):
    HEAT = 1
    COOL = 2


def thermostat(T, k, power):
    state, log = State.HEAT, {State.HEAT: 0.0, State.COOL: 0.0}
    for _ in range(12):
        match state:
            case State.HEAT:
                T = T + power - k * (T - 15) * 0.5
                state = State.COOL if T > 20 else state
            case State.COOL:
                T = T - k * (T - 15) * 0.5
                state = State.HEAT if T < 18 else state
        log[state] += T
    return T, log[State.HEAT] / 30


def geodetic(p):
    a, e2 = 6378.137, 6.69437999014e-3
    x, y, z = p
    r = np.hypot(x, y)
    lat = np.arctan2(z, r * (1 - e2))
    for _ in range(4):
        N = a / np.sqrt(1 - e2 * np.sin(lat) ** 2)
        h = r / np.cos(lat) - N
        lat = np.arctan2(z, r * (1 - e2 * N / (N + h)))
    return np.rad2deg(lat), np.rad2deg(np.arctan2(y, x)), h


CITIES = [
    {"S": 9.9, "I": 0.1, "R": 0.0, "beta": 0.3},
    {"S": 4.9, "I": 0.1, "R": 0.0, "beta": 0.2},
]
LENGTHS = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.15, "ab": 0.1, "cd": 0.2}
PROGRAMS = [
    ("kinetics", kinetics, ({"k1": 0.4, "k2": 0.9, "k3": 0.2}, np.array([1.0, 0.2, 0.1, 0.05]))),
    ("fresnel", fresnel, (np.linspace(0.1, 1.4, 3), 1.5, 0.3)),
    ("thin_film", thin_film, (np.array([1.38, 2.1]), np.array([0.1, 0.065]), 0.55)),
    ("annuity", annuity, (np.array([0.01, 0.02, 0.05, 0.1]), 0.03)),
    ("patches", patches, (CITIES, np.array([[0.9, 0.1], [0.2, 0.8]]), 0.1)),
    ("muskingum", muskingum, (np.array([1.0, 2, 5, 6, 5.5, 4.5]), 2.3, 0.15)),
    ("arm", arm, (np.array([0.3, -0.5, 0.8]),)),
    ("erlang", erlang, (3.0, 1.4)),
    ("lindley", lindley, (np.array([0.5, 1.2, 0.3, 0.9]), np.array([0.7, 0.4, 1.0, 0.8]))),
    ("felsenstein", felsenstein, (LENGTHS, 2.0)),
    ("delay", delay, (np.linspace(0, 1, 9), 0.5)),
    ("thermostat", thermostat, (18.0, 0.5, 2.0)),
    ("geodetic", geodetic, (np.array([4194.5118, 1162.7892, 4647.362]),)),
]
REFUSED: list = []
