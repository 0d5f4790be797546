"""NumPy's warnings under a transform come at the user's line, and its errors are raised there."""

import importlib
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import chainrules as cr
from chainrules.config import numpy_warnings
from chainrules.config.numpy_warnings import HINT, HINT_OF_LINE
from chainrules.config.thresholds import SETTINGS_KEPT

ZEROS, NEGATIVE = np.array([0.0, 1.0]), np.array([-1.0, 1.0])


def root(x):
    return np.sum(np.sqrt(x) * 2.0)


def logs(x):
    return np.sum(np.log(x))


def once(f, x):
    """Push ``x`` through the linear part of ``f``."""
    return cr.linearize(f, x)[1](np.ones_like(x))


WAYS = {
    "grad": lambda f: cr.grad(f),
    "value_and_grad": lambda f: cr.value_and_grad(f),
    "vjp": lambda f: lambda x: cr.vjp(f, x)[1](1.0),
    "jvp": lambda f: lambda x: cr.jvp(f, (x,), (np.ones_like(x),)),
    "linearize": lambda f: lambda x: once(f, x),
    "jacfwd": lambda f: cr.jacfwd(f),
    "jacrev": lambda f: cr.jacrev(f),
    "jacobian": lambda f: cr.jacobian(f),
    "hessian": lambda f: cr.hessian(f),
    "hvp": lambda f: lambda x: cr.hvp(f, (x,), (np.ones_like(x),)),
    "vmap": lambda f: lambda x: cr.vmap(cr.grad(f))(x[None]),
    "checkpoint": lambda f: cr.grad(cr.checkpoint(f)),
    "grad of grad": lambda f: cr.grad(lambda x: np.sum(cr.grad(f)(x))),
    "first call of a compiled function": lambda f: lambda x: cr.compile(cr.grad(f))(x),
}


def caught(run):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run()
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "x"), [(root, ZEROS), (logs, NEGATIVE)])
def test_each_warning_has_a_line_of_this_file(way, f, x):
    found = caught(lambda: WAYS[way](f)(x))
    assert found
    assert {__file__} == {warning.filename for warning in found}
    assert {RuntimeWarning} == {warning.category for warning in found}


def test_the_line_of_the_call_forwards_and_of_the_transform_back():
    forwards, *_ = caught(lambda: cr.grad(logs)(NEGATIVE))
    assert logs.__code__.co_firstlineno + 1 == forwards.lineno
    assert "invalid value encountered in log" == str(forwards.message)
    here = sys._getframe().f_lineno + 1
    (back,) = caught(lambda: cr.grad(root)(ZEROS))
    assert here == back.lineno
    of = f"in the pullback of numpy.sqrt of float64[2]; {HINT_OF_LINE}"
    assert f"divide by zero encountered in divide, {of}" == str(back.message)


TINY = np.array([1e-200, 1.0])


def named(f, x):
    """Return the operations that warnings of ``cr.grad(f)`` name on the way back."""
    told = [str(warning.message).partition("; ")[0] for warning in caught(lambda: cr.grad(f)(x))]
    return [words for words in told if ", in the pullback of " in words]


@pytest.mark.parametrize(
    ("f", "x", "name"),
    [
        (lambda x: np.sum(np.sqrt(x)), ZEROS, "sqrt of float64[2]"),
        (lambda x: np.sum(np.sqrt(x)), ZEROS.astype("f"), "sqrt of float32[2]"),
        (lambda x: np.sum(np.sqrt(x)).real, ZEROS + 0j, "sqrt of complex128[2]"),
        (lambda x: np.sum(np.sqrt(x)), np.zeros(100_000), "sqrt of float64[100000]"),
        (lambda x: np.sum(np.sqrt(x[:, None]) * ZEROS), ZEROS, "sqrt of float64[2, 1]"),
        (lambda x: np.sum(1 / x), TINY, "divide of float64[2]"),
        (lambda x: np.sum(x[:, None] / np.full(3, 1e-200) * 1e200), TINY, "divide of float64[3]"),
        (lambda x: np.prod(x), np.array([1e-200, 1e200, 1e200]), "prod of float64[3]"),
        (lambda x: np.sum(np.linalg.inv(x)), np.diag(TINY), "linalg.inv of float64[2, 2]"),
    ],
)  # fmt: skip
def test_a_warning_back_names_the_operation(f, x, name):
    with np.errstate(all="ignore"):
        f(x)  # no warning of the function itself is looked at
    found = named(f, x)
    assert any(words.endswith(f", in the pullback of numpy.{name}") for words in found), found


