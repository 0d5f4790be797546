"""A function that each call records anew goes on as it always did, and says why."""

import warnings

import numpy as np
import pytest

import chainrules as cr
from chainrules.config.thresholds import WASTED_KINDS

pytest.importorskip("llvmlite")


def adam(x, t):
    return np.sum(x) * 0.9**t / (1 - 0.9**t)


@pytest.mark.parametrize("change", ["integers", "lengths", "texts"])
def test_it_is_recorded_a_few_times_only(change):
    calls = {
        "integers": lambda k: (np.ones(3), k),
        "lengths": lambda k: (np.ones(k), 2.0),
        "texts": lambda k: (np.ones(3), 2.0, "a" * k),
    }[change]
    compiled = cr.compile(lambda x, t, name="": adam(x, t), check=False)
    with pytest.warns(cr.CompileWarning, match="recorded anew, .* float") as warned:
        found = [compiled(*calls(k)) for k in range(1, 60)]
    assert found == [adam(*calls(k)[:2]) for k in range(1, 60)]
    assert len(compiled.kinds) == WASTED_KINDS
    assert sum("recorded anew" in str(w.message) for w in warned) == 1


def test_as_a_float_it_is_one_recording():
    compiled = cr.compile(adam, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 60):
            compiled(np.ones(3), float(k))
    assert len(compiled.kinds) == 1


def test_kinds_that_come_again_are_kept():
    compiled = cr.compile(adam, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 31):
            for _ in range(4):
                compiled(np.ones(3), k)
    assert len(compiled.kinds) == 30


def test_known_kinds_are_replayed_after_that():
    compiled = cr.compile(adam, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.CompileWarning)
        for k in range(1, 40):
            compiled(np.ones(3), k)
        before = compiled.kinds.copy()
        for _ in range(40):
            assert compiled(np.ones(3), 3) == adam(np.ones(3), 3)
        assert compiled.kinds == before
        compiled(np.ones(3), 60)  # now there are more replays than recordings
        assert len(compiled.kinds) == WASTED_KINDS + 1


def test_it_may_be_an_error():
    compiled = cr.compile(adam, fallback="error", check=False)
    with pytest.raises(cr.CompileError, match="recorded anew"):
        [compiled(np.ones(3), k) for k in range(1, 40)]
