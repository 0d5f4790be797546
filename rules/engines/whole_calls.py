"""Whole calls: functions that a level outside the transforms takes as one step, and others it runs.

``np.sort(x)`` is one step; a function of the user's is run, and so is what calls one.
"""

from typing import Any

import numpy as np

from ..annotations import Function, Value
from ..containers import iterate_leaves
from ..signatures import without_overwriting
from ..table.compositions import as_library
from ..tangents.project import Projector
from ..tracing.funnel import is_numpys, is_primitive, shown
from ..tracing.level import Traced
from ..tracing.no_rule import runs_in_python

# Their results depend on shapes and dtypes alone.
_STRUCTURE = frozenset({
    np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.common_type,
    np.iscomplexobj, np.isrealobj, np.broadcast_shapes,
    np.einsum_path, len,
})  # fmt: skip


def tells_only_structure(f: Function) -> bool:
    """Say whether the result of ``f`` depends on shapes and dtypes alone."""
    return type(f).__hash__ is not None and f in _STRUCTURE


def is_kept_whole(f: Any) -> bool:
    """Say whether a call of ``f`` is one step; else it is Python code, and is run.

    The body of a primitive may do what it likes with plain numbers, and is run with these, unless
    it is ours and says that it ``runs_as_steps``.
    """
    if getattr(f, "runs_as_steps", False):
        return False
    foreign = getattr(type(f), "is_foreign", False)
    return foreign or shown(f) is not f or is_primitive(f) or not runs_in_python(f)


def as_step(f: Function, args: tuple, kwargs: dict) -> tuple[Function, tuple, dict]:
    """Return a call as it can be made again: it overwrites none of its arguments."""
    f = shown(f)
    return f, *without_overwriting(f, args, kwargs)


def runs_inside(args: tuple, kwargs: dict) -> bool:
    """Say whether a call is run: it is given functions, or objects that a library does not know."""
    if any(type(x) in as_library for x in args):
        return True
    return any(map(may_run, iterate_leaves((args, kwargs))))


def may_run(x: Value) -> bool:
    """Say whether ``x`` is a function that may hold values of a level.

    NumPy's own hold none, and projections know only what values look like.
    """
    return callable(x) and not isinstance(x, type | Traced | Projector) and not is_numpys(x)
