"""How calls of SciPy's functions come to the rules: by name, and with nothing written to.

SciPy may be allowed to overwrite what it is given (``overwrite_a``); under tracing that is memory
which a tape still reads, so here it is not.
"""

import functools
import inspect

from .....config import MissingRuleError
from .... import array_of, composed, value
from ...arrays.numpys_own import with_values

# Options that say how to compute, not what.
HINTS = {"check_finite", "lwork", "lapack_driver", "driver", "workers", "tol"}
# These may be lists, and are no arrays.
PAIRS = {
    "l_and_u", "c_and_lower", "cb_and_lower", "lu_and_piv", "select_range", "subset_by_index",
    "subset_by_value",
}  # fmt: skip


def bound(f, args, kwargs):
    """Return the arguments of ``f`` by name; lists of traced numbers as arrays.

    What may not be overwritten is left out.
    """
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    return {
        name: array_of(x) if isinstance(x, list) and name not in PAIRS else x
        for name, x in given.items()
        if not name.startswith("overwrite_")
    }


def for_body(f, body, given):
    """Return the arguments that ``body`` takes: all but hints.

    Raises
    ------
    MissingRuleError
        If it does not take one that changes the result.
    """
    known, own = inspect.signature(body).parameters, inspect.signature(f).parameters
    for name in given.keys() - known.keys() - HINTS:
        if given[name] is not own[name].default:
            raise MissingRuleError(
                f"the rule of scipy.linalg.{f.__name__} does not support the keyword {name!r}.\n"
                f"  keywords it supports: {', '.join(known)}"
            )
    return {name: x for name, x in given.items() if name in known}


def composed_by_names(f):
    """Decorator: as ``composed``, for a body that takes what matters of the arguments, by name."""

    def define(body):
        @functools.wraps(body)
        def called(*args, **kwargs):
            return body(**for_body(f, body, bound(f, args, kwargs)))

        called.__signature__ = inspect.signature(f)
        composed(f)(called)
        return body

    return define


def composed_with_value(f):
    """Decorator: as ``composed_by_names``, but the value is what ``f`` itself returns.

    A body that asks for it is given that as ``own``.
    """

    def define(body):
        looks = "own" in inspect.signature(body).parameters

        @functools.wraps(body)
        def with_own_value(*args, **kwargs):
            given = bound(f, args, kwargs)
            own = f(**value(given))  # first, for the errors are SciPy's own
            given = for_body(f, body, given)
            y = body(**given, own=own) if looks else body(**given)
            return with_values(type(own)(y) if isinstance(own, tuple | list) else y, own)

        with_own_value.__signature__ = inspect.signature(f)
        composed(f)(with_own_value)
        return body

    return define
