"""``cr.ad``: exact derivatives for solvers, and a complaint where nobody understands it."""

import pickle

import numpy as np
import pytest
from modules_of_text import module_of

import chainrules as cr

SOLVERS = """
import numpy as np
from scipy import optimize
from scipy.integrate import solve_ivp

T = np.linspace(0.0, 1.0, 9)


def f(x):
    return np.sum((x - 1.0) ** 4 + x**2)


def minimized(ad):
    return optimize.minimize(f, np.zeros(2), jac=ad, tol=1e-10).x


def second(ad):
    return optimize.minimize(f, np.zeros(2), jac=ad, hess=ad, method="trust-exact").x


def fitted(ad):
    return optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), T, 2 * np.exp(-T), jac=ad)[0]


def squares(ad):
    return optimize.least_squares(lambda x: np.exp(x) - 2.0, np.zeros(2), jac=ad).x


def root(ad):
    return optimize.root(lambda x: x**3 - np.arange(1.0, 3.0), np.ones(2), jac=ad).x


def newton(ad):
    return np.array(optimize.newton(lambda x: x**3 - 2.0, 1.0, fprime=ad))


def constrained(ad):
    circle = optimize.NonlinearConstraint(lambda x: x @ x, 1.0, 1.0, jac=ad, hess=ad)
    options = {"method": "trust-constr", "constraints": circle}
    options["hess"] = lambda x: np.zeros((2, 2))
    return optimize.minimize(np.sum, [0.5, 0.6], jac=ad, **options).x


def integrated(ad):
    return solve_ivp(lambda t, y: -10 * y, (0, 1), [1.0], "Radau", jac=ad).y[:, -1]
"""
NAMES = [line[4:-5] for line in SOLVERS.splitlines() if line.endswith("(ad):")]


@pytest.mark.parametrize("name", NAMES)
def test_the_word_asks_for_exact_derivatives_in_adopted_modules(name):
    made = module_of(SOLVERS, "adopted_solvers")
    with cr.adopt(made):
        np.testing.assert_array_equal(getattr(made, name)(cr.ad), getattr(made, name)("ad"))


@pytest.mark.parametrize("name", NAMES)
def test_the_word_is_refused_where_it_is_not_understood(name):
    made = module_of(SOLVERS, "solvers_as_they_are")
    said = r"(?s)cr\.ad was handed to a solver of SciPy's own.*cr\.adopt.*chainrules\.scipy import"
    with pytest.raises(TypeError, match=said):
        getattr(made, name)(cr.ad)


def test_the_word_is_the_text_too():
    assert [cr.ad == "ad", cr.ad == "cs", cr.ad == 1] == [True, False, False]
    assert hash(cr.ad) == hash("ad")
    assert repr(cr.ad) == "cr.ad"
    assert pickle.loads(pickle.dumps(cr.ad)) is cr.ad
