"""Statistics, Gaussian processes, time series, linear algebra, finance."""

import numpy as np
from scipy import linalg, special, stats

rng = np.random.default_rng(2)


def normal(*shape):
    return rng.normal(size=shape)


def spd(n):
    a = normal(n, n)
    return a @ a.T + n * np.eye(n)


def gaussian_loglik_cholesky(x, mean, cov):
    chol = np.linalg.cholesky(cov)
    z = np.linalg.solve(chol, x - mean)
    logdet = 2 * np.sum(np.log(np.diag(chol)))
    return -0.5 * (z @ z + logdet + len(x) * np.log(2 * np.pi))


def gaussian_loglik_inverse(x, mean, cov):
    d = x - mean
    return -0.5 * d.T @ np.linalg.inv(cov) @ d - 0.5 * np.log(np.linalg.det(cov))


def kalman_step(mean, cov, y, transition, observe):
    q, r = 0.1 * np.eye(2), np.array([[0.2]])
    mean = transition @ mean
    cov = transition @ cov @ transition.T + q
    s = observe @ cov @ observe.T + r
    gain = cov @ observe.T @ np.linalg.inv(s)
    mean = mean + gain @ (y - observe @ mean)
    cov = (np.eye(len(mean)) - gain @ observe) @ cov
    return mean, cov


def gp_marginal_likelihood(theta, x, y):
    variance, length, noise = np.exp(theta)
    d2 = (x[:, None] - x[None, :]) ** 2
    k = variance * np.exp(-0.5 * d2 / length**2) + noise * np.eye(len(x))
    _, logdet = np.linalg.slogdet(k)
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * logdet + 0.5 * len(x) * np.log(2 * np.pi)


def gp_cho_solve(theta, x, y):
    k = np.exp(theta[0]) * np.exp(-np.abs(np.subtract.outer(x, x)) / np.exp(theta[1]))
    k[np.diag_indices_from(k)] += 0.1
    chol = linalg.cho_factor(k, lower=True)
    return y @ linalg.cho_solve(chol, y)


def gp_cho_solve_remedy(theta, x, y):
    k = np.exp(theta[0]) * np.exp(-np.abs(np.subtract.outer(x, x)) / np.exp(theta[1]))
    k[np.diag_indices_from(k)] += 0.1
    z = np.linalg.solve(np.linalg.cholesky(k), y)
    return z @ z


def periodic_kernel(x, y, period, scale):
    d = np.pi * np.abs(x[:, np.newaxis] - y[np.newaxis, :]) / period
    return np.exp(-2 * np.sin(d) ** 2 / scale**2)


def poisson_glm(beta, x):
    counts = np.array([1, 0, 3, 2, 5])
    eta = x @ beta
    return np.sum(np.exp(eta) - counts * eta + special.gammaln(counts + 1))


def beta_binomial(a, b):
    k, n = np.array([1, 4, 7]), 10
    return np.sum(special.betaln(k + a, n - k + b) - special.betaln(a, b))


def dirichlet_logpdf(alpha, p):
    norm = special.gammaln(alpha).sum() - special.gammaln(alpha.sum())
    return ((alpha - 1) * np.log(p)).sum() - norm


def negative_binomial(r, p):
    k = np.array([0, 2, 5])
    logpmf = special.gammaln(k + r) - special.gammaln(k + 1) - special.gammaln(r)
    return -(logpmf + r * np.log(p) + special.xlog1py(k, -p)).sum()


def student_t_nll(x, mu, sigma, nu):
    z = (x - mu) / sigma
    const = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return -np.sum(const - np.log(sigma) - (nu + 1) / 2 * np.log1p(z**2 / nu))


def stats_norm_logpdf(x, mu, sigma):
    return stats.norm.logpdf(x, mu, sigma).sum()


def hmm_forward(log_pi, log_a, log_b, obs):
    alpha = log_pi + log_b[:, obs[0]]
    for o in obs[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + log_a, axis=0) + log_b[:, o]
    return np.logaddexp.reduce(alpha)


def viterbi_score(log_a, log_b, obs):
    v = log_b[:, obs[0]]
    for o in obs[1:]:
        v = np.max(v[:, None] + log_a, axis=0) + log_b[:, o]
    return v.max()


def pca_svd(x):
    centred = x - x.mean(axis=0)
    _, s, vt = np.linalg.svd(centred, full_matrices=False)
    explained = s**2 / np.sum(s**2)
    return explained[0] + np.abs(vt[0] @ np.array([1.0, 2.0, 3.0]))


def pca_covariance(x):
    w, v = np.linalg.eigh(np.cov(x, rowvar=False))
    return w[::-1] * v[0, ::-1] ** 2


def ridge_solve(x, y, lam):
    return np.linalg.solve(x.T @ x + lam * np.eye(x.shape[1]), x.T @ y)


