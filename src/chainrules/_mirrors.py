"""Mirrors of modules of SciPy and of Python's: the same names, with functions that ask rules first.

What cannot be followed by its calls alone, as a class or a distribution, has a stand-in of its own
in the rules of the family: ``INSTEAD``, by name.
"""

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .config import MissingRuleError, user_line
from .rules import Traced, all_settled, innermost, seen, stands_for
from .rules.engines.buffers import buffers_if_new
from .rules.tracing.funnel import shown
from .rules.tracing.running import a_run


def mirror(name: str, original: str, rules: Any) -> None:
    """Fill the module ``name`` with the names of the module ``original`` that has these rules.

    One function is shown by one, whatever names it has.
    """
    source, target = importlib.import_module(original), vars(sys.modules[name])
    public = getattr(source, "__all__", [n for n in dir(source) if not n.startswith("_")])
    shown: dict[int, Any] = {}
    for word in public:
        part = getattr(source, word)
        if word in rules.INSTEAD or id(part) not in shown:
            shown[id(part)] = _shown(part, word, name, original, rules)
        target[word] = shown[id(part)]
    target["__all__"] = list(public)
    target["__dir__"] = functools.partial(dir, source)
    target["__name__"] = original  # to all who ask


def _shown(part: Any, word: str, name: str, original: str, rules: Any) -> Any:
    """Return what stands in the mirror ``name`` for ``part``, the ``word`` of its original."""
    y = part
    if word in rules.INSTEAD:
        y = rules.INSTEAD[word]
    elif word in rules.REFUSED:
        y = refusing(part, f"{original}.{word}", *rules.REFUSED[word])
    elif isinstance(part, types.FunctionType | types.BuiltinFunctionType) or _is_cython(part):
        y = seen(part)
    if y is part:
        return part
    if isinstance(part, type):
        stands_for(y, part)
    elif isinstance(y, types.FunctionType):
        if hasattr(rules, "answers"):
            y = rules.answers(y)  # what they return is shown, too
        if original.startswith("scipy") and word not in rules.REFUSED:
            y = _making(_checking(y, part, f"{original}.{word}"))
        found_as(y, name, word)
    return y


# Parameters of SciPy's for arrays that its compiled code writes into.
_WRITTEN = frozenset({"output", "out", "distances", "indices"})


def _checking(f: Callable, part: Any, name: str) -> Callable:
    """Return ``f``, which takes no array to write into where anything else is traced."""
    code = getattr(inspect.unwrap(part), "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if _WRITTEN.isdisjoint(names):
        return f

    @functools.wraps(f)
    def checks(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args)), **kwargs}
        for word in _WRITTEN.intersection(given):
            array = isinstance(given[word], np.ndarray | Traced)
            if array and innermost(all_settled(tuple(given.values()))) is not None:
                raise MissingRuleError(
                    f"{name} cannot write into {word}= what is followed, which would be lost, in "
                    f"{user_line()}.\n  leave {word}= away, and use the array that is returned"
                )
        return f(*args, **kwargs)

    checks.__shows__ = checks, shown(f)  # type: ignore[attr-defined]
    return checks


def _making(f: Callable) -> Callable:
    """Return ``f``; while a transform runs, new arrays among its results take traced values."""

    @functools.wraps(f)
    def makes(*args: Any, **kwargs: Any) -> Any:
        y = f(*args, **kwargs)
        if a_run() is None:
            return y
        return buffers_if_new(y, (args, kwargs) if kwargs else args)

    makes.__shows__ = makes, shown(f)  # type: ignore[attr-defined]
    return makes


def _is_cython(part: Any) -> bool:
    """Say whether ``part`` is a function of Cython's: each of its versions has a class for them."""
    return type(part).__name__ == "cython_function_or_method"


def found_as(f: Any, module: str, name: str) -> None:
    """Say where ``f`` is found, so that pickles of it hold the mirror's name."""
    f.__module__, f.__qualname__ = module, name


def refusing(f: Callable, name: str, reason: str, remedy: str) -> Callable:
    """Return a function that is ``f`` where nothing is traced, and else says what to write."""

    @functools.wraps(f)
    def refuses(*args: Any, **kwargs: Any) -> Any:
        level = innermost((*args, *kwargs.values()))
        if level is None:
            return f(*args, **kwargs)
        if innermost(all_settled((args, kwargs))) is None:  # buffers that hold nothing traced
            return level.call(f, args, kwargs)
        raise MissingRuleError(
            f"{name} has no derivative: {reason}, in {user_line()}.\n  write {remedy}"
        )

    return refuses
