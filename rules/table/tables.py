"""The two tables of rules, ``frule`` and ``rrule``: asking them, and registering into them.

A rule is found by the identity of the function first, then by multipledispatch on the types
of the values under the traces, then by the traits of the config.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from multipledispatch.variadic import Variadic

from ...config import ArgumentTypeError, RuleConfig, RuleError, defined_at
from ..annotations import Function
from ..loading import lacking, load, needed
from ..signatures import RuleSignature, name_of
from ..tangents.zeros import linear_in
from ..tracing.funnel import shown
from ..tracing.level import type_under
from ..tracing.object_arrays import healed
from .arity import check_arity
from .asked_again import Asked
from .keys import (
    carried,
    carries_rules,
    instances,
    is_of_others,
    transformed,
    warn_if_never_asked,
)
from .kinds import Kind, ScalarRule
from .methods import OPTED_OUT, Methods
from .pullback import CheckedPullback, healed_pair

# Each takes a function that has no rule, and says whether it has just registered more rules.
# Rules for optional libraries come this way, so that nobody imports a library for them.
late_rulesets: list[Callable[[Any], bool]] = []

# Each makes the rules of a function in one direction of those in the other, or says that it cannot.
derivers: list[Callable[[Any], bool]] = []

# By function and option: what to differentiate through where that option is traced.
traced_options: dict[tuple[Any, str], Callable] = {}


def load_rules_of(f: Function) -> bool:
    """Register the rules of the library that ``f`` belongs to, if that has not been done."""
    loaded = [load(f) for load in list(late_rulesets)]
    return any(loaded)


class RuleTable:
    """One direction's rules: call it to ask, ``register`` to add."""

    leading: int

    def __init__(self, name: str) -> None:
        self.name = name
        self.methods: dict[Any, Methods] = {}
        self.functors: dict[type, Methods] = {}
        # What engines look at first: functions, of those that stay, whose only rule is a kind.
        self.kinds: dict[Any, Kind] = {}
        self.scalars: dict[Any, ScalarRule] = {}  # those of them that have a short way

    def methods_of(self, f: Function | instances) -> Methods | None:
        """Return the rules registered for ``f`` itself, or for calling instances of its class."""
        try:
            found = self.methods.get(f)
        except TypeError:
            found = None
        if found is not None:
            return found
        found = carried(f).get(self.name)
        return self._by_class(f) if found is None else found

    def _by_class(self, f: object) -> Methods | None:
        """Return the rules registered for calling instances of the class of ``f``."""
        functors = self.functors
        if not functors or functors.keys().isdisjoint(type(f).__mro__):
            return None
        return next(functors[base] for base in type(f).__mro__ if base in functors)

    def kind_of(self, f: Function) -> Kind | None:
        """Return the kind that is the only rule of ``f``, or None."""
        methods = self.methods_of(f)
        return None if methods is None or methods.alternatives else methods.kind

    def find(self, config: RuleConfig | None, f: Function, args: tuple) -> Any:
        """Return the rule, kind or ``OPTED_OUT`` that answers this call, or None."""
        cls = type(f)
        bare = not vars(f) if cls is FunctionType else cls in transformed
        if bare and f not in self.methods and self.functors.keys().isdisjoint(cls.__mro__):
            return None  # most often: what a transform was given
        methods = self.methods_of(f)
        if methods is None:
            if (of_library := shown(f)) is not f:
                return self.find(config, of_library, args)
            if type(f) is FunctionType and not hasattr(f, "__primitive__"):
                return None
            found = load_rules_of(f) or any(derive(f) for derive in derivers) or self.methods_of(f)
            return self.find(config, f, args) if found else None  # by another thread, too
        if not methods.alternatives:
            return methods.kind
        return methods.find(type(config), tuple(map(type_under, args)))

    def add_kind(self, f: Function, kind: Kind) -> None:
        """Make ``kind`` the derivative of ``f``, in place of every rule it had."""
        former = self._entry(f)
        self.unregister(f)
        table, key = self._place(f)
        entry = table[key] = Methods(former.name)
        entry.kind = kind
        entry.claim(None, former)
        if not carries_rules(f):
            self.kinds[f] = kind
            if isinstance(short := kind.of_numbers or kind, ScalarRule):
                self.scalars[f] = short
            if kind.linear:
                linear_in[f] = kind.count

    def add_for_types(self, f: Function, types: tuple, rule: object) -> None:
        """Let ``rule`` answer calls of ``f`` with arguments of ``types``, whatever the config."""
        self._entry(f).add(types, None, rule)

    def _entry(self, f: Any) -> Methods:
        f = shown(f)
        if lacking() and is_of_others(f):
            load()  # what would replace this rule otherwise, when it is loaded
        load_rules_of(f)  # likewise
        self._forget_kind(f)
        table, key = self._place(f)
        if key not in table:
            table[key] = Methods(name_of(f))
        return table[key]

    def _place(self, f: Any) -> tuple[dict, Any]:
        """Return where the rules of ``f`` are kept, and under which key."""
        if isinstance(f, instances):
            return self.functors, f.cls
        if not carries_rules(f):
            return self.methods, f
        rules = carried(f)
        f.__chainrules__ = f, rules
        return rules, self.name

    def rules_by_hand(self, f: Function) -> list[RuleSignature]:
        """Return the hand-written rules of ``f`` itself, each once."""
        methods = self.methods_of(f)
        found = {} if methods is None else methods.alternatives
        rules = [rule for rows in found.values() for _, rule in rows]
        return list({id(r): r for r in rules if isinstance(r, RuleSignature)}.values())

    def mark_derived(self, f: Function | instances) -> None:
        """Say that the rules of ``f`` were made from those in the other table."""
        self._entry(f).derived = True

    def is_derived(self, f: Function | instances) -> bool:
        """Say whether the rules of ``f`` were made from those in the other table."""
        methods = self.methods_of(f)
        return methods is not None and methods.derived

    def _forget_kind(self, f: Function | instances) -> None:
        self.kinds.pop(f, None)
        self.scalars.pop(f, None)

    def register(self, f: Function | instances, /) -> Callable[[Callable], Callable]:
        """Decorator: the function below answers calls of ``f``.

        Parameters
        ----------
        f : callable
            The function; a class, for its constructor; or ``instances(cls)``.

        Raises
        ------
        RuleError
            If the decorated function's signature is not that of a rule.
        """
        if not callable(f) and not isinstance(f, instances):
            raise RuleError(f"{self.name}.register needs the function itself, not {f!r}.")

        def add(function: Callable) -> Callable:
            self.add(f, function)
            warn_if_never_asked(f)
            return function

        return add

    def add(self, f: Any, function: Callable) -> None:
        """Let the rule ``function`` answer calls of ``f``, of the types it is annotated with."""
        for table in (frule, rrule):
            if table.is_derived(f):
                table.unregister(f)
        functor = f.cls if isinstance(f, instances) else None
        rule = RuleSignature(function, f, self.leading, functor)
        check_arity(self.name, rule, f)
        methods = self._entry(f)
        for count in range(rule.required, rule.positional + 1):
            if rule.varargs is None or count == rule.positional:
                several = () if rule.varargs is None else (Variadic[rule.varargs],)
                methods.add((*rule.types[:count], *several), rule.config_type, rule)

    def unregister(self, f: Function) -> None:
        """Forget every rule of ``f`` in this direction."""
        table, key = self._place(f)
        table.pop(key, None)
        self._forget_kind(f)

    def __repr__(self) -> str:
        count = len(self.methods) + len(self.functors)
        return f"<{self.name}: rules for {count} functions, and for those that carry their own>"


