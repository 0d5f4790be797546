"""Executors for the items of a map: anything with ``submit``, and threads, which share our memory.

Of an executor nothing is known but ``submit``, so that workers keep nothing but arrays: any of them
may take any task. What is sent is pickled here: by cloudpickle where that is installed, since
pickle knows functions by their names only.
"""

import os
import pickle
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from typing import Any

from .....config import ArgumentTypeError, LostDataError, LostDerivativeError, user_line
from .....config.progress import long_work
from .....config.tracebacks import trim_all
from .... import SentFunction, name_of
from ..progress import Progress, Shown
from .chunks import RowHandle, place_of, run_rows, sizes
from .items import Item
from .parcels import Parcel, opened
from .tasks import added


class Site(ABC):
    """Base class of executors. ``keeps`` says whether results of tasks may stay with workers."""

    keeps = False
    shares_memory = False

    def __init__(self, executor: Any, progress: bool) -> None:
        self.executor, self.progress = executor, progress
        self.chunksize: int | None = None
        self.timeout: float | None = None
        self.begun = 0.0

    def start(self, task: Callable, common: Any, *columns: Sequence) -> list:
        """Start ``task(common, *row)`` for each row of the columns; there may be handles in it."""
        self.begun = time.monotonic()
        task = SentFunction(task)
        rows = list(zip(*columns))
        chunks: list = []
        handles: list = []
        workers = self.workers() if rows else 1
        # Rows may have to wait for what they read, and the first ones for the time they take.
        work = None if self.progress else long_work("map", len(rows), "items")
        try:
            send = self.sender(task, common)

            def seconds() -> float:
                return self.seconds_of(chunks[-workers])

            for size in sizes(rows, self.chunksize, workers, seconds):
                at = len(handles)
                chunks.append(send(rows[at : at + size]))
                handles += [RowHandle(chunks[-1], k) for k in range(size)]
                if work is not None:
                    work.update(size)
        except BaseException as error:
            if work is not None:
                work.close()
            self.cancel([*chunks, *_chunks_of(rows)])
            if isinstance(error, BrokenExecutor):  # by a map before
                raise self.lost(f"a worker of {type(self.executor).__name__} is lost") from error
            raise
        return handles

    @abstractmethod
    def workers(self) -> int:
        """Return how many chunks are evaluated at once, as far as is known."""

    @abstractmethod
    def sender(self, task: Callable, common: Any) -> Callable[[list], Any]:
        """Return what starts a task for a chunk of rows, and gives its handle."""

    @abstractmethod
    def seconds_of(self, chunk: Any) -> float:
        """Wait for a chunk, and return what each of its rows took."""

    @abstractmethod
    def cancel(self, chunks: list) -> None:
        """Cancel chunks that have not begun."""

    @abstractmethod
    def finish(self, handles: list, name: str) -> list:
        """Return what tasks gave; their errors are raised here."""

    @abstractmethod
    def finish_sums(self, handles: list, listed: bool, name: str) -> tuple[Any, list]:
        """Return the sums of the first parts of what tasks gave, and where asked the others."""

    def bar(self, name: str, count: int) -> Shown | None:
        if self.progress:
            return Progress(name, count, unit="items")
        return long_work(name, count, "items")

    def left(self) -> float | None:
        """Return how many seconds are left of those that the items may take."""
        if self.timeout is None:
            return None
        return max(self.begun + self.timeout - time.monotonic(), 0.0)

    def late(self) -> TimeoutError:
        return TimeoutError(
            f"the items of a map took more than {self.timeout} s, in {user_line()}: those that had "
            "not begun are cancelled, and those under way go on.\n"
            "  give them more time, timeout=..., or more workers"
        )

    def lost(self, what: str) -> LostDataError:
        return LostDataError(
            f"{what}, in {user_line()}: it ran out of memory, or was stopped.\n"
            "  make a new executor; give it fewer workers, or each item less to keep"
        )


def _chunks_of(rows: list) -> list:
    return [x.chunk for row in rows for x in row if type(x) is RowHandle]


