"""Reductions: functions of all entries along some axes, with a derivative in each entry.

One function weighs the entries: ``y`` moves by the sum of ``weights * xdot``. So

    @reduction_rule(np.prod)
    def prod_weights(prod, x, y, axis):
        return y / x  # of numbers other than 0

is the derivative of ``np.prod`` in both directions, with ``axis``, ``keepdims``, ``dtype`` and
``where``, which the kind sees to. Weights may also say which entries were chosen, as by ``np.max``:
see ``Choice``.
"""

import inspect
from collections.abc import Callable, Container
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...config import MissingRuleError, RuleConfig
from ...config.thresholds import FEW_ADDED
from ..annotations import Function, Tangentlike, Value
from ..shapes import FLOATS, TRUTHS, axes_in_block, dtype_of, shape_of
from ..signatures import parameters
from ..tangents.project import Projector, ProjectTo
from ..tangents.zeros import NO_TANGENT
from ..tracing.level import strip, value
from ..tracing.object_arrays import refuse_objects
from ..tracing.views import may_share
from .kinds import Kind
from .operands import has_lists
from .pullback import fit_tangent
from .structural_zeros import Masked, unmask

OPTIONS = {"axis", "dtype", "keepdims", "where"}


def restore(y: Any, axis: Any, keepdims: bool, ndim: int) -> Any:
    """Give back to ``y`` the axes that a reduction of ``ndim`` axes dropped."""
    if axis is None or keepdims or ndim == 0:
        return y
    if type(axis) is int:  # expand_dims takes far longer
        if ndim > 1:
            return y[(slice(None),) * (axis % ndim) + (None,)]
        if type(y) is np.float64:
            return np.array([y])
    return np.expand_dims(y, axis)


def select(where: Any, x: Any, otherwise: Any = 0) -> Any:
    """Return ``x`` where it counts."""
    return x if where is True else np.where(where, x, otherwise)


def refuse_integers(x: Value, dtype: DTypeLike | None = None, **options: object) -> dict:
    """Refuse a ``dtype`` to which a conversion is piecewise constant."""
    if dtype is None:
        return options
    if np.dtype(dtype).kind not in "fc":
        raise MissingRuleError(
            f"dtype={np.dtype(dtype)} truncates the numbers, and would truncate their tangents.\n"
            "  convert the argument before, with x.astype(...): its derivative is then 0"
        )
    return {"dtype": dtype, **options}


def refuse_real(x: Any, dtype: DTypeLike | None = None, **options: object) -> dict:
    """Refuse a real ``dtype`` for complex numbers, too: NumPy drops imaginary parts on its way."""
    if dtype is None:
        return options
    if np.iscomplexobj(x) and np.dtype(dtype).kind != "c":
        raise MissingRuleError(
            f"a reduction of complex numbers with dtype={np.dtype(dtype)} has no rule.\n"
            "  leave out dtype, or take the real part before"
        )
    return refuse_integers(x, dtype, **options)


def shared(t: Any, place: Any, number: Any) -> Any:
    """The share of ``t`` that what is one of a ``number`` in a ``place`` has or gets."""
    share = t if type(number) is int and number == 1 else t / number
    if type(place) in TRUTHS and place:
        return share
    share = np.where(place, share, 0)
    return share[()] if type(t) in FLOATS else share


