"""How a module of SciPy, or of Python's, is shown with functions that see traced values.

A function is shown by one that asks the rules of the original first. What cannot be followed by its
calls alone, as a class or a distribution, has a stand-in of its own in the rules of the family:
``INSTEAD``, by name.
"""

import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

from .config import MissingRuleError, user_line
from .rules import all_settled, innermost, seen


def mirror(name: str, original: str, rules: Any) -> None:
    """Fill the module ``name`` with the names of the module ``original`` that has these rules."""
    source, target = importlib.import_module(original), vars(sys.modules[name])
    public = getattr(source, "__all__", [n for n in dir(source) if not n.startswith("_")])
    for word in public:
        part = getattr(source, word)
        if word in rules.INSTEAD:
            target[word] = rules.INSTEAD[word]
        elif word in rules.REFUSED:
            target[word] = refusing(part, f"{original}.{word}", *rules.REFUSED[word])
        elif isinstance(part, types.FunctionType | types.BuiltinFunctionType):
            target[word] = seen(part)
        else:
            target[word] = part
        if isinstance(target[word], types.FunctionType) and hasattr(rules, "answers"):
            target[word] = rules.answers(target[word])  # what they return is shown, too
    target["__all__"] = list(public)


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
