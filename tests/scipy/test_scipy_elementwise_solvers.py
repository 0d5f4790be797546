"""scipy.optimize.elementwise: roots and minima, each entry of an array its own."""

import inspect

import numpy as np
import pytest
from modules_of_text import module_of

pytest.importorskip("scipy.optimize.elementwise")

from differences import slope_of

import chainrules as cr
from chainrules.scipy import optimize
from chainrules.scipy.optimize import elementwise


def root(a):
    return elementwise.find_root(lambda x, a: x**3 - a, (0.0, 3.0), args=(a,)).x


def captured_root(a):
    return elementwise.find_root(lambda x: x**3 - a, (0.0, 3.0)).x


def minimum(a):
    found = elementwise.find_minimum(
        lambda x, a: (x - a) ** 4 + x**2, (-1.0, 0.5 * a, 2.0 * a), args=(a,)
    )
    return found.x + 2.0 * found.f_x


POINTS = [1.0, np.array([0.5, 1.0, 8.0]), np.array([[2.0], [3.0]])]


@pytest.mark.parametrize("a", POINTS, ids=["number", "array", "matrix"])
def test_roots(a):
    slope = a ** (-2 / 3) / 3
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(root(a)))(a), slope, rtol=1e-10)
    np.testing.assert_allclose(cr.jvp(root, (a,), (a * 0 + 2.0,))[1], 2 * slope, rtol=1e-10)
    second = cr.grad(lambda a: np.sum(cr.grad(lambda a: np.sum(root(a)))(a)))(a)
    np.testing.assert_allclose(second, -2 / 9 * a ** (-5 / 3), rtol=1e-8)


def test_roots_of_what_the_function_captures():
    assert cr.grad(captured_root)(8.0) == pytest.approx(1 / 12)
    assert cr.jvp(captured_root, (8.0,), (1.0,)) == (pytest.approx(2.0), pytest.approx(1 / 12))


@pytest.mark.parametrize("a", POINTS, ids=["number", "array", "matrix"])
def test_minima(a):
    step = 1e-3  # SciPy finds a minimum to half of the digits
    expected = slope_of(minimum, (a,), (1.0,), step)
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(minimum(a)))(a), expected, rtol=1e-4)
    np.testing.assert_allclose(cr.jvp(minimum, (a,), (a * 0 + 1.0,))[1], expected, rtol=1e-4)


@pytest.mark.skipif(
    "kwargs" not in inspect.signature(elementwise.find_root).parameters, reason="not in this SciPy"
)
@pytest.mark.parametrize("a", POINTS, ids=["number", "array", "matrix"])
def test_arguments_by_name(a):
    def root(a, b=1.0):
        f, brackets = lambda x, b, *, a: x**3 - a * b, (0.0, 3.0)
        return elementwise.find_root(f, brackets, args=(b,), kwargs={"a": a}).x

    def minimum(a):
        f, brackets = lambda x, *, a: (x - a) ** 4 + x**2, (-1.0, 0.5 * a, 2.0 * a)
        return elementwise.find_minimum(f, brackets, kwargs={"a": a}).x

    slope, step = a ** (-2 / 3) / 3, 1e-3
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(root(a)))(a), slope, rtol=1e-10)
    np.testing.assert_allclose(cr.jvp(root, (a, 1.0), (a * 0 + 2.0, 0.0))[1], 2 * slope, rtol=1e-10)
    expected = slope_of(minimum, (a,), (1.0,), step)
    np.testing.assert_allclose(cr.jvp(minimum, (a,), (a * 0 + 1.0,))[1], expected, rtol=1e-4)
    with pytest.raises(cr.MissingRuleError, match="find_root needs no more"):
        cr.grad(lambda a: elementwise.bracket_root(lambda x, a: x - a, 0.0, kwargs={"a": a}).xl)(
            3.0
        )


def test_brackets_are_refused_in_words():
    def bracket(a):
        return elementwise.bracket_root(lambda x, a: x - a, 0.0, args=(a,)).bracket[0]

    with pytest.raises(cr.MissingRuleError, match="find_root needs no more"):
        cr.grad(bracket)(3.0)
    assert bracket(3.0) <= 3.0


def test_adopted_code_that_imports_it_when_it_runs():
    made = module_of(
        """
        def f(a):
            from scipy.optimize.elementwise import find_root
            return find_root(lambda x, a: x**3 - a, (0.0, 3.0), args=(a,)).x
        """,
        "adopted_elementwise",
    )
    with cr.adopt(made):
        assert cr.grad(made.f)(8.0) == pytest.approx(1 / 12)


def test_plain_calls_are_scipys():
    found = elementwise.find_root(lambda x: x - 1.0, (0.0, 3.0))
    assert type(found).__module__.startswith("scipy.")
    assert not hasattr(optimize, "elementwize")
