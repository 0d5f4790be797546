"""All rules of one function: which of them answers for given types and a given config.

Of ``f`` with a rule for ``(x: float)`` and one for ``(x: np.ndarray)`` the second answers
``f(np.ones(2))``.
"""

import sys
import warnings
from collections.abc import Hashable, Iterator
from typing import Any

from multipledispatch.conflict import AmbiguityWarning
from multipledispatch.dispatcher import Dispatcher
from multipledispatch.variadic import isvariadic

from ...config import RuleReplacedWarning
from ..signatures import RuleSignature
from .kinds import Kind


class _OptedOut:
    """Stands in the table where a signature asked to be differentiated by the engine."""

    def __repr__(self) -> str:
        return "opted out"


OPTED_OUT = _OptedOut()
_TABLES = f"{__package__}."  # the modules of the tables, which register for others


def registrar() -> tuple[str, int]:
    """Return the module that registers a rule, and the ``stacklevel`` of a warning for its line."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(_TABLES):
        depth, frame = depth + 1, frame.f_back
    return frame.f_globals.get("__name__", ""), depth


class Methods:
    """All rules of one function in one direction."""

    __slots__ = ("alternatives", "cache", "derived", "dispatcher", "homes", "kind", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        # Which package registered what: the rule for any arguments at None, others at their types.
        self.homes: dict[Hashable, str] = {}
        self.kind: Kind | None = None
        self.derived = False  # from the rules of the other direction
        self.dispatcher = Dispatcher(name)
        # types -> [(config type or None, rule)], the most specific config first
        self.alternatives: dict[tuple[type, ...], list[tuple[type | None, Any]]] = {}
        self.cache: dict[tuple, Any] = {}

    def claim(self, place: Hashable, former: "Methods | None" = None) -> None:
        """Note who registers the rule at a place, and warn if it was somebody else's.

        One's own is replaced where a module is loaded, or a cell of a notebook is run, again.
        """
        module, stacklevel = registrar()
        home = module.partition(".")[0]
        before = {self.homes.get(place, home)} if former is None else {*former.homes.values()}
        self.homes[place] = home
        for was in before - {home}:
            warnings.warn(
                f"a rule of {self.name} that {was} registered is replaced, for everybody.\n"
                "  to have another derivative for yourself, make a function of your own with "
                "@cr.primitive, and register the rule for that",
                RuleReplacedWarning,
                stacklevel=stacklevel,
            )

    def add(self, types: tuple, config_type: type | None, rule: object) -> None:
        if types not in self.alternatives:
            self.alternatives[types] = []
            self.dispatcher.add(types, lambda: types)
        rules = self.alternatives[types]
        self.claim(None if set(types) <= {object} and config_type is None else (types, config_type))
        rules[:] = [kept for kept in rules if kept[0] is not config_type]
        before = [_supersedes(other, config_type) for other, _ in rules]
        rules.insert(before.index(False) if False in before else len(rules), (config_type, rule))
        self.cache.clear()

    def find(self, config_type: type, types: tuple) -> Any:
        key = (config_type, types)
        try:
            return self.cache[key]
        except KeyError:
            found = self.cache[key] = self._search(config_type, types)
            return found

    def _search(self, config_type: type, types: tuple) -> Any:
        found = list(self._answers(config_type, types))
        # The most specific for the types. But where that calls back into an engine, one that asks
        # for a trait of somebody's own goes before it: it is for the few engines that have it.
        for asked, rule in found:
            if asked is None or not any(_asks_for_more(other, asked) for other, _ in found):
                return rule
        return self.kind

    def _answers(self, config_type: type, types: tuple) -> Iterator[tuple[type | None, Any]]:
        """Yield the rules that can answer, the most specific for the types first."""
        for given in [types, *(types[:n] for n in range(len(types) - 1, 0, -1))]:
            for signature in self._matches(given):
                for asked, rule in self.alternatives[signature]:
                    if asked is not None and not issubclass(config_type, asked):
                        continue
                    if given is types or _takes_options(rule):
                        yield asked, rule

    def _matches(self, given: tuple) -> list[tuple]:
        """Return the signatures that these types match, most specific first.

        Between ``f(x)`` and ``f(*xs)`` of the same types multipledispatch has no order of its
        own: the one for a fixed number of arguments goes first, and an opt-out before both.
        """
        if not hasattr(self.dispatcher, "_ordering"):
            self.dispatcher.reorder(on_ambiguity=_warn_of_ambiguity)
        found = [types() for types in self.dispatcher.dispatch_iter(*given)]
        places: dict[tuple, int] = {}
        for k, types in enumerate(found):
            places.setdefault(_spread(types, len(given)), k)
        return sorted(
            found, key=lambda types: (places[_spread(types, len(given))], self._rank(types))
        )

    def _rank(self, types: tuple) -> int:
        if any(rule is OPTED_OUT for _, rule in self.alternatives[types]):
            return 0
        return 2 if types and isvariadic(types[-1]) else 1


def _warn_of_ambiguity(dispatcher: Any, pairs: Any) -> None:
    # multipledispatch has words for it, too, but fails over signatures of unequal lengths.
    for pair in pairs:
        given = " and ".join("(" + ", ".join(map(_annotation_text, types)) + ")" for types in pair)
        warnings.warn(
            f"the rules of {dispatcher.name} for {given} can both answer one call, and neither is "
            "more specific; add a rule for what they share.",
            AmbiguityWarning,
            stacklevel=2,
        )


def _annotation_text(annotation: object) -> str:
    return getattr(annotation, "__name__", str(annotation))


def _spread(types: tuple, count: int) -> tuple:
    """Return the types of a signature for ``count`` arguments."""
    if types and isvariadic(types[-1]):
        types = (*types[:-1], *[types[-1].variadic_type] * (count - len(types) + 1))
    return tuple([t if isinstance(t, tuple) else (t,) for t in types])


def _supersedes(a: type | None, b: type | None) -> bool:
    return a is not None and (b is None or issubclass(a, b))


def _asks_for_more(a: type | None, b: type | None) -> bool:
    """Say whether ``a`` asks for more traits than ``b``, of those that are not the library's."""
    ours, theirs = _own_traits(a), _own_traits(b)
    covered = all(any(issubclass(mine, other) for mine in ours) for other in theirs)
    return covered and not all(any(issubclass(other, mine) for other in theirs) for mine in ours)


def _own_traits(asked: type | None) -> list[type]:
    traits = getattr(asked, "traits", None) or (() if asked is None else (asked,))
    return [t for t in traits if t.__module__.partition(".")[0] != __package__.partition(".")[0]]


def _takes_options(rule: object) -> bool:
    # A rule for fewer positional arguments answers where the rest are options of its own.
    return isinstance(rule, RuleSignature) and (rule.keywords is None or bool(rule.keywords))
