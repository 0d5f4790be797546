"""Timing of several programs side by side, so that a busy machine slows all of them alike."""

import functools
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

Points = Callable[[Any, int], Iterable[tuple]]
"""The arguments of so many calls of a program, made before the calls are timed."""


@dataclass(frozen=True)
class Effort:
    """Length of a measurement: rounds, seconds of one program in one round, and in all rounds.

    A peer whose first call takes more seconds than ``patience`` is left out.
    """

    rounds: int
    seconds: float
    budget: float
    fewest_rounds: int
    patience: float = float("inf")

    def rounds_of(self, seconds: float) -> int:
        """Return the rounds that a program gets whose turn takes so many seconds."""
        return min(self.rounds, max(self.fewest_rounds, int(self.budget / seconds)))


def no_arguments(name: Any, calls: int) -> Iterable[tuple]:
    return repeat((), calls)


def interleaved(
    programs: dict[Any, Callable],
    effort: Effort,
    clock: Callable[[], float] = time.perf_counter,
    points: Points = no_arguments,
) -> dict[Any, list[float]]:
    """Return, for each program, its seconds per call in each round, by ``clock``.

    A round runs every program once. The next round begins with another program, so that none
    always finds the caches as the same neighbour left them. A slow program takes part in the
    first rounds only.
    """
    calls, rounds = {}, {}
    for name, program in programs.items():
        given = functools.partial(points, name)
        calls[name], taken = _calls_in(program, effort.seconds, clock, given)
        rounds[name] = effort.rounds_of(taken)
    names = list(programs)
    times: dict[Any, list[float]] = {name: [] for name in names}
    for turn in range(max(rounds.values())):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if turn < rounds[name]:
                taken = seconds_of(programs[name], points(name, calls[name]), clock)
                times[name].append(taken / calls[name])
    return times


def ratio(times: dict[Any, list[float]], name: Any, other: Any) -> float:
    """Return the median over rounds of the time of ``name`` over that of ``other``."""
    pairs = zip(times[name], times[other], strict=False)
    return statistics.median(mine / theirs for mine, theirs in pairs)


def seconds_of(
    program: Callable, given: Iterable[tuple], clock: Callable[[], float] = time.process_time
) -> float:
    """Return the seconds that a call with each of these arguments takes, all together."""
    # The collector stays on, as in a user's program: what it costs is part of the price.
    begin = clock()
    for args in given:
        program(*args)
    return clock() - begin


def _calls_in(
    program: Callable,
    seconds: float,
    clock: Callable[[], float],
    given: Callable[[int], Iterable[tuple]],
) -> tuple[int, float]:
    """Return how many calls fill the given time, and the time that they take."""
    calls = 1
    while (taken := seconds_of(program, given(calls), clock)) < seconds / 4:
        calls *= 2
    turn = max(1, round(calls * seconds / taken))
    return turn, taken * turn / calls
