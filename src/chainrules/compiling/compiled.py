"""``cr.compile``: a function that is recorded at its first call, and replayed from then on.

For each kind of arguments (types, shapes, dtypes, and the values of what is no number) there is a
tree of recordings. A replay ends with the answer, or at a look that sees something else than when
it was recorded; what it saw leads to the next recording, or there is none, and one is made.
"""

import functools
import threading
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..config import CompileError, CompileWarning
from ..reverse import Pullback, Pushforward
from ..rules import Traced, all_settled, children, fold, healed, innermost, iterate_leaves, name_of
from ..rules.containers import LEAVES, Within
from ..rules.linear.steps import Slot
from ..rules.rulesets.functions.foreign import Foreign
from ..rules.tracing.running import running
from .agreement import agree
from .captured import Captured, parts_of, process_generators
from .constants import Constants
from .looks import NotRecordable, bits
from .natively import natively
from .recorded import RecordedArray, RecordedNumber
from .recorder import Recorder
from .replay import Again, Missed, Replay

KINDS = 64  # kinds of arguments that are remembered
RESTARTS = 16  # how often what is captured may change, before the function runs as it always did

_array, _float64 = np.ndarray, np.float64


class Recording:
    """One way through the function: how it runs again, and where other ways leave it."""

    def __init__(self, recorder: Recorder, run: Callable, how: list[str]) -> None:
        self.run = run
        self.how = how  # in words
        self.looks = [look for _, look in recorder.looks]
        self.constants = recorder.constants
        self.others: dict[Missed, Recording] = {}
        self.replayed = 0


