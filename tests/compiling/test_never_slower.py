"""A function that each call records anew goes on as it always did, and says why."""

import time
import warnings

import numpy as np
import pytest
from cached import recordings, recordings_of_each

import chainrules as cr
from chainrules.compiling.tree import RecordedPath
from chainrules.config.thresholds import (
    FEW_RECORDINGS,
    FIRST_REVIEW,
    LOSS_ALLOWED,
    RECONSIDERED,
    WASTED_KINDS,
)

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
    what = {
        "integers": r"argument t is the integer \d+ and then \d+; give .* \(float\(t\)\)",
        "lengths": r"argument x has shape \(\d+,\) and then \(\d+,\); pad arrays",
        "texts": "argument number 3 is another text|argument name is another text",
    }[change]
    with pytest.warns(cr.CompileWarning, match=f"recorded anew, .*: {what}") as warned:
        found = [compiled(*calls(k)) for k in range(1, 60)]
    assert found == [adam(*calls(k)[:2]) for k in range(1, 60)]
    assert len(compiled.kinds) == FEW_RECORDINGS
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
        for k in range(60, 60 + RECONSIDERED):  # now there are more replays than recordings
            compiled(np.ones(3), k)
        assert len(compiled.kinds) > FEW_RECORDINGS


@pytest.mark.parametrize("first", [0, 3])
def test_lengths_that_come_once_run_as_they_are_and_others_are_recorded_when_they_come_again(first):
    compiled = cr.compile(lambda x: np.sum(x) * 2.0, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, WASTED_KINDS):
            assert compiled(np.ones(k)) == 2.0 * k
        assert len(compiled.kinds) == FEW_RECORDINGS
        for k in range(FEW_RECORDINGS + 1 + first, FEW_RECORDINGS + 4 + first):
            assert compiled(np.ones(k)) == 2.0 * k  # comes again
        assert len(compiled.kinds) == FEW_RECORDINGS + 3
        for _ in range(2 * FEW_RECORDINGS):
            assert compiled(np.ones(1)) == 2.0
        assert compiled(np.ones(100)) == 200.0  # these are replayed, so that others are recorded
    assert len(compiled.kinds) == FEW_RECORDINGS + 4


def test_what_must_be_compiled_is_recorded_at_once():
    compiled = cr.compile(lambda x: np.sum(x) * 2.0, fallback="error", check=False)
    for k in range(1, FEW_RECORDINGS + 4):
        compiled(np.ones(k))
    assert len(compiled.kinds) == FEW_RECORDINGS + 3


def test_it_may_be_an_error():
    compiled = cr.compile(adam, fallback="error", check=False)
    with pytest.raises(cr.CompileError, match="recorded anew"):
        [compiled(np.ones(3), k) for k in range(1, 40)]


# ---- by time ----


def slowly_made(monkeypatch, compiled, seconds):
    """Let each recording of ``compiled`` cost so many seconds more, and the function none."""
    settle = RecordedPath.settle

    def settled(recording, cost, eager, comparing):
        settle(recording, seconds, 0.0, comparing)
        recording.saves = 0.01

    monkeypatch.setattr(RecordedPath, "settle", settled)
    monkeypatch.setattr(RecordedPath, "settle_again", lambda recording, eager: None)


@pytest.mark.parametrize(("cost", "made"), [(0.2, FEW_RECORDINGS), (1.0, 3), (4.0, 2)])
def test_ways_that_cost_too_much_are_few(monkeypatch, cost, made):
    """The first few may lose the time that is allowed each, and no more than that together."""
    compiled = cr.compile(lambda x: [x > k for k in range(10)].count(True) * x if x > 0 else x)
    slowly_made(monkeypatch, compiled, cost)
    with pytest.warns(cr.CompileWarning, match=r"recorded anew, .*most of them part in .*\.py:\d+"):
        found = [compiled(k + 0.5) for k in range(10)]
    assert found == [(k + 1) * (k + 0.5) for k in range(10)]
    assert recordings(compiled) == made


def test_replays_earn_the_next_recordings(monkeypatch):
    compiled = cr.compile(lambda x: np.sum(x) * 2.0)
    slowly_made(monkeypatch, compiled, 1.0)
    with pytest.warns(cr.CompileWarning, match="argument x has shape"):
        [compiled(np.ones(k)) for k in range(1, 8)]
    assert len(compiled.kinds) == FEW_RECORDINGS
    [compiled(np.ones(1)) for _ in range(100 * FEW_RECORDINGS)]
    [compiled(np.ones(k)) for k in range(8, 8 + RECONSIDERED)]
    assert len(compiled.kinds) > FEW_RECORDINGS


