"""The programs of docs/batches.md do what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

import chainrules as cr

TEXT = (Path(__file__).parents[2] / "docs" / "batches.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("error::chainrules.BatchWarning")
def test_what_is_printed(capsys):
    names = {"np": np, "cr": cr, "__name__": "document"}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(code, names)
        shown = [line.partition("# ")[2] for line in code.splitlines() if line.startswith("print(")]
        assert capsys.readouterr().out.splitlines() == shown


def test_the_table_of_what_splits():
    xs = np.array([[1.0, -2.0], [3.0, 4.0]])
    assert cr.vmap(lambda x: max(x[0], x[1]))(xs).tolist() == [1.0, 4.0]
    n = np.array([1, 2])
    assert cr.vmap(lambda x, n: np.sum(x[:n]))(xs, n).tolist() == [1.0, 7.0]
    with pytest.raises(cr.BatchError):
        cr.vmap(lambda x: x[x > 0])(xs)
    with pytest.warns(cr.BatchWarning):
        cr.vmap(lambda x: float(x) * 2)(np.arange(20.0))
    with pytest.raises(cr.BatchError):
        cr.vmap(lambda x: np.sum(x) if x[0] > 2 else x[0], ways=1)(xs)
