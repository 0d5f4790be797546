"""Wrappers of functions without NumPy's protocols: rules answer where an argument is traced.

``seen(math.sin)(x)`` asks the rule of ``math.sin`` where ``x`` is traced, and else is
``math.sin(x)``.
"""

import functools
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ...config.tracebacks import trim_traceback
from ..accelerated import numbers
from ..annotations import Function
from .funnel import shown
from .level import innermost
from .object_arrays import healed, is_plain

_PLAIN_NUMBERS = frozenset({float, int, np.float64})
_SHOWN = ("scipy", "math", "cmath")


@functools.cache
def seen(f: Function) -> Any:
    """Return a function that is ``f``, whose rules answer where an argument is traced.

    For functions of libraries that NumPy's protocols do not show. The rules are those of ``f``, and
    are handed the function that is returned: a call of it in a rule is seen further out, too.
    """

    @functools.wraps(f)
    def calls(*args: object, **kwargs: object) -> Any:
        try:
            if numbers is not None and not kwargs:
                y = numbers.answer(f, calls, args)
                if y is not NotImplemented:
                    return y
            for x in (*args, *kwargs.values()) if kwargs else args:
                if type(x) not in _PLAIN_NUMBERS and not is_plain(x):
                    break
            else:
                return f(*args, **kwargs)
            level = innermost((*args, *kwargs.values()))
            if level is not None:
                return level.call(calls, args, kwargs)
            given = args, kwargs  # in which arrays of objects may hold traced numbers
            args, kwargs = found = healed(given)
            return f(*args, **kwargs) if found is given else calls(*args, **kwargs)
        except BaseException as error:
            trim_traceback(error)
            raise

    calls.__shows__ = calls, f  # type: ignore[attr-defined]
    return calls


def is_shown(f: Function) -> bool:
    """Say whether ``f`` is a function of a library whose calls are shown by ``seen(f)``."""
    if not isinstance(f, FunctionType | BuiltinFunctionType):
        return False
    return (f.__module__ or "").partition(".")[0] in _SHOWN and shown(f) is f
