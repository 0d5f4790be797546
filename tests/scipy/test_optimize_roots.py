"""Roots by scipy.optimize: SciPy's numbers, derivatives against differences of its answers."""

import checks_of_objects as checks
import numpy as np
import pytest

pytest.importorskip("scipy")
import scipy.optimize as own
from differences import jacobian_of

import chainrules as cr
from chainrules.scipy import optimize

check = checks.check

TIGHT = {"xtol": 1e-14, "rtol": 1e-14}
BRACKETED = ("bisect", "brenth", "brentq", "ridder", "toms748")


def cubic(x, a, b):
    return x**3 + b * x - a


@pytest.mark.parametrize("name", BRACKETED)
def test_bracketed_by_arguments_and_by_capture(name):
    solver = getattr(optimize, name)
    check(lambda a, b: solver(cubic, 0.0, 3.0, args=(a, b), **TIGHT), 2.0, 0.7)
    check(lambda a, b: solver(lambda x: cubic(x, a, b), 0.0, 3.0, **TIGHT), 2.0, 0.7)
    check(lambda a: solver(lambda x, b: cubic(x, a, b), 0.0, 3.0, args=a, **TIGHT), 2.0)


@pytest.mark.parametrize("name", BRACKETED)
def test_the_number_is_scipys(name):
    solve = getattr(own, name)(cubic, 0, 3, (2.0, 0.7))
    y, _ = cr.jvp(lambda a: getattr(optimize, name)(cubic, 0, 3, (a, 0.7)), (2.0,), (1.0,))
    assert (solve, type(solve)) == (y, type(y))
    again = getattr(optimize, name)(cubic, 0, 3, (2.0, 0.7))
    assert (solve, type(solve)) == (again, type(again))


def test_the_report():
    def both(a):
        x, report = optimize.brentq(cubic, 0.0, 3.0, args=(a, 0.7), full_output=True)
        assert report.converged
        assert isinstance(report.iterations, int)
        return np.stack([x, report.root])

    check(both, 2.0, rtol=1e-5)


def test_the_bracket_does_not_count():
    assert cr.grad(lambda b: b + optimize.brentq(lambda x: x - 1.0, 0.0, b))(3.0) == 1.0


# ---- newton, root_scalar ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {}, {"x1": 2.0}, {"fprime": lambda x, a: 3 * x * x},
        {"fprime": lambda x, a: 3 * x * x, "fprime2": lambda x, a: 6 * x},
        {"fprime": "ad"}, {"fprime": "ad", "fprime2": "ad"},
    ],
)  # fmt: skip
def test_newton(more):
    check(lambda a: optimize.newton(lambda x, a: x**3 - a, 1.5, args=(a,), **more), 2.0)


def test_newton_on_arrays():
    def solve(a, **options):
        return optimize.newton(lambda x, a: x**3 - a, np.full(3, 1.5), args=(a,), **options)

    a = np.array([2.0, 3.0, 1.2])
    check(lambda a: solve(a, tol=1e-13), a)
    check(lambda a: solve(a, tol=1e-13, full_output=True).root, a)
    check(lambda a: solve(a, fprime="ad", fprime2="ad"), a)
    assert cr.jvp(lambda a: solve(a, full_output=True)[1], (a,), (a,))[0].all()


def test_newton_on_equations_that_are_coupled():
    """SciPy takes each entry for an equation of its own, and may arrive all the same."""
    matrix = np.array([[1.0, 0.2], [0.1, 1.3]])

    def solve(a):
        return optimize.newton(
            lambda x: matrix @ x + 0.1 * x**3 - a, np.ones(2), tol=1e-12, maxiter=200
        )

    a = np.array([1.0, 2.0])
    expected = np.linalg.inv(matrix + np.diag(0.3 * solve(a) ** 2))
    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(a), expected, rtol=1e-9)


def test_single_precision():
    a = np.float32(2.0)
    for start in (np.float32(1.0), np.ones(3, np.float32)):
        y, ydot = cr.jvp(lambda a, s=start: optimize.newton(lambda x: x**3 - a, s), (a,), (a,))
        plain = own.newton(lambda x: x**3 - a, start)
        assert (np.shape(plain), plain.dtype) == (np.shape(y), y.dtype)
        assert y.dtype == ydot.dtype
        np.testing.assert_allclose(ydot, 2 / 3 * 2.0 ** (-2 / 3), rtol=1e-5)
    assert cr.grad(lambda a: optimize.brentq(lambda x: x**3 - a, 0, 3))(a).dtype == np.float32


