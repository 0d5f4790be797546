"""Packages of units in one vocabulary, and programs with their quantities; not a test itself."""

from typing import Any, NamedTuple

import numpy as np


class Units(NamedTuple):
    """A package of units: a unit by its name, and the number or array in a quantity."""

    unit: Any
    magnitude: Any  # of a quantity, in a unit

    def __call__(self, x, name):
        return x * self.unit(name)


def load(name):
    """Return a package of units, or None where it is not installed."""
    try:
        if name == "pint":
            import pint

            registry = pint.UnitRegistry()
            return Units(registry.Unit, lambda q, unit: q.to(registry.Unit(unit)).magnitude)
        if name == "astropy":
            from astropy import units

            return Units(units.Unit, lambda q, unit: q.to_value(units.Unit(unit)))
        import unyt

        return Units(unyt.Unit, lambda q, unit: q.to_value(unit))
    except ImportError:
        return None


PACKAGES = {name: load(name) for name in ("pint", "astropy", "unyt")}


# Functions of a quantity in km, an array of two, whose result is a length.
LENGTHS = {
    "sum": lambda u, q: np.sum(q),
    "mean": lambda u, q: q.mean(),
    "a constant": lambda u, q: q + u(500.0, "m"),
    "a constant on the left": lambda u, q: u(500.0, "m") - q,
    "square root": lambda u, q: np.sqrt(q * u(3.0, "m")),
    "square root of a square": lambda u, q: np.sqrt(q**2 + u(900.0, "m") ** 2),
    "hypotenuse": lambda u, q: np.hypot(q, u(900.0, "m")),
    "ratio": lambda u, q: q * np.exp(q / u(700.0, "m")),
    "angle": lambda u, q: q * np.sin(u(np.array([20.0, 30.0]), "degree")),
    "quotient": lambda u, q: q**3 / (q * u(2.0, "m")),
    "reciprocal": lambda u, q: u(1.0, "m") ** 2 / q,
    "speed": lambda u, q: q / u(2.0, "hour") * u(30.0, "s"),
    "index": lambda u, q: q[0] + q[1:],
    "mask": lambda u, q: q[q > u(1500.0, "m")],
    "where": lambda u, q: np.where(q > u(1500.0, "m"), q, 3 * q),
    "maximum": lambda u, q: np.maximum(q, u(1500.0, "m")),
    "concatenate": lambda u, q: np.concatenate([q, 2 * q]),
    "stack": lambda u, q: np.stack([q, q[::-1]]).T,
    "cumsum": lambda u, q: np.cumsum(q),
    "norm": lambda u, q: np.linalg.norm(q),
    "dot": lambda u, q: np.dot(q, q) / q[0],
    "reshape": lambda u, q: q.reshape((2, 1)) * np.ones(3),
    "negative": lambda u, q: abs(-q),
    "remainder": lambda u, q: q % u(300.0, "m"),
    "interpolation": lambda u, q: np.interp(u(1.25, "km"), q, q**2) / q[1],
    "trapezoid": lambda u, q: np.trapezoid(q, q / u(2.0, "m")),
    "loop": lambda u, q: sum((v for v in q), 0 * q[0]),
    "branch": lambda u, q: q * 2 if q[0] > u(1.0, "m") else q * 3,
    "standard deviation": lambda u, q: q.std(),
    "zeros": lambda u, q: q + np.zeros_like(q),
    "solve": lambda u, q: np.linalg.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), q),
    "in place": lambda u, q: in_place(u, q),
    "write": lambda u, q: write(u, q),
}


def in_place(u, q):
    y = q * 1.0
    y += u(2.0, "m")
    y -= q / 4
    return y


def write(u, q):
    y = q * 1.0
    first = y[:1]
    y[0] = y[1] * 2
    return y + first
