"""The shortest ways to define rules: each writes into both tables at once.

``scalar_rule(np.sin, lambda _, x: np.cos(x))`` is the derivative of the sine, forward and back.
"""

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from multipledispatch.variadic import Variadic

from ...config import (
    RuleError,
    caller_line,
    defined_at,
)
from ..annotations import Function
from ..signatures import dispatch_types, name_of
from ..tracing.seen import is_shown, seen
from .compositions import Composed, FollowedBySource, source_of, with_value
from .keys import warn_if_never_asked
from .kinds import Kind, OutputsRule, ScalarRule
from .linear_kinds import BilinearRule, LinearRule
from .methods import OPTED_OUT
from .other_kinds import FreshArray, NonDifferentiable, Saved, Text
from .reduction_kind import ReductionRule, refuse_real
from .selection_kind import SelectionRule
from .tables import RuleTable, frule, rrule, traced_options


def scalar_rule(f: Function, /, *partials: Any, branch: Any = None) -> None:
    """Give the derivative of an elementwise ``f`` by one partial per argument.

    Parameters
    ----------
    f : callable
        Takes and returns numbers or arrays that broadcast; usually a ufunc.
    *partials : callable or number
        ``partial(y, *args)`` is dy/dx_i at every element, or a number where it is constant.
        For several outputs give one tuple of partials per output; ``y`` is then the tuple of
        outputs. For a map from complex to real, p with ``ydot = Re(p * xdot)``. A parameter
        that a partial does not look at has a name with an underscore in front, as in
        ``lambda _, x: np.cos(x)``: then no tape keeps what it stands for.
    branch : callable, optional
        ``branch(y, *args)``: the choice at a tie.

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
    >>> cr.scalar_rule(softplus, lambda _, x: 1 / (1 + np.exp(-x)))
    >>> float(cr.grad(softplus)(0.0))
    0.5
    """
    if not partials:
        raise RuleError(f"scalar_rule({name_of(f)}) needs one partial per argument.")
    if not isinstance(partials[0], tuple):
        add_kind(f, ScalarRule(f, partials, caller_line(), branch))
        return
    if len({len(row) for row in partials}) != 1:
        raise RuleError(f"every output of {name_of(f)} needs the same number of partials.")
    add_kind(f, OutputsRule(f, partials, caller_line()))


def linear_rule(f: Function, transpose: Callable | None = None, /, **declared: Any) -> Any:
    """Give the derivative of an ``f`` that is linear in its first argument by its transpose.

    Parameters
    ----------
    f : callable
        Linear in its first argument; the others are options.
    transpose : callable, optional
        ``transpose(ybar, space, **options)``, where ``space`` has the ``shape`` and ``dtype`` of
        the argument, not its data. Without it, ``linear_rule(f)`` is a decorator. Options that
        its signature omits are unsupported.
    adapt : callable, optional
        ``adapt(x, **options)`` returns the options to go by, for those that depend on how ``x``
        is stored, and raises for options with which ``f`` is not linear.
    constants : tuple of str, optional
        Options that add something constant to the result, as ``initial`` of ``np.sum`` does.
    moves, adds, elementwise : bool, optional
        What each entry of the result is: one entry of the argument, or a constant, as for
        ``np.flip``; a sum of entries, as for ``np.sum``; or made of the entry in its place, as for
        ``np.real``. Structural zeros then pass: what was masked or overwritten sends nothing back.
    drops : bool, optional
        Whether ``f`` leaves entries out, as indexing does: these are structural zeros.
    idles : callable, optional
        ``idles(shape, **options)`` says which entries of the result come from one of an argument
        of this shape, None where all do. The others, as the edges of ``np.pad``, are structural
        zeros of tangents.
    views : bool, optional
        Whether the result may be a view of the argument; if not given, where ``f`` ``moves``.
    axes : str or tuple of str, optional
        The options that are axes, or tuples of axes. So ``f`` runs on many directions at once,
        with the directions as the first axis and these shifted; ``None`` stands for all axes.
    block, pattern : callable, optional
        How ``f`` runs on a ``Block`` of directions, and on a sparsity ``Pattern``, where this
        does not follow from the above.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def total(x):
    ...     return np.sum(x)
    >>> @cr.linear_rule(total, adds=True)
    ... def total_transpose(ybar, space):
    ...     return np.broadcast_to(ybar, space.shape)
    >>> cr.grad(lambda x: 2 * total(x))(np.ones(3))
    array([2., 2., 2.])
    """
    if transpose is None:

        def define(transpose: Callable) -> Callable:
            linear_rule(f, transpose, **declared)
            return transpose

        return define
    add_kind(f, LinearRule(f, transpose, defined_at(transpose), **declared))
    return None