def test_blocks_and_patterns():
    def solve(a):
        return optimize.root(lambda x: x**3 + x - a, np.ones(4), tol=1e-13).x

    a = np.arange(1.0, 5.0)
    expected = np.diag(1 / (3 * solve(a) ** 2 + 1))
    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve, sparse=True)(a).toarray(), expected, atol=1e-12)
    block = cr.linearize(solve, a)[1](np.eye(4), block=True)
    np.testing.assert_allclose(block, expected, atol=1e-12)
    products = cr.hvp(lambda a: np.sum(solve(a) ** 2), (a,), (np.eye(4),), block=True)
    np.testing.assert_allclose(products, cr.hessian(lambda a: solve(a) @ solve(a))(a), atol=1e-12)


def test_newton_finds_complex_roots():
    def solve(a, where):
        z = where.newton(lambda z: z**2 + a * z + 1.0, 0.3 + 1j, tol=1e-13)
        return np.stack([np.real(z), np.imag(z)])

    check(lambda a: solve(a, optimize), 0.5)
    np.testing.assert_array_equal(solve(0.5, own), solve(0.5, optimize))


METHODS = [
    *((name, {"bracket": (0, 3)}) for name in BRACKETED),
    ("newton", {"x0": 1.5, "fprime": lambda x, a: 3 * x**2}),
    ("newton", {"x0": 1.5, "fprime": "ad"}),
    ("secant", {"x0": 1.5, "x1": 1.2}),
    ("halley", {"x0": 1.5, "fprime": "ad", "fprime2": "ad"}),
]


@pytest.mark.parametrize(("method", "more"), METHODS)
def test_root_scalar(method, more):
    def solve(a):
        found = optimize.root_scalar(
            lambda x, a: x**3 - a, args=(a,), method=method, xtol=1e-13, rtol=1e-13, **more
        )
        assert found.converged
        return found.root

    check(solve, 2.0)


def test_root_scalar_of_a_function_that_gives_its_derivatives():
    def f(x, a):
        return x**3 - a, 3 * x**2, 6 * x

    check(lambda a: optimize.root_scalar(f, (a,), x0=1.5, fprime=True, fprime2=True).root, 2.0)
    check(lambda a: optimize.root_scalar(lambda x: f(x, a)[:2], x0=1.5, fprime=True).root, 2.0)


def test_fixed_point():
    def step(x, a, b):
        return a * np.cos(b * x)

    tight = {"xtol": 1e-14}
    check(lambda a, b: optimize.fixed_point(step, 0.5, (a, b), **tight), 0.9, 0.8)
    check(lambda a: optimize.fixed_point(lambda x: step(x, a, 0.7), [0.5, 0.6], **tight), [0.9, 1])
    mixing = np.array([[0.3, 0.2], [-0.1, 0.4]])
    check(
        lambda a: optimize.fixed_point(
            lambda x: np.tanh(mixing @ x) + a, np.zeros(2), method="iteration", **tight
        ),
        [0.3, -0.2],
    )


# ---- systems ------------------------------------------------------------------------------------


def system(x, p):
    return [x[0] ** 2 + x[1] - p[0], x[1] ** 3 - p[1] * x[0] - 0.5]


def system_array(x, p):
    return np.stack([x[0] ** 2 + x[1] - p[0], x[1] ** 3 - p[1] * x[0] - 0.5])


P, START = np.array([2.0, 0.5]), np.ones(2)


@pytest.mark.parametrize("f", [system, system_array])
@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "anderson", "krylov", "df-sane"])
def test_root(f, method):
    def plain(p):
        return own.root(f, START, (p,), method="hybr", tol=1e-14).x

    def solve(p):
        return optimize.root(f, START, (p,), method=method, tol=1e-13).x

    close = np.max(np.abs(plain(P) - solve(P)))
    assert close < 1e-6
    expected = jacobian_of(plain, P, 1e-4)
    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(mode(solve)(P), expected, rtol=1e-6, atol=1e-7)
    if method in ("hybr", "lm"):
        check(solve, P)
        check(lambda p: optimize.root(lambda x: f(x, p), START, method=method, tol=1e-13).x, P)


