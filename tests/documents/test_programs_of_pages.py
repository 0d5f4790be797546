"""README and the pages of docs tell the truth: their Python prints or raises what they show.

The blocks of a page run in order, as a reader runs them, in one module of one interpreter; nothing
is taken back between them. A ```` ```text ```` block right after a ```` ```python ```` block is
what that one prints, or the error that it ends in.
"""

import codeop
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sources import TOP, relative

# Pages of another form, each with a test of its own.
ELSEWHERE = {
    "docs/batches.md": "tests/batching/test_batch_document.py",
    "docs/compiling.md": "tests/compiling/test_document.py",
    "docs/cost.md": "tests/documents/test_cost_guide.py",
    "docs/from_scratch.md": "tests/documents/test_from_scratch.py",
    "docs/packages.md": "tests/documents/test_packages_guide.py",
    "docs/writing_rules.md": "tests/documents/test_writing_rules.py",
}
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.S | re.M)
IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.M)
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


def examples_of(page):
    """List the programs of a page, with what each shows."""
    return EXAMPLE.findall(page.read_text(encoding="utf-8"))


def read(codes):
    """Run the blocks one after the other in a new interpreter; return what each printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", READER],
        input=json.dumps(codes), capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


PAGES = {
    relative(page): examples_of(page)
    for page in [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
    if not {"_build", "generated"} & {*page.parts} and examples_of(page)
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PAGES.keys() - ELSEWHERE.keys()))
def test_programs(name):
    codes, shown = zip(*PAGES[name], strict=True)
    for library in sorted(set(IMPORTED.findall("\n".join(codes)))):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"no {library} here")
    found = read(codes)
    differ = [case for case in zip(codes, shown, found, strict=True) if case[1] != case[2]]
    assert [] == differ


def test_a_page_of_another_form_has_a_test_that_reads_it():
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (TOP / test).read_text(encoding="utf-8"), page


@pytest.mark.parametrize(
    "name", ["README.md", "docs/start/ten_minutes.md", "docs/how_to/fit_an_ode.md"]
)
def test_first_programs_can_be_pasted_into_a_session(name):
    """A session of Python wants an empty line after each body."""
    for code, _ in PAGES[name]:
        pending = []
        for line in [*code.splitlines(), ""]:
            pending.append(line)
            if codeop.compile_command("\n".join(pending), name) is not None:
                pending = []
        assert [] == pending


def test_the_front_page_is_short():
    """README: 150 lines at most, and three programs of at most six lines after the imports."""
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
    programs = [code for code, _ in PAGES["README.md"]]
    assert 3 == len(programs)
    for code in programs:
        lines = [line for line in code.splitlines() if line.strip()]
        assert len([line for line in lines if not IMPORTED.match(line)]) <= 6
