"""The programs of docs/compiling.md do what it says."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr

TEXT = (Path(__file__).parents[2] / "docs" / "compiling.md").read_text(encoding="utf-8")


@pytest.fixture
def names(capsys):
    names = {"np": np, "cr": cr, "x": np.arange(1.0, 4.0), "__name__": "document"}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        shown = [line.partition("# ")[2] for line in code.splitlines() if line.startswith("print(")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.CompileWarning)  # each is asked for below
            exec(code, names)
        expected = [line for lines in shown for line in lines.split(", then ")]
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
    with pytest.warns(cr.CompileWarning, match="a write into an argument"):
        assert names["Model"]().run(2.0) == 2.0
    with pytest.warns(
        cr.CompileWarning, match=r"it uses time\.time .*give what it reads as an arg"
    ):
        names["by_clock"](x)
    with pytest.warns(cr.CompileWarning, match="it may print, which is seen while it is recorded"):
        assert cr.compile(names["printing"].f)(1.0) == 2.0
    with pytest.raises(ZeroDivisionError):
        names["inverse"](0.0)
    assert str(cr.explain(names["applied"])).count("recording") == 3


@pytest.mark.filterwarnings("error::chainrules.CompileWarning")
def test_data_frames(names):
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0]})
    with pytest.warns(cr.CompileWarning, match="it captures a pandas"):
        assert names["of_frame"](frame)(2.0) == 20.0
    assert names["of_column"](frame)(2.0) == 20.0
