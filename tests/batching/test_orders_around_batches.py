"""Derivatives of batches by the equations that a value solves: orders inside and outside of vmap.

A step of Newton's method for each order gives such a value its derivatives. The orders that follow
the block of a batch count as those inside do.
"""

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import integrate, optimize, stats

XS = np.array([1.0, 2.4, 1.0, 1.7])
WEIGHTS = np.array([1.0, -2.0, 3.0, 0.5])


@cr.implicit(lambda y, a: y * y - a)
def root(a):
    return np.sqrt(cr.value(a))


@cr.implicit(lambda y, a: y**3 - a * np.array([1.0, 2.0]))
def roots(a):
    return np.cbrt(cr.value(a) * np.array([1.0, 2.0]))


@cr.fixed_point(lambda x, a: np.cos(a * x))
def iterated(a):
    a, x = cr.value(a), 0.0 * cr.value(a)
    for _ in range(200):
        x = np.cos(a * x)
    return x


VALUES = {
    "implicit": root,
    "implicit, and the argument": lambda a: root(a) * a,
    "implicit of two": lambda a: np.sum(np.sin(roots(a))),
    "fixed point": lambda a: iterated(0.3 * a),
    "integral": lambda a: integrate.quad(lambda t: np.exp(-a * t * t), 0.0, a)[0],
    "root": lambda a: optimize.brentq(lambda x: x**3 + x - a, 0.0, 5.0),
    "minimum": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 4 + (x - 1) ** 2).x,
    "quantile of gamma": lambda a: stats.gamma.ppf(0.3, a),
    "quantile of beta": lambda a: stats.beta.isf(0.3, a, 2.0),
    "median of a frozen one": lambda a: stats.gamma(a, scale=a).median(),
    "quantile of norm": lambda a: stats.norm.ppf(0.3 * a),
    "interval": lambda a: stats.norm.interval(0.3 * a)[1],
    "quantiles of t": lambda a: np.sum(stats.t.ppf(np.array([0.2, 0.7]), a)),
    "draw": lambda a: stats.gamma.rvs(a, random_state=3),
}
INNER = {
    "f": lambda f: f,
    "grad": cr.grad,
    "jvp": lambda f: lambda a: cr.jvp(f, (a,), (1.0,))[1],
    "second": lambda f: cr.grad(cr.grad(f)),
}
OUTER = {
    "grad": lambda g: cr.grad(lambda xs: np.sum(WEIGHTS * g(xs)))(XS),
    "jvp": lambda g: cr.jvp(g, (XS,), (WEIGHTS,))[1],
    "hessian": lambda g: cr.hessian(lambda xs: np.sum(WEIGHTS * g(xs)))(XS),
}


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.filterwarnings("ignore::chainrules.errors.BatchWarning")
def test_as_a_loop_over_the_items(name, inner, outer):
    g = INNER[inner](VALUES[name])
    expected = OUTER[outer](lambda xs: np.stack([g(x) for x in xs]))
    np.testing.assert_allclose(OUTER[outer](cr.vmap(g)), expected, rtol=1e-6, atol=1e-8)
