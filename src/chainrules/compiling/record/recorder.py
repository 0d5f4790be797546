"""The recorder: a level outside all others, whose traced values stand for plain numbers.

Inner levels are asked first, and rules are ordinary NumPy: so a level with the lowest number sees
every operation that any transform, rule or sweep makes on plain numbers. It writes them down as the
steps of a program, and computes them, so that the function goes its way.
"""

import contextlib
import functools
import operator
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from ...config import EscapedTraceError, user_line
from ...config.thresholds import RECORDED_STEPS, REMEMBERED_RESULT
from ...rules import (
    Level,
    Traced,
    children,
    fold,
    frule,
    getitem,
    healed,
    innermost,
    name_of,
    next_level,
)
from ...rules.containers import Within, replaced
from ...rules.engines.buffers import is_writer, settled
from ...rules.engines.whole_calls import as_step, is_kept_whole, runs_inside, tells_only_structure
from ...rules.linear.steps import Slot, part_at
from ...rules.table.compositions import Composed
from ...rules.tracing.funnel import body, is_primitive
from ...rules.tracing.object_arrays import is_object_array
from ...rules.tracing.operands import is_operand
from ...rules.tracing.views import Path, axes_of, follow, forget, root_of
from ...rules.tracing.writing import begin_write, written
from ..ir.forms import ValueForm, new_tuple
from ..ir.looks import Look, NotRecordable, bits
from ..ir.lowering import gives_one_shape, may_raise
from ..native.assembly.operation import INPUT, NO_OPTIONS, Operation
from . import predicates as about
from .constants import Constants
from .liveness import planned
from .predicates import DIVISIONS, NUMBERS, PLAIN, RECORDED, TRUTH, VALUE
from .recorded_values import RecordedArray, RecordedNumber

_array, _OPERANDS = np.ndarray, frozenset({*RECORDED, float, np.float64, int})


