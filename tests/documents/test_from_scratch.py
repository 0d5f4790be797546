"""docs/from_scratch.py gives our numbers, in our names, on one page."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROGRAMS = {
    "product": lambda m: lambda x: m.sin(x * x) * m.exp(x) + 2.0 * x,
    "constant": lambda m: lambda x: 1.5 + 0.0 * x,
    "two ways": lambda m: lambda x: (x * x) * (x + m.cos(x)),
}


@pytest.fixture(scope="module")
def scratch():
    spec = importlib.util.spec_from_file_location("from_scratch", DOCS / "from_scratch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [0.3, -1.7, 0.0])
def test_numbers_are_those_of_the_package(scratch, name, x):
    theirs, ours = PROGRAMS[name](scratch), PROGRAMS[name](np)
    assert scratch.jvp(theirs, (x,), (1.3,)) == pytest.approx(cr.jvp(ours, (x,), (1.3,)))
    y, pullback = scratch.vjp(theirs, x)
    assert y == pytest.approx(float(ours(x)))
    assert pullback(0.7)[0] == pytest.approx(0.7 * cr.grad(ours)(x))
    assert scratch.hvp(theirs, x, 1.1) == pytest.approx(cr.hvp(ours, (x,), (1.1,)))
    third = cr.grad(cr.grad(cr.grad(ours)))(x)
    assert scratch.grad(scratch.grad(scratch.grad(theirs)))(x) == pytest.approx(third)


@pytest.mark.parametrize("x", [0.3, -1.7])
def test_a_rule_calls_back_into_each_engine(scratch, x):
    def repeated(t):
        return scratch.repeat(lambda u: scratch.sin(u) * u, 3, t)

    def plain(t):
        for _ in range(3):
            t = np.sin(t) * t
        return t

    assert scratch.grad(repeated)(x) == pytest.approx(cr.grad(plain)(x))
    assert scratch.jvp(repeated, (x,), (1.0,)) == pytest.approx(cr.jvp(plain, (x,), (1.0,)))
    assert scratch.hvp(repeated, x, 1.0) == pytest.approx(cr.hvp(plain, (x,), (1.0,)))


def test_a_captured_traced_value_is_refused(scratch):
    def captures(x):
        return scratch.repeat(lambda u: u * x, 3, 2.0)

    for transform in (scratch.grad(captures), lambda x: scratch.jvp(captures, (x,), (1.0,))):
        with pytest.raises(TypeError, match="captures a traced value"):
            transform(1.0)


def test_the_page_prints_what_it_shows(scratch, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    text = (DOCS / "from_scratch.md").read_text(encoding="utf-8")
    names: dict = {}
    *shown, refused = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    for code in shown:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        expected = re.findall(r"# (-?[\d.]+)", code)
        assert expected == printed.getvalue().split()
    with pytest.raises(TypeError, match="captures"):
        exec(refused, names)


def test_it_fits_on_a_page_and_names_what_is_there():
    lines = (DOCS / "from_scratch.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 150
    text = (DOCS / "from_scratch.md").read_text(encoding="utf-8")
    top = DOCS.parent
    for name in re.findall(r"`((?:rules|forward|reverse|tests|tangents)/[\w/.]*)`", text):
        assert list(top.glob(name)) or list((top / "rules").glob(name)), name
