"""Guard tree: the recordings for one cache key, each found by what its guards saw."""

from collections.abc import Callable, Hashable, Iterator

from .agreement import coarsest
from .quick import Quick, quick
from .record.captured_state import Captured
from .record.recorder import Recorder
from .replay import Missed


class Recording:
    """One way through the function: how it runs again, and where other ways leave it."""

    def __init__(self, recorder: Recorder, run: Callable, how: list[str]) -> None:
        self.run = run
        self.how = how  # in words
        self.by_numpy: Callable | None = None  # makes what gives NumPy's numbers to the last bit
        self.looks = [look for _, look in recorder.looks]
        self.constants = recorder.constants
        self.eps = coarsest(recorder.forms)
        self.others: dict[Missed, Recording] = {}
        self.example: tuple[tuple, dict] | None = None  # arguments that it was recorded with
        self.replayed = 0
        self.checked = False


class Kind:
    """State of one kind of arguments: a tree of recordings, or the reason that there is none."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.root: Recording | None = None
        self.recordings = 0
        self.restarts = 0
        self.forgiven = False  # a first change of what is captured
        self.reason = ""
        self.quick: Quick | None = None  # without the kind, which holds it
        self.asked: Captured | None = None  # with which a quick way was last looked for

    def quickly(self, key: Hashable, args: tuple, values: list) -> Quick | None:
        """Return the quick way for calls of this kind, if there is one."""
        if self.asked is not self.captured:
            self.asked, self.quick = self.captured, quick(self.captured, key, args, values)
        return None if self.quick is None else self.quick._replace(kind=self)

    def all_recordings(self) -> Iterator[Recording]:
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
        lines: dict[str, int] = {}
        kinds: set[str] = set()
        for recording in self.all_recordings():
            for at, _ in recording.others:
                look = recording.looks[at]
                lines[look.line] = lines.get(look.line, 0) + 1
                kinds.add(look.kind)
        most = max(lines, key=lambda line: lines[line], default="an unknown line")
        if kinds & {"float", "value"}:
            return (
                f"there are more than {paths} ways through it: in {most} numbers are handed "
                "to what is not NumPy's, such as math.sin; write np.sin, or cr.adopt() for "
                "the module, or compile what comes before and after by itself"
            )
        return (
            f"there are more than {paths} ways through it, most of which part in {most}, "
            "where it looks at values; compile what does so by itself (@cr.compile), or raise "
            "paths="
        )
