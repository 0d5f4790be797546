"""Form of a row of the tables of refusals."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A code, an error class, and the two sentences of its message.

    Fields in braces are filled in by who refuses; ``{line}`` is the user's.
    """

    code: str
    error: type[Exception]
    cause: str
    remedy: str
