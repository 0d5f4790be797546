"""Initial value problems with complex states in a recording: one step, as SciPy solves them."""

import numpy as np
import pytest

import chainrules as cr

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from cached import recordings

import chainrules.scipy

ours = chainrules.scipy.integrate
X, Z = np.array([[0, 1], [1, 0]], complex), np.diag([1, -1]).astype(complex)
LOWER = np.array([[0, 1], [0, 0]], complex)
P = np.array([1.0, 0.2, 0.3])


def commuted(h, r):
    rho = np.reshape(r, (2, 2))
    return np.ravel(-1j * (h @ rho - rho @ h))


def damped(h, c, r):
    rho = np.reshape(r, (2, 2))
    a = np.conj(np.swapaxes(c, 0, 1)) @ c
    return commuted(h, r) + np.ravel(c @ rho @ c.T - 0.5 * (a @ rho + rho @ a))


def lindblad(p, **options):
    """The matrices that the right-hand side captures are traced, and complex."""
    h, c = 0.5 * p[2] * Z + 0.5 * p[0] * X, np.sqrt(p[1]) * LOWER
    y0 = np.array([0, 0, 0, 1], complex)
    options = {"t_eval": [1.0, 3.0, 5.0], "rtol": 1e-7, "atol": 1e-9} | options
    return ours.solve_ivp(lambda t, r: damped(h, c, r), (0.0, 5.0), y0, **options)


def by_parameters(p):
    """The initial state moves as well."""
    y0 = np.array([0.6, 0.0, 0.0, 0.8], complex) * np.exp(1j * p[0])

    def slope(t, r, a, b):
        return commuted(a * Z + b * X, r) - 0.1 * r

    return ours.solve_ivp(slope, (0.0, 2.0), y0, t_eval=[1.0, 2.0], args=(p[1], p[2]), rtol=1e-7).y


FUNCTIONS = {
    "real": lambda p: np.real(lindblad(p).y[0]) @ np.arange(3.0),
    "squares": lambda p: np.sum(np.abs(lindblad(p).y) ** 2 * np.arange(4.0)[:, None]),
    "phases": lambda p: np.sum(np.angle(by_parameters(p))),
    "BDF": lambda p: np.real(lindblad(p, method="BDF").y[0]) @ np.arange(3.0),
}


@pytest.mark.parametrize("transform", [lambda f: f, cr.grad], ids=["value", "grad"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_one_recording(name, transform):
    plain = transform(FUNCTIONS[name])
    compiled = cr.compile(plain, fallback="error", check=False)
    for k in range(3):
        p = P * (1 + 0.01 * k)
        np.testing.assert_allclose(compiled(p), plain(p), 1e-10, 1e-12)
    assert recordings(compiled) == 1


def test_second_derivatives_by_few_numbers():
    def f(p):
        y0 = np.array([1.0 + 0.2j])

        def slope(t, z, a, b):
            return (1j * a - b) * z + 0.1 * np.conj(z)

        return np.sum(
            np.abs(ours.solve_ivp(slope, (0.0, 1.0), y0, t_eval=[1.0], args=(p[0], p[1])).y)
        )

    plain = cr.hessian(f)
    compiled = cr.compile(plain, fallback="error", check=False)
    for k in range(3):
        np.testing.assert_allclose(compiled(P * (1 + k / 9)), plain(P * (1 + k / 9)), 1e-9, 1e-11)
    assert recordings(compiled) == 1


def test_too_many_numbers_are_refused_at_once():
    """Matrices of 16 numbers are more than second derivatives are one step for."""
    compiled = cr.compile(cr.hessian(FUNCTIONS["real"]), fallback="error")
    with pytest.raises(
        cr.CompileError, match=r"solve_ivp in .*states\.py:\d+ has derivatives by 16"
    ):
        compiled(P)


def test_the_answer_is_scipys_to_the_last_bit():
    compiled = cr.compile(lambda p: lindblad(p).y, fallback="error")
    for k in range(3):
        np.testing.assert_array_equal(compiled(P * (1 + k / 9)), lindblad(P * (1 + k / 9)).y)
