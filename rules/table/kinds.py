"""Rule kinds: one definition that carries both directions.

``scalar_rule(np.sin, lambda _, x: np.cos(x))`` makes a ``ScalarRule``, and both engines ask that
one object. A kind answers for one argument at a time: ``push`` takes a tangent of argument ``i``
to its share of ``ydot``, ``pull`` takes ``ybar`` to the cotangent of argument ``i``. What an engine
does with a call, and the answers to ``frule`` and ``rrule``, are methods made of these two.
"""

import operator
from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ...config import RuleConfig, RuleError
from ..annotations import Function, Tangentlike, Value
from ..containers import are_settings
from ..shapes import dtype_of
from ..signatures import POSITIONAL, Bound, as_pythons, name_of, parameters
from ..tangents.missing import NotImplementedTangent
from ..tangents.project import Projector, ProjectTo
from ..tangents.structural import Tangent, add, child_tangents, sum_tangents
from ..tangents.thunks import unthunk
from ..tangents.zeros import NO_TANGENT, ZERO, AbstractZero
from ..tracing.funnel import array_of
from ..tracing.level import ONE, Traced, innermost, is_traced, strip_all
from ..tracing.object_arrays import refuse_objects
from ..tracing.views import may_share
from ..tracing.writing import mark_views_of
from .operands import as_computed, as_numpys, has_lists
from .partials import first, second
from .pullback import fit_tangent
from .shortcuts import shortcut
from .strength import for_config
from .structural_zeros import Masked, unmask, zeroed
from .sums import unbroadcast


