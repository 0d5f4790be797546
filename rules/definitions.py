"""The shortest ways to define rules: each writes into both tables at once."""

from collections.abc import Callable
from typing import Any

from ..config import MissingRuleError, RuleConfig, RuleError, caller_line, defined_at
from .answers import fit_tangent
from .kinds import (
    BilinearRule,
    Composed,
    FreshArray,
    Kind,
    LinearRule,
    NonDifferentiable,
    ScalarRule,
    SelectionRule,
)
from .levels import type_under
from .methods import OPTED_OUT
from .project import ProjectTo
from .registry import (
    RuleTable,
    frule,
    hashable,
    rrule,
    traced_options,
    warn_if_never_asked,
    why_never_asked,
)
from .signatures import RuleSignature, dispatch_types, name_of
from .tangents import NO_TANGENT, AbstractZero, Tangent, sum_tangents


def scalar_rule(f: Any, /, *partials: Any, setup: Any = None, branch: Any = None) -> None:
    """Give the derivative of an elementwise ``f`` by one partial per argument.

    Parameters
    ----------
    f : callable
        Takes and returns numbers or arrays that broadcast; usually a ufunc.
    *partials : callable or number
        ``partial(y, *args)`` is dy/dx_i at every element, or a number where it is constant.
        For several outputs give one tuple of partials per output; ``y`` is then the tuple of
        outputs. For a map from complex to real, p with ``ydot = Re(p * xdot)``.
    setup, branch : callable, optional
        ``setup(y, *args)``: what the partials share, found once; they are then called as
        ``partial(shared, y, *args)``. ``branch(y, *args)``: the choice at a tie.

    Raises
    ------
    RuleError
        If no partial is given, or the outputs have different numbers of partials.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def softplus(x):
    ...     return np.logaddexp(0.0, x)
    >>> cr.scalar_rule(softplus, lambda y, x: 1 / (1 + np.exp(-x)))
    >>> float(cr.grad(softplus)(0.0))
    0.5
    """
    if not partials:
        raise RuleError(f"scalar_rule({name_of(f)}) needs one partial per argument.")
    if setup is None and not isinstance(partials[0], tuple):
        _add_kind(f, ScalarRule(f, partials, caller_line(), branch))
        return
    several = isinstance(partials[0], tuple)
    table = partials if several else (partials,)
    if len({len(row) for row in table}) != 1:
        raise RuleError(f"every output of {name_of(f)} needs the same number of partials.")
    _scalar_rules_by_hand(f, table, several, setup)


def _scalar_rules_by_hand(f: Any, table: tuple, several: bool, setup: Callable | None) -> None:
    """Write a frule and an rrule from a table of partials, one row per output."""

    def evaluate(args: tuple) -> tuple[Any, Any, list[ScalarRule]]:
        y = f(*args)
        head = () if setup is None else (setup(y, *args),)
        rows = [
            ScalarRule(f, [_fixed(p, head, y) if callable(p) else p for p in row], "")
            for row in table
        ]
        return y, y if several else (y,), rows

    def scalar_frule(tangents: tuple, f: Any, *args: Any) -> tuple:
        y, outputs, rows = evaluate(args)
        ydots = []
        for output, row in zip(outputs, rows, strict=True):
            pushed = [
                row.push(i, xdot, output, args, {})
                for i, xdot in enumerate(tangents[1:])
                if not isinstance(xdot, AbstractZero)
            ]
            ydots.append(fit_tangent(sum_tangents(pushed), output))
        return y, Tangent(type(y), *ydots) if several else ydots[0]

    def scalar_rrule(f: Any, *args: Any) -> tuple:
        y, outputs, rows = evaluate(args)
        spaces = [ProjectTo(x) for x in args]

        def scalar_pullback(ybar: Any) -> tuple:
            ybars = list(ybar) if several else [ybar]
            return NO_TANGENT, *(
                space(
                    sum_tangents(
                        row.pull(i, bar, output, args, {}, space)
                        for bar, output, row in zip(ybars, outputs, rows, strict=True)
                        if not isinstance(bar, AbstractZero)
                    )
                )
                for i, space in enumerate(spaces)
            )

        return y, scalar_pullback

    warn_if_never_asked(f)
    for table_of, rule in ((frule, scalar_frule), (rrule, scalar_rrule)):
        table_of.unregister(f)
        table_of.add(f, rule)
    methods = rrule.methods_of(f)
    assert methods is not None
    methods.partials = (table, setup)


