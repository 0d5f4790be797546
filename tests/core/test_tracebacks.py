"""Tracebacks: the user's frames alone, and no longer than those of JAX for the same mistakes."""

import contextlib
import math
import pdb
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr

X = np.ones(3)


@pytest.fixture(autouse=True)
def _as_for_users(monkeypatch):
    monkeypatch.delenv("CHAINRULES_TRACEBACK", raising=False)


def caught(program):
    """Return the error that a program raises."""
    with contextlib.suppress(SystemExit):
        try:
            program()
        except Exception as error:
            return error
    raise AssertionError("no error")


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def names(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)][2:]


def length(error):
    return len("".join(traceback.format_exception(error)).splitlines())


# ---- the commonest mistakes, here and with JAX --------------------------------------------------


def matmul(np):
    return lambda x: np.sum(x @ np.ones((4, 4)))


def needs_float(np):
    return lambda x: float(np.sum(x)) * np.sum(x)


def of_math(np):
    return lambda x: x[0] * math.sin(x[1])


def vector(np):
    return lambda x: x * x


def broadcast(np):
    return lambda x: np.sum(x + np.ones(2))


def unknown_key(np):
    params = {"w": 2.0}
    return lambda x: np.sum(x * params["v"])


def misspelt(np):
    return lambda x: np.sum(x).squared()


def write(np):
    import numpy

    def loss(x):
        squares = numpy.zeros(3)
        squares[0] = x[0]
        return np.sum(squares)

    return loss


def of_two(np):
    return lambda x, y: np.sum(x * y)


MISTAKES = {
    "a product of shapes that do not fit": ("grad", matmul),
    "a sum of shapes that do not fit": ("grad", broadcast),
    "float() of a traced value": ("grad", needs_float),
    "math.sin of a traced value": ("grad", of_math),
    "an output that is no number": ("grad", vector),
    "a write into a plain array": ("grad", write),
    "an error of the program's own": ("grad", unknown_key),
    "an attribute that is not there": ("hessian", misspelt),
    "an argument too few": ("grad", of_two),
    "a product that does not fit, compiled": ("compiled", matmul),
    "a product that does not fit, of many": ("vmap", matmul),
    "a product that does not fit, in a Hessian": ("hessian", matmul),
}


def program(library, how, f, x):
    g = library.hessian(f) if how == "hessian" else library.grad(f)
    compiled = getattr(library, "jit", None) or library.compile
    g = compiled(g) if how == "compiled" else g
    g = library.vmap(g) if how == "vmap" else g
    return lambda: g(np.stack([x, x]) if how == "vmap" else x)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_not_longer_than_with_jax(mistake):
    jax = pytest.importorskip("jax")
    how, f = MISTAKES[mistake]
    ours = caught(program(cr, how, f(np), X))
    theirs = caught(program(jax, how, f(jax.numpy), jax.numpy.ones(3)))
    print(length(ours), length(theirs))
    assert length(ours) <= length(theirs)


# ---- whose frames are left ----------------------------------------------------------------------


class OwnError(Exception):
    """An error that the program raises itself."""


def fails(x):
    raise OwnError(str(cr.value(x)))


def inner(x):
    return np.sum(x) * fails(x)


def nested(x):
    return cr.grad(inner)(x) @ x


def in_generator(x):
    return sum(fails(part) for part in x)


def step(carry, x):
    return inner(carry), x