class FRuleTable(RuleTable):
    """``frule([config,] tangents, f, *args, **kwargs)`` gives ``(y, ydot)``, or None.

    Parameters
    ----------
    config : RuleConfig, optional
        What the asking engine can do. Without one, rules that ask for a trait are not found.
    tangents : tuple
        ``(fdot, *argdots)``; ``NoTangent()`` for a plain function.
    f : callable
    *args, **kwargs
        The point.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, ydot = cr.frule((cr.NoTangent(), 1.0), np.sin, 0.0)
    >>> float(y), float(ydot)
    (0.0, 1.0)
    >>> cr.frule((cr.NoTangent(), 1.0), lambda x: x, 0.0) is None
    True
    """

    leading = 2

    def __call__(self, *call: Any, **kwargs: Any) -> tuple | None:
        if needed:
            load()
        config, call = split_config(call)
        if len(call) < 2 or not isinstance(call[0], tuple):
            raise ArgumentTypeError(
                "frule takes ([config,] tangents, f, *args), and tangents is a tuple."
            )
        tangents, f, args = call[0], call[1], call[2:]
        if len(tangents) != 1 + len(args):
            raise ArgumentTypeError(
                f"frule of {name_of(f)} got {len(args)} arguments and {len(tangents)} tangents.\n"
                "  give one tangent for the function itself, then one per argument"
            )
        rule = self.find(config, f, args)
        if rule is None or rule is OPTED_OUT:
            return None
        with Asked("frule", config, f, args):
            if isinstance(rule, Kind):
                return rule.frule(config, tangents, f, args, kwargs)
            args, kwargs = rule.bind(f, args, kwargs)
            return self.run(rule, config, tangents[: 1 + len(args)], f, args, kwargs)

    @staticmethod
    def run(
        rule: RuleSignature,
        config: RuleConfig,
        tangents: tuple,
        f: Function,
        args: tuple,
        kwargs: dict,
    ) -> tuple:
        """Call a hand-written rule with arguments bound to it, and check what it gives back."""
        head = (tangents, f) if rule.config_type is None else (config, tangents, f)
        pair = rule.function(*head, *args, **kwargs)
        if type(pair) is not tuple or len(pair) != 2:
            raise RuleError(
                f"the frule of {name_of(f)} ({defined_at(rule.function)}) must return (y, ydot)."
            )
        return healed_pair(pair)


