"""Trading time for memory: reverse mode evaluates a function twice and keeps nothing inside."""

import functools
from collections.abc import Callable
from typing import Any

from ...config import HasForwardsMode, HasReverseMode, frule_via_ad, rrule_via_ad
from ..calls import call, primitive
from ..registry import frule, rrule
from ..tangents import NoTangent


def checkpoint(f: Callable) -> Callable:
    """Return ``f`` as a function of which reverse mode keeps nothing but the arguments.

    The pullback evaluates ``f`` again. A derivative then takes one more evaluation of ``f``, and
    the memory for what happens inside is needed for one checkpoint at a time. (What ``f`` does
    with traced values that it captures is recorded as without checkpoint: pass them as
    arguments.)

    Parameters
    ----------
    f : callable
        Gives the same each time that it is called with the same arguments, and does not write
        into them.

    Returns
    -------
    callable
        With the signature of ``f``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> layer = cr.checkpoint(lambda w, x: np.tanh(w * x))
    >>> float(cr.grad(lambda w: layer(w, layer(w, 1.0)))(0.0))
    0.0
    """

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return evaluate(f, args, kwargs)

    return checkpointed


@primitive
def evaluate(f: Callable, args: tuple, kwargs: dict) -> Any:
    return f(*args, **kwargs)


@frule.register(evaluate)
def evaluate_frule(config: HasForwardsMode, tangents, evaluate, f, args, kwargs):
    return frule_via_ad(config, (NoTangent(), *tangents[1:]), call, f, args, kwargs)


@rrule.register(evaluate)
def evaluate_rrule(config: HasReverseMode, evaluate, f, args, kwargs):
    def evaluate_pullback(ybar):
        _, pullback = rrule_via_ad(config, call, f, args, kwargs)
        return pullback(ybar)

    return f(*args, **kwargs), evaluate_pullback
