"""cr.implicit and cr.fixed_point: answers of solvers that nobody differentiates."""

import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from derivatives import by_jvp

import chainrules as cr
from chainrules.rules.rulesets.functions.implicit import Watched, solution


@cr.implicit(lambda x, a: x**2 - a)
def square_root(a):
    assert type(a) in (float, np.float64)
    return float(np.sqrt(a))


def nested(f, modes):
    """Differentiate a function of a number once for each of ``modes``."""
    derivatives = {
        "forward": by_jvp,
        "reverse": cr.grad,
        "columns": cr.jacfwd,
        "pushed": lambda f: lambda x: cr.linearize(f, x)[1](1.0),
    }
    for mode in modes:
        f = derivatives[mode](f)
    return f


# The derivatives of the square root at 4.
EXPECTED = [2.0, 1 / 4, -1 / 32, 3 / 256, -15 / 2048]


@pytest.mark.parametrize(
    "modes",
    [
        *(["forward"] * n for n in range(5)), *(["reverse"] * n for n in range(1, 5)),
        ["forward", "reverse"], ["reverse", "forward"], ["reverse", "forward", "reverse"],
        ["forward", "reverse", "forward", "columns"], ["pushed", "reverse", "columns"],
    ],
)  # fmt: skip
def test_every_order_in_every_mix_of_modes(modes):
    assert EXPECTED[len(modes)] == pytest.approx(nested(square_root, modes)(4.0), rel=1e-12)


def test_captured_values_count_as_arguments_do():
    def captured(a):
        @cr.implicit(lambda x: x**2 - a)
        def solve():
            return float(np.sqrt(cr.value(a)))

        return solve()

    for order in range(4):
        assert EXPECTED[order] == pytest.approx(nested(captured, ["reverse"] * order)(4.0))


def test_derivatives_of_two_levels_stay_apart():
    def inner(b):
        return b * cr.grad(lambda a: square_root(a * b))(b)

    def by_hand(b):
        return b * cr.grad(lambda a: np.sqrt(a * b))(b)

    for outer in (cr.grad, cr.jacfwd):
        assert float(outer(by_hand)(1.7)) == pytest.approx(float(outer(inner)(1.7)))


@dataclasses.dataclass
class State:
    u: np.ndarray
    s: float


