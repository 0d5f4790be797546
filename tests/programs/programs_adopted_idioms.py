"""Idioms that want plain numbers (float, math, buffers, dtypes), which run when adopted."""

# ruff: noqa: N806 (programs as users wrote them)

import bisect as bs
import cmath
import functools
import itertools
import math
import operator
from collections import defaultdict, deque
from dataclasses import asdict, dataclass, replace

import numpy as np


def float_cast(x):
    return float(x[0]) * float(np.sum(x**2))


def math_on_array_item(x):
    return sum(math.exp(v) * math.sin(v) for v in x)


def fsum(x):
    return math.fsum(v * v for v in x) + math.prod(x) + math.dist(x, [0.0, 0.0, 0.0])


def vectorized(x):
    f = np.vectorize(lambda t: t**2 if t > 0 else -t)
    return f(x)


def vec_otypes(x):
    f = np.vectorize(lambda t: math.exp(-t) if t > 0 else 0.0, otypes=[float])
    return f(x)


def array_dtype(x):
    return np.array(
        [[math.cos(x), -math.sin(x)], [math.sin(x), math.cos(x)]], dtype=np.float64
    ) @ np.array([1.0, 2.0])


def matrix_class(x):
    m = np.matrix([[x, 1.0], [2.0, x**2]])
    return (m * m).sum()


def empty_fill(x):
    y = np.empty((3, 2))
    y[:, 0] = x
    y[:, 1] = x**2
    y[1] *= 2
    return y


def int_array(x):
    y = np.array([1, 2, 3])
    y = y * x[0]
    z = np.arange(3)
    return y + z ** x[1]


def full_fill(x):
    y = np.full(4, 2.0)
    y[1:3] += x
    y[y > 3] = 0.5
    return y


def ones_outer(x):
    y = np.ones((3, 3))
    np.fill_diagonal(y, x)
    return np.linalg.det(y) + np.trace(y)


def put_at(x):
    y = np.zeros(4)
    np.add.at(y, [0, 1, 1], x)
    np.put(y, [3], x[0])
    return y


def bincnt(x):
    return np.bincount([0, 1, 1], weights=x, minlength=4)


def out_arg(x):
    y = np.empty(3)
    np.multiply(x, 2.0, out=y)
    np.sin(y, out=y)
    return y


def copyto(x):
    y = np.zeros(3)
    np.copyto(y, x)
    y[::-1] += x
    return y


def hist_state(x):
    h = deque(maxlen=3)
    out = []
    for v in x:
        h.append(v)
        out.append(sum(h) / len(h))
    return out


def dict_state(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return (d[0], d[1])


def sorted_vals(x):
    s = sorted(x)
    return s[0] + 2 * s[-1] + np.median(x) + np.percentile(x, 30) + max(x) - min(x)


def bisect_table(x):
    t = [0.0, 1.0, 2.0, 3.0]
    f = [0.0, 1.0, 4.0, 9.0]
    i = bs.bisect_right(t, x) - 1
    return f[i] + (x - t[i]) * (f[i + 1] - f[i])


def npinterp(x):
    return np.interp(x, [0.0, 1.0, 2.0], [0.0, 2.0, 3.0]) + np.interp(
        0.5, [0.0, 1.0], np.stack([x, x])
    )


def searchs(x):
    i = np.searchsorted([0.0, 1.0, 2.0], x)
    return x * i + np.floor(x) + x % 0.7


def isnan_check(x):
    if math.isnan(x) or math.isinf(x) or (not np.isfinite(x)):
        return 0.0
    return math.copysign(x, -1) + math.fabs(x) + math.floor(x) + math.fmod(x, 0.3)


def isinst(x):
    if isinstance(x, float):
        return x * 2
    if isinstance(x, (list, np.ndarray)):
        return np.asarray(x).sum()
    raise TypeError(type(x))


def isinst_arr(x):
    if isinstance(x, np.ndarray):
        return x.sum() * 3
    raise TypeError(type(x))


def isscalar(x):
    return x**2 if np.isscalar(x) else np.sum(x)


def isscalar_ndim(x):
    x = np.asarray(x)
    return np.sqrt(x) if x.ndim == 0 else x.sum()


def asarray_float(x):
    x = np.asarray(x, dtype=float)
    return x.reshape(-1).sum() + x.size + np.atleast_1d(x)[0]


def zero_d(x):
    z = np.asarray(x)
    m = z > 0
    y = np.zeros_like(z)
    y[m] = np.log(z[m])
    return y


def numbers_abc(x):
    import numbers

    return 2 * x if isinstance(x, numbers.Real) else x * 0.0


def series(x):
    term, total, n = (1.0, 1.0, 1)
    while abs(term) > 1e-16:
        term *= x / n
        total += term
        n += 1
    return total


def complexz(w):
    z = complex(1.0, w)
    h = 1 / (1 + 1j * w * z)
    return (abs(h), cmath.phase(h), h.real)


def cexp(t):
    return cmath.exp(1j * t).imag + np.exp(1j * t).real + abs(cmath.sqrt(t - 3))


def polyroots(c):
    return np.sort(np.roots(c))


def eigs(a):
    w, v = np.linalg.eigh(a)
    return (w, abs(v[0]))


def svdlow(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return u[:, :1] * s[:1] @ vt[:1]


def lstsq(a, b):
    x, *_ = np.linalg.lstsq(a, b, rcond=None)
    return x


def mgrid(x):
    X, Y = np.meshgrid(x, np.linspace(0, 1, 3))
    return (X * Y + X**2).sum(axis=0)


def linsp(a, b):
    return (np.linspace(a, b, 4) ** 2, np.logspace(a, b, 3), np.arange(0, 1, 0.25) * a)


def where_sel(x):
    return (
        np.where(x > 0, np.sqrt(np.abs(x)), x**2),
        np.select([x < 0, x > 1], [-x, x**2], 0.5),
        np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t**3]),
    )


