"""SciPy's functions as primitives: the rules in this folder are written for these.

SciPy's own functions cannot take the traced values that a derivative of a derivative hands them, so
each with a rule is composed of a primitive that does the same.
"""

from collections.abc import Callable
from typing import Any

from ... import composed, linear_rule, primitive


def followed(f: Any) -> Any:
    """Return a primitive that is ``f``; ``f`` itself is composed of it."""
    own = primitive(f)
    composed(f)(own)
    return own


def linear_pair(f: Any, adjoint: Callable, constants: tuple = (), **declared: Any) -> Any:
    """Declare that ``f`` is linear in its first argument, and return its primitive.

    ``adjoint(ybar, space, **options)`` computes with plain arrays as it likes: derivatives of it
    are seen to here, because ``f`` is the adjoint of its adjoint.
    """
    forwards, backwards = followed(f), primitive(adjoint)

    def forwards_transpose(ybar, space, **options):
        return backwards(ybar, space, **options)

    def backwards_transpose(xbar, _, space, **options):
        linear = {name: x for name, x in options.items() if name not in constants}
        return forwards(xbar, **linear)

    linear_rule(forwards, forwards_transpose, constants=constants, **declared)
    linear_rule(backwards, backwards_transpose)
    return forwards
