"""Time several programs side by side, so that a busy machine slows all of them alike."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds of one program in one round, and in all rounds.

    A peer whose first call takes more seconds than ``patience`` is left out.
    """

    rounds: int
    seconds: float
    budget: float
    fewest_rounds: int
    patience: float

    def rounds_of(self, seconds: float) -> int:
        """Return the rounds that a program gets whose turn takes so many seconds."""
        return min(self.rounds, max(self.fewest_rounds, int(self.budget / seconds)))


QUICK = Effort(rounds=5, seconds=0.002, budget=0.1, fewest_rounds=1, patience=4.0)
FULL = Effort(rounds=41, seconds=0.01, budget=0.4, fewest_rounds=2, patience=10.0)


def interleaved(
    programs: dict[Any, Callable], effort: Effort, clock: Callable[[], float] = time.perf_counter
) -> dict[Any, list[float]]:
    """Return, for each program, its seconds per call in each round, by ``clock``.

    A round runs every program once. The next round begins with another program, so that none
    always finds the caches as the same neighbour left them. A slow program takes part in the
    first rounds only.
    """
    calls, rounds = {}, {}
    for name, program in programs.items():
        calls[name], taken = _calls_in(program, effort.seconds, clock)
        rounds[name] = effort.rounds_of(taken)
    names = list(programs)
    times: dict[Any, list[float]] = {name: [] for name in names}
    for turn in range(max(rounds.values())):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if turn < rounds[name]:
                times[name].append(_time(programs[name], calls[name], clock) / calls[name])
    return times


def ratio(times: dict[str, list[float]], name: str, other: str) -> float:
    """Return the median over rounds of the time of ``name`` over that of ``other``."""
    pairs = zip(times[name], times[other], strict=False)
    return statistics.median(mine / theirs for mine, theirs in pairs)


def overhead(times: dict[str, list[float]], name: str, least: str, unit: str) -> float:
    """Return the median of the time of ``name`` above that of ``least``, in times of ``unit``."""
    rounds = zip(times[name], times[least], times[unit], strict=False)
    return statistics.median((mine - own) / theirs for mine, own, theirs in rounds)


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


def _calls_in(program: Callable, seconds: float, clock: Callable[[], float]) -> tuple[int, float]:
    """Return how many calls fill the given time, and the time that they take."""
    calls = 1
    while (taken := _time(program, calls, clock)) < seconds / 4:
        calls *= 2
    turn = max(1, round(calls * seconds / taken))
    return turn, taken * turn / calls


def _time(program: Callable, calls: int, clock: Callable[[], float]) -> float:
    # The collector stays on, as in a user's program: what it costs is part of the price.
    begin = clock()
    for _ in range(calls):
        program()
    return clock() - begin
