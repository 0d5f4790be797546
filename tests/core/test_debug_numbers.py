"""``cr.debug(nan=, inf=, zero=)``: the first NaN, infinity or zero derivative, with its line."""

import numpy as np
import pytest

import chainrules as cr
import chainrules.numpy as cnp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.array([1.0, 2.0, 4.0])


def distances(p):
    d2 = (p[:, None] - p[None, :]) ** 2
    return np.sum(np.sqrt(d2))  # of zeros on the diagonal


def of_numbers(x):
    y = x * 2.0
    return np.sqrt(y - y) * x


def in_a_buffer(x):
    y = cnp.zeros(3)
    y[0] = x[0] - x[0]
    y[1] = x[1]
    return np.sum(np.sqrt(y))


def by_a_loop(x):
    return cr.loop(3, lambda c: np.sqrt(c - c) + x[0], x[0], segment=1)


LINE = distances.__code__.co_firstlineno + 2

REVERSE = {
    "grad": lambda f, x: cr.grad(f)(x),
    "value_and_grad": lambda f, x: cr.value_and_grad(f)(x),
    "vjp": lambda f, x: cr.vjp(f, x)[1](1.0),
    "jacrev": lambda f, x: cr.jacrev(f)(x),
    "checkpoint": lambda f, x: cr.grad(cr.checkpoint(f))(x),
}
FORWARD = {
    "jvp": lambda f, x: cr.jvp(f, (x,), (x,)),
    "jacfwd": lambda f, x: cr.jacfwd(f)(x),
    "hessian": lambda f, x: cr.hessian(f)(x),
    "hvp": lambda f, x: cr.hvp(f, (x,), (x,)),
}


def stopped(transform, f, x, **wanted):
    with pytest.raises(FloatingPointError) as caught, cr.debug(**wanted):
        transform(f, x)
    return str(caught.value)


@pytest.mark.parametrize("transform", REVERSE.values(), ids=REVERSE)
def test_infinity_on_the_way_back(transform):
    said = stopped(transform, distances, X, inf=True)
    assert said.startswith("the pullback of sqrt gives an infinity at [0, 0], in test_debug_nu")
    assert f"test_debug_numbers.py:{LINE}" in said


@pytest.mark.parametrize("transform", REVERSE.values(), ids=REVERSE)
def test_nan_names_the_infinity_before_it(transform):
    said = stopped(transform, distances, X, nan=True)
    assert said.startswith("the pullback of power gives a NaN at [0, 0]")
    assert (
        f"before, the pullback of sqrt gave an infinity at [0, 0], in test_debug_numbers.py:{LINE}"
        in said
    )


@pytest.mark.parametrize("transform", FORWARD.values(), ids=FORWARD)
def test_nan_of_a_tangent(transform):
    assert f"test_debug_numbers.py:{LINE}" in stopped(transform, distances, X, nan=True)


@pytest.mark.parametrize("f", [in_a_buffer, by_a_loop])
@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_programs(f, mode):
    transform = (REVERSE | FORWARD)[mode]
    assert "sqrt" in stopped(transform, f, X, nan=True, inf=True)


def test_numbers():
    line = of_numbers.__code__.co_firstlineno + 2
    for mode in ("grad", "jvp"):
        said = stopped((REVERSE | FORWARD)[mode], of_numbers, 2.0, nan=True, inf=True)
        assert "sqrt" in said
        assert f"test_debug_numbers.py:{line}" in said


def test_value():
    said = stopped(REVERSE["grad"], lambda x: np.log(x - 3.0), 2.0, nan=True)
    assert said.startswith("log gives a NaN, in test_debug_numbers.py:")
    said = stopped(REVERSE["grad"], lambda x: np.sum(np.log(x)), np.array([1.0, 0.0]), inf=True)
    assert said.startswith("log gives an infinity at [1]")


def test_zero():
    said = stopped(
        REVERSE["grad"], lambda x: np.sum(np.maximum(x, 0.0)), np.array([-1.0, -2.0]), zero=True
    )
    assert said.startswith("the pullback of maximum gives zeros alone")


def test_a_zero_that_was_given_is_not_one_that_appears():
    with cr.debug(zero=True):
        _, pull = cr.vjp(lambda x: x * 2.0, X)
        (xbar,) = pull(np.zeros(3))
    np.testing.assert_array_equal(xbar, np.zeros(3))


def test_large_arrays_whose_cotangents_are_made_in_place():
    x = np.linspace(0.0, 1.0, 20_000)
    said = stopped(REVERSE["grad"], lambda x: np.sum(2.0 * np.exp(np.sqrt(x * 1.0))), x, inf=True)
    assert said.startswith("the pullback of sqrt gives an infinity at [0]")
    said = stopped(REVERSE["grad"], lambda x: np.sum(np.sqrt(x * x) * 2.0), x, nan=True)
    assert said.startswith("the pullback of multiply gives a NaN at [0]")


def test_nothing_to_stop_at():
    with cr.debug(nan=True, inf=True, zero=True):
        assert cr.grad(lambda x: x * x)(3.0) == 6.0
        assert cr.jvp(np.sin, (0.0,), (1.0,))[1] == 1.0
        np.testing.assert_array_equal(cr.hessian(lambda x: np.sum(x**3))(X), np.diag(6 * X))
        np.testing.assert_array_equal(
            cr.jacobian(lambda x: x[::-1] * x)(X), cr.jacrev(lambda x: x[::-1] * x)(X)
        )


def test_a_given_nan_is_not_one_that_appears():
    with cr.debug(nan=True):
        y, ydot = cr.jvp(lambda x: x * 2.0, (np.nan,), (1.0,))
    assert np.isnan(y)
    assert ydot == 2.0


def test_after_it_nothing_is_looked_at():
    stopped(REVERSE["grad"], distances, X, nan=True)
    assert np.isnan(cr.grad(distances)(X)).all()


def test_explained_steps_of_a_pullback_have_its_line():
    found = cr.explain(cr.grad(distances), X, stop="nan")
    assert found.first_bad.pulled == "power"
    assert found.first_bad.line == f"test_debug_numbers.py:{LINE - 1}"
    (slope,) = [step for step in found.steps if step.name == "truediv"]
    assert (slope.pulled, slope.line) == ("sqrt", f"test_debug_numbers.py:{LINE}")
    assert "an infinity came before it" in str(found)


def test_explained_numbers():
    found = cr.explain(cr.grad(lambda x: np.exp(x) * x), 1.0)
    assert {step.pulled for step in found.steps} >= {"exp", "multiply"}
