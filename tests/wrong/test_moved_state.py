"""State of an object that moves on between a call and its derivative.

It is compared with an object for each call.

A model of an experiment is set anew for the next one: its fields, what is in its containers, the
entries of its arrays. A derivative is of what they were at the call.
"""

import array
import collections
import contextlib
import functools
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules import numpy as cnp
from chainrules.scipy import integrate, optimize
from chainrules.scipy.sparse import linalg

P = np.array([0.5, 0.7, 0.9])
TIGHT = {"rtol": 1e-6, "atol": 1e-6}


class Model:
    """A rate, in a field, a dict, a list, a field of a field and two arrays."""

    def __init__(self):
        self.calls, self.log, self.history = 0, [], []
        self.known, self.inner = {}, types.SimpleNamespace(c=1.0)
        self.weights, self.buffer, self.plain = [0.0], cnp.zeros(2), np.ones(3)

    def set(self, p, i):
        self.known["k"], self.inner.c, self.weights[0] = p[i], 1.0 + i, p[(i + 1) % 3]
        self.buffer[1], self.plain[2] = 1.0 + p[i], 0.5 + i

    def rate(self):
        self.calls += 1
        self.log.append(self.calls)
        rate = self.known["k"] * self.inner.c * self.weights[0]
        return 0.3 * rate * self.buffer[1] * self.plain[2]

    def fall(self, t, y):
        return -self.rate() * y


def falls(method, **options):
    def end(model):
        found = integrate.solve_ivp(model.fall, (0, 1), [1.0, 2.0], method, **TIGHT, **options)
        return found.y[1, -1]

    return end


def falls_from_what_moves(method):
    """The function holds nothing traced: what moves is the beginning."""

    def end(model):
        k = held_still(model)
        return integrate.solve_ivp(model.fall, (0, 1), [k, 2.0], method, **TIGHT).y[0, -1]

    return end


def held_still(model):
    """Put plain numbers into the model that differ from call to call; return what moves."""
    k, model.known["k"] = model.known["k"], 0.4
    model.weights[0], model.buffer = 0.9, cnp.zeros(2)
    model.buffer[1] = model.inner.c
    return k


def dense(model):
    sol = integrate.solve_ivp(model.fall, (0, 1), [1.0], "BDF", dense_output=True, **TIGHT).sol
    return sol(0.4)[0]


def event(model):
    half = lambda t, y: (y[0] - 0.5) * model.rate()
    found = integrate.solve_ivp(model.fall, (0, 90), [1.0], "LSODA", events=half, **TIGHT)
    return found.t_events[0][0]


def between(model):
    slope = lambda t, y: cnp.stack([y[1], -model.rate() * y[0]])
    ends = lambda a, b: cnp.stack([a[0] - 1, b[0] - model.rate()])
    found = integrate.solve_bvp(slope, ends, np.linspace(0, 1, 5), np.ones((2, 5)))
    return found.y[1, 0]


def operator(model):
    times = lambda v: v * (2 + model.rate())
    return linalg.LinearOperator((2, 2), matvec=times, rmatvec=times, dtype=float)


def applied(model):
    k = held_still(model)
    return np.sum((operator(model) @ (np.ones(2) * k)) ** 2)


SOLVES = {
    **{f"solve_ivp, {name}": falls(name) for name in ("RK45", "BDF", "Radau", "LSODA")},
    **{f"only y0 moves, {name}": falls_from_what_moves(name) for name in ("RK45", "BDF", "Radau")},
    "dense output": dense,
    "event": event,
    "odeint": lambda m: integrate.odeint(m.fall, [1.0], [0, 0.5, 1], tfirst=True)[-1, 0],
    "solve_bvp": between,
    "quad": lambda m: integrate.quad(lambda t: np.exp(-m.rate() * t), 0, 1)[0],
    "quad_vec": lambda m: integrate.quad_vec(lambda t: np.exp(-m.rate() * t), 0, 1)[0],
    "nquad": lambda m: integrate.nquad(lambda t, u: np.exp(-m.rate() * t * u), [[0, 1]] * 2)[0],
    "cubature": lambda m: (
        integrate.cubature(lambda t: np.exp(-m.rate() * t[:, 0]), [0.0], [1.0]).estimate
    ),
    "tanhsinh": lambda m: integrate.tanhsinh(lambda t: np.exp(-m.rate() * t), 0, 1).integral,
    "brentq": lambda m: optimize.brentq(lambda t: t**3 + t - m.rate(), 0, 9, xtol=1e-14),
    "root": lambda m: optimize.root(lambda t: t**3 + t - m.rate(), [1.0], tol=1e-13).x[0],
    "minimize": lambda m: optimize.minimize(
        lambda t: cnp.sum((t - m.rate()) ** 2 + t**4), [0.3], jac="ad", tol=1e-9
    ).x[0],
    "cg": lambda m: linalg.cg(operator(m), np.ones(2), rtol=1e-14)[0][0],
    "gmres": lambda m: linalg.gmres(operator(m), np.ones(2), rtol=1e-14)[0][0],
    "operator @ x": applied,
    "map": lambda m: sum(cr.map(lambda t: np.exp(-m.rate() * t), [1.0, 2.0])),
    "scan": lambda m: cr.scan(lambda c, t: (c * m.rate() + t, t), 1.0, np.arange(5.0))[0],
    "while_loop": lambda m: cr.while_loop(lambda t: t < 3, lambda t: t * (1.2 + m.rate()), 1.0),
}


