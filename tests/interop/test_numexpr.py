"""Expressions of numexpr in adopted modules have derivatives, and the values of numexpr."""

import warnings

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

numexpr = pytest.importorskip("numexpr")

MODULE = """
import numexpr
import numexpr as ne
import numpy as np
from numexpr import evaluate

scale = 2.0


def of_dict(t, a):
    known = {"a": a, "b": 0.1, "t": t}
    return numexpr.evaluate("b + (1 - b) / (1 + exp(-a * (t - b)))", local_dict=known)


def of_caller(t, a):
    y = np.zeros(3)
    y[:] = a
    return evaluate("sum(where(y > 0.5, scale * y ** 2, sqrt(y)) * t)")


def of_remainder(t, a):
    return ne.evaluate("t % a + real(complex(t, a)) * arctan2(t, a)", casting="safe")


def into(t, a):
    y = np.zeros(3)
    ne.evaluate("t * a", out=y)
    return y


def indexed(t, a):
    return ne.evaluate("t[0]")
"""


@pytest.fixture
def module():
    made = module_of(MODULE, "adopted_numexpr")
    with cr.adopt(made):
        yield made


@pytest.mark.parametrize("name", ["of_dict", "of_caller", "of_remainder"])
def test_expressions_have_the_value_of_numexpr_and_derivatives(module, name):
    f, a = getattr(module, name), np.array([0.3, 0.7, 1.1])
    plain = getattr(module_of(MODULE, "plain_numexpr"), name)
    value = plain(1.3, a)
    np.testing.assert_array_equal(f(1.3, a), value)
    found, moved = cr.jvp(f, (1.3, a), (1.0, a))
    np.testing.assert_array_equal(found, value)
    np.testing.assert_allclose(moved, slope(lambda h: plain(1.3 + h, a + h * a), 0.0), rtol=1e-6)
    pulled = cr.vjp(f, 1.3, a)[1](np.ones_like(value))
    assert pulled[0] + pulled[1] @ a == pytest.approx(np.sum(moved))
    second = cr.hessian(lambda t: np.sum(f(t, a)))(1.3)
    assert second == pytest.approx(
        slope(lambda t: cr.grad(lambda t: np.sum(f(t, a)))(t), 1.3), rel=1e-6, abs=1e-8
    )
    np.testing.assert_array_equal(
        cr.vmap(f, (0, None))(np.array([1.3, 1.4]), a), [value, plain(1.4, a)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        compiled = cr.compile(cr.grad(lambda t: np.sum(f(t, a))))
        np.testing.assert_allclose(compiled(1.4), cr.grad(lambda t: np.sum(f(t, a)))(1.4))


def test_results_to_fill_and_what_numexpr_forbids_are_refused(module):
    a = np.array([0.3, 0.7, 1.1])
    with pytest.raises(cr.MissingRuleError, match="leave out= away"):
        cr.grad(lambda t: np.sum(module.into(t, a)))(1.3)
    np.testing.assert_array_equal(module.into(1.3, a), 1.3 * a)
    with pytest.raises(ValueError, match="forbidden"):
        cr.grad(lambda t: module.indexed(np.array([t]), a))(1.3)