def einsums(a):
    return (np.einsum("ij,kj->ik", a, a), np.tensordot(a, a, 1), np.kron(a, a)[0])


def grads(y):
    return (np.gradient(y, 0.1), np.diff(y), np.trapezoid(y, dx=0.1), np.cumsum(y), np.cumprod(y))


def kalman(z, q, r):
    x = np.array([0.0, 1.0])
    P = np.eye(2)
    F = np.array([[1.0, 1.0], [0, 1.0]])
    H = np.array([[1.0, 0.0]])
    xs = np.zeros((len(z), 2))
    for k in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        S = H @ P @ H.T + r
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (z[k] - H @ x)
        P = (np.eye(2) - K @ H) @ P
        xs[k, :] = x
    return xs


class PID:
    def __init__(self, kp, ki, kd):
        self.kp, self.ki, self.kd = (kp, ki, kd)
        self.i = 0.0
        self.last = None

    def __call__(self, e, dt=0.1):
        self.i += e * dt
        d = 0.0 if self.last is None else (e - self.last) / dt
        self.last = e
        return min(max(self.kp * e + self.ki * self.i + self.kd * d, -10.0), 10.0)


def pid_loop(kp, ki, kd):
    c = PID(kp, ki, kd)
    y = 0.0
    cost = 0.0
    for _ in range(30):
        e = 1.0 - y
        y += 0.1 * (c(e) - y)
        cost += e * e * 0.1
    return cost


@dataclass(frozen=True)
class State:
    s: float
    i: float
    r: float = 0.0

    def step(self, b, g):
        n = b * self.s * self.i
        return replace(self, s=self.s - n, i=self.i + n - g * self.i, r=self.r + g * self.i)


def sir(b, g):
    st = State(0.99, 0.01)
    h = []
    for _ in range(20):
        st = st.step(b, g)
        h.append(asdict(st))
    return [d["i"] for d in h]


@functools.cache
def _cached(n):
    return math.factorial(n)


def taylor(x):
    return sum(x**n / _cached(n) for n in range(8))


def conv2d(img, k):
    h, w = img.shape
    out = np.zeros((h - 1, w - 1))
    for i in range(h - 1):
        for j in range(w - 1):
            out[i, j] = np.sum(img[i : i + 2, j : j + 2] * k)
    return out


