"""Answers: what solvers of SciPy find, each as one step of a recording.

Each replay runs SciPy's own iteration with the numbers of its call. The user's functions are
callbacks in it, by their recorded ways. The answer has no derivative: rules give it that, by the
equations that it solves.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult

from ...rules import children, value
from ...rules.engines.buffers import handed_out
from ...rules.rulesets.functions.closures import TakenOut
from ...rules.rulesets.scipy.optimize.results import REFUSED_FIELD, CountInResult, RecordedResult
from ..ir.forms import ValueForm
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..record.recording import StepRecorder
from .callbacks import CallbackRun, SolverCallback, of_parts
from .layout import RowLayout, checked_form, form_of, plain
from .loop_lowering import LoopBuilder, RowFunction, Structure, recorder_of
from .native_loop import OwnStep

_DATA = (np.ndarray, np.generic, float, int, str, bytes, type(None), complex, slice)
_SETTINGS = (Bounds, LinearConstraint)
Path = tuple


class SolverAnswer(OwnStep):
    """The answer to a call of a solver: ``answer(*captured)`` gives which structure it has, and it.

    Where it has ``one_structure`` it is given alone, and nobody need look at it.
    ``given`` are the arguments by name, functions among them, of which those at the ``top`` are
    called with ``args`` besides; ``solve`` takes arguments with callbacks in their place.
    """

    __slots__ = (
        "builder",
        "callbacks",
        "data",
        "exact",
        "one_structure",
        "paths",
        "places",
        "solve",
        "structures",
        "top",
    )

    is_native = calls_back = of_solver = gives_one_shape = True

    def __init__(
        self, builder: LoopBuilder, solve: Callable, top: frozenset, one_structure: bool
    ) -> None:
        super().__init__("answer")
        self.one_structure = one_structure
        self.builder, self.solve, self.top = builder, solve, top
        self.paths = list(_functions_in(builder.functions, ()))
        data = builder.functions
        for path in self.paths:
            data = _with(data, path, None)
        self.data = TakenOut(data)  # the arguments without functions
        order = {id(x): k for k, x in enumerate(builder.captured)}
        self.places = [order[id(x)] for x in self.data.parameters]
        self.callbacks: dict[Hashable, ShapedCallback] = {}
        self.structures: list[AnswerStructure] = []
        self.exact = False

    def round_as_numpy(self) -> bool:
        new, self.exact = not self.exact, True
        for shaped in self.callbacks.values():
            shaped.callback.round_as_numpy()
        return new

    def _run(self, *captured: Any) -> tuple:
        try:
            structure, leaves = self.found(list(captured))
        except NotRecordable as error:
            raise UnsuitedLoopError(str(error)) from error
        number = self.structures.index(structure)
        if not self.one_structure:
            return number, *leaves
        if number:
            raise UnsuitedLoopError("a solver that gives another structure")
        return tuple(leaves)

    def found(self, captured: list) -> tuple["AnswerStructure", list]:
        """Return the structure of SciPy's answer, and the numbers and arrays in it."""
        given = self.data(*[captured[k] for k in self.places])
        runs: dict[Hashable, CallbackRun] = {}
        args = given.get("args", ())
        made = dict(given)
        if self.top & made.keys():
            made.pop("args", None)
        for path in self.paths:
            more = (args,) if path[0] in self.top else ()
            called = CalledBack(self, path, captured, runs, more)
            made = _with(made, path, called)
        try:
            answer = self.solve(_copied(made))
        finally:
            for key, run in runs.items():
                self.callbacks[key].callback.end(run)
        structure = AnswerStructure(answer)
        return self.structures[numbered(self.structures, structure)], structure.leaves


