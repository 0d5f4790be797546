"""The replay that follows a recording: what it may fail by, and what is no excuse."""

import types
import warnings

import numpy as np
import pytest

import chainrules as cr
from chainrules.compiling.agreement import replays

Z = np.array([0.0, 1.0 + 2.0j])


def quiet_by_errstate(z):
    with np.errstate(divide="ignore"):
        return np.log(z)


def quiet_by_a_filter(z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.log(z)


@pytest.mark.parametrize(
    ("f", "state"),
    [(quiet_by_errstate, "raise"), (quiet_by_errstate, "warn"), (quiet_by_a_filter, "warn")],
)
def test_numpy_complains_where_the_function_had_told_it_not_to(f, state):
    compiled = cr.compile(f)
    with np.errstate(divide=state), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("always", cr.CompileWarning)
        for _ in range(4):
            np.testing.assert_array_equal(f(Z), compiled(Z))
    (said,) = caught
    assert said.category is cr.CompileWarning
    assert "it runs as it always did" in str(said.message)


def recording(run):
    return types.SimpleNamespace(run=run, eps=np.finfo(float).eps)


@pytest.mark.parametrize("error", [TypeError, KeyError, ValueError, AssertionError])
def test_a_mistake_of_ours_is_not_hidden(error):
    def run(values):
        raise error("a mistake")

    with pytest.raises(error, match="a mistake"):
        replays(recording(run), [1.0], 1.0)


def test_another_value_or_another_way_is_no_replay():
    assert replays(recording(lambda values: (None, values[0])), [1.0], 1.0)
    assert not replays(recording(lambda values: (None, 2.0)), [1.0], 1.0)
    assert not replays(recording(lambda values: ((0, True), None)), [1.0], 1.0)
