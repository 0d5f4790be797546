"""The sample that ``make test`` runs, and what the command line says of it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiers import AT_LEAST, MANY, ONE_IN, Progress, sample

TOP = Path(__file__).parents[1]
CASES = [f"tests/a.py::test_{name}[{case}]" for name in "fg" for case in range(100)]


def of(function, names):
    return [name for name in names if f"::test_{function}[" in name]


def test_one_case_in_so_many_of_each_function():
    chosen = sample(CASES, ())
    for function in "fg":
        assert len(of(function, chosen)) == -(-100 // ONE_IN)


def test_few_cases_of_each_function_are_enough():
    names = [f"tests/a.py::{name}" for name in ("test_f", "test_g[a]", "test_g[b]", "test_g[c]")]
    chosen = sample(names, ())
    assert "tests/a.py::test_f" in chosen
    assert len(of("g", chosen)) == AT_LEAST


def test_every_case_of_a_file_in_one_function_at_least():
    chosen = sample(CASES, {"tests/a.py"})
    assert {name.partition("[")[2] for name in chosen} == {f"{case}]" for case in range(100)}
    assert len(chosen) < 150


def test_each_value_of_two_parameters():
    names = [f"tests/a.py::test_f[{x}-{y}]" for x in range(ONE_IN) for y in "abcdefgh"]
    chosen = [name.partition("[")[2] for name in sample(names, ())]
    assert len(chosen) == ONE_IN
    assert len({case[0] for case in chosen}) + len({case[2] for case in chosen}) > 1.5 * ONE_IN


def test_the_order_of_the_tests_does_not_matter():
    assert sample(CASES, ()) == sample(reversed(CASES), ())


def test_more_cases_leave_the_chosen_ones_in_place():
    """A case that is added pushes out one at most: the sample is not drawn anew."""
    more = [*CASES, "tests/a.py::test_f[new]"]
    assert len(sample(CASES, ()) - sample(more, ())) <= 1


SUITE = """
import pytest

@pytest.mark.parametrize("x", range(80))
def test_f(x):
    assert x != {wrong}

@pytest.mark.slow
def test_g():
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Run pytest, given its words, on a suite of 81 tests."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\nmarkers =\n    slow\n    every_case\n"
    )
    (tmp_path / "tests" / "conftest.py").write_text(
        f"import sys\nsys.path.append({str(TOP / 'tests' / 'tools')!r})\nimport tiers\n"
        "pytest_addoption = tiers.add_options\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(tiers, 'tiers')\n"
    )

    def run(*words, wrong=None):
        (tmp_path / "tests" / "test_it.py").write_text(SUITE.format(wrong=wrong))
        plugins = ["-p", "no:cacheprovider", "-p", "xdist"]  # others take a second to be imported
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", *plugins, *words],
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout

    return run


def passed(text):
    return int(re.search(r"(\d+) passed", text)[1])


@pytest.mark.parametrize(
    ("words", "expected", "heading"),
    [
        ((), 10, "the quick tier"),
        (("-n", "2"), 10, "the quick tier"),
        (("-n", "2", "--all"), 81, "everything"),
        (("-n", "1", "tests/test_it.py"), 81, "all tests of what is named"),
        (("--quick", "tests/test_it.py"), 10, "the quick tier"),
        (("-k", "test_g"), 1, "all tests of what is named"),
        (("-m", "slow"), 1, "all tests of what is named"),
    ],
)
def test_what_runs(run, words, expected, heading):
    text = run(*words)
    assert passed(text) == expected
    assert heading in text


class Terminal:
    """A stand-in for pytest's reporter, and for the config that knows it."""

    def __init__(self):
        self.lines = []
        self.option = SimpleNamespace(verbose=0)
        self.pluginmanager = SimpleNamespace(get_plugin=lambda name: self)

    def write_line(self, line):
        self.lines.append(line)


def report(name, when, outcome="passed"):
    return SimpleNamespace(
        nodeid=name,
        when=when,
        outcome=outcome,
        failed=outcome == "failed",
        passed=outcome == "passed",
        skipped=outcome == "skipped",
    )


@pytest.mark.parametrize("total", [MANY - 1, MANY])
def test_a_line_for_each_twentieth_of_many_tests(total):
    terminal = Terminal()
    progress = Progress(terminal)
    progress.pytest_xdist_node_collection_finished(range(total))
    status = progress.pytest_report_teststatus(report("t", "call"))
    for k in range(total):
        progress.pytest_runtest_logreport(report(f"t{k}", "call", "failed" if k == 7 else "passed"))
    if total < MANY:
        assert status is None
        assert terminal.lines == []
    else:
        assert status == ("passed", "", "PASSED")
        assert terminal.lines[0] == "failed: t7"
        assert len(terminal.lines) == 21
        assert f"{MANY} of {MANY} tests, 1 failed" in terminal.lines[-1]