class RRuleTable(RuleTable):
    """``rrule([config,] f, *args, **kwargs)`` gives ``(y, pullback)``, or None.

    ``pullback(ybar)`` gives ``(fbar, *argbars)``: one cotangent for the function itself
    (``NoTangent()`` for a plain one), then one per positional argument.

    Parameters
    ----------
    config : RuleConfig, optional
        What the asking engine can do. Without one, rules that ask for a trait are not found.
    f : callable
    *args, **kwargs
        The point.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> y, pullback = cr.rrule(np.multiply, 2.0, 3.0)
    >>> [float(bar) for bar in pullback(1.0)[1:]]
    [3.0, 2.0]
    >>> cr.rrule(lambda x: x, 0.0) is None
    True
    """

    leading = 1

    def __call__(self, *call: Any, **kwargs: Any) -> tuple | None:
        if needed:
            load()
        config, call = split_config(call)
        if not call:
            raise ArgumentTypeError("rrule takes ([config,] f, *args).")
        f, args = call[0], call[1:]
        rule = self.find(config, f, args)
        if rule is None or rule is OPTED_OUT:
            return None
        with Asked("rrule", config, f, args):
            if isinstance(rule, Kind):
                answer = rule.rrule(config, f, args, kwargs)
                return answer and (answer[0], CheckedPullback(answer[1], f, len(args)))
            bound, kwargs = rule.bind(f, args, kwargs)
            y, pullback = self.run(rule, config, f, bound, kwargs)
        pullback.options = len(args) - len(bound)
        return y, pullback

    @staticmethod
    def run(
        rule: RuleSignature, config: RuleConfig, f: Function, args: tuple, kwargs: dict
    ) -> tuple[Any, CheckedPullback]:
        """Call a hand-written rule with arguments bound to it, and check what it gives back."""
        head = (f,) if rule.config_type is None else (config, f)
        pair = rule.function(*head, *args, **kwargs)
        if type(pair) is not tuple or len(pair) != 2 or not callable(pair[1]):
            raise RuleError(
                f"the rrule of {name_of(f)} ({defined_at(rule.function)}) must return "
                "(y, pullback)."
            )
        return healed(pair[0]), CheckedPullback(pair[1], f, len(args), rule.positional)


class BatchRuleTable(RuleTable):
    """``batch_rule.register(f)``: how ``f`` runs on a batch of arguments at once.

    A rule is called ``([config,] axis_size, batched, f, *args, **kwargs)``. The arguments that are
    ``batched`` (a bool for each, or a container of bools) have the items along their first axis. It
    returns the result, and a bool, or a container of these: whether that has such an axis, too.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> @cr.primitive
    ... def rows(f, x):
    ...     return np.stack([f(row) for row in x])
    >>> @cr.batch_rule.register(rows)
    ... def rows_batch(config: cr.HasBatchMode, axis_size, batched, rows, f, x):
    ...     flat = np.reshape(x, (-1, x.shape[-1]))
    ...     y, _ = cr.batch_via_ad(config, len(flat), (True,), f, flat)
    ...     return np.reshape(y, (axis_size, -1)), True
    >>> cr.vmap(lambda x: rows(np.sum, x))(np.ones((4, 3, 2))).shape
    (4, 3)
    """

    leading = 3

    def __call__(self, *call: Any, **kwargs: Any) -> tuple | None:
        if needed:
            load()
        config, call = split_config(call)
        if len(call) < 3 or not isinstance(call[1], tuple):
            raise ArgumentTypeError(
                "batch_rule takes ([config,] axis_size, batched, f, *args), and batched is a tuple."
            )
        count, batched, f, args = call[0], call[1], call[2], call[3:]
        rule = self.given(config, f, args)
        if rule is None:
            return None
        args, kwargs = rule.bind(f, args, kwargs)
        return self.run(rule, config, count, batched[: len(args)], f, args, kwargs)

    def given(self, config: RuleConfig | None, f: Function, args: tuple) -> RuleSignature | None:
        """Return the rule that a user gave for a call of ``f``, or None."""
        if self.methods_of(f) is None:
            return None
        rule = self.find(config, f, args)
        return rule if isinstance(rule, RuleSignature) else None

    @staticmethod
    def run(
        rule: RuleSignature,
        config: RuleConfig | None,
        count: int,
        batched: tuple,
        f: Function,
        args: tuple,
        kwargs: dict,
    ) -> tuple:
        """Call a rule with arguments bound to it, and check what it gives back."""
        head = (count, batched, f) if rule.config_type is None else (config, count, batched, f)
        pair = rule.function(*head, *args, **kwargs)
        if type(pair) is not tuple or len(pair) != 2:
            raise RuleError(
                f"the batch rule of {name_of(f)} ({defined_at(rule.function)}) must return "
                "(y, whether y is batched)."
            )
        return healed(pair[0]), pair[1]


def split_config(call: tuple) -> tuple[Any, tuple]:
    """Return the config that a call of a table begins with, or None, and the rest."""
    if call and isinstance(call[0], RuleConfig):
        return call[0], call[1:]
    return None, call


frule = FRuleTable("frule")
rrule = RRuleTable("rrule")
batch_rule = BatchRuleTable("batch_rule")
