"""``cr.explain(c, stage=...)``: the program of a compiled function as each pass leaves it."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling.explaining.stages import STAGES
from chainrules.compiling.native import available

native = pytest.mark.skipif(not available(), reason="no llvmlite")
X = np.linspace(0.1, 1.0, 5000)
OPERATION = re.compile(
    r"  (?:[vn%]\d+(?:, v\d+)* = )?(?:[\w ]+|loop over .*)(?:\(.*\))?"  # result, name, operands
    r" *(?:: [\w, \[\]-]+)?(?: +# .+)?"  # form, line
)
HEADING = re.compile(r"(?: loop over .*| call of NumPy| \w[\w ,]*: \d+|[a-z]+):?")


def mixed(x):
    y = np.tanh(x) * 2.0
    return np.sum(np.flip(y) * np.exp(-x))


def branched(x):
    return np.sin(x) * 2.0 if x > 0.5 else x + 0.5


def lines_of(program, stage):
    return str(cr.explain(*program, stage=stage)).splitlines()


def test_recorded_steps_have_the_users_line_and_a_form():
    lines = lines_of((cr.compile(branched), 0.7), "recorded")
    start = branched.__code__.co_firstlineno + 1
    assert [
        "recorded:",
        "  v0 = input : float",
        f"  v1 = gt(v0, 0.5) : bool # test_stages.py:{start}",
        f"  guard(v1, bool is True) # test_stages.py:{start}",
        f"  v2 = sin(v0) : float64 # test_stages.py:{start}",
        f"  v3 = mul(v2, 2.0) : float64 # test_stages.py:{start}",
        "  return v3",
    ] == ["  " * (line[0] == " ") + " ".join(line.split()) for line in lines]


def test_without_arguments_each_recording_is_printed():
    c = cr.compile(branched)
    c(0.7), c(0.2), c(np.float64(0.7))
    text = str(cr.explain(c, stage="recorded"))
    found = ("arguments float\n", "arguments float64\n", "sin(v0)", "add(v0, 0.5)")
    assert [2, 1, 2, 1] == [text.count(part) for part in found]
    assert [2, 1] == [sum(1 for _ in kind.all_recordings()) for kind in c.kinds.values()]


def test_large_arrays_are_not_kept():
    c, x = cr.compile(np.sin), np.ones(10_000)
    c(x)
    assert "large arrays are not kept: write cr.explain(c, x, stage=...)" in str(
        cr.explain(c, stage="recorded")
    )
    assert "sin(v0)" in str(cr.explain(c, x, stage="recorded"))


def test_kept_arguments_are_copies():
    c, x = cr.compile(lambda x: x * 2.0 if x[0] > 0 else x), np.ones(3)
    c(x)
    x[:] = -1.0
    assert "guard(v2, bool is True)" in str(cr.explain(c, stage="recorded"))


@native
def test_loops_by_stage():
    c = cr.compile(cr.grad(mixed))
    line = mixed.__code__.co_firstlineno + 1
    grouped = lines_of((c, X), "grouped")
    assert "grouped:" == grouped[0]
    assert f"%0 = tanh(v0) # test_stages.py:{line}" in [" ".join(x.split()) for x in grouped]
    assert 3 == sum(x.startswith(" loop over (5000,)") for x in grouped)
    assert 3 == sum(x.startswith(" native function") for x in lines_of((c, X), "scheduled"))
    source = lines_of((c, X), "source")
    assert {"  def run(values):", "  c0 is flip"} <= set(source)
    assert 3 == sum("is machine code" in x for x in source)
    assert 3 == sum(x.startswith("define") for x in lines_of((c, X), "llvm"))
    assert ["scalarized: no stage of this program, which is fused loops"] == lines_of(
        (c, X), "scalarized"
    )


@native
def test_complex_loops():
    lines = lines_of((lambda z: np.abs(z * z), np.ones(100) + 1j), "grouped")
    assert any("hypot(%" in line for line in lines)


@native
def test_single_numbers_by_stage():
    c, line = cr.compile(branched), branched.__code__.co_firstlineno + 1
    lines = [" ".join(x.split()) for x in lines_of((c, 0.7), "scalarized")]
    assert [
        "scalarized:",
        f"n1 = greater(n0, 0.5) # test_stages.py:{line}",
        f"n2 = sin(n0) # test_stages.py:{line}",
        f"n3 = multiply(n2, 2.0) # test_stages.py:{line}",
    ] == lines
    assert any(x.startswith("define") for x in lines_of((c, 0.7), "llvm"))


def test_shared_factors():
    pytest.importorskip("scipy")
    a = np.random.default_rng(0).normal(size=(20, 20)) + 20 * np.eye(20)
    f = cr.grad(lambda a: np.sum(np.linalg.solve(a, np.ones(20))))
    assert "solve(factors(v0)," in str(cr.explain(f, a, stage="factored"))
    assert "solve(v0," in str(cr.explain(f, a, stage="recorded"))
    assert "as recorded" in str(cr.explain(branched, 0.7, stage="factored"))


@pytest.mark.parametrize(
    ("f", "x"), [(cr.grad(mixed), X), (branched, 0.2)], ids=["array", "number"]
)
def test_every_line_has_the_grammar(f, x):
    text = str(cr.explain(f, x, stage="all"))
    for line in text[: text.index("\nsource:")].splitlines():
        python = re.fullmatch(r"  (v|w)\d+ = \w+\(.*|  (if|return) .*", line)
        assert OPERATION.fullmatch(line) or HEADING.fullmatch(line) or python, line


def test_what_is_not_compiled_says_why():
    found = str(cr.explain(lambda x: x + time.time(), 1.0, stage="recorded"))
    assert found.startswith("<lambda> is not compiled: it uses time.time")


def test_an_unknown_stage():
    with pytest.raises(ValueError, match="stage='fused' is none of 'recorded', "):
        cr.explain(cr.compile(branched), 0.7, stage="fused")


def test_a_stage_changes_nothing_of_the_function():
    c = cr.compile(branched)
    c(0.7)
    before = {key: kind.recordings for key, kind in c.kinds.items()}
    for stage in STAGES:
        cr.explain(c, stage=stage)
        cr.explain(c, 0.2, stage=stage)
    assert before == {key: kind.recordings for key, kind in c.kinds.items()}
    assert np.sin(0.7) * 2.0 == c(0.7)


def test_the_demonstration():
    made = subprocess.run(
        [sys.executable, "-P", "-m", "chainrules.compiling"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert "---- cr.grad(energy) ----\nrecorded:\n" in made.stdout
    assert "# __main__.py:" in made.stdout