class Recorder(Level):
    """One recording: the steps that were made, and what was looked at on the way.

    ``steps`` has the operation that gives each result, of inputs as well. When the recording has
    ended, ``plan`` has those of them to be done, by their numbers, and ``last_reads`` the results
    that each reads as the last one. Equal steps on equal values are made once.
    """

    records = True
    takes_whole = False  # whether integers that a native loop gives are numbers as others are
    __slots__ = (
        "constants", "inputs", "kept", "known", "last_reads", "looked_at", "looks", "not_native",
        "number", "outputs", "plan", "raised", "steps", "thread", "under_way", "watch",
    )  # fmt: skip

    def __init__(self, constants: Constants) -> None:
        self.number = next_level()
        self.constants = constants
        self.inputs: list[int] = []
        self.outputs: list[Any] = []
        self.steps: list[Operation] = []
        self.plan: dict[int, Operation] = {}
        self.last_reads: dict[int, tuple[int, ...]] = {}
        self.looks: list[Look] = []
        self.looked_at: set[tuple[int, str]] = set()
        self.kept: list[int] = []  # steps that may raise, though nobody may use what they give
        self.not_native = ""  # why there is no machine code
        self.raised: Exception | None = None  # by an operation, for other numbers perhaps not
        self.known: dict[tuple, tuple[type, Any, int]] = {}
        self.thread: int | None = get_ident()
        self.under_way: list[Any] = []  # functions that are being run
        self.watch: Any = None  # of what is run

    # ---- what comes in, and what is looked at ---------------------------------------------------

    def input(self, x: Any) -> Any:
        """Return the plain number or array ``x``, recorded."""
        self.inputs.append(len(self.steps))
        return self.wrap(x, INPUT, ())

    def wrap(self, y: Any, f: Any, operands: tuple, options: dict = NO_OPTIONS) -> Any:
        """Append a step and return its result ``y``, recorded."""
        recorded: Any
        if type(y) is _array:
            if y.dtype.kind == "O":
                raise NotRecordable("an array of objects")
            recorded = RecordedArray()
            recorded.base_and_path = None
        else:
            recorded = RecordedNumber()
        recorded.sample = y
        recorded.at_level = self
        recorded.position = len(self.steps)
        self.append(y, f, operands, options)
        return recorded

    def append(self, y: Any, f: Any, operands: tuple, options: dict = NO_OPTIONS) -> None:
        """Append the step that gives ``y``."""
        if get_ident() != self.thread:
            self.check_live()
        self.steps.append(new_tuple(Operation, (f, operands, options, ValueForm.of(y), "")))
        if len(self.steps) > RECORDED_STEPS:
            raise NotRecordable(f"more than {RECORDED_STEPS} operations")

    def check_live(self) -> None:
        """Raise where the recording has ended, or another thread takes part in it.

        Raises
        ------
        EscapedTraceError, NotRecordable
        """
        if self.thread is None:
            raise EscapedTraceError(
                f"a value that was kept from a compiled function is used in {user_line()}: it "
                "stood for a number of one call, which has ended.\n  return it from the function"
            )
        if get_ident() != self.thread:
            raise NotRecordable("work that is shared among threads")

    def end(self, outputs: list) -> None:
        """End the recording; ``outputs`` are slots, or plain."""
        self.thread = None
        self.known = {}
        self.constants.settle()
        self.outputs = outputs
        needed = {y.position for y in outputs if type(y) is Slot}
        needed.update(self.kept, [look.position for look in self.looks])
        self.plan, self.last_reads = planned(self.steps, needed)

    def look(self, x: Any, kind: str, convert: Callable, args: tuple = ()) -> Any:
        """Return what ``convert(x)`` sees of a recorded value, and note that it was seen."""
        self.check_live()
        seen = self.attempt(convert, x.sample, *args)
        if (x.position, kind) in self.looked_at and not args:
            return seen
        self.looked_at.add((x.position, kind))
        noted = bits(x.sample if kind == "value" else seen)
        self.looks.append(Look.here(len(self.steps), x.position, kind, convert, noted))
        return seen

    def attempted(self, f: Callable) -> Any:
        """Return ``f()``; where it gives None, nothing has been looked at: another way is right."""
        if self.thread != get_ident():
            return f()
        looks, kept, looked_at = len(self.looks), len(self.kept), set(self.looked_at)
        found = f()
        if found is None:
            del self.looks[looks:], self.kept[kept:]
            self.looked_at = looked_at
        return found

    def refuses_hash(self) -> bool:
        """Say whether functions were met that keep results by their arguments."""
        return self.watch is not None and bool(self.watch.captured.caches)

    # ---- what a level is asked ------------------------------------------------------------------

    def attempt(self, f: Callable, *args: Any, **kwargs: Any) -> Any:
        """Call ``f``; an error is remembered, since the function may catch it and go on."""
        try:
            return f(*args, **kwargs)
        except (TypeError, AttributeError):
            raise  # of its type or shape
        except Exception as error:
            self.raised = error
            raise

    def attempt_unwatched(self, f: Callable, args: tuple, kwargs: dict) -> Any:
        """Call ``f`` as a step, which every replay calls again: what it reads is read anew."""
        with self.unwatched():
            return self.attempt(f, *args, **kwargs)

    def unwatched(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self.watch is None else self.watch.pausing()

    def unary(self, ufunc: Any, operation: Callable, x: Any) -> Any:
        key = operation, x.position
        known = self.known.get(key)
        if known is not None:
            return self.again(*known)
        y = self.attempt(operation, x.sample)
        operands = (Slot(x.position),)
        if about.is_recorded(y, operation):
            return self.remembered(key, y, operation, operands)
        return self.result(y, operation, (x,), {}, operands, {})

    def binary(self, ufunc: Any, operation: Callable, a: Any, b: Any) -> Any:
        type_a, type_b = type(a), type(b)
        a_recorded, b_recorded = type_a in RECORDED, type_b in RECORDED
        if not (type_a in _OPERANDS and type_b in _OPERANDS):
            for x, kind in ((a, type_a), (b, type_b)):
                if kind in _OPERANDS:
                    continue
                if isinstance(x, Traced):
                    return x.at_level.binary(ufunc, operation, a, b)
                if not is_operand(x):
                    return NotImplemented
                if (kind is not _array or is_object_array(x)) and not isinstance(x, PLAIN):
                    return self.call(operation, (a, b), {})  # a list, a container, a user's array
        key = (
            operation,
            a.position if a_recorded else about.constant_key(a),
            b.position if b_recorded else about.constant_key(b),
        )
        known = self.known.get(key)
        if known is not None:
            return self.again(*known)
        x, read_a = (a.sample, Slot(a.position)) if a_recorded else (a, self.constants.hold(a))
        z, read_b = (b.sample, Slot(b.position)) if b_recorded else (b, self.constants.hold(b))
        y = self.attempt(operation, x, z)
        if operation in DIVISIONS and type(y) in (float, int) and b_recorded:
            # Where this one would be 0, Python raises: so that is looked at.
            self.look(b, "zero", about.is_zero)
        operands = read_a, read_b
        if not about.is_recorded(y, operation):
            return self.result(y, operation, (a, b), {}, operands, {})
        recorded = self.remembered(key, y, operation, operands)
        if operation is operator.pow and type(y) in (float, complex):
            self.look(recorded, "finite", about.is_finite)  # where it is not, Python raises
        return recorded

    def remembered(self, key: tuple, y: Any, f: Any, operands: tuple) -> Any:
        """Append a step that need not be made again for the same ``key``."""
        recorded = self.wrap(y, f, operands)
        if type(y) is not _array or y.nbytes <= REMEMBERED_RESULT:
            self.known[key] = type(recorded), y, recorded.position
        return recorded

    def again(self, kind: type, sample: Any, position: int) -> Any:
        """Return a handle of its own on a result that is there already."""
        handle: Any = kind()
        handle.at_level, handle.sample, handle.position = self, sample, position
        return handle

    def getitem(self, x: Any, index: Any) -> Any:
        if type(index) is not int or x.ndim != 1:
            return self.call(getitem, (x, index), {})
        key = getitem, x.position, index
        known = self.known.get(key)
        if known is not None:
            return self.again(*known)
        y = self.attempt(getitem, x.sample, index)
        return self.remembered(key, y, getitem, (Slot(x.position), index))

    def call(self, f: Any, args: tuple, kwargs: dict) -> Any:
        args, kwargs = healed((args, kwargs))
        level = innermost((f, *args, *kwargs.values()))
        if level is not self:
            # What an object array held, or a buffer, belongs further in.
            return body(f)(*args, **kwargs) if level is None else level.call(f, args, kwargs)
        whole = is_kept_whole(f) and innermost((f,)) is None
        if not whole or runs_inside(args, kwargs):
            # A function may use recorded values that nobody sees in it, so what calls it is run.
            return self.run_body(f, args, kwargs, whole and not is_primitive(f))
        if is_writer(f) and args:
            if type(args[0]) is RecordedArray:
                return self.write_by(f, args, kwargs)
            if type(args[0]) is _array:  # a constant, from now on with what is written
                look = functools.partial(self.look, kind="value", convert=about.itself)
                args, kwargs = self._replaced((args, kwargs), look, None)
                return f(*args, **kwargs)
        return self.step(*as_step(f, args, kwargs))

    def library(self, f: Any, args: tuple, kwargs: dict) -> Any:
        if innermost((f, *args, *kwargs.values())) is self and not runs_inside(args, kwargs):
            return self.step(*as_step(f, args, kwargs))
        return f(*args, **kwargs)

    def step(self, g: Any, args: tuple, kwargs: dict) -> Any:
        """Append a call of ``g`` as one step, whatever it does inside, and return what it gave."""
        y = self.attempt_unwatched(g, self.samples(args), self.samples(kwargs))
        if tells_only_structure(g) or (g is np.empty_like and is_object_array(y)):
            return y
        recorded = self.result(y, g, args, kwargs, self.slots(args), self.slots(kwargs))
        if type(recorded) is RecordedNumber and getattr(g, "__module__", None) == "math":
            self.look(recorded, "finite", about.is_finite)  # of other numbers math raises
        return recorded

    def run_body(self, f: Any, args: tuple, kwargs: dict, hidden: bool) -> Any:
        """Run ``f`` on recorded values; what is in it may be ``hidden``, and composed is seen."""
        if not is_primitive(f) and any(f is other for other in self.under_way):
            # What it does asks the level again, which is us.
            raise NotRecordable(f"functions that are given to {name_of(f)}")
        self.under_way.append(f)
        try:
            rule = frule.find(None, f, args)
            if isinstance(rule, Composed):
                return rule.run(*args, **kwargs)
            if hidden:
                raise NotRecordable(f"a function that is given to {name_of(f)}")
            return body(f)(*args, **kwargs)
        finally:
            self.under_way.pop()

    def result(
        self, y: Any, f: Any, args: tuple, kwargs: dict, operands: tuple, options: dict
    ) -> Any:
        """Append a step, and return what it gave: numbers and arrays of numbers are recorded.

        What else it gave, such as a Python int, is looked at: the function may ask what it is.
        """
        one_shape = gives_one_shape(f, args, kwargs)
        if may_raise(f, args):
            self.kept.append(len(self.steps))

        def look(part: Any, step: tuple) -> Any:
            if type(part) is _array or isinstance(part, NUMBERS):
                recorded = self.wrap(part, *step)
                if not one_shape:
                    self.look(recorded, "structure", about.structure_of)
                return recorded
            parts = children(part)
            if parts is None:
                recorded = RecordedNumber()
                recorded.sample, recorded.at_level, recorded.position = part, self, len(self.steps)
                self.append(part, *step)
                if self.takes_whole and type(part) is int and getattr(f, "is_native", False):
                    return recorded
                return self.look(recorded, *(TRUTH if type(part) is bool else VALUE))
            position = len(self.steps)
            self.append(part, *step)
            if not one_shape:
                seen = bits(about.container_of(part))
                look_at = Look.here(position + 1, position, "container", about.container_of, seen)
                self.looks.append(look_at)
            by_place = isinstance(part, tuple | list) and len(part) == len(parts.values)
            part = operator.getitem if by_place else part_at
            nodes: list[tuple] = [
                (inner, (part, (Slot(position), k))) for k, inner in enumerate(parts.values)
            ]
            return Within(nodes, parts.rebuild)

        recorded = fold(look, y, (f, operands, options))
        for k, x in enumerate(args):
            if type(x) is RecordedArray and (k == 0 or not is_primitive(f)):
                about.tie(recorded, f, args, k, kwargs)
        for x in kwargs.values():
            if type(x) is RecordedArray and not is_primitive(f):
                about.refuse_view(recorded, x, f)
        return recorded

    # ---- writes ---------------------------------------------------------------------------------

    def constant(self, x: Any) -> Any:
        """Return the new array ``x`` as one that is made anew in each run."""
        return self.wrap(x, np.array, (self.constants.hold(x),))

    def write(self, x: Any, index: Any, v: Any) -> None:
        """Record ``x[index] = v`` as a step that makes a new version of the array."""
        root, path = self.written_root(x)
        axes, v = axes_of(root.sample), healed(settled(v))
        operands = self.slots((root, path, index, v, axes))
        sample = written(
            root.sample, self.samples(path), self.samples(index), self.samples(v), axes
        )
        self.put(root, sample, written, operands)

    def write_by(self, f: Any, args: tuple, kwargs: dict) -> None:
        """Record a function that writes into its first argument."""
        root, path = self.written_root(args[0])
        axes, given = axes_of(root.sample), (f, args[1:], kwargs)
        operands = self.slots((root, path, axes, *given))
        sample = about.written_by(root.sample, self.samples(path), axes, *self.samples(given))
        self.put(root, sample, about.written_by, operands)

    def written_root(self, x: Any) -> tuple[Any, Path]:
        root, path = root_of(x)
        if self.steps[root.position].function is INPUT:
            raise NotRecordable("a write into an argument: return a new array instead")
        begin_write(root)
        return root, path

    def put(self, root: Any, sample: Any, f: Callable, operands: tuple) -> None:
        root.sample, root.position = sample, len(self.steps)
        self.append(sample, f, operands)
        forget(root)

    def refresh(self, view: Any, root: Any, path: Path) -> None:
        """Give ``view`` its value anew, along its path from ``root``."""
        y = follow(path, self.again(RecordedArray, root.sample, root.position))
        view.sample, view.position = y.sample, y.position

    # ---- taking apart ---------------------------------------------------------------------------

    def samples(self, x: Any) -> Any:
        """Return ``x`` with the plain values of this run."""
        return self._replaced(x, lambda x: x.sample, None)

    def slots(self, x: Any) -> Any:
        """Return ``x`` with a slot for each recorded value, and copies of what is captured."""
        return self._replaced(x, lambda x: Slot(x.position), self.constants.hold)

    def _replaced(self, x: Any, recorded: Callable, plain: Callable | None) -> Any:
        def leaf(x: Any) -> Any:
            kind = type(x)
            if kind in RECORDED:
                if x.at_level is not self:
                    raise NotRecordable("a value of another recording")
                return recorded(x)
            if kind is slice:
                return about.plain_slice(x)
            return x if plain is None else plain(x)

        return replaced(leaf, x)
