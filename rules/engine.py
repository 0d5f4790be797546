"""What every engine does with a call, whatever it keeps of it: find the rule, and bind it."""

from collections.abc import Callable
from typing import Any, ClassVar

from ..config import LostDerivativeError, RuleConfig, user_line
from .calls import body
from .kinds import Kind
from .levels import innermost, next_level, strip, value
from .methods import OPTED_OUT
from .missing import missing_rule, runs_in_python
from .objects import healed, healed_call, refuse_objects
from .operands import is_operand
from .registry import RuleTable, traced_options
from .signatures import RuleSignature, name_of, positional
from .writing import mark_views


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
        traced = bool(kwargs) and innermost(kwargs.values()) is not None
        if traced:
            args, kwargs = positional(f, args, kwargs)
        rule = self.table.find(self.config, f, args)
        if isinstance(rule, Kind):
            return rule.answer(self, f, args, kwargs, traced)
        if rule is None or rule is OPTED_OUT:
            if runs_in_python(f):
                return healed(body(f)(*args, **kwargs))
            raise missing_rule(self.table.name, f, args, kwargs, self)
        args, kwargs = rule.bind(f, args, kwargs)
        if kwargs and innermost(kwargs.values()) is self:
            return self.call_with_traced_option(f, args, kwargs)
        values = tuple([strip(x, self) for x in args])
        y = self.apply_rule(rule, f, args, kwargs, values)
        refuse_objects(f, y)
        mark_views(y, args)
        return y

    def call_operator(self, ufunc: Any, operation: Callable, a: Any, b: Any) -> Any:
        """Answer an operator whose rule is not elementwise: ``@``, ``//``, comparisons."""
        if not (is_operand(a) and is_operand(b)):
            return NotImplemented
        kind = self.table.kinds.get(ufunc)
        if kind is not None and kind.constant:
            return operation(value(a), value(b))
        level = innermost((a, b))
        return level.call(ufunc, (a, b), {})

    def call_with_traced_option(self, f: Any, args: tuple, kwargs: dict) -> Any:
        """Answer a call with options that depend on an input: by another function, or not."""
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
