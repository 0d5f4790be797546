"""Progress bars of long loops: by tqdm, which is imported where one is asked for."""

from collections.abc import Iterable, Iterator
from typing import Any

from ....config import MissingPackageError, user_line
from ....config.progress import LongWork


def tqdm_for(name: str) -> Any:
    """Return the class of tqdm's bars.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; ``name`` is what was to show a bar.
    """
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise MissingPackageError(
            f"{name}(..., progress=True) needs tqdm, which is not installed, in {user_line()}."
            '\n  pip install "chainrules[progress]", or leave out progress',
            name="tqdm",
        ) from error
    return tqdm


class Progress:
    """A bar that counts steps, or items, those that a pullback evaluates again among them.

    Engines do not look into it: it has no fields that they could follow.
    """

    __slots__ = ("bar",)

    def __init__(self, name: str, steps: int, unit: str = "steps") -> None:
        self.bar = tqdm_for(name)(total=steps, desc=name, unit=f" {unit}")

    def over(self, items: Iterable) -> Iterator[Any]:
        """Yield the items, and count each when the next one is asked for."""
        is_done = False
        try:
            for item in items:
                yield item
                self.bar.update()
            is_done = self.bar.n < self.bar.total
        finally:
            if not is_done:
                self.bar.close()

    def expect(self, steps: int) -> None:
        """Say that there will be so many steps more."""
        self.bar.total += steps


Shown = Progress | LongWork


def bar_of(progress: Shown | bool | None, name: str, steps: int) -> Shown | None:
    """Return the bar that is asked for, or given."""
    return progress if isinstance(progress, Shown) else Progress(name, steps) if progress else None


def counted(items: Iterable, progress: Shown | None) -> Iterable:
    return items if progress is None else progress.over(items)
