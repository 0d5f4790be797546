"""check_grad: one line, and a verdict one can act on."""

import dataclasses

import numpy as np
import pytest

import chainrules as cr
from chainrules.testing import (
    UndecidedError,
    WrongDerivativeError,
    check_grad,
    forward_fdm,
    primal_with_tangent,
)

W = np.array([0.5, -1.2, 2.0])


def loss(w, x):
    return np.sum(np.sin(w * x) * np.exp(w))


def test_a_scalar_loss():
    report = check_grad(loss, W, 0.7)
    assert report.skipped == report.notes == []
    assert report.checks == [
        "value",
        "form",
        "ydot by complex step",
        "linearity",
        "cotangents by complex step",
        "forward pairs with reverse",
        "grad",
        "second order (forward and reverse over reverse)",
    ]
    assert str(report).startswith("loss(float64[3], 0.7) passed: value, form")


def test_an_array_output_and_keywords():
    def f(x, scale=1.0, *, shift):
        return scale * np.sin(x) + shift

    check_grad(f, W, shift=2.0)
    check_grad(f, W, 3.0, shift=2.0)


def test_float32_and_complex():
    check_grad(loss, W.astype("f4"), np.float32(0.7))
    check_grad(lambda z: np.sin(z) * z, W + 1j)


@dataclasses.dataclass
class Model:
    w: np.ndarray
    b: float
    name: str = "model"


def test_containers_both_ways():
    def f(p, model):
        return {"y": p["a"] * model.w, "z": (np.sin(p["b"][0]) * model.b, "text")}

    check_grad(f, {"a": 2.0, "b": [1.5, 3]}, Model(W, 0.5))


def test_zero_by_cancellation():
    def f(x):
        y = np.exp(x)
        return np.sum(y / np.sum(y))

    check_grad(f, W)
    check_grad(lambda x: 1e6 * f(x), W)
    check_grad(f, W.astype("f4"))


def test_empty_arrays():
    check_grad(lambda x: 2.0 * x, np.zeros((0, 3)))
    check_grad(lambda x: np.sum(x), np.zeros((0, 3)))


def test_tuples_of_different_shapes():
    check_grad(lambda x, y: (x * y, {"b": [y, x]}), W, 2.0)


def test_what_the_function_holds_is_left_alone():
    held = Model(W, 2.0)
    check_grad(lambda x: held.b * np.sin(x), W)


def test_an_excluded_argument():
    check_grad(loss, W, primal_with_tangent(0.7, cr.NoTangent()))


@pytest.mark.parametrize("x", [3, "text", np.arange(3)])
def test_nothing_to_differentiate(x):
    with pytest.raises(UndecidedError, match="no argument is a float"):
        check_grad(lambda x: 2.0, x)


def test_no_output_to_differentiate():
    with pytest.raises(UndecidedError, match="its result is not a float"):
        check_grad(lambda x: int(x > 0), 1.5)


# ---- wrong gradients -------------------------------------------------------------------------


@cr.primitive
def cube(x):
    return x * x * x


@cr.frule.register(cube)
def cube_frule(tangents, cube, x):
    return cube(x), 3 * x * x * tangents[1]


@cr.rrule.register(cube)
def cube_rrule(cube, x):
    def cube_pullback(ybar):
        return cr.NoTangent(), 2 * x * x * ybar

    return x * x * x, cube_pullback


def test_a_wrong_rule_inside_is_found():
    with pytest.raises(WrongDerivativeError) as caught:
        check_grad(lambda a, b: a + 2.0 * cube(b), W, 1.5 * W)
    message = str(caught.value)
    assert "vjp of <lambda> gives a wrong cotangent for argument 1 (b)." in message
    assert "every entry is 0.666667 times what it should be" in message
    assert "argument 0" not in message


def test_a_lost_derivative_is_found():
    with pytest.raises(WrongDerivativeError, match="is the derivative missing"):
        check_grad(lambda x: np.sin(cr.value(x)) + 0.0 * x, 1.5)
    with pytest.raises(WrongDerivativeError, match=r"every entry is 0\.5 times"):
        check_grad(lambda x: cr.value(x) * x, 1.5, second_order=False)


def test_a_wrong_second_derivative_is_found():
    @cr.primitive
    def square(x):
        return x * x

    @cr.rrule.register(square)
    def square_rrule(square, x):
        held = cr.value(x)

        def square_pullback(ybar):
            return cr.NoTangent(), 2 * held * ybar

        return x * x, square_pullback

    @cr.frule.register(square)
    def square_frule(tangents, square, x):
        return x * x, 2 * x * tangents[1]

    check_grad(lambda x: square(x), 1.5, second_order=False)
    with pytest.raises(WrongDerivativeError, match="the second derivative is wrong"):
        check_grad(lambda x: square(x), 1.5)


# ---- functions that cannot be judged ---------------------------------------------------------


def test_a_random_function():
    rng = np.random.default_rng(0)
    with pytest.raises(UndecidedError, match="differ: is it random"):
        check_grad(lambda x: x * rng.normal(), 1.5)


def test_a_noisy_function():
    def f(x):
        return np.sin(x) + 1e-5 * np.sin(1e9 * cr.value(x))

    with pytest.raises(UndecidedError, match="it is noisy here: neighbouring values scatter by"):
        check_grad(f, 1.0)


def test_a_jump():
    with pytest.raises(UndecidedError, match="it jumps here, by 1 to the left"):
        check_grad(lambda x: x + np.floor(x), 2.0)


def test_an_edge():
    with pytest.raises(UndecidedError, match="at the edge of its domain"):
        check_grad(lambda x: np.exp(x) * _positive(cr.value(x)), 0.0, seed=1)


def _positive(x):
    if x != 0:
        raise ValueError("neither side")
    return 1.0


def test_at_a_kink_what_lies_between_will_do():
    def f(x):
        return np.abs(x) + 2.0 * x

    check_grad(f, W)
    check_grad(f, np.array([0.0, 1.0]))


@cr.primitive
def ramp(x):
    return max(x, 0.0)


@cr.frule.register(ramp)
def ramp_frule(tangents, ramp, x):
    return ramp(x), (x >= 0) * tangents[1]


@cr.rrule.register(ramp)
def ramp_rrule(ramp, x):
    def ramp_pullback(ybar):
        return cr.NoTangent(), SLOPE * (x >= 0) * ybar

    return ramp(x), ramp_pullback


SLOPE = 1.0


def test_a_kink_is_noted(monkeypatch):
    report = check_grad(lambda x: ramp(x), 0.0, second_order=False)
    assert report.notes[0].startswith("it has a kink here: its slope is")
    monkeypatch.setitem(globals(), "SLOPE", 3.0)
    with pytest.raises(WrongDerivativeError, match="it has a kink here"):
        check_grad(lambda x: ramp(x), 0.0, second_order=False)


def test_one_sided_differences_on_demand():
    check_grad(
        lambda x: ramp(x), primal_with_tangent(0.0, 1.0), fdm=forward_fdm(5, 1), second_order=False
    )
