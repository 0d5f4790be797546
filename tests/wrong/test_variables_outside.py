"""Global variables and attributes of classes that move on between a call and its derivative.

A function that is evaluated again would read them as they are by then: the derivative is that of
the call, or a ``MutationError`` that names the variable. It is compared with differences.
"""

import functools
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr
from chainrules.scipy import integrate
from chainrules.scipy.sparse import linalg

RATE = 1.0
KNOWN = {"k": 1.0}
LIST = [0.0, 1.0]
WEIGHTS = np.ones(2)
LARGE = np.ones(4000)
BOX = types.SimpleNamespace(k=1.0)
CALLS = 0
LOG: list = []
MEMORY: dict = {}


class Config:
    k = 1.0
    made = 0


class Model:
    factor = 1.0

    def __init__(self):
        Config.made += 1

    def inner(self):
        return RATE

    @property
    def rate(self):
        return self.inner()

    def by_class(self, t):
        return self.factor * t


MODEL = Model()


def set_rate(k):
    global RATE
    RATE = k


def set_in(container, key):
    return functools.partial(container.__setitem__, key)


def captures():
    k = 1.0

    def put(new):
        nonlocal k
        k = new

    return put, lambda t: k * t


put_captured, reads_captured = captures()


@functools.wraps(reads_captured)
def decorated(t):
    return reads_captured(t)


MOVES = {
    "RATE": (set_rate, lambda t: RATE * t),
    "Model.rate": (set_rate, lambda t: MODEL.rate * t),
    "KNOWN": (set_in(KNOWN, "k"), lambda t: KNOWN["k"] * t),
    "LIST": (set_in(LIST, 1), lambda t: LIST[1] * t),
    "WEIGHTS": (set_in(WEIGHTS, 1), lambda t: WEIGHTS[1] * t),
    "LARGE": (set_in(LARGE, 7), lambda t: LARGE[7] * t),
    "BOX": (functools.partial(setattr, BOX, "k"), lambda t: BOX.k * t),
    "Config.k": (functools.partial(setattr, Config, "k"), lambda t: Config.k * t),
    "Model.factor": (functools.partial(setattr, Model, "factor"), MODEL.by_class),
    "reads_captured": (put_captured, lambda t: decorated(t)),
}


def doubling(f):
    return linalg.LinearOperator((2, 2), matvec=lambda x: (1 + f(1.0)) * x, dtype=float)


TIGHT = {"rtol": 1e-8, "atol": 1e-8}
SOLVERS = {
    "quad": lambda f: integrate.quad(f, 0, 1)[0],
    "quad_vec": lambda f: integrate.quad_vec(f, 0, 1)[0],
    "cubature": lambda f: integrate.cubature(lambda x: f(x[:, 0]), [0], [1]).estimate,
    "tanhsinh": lambda f: integrate.tanhsinh(f, 0.0, 1.0).integral,
    "RK45": lambda f: integrate.solve_ivp(lambda t, y: f(t) * y, (0, 1), [1.0], **TIGHT).y[0, -1],
    "BDF": lambda f: integrate.solve_ivp(lambda t, y: f(t) * y, (0, 1), [1.0], "BDF", **TIGHT).y[
        0, -1
    ],
    "odeint": lambda f: integrate.odeint(lambda y, t: f(t) * y, [1.0], [0, 1], **TIGHT)[-1, 0],
    "cg": lambda f: linalg.cg(doubling(f), np.ones(2))[0].sum(),
    "product": lambda f: (doubling(f) @ np.array([1.0, 2.0])).sum(),
}


def loss_of(solver, put, reads, values):
    def loss(p):
        total = 0.0
        for k in values:
            put(k)
            total = total + solver(lambda t: reads(t) * p)
        return total

    return loss


def check(derivative, loss, at=1.3):
    """Compare with differences; return what an error says in place of a derivative."""
    h = 1e-4
    expected = (loss(at + h) - loss(at - h)) / (2 * h)
    try:
        found = derivative(at)
    except cr.MutationError as error:
        return str(error)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    return ""


REPEATED = set(SOLVERS) - {"quad", "RK45", "product"}  # the rest keep what they need


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_moves_on_is_refused(solver, name):
    put, reads = MOVES[name]
    loss = loss_of(SOLVERS[solver], put, reads, (0.5, 1.5))
    named = "RATE" if name == "Model.rate" else name
    said_of = "a plain array" if name == "LARGE" else f"{named} is read by a function"
    said = check(cr.grad(loss), loss)
    assert said.startswith(said_of) == (solver in REPEATED)
    said = check(lambda p: cr.jvp(loss, (p,), (1.0,))[1], loss)
    assert said == "" or said.startswith(said_of)


@pytest.mark.parametrize("name", ["RATE", "BOX", "Model.factor"])
@pytest.mark.parametrize("solver", ["quad", "RK45", "product"])
def test_second_derivatives(solver, name):
    put, reads = MOVES[name]
    loss = loss_of(SOLVERS[solver], put, reads, (0.5, 1.5))
    said = check(cr.grad(cr.grad(loss)), cr.grad(loss))
    assert said == "" or said.startswith(f"{name} is read by a function")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", MOVES)
def test_what_stays_is_no_concern(solver, name):
    put, reads = MOVES[name]
    put(0.7)
    loss = loss_of(SOLVERS[solver], lambda k: None, reads, (0.7, 0.7))
    assert check(cr.grad(loss), loss) == ""


def count(t):
    """Write a count, a log, a memory, an attribute of a class, and make an object."""
    global CALLS
    CALLS += 1
    LOG.append(CALLS)
    MEMORY.setdefault(str(t), Model())
    return t + 0 * Model().by_class(t)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_functions_write_themselves_is_theirs(solver):
    loss = loss_of(SOLVERS[solver], lambda k: None, count, (0.5, 1.5))
    assert check(cr.grad(loss), loss) == ""


def test_models_are_made_between():
    def loss(p):
        models = [Model() for _ in range(2)]
        return sum(integrate.quad_vec(lambda t, m=m: m.by_class(t) * p, 0, 1)[0] for m in models)

    assert check(cr.grad(loss), loss) == ""


def test_attributes_of_modules(monkeypatch):
    module = types.ModuleType("constants_of_mine")
    module.k = 1.0
    monkeypatch.setitem(globals(), "constants", module)
    reads = lambda t: constants.k * t  # noqa: F821
    loss = loss_of(SOLVERS["cg"], functools.partial(setattr, module, "k"), reads, (0.5, 1.5))
    assert check(cr.grad(loss), loss).startswith("constants_of_mine.k is read")


def test_pullbacks_are_called_later():
    loss = loss_of(SOLVERS["quad_vec"], set_rate, lambda t: RATE * t, (0.5,))
    _, pull = cr.vjp(loss, 1.3)
    np.testing.assert_allclose(pull(1.0)[0], 0.25)
    set_rate(2.0)
    with pytest.raises(cr.MutationError, match=r"RATE is read by a function .* holds something"):
        pull(1.0)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from((0.5, 0.75, 1.5)), min_size=1, max_size=3),
    st.sampled_from(["quad", "quad_vec", "cubature", "cg"]),
    st.booleans(),
)
def test_random_changes(names, values, solver, reads_count):
    """A search: no derivative is of something else than was called."""

    def put(k):
        for i, name in enumerate(names):
            MOVES[name][0](k + i)

    def reads(t):
        product = count(t) if reads_count else t
        for name in names:
            product = product * MOVES[name][1](1.0)
        return product

    loss = loss_of(SOLVERS[solver], put, reads, values)
    if check(cr.grad(loss), loss, at=0.3):
        assert len(set(values)) > 1
