"""Roots and minima of functions of one number, for each entry of an array (since SciPy 1.15)."""

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import elementwise

from .... import adjusted
from ...functions.implicit import entrywise
from ..traced_objects import by_position
from .calls import Solved, SolverCall, follows
from .results import Later, TracedResult
from .stationary import stationary

_BRACKETS = "the bracket that is found depends on the steps of the search"
REFUSED = {
    "bracket_root": (_BRACKETS, "cr.value(x) for what is traced: find_root needs no more"),
    "bracket_minimum": (_BRACKETS, "cr.value(x) for what is traced: find_minimum needs no more"),
}


def solved_by(call: SolverCall) -> Solved:
    """Return the call as solved, whose further arguments have places, and no names."""
    name = "f" if "f" in call else "func"
    if name in call:
        call[name], call["args"] = by_position(call.own, call[name], call.args, call)
    return Solved(call, name)


def find_root(call: SolverCall) -> Any:
    solved = solved_by(call)
    if not solved.traced:
        return solved.answer
    x = entrywise(solved.f, solved.answer.x, solved.args, solved.config)
    return TracedResult(solved.answer, x=x, f_x=Later(lambda: solved.f(x, *solved.args)))


def find_minimum(call: SolverCall) -> Any:
    solved = solved_by(call)
    if not solved.traced:
        return solved.answer

    def total(x: Any, *args: Any) -> Any:
        return np.sum(solved.f(x, *args))

    x = stationary(total, solved.answer.x, solved.args, solved.config)
    return TracedResult(solved.answer, x=x, f_x=Later(lambda: solved.f(x, *solved.args)))


def find_bracket(call: SolverCall) -> Any:
    return solved_by(call).answer


def solved_by_rules(names: dict[str, Any]) -> None:
    """Let copies of SciPy's modules, as those of distributions, ask the rules above.

    What they bracket is solved for then, so that nothing depends on the bracket.
    """
    for name, body in {
        "_chandrupatla": find_root,
        "_chandrupatla_minimize": find_minimum,
        "_bracket_root": find_bracket,
        "_bracket_minimum": find_bracket,
    }.items():
        if name in names:
            names[name] = follows(vars(importlib.import_module(names["__name__"]))[name], body)
    if names.get("elementwise") is not None:  # the module, since SciPy 1.18
        brackets = {name: follows(vars(elementwise)[name], find_bracket) for name in REFUSED}
        names["elementwise"] = SimpleNamespace(**INSTEAD, **brackets)


adjusted["scipy.optimize._chandrupatla"] = adjusted["scipy.optimize._bracket"] = solved_by_rules
INSTEAD = {
    "find_root": follows(elementwise.find_root, find_root),
    "find_minimum": follows(elementwise.find_minimum, find_minimum),
}
SOLVES = "rule that calls back: by the equations that the answer solves"
STATUS = dict.fromkeys(INSTEAD, SOLVES)
