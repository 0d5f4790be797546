"""CONTRIBUTING's account of one gradient, beside the functions that it goes through."""

import re
from pathlib import Path

import numpy as np
from counted_calls import calls_of

import chainrules as cr

TOP = Path(__file__).parents[2]


def functions_met(run):
    return {name for module, name in calls_of(run) if module and "chainrules" in module}


def named_in_the_steps():
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = text[text.index("## How a call finds its rule") :]
    brackets = re.findall(r"\((`[A-Z][A-Za-z]*\.[^)]*`|`[a-z_]+`)\)", steps.replace("\n   ", " "))
    return {name for group in brackets for name in re.findall(r"`([\w.]+)`", group)}


def test_the_steps_name_the_functions_that_a_gradient_goes_through():
    x = np.linspace(0.1, 1.0, 5)
    gradient = cr.grad(lambda x: np.sum(np.sin(x) ** 2))
    gradient(x)
    named = named_in_the_steps()
    assert len(named) >= 15
    assert named - functions_met(lambda: gradient(x)) == set()


def test_the_files_that_contributing_names_are_there():
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:rules|tests|tracing|config|src)/[\w/.*]+)`", text):
        found = list(TOP.glob(name)) or list((TOP / "rules").glob(name))
        assert found, name
