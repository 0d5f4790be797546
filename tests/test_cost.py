"""``cr.cost`` and ``python -m chainrules cost``: rows, reasons, tables, errors; no times."""

import builtins
import itertools
import subprocess
import sys

import numpy as np
import pytest

import chainrules as cr
from chainrules.__main__ import main
from chainrules._price.differences import calls, differences
from chainrules._price.table import Cost, Price

FIRST = ["jacfwd", "jacrev", "jacobian", "one-sided differences", "two-sided differences"]
OF_REAL = ["grad", "hvp", "hessian"]
SECOND = ["one-sided differences, Hessian", "two-sided differences, Hessian"]


def loss(x):
    return np.sum(np.sin(x) * x)


def tuple_of(x, w):
    return w * x, {"sum": np.sum(x)}


def priced(f, *args, seconds=0.05, compiled=False, **options):
    return cr.cost(f, *args, seconds=seconds, compiled=compiled, **options)


def names(found):
    return [row.name for row in found.rows if row.form == "eager"]


# ---- differences ----


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(
    ("f", "args", "positions"),
    [
        (loss, (np.array([0.3, -1.0, 2.0]),), (0,)),
        (np.sin, (0.5,), (0,)),
        (np.cumsum, (np.array([[1.0, 2.0]]),), (0,)),
        (lambda p, x: p["a"] * x + p["b"], ({"a": 2.0, "b": np.ones(2)}, np.arange(2.0)), (0,)),
        (lambda x, y: x * y, (np.ones(2), np.array([2.0, 3.0])), (0, 1)),
    ],
    ids=["loss", "number", "matrix", "dict", "two"],
)
def test_differences_are_the_jacobian(f, args, positions, sides):
    x, unflatten = cr.flatten(tuple(args[i] for i in positions))

    def on_vector(x):
        given = list(args)
        for i, part in zip(positions, unflatten(x)):
            given[i] = part
        return cr.flatten(f(*given))[0]

    found = differences(f, 1, sides, positions)(*args)
    np.testing.assert_allclose(cr.jacobian(on_vector)(x), found, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("order", [1, 2])
def test_calls_of_differences(order, sides):
    x, count = np.array([0.3, -1.0, 2.0]), 0

    def counted(x):
        nonlocal count
        count += 1
        return loss(x)

    found = differences(counted, order, sides, (0,))(x)
    assert calls(order, sides, 3) == count
    expected = cr.hessian(loss)(x) if order == 2 else cr.grad(loss)(x)[None]
    np.testing.assert_allclose(expected, found, atol=1e-3)


def test_differences_leave_their_arguments_alone():
    x = np.ones(3)
    differences(loss, 2, 2, (0,))(x)
    np.testing.assert_array_equal(np.ones(3), x)


# ---- rows ----


def test_rows_of_a_real_function():
    found = priced(loss, np.ones(3))
    assert {"value", "jvp", "vjp", *FIRST, *OF_REAL, *SECOND} == set(names(found))
    assert (3, 1) == (found.inputs, found.outputs)
    assert all(row.values > 0 and row.seconds > 0 for row in found.rows)
    assert 1.0 == found["value"].values
    assert {"eager"} == {row.form for row in found.rows}


def test_rows_of_a_function_of_many_outputs():
    found = priced(tuple_of, np.ones(3), 2.0)
    assert {"value", "jvp", "vjp", *FIRST} == set(names(found))
    assert (3, 4) == (found.inputs, found.outputs)


@pytest.mark.slow
def test_compiled_rows():
    found = priced(loss, np.ones(3), compiled=True, seconds=1.0)
    eager = [row for row in found.rows if row.form == "eager"]
    both = [row for row in found.rows if row.form == "compiled"]
    assert [row.name for row in eager] == [row.name for row in both]
    assert all(row.values is not None or row.note for row in both)
    assert found["value", "compiled"].first is not None


def test_the_arguments_chosen():
    both = priced(lambda x, w: w * x, np.ones(3), 2.0, argnums=("w", 0))
    assert 4 == both.inputs
    assert 1 == priced(tuple_of, np.ones(3), 2.0, argnums=1).inputs
    assert 3 == priced(tuple_of, np.ones(3), 2.0, argnums="x").inputs
    assert all(row.values for row in both.rows)


def test_containers_and_integers():
    found = priced(lambda p: p["a"] * np.sum(p["b"]), {"a": 2.0, "b": np.ones(2)})
    assert (3, 1) == (found.inputs, found.outputs)
    assert all(row.values for row in found.rows)
    seen = set()
    priced(lambda x: (seen.add(type(x)), x * x)[1], 3)
    assert int not in seen


def test_each_call_has_other_arguments_of_the_same_types():
    seen, dtypes = [], set()

    def f(x, k):
        if isinstance(x, np.ndarray):
            seen.append(x.tobytes())
            dtypes.add(x.dtype)
        assert k == 2
        return np.sum(x**k)

    priced(f, np.array([0.0, 1.0, -2.0], dtype=np.float32), 2)
    assert len(set(seen)) > 3
    assert np.dtype(np.float32) in dtypes


# ---- reasons why there is no figure ----


@pytest.mark.slow
def test_a_derivative_that_is_refused_has_its_reason():
    found = priced(lambda x: float(x[0]) ** 2, np.ones(2), compiled=True, seconds=1.0)
    assert found["jvp"].note.startswith("LostDerivativeError: ")
    assert found["jvp"].values is None
    assert found["jvp", "compiled"].note == found["jvp"].note
    assert found["one-sided differences"].values > 0
    assert "jvp, vjp" in str(found)


@pytest.mark.slow
def test_what_is_not_compiled_has_its_reason():
    def timed(x):
        import time

        return x * (time.time() > 0)

    found = priced(timed, 2.0, compiled=True, seconds=2.0)
    assert found["value", "compiled"].values is None
    assert "time" in found["value", "compiled"].note
    assert found["one-sided differences", "compiled"].note == found["value", "compiled"].note


def test_complex_inputs_have_no_differences():
    found = priced(lambda z: z * z, np.array([1j, 2.0]))
    assert "the inputs are complex" == found["one-sided differences"].note
    assert found["jacobian"].values > 0


def test_a_matrix_that_would_be_too_large_is_not_made():
    found = priced(lambda x: x * x, np.ones(10**4))
    assert "a matrix of 10000 x 10000 numbers is not made" == found["jacobian"].note
    assert found["jvp"].values > 0


def test_differences_that_take_too_long_are_counted():
    found = priced(loss, np.ones(7000), seconds=0.01)
    row = found["two-sided differences, Hessian"]
    assert (2.0 * 7000**2 + 1, "counted") == (row.values, row.note)
    assert row.seconds > 0


# ---- the result ----


ROWS = [
    Price("value", "eager", 0, False, True, 1.0, 2e-5),
    Price("value", "compiled", 0, False, True, 0.5, 1e-5, 0.02),
    Price("jvp", "eager", 1, False, True, 3.0, 6e-5),
    Price("jvp", "compiled", 1, False, note="CompileError: a reason"),
    Price("grad", "eager", 1, True, True, 4.0, 8e-5),
    Price("grad", "compiled", 1, True, True, 0.25, 5e-6, 1.5),
    Price("one-sided differences", "eager", 1, True, False, 3.5, 7e-5),
    Price("hessian", "eager", 2, True, True, 123.4, 2.5e-3),
    Price("jacrev", "eager", 1, True, note="CompileError: a reason"),
]
TEXT = """\
f(float64[3]): 3 inputs, 1 output; the value takes 20 us of CPU time

                       values    time  compiled: values   time  first call
value                       1   20 us               0.5  10 us       20 ms
jvp                         3   60 us
grad                        4   80 us              0.25   5 us       1.5 s
one-sided differences     3.5   70 us
hessian                   123  2.5 ms

cheapest first derivative of 3 inputs, 1 output, in values: \
exact: grad, 4; differences: one-sided differences, 3.5; compiled: grad, 0.25
cheapest second derivative of 3 inputs, 1 output, in values: exact: hessian, 123
jvp compiled, jacrev: CompileError: a reason"""


@pytest.fixture
def made():
    return Cost("f(float64[3])", 3, 1, ROWS)


def test_the_table(made):
    assert TEXT == str(made) == repr(made)


def test_the_cheapest(made):
    assert "grad" == made.cheapest().name
    assert "compiled" == made.cheapest().form
    assert "one-sided differences" == made.cheapest(1, "eager").name
    assert "grad" == made.cheapest(1, "eager", exact=True).name
    assert "hessian" == made.cheapest(2).name
    assert made.cheapest(2, exact=False) is None


def test_rows_by_name(made):
    assert 0.25 == made["grad", "compiled"].values
    with pytest.raises(KeyError, match="no price of 'gradient', eager; there are those of 'value'"):
        made["gradient"]


def test_the_table_of_a_notebook(made):
    text = made._repr_html_()
    assert 6 == text.count("<tr>")
    assert "<td>0.25</td>" in text


def test_the_table_of_rich(made, capsys):
    pytest.importorskip("rich")
    made.show()
    said = capsys.readouterr().out
    assert "one-sided differences" in said
    assert "0.25" in said


def without(monkeypatch, library):
    imported = builtins.__import__

    def refused(name, *args, **kwargs):
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refused)


