"""pint's quantities: as values inside, as arguments and as results; derivatives are plain."""

import numpy as np
import pytest
from differences import jacobian_of

import chainrules as cr

pint = pytest.importorskip("pint")
u = pint.UnitRegistry()
P = np.array([1.0, 2.0])
KM = u.Quantity(P, "km")

# Functions of plain numbers, with quantities inside, in which a unit is converted somewhere.
INSIDE = {
    "left": lambda p: (p * u.Quantity(2.0, "km")).to("m").magnitude,
    "right": lambda p: (u.Quantity(2.0, "km") * p).to("m").magnitude,
    "an array on the right": lambda p: (p * KM).to("m").magnitude,
    "unit": lambda p: (p * u("km") / (20.0 * u("m")) * u.s).to("ms").magnitude,
    "ratio": lambda p: np.exp((p * u("km")) / (2000.0 * u("m"))).magnitude,
    "sum": lambda p: (p * u.m + 2 * u.km).to("cm").magnitude,
    "divided by": lambda p: (3.0 / (p * u.s)).to("1/ms").magnitude,
    "power": lambda p: ((p * u.m) ** 2).to("km**2").magnitude,
    "root": lambda p: np.sqrt(p * u.km**2).to("m").magnitude,
    "angle": lambda p: np.sin(p * u.deg).magnitude,
    "stack": lambda p: np.stack([p * u.m, 2 * p * u.km]).to("m").magnitude,
    "where": lambda p: np.where(p * u.m > 1500 * u.mm, p * u.m, p**2 * u.km).to("m").magnitude,
    "offset": lambda p: u.Quantity(p, "degC").to("kelvin").magnitude * p,
    "dot": lambda p: np.dot(p * u.m, KM).to("m**2").magnitude,
    "norm": lambda p: np.linalg.norm(p * u.km).to("m").magnitude,
    "index": lambda p: (p * u.km)[0].to("m").magnitude * p,
    "reduce": lambda p: np.sum(p * KM).to("m").magnitude,
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside(name):
    f = INSIDE[name]
    for transform in (cr.jacfwd, cr.jacrev):
        jacobian = transform(f)(P)
        assert type(jacobian) is np.ndarray
        np.testing.assert_allclose(jacobian, jacobian_of(f, P), rtol=1e-6)
    y, _ = cr.vjp(f, P)
    np.testing.assert_array_equal(y, f(P))


# Results and arguments: the derivative is that of the magnitude, in the units as they stand.
def test_a_result():
    y, pullback = cr.vjp(lambda p: (p * u("m/s")).to("km/h"), P)
    assert y.units == u("km/h").units
    np.testing.assert_allclose(y.magnitude, 3.6 * P)
    np.testing.assert_allclose(pullback(np.ones(2))[0], [3.6, 3.6])
    np.testing.assert_allclose(cr.jacobian(lambda p: u.Quantity(p, "m") * 2)(P), 2 * np.eye(2))
    assert cr.grad(lambda k: k**2 * u.Quantity(2.0, "m"))(3.0) == 12.0
    assert cr.grad(lambda k: np.sum(u.Quantity(np.ones(3), "m") * k))(3.0) == 3.0
    gradient = cr.grad(lambda p: np.sum(np.exp((p * u("km")) / (2000.0 * u("m")))))(P)
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, np.exp(P / 2) / 2)


def test_an_argument():
    gradient = cr.grad(lambda q: np.sum((q**2).to("m**2").magnitude))(KM)
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, 2e6 * P)
    assert cr.grad(lambda q: (q**2).magnitude)(u.Quantity(3.0, "km")) == 6.0
    _, ydot = cr.jvp(lambda q: {"area": q**2}, (KM,), (P,))
    np.testing.assert_array_equal(ydot["area"], 2 * P**2)
    np.testing.assert_array_equal(cr.hessian(lambda q: np.sum(q**3))(KM), np.diag(6 * P))
    with pytest.raises(cr.TangentError, match="plain number or array"):
        cr.jvp(lambda q: q, (KM,), (KM,))


def test_an_error_of_units_is_that_of_pint():
    with pytest.raises(pint.DimensionalityError):
        cr.grad(lambda p: np.sum(p * u.m + 1 * u.s))(P)


METHODS = {
    name: lambda q, name=name: getattr(q, name)()
    for name in ("sum", "mean", "max", "min", "std", "var", "prod", "cumsum", "ravel", "squeeze",
                 "flatten", "transpose", "round", "conj", "copy", "real", "imag")
    if callable(getattr(np.ndarray, name))
} | {
    "dot": lambda q: q.dot(q),
    "take": lambda q: q.take([1, 0]),
    "repeat": lambda q: q.repeat(2),
    "trace": lambda q: q.reshape((2, 1)).trace(),
    "clip": lambda q: q.clip(1.2 * q.units, 1.8 * q.units),
    "sum of an axis": lambda q: q.reshape((2, 1)).sum(axis=0),
    "item": lambda q: q[:1].item(),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_arrays_keep_the_unit(name):
    f, x = METHODS[name], np.array([1.5, 2.25])
    expected, seen = f(x * u.km), []

    def loss(q):
        y = f(q)
        seen.append(y)
        return np.sum(y.to_base_units().magnitude ** 2)

    y, gradient = cr.value_and_grad(loss)(x * u.km)
    assert type(seen[0]) is type(expected)
    assert seen[0].units == expected.units
    assert y == pytest.approx(loss(x * u.km))
    steps = [loss((x + h * v) * u.km) for v in np.eye(2) for h in (1e-6, -1e-6)]
    slopes = (np.array(steps[::2]) - steps[1::2]) / 2e-6
    if name != "round":
        np.testing.assert_allclose(np.asarray(gradient), slopes, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(cr.jacfwd(loss)(x * u.km)), np.asarray(gradient))
