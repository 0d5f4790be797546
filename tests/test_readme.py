"""README tells the truth: its Python, run as a reader does, prints or raises what README shows.

The blocks run in order, in one module of one interpreter; nothing is taken back between them.
A ```` ```text ```` block right after a ```` ```python ```` block is what that one prints, or the
error that it ends in.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.S | re.M)
READER = """
import contextlib, io, json, linecache, sys, types
import numpy

example = sys.modules["example"] = types.ModuleType("example")
numpy.set_printoptions(linewidth=75)
for code in json.load(sys.stdin):
    # Errors read what the line says.
    linecache.cache["example.py"] = (len(code), None, code.splitlines(True), "example.py")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(code, "example.py", "exec"), vars(example))
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    print(json.dumps(printed.getvalue()))
"""
# The first lines of the blocks that differ today, and the cause.
KNOWN: dict[str, str] = {}


def read(codes):
    """Run the blocks one after the other in a new interpreter; return what each printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", READER],
        input=json.dumps(codes), capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_examples():
    pytest.importorskip("scipy")
    pytest.importorskip("jax")
    examples = EXAMPLE.findall(README.read_text(encoding="utf-8"))
    assert len(examples) > 5
    shown = dict(examples)
    found = dict(zip(shown, read(list(shown))))
    differ = [code for code in shown if shown[code] != found[code]]
    unknown = [code for code in differ if not " ".join(code.split()).startswith(tuple(KNOWN))]
    assert [] == [(code, shown[code], found[code]) for code in unknown]
    assert len(KNOWN) == len(differ), "a block that differed does so no more: strike it"
