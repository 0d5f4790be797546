"""What every engine does with a call, whatever it keeps of it: find the rule, and bind it."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..config import LostDerivativeError, RuleConfig, user_line
from .calls import body
from .kinds import Composed, FreshArray, Kind, LinearRule, NonDifferentiable, ScalarRule
from .levels import innermost, next_level, strip, value
from .methods import OPTED_OUT
from .missing import missing_rule, runs_in_python
from .objects import healed, healed_call
from .operands import is_operand
from .registry import RuleTable, traced_options
from .signatures import RuleSignature, name_of, positional
from .views import is_draft, tie_views, view_makers, views_of_draft
from .writing import is_fresh, mark_views


def _refuse_objects(f: Any, y: Any) -> None:
    if type(y) is np.ndarray and y.dtype.kind == "O":
        raise LostDerivativeError(
            f"{name_of(f)} of a traced value and an array of dtype object gave objects, which have "
            f"no derivative, in {user_line()}.\n  make it an array of numbers: a.astype(float)"
        )


class Engine:
    """One run of one transform: base class of the levels of the two engines."""

    __slots__ = ("config", "given", "number")
    table: ClassVar[RuleTable]
    sweeps = 0  # how many sweeps over the record of this run are going on

    def __init__(self, config: RuleConfig) -> None:
        self.number = next_level()
        self.config = config
        # What the function was called with, and what it got for it; until something is written.
        self.given: tuple[tuple, list] | None = None

    def check_live(self) -> None:
        """Raise ``EscapedTraceError`` where the run has ended."""

    def constant(self, x: Any) -> Any:
        """Return ``x`` as an array of this level that depends on nothing yet."""
        raise NotImplementedError

    def publish(self, root: Any, draft: tuple) -> None:
        """Give ``root`` the value that is in its draft."""
        raise NotImplementedError

    def refresh(self, view: Any, root: Any, path: Any) -> None:
        """Give ``view`` its value anew, along its path from ``root``."""
        raise NotImplementedError

    def apply_kind(
        self, kind: Kind, f: Any, args: tuple, kwargs: dict, values: tuple, y: Any
    ) -> Any:
        """Return ``y = f(*values, **kwargs)`` traced, by the kind that is the rule of ``f``."""
        raise NotImplementedError

    def apply_rule(
        self, rule: RuleSignature, f: Any, args: tuple, kwargs: dict, values: tuple
    ) -> Any:
        """Answer a call of ``f`` by a hand-written rule."""
        raise NotImplementedError

    def call(self, f: Any, args: tuple, kwargs: dict) -> Any:
        """Answer a call of ``f`` in which a traced value of this level takes part."""
        self.check_live()
        given = args, kwargs
        args, kwargs = healed_call(args, kwargs)
        if args is not given[0]:
            # What was healed may belong to a level inside this one, which answers first.
            level = innermost((*args, *kwargs.values()))
            if level is not self:
                return level.call(f, args, kwargs)
        plain = kwargs
        if kwargs and innermost(kwargs.values()) is not None:
            plain = {}
            args, kwargs = positional(f, args, kwargs)
        rule = self.table.find(self.config, f, args)
        kind = type(rule)
        if kind is NonDifferentiable or kind is FreshArray:
            y = body(f)(*map(value, args), **{k: value(x) for k, x in kwargs.items()})
            return self.constant(y) if kind is FreshArray and is_fresh(y) else y
        if kind is Composed:
            args, kwargs = rule.bind(f, args, kwargs)
            return rule.body(*args, **kwargs)
        if rule is None or rule is OPTED_OUT:
            if runs_in_python(f):
                return healed(body(f)(*args, **kwargs))
            raise missing_rule(self.table.name, f, args, kwargs, self)
        args, kwargs = rule.bind(f, args, kwargs)
        if kwargs and kwargs is not plain and innermost(kwargs.values()) is self:
            return self._call_with_traced_option(f, args, kwargs)
        if kind is LinearRule and f in view_makers and is_draft(args[0]):
            y = views_of_draft(args[0], f, kwargs)
            if y is not NotImplemented:
                return y
        values = tuple([strip(x, self) for x in args])
        if not isinstance(rule, Kind):
            y = self.apply_rule(rule, f, args, kwargs, values)
            _refuse_objects(f, y)
            mark_views(y, args)
            return y
        y = f(*values, **kwargs)
        _refuse_objects(f, y)
        if kind is ScalarRule:
            y = rule.through_branch(y, values)  # type: ignore[attr-defined]
        if kind is not LinearRule:
            return self.apply_kind(rule, f, args, kwargs, values, y)
        if y is values[0]:
            return args[0]  # NumPy gave the very same array back
        traced = self.apply_kind(rule, f, args, kwargs, values, y)
        tie_views(traced, args[0], f, kwargs)
        return traced

    def call_operator(self, ufunc: Any, operation: Callable, a: Any, b: Any) -> Any:
        """Answer an operator whose rule is not elementwise: ``@``, ``//``, comparisons."""
        if not (is_operand(a) and is_operand(b)):
            return NotImplemented
        if type(self.table.kinds.get(ufunc)) is NonDifferentiable:
            return operation(value(a), value(b))
        level = innermost((a, b))
        return level.call(ufunc, (a, b), {})

    def _call_with_traced_option(self, f: Any, args: tuple, kwargs: dict) -> Any:
        names = [name for name, x in kwargs.items() if innermost((x,)) is self]
        hashable = type(f).__hash__ is not None
        instead = traced_options.get((f, names[0])) if hashable else None
        if instead is not None and len(names) == 1:
            return instead(*args, **kwargs)
        raise LostDerivativeError(
            f"{name_of(f)} has no derivative in its option {names[-1]!r}, which depends on a "
            f"differentiated input in {user_line()}.\n"
            f"  write {names[-1]}=cr.value(...), where no derivative is wanted"
        )