TRANSFORMS = {
    "grad": lambda: cr.grad(inner)(X),
    "value_and_grad": lambda: cr.value_and_grad(inner)(X),
    "vjp": lambda: cr.vjp(inner, X),
    "jvp": lambda: cr.jvp(inner, (X,), (X,)),
    "linearize": lambda: cr.linearize(inner, X),
    "jacfwd": lambda: cr.jacfwd(inner)(X),
    "jacrev": lambda: cr.jacrev(inner)(X),
    "jacobian": lambda: cr.jacobian(inner)(X),
    "hessian": lambda: cr.hessian(inner)(X),
    "hvp": lambda: cr.hvp(inner, (X,), (X,)),
    "wirtinger": lambda: cr.wirtinger(inner)(X + 1j),
    "sparsity": lambda: cr.sparsity(inner, X),
    "vmap": lambda: cr.vmap(inner)(np.eye(3)),
    "compile": lambda: cr.compile(inner)(X),
    "compile of grad": lambda: cr.compile(cr.grad(inner))(X),
    "vmap of grad": lambda: cr.vmap(cr.grad(inner))(np.eye(3)),
    "Pullback": lambda: cr.Pullback(inner)(X, 1.0),
    "Pushforward": lambda: cr.Pushforward(inner)(X, X),
    "map": lambda: cr.map(inner, np.eye(3)),
    "scan": lambda: cr.scan(step, 1.0, X),
    "loop": lambda: cr.loop(3, inner, 1.0),
    "checkpoint": lambda: cr.checkpoint(inner)(X),
    "explain": lambda: cr.explain(inner, X),
    "cost": lambda: cr.cost(inner, X),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_users_frames_are_left(transform):
    error = caught(TRANSFORMS[transform])
    assert isinstance(error, OwnError)
    assert {__file__} == set(files(error))
    assert ["inner", "fails"] == [name for name in names(error) if "<" not in name][-2:]
    assert error.__context__ is None


def test_frames_between_those_of_a_nest():
    error = caught(lambda: cr.grad(nested)(X))
    assert {__file__} == set(files(error))
    assert ["<lambda>", "nested", "inner", "fails"] == ["<lambda>", *names(error)]


def test_frames_of_a_generator():
    error = caught(lambda: cr.grad(in_generator)(X))
    assert ["in_generator", "<genexpr>", "fails"] == names(error)


def test_the_error_is_the_very_one():
    own = OwnError()

    def raises(x):
        raise own

    assert caught(lambda: cr.hessian(raises)(1.0)) is own


def test_all_frames_on_demand(monkeypatch):
    monkeypatch.setenv("CHAINRULES_TRACEBACK", "full")
    error = caught(lambda: cr.grad(inner)(X))
    assert any(name.endswith("vjp.py") for name in files(error))


def test_errors_behind_an_error():
    def raises(x):
        try:
            return nested(x)
        except OwnError as error:
            raise ValueError("another") from error

    error = caught(lambda: cr.grad(raises)(X))
    assert {__file__} == {*files(error), *files(error.__cause__)}
    assert "fails" == names(error.__cause__)[-1]


def test_errors_of_a_group():
    def raises(x):
        raise ExceptionGroup("some", [caught(lambda: nested(x))])

    error = caught(lambda: cr.grad(raises)(X))
    assert {__file__} == set(files(error.exceptions[0]))


def test_an_error_that_was_handled_is_not_lost():
    def raises(x):
        try:
            return {}["x"]
        except KeyError:
            return fails(x)

    error = caught(lambda: cr.compile(raises)(1.0))
    assert isinstance(error.__context__, KeyError)
    assert error.__context__.__context__ is None


def test_a_replay_that_fails_is_not_behind_the_error():
    inverse = cr.compile(lambda a: np.linalg.inv(a))
    inverse(np.eye(2))
    inverse(np.eye(2))
    error = caught(lambda: inverse(np.zeros((2, 2))))
    assert isinstance(error, np.linalg.LinAlgError)
    assert error.__context__ is None


def test_an_error_of_a_library_keeps_its_frames():
    def solves(x):
        return np.sum(np.linalg.solve(np.ones((2, 2)), x))

    assert "linalg" in files(caught(lambda: cr.grad(solves)(np.ones(2))))[-1]


def test_an_error_of_ours_ends_at_the_users_line():
    optimize = pytest.importorskip("scipy.optimize")

    def solves(x):
        return optimize.brentq(lambda y: y - x, 0.0, 4.0)

    assert __file__ == files(caught(lambda: cr.grad(solves)(2.0)))[-1]


def test_names_that_are_not_there_and_requests_that_are_called():
    assert __file__ == files(caught(lambda: cr.backward(1.0)))[-1]
    pytest.importorskip("scipy")
    from scipy import optimize

    error = caught(lambda: optimize.minimize(lambda x: x @ x, X, jac=cr.ad))
    assert "_ad.py" not in files(error)[-1]  # frames of SciPy, which called it, stay
    assert "in test_tracebacks.py:" in str(error)


def test_a_pullback_and_a_pushforward():
    _, pullback = cr.vjp(np.sin, X)
    _, pushforward = cr.linearize(np.sin, X)
    for error in (caught(lambda: pullback(np.ones(2))), caught(lambda: pushforward(np.ones(2)))):
        assert isinstance(error, cr.TangentError)
        assert {__file__} == set(files(error))


def test_threads():
    found = []
    thread = threading.Thread(target=lambda: found.append(caught(lambda: cr.grad(inner)(X))))
    thread.start()
    thread.join()
    assert {__file__} == set(files(found[0]))
    with ThreadPoolExecutor(1) as pool:
        error = caught(lambda: cr.grad(lambda x: np.sum(cr.map(inner, x, executor=pool)))(X))
    assert not any("chainrules/" in name and "tests" not in name for name in files(error)[1:])
    assert "fails" == names(error)[-1]


FORKED = """
import traceback
from concurrent.futures import ProcessPoolExecutor
import chainrules as cr

def fails(x):
    raise ValueError(x)

with ProcessPoolExecutor(1) as pool:
    try:
        cr.map(fails, [1.0], executor=pool)
    except ValueError as error:
        print(error.__cause__)
"""


@pytest.mark.slow
def test_other_processes():
    ran = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert "in fails" in ran.stdout
    assert "pools.py" not in ran.stdout


def test_an_interruption_is_trimmed_and_goes_on():
    def interrupted(x):
        raise KeyboardInterrupt

    try:
        cr.grad(interrupted)(1.0)
    except KeyboardInterrupt as error:
        found = error
    assert {__file__} == set(files(found))


def test_post_mortem(monkeypatch, capsys):
    error = caught(lambda: cr.grad(inner)(X))
    debugger = pdb.Pdb(readrc=False)
    debugger.reset()
    stack, at = debugger.get_stack(None, error.__traceback__)
    assert "fails" == stack[at][0].f_code.co_name
    assert [0.0, 0.0, 0.0] == list(cr.value(stack[at][0].f_locals["x"]) - 1.0)


def test_within_a_door_nothing_is_done_yet():
    seen = []

    def watches(x):
        try:
            return cr.grad(inner)(x) @ x
        except OwnError as error:
            seen.append(files(error))
            return np.sum(x)

    cr.grad(watches)(X)
    assert any(name.endswith("vjp.py") for name in seen[0])


def test_a_frame_without_lines_keeps_its_error():
    """An interrupt may come at an instruction that belongs to no line."""

    def f(x):
        return x / {}["missing"]

    f.__code__ = f.__code__.replace(co_linetable=b"")
    with pytest.raises(KeyError, match="missing") as caught:
        cr.grad(f)(2.0)
    assert caught.value.__traceback__.tb_next is not None
