"""Finds repetition in a straight line of operations: where ``code[i] == code[i + period]``.

A loop of Python, recorded, is a long straight line; its machine code would be as long. A run
``(start, period, times)`` says that the operations from ``start`` on are one body of ``period``
operations done ``times`` times. It only says so of the codes; what each operand is in each
repetition is seen by :mod:`.numbers`. Exact for any program, since a run is but an encoding of it:
``abcabcabc`` is (0, 3, 3).
"""

from typing import NamedTuple

import numpy as np

from ..limits import CANDIDATES, GRAM, LONGEST_BODY, WORTH_A_LOOP

Ints = np.ndarray


class RepeatedRun(NamedTuple):
    """``times`` repetitions of the ``period`` operations from ``start`` on."""

    start: int
    period: int
    times: int

    @property
    def end(self) -> int:
        return self.start + self.period * self.times


def find_runs(codes: Ints) -> list[RepeatedRun]:
    """Runs that do not overlap, in order; first those that save most, then in what is left."""
    found: list[RepeatedRun] = []
    pending = [(0, len(codes))]
    while pending:
        low, high = pending.pop()
        at = low
        for run in _best(codes[low:high], low):
            # The end of one run may belong to the next as well.
            late = -(-(max(at - run.start, 0)) // run.period)
            run = RepeatedRun(run.start + late * run.period, run.period, run.times - late)
            if run.times < 2 or (run.times - 1) * run.period < WORTH_A_LOOP // 2:
                continue
            found.append(run)
            if run.start - at >= WORTH_A_LOOP:
                pending.append((at, run.start))
            at = run.end
        if low < at and high - at >= WORTH_A_LOOP:
            pending.append((at, high))
    return sorted(found)


def _best(codes: Ints, first: int) -> list[RepeatedRun]:
    """The runs of the period that leaves the least code."""
    n = len(codes)
    if n < WORTH_A_LOOP:
        return []
    least, best = n, []
    for period in _periods(codes):
        equal = codes[:-period] == codes[period:]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], equal.view(np.int8), [0]))))
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        counts = lengths // period + 1
        good = (counts - 1) * period >= WORTH_A_LOOP // 2
        left = n - int(((counts[good] - 1) * period).sum())
        if left < least:
            runs = zip((starts[good] + first).tolist(), counts[good].tolist())
            least, best = left, [RepeatedRun(start, period, times) for start, times in runs]
    return best


def _periods(codes: Ints) -> list[int]:
    """Distances between equal stretches of a few operations: those that cover most, and most."""
    n = len(codes)
    gram = min(GRAM, max(1, n // 8))
    hashed = np.zeros(n - gram + 1, np.int64)
    for k in range(gram):
        hashed = hashed * 1000003 + codes[k : n - gram + 1 + k] * 7919 + 17
    order = np.argsort(hashed, kind="stable")
    ordered = hashed[order]
    gaps = np.diff(order)[ordered[1:] == ordered[:-1]]
    gaps = gaps[gaps <= min(LONGEST_BODY, n // 2)]
    values, counts = np.unique(gaps, return_counts=True)
    by_cover = values[np.argsort(-counts * values)[:12]]
    by_count = values[np.argsort(-counts)[:6]]
    return list(dict.fromkeys(np.concatenate((by_cover, by_count)).tolist()))[:CANDIDATES]