def _fixed(partial: Callable, head: tuple, y: Any) -> Callable:
    def partial_of_output(output: Any, *args: Any) -> Any:
        return partial(*head, y, *args)

    return partial_of_output


def linear_rule(
    f: Any,
    transpose: Callable | None = None,
    /,
    *,
    mark: Callable | None = None,
    adapt: Callable | None = None,
    constants: tuple[str, ...] = (),
) -> Any:
    """Give the derivative of an ``f`` that is linear in its first argument by its transpose.

    Parameters
    ----------
    f : callable
        Linear in its first argument; the others are options.
    transpose : callable, optional
        ``transpose(ybar, space, **options)``, where ``space`` has the ``shape`` and ``dtype`` of
        the argument, not its data. Without it, ``linear_rule(f)`` is a decorator. Options that
        its signature omits are unsupported.
    mark : callable, optional
        For an ``f`` that only selects entries, as indexing does: ``mark(alive, **options)`` sets
        a boolean array to True at those it reads. The others are structural zeros: nothing
        comes back from them, even where what they were computed by has an infinite derivative.
    adapt : callable, optional
        ``adapt(x, **options)`` returns the options to go by, for those that depend on how ``x``
        is stored, and raises for options with which ``f`` is not linear.
    constants : tuple of str, optional
        Options that add something constant to the result, as ``initial`` of ``np.sum`` does.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def total(x):
    ...     return np.sum(x)
    >>> @cr.linear_rule(total)
    ... def total_transpose(ybar, space):
    ...     return np.broadcast_to(ybar, space.shape)
    >>> cr.grad(lambda x: 2 * total(x))(np.ones(3))
    array([2., 2., 2.])
    """
    if transpose is None:

        def define(transpose: Callable) -> Callable:
            linear_rule(f, transpose, mark=mark, adapt=adapt, constants=constants)
            return transpose

        return define
    _add_kind(f, LinearRule(f, transpose, defined_at(transpose), mark, adapt, constants))
    return None


def bilinear_rule(f: Any, left: Callable, right: Callable, /) -> None:
    """Give the derivative of an ``f`` that is linear in each of its two arguments.

    Parameters
    ----------
    f : callable
        Linear in ``a`` and in ``b``.
    left, right : callable
        ``left(ybar, a, b, **options)`` pulls to ``a``, ``right(ybar, a, b, **options)`` to ``b``.
        Axes that were broadcast are summed by the tool.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def times(a, b):
    ...     return a * b
    >>> cr.bilinear_rule(times, lambda ybar, a, b: ybar * b, lambda ybar, a, b: a * ybar)
    >>> [float(bar) for bar in cr.grad(times, argnums=(0, 1))(2.0, 3.0)]
    [3.0, 2.0]
    """
    _add_kind(f, BilinearRule(f, left, right, defined_at(left)))


def selection_rule(f: Any, /) -> None:
    """Declare that ``f(condition, a, b)`` takes each entry from ``a`` or ``b``, as where does."""
    _add_kind(f, SelectionRule(f, caller_line()))


def non_differentiable(f: Any, /, *types: Any) -> None:
    """Declare that the result of ``f`` does not change when its arguments do.

    Parameters
    ----------
    f : callable
    *types : type
        Restrict the declaration to arguments of these types. Or more functions, each then
        declared for all arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def bucket(x):
    ...     return np.floor(x)
    >>> cr.non_differentiable(bucket)
    >>> float(cr.grad(lambda x: x * bucket(x))(2.5))
    2.0
    """
    if types and all(isinstance(t, type) for t in types):
        warn_if_never_asked(f)
        kind = NonDifferentiable(f, len(types), None, caller_line())
        for table in (frule, rrule):
            table.add_for_types(f, types, kind)
        return
    for function in (f, *types):
        _add_kind(function, NonDifferentiable(function, 0, None, caller_line()))


