"""Loss of a compiled function: the time of its recordings, less what replays have saved.

Where that is more than a function may lose, calls that would be recorded run as they are; what is
recorded is replayed, and may earn the next recording.
"""

import inspect
import time
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any

import numpy as np

from ..config.thresholds import (
    CACHE_ENTRIES,
    FEW_RECORDINGS,
    LOSS_ALLOWED,
    RECONSIDERED,
    SLOWER,
    WASTED_KINDS,
)
from .ir.looks import NotRecordable
from .record.cache_key import signature
from .tree import CacheEntry, RecordedPath


class Losses:
    """Decision which calls of a compiled function are not recorded, by what that has cost so far.

    Its invariant: after a few recordings that are hardly replayed, a kind of arguments is recorded
    only when it comes again, so that lengths which are new at each call cost no more of them.
    """

    def __init__(self) -> None:
        self.declined = 0  # calls that were not recorded, since that has cost too much
        self.reason = ""  # why, which is said once
        self.met: dict[int, None] = {}  # by hash: keys that came once

    def waits(self, key: Hashable, entries: Collection[CacheEntry]) -> bool:
        """Say whether a key that is not recorded yet has to come again."""
        if hash(key) in self.met:
            del self.met[hash(key)]
            return False
        if not is_hardly_replayed(entries, FEW_RECORDINGS):
            return False
        if len(self.met) >= CACHE_ENTRIES:
            del self.met[next(iter(self.met))]
        self.met[hash(key)] = None
        return True

    def declines(
        self,
        f: Callable,
        key: Hashable,
        entries: list[CacheEntry],
        entry: CacheEntry | None,
        call: tuple,
    ) -> bool:
        """Say whether a call, its arguments and keywords, is not recorded, for ``reason``.

        That is where recordings have lost time, or there were many kinds, and fewer replays.
        """
        again = hash(key) in self.met
        if again or self.declined % RECONSIDERED == 0:
            many = not again and len(entries) + len(self.met) >= WASTED_KINDS
            if not loses_time(entries, entry) and not (
                many and is_hardly_replayed(entries, FEW_RECORDINGS)
            ):
                self.declined = 0
                return False
            self.reason = self.reason or why_it_loses(f, entries, entry, *call)
        self.declined += 1
        return True


def loses_time(entries: Collection[CacheEntry], entry: CacheEntry | None) -> bool:
    """Say whether recordings have taken more time than they saved, and than is allowed.

    The first few may take that time each, on ways through one ``entry`` that part.
    """
    attempts, lost = sum(e.attempts for e in entries), sum(e.loss() for e in entries)
    if entry is not None and entry.recordings > 1 and lost > FEW_RECORDINGS * LOSS_ALLOWED:
        return True
    return attempts >= FEW_RECORDINGS and lost > LOSS_ALLOWED


def is_hardly_replayed(entries: Collection[CacheEntry], fewest: int) -> bool:
    """Say whether there are so many recordings at least, and fewer replays."""
    made = [path for entry in entries for path in entry.all_recordings()]
    return len(made) >= fewest and sum(path.replayed for path in made) < len(made)


def why_it_loses(
    f: Callable,
    entries: Collection[CacheEntry],
    entry: CacheEntry | None,
    args: tuple,
    kwargs: dict,
) -> str:
    """Say what makes a function be recorded anew, and what to write instead.

    ``entry`` is that of the call, if it has one yet.
    """
    if not any(other.recordings for other in entries):
        reasons = (other.reason for other in entries if other.reason)
        return next(reasons, "recording it took longer than was saved")
    begin = "nearly each call was recorded anew, which took longer than replays have saved"
    if entry is not None and entry.root is not None:
        return f"{begin}: {entry.parting()}"
    examples = [path.example for other in entries for path in other.all_recordings()]
    example = next((x for x in reversed(examples) if x is not None), None)
    changes = [] if example is None else list(_changes(f, example, (args, kwargs)))
    if not changes:
        changes = [
            "integers, texts, lengths or options among its arguments are others; give a number "
            "that changes as a float (float(t)), pad arrays to a few lengths, or compile what does "
            "not see these"
        ]
    return f"{begin}: {'; '.join(changes)}"


def slower_replays(recording: RecordedPath, replay: Callable[[], Any], f: Callable[[], Any]) -> str:
    """Say why a recording is not replayed any more, if that loses time; "" where it does not.

    A ``replay`` is a whole call, which compares what is captured. What was measured once may have
    been a moment of a busy machine: it is measured anew.
    """
    if recording.saves >= 0 or recording.loss <= LOSS_ALLOWED:
        return ""
    seconds, eager = fastest(replay), fastest(f)
    recording.saves = eager - seconds
    if recording.loss <= LOSS_ALLOWED or seconds < SLOWER * eager:
        return ""
    how = "; ".join(recording.how)
    remedy = "compile a function that does more of the work"
    if recording.comparing > eager:
        how = f"{1e6 * recording.comparing:.3g} us to compare what it captures"
        remedy = 'give what changes as an argument, and write captured="freeze"'
    return (
        f"a replay takes {1e6 * seconds:.3g} us and the function {1e6 * eager:.3g} us ({how}); "
        f"{remedy}"
    )


def fastest(f: Callable[[], Any]) -> float:
    """Return the seconds of CPU time that ``f`` takes, at its fastest."""
    return min(timed(f)[1] for _ in range(3))


def timed(f: Callable[[], Any]) -> tuple[Any, float]:
    """Return what ``f`` gives, and the seconds of CPU time that it took."""
    begin = time.thread_time()
    y = f()
    return y, time.thread_time() - begin


def _changes(f: Callable, before: tuple, now: tuple) -> Iterator[str]:
    """Yield what is of another kind among the arguments of two calls."""
    names = _names_of_arguments(f)
    pairs = [
        (names[k] if k < len(names) else f"number {k + 1}", a, b)
        for k, (a, b) in enumerate(zip(before[0], now[0], strict=False))
    ]
    pairs += [(name, before[1][name], b) for name, b in now[1].items() if name in before[1]]
    if len(before[0]) != len(now[0]) or before[1].keys() != now[1].keys():
        yield "other arguments are given; write a function for each set of them"
    for name, a, b in pairs:
        if _cache_key_of(a) != _cache_key_of(b):
            yield f"argument {name} {_change(a, b)}"


def _names_of_arguments(f: Callable) -> list[str]:
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):  # of a function in C
        return []


def _cache_key_of(x: Any) -> Any:
    try:
        return signature((x,), {})[0]
    except NotRecordable as error:
        return str(error)


def _change(a: Any, b: Any) -> str:
    if isinstance(b, np.ndarray) and isinstance(a, np.ndarray):
        if a.shape != b.shape:
            return (
                f"has shape {a.shape} and then {b.shape}; pad arrays to a few lengths, or compile "
                "what does not see the length"
            )
        if a.dtype != b.dtype:
            return f"is of dtype {a.dtype} and then of {b.dtype}; convert it before the call"
        return "lies in memory in another order; give np.ascontiguousarray of it"
    if type(a) is int and type(b) is int:
        return f"is the integer {a} and then {b}; give a number that changes as a float (float(t))"
    if type(a) is str and type(b) is str:
        return "is another text; compile a function for each"
    if callable(b):
        return "is another function; make it once, outside of the calls"
    return (
        f"is another {type(b).__name__}; make it once, outside of the calls, or give its numbers "
        "as floats or arrays"
    )
