"""Recording of one call: the function runs on recorded values, and its effects are checked."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ...rules import Traced, children, fold, iterate_leaves
from ...rules.containers import LEAVES, Within
from ...rules.engines.engine import run
from ...rules.linear.steps import Slot
from ...rules.rulesets.functions.foreign import Foreign
from ...rules.rulesets.functions.scan import recordings
from ..ir.looks import NotRecordable
from ..ir.references import CopyOf
from .cache_key import BY_VALUE, fields_beside, is_counted, is_taken, with_inputs
from .constants import Constants
from .recorded_values import RecordedArray, RecordedNumber
from .recorder import Recorder
from .state.captured_state import Captured
from .state.watch import CodeWatch, Stopped, watching

_array = np.ndarray


def foreign_in(recorder: Recorder) -> list[Foreign]:
    """Return the functions with derivatives of their own in the plan of a recording."""
    functions = [step.function for step in recorder.plan.values()]
    return [f for f in functions if isinstance(f, Foreign)]


class UnrollingRecorder(Recorder):
    """Recorder that writes down each round of a loop by itself."""

    __slots__ = ()


class StepRecorder(UnrollingRecorder):
    """Recorder of one call of a step or a callback, in which solvers are steps as elsewhere."""

    __slots__ = ()


class ItemRecorder(StepRecorder):
    """Recorder of one item of a batch, in which a loop is a step as well."""

    __slots__ = ()
    takes_whole = True


def _may_be_returned(x: Any) -> bool:
    """Say whether the same ``x`` may be returned by all calls, and holds no values."""
    return isinstance(x, (*BY_VALUE, _array, type)) or is_taken(x) or hasattr(x, "__array_ufunc__")


def run_watched(watch: CodeWatch, f: Callable, args: Any, kwargs: Any) -> Any:
    """Run ``f``, and note what it runs.

    Raises
    ------
    NotRecordable
        If something cannot be compared that it may read.
    """
    y = None
    try:
        with watching(watch):
            y = run(f, args, kwargs)
    except Stopped:
        pass
    finally:
        watch.end()
    if watch.refused is not None:
        raise watch.refused
    return y


def _held_by(container: Any) -> tuple:
    """Return what a container among the arguments holds, by identity."""
    parts, beside = children(container), fields_beside(container)
    names = () if parts is None else parts.keys
    held = () if parts is None else tuple(map(id, parts.values))
    return names, held, {name: id(x) for name, x in beside.items()}


def record(
    f: Callable,
    args: tuple,
    kwargs: dict,
    captured: Captured,
    new: Callable[..., Recorder] = Recorder,
    takes: Callable[[Any], bool] = is_taken,
    counted: Collection[int] = (),
) -> tuple[Recorder, Any, Any]:
    """Run ``f`` on recorded values; return the recording, its output with slots, and the result.

    ``new`` makes the recorder, and ``takes`` says which leaves of the arguments are its inputs, but
    for the integers at the positions ``counted``, which are.
    """
    recorder = new(Constants(captured.frozen, captured.constants))
    watch = recorder.watch = CodeWatch(captured)
    taken_before: dict[int, Any] = {}
    made: list[tuple[Any, list]] = []  # containers among the arguments

    def taken(x: Any) -> Any:
        if type(x) is not _array:
            return recorder.input(x)
        if id(x) not in taken_before:
            taken_before[id(x)] = recorder.input(x)
        else:
            recorder.inputs.append(taken_before[id(x)].position)
        return taken_before[id(x)]

    given = tuple(
        [
            taken(x) if k in counted and is_counted(x) else with_inputs(x, taken, made, takes)
            for k, x in enumerate(args)
        ]
    )
    options = with_inputs(kwargs, taken, made, takes)
    before = [(container, _held_by(container)) for container, _ in made]
    recordings.append(recorder)
    try:
        y = run_watched(watch, f, given, options)
    finally:
        recordings.remove(recorder)
    if any(_held_by(container) != held for container, held in before):
        raise NotRecordable("a write into an argument: return a new one instead")
    if recorder.raised is not None:
        raise NotRecordable(f"it goes on after an error: {recorder.raised!r}")
    if captured.names_of_users().issuperset({"errstate", "raise"}):
        raise NotRecordable("floating-point errors that it asks for by np.errstate")
    handles: dict[int, Any] = {}

    def slot(x: Any) -> Any:
        kind = type(x)
        if kind is RecordedNumber or kind is RecordedArray:
            if kind is RecordedArray and any(
                x is not other and other.position == x.position for other in handles.values()
            ):
                return CopyOf(x.position)
            handles[id(x)] = x
            return Slot(x.position)
        if isinstance(x, Traced):
            raise NotRecordable("a traced value that the function returns")
        parts = None if kind in LEAVES else children(x)
        if parts is None and not _may_be_returned(x) and id(x) not in captured.seen:
            raise NotRecordable(f"a {kind.__name__} that it returns")
        return x if parts is None else Within(zip(parts.values), parts.rebuild)

    output = fold(slot, y)
    result = recorder.samples(y)
    recorder.end([leaf for leaf in iterate_leaves(output) if type(leaf) in (Slot, CopyOf)])
    return recorder, output, result
