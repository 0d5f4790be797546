"""Chunks of a map: rows that travel to a worker, and whose results come back, as one task.

A task of its own costs an executor a tenth of a millisecond, and a cluster ten times that. So rows
that take less are joined, as many as ``chunksize`` says, or as the time of the first ones tells.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .....config.thresholds import CHUNK_SECONDS
from ....containers import LEAVES


class RowHandle:
    """Handle of the result of one row, in that of its chunk."""

    __slots__ = ("chunk", "number")

    def __init__(self, chunk: Any, number: int) -> None:
        self.chunk, self.number = chunk, number


LEAVES.add(RowHandle)


def sizes(
    rows: Sequence[tuple], given: int | None, workers: int, seconds: Callable[[], float]
) -> Iterator[int]:
    """Yield how many of the rows that are left go into the next chunk.

    Parameters
    ----------
    rows : sequence of tuple
        Those that begin with a ``RowHandle`` go together as they went before.
    given : int, optional
        The number that the user asked for.
    workers : int
        How many chunks are evaluated at once.
    seconds : callable
        Waits for the last chunk but ``workers - 1``, and says what each of its rows took.
    """
    if rows and type(rows[0][0]) is RowHandle:
        yield from _as_before(rows)
        return
    left, size = len(rows), given or 1
    if given is None and left > 4 * workers:
        for _ in range(2):  # the first rows may have to load what the others find there
            for _ in range(workers):
                yield size
            left -= workers * size
            size = max(1, min(int(CHUNK_SECONDS / max(seconds(), 1e-9)), left // (4 * workers)))
            if size == 1:
                break
    while left > 0:
        yield min(size, left)
        left -= size


def _as_before(rows: Sequence[tuple]) -> Iterator[int]:
    size, chunk = 0, rows[0][0].chunk
    for first, *_ in rows:
        if first.chunk is not chunk:
            yield size
            size, chunk = 0, first.chunk
        size += 1
    yield size


def run_rows(task: Callable, common: Any, rows: Sequence[tuple], where: Any) -> tuple[list, float]:
    """Evaluate a chunk, on the worker; return the results, and what a row took."""
    begun = time.perf_counter()
    with _inside(where):
        results = [task(common, *row) for row in rows]
    return results, (time.perf_counter() - begun) / max(len(rows), 1)


# ---- maps inside of items: an executor that waits for itself would wait for ever ----------------

_here = threading.local()


def place_of(executor: Any) -> tuple[int, int]:
    """Return what tells an executor from others, in all processes."""
    return id(executor), os.getpid()


@contextlib.contextmanager
def _inside(where: Any) -> Iterator[None]:
    before = getattr(_here, "executors", ())
    _here.executors = (*before, where)
    try:
        yield
    finally:
        _here.executors = before


def is_inside(where: Any) -> bool:
    """Say whether this thread evaluates an item for the executor at that place."""
    return where in getattr(_here, "executors", ())


def is_memory_own() -> bool:
    """Say whether items are in the memory of a worker alone, where tasks do not write to them."""
    executors = getattr(_here, "executors", ())
    return bool(executors) and all(process != os.getpid() for _, process in executors)