def test_a_pullback_names_the_operation_each_time():
    _, pullback = cr.vjp(lambda x: np.sqrt(x), ZEROS)
    for _ in range(2):
        (warning,) = caught(lambda: pullback(np.ones(2)))
        assert "in the pullback of numpy.sqrt of float64[2]" in str(warning.message)


def test_a_written_array_and_a_nested_function_are_named():
    def written(x):
        y = cr.array([x[0], x[1]])
        y[:] = np.sqrt(x)
        return np.sum(y)

    assert {"numpy.sqrt of float64[2]"} == {
        words.rpartition("pullback of ")[2] for words in named(written, ZEROS)
    }
    again = named(lambda x: np.sum(cr.grad(root)(x)), np.full(2, 1e-250))
    assert any("in the pullback of numpy." in words for words in again)


def test_a_jacobian_along_the_tape_names_the_operation():
    rows = cr.jacobian(lambda x: np.sqrt(np.outer(x, np.ones(5))))
    told = {
        str(warning.message).partition("; ")[0] for warning in caught(lambda: rows(np.zeros(40)))
    }
    of = "in the pushforward of numpy.sqrt of float64[40, 5]"
    assert f"divide by zero encountered in divide, {of}" in told


def test_where_the_tape_is_watched_the_line_is_known():
    with cr.debug(zero=True):
        (words,) = {str(w.message) for w in caught(lambda: cr.grad(root)(ZEROS))}
    line = f"test_numpy_warnings.py:{root.__code__.co_firstlineno + 1}"
    assert f"divide by zero encountered in divide, in the pullback of sqrt, {line}" == words


def test_numbers_have_no_name_on_the_way_back():
    one = np.float64(1e-300)
    told = [str(w.message) for w in caught(lambda: cr.grad(lambda x: x / one / one)(one))]
    assert f"overflow encountered in scalar multiply, on the way back; {HINT}" in told


def by_steps(x):
    for _ in range(3):
        x = np.log(np.linalg.solve(np.eye(2) + x, x - 3.0) * x * x + 2.0 * x)
    return x


@pytest.mark.parametrize("f", [by_steps, cr.grad(lambda x: np.sum(by_steps(x)))])
def test_replays_of_compiled_functions_warn_at_the_line_of_the_call(f):
    compiled = cr.compile(f)
    for _ in range(4):
        found = caught(lambda: compiled(ZEROS))
    assert found
    assert {__file__} == {warning.filename for warning in found}
    assert all(f", in a compiled function; {HINT}" in str(warning.message) for warning in found)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        compiled(ZEROS)


def times(x):
    return np.sin(x) * 1e200


LARGE = np.full(3, 1e300)
RECORDED = {
    "pullback": lambda: cr.vjp(times, ZEROS)[1](LARGE[:2]),
    "pushforward": lambda: cr.linearize(times, ZEROS)[1](LARGE[:2]),
    "block": lambda: cr.linearize(times, ZEROS)[1](np.outer(LARGE, [1.0, 1.0]), block=True),
    "jacobian": lambda: cr.jacobian(root_of_each)(np.zeros(200)),
    "jacfwd": lambda: cr.jacfwd(root_of_each)(np.zeros(600)),
    "jacrev": lambda: cr.jacrev(root_of_each)(np.zeros(200)),
    "hessian": lambda: cr.hessian(root)(np.zeros(200)),
}


def root_of_each(x):
    return np.sqrt(x) * 2.0


@pytest.mark.parametrize("call", RECORDED.values(), ids=RECORDED)
def test_a_recorded_operation_is_told_with_the_command_that_names_its_line(call):
    found = caught(call)
    assert {__file__} == {warning.filename for warning in found}
    told = [str(warning.message) for warning in found]
    assert any(words.endswith((HINT, HINT_OF_LINE)) for words in told)


def test_an_operation_of_the_users_own_line_needs_no_such_word():
    for warning in caught(lambda: cr.jvp(root, (ZEROS,), (ZEROS,))):
        assert "cr.debug" not in str(warning.message)
    again = caught(lambda: cr.grad(cr.checkpoint(logs))(NEGATIVE))
    lines = {w.lineno for w in again if HINT not in str(w.message)}
    assert {logs.__code__.co_firstlineno + 1} == lines


