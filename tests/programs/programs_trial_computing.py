"""Machine learning, epidemiology, numerics and optimisation programs as people have them."""

import contextlib
import itertools
from collections import defaultdict, deque

import numpy as np
import scipy
from scipy import special


def rng(seed=0):
    return np.random.default_rng(seed)


def init_mlp(sizes, seed):
    g = rng(seed)
    return [
        {"w": g.normal(size=(m, n)) * 0.5, "b": np.zeros(n)} for m, n in itertools.pairwise(sizes)
    ]


def mlp_cross_entropy(params, x, labels=(0, 1, 2, 3, 1, 0)):
    h = x
    for layer in params[:-1]:
        h = np.maximum(0, h @ layer["w"] + layer["b"])
    logits = h @ params[-1]["w"] + params[-1]["b"]
    logits = logits - logits.max(axis=1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = -logp[np.arange(len(labels)), list(labels)].mean()
    l2 = sum((layer["w"] ** 2).sum() for layer in params)
    return loss + 1e-3 * l2


def conv2d_im2col(x, w):
    c, h, wd = x.shape
    f, _, kh, kw = w.shape
    oh, ow = h - kh + 1, wd - kw + 1
    cols = np.empty((c * kh * kw, oh * ow))
    for i in range(oh):
        for j in range(ow):
            cols[:, i * ow + j] = x[:, i : i + kh, j : j + kw].ravel()
    out = (w.reshape(f, -1) @ cols).reshape(f, oh, ow)
    pooled = np.max(out[:, :2, :2].reshape(f, -1), axis=1)
    return out, pooled


class LSTMCell:
    def __init__(self, w, b):
        self.w = w
        self.b = b
        self.hidden = b.shape[0] // 4

    def step(self, x, state):
        h, c = state
        z = np.concatenate([x, h]) @ self.w + self.b
        i, f, o, g = np.split(z, 4)
        c = special.expit(f) * c + special.expit(i) * np.tanh(g)
        h = special.expit(o) * np.tanh(c)
        return h, c


def lstm_sequence(w, b, xs):
    cell = LSTMCell(w, b)
    state = (np.zeros(cell.hidden), np.zeros(cell.hidden))
    outputs = []
    for x in xs:
        state = cell.step(x, state)
        outputs.append(state[0])
    return np.vstack(outputs)


def attention(x, w):
    q, k, v = x @ w
    scores = q @ k.T / np.sqrt(q.shape[-1])
    mask = np.tril(np.ones_like(scores, dtype=bool))
    scores = np.where(mask, scores, -np.inf)
    p = special.softmax(scores, axis=-1)
    y = p @ v
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
    return 0.5 * y * (1 + special.erf(y / np.sqrt(2)))


def tsne_kl(y):
    g = rng(9)
    p = g.random((8, 8))
    p = p + p.T
    np.fill_diagonal(p, 0)
    p /= p.sum()
    d = np.square(y).sum(1)[:, None] + np.square(y).sum(1) - 2 * y @ y.T
    num = 1 / (1 + d)
    num[range(8), range(8)] = 0
    q = np.maximum(num / num.sum(), 1e-12)
    p = np.maximum(p, 1e-12)
    return np.sum(p * np.log(p / q))


def kmeans_inertia(centres, x, iters=3):
    for _ in range(iters):
        dist = ((x[:, None] - centres[None]) ** 2).sum(-1)
        label = dist.argmin(1)
        new = centres.copy()
        for k in range(len(centres)):
            members = x[label == k]
            if members.size:
                new[k] = members.mean(axis=0)
        centres = 0.5 * (centres + new)
    return np.min(((x[:, None] - centres[None]) ** 2).sum(-1), axis=1).sum()


def svm_hinge(w, x, c=1.0):
    y = np.where(np.arange(10) % 2, 1, -1)
    margins = 1 - y * np.dot(x, w)
    active = margins > 0
    return 0.5 * np.inner(w, w) + c * np.sum(margins, where=active)


def adam_bias_corrected(params, x):
    w, lr = params["w"], params["lr"]
    y = x @ np.array([1.0, -1, 0.5, 2])
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, 6):
        g = 2 * x.T @ (x @ w - y) / len(y)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        mhat = m / (1 - 0.9**t)
        vhat = v / (1 - 0.99**t)
        w = w - lr * mhat / (np.sqrt(vhat) + 1e-8)
    return np.mean((x @ w - y) ** 2)