class Threads(Site):
    """A ``ThreadPoolExecutor``: nothing is pickled, and a tape may stay where it is."""

    keeps = True
    shares_memory = True

    def workers(self) -> int:
        return getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1

    def sender(self, task: Callable, common: Any) -> Callable[[list], Any]:
        where = place_of(self.executor)

        def send(rows: list) -> Any:
            settled = [tuple([self._settled(x) for x in row]) for row in rows]
            return self.executor.submit(run_rows, task, common, settled, where)

        return send

    def _settled(self, x: Any) -> Any:
        return self._result_of(x.chunk)[0][x.number] if type(x) is RowHandle else x

    def seconds_of(self, chunk: Any) -> float:
        seconds: float = self._result_of(chunk)[1]
        return seconds

    def cancel(self, chunks: list) -> None:
        for chunk in chunks:
            if hasattr(chunk, "cancel"):
                chunk.cancel()

    def finish(self, handles: list, name: str) -> list:
        return list(self._results(handles, name))

    def finish_sums(self, handles: list, listed: bool, name: str) -> tuple[Any, list]:
        gives: list = []

        def adds() -> Iterator[tuple]:
            for adds, give in self._results(handles, name):
                gives.append(give)
                yield adds

        return added(adds()), gives

    def _results(self, handles: list, name: str) -> Iterator[Any]:
        bar = self.bar(name, len(handles))
        chunk, results = None, list[Any]()
        try:
            for handle in handles if bar is None else bar.over(handles):
                if handle.chunk is not chunk:
                    chunk = handle.chunk
                    results, _ = self._result_of(chunk)
                yield results[handle.number]
        except BaseException:
            self.cancel([handle.chunk for handle in handles])
            raise

    def _result_of(self, chunk: Any) -> tuple[list, float]:
        left = self.left()
        try:
            found: tuple[list, float] = self._loaded(
                chunk.result() if left is None else chunk.result(left)
            )
        except BrokenExecutor as error:
            raise self.lost(f"a worker of {type(self.executor).__name__} is lost") from error
        except LateError:
            if left is None or self.left():
                raise  # an item's own
            raise self.late() from None
        return found

    def _loaded(self, result: Any) -> Any:
        return result


class Pool(Threads):
    """Any other executor: concurrent.futures, loky, MPI, ``client.get_executor()``."""

    keeps = False
    shares_memory = False

    def sender(self, task: Callable, common: Any) -> Callable[[list], Any]:
        where, parcel = place_of(self.executor), parcel_of(common)
        copies = parcel.copies()
        sent = 0

        def submit(rows: bytes, buffers: dict) -> Any:
            return self.executor.submit(
                unpickled, task, parcel.blob, parcel.keys, buffers, rows, where
            )

        def send(rows: list) -> Any:
            nonlocal sent
            row = pickled(rows)
            if not copies:
                return submit(row, {})
            sent += 1
            first = submit(row, copies if sent <= self.workers() else {})
            return Sent(first, lambda: submit(row, copies))

        return send

    def _loaded(self, result: bytes) -> Any:
        return pickle.loads(result)


class Sent:
    """Handle of a chunk that is sent again, with the large arrays, if the worker lacks them."""

    __slots__ = ("again", "handle")

    def __init__(self, handle: Any, again: Callable[[], Any]) -> None:
        self.handle, self.again = handle, again

    def result(self, *timeout: float) -> bytes:
        result: bytes = self.handle.result(*timeout)
        if result == LACKING:
            self.handle = self.again()
            result = self.handle.result(*timeout)
        return result

    def cancel(self) -> None:
        if hasattr(self.handle, "cancel"):
            self.handle.cancel()


LACKING = b""  # in place of results: an array was sent to another worker


def unpickled(
    task: Callable, blob: bytes, keys: list, buffers: dict, rows: bytes, where: Any
) -> bytes:
    """Evaluate a chunk, in another process."""
    try:
        common = opened(blob, keys, buffers)
    except KeyError:
        if keys and not buffers:
            return LACKING
        raise
    try:
        return dumps(run_rows(task, common, pickle.loads(rows), where))
    except BaseException as error:
        trim_all(error)  # no door is further out, but a fork has the frames of its parent
        raise


def dumps(x: Any, buffer_callback: Callable | None = None) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(x, 5, buffer_callback=buffer_callback)
    return cloudpickle.dumps(x, 5, buffer_callback=buffer_callback)


def pickled(x: Any) -> bytes:
    """Return ``x`` pickled, or say what to do about a function that cannot be."""
    return _explained(dumps, x)


def parcel_of(x: Any) -> Parcel:
    """As ``pickled``, with large arrays apart."""
    return _explained(lambda x: Parcel(x, dumps), x)


def _explained(pack: Callable, x: Any) -> Any:
    try:
        return pack(x)
    except LostDerivativeError:
        raise
    except Exception as error:
        h = getattr(x, "h", x)
        while hasattr(h, "h"):
            h = h.h
        what = f"{name_of(h.f.x)}, or what it captures," if isinstance(h, Item) else "an item"
        remedy = (
            "pip install cloudpickle, which knows lambdas and functions in functions; or define "
            "the function in a module"
            if sys.modules.get("cloudpickle") is None
            else "leave out what belongs to this process (locks, files, connections), and open it "
            "in the function"
        )
        raise ArgumentTypeError(
            f"{what} cannot be pickled, to be sent to another process, in {user_line()}: "
            f"{error}.\n  {remedy}; or use threads"
        ) from error


def is_threads(executor: Any) -> bool:
    return isinstance(executor, ThreadPoolExecutor)
