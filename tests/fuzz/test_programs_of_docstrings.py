"""The search over examples of docstrings finds mistakes, and none where there are none."""

import numpy as np
import programs_of_docstrings as search
import pytest

import chainrules as cr

TEXT = """Filter a signal.

Examples
--------
>>> import numpy as np
>>> from scipy import signal
>>> import matplotlib.pyplot as plt
>>> b, a = signal.butter(2, 0.3)
>>> y = signal.lfilter(b, a, [1.0, 0.0, 2.0])
>>> plt.plot(y)
>>> for k in range(2):
...     y = y + k
>>> np.sum(y)
2.0
"""


def test_programs_have_one_argument_each():
    found = list(search.programs(TEXT))
    by_shape = {np.shape(value): source for source, value in found}
    assert len(found) == 2
    assert "signal.butter(2, _t)" in by_shape[()]
    assert "[_t[0], _t[1], _t[2]]" in by_shape[3,]
    assert not any("plt" in source for source, _ in found)


def test_nothing_is_found_where_nothing_is_wrong():
    assert [search.ask(*program) for program in search.programs(TEXT)] == [[], []]


def test_what_is_wrong_is_found(monkeypatch):
    real = search.program_of

    def wrong(source, adopted):
        f = real(source, adopted)
        return (lambda t: [cr.value(x) for x in f(t)]) if adopted else f

    monkeypatch.setattr(search, "program_of", wrong)
    for source, value in search.programs(TEXT):
        assert "jvp" in {transform for transform, _ in search.ask(source, value)}


def test_programs_that_fail_by_themselves_are_left_out():
    with pytest.raises(search.PlainFailsError):
        search.ask("def program(_t):\n    raise KeyError", 1.0)