def sinkhorn_logsumexp(x, y, eps):
    cost = np.sum(np.abs(x[:, None, :] - y[None, :, :]) ** 2, -1)
    a = np.full(4, 0.25)
    f = np.zeros(4)
    g = np.zeros(4)
    for _ in range(15):
        f = eps * (np.log(a) - special.logsumexp((g[None, :] - cost) / eps, axis=1))
        g = eps * (np.log(a) - special.logsumexp((f[:, None] - cost) / eps, axis=0))
    plan = np.exp((f[:, None] + g - cost) / eps)
    return np.vdot(plan, cost)


def seir_deaths(params, days=20):
    beta, sigma, gamma = params
    s, e, i, r = 0.99, 0.0, 0.01, 0.0
    out = np.zeros((days, 4))
    for d in range(days):
        new_e = beta * s * i
        new_i = sigma * e
        new_r = gamma * i
        s, e, i, r = s - new_e, e + new_e - new_i, i + new_i - new_r, r + new_r
        out[d] = s, e, i, r
    return out[::4, 2]


def next_generation_r0(contact, pop):
    k = contact * pop[:, None] / pop.sum()
    eig = np.linalg.eigvals(k)
    r0 = np.max(np.abs(eig))
    v = np.ones(3)
    for _ in range(60):
        v = k @ v
        v /= np.linalg.norm(v)
    return r0, v


def renewal_equation(params, imports):
    r, mean = params
    tau = np.arange(1, 8)
    w = special.gammaincc(2.0, (tau - 1) * 2 / mean) - special.gammaincc(2.0, tau * 2 / mean)
    w = w / w.sum()
    inc = np.zeros(15)
    for t in range(15):
        past = inc[max(0, t - 7) : t][::-1]
        inc[t] = imports[t] + r * np.dot(past, w[: len(past)])
    return np.log1p(inc)


def simpson_adaptive(p):
    def f(x):
        return np.exp(-p[0] * x) * np.sin(p[1] * x**2)

    def simpson(a, b):
        return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))

    def recurse(a, b, tol, whole):
        c = (a + b) / 2
        left, right = simpson(a, c), simpson(c, b)
        delta = left + right - whole
        if abs(delta) <= 15 * tol:
            return left + right + delta / 15
        return recurse(a, c, tol / 2, left) + recurse(c, b, tol / 2, right)

    return recurse(0.0, 2.0, 1e-6, simpson(0.0, 2.0))


def rosenbrock_ackley(x):
    rosen = sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)
    ackley = -20 * np.exp(-0.2 * np.sqrt(0.5 * np.mean(x**2))) - np.exp(
        np.mean(np.cos(2 * np.pi * x))
    )
    return rosen + ackley + np.e + 20


def conjugate_gradient_in_place(m, b):
    a = m @ m.T + 3 * np.eye(5)
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(5):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        if np.sqrt(new) < 1e-12:
            break
        p = r + (new / rs) * p
        rs = new
    return x


