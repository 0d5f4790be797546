"""Writing into an array of dual numbers: its values and its tangents alike."""

from typing import Any

from ..rules import strip
from ..rules.annotations import Index, Value
from ..rules.engines.buffers import settled
from ..rules.tangents.structural import AbstractZero
from ..rules.tracing.views import axes_of, bare, copied, follow, laid_out, put_draft, root_of
from ..rules.tracing.writing import begin_write, check_swap, check_write, raised


def write(level: Any, x: Value, index: Index, v: Value) -> None:
    """Do ``x[index] = v`` in the array that owns the memory of ``x``, and in its tangent."""
    given = v = settled(v)
    check_write(x, v, level)
    root, path = root_of(x)
    vdot = level.tangent_of(v)
    vdot = 0 if isinstance(vdot, AbstractZero) else vdot
    v = strip(v, level)
    values, tangents = begin_write(root) or draft(root)
    values, tangents = raised(values, v), raised(tangents, vdot)
    follow(path, values)[index] = v
    follow(path, tangents)[index] = vdot
    moved = check_swap(x, index, given, values)
    put_draft(root, (values, tangents), "primal", "tangent", moved=moved)


def draft(root: Value) -> tuple[Any, Any]:
    """Copy the values and tangents of an array, the latter in the memory order of the former.

    So a call that gives a view of the one gives a view of the other.
    """
    values = copied(root.primal)
    return values, laid_out(root.tangent, axes_of(bare(values)))
