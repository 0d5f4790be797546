"""The doctor says what is installed, and whether it works; what does not is an exit code of 1."""

import os
import subprocess
import sys

import numpy as np
import pytest

import chainrules as cr
from chainrules import _doctor
from chainrules.__main__ import main

WITHOUT = """
import sys
sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
from chainrules.__main__ import main
sys.exit(main(["doctor"]))
"""


def test_what_it_says(capsys):
    assert 0 == main(["doctor"])
    said = capsys.readouterr().out
    assert said.startswith(f"chainrules {cr.__version__}")
    assert f"NumPy {np.__version__}" in said
    assert "  compile    llvmlite" in said
    assert "derivatives: work\n" in said
    for extra in _doctor.OWN:
        assert f"\n  {extra} " not in said


def test_it_names_the_extra_for_machine_code():
    done = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert 'pip install "chainrules[compile]"' in done.stdout


def test_where_machine_code_is_kept(capsys, monkeypatch, tmp_path):
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("CHAINRULES_CACHE", str(tmp_path))
    assert 0 == main(["doctor"])
    assert f"machine code: works\n  kept in {tmp_path}\n" in capsys.readouterr().out


def test_what_does_not_work_is_an_exit_code(capsys, monkeypatch):
    monkeypatch.setattr(cr, "grad", lambda f: lambda x: x)
    assert 1 == main(["doctor"])
    assert "derivatives: are WRONG" in capsys.readouterr().out


def test_whether_the_accelerator_is_there():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "chainrules", "doctor"],
        env=os.environ | {"CHAINRULES_ACCELERATED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "accelerator in C: is not there" in done.stdout
