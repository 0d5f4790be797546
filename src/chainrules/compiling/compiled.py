"""Compiled function: it is recorded at its first call, and replayed from then on.

For each kind of arguments (types, shapes, dtypes, and the values of what is no number) there is a
tree of recordings. A replay ends with the answer, or at a look that sees something else than when
it was recorded; what it saw leads to the next recording, or there is none, and one is made.
"""

import copy
import functools
import sys
import time
from collections.abc import Callable, Hashable
from typing import Any

from ..config import CompileError, CompileWarning, warn_user
from ..config.progress import is_watched
from ..config.thresholds import CACHE_ENTRIES, COUNTED, FIRST_REVIEW, RESTARTS
from ..config.tracebacks import again, trim_traceback
from ..rules import innermost, name_of
from ..rules.rulesets.functions.foreign import Foreign
from ..rules.tracing.watching import stops
from .agreement import (
    NOT_REPLAYED,
    OUR_MISTAKE,
    OVERWRITES,
    agree,
    digests,
    evaluated,
    other_than_numpys,
    other_while_recorded,
    replays,
)
from .boundaries import as_foreign, is_number_or_array, may_capture_traced, with_counts
from .effects import beside_transform, captured_now, captured_of, check_effects, why_not
from .ir.looks import NotRecordable, UnsuitedLoopError
from .losses import Losses, fastest, is_hardly_replayed, slower_replays, timed
from .machine_code import about_steps, by_steps, lower_loops, natively
from .passes.replay import Replay, exact_replay, rounds_as_numpy
from .quick import Quick
from .record.cache_key import CountedIntegers, example_of, signature
from .record.generators import process_generators
from .record.recorder import Recorder
from .record.recording import UnrollingRecorder, foreign_in, record
from .record.state.captured_state import Captured
from .record.state.walk import parts_of
from .record.state.watch import of_compiled
from .tree import CacheEntry, RecordedPath