def sum_of_block(terms: Any, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    """Sum a block of arrays, directions first, over an axis of each, or several; None is all."""
    axes = axes_in_block(axis, terms.ndim - 1)
    return np.sum(terms, axis=axes, dtype=dtype, keepdims=keepdims)


class ReductionRule(Kind):
    """``weights(f, x, y, axis, **options)`` are dy/dx, where ``y`` keeps the axes that are reduced.

    A weight w of a map from C to R means ``ydot = Re(sum(w * xdot))``. If they have a function
    ``again``, they are the shares of a ``Choice``, and it says what is differentiated at a tie.
    """

    __slots__ = ("adapt", "again", "asked", "axes", "axis", "counts_of", "weights")
    label = "reduction rule"

    def __init__(
        self,
        f: Function,
        weights: Callable,
        line: str,
        adapt: Callable,
        counts: Callable | None = None,
    ) -> None:
        named = {p.name: p.default for p in (parameters(weights) or ())[2:]}
        self.asked = named.keys() - {"y", "axis"}
        axis = named["axis"]
        self.axis = None if axis is inspect.Parameter.empty else axis
        self.axes = {"axis": self.axis}
        self.weights = weights
        self.again: Any = getattr(weights, "again", None)
        self.counts_of = counts
        self.adapt = adapt
        super().__init__(f, 1, OPTIONS | self.asked, line)

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        args, kwargs = Kind.bind(self, f, args, kwargs)
        return args, self.adapt(args[0], **kwargs) if kwargs else kwargs

    def counted(self, x: Value, kwargs: dict) -> Any:
        """Say which entries count: no tangent of another reaches the result, not even infinity."""
        where = kwargs.get("where", True)
        return where if self.counts_of is None else self.counts_of(self.f, x, where)

    def weights_at(self, x: Value, y: Value, axis: object, kwargs: dict) -> Any:
        """Return the weights of the entries of ``x``."""
        if axis is not None:
            y = restore(y, axis, kwargs.get("keepdims", False), len(shape_of(x)))
        if not kwargs or self.asked.isdisjoint(kwargs):
            return self.weights(self.f, x, y, axis)
        asked = {name: option for name, option in kwargs.items() if name in self.asked}
        return self.weights(self.f, x, y, axis, **asked)

    def kept(self, active: list, y: Value, args: tuple) -> tuple[Any, tuple]:
        return y, args  # the weights may look at both

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        (x,) = args
        axis = kwargs.get("axis", self.axis)
        weights = self.weights_at(x, y, axis, kwargs)
        terms = self.times(weights, select(self.counted(x, kwargs), xdot))
        keepdims = kwargs.get("keepdims", False)
        return np.sum(terms, axis=axis, dtype=kwargs.get("dtype"), keepdims=keepdims)

    def push_block(self, i: int, t: Any, y: Value, args: tuple, kwargs: dict) -> Any:
        (x,) = args
        axis = kwargs.get("axis", self.axis)
        weights = self.weights_at(x, y, axis, kwargs)
        terms = self.times(weights, select(self.counted(x, kwargs), t))
        return sum_of_block(terms, axis, kwargs.get("keepdims", False), kwargs.get("dtype"))

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        (x,) = args
        axis = kwargs.get("axis", self.axis)
        weights = self.weights_at(x, y, axis, kwargs)
        dtype = dtype_of(weights)
        if dtype is not None and dtype.kind == "c":  # of what is real np.conj makes a copy
            weights = np.conj(weights)
        if axis is not None:
            ybar = restore(ybar, axis, kwargs.get("keepdims", False), space.ndim)
        xbar, counted = self.times(weights, ybar), self.counted(x, kwargs)
        if counted is True:
            return xbar if space.holds(xbar) else space(xbar)
        return Masked(space(select(counted, xbar)), np.broadcast_to(counted, space.shape))

    # ---- where entries are chosen: a kind for this point answers ----

    def choice(self, f: Function, x: Value, kwargs: dict) -> tuple["Choice", Any]:
        """Return what was chosen, and the value."""
        y = self.evaluate(f, (x,), kwargs)
        axis = kwargs.get("axis", self.axis)
        even = self.weights_at(value(x), value(y), axis, kwargs)
        again = None if x is value(x) else self.again(self, even, x, axis, kwargs)
        choice = Choice(f, even, again, axis, kwargs.get("keepdims", False))
        return choice, y if again is None else again.value(y, choice.total)

    def apply(self, level: Any, f: Function, args: tuple, options: dict) -> Value:
        if self.again is None:
            return Kind.apply(self, level, f, args, options)
        x = strip(args[0], level)
        choice, y = self.choice(f, x, options)
        refuse_objects(f, y)
        traced = level.applied(choice, f, args, options, (x,), y)
        if may_share(y, (x,)):
            self.tie(traced, f, args, options)
        return traced

    def frule(
        self, config: RuleConfig, tangents: tuple, f: Function, args: tuple, kwargs: dict
    ) -> tuple[Any, Any] | None:
        if self.again is None or has_lists(args[:1]):
            return Kind.frule(self, config, tangents, f, args, kwargs)
        args, kwargs = self.bind(f, args, kwargs)
        choice, y = self.choice(f, args[0], kwargs)
        return y, fit_tangent(choice.push_all(tangents[1:2], y, args, kwargs), y)

    def rrule(
        self,
        config: RuleConfig,
        f: Function,
        given: tuple,
        kwargs: dict,
        wanted: Container[int] | None = None,
    ) -> tuple[Any, Callable] | None:
        if self.again is None or has_lists(given[:1]):
            return Kind.rrule(self, config, f, given, kwargs, wanted)
        args, kwargs = self.bind(f, given, kwargs)
        choice, y = self.choice(f, args[0], kwargs)
        space = ProjectTo(args[0])

        def choice_pullback(ybar: Tangentlike) -> tuple:
            xbar = unmask(choice.pull(0, ybar, None, args, kwargs, space))
            return (NO_TANGENT, xbar, *[NO_TANGENT] * (len(given) - 1))

        return y, choice_pullback


class Choice(Kind):
    """A reduction at a point, where it chose what is in a ``place``, each by one of equal shares.

    ``even`` are this place and the ``number`` of shares, found among plain numbers. What was not
    chosen is structurally zero, even where it has an infinite derivative. At a tie that is
    differentiated ``again`` tangents have other ``shares``, and the ``value`` is theirs. Cotangents
    stay even: only their derivatives go ``through`` the others.
    """

    __slots__ = ("again", "axis", "even", "keepdims")
    label = "choice"
    forgets = True

    def __init__(self, f: Function, even: tuple, again: Any, axis: Any, keepdims: bool) -> None:
        # Each call makes one, and nothing is bound or evaluated by it.
        self.f = f
        self.line = ""
        self.even = even
        self.again = again
        self.axis = axis
        self.keepdims = keepdims

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        return self.total(xdot)

    def push_block(self, i: int, t: Any, y: Value, args: tuple, kwargs: dict) -> Any:
        if self.again is not None:
            return None
        return sum_of_block(shared(t, *self.even), self.axis, self.keepdims)

    def total(self, xdot: Any) -> Any:
        place, number = self.even if self.again is None else self.again.shares
        plain = type(xdot) is np.ndarray and xdot.ndim and xdot.size > FEW_ADDED
        if plain and type(self.axis) is int and type(number) is int:
            # Taking the one winner of each lane is twice as fast as adding up zeros.
            winner = np.argmax(place, axis=self.axis, keepdims=True)
            ydot = np.take_along_axis(xdot, winner, self.axis)
            return ydot if self.keepdims else np.squeeze(ydot, self.axis)
        return np.sum(shared(xdot, place, number), axis=self.axis, keepdims=self.keepdims)

    def pull(
        self, i: int, ybar: Tangentlike, y: Value, args: tuple, kwargs: dict, space: Projector
    ) -> Tangentlike:
        ybar = restore(ybar, self.axis, self.keepdims, space.ndim)
        xbar = shared(ybar, *self.even)
        if self.again is not None:
            xbar = self.again.through(shared(ybar, *self.again.shares), xbar)
        return Masked(xbar if space.holds(xbar) else space(xbar), self.even[0])
