"""Number of programs that a test is given; what else hypothesis is told is in ``conftest.py``."""

from hypothesis import settings


def always_the_same(count):
    """Return the decorator of a test that is given ``count`` programs."""
    return settings(max_examples=count)