def dtw(a, b):
    D = np.full((len(a) + 1, len(b) + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i, j] = (a[i - 1] - b[j - 1]) ** 2 + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[-1, -1]


def viterbi(lp):
    T = np.zeros((4, 2))
    T[0] = lp[0]
    for t in range(1, 4):
        for s in range(2):
            T[t, s] = lp[t, s] + np.max(T[t - 1] + np.log([[0.7, 0.3], [0.4, 0.6]])[:, s])
    return T.max(axis=1)


def masked(x):
    m = np.ma.masked_where(np.array([True, False, False]), x)
    return m.sum()


def objlist(x):
    parts = [{"m": v, "p": np.array([v, v**2])} for v in x]
    return sum(p["m"] * p["p"] for p in parts)


def genexp_arr(x):
    return np.fromiter((v**2 for v in x), dtype=float).sum() + np.array([v**3 for v in x]).sum()


def apply_axis(x):
    return (
        np.apply_along_axis(lambda r: r.sum() * r[0], 1, x),
        np.fromfunction(lambda i, j: i * x[0, 0] + j, (2, 2)),
    )


def r_c(x):
    return (
        np.r_[x, 1.0, x[::-1]],
        np.c_[x, x**2],
        np.hstack((x, [1.0, 2.0])),
        np.append(x, 3.0),
        np.insert(x, 1, 9.0),
        np.delete(x, 0),
        np.tile(x, 2),
        np.roll(x, 1),
    )


def stringkey(x):
    p = dict(zip("abc", x))
    return p["a"] * p["b"] + eval("a*c", {}, p)


def ufred(x):
    return (
        np.add.reduce(x)
        + np.multiply.accumulate(x)[-1]
        + np.outer(x, x).sum()
        + np.maximum.reduce(x)
    )


def in_place_arg(x):
    y = x.astype(float)
    y -= y.mean()
    y /= y.std(ddof=1)
    return y


def inplace_rows(a):
    a = a.copy()
    a[0], a[1] = (a[1].copy(), a[0].copy())
    a[:, 0] /= 2
    a.sort(axis=1)
    return a


def tolist(x):
    items = x.tolist()
    return items[0] * items[1] + sum(items)


def item(x):
    return x[0].item() * 2 + x.item(1)


def unpackf(x):
    (a, b), c = (x[:2], x[2])
    a, *rest = x
    return a * b * c + sum(rest)


def oper(x):
    return (
        functools.reduce(operator.mul, x)
        + operator.itemgetter(1)(x)
        + sum(itertools.accumulate(x))
        + sum(map(operator.mul, x, x))
    )


v3 = np.array([0.5, 1.5, 2.2])


m2 = np.array([[2.0, 0.3], [0.3, 1.0]])


# Each is right inside `with cr.adopt(this module):`.
PROGRAMS = [
    ("float_cast", float_cast, (v3,)),
    ("math_on_array_item", math_on_array_item, (v3,)),
    ("fsum", fsum, (v3,)),
    ("vectorized", vectorized, (np.array([0.5, -1.5]),)),
    ("vec_otypes", vec_otypes, (np.array([0.5, -1.5]),)),
    ("array_dtype", array_dtype, (0.4,)),
    ("matrix_class", matrix_class, (0.4,)),
    ("empty_fill", empty_fill, (v3,)),
    ("int_array", int_array, (v3,)),
    ("full_fill", full_fill, (np.array([0.2, 1.4]),)),
    ("ones_outer", ones_outer, (v3,)),
    ("put_at", put_at, (v3,)),
    ("bincnt", bincnt, (v3,)),
    ("out_arg", out_arg, (v3,)),
    ("copyto", copyto, (v3,)),
    ("hist_state", hist_state, (v3,)),
    ("dict_state", dict_state, (v3,)),
    ("sorted_vals", sorted_vals, (v3,)),
    ("bisect_table", bisect_table, (1.3,)),
    ("npinterp", npinterp, (0.7,)),
    ("searchs", searchs, (1.3,)),
    ("isnan_check", isnan_check, (1.3,)),
    ("isinst", isinst, (1.3,)),
    ("isinst_arr", isinst_arr, (v3,)),
    ("isscalar", isscalar, (1.3,)),
    ("isscalar_ndim", isscalar_ndim, (1.3,)),
    ("asarray_float", asarray_float, (1.3,)),
    ("zero_d", zero_d, (1.3,)),
    ("numbers_abc", numbers_abc, (1.3,)),
    ("series", series, (1.3,)),
    ("complexz", complexz, (1.3,)),
    ("cexp", cexp, (1.3,)),
    ("polyroots", polyroots, (np.array([1.0, -6.0, 11.0, -6.0]),)),
    ("eigs", eigs, (m2,)),
    ("svdlow", svdlow, (np.array([[2.0, 0.3], [0.4, 1.0], [0.1, 0.5]]),)),
    ("lstsq", lstsq, (np.array([[2.0, 0.3], [0.4, 1.0], [0.1, 0.5]]), v3)),
    ("mgrid", mgrid, (v3,)),
    ("linsp", linsp, (0.2, 1.3)),
    ("where_sel", where_sel, (np.array([-0.5, 0.5, 2.0]),)),
    ("einsums", einsums, (m2,)),
    ("grads", grads, (v3,)),
    ("kalman", kalman, (v3, 0.1, 0.5)),
    ("pid_loop", pid_loop, (2.0, 0.5, 0.1)),
    ("sir", sir, (0.5, 0.1)),
    ("taylor", taylor, (0.7,)),
    ("conv2d", conv2d, (np.arange(9.0).reshape(3, 3), m2)),
    ("dtw", dtw, (v3, np.array([0.4, 1.9]))),
    ("viterbi", viterbi, (-(np.arange(8.0).reshape(4, 2) ** 1.2) / 3 - 0.3,)),
    ("masked", masked, (v3,)),
    ("objlist", objlist, (v3,)),
    ("genexp_arr", genexp_arr, (v3,)),
    ("apply_axis", apply_axis, (m2,)),
    ("r_c", r_c, (v3,)),
    ("stringkey", stringkey, (v3,)),
    ("ufred", ufred, (v3,)),
    ("in_place_arg", in_place_arg, (v3,)),
    ("inplace_rows", inplace_rows, (m2,)),
    ("tolist", tolist, (v3,)),
    ("item", item, (v3,)),
    ("unpackf", unpackf, (v3,)),
    ("oper", oper, (v3,)),
]

REFUSED = []
