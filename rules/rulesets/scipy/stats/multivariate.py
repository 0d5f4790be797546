"""Distributions of vectors and of matrices that accept traced values.

SciPy reads the lower triangle of a covariance, and so do the formulas, by its Cholesky factor.
"""

import functools
import inspect
import math

import numpy as np
from scipy import special, stats

from .....config import MissingRuleError, user_line
from .... import innermost, library_value, value, with_values
from .tools import LOG_2, LOG_ROOT_2PI
from .univariate import number, refusal_of, traced_in

psi, gammaln, xlogy = special.psi, special.gammaln, special.xlogy


class Multivariate:
    """A distribution of ``scipy.stats``; its ``own`` is that of SciPy.

    ``formulas`` compute what its methods of the same names do, from the same arguments.
    """

    def __init__(self, own, name, formulas):
        self.own, self.name, self.formulas = own, name, formulas

    def __getattr__(self, name):
        if name in ("own", "name", "formulas"):
            raise AttributeError(name)
        part = getattr(self.own, name)
        if name.startswith("_") or not callable(part):
            return part

        @functools.wraps(part)
        def answers(*args, **kwds):
            if not traced_in(args, kwds):
                return part(*args, **kwds)
            given = inspect.signature(part).bind(*args, **kwds).arguments
            if name not in self.formulas:
                raise refusal_of(self, name, "the formula in NumPy: there is no rule yet")
            own = library_value(part, args, kwds)
            with np.errstate(divide="ignore", invalid="ignore"):
                y = self.formulas[name](own, **given)
            return with_values(y, own)

        return answers

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self.own)

    def __reduce__(self):
        from . import named

        return named, (self.name,)

    def __call__(self, *args, **kwds):
        return FrozenMultivariate(self, args, kwds)


class FrozenMultivariate:
    """A distribution with its parameters: SciPy's own frozen one, where these are not traced."""

    def __init__(self, dist, args, kwds):
        self.dist, self.parameters = dist, (args, kwds)
        if not traced_in(args, kwds):
            self.own = dist.own(*args, **kwds)

    def __getattr__(self, name):
        if name in ("own", "dist", "parameters"):
            raise AttributeError(name)
        plain = getattr(self.own, name) if "own" in vars(self) else None
        if plain is not None and (name.startswith("_") or not callable(plain)):
            return plain
        method = getattr(self.dist, name)

        @functools.wraps(method)
        def answers(*args, **kwds):
            if plain is not None and not traced_in(args, kwds):
                return plain(*args, **kwds)
            bound = inspect.signature(self.dist.own).bind(*self.parameters[0], **self.parameters[1])
            wanted = inspect.signature(method).parameters
            given = {word: x for word, x in bound.arguments.items() if word in wanted}
            first = dict(zip([word for word in wanted if word not in given], args))
            return method(**first, **given, **kwds)

        return answers

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self.own) if "own" in vars(self) else FrozenMultivariate

    def __reduce__(self):
        return FrozenMultivariate, (self.dist, *self.parameters)


# ---- matrices ------------------------------------------------------------------------------------


def matrix(x, dim):
    """A covariance: a number, the diagonal or all of it."""
    if isinstance(x, stats.Covariance):
        return x.covariance
    x = number(1.0 if x is None else x)
    if np.ndim(x) < 2:
        return np.reshape(x, (-1, 1)) * np.eye(dim)
    return x


def factor_of(x):
    """The Cholesky factor.

    Raises
    ------
    MissingRuleError
        If the matrix is singular: there its rank is no smooth function.
    """
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError as error:
        raise MissingRuleError(
            f"the derivative needs a positive definite matrix, in {user_line()}.\n"
            "  write the density on the subspace where it lies"
        ) from error


