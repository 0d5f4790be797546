"""Rule dispatch shared by all engines: find the rule of a call and bind its arguments.

Of ``np.sum(x, 0)`` it makes ``np.sum(x, axis=0)``, finds the linear rule of ``np.sum``, and lets
the kind answer: that evaluates the sum, and says ``level.apply_kind`` what there is to keep.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeGuard

import numpy as np

from ...config import (
    ChainRulesError,
    EscapedTraceError,
    MutationError,
    RuleConfig,
    user_line,
)
from ...config.numpy_warnings import RAISED, as_before, is_as_entered, raising, settings, tell_user
from ..accelerated import numbers
from ..annotations import Function, Index, Value
from ..containers import LEAVES, are_settings, iterate_leaves
from ..refusals.table import OwnClassError, refusal
from ..signatures import RuleSignature, name_of, positional
from ..table.kinds import Kind
from ..table.methods import OPTED_OUT
from ..table.operands import has_lists
from ..table.other_kinds import NonDifferentiable
from ..table.tables import RuleTable, traced_options
from ..tracing.array import TracedArray
from ..tracing.classes.other_classes import answer_of, refuse_hidden
from ..tracing.classes.own_classes import (
    is_masked_array,
    is_of_its_own,
    masks_some,
    may_mask,
    numbers_of,
)
from ..tracing.classes.own_numbers import number_in, turn_of
from ..tracing.foreign_errors import explain
from ..tracing.funnel import array_of, body, call, getitem
from ..tracing.level import Level, Traced, innermost, next_level, strip_all, type_under, value
from ..tracing.no_rule import missing_rule, run_in_python
from ..tracing.object_arrays import (
    OBJECT,
    as_numbers,
    entrywise,
    healed,
    healed_call,
    holds_arrays,
    is_object_array,
    own_class_error,
    refuse_objects,
    result,
)
from ..tracing.operands import is_operand
from ..tracing.running import Run, innermost_run, refused
from ..tracing.views import Memory, may_share, next_of_views
from ..tracing.writing import mark_views, mark_views_of_healed
from .buffers import all_settled, is_writer, settled
from .whole_calls import may_run


def run(f: Function, args: Iterable, kwargs: dict) -> Any:
    """Run ``f`` on traced values, and return what it gives: healed, and without buffers.

    Raises
    ------
    LostDerivativeError
        If ``f`` went on after a traced value had refused to be a plain number.
    """
    this = Run()
    token, before = innermost_run.set(weakref.ref(this)), settings()
    try:
        tell_user(before)
        y = f(*args, **kwargs)
        y = settled(y) if isinstance(y, Traced) else all_settled(result(y))
        refuse_hidden(y)
    except Exception as error:
        ours = isinstance(error, ChainRulesError) or isinstance(error.__cause__, ChainRulesError)
        if this.error is None or ours or error is this.error:
            explain(error)
            raise
        hidden = this.hidden()
        if hidden is None:
            raise
        raise hidden from error
    finally:
        as_before(before)
        innermost_run.reset(token)
    if this.error is not None and (hidden := this.hidden()) is not None:
        raise hidden from this.error
    this.check()
    return y


def with_arrays(f: Function, args: tuple) -> tuple:
    """Return the arguments with arrays for lists: all of a ufunc's, for they are its operands.

    Of other functions of NumPy's those of traced numbers: a list may be an option of theirs.
    """
    if isinstance(f, np.ufunc):
        return tuple([array_of(x) if type(x) in (list, tuple) else x for x in args])
    if not name_of(f).startswith("numpy."):
        return args
    return tuple([array_of(x) if type(x) is list and is_of_numbers(x) else x for x in args])


def is_of_numbers(x: list) -> bool:
    leaves = list(iterate_leaves(x))
    return innermost(leaves) is not None and all(map(is_operand, leaves))


def escaped() -> EscapedTraceError:
    """Return the error of using a traced value after the run that it belongs to."""
    return refusal("value of an ended transform")


class Engine(Level):
    """One run of a transform that finds rules in a table: base class of the engines.

    An engine says by ``apply_kind`` and ``apply_rule`` what it does with a rule, and all calls of
    its traced values go there: operators, ufuncs, indexing, functions of NumPy, primitives. What
    it answers besides, for speed or for writes into arrays, it overrides.

    Parameters
    ----------
    config : RuleConfig
        What rules are handed.

    Examples
    --------
    Values and tangents, for functions of floats that have a rule in partials:

    >>> import numpy as np
    >>> import chainrules as cr
    >>> from chainrules.rules import Engine, TracedNumber, frule
    >>> class Pair(TracedNumber):
    ...     __slots__ = ("tangent",)
    >>> class Pairs(Engine):
    ...     table = frule
    ...     def apply_kind(self, kind, f, args, kwargs, values, y):
    ...         tangents = [getattr(x, "tangent", cr.ZeroTangent()) for x in args]
    ...         return self.pair(y, kind.push_all(tangents, y, values, kwargs))
    ...     def pair(self, x, xdot):
    ...         traced = Pair()
    ...         traced.primal, traced.at_level, traced.tangent = x, self, xdot
    ...         return traced
    >>> x = Pairs(cr.ForwardConfig()).pair(2.0, 1.0)
    >>> y = x * np.exp(x) + 3
    >>> [round(float(part), 6) for part in (y.primal, y.tangent)]
    [17.778112, 22.167168]
    """

    __slots__ = ("config", "entered", "given", "live", "number")
    table: ClassVar[RuleTable]

    def __init__(self, config: RuleConfig) -> None:
        self.number = next_level()
        self.config = config
        self.live = True
        self.entered = raising()
        # What the function was called with, and what it got for it; until something is written.
        self.given: tuple[tuple, list] | None = None

    def __repr__(self) -> str:
        entries = getattr(self, "recorded", None)
        count = "" if entries is None else f", {len(entries)} entries"
        ended = "" if self.live else ", ended"
        return f"<{type(self).__name__}, level {self.number}{count}{ended}>"

    def close(self) -> None:
        """End the run: traced values that escaped raise from now on."""
        self.live = False
        self.given = None

    def check_live(self) -> None:
        """Raise ``EscapedTraceError`` where the run has ended."""
        if not self.live:
            raise escaped()

    def apply_kind(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        """Return ``y = f(*values, **kwargs)`` traced, by the kind that is the rule of ``f``."""
        raise NotImplementedError

    def applied(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        """Apply a kind, whose derivative raises no errors that the user's code asked of values.

        Under settings of NumPy's that the function has made itself, an error of floating point is
        raised for ``y`` alone. Under those of the transform's caller it is raised, and the run
        does not go on if the function handles it.
        """
        try:
            return self.apply_kind(kind, f, args, kwargs, values, y)
        except RAISED as error:
            self._raise_of_derivative(error)
            with np.errstate(all="ignore"):
                return self.apply_kind(kind, f, args, kwargs, values, y)

    def _raise_of_derivative(self, error: Exception) -> None:
        if is_as_entered(self.entered) and not isinstance(error, ZeroDivisionError):
            raise refused(error)

    def _apply_again(
        self, error: Exception, rule: RuleSignature, f: Function, args: tuple, kwargs: dict
    ) -> Value:
        """Apply a rule that raised an error of floating point which ``f`` itself does not raise."""
        if any(map(may_run, iterate_leaves((args, kwargs)))):
            raise error
        body(f)(*value(args), **value(kwargs))
        self._raise_of_derivative(error)
        with np.errstate(all="ignore"):
            return self.apply_rule(rule, f, args, kwargs, strip_all(args, self))

    def apply_rule(
        self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict, values: tuple
    ) -> Value:
        """Answer a call of ``f`` by a hand-written rule."""
        raise NotImplementedError

    def hold_options(self, options: dict) -> dict:
        """Return what to keep of options, in which there are arrays that may be written to."""
        return options

    def constant(self, x: Value) -> Value:
        return x

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        raise MutationError(
            f"{type(self).__name__} cannot follow writes into arrays, in {user_line()}.\n"
            "  make a new array: np.where(mask, new, x), np.stack, np.concatenate"
        )

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        return self.call(ufunc, (x,), {})

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        if self.table.scalars.get(ufunc) is None:
            return self.call_operator(ufunc, operation, a, b)
        for x in (a, b):
            answer = None if self.carries(x) else self.meet(ufunc, operation, a, b, x)
            if answer is not None:
                return answer
        return self.call(ufunc, (a, b), {})

    def getitem(self, x: Traced, index: Index) -> Value:
        return call(getitem, (x, index), {})

    def carries(self, x: Value) -> TypeGuard[Traced]:
        """Say whether ``x`` is a traced value of this run."""
        return isinstance(x, Traced) and x.at_level is self

    def meet(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value, other: Value) -> Any:
        """Answer ``operation(a, b)`` where it is not for this level to do; None where it is.

        ``other`` is the one of the two that this level does not follow: a traced value of a level
        further in, which answers first, or what has to become a number or an array before.
        """
        if isinstance(other, Traced):
            if other.at_level.number > self.number:
                return other.at_level.binary(ufunc, operation, a, b)
        elif not is_operand(other, b if other is a else a):
            return answer_of(ufunc, operation, a, b, other)
        elif type(other) in LEAVES and not is_object_array(other):
            return None
        elif (answer := turn_of(ufunc, operation, a, b)) is not NotImplemented:
            return answer
        elif (number := number_in(other)) is not other:
            pair = (a, number) if other is b else (number, b)
            return self.binary(ufunc, operation, *pair)
        elif is_of_its_own(other):
            if is_masked_array(other):
                if may_mask(ufunc, other):
                    raise own_class_error(other)
                if not masks_some(other):
                    return self.binary(ufunc, operation, numbers_of(a), numbers_of(b))
            # A number of NumPy's does not ask the class on its right what its operators mean.
            number = b is other and issubclass(type_under(a), np.generic)
            return entrywise(ufunc if number else operation, (a, b), {})
        elif is_object_array(other):
            if holds_arrays(other):
                return entrywise(operation, (a, b), {})
            return self.binary(ufunc, operation, as_numbers(a), as_numbers(b))
        elif isinstance(other, list | tuple):
            return self.binary(ufunc, operation, *map(array_of, (a, b)))
        return None

    def call(self, f: Function, args: tuple, kwargs: dict) -> Value:
        if numbers is not None:
            y = numbers.answer_call(f, args, kwargs)
            if y is not NotImplemented:
                return y
        if not self.live:
            raise escaped()
        try:
            rule = self.table.kinds.get(f)  # as nearly always
        except TypeError:  # not hashable
            rule = None
        if type(rule) is NonDifferentiable and not kwargs:
            y = rule.of_plain(f, args)
            if y is not NotImplemented:
                return y
        given = args
        settings = not kwargs or are_settings(kwargs.values())
        if not settings or len(args) != 1 or not isinstance(args[0], Traced):
            try:
                args, kwargs = healed_call(f, args, kwargs, settings)
            except OwnClassError:
                return entrywise(f, args, kwargs)
        if args is not given:
            if args[0] is not given[0] and is_writer(f):
                raise refusal("write into objects", name=name_of(f))
            # What was healed may belong to a level inside this one, which answers first.
            level = innermost((*args, *kwargs.values()))
            y = level.call(f, args, kwargs)
            mark_views_of_healed(y, args, given)
            return y
        traced = not settings and innermost(kwargs.values()) is not None
        if traced:
            args, kwargs = positional(f, args, kwargs)
        if rule is None:
            rule = self.table.find(self.config, f, args)
        if isinstance(rule, Kind):
            return rule.answer(self, f, args, kwargs, settings)
        if rule is None or rule is OPTED_OUT:
            run = run_in_python(f)
            if run is not None:
                return healed(run(*args, **kwargs))
            raise missing_rule(self.table.name, f, args, kwargs, self)
        if has_lists(args):
            args = with_arrays(f, args)
        args, kwargs = rule.bind(f, args, kwargs)
        if kwargs and innermost(kwargs.values()) is self:
            return self.call_with_traced_option(f, args, kwargs)
        values = strip_all(args, self)
        try:
            y = self.apply_rule(rule, f, args, kwargs, values)
        except RAISED as error:
            y = self._apply_again(error, rule, f, args, kwargs)
        refuse_objects(f, y)
        if may_share(y.peek() if self.carries(y) else y, values):
            mark_views(y, args)
        return y

    def call_operator(self, ufunc: np.ufunc, operation: Callable, a: Value, b: Value) -> Value:
        """Answer an operator whose rule is not elementwise: ``@``, ``//``, comparisons."""
        other = b if self.carries(a) else a
        ours = self.carries(other) or (type(other) is np.ndarray and other.dtype is not OBJECT)
        if not ours and not is_operand(other, a if other is b else b):
            return answer_of(ufunc, operation, a, b, other)
        kind = self.table.kinds.get(ufunc)
        if kind is not None and kind.constant:
            return operation(value(a), value(b))
        if ours and kind is not None:
            if not self.live:
                raise escaped()
            return kind.answer(self, ufunc, (a, b), {}, True)
        return innermost((a, b)).call(ufunc, (a, b), {})

    def call_with_traced_option(self, f: Function, args: tuple, kwargs: dict) -> Any:
        """Answer a call with options that depend on an input: by another function, or not."""
        names = [name for name, x in kwargs.items() if innermost((x,)) is self]
        hashable = type(f).__hash__ is not None
        instead = traced_options.get((f, names[0])) if hashable else None
        if instead is not None and len(names) == 1:
            return instead(*args, **kwargs)
        raise refusal("traced option", name=name_of(f), option=names[-1])


if numbers is not None:
    numbers.register_memory(Engine, Memory, next_of_views)
