"""``interop.autograd``: rules that were written for autograd, in programs of ours."""

import types

import numpy as np
import pytest

autograd = pytest.importorskip("autograd")

import autograd.numpy as anp
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats
from autograd.core import primitive_vjps
from autograd.extend import defjvp, defvjp, defvjp_argnums, primitive

import chainrules as cr
from chainrules.interop.autograd import adopt, adopt_module
from chainrules.testing import WrongDerivativeError, primal_with_tangent, test_frule, test_rrule

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 0.8, 4)
POSITIVE = X + 1
M = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
DEFINITE = M @ M.T


def constant(x):
    """An argument in which autograd has no derivative."""
    return primal_with_tangent(x, cr.NoTangent())


HALF_ORDER = constant(2.0)

# The arguments of each primitive of autograd.scipy.
CASES = {
    "stats.norm": (X, 0.1, 1.2),
    "stats.beta": (X, 2.0, 3.0),
    "stats.beta.cdf": (X, HALF_ORDER, constant(3.0)),
    "stats.gamma": (POSITIVE, 2.0),
    "stats.gamma.cdf": (POSITIVE, constant(2.0)),
    "stats.chi2": (POSITIVE, constant(3.0)),
    "stats.poisson": (np.arange(4), 2.5),
    "stats.t": (X, 3.0, 0.1, 1.2),
    "stats.t.cdf": (X, constant(3.0), 0.1, constant(1.2)),
    "stats.t.logcdf": (X, constant(3.0), 0.1, constant(1.2)),
    "stats.dirichlet": (np.array([0.3, 0.7]), np.array([2.0, 3.0])),
    "stats.multivariate_normal": (X[:3], np.zeros(3), DEFINITE),
    "stats.multivariate_normal.entropy": (np.zeros(3), DEFINITE),
    "special": (X,),
    "special.beta": (POSITIVE, POSITIVE + 1),
    "special.betaln": (POSITIVE, POSITIVE + 1),
    "special.betainc": (HALF_ORDER, constant(3.0), X),
    "special.gammainc": (HALF_ORDER, POSITIVE),
    "special.gammaincc": (HALF_ORDER, POSITIVE),
    "special.jn": (2, POSITIVE),
    "special.yn": (2, POSITIVE),
    "special.iv": (2.0, POSITIVE),
    "special.ive": (2.0, POSITIVE),
    "special.polygamma": (1, POSITIVE),
    "special.multigammaln": (3.5, 2),
    "linalg.sqrtm": (DEFINITE,),
    "linalg.solve_triangular": (np.tril(M), X[:3]),
    "linalg.solve_sylvester": (M, M + 1, M),
    "linalg.solve_banded": ((1, 1), M, X[:3]),
    "signal.convolve": (RNG.normal(size=6), RNG.normal(size=3)),
}
# What autograd itself has wrong.
SYMMETRISED = "the gradient in the covariance is symmetrised; SciPy reads one triangle"
NO_ORDER = "the derivative in the order is said to be 0"
WRONG_IN_AUTOGRAD = {
    "stats.multivariate_normal.pdf": SYMMETRISED,
    "stats.multivariate_normal.logpdf": SYMMETRISED,
    "stats.multivariate_normal.entropy": SYMMETRISED,
    "special.iv": NO_ORDER,
    "special.ive": NO_ORDER,
}


def primitives():
    """Yield the primitives with rules that autograd.scipy shows, by name."""
    seen = set()
    for family in ("stats", "linalg", "signal", "special"):
        for name, part in sorted(vars(getattr(autograd.scipy, family)).items()):
            inside = {f"{family}.{name}": part}
            if isinstance(part, types.ModuleType) and part.__name__.startswith("autograd.scipy"):
                own = primitives_of(part)
                inside = {f"{family}.{name}.{word}": f for word, f in own.items()}
            for full, f in inside.items():
                if callable(f) and f in primitive_vjps and f not in seen:
                    seen.add(f)
                    yield full, f


def primitives_of(module):
    """Return those that a module of distributions has, without those that it imports."""
    return {name: f for name, f in vars(module).items() if name not in dir(autograd.scipy.special)}


PRIMITIVES = dict(primitives())


def arguments_of(name):
    return CASES.get(name) or CASES.get(name.rpartition(".")[0]) or CASES["special"]


def check(test, name):
    options = {"lower": True} if name == "linalg.solve_triangular" else {}
    test(adopt(PRIMITIVES[name]), *arguments_of(name), **options)


def test_there_are_all_of_them():
    assert 62 == len(PRIMITIVES)


@pytest.mark.parametrize("test", [test_rrule, test_frule], ids=["rrule", "frule"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_rules_of_scipy_functions(name, test):
    if name in WRONG_IN_AUTOGRAD:
        with pytest.raises(WrongDerivativeError):
            check(test, name)
    else:
        check(test, name)
