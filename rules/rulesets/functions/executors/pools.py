"""Executors for the items of a map: anything with ``submit``, and threads, which share our memory.

Of an executor nothing is known but ``submit``, so that workers keep nothing: any of them may take
any task. What is sent is pickled here, and once for all items: by cloudpickle where that is
installed, since pickle knows functions by their names only.
"""

import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .....config import LostDerivativeError, user_line
from .....config.progress import long_work
from .....config.tracebacks import trim_all
from .... import name_of
from ..progress import Progress, Shown
from .items import Item
from .tasks import added


class Site(ABC):
    """Base class of executors. ``keeps`` says whether results of tasks may stay with workers."""

    keeps = False
    shares_memory = False

    def __init__(self, progress: bool) -> None:
        self.progress = progress

    @abstractmethod
    def start(self, task: Callable, common: Any, *columns: Sequence) -> list:
        """Start ``task(common, *row)`` for each row of the columns; there may be handles in it."""

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


class Threads(Site):
    """A ``ThreadPoolExecutor``: nothing is pickled, and a tape may stay where it is."""

    keeps = True
    shares_memory = True

    def __init__(self, executor: Any, progress: bool) -> None:
        super().__init__(progress)
        self.executor = executor

    def start(self, task: Callable, common: Any, *columns: Sequence) -> list:
        submit = self.executor.submit
        return [submit(task, common, *map(_result, row)) for row in zip(*columns)]

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
        try:
            for handle in handles if bar is None else bar.over(handles):
                yield handle.result()
        except BaseException:
            for handle in handles:
                handle.cancel()
            raise


def _result(x: Any) -> Any:
    return x.result() if hasattr(x, "add_done_callback") else x


class Pool(Threads):
    """Any other executor: concurrent.futures, loky, MPI, ``client.get_executor()``."""

    keeps = False
    shares_memory = False

    def start(self, task: Callable, common: Any, *columns: Sequence) -> list:
        blob = pickled(common)
        return [self.executor.submit(unpickled, task, blob, pickled(row)) for row in zip(*columns)]

    def _results(self, handles: list, name: str) -> Iterator[Any]:
        return map(pickle.loads, super()._results(handles, name))


def unpickled(task: Callable, blob: bytes, row: bytes) -> bytes:
    try:
        return dumps(task(pickle.loads(blob), *pickle.loads(row)))
    except BaseException as error:
        trim_all(error)  # no door is further out, but a fork has the frames of its parent
        raise


def dumps(x: Any) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(x)
    return cloudpickle.dumps(x)


def pickled(x: Any) -> bytes:
    """Return ``x`` pickled, or say what to do about a function that cannot be.

    Raises
    ------
    TypeError
    """
    try:
        return dumps(x)
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
        raise TypeError(
            f"{what} cannot be pickled, to be sent to another process, in {user_line()}: "
            f"{error}.\n  {remedy}; or use threads"
        ) from error


def is_threads(executor: Any) -> bool:
    return isinstance(executor, ThreadPoolExecutor)
