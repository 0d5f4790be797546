"""Number of programs that a test is given, and texts that these are drawn from.

What else hypothesis is told is in ``conftest.py``.
"""

from hypothesis import settings


def always_the_same(count):
    """Return the decorator of a test that is given ``count`` programs."""
    return settings(max_examples=count)


def table(text):
    """Return the entries of a text, between bars and ends of lines."""
    return [entry for line in text.split("\n") for entry in line.split("|") if entry]
