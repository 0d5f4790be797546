"""The demo runs, says what it checked, and says what to install where something is missing."""

import subprocess
import sys

import pytest

from chainrules.__main__ import compare

# What `python -m chainrules` does, with a module taken away.
WITHOUT = """
import sys
sys.modules[{module!r}] = None
from chainrules.__main__ import main
sys.exit(main())
"""


def run(*arguments):
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_demo():
    for module in ("scipy", "sklearn", "tqdm"):
        pytest.importorskip(module)
    demo = run("-m", "chainrules")
    assert 0 == demo.returncode, demo.stdout + demo.stderr
    assert "OFF" not in demo.stdout
    for line in (
        "forward mode: map_frule (map.py:",
        "reverse mode: map_numbers_rrule (map.py:",
        "569 samples, 30 features",
        "Every comparison held.",
    ):
        assert line in demo.stdout
    assert 9 == sum(line.endswith("  ok") for line in demo.stdout.splitlines())


@pytest.mark.slow
def test_help_says_what_the_demo_does_and_does_not_run_it():
    shown = run("-m", "chainrules", "--help")
    assert (0, "") == (shown.returncode, shown.stderr)
    assert "usage: python -m chainrules" in shown.stdout
    assert "checked by finite differences" in " ".join(shown.stdout.split())
    wrong = run("-m", "chainrules", "--nothing")
    assert 2 == wrong.returncode
    assert "--nothing" in wrong.stderr
    assert "" == wrong.stdout


@pytest.mark.slow
@pytest.mark.parametrize("module", ["scipy", "sklearn", "tqdm"])
def test_demo_names_the_missing_extra(module):
    demo = run("-c", WITHOUT.format(module=module))
    assert 1 == demo.returncode
    assert 'pip install "chainrules[demo]"' in demo.stderr
    assert "Every comparison held." not in demo.stdout


def test_a_number_that_is_off_is_an_error(capsys):
    assert not compare("a name", [1.0, 2.0], [1.0, 2.1], 1e-3)
    assert compare("a name", [1.0, 2.0], [1.0, 2.0], 1e-3)
    assert "OFF" in capsys.readouterr().out