def test_containers_in_and_out():
    def residual(x, p):
        return {"u": p.u @ x["u"] - x["s"], "s": x["s"] ** 3 - p.s}

    @cr.implicit(residual)
    def solve(p):
        s = float(np.cbrt(p.s))
        return {"u": np.linalg.solve(p.u, s * np.ones(2)), "s": s}

    def by_hand(p):
        return np.sum(np.linalg.solve(p.u, p.s ** (1 / 3) * np.ones(2)) ** 2)

    p = State(np.array([[3.0, 1.0], [0.5, 2.0]]), 2.0)
    found, expected = cr.grad(lambda p: np.sum(solve(p)["u"] ** 2))(p), cr.grad(by_hand)(p)
    np.testing.assert_allclose(found.u, expected.u, rtol=1e-12)
    assert expected.s == pytest.approx(found.s)
    vector, unflatten = cr.flatten(p)
    np.testing.assert_allclose(
        cr.hessian(lambda v: np.sum(solve(unflatten(v))["u"] ** 2))(vector),
        cr.hessian(lambda v: by_hand(unflatten(v)))(vector),
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip


def test_complex_unknowns_and_functions_that_are_not_holomorphic():
    @cr.implicit(lambda z, a: z * np.conj(z) * z - (a + 2j))
    def solve(a):
        w = a + 2j
        return w / abs(w) ** (2 / 3)

    def by_hand(a):
        w = a + 2j
        return w / np.abs(w) ** (2 / 3)

    for part in (np.real, np.imag):
        for mode in (cr.grad, cr.jacfwd, cr.hessian):
            expected = mode(lambda a, part=part: part(by_hand(a)))(1.3)
            found = mode(lambda a, part=part: part(solve(a)))(1.3)
            assert float(expected) == pytest.approx(float(found), rel=1e-10)


def test_float32_stays_float32():
    @cr.implicit(lambda x, a: x * x - a)
    def solve(a):
        return np.sqrt(a)

    a = np.array([1.0, 4.0], np.float32)
    y, ydot = cr.jvp(solve, (a,), (np.ones_like(a),))
    assert (y.dtype, ydot.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(ydot, [0.5, 0.25], rtol=1e-6)
    assert cr.grad(lambda a: np.sum(solve(a)))(a).dtype == np.float32


def test_nothing_to_solve():
    solve = cr.implicit(lambda x, a: x - a)(lambda a: a)
    assert cr.jacobian(solve)(np.zeros(0)).shape == (0, 0)


def test_a_solver_of_plain_values_is_called_once_and_without_a_derivative():
    calls = []

    @cr.implicit(lambda x, a: x - a)
    def solve(a):
        calls.append(a)
        return a

    assert solve(3.0) == 3.0
    assert cr.grad(solve)(2.0) == 1.0
    assert calls == [3.0, 2.0]


def test_an_answer_that_does_not_depend_on_what_is_traced():
    assert cr.grad(lambda a: a * cr.implicit(lambda x, a: x - 3.0)(lambda a: 3.0)(a))(2.0) == 3.0


def test_a_watched_function_is_still_the_users():
    watched = pickle.loads(pickle.dumps(Watched(np.sin)))
    assert (watched.__name__, watched(0.0), watched.config) == ("sin", 0.0, None)
    assert not hasattr(watched, "nothing")


# ---- fixed points -------------------------------------------------------------------------------


def test_fixed_point():
    def step(x, a):
        return {"x": np.cos(a * x["y"]), "y": 0.5 * x["x"] + a * 0.1}

    def iterated(a, steps=80):
        x = {"x": 0.5, "y": 0.5}
        for _ in range(steps):
            x = step(x, a)
        return x

    solve = cr.fixed_point(step)(iterated)
    for order in (["reverse"], ["forward"], ["forward", "reverse"], ["reverse"] * 3):
        expected = nested(lambda a: iterated(a)["x"], order)(0.8)
        assert float(expected) == pytest.approx(
            float(nested(lambda a: solve(a)["x"], order)(0.8)), rel=1e-9
        )


# ---- what may go wrong --------------------------------------------------------------------------


def test_a_singular_jacobian():
    for a, message in ((0.0, "is singular at"), (1e-18, "is singular")):
        with pytest.raises(cr.SingularJacobianError, match=message) as caught:
            cr.grad(cr.implicit(lambda x, a: x**3 - a * a)(lambda a: 0.0))(a)
        assert "test_implicit.py:" in str(caught.value)
        assert "cr.value(...)" in str(caught.value)
        assert isinstance(caught.value, ArithmeticError)


@pytest.mark.parametrize("power", [2, 3, 5])
def test_a_multiple_root_that_was_not_met_exactly(power):
    solve = cr.implicit(lambda x, a: (x - 1) ** power - (a - 4))(lambda a: 1 + 1e-5)
    with pytest.raises(cr.SingularJacobianError, match="singular nearby"):
        cr.grad(solve)(4.0)


def test_a_singular_matrix_in_any_units():
    def residual(x, a):
        return np.stack([x[0] + x[1] - a, (x[0] + x[1] - a) * 1e9])

    with pytest.raises(cr.SingularJacobianError, match="is singular"):
        cr.jacobian(cr.implicit(residual)(lambda a: np.array([a, 0.0])))(1.0)
    scaled = cr.implicit(lambda x, a: np.stack([x[0] - a, 1e-14 * (x[1] - a)]))
    np.testing.assert_allclose(
        cr.jacobian(scaled(lambda a: np.array([a, a])))(1.0), [1.0, 1.0], rtol=1e-12
    )


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_not_finite():
    with pytest.raises(cr.SingularJacobianError, match="the residual is not finite"):
        cr.grad(cr.implicit(lambda x, a: np.log(-x) * a)(lambda a: 1.0))(2.0)
    with (
        pytest.raises(cr.SingularJacobianError, match="Jacobian of the residual is not finite"),
        np.errstate(divide="ignore"),
    ):
        cr.grad(cr.implicit(lambda x, a: np.sqrt(x) - a)(lambda a: 0.0))(0.0)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="3 numbers for 2 unknowns") as caught:
        cr.jacobian(cr.implicit(lambda x, a: a * np.ones(3))(lambda a: np.ones(2)))(1.0)
    assert "test_implicit.py:" in str(caught.value)
    with pytest.raises(ValueError, match="3 numbers for one unknown"):
        cr.grad(cr.implicit(lambda x, a: a * np.ones(3))(lambda a: 1.0))(1.0)


def test_a_warning_where_the_answer_is_none():
    solve = cr.implicit(lambda x, a: x**2 - a)(lambda a: 3.0)
    with pytest.warns(cr.ConvergenceWarning, match="about 0.8 from a solution") as caught:
        assert cr.grad(solve)(4.0) == pytest.approx(1 / 6)
    assert caught[0].filename == __file__


def test_no_warning_for_an_answer_at_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cr.grad(cr.implicit(lambda x, a: np.sin(x) - a)(lambda a: 1e-13))(0.0) == 1.0


def test_options_are_the_solvers_alone():
    @cr.implicit(lambda x, a: x - a)
    def solve(a, tol=0.0):
        assert tol == 1e-9
        return a

    assert cr.grad(lambda a: solve(a, tol=1e-9))(2.0) == 1.0
    with pytest.raises(cr.LostDerivativeError, match="option 'tol'"):
        cr.grad(lambda a: solve(1.0, tol=a))(1e-9)


class OwnError(Exception):
    pass


def test_errors_of_the_user_arrive_and_leave_nothing_behind():
    def fails(*args):
        raise OwnError("mine")

    for solve in (cr.implicit(fails)(lambda a: a), cr.implicit(lambda x, a: x - a)(fails)):
        with pytest.raises(OwnError, match="mine"):
            cr.grad(solve)(1.0)
    assert cr.grad(square_root)(4.0) == 0.25


def test_an_engine_with_reverse_mode_alone():
    class OnlyReverse(cr.RuleConfig, cr.HasReverseMode, cr.NoForwardsMode):
        def rrule_via_ad(self, f, *args, **kwargs):
            return cr.rrule_via_ad(cr.ReverseConfig(), f, *args, **kwargs)

    a = np.array([2.0, 3.0])
    x = np.sqrt(a)
    found = cr.jacobian(lambda a: solution(lambda x, a: x * x - a, x, (a,), OnlyReverse()))(a)
    np.testing.assert_allclose(found, np.diag(0.5 / x))
    slope = cr.grad(lambda a: solution(lambda x, a: x * x - a, 2.0, (a,), OnlyReverse()))(4.0)
    assert slope == 0.25


def test_it_asks_the_config_of_the_engine_that_follows():
    asked = []

    class Asked(cr.ReverseConfig):
        def frule_via_ad(self, tangents, f, *args, **kwargs):
            asked.append("forwards")
            return super().frule_via_ad(tangents, f, *args, **kwargs)

    cr.grad(square_root, config=Asked())(4.0)
    assert asked == ["forwards"]