def _functions_in(x: Any, path: Path) -> Any:
    """Yield where functions are in containers.

    Raises
    ------
    NotRecordable
        If there is something that a recording cannot hold.
    """
    if callable(x) and not isinstance(x, type):
        yield path
    elif type(x) is dict:
        for name, part in x.items():
            yield from _functions_in(part, (*path, name))
    elif type(x) in (tuple, list):
        for k, part in enumerate(x):
            yield from _functions_in(part, (*path, k))
    elif not isinstance(x, (*_DATA, *_SETTINGS)) and not hasattr(x, "at_level"):
        raise NotRecordable(f"a solver that is given a {type(x).__name__}")


def _with(x: Any, path: Path, part: Any) -> Any:
    """Return containers with another part at this place."""
    if not path:
        return part
    copy = dict(x) if type(x) is dict else list(x)
    copy[path[0]] = _with(copy[path[0]], path[1:], part)
    return tuple(copy) if type(x) is tuple else copy


def _at(x: Any, path: Path) -> Any:
    for key in path:
        x = x[key]
    return x


def _copied(x: Any) -> Any:
    """Return arguments with copies of arrays: SciPy may write into its own."""
    if type(x) is np.ndarray:
        return x.copy()
    if type(x) is dict:
        return {name: _copied(part) for name, part in x.items()}
    return type(x)(map(_copied, x)) if type(x) in (tuple, list) else x


class CalledBack:
    """A function of the user's, as one run of SciPy's solver calls it."""

    def __init__(
        self, of: SolverAnswer, path: Path, captured: list, runs: dict, more: tuple
    ) -> None:
        self.of, self.path, self.captured, self.runs = of, path, captured, runs
        self.more = more
        self.last: tuple | None = None  # kinds of arguments, callback and run
        self.__wrapped__ = _at(of.builder.functions, path)  # for who asks for its signature

    def __call__(self, *args: Any) -> Any:
        kinds = tuple([(x.shape, x.dtype) if type(x) is np.ndarray else type(x) for x in args])
        if self.last is None or self.last[0] != kinds:
            self.last = self._of_kinds(kinds, args)
        _, shaped, run = self.last
        if not run.callback.step.bodies and (given := run.replayed(args)) is not None:
            return shaped.filled(given)
        return shaped.read(run.entries(args))

    def _of_kinds(self, kinds: tuple, args: tuple) -> tuple:
        key = self.path, kinds
        shaped = self.of.callbacks.get(key)
        if shaped is None:
            shaped = ShapedCallback(self.of, self.path, bool(self.more))
            shaped.begin(self.captured, list(args))
            self.of.callbacks[key] = shaped
        if key not in self.runs:
            self.runs[key] = shaped.callback.begin(self.captured)
        return kinds, shaped, self.runs[key]


class ShapedCallback:
    """A function of the user's for arguments of known forms, and the structure of what it gives."""

    callback: SolverCallback
    read: Callable[[np.ndarray], Any]
    template: Structure

    def __init__(self, of: SolverAnswer, path: Path, has_args: bool) -> None:
        self.of, self.path, self.has_args = of, path, has_args

    def call(self, functions: Any, row: list) -> Any:
        args = functions.get("args", ()) if self.has_args else ()
        args = args if isinstance(args, tuple) else (args,)
        return _at(functions, self.path)(*row, *args)

    def begin(self, captured: list, row: list) -> None:
        """Record the first way.

        Raises
        ------
        NotRecordable, UnsuitedLoopError
        """
        function = RowFunction(self.of.builder, self.call, "a callback")
        step, recorder, output = function.loop(captured, row, RowLayout(map(_form_of, row)))
        self.template = function.given
        self.callback = of_parts(step, recorder, output, self.of.exact)
        self.read = self._reader(step.layouts.given)

    def filled(self, given: list) -> Any:
        """Return a result of the numbers and arrays in it."""
        if len(given) == 1 and children(self.template.template) is None:
            return given[0]
        return self.template.filled(given)

    def _reader(self, given: RowLayout) -> Callable[[np.ndarray], Any]:
        """Return what makes a result of the numbers that a call gives."""
        template = self.template.template
        numbers = all(not place.form.array and not place.whole for place in given.places)
        if type(template) is list and numbers and list(map(type, template)) == [float] * len(given):
            return np.ndarray.tolist
        if len(given) == 1 and children(template) is None:
            return given.places[0].read
        return lambda row: self.filled(given.read(row))


