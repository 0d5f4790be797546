"""Rule kinds: one definition that carries both directions.

A kind answers for one argument at a time: ``push`` takes a tangent of argument ``i`` to its
share of ``ydot``, ``pull`` takes ``ybar`` to the cotangent of argument ``i``. Engines use
kinds directly, for active arguments only and with no closure per call.
"""

import dis
import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .calls import array_of
from .levels import Traced
from .masked import Masked, zeroed
from .project import ProjectTo, dtype_of, shape_of
from .signatures import (
    name_of,
    options_by_name,
    parameters,
    positional_names,
    without_defaults,
)
from .sums import sum_over
from .tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, unthunk
from .zeros import as_structured


class Kind:
    """Base class. ``count`` is how many leading arguments the kind differentiates."""

    __slots__ = ("count", "f", "keywords", "line", "names")
    label = "rule"
    # Whether each entry of a result is a sum, with no negative weights, of entries of an argument:
    # then structural zeros of ``ybar`` are some of ``xbar``. And whether it leaves entries out.
    moves = False
    selects = False
    elementwise = False  # whether it multiplies cotangents by partials

    def __init__(self, f: Any, count: int, keywords: set[str] | None, line: str) -> None:
        self.f = f
        self.count = count
        self.keywords = keywords
        self.line = line
        self.names: list[str] | None = None

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Fit a call: positional arguments after the first ``count`` become options."""
        if len(args) > self.count:
            if self.names is None:
                self.names = positional_names(f)
            args, kwargs = options_by_name(f, args, kwargs, self.count, self.names)
        if kwargs and self.keywords is not None and not kwargs.keys() <= self.keywords:
            kwargs = without_defaults(f, kwargs, self.keywords)
        return args, kwargs

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        raise NotImplementedError

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        raise NotImplementedError

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        """Say whether the pull to argument ``i`` looks at ``y``, and at each argument."""
        return True, (True,) * self.count

    def kept(self, active: list, y: Any, args: tuple) -> tuple[Any, tuple]:
        """Return ``y`` and ``args`` with None for what no pull to the ``active`` looks at."""
        reads_y, reads = self.reads(active[0][0])
        for i, _ in active[1:]:
            also_y, also = self.reads(i)
            reads_y = reads_y or also_y
            reads = tuple(map(operator.or_, reads, also))
        return y if reads_y else None, tuple([x if read else None for x, read in zip(args, reads)])

    def counts(self, i: int, flags: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        """Return how many of the ``flags`` set for the result come from each entry of ``x``."""
        return unthunk(self.pull(i, flags, None, args, kwargs, space))

    def __repr__(self) -> str:
        return f"{self.label} of {name_of(self.f)}" + (f" ({self.line})" if self.line else "")


class ScalarRule(Kind):
    """Elementwise: ``partials[i](y, *args)`` is dy/dx_i, or a constant in ``constants[i]``.

    A partial p of a map from C to R means ``ydot = Re(p * xdot)``; the projections on both
    sides make that of the same two lines that serve a holomorphic map. What is differentiated
    again at a tie is ``branch(y, *args)``, if there is one: see ``scalar_rule``.
    """

    __slots__ = ("_reads", "branch", "constants", "partials")
    label = "scalar rule"
    elementwise = True

    def __init__(
        self, f: Any, partials: Iterable[Any], line: str, branch: Callable | None = None
    ) -> None:
        partials = tuple(partials)
        super().__init__(f, len(partials), set(), line)
        self.branch = branch
        self.constants = tuple(None if callable(p) else p for p in partials)
        self.partials = tuple(p if callable(p) else _constant(p) for p in partials)
        self._reads: list[Any] = [None] * len(partials)

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        constant = self.constants[i]
        if constant is None:
            partial = self.partial(i, y, args)
            return (partial.branch if type(partial) is Shares else partial) * xdot
        return xdot if constant is ONE else constant * xdot

    def through_branch(self, y: Any, args: tuple) -> Any:
        """Return ``y``, whose derivative further out is that of one branch."""
        if self.branch is None or not isinstance(y, Traced):
            return y
        return self.branch(y, *args)

    def partial(self, i: int, y: Any, args: tuple) -> Any:
        try:
            return self.partials[i](y, *args)
        except ArithmeticError:
            # Python's floats raise where NumPy's give an infinity.
            numbers = [np.float64(x) if type(x) in (float, int) else x for x in (y, *args)]
            return self.partials[i](*numbers)

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
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
            ybar = partial * ybar
        elif constant is not ONE:
            ybar = np.conj(constant) * ybar if isinstance(constant, complex) else constant * ybar
        if type(ybar) is NotImplementedTangent:
            return ybar
        return unbroadcast(ybar, space.shape)

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        if self.constants[i] is not None:
            return False, (False,) * self.count
        if self._reads[i] is None:
            names = _names_read(self.partials[i], 1 + self.count)
            self._reads[i] = names[0], tuple(names[1:])
        return self._reads[i]


class Shares:
    """A partial at a tie that is differentiated again: of tangents ``branch``, else ``pull``."""

    __slots__ = ("branch", "pull")
    __array_ufunc__ = None  # so that arrays leave the product to it

    def __init__(self, branch: Any, pull: Callable) -> None:
        self.branch = branch
        self.pull = pull

    def __mul__(self, ybar: Any) -> Any:
        return self.pull(ybar)


ONE = 1  # the constant of rules such as addition, which pass a cotangent on as it is


def _constant(number: Any) -> Callable:
    def partial(y: Any, *args: Any) -> Any:
        return number

    return partial


def _names_read(function: Any, count: int) -> list[bool]:
    """Say which of the first ``count`` parameters the code of ``function`` looks at.

    What no partial looks at, the tape need not keep. Where the code cannot be read,
    everything counts as looked at.
    """
    code = getattr(function, "__code__", None)
    variadic = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or code.co_flags & variadic or code.co_argcount != count:
        return [True] * count
    used: set[str] = set()
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        used.update(value if isinstance(value, tuple) else (value,) if value is not None else ())
    return [name in used or name in code.co_cellvars for name in code.co_varnames[:count]]


class LinearRule(Kind):
    """Linear in the first argument: ``transpose(ybar, space, **options)``.

    ``mark(alive, **options)`` sets the entries that a selection, such as indexing, reads;
    ``adapt(x, **options)`` returns the options to go by, and refuses those with which ``f`` is
    not linear. The options in ``constants`` add something constant, which no tangent has.
    """

    __slots__ = ("adapt", "constants", "mark", "moves", "selects", "transpose")
    label = "linear rule"

    def __init__(
        self,
        f: Any,
        transpose: Callable,
        line: str,
        mark: Any = None,
        adapt: Any = None,
        constants: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f, 1, _options(transpose, 2), line)
        self.transpose = transpose
        self.mark = mark
        self.adapt = adapt
        self.constants = constants
        self.moves = self.selects = mark is not None

    def kept(self, active: list, y: Any, args: tuple) -> tuple[Any, tuple]:
        return None, (None,)

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        args, kwargs = Kind.bind(self, f, args, kwargs)
        if kwargs and self.adapt is not None:
            kwargs = self.adapt(args[0], **kwargs)
        if args and type(args[0]) in (list, tuple):
            # Among arrays to be joined, a list of numbers stands for an array as well.
            parts = [array_of(x) if type(x) in (list, tuple) else x for x in args[0]]
            args = (type(args[0])(parts), *args[1:])
        return args, kwargs

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        if issubclass(type(xdot), Tangent):
            xdot = as_structured(args[0], xdot)  # a list of arrays, with real zeros
            if type(xdot) in (list, tuple):
                xdot = [_of_flags(x, dot) for x, dot in zip(args[0], xdot, strict=True)]
        if self.constants:
            kwargs = {name: x for name, x in kwargs.items() if name not in self.constants}
        return self.f(xdot, **kwargs)

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        return self.transpose(ybar, space, **kwargs)

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,)


def _of_flags(x: Any, xdot: Any) -> Any:
    # Flags have no tangents, but join arrays as zeros and ones; among tangents, as zeros.
    flags = isinstance(xdot, AbstractZero) and dtype_of(x) is not None
    return np.zeros(shape_of(x)) if flags else xdot


class BilinearRule(Kind):
    """Linear in each of two arguments: ``left(ybar, a, b)`` and ``right(ybar, a, b)``."""

    __slots__ = ("pulls",)
    label = "bilinear rule"

    def __init__(self, f: Any, left: Callable, right: Callable, line: str) -> None:
        super().__init__(f, 2, _options(left, 3), line)
        self.pulls = (left, right)

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        args, kwargs = Kind.bind(self, f, args, kwargs)
        if type(args[0]) in (list, tuple) or type(args[-1]) in (list, tuple):
            args = tuple([array_of(x) if type(x) in (list, tuple) else x for x in args])
        return args, kwargs

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        a, b = args
        return self.f(xdot, b, **kwargs) if i == 0 else self.f(a, xdot, **kwargs)

    def kept(self, active: list, y: Any, args: tuple) -> tuple[Any, tuple]:
        return None, args

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        return unbroadcast(self.pulls[i](ybar, *args, **kwargs), space.shape)

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        return False, (True, True)


class SelectionRule(Kind):
    """``f(condition, a, b)`` takes each entry from ``a`` or from ``b``, as ``np.where`` does."""

    __slots__ = ()
    label = "selection rule"
    moves = selects = elementwise = True

    def __init__(self, f: Any, line: str) -> None:
        super().__init__(f, 3, set(), line)

    def push(self, i: int, xdot: Any, y: Any, args: tuple, kwargs: dict) -> Any:
        if i == 0:
            return ZERO
        return self.f(args[0], xdot, 0) if i == 1 else self.f(args[0], 0, xdot)

    def pull(self, i: int, ybar: Any, y: Any, args: tuple, kwargs: dict, space: Any) -> Any:
        if i == 0:
            return ZERO
        xbar = self.f(args[0], ybar, 0) if i == 1 else self.f(args[0], 0, ybar)
        return unbroadcast(xbar, space.shape)

    def reads(self, i: int) -> tuple[bool, tuple[bool, ...]]:
        return False, (True, False, False)


class NonDifferentiable(Kind):
    """Piecewise constant, or about things that cannot be perturbed: no derivative at all."""

    __slots__ = ()
    label = "non-differentiable"

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        return args, kwargs


class FreshArray(Kind):
    """Makes a new array whose numbers depend on nothing; what is written into it is followed."""

    __slots__ = ()
    label = "fresh array"

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        return args, kwargs


class Composed(Kind):
    """No rule of its own: ``body`` does the same by functions that have rules."""

    __slots__ = ("body",)
    label = "composed of other functions"

    def __init__(self, f: Any, body: Callable, line: str) -> None:
        super().__init__(f, 0, _options(body, 0), line)
        self.body = body

    def bind(self, f: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        if kwargs and self.keywords is not None and not kwargs.keys() <= self.keywords:
            kwargs = without_defaults(f, kwargs, self.keywords)
        return args, kwargs


def _options(function: Callable, leading: int) -> set[str] | None:
    known = parameters(function) or ()
    if any(p.kind is p.VAR_KEYWORD for p in known):
        return None
    return {p.name for p in known[leading:]}


def unbroadcast(xbar: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its argument was broadcast."""
    if type(xbar) is Masked:
        # An entry is alive where one of those that it was broadcast to is.
        counts = unbroadcast(np.asarray(xbar.alive, float), shape)
        return Masked(unbroadcast(xbar.value, shape), np.asarray(counts) > 0)
    given = shape_of(xbar)
    if given == shape:
        return xbar
    extra = len(given) - len(shape)
    if extra < 0:
        return np.broadcast_to(xbar, shape)
    axes = (*range(extra),)
    axes += tuple([extra + k for k, n in enumerate(shape) if n == 1 and given[extra + k] != 1])
    total = sum_over if type(xbar) is np.ndarray else np.sum
    summed = total(xbar, axis=axes)
    return summed if shape_of(summed) == shape else np.reshape(summed, shape)
