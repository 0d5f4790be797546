"""Time several programs side by side, so that a busy machine slows all of them alike."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable


def interleaved(
    programs: dict[str, Callable], rounds: int, seconds: float
) -> dict[str, list[float]]:
    """Return, for each program, its seconds per call in each round.

    A round runs every program once, for about ``seconds``. The next round begins with another
    program, so that none always finds the caches as the same neighbour left them.
    """
    calls = {name: _calls_in(program, seconds) for name, program in programs.items()}
    names = list(programs)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(_time(programs[name], calls[name]) / calls[name])
    return times


def ratio(times: dict[str, list[float]], name: str, other: str) -> float:
    """Return the median over rounds of the time of ``name`` over that of ``other``."""
    pairs = zip(times[name], times[other], strict=True)
    return statistics.median(mine / theirs for mine, theirs in pairs)


def peak_memory(program: Callable) -> int:
    """Return the bytes by which Python's and NumPy's allocations grew at most in one call."""
    program()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        program()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before


def _calls_in(program: Callable, seconds: float) -> int:
    program()
    calls = 1
    while (taken := _time(program, calls)) < seconds / 4:
        calls *= 2
    return max(1, round(calls * seconds / taken))


def _time(program: Callable, calls: int) -> float:
    # The collector stays on, as in a user's program: what it costs is part of the price.
    begin = time.perf_counter()
    for _ in range(calls):
        program()
    return time.perf_counter() - begin