def test_cheap_recordings_are_as_many_as_there_are_ways():
    compiled = cr.compile(lambda x: [x > k for k in range(10)].count(True) * x if x > 0 else x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [compiled(k + 0.5) for k in range(10)]
    assert recordings(compiled) == 10


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        (np.ones(3), np.ones(3, np.float32), "is of dtype float64 and then of float32"),
        (np.ones((3, 2)), np.ones((2, 3)).T, "lies in memory in another order"),
        (np.sin, np.cos, "is another function; make it once"),
        ({"a": 1.0}, {"b": 1.0}, "is another dict; make it once"),
        ([1.0], [1.0, 2.0], "is another list; make it once"),
    ],
)
def test_what_changes_is_named(monkeypatch, first, later, said):
    compiled = cr.compile(lambda x, p: np.sum(x) + 0.0)
    slowly_made(monkeypatch, compiled, 1.0)
    entries = {}
    for k in range(FEW_RECORDINGS):
        compiled(np.ones(k + 1), first)
        entries.update(compiled.kinds)
    with pytest.warns(cr.CompileWarning, match=f"argument p {said}"):
        compiled(np.ones(FEW_RECORDINGS), later)


# ---- replays that are slower than the function ----


def test_slow_replays_end(monkeypatch):
    compiled = cr.compile(lambda x: 2.0 * x)
    x = np.ones(3)
    compiled(x)
    (recording,) = next(iter(compiled.kinds.values())).all_recordings()
    run = recording.run

    def slow(values):
        begin = time.thread_time()
        while time.thread_time() < begin + 0.001:
            pass
        return run(values)

    recording.run, recording.saves, recording.cost = slow, -0.001, LOSS_ALLOWED
    with pytest.warns(
        cr.CompileWarning, match=r"a replay takes .* us and the function .* us \(machine"
    ):
        found = [compiled(x) for _ in range(FIRST_REVIEW)]
    assert all(np.array_equal(y, 2 * x) for y in found)
    assert next(iter(compiled.kinds.values())).root is None
    assert np.array_equal(compiled(x), 2 * x)


def test_a_busy_moment_ends_nothing():
    compiled = cr.compile(lambda x: np.sum(np.sin(x) ** 2) if len(x) else 0.0)
    x = np.ones(3000)
    compiled(x)
    (recording,) = next(iter(compiled.kinds.values())).all_recordings()
    recording.saves, recording.cost = -1.0, 0.0  # as if it had been measured then
    for _ in range(3 * FIRST_REVIEW):
        compiled(x)
    assert recording.saves > -1.0
    assert next(iter(compiled.kinds.values())).root is recording


class Keeper:
    """A model that keeps what it computed last, as many do."""

    def __init__(self):
        self.last = None

    def __call__(self, x):
        self.last = np.sin(x) * 3.0
        return np.sum(self.last * x)


def test_traced_values_that_an_object_keeps(monkeypatch):
    monkeypatch.setattr("chainrules.compiling.losses.LOSS_ALLOWED", 0.0)
    runs, keeper = [], Keeper()

    def loss(x):
        runs.append(1)
        return keeper(x)

    gradient = cr.grad(loss)
    compiled = cr.compile(cr.grad(loss))
    x = np.array([0.3, 0.7])
    with pytest.warns(cr.CompileWarning, match="holds traced values.*return what it keeps"):
        found = [compiled(x + k) for k in range(FEW_RECORDINGS + 3)]
    np.testing.assert_array_equal(found, [gradient(x + k) for k in range(FEW_RECORDINGS + 3)])
    runs.clear()
    compiled(x)
    assert len(runs) == 1


def test_a_transform_under_way_does_not_end_recordings():
    compiled = cr.compile(lambda x: held[0] * np.sum(x**2))
    x = np.array([0.3, 0.7])
    held = [2.0]

    def captures(t):
        held[0] = t
        return compiled(x)

    for _ in range(FEW_RECORDINGS + 3):
        assert cr.grad(captures)(3.0) == pytest.approx(np.sum(x**2))
    held[0] = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            assert compiled(x) == pytest.approx(2.0 * np.sum(x**2))
    assert recordings_of_each(compiled) == [1]


def test_comparing_what_is_captured_counts(monkeypatch):
    monkeypatch.setattr("chainrules.compiling.losses.LOSS_ALLOWED", 0.0)
    weights = {f"w{k}": {"a": [float(k), np.ones(1)]} for k in range(3000)}

    def loss(x):
        return np.sum(x) * weights["w1"]["a"][0]

    compiled = cr.compile(cr.grad(loss))
    x = np.array([0.3, 0.7])
    with pytest.warns(cr.CompileWarning, match='us to compare what it captures.*"freeze"'):
        found = [compiled(x) for _ in range(4 * FIRST_REVIEW)]
    np.testing.assert_array_equal(found, [cr.grad(loss)(x)] * len(found))