def fresh_array(*functions: Any) -> None:
    """Declare that these make new arrays, which may then be written to."""
    for f in functions:
        _add_kind(f, FreshArray(f, 0, None, caller_line()))


def composed(f: Any) -> Callable[[Callable], Callable]:
    """Decorator: differentiate ``f`` through the function below, which does the same."""

    def define(body: Callable) -> Callable:
        _add_kind(f, Composed(f, body, defined_at(body)))
        return body

    return define


def composed_where_traced(f: Any, *options: str) -> Callable[[Callable], Callable]:
    """Decorator: where one of these options is traced, differentiate through the function below.

    A rule differentiates positional arguments; to its options it is constant.
    """

    def define(body: Callable) -> Callable:
        for option in options:
            traced_options[f, option] = body
        return body

    return define


def _add_kind(f: Any, kind: Kind) -> None:
    warn_if_never_asked(f)
    for table in (frule, rrule):
        table.add_kind(f, kind)


def opt_out(table: RuleTable, f: Any, /, *types: Any) -> None:
    """Let the engine differentiate the body of ``f`` for arguments of ``types``.

    Parameters
    ----------
    table : frule or rrule
    f : callable
    *types : type
        One per positional argument; none means any arguments.

    Examples
    --------
    >>> import chainrules as cr
    >>> def total(x): return sum(x)
    >>> @cr.rrule.register(total)
    ... def total_rrule(total, x):
    ...     return total(x), lambda ybar: (cr.NoTangent(), [ybar] * len(x))
    >>> cr.opt_out(cr.rrule, total, tuple)
    >>> cr.rrule(total, (1.0, 2.0)) is None, cr.rrule(total, [1.0, 2.0]) is None
    (True, False)
    """
    if not isinstance(table, RuleTable):
        raise RuleError("opt_out takes the table first: opt_out(cr.rrule, f, *types).")
    signature = tuple(dispatch_types(t) for t in types) if types else ([object],)
    table.add_for_types(f, hashable(signature), OPTED_OUT)


def which(table: RuleTable, /, *call: Any, **kwargs: Any) -> str:
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
    >>> print(cr.which(cr.rrule, np.floor, 1.5).partition(" (numpy_constant")[0])
    rrule of numpy.floor for (float): non-differentiable
    """
    if not isinstance(table, RuleTable):
        raise RuleError("which takes the table first: which(cr.rrule, f, *args).")
    config = None
    if call and isinstance(call[0], RuleConfig):
        config, *rest = call
        call = tuple(rest)
    f, *args = call
    rule = table.find(config, f, tuple(args))
    given = ", ".join(_type_name(x) for x in args)
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


def _why(rule: RuleSignature, config: Any) -> str:
    chosen = [t for t in rule.types if t is not object]
    reasons = []
    if chosen:
        names = ", ".join(getattr(t, "__name__", str(t)) for t in chosen)
        reasons.append(f"the most specific for its argument types ({names})")
    if rule.config_type is not None:
        reasons.append(f"{config!r} has {rule.config_type.__name__}")
    return "because " + " and ".join(reasons) if reasons else "registered for any arguments"


def _why_none(table: RuleTable, config: Any, f: Any) -> str:
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


def _type_name(x: Any) -> str:
    return type_under(x).__name__


def derivatives_given_output(y: Any, f: Any, /, *args: Any) -> tuple:
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
    kind, methods = rrule.kind_of(f), rrule.methods_of(f)
    if isinstance(kind, ScalarRule):
        return (tuple(partial(y, *args) for partial in kind.partials),)
    if methods is not None and methods.partials is not None:
        table, setup = methods.partials
        head = () if setup is None else (setup(y, *args),)
        return tuple(tuple(p(*head, y, *args) if callable(p) else p for p in row) for row in table)
    raise MissingRuleError(f"{name_of(f)} is not defined by scalar_rule, so its partials are "
                           "not known on their own.")  # fmt: skip
