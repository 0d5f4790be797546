"""Writing into an array of dual numbers: its values and its tangents alike."""

from typing import Any

import numpy as np

from ..rules import strip
from ..rules.roots import settled
from ..rules.tangents import AbstractZero
from ..rules.views import (
    check_write,
    copied,
    follow,
    is_private,
    living_views,
    raised,
    root_of,
)


def write(level: Any, x: Any, index: Any, v: Any) -> None:
    """Do ``x[index] = v`` in the array that owns the memory of ``x``, and in its tangent."""
    v = settled(v)
    check_write(x, v, level)
    root, path = root_of(x)
    vdot = level.tangent_of(v)
    vdot = 0 if isinstance(vdot, AbstractZero) else vdot
    v = strip(v, level)
    views = living_views(root)
    values = raised(root.value if is_private(root, views) else copied(root.value), v)
    private = is_private(root, views, "tangent")
    tangents = raised(root.tangent if private else _laid_out(root.tangent, values), vdot)
    target = follow(path, tangents)
    if type(tangents) is np.ndarray and not np.may_share_memory(target, tangents):
        tangents = _laid_out(tangents, values)
        target = follow(path, tangents)
    follow(path, values)[index] = v
    target[index] = vdot
    root.value = values
    root.tangent = tangents
    for view in views:
        _, way = root_of(view)
        view.value = follow(way, values)
        view.tangent = follow(way, tangents)


def _laid_out(xdot: Any, x: Any) -> Any:
    """Copy a tangent in the memory layout of its primal, so that they have the same views."""
    if type(xdot) is not np.ndarray or type(x) is not np.ndarray:
        return copied(xdot)
    copy = np.empty_like(x, dtype=xdot.dtype)
    copy[...] = xdot
    return copy