def _form_of(x: Any) -> ValueForm:
    """Return the form of an argument of a callback; in a row all arrays are in C order.

    Some solvers begin with a start of whole numbers as it was given.
    """
    if type(x) is not np.ndarray:
        return form_of(x)
    form = ValueForm(True, x.dtype, x.shape, "C")
    return form if x.dtype == np.int64 else checked_form(form, x)


# ---- the structure of an answer -----------------------------------------------------------------


class AnswerStructure:
    """The containers of an answer, and what is no number in it; ``leaves`` are the numbers.

    Whole numbers in results are recorded as NumPy's, and are read as Python's.
    """

    def __init__(self, answer: Any) -> None:
        self.leaves: list = []
        self.spec = self._spec(answer, False)
        self.key = _key_of(self.spec)

    def _spec(self, x: Any, inside: bool) -> Any:
        if isinstance(x, dict):
            result = isinstance(x, OptimizeResult)
            return "result" if result else "dict", [(k, self._spec(v, True)) for k, v in x.items()]
        if isinstance(x, tuple | list):
            return type(x), [(k, self._spec(v, inside)) for k, v in enumerate(x)]
        x = handed_out(x)
        own = value(x)
        if type(own) is np.ndarray and own.dtype.kind in "fib":
            self.leaves.append(x)
            return "leaf", (own.dtype.str, own.shape)
        if isinstance(own, float):
            self.leaves.append(x)
            return "leaf", type(own)
        if isinstance(x, int | np.integer) and not isinstance(x, bool) and inside:
            self.leaves.append(np.int64(x))
            return "whole", type(x)
        if isinstance(x, int | np.integer | np.bool_ | str | None):
            return "constant", x
        if inside:
            return "refused", type(x).__name__
        raise NotRecordable(f"a solver that gives a {type(x).__name__}")

    def filled(self, leaves: list) -> Any:
        """Return an answer of this structure, of recorded numbers."""
        return self._made(self.spec, iter(leaves))

    def _made(self, spec: Any, rest: Iterator) -> Any:
        kind, parts = spec
        if kind in ("result", "dict"):
            return RecordedResult({k: self._made(part, rest) for k, part in parts})
        if kind in (tuple, list):
            return kind(self._made(part, rest) for _, part in parts)
        if kind == "whole":
            return CountInResult(next(rest))
        if kind == "refused":
            return CountInResult(REFUSED_FIELD)
        return next(rest) if kind == "leaf" else parts


def numbered(known: list, structure: AnswerStructure) -> int:
    """Return the number of a structure among the known ones, of which it is one from now on."""
    for number, other in enumerate(known):
        if other.key == structure.key:
            return number
    known.append(structure)
    return len(known) - 1


def _key_of(spec: Any) -> Hashable:
    kind, parts = spec
    if isinstance(parts, list):
        return kind, tuple([(k, _key_of(part)) for k, part in parts])
    return kind, parts


# ---- lowering -----------------------------------------------------------------------------------


def lowered_answer(
    given: dict, solve: Callable, top: frozenset, name: str, one_structure: bool = False
) -> Any:
    """Return the answer of ``solve(given)``, as one step of the recording; None where it is none.

    Raises
    ------
    UnsuitedLoopError
        If a function does more than compute what it returns.
    """
    builder = LoopBuilder(given, name)
    recorder = recorder_of(builder.captured, StepRecorder)
    if recorder is None:
        return None
    try:
        with recorder.unwatched():
            answer = SolverAnswer(builder, solve, top, one_structure)
            structure, _ = answer.found(plain(builder.captured))
    except UnsuitedLoopError:
        raise
    except Exception:  # if it is the user's own, it comes again as the call is recorded
        return None
    leaves = recorder.call(answer, tuple(map(value, builder.captured)), {})
    return structure.filled(leaves if one_structure else leaves[1:])
