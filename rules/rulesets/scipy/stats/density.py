"""Kernel density estimates that see traced values."""

import numpy as np
from scipy import stats

from .....config import MissingRuleError, user_line
from .... import innermost, value
from ..traced_objects import TracedFunction, refuse_derived, scipys_object, valued
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


class TracedKernelDensity:
    """The estimate from traced data: it has the methods that have derivatives."""

    def __init__(self, dataset, bw_method, weights):
        self.given = dataset, bw_method, weights
        self.own = scipys_object(stats.gaussian_kde, self.given, {})

    def set_bandwidth(self, bw_method=None):
        if bw_method is not None:  # as in SciPy
            self.__init__(self.given[0], bw_method, self.given[2])

    def log_density(self, points):
        dataset, bandwidth, weights = self.given
        d, n = np.shape(plane(dataset))
        dataset = np.reshape(number(dataset), (d, n))
        weights = np.ones(n) if weights is None else number(weights)
        weights = weights / np.sum(weights)
        centred = dataset - np.expand_dims(dataset @ weights, 1)
        unbiased = 1 - np.sum(weights * weights)
        covariance = (centred * weights) @ centred.T / unbiased
        factor = self.factor(bandwidth, 1 / np.sum(weights * weights), d)
        return log_kernels(points, dataset, covariance * factor * factor, weights)

    def factor(self, bandwidth, n, d):
        if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "scott"):
            return n ** (-1 / (d + 4))
        if isinstance(bandwidth, str):  # silverman
            return (n * (d + 2) / 4) ** (-1 / (d + 4))
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
