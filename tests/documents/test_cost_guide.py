"""docs/cost.md tells the truth: its program runs, and its command is one."""

import re
import shlex
from pathlib import Path

import pytest

from chainrules.__main__ import main

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "cost.md"


@pytest.mark.slow
def test_the_program(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.S | re.M)
    assert "seconds=5" in code
    names = {}
    exec(code.replace("seconds=5", "seconds=1"), names)
    assert "10 inputs, 1 output" in capsys.readouterr().out
    assert names["price"]["grad"].values > 0


def test_the_commands(monkeypatch, tmp_path):
    module = "import numpy as np\nDATA = np.ones(4)\n\ndef loss(x):\n    return np.sum(x**2)\n"
    module += "\ndef residuals(p, x):\n    return p * x\n"
    (tmp_path / "mymodule.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    lines = [
        line
        for line in GUIDE.read_text(encoding="utf-8").splitlines()
        if line.startswith("python -m chainrules cost")
    ]
    assert 2 == len(lines)
    for line in lines:
        words = shlex.split(line)[3:]
        if "--picture" in words:
            pytest.importorskip("matplotlib")
        assert 0 == main([*words, "--seconds", "0.1", "--eager"])
    assert (tmp_path / "price.svg").exists()
