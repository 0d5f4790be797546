"""Draws of random programs depend on no clock, no other test, and no earlier run."""

import importlib
import re
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).resolve().parents[1]
RNG = np.random.default_rng(0)


def drawn():
    numbers = []
    settings(max_examples=400)(given(st.integers(0, 10**6))(lambda n: numbers.append(n)))()
    return numbers


def test_imports_change_no_draw(tmp_path, monkeypatch):
    before = drawn()
    path = tmp_path / "numbers_of_its_own.py"
    path.write_text("\n".join(f"a_{k} = {1001 + 7 * k}" for k in range(500)))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("numbers_of_its_own")
    assert before == drawn()


def test_the_profile():
    profile = settings.default
    assert (True, None, None) == (profile.derandomize, profile.deadline, profile.database)


def test_settings_are_in_one_place():
    words = re.compile(r"\b(derandomize|database|deadline|suppress_health_check)=")
    here = {path.name for path in TESTS.rglob("*.py") if words.search(path.read_text())}
    # `make fuzz` draws anew by its seed.
    assert {"conftest.py", "run.py"} == here


def test_first_draw_of_a_module():
    assert np.random.default_rng(0).normal() == RNG.normal()


def test_first_draw_of_a_module_again():
    assert np.random.default_rng(0).normal() == RNG.normal()
