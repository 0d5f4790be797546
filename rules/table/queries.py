"""Questions about rules: which one answers a call, and the partials that it is made of."""

from ...config import MissingRuleError, RuleConfig, RuleError, defined_at
from ..annotations import Function, Value
from ..loading import load, needed
from ..signatures import RuleSignature, name_of
from ..tracing.level import type_under
from .keys import why_never_asked
from .methods import OPTED_OUT
from .tables import RuleTable, rrule, split_config


def which(table: RuleTable, /, *call: object, **kwargs: object) -> str:
    """Say which rule would answer a call, and why.

    Parameters
    ----------
    table : frule or rrule
    *call
        ``[config,] f, *args``: the call in question, without tangents.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> print(cr.which(cr.rrule, np.floor, 1.5).partition(" (constant")[0])
    rrule of numpy.floor for (float): non-differentiable
    """
    if not isinstance(table, RuleTable):
        raise RuleError("which takes the table first: which(cr.rrule, f, *args).")
    if needed:
        load()
    config, (f, *args) = split_config(call)
    rule = table.find(config, f, tuple(args))
    given = ", ".join(type_under(x).__name__ for x in args)
    head = f"{table.name} of {name_of(f)} for ({given})"
    if rule is None:
        return f"{head}: none{_why_none(table, config, f)}"
    if rule is OPTED_OUT:
        return f"{head}: opted out, so the engine differentiates its body"
    unseen = ", not asked by calls inside a program (needs @cr.primitive)"
    caution = unseen if why_never_asked(f) else ""
    if isinstance(rule, RuleSignature):
        where, reason = defined_at(rule.function), _why(rule, config)
        return f"{head}: {rule.function.__name__} ({where}){caution}, {reason}"
    line = f" ({rule.line})" if rule.line else ""
    return f"{head}: {rule.label}{caution}{line}"


def _why(rule: RuleSignature, config: RuleConfig | None) -> str:
    chosen = [t for t in rule.types if t is not object]
    reasons = []
    if chosen:
        names = ", ".join(getattr(t, "__name__", str(t)) for t in chosen)
        reasons.append(f"the most specific for its argument types ({names})")
    if rule.config_type is not None:
        reasons.append(f"{config!r} has {rule.config_type.__name__}")
    return "because " + " and ".join(reasons) if reasons else "registered for any arguments"


def _why_none(table: RuleTable, config: RuleConfig | None, f: Function) -> str:
    methods = table.methods_of(f)
    if methods is None:
        return ", and none is registered for any types"
    asked = {
        config_type.__name__
        for rules in methods.alternatives.values()
        for config_type, _ in rules
        if config_type is not None
    }
    if asked:
        given = "no config was given" if config is None else f"{config!r} does not match"
        return f"; those registered ask for {', '.join(sorted(asked))}, and {given}"
    return "; those registered are for other argument types"


def derivatives_given_output(y: Value, f: Function, /, *args: object) -> tuple:
    """Return the partials of a ``scalar_rule`` function, given its output.

    Parameters
    ----------
    y
        ``f(*args)``.
    f : callable
        A function defined by ``scalar_rule``.
    *args
        The point.

    Returns
    -------
    tuple of tuples
        ``[k][i]`` is the derivative of output k in argument i, elementwise.

    Raises
    ------
    MissingRuleError
        If ``f`` is not defined by ``scalar_rule``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> cr.derivatives_given_output(6.0, np.multiply, 2.0, 3.0)
    ((3.0, 2.0),)
    """
    kind = rrule.kind_of(f)
    if kind is not None and kind.rows:
        return tuple([tuple([p(y, *args) for p in row.partials]) for row in kind.rows])
    raise MissingRuleError(f"{name_of(f)} is not defined by scalar_rule, so its partials are "
                           "not known on their own.")  # fmt: skip