def test_an_error_on_the_way_back_is_told_with_that_command():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as error:
        cr.grad(root)(ZEROS)
    of = f"in the pullback of numpy.sqrt of float64[2]; {HINT_OF_LINE}"
    assert [f"It was {of}."] == error.value.__notes__
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as error:
        cr.grad(logs)(NEGATIVE)
    assert not hasattr(error.value, "__notes__")
    with cr.debug(inf=True), np.errstate(all="ignore"), pytest.raises(FloatingPointError) as error:
        cr.grad(root)(ZEROS)
    assert HINT not in str(error.value.__notes__)


def test_a_thread_has_the_line_that_sent_the_work():
    def squares(x):
        return sum(cr.map(lambda v: np.sqrt(v * np.zeros(2)).sum(), [x, x], executor=executor))

    with ThreadPoolExecutor(2) as executor:
        found = caught(lambda: cr.grad(squares)(1.0))
    assert {__file__} == {warning.filename for warning in found}


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("first")])
def test_errstate_raises_at_a_line_of_this_file(way, monkeypatch):
    monkeypatch.delenv("CHAINRULES_TRACEBACK")
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as error:
        WAYS[way](root)(ZEROS)
    assert __file__ == str(error.traceback[-1].path)


def test_what_the_user_ignores_is_not_told():
    with np.errstate(all="ignore"):
        assert [] == caught(lambda: cr.hessian(root)(ZEROS))

    def quiet(x):
        with np.errstate(invalid="ignore"):
            return np.sum(np.log(x))

    assert [] == caught(lambda: cr.grad(quiet)(NEGATIVE))


def test_a_handler_of_the_users_is_asked():
    told = []
    with np.errstate(all="call", call=lambda kind, flag: told.append(kind)):
        assert [] == caught(lambda: cr.grad(root)(ZEROS))
    assert ["divide by zero"] == told


def test_a_filter_that_makes_errors_of_warnings():
    with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
        cr.grad(root)(ZEROS)


@pytest.mark.filterwarnings("ignore")
def test_settings_are_as_before_whatever_happened():
    before = np.geterr(), np.geterrcall()
    cr.grad(root)(ZEROS)
    assert before == (np.geterr(), np.geterrcall())
    with pytest.raises(ZeroDivisionError):
        cr.grad(lambda x: x * (1 // 0))(1.0)
    assert before == (np.geterr(), np.geterrcall())


def test_settings_of_a_user_inside_hold():
    seen = []

    def f(x):
        with np.errstate(divide="ignore"):
            seen.append(np.geterr()["divide"])
            return np.sum(np.log(x))

    with np.errstate(all="ignore"):
        cr.grad(f)(ZEROS)
    assert ["ignore"] == seen


def test_threads_have_settings_of_their_own():
    found = []
    thread = threading.Thread(target=lambda: found.append(caught(lambda: cr.grad(root)(ZEROS))))
    thread.start()
    thread.join()
    assert {__file__} == {warning.filename for warning in found[0]}


def test_the_memory_of_settings_is_bounded():
    for _ in range(3 * SETTINGS_KEPT):
        with np.errstate(divide="ignore"):
            cr.grad(root)(ZEROS)
    assert len(numpy_warnings._telling) <= SETTINGS_KEPT + 1


def test_a_numpy_without_the_variable_warns_as_it_does(monkeypatch):
    monkeypatch.setattr(numpy_warnings, "_get", lambda: None)
    for name in ("chainrules.rules.engines.engine", "chainrules.reverse.vjp"):
        monkeypatch.setattr(importlib.import_module(name), "settings", lambda: None)
    monkeypatch.setattr(numpy_warnings, "_telling", {})
    (warning,) = caught(lambda: cr.grad(root)(ZEROS))
    assert __file__ != warning.filename


def test_what_the_function_sets_stays():
    def f(x):
        np.seterr(over="ignore")
        return x * x

    before = np.seterr()
    try:
        cr.grad(f)(1.0)
        assert np.geterr() == {**before, "over": "ignore"}
        assert np.geterrcall() is None
    finally:
        np.seterr(**before)
    assert np.geterr() == before
