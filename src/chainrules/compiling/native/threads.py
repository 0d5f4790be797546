"""Thread pool of kernels: it calls a kernel piece by piece, on several threads at once.

A piece is so many rows of the outermost axis, however many threads there are. The kernel lets go of
the interpreter's lock. Outputs are written by each piece at its own rows; of what is reduced over
the rows each piece gives a part, and the parts are put together in their order: so the numbers do
not depend on who did what.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .arrays.axes import AxisPieces
from .assembly.reductions import REDUCTIONS
from .request import NativeProgram


class InPieces:
    """A kernel as a function that does its pieces on ``threads`` threads, the caller's among them.

    Examples
    --------
    >>> from chainrules.compiling.native import Input, Operation, Output, Request, build
    >>> inputs, ops = [Input("f8", (1,))], [Operation("add", (0, 0))]
    >>> double = build(Request((200_000,), inputs, ops, [Output(1, (1,))]), threads=2)
    >>> y = np.empty(200_000)
    >>> double(np.arange(200_000.0), y)
    >>> y[-1]
    np.float64(399998.0)
    """

    def __init__(
        self, kernel: Callable, program: NativeProgram, pieces: AxisPieces, threads: int
    ) -> None:
        self.kernel = kernel
        self.ranges = pieces.ranges()
        self.threads = min(threads, len(self.ranges))
        places = program.argument_of_output()
        #: arguments of which each piece gives a part, and how parts become one
        self.joined: dict[int, np.ufunc] = {}
        for j in pieces.partial:
            reduce = program.outputs[j].reduce
            assert reduce is not None
            self.joined[places[j]] = getattr(np, REDUCTIONS[reduce].op)

    def __call__(self, *args: Any) -> None:
        parts = {k: np.empty((len(self.ranges), args[k].size), args[k].dtype) for k in self.joined}
        waiting = iter(enumerate(self.ranges))

        def work() -> None:
            given = list(args)
            for number, rows in waiting:
                for k, of_pieces in parts.items():
                    given[k] = of_pieces[number]
                self.kernel(*given, *rows)

        share(work, self.threads)
        for k, of_pieces in parts.items():
            self.joined[k].reduce(of_pieces, axis=0, out=args[k].reshape(-1, order="A"))


def share(work: Callable[[], None], threads: int) -> None:
    """Do ``work`` on several threads, the caller's among them, until all have done it.

    Where there are no others any more, since the interpreter ends, the caller does it all.
    """
    try:
        pool = _pool(threads - 1, os.getpid())
        helpers = [pool.submit(work) for _ in range(threads - 1)]
    except RuntimeError:
        helpers = []
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process: a fork has none of those of its parent."""
    return ThreadPoolExecutor(threads, "chainrules")
