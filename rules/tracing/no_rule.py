"""Fallback for a function without a rule: run it on traced values, or refuse it.

A function of the user's is run on the traced values; one of a library is a MissingRuleError that
says what to write.
"""

import functools
import types
from typing import Any

import numpy as np

from ...config import MissingRuleError, user_line
from ..annotations import Function, Value
from ..containers import children
from ..known_classes import compilers, library_of
from ..refusals.table import refusal
from ..signatures import name_of
from .conversions import describe
from .funnel import body
from .level import Level, Traced, innermost
from .object_arrays import healed

_NOT_PYTHON = ("builtins", "itertools", "functools", "operator", "numpy", "math")


def runs_in_python(f: Function) -> bool:
    """Say whether running ``f`` on traced values shows an engine every step that it takes."""
    f = body(f)
    if library_of(type(f)) == "numba":  # it is called by a method in Python, and runs in none
        return False
    if isinstance(f, functools.partial):
        return runs_in_python(f.func)
    if isinstance(f, types.MethodType):
        return runs_in_python(f.__func__)
    if isinstance(f, types.FunctionType):
        return True
    if isinstance(f, type):
        return library_of(f) not in _NOT_PYTHON
    return any(
        isinstance(vars(base).get("__call__"), types.FunctionType) for base in type(f).__mro__
    )


def run_in_python(f: Function) -> Any:
    """Return the Python that runs for ``f``, which has no rule, on traced values; None without any.

    What numba compiled may have been taken from its module before that was adopted.
    """
    if runs_in_python(f):
        return body(f)
    python_of = compilers.get(library_of(type(f)))
    return None if python_of is None else python_of(f)


def captures_inner(y: Value, level: Level) -> bool:
    """Say whether ``y``, which ``level`` computed, holds values of a transform inside it.

    They were captured by a function among the arguments, where no level can see them. A value
    of the inner level belongs around one of the outer, and a rule asked for by the outer level
    puts it inside.
    """
    top = innermost((y,))
    return top is not None and top.number > level.number


def run_body(f: Function, args: tuple, kwargs: dict) -> Any:
    """Run ``f`` on traced values without its rule, because of ``captures_inner``."""
    if runs_in_python(f):
        return healed(body(f)(*args, **kwargs))
    raise refusal("inner value captured", name=name_of(f))


def missing_rule(
    table: str, f: Function, args: tuple, kwargs: dict, level: Level
) -> MissingRuleError:
    """Build the error for a call of ``f`` that depends on ``level`` and has no rule."""
    name = name_of(f)
    active = [str(i) for i, x in enumerate(args) if innermost((x,)) is level]
    active += [repr(k) for k, x in kwargs.items() if innermost((x,)) is level]
    which = f"argument {', '.join(active)} depends" if active else "it depends"
    shown = [_short(x) for x in args] + [f"{k}={_short(x)}" for k, x in kwargs.items()]
    if " (vectorized)" in name:  # what np.frompyfunc calls its ufuncs
        return MissingRuleError(
            f"a ufunc of np.frompyfunc hides its function, {name.partition(' ')[0]}, and {which} "
            f"on a differentiated input in {user_line()}.\n"
            "  write np.vectorize(f); or functools.reduce(f, x) for its method reduce"
        )
    if library_of(type(f)) == "numba":
        return MissingRuleError(
            f"{name} is compiled by numba, and {which} on a differentiated input in "
            f"{user_line()}.\n"
            f'  write cr.adopt("its module") after it was compiled: then its Python runs instead'
        )
    short = name.rpartition(".")[2]
    code = name.replace("numpy", "np", 1) if name.startswith("numpy") else name
    return MissingRuleError(
        f"{name} has no {table}, and {which} on a differentiated input.\n"
        f"  called as  {short}({', '.join(shown)})  in {user_line()}\n"
        f"  add one with @cr.{table}.register({code}), or, if it is constant, "
        f"cr.non_differentiable({code})"
    )


def _short(x: Value) -> str:
    if isinstance(x, Traced | np.ndarray | np.generic):
        return describe(x)
    parts = children(x)
    if parts is not None:
        shown = ", ".join(_short(part) for part in parts.values[:4])
        more = ", ..." if len(parts.values) > 4 else ""
        return f"[{shown}{more}]" if isinstance(x, list | tuple) else type(x).__name__
    text = repr(x)
    return text if len(text) <= 30 else type(x).__name__
