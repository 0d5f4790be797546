"""Fixture that counts the rounds of native loops."""

import pytest


@pytest.fixture
def rounds(monkeypatch):
    """Return a list to which each run of a native loop adds the number of its rounds."""
    native_loop = pytest.importorskip("chainrules.compiling.loops.native_loop")
    counts = []
    results = native_loop.LoopRun.results

    def counted(self):
        counts.append(self.done)
        return results(self)

    monkeypatch.setattr(native_loop.LoopRun, "results", counted)
    return counts
