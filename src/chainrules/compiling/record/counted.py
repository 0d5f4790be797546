"""Counted integers: arguments such as the number of a step, which are inputs as floats are."""

from ...config.thresholds import COUNTED
from .cache_key import is_counted


class CountedIntegers:
    """Positions of the arguments whose integers are inputs of recordings, and not of the kind.

    An integer that is a size or an option belongs to the kind of a call, and is a constant of its
    recording. One that is another in each call becomes an input: then it is looked at where it
    decides, and nowhere else.
    """

    __slots__ = ("positions", "seen")

    def __init__(self) -> None:
        self.positions: frozenset[int] = frozenset()
        self.seen: dict[int, set[int]] | None = {}  # None when that has failed

    def note(self, args: tuple, counts: bool) -> bool:
        """Note the integers of a call to be recorded; say whether any is an input from now on.

        That is where one was another in some calls; ``counts`` says that these are not replayed.
        """
        if self.seen is None:
            return False
        before = self.positions
        for k, x in enumerate(args):
            if k not in before and is_counted(x):
                values = self.seen.setdefault(k, set())
                if len(values) <= COUNTED:
                    values.add(x)
                if counts and len(values) > COUNTED:
                    self.positions |= {k}
        return self.positions != before

    def give_up(self) -> bool:
        """Let all integers belong to the kind for good; say whether any did not."""
        failed = bool(self.positions)
        if failed:
            self.positions, self.seen = frozenset(), None
        return failed
