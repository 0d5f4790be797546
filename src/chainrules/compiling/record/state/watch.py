"""Profile hook: it tells a recording each function that its thread begins to run.

``sys.monitoring`` says so, and before Python 3.12, or where others have taken all its tools, the
thread's profile function: machine code, or Python's, which goes on to one that was there before.
"""

import gc
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any

from ...ir.looks import NotRecordable
from ...native.entry import layout
from ...native.profiling import KnownCode, native_profile
from .bytecode import codes_in
from .captured_state import COPYING, Captured, closed_over, refused
from .stateful import is_constant_code, is_library, is_pure_path

TOOL = "chainrules.compile"
_TOOLS = (3, 4, 0, 1, 2, 5)  # those for which nothing is proposed, first
OWN = ("chainrules", "llvmlite")
_DISABLE: Any = sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None  # type: ignore[attr-defined]

# The code of a call of a compiled function, which may run natively what it ran before.
of_compiled: list[CodeType] = []


class Stopped(BaseException):
    """Ends a recording that has been refused, before the function that is to blame begins."""


class CodeWatch:
    """Watch on one recording: tells the captured state what runs.

    It is ``paused`` while a step runs that is run again in every replay.
    """

    __slots__ = ("captured", "compiled", "inner", "known", "paused", "refused", "written")

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.paused = False
        self.refused: NotRecordable | None = None
        self.known: dict[int, CodeType] = {k: x for k, (x, *_) in captured.entered.items()}
        self.inner: set[int] = set()  # code of functions that were made meanwhile
        for code in list(self.known.values()):
            self.inner.update(map(id, codes_in(code)))
        self.compiled: dict[int, Any] = {}
        self.written: dict[int, dict] = {}  # names that libraries made for texts of theirs

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Pause for a while."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def began(self, frame: FrameType) -> Any:
        """Walk what a function can read that begins to run; raise where that is refused.

        Raises
        ------
        Stopped
        """
        code, names = frame.f_code, frame.f_globals
        if code in of_compiled:
            inner = frame.f_locals["self"]
            self.compiled[id(inner)] = inner
            return None
        if _is_of_collector(frame):
            return None
        try:
            if is_constant_code(names):
                return self._library(frame)
            if self._is_written_by_library(frame):
                return None
            self.known[id(code)] = code
            self._find(code)
            self.inner.update(map(id, codes_in(code)))
            held = frame.f_locals if code.co_freevars else {}
            free = {name: held[name] for name in code.co_freevars if name in held}
            self.captured.enter(code, names, free)
        except Exception as error:
            self.refused = refused(error)
        if self.captured.traced:
            self.refused = NotRecordable("a transform that is under way")
        if self.refused is not None:
            raise Stopped
        return None

    def _is_written_by_library(self, frame: FrameType) -> bool:
        """Say whether a library runs text of its own, by ``exec`` in names that it made for that.

        Names of a user's are those of a module, or a function of the user's runs ``exec``.
        """
        names, caller = frame.f_globals, frame.f_back
        text = frame.f_code.co_name == "<module>" and "__name__" not in names
        if text and caller is not None and is_constant_code(caller.f_globals):
            self.written[id(names)] = names
        return id(names) in self.written

    def _find(self, code: CodeType) -> None:
        """See that the function is known that is run: its cells and its defaults are state."""
        if (
            id(code) in self.captured.functions
            or id(code) in self.inner
            or not code.co_flags & inspect.CO_OPTIMIZED
        ):
            return
        found = closed_over(code)
        if not found and code.co_freevars:
            raise NotRecordable(f"{code.co_name} that it runs is a function that nobody holds")
        for f in found:
            self.captured.hold(f, code.co_name)
        self.captured.walk_all()

    def _library(self, frame: FrameType) -> Any:
        code, name = frame.f_code, str(frame.f_globals.get("__name__"))
        top, caller = name.partition(".")[0], frame.f_back
        if top not in ("pathlib", "logging", *COPYING):
            self.known[id(code)] = code
            if top not in OWN:
                self.captured.library_ran(code, top)
            return _DISABLE
        while caller is not None and caller.f_globals.get("__name__") == name:
            caller = caller.f_back
        by = None if caller is None else caller.f_globals.get("__name__")
        if top in COPYING:
            if str(by).partition(".")[0] not in OWN:
                self.captured.library_ran(code, top)
        elif caller is not None and not is_library(by):
            if top == "logging" and code.co_name == "_log":
                self.captured.notes.add("logs")
            elif top == "pathlib" and not is_pure_path(code):
                self.captured.refuse_state(caller.f_code.co_name, f"pathlib.{code.co_qualname}")
        return None

    def end(self) -> None:
        """End the run, and add what compiled functions that were called ran when recorded."""
        try:
            self._add_inner()
        except NotRecordable as error:
            self.refused = self.refused or error
        finally:
            self.captured.settle()

    def _add_inner(self) -> None:
        for inner in list(self.compiled.values()):
            for entry in list(inner.kinds.values()):
                if entry.captured is None:
                    continue
                for key, (code, names, modules) in list(entry.captured.entered.items()):
                    if key not in self.inner:
                        for f in entry.captured.functions.get(key, ()):
                            self.captured.hold(f, code.co_name)
                        self.captured.enter(code, names, modules)


