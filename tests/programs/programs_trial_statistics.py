"""Statistics, econometrics and finance programs as people have them."""

import logging
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from scipy import special

log = logging.getLogger(__name__)


def rng(seed=0):
    return np.random.default_rng(seed)


def garch_in_buffer(params, returns):
    omega, alpha, beta = params
    if omega <= 0 or alpha < 0 or beta < 0:
        raise ValueError(f"bad parameters {params}")
    t = len(returns)
    sigma2 = np.empty_like(returns)
    sigma2[0] = np.var(returns)
    for i in range(1, t):
        sigma2[i] = omega + alpha * returns[i - 1] ** 2 + beta * sigma2[i - 1]
    ll = -0.5 * (np.log(2 * np.pi) + np.log(sigma2) + returns**2 / sigma2)
    return ll.sum()


def ols_robust_se(x, y):
    n, _ = x.shape
    x = np.column_stack([np.ones(n), x])
    k = x.shape[1]
    xtx_inv = np.linalg.inv(x.T @ x)
    beta = xtx_inv @ x.T @ y
    u = y - x @ beta
    meat = (x * u[:, None] ** 2).T @ x
    cov = n / (n - k) * xtx_inv @ meat @ xtx_inv
    return beta, np.sqrt(np.diag(cov))


def newey_west(u, lags):
    n = len(u)
    u = u - u.mean()
    gamma0 = np.dot(u, u) / n
    total = gamma0
    for lag in range(1, lags + 1):
        w = 1 - lag / (lags + 1)
        gamma = np.dot(u[lag:], u[:-lag]) / n
        total += 2 * w * gamma
    return np.sqrt(total / n)


def probit_nll(beta, x, y):
    x = np.hstack((np.ones((x.shape[0], 1)), x))
    q = 2 * y - 1
    return -np.sum(special.log_ndtr(q * (x @ beta)))


def cox_partial_likelihood(beta, x, times, event):
    order = np.argsort(-times)
    x = x[order]
    event = event[order]
    eta = x.dot(beta)
    risk = np.logaddexp.accumulate(eta)
    return -np.sum((eta - risk)[event])


Mixture = namedtuple("Mixture", "weights means sds")


def em_step(model, x):
    w, mu, sd = model
    logp = -0.5 * ((x[:, np.newaxis] - mu) / sd) ** 2 - np.log(sd) + np.log(w)
    logp -= logp.max(axis=1, keepdims=True)
    resp = np.exp(logp)
    resp /= resp.sum(axis=1, keepdims=True)
    nk = resp.sum(axis=0)
    means = (resp * x[:, None]).sum(0) / nk
    var = np.einsum("nk,nk->k", resp, (x[:, None] - means) ** 2) / nk
    return model._replace(weights=nk / x.size, means=means, sds=np.sqrt(var))


