"""Machine learning: layers, losses, embeddings, kernels. Plain NumPy, as people write it."""

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy import special

rng = np.random.default_rng(1)


def softmax_cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_probs[np.arange(len(labels)), labels].mean()


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def lstm_cell(x, h, c, w, b):
    gates = np.concatenate([x, h]) @ w + b
    i, f, o, g = np.split(gates, 4)

    def sigmoid(a):
        return 1.0 / (1.0 + np.exp(-a))

    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, c


def conv2d_loops(image, kernel):
    rows, cols = image.shape
    kr, kc = kernel.shape
    out = np.zeros_like(image)[: rows - kr + 1, : cols - kc + 1]
    for i in range(rows - kr + 1):
        for j in range(cols - kc + 1):
            out[i, j] = np.sum(image[i : i + kr, j : j + kc] * kernel)
    return np.maximum(out, 0)


def conv2d_windows(image, kernel):
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    return np.einsum("ijkl,kl->ij", windows, kernel)


def im2col_conv(image, filters):
    k = filters.shape[-1]
    n = image.shape[0] - k + 1
    columns = np.array([image[i : i + k, j : j + k].ravel() for i in range(n) for j in range(n)])
    return (columns @ filters.reshape(filters.shape[0], -1).T).reshape(n, n, -1)


def max_pool(x):
    rows, cols = x.shape
    return x.reshape(rows // 2, 2, cols // 2, 2).max(axis=(1, 3))


def attention_head(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    mask = np.triu(np.ones(scores.shape, dtype=bool), k=1)
    scores = np.where(mask, -1e9, scores)
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def batch_norm(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=0)
    var = x.var(axis=0)
    return gamma * (x - mu) / np.sqrt(var + eps) + beta


def layer_norm(x, gamma, beta):
    mean = np.mean(x, axis=-1, keepdims=True)
    std = np.std(x, axis=-1, keepdims=True, ddof=1)
    return gamma * (x - mean) / (std + 1e-6) + beta


DROP = rng.random((3, 4)) < 0.5


def dropout_net(x, w):
    h = np.tanh(x @ w)
    h = h * DROP / 0.5
    return (h**2).sum()


def embedding_lookup(table, tokens):
    vectors = table[tokens]
    pooled = vectors.mean(axis=0)
    return pooled @ pooled


def mlp_dict(params, x):
    h = x
    for name in sorted(params):
        layer = params[name]
        h = np.tanh(h @ layer["w"] + layer["b"])
    return np.mean(np.square(h))


def mlp_nested_lists(layers, x):
    *hidden, (w_last, b_last) = layers
    for w, b in hidden:
        x = np.maximum(0.01 * x @ w + b, x @ w + b)
    return float_free_sum(x @ w_last + b_last)


def float_free_sum(x):
    total = 0.0
    for row in x:
        total += row.sum()
    return total


@dataclass
class Ridge:
    weights: np.ndarray
    bias: float
    alpha: float
    name: str = "ridge"

    def predict(self, x):
        return x @ self.weights + self.bias

    def loss(self, x, y):
        residual = y - self.predict(x)
        return residual @ residual / len(y) + self.alpha * np.linalg.norm(self.weights) ** 2


def ridge_dataclass(model, x, y):
    return model.loss(x, y)


class GRU(NamedTuple):
    wz: np.ndarray
    wr: np.ndarray
    wh: np.ndarray


def gru_namedtuple(p, xs):
    h = np.zeros(p.wz.shape[1])
    for x in xs:
        xh = np.concatenate((x, h))
        z = special.expit(xh @ p.wz)
        r = special.expit(xh @ p.wr)
        cand = np.tanh(np.concatenate((x, r * h)) @ p.wh)
        h = (1 - z) * h + z * cand
    return h


def logistic_loss(w, x, y):
    margins = y * (x @ w)
    return np.logaddexp(0, -margins).sum() + 0.5 * np.dot(w, w)


def hinge_loss(w, x, y):
    return np.maximum(0, 1 - y * x.dot(w)).mean()


def huber(residual, delta=1.0):
    a = np.abs(residual)
    return np.where(a <= delta, 0.5 * residual**2, delta * (a - 0.5 * delta)).sum()


def quantile_loss(pred, target, q=0.3):
    diff = target - pred
    return np.mean(np.maximum(q * diff, (q - 1) * diff))


def median_loss(x):
    return np.median(np.abs(x - np.median(x)))


def focal_loss(logits, y):
    p = special.expit(logits)
    pt = np.where(y == 1, p, 1 - p)
    return -np.sum((1 - pt) ** 2 * np.log(np.clip(pt, 1e-7, 1.0)))


def gelu_and_friends(x):
    gelu = 0.5 * x * (1 + special.erf(x / np.sqrt(2)))
    silu = x / (1 + np.exp(-x))
    elu = np.where(x > 0, x, np.expm1(x))
    softplus = np.log1p(np.exp(x))
    return np.stack([gelu, silu, elu, softplus])


def cosine_similarity(a, b):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    return a @ b.T


def triplet_loss(anchor, positive, negative, margin=5.0):
    dp = np.linalg.norm(anchor - positive, axis=-1)
    dn = np.linalg.norm(anchor - negative, axis=-1)
    return np.clip(dp - dn + margin, 0, None).sum()


def info_nce(z, temperature):
    sim = z @ z.T / temperature
    np.fill_diagonal(sim, -1e9)
    pos = sim[np.arange(4), [1, 0, 3, 2]]
    return np.mean(special.logsumexp(sim, axis=1) - pos)


def info_nce_by_reduce(z, temperature):
    sim = z @ z.T / temperature
    np.fill_diagonal(sim, -1e9)
    pos = sim[np.arange(4), [1, 0, 3, 2]]
    return np.mean(np.logaddexp.reduce(sim, axis=1) - pos)


def softmax_scipy(x):
    return -(special.softmax(x) * special.log_softmax(x)).sum()


def softmax_entropy(x):
    p = special.softmax(x)
    return special.entr(p).sum()


def mean_of_losses(w, xs):
    losses = [np.tanh(w @ x) ** 2 for x in xs]
    return np.mean(losses)


def mean_of_losses_remedy(w, xs):
    losses = [np.tanh(w @ x) ** 2 for x in xs]
    return np.mean(np.stack(losses))


def kmeans_objective(x, centers):
    d2 = ((x[:, None, :] - centers[None, :, :]) ** 2).sum(-1)
    nearest = d2.argmin(axis=1)
    return d2[np.arange(len(x)), nearest].sum()


def soft_decision_tree(x, thresholds, leaves):
    value = 0
    for leaf in range(4):
        p = 1.0
        node = 0
        for bit in format(leaf, "02b"):
            s = 1 / (1 + np.exp(-(x[node] - thresholds[node])))
            p *= s if bit == "1" else 1 - s
            node = 2 * node + 1 + int(bit)
        value += p * leaves[leaf]
    return value


def residual_stack(x, *weights):
    return reduce(lambda h, w: h + np.tanh(h @ w), weights, x)


def adam_unrolled(w0, data):
    m = np.zeros_like(w0)
    v = np.zeros_like(w0)
    w = w0.copy()
    for t in range(1, 4):
        g = 2 * (w - data)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return np.sum((w - data) ** 2)


def normal(*shape):
    return rng.normal(size=shape)


SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])

