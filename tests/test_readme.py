"""The README tells the truth: its Python runs, in order, and prints or raises what it shows.

A ```` ```text ```` block right after a ```` ```python ```` block is what that one prints, or the
error that it ends in.
"""

import contextlib
import io
import linecache
import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.S | re.M)


def outcome(code, names):
    """Run ``code`` and return what a reader would see of it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            # Errors read what the line says.
            linecache.cache["example.py"] = (len(code), None, code.splitlines(True), "example.py")
            exec(compile(code, "example.py", "exec"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def test_examples():
    pytest.importorskip("scipy")
    pytest.importorskip("jax")
    names = {"__name__": "example"}
    examples = EXAMPLE.findall(README.read_text(encoding="utf-8"))
    assert len(examples) > 5
    with np.printoptions(precision=8, suppress=False, linewidth=75, legacy=False):
        for code, shown in examples:
            # What is adopted is a module of its own.
            here = {"__name__": "example"} if "cr.adopt()" in code else names
            assert shown == outcome(code, here), code