def _is_of_collector(frame: FrameType | None) -> bool:
    """Say whether Python's garbage collector called a function, or one that calls it.

    What the thread ran before it was watched called neither.
    """
    called = {id(getattr(f, "__code__", None)) for f in gc.callbacks}
    first = _first.get(threading.get_ident())
    while frame is not None and frame is not first:
        if frame.f_code.co_name == "__del__" or id(frame.f_code) in called:
            return True
        frame = frame.f_back
    return False


_watches: dict[int, tuple[CodeWatch, ...]] = {}  # by thread
_first: dict[int, FrameType] = {}  # by thread: the frame that its outermost watch began in
_told: dict[int, KnownCode] = {}  # by thread: code that all its watches know
_lock = threading.RLock()


@contextmanager
def watching(watch: CodeWatch) -> Iterator[None]:
    """Tell ``watch`` of each function that this thread begins to run."""
    thread = threading.get_ident()
    before = _watches.get(thread, ())
    _watches[thread] = (*before, watch)
    if thread in _told:
        _told[thread].clear()
    end = None
    if not before:
        _first[thread] = sys._getframe(2)  # above contextlib's
        end = _start()
    _Tool.again()
    try:
        yield
    finally:
        if before:
            _watches[thread] = before
        else:
            _watches.pop(thread, None)
            _first.pop(thread, None)
        if end is not None:
            end()


def _start() -> Callable[[], None]:
    """Begin to be told of this thread; return what ends it."""
    with _lock:
        if sys.version_info >= (3, 12) and (_Tool.users or _Tool.take()):
            _Tool.users += 1
            return _Tool.leave
    before = sys.getprofile()
    told = _told[threading.get_ident()] = KnownCode()

    def tell(frame: FrameType) -> None:
        if frame.f_code not in told:
            _tell(frame.f_code, frame)
            if all(id(frame.f_code) in watch.known for watch in _watches_here()):
                told.add(frame.f_code)

    def profile(frame: FrameType, event: Any, given: Any) -> None:
        if event == "call":
            tell(frame)
        if callable(before):
            before(frame, event, given)

    ours: Any = profile
    if before is None and layout() is not None:
        with suppress(ImportError):
            ours = native_profile(told, tell)
    if ours is profile:
        sys.setprofile(profile)

    def end() -> None:
        _told.pop(threading.get_ident(), None)
        if sys.getprofile() in (ours, None):
            if before is not None and not callable(before):  # cProfile's
                before.enable()
            else:
                sys.setprofile(before)

    return end


def _watches_here() -> tuple[CodeWatch, ...]:
    return _watches.get(threading.get_ident(), ())


def _tell(code: CodeType, frame: FrameType | None = None) -> Any:
    answer = None
    for watch in _watches_here():
        if not watch.paused and watch.refused is None and id(code) not in watch.known:
            answer = watch.began(frame or sys._getframe(2))
    return answer


class _Tool:
    """The tool of ``sys.monitoring`` that is taken while there is a recording."""

    users = 0
    number = -1

    @classmethod
    def take(cls) -> bool:
        tools: Any = sys.monitoring  # type: ignore[attr-defined]
        for number in _TOOLS:
            if tools.get_tool(number) is None:
                tools.use_tool_id(number, TOOL)
                tools.register_callback(number, tools.events.PY_START, _began)
                tools.set_events(number, tools.events.PY_START)
                cls.number = number
                return True
        return False

    @classmethod
    def leave(cls) -> None:
        with _lock:
            cls.users -= 1
            if not cls.users:
                cls.free()

    @classmethod
    def again(cls) -> None:
        """Be told again of the code of libraries: another recording has not seen it."""
        if cls.users:
            sys.monitoring.restart_events()  # type: ignore[attr-defined]

    @classmethod
    def free(cls) -> None:
        tools: Any = sys.monitoring  # type: ignore[attr-defined]
        tools.set_events(cls.number, 0)
        tools.register_callback(cls.number, tools.events.PY_START, None)
        tools.free_tool_id(cls.number)
        tools.restart_events()  # who takes the tool next is told of all code


def _began(code: CodeType, offset: int) -> Any:
    return _tell(code)


def _after_fork() -> None:
    """Forget the recordings of threads that the child does not have."""
    here = _watches.get(threading.get_ident())
    _watches.clear()
    if here is not None:
        _watches[threading.get_ident()] = here
    if _Tool.users:
        _Tool.users = 1 if here is not None else 0
        if not _Tool.users:
            _Tool.free()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork
    )
