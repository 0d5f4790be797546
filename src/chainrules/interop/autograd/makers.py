"""Rules of a primitive in autograd's form: given by ``defvjp``, or asked for by hand.

A maker becomes an ``frule`` or an ``rrule`` of ours; and of any function with rules of ours
``primitive_vjps`` and ``primitive_jvps`` give a maker.
"""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ...config import ArgumentTypeError
from ...rules import frule, is_primitive, name_of, rrule
from .convention import pulled, pushed
from .core import sum_outgrads
from .rules import add_frule, add_rrule, add_transposed_frule
from .util import subvals


def defvjp_argnums(fun: Callable, vjpmaker: Callable) -> None:
    """Let ``vjpmaker(argnums, ans, args, kwargs)(g)`` give the cotangents of several arguments."""
    rules = _rules_of(fun)
    first = rules.vjpmaker is None
    rules.vjpmaker = vjpmaker
    if first:
        add_rrule(fun, rules.vjp)
        if rules.jvpmaker is None:
            add_transposed_frule(fun, rules.vjp)


def defjvp_argnums(fun: Callable, jvpmaker: Callable) -> None:
    """Let ``jvpmaker(argnums, gs, ans, args, kwargs)`` give the tangent of the result."""
    rules = _rules_of(fun)
    first = rules.jvpmaker is None
    rules.jvpmaker = jvpmaker
    if first:
        if rules.vjpmaker is not None:
            frule.unregister(fun)
        add_frule(fun, rules.jvp)


class _Rules:
    """Latest JVP and VJP makers of a primitive, called by the rules in our tables."""

    __slots__ = ("jvpmaker", "vjpmaker")

    def __init__(self) -> None:
        self.vjpmaker: Callable | None = None
        self.jvpmaker: Callable | None = None

    def vjp(self, *args: Any) -> Any:
        assert self.vjpmaker is not None
        pull = self.vjpmaker(*args)
        return lambda g: tuple(sum_outgrads((x,)) for x in pull(g))  # of sparse ones arrays

    def jvp(self, *args: Any) -> Any:
        assert self.jvpmaker is not None
        return self.jvpmaker(*args)


def _rules_of(fun: Any) -> _Rules:
    # Of a plain function whoever registers the rule warns: only those find it who ask by name.
    if not (is_primitive(fun) or isinstance(fun, FunctionType)):
        raise ArgumentTypeError(
            f"{name_of(fun)} is no primitive, and defvjp and defjvp give rules to primitives.\n"
            "  decorate it with primitive; or register a rule of ours, @cr.rrule.register(f)"
        )
    if not hasattr(fun, "autograd_rules"):
        fun.autograd_rules = _Rules()
    return fun.autograd_rules


class _Makers:
    """Rules in autograd's form, by the function that they belong to."""

    def __init__(self, table: Any, kept: str, define: Callable, made: Callable) -> None:
        self.table, self.kept, self.define, self.made = table, kept, define, made

    def __contains__(self, fun: Any) -> bool:
        known = self.table.methods_of(fun) is not None or self.table.kind_of(fun) is not None
        return hasattr(fun, "__wrapped__") or known

    def __getitem__(self, fun: Any) -> Callable:
        given = getattr(getattr(fun, "autograd_rules", None), self.kept, None)
        if given is not None:
            return given
        if fun not in self:
            raise KeyError(fun)
        return self.made(fun)

    def __setitem__(self, fun: Any, maker: Callable) -> None:
        self.define(fun, maker)

    def get(self, fun: Any, default: Any = None) -> Any:
        try:
            return self[fun]
        except KeyError:
            return default


def _of_arguments(fun: Callable, argnums: tuple, args: tuple, kwargs: dict) -> Callable:
    return lambda given: fun(*subvals(args, zip(argnums, given, strict=True)), **kwargs)


def _vjpmaker(fun: Callable) -> Callable:
    def vjpmaker(argnums: Any, ans: Any, args: tuple, kwargs: dict) -> Callable:
        f = _of_arguments(fun, argnums, args, kwargs)
        return pulled(f, tuple(args[i] for i in argnums))[0]

    return vjpmaker


def _jvpmaker(fun: Callable) -> Callable:
    def jvpmaker(argnums: Any, gs: Iterable, ans: Any, args: tuple, kwargs: dict) -> Any:
        f = _of_arguments(fun, argnums, args, kwargs)
        return pushed(f, tuple(args[i] for i in argnums))[0](tuple(gs))

    return jvpmaker


primitive_vjps = _Makers(rrule, "vjpmaker", defvjp_argnums, _vjpmaker)
primitive_jvps = _Makers(frule, "jvpmaker", defjvp_argnums, _jvpmaker)