class Kind(Bound):
    """Base class. ``count`` is how many leading arguments the kind differentiates."""

    __slots__ = ("f", "line", "shortcut", "strong")
    strong: "Kind"  # which does the same with strong zeros, once it was asked for
    count: int
    label = "rule"
    linear = False  # in each argument that it differentiates, so that it runs on tangents
    constant = False  # no derivative at all
    elementwise = False  # each entry of a result depends on that entry of the arguments alone
    multiplies = False  # a cotangent by partials, which may be infinite
    # Whether each entry of a result is a sum, with no negative weights, of entries of an argument:
    # then structural zeros of ``ybar`` are some of ``xbar``. And whether it leaves entries out.
    adds = False
    drops = False
    joins = False  # takes a list of arrays; else a list of numbers stands for an array
    idles: Any = None  # of a tangent, some entries of the result come from nothing: which
    forgets = False  # all but the spaces of the arguments, since no pull looks at their values
    # Of linear kinds: see ``linear_rule``.
    moves = False
    axes: Mapping[str, Any] = MappingProxyType({})
    block: Callable | None = None
    pattern: Callable | None = None
    of_numbers: "ScalarRule | None" = None  # which does the same for as many arguments as it has

    def __init__(self, f: Function, count: int, keywords: set[str] | None, line: str) -> None:
        super().__init__(count, keywords)
        self.f = f
        self.line = line
        self.shortcut = shortcut(f)

    def evaluate(self, f: Function, args: tuple, kwargs: dict) -> Value:
        """Return the value, with the derivative that it has at the levels further out."""
        for_type, quick = self.shortcut
        return (quick if args and type(args[0]) is for_type else f)(*args, **kwargs)

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        """Return the share of ``ydot`` that comes from the tangent ``xdot`` of argument ``i``."""
        raise NotImplementedError

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        """Return the cotangent of argument ``i``, whose tangents are in ``space``."""
        raise NotImplementedError

    def push_block(self, i: int, t: Any, y: Value, args: tuple, kwargs: dict) -> Any:
        """Return the shares of several tangents of argument ``i``: a plain array, directions first.

        None where ``push`` is to be asked, with a value that stands for all of them.
        """
        return None

    def push_all(self, tangents: Any, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        """Sum the shares of every argument whose tangent is not zero. ``fit_tangent`` it."""
        ydot: Any = ZERO
        for i, xdot in enumerate(tangents):
            xdot = unthunk(xdot)
            if not issubclass(type(xdot), AbstractZero):
                share = self.push(i, xdot, y, args, kwargs)
                ydot = share if ydot is ZERO else add(ydot, share)
        return ydot

    def times(self, slope: Any, t: Tangentlike) -> Any:
        """Return the product of a slope and a cotangent."""
        return slope * t

    # ---- what is asked of a kind ----

    def answer(self, level: Any, f: Function, args: tuple, kwargs: dict, settings: bool) -> Value:
        """Answer a call of ``f`` in which traced values of ``level`` take part.

        ``settings`` says that the ``kwargs`` are mere settings: see ``are_settings``.
        """
        given, options = len(args), kwargs
        if kwargs or given != self.count or self.joins or has_lists(args):  # else it is bound
            args, options = self.bind(f, args, kwargs)
            if not self.joins and has_lists(args):
                args = tuple([array_of(x) if type(x) in (list, tuple) else x for x in args])
        if options and (not settings or len(args) < given) and not are_settings(options.values()):
            if innermost(options.values()) is level:
                return level.call_with_traced_option(f, args, options)
            options = level.hold_options(options)
        return self.apply(level, f, args, options)

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Fit a call of ``f``, with its options as Python's own: rules negate and count by them."""
        args, kwargs = Bound.bind(self, f, args, kwargs)
        return args, as_pythons(kwargs) if kwargs else kwargs

    def apply(self, level: Any, f: Function, args: tuple, options: dict) -> Value:
        """Evaluate a call that was bound, none of whose options is followed, and have it kept."""
        values = strip_all(args, level)
        return self.keep(level, f, args, options, values, self.evaluate(f, values, options))

    def keep(
        self, level: Any, f: Function, args: tuple, options: dict, values: tuple, y: Value
    ) -> Value:
        """Have a call kept whose value ``y`` was computed of the ``values`` under its arguments."""
        if type(y) is np.ndarray:
            refuse_objects(f, y)
        traced = level.applied(self, f, args, options, values, y)
        if may_share(y, values):
            self.tie(traced, f, args, options)
        return traced

    def operands(self, args: tuple, y: Value) -> tuple:
        """Return the arguments as the derivative of ``y`` computes with them."""
        return args

    def tie(self, y: Value, f: Function, args: tuple, options: dict) -> None:
        """See to it that a write into ``y``, or into one of ``args``, is not lost in the other."""
        mark_views_of(f, y, args)

    def frule(
        self, config: RuleConfig, tangents: tuple, f: Function, args: tuple, kwargs: dict
    ) -> tuple[Any, Any] | None:
        """Answer an ``frule`` query; None where a list stands for an array."""
        if not self.joins and has_lists(args[: self.count]):
            return None
        args, kwargs = self.bind(f, args, kwargs)
        y = self.evaluate(f, args, kwargs)
        kind, operands = for_config(self, config), self.operands(args, y)
        return y, fit_tangent(kind.push_all(tangents[1 : 1 + len(args)], y, operands, kwargs), y)

    def rrule(
        self,
        config: RuleConfig,
        f: Function,
        given: tuple,
        kwargs: dict,
        wanted: Container[int] | None = None,
    ) -> tuple[Any, Callable] | None:
        """Answer an ``rrule`` query; one cotangent per positional argument given.

        Where it is said which arguments are ``wanted``, nothing is computed for others. None where
        a list stands for an array: it is the engine that makes one.
        """
        if not self.joins and has_lists(given[: self.count]):
            return None
        args, kwargs = self.bind(f, given, kwargs)
        y = self.evaluate(f, args, kwargs)
        kind, spaces = for_config(self, config), [ProjectTo(x) for x in args]
        options = (NO_TANGENT,) * (len(given) - len(spaces))
        args = self.operands(args, y)

        def kind_pullback(ybar: Tangentlike) -> tuple:
            def pull(i: int, space: Projector) -> Tangentlike:
                if wanted is not None and i not in wanted:
                    return ZERO
                xbar = kind.pull(i, ybar, y, args, kwargs, space)
                return (
                    xbar if issubclass(type(xbar), NotImplementedTangent) else space(unmask(xbar))
                )

            xbars = [pull(i, space) for i, space in enumerate(spaces)]
            return (NO_TANGENT, *xbars, *options)

        return y, kind_pullback

    @property
    def rows(self) -> Iterable[Any]:
        """The scalar rules, one for each output, if that is what the rule is made of."""
        return ()

    # ---- what a tape keeps ----

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        """Say whether the pull to argument ``i`` looks at ``y``, and at each argument."""
        return True, (True,) * self.count

    def kept(self, active: list, y: Value, args: tuple) -> tuple[Any, tuple]:
        """Return ``y`` and ``args`` with None for what no pull to the ``active`` looks at.

        It is not asked where the kind ``forgets``: no pull looks at any of them.
        """
        reads_y, reads = self.reads(active[0][0])
        for i, _ in active[1:]:
            also_y, also = self.reads(i)
            reads_y = reads_y or also_y
            reads = tuple(map(operator.or_, reads, also))
        return y if reads_y else None, tuple([x if read else None for x, read in zip(args, reads)])

    def counts(
        self, i: int, flags: Any, shape: tuple, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        """Return how many of the ``flags`` set for the result come from each entry of ``x``.

        The result is of ``shape``; where ``flags`` is None, all are set.
        """
        flags = np.ones(shape) if flags is None else flags
        return unthunk(self.pull(i, flags, None, args, kwargs, space))

    def __repr__(self) -> str:
        return f"{self.label} of {name_of(self.f)}" + (f" ({self.line})" if self.line else "")


_OPERANDS = (first, second)


class ScalarRule(Kind):
    """Elementwise: ``partials[i](y, *args)`` is dy/dx_i, or a constant in ``constants[i]``.

    A partial p of a map from C to R means ``ydot = Re(p * xdot)``; the projections on both
    sides make that of the same two lines that serve a holomorphic map. What is differentiated
    again at a tie is ``branch(y, *args)``, if there is one: see ``scalar_rule``. A parameter whose
    name begins with an underscore is one that the partial does not look at, and no tape keeps it.
    """

    __slots__ = ("_reads", "branch", "constants", "exact", "given", "needs", "partials")
    label = "scalar rule"
    elementwise = multiplies = True

    def __init__(
        self, f: Function, partials: Iterable[Any], line: str, branch: Callable | None = None
    ) -> None:
        partials = tuple(partials)
        super().__init__(f, len(partials), set(), line)
        self.branch = branch
        self.given = partials
        self.constants = tuple(None if callable(p) else p for p in partials)
        self.partials = tuple(p if callable(p) else _constant(p) for p in partials)
        # Whether no partial computes with an argument: a product's are its operands.
        self.exact = all(p in _OPERANDS or not callable(p) for p in partials)
        self._reads: list[Any] = [None] * len(partials)
        # The answers of ``needed``, each found once.
        self.needs: dict[tuple[bool, ...], tuple] = {}

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        constant = self.constants[i]
        if constant is None:
            partial = self.partial(i, y, args)
            factor = partial.branch if type(partial) is Shares else partial
            # Traced values first: an array of dask on the left would not leave the product to them.
            return xdot * factor if isinstance(xdot, Traced) else factor * xdot
        return xdot if constant is ONE else constant * xdot

    def operands(self, args: tuple, y: Value) -> tuple:
        if self.exact or len(args) == 1:
            return args
        return tuple([as_computed(x, y) for x in args])

    def evaluate(self, f: Function, args: tuple, kwargs: dict) -> Value:
        y = f(*args, **kwargs)
        if self.branch is None or not isinstance(y, Traced) or not is_traced(y):
            return y
        return self.branch(y, *args)

    def partial(self, i: int, y: Value, args: tuple) -> Any:
        try:
            return self.partials[i](y, *args)
        except ArithmeticError:
            return self.partials[i](*map(as_numpys, (y, *args)))

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        if type(ybar) is Masked:
            product = self.pull(i, ybar.value, y, args, kwargs, ProjectTo(ybar.value))
            alive = ybar.alive
            product = zeroed(product, self.constants[i], alive)
            return unbroadcast(Masked(product, alive), space.shape)
        constant = self.constants[i]
        if constant is None:
            partial = self.partial(i, y, args)
            dtype = dtype_of(partial)
            if dtype is not None and dtype.kind == "c":
                partial = np.conj(partial)
            ybar = self.times(partial, ybar)
        elif constant is not ONE:
            ybar = np.conj(constant) * ybar if isinstance(constant, complex) else constant * ybar
        if type(ybar) is NotImplementedTangent:
            return ybar
        return unbroadcast(ybar, space.shape)

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        if self.constants[i] is not None:
            return False, (False,) * self.count
        if self._reads[i] is None:
            y, *args = _reads(self.partials[i], 1 + self.count)
            self._reads[i] = y, tuple(args)
        return self._reads[i]

    def needed(self, active: tuple[bool, ...]) -> tuple:
        """Return what a tape keeps for the pulls to the ``active`` arguments.

        It keeps the partials, None for one that is 1 or not asked for; whether one of them looks
        at ``y``; and whether at each argument.
        """
        partials: list[Callable | None] = [None] * len(active)
        reads_y, reads = False, (False,) * len(active)
        for i, asked in enumerate(active):
            if asked and self.constants[i] != 1:
                partials[i] = self.partials[i]
                also_y, also = self.reads(i)
                reads_y, reads = reads_y or also_y, tuple(map(operator.or_, reads, also))
        needed = self.needs[active] = tuple(partials), reads_y, reads
        return needed

    @property
    def rows(self) -> Iterable[Any]:
        return (self,)


class OutputsRule(Kind):
    """A scalar rule of several outputs: one ``ScalarRule`` for each, whose ``y`` is all of them."""

    __slots__ = ("_rows",)
    label = "scalar rule of several outputs"
    multiplies = True

    def __init__(self, f: Function, table: tuple, line: str) -> None:
        super().__init__(f, len(table[0]), set(), line)
        self._rows = [ScalarRule(f, row, line) for row in table]

    def evaluate(self, f: Function, args: tuple, kwargs: dict) -> tuple | list:
        y = f(*args, **kwargs)
        given = len(y) if isinstance(y, tuple | list) else 1
        if given != len(self._rows) or not isinstance(y, tuple | list):
            raise RuleError(
                f"the {self.label} of {name_of(f)} has partials of {len(self._rows)}, and it "
                f"returned {given} ({type(y).__name__}).\n"
                "  give one tuple of partials for each output of a tuple; no tuple for one output"
            )
        return y

    def operands(self, args: tuple, y: Any) -> tuple:
        return self._rows[0].operands(args, y[0])

    @property
    def rows(self) -> Iterable[Any]:
        return self._rows

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        return Tangent(type(y), *[row.push(i, xdot, y, args, kwargs) for row in self.rows])

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        return sum_tangents(
            row.pull(i, bar, y, args, kwargs, space)
            for row, bar in zip(self.rows, child_tangents(y, ybar), strict=True)
            if not issubclass(type(bar), AbstractZero)
        )


class Shares:
    """A partial at a tie that is differentiated again: of tangents ``branch``, else ``pull``."""

    __slots__ = ("branch", "pull")
    __array_ufunc__ = None  # so that arrays leave the product to it

    def __init__(self, branch: Any, pull: Callable) -> None:
        self.branch = branch
        self.pull = pull

    def __mul__(self, ybar: Tangentlike) -> Any:
        return self.pull(ybar)


def _constant(number: object) -> Callable:
    def partial(_y: object, *_args: object) -> Any:
        return number

    return partial


def _reads(partial: Callable, count: int) -> list[bool]:
    """Say at which of the first ``count`` parameters a partial looks: not at those with ``_``."""
    positions = [p for p in parameters(partial) or () if p.kind in POSITIONAL][:count]
    if len(positions) < count:
        return [True] * count
    return [not p.name.startswith("_") for p in positions]


def options_of(function: Callable, leading: int) -> set[str] | None:
    """Return the names of the options of a function; None where it takes any."""
    known = parameters(function) or ()
    if any(p.kind is p.VAR_KEYWORD for p in known):
        return None
    return {p.name for p in known[leading:]}
