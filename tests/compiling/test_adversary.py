"""Programs made to mislead a recorder, as the prototype met them: eager and compiled beside."""

import contextlib
import io
import time

import numpy as np
import pytest
from beside_eager import VALUE, compiled, program, said

import chainrules as cr

X = np.array([1.0, 2.0, 3.0, 4.0])
RATE, WEIGHTS = 2.0, np.arange(4.0)


def bend(x):
    return np.sum(x**2)


# ---- what is drawn, counted, and read elsewhere -------------------------------------------------


@program(error="random numbers")
def test_random_numbers(wrap):
    yield wrap(lambda x: np.sum(x * np.random.normal(size=4)))(X)


@program(error="random numbers")
def test_a_captured_generator(wrap):
    rng = np.random.default_rng(0)
    yield wrap(lambda x: np.sum(x * rng.normal(size=4)))(X)


@program()
def test_a_generator_that_is_seeded_inside(wrap):
    g = wrap(lambda x: np.sum(x * np.random.default_rng(3).normal(size=4)))
    yield [g(X), g(2 * X), g(X)]


@program(error="changes what it captures")
def test_appending(wrap):
    kept = []

    def f(x):
        kept.append(1)
        return np.sum(x)

    g = wrap(f)
    yield [g(X), g(X)]


@program(error="changes what it captures")
def test_counting_calls(wrap):
    calls = [0]

    def f(x):
        calls[0] += 1
        return np.sum(x) * calls[0]

    g = wrap(f)
    yield [g(X), g(X)]


@program(warns="it uses time.perf_counter")
def test_a_clock(wrap):
    g = wrap(lambda x: np.sum(x) * time.perf_counter())
    g(X), g(X)
    yield len({str(g(X)) for _ in range(4)})


def test_printing_happens_while_it_is_recorded():
    def f(x):
        print("*", end="")
        return bend(x)

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        g = compiled(f)
        with pytest.warns(
            cr.CompileWarning, match="it may print, which is seen while it is recorded"
        ):
            g(X)
        g(X), g(X), g(X)
    assert 1 <= len(printed.getvalue()) <= 3


# ---- what is captured ---------------------------------------------------------------------------


@program()
def test_a_captured_array_is_written_to(wrap):
    y, z = np.arange(4.0), np.arange(4.0)
    g, h = wrap(lambda x: np.sum(x * y)), wrap(lambda x: np.sum(x * np.log(z + 1)))
    yield g(X), h(X)
    y[0] = z[0] = 50.0
    yield g(X), h(X)
    y[3] = z[3] = -0.5
    yield g(X), h(X)


@program()
def test_globals_are_bound_anew(wrap):
    global RATE, WEIGHTS
    g = wrap(lambda x: np.sum(x * WEIGHTS) * RATE)
    yield g(X)
    RATE = 3.0
    yield g(X), g(X)
    WEIGHTS = WEIGHTS + 1
    yield g(X)
    RATE, WEIGHTS = 2.0, np.arange(4.0)
    yield g(X)


class Model:
    def __init__(self):
        self.rate, self.w = 1.0, [np.ones(4), np.ones(4)]

    def loss(self, x):
        return np.sum(x * self.w[0]) * self.rate


@program()
def test_fields_of_self(wrap):
    m = Model()
    g = wrap(m.loss)
    yield g(X)
    m.rate = 5.0
    yield g(X), g(X)
    m.w[0] = 3 * np.ones(4)
    yield g(X)
    m.w[0][1] = -1.0
    yield g(X)


@program()
def test_an_entry_of_a_captured_dict(wrap):
    settings = {"p": 2.0}
    g = wrap(lambda x: np.sum(x ** settings["p"]))
    yield g(X)
    settings["p"] = 3.0
    yield g(X), g(2 * X)


@program(warns="write into an argument")
def test_an_argument_that_is_written_to(wrap):
    def f(x, buffer):
        buffer[0] = 7.0
        return np.sum(x * buffer)

    g = wrap(f)
    for _ in range(3):
        buffer = np.ones(4)
        yield g(X, buffer), buffer


@program(modes=("value_and_grad",))
def test_outputs_that_the_caller_writes_to(wrap):
    g = wrap(bend)
    for _ in range(4):
        y, xbar = g(X)
        yield y, xbar.copy()
        xbar[:] = 0


# ---- ways through the function ------------------------------------------------------------------


@program()
def test_raising_on_a_value(wrap):
    def f(x):
        if np.any(x < 0):
            raise ValueError(f"negative: {cr.value(x[0])}")
        return np.sum(np.log(x))

    g = wrap(f)
    for x in (X, 2 * X, -X, 3 * X, -2 * X, X):
        yield said(g, x)


@program()
def test_dividing_by_zero(wrap):
    g = wrap(lambda x: 1.0 / x)
    for x in (2.0, 0.0, 3.0, -0.0, np.inf, 4.0):
        yield said(g, x)


@program()
def test_a_while_loop(wrap):
    def newton(x):
        u = x
        while abs(u * u - x) > 1e-13 * x:
            u = u - (u * u - x) / (2 * u)
        return u

    g = wrap(newton)
    for x in (2.0, 3.0, 100.0, 2.0, 1e6, 3.0):
        yield g(x)


@program()
def test_a_shape_that_depends_on_values(wrap):
    g, h = wrap(lambda x: np.sum(x[x > 1.5])), wrap(lambda x: np.sum(x[: int(cr.value(x[0]))]))
    for x in (X, X - 1, X, X - 1, X - 9, X + 2):
        yield g(x), h(x)


@program()
def test_other_shapes_and_dtypes(wrap):
    g = wrap(bend)
    for x in (X, np.ones(3), X, X.astype(np.float32), X, np.ones((2, 2)), np.zeros(0), 3.0):
        yield g(x)


@program()
def test_argmax_and_sort(wrap):
    g = wrap(lambda x: x[np.argmax(x)] * np.sort(x)[0])
    for x in (X, X[::-1].copy(), np.array([2.0, 9.0, 1.0, 5.0]), np.array([1.0, np.nan, 2.0, 0.0])):
        yield g(x)


@program()
def test_nan_in_a_branch(wrap):
    g = wrap(lambda x: x * 2 if x > 1 else x * 3)
    for x in (2.0, 0.5, np.nan, 2.0, np.inf, -np.inf, np.nan, 1.0):
        yield g(x)


@program(modes=("value", "value_and_grad"))
def test_a_dict_of_arrays(wrap):
    g = wrap(lambda d: np.sum(d["a"] * d["b"][0]))
    yield g({"a": X, "b": [X]})
    yield g({"a": 2 * X, "b": [X, X]})
    yield g({"b": [X], "a": 3 * X})
    yield g({"a": X, "b": (X,)})


@program()
def test_norm_at_zero_and_ties(wrap):
    g = wrap(lambda x: np.sum(x * np.linalg.norm(x)))
    h = wrap(lambda x: np.sum(np.maximum(x, 2.0)) + np.max(x) + np.sum(np.abs(x - 2)))
    for x in (X, np.zeros(4), X, np.full(4, 2.0), np.full(4, -0.0)):
        yield g(x), h(x)


@program(modes=VALUE)
def test_compiled_inside_derivatives(wrap):
    g, h = wrap(cr.grad(lambda x: x**3)), wrap(lambda x: np.sum(x**3) * x)
    for x in (2.0, 3.0, -1.0):
        yield g(x), cr.grad(g)(x), cr.grad(h)(x), cr.jvp(g, (x,), (1.0,)), cr.grad(cr.grad(h))(x)
