"""Normalization of calls of scipy.linalg: bind arguments by name, drop options to overwrite.

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


signature_of = functools.cache(inspect.signature)


@functools.cache
def names_of(f):
    """Return the names of parameters that may be given by position, and of those that must be.

    None where the signature has more than such parameters and keywords.
    """
    parameters = signature_of(f).parameters.values()
    kinds = {parameter.kind for parameter in parameters}
    if not kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        return None
    placed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    needed = {p.name for p in parameters if p.default is p.empty}
    return placed, needed, {p.name for p in parameters}


def by_name(f, args, kwargs):
    """Return the arguments of ``f`` by their names; an error is Python's own."""
    names = names_of(f)
    if names is not None and len(args) <= len(names[0]):
        placed, needed, known = names
        given = dict(zip(placed, args)) | kwargs
        once = len(given) == len(args) + len(kwargs)
        if once and needed <= given.keys() and given.keys() <= known:
            return given
    return signature_of(f).bind(*args, **kwargs).arguments


def bound(f, args, kwargs):
    """Return the arguments of ``f`` by name; lists of traced numbers as arrays.

    What may not be overwritten is left out.
    """
    return {
        name: array_of(x) if isinstance(x, list) and name not in PAIRS else x
        for name, x in by_name(f, args, kwargs).items()
        if not name.startswith("overwrite_")
    }


def for_body(f, body, given):
    """Return the arguments that ``body`` takes: all but hints.

    Raises
    ------
    MissingRuleError
        If it does not take one that changes the result.
    """
    known = signature_of(body).parameters
    for name in given.keys() - known.keys() - HINTS:
        if given[name] is not signature_of(f).parameters[name].default:
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

        called.__signature__ = signature_of(f)
        composed(f)(called)
        return body

    return define


def composed_with_value(f):
    """Decorator: as ``composed_by_names``, but the value is what ``f`` itself returns.

    A body that asks for it is given that as ``own``.
    """

    def define(body):
        looks = "own" in signature_of(body).parameters

        @functools.wraps(body)
        def with_own_value(*args, **kwargs):
            given = bound(f, args, kwargs)
            own = f(**value(given))  # first, for the errors are SciPy's own
            given = for_body(f, body, given)
            y = body(**given, own=own) if looks else body(**given)
            return with_values(type(own)(y) if isinstance(own, tuple | list) else y, own)

        with_own_value.__signature__ = signature_of(f)
        composed(f)(with_own_value)
        return body

    return define