PROGRAMS = [
    ("softmax_cross_entropy", softmax_cross_entropy, (normal(4, 3), np.array([0, 2, 1, 1]))),
    ("logsumexp", logsumexp, (normal(5),)),
    ("lstm_cell", lstm_cell, (normal(2), normal(3), normal(3), normal(5, 12), normal(12))),
    ("conv2d_loops", conv2d_loops, (normal(5, 4), normal(2, 3))),
    ("conv2d_windows", conv2d_windows, (normal(5, 4), normal(2, 3))),
    ("im2col_conv", im2col_conv, (normal(4, 4), normal(2, 2, 2))),
    ("max_pool", max_pool, (normal(4, 6),)),
    ("attention_head", attention_head, (normal(4, 3), normal(3, 2), normal(3, 2), normal(3, 2))),
    ("batch_norm", batch_norm, (normal(6, 3), normal(3), normal(3))),
    ("layer_norm", layer_norm, (normal(2, 5), normal(5), normal(5))),
    ("dropout_net", dropout_net, (normal(3, 2), normal(2, 4))),
    ("embedding_lookup", embedding_lookup, (normal(5, 3), np.array([1, 3, 1, 4]))),
    (
        "mlp_dict",
        mlp_dict,
        (
            {"l1": {"w": normal(3, 4), "b": normal(4)}, "l2": {"w": normal(4, 2), "b": normal(2)}},
            normal(5, 3),
        ),
    ),
    (
        "mlp_nested_lists",
        mlp_nested_lists,
        ([[normal(3, 4), normal(4)], [normal(4, 2), normal(2)]], normal(5, 3)),
    ),
    ("ridge_dataclass", ridge_dataclass, (Ridge(normal(3), 0.3, 0.1), normal(5, 3), normal(5))),
    ("gru_namedtuple", gru_namedtuple, (GRU(*(normal(5, 3) for _ in range(3))), normal(4, 2))),
    ("logistic_loss", logistic_loss, (normal(3), normal(5, 3), SIGNS)),
    ("hinge_loss", hinge_loss, (normal(3), normal(5, 3), SIGNS)),
    ("huber", huber, (2 * normal(6),)),
    ("quantile_loss", quantile_loss, (normal(6), normal(6))),
    ("median_loss", median_loss, (normal(7),)),
    ("focal_loss", focal_loss, (normal(4), np.array([0, 1, 1, 0]))),
    ("gelu_and_friends", gelu_and_friends, (normal(5),)),
    ("cosine_similarity", cosine_similarity, (normal(3, 4), normal(2, 4))),
    ("triplet_loss", triplet_loss, (normal(3, 4), normal(3, 4), normal(3, 4))),
    ("info_nce_by_reduce", info_nce_by_reduce, (normal(4, 3), 0.5)),
    ("mean_of_losses_remedy", mean_of_losses_remedy, (normal(3), normal(4, 3))),
    ("kmeans_objective", kmeans_objective, (normal(6, 2), normal(3, 2))),
    ("soft_decision_tree", soft_decision_tree, (normal(3), normal(3), normal(4))),
    ("residual_stack", residual_stack, (normal(3), normal(3, 3), normal(3, 3))),
    ("adam_unrolled", adam_unrolled, (normal(3), normal(3))),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "mean_of_losses",
        mean_of_losses,
        (normal(3), normal(4, 3)),
        "LostDerivativeError",
        r"np\.stack",
    ),
    (
        "info_nce",
        info_nce,
        (normal(4, 3), 0.5),
        "LostDerivativeError",
        r"(?s)scipy\.special\.logsumexp met .*cr\.(adopt|primitive)",
    ),
    (
        "softmax_scipy",
        softmax_scipy,
        (normal(4),),
        "LostDerivativeError",
        r"(?s)scipy\.special\.(log_)?softmax met .*cr\.(adopt|primitive)",
    ),
    (
        "softmax_entropy",
        softmax_entropy,
        (normal(4),),
        "LostDerivativeError",
        # SciPy 1.15 refuses the objects sooner, in softmax.
        r"(?s)met .* 'entr'.* use chainrules\.numpy|softmax met an object array",
    ),
]