def kde_entropy(samples, bandwidth):
    grid = np.linspace(-4, 4, 81)
    d = (grid[:, None] - samples[None, :]) / bandwidth
    density = np.exp(-0.5 * d**2).sum(axis=1)
    density /= len(samples) * bandwidth * np.sqrt(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        integrand = np.where(density > 0, -density * np.log(density), 0.0)
    return np.trapezoid(integrand, grid)


def pca_explained(x):
    xc = x - np.mean(x, axis=0)
    cov = np.cov(xc, rowvar=False)
    vals, vecs = np.linalg.eigh(cov)
    idx = np.argsort(vals)[::-1]
    vals, vecs = vals[idx], vecs[:, idx]
    scores = xc @ vecs[:, :2]
    return np.concatenate([vals / vals.sum(), np.abs(scores).sum(0)])


def arma_css(theta, y):
    phi, ma, sigma = theta
    e = np.zeros(len(y))
    e = e.astype(np.result_type(theta, y))
    for t in range(len(y)):
        pred = 0.0
        if t > 0:
            pred = phi * y[t - 1] + ma * e[t - 1]
        e[t] = y[t] - pred
    return 0.5 * len(y) * np.log(sigma**2) + np.sum(e**2) / (2 * sigma**2)


def kalman_local_level(params, y):
    phi, q, r = params
    m, p = 0.0, 10.0
    nll = 0.0
    filtered = []
    for obs in y:
        m = phi * m
        p = phi**2 * p + q**2
        s = p + r**2
        v = obs - m
        k = p / s
        m += k * v
        p *= 1 - k
        nll += 0.5 * (math.log(2 * math.pi) + np.log(s) + v * v / s)
        filtered.append(m)
    return nll, np.array(filtered)


def zero_inflated_poisson(theta, counts):
    pi = special.expit(theta[0])
    lam = np.exp(theta[1])
    zero = counts == 0
    ll = np.zeros(counts.shape)
    ll[zero] = np.log(pi + (1 - pi) * np.exp(-lam))
    k = counts[~zero]
    ll[~zero] = np.log1p(-pi) - lam + k * np.log(lam) - special.gammaln(k + 1)
    return -ll.sum()


def beta_nll(ab, x):
    a, b = np.exp(ab / 4)
    return -np.mean((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))


def spearman_like(x, y):
    def soft_rank(v, tau=0.3):
        d = (v[:, None] - v[None, :]) / tau
        return special.expit(d).sum(axis=1)

    rx, ry = soft_rank(x), soft_rank(y)
    return np.corrcoef(rx, ry)[0, 1]


def robust_summary(x):
    med = np.median(x)
    mad = np.median(np.abs(x - med))
    q25, q75 = np.percentile(x, [25, 75])
    trimmed = np.sort(x)[2:-2].mean()
    z = (x - med) / (1.4826 * mad)
    keep = np.abs(z) < 2.5
    return {"med": med, "mad": mad, "iqr": q75 - q25, "trim": trimmed, "clean": x[keep].mean()}


def weighted_histogram(x, w):
    counts, edges = np.histogram(x, bins=4, range=(0, 1), weights=w)
    density = counts / (counts.sum() * np.diff(edges))
    return density


@dataclass
class BetaBinomial:
    alpha: float
    beta: float

    def logpmf(self, k, n):
        return (
            special.gammaln(n + 1)
            - special.gammaln(k + 1)
            - special.gammaln(n - k + 1)
            + special.betaln(k + self.alpha, n - k + self.beta)
            - special.betaln(self.alpha, self.beta)
        )


def beta_binomial_loglik(alpha, beta):
    model = BetaBinomial(alpha, beta)
    k = np.array([1, 4, 2, 0])
    n = np.array([5, 6, 5, 3])
    total = model.logpmf(k, n).sum()
    log.info("loglik %.3f at %s", total, f"{alpha:.2f}")
    return total


def black_scholes_greeks(s, k, t, r, sigma):
    d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    call = s * special.ndtr(d1) - k * np.exp(-r * t) * special.ndtr(d2)
    put = call - s + k * np.exp(-r * t)
    return np.array([call, put])


def binomial_tree_american(s0, sigma, r, k=103.0, t=1.0, n=12):
    dt = t / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    j = np.arange(n + 1)
    prices = s0 * u ** (n - j) * d**j
    values = np.maximum(k - prices, 0.0)
    for i in range(n - 1, -1, -1):
        prices = prices[: i + 1] * d
        values = np.exp(-r * dt) * (p * values[:-1] + (1 - p) * values[1:])
        values = np.maximum(values, k - s0 * u ** (i - np.arange(i + 1)) * d ** np.arange(i + 1))
    return values[0]


def heston_monte_carlo(params, s0=100.0, n_paths=16, n_steps=10):
    v0, kappa, theta, xi, rho = params
    np.random.seed(7)
    dt = 1.0 / n_steps
    z = np.random.standard_normal((n_steps, 2, n_paths))
    log_s = np.full(n_paths, np.log(s0))
    v = np.ones(n_paths) * v0
    for step in range(n_steps):
        z1 = z[step, 0]
        z2 = rho * z1 + np.sqrt(1 - rho**2) * z[step, 1]
        vp = np.clip(v, 0, None)
        log_s = log_s - 0.5 * vp * dt + np.sqrt(vp * dt) * z1
        v = v + kappa * (theta - vp) * dt + xi * np.sqrt(vp * dt) * z2
    return np.mean(np.maximum(np.exp(log_s) - s0, 0))


def mean_variance(mu, w):
    factors = rng(21).normal(size=(4, 2))
    cov = factors @ factors.T + 0.1 * np.eye(4)
    w = w / w.sum()
    ret = w @ mu
    risk = np.sqrt(w @ cov @ w)
    herfindahl = np.sum(np.square(w))
    marginal = cov @ w / risk
    np.testing.assert_allclose(np.dot(w, marginal), risk)
    return ret / risk - 0.1 * herfindahl


def bond_from_curve(zero_rates):
    tenors = np.array([0.5, 1.0, 2.0, 5.0])
    times = np.arange(0.5, 4.5, 0.5)
    rates = np.interp(times, tenors, zero_rates)
    df = np.exp(-rates * times)
    flows = np.full_like(times, 2.5)
    flows[-1] += 100
    price = (flows * df).sum()
    y = 0.03
    for _ in range(30):
        g = np.sum(flows * np.exp(-y * times)) - price
        if abs(g) < 1e-12:
            break
        y += g / np.sum(times * flows * np.exp(-y * times))
    return price, y


def ledoit_wolf(x):
    n, p = x.shape
    x = x - x.mean(0)
    s = x.T @ x / n
    mu = np.trace(s) / p
    d2 = np.linalg.norm(s - mu * np.eye(p), "fro") ** 2 / p
    b2 = 0.0
    for row in x:
        b2 += np.linalg.norm(np.outer(row, row) - s) ** 2
    b2 = min(b2 / (n**2 * p), d2)
    shrink = b2 / d2
    return shrink * mu * np.eye(p) + (1 - shrink) * s


def gaussian_copula_density(a, u):
    cov = a @ a.T + np.eye(6)
    sd = np.sqrt(np.diagonal(cov))
    corr = cov / np.outer(sd, sd)
    chol = np.linalg.cholesky(corr)
    z = np.tanh(np.concatenate([u, u**2, np.sin(u)]))
    sol = np.linalg.solve(chol, z)
    logdet = 2 * np.log(np.diag(chol)).sum()
    return -0.5 * (logdet + sol @ sol - z @ z)


def gp_ard_nll(theta, x, y):
    amp, scale, noise = theta
    d2 = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    k = amp**2 * np.exp(-0.5 * d2 / scale**2)
    k[np.diag_indices_from(k)] += noise**2
    sign, logdet = np.linalg.slogdet(k)
    assert sign > 0
    alpha = np.linalg.solve(k, y)
    return 0.5 * y @ alpha + 0.5 * logdet + 0.5 * len(y) * np.log(2 * np.pi)


def markov_occupation(p, n):
    trans = np.zeros((3, 3))
    for i in range(3):
        trans[i] = np.roll(p, i)
    state = np.array([1.0, 0, 0])
    history = [state]
    for _ in range(n):
        state = state @ trans
        history.append(state)
    occ = np.mean(history, axis=0)
    return -np.sum(special.xlogy(occ, occ))


def hmm_scaled_forward(trans, emit):
    trans = trans / trans.sum(axis=1, keepdims=True)
    emit = emit / emit.sum(axis=1)[:, None]
    obs = [0, 2, 1, 1, 0]
    alpha = np.array([0.5, 0.5]) * emit[:, obs[0]]
    scale = np.zeros(len(obs))
    scale[0] = alpha.sum()
    alpha /= scale[0]
    for t, o in enumerate(obs[1:], start=1):
        alpha = (alpha @ trans) * emit[:, o]
        scale[t] = alpha.sum()
        alpha = alpha / scale[t]
    return np.log(scale).sum()


# (name, function, arguments); integers and strings are constants
PROGRAMS = [
    ("garch_in_buffer", garch_in_buffer, (np.array([0.05, 0.1, 0.8]), rng(0).normal(size=30))),
    ("ols_robust_se", ols_robust_se, (rng(1).normal(size=(20, 3)), rng(2).normal(size=20))),
    ("newey_west", newey_west, (rng(3).normal(size=25), 3)),
    (
        "probit_nll",
        probit_nll,
        (np.array([0.5, -1.0, 0.3]), rng(4).normal(size=(15, 2)), rng(5).integers(0, 2, 15)),
    ),
    (
        "cox_partial_likelihood",
        cox_partial_likelihood,
        (
            np.array([0.3, -0.2]),
            rng(6).normal(size=(12, 2)),
            rng(7).exponential(size=12),
            rng(8).random(12) < 0.7,
        ),
    ),
    (
        "em_step",
        em_step,
        (
            Mixture(np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.8, 1.5])),
            rng(9).normal(size=10),
        ),
    ),
    ("kde_entropy", kde_entropy, (rng(10).normal(size=40), 0.4)),
    ("pca_explained", pca_explained, (rng(11).normal(size=(20, 4)),)),
    (
        "kalman_local_level",
        kalman_local_level,
        (np.array([0.9, 0.5, 0.3]), rng(13).normal(size=15).cumsum()),
    ),
    ("beta_nll", beta_nll, (np.array([2.0, 3.5]), rng(14).beta(2, 3, size=10))),
    ("spearman_like", spearman_like, (rng(15).normal(size=16), rng(16).normal(size=16))),
    ("robust_summary", robust_summary, (rng(17).normal(size=21),)),
    ("weighted_histogram", weighted_histogram, (rng(18).random(10), rng(19).random(10) + 0.5)),
    ("beta_binomial_loglik", beta_binomial_loglik, (2.0, 3.0)),
    ("black_scholes_greeks", black_scholes_greeks, (100.0, 95.0, 0.5, 0.02, 0.3)),
    ("binomial_tree_american", binomial_tree_american, (100.0, 0.2, 0.03)),
    ("heston_monte_carlo", heston_monte_carlo, (np.array([0.04, 2.0, 0.05, 0.3, -0.6]),)),
    ("bond_from_curve", bond_from_curve, (np.array([0.02, 0.022, 0.025, 0.03]),)),
    ("ledoit_wolf", ledoit_wolf, (rng(22).normal(size=(12, 3)),)),
    (
        "gaussian_copula_density",
        gaussian_copula_density,
        (rng(23).normal(size=(6, 6)), np.array([0.4, 1.2])),
    ),
    (
        "gp_ard_nll",
        gp_ard_nll,
        (np.array([1.0, 0.5, 0.2]), rng(24).random((8, 2)), rng(25).normal(size=8)),
    ),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "arma_css",
        arma_css,
        (np.array([0.6, -0.2, 1.3]), rng(12).normal(size=20)),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "zero_inflated_poisson",
        zero_inflated_poisson,
        (np.array([0.5, 1.2]), np.array([0, 3, 1, 0, 2, 5, 0, 1])),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "markov_occupation",
        markov_occupation,
        (np.array([0.2, 0.3, 0.5]), 6),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "hmm_scaled_forward",
        hmm_scaled_forward,
        (np.array([[0.7, 0.3], [0.2, 0.8]]), rng(26).random((2, 3))),
        "LostDerivativeError",
        "like=x",
    ),
    (
        "mean_variance",
        mean_variance,
        (rng(20).random(4) * 0.1, np.array([0.2, 0.3, 0.1, 0.4])),
        "LostDerivativeError",
        r"(?s)numpy\.testing\.assert_allclose met .* a check, .* cr\.value",
    ),
]
