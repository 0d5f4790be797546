"""The search over calls of other libraries' tests finds mistakes, and none where there are none."""

import pickle

import calls_of_libraries as search
import numpy as np
import pytest
import recorded_calls

import chainrules as cr

X = np.array([0.3, 0.7, 1.9])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("numpy.sum", ([X, X],), {"axis": 0}),
        ("numpy.linalg.svd", (np.outer(X, X) + np.diag(X),), {"compute_uv": False}),
        ("scipy.special.gammaln", (2.5,), {}),
        ("scipy.fft.fftfreq", (5,), {"d": 0.3}),
        ("scipy.signal.welch", (np.zeros(0),), {}),
        ("scipy.stats.iqr", ("no numbers",), {}),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(name, args, kwargs):
    assert list(search.ask(name, args, kwargs)) == []
    assert list(search.ask(name, args, kwargs, 2)) == []


WRONG = {
    "value": lambda x: np.sum(x) + 1e-3,
    "jvp": lambda x: np.sum(cr.value(x)) + 0 * x[0],
    "error": None,
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what, monkeypatch):
    def other(name, mirrored):
        if mirrored and what == "error":
            raise IndexError(name)
        return WRONG[what] if mirrored else np.sum

    monkeypatch.setattr(search, "function_named", other)
    assert [transform for transform, _ in search.ask("numpy.sum", (X,), {})] == [what]


def test_a_wrong_second_derivative_is_found(monkeypatch):
    def other(name, mirrored):
        return lambda x: np.sum(x**3) - 3 * np.sum(cr.value(x) ** 2 * (x - cr.value(x)))

    monkeypatch.setattr(search, "function_named", other)
    found = [way for way, _ in search.ask("numpy.sum", (X,), {}, 2)]
    assert found == ["jvp of jvp", "jvp of grad", "grad of jvp", "grad of grad"]


def test_calls_are_recorded_once_for_each_signature(monkeypatch):
    monkeypatch.setattr(recorded_calls, "calls", {})
    monkeypatch.setattr(recorded_calls, "_seen", set())
    f = recorded_calls.Recorded(np.sum, "numpy.sum")
    assert [f(X), f(X + 1), f([1, 2]), f(X, axis=0)] == [X.sum(), (X + 1).sum(), 3, X.sum()]
    assert {np.sum: "found"}[f] == "found"
    kept = [pickle.loads(call) for call in recorded_calls.calls["numpy.sum"]]
    assert [kwargs for _, kwargs in kept] == [{}, {"axis": 0}]