def least_squares_qr(a, b):
    q, r = np.linalg.qr(a)
    return np.linalg.solve(r, q.T @ b)


def least_squares_lstsq(a, b):
    coef, *_ = np.linalg.lstsq(a, b, rcond=None)
    return coef


def pseudo_inverse(a, b):
    return np.linalg.pinv(a) @ b


def triangular_scipy(a, b):
    chol = linalg.cholesky(a, lower=True)
    return linalg.solve_triangular(chol, b, lower=True)


def triangular_scipy_remedy(a, b):
    chol = np.linalg.cholesky(a)
    return np.linalg.solve(chol, b)


def matrix_norms(a):
    return (
        np.linalg.norm(a)
        + np.linalg.norm(a, 2)
        + np.linalg.norm(a, "nuc")
        + np.linalg.norm(a, 1)
        + np.linalg.norm(a, np.inf)
        + np.linalg.norm(a.ravel(), 3)
    )


def black_scholes_erf(s, k, t, r, sigma):
    def cdf(x):
        return 0.5 * (1 + special.erf(x / np.sqrt(2)))

    d1 = (np.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    return s * cdf(d1) - k * np.exp(-r * t) * cdf(d2)


def black_scholes_ndtr(s, k, t, r, sigma):
    d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    return special.ndtr(d1) * s - special.ndtr(d2) * k * np.exp(-r * t)


DRAWS = rng.normal(size=(50, 4))


def monte_carlo_asian(s0, sigma, r):
    dt = 0.25
    steps = (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * DRAWS
    paths = s0 * np.exp(np.cumsum(steps, axis=1))
    payoff = np.maximum(paths.mean(axis=1) - 100.0, 0.0)
    return np.exp(-r) * payoff.mean()


def cumulative_returns(r):
    wealth = np.cumprod(1 + r)
    peak = np.maximum.accumulate(wealth)
    drawdown = 1 - wealth / peak
    return wealth[-1] - drawdown.max()


def sharpe_ratio(returns, weights):
    portfolio = returns @ weights
    return portfolio.mean() / portfolio.std(ddof=1) * np.sqrt(252)


def net_present_value(rate, flows):
    return sum(cf / (1 + rate) ** t for t, cf in enumerate(flows))


def garch_loglik(params, returns):
    omega, alpha, beta = params
    h = np.var(returns)
    ll = 0.0
    for r in returns:
        ll -= 0.5 * (np.log(2 * np.pi * h) + r**2 / h)
        h = omega + alpha * r**2 + beta * h
    return ll


def exponential_smoothing(alpha, xs):
    s = xs[0]
    out = [s]
    for x in xs[1:]:
        s = alpha * x + (1 - alpha) * s
        out.append(s)
    return np.array(out)


def gini(x):
    x = np.sort(x)
    n = len(x)
    index = np.arange(1, n + 1)
    return (2 * index - n - 1) @ x / (n * x.sum())


def lorenz_curve(x):
    ordered = x[np.argsort(x)]
    return np.insert(np.cumsum(ordered) / ordered.sum(), 0, 0.0)


def group_means(values):
    groups = np.array([0, 1, 0, 2, 1, 0])
    sums = np.bincount(groups, weights=values, minlength=3)
    return sums / np.bincount(groups)


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


def quantiles(x):
    return np.quantile(x, [0.1, 0.5, 0.9]) + np.percentile(x, 30)


def skew_kurtosis(x):
    z = (x - np.mean(x)) / np.std(x)
    return np.mean(z**3) + np.mean(z**4) - 3


def autocorrelation(x):
    x = x - np.average(x)
    c = np.correlate(x, x, mode="full")
    return c[c.size // 2 :] / c[c.size // 2]


def kernel_density(points, grid, h):
    z = (grid[:, None] - points) / h
    return np.exp(-0.5 * z**2).sum(axis=1) / (len(points) * h * np.sqrt(2 * np.pi))


def entropy_masked(p):
    p = p / p.sum()
    return -np.sum(p[p > 0] * np.log(p[p > 0]))


def kl_entr(p, q):
    p, q = p / p.sum(), q / q.sum()
    return special.rel_entr(p, q).sum() + special.entr(p).sum() + special.xlogy(p, q).sum()


def truncated_normal_logpdf(x, mu, sigma, lo, hi):
    z = np.log(special.ndtr((hi - mu) / sigma) - special.ndtr((lo - mu) / sigma))
    return np.sum(-0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma) - z)


def probit_log_ndtr(beta, x):
    return -special.log_ndtr(x @ beta).sum()


def sinkhorn(cost, eps):
    k = np.exp(-cost / eps)
    u = np.ones(cost.shape[0])
    a = np.full(3, 1 / 3)
    for _ in range(10):
        v = a / (k.T @ u)
        u = a / (k @ v)
    return np.sum(u[:, None] * k * v[None, :] * cost)


POSITIVE = rng.uniform(0.5, 2.0, size=8)
OBS = np.array([0, 1, 1, 0])

PROGRAMS = [
    ("gaussian_loglik_cholesky", gaussian_loglik_cholesky, (normal(3), normal(3), spd(3))),
    ("gaussian_loglik_inverse", gaussian_loglik_inverse, (normal(3), normal(3), spd(3))),
    (
        "kalman_step",
        kalman_step,
        (normal(2), spd(2), normal(1), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])),
    ),
    ("gp_marginal_likelihood", gp_marginal_likelihood, (0.1 * normal(3), normal(5), normal(5))),
    ("gp_cho_solve_remedy", gp_cho_solve_remedy, (normal(2), normal(4), normal(4))),
    ("periodic_kernel", periodic_kernel, (normal(3), normal(2), 1.3, 0.8)),
    ("poisson_glm", poisson_glm, (normal(2), normal(5, 2))),
    ("beta_binomial", beta_binomial, (1.2, 2.5)),
    ("dirichlet_logpdf", dirichlet_logpdf, (POSITIVE[:3], np.array([0.2, 0.5, 0.3]))),
    ("negative_binomial", negative_binomial, (2.5, 0.4)),
    ("student_t_nll", student_t_nll, (normal(5), 0.1, 1.3, 4.0)),
    ("hmm_forward", hmm_forward, (normal(2), normal(2, 2), normal(2, 2), OBS)),
    ("viterbi_score", viterbi_score, (normal(2, 2), normal(2, 2), OBS)),
    ("pca_svd", pca_svd, (normal(6, 3),)),
    ("pca_covariance", pca_covariance, (normal(6, 3),)),
    ("ridge_solve", ridge_solve, (normal(6, 3), normal(6), 0.5)),
    ("least_squares_qr", least_squares_qr, (normal(6, 3), normal(6))),
    ("least_squares_lstsq", least_squares_lstsq, (normal(6, 3), normal(6))),
    ("pseudo_inverse", pseudo_inverse, (normal(6, 3), normal(6))),
    ("triangular_scipy_remedy", triangular_scipy_remedy, (spd(3), normal(3))),
    ("matrix_norms", matrix_norms, (normal(3, 4),)),
    ("black_scholes_erf", black_scholes_erf, (100.0, 95.0, 0.7, 0.03, 0.2)),
    ("black_scholes_ndtr", black_scholes_ndtr, (100.0, 95.0, 0.7, 0.03, 0.2)),
    ("monte_carlo_asian", monte_carlo_asian, (100.0, 0.2, 0.03)),
    ("cumulative_returns", cumulative_returns, (0.1 * normal(8),)),
    ("sharpe_ratio", sharpe_ratio, (normal(8, 3), POSITIVE[:3])),
    ("net_present_value", net_present_value, (0.05, [-100.0, 30.0, 50.0, 70.0])),
    ("garch_loglik", garch_loglik, (np.array([0.1, 0.2, 0.6]), normal(6))),
    ("exponential_smoothing", exponential_smoothing, (0.3, normal(6))),
    ("gini", gini, (POSITIVE,)),
    ("lorenz_curve", lorenz_curve, (POSITIVE,)),
    ("group_means", group_means, (normal(6),)),
    ("correlation", correlation, (normal(6), normal(6))),
    ("quantiles", quantiles, (normal(7),)),
    ("skew_kurtosis", skew_kurtosis, (normal(7),)),
    ("autocorrelation", autocorrelation, (normal(5),)),
    ("kernel_density", kernel_density, (normal(5), normal(3), 0.4)),
    ("entropy_masked", entropy_masked, (POSITIVE,)),
    ("kl_entr", kl_entr, (POSITIVE[:4], POSITIVE[4:])),
    ("truncated_normal_logpdf", truncated_normal_logpdf, (0.3 * normal(4), 0.1, 1.2, -2.0, 2.5)),
    ("probit_log_ndtr", probit_log_ndtr, (normal(2), normal(4, 2))),
    ("sinkhorn", sinkhorn, (rng.random((3, 3)), 0.5)),
]

# (name, function, arguments, error class, a pattern of its message)
REFUSED = [
    (
        "gp_cho_solve",
        gp_cho_solve,
        (normal(2), normal(4), normal(4)),
        "LostDerivativeError",
        "cr.adopt",
    ),
    ("triangular_scipy", triangular_scipy, (spd(3), normal(3)), "LostDerivativeError", "cr.adopt"),
    (
        "stats_norm_logpdf",
        stats_norm_logpdf,
        (normal(5), 0.1, 1.3),
        "LostDerivativeError",
        r"(?s)scipy\.stats\.\w+\.logpdf met .*cr\.(adopt|primitive)",
    ),
]
