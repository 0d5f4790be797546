"""Replay: a recording run again by NumPy, from generated Python source."""

from typing import Any

from ...config.numpy_warnings import telling_user
from ..record.recorder import Recorder
from ..record.recording import foreign_in
from .source import Missed, Writer


class Replay:
    """A finished recording as a function of its inputs.

    Examples
    --------
    >>> from chainrules.compiling.record.constants import Constants
    >>> from chainrules.rules.linear.steps import Slot
    >>> recorder = Recorder(Constants(False))
    >>> x = recorder.input(2.0)
    >>> y = x * x + 1
    >>> recorder.end([Slot(y.position)])
    >>> Replay(recorder, Slot(y.position)).run([3.0])
    (None, 10.0)
    """

    def __init__(self, recorder: Recorder, output: Any, shares: bool = True) -> None:
        self.inputs = recorder.inputs
        self.size = len(recorder.steps)
        self.has_solvers = any(f.calls_back for f in foreign_in(recorder))
        writer = Writer(recorder, output, shares)
        self.pieces = writer.pieces()
        self.source = writer.source

    @telling_user
    def run(self, values: list) -> tuple[Missed | None, Any]:
        """Return what the recorded function returns; or which look saw what, and None."""
        results: list[Any] = [None] * (self.size + 1)
        for position, x in zip(self.inputs, values, strict=True):
            results[position] = x
        for piece in self.pieces:
            missed = piece(results)
            if missed is not None:
                return missed, None
        return None, results[-1]


def rounds_as_numpy(recorder: Recorder) -> bool:
    """Let all steps round as NumPy does, functions that solvers call too; say if any is changed."""
    return sum(f.round_as_numpy() for f in foreign_in(recorder)) > 0


def exact_replay(recorder: Recorder, output: Any) -> Replay:
    """Return the replay that gives NumPy's numbers to the last bit."""
    rounds_as_numpy(recorder)
    return Replay(recorder, output, shares=False)
