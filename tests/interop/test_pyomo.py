"""Pyomo: a function of NumPy code as an external function, with our derivatives; its variables."""

import numpy as np
import pytest

pyo = pytest.importorskip("pyomo.environ")
from pyomo.core.expr.calculus.derivatives import Modes, differentiate

import chainrules as cr


def external(f):
    """Return an external function of Pyomo with the first and second derivatives of ``f``."""
    gradient, hessian = cr.grad(lambda z: f(*z)), cr.hessian(lambda z: f(*z))

    def fgh(args, fgh, fixed):
        z = np.array(args)
        rows = hessian(z) if fgh == 2 else None
        lower = None if rows is None else [rows[i, j] for i in range(len(z)) for j in range(i + 1)]
        return f(*args), gradient(z).tolist() if fgh else None, lower

    return pyo.ExternalFunction(fgh=fgh)


def smooth_drag(a, b):
    return np.exp(-a) * np.sin(b) + a * b**2


def test_an_external_function_has_our_gradient():
    m = pyo.ConcreteModel()
    m.a, m.b = pyo.Var(initialize=0.4), pyo.Var(initialize=1.2)
    m.drag = external(smooth_drag)
    expression = m.drag(m.a, m.b) ** 2 + m.a
    value = lambda a, b: smooth_drag(a, b) ** 2 + a  # noqa: E731
    assert pyo.value(expression) == pytest.approx(value(0.4, 1.2))
    slopes = differentiate(expression, wrt_list=[m.a, m.b], mode=Modes.reverse_numeric)
    np.testing.assert_allclose(slopes, cr.grad(value, (0, 1))(0.4, 1.2))


def test_a_traced_value_among_variables_is_refused_or_followed():
    m = pyo.ConcreteModel()
    m.a = pyo.Var(initialize=1.0)
    with pytest.raises(cr.LostDerivativeError, match=r"write cr\.value"):
        cr.grad(lambda x: pyo.value(x * m.a))(2.0)
    assert cr.grad(lambda x: pyo.value((m.a + x) ** 2))(2.0) == 6.0

    def at(x):
        m.a.set_value(x)
        return pyo.value(m.a**2)

    assert cr.grad(at)(2.0) == 4.0
