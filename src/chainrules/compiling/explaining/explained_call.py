"""Explanation of one call: its steps, where its time went, the first bad number, what cuts it."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...batching.ways import told_of_batches
from ...config.lines import Place, line_at, user_place
from ...rules import Traced, name_of, rrule
from ...rules.containers import iterate_leaves
from ...rules.engines.engine import run
from ...rules.linear.steps import Slot, reads_of
from ...rules.table.other_kinds import FreshArray
from ...rules.tracing.noted_calls import FoundNumber, NotedCall, Operand, named, pulled, pulling
from ...rules.tracing.watching import Stops, bad_number, watching
from ..ir.looks import NotRecordable
from ..native.assembly.operation import INPUT, NO_OPTIONS, Operation
from ..record.cache_key import with_inputs
from ..record.constants import Constants
from ..record.recorder import Recorder
from .report import TIME_TITLE, ExplainedStep, Explanation, spent_by_line

TIMES_SHOWN = 10
CUTS_SHOWN = 10


class _Stop(Exception):  # noqa: N818 - it ends a call that is looked at
    ends_run = True


class _Watched(Recorder):
    """A recorder that notes of each step where it was, how long it took, and what it gave.

    What the notes say in words is worked out afterwards, by ``explained``.
    """

    __slots__ = (
        "bad",
        "infinite",
        "last",
        "not_finite",
        "noted",
        "numberless",
        "results",
        "said",
        "stop",
        "stop_gradients",
    )

    def __init__(self, stop: str | None) -> None:
        super().__init__(Constants(False))
        self.noted: list[tuple[Place | None, NotedCall | None, float]] = []
        self.results: list[Any] = []  # of each step, where its operands may have to be told
        self.stop = stop
        self.not_finite: set[int] = set()  # steps
        self.numberless: set[int] = set()  # steps that give no float, nor an array of floats
        self.stop_gradients: set[int] = set()  # steps that stand for ``cr.stop_gradient``
        self.bad: int | None = None  # the first one that is not finite, of what was
        self.infinite: int | None = None  # the first one with an infinity
        self.said: dict[int, str] = {}  # of these two: where in the result, and of which operands
        self.last = time.perf_counter()

    def made_constant(self, x: Any) -> Any:
        """Take ``cr.stop_gradient(x)`` and ``cr.value(x)`` for steps, which cut."""
        if np.asarray(x.sample).dtype.kind not in "fc":
            return x
        y = self.call(np.positive, (x,), {})
        self.stop_gradients.add(len(self.steps) - 1)
        return y

    def append(self, y: Any, f: Any, operands: tuple, options: dict = NO_OPTIONS) -> None:
        super().append(y, f, operands, options)
        if self.stop is not None:
            self.results.append(y)
        took, through = time.perf_counter() - self.last, pulled()
        # The line of a step of a pullback is that of the call which is pulled back.
        self.noted.append((user_place() if through is None else None, through, took))
        if isinstance(y, float):
            finite = math.isfinite(y)
        else:
            finite = _is_finite(y, None)
            if not _holds_floats(y):
                self.numberless.add(len(self.noted) - 1)
        if not finite:
            self._look(y)
        self.last = time.perf_counter()

    def _look(self, y: Any) -> None:
        """Note that the last step is not finite; end the call there, if that is asked for."""
        step = len(self.noted) - 1
        if self.stop == "nan":
            if self.infinite is None:
                self.infinite = step
                self._say(step, bad_number(y, Stops(inf=True)))
            if _is_finite(y, "nan"):
                return
        self.not_finite.add(step)
        if self.bad is None and self.not_finite.isdisjoint(_reads(self.steps[step])):
            self.bad = step
            self._say(step, bad_number(y, Stops(nan=True, inf=self.stop != "nan")))
            if self.stop is not None:
                raise _Stop

    def _say(self, step: int, found: FoundNumber | None) -> None:
        """Note in words where the number is that was found, and of what it was made."""
        if found is None:
            return
        call, f = pulled(), self.steps[step].function
        if call is None and self.stop is not None:
            operands = [self._operand(x) for x in self.steps[step].operands]
            call = NotedCall(f, None, None, named([x for x in operands if x is not None]))
        if call is None:
            self.said[step] = found.at
        else:
            found = call.located(found)
            self.said[step] = found.at + call.given(found) + call.cause(found)

    def _operand(self, x: Any) -> Operand | None:
        """Return what a step was given, if it is a number or an array."""
        if type(x) is Slot:
            return Operand(self.results[x.position], key=(self.number, x.position))
        return Operand(x) if isinstance(x, np.ndarray | np.number | float | complex | int) else None

    def explained(self) -> tuple[list[ExplainedStep], set[int]]:
        """Return the steps in words, and which have a derivative in the inputs."""
        found: list[ExplainedStep] = []
        moving: set[int] = set()
        names: dict[int, tuple[str, bool]] = {}  # and whether it is constant, by the function's id
        pulled_names: dict[int, str] = {}  # by the id of the call that is pulled back
        lines: dict[tuple[int, int], str] = {}
        steps = zip(self.steps, self.noted, strict=False)
        for k, (step, (place, through, seconds)) in enumerate(steps):
            reads, f = _reads(step), step.function
            name, constant = names.get(id(f)) or names.setdefault(id(f), _known_of(f))
            cuts = False
            if k in self.stop_gradients:
                name, cuts = "stop_gradient", True
            elif f is INPUT:
                moving.add(k)
            elif not moving.isdisjoint(reads):
                cuts = constant or k in self.numberless
                if not cuts:
                    moving.add(k)
            of = ""
            if through is not None:
                place = through.by_user.place
                of = pulled_names.get(id(through)) or through.name
                pulled_names[id(through)] = of
            key = (0, 0) if place is None else (id(place[0]), place[1])
            line = lines.get(key) or lines.setdefault(key, line_at(place))
            finite = k not in self.not_finite
            found.append(ExplainedStep(name, step.form, line, seconds, reads, finite, cuts, of))
        return found, moving


def _reads(step: Operation) -> tuple[int, ...]:
    return tuple(reads_of(step.operands, step.options))


def _known_of(f: Any) -> tuple[str, bool]:
    """Return the name of a function, and whether its rule says that it has no derivative."""
    if isinstance(f, str):
        return f, False
    kind = rrule.kind_of(f) if callable(f) else None
    still = [constant == 0 for row in getattr(kind, "rows", ()) for constant in row.constants]
    reads_no_number = type(kind) is FreshArray
    constant = kind is not None and (kind.constant or (bool(still) and all(still)))
    return name_of(f).rpartition(".")[2], constant and not reads_no_number


def _holds_floats(y: Any) -> bool:
    if isinstance(y, np.ndarray | np.generic):  # as nearly always
        return y.dtype.kind in "fcO"
    return any(np.asarray(leaf).dtype.kind in "fcO" for leaf in iterate_leaves(y))


def _is_finite(y: Any, stop: str | None) -> bool:
    if not isinstance(y, np.ndarray | np.inexact | float | complex):
        return True
    y = np.asarray(y)
    # A number that is not finite makes the sum so, which is known sooner.
    if y.dtype.kind not in "fc" or np.isfinite(np.add.reduce(y, axis=None)):
        return True
    return not np.isnan(y).any() if stop == "nan" else bool(np.isfinite(y).all())


def of_call(f: Callable, args: tuple, kwargs: dict, stop: str | None) -> Explanation:
    recorder, ended = _Watched(stop), ""
    reached: set[int] | None = None
    given, options = (with_inputs(x, recorder.input) for x in (args, kwargs))
    try:
        with (
            np.errstate(all="ignore"),
            told_of_batches() as batches,
            watching(Stops(operands=stop is not None)),
            pulling(),
        ):
            y = run(f, given, options)
            # A view of what was written to is read here, which is a step.
            found = {x.position for x in iterate_leaves((y,)) if _is_of(x, recorder)}
            reached = None if y is None else found
    except _Stop:
        pass
    except NotRecordable as error:
        ended = f"the steps end here: {error} cannot be followed"
    steps, moving = recorder.explained()
    lines = [f"{name_of(f)}: {len(steps)} steps", *batches]
    if not steps:
        ended = ended or "no argument is a number or an array of NumPy: there is nothing to follow"
    if ended:
        lines.append(ended)
    at, infinite = recorder.bad, recorder.infinite
    bad = None if at is None else steps[at]
    if at is not None:
        lines.append(f"the first one that is not finite: {bad}{recorder.said.get(at, '')}")
        if infinite is not None and infinite != at:
            said = recorder.said[infinite]
            lines.append(f"an infinity came before it: {steps[infinite]}{said}")
    lines += _cuts(steps, moving, reached)
    lines += [TIME_TITLE, *map(str, spent_by_line(steps)[:TIMES_SHOWN])]
    return Explanation("\n".join([*lines, "steps:"]), steps, bad)


def _cuts(steps: list[ExplainedStep], moving: set[int], reached: set[int] | None) -> list[str]:
    """Return which steps make constants, and whether no derivative at all reaches the result.

    ``reached`` are the steps that made the result, if there is one.
    """
    said = []
    cuts = list(dict.fromkeys(f"{step.name} in {step.line}" for step in steps if step.cuts))
    if cuts:
        more = f" and {len(cuts) - CUTS_SHOWN} more" * (len(cuts) > CUTS_SHOWN)
        said = [f"constant, so that no derivative passes: {', '.join(cuts[:CUTS_SHOWN])}{more}"]
    if reached is None or not moving or not moving.isdisjoint(reached):
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