class Compiled:
    """Function compiled by ``cr.compile``, with the recordings of its calls."""

    # Not in the dict, which ``functools.wraps`` copies to others.
    __slots__ = (
        "__dict__", "__weakref__", "bound", "check", "counted", "f", "fallback",
        "foreign", "frozen", "kinds", "losses", "paths", "progress", "quick", "threads", "unrolls",
        "untraced", "warned",
    )  # fmt: skip

    def __init__(
        self,
        f: Callable,
        captured: str,
        paths: int,
        fallback: str,
        check: bool,
        threads: int,
        progress: bool,
    ) -> None:
        functools.update_wrapper(self, f)
        self.f = f
        self.frozen = captured == "freeze"
        self.paths = paths
        self.fallback = fallback
        self.check = check
        self.threads = threads
        self.progress = progress
        self.warned: set[str] = set()
        self.foreign: Foreign | None = None
        self.unrolls = False  # the loops that it records
        self.untraced: Captured | None = None  # in which no transform is under way
        self.bound: dict[tuple, Compiled] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all recordings; the next call makes a new one."""
        self.kinds: dict[Hashable, CacheEntry] = {}  # by the kind of arguments
        self.beside = CacheEntry(None)  # what was lost where it captures what a transform traces
        self.quick: Quick | None = None  # of the last call
        self.counted = CountedIntegers()
        self.losses = Losses()

    def __repr__(self) -> str:
        count = sum(entry.recordings for entry in self.kinds.values())
        return f"<compiled {name_of(self.f)}: {count} recording{'s' * (count != 1)}>"

    def __reduce__(self) -> Any:
        module = sys.modules.get(getattr(self, "__module__", ""))
        if getattr(module, getattr(self, "__qualname__", ""), None) is self:
            return self.__qualname__  # what a decorator made is found by its name
        return Compiled, (self.f, *self.options)

    @property
    def options(self) -> tuple:
        """Options that ``compile`` was called with, besides the function."""
        captured = "freeze" if self.frozen else "check"
        return captured, self.paths, self.fallback, self.check, self.threads, self.progress

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if (wanted := stops()) is not None and wanted.looks:
                return self.f(*args, **kwargs)  # which cr.debug looks at
            last = self.quick
            if (
                last is not None
                and not kwargs
                and last.same(*args)
                and last.captured is last.entry.captured
                and (last.others is None or last.others_same())
            ):
                key, entry, values = last.key, last.entry, list(args)
            else:
                last = None
                try:
                    key, values = signature(args, kwargs, self.counted.positions)
                except NotRecordable as error:
                    if innermost((args, kwargs)) is not None:
                        return self._inside(args, kwargs)
                    return self._plainly(args, kwargs, str(error))
                entry = self.kinds.get(key)
                if entry is None or entry.root is None or entry.captured.changed():
                    return self._first(key, values, args, kwargs)
            try:
                recording, y = entry.replay(values)
            except Exception as error:
                return self._failed(entry, key, error, args, kwargs)
            if recording is None:
                return self._first(key, values, args, kwargs)
            recording.replayed += 1
            if recording.replayed >= recording.review:
                return self._reviewed(entry, recording, values, y, args, kwargs)
            if last is None and not kwargs:
                self.quick = entry.quickly(key, args, values)
            return y
        except BaseException as error:
            trim_traceback(error)
            raise

    # ---- recording ------------------------------------------------------------------------------

    def _first(self, key: Hashable, values: list, args: tuple, kwargs: dict) -> Any:
        """Record one more way through the function, if it can be."""
        entry, begin = self.kinds.get(key), time.thread_time()
        counts = self.check and is_hardly_replayed(self.kinds.values(), COUNTED)
        if entry is None and self.counted.note(args, counts):
            return self._anew(args, kwargs)
        if entry is None or not entry.reason:
            entries = [*self.kinds.values(), self.beside]
            if self.losses.declines(self.f, key, entries, entry, (args, kwargs)):
                return self._plainly(args, kwargs, self.losses.reason)
        if entry is None:
            if self.fallback != "error" and self.losses.waits(key, self.kinds.values()):
                return self.f(*args, **kwargs)
            while len(self.kinds) >= CACHE_ENTRIES:
                self._forget(next(iter(self.kinds)))
            entry = self.kinds.setdefault(key, CacheEntry(*captured_of(self.f, key, self.frozen)))
        elif not entry.reason and (changed := entry.changed()):
            entry.restarts += 1
            if entry.restarts > RESTARTS:
                entry.refuse(
                    f"what it captures has changed {entry.restarts} times, last {changed}; give it "
                    "as an argument"
                )
            else:
                entry.restart(*captured_of(self.f, key, self.frozen))
        if entry.captured is not None and entry.captured.traced:
            return self._beside_transform(key, begin, args, kwargs)
        if not entry.reason and entry.recordings >= self.paths:
            entry.close(entry.too_many(self.paths))
        if entry.reason:
            return self._plainly(args, kwargs, entry.reason)
        if self.unrolls or not (self.progress or is_watched()):
            plainly = UnrollingRecorder if self.unrolls else Recorder
            return self._recorded(entry, key, values, args, kwargs, plainly)
        from .record.progress_bar import ProgressRecorder, bar

        with bar(name_of(self.f), self.progress) as shown:
            new = functools.partial(ProgressRecorder, shown)
            return self._recorded(entry, key, values, args, kwargs, new)

    def _anew(self, args: tuple, kwargs: dict) -> Any:
        """Answer a call without the recordings so far, since other integers are inputs now."""
        self.kinds, self.quick = {}, None
        return self(*args, **kwargs)

    def _forget(self, key: Hashable) -> None:
        """Let go of an entry, with its machine code; replays that are under way still hold it."""
        forgotten, last = self.kinds.pop(key, None), self.quick
        if last is not None and last.entry is forgotten:
            self.quick = None

    def _recorded(
        self,
        entry: CacheEntry,
        key: Hashable,
        values: list,
        args: tuple,
        kwargs: dict,
        new: Callable[..., Recorder],
    ) -> Any:
        captured, begin, eager = entry.captured, time.thread_time(), None
        entry.attempts += 1
        lower_loops(Compiled)
        before = process_generators()
        try:
            counted = self.counted.positions
            recorder, output, y = record(self.f, args, kwargs, captured, new, counted=counted)
        except CompileError:
            raise
        except UnsuitedLoopError:
            self.unrolls = True
            return self._recorded(entry, key, values, args, kwargs, UnrollingRecorder)
        except Exception as error:
            if captured.traced:
                return self._beside_transform(key, begin, args, kwargs)
            if not isinstance(error, NotRecordable) and entry.changed():
                raise  # what it does besides has been done, and is not done twice
            if self.counted.give_up():
                return self._anew(args, kwargs)
            if isinstance(error, NotRecordable):
                entry.forgiven = True  # what would happen twice
                check_effects(self.f, entry, before)
            y = again(self.f, args, kwargs, error)  # if the error is its own, it comes again
            entry.close(why_not(error))
            entry.lost += time.thread_time() - begin
            self._refuse(entry.reason)
            return y
        if captured.traced:
            return self._beside_transform(key, begin, args, kwargs)
        if check_effects(self.f, entry, before):
            # A cache that has been filled is no change the next time; a counter is.
            entry.recapture(*captured_now(captured))
            entry.lost += time.thread_time() - begin
            if entry.reason:
                raise CompileError(
                    f"{name_of(self.f)} keeps what it computes: {entry.reason}.\n"
                    "  return it instead"
                )
            return y
        if self.check:
            # What nobody sees: type(x) is float, x is y, objects that keep values.
            given = digests(values)
            expected, eager = timed(lambda: evaluated(self.f, args, kwargs))
            if digests(values) != given:
                self._close(entry, OVERWRITES)
                return expected
            if not agree(y, expected) and rounds_as_numpy(recorder):
                _, y = Replay(recorder, output, shares=False).run(values)
            if not agree(y, expected):
                if self.counted.give_up():
                    return self._anew(args, kwargs)
                self._close(entry, other_while_recorded(recorder))
                return expected
        else:
            expected = y
        try:
            recording, y = self._in_some_way(recorder, output, values, y), expected
        except UnsuitedLoopError:
            self.unrolls = True
            return expected
        if recording is None:
            self._close(entry, OUR_MISTAKE)
        else:
            recording.by_numpy = functools.partial(exact_replay, recorder, output)
            recording.settle(time.thread_time() - begin, eager, fastest(captured.changed))
            # The quick way was made for what was captured before.
            entry.captured = copy.copy(captured)
            recording.example = example_of(values, args, kwargs)
            try:
                entry.add(recording, values)
            except UnsuitedLoopError:  # in a recording that is asked where they part
                self._unroll(entry, key)
            for effect in sorted(captured.notes):
                self._warn(NOT_REPLAYED.format(effect))
        return y

    def _close(self, entry: CacheEntry, reason: str) -> None:
        entry.close(reason)
        self._refuse(entry.reason)

    def _beside_transform(self, key: Hashable, begin: float, args: tuple, kwargs: dict) -> Any:
        """Answer where the function captures a traced value, as beside a transform under way."""
        if reason := beside_transform(self.kinds.pop(key, None), self.beside, begin):
            self._warn(f"it runs as it always did: {reason}")
        return self.f(*args, **kwargs)

    def _in_some_way(
        self, recorder: Recorder, output: Any, values: list, y: Any
    ) -> RecordedPath | None:
        """Return the recording in machine code, else by NumPy; it gives what was recorded."""
        for f in foreign_in(recorder):
            f.on_threads(self.threads)
        native = natively(recorder, output, self.threads)
        if native is not None:
            recording = RecordedPath(recorder, native.run, [*native.how, *about_steps(recorder)])
            if replays(recording, values, y):
                return recording
            self._warn(other_than_numpys(recording, values, y))
        how = [*by_steps(recorder), *about_steps(recorder)]
        runs = (Replay(recorder, output, shares).run for shares in (True, False))
        made = (RecordedPath(recorder, run, how) for run in runs)
        return next((recording for recording in made if replays(recording, values, y)), None)

    def _reviewed(
        self,
        entry: CacheEntry,
        recording: RecordedPath,
        values: list,
        y: Any,
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Compare a first replay with the function, and later ones with the time it takes."""
        recording.review = max(FIRST_REVIEW, 2 * recording.review)
        if not recording.checked:
            return self._checked(entry, recording, y, args, kwargs)
        replay = functools.partial(self, *args, **kwargs)
        slower = slower_replays(recording, replay, lambda: evaluated(self.f, args, kwargs))
        if slower:
            entry.refuse(slower)
            self._refuse(slower)
        return y

    def _checked(
        self, entry: CacheEntry, recording: RecordedPath, y: Any, args: tuple, kwargs: dict
    ) -> Any:
        """Compare the first replay of a recording with the function itself."""
        recording.checked, by_numpy, recording.by_numpy = True, recording.by_numpy, None
        if not self.check or by_numpy is None:
            return y
        expected, eager = timed(lambda: evaluated(self.f, args, kwargs))
        recording.settle_again(eager)
        if agree(y, expected, eps=recording.eps):
            return y
        replay = by_numpy()
        recording.run, recording.how = replay.run, ["by NumPy, which rounds otherwise"]
        if replays(recording, signature(args, kwargs, self.counted.positions)[1], expected):
            if not replay.has_solvers:
                self._warn("its numbers are rounded so much that it is replayed by NumPy alone")
            return expected
        if self.counted.give_up():
            self.kinds, self.quick = {}, None
            return expected
        entry.refuse(
            "its second call gave something else than a replay of its first: it does not depend on"
            " its arguments and on what it captures alone (a clock, a file, a count of calls?)"
        )
        self._refuse(entry.reason)
        return expected

    def _failed(
        self, entry: CacheEntry, key: Hashable, error: Exception, args: tuple, kwargs: dict
    ) -> Any:
        """Answer where a replay has failed: nearly always, as the function itself would."""
        y = again(self.f, args, kwargs, error)
        if isinstance(error, UnsuitedLoopError):
            self._unroll(entry, key)
            return y
        entry.refuse(f"a replay failed, where the function does not: {error!r}")
        self._refuse(entry.reason)
        return y

    def _unroll(self, entry: CacheEntry, key: Hashable) -> None:
        """Begin anew, with each round of a loop recorded by itself."""
        self.unrolls = True
        entry.restart(*captured_of(self.f, key, self.frozen))

    # ---- without recordings ---------------------------------------------------------------------

    def _plainly(self, args: tuple, kwargs: dict, reason: str) -> Any:
        self._refuse(reason)
        return self.f(*args, **kwargs)

    def _refuse(self, reason: str) -> None:
        """Say, once, why the function runs as it always did; or raise a CompileError of it."""
        if self.fallback == "error":
            raise CompileError(f"{name_of(self.f)} is not compiled: {reason}")
        self._warn(f"it runs as it always did: {reason}")

    def _warn(self, message: str) -> None:
        if message not in self.warned:
            self.warned.add(message)
            warn_user(CompileWarning(f"{name_of(self.f)}: {message}"))

    # ---- inside derivatives ---------------------------------------------------------------------

    def _inside(self, args: tuple, kwargs: dict) -> Any:
        """Answer a call with traced values: by compiled derivatives where these are of arrays."""
        if kwargs or not all(map(is_number_or_array, args)) or may_capture_traced(self):
            return self.f(*args, **kwargs)
        counts = tuple((k, x) for k, x in enumerate(args) if type(x) is int)
        if counts:  # they have no derivative, and belong to the key
            rest = tuple([x for x in args if type(x) is not int])
            return with_counts(self, counts)._inside(rest, {})
        if self.foreign is None:
            self.foreign = as_foreign(self)
        return self.foreign(*args)


parts_of[Compiled] = lambda compiled: (compiled.f,)
of_compiled.append(Compiled.__call__.__code__)