def program(solve, model_of_call):
    def total(p):
        model, parts = Model(), []
        for i in range(3):
            model = model_of_call(model)
            model.set(p, i)
            parts.append(solve(model))
        # What the model is for the next experiment.
        model.set(2 * p, 0)
        return parts[0] + 2.0 * parts[1] + 3.0 * parts[2]

    return total


@pytest.mark.parametrize("name", SOLVES)
def test_derivatives_are_of_what_was(name):
    moving = program(SOLVES[name], lambda model: model)
    expected = program(SOLVES[name], lambda model: Model())
    for transform in (cr.grad, cr.jacfwd, cr.hessian, lambda f: cr.jacrev(cr.grad(f))):
        np.testing.assert_allclose(transform(moving)(P), transform(expected)(P), 1e-12, 1e-14)
    np.testing.assert_allclose(
        cr.grad(expected)(P), [slope(expected, e) for e in np.eye(3)], rtol=1e-4
    )


def slope(f, e):
    return (f(P + 1e-4 * e) - f(P - 1e-4 * e)) / 2e-4


COMPILED = ("solve_ivp, BDF", "dense output", "odeint", "quad", "quad_vec", "cg", "brentq", "scan")


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")  # it goes on without compile
def test_replays_are_of_what_was(name):
    moving = program(SOLVES[name], lambda model: model)
    compiled = cr.compile(cr.grad(moving))
    for scale in (1.0, 1.01, 0.98, 1.03):
        np.testing.assert_allclose(compiled(scale * P), cr.grad(moving)(scale * P), rtol=1e-9)


def test_calls_are_counted_once():
    """An evaluation for the derivative has a count of its own."""
    models = []

    def end(p):
        models.append(Model())
        models[-1].set(p, 0)
        return falls("BDF")(models[-1])

    end(P)
    cr.grad(end)(P)
    plain, traced = models
    assert plain.calls == traced.calls == len(traced.log)


def test_a_large_array_that_was_written_into_is_refused():
    table = np.ones(5_000)

    def total(p):
        parts = []
        for table[0] in (1.0, 2.0):
            fall = lambda t, y: -p[0] * table[0] * y
            parts.append(integrate.solve_ivp(fall, (0, 1), [1.0], "BDF").y[0, -1])
        return sum(parts)

    with pytest.raises(cr.MutationError, match=r"float64\[5000\].*has been changed since"):
        cr.grad(total)(P)
    table[0] = 3.0
    assert np.isfinite(cr.grad(lambda p: falls_once(p, table))(P)[0])


def falls_once(p, table):
    fall = lambda t, y: -p[0] * table[0] * y
    return integrate.solve_ivp(fall, (0, 1), [1.0], "BDF").y[0, -1]


@pytest.mark.parametrize("size", [5, 5_000])
def test_an_array_that_the_function_fills(size):
    def end(y0):
        buffer = cnp.zeros(size)

        def fall(t, y):
            buffer[:] = t
            return -y * (1 + buffer[-1])

        return integrate.solve_ivp(fall, (0, 1), [y0], "Radau", **TIGHT).y[0, -1]

    if size > 5:
        with pytest.raises(cr.EscapedTraceError, match="make the array inside the function"):
            cr.grad(end)(2.0)
    else:
        np.testing.assert_allclose(cr.grad(end)(2.0), np.exp(-1.5), rtol=1e-4)


def grow(model, x):
    model.history.append(x)


def forget(model, x):
    model.known.pop("other", None)
    model.extra = x


def nest(model, x):
    model.inner = types.SimpleNamespace(c=x, inner=model.inner)


def share(model, x):
    model.weights = model.known["list"] = [x, *model.weights]


def rebind(model, x):
    model.plain = model.plain * 1.5
    model.rate = functools.partial(faster, model, x)


def faster(model, x):
    return 0.5 * x * model.inner.c * model.weights[0] * model.plain[-1]


def write(model, x):
    model.plain[:] = model.plain[::-1] + 0.25


def put(model, x):
    model.known["k"], model.buffer[:] = x, x