def test_the_result_of_root():
    def solve(p, where=optimize):
        return where.root(system, START, (p,), jac="ad" if where is optimize else None)

    y = cr.jvp(lambda p: optimize.root(system, START, (p,)).x, (P,), (P,))[0]
    np.testing.assert_array_equal(own.root(system, START, (P,)).x, y)
    found = []
    cr.jvp(lambda p: found.append(solve(p)) or np.sum(found[0].fun), (P,), (P,))
    assert found[0].success
    assert isinstance(found[0].nfev, int)
    assert "success" in repr(found[0])
    np.testing.assert_allclose(cr.jacfwd(lambda p: solve(p).fun)(P), np.zeros((2, 2)), atol=1e-12)


def test_root_with_a_jacobian_of_the_users():
    def pair(x, p):
        return system_array(x, p), np.array([[2 * x[0], 1.0], [-cr.value(p[1]), 3 * x[1] ** 2]])

    check(lambda p: optimize.root(pair, START, (p,), jac=True, tol=1e-13).x, P)
    check(
        lambda p: (
            optimize.root(
                lambda x: system_array(x, p), START, jac=lambda x: pair(x, p)[1], tol=1e-13
            ).x
        ),
        P,
    )


def test_more_equations_than_unknowns():
    t = np.linspace(0, 1, 6)

    def residual(x, y):
        return x[0] * np.exp(-x[1] * t) - y

    y = 2 * np.exp(-t) + 0.1 * np.cos(9 * t)
    check(lambda y: optimize.root(residual, START, (y,), method="lm", tol=1e-15).x, y, rtol=1e-5)


def test_fsolve():
    check(lambda p: optimize.fsolve(system, START, args=p, xtol=1e-13), P)
    check(lambda p: optimize.fsolve(system_array, START, (p,), fprime="ad", xtol=1e-13), P)

    def everything(p):
        x, info, flag, message = optimize.fsolve(
            lambda x: system(x, p), START, full_output=True, xtol=1e-13
        )
        assert (flag, type(info["nfev"]), type(message)) == (1, int, str)
        with pytest.raises(cr.MissingRuleError, match="the field 'fjac'"):
            info["fjac"]
        return np.concatenate([x, info["fvec"]])

    for mode in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(
            mode(everything)(P)[:2], cr.jacfwd(lambda p: optimize.fsolve(system, START, p))(P),
            rtol=1e-6,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["anderson", "broyden1", "broyden2", "newton_krylov"])
def test_iterations(name):
    def solve(p):
        x = getattr(optimize, name)(lambda x: system_array(x, p), START, f_tol=1e-12)
        return np.sum(x * x)

    expected = cr.grad(lambda p: np.sum(optimize.root(system, START, p, tol=1e-13).x ** 2))(P)
    for mode in (cr.grad, cr.jacfwd):
        np.testing.assert_allclose(mode(solve)(P), expected, rtol=1e-7)


@pytest.mark.parametrize("name", ["linearmixing", "excitingmixing", "diagbroyden"])
def test_iterations_that_mix(name):
    def solve(a):
        return getattr(optimize, name)(lambda x: 0.3 * np.sin(x) - x + a, np.ones(2), f_tol=1e-10)

    a = np.array([2.0, 1.5])
    x = solve(a)
    expected = np.diag(1 / (1 - 0.3 * np.cos(x)))
    np.testing.assert_allclose(cr.jacrev(solve)(a), expected, rtol=1e-8)


# ---- parameters in containers, solvers in solvers -----------------------------------------------


def test_parameters_in_a_dict_by_argument_and_by_capture():
    p = {"a": 2.0, "b": np.array([0.7, 0.1])}

    def by_argument(p):
        return optimize.brentq(lambda x, p: cubic(x, p["a"], np.sum(p["b"])), 0, 3, (p,), **TIGHT)

    def by_capture(p):
        return optimize.brentq(lambda x: cubic(x, p["a"], np.sum(p["b"])), 0, 3, **TIGHT)

    x = by_argument(p)
    slope = 3 * x**2 + 0.8
    for solve in (by_argument, by_capture):
        found = cr.grad(solve)(p)
        assert found["a"] == pytest.approx(1 / slope)
        np.testing.assert_allclose(found["b"], [-x / slope] * 2)