def test_the_table_without_rich(made, capsys, monkeypatch):
    without(monkeypatch, "rich")
    made.show()
    assert f"{TEXT}\n" == capsys.readouterr().out


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "price.svg"
    found = priced(loss, np.ones(2), picture=path)
    assert "<svg" in path.read_text()
    labels = [label.get_text() for label in found.plot().get_yticklabels()]
    assert labels == names(found)


def test_the_picture_without_matplotlib(made, monkeypatch):
    without(monkeypatch, "matplotlib")
    with pytest.raises(ModuleNotFoundError, match=r"chainrules\[cost\]"):
        made.plot()


# ---- errors ----


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (TypeError, "cost takes a function and its arguments, and float is no function",
         lambda: cr.cost(2.0, loss)),
        (TypeError, r"got no arguments.\n  write cr.cost\(f, x\)", lambda: cr.cost(loss)),
        (TypeError, "cost has no option 'second'; did you mean 'seconds'?",
         lambda: cr.cost(loss, np.ones(2), second=3)),
        (TypeError, r"write cr.cost\(lambda x: f\(x, axis=...\), x\)",
         lambda: cr.cost(np.sum, np.ones(2), axis=0)),
        (ValueError, "seconds=0 of cost is not positive", lambda: cr.cost(loss, 1.0, seconds=0)),
        (TypeError, "argument 0 of loss is of type str and holds no number that cost could",
         lambda: cr.cost(loss, "text")),
        (TypeError, "gave 'text', which holds no number", lambda: cr.cost(lambda x: "text", 1.0)),
        (TypeError, "there is no argument 3", lambda: cr.cost(loss, 1.0, argnums=3)),
        (ZeroDivisionError, "division", lambda: cr.cost(lambda x: 1 / 0, 1.0)),
    ],
)  # fmt: skip
def test_errors(error, text, call):
    with pytest.raises(error, match=text):
        call()


