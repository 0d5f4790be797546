"""Second and third derivatives of loops: one recording, for other numbers of rounds, too."""

import numpy as np
import pytest
from derivatives import by_jvp

import chainrules as cr

pytest.importorskip("llvmlite")


def decayed(a):
    return cr.while_loop(lambda s: s > 0.5, lambda s: 0.3 * s * s, 3.0 * a)


def of_two(a):
    s, t = cr.while_loop(lambda c: c[0] < 4.0, lambda c: (c[0] * a + 0.5, np.sin(c[1]) * a), (a, a))
    return s * t


def counted(a):
    return cr.loop(7, lambda s: np.sin(s * a) + 0.1 * s, a)


def scanned(a):
    s, ys = cr.scan(lambda s, x: (np.cos(s * a) * x, s * s), a, np.linspace(0.5, 1.0, 6))
    return s + np.sum(ys)


ORDERS = {
    "reverse over reverse": lambda f: cr.grad(cr.grad(f)),
    "forward over reverse": lambda f: by_jvp(cr.grad(f)),
    "reverse over forward": lambda f: cr.grad(by_jvp(f)),
    "three times reverse": lambda f: cr.grad(cr.grad(cr.grad(f))),
    "forward over both": lambda f: by_jvp(cr.grad(cr.grad(f))),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", [decayed, of_two, counted, scanned], ids=lambda f: f.__name__)
def test_as_eager(f, order):
    derivative = ORDERS[order](f)
    compiled = cr.compile(derivative, fallback="error")
    for a in (1.0, 1.05, 1.1, 0.93, 1.0):
        np.testing.assert_allclose(compiled(a), derivative(a), rtol=1e-10)
    assert "1 recording" in str(compiled)
