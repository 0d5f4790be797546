"""Text that a library runs by ``exec``, as SciPy's distributions do, is no state of the user's."""

import warnings

import numpy as np
import pytest

import chainrules as cr
from chainrules.scipy import optimize, stats

FROZEN = {
    "norm": lambda p: stats.norm(0, 2).logpdf(p),
    "gamma": lambda p: stats.gamma(2.0, scale=1.5).logpdf(p),
    "sum of priors": lambda p: stats.t(5).logpdf(p) + stats.expon(scale=2.0).logpdf(p),
    "draws": lambda p: p * np.sum(stats.norm(0, 1).rvs(3, random_state=0)),
}


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("transform", [lambda f: f, cr.grad], ids=["value", "gradient"])
def test_frozen_distributions_of_constants_are_one_recording(name, transform):
    f = transform(FROZEN[name])
    compiled = cr.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.CompileWarning)
        for p in (1.5, 1.2, 0.3, 1.5):
            np.testing.assert_allclose(compiled(p), f(p), rtol=1e-12)
    assert "1 recording>" in repr(compiled)


def test_text_of_the_users_is_state():
    """Its names are compared, also where a solver of SciPy's calls what it defines."""
    names = {"a": 2.0}
    residual = eval("lambda x, p: x - a * p", names)
    compiled = cr.compile(lambda p: optimize.brentq(lambda x: residual(x, p), -50.0, 50.0))
    assert compiled(1.5) == pytest.approx(3.0)
    assert compiled(2.5) == pytest.approx(5.0)
    names["a"] = 3.0
    assert compiled(2.5) == pytest.approx(7.5)


def test_text_that_the_users_function_runs_is_state():
    names = {"a": 2.0}

    def f(p):
        exec("def g(x): return a * x", names)
        return names["g"](p)

    compiled = cr.compile(f)
    for a in (2.0, 2.0, 3.0, 4.0):
        names["a"] = a
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.CompileWarning)
            try:
                assert compiled(1.5) == a * 1.5
            except cr.errors.CompileError:
                return  # it changes what it captures
