"""Machine code of other numbers or shapes than NumPy's fails a test, though calls do without it."""

import functools
import math

import pytest

from chainrules.compiling.compiled import Compiled
from chainrules.compiling.passes.scalar.scalar_trace import Names, ScalarTrace


@pytest.fixture(autouse=True)
def native_code_is_right(monkeypatch):
    wrong = []
    in_some_way, lowered = Compiled._in_some_way, ScalarTrace.lowered

    @functools.wraps(in_some_way)
    def of_numpys_numbers(self, *recorded):
        recording = in_some_way(self, *recorded)
        wrong.extend(text for text in self.warned if "native code gave something else" in text)
        return recording

    def of_recorded_shape(self, step):
        y, form = lowered(self, step), step.form
        if type(y) is Names and form is not None and y.ids.shape != form.shape:
            wrong.append(f"{step.function} of shape {y.ids.shape}, and {form.shape} was recorded")
        return y

    monkeypatch.setattr(Compiled, "_in_some_way", of_numpys_numbers)
    monkeypatch.setattr(ScalarTrace, "lowered", of_recorded_shape)
    yield
    assert not wrong


@pytest.fixture(params=["few", "many"])
def by_groups(request, monkeypatch):
    """Let programs of a few steps be lowered as those of many are, too."""
    if request.param == "many":
        monkeypatch.setattr("chainrules.compiling.passes.fused.groups.MANY_STEPS", 0)


@pytest.fixture
def small_loops(monkeypatch):
    """Let arrays of any size be computed in loops."""
    monkeypatch.setattr("chainrules.compiling.passes.fused.groups.LOOP_ENTRIES", 1)


@pytest.fixture
def any_loss_allowed(monkeypatch):
    """The account of losses leaves out seconds, which depend on the machine."""
    monkeypatch.setattr("chainrules.compiling.losses.LOSS_ALLOWED", math.inf)