def test_a_method_of_an_object_whose_fields_are_traced():
    class Model:
        def __init__(self, a):
            self.a = a
            self.calls = 0
            self.kept = None

        def f(self, x):
            self.calls += 1
            if self.kept is None:
                self.kept = self.a * 2.0  # made once, at the first call: it is traced, too
            return x**3 - self.kept

    models = []

    def solve(a):
        models.append(Model(a))
        return optimize.brentq(models[-1].f, 0.0, 3.0, **TIGHT)

    check(solve, 2.0)
    assert models[0].calls > 5


def test_a_root_in_a_root_in_an_integral_of_steps():
    def inner(x, a):
        return optimize.brentq(lambda z: z**3 + z - x * a, -5.0, 5.0, **TIGHT)

    def outer(a):
        return optimize.newton(lambda x: x + inner(x, a) - 2.0, 1.0, tol=1e-13)

    check(outer, 1.3)
    assert cr.grad(cr.grad(outer))(1.3) == pytest.approx(cr.jacfwd(cr.grad(outer))(1.3))


def test_a_derivative_in_the_function():
    def stationary(a):
        return optimize.brentq(cr.grad(lambda x: x**4 / 4 - a * x), 0.0, 3.0, **TIGHT)

    check(stationary, 2.0)


# ---- what may go wrong --------------------------------------------------------------------------


def test_a_double_root():
    with pytest.raises(cr.SingularJacobianError, match="singular") as caught:
        cr.grad(lambda a: optimize.newton(lambda x: (x - a) ** 2, 1.7, tol=1e-9, maxiter=200))(1.0)
    assert "test_optimize_roots.py:" in str(caught.value)


def test_no_convergence():
    def solve(a):
        return optimize.root(
            lambda x: np.arctan(x) - a, [3.0], method="hybr", options={"maxfev": 2}
        ).x[0]

    with pytest.warns(cr.ConvergenceWarning, match="from a solution of its equations"):
        cr.grad(solve)(0.1)
    with pytest.raises(RuntimeError, match="Failed to converge"):
        cr.grad(lambda a: optimize.brentq(lambda x: x**3 - a, 0, 3, maxiter=2))(2.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_from_the_function():
    with pytest.raises(cr.SingularJacobianError, match="not finite"):
        cr.grad(lambda a: optimize.fsolve(lambda x: np.sqrt(-x) * a, [1.0])[0])(2.0)


class OwnError(Exception):
    pass


def test_an_exception_of_the_users_arrives():
    calls = []

    def fails(x, a):
        calls.append(x)
        if len(calls) == 4:
            raise OwnError("mine")
        return x**3 - a

    for transform in (cr.grad, cr.jacfwd):
        calls.clear()
        with pytest.raises(OwnError, match="mine"):
            transform(lambda a: optimize.brentq(fails, 0.0, 3.0, (a,)))(2.0)
    assert cr.grad(lambda a: optimize.brentq(cubic, 0.0, 3.0, (a, 0.0)))(1.0) == pytest.approx(
        1 / 3
    )


def test_wrong_arguments_are_scipys_errors():
    for wrong in (
        lambda a: optimize.brentq(cubic, 0.0, a, (a, 0.0), 1, 2, 3, 4, 5, 6, 7),
        lambda a: optimize.brentq(),
        lambda a: optimize.brentq(cubic, 0.0, 3.0, (a, 0.0), tolerance=1),
        lambda a: optimize.root(),
    ):
        with pytest.raises(TypeError, match="argument"):
            cr.grad(wrong)(2.0)
    with pytest.raises(ValueError, match="different signs"):
        cr.grad(lambda a: optimize.brentq(cubic, 2.0, 3.0, (a, 0.0)))(1.0)
    with pytest.raises(TypeError, match="shape"):
        cr.grad(lambda a: optimize.fsolve(lambda x: a * np.ones(3), np.ones(2))[0])(1.0)


def test_plain_calls_make_the_same_calls_of_the_function():
    for name in BRACKETED:
        counts = []
        for where in (own, optimize):
            calls = []
            getattr(where, name)(lambda x, calls=calls: calls.append(x) or x**3 - 2.0, 0, 3)
            counts.append(calls)
        assert counts[0] == counts[1]


@pytest.mark.parametrize("sequence", [tuple, list, cr.array])
def test_what_follows_x_in_any_sequence(sequence):
    def found(a):
        return optimize.newton(lambda x, a, b: x**2 - a * b, 1.0, args=sequence([a, 2.0]))

    np.testing.assert_allclose(cr.grad(found)(2.0), 0.5)
