"""The programs of ``benchmarks/price.py`` run, and the guide has the tables of the last run."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "price.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="an unpacked sdist")


def run(*options):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_programs_and_guide():
    pytest.importorskip("scipy")
    said = run("--check")
    assert said.endswith(" programs, and the guide, are right.\n")
    assert 30 < int(said.splitlines()[-1].split()[0])


@pytest.mark.slow
def test_a_row(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "price.json"
    options = ["--seconds", "0.1", "--eager", "--only", "kepler", "--results", str(path)]
    assert "Kepler's equation" in run(*options)
    assert '"grad"' in path.read_text()
    assert "| Kepler's equation | 2 to 1 |" in path.with_suffix(".md").read_text()