class Kind:
    """What is known for one kind of arguments: a tree of recordings, or why there is none."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.root: Recording | None = None
        self.recordings = 0
        self.restarts = 0
        self.checked = False
        self.reason = ""

    def changed(self) -> str | None:
        """Say what is not what it was when the recordings were made, if anything is."""
        changed = self.captured.changed()
        left = [self.root]
        while left and not changed:
            recording = left.pop()
            if recording is not None:
                changed = recording.constants.changed()
                left += recording.others.values()
        return changed


class Compiled:
    """What ``cr.compile`` returns: the function, with recordings of what it does."""

    # Not in the dict, which ``functools.wraps`` copies to others.
    __slots__ = (
        "__dict__", "__weakref__", "check", "f", "fallback", "foreign", "frozen", "kinds", "paths",
        "warned",
    )  # fmt: skip

    def __init__(self, f: Callable, captured: str, paths: int, fallback: str, check: bool) -> None:
        functools.update_wrapper(self, f)
        self.f = f
        self.frozen = captured == "freeze"
        self.paths = paths
        self.fallback = fallback
        self.check = check
        self.warned: set[str] = set()
        self.foreign: Foreign | None = None
        self.kinds: dict[Hashable, Kind] = {}

    def clear(self) -> None:
        """Forget all recordings; the next call makes a new one."""
        self.kinds = {}

    def __repr__(self) -> str:
        return f"<compiled {name_of(self.f)}>"

    def __reduce__(self) -> Any:
        captured = "freeze" if self.frozen else "check"
        return Compiled, (self.f, captured, self.paths, self.fallback, self.check)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            key, values = signature(args, kwargs)
        except NotRecordable as error:
            if innermost((args, kwargs)) is not None:
                return self._inside(args, kwargs)
            return self._plainly(args, kwargs, str(error))
        kind = self.kinds.get(key)
        if kind is None or kind.root is None or kind.captured.changed():
            return self._first(key, values, args, kwargs)
        recording: Recording | None = kind.root
        while recording is not None:
            if recording.constants.changed():
                break
            try:
                missed, y = recording.run(values)
            except Exception as error:
                return self._failed(kind, error, args, kwargs)
            if missed is None:
                recording.replayed += 1
                return y if kind.checked else self._checked(kind, y, args, kwargs)
            recording = recording.others.get(missed)
        return self._first(key, values, args, kwargs)

    # ---- recording ------------------------------------------------------------------------------

    def _first(self, key: Hashable, values: list, args: tuple, kwargs: dict) -> Any:
        """Record one more way through the function, if it can be."""
        kind = self.kinds.get(key)
        if kind is None:
            while len(self.kinds) >= KINDS:
                self.kinds.pop(next(iter(self.kinds)), None)
            kind = self.kinds.setdefault(key, Kind(self._captured(key)))
        elif not kind.reason and (changed := kind.changed()):
            kind.restarts += 1
            kind.root, kind.recordings = None, 0
            if kind.restarts > RESTARTS:
                kind.reason = (
                    f"what it captures has changed {kind.restarts} times, last {changed}; give it "
                    "as an argument"
                )
            else:
                kind.captured = self._captured(key)
        if kind.captured.traced:  # a transform is under way, and sees what the function captures
            self.kinds.pop(key, None)
            return self.f(*args, **kwargs)
        if not kind.reason and kind.recordings >= self.paths:
            kind.reason = self._too_many(kind)
        if kind.reason:
            return self._plainly(args, kwargs, kind.reason)
        return self._recorded(kind, values, args, kwargs)

    def _captured(self, key: Hashable) -> Captured:
        return Captured((self.f, key), self.frozen)

    def _recorded(self, kind: Kind, values: list, args: tuple, kwargs: dict) -> Any:
        captured = kind.captured
        before = process_generators()
        try:
            recorder, output, y = record(self.f, args, kwargs, captured)
        except CompileError:
            raise
        except Exception as error:
            y = self.f(*args, **kwargs)  # if the error is its own, it comes again, and without us
            kind.reason = str(error) if isinstance(error, NotRecordable) else repr(error)
            self._refuse(kind.reason)
            return y
        self._check_effects(kind, before)
        recording = self._in_some_way(recorder, output, values, y)
        if recording is None:
            kind.reason = "a replay gave something else than the recording, which is our mistake"
            self._refuse(kind.reason)
        else:
            self._put(kind, recording, values)
        return y

    def _in_some_way(
        self, recorder: Recorder, output: Any, values: list, y: Any
    ) -> Recording | None:
        """Return the recording in machine code, else by NumPy; it gives what was recorded."""
        native = natively(recorder, output)
        if native is not None:
            if _replays(native.run, values, y):
                return Recording(recorder, native.run, native.how)
            self._warn("its native code gave something else than NumPy, and is not used")
        replay = Replay(recorder, output)
        how = [f"by NumPy, {len(recorder.plan)} steps: {recorder.not_native}"]
        return Recording(recorder, replay.run, how) if _replays(replay.run, values, y) else None

    def _check_effects(self, kind: Kind, before: tuple) -> None:
        """Refuse a function that does more than compute what it returns.

        Raises
        ------
        CompileError
        """
        drawn = kind.captured.drawn()
        if drawn or process_generators() != before:
            kind.root = None
            if not drawn and threading.active_count() > 1:
                raise NotRecordable("random numbers were drawn while it was recorded")
            raise CompileError(
                f"{name_of(self.f)} draws random numbers ({drawn or 'np.random, or random'}), which"
                " would be the same at every call.\n"
                "  draw them outside, and give them as an argument"
            )
        changed = kind.changed()
        if changed:
            kind.root = None
            raise CompileError(
                f"{name_of(self.f)} changes what it captures ({changed}), which would happen at "
                "its first call only.\n  return it instead"
            )

    def _put(self, kind: Kind, recording: Recording, values: list) -> None:
        """Put a recording into the tree, at the look where the others leave its way."""
        kind.recordings += 1
        if kind.root is None:
            kind.root = recording
            return
        at = kind.root
        while True:
            missed, _ = at.run(values)
            if missed is None:
                return  # another thread was faster
            found = at.others.setdefault(missed, recording)
            if found is recording:
                return
            at = found

    def _checked(self, kind: Kind, y: Any, args: tuple, kwargs: dict) -> Any:
        """Compare the first replay with the function itself."""
        kind.checked = True
        if not self.check:
            return y
        expected = self.f(*args, **kwargs)
        if agree(y, expected):
            return y
        kind.root = None
        kind.reason = (
            "its second call gave something else than a replay of its first: it does not depend on"
            " its arguments and on what it captures alone (a clock, a file, a count of calls?)"
        )
        self._refuse(kind.reason)
        return expected

    def _failed(self, kind: Kind, error: Exception, args: tuple, kwargs: dict) -> Any:
        """Answer where a replay has failed: nearly always, as the function itself would."""
        y = self.f(*args, **kwargs)
        kind.root, kind.reason = None, f"a replay failed, where the function does not: {error!r}"
        self._refuse(kind.reason)
        return y

    # ---- without recordings ---------------------------------------------------------------------

    def _plainly(self, args: tuple, kwargs: dict, reason: str) -> Any:
        self._refuse(reason)
        return self.f(*args, **kwargs)

    def _refuse(self, reason: str) -> None:
        """Say, once, why the function runs as it always did; or raise it, if so asked.

        Raises
        ------
        CompileError
        """
        if self.fallback == "error":
            raise CompileError(f"{name_of(self.f)} is not compiled: {reason}")
        self._warn(f"it runs as it always did: {reason}")

    def _warn(self, message: str) -> None:
        if message not in self.warned:
            self.warned.add(message)
            warnings.warn(f"{name_of(self.f)}: {message}", CompileWarning, stacklevel=6)

    def _too_many(self, kind: Kind) -> str:
        lines: dict[str, int] = {}
        kinds: set[str] = set()
        left = [kind.root]
        while left:
            recording = left.pop()
            if recording is not None:
                for (at, _), other in recording.others.items():
                    look = recording.looks[at]
                    lines[look.line] = lines.get(look.line, 0) + 1
                    kinds.add(look.kind)
                    left.append(other)
        most = max(lines, key=lambda line: lines[line], default="an unknown line")
        if kinds & {"float", "value"}:
            return (
                f"there are more than {self.paths} ways through it: in {most} numbers are handed to "
                "what is not NumPy's, such as math.sin or float; write np.sin, or cr.adopt() for "
                "the module, or compile what comes before and after by itself"
            )
        return (
            f"there are more than {self.paths} ways through it, most of which part in {most}, "
            "where it looks at values; compile what does so by itself (@cr.compile), or raise "
            "paths="
        )

    # ---- inside derivatives ---------------------------------------------------------------------

    def _inside(self, args: tuple, kwargs: dict) -> Any:
        """Answer a call with traced values: by compiled derivatives where these are of arrays."""
        if kwargs or not all(map(_is_number_or_array, args)):
            return self.f(*args, **kwargs)
        try:
            if Captured(self.f, frozen=True).traced:
                return self.f(*args)
        except NotRecordable:
            return self.f(*args)
        if self.foreign is None:
            self.foreign = _foreign(self)
        return self.foreign(*args)


def _replays(run: Callable, values: list, y: Any) -> bool:
    """Say whether a replay gives what was recorded."""
    try:
        missed, again = run(values)
    except Exception:
        return False
    return missed is None and agree(again, y)


def _is_number_or_array(x: Any) -> bool:
    return isinstance(x, Traced | float | _array | np.floating) or type(x) is int


def _foreign(compiled: Compiled) -> Foreign:
    """Return a compiled function as one with derivatives of its own, compiled as well."""

    def derived(f: Callable) -> Compiled:
        captured = "freeze" if compiled.frozen else "check"
        return Compiled(f, captured, compiled.paths, compiled.fallback, compiled.check)

    @functools.cache
    def push(n: int) -> Foreign:
        return _foreign(derived(Pushforward(compiled.f, arity=n)))

    @functools.cache
    def pull(n: int) -> Foreign:
        return _foreign(derived(Pullback(compiled.f, arity=n)))

    def with_pullback(*xs: Any) -> tuple[Any, Callable]:
        return compiled(*xs), lambda *ybars: pull(len(xs))(*xs, *ybars)

    def with_tangent(xs: tuple, xdots: tuple) -> tuple[Any, tuple]:
        ydot = push(len(xs))(*xs, *xdots)
        return compiled(*xs), ydot if isinstance(ydot, tuple) else (ydot,)

    return Foreign(name_of(compiled.f), compiled, with_pullback, with_tangent, push, pull)


parts_of[Compiled] = lambda compiled: (compiled.f,)


# ---- arguments ----------------------------------------------------------------------------------


def signature(args: tuple, kwargs: dict) -> tuple[Hashable, list]:
    """Return what a recording is made for, and the numbers and arrays that it takes.

    Floats and complex numbers and arrays of numbers are taken; everything else belongs to the kind:
    Python's ints, which are sizes and counts, texts, None.
    """
    key: list[Any] = []
    values: list[Any] = []
    for x in args:
        kind = type(x)
        if kind is float or kind is _float64:
            key.append(kind)
            values.append(x)
        elif kind is _array and x.dtype.kind in "fcbiu":
            key.append(_layout(x))
            values.append(x)
        else:
            _enter(x, key, values)
    for name, x in kwargs.items():
        key.append(name)
        _enter(x, key, values)
    return tuple(key), values


def _layout(x: np.ndarray) -> Hashable:
    flags = x.flags
    if flags.c_contiguous:
        return x.dtype, x.shape
    return x.dtype, x.shape, "F" if flags.f_contiguous else x.strides


def _enter(x: Any, key: list, values: list) -> None:
    """Add what ``x`` is to a key, and the numbers and arrays in it to the values."""

    def look(x: Any) -> Any:
        if isinstance(x, Traced):
            raise NotRecordable("a traced value")
        if is_taken(x):
            key.append(_layout(x) if type(x) is _array else type(x))
            values.append(x)
            return None
        parts = children(x)
        if parts is not None:
            key.append((type(x), parts.keys))
            return Within(zip(parts.values), list)
        try:
            key.append((type(x), x if x == x else bits(x)))
            hash(x)
        except (TypeError, ValueError):
            raise NotRecordable(f"an argument of type {type(x).__name__}") from None
        return None

    fold(look, x)


def is_taken(x: Any) -> bool:
    """Say whether a leaf of the arguments is an input of the recording."""
    if type(x) is _array:
        return x.dtype.kind in "fcbiu"
    return isinstance(x, float | complex | np.inexact)


def record(f: Callable, args: tuple, kwargs: dict, captured: Captured) -> tuple[Recorder, Any, Any]:
    """Run ``f`` on recorded values; return the recording, its output with slots, and the result."""
    recorder = Recorder(Constants(captured.frozen, captured.constants))

    def taken(x: Any) -> Any:
        parts = None if type(x) in LEAVES else children(x)
        if parts is not None:
            return Within(zip(parts.values), parts.rebuild)
        return recorder.input(x) if is_taken(x) else x

    given, options = fold(taken, args), fold(taken, kwargs)
    with running():
        y = all_settled(healed(f(*given, **options)))
    handles: dict[int, Any] = {}

    def slot(x: Any) -> Any:
        kind = type(x)
        if kind is RecordedNumber or kind is RecordedArray:
            if kind is RecordedArray and any(
                x is not other and other.position == x.position for other in handles.values()
            ):
                return Again(x.position)
            handles[id(x)] = x
            return Slot(x.position)
        if isinstance(x, Traced):
            raise NotRecordable("a traced value that the function returns")
        parts = None if kind in LEAVES else children(x)
        return x if parts is None else Within(zip(parts.values), parts.rebuild)

    output = fold(slot, y)
    result = recorder.samples(y)
    recorder.end([leaf for leaf in iterate_leaves(output) if type(leaf) in (Slot, Again)])
    return recorder, output, result
