"""Progress bar of a long first call: the operations recorded so far, and the next stage."""

from typing import Any

from ...config.progress import LongWork
from ...config.thresholds import RECORDING_SHOWN, STEPS_BETWEEN_LOOKS
from ...rules.rulesets.functions.progress import tqdm_for
from .constants import Constants
from .recorder import Recorder


def bar(name: str, is_wanted: bool) -> Any:
    """Return a bar that is seen when the call takes long: of tqdm's, where one is asked for."""
    if not is_wanted:
        return LongWork(name, None, "operations recorded")
    return tqdm_for("compile")(desc=name, unit=" operations", delay=RECORDING_SHOWN)


class ProgressRecorder(Recorder):
    """A recorder that counts its steps in a bar."""

    __slots__ = ("bar",)

    def __init__(self, bar: Any, constants: Constants) -> None:
        super().__init__(constants)
        self.bar = bar

    def append(self, *step: Any) -> None:
        super().append(*step)
        if not len(self.steps) % STEPS_BETWEEN_LOOKS:
            self.attempt_unwatched(self.bar.update, (STEPS_BETWEEN_LOOKS,), {})

    def end(self, outputs: list) -> None:
        super().end(outputs)
        name = self.bar.desc.removesuffix(": ")
        self.bar.set_description_str(f"{name}, machine code", refresh=False)
        self.bar.update(len(self.steps) - self.bar.n)
