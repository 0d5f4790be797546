"""Cache key of a registered container: a hashable form of all that it holds besides its parts.

A quantity has a unit and a labelled array its coordinates: a recording is made for these.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from ...config import ChainRulesError
from ...config.thresholds import CONSTANT_COPIED
from ...rules import Traced
from ...rules.containers import children, iterate_leaves, map_leaves
from ...rules.known_classes import Children, rests
from ...rules.tracing.captured import digest
from ..ir.looks import NotRecordable, bits
from .state.comparison import fields_of
from .state.known_types import is_of_python, solid


def rest_of(x: Any, parts: Children) -> Hashable:
    """Return a key of what the registered container ``x`` holds besides its ``parts``.

    Its package says it, or it is read off the fields of a copy whose parts are zeros.

    Raises
    ------
    NotRecordable
        If nobody can say it.
    """
    cls = type(x)
    tell = rests.get(cls)
    if tell is not None:
        return _key(tell(x), ())
    if not is_of_python(cls) or solid(cls) is not object:
        raise NotRecordable(f"an argument of type {cls.__name__}, whose fields cannot be compared")
    zeros = map_leaves(_zero, list(parts.values))
    try:
        empty = parts.rebuild(zeros)
    except Exception as error:
        ours = isinstance(error, ChainRulesError)
        why = "which is rebuilt from its own parts alone" if ours else f"whose rebuild says {error}"
        raise NotRecordable(f"an argument of type {cls.__name__}, {why}") from error
    marks = tuple([leaf for leaf in iterate_leaves(zeros) if isinstance(leaf, np.ndarray)])
    return _key(tuple(fields_of(empty).items()), marks)


def _zero(x: Any) -> Any:
    cls = type(x)
    if cls is np.ndarray:
        return np.broadcast_to(np.zeros((), x.dtype), x.shape)
    return cls(0) if issubclass(cls, float | complex | np.inexact) else x


def _key(x: Any, marks: tuple) -> Hashable:
    """Return a hashable form of ``x``, in which the arrays among ``marks`` are all the same."""
    if isinstance(x, Traced):
        raise NotRecordable("a traced value")
    if any(x is mark for mark in marks):
        return None
    if type(x) in (tuple, list, dict):
        parts = children(x)
        assert parts is not None
        values = tuple([_key(v, marks) for v in parts.values])
        return type(x).__name__, bits(parts.keys), values
    if isinstance(x, np.ndarray):
        if x.dtype.kind != "O":
            return digest(x) if x.nbytes > CONSTANT_COPIED else bits(np.asarray(x))
        return "objects", x.shape, _key(x.reshape(-1).tolist(), marks)
    try:
        return bits(x)
    except ChainRulesError:
        raise
    except Exception as error:
        raise NotRecordable(f"a {type(x).__name__} in an argument, whose hash raises") from error
