"""How SciPy's solvers are called: with plain numbers, and functions that give plain numbers."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...functions.implicit import Watched, plain

# Parameters that are functions of the user's, besides the one that is solved for.
DERIVATIVES = {"fprime", "fprime2", "fhess", "fhess_p", "jac", "hess", "hessp", "Dfun", "gradient"}


def follows(own: Callable, body: Callable) -> Callable:
    """Return a function with the signature of SciPy's ``own``: ``body(own, call)``.

    ``call`` has the arguments by their names.
    """
    names = tuple(inspect.signature(own).parameters)

    @functools.wraps(own)
    def followed(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            return own(*args, **kwargs)  # it says so
        return body(own, {**dict(zip(names, args)), **kwargs})

    return followed


def as_tuple(args: Any) -> tuple:
    """Return the further arguments of the user's function, as SciPy takes them."""
    return args if isinstance(args, tuple) else (args,)


def plain_call(call: dict, **functions: Any) -> dict:
    """Return the arguments as SciPy gets them, with these functions in place of the user's."""
    made = {}
    for name, x in call.items():
        if name in functions:
            made[name] = functions[name]
        elif name in DERIVATIVES and callable(x):
            made[name] = Watched(x)
        else:
            made[name] = x if callable(x) else plain(x)
    return made
