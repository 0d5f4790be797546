"""Cluster executor: the workers of a ``dask.distributed.Client`` evaluate the items.

What a task gives stays with its worker, and tasks that need it go there. Every task is pure, so
that what is lost with a worker is computed again, by dask.
"""

import pickle
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from .....config import LostDataError, user_line
from .... import replaced
from ....containers import LEAVES
from .holes import Hole
from .pools import Site, pickled
from .tasks import add_again, add_first, second

# Smaller, what all tasks have in common travels with each; larger, it is the result of a task
# of its own. (Scattered, it could not be made again where it is lost.)
SMALL = 2**16
GROUP = 8  # how many results one task adds up


class Cluster(Site):
    """The workers of a client. A handle is a future of dask's."""

    keeps = True

    def __init__(self, client: Any, progress: bool) -> None:
        super().__init__(progress)
        if client.asynchronous:
            raise TypeError(
                f"a Client with asynchronous=True cannot be waited for, in {user_line()}.\n"
                "  give a Client without"
            )
        LEAVES.add(sys.modules["distributed"].Future)  # in which there is nothing to look for
        self.client = client

    def start(self, task: Callable, common: Any, *columns: Sequence) -> list:
        blob: Any = None if common is None else pickled(common)
        if blob is not None and len(blob) > SMALL:
            blob = self.client.submit(same, blob, pure=False)
        rows = list(zip(*columns))
        if not rows:
            return []
        sealed, futures = zip(*map(seal, rows))
        return self.client.map(
            unsealed, sealed, futures, task=task, common=blob, key=task.__name__, pure=False
        )

    def finish(self, handles: list, name: str) -> list:
        self._watch(handles, name)
        return self._gather(handles)

    def finish_sums(self, handles: list, listed: bool, name: str) -> tuple[Any, list]:
        rest = self.start(second, None, handles) if listed else []
        sums, task = handles, add_first
        while task is add_first or len(sums) > 1:
            groups = [sums[i : i + GROUP] for i in range(0, len(sums), GROUP)]
            sums, task = self.start(task, None, groups), add_again
        self._watch(handles, name)
        (total, *gives) = self._gather([*sums, *rest])
        return total, gives

    def _gather(self, futures: list) -> list:
        try:
            return self.client.gather(futures)
        except CancelledError as error:
            raise LostDataError(
                f"data that an item needs are lost, in {user_line()}: they were scattered, and the "
                "worker that had them is gone. What is computed by a task can be computed again, "
                "and what is scattered cannot.\n"
                "  give futures of tasks that load them: client.map(load, names)"
            ) from error

    def _watch(self, futures: list, name: str) -> None:
        bar = self.bar(name, len(futures))
        if bar is not None:
            from distributed import as_completed

            for _ in bar.over(as_completed(futures)):
                pass


def seal(row: tuple) -> tuple["Sealed", list]:
    """Return the arguments of a task such that dask looks into them only for its futures."""
    futures: list = []

    def hole(x: Any) -> Any:
        if not is_future(x):
            return x
        futures.append(x)
        return FutureHole(len(futures) - 1)

    return Sealed(replaced(hole, row)), futures


class FutureHole(Hole):
    """Placeholder for the result of a future; other holes stand for values of the trace."""

    __slots__ = ()


LEAVES.add(FutureHole)


class Sealed:
    """Arguments of a task, with holes for results of others."""

    __slots__ = ("row",)

    def __init__(self, row: tuple) -> None:
        self.row = row

    def opened(self, results: list) -> tuple:
        def result(x: Any) -> Any:
            return results[x.number] if type(x) is FutureHole else x

        return replaced(result, self.row) if results else self.row


def same(x: Any) -> Any:
    return x


def unsealed(sealed: Sealed, results: list, task: Callable, common: bytes | None) -> Any:
    """Run a task, on the worker."""
    return task(None if common is None else pickle.loads(common), *sealed.opened(results))


def is_client(executor: Any) -> bool:
    """Say so without importing dask: who has a client has imported it."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(executor, distributed.Client)


def is_future(x: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(x, distributed.Future)
