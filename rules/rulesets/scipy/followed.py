"""SciPy's functions as primitives, for which the rules in this folder are written.

SciPy's own functions cannot take the traced values that a derivative of a derivative hands them, so
each with a rule is composed of a primitive that does the same.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ... import composed, linear_rule, primitive


def followed(f: Any) -> Any:
    """Return a primitive that is ``f``; ``f`` itself is composed of it."""
    own = primitive(f)
    composed(f)(own)
    return own


def linear_pair(
    f: Any, adjoint: Callable, constants: tuple = (), axis: int | None = None, **declared: Any
) -> Any:
    """Declare that ``f`` is linear in its first argument, and return its primitive.

    ``adjoint(ybar, space, **options)`` computes with plain arrays as it likes: derivatives of it
    are seen to here, because ``f`` is the adjoint of its adjoint. Where ``axis`` is given, which is
    the default of their option of this name, both run along that axis of arrays of any rank: on
    all directions of a block at once.
    """
    forwards, backwards = followed(f), primitive(adjoint)

    def forwards_transpose(ybar, space, **options):
        return backwards(ybar, space, **options)

    def along_one(x, options):
        return options | {"axis": x.axes(options.get("axis", axis))}

    def forwards_block(x, **options):
        return forwards(x.values, **along_one(x, options))

    def backwards_block(ybar, space, **options):
        led = SimpleNamespace(shape=(ybar.count, *space.shape), dtype=space.dtype)
        return backwards(ybar.values, led, **along_one(ybar, options))

    def backwards_transpose(xbar, _, space, **options):
        linear = {name: x for name, x in options.items() if name not in constants}
        return forwards(xbar, **linear)

    blocks = (None, None) if axis is None else (forwards_block, backwards_block)
    declared |= {"constants": constants, "block": blocks[0]}
    linear_rule(forwards, forwards_transpose, **declared)
    linear_rule(backwards, backwards_transpose, block=blocks[1])
    return forwards
