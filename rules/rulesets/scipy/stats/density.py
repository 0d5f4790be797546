"""Kernel density estimates that accept traced values."""

import operator

import numpy as np
from scipy import stats

from .....config import MissingRuleError, user_line
from .... import innermost, value, with_values
from ..traced_objects import TracedFunction, refuse_derived, scipys_object, told_by, valued
from .multivariate import factor_of, log_det
from .tools import LOG_ROOT_2PI
from .univariate import number, traced_in


class gaussian_kde(stats.gaussian_kde):  # noqa: N801 - SciPy's name
    """SciPy's own, whose density sees traced points; of traced data see below."""

    def __new__(cls, dataset, bw_method=None, weights=None):
        if traced_in((dataset, bw_method, weights), {}):
            refuse_derived(cls)
            return TracedKernelDensity(dataset, bw_method, weights)
        return super().__new__(cls)

    def evaluate(self, points):
        if innermost((points,)) is None:
            return super().evaluate(points)
        return TracedFunction(super().evaluate, self.density)(points)

    __call__ = evaluate

    def pdf(self, x):
        return self.evaluate(x)

    def logpdf(self, x):
        if innermost((x,)) is None:
            return super().logpdf(x)
        return TracedFunction(super().logpdf, self.log_density)(x)

    def density(self, points):
        return np.exp(self.log_density(points))

    def log_density(self, points):
        return log_kernels(points, self.dataset, self.covariance, self.weights)


def plane(x):
    return np.atleast_2d(x) if np.ndim(x) < 2 else x


def log_kernels(points, dataset, covariance, weights):
    d = len(dataset)
    points = number(points)
    points = np.reshape(points, (d, -1)) if np.ndim(points) < 2 else points
    factor = factor_of(covariance)
    at, data = np.linalg.solve(factor, points), np.linalg.solve(factor, dataset)
    gaps = np.expand_dims(at, 2) - np.expand_dims(data, 1)
    logs = np.log(weights) - np.sum(gaps * gaps, axis=0) / 2
    top = np.max(value(logs), axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(logs - top), axis=1)) + top[:, 0]
    return total - d * LOG_ROOT_2PI - log_det(factor) / 2


def attribute(method):
    """Decorator: a property that has the value of the attribute of SciPy's object."""
    own = operator.attrgetter(method.__name__)
    return property(lambda self: with_values(method(self), told_by(self.own, own)))


class TracedKernelDensity:
    """The estimate from traced data: it has the methods that have derivatives."""

    def __init__(self, dataset, bw_method, weights):
        self.given = dataset, bw_method, weights
        self.own = scipys_object(stats.gaussian_kde, self.given, {})

    def set_bandwidth(self, bw_method=None):
        if bw_method is not None:  # as in SciPy
            self.__init__(self.given[0], bw_method, self.given[2])

    def log_density(self, points):
        return log_kernels(points, self.dataset, self.covariance, self.weights)

    def __getattr__(self, name):
        if name.startswith("_") or not hasattr(stats.gaussian_kde, name):
            raise AttributeError(name)
        raise MissingRuleError(
            f"scipy.stats.gaussian_kde.{name} of traced data has no derivative, in {user_line()}.\n"
            "  write an integral of its pdf, or its formula in NumPy"
        )

    # ---- SciPy's attributes ----

    d = property(lambda self: np.shape(plane(self.given[0]))[0])
    n = property(lambda self: np.shape(plane(self.given[0]))[1])

    @attribute
    def dataset(self):
        return np.reshape(number(self.given[0]), (self.d, self.n))

    @attribute
    def weights(self):
        weights = self.given[2]
        weights = np.ones(self.n) if weights is None else number(weights)
        return weights / np.sum(weights)

    @attribute
    def neff(self):
        return 1 / np.sum(self.weights * self.weights)

    @attribute
    def factor(self):
        return self.covariance_factor()

    @attribute
    def covariance(self):
        dataset, weights, factor = self.dataset, self.weights, self.factor
        centred = dataset - np.expand_dims(dataset @ weights, 1)
        unbiased = 1 - np.sum(weights * weights)
        return (centred * weights) @ centred.T / unbiased * factor * factor

    @attribute
    def inv_cov(self):
        return np.linalg.inv(self.covariance)

    def scotts_factor(self):
        return self.neff ** (-1 / (self.d + 4))

    def silverman_factor(self):
        return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))

    def covariance_factor(self):
        bandwidth = self.given[1]
        if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "scott"):
            return self.scotts_factor()
        if isinstance(bandwidth, str):
            return self.silverman_factor()
        if callable(bandwidth):
            raise MissingRuleError(
                f"a bw_method that is a function sees no traced data, in {user_line()}.\n"
                "  write gaussian_kde(dataset, bw_method=the number that it gives)"
            )
        return number(bandwidth)

    @valued
    def evaluate(self, points):
        return np.exp(self.log_density(points))

    __call__ = pdf = evaluate

    @valued
    def logpdf(self, x):
        return self.log_density(x)
