"""Classes that a user derives from SciPy's, in a module that is adopted."""

import copy
import sys
import types

import pytest
from differences import slope_of

import chainrules as cr

MODULE = '''
from abc import ABC

import numpy as np
from scipy.interpolate import (
    BSpline, CubicSpline, PPoly, RectBivariateSpline, RegularGridInterpolator, UnivariateSpline,
    interp1d,
)
from scipy.spatial.transform import Rotation
from scipy.stats import gaussian_kde

xs = np.arange(4.0)


class Form(ABC):
    """A base of another kind."""


class Polynomials(Form, PPoly):
    @property
    def breaks(self):
        return self.x

    def __call__(self, x):
        return 2 * super().__call__(x)


class Natural(CubicSpline):
    def __init__(self, y):
        super().__init__(xs, y, bc_type="natural")

    def twice(self, x):
        return 2 * self(x)


def samples(t):
    return np.stack([t, 2.0, t * t, 1.0])


def coefficients(t):
    return np.stack([np.stack([t, 2.0]), np.stack([-1.0, t])])


def at_traced_points(t):
    return Natural(xs**2).twice(0.5 * t) + Polynomials([[1.0, 2.0]], [0.0, 1.0, 2.0])(t)


def of_traced_coefficients(t):
    p = Polynomials(coefficients(t), [0.0, 1.0, 2.0])
    return p(0.5) + p(t) + p.breaks[1] + p.c[0, 0] + p.roots()[0] + p.integrate(0.2, t)


def made_without_checks(t):
    p = Polynomials.construct_fast(coefficients(t), np.array([0.0, 1.0, 2.0]))
    return p(0.5) + p.derivative()(0.3) + p.antiderivative()(1.2) + p.breaks[2] * t


def of_traced_samples(t):
    s = Natural(samples(t))
    return s.twice(0.5) + s.derivative(2)(0.7) + s.antiderivative()(t) + s.integrate(0.0, t)


def assigned(t):
    p = PPoly(np.ones((2, 2)), np.array([0.0, 1.0, 2.0]))
    p.c = coefficients(t)
    first = p(0.5)
    p.c = np.zeros((2, 2))
    return first + p(0.5)


def of_the_class_itself(t):
    return PPoly.construct_fast(coefficients(t), np.array([0.0, 1.0, 2.0]))(0.3)


class Line(interp1d):
    def __call__(self, x):
        return 2 * super().__call__(x)


class Grid(RegularGridInterpolator):
    pass


class Basis(BSpline):
    pass


class Smooth(UnivariateSpline):
    pass


class Sheet(RectBivariateSpline):
    pass


class Turn(Rotation):
    pass


class Density(gaussian_kde):
    pass


def of_line(t):
    return Line(xs, [1.0, 2.0, 0.0, 1.0])(t)


made = {
    "interp1d": lambda t: Line(xs, samples(t)),
    "RegularGridInterpolator": lambda t: Grid((xs,), samples(t)),
    "BSpline": lambda t: Basis(np.arange(6.0), samples(t), 1),
    "UnivariateSpline": lambda t: Smooth(xs, samples(t), s=0),
    "RectBivariateSpline": lambda t: Sheet(xs, xs, np.outer(samples(t), xs)),
    "Rotation": lambda t: Turn(samples(t)),
    "gaussian_kde": lambda t: Density(samples(t)),
}
'''


@pytest.fixture(scope="module")
def module():
    made = types.ModuleType("derived_classes")
    sys.modules[made.__name__] = made
    exec(MODULE, vars(made))
    with cr.adopt(made):
        yield made
    del sys.modules[made.__name__]


RIGHT = (
    "at_traced_points", "of_traced_coefficients", "made_without_checks", "of_traced_samples",
    "assigned", "of_the_class_itself", "of_line",
)  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("t", [1.1, 1.6])
def test_objects_of_derived_classes_are_followed(module, name, t):
    f, h = getattr(module, name), 1e-6
    slope = slope_of(f, (t,), (1.0,), h)
    plain, ydot = cr.jvp(f, (t,), (1.0,))
    y, xbar = cr.value_and_grad(lambda t: f(t) * 1.0)(t)
    assert f(t) == pytest.approx(float(y)) == pytest.approx(float(plain))
    assert float(xbar) == pytest.approx(slope, rel=1e-7, abs=1e-8)
    assert float(ydot) == pytest.approx(float(xbar), rel=1e-12)
    bend = (f(t + 1e-4) - 2 * f(t) + f(t - 1e-4)) / 1e-8
    assert float(cr.hvp(lambda t: f(t) * 1.0, (t,), (1.0,))) == pytest.approx(bend, abs=1e-5)


def test_an_object_is_of_its_class_whatever_it_is_made_of(module):
    def f(t):
        p = module.Polynomials(module.coefficients(t), [0.0, 1.0, 2.0])
        assert type(p) is type(p.derivative()) is module.Polynomials
        return p(0.5)

    assert cr.grad(f)(1.1) == pytest.approx(2 * 0.5)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_followed_as_well(module, copied):
    def f(t):
        return copied(module.Polynomials(module.coefficients(t), [0.0, 1.0, 2.0]))(0.5)

    assert cr.grad(f)(1.1) == pytest.approx(2 * 0.5)
    assert f(1.1) == pytest.approx(cr.value_and_grad(f)(1.1)[0])


BASES = "interp1d", "RegularGridInterpolator", "BSpline", "UnivariateSpline"
BASES += "RectBivariateSpline", "Rotation", "gaussian_kde"


@pytest.mark.parametrize("base", BASES)
def test_others_made_of_traced_values_are_refused(module, base):
    with pytest.raises(cr.MissingRuleError, match=rf"derived from scipy\.\S*{base}, is made of"):
        cr.jvp(module.made[base], (1.1,), (1.0,))
    module.made[base](1.1)


def test_bases_are_the_own_ones_again_after_adoption():
    from scipy.interpolate import PPoly

    made = types.ModuleType("derived_for_a_while")
    exec(MODULE, vars(made))
    bases = made.Polynomials.__bases__
    with cr.adopt(made):
        assert made.Polynomials.__bases__ != bases
        assert isinstance(made.Polynomials([[1.0]], [0.0, 1.0]), PPoly)
    assert made.Polynomials.__bases__ == bases
