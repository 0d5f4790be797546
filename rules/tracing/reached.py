"""Reach of a function: what it can read by its variables, defaults, attributes, and functions.

Arrays that it makes itself, and what it reads of libraries, are not found.
"""

import functools
import sys
import types
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from ...config.foundations import is_foundation
from ...config.thresholds import REACHED_AT_MOST
from ..containers import LEAVES, children
from ..known_classes import library_of
from ..signatures import content_of

_EXECUTORS = {"dask", "distributed", "joblib", "loky", "mpi4py", "ray"}


def reached(f: Any, without: Collection[type] = ()) -> Iterator[tuple[Any, str]]:
    """Yield what ``f`` can read, with the place that holds it where it is not sent with ``f``.

    Of types ``without`` is yielded nothing.
    """
    seen: dict[int, Any] = {}
    waiting: list[tuple[Any, str]] = [(f, "")]
    while waiting:
        x, place = waiting.pop()
        cls = type(x)
        if cls in without or id(x) in seen:
            continue
        if isinstance(x, type) and cls is not type and not is_users(x):
            continue
        seen[id(x)] = x
        yield x, place
        is_partial = isinstance(x, functools.partial)
        if (is_partial or cls is types.FunctionType) and hasattr(x, "__wrapped__"):
            waiting.append((x.__wrapped__, place))  # as a transform and a decorator keep it
        if cls is tuple or cls is list or cls is dict:
            waiting += [(part, place) for part in (x.values() if cls is dict else x)]
        elif cls is types.FunctionType:
            waiting += variables_of(x, place) if is_users(x) else ()
        elif is_partial:
            waiting += [(part, place) for part in (x.func, x.args, x.keywords)]
        elif cls is types.MethodType:
            waiting += [(x.__func__, place), (x.__self__, place)]
        elif isinstance(x, type):
            named = f"the class {x.__name__}"
            waiting += [(part, named) for part in vars(x).values()] if is_users(x) else ()
        elif cls not in LEAVES:
            parts = children(x)
            waiting += [] if parts is None else [(part, place) for part in parts.values]
            waiting += [(base, "") for base in cls.__mro__ if is_users(base)]


_NO_ARRAYS = {float, int, bool, str, type(None), np.float64, np.ufunc, type(np.sum), type(len)}


def arrays_read(f: Any) -> list[np.ndarray] | None:
    """Return the arrays that functions read by their variables; None where objects are among these.

    It is the walk ``reached`` of functions that hold numbers, arrays, and other functions alone.
    """
    functions, found = [f], []
    for f in functions:
        if type(f) is not types.FunctionType or hasattr(f, "__wrapped__"):
            return None
        for x, _ in variables_of(f, ""):
            cls = type(x)
            if cls in _NO_ARRAYS:
                continue
            if cls is np.ndarray:
                found.append(x)
            elif cls is types.FunctionType or cls is types.ModuleType:
                if not is_users(x):
                    continue
                if cls is types.ModuleType or len(functions) > REACHED_AT_MOST:
                    return None
                if not any(x is known for known in functions):
                    functions.append(x)
            else:
                return None
    return found


def variables_of(f: types.FunctionType, place: str) -> Iterator[tuple[Any, str]]:
    """Yield the values of variables and of modules' attributes that ``f`` names."""
    held = [content_of(cell) for cell in f.__closure__ or ()]
    for x in held:
        yield x, place
    yield from [(x, place) for x in (f.__defaults__, f.__kwdefaults__) if x]
    for code in codes_of(f):
        if not code.co_names:
            continue
        modules: list[Any] = [x for x in held if isinstance(x, types.ModuleType)]
        for name in code.co_names:
            if name in f.__globals__:
                x = f.__globals__[name]
                yield x, "a global variable" if _is_by_name(f) else place
                modules += [x] if isinstance(x, types.ModuleType) else []
        for module in modules:
            if not is_users(module):
                continue
            for name in code.co_names:
                x = vars(module).get(name)
                yield x, f"the module {module.__name__}"
                if isinstance(x, types.ModuleType) and x not in modules:
                    modules.append(x)


def codes_of(f: types.FunctionType) -> list[types.CodeType]:
    """Return the code of ``f``, and of the functions that it makes."""
    codes = [f.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if type(part) is types.CodeType]
    return codes


def _is_by_name(f: types.FunctionType) -> bool:
    """Say whether ``f`` is that of a module here; else its variables came along with it."""
    return getattr(sys.modules.get(f.__module__), "__dict__", None) is f.__globals__


def is_users(x: Any) -> bool:
    """Say whether a module, a function or a class may hold what a user put into it."""
    is_module = isinstance(x, types.ModuleType)
    library = x.__name__.partition(".")[0] if is_module else library_of(x)
    return library not in _EXECUTORS and not is_foundation(library)
