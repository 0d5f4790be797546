"""Errors in a batch: of which items they are, where a call on all items at once raises.

The error of all items is raised as in a loop, and who catches it catches it for all. Where items
differ, those that raise are a way of their own.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from ..config import ChainRulesError
from ..config.signals import ends_run
from ..rules import name_of, value
from .ways import Looked, OneByOne, Split, grouped


def raise_of_items(
    level: Any, error: Exception, f: Callable, args: tuple, kwargs: dict
) -> NoReturn:
    """Raise the ``error`` of ``f`` on a batch where it is that of each item.

    Raises
    ------
    Split, OneByOne
        If it is that of some items, or of none.
    Looked
        In a recording, where the items may be others at the next call.
    """
    if isinstance(error, ChainRulesError) or ends_run(error):
        raise error
    if level.stops_at_looks:
        raise Looked(level) from error
    groups = grouped([_error_of(level, k, f, args, kwargs) for k in range(level.count)])
    if len(groups) > 1:
        raise Split(level, groups, f"an error of {name_of(f)}") from error
    if _error_of(level, 0, f, args, kwargs) is None:
        first = str(error).partition(chr(10))[0]
        why = f"all at once they raise {type(error).__name__}: {first.rstrip('.')}"
        raise OneByOne(level, why) from error
    raise error


def _error_of(level: Any, k: int, f: Callable, args: tuple, kwargs: dict) -> tuple | None:
    """Return what tells the error of an item from others; None where it raises none."""
    given, options = value(level.item(args, k)), value(level.item(kwargs, k))
    try:
        f(*given, **options)
    except Exception as error:
        if ends_run(error):
            raise
        return type(error), str(error)
    return None
