"""docs/packages.md tells the truth: the package that it shows is installed, tested and checked."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import chainrules

OURS = Path(chainrules.__file__).parents[1]
TEXT = (Path(__file__).parents[2] / "docs" / "packages.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```", TEXT, re.S | re.M))
(COMMAND,) = re.findall(r"^```\npython (.*?)\n```", TEXT, re.S | re.M)


@pytest.fixture
def run(tmp_path):
    for name, text in {"mypackage/__init__.py": "", **FILES}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    info = tmp_path / "mypackage-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    groups = tomllib.loads(FILES["pyproject.toml"])["project"]["entry-points"]
    points = [f"{name} = {value}" for name, value in groups["chainrules.rules"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[chainrules.rules]", *points, ""]))

    def run(*arguments, **variables):
        path = os.pathsep.join([str(tmp_path), str(OURS)])
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run


@pytest.mark.slow
def test_the_test_for_ci(run):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert 0 == done.returncode, done.stdout
    assert "2 passed" in done.stdout


def test_the_command(run):
    # As a shell splits it.
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', COMMAND)]
    done = run(*words)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "direction_frule (rules.py:" in done.stdout
    assert "2 passed, 0 failed." in done.stdout


def test_without_chainrules(run):
    absent = "import sys; sys.modules['chainrules'] = None\n"
    program = "from mypackage.core import direction; print(direction([3.0, 4.0]))"
    assert "[0.6 0.8]\n" == run("-c", absent + program).stdout
