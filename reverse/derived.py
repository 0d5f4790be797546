"""The other direction of a rule by hand, where only one of the two was written.

A pushforward is linear in its tangents, and a pullback in its cotangents. Recorded as a linear
program it can be run backwards: an ``rrule`` that was made so from an ``frule`` records the
pushforward at the point, and its pullback is the transpose. It is asked for where a primitive
has a rule in the other table only; a rule that is registered later takes its place.
"""

import inspect
from collections.abc import Callable
from typing import Any

from ..rules import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ProjectTo,
    ZeroTangent,
    frule,
    rrule,
    unthunk,
)
from ..rules.annotations import Function, Tangentlike
from ..rules.linear.jacobians import leaves, recorded, tangent_leaves, with_leaves
from ..rules.linear.program import LinearProgram
from ..rules.signatures import RuleSignature, name_of
from ..rules.table.pullback import check_shape
from ..rules.table.tables import derivers
from ..rules.tracing.funnel import is_primitive
from ..rules.tracing.no_rule import runs_in_python
from .vjp import transposed


def derive(f: Function) -> bool:
    """Register the missing direction of the rules of ``f``; say whether there is one now."""
    if not is_primitive(f) and runs_in_python(f):
        return False  # its body is differentiated
    pushing, pulling = frule.rules_by_hand(f), rrule.rules_by_hand(f)
    if bool(pushing) == bool(pulling):
        return False
    table, rules, other = (rrule, pushing, pulled) if pushing else (frule, pulling, pushed)
    for rule in rules:
        table.add(f, other(rule))
    table.mark_derived(f)
    return True


derivers.append(derive)


def pulled(rule: RuleSignature) -> Callable:
    """Return the ``rrule`` that belongs to a ``frule``."""

    def derived_rrule(*call: object, **kwargs: object) -> tuple[Any, Callable]:
        config, (f, *args) = _split(rule, call)
        program = LinearProgram()
        tangents = (NoTangent(), *map(program.input, args))
        y, ydot = _noted(
            "frule", f, lambda: frule.run(rule, config, tangents, f, tuple(args), kwargs)
        )
        program.finish(tangent_leaves(y, ydot))
        pull = transposed(program, leaves(args))

        def derived_pullback(ybar: Tangentlike) -> tuple:
            xbars = iter(pull(tangent_leaves(y, ybar)))
            return (NoTangent(), *[with_leaves(x, xbars) for x in args])

        return y, derived_pullback

    return _with_signature(derived_rrule, rule, 0)


def pushed(rule: RuleSignature) -> Callable:
    """Return the ``frule`` that belongs to an ``rrule``."""

    def derived_frule(*call: object, **kwargs: object) -> tuple[Any, Any]:
        config, (tangents, f, *args) = _split(rule, call)
        y, pullback = rrule.run(rule, config, f, tuple(args), kwargs)

        def pull(ybar: Tangentlike) -> list:
            xbars = _noted("rrule", f, lambda: pullback(ybar))[1:]
            xbars = list(map(_if_it_moves, xbars, tangents[1:]))
            return [
                check_shape(xbar, ProjectTo(x), f, i)
                for i, (x, xbar) in enumerate(zip(args, xbars))
            ]

        push = transposed(recorded(pull, y, args), leaves(y))
        return y, with_leaves(y, iter(push(tangent_leaves(args, tangents[1:]))))

    return _with_signature(derived_frule, rule, 1)


def _if_it_moves(xbar: Tangentlike, xdot: Tangentlike) -> Any:
    """Return a cotangent; of an argument that does not move it need not be implemented.

    Raises
    ------
    MissingDerivativeError
    """
    xbar = unthunk(xbar)
    if not isinstance(xbar, NotImplementedTangent):
        return xbar
    if isinstance(unthunk(xdot), AbstractZero):
        return ZeroTangent()
    raise xbar.error()


def _split(rule: RuleSignature, call: tuple) -> tuple[Any, tuple]:
    return (None, call) if rule.config_type is None else (call[0], call[1:])


def _noted(name: str, f: Function, run: Callable) -> Any:
    try:
        return run()
    except Exception as error:
        error.add_note(
            f"  {name_of(f)} has only an {name}, and the other direction is made of what that "
            "computes.\n  write it: "
            f"@cr.{'rrule' if name == 'frule' else 'frule'}.register({name_of(f)})"
        )
        raise


def _with_signature(function: Callable, rule: RuleSignature, leading: int) -> Callable:
    """Give a derived rule the parameters of ``rule``, with or without the tangents."""
    known = list(inspect.signature(rule.function, eval_str=True).parameters.values())
    at = 0 if rule.config_type is None else 1
    tangents = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)
    known[at : at + 1 - leading] = [tangents] * leading
    if leading:  # what follows a positional-only parameter may be so, too
        known[: at + 2] = [p.replace(kind=tangents.kind) for p in known[: at + 2]]
    function.__signature__ = inspect.Signature(known)  # type: ignore[attr-defined]
    return function