# ---- the command ----

MODULE = """
import numpy as np

K = 2.0

def loss(w, x=K):
    return np.sum(w * w) * x

def outer(w, x):
    return np.outer(w, x)

def buffered(w):
    y = np.zeros(2)
    y[0], y[1] = w, K
    return np.sum(y)

def text(w):
    return "no number"
"""


_numbers = itertools.count()


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    # Each test has a module of its own name: what was adopted by name stays so.
    module = f"priced_{next(_numbers)}"
    (tmp_path / f"{module}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def command(name, *options):
        try:
            code = main(["cost", f"{module}:{name}", "--seconds", "0.05", "--eager", *options])
        except SystemExit as exit:  # argparse's
            code = exit.code
        out, err = capsys.readouterr()
        return code, out + err

    return command


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["loss", "--at", "np.ones(3)"], ["loss(float64[3]): 3 inputs, 1 output", "grad"]),
        (["loss", "--at", "np.ones(3), x=K"], ["loss(float64[3]): 3 inputs, 1 output"]),
        (["loss"], ["1 input, 1 output"]),
        (["outer", "--at", "np.ones(3), np.ones(2)", "--argnums", "x"], ["2 inputs, 6 outputs"]),
        (["outer", "--at", "np.ones(3), np.ones(2)", "--argnums", "0", "--argnums", "1"],
         ["5 inputs, 6 outputs"]),
        (["buffered", "--at", "1.0"], ["LostDerivativeError"]),
    ],
)  # fmt: skip
def test_what_the_command_prints(command, words, texts):
    code, said = command(*words)
    assert 0 == code
    for text in texts:
        assert text in " ".join(said.split())


def test_an_adopted_module(command):
    code, said = command("buffered", "--at", "1.0", "--adopt")
    assert 0 == code
    assert "Error" not in said


def test_a_picture_for_each_point(command, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "price.svg"
    points = ["--at", "1.0", "--at", "np.ones(2)"]
    assert 0 == command("loss", *points, "--picture", str(path))[0]
    assert path.exists()
    assert (tmp_path / "price_2.svg").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["no_such_name"], "has no attribute 'no_such_name'"),
        (["text", "--at", "1.0"], "which holds no number whose derivative"),
        (["loss", "--at", "1.0", "--argnums", "y"], "loss has no argument 'y'"),
    ],
)
def test_what_cannot_be_measured(command, words, text):
    code, said = command(*words)
    assert 2 == code
    assert text in " ".join(said.split())


@pytest.mark.slow
def test_the_command_in_a_process_of_its_own():
    words = ["-P", "-m", "chainrules", "cost", "numpy:hypot", "--seconds", "0.2", "--at"]
    done = subprocess.run(
        [sys.executable, *words, "3.0, 4.0"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    assert "cheapest first derivative" in done.stdout
