"""Efforts of a run, overhead and peak memory; the rounds are in ``chainrules._price.timing``."""

import gc
import statistics
import tracemalloc
from collections.abc import Callable

from chainrules._price.timing import Effort, interleaved, ratio

__all__ = ["FULL", "QUICK", "Effort", "interleaved", "overhead", "peak_memory", "ratio"]

QUICK = Effort(rounds=5, seconds=0.002, budget=0.1, fewest_rounds=1, patience=4.0)
FULL = Effort(rounds=41, seconds=0.01, budget=0.4, fewest_rounds=2, patience=10.0)


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