CHANGES = (grow, forget, nest, share, rebind, write, put)
CHEAP = ("solve_ivp, BDF", "odeint", "quad", "quad_vec", "cg", "dense output")


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(CHEAP)), min_size=2, max_size=5)
)
def test_random_changes(parts):
    """Each solve is repeated with a model of its own, which has been through all changes before."""

    def changed(model, p, count):
        for i, (change, _) in enumerate(parts[:count]):
            change(model, p[i % 3] + 0.1 * i)

    def moving(p):
        model, total = Model(), 0.0
        model.set(p, 0)
        for i, (change, name) in enumerate(parts):
            change(model, p[i % 3] + 0.1 * i)
            total = total + (i + 1.0) * SOLVES[name](model)
        return total

    def expected(p):
        total = 0.0
        for i, (_, name) in enumerate(parts):
            model = Model()
            model.set(p, 0)
            changed(model, p, i + 1)
            total = total + (i + 1.0) * SOLVES[name](model)
        return total

    for transform in (cr.grad, cr.jacfwd, cr.hessian):
        np.testing.assert_allclose(transform(moving)(P), transform(expected)(P), 1e-12, 1e-14)


def large_operator(matrix):
    times = lambda v: matrix @ v
    return linalg.LinearOperator(matrix.shape, times, lambda v: matrix.T @ v, dtype=float)


def test_a_large_matrix_of_an_operator_has_one_digest_for_all_products():
    matrix = np.random.default_rng(0).normal(size=(60, 60)) / 60
    operator, x = large_operator(matrix), np.linspace(0.0, 1.0, 60)
    y, pull = cr.vjp(lambda x: operator @ (operator @ np.sin(x)), x)
    np.testing.assert_array_equal(y, matrix @ (matrix @ np.sin(x)))
    expected = (matrix.T @ (matrix.T @ np.ones(60))) * np.cos(x)
    np.testing.assert_allclose(pull(np.ones(60))[0], expected, rtol=1e-12)
    matrix[3, 4] += 1
    with pytest.raises(cr.MutationError, match=r"test_moved_state.py:\d"):
        pull(np.ones(60))


@pytest.mark.parametrize("outer", [cr.grad, lambda f: cr.jacfwd(f)])
def test_a_large_matrix_that_moves_on_inside_of_an_outer_derivative(outer):
    matrix = np.random.default_rng(0).normal(size=(60, 60)) / 60
    operator = large_operator(matrix)

    def loss(k):
        _, pull = cr.vjp(lambda x: operator @ (x * k), np.ones(60))
        matrix[0, 0] += 1.0
        return np.sum(pull(np.ones(60))[0])

    with pytest.raises(cr.MutationError):
        outer(loss)(0.5)


def test_an_operator_may_write_into_a_large_array_of_its_own():
    work = np.zeros((2, 3000))

    def times(v):
        work[0] = v
        np.multiply(work[0], 2.0, out=work[1])
        return work[1].copy()

    operator = linalg.LinearOperator((3000, 3000), times, times, dtype=float)
    _, pull = cr.vjp(lambda x: operator @ (operator @ x), np.ones(3000))
    for _ in range(3):
        np.testing.assert_array_equal(pull(np.ones(3000))[0], 4.0)


def of_matrix():
    matrix = np.matrix([[1.0]])
    return (lambda: matrix[0, 0]), lambda k: matrix.__setitem__((0, 0), k)


def of_rate():
    rate = lambda: rate.k
    return rate, lambda k: setattr(rate, "k", k)


def of_mapping():
    held = {"k": 1.0}
    proxy = types.MappingProxyType(held)
    return (lambda: proxy["k"]), lambda k: held.__setitem__("k", k)


def of(container):
    return (lambda: container[0]), lambda k: container.__setitem__(0, k)


STATES = {
    "deque": lambda: of(collections.deque([1.0])),
    "masked array": lambda: of(np.ma.array([1.0, 2.0], mask=[False, True])),
    "object array": lambda: of(np.array([1.0, None], dtype=object)),
    "array.array": lambda: of(array.array("d", [1.0])),
    "bytes": lambda: of(bytearray([1])),
    "matrix": of_matrix,
    "function": of_rate,
    "mapping": of_mapping,
}


@pytest.mark.parametrize("solve", ["quad_vec", "odeint", "box"])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_other_containers_that_move_on(state, solve):
    read, write = state()

    def loss(x):
        total = 0.0
        for k in (1, 3):
            write(k)
            if solve == "quad_vec":
                y = integrate.quad_vec(lambda t: t * x * read(), 0.0, 1.0)[0]
            elif solve == "odeint":
                y = integrate.odeint(lambda y, t: -x * read() * y, [1.0], [0.0, 1.0], **TIGHT)
                y = y[-1, 0]
            else:
                y = cr.primitive(lambda x: read() * x, derivative="finite-difference")(x)
            total = total + y
        return total

    step = 1e-4
    expected = (loss(0.5 + step) - loss(0.5 - step)) / (2 * step)
    np.testing.assert_allclose(cr.jvp(loss, (0.5,), (1.0,))[1], expected, rtol=1e-4)
    refused = pytest.raises(cr.MutationError, match="holds something else by now")
    with refused if state in (of_rate, of_mapping) else contextlib.nullcontext():
        np.testing.assert_allclose(cr.grad(loss)(0.5), expected, rtol=1e-4)