def lu_in_place(a):
    a = np.array(a, dtype=float, copy=True)
    n = a.shape[0]
    perm = np.arange(n)
    for k in range(n - 1):
        piv = k + np.argmax(np.abs(a[k:, k]))
        if piv != k:
            a[[k, piv]] = a[[piv, k]]
            perm[[k, piv]] = perm[[piv, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.log(np.abs(np.diag(a))).sum() + np.tril(a, -1).sum()


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            r[i, j] = q[:, i] @ a[:, j]
            v -= r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    np.testing.assert_allclose(q @ r, a, atol=1e-10)
    return q, r


def natural_spline(xk, yk, x):
    n = len(xk)
    h = np.diff(xk)
    a = np.eye(n)
    rhs = np.zeros(n)
    for i in range(1, n - 1):
        a[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 3 * ((yk[i + 1] - yk[i]) / h[i] - (yk[i] - yk[i - 1]) / h[i - 1])
    c = np.linalg.solve(a, rhs)
    b = np.diff(yk) / h - h * (2 * c[:-1] + c[1:]) / 3
    d = np.diff(c) / (3 * h)
    i = np.digitize(x, xk[1:-1])
    t = x - xk[i]
    return yk[i] + t * (b[i] + t * (c[i] + t * d[i]))


def haar_wavelet(x):
    out = np.copy(x)
    n = len(out)
    while n > 1:
        half = n // 2
        s = (out[0:n:2] + out[1:n:2]) / np.sqrt(2)
        d = (out[0:n:2] - out[1:n:2]) / np.sqrt(2)
        out[:half] = s
        out[half:n] = d
        n = half
    thr = 0.3
    return np.sign(out) * np.maximum(np.abs(out) - thr, 0)


def irls_huber(x, y3):
    y = np.tile(y3, 2)
    beta, *_ = np.linalg.lstsq(x, y, rcond=None)
    for _ in range(4):
        r = y - x @ beta
        s = np.abs(r)
        w = np.ones_like(r)
        big = s > 0.4
        w[big] = 0.4 / s[big]
        wx = x * w[:, None]
        beta = np.linalg.solve(x.T @ wx, wx.T @ y)
    return beta


def graph_shortest_path(w):
    edges = {(0, 1): w[0], (1, 3): w[1], (0, 2): w[2], (2, 3): w[3]}
    adj = defaultdict(list)
    for (u, v), c in edges.items():
        adj[u].append((v, c**2))
    dist = {0: 0.0}
    queue = deque([0])
    while queue:
        u = queue.popleft()
        for v, c in adj[u]:
            alt = dist[u] + c
            if v not in dist or alt < dist[v]:
                dist[v] = alt
                queue.append(v)
    return dist[3] + 0.1 * max(dist.values()) + min(w)


def apply_rows_and_vectorize(a):
    def normalise(row):
        return (row - row.min()) / (row.max() - row.min() + 0.1)

    soft = np.vectorize(lambda t: np.log1p(np.exp(t)) if t > 0.3 else t * t)
    rows = np.apply_along_axis(normalise, 1, a)
    return rows + soft(a)


def implicit_root(p):
    a, b = p

    def f(x):
        return x**3 + a * x - b

    try:
        x = 0.5
        for _ in range(60):
            step = f(x) / (3 * x**2 + a)
            x = x - step
            if np.abs(step) < 1e-15:
                break
    except ZeroDivisionError:
        return np.nan
    return x


def complex_continued_fraction(x):
    z = x[0] + 1j * x[1]
    b = [1.0, x[2], 2.0, 3.0]
    tail = 0j
    for coef in b[::-1]:
        tail = coef / (z + tail)
    poly = np.polyval([1, x[2], 0.5j], z)
    return np.array([tail.real, tail.imag, np.abs(poly), np.angle(poly)])


def batches(x, size):
    for start in range(0, len(x), size):
        yield x[start : start + size]


def streaming_moments(x):
    count, mean, m2 = 0, 0.0, 0.0
    for chunk in batches(x, 4):
        for v in chunk:
            count += 1
            delta = v - mean
            mean += delta / count
            m2 += delta * (v - mean)
    with contextlib.suppress(ZeroDivisionError):
        var = m2 / (count - 1)
    ewma = np.empty_like(x)
    ewma[0] = x[0]
    for i, v in enumerate(x[1:], 1):
        ewma[i] = 0.3 * v + 0.7 * ewma[i - 1]
    run = np.maximum.accumulate(x) - x
    assert isinstance(mean, float), f"mean is {type(mean)}"
    return mean, var, ewma, run.max()


def masked_array_stats(x):
    m = x > -0.5
    n = m.sum(axis=0)
    tot = np.sum(np.where(m, x, 0), axis=0)
    mean = np.divide(tot, n, out=np.zeros_like(tot), where=n > 0)
    y = np.where(m, x, np.nan)
    return mean + np.nanmean(y, axis=0) + np.nanstd(y, axis=0) + np.nanmax(y, axis=0)


def logs_and_counts(x):
    total = np.prod(1 + 0.1 * x)
    geo = np.exp(np.mean(np.log(np.abs(x))))
    uniq, inverse = np.unique(np.round(x), return_inverse=True)
    sums = np.zeros(len(uniq))
    np.add.at(sums, inverse, x)
    order = np.lexsort((x, np.round(x)))
    label = f"{total:.3f} {geo:8.2e} {x[0]:+.1f}"
    if not label:
        raise ValueError(label)
    return total + geo + (sums**2).sum() + (x[order] * np.arange(5)).sum()


def tensor_contractions(t, v):
    a = np.einsum("ijk,i->jk", t, v)
    b = np.tensordot(t, t, axes=([0, 1], [1, 0]))
    c = np.einsum("ij,jk,ki->", a, b, a, optimize=True)
    d = np.linalg.multi_dot([a, b, a.T])
    e = np.trace(d) + np.linalg.det(a) + np.linalg.norm(b, 2)
    return c + e + np.inner(v, v)


# (name, function, arguments); integers and strings are constants
PROGRAMS = [
    ("mlp_cross_entropy", mlp_cross_entropy, (init_mlp([3, 5, 4], 0), rng(1).normal(size=(6, 3)))),
    (
        "lstm_sequence",
        lstm_sequence,
        (rng(4).normal(size=(5, 12)) * 0.5, np.zeros(12), rng(5).normal(size=(4, 2))),
    ),
    ("tsne_kl", tsne_kl, (rng(8).normal(size=(8, 2)),)),
    ("kmeans_inertia", kmeans_inertia, (rng(10).normal(size=(3, 2)), rng(11).normal(size=(12, 2)))),
    ("svm_hinge", svm_hinge, (rng(12).normal(size=3), rng(13).normal(size=(10, 3)))),
    (
        "adam_bias_corrected",
        adam_bias_corrected,
        ({"w": rng(14).normal(size=4), "lr": 0.1}, rng(15).normal(size=(9, 4))),
    ),
    ("next_generation_r0", next_generation_r0, (rng(18).random((3, 3)), np.array([1.0, 2.0, 0.5]))),
    ("simpson_adaptive", simpson_adaptive, (np.array([0.8, 1.3]),)),
    ("rosenbrock_ackley", rosenbrock_ackley, (np.array([-1.2, 1.0, 0.7, 1.4]),)),
    (
        "conjugate_gradient_in_place",
        conjugate_gradient_in_place,
        (rng(20).normal(size=(5, 5)), rng(21).normal(size=5)),
    ),
    ("haar_wavelet", haar_wavelet, (rng(25).normal(size=8),)),
    ("irls_huber", irls_huber, (rng(26).normal(size=(6, 3)), np.array([1.0, 2.0, 0.5]))),
    ("graph_shortest_path", graph_shortest_path, (np.array([0.3, 1.1, 0.6, 0.9]),)),
    ("apply_rows_and_vectorize", apply_rows_and_vectorize, (rng(27).random((4, 3)),)),
    ("implicit_root", implicit_root, (np.array([2.0, 0.5]),)),
    ("complex_continued_fraction", complex_continued_fraction, (np.array([0.7, -0.4, 1.3]),)),
    ("streaming_moments", streaming_moments, (rng(28).normal(size=11),)),
    ("masked_array_stats", masked_array_stats, (rng(29).normal(size=(3, 4)),)),
    (
        "tensor_contractions",
        tensor_contractions,
        (rng(31).normal(size=(3, 3, 3)), rng(32).normal(size=3)),
    ),
]
if np.lib.NumpyVersion(scipy.__version__) >= "1.16.0":  # before, softmax takes no objects
    _points = rng(6).normal(size=(5, 4)), rng(7).normal(size=(3, 4, 4)) * 0.5
    PROGRAMS.append(("attention", attention, _points))

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "conv2d_im2col",
        conv2d_im2col,
        (rng(2).normal(size=(2, 5, 5)), rng(3).normal(size=(3, 2, 3, 3))),
        "LostDerivativeError",
        "like=x",
    ),
    ("seir_deaths", seir_deaths, (np.array([0.35, 0.2, 0.1]),), "LostDerivativeError", "like=x"),
    (
        "renewal_equation",
        renewal_equation,
        (np.array([0.4, 3.0]), rng(19).random(15) * 10),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "lu_in_place",
        lu_in_place,
        (rng(22).normal(size=(4, 4)) + 3 * np.eye(4),),
        "LostDerivativeError",
        "cr.array",
    ),
    ("gram_schmidt", gram_schmidt, (rng(23).normal(size=(4, 3)),), "LostDerivativeError", "like=x"),
    (
        "natural_spline",
        natural_spline,
        (np.array([0.0, 1.0, 2.5, 4.0]), rng(24).normal(size=4), np.array([0.3, 1.7, 3.1])),
        "LostDerivativeError",
        "like=x",
    ),
    ("logs_and_counts", logs_and_counts, (rng(30).normal(size=5),), "MutationError", "like=x"),
    (
        "sinkhorn_logsumexp",
        sinkhorn_logsumexp,
        (rng(16).normal(size=(4, 3)), rng(17).normal(size=(4, 3)), 0.2),
        "LostDerivativeError",
        r"(?s)scipy\.special\.logsumexp met .*cr\.(adopt|primitive)",
    ),
]
