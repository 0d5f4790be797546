"""Explanation of one call: its steps, where its time went, the first bad number, what cuts it."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...batching.ways import told_of_batches
from ...config import user_line
from ...rules import Traced, name_of, rrule
from ...rules.containers import iterate_leaves
from ...rules.engines.engine import run
from ...rules.linear.steps import Slot
from ...rules.table.other_kinds import FreshArray
from ...rules.tracing.watching import Stops, at_index, pulled, pulling_through, watching
from ..ir.looks import NotRecordable
from ..native.operation import INPUT, NO_OPTIONS
from ..record.cache_key import with_inputs
from ..record.constants import Constants
from ..record.recorder import Recorder
from .report import ExplainedStep, Explanation, spent_by_line

TIMES_SHOWN = 10
CUTS_SHOWN = 10


class _Stop(Exception):  # noqa: N818 - it ends a call that is looked at
    ends_run = True


class _Watched(Recorder):
    """A recorder that notes of each step where it was, how long it took, and what it gave."""

    __slots__ = ("bad", "infinite", "last", "moving", "noted", "place", "stop")

    def __init__(self, stop: str | None) -> None:
        super().__init__(Constants(False))
        self.noted: list[ExplainedStep] = []
        self.moving: set[int] = set()  # the steps whose results have a derivative in the inputs
        self.stop = stop
        self.bad: ExplainedStep | None = None
        self.place = ""  # in its result
        self.infinite: ExplainedStep | None = None  # the first one with an infinity
        self.last = time.perf_counter()

    def made_constant(self, x: Any) -> Any:
        """Take ``cr.stop_gradient(x)`` and ``cr.value(x)`` for steps, which cut."""
        if np.asarray(x.sample).dtype.kind not in "fc":
            return x
        y = self.call(np.positive, (x,), {})
        self.noted[-1] = self.noted[-1]._replace(name="stop_gradient", cuts=True)
        self.moving.discard(len(self.noted) - 1)
        return y

    def append(self, y: Any, f: Any, operands: tuple, options: dict = NO_OPTIONS) -> None:
        super().append(y, f, operands, options)
        now = time.perf_counter()
        reads = tuple(x.position for x in iterate_leaves((operands, options)) if type(x) is Slot)
        name = f if isinstance(f, str) else name_of(f).rpartition(".")[2]
        finite = _is_finite(y, self.stop)
        cuts = False
        if f is INPUT or not self.moving.isdisjoint(reads):
            cuts = f is not INPUT and _is_constant(f, y)
            if not cuts:
                self.moving.add(len(self.noted))
        through = pulled()
        line, of = (user_line(), "") if through is None else (through.line, through.name)
        form = self.steps[-1].form
        made = ExplainedStep(name, form, line, now - self.last, reads, finite, cuts, of)
        self.noted.append(made)
        if self.stop == "nan" and self.infinite is None and not _is_finite(y, "inf"):
            self.infinite = made
        if not finite and self.bad is None and all(self.noted[k].finite for k in reads):
            self.bad, self.place = made, _place_of_bad(y, self.stop)
            if self.stop is not None:
                raise _Stop
        self.last = time.perf_counter()


def _is_constant(f: Any, y: Any) -> bool:
    """Say whether ``y = f(...)`` has no derivative: its dtype tells, or the rule of ``f``."""
    leaves = [np.asarray(leaf).dtype.kind for leaf in iterate_leaves(y)]
    if not any(kind in "fcO" for kind in leaves):
        return True
    kind = rrule.kind_of(f) if callable(f) else None
    rows = () if kind is None else kind.rows
    still = [constant == 0 for row in rows for constant in row.constants]
    if type(kind) is FreshArray:  # it reads no number
        return False
    return kind is not None and (kind.constant or (bool(still) and all(still)))


def _place_of_bad(y: Any, stop: str | None) -> str:
    """Return the words for the index of the first number that is not finite."""
    bad = np.isnan(y) if stop == "nan" else ~np.isfinite(y)
    return at_index(tuple(map(int, np.argwhere(bad)[0])))


def _is_finite(y: Any, stop: str | None) -> bool:
    if not isinstance(y, np.ndarray | np.inexact | float | complex):
        return True
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        return True
    return not np.isnan(y).any() if stop == "nan" else bool(np.isfinite(y).all())


def of_call(f: Callable, args: tuple, kwargs: dict, stop: str | None) -> Explanation:
    recorder, ended, y = _Watched(stop), "", None
    given, options = (with_inputs(x, recorder.input) for x in (args, kwargs))
    try:
        with (
            np.errstate(all="ignore"),
            told_of_batches() as batches,
            watching(Stops()),
            pulling_through(None),
        ):
            y = run(f, given, options)
    except _Stop:
        pass
    except NotRecordable as error:
        ended = f"the steps end here: {error} cannot be followed"
    steps = recorder.noted
    lines = [f"{name_of(f)}: {len(steps)} steps", *batches]
    if not steps:
        ended = ended or "no argument is a number or an array of NumPy: there is nothing to follow"
    if ended:
        lines.append(ended)
    if recorder.bad is not None:
        lines.append(f"the first one that is not finite: {recorder.bad}{recorder.place}")
        if stop == "nan" and recorder.infinite not in (None, recorder.bad):
            lines.append(f"an infinity came before it: {recorder.infinite}")
    lines += _cuts(recorder, y)
    lines += ["where the time went:", *map(str, spent_by_line(steps)[:TIMES_SHOWN])]
    return Explanation("\n".join([*lines, "steps:", *map(str, steps)]), steps, recorder.bad)


def _cuts(recorder: _Watched, y: Any) -> list[str]:
    """Return which steps make constants, and whether no derivative at all reaches the result."""
    steps, said = recorder.noted, []
    cuts = list(dict.fromkeys(f"{step.name} in {step.line}" for step in steps if step.cuts))
    if cuts:
        more = f" and {len(cuts) - CUTS_SHOWN} more" * (len(cuts) > CUTS_SHOWN)
        said = [f"constant, so that no derivative passes: {', '.join(cuts[:CUTS_SHOWN])}{more}"]
    reached = {x.position for x in iterate_leaves((y,)) if _is_of(x, recorder)}
    if y is None or not recorder.moving or not recorder.moving.isdisjoint(reached):
        return said
    waiting = list(reached)
    while waiting:
        more_steps = {*steps[waiting.pop()].reads} - reached
        reached |= more_steps
        waiting += more_steps
    cut = [steps[k] for k in sorted(reached) if steps[k].cuts]
    last = f"the last step on the way to it is {cut[-1].name} in {cut[-1].line}" if cut else ""
    return [*said, f"the result is constant: {last or 'no step leads from the inputs to it'}"]


def _is_of(x: Any, recorder: _Watched) -> bool:
    return isinstance(x, Traced) and x.at_level is recorder
