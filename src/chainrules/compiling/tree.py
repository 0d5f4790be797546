"""Guard tree: the recordings for one cache key, each found by what its guards saw."""

import enum
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from ..config.thresholds import STREAK
from .agreement import coarsest
from .ir.looks import NUMBERS_SEEN, Look
from .passes.replay import Missed
from .quick import Quick, quick
from .record.recorder import Recorder
from .record.state.captured_state import Captured


class RecordedPath:
    """One way through the function: how it runs again, and where other ways leave it."""

    def __init__(self, recorder: Recorder, run: Callable, how: list[str]) -> None:
        self.run = run
        self.how = how  # in words
        self.by_numpy: Callable | None = None  # makes what gives NumPy's numbers to the last bit
        self.looks = recorder.looks
        self.constants = recorder.constants
        self.eps = coarsest(step.form for step in recorder.steps)
        self.others: dict[Missed, RecordedPath] = {}
        self.example: tuple[tuple, dict] | None = None  # arguments that it was recorded with
        self.replayed = 0
        self.checked = False
        # The replay that is compared with the function next: 1, FIRST_REVIEW, then twice as late.
        self.review = 1
        self.seconds = 0.0  # of CPU time that a replay took when it was tried
        self.cost = 0.0  # seconds that it took to be made
        self.comparing = 0.0  # seconds that it takes to compare what is captured
        self.saves = 0.0  # seconds that the function takes longer than a replay

    def settle(self, cost: float, eager: float | None, comparing: float) -> None:
        """Note what it cost to be made, where the time that the function takes is known."""
        self.comparing = comparing
        if eager is not None:
            self.cost, self.saves = cost - eager, eager - self.seconds - comparing

    def settle_again(self, eager: float) -> None:
        """Note the time of the function once more: the first time is that of a cold cache."""
        self.saves = min(self.saves, eager - self.seconds - self.comparing)

    @property
    def loss(self) -> float:
        return self.cost - self.replayed * self.saves


class State(enum.Enum):
    """State of a cache entry: whether it has recordings, and whether it takes more."""

    NEW = "new"  # no recording yet: the next call makes one
    RECORDED = "recorded"  # calls are replayed; one that goes another way is recorded
    FULL = "full"  # calls are replayed; one that goes another way runs as it is
    REFUSED = "refused"  # all calls run as they are, for ``reason``


#: What follows on each event, which is a method of :class:`CacheEntry`. Another thread may add a
#: recording to an entry that has been closed or refused since.
TRANSITIONS: dict[State, dict[str, State]] = {
    State.NEW: {
        "add": State.RECORDED, "restart": State.NEW, "drop": State.NEW,
        "recapture": State.NEW, "close": State.REFUSED, "refuse": State.REFUSED,
    },
    State.RECORDED: {
        "add": State.RECORDED, "restart": State.NEW, "drop": State.NEW,
        "close": State.FULL, "refuse": State.REFUSED,
    },
    State.FULL: {
        "add": State.FULL, "drop": State.REFUSED, "close": State.FULL, "refuse": State.REFUSED,
    },
    State.REFUSED: {
        "add": State.FULL, "recapture": State.NEW, "drop": State.REFUSED, "close": State.REFUSED,
        "refuse": State.REFUSED,
    },
}  # fmt: skip


