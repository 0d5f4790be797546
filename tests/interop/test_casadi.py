"""``interop.casadi``: functions of NumPy code in CasADi."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from random_functions import points_of_smooth, smooth

ca = pytest.importorskip("casadi")

import chainrules as cr
from chainrules.interop.casadi import export
from chainrules.testing import central_fdm

X, V = np.array([0.3, 0.5, 1.2]), np.array([1.0, 0.0, 2.0])


def energy(x):
    """Python that CasADi cannot trace."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.sin(x[i] * 1.3) * x[i - 1]
        if y[i] < 0.3:
            y[i] *= 2.0
    return np.sum(y * x)


def evaluate(build, *numbers):
    """Build expressions of one symbol for each of these, and evaluate them."""
    symbols = [ca.MX.sym("x", *ca.DM(x).shape) for x in numbers]
    y = build(*symbols)
    found = ca.Function("F", symbols, list(y) if isinstance(y, tuple) else [y])(*numbers)
    return tuple(map(np.array, found)) if isinstance(y, tuple) else np.array(found)


f = export(energy, 3)
TRANSFORMS = {
    "value": (lambda x: f(x) ** 2, lambda x: energy(x) ** 2),
    "gradient": (lambda x: ca.gradient(f(x) ** 2, x), cr.grad(lambda x: energy(x) ** 2)),
    "hessian": (lambda x: ca.hessian(f(x) ** 2, x)[0], cr.hessian(lambda x: energy(x) ** 2)),
    "jtimes": (
        lambda x: ca.jtimes(f(x) ** 2, x, ca.DM(V)),
        lambda x: cr.jvp(lambda x: energy(x) ** 2, (x,), (V,))[1],
    ),
    "hvp": (
        lambda x: ca.jtimes(ca.gradient(f(x), x), x, ca.DM(V)),
        lambda x: cr.hvp(energy, (x,), (V,)),
    ),
    "third": (
        lambda x: ca.jacobian(ca.hessian(f(x), x)[0] @ ca.DM(V), x),
        lambda x: cr.jacobian(lambda x: cr.hvp(energy, (x,), (V,)))(x),
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations(name):
    theirs, ours = TRANSFORMS[name]
    expected = ours(X)
    np.testing.assert_allclose(expected, evaluate(theirs, X).reshape(np.shape(expected)))


@settings(max_examples=15)
@given(points_of_smooth())
def test_random_points_against_finite_differences(point):
    (x, v, s), g = point, export(smooth, 3, ())

    def both(x, v, s):
        return ca.dot(v, ca.gradient(g(x, s), x)), v.T @ ca.hessian(g(x, s), x)[0] @ v

    found = np.ravel(evaluate(both, x, v, s))
    along = [central_fdm(5, k)(lambda t: smooth(x + t * v, s), 0.0) for k in (1, 2)]
    np.testing.assert_allclose(along, found, rtol=1e-5, atol=1e-5)


def test_a_jacobian_is_computed_at_once():
    calls = []

    def counted(x):
        calls.append(1)
        return np.cumsum(x) * x[0]

    g = export(counted, 3, result=3)
    x = ca.MX.sym("x", 3)
    jacobian = ca.Function("J", [x], [ca.jacobian(g(x), x)])
    calls.clear()
    np.testing.assert_allclose(cr.jacobian(lambda x: np.cumsum(x) * x[0])(X), jacobian(X).full())
    assert len(calls) <= 2


def test_matrices_and_several_results():
    a, b = np.arange(6.0).reshape(2, 3) / 3, np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]])

    def parts(a, b, s):
        return a @ b * s, np.sum(a * s, axis=1), np.sum(b)

    g = export(parts, (2, 3), (3, 2), (), result=[(2, 2), 2, ()])
    for expected, y in zip(parts(a, b, 2.0), evaluate(g, a, b, 2.0)):
        np.testing.assert_allclose(np.reshape(expected, y.shape), y)

    def at(i, x):
        return parts(*((x, b) if i == 0 else (a, x)), 2.0)[0]

    # CasADi counts entries column after column.
    for i, x in enumerate((a, b)):
        found = evaluate(lambda *xs, i=i: ca.jacobian(g(*xs)[0], xs[i]), a, b, 2.0)
        slopes = [cr.jvp(lambda x, i=i: at(i, x), (x,), (unit,))[1] for unit in units(x)]
        expected = np.stack([np.ravel(slope, order="F") for slope in slopes], axis=1)
        np.testing.assert_allclose(expected, found)


def units(x):
    for k in range(x.size):
        unit = np.zeros(x.size)
        unit[k] = 1.0
        yield unit.reshape(x.shape[::-1]).T


def test_ipopt_with_an_exact_hessian():
    rosenbrock = export(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), 4)
    disc = export(lambda x: np.array([x @ x, x[0] * x[1]]), 4, result=2)
    x = ca.MX.sym("x", 4)
    problem = {"x": x, "f": rosenbrock(x), "g": disc(x)}
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"}
    solver = ca.nlpsol("solver", "ipopt", problem, quiet)
    start = [1.3, 0.7, 0.8, 1.9]
    free = solver(x0=start)
    np.testing.assert_allclose(np.ones(4), free["x"].full().ravel(), rtol=1e-6)
    assert solver.stats()["success"]
    bound = solver(x0=start, ubg=[2.0, 0.5])
    assert solver.stats()["success"]
    assert solver.stats()["iter_count"] < 60
    # The same in CasADi's own operations.
    twin = ca.sum1(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    inside = ca.vertcat(ca.dot(x, x), x[0] * x[1])
    own = ca.nlpsol("own", "ipopt", {"x": x, "f": twin, "g": inside}, quiet)
    expected = own(x0=start, ubg=[2.0, 0.5])
    np.testing.assert_allclose(expected["x"].full(), bound["x"].full(), atol=1e-6)
    assert own.stats()["iter_count"] == solver.stats()["iter_count"]


def test_it_lives_as_long_as_its_expressions():
    # CasADi keeps no callback: what had gone was an error without a text.
    x = ca.MX.sym("x", 3)
    gradient = ca.Function("G", [x], [ca.gradient(export(energy, 3)(x), x)])
    gc.collect()
    np.testing.assert_allclose(cr.grad(energy)(X), gradient(X).full().ravel())


def test_in_our_transforms_it_is_the_function():
    np.testing.assert_allclose(cr.grad(energy)(X), cr.grad(f)(X))


def test_rules_are_asked():
    def bare(x):
        return x**3

    cr.scalar_rule(bare, lambda y, x: 100 * x)
    assert 200.0 == evaluate(lambda x: ca.gradient(export(bare, ())(x), x), 2.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("error", "run", "text"),
    [
        (TypeError, lambda: export(3), "export takes a function, not int"),
        (TypeError, lambda: export(np.sum, (2, 2, 2)), "no arrays of 3 axes"),
        (RuntimeError, lambda: evaluate(export(np.sin, 3), X), r"shapes \[\(3,\)\], and \[\(\)\]"),
        (RuntimeError, lambda: evaluate(export(lambda x: (x, x), 3, result=3), X), "was said"),
        (RuntimeError, lambda: evaluate(export(lambda x: x * 1j, ()), 1.0), "returned complex"),
        (RuntimeError, lambda: evaluate(export(lambda x: "a", ()), 1.0), "numbers and arrays only"),
        (RuntimeError, lambda: evaluate(export(lambda x: 1 / 0, ()), 1.0), "division by zero"),
    ],
)
def test_what_is_refused(error, run, text):
    with pytest.raises(error, match=text):
        run()
