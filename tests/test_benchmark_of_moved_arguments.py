"""The programs of ``benchmarks/moved_arguments.py`` run, and their gradients agree."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "moved_arguments.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="an unpacked sdist")


def rows(only, path):
    pytest.importorskip("scipy")
    pytest.importorskip("llvmlite")
    options = ["--quick", "--only", only, "--markdown", str(path)]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout + done.stderr
    text = path.read_text()
    assert text in done.stdout
    parts = only.split(",")
    lines = [line for line in text.splitlines() if any(part in line for part in parts)]
    return [line.strip("| ").split(" | ") for line in lines]


def test_one_recording_serves_values_that_move(tmp_path):
    (cells,) = rows("30 springs", tmp_path / "moved.md")
    assert "1 in 40" in cells
    assert "differs" not in cells[-1]


@pytest.mark.slow
def test_programs(tmp_path):
    programs = ["Adam", "length"]
    found = [cells[0] for cells in rows(",".join(programs), tmp_path / "moved.md")]
    assert [] == [part for part in programs if not any(part in name for name in found)]
