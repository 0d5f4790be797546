"""CONTRIBUTING's accounts of single calls, beside the functions that these go through."""

import re
from pathlib import Path

import numpy as np
import pytest
from counted_calls import calls_of

import chainrules as cr

TOP = Path(__file__).parents[2]
TEXT = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")


def functions_met(run):
    return {name for module, name in calls_of(run) if module and "chainrules" in module}


def named_in(title):
    """The functions that a section names in brackets."""
    section = re.split(r"^## ", TEXT[TEXT.index(f"## {title}\n") + 3 :], flags=re.M)[0]
    names = r"`(?:[A-Z][A-Za-z]*\.\w+|[a-z_]+)`"
    brackets = re.findall(rf"\(({names}(?:, {names})*)\)", " ".join(section.split()))
    return {name for group in brackets for name in re.findall(r"`([\w.]+)`", group)}


def test_the_steps_of_a_gradient():
    x = np.linspace(0.1, 1.0, 5, dtype=np.float32)  # which the accelerator leaves to Python
    gradient = cr.grad(lambda x: np.sum(np.sin(x) ** 2))
    gradient(x)
    named = named_in("How a call finds its rule")
    assert len(named) >= 15
    assert named - functions_met(lambda: gradient(x)) == set()


def test_the_steps_of_a_compiled_call():
    pytest.importorskip("llvmlite")
    x = np.linspace(0.1, 1.0, 5)

    def calls():
        g = cr.compile(cr.grad(lambda x: np.sum(np.sin(x) ** 2)))
        for k in range(3):
            g(x + k)

    named = named_in("One compiled call")
    assert len(named) >= 15
    assert named - functions_met(calls) == set()


def test_the_steps_of_an_adopted_write():
    from chainrules import numpy as ours

    def f(x):
        y = ours.zeros(3)
        y[0] = x[0] * 2.0
        return ours.sum(y)

    x = np.ones(3, dtype=np.float32)  # which the accelerator leaves to Python
    gradient = cr.grad(f)
    gradient(x)
    named = named_in("One adopted write")
    assert len(named) >= 10
    assert named - functions_met(lambda: gradient(x)) == set()


def test_the_files_that_contributing_names_are_there():
    for name in re.findall(r"`((?:rules|tests|tracing|config|src|reverse|docs)/[\w/.*]+)`", TEXT):
        found = list(TOP.glob(name)) or list((TOP / "rules").glob(name))
        assert found, name


ROOMS = [
    path.parent
    for top in ("config", "forward", "reverse", "rules", "src/chainrules")
    for path in (TOP / top).rglob("README.md")  # which does not follow links
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(TOP).as_posix())
def test_the_readme_of_a_room_names_what_is_there(room):
    text = (room / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 6
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        assert (room / name).exists() or (TOP / name).exists(), name


def test_each_room_has_a_readme():
    """A room is a folder of the core, or of the face with more than ten files."""
    names = {room.relative_to(TOP).as_posix() for room in ROOMS}
    rooms = {"config", "forward", "reverse", "rules"}
    rooms |= {
        f"rules/{path.name}"
        for path in (TOP / "rules").iterdir()
        if (path / "__init__.py").exists()
    }
    rooms |= {
        f"src/chainrules/{name}"
        for name in ("compiling", "interop", "testing")
        + tuple(f"compiling/{room}" for room in ("record", "ir", "passes", "native"))
    }
    assert rooms - names == set()