class CacheEntry:
    """Cache entry for one kind of arguments: a tree of recordings, or the reason for none.

    Its state is that of ``root``, the first recording, and of ``reason``, why no more are made.
    Events change these two; ``TRANSITIONS`` says to which state.
    """

    def __init__(self, captured: Captured | None, reason: str = "") -> None:
        self.captured: Any = captured  # None where that cannot be said, for ``reason``
        self.root: RecordedPath | None = None
        # The one that answers call after call is tried before the root.
        self.first: RecordedPath | None = None
        self.latest: RecordedPath | None = None  # which answered the last ``streak`` calls and one
        self.streak = 0
        self.recordings = 0
        self.attempts = 0  # recordings that were begun
        self.lost = 0.0  # seconds of those that came to nothing, or are there no more
        self.restarts = 0
        self.forgiven = False  # a first change of what is captured
        self.reason = reason
        self.quick: Quick | None = None  # without the entry, which holds it
        self.asked: Captured | None = None  # with which a quick way was last looked for

    @property
    def state(self) -> State:
        if self.root is None:
            return State.REFUSED if self.reason else State.NEW
        return State.FULL if self.reason else State.RECORDED

    def replay(self, values: list) -> tuple[RecordedPath | None, Any]:
        """Return the recording that answers the call, and its answer; None where there is none."""
        first = self.first
        if first is not None:
            if not first.constants.changed():
                missed, y = first.run(values)
                if missed is None:
                    return first, y
            self.first, self.latest = None, None
        at = self.root
        while at is not None and not at.constants.changed():
            missed, y = at.run(values)
            if missed is None:
                if at is not self.latest:
                    self.latest, self.streak = at, 0
                elif at is not self.root:
                    self.streak += 1
                    if self.streak >= STREAK:
                        self.first = at
                return at, y
            at = at.others.get(missed)
        return None, None

    def add(self, recording: RecordedPath, values: list) -> None:
        """Put a recording into the tree, at the look where the others leave its way."""
        self.recordings += 1
        if self.root is None:
            self.root = recording
            return
        at = self.root
        while True:
            missed, _ = at.run(values)
            if missed is None:
                return  # another thread was faster
            found = at.others.setdefault(missed, recording)
            if found is recording:
                return
            at = found

    def restart(self, captured: Captured | None, reason: str) -> None:
        """Begin anew, with what is captured now; with a ``reason`` the entry is refused."""
        self._let_go()
        self.recordings = 0
        self.captured, self.reason, self.forgiven = captured, reason, False

    def recapture(self, captured: Captured | None, reason: str) -> None:
        """Go on, once, without recordings, after the function has changed what it captures."""
        self.captured, self.reason, self.forgiven = captured, reason, True

    def drop(self) -> None:
        """Let go of the recordings, since the function has effects that replays would not have."""
        self._let_go()

    def close(self, reason: str) -> None:
        """Make no more recordings; those that there are stay."""
        self.reason = reason

    def refuse(self, reason: str) -> None:
        """Let go of the recordings, and make no more."""
        self._let_go()
        self.reason = reason

    def _let_go(self) -> None:
        self.lost, self.root = self.loss(), None
        self.first, self.latest = None, None

    def loss(self) -> float:
        """Return the seconds that recordings took, less those that replays have saved."""
        return self.lost + sum(recording.loss for recording in self.all_recordings())

    def quickly(self, key: Hashable, args: tuple, values: list) -> Quick | None:
        """Return the quick way for calls of this kind, if there is one."""
        if self.asked is not self.captured:
            self.asked, self.quick = self.captured, quick(self.captured, key, args, values)
        return None if self.quick is None else self.quick._replace(entry=self)

    def all_recordings(self) -> Iterator[RecordedPath]:
        """Yield the recordings of the tree, the first one first."""
        left = [] if self.root is None else [self.root]
        while left:
            recording = left.pop()
            yield recording
            left += recording.others.values()

    def changed(self) -> str | None:
        """Say what is not what it was when the recordings were made, if anything is."""
        changed = self.captured.changed()
        if changed:
            return changed
        return next(filter(None, (x.constants.changed() for x in self.all_recordings())), None)

    def too_many(self, paths: int) -> str:
        """Say that there are more ways than ``paths``, and where most of them part."""
        look = self._most_parting()
        remedy = ", or raise paths=" if look is None or look.kind not in NUMBERS_SEEN else ""
        return f"there are more than {paths} ways through it: {self.parting()}{remedy}"

    def parting(self) -> str:
        """Say where most ways part, and what to write instead."""
        look = self._most_parting()
        if look is None:
            changed = self.changed() or "what it captures is another in nearly each call"
            return f"{changed}; give it as an argument"
        why, remedy = look.cause()
        return f"most of them part in {look.line}, where {why}; {remedy}"

    def _most_parting(self) -> Look | None:
        """Return the look that most ways part at, or one of the same line at a number."""
        looks = list(self._parting_looks())
        lines = Counter(look.line for look in looks)
        return max(
            looks, key=lambda look: (lines[look.line], look.kind in NUMBERS_SEEN), default=None
        )

    def _parting_looks(self) -> Iterator[Look]:
        for recording in self.all_recordings():
            for at, _ in recording.others:
                yield recording.looks[at]
