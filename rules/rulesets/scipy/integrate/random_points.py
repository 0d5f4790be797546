"""qmc_quad: the mean of the user's function at points that are drawn once."""

import functools

import numpy as np
from scipy import integrate

from .....config import MissingRuleError, user_line
from .... import array_of, value, with_values
from .integrands import as_array, plainly, rebuilt, settling


@functools.wraps(integrate.qmc_quad)
def qmc_quad(func, a, b, *, n_estimates=8, n_points=1024, qrng=None, log=False):
    build, parameters, traced = rebuilt("qmc_quad", (func,), a, b)
    options = {"n_estimates": n_estimates, "n_points": n_points, "qrng": qrng, "log": log}
    if not traced:
        return integrate.qmc_quad(func, a, b, **options)
    line, drawn = user_line(), []

    def run(known, level):
        plain_func = plainly(*known, (), "qmc_quad", line, level)

        def own_func(x):
            drawn.append(x)
            return plain_func(x)

        return integrate.qmc_quad(own_func, value(a), value(b), **options)

    own = build.run_plain(run, "scipy.integrate.qmc_quad")
    a, b = (np.reshape(array_of(x), -1) for x in np.broadcast_arrays(a, b))
    points = [x for x in drawn if np.shape(x) == (len(a), n_points)][-n_estimates:]
    if log or len(points) < n_estimates:
        what = "log=True" if log else "a function that takes one point at a time"
        raise MissingRuleError(
            f"scipy.integrate.qmc_quad has no derivative for {what}, in {line}.\n"
            "  write np.log(qmc_quad(...).integral), of a function of points (n_dim, n_points)"
        )
    (func,) = build(*parameters)
    volume, means = np.prod(b - a), []
    for x in points:  # in the same places of a box whose corners move
        share = (x - value(a)[:, None]) / (value(b) - value(a))[:, None]
        means.append(np.mean(as_array(func(a[:, None] + share * (b - a)[:, None]))))
    estimates = volume * np.stack(means)
    error = np.std(estimates, ddof=1) / np.sqrt(n_estimates)
    return type(own)(*with_values((np.mean(estimates), error), (own[0], own[1])))


INSTEAD = {"qmc_quad": settling(qmc_quad)}
