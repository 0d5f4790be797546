"""The programs of docs/compiling.md do what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr

TEXT = (Path(__file__).parents[2] / "docs" / "compiling.md").read_text(encoding="utf-8")


@pytest.fixture
def names(capsys):
    names = {"np": np, "cr": cr, "x": np.arange(1.0, 4.0), "__name__": "document"}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        shown = [line.partition(")  ")[2] for line in code.splitlines() if "print(" in line]
        exec(code, names)
        expected = [line.partition("# ")[2] for line in shown]
        assert capsys.readouterr().out.splitlines() == expected
    return names


def test_what_is_printed_and_refused(names):
    x = names["x"]
    with pytest.raises(cr.CompileError, match="draw them outside"):
        names["noisy"](x)
    with pytest.raises(cr.CompileError, match="return it instead"):
        names["logging"](x)
    with pytest.warns(cr.CompileWarning, match="a write into an argument"):
        assert cr.compile(names["filled"])(x.copy()) == 12.0
    with pytest.raises(ZeroDivisionError):
        names["inverse"](0.0)