def bilinear_rule(f: Function, left: Callable, right: Callable, /, **declared: Any) -> None:
    """Give the derivative of an ``f`` that is linear in each of its two arguments.

    Parameters
    ----------
    f : callable
        Linear in ``a`` and in ``b``.
    left, right : callable
        ``left(ybar, a, b, **options)`` pulls to ``a``, ``right(ybar, a, b, **options)`` to ``b``.
        Axes that were broadcast are summed by the tool.
    block, pattern : callable, optional
        As for ``linear_rule``.

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
    add_kind(f, BilinearRule(f, left, right, defined_at(left), **declared))


def reduction_rule(
    *functions: Function, adapt: Callable = refuse_real, counts: Callable | None = None
) -> Callable:
    """Decorator: give the derivative of reductions by the weight of each entry.

    Its signature is ``weights(f, x, y, axis, **options)``: for the entries of ``x``, the
    derivatives of that entry of ``y`` which they go into. ``y`` keeps the axes that are reduced;
    ``axis`` has a default where that of ``f`` is not None. ``keepdims``, ``dtype`` and ``where``
    are seen to, and the options that the function names are passed on. ``adapt(x, **options)``
    returns the options to go by, and refuses some; if it is not given, dtypes of
    integers, and real ones of complex numbers. ``counts(f, x, where)`` says which entries count,
    where that are not those of ``where``: no tangent of others goes into the result.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def energy(x, axis=None, keepdims=False):
    ...     return np.sum(x * x, axis=axis, keepdims=keepdims)
    >>> @cr.reduction_rule(energy)
    ... def energy_weights(energy, x, y, axis):
    ...     return 2 * x
    >>> cr.grad(lambda x: np.max(energy(x, axis=1)))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[0., 0.],
           [6., 8.]])
    """

    def define(weights: Callable) -> Callable:
        for f in functions:
            add_kind(f, ReductionRule(f, weights, defined_at(weights), adapt, counts))
        return weights

    return define


def selection_rule(f: Function, /) -> None:
    """Declare that ``f(condition, a, b)`` takes each entry from ``a`` or ``b``, as where does."""
    add_kind(f, SelectionRule(f, caller_line()))


def non_differentiable(f: Function, /, *types: Any) -> None:
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
        add_kind(function, NonDifferentiable(function, 0, None, caller_line()))


def fresh_array(*functions: Function) -> None:
    """Declare that these make new arrays, which may then be written to."""
    for f in functions:
        add_kind(f, FreshArray(f, 0, None, caller_line()))


def written_as_text(*functions: Function) -> None:
    """Declare that these give text of an array, from which no numbers are to be read."""
    for f in functions:
        add_kind(f, Text(f, 0, None, caller_line()))


def saved(*functions: Function) -> None:
    """Declare that these write numbers into a file, which traced ones have no place in."""
    for f in functions:
        add_kind(f, Saved(f, 0, None, caller_line()))


def composed(
    f: Function, *, value: str | None = None, of_numbers: np.ufunc | None = None
) -> Callable[[Callable], Callable]:
    """Decorator: differentiate ``f`` through the function below, which does the same.

    Parameters
    ----------
    f : callable
    value : "own", optional
        The value, with its last bit, its shape and its errors, is what ``f`` itself returns; the
        function below gives the derivative. It is handed that value if it has a parameter ``own``.
    of_numbers : ufunc, optional
        Whose elementwise rule is that of ``f``, too, for as many arguments as it takes.

    Notes
    -----
    The function below has the parameters of ``f``, or the first of them, or some by the same names.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def spread(x):
    ...     return np.ptp(x)
    >>> @cr.composed(spread, value="own")
    ... def spread_composed(x):
    ...     return np.max(x) - np.min(x)
    >>> cr.grad(spread)(np.array([1.0, 4.0, 2.0]))
    array([-1.,  1.,  0.])
    """

    def define(body: Callable) -> Callable:
        kind = Composed(f, body, defined_at(body), value)
        if of_numbers is not None:
            kind.of_numbers = ScalarRule(f, rrule.scalars[of_numbers].given, kind.line)
        add_kind(f, kind)
        return kind.inner

    return define


def composed_each(table: Mapping, *, value: str | None = None) -> Callable[[Callable], Callable]:
    """Decorator: compose each function of a family, a key of ``table``, of the function below.

    That is handed the entry first: ``composed_each({np.max: 1, np.min: -1})`` above
    ``def extreme(sign, x)`` differentiates ``np.min(x)`` as ``extreme(-1, x)``.
    """

    def define(body: Callable) -> Callable:
        for f, entry in table.items():
            add_kind(f, Composed(f, functools.partial(body, entry), defined_at(body), value))
        return body

    return define


def composed_where_traced(f: Function, *options: str) -> Callable[[Callable], Callable]:
    """Decorator: where one of these options is traced, differentiate through the function below.

    A rule differentiates positional arguments; to its options it is constant.
    """

    def define(body: Callable) -> Callable:
        for option in options:
            traced_options[f, option] = body
        return body

    return define


def by_source(module: ModuleType, names: str) -> None:
    """Differentiate functions of a library in Python through their own source.

    The steps are those that the library takes, so that the value is the same to the last bit.

    Parameters
    ----------
    module : module
    names : str
        Between blanks; those are left out that this version of the library does not have.
    """
    for name in filter(functools.partial(hasattr, module), names.split()):
        f = getattr(module, name)
        add_kind(f, FollowedBySource(f, source_of(f), defined_at(by_source)))


def add_kind(f: Function, kind: Kind) -> None:
    """Make ``kind`` the derivative of ``f``, forward and back."""
    # What a rule calls again is seen further out.
    for rule in (kind, kind.of_numbers):
        if rule is not None:
            rule.f = seen(f) if is_shown(f) else f
    warn_if_never_asked(f)
    for table in (frule, rrule):
        table.add_kind(f, kind)


def opt_out(table: RuleTable, f: Function, /, *types: Any) -> None:
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
    signature = tuple(map(dispatch_types, types)) if types else (Variadic[object],)
    table.add_for_types(f, signature, OPTED_OUT)


scalar_rule(with_value, 1, 0)  # it is y, with the bits of own