def log_det(factor):
    return 2 * np.sum(np.log(np.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def whitened(factor, rows):
    """By the inverse of the factor, as SciPy does: there are more rows than columns as a rule."""
    return rows @ np.swapaxes(np.linalg.inv(factor), -1, -2)


def rows_of(x, dim):
    """One number a row where there is one dimension; else ``x`` is a row, or rows."""
    x = number(x)
    columns = np.shape(x)[-1] if np.ndim(x) > 1 or (np.ndim(x) and dim > 1) else 1
    return np.reshape(x, (-1, columns))


def dimension(mean, cov):
    if isinstance(cov, stats.Covariance):
        return cov.shape[-1]
    if mean is not None:
        return np.size(value(mean))
    return 1 if np.ndim(value(cov)) < 2 else np.shape(value(cov))[0]


def from_centre(x, mean, cov):
    """The squared distances from the mean, the logarithm of the determinant, the dimension."""
    dim = dimension(mean, cov)
    factor = factor_of(matrix(cov, dim))
    centred = rows_of(x, dim) - (np.zeros(dim) if mean is None else np.reshape(number(mean), dim))
    square = whitened(factor, centred) ** 2
    return np.sum(square, axis=-1), log_det(factor), dim


def after_exp(log_density):
    return lambda own, **given: np.exp(log_density(own, **given))


def moved_sample(own, mean, cov):
    """The sample ``own`` as mean and covariance move it: ``mean + factor @ noise``.

    The factor is that of Cholesky: SciPy's, of eigenvectors, has no derivative where two
    eigenvalues are equal, and expectations have the same by either.
    """
    dim = dimension(mean, cov)
    factor = factor_of(matrix(cov, dim))
    centre = np.zeros(dim) if mean is None else np.reshape(number(mean), dim)
    sample = np.reshape(own, (-1, dim))
    noise = np.linalg.solve(value(factor), (sample - value(centre)).T)
    return centre + (factor @ noise).T


# ---- normal and t --------------------------------------------------------------------------------


def normal_logpdf(own, x, mean=None, cov=1, allow_singular=False):
    square, log_scale, dim = from_centre(x, mean, cov)
    return -dim * LOG_ROOT_2PI - log_scale / 2 - square / 2


def normal_entropy(own, mean=None, cov=1):
    dim = dimension(mean, cov)
    factor = factor_of(matrix(cov, dim))
    return dim * (0.5 + LOG_ROOT_2PI) + log_det(factor) / 2


def normal_rvs(own, mean=None, cov=1, size=1, random_state=None):
    return moved_sample(own, mean, cov)


def t_logpdf(own, x, loc=None, shape=1, df=1):
    square, log_scale, dim = from_centre(x, loc, shape)
    if np.isinf(value(df)):
        return -dim * LOG_ROOT_2PI - log_scale / 2 - square / 2
    half, df = (number(df) + dim) / 2, number(df)
    scale = gammaln(half) - gammaln(df / 2) - dim / 2 * np.log(df * math.pi) - log_scale / 2
    return scale - half * np.log1p(square / df)


def t_rvs(own, loc=None, shape=1, df=1, size=1, random_state=None):
    if innermost((df,)) is not None:
        raise MissingRuleError(
            f"df of scipy.stats.multivariate_t.rvs has no rule yet, in {user_line()}.\n"
            "  write loc + factor @ normal / np.sqrt(stats.chi2.rvs(df) / df)"
        )
    return moved_sample(own, loc, shape)


def matrix_normal_logpdf(own, X, mean=None, rowcov=1, colcov=1):  # noqa: N803
    x = number(X)
    n, p = np.shape(x)[-2:]
    rows, columns = factor_of(matrix(rowcov, n)), factor_of(matrix(colcov, p))
    centred = x - (0.0 if mean is None else number(mean))
    half = np.linalg.solve(rows, centred)
    square = np.sum(whitened(columns, half) ** 2, axis=(-2, -1))
    return -n * p * LOG_ROOT_2PI - (p * log_det(rows) + n * log_det(columns) + square) / 2


# ---- Dirichlet and multinomial -------------------------------------------------------------------


def log_beta(alpha):
    return np.sum(gammaln(alpha)) - gammaln(np.sum(alpha))


def dirichlet_logpdf(own, x, alpha):
    x, alpha = number(x), number(alpha)
    if len(x) < len(alpha):
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    powers = np.reshape(alpha - 1, (-1, *(1,) * (np.ndim(x) - 1)))
    return np.sum(xlogy(powers, x), axis=0) - log_beta(alpha)


def dirichlet_mean(own, alpha):
    alpha = number(alpha)
    return alpha / np.sum(alpha)


def dirichlet_var(own, alpha):
    alpha = number(alpha)
    total = np.sum(alpha)
    return alpha * (total - alpha) / (total * total * (total + 1))


def dirichlet_cov(own, alpha):
    mean = dirichlet_mean(own, alpha)
    between = np.expand_dims(mean, 1) * mean
    return (np.eye(len(mean)) * mean - between) / (np.sum(number(alpha)) + 1)


def dirichlet_entropy(own, alpha):
    alpha = number(alpha)
    total, k = np.sum(alpha), len(alpha)
    return log_beta(alpha) + (total - k) * psi(total) - np.sum((alpha - 1) * psi(alpha))


def multinomial_logpmf(own, x, n, p):
    """SciPy gives the last event what the others leave."""
    if innermost((n,)) is not None:
        raise MissingRuleError(f"n of scipy.stats.multinomial is a whole number, in "
                               f"{user_line()}.\n  write cr.stop_gradient(n)")  # fmt: skip
    x, p, n = np.asarray(value(x)), number(p), np.asarray(n)
    p = p[..., :-1]
    p = np.concatenate([p, 1 - np.sum(p, axis=-1, keepdims=True)], axis=-1)
    y = gammaln(n + 1) + np.sum(xlogy(x, p) - gammaln(x + 1), axis=-1)
    return np.where(np.isinf(own), 0.0, np.broadcast_to(y, np.shape(own)))


# ---- Wishart -------------------------------------------------------------------------------------


def stacked(x, dim):
    """SciPy's stack of matrices, which has the number of each last, with that first."""
    x = number(x)
    if np.ndim(x) < 2:
        return np.reshape(x, (-1, 1, 1)) if dim == 1 else np.expand_dims(x * np.eye(dim), 0)
    return np.moveaxis(x, -1, 0) if np.ndim(x) == 3 else np.expand_dims(x, 0)


def square_of(scale):
    dim = np.shape(scale)[0] if np.ndim(scale) else 1
    return dim, matrix(scale, dim)


def trace_of_quotient(factor, x):
    """``trace(inv(a) @ x)``, from the factor of ``a``."""
    half = np.linalg.solve(factor, x)
    return np.trace(np.linalg.solve(np.swapaxes(factor, -1, -2), half), axis1=-2, axis2=-1)


def log_multigamma(a, dim):
    powers = dim * (dim - 1) / 4 * math.log(math.pi)
    return powers + sum(gammaln(a - j / 2) for j in range(dim))


def wishart_logpdf(own, x, df, scale):
    dim, scale = square_of(number(scale))
    df, x, factor = number(df), stacked(x, dim), factor_of(scale)
    density = (df - dim - 1) * log_det(factor_of(x)) - trace_of_quotient(factor, x)
    total = df * (dim * LOG_2 + log_det(factor)) / 2 + log_multigamma(df / 2, dim)
    return density / 2 - total


def invwishart_logpdf(own, x, df, scale):
    dim, scale = square_of(number(scale))
    df, x = number(df), stacked(x, dim)
    factor = factor_of(x)
    density = -(df + dim + 1) * log_det(factor) - trace_of_quotient(factor, scale)
    total = df * (dim * LOG_2 - log_det(factor_of(scale))) / 2 + log_multigamma(df / 2, dim)
    return density / 2 - total


def with_density(logpdf, name="pdf", **others):
    return {f"log{name}": logpdf, name: after_exp(logpdf), **others}


FORMULAS = {
    "multivariate_normal": with_density(normal_logpdf, entropy=normal_entropy, rvs=normal_rvs),
    "multivariate_t": with_density(t_logpdf, rvs=t_rvs),
    "matrix_normal": with_density(matrix_normal_logpdf),
    "dirichlet": with_density(
        dirichlet_logpdf, mean=dirichlet_mean, var=dirichlet_var, cov=dirichlet_cov,
        entropy=dirichlet_entropy),
    "multinomial": with_density(multinomial_logpmf, "pmf"),
    "wishart": with_density(wishart_logpdf),
    "invwishart": with_density(invwishart_logpdf),
}  # fmt: skip
