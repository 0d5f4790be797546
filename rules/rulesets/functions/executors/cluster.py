"""Cluster executor: the workers of a ``dask.distributed.Client`` evaluate the items.

What a task gives stays with its worker, and tasks that need it go there. Every task is pure, so
that what is lost with a worker is computed again, by dask.
"""

import collections
import itertools
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from .....config import ArgumentTypeError, LostDataError, user_line
from .....config.thresholds import BLOB_OF_A_TASK, CHUNKS_ADDED
from .... import replaced
from ....containers import LEAVES
from .chunks import RowHandle, place_of, run_rows
from .holes import Hole
from .parcels import opened
from .pools import Site, parcel_of
from .tasks import add_again, add_first, second


class Cluster(Site):
    """The workers of a client. A chunk is a future of dask's."""

    keeps = True

    def __init__(self, client: Any, progress: bool) -> None:
        super().__init__(client, progress)
        if client.asynchronous:
            raise ArgumentTypeError(
                f"a Client with asynchronous=True cannot be waited for, in {user_line()}.\n"
                "  give a Client without"
            )
        LEAVES.add(sys.modules["distributed"].Future)  # in which there is nothing to look for
        self.client = client
        if self._is_closed():
            raise LostDataError(
                f"a Client that is closed has no workers any more, in {user_line()}.\n"
                "  close it after the map; make a new one"
            )

    def workers(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def sender(self, task: Callable, common: Any) -> Callable[[list], Any]:
        submit, where = self.client.submit, place_of(self.client)
        parcel = None if common is None else parcel_of(common)
        blob: Any = None if parcel is None else parcel.blob
        if blob is not None and len(blob) > BLOB_OF_A_TASK:
            # Scattered, it could not be made again where it is lost.
            blob = submit(same, blob, pure=False)
        memory = parcel.copies() if parcel is not None else {}
        buffers = {key: submit(same, part, pure=False) for key, part in memory.items()}
        keys = [] if parcel is None else parcel.keys

        def send(rows: list) -> Any:
            sealed, futures = seal(tuple(rows))
            given = [*futures, *buffers.values()]
            name = f"{task.__name__}-{uuid.uuid4().hex}"  # by which dask's pages call the task
            return submit(
                unsealed, sealed, given, task=task, common=blob, keys=keys, sent=[*buffers],
                where=where, key=name, pure=False,
            )  # fmt: skip

        return send

    def seconds_of(self, chunk: Any) -> float:
        (seconds,) = self._gather([self.client.submit(second, None, chunk, pure=False)])
        return float(seconds)

    def cancel(self, chunks: list) -> None:
        if not self._is_closed():  # and with it all its tasks
            self.client.cancel([chunk for chunk in chunks if is_future(chunk)])

    def _is_closed(self) -> bool:
        return self.client.status in ("closing", "closed")

    def finish(self, handles: list, name: str) -> list:
        self._watch(handles, name)
        return self._results(handles)

    def finish_sums(self, handles: list, listed: bool, name: str) -> tuple[Any, list]:
        rest = self.start(second, None, handles) if listed else []
        sums, task = [[*part] for _, part in itertools.groupby(handles, _chunk_of)], add_first
        send_first, send_again = self.sender(add_first, None), self.sender(add_again, None)
        while task is add_first or len(sums) > 1:
            send = send_first if task is add_first else send_again
            groups = [sums[i : i + CHUNKS_ADDED] for i in range(0, len(sums), CHUNKS_ADDED)]
            sums = [[RowHandle(send([([*itertools.chain(*group)],)]), 0)] for group in groups]
            task = add_again
        self._watch(handles, name)
        total, *gives = self._results([sums[0][0], *rest])
        return total, gives

    def _results(self, handles: list) -> list:
        chunks = list({id(handle.chunk): handle.chunk for handle in handles}.values())
        found = dict(zip(map(id, chunks), self._gather(chunks)))
        return [found[id(handle.chunk)][0][handle.number] for handle in handles]

    def _gather(self, futures: list) -> list:
        left = self.left()
        try:
            if left is not None:
                sys.modules["distributed"].wait(futures, timeout=left)
            return self.client.gather(futures)
        except BaseException as error:
            self.cancel(futures)
            if left is not None and not self.left() and isinstance(error, TimeoutError):
                raise self.late() from None
            if self._is_closed() and isinstance(error, Exception):
                raise LostDataError(
                    f"the client of a cluster was closed before its items were done, in "
                    f"{user_line()}.\n  close it, and the cluster, after the map; make a new one"
                ) from error
            if type(error).__name__ == "KilledWorker":
                raise self.lost("workers that evaluated an item are lost, several times") from error
            if isinstance(error, CancelledError):
                raise LostDataError(
                    f"data that an item needs are lost, in {user_line()}: the cluster was "
                    "restarted, or they were scattered, and the worker that had them is gone. What "
                    "is computed by a task can be computed again, and what is scattered cannot.\n"
                    "  give futures of tasks that load them: client.map(load, names)"
                ) from error
            raise

    def _watch(self, handles: list, name: str) -> None:
        bar = self.bar(name, len(handles))
        if bar is not None:
            from distributed import as_completed

            rows = collections.Counter(handle.chunk.key for handle in handles)
            chunks = list({handle.chunk.key: handle.chunk for handle in handles}.values())
            done = (key for chunk in as_completed(chunks) for key in [chunk.key] * rows[chunk.key])
            for _ in bar.over(done):
                pass


def _chunk_of(handle: RowHandle) -> Any:
    return handle.chunk.key


def seal(rows: tuple) -> tuple["Sealed", list]:
    """Return the arguments of a task such that dask looks into them only for its futures."""
    futures: dict[str, Any] = {}

    def hole(x: Any) -> Any:
        part = type(x) is RowHandle
        if not (part or is_future(x)):
            return x
        future = x.chunk if part else x
        number = [*futures].index(future.key) if future.key in futures else len(futures)
        futures[future.key] = future
        return FutureHole(number, x.number if part else None)

    return Sealed(replaced(hole, rows)), [*futures.values()]


class FutureHole(Hole):
    """Placeholder for the result of a future, or of a row of it; other holes are for the trace."""

    __slots__ = ("row",)

    def __init__(self, number: int, row: int | None) -> None:
        super().__init__(number)
        self.row = row


LEAVES.add(FutureHole)


class Sealed:
    """Rows of arguments of a task, with holes for results of others."""

    __slots__ = ("rows",)

    def __init__(self, rows: tuple) -> None:
        self.rows = rows

    def opened(self, results: list) -> tuple:
        def result(x: Any) -> Any:
            if type(x) is not FutureHole:
                return x
            found = results[x.number]
            return found if x.row is None else found[0][x.row]

        return replaced(result, self.rows) if results else self.rows


def same(x: Any) -> Any:
    return x


def unsealed(
    sealed: Sealed,
    results: list,
    task: Callable,
    common: bytes | None,
    keys: list,
    sent: list,
    where: tuple[int, int],
) -> Any:
    """Run a chunk, on the worker."""
    count = len(results) - len(sent)
    buffers = dict(zip(sent, results[count:], strict=True))
    given = None if common is None else opened(common, keys, buffers)
    return run_rows(task, given, sealed.opened(results[:count]), where)


def is_client(executor: Any) -> bool:
    """Say so without importing dask: who has a client has imported it."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(executor, distributed.Client)


def is_future(x: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(x, distributed.Future)


def is_in_task() -> bool:
    """Say whether this thread runs a task of a cluster's."""
    worker = sys.modules.get("distributed.worker")
    return worker is not None and hasattr(worker.thread_state, "execution_state")
