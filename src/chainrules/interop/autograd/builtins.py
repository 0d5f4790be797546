"""As ``autograd.builtins``: Python's own containers, which are followed as they are."""

import builtins
from typing import Any

from ...rules import Traced, value
from .tracer import Box

dict, list, tuple = builtins.dict, builtins.list, builtins.tuple

__all__ = ["DictBox", "SequenceBox", "dict", "isinstance", "list", "tuple", "type"]


def isinstance(x: Any, kind: Any) -> bool:
    """As Python's, of the value under ``x``; a traced value is a ``Box``, too.

    Examples
    --------
    >>> from chainrules.interop.autograd import grad
    >>> from chainrules.interop.autograd.builtins import isinstance
    >>> float(grad(lambda x: 2 * x if isinstance(x, float) else x)(1.0))
    2.0
    """
    plain = value(x) if builtins.isinstance(x, Traced) else x
    return builtins.isinstance(plain, kind) or builtins.isinstance(x, kind)


def type(x: Any) -> Any:
    """As Python's ``type`` of one argument, of the value under ``x``."""
    return builtins.type(value(x) if builtins.isinstance(x, Traced) else x)


class SequenceBox(Box):
    """A tuple or list with traced values in it is an instance."""

    of = (builtins.tuple, builtins.list)


class DictBox(Box):
    """A dict with traced values in it is an instance."""

    of = (builtins.dict,)
