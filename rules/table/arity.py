"""Arity of a hand-written rule: a rule that no call of its function can reach is refused.

Certain to be wrong is a rule that takes, after the function, fewer arguments than each call gives
or more than any can, or the function's very parameters: it lacks the function as its first one.
"""

import inspect
import math
from types import FunctionType
from typing import Any

from ...config import RuleError, defined_at
from ..annotations import Function
from ..signatures import POSITIONAL, RuleSignature
from ..tracing.funnel import body
from .keys import instances


def check_arity(direction: str, rule: RuleSignature, f: Function) -> None:
    """Refuse a rule that answers no call of ``f``, of which the parameters are known.

    Raises
    ------
    RuleError
    """
    known = _parameters(f)
    if known is None:
        return
    places = [p for p in known if p.kind in POSITIONAL]
    needed = [p for p in places if p.default is p.empty]
    most = math.inf if any(p.kind is p.VAR_POSITIONAL for p in known) else len(places)
    # Arguments beyond those that a rule takes are handed to it as options, by their names.
    given = inspect.signature(rule.function).parameters.values()
    options = {p.name for p in given if p.kind is p.KEYWORD_ONLY}
    by_name = rule.keywords is None or options.issuperset(
        [p.name for p in needed[rule.positional :]]
    )
    too_few = rule.count < len(needed) and not by_name
    if too_few or rule.required > most or _has_parameters_of(rule.function, direction, known):
        raise RuleError(_text(direction, rule, f, known, needed))


def _has_parameters_of(function: Any, direction: str, known: list) -> bool:
    """Say whether a rule has the very parameters of its function, with or without the tangents."""
    given = [p.name for p in inspect.signature(function).parameters.values()]
    names = [p.name for p in known]
    alike = [given] if direction == "rrule" else [given, given[1:]]
    return bool(names) and names in alike and known[0].kind in POSITIONAL


def _parameters(f: Function) -> list[inspect.Parameter] | None:
    """Return the parameters of a call of ``f``, where nothing that wraps it may change them."""
    try:
        if isinstance(f, instances):
            call = inspect.signature(f.cls.__call__, follow_wrapped=False)
            return list(call.parameters.values())[1:]
        called = f if isinstance(f, type) else body(f)
        return list(inspect.signature(called, follow_wrapped=False).parameters.values())
    except (ValueError, TypeError, AttributeError):
        return None


def _text(direction: str, rule: RuleSignature, f: Function, known: list, needed: list) -> str:
    function = rule.function
    name = "instance" if isinstance(f, instances) else getattr(f, "__name__", "f")
    config = f"config: {rule.config_type.__name__}, " if rule.config_type is not None else ""
    tangents = "tangents, " if direction == "frule" else ""
    in_python = isinstance(f, type | instances) or isinstance(body(f), FunctionType)
    shown = known if in_python else needed
    called = inspect.Signature([p.replace(annotation=p.empty) for p in shown])
    own = inspect.Signature(list(inspect.signature(function).parameters.values()))
    return (
        f"{function.__name__}{own} ({defined_at(function)}) is no {direction} of {name}, which is "
        f"called as {name}{called}: a rule takes {'the tangents, then ' if tangents else ''}the "
        f"function itself, then its arguments.\n"
        f"  write def {function.__name__}({config}{tangents}{name}, {str(called)[1:]}"
    )
