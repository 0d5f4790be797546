"""Compositions: the derivative of a function is that of other functions, which do the same.

``np.ptp(x)`` is differentiated as ``np.max(x) - np.min(x)``. A composition has the derivative, but
not always the last bit of the value, its shape, its order of memory, or a number where NumPy gives
a number. So ``composed(f, value="own")`` keeps the value that ``f`` itself returns. Here alone is
decided when ``f`` is called for it:

- once for a call of the user's; a rule that calls the body by its name has the body alone;
- at the level outside all transforms, so that a recording has it as one step;
- not for an array of dask, which has fewer options, and no order of memory.
"""

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Container, Iterator
from itertools import takewhile
from typing import Any

import numpy as np

from ...config import (
    LostDerivativeError,
    MissingRuleError,
    MutationError,
    RuleConfig,
    RuleError,
    user_line,
)
from ..accelerated import numbers
from ..annotations import Function, Value
from ..containers import iterate_leaves
from ..refusals.table import refusal
from ..shapes import is_lazy
from ..signatures import (
    as_pythons,
    name_of,
    parameters,
    positional_names,
    without_defaults,
    without_overwriting,
)
from ..tracing.funnel import array_of, primitive
from ..tracing.level import Level, Traced, innermost, is_traced, value
from ..tracing.object_arrays import healed, holds_traced
from ..tracing.writing import mark_views
from .kinds import Kind, options_of
from .operands import as_computed

# Options that say how to compute, and not what; and those that the library's own value obeys. No
# body need take them.
HINTS = frozenset({"check_finite", "driver", "lapack_driver", "lwork", "tol", "workers"})
OF_THE_VALUE = frozenset({"keepdims", "nan_policy"})

# Of classes that stand for a library's own: how an instance is made one of the library's.
as_library: dict[type, Callable] = {}


@primitive
def with_value(y: Value, own: Value) -> Value:
    """Return ``own``, with the derivative of ``y``; see ``define`` for its rule."""
    return own


with_value.hands_over = 1  # type: ignore[attr-defined]  # the library made own for this call


def with_values(y: Any, own: Any) -> Any:
    """Return ``own``, in its tuple or list and in its shape, with the derivative of ``y``."""
    if numbers is not None:
        answer = numbers.answer(with_value, with_value, (y, own))  # of numbers
        if answer is not NotImplemented:
            return answer
    if isinstance(own, tuple | list):
        cls: Any = type(y) if hasattr(y, "_fields") else type(own)
        parts = map(with_values, y, own)
        if not hasattr(cls, "_fields"):
            return cls(parts)
        made: Any = tuple.__new__(cls, parts)
        if hasattr(y, "__dict__"):  # a result of SciPy's may have attributes beside its fields
            vars(made).update(vars(y))
        return made
    if not isinstance(y, Traced):
        return y if holds_traced(y) else own  # an object array of traced numbers has no other value
    if value(y) is own:
        return y
    like_own: Any = y
    if np.shape(like_own) != np.shape(own):
        like_own = np.reshape(like_own, np.shape(own))
    return with_value(like_own, own)


def library_value(f: Function, args: tuple, kwargs: dict) -> Any:
    """Return what a library's function gives for plain values: to a recording, one step."""
    args = tuple(map(_for_library, args))
    kwargs = {name: _for_library(x) for name, x in kwargs.items()}
    level = innermost((*args, *kwargs.values()))
    return f(*args, **kwargs) if level is None else level.library(f, *healed((args, kwargs)))


def _is_lazy(x: Any) -> bool:
    return is_lazy(value(x) if isinstance(x, Traced) else x)


def _is_narrow(x: Any) -> bool:
    if type(x) is not np.ndarray and not isinstance(x, np.integer):
        return False
    return x.dtype.kind in "iu" or (x.dtype.kind == "f" and x.dtype.itemsize < 8)


def _as_own(x: Any, own: Value) -> Any:
    """Return an operand in the precision of what the library made of it; integers are signed."""
    if not _is_narrow(x):
        return x
    if x.dtype.kind in "iu":
        return x.astype(np.int64)
    parts = [part for part in iterate_leaves((own,)) if isinstance(part, np.ndarray | np.floating)]
    return as_computed(x, parts[0]) if parts else x


def _is_constant(own: Any, given: tuple) -> bool:
    """Say whether nothing can move: there are no numbers in the result, or in what is traced."""
    if type(own) is np.ndarray:
        return own.size == 0
    if not isinstance(own, tuple | list):
        return False
    empty = [part.size == 0 for part in own if type(part) is np.ndarray]
    if not any(empty):
        return False
    return (all(empty) and len(empty) == len(own)) or all(
        np.size(value(x)) == 0 for x in iterate_leaves(given) if isinstance(x, Traced)
    )


def own_valued(f: Function, body: Callable) -> Any:
    """Return ``body``, which has the derivative of ``f``, with the value that ``f`` returns."""
    kind = Composed(f, body, "", "own")

    @functools.wraps(body)
    def valued(*args: object, **kwargs: object) -> Any:
        return kind.run(*args, **kwargs)

    return valued


class Composed(Kind):
    """No rule of its own: ``body`` does the same by functions that have rules.

    ``run`` answers a call, and ``inner`` is what other rules call by the name of the body: it keeps
    no value of the library's, but calls the library where the body asks what that gives (``own``).
    ``of_numbers``, an elementwise rule, answers calls with as many arguments as it has.
    """

    __slots__ = (
        "_placed", "asks", "body", "compose", "inner", "keeps_own", "of_numbers", "of_scipy",
    )  # fmt: skip
    label = "composed of other functions"

    def __init__(self, f: Function, body: Callable, line: str, value: str | None = None) -> None:
        super().__init__(f, 0, options_of(body, 0), line)
        if value not in (None, "own"):
            raise RuleError(f"composed({name_of(f)}, value={value!r}): it is 'own', or not given.")
        self.body = body
        self.of_scipy = (getattr(f, "__module__", None) or "").partition(".")[0] == "scipy"
        self.keeps_own = value == "own"
        self.asks = self.keeps_own and any(p.name == "own" for p in parameters(body) or ())
        if self.asks and self.keywords:
            self.keywords.remove("own")
        self.inner = self._beside_own() if self.asks else body
        self.compose = self._with_own_value if self.keeps_own else self._composition
        self._placed: float | None = None
        self.of_numbers = None

    def answer(self, level: Level, f: Function, args: tuple, kwargs: dict, settings: bool) -> Value:
        short = self.of_numbers
        if short is not None and not kwargs and len(args) == short.count:
            return short.answer(level, f, args, kwargs, settings)
        return self.run(*args, **kwargs)

    def frule(
        self, config: RuleConfig, tangents: tuple, f: Function, args: tuple, kwargs: dict
    ) -> tuple[Any, Any] | None:
        if not hasattr(config, "frule_via_ad"):
            return None
        return config.frule_via_ad(tangents, self.run, *args, **kwargs)

    def rrule(
        self,
        config: RuleConfig,
        f: Function,
        given: tuple,
        kwargs: dict,
        wanted: Container[int] | None = None,
    ) -> tuple[Any, Callable] | None:
        if not hasattr(config, "rrule_via_ad"):
            return None
        return config.rrule_via_ad(self.run, *given, **kwargs)

    # ---- the three ways to run ----

    def run(self, *args: object, **kwargs: object) -> Any:
        """Run the composition, and say it of an option where that is what has no derivative."""
        try:
            return self.compose(*args, **kwargs)
        except (LostDerivativeError, MutationError, TypeError, ValueError) as error:
            names = positional_names(self.f)[: len(args)]
            given = {**dict(zip(names, args)), **kwargs} if len(names) == len(args) else kwargs
            for name, x in given.items():
                if self._is_option(name) and is_traced(x) and self._goes({**given, name: value(x)}):
                    raise refusal("traced option", name=name_of(self.f), option=name) from error
            raise

    def _is_option(self, name: str) -> bool:
        known = {p.name: p for p in parameters(self.f) or ()}
        return name in known and known[name].default is not inspect.Parameter.empty

    def _goes(self, given: dict) -> bool:
        try:
            self.compose(**given)
        except Exception:
            return False
        return True

    def _composition(self, *args: object, **kwargs: object) -> Any:
        if kwargs or len(args) != 1 or not self._placed or type(args[0]) is list:  # else it is
            args, kwargs = self.bind(self.f, args, kwargs)
        return self.body(*args, **kwargs)

    def _with_own_value(self, *args: object, **kwargs: object) -> Any:
        if not self.asks and any(map(_is_lazy, args)):
            return self._composition(*args, **kwargs)
        y, own = self._both(args, kwargs)
        if y is own:
            return y
        result = with_values(y, own)
        # The library may give its argument itself, where the body computes something new.
        mark_views(result, (*args, *kwargs.values()))
        return result

    def _beside_own(self) -> Callable:
        @functools.wraps(self.body)
        def beside_own(*args: object, **kwargs: object) -> Any:
            return self._both(args, kwargs)[0]

        return beside_own

    def _both(self, args: tuple, kwargs: dict) -> tuple[Any, Any]:
        """Return what the body gives, and what the library gives."""
        given, options = self._named(args, kwargs)
        if options.get("nan_policy") == "omit" and _any_nan((*given, *options.values())):
            y = source_of(self.f)(*given, **options)
            return y, y
        args, kwargs = self._fitted(given, options)
        # The library first: it says what is wrong with its input, and warns of it.
        own = library_value(self.f, given, options)
        if _is_constant(own, (given, options)):
            return own, own
        if any(map(_is_narrow, (*args, *kwargs.values()))):
            args = tuple([_as_own(x, own) for x in args])
            kwargs = {name: _as_own(x, own) for name, x in kwargs.items()}
        if self.asks:
            kwargs = {**kwargs, "own": own}
        with np.errstate(all="ignore"):
            return self.body(*args, **kwargs), own

    # ---- how a call is bound ----

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Fit a call to the body, which may take fewer parameters than ``f``, by their names."""
        return self._fitted(*self._named(args, kwargs))

    def _fitted(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Leave out what the body does not take, and make arrays of SciPy's lists."""
        if kwargs and self.keywords is not None and not kwargs.keys() <= self.keywords:
            kwargs = self._without_hints(kwargs)
            if not kwargs.keys() <= self.keywords:
                kwargs = without_defaults(self.f, kwargs, self.keywords)
        if self.of_scipy:
            args = tuple([_array(x) if type(x) is list else x for x in args])
            kwargs = {k: _array(x) if type(x) is list else x for k, x in kwargs.items()}
        return args, as_pythons(kwargs) if kwargs else kwargs

    def _named(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Give all arguments by name, where the body does not take them in the places of ``f``."""
        args, kwargs = without_overwriting(self.f, args, kwargs)
        placed = self._count_placed() if self._placed is None else self._placed
        if len(args) > placed:
            names = (self.names or [])[: len(args)]
            if len(names) == len(args) and kwargs.keys().isdisjoint(names):  # else Python says it
                args, kwargs = (), {**dict(zip(names, args)), **kwargs}
        return args, kwargs

    def _count_placed(self) -> float:
        """Count the leading parameters that have the same name in ``f`` and in the body."""
        theirs = self.names = positional_names(self.f)
        ours = positional_names(self.body)
        known = parameters(self.body) or ()
        if any(p.kind is p.VAR_POSITIONAL for p in known) or not set(ours) <= set(theirs):
            self._placed = math.inf  # the body has names of its own, in the places of ``f``
        else:
            alike = takewhile(lambda names: names[0] == names[1], zip(theirs, ours))
            self._placed = sum(1 for _ in alike)
        return self._placed

    def _without_hints(self, kwargs: dict) -> dict:
        hints = (HINTS | OF_THE_VALUE if self.keeps_own else HINTS) - (self.keywords or set())
        return {name: x for name, x in kwargs.items() if name not in hints}


class FollowedBySource(Composed):
    """Composed of the same steps: ``body`` is the function as a copy of its module defines it."""

    __slots__ = ()
    label = "composed of its own source"

    def __init__(self, f: Function, body: Callable, line: str) -> None:
        super().__init__(f, body, line)
        self.of_scipy = False  # a list of arrays may be no array to it

    def _fitted(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Make arrays of lists of traced numbers, which a decorator of SciPy's may not see."""
        args, kwargs = super()._fitted(args, kwargs)
        return tuple(map(_vector, args)), {name: _vector(x) for name, x in kwargs.items()}


def _for_library(x: Value) -> Any:
    x = value(x)
    convert = as_library.get(type(x))
    return x if convert is None else convert(x)


def _vector(x: Value) -> Any:
    """Return a list of numbers as an array where one of them is traced."""
    if type(x) is not list or not any(isinstance(part, Traced) for part in x):
        return x
    return x if any(isinstance(part, list | tuple) or np.ndim(part) for part in x) else array_of(x)


def _array(x: list) -> Any:
    """Return an array where a list is one to SciPy: of numbers, no indices, or of arrays."""
    plain = value(x)
    if not all(isinstance(part, _IN_ARRAYS) for part in iterate_leaves(plain)):
        return x
    try:
        if len({np.shape(part) for part in plain}) > 1:
            return x
        as_array = np.asarray(plain) if innermost((plain,)) is None else array_of(plain)
    except ValueError:  # of arrays of several shapes
        return x
    return array_of(x) if as_array.dtype.kind in "fc" or as_array.ndim > 1 else x


_IN_ARRAYS = (np.ndarray, np.number, float, complex, int)


def _any_nan(args: tuple) -> bool:
    arrays = (x for x in value(args) if isinstance(x, np.ndarray | list | tuple | float))
    return any(np.isnan(np.asarray(x, float)).any() for x in arrays)


# ---- the source of a library in Python -----------------------------------------------------------

# By the name of a library's module: changes what an adopted copy of it defines.
adjusted: dict[str, Callable[[dict[str, Any]], None]] = {}
# By the name of a library: finds what an adopted copy of a function's module defines in its place.
copies: dict[str, Callable[[Function], Any]] = {}


def source_of(f: Function) -> Any:
    """Return ``f``, a function of a library in Python, as one that sees traced values."""

    @functools.wraps(f)
    def follows(*args: object, **kwargs: object) -> Any:
        with refused_by_source(name_of(f)):
            return in_a_copy(f)(*args, **kwargs)

    return follows


def in_a_copy(part: Any) -> Any:
    """Return what an adopted copy of the module of a function or class has in its place."""
    return copies[part.__module__.partition(".")[0]](part)


@contextlib.contextmanager
def refused_by_source(name: str) -> Iterator[None]:
    """Say of whom it is where a library's own code, which is followed, drops a derivative."""
    try:
        yield
    except (LostDerivativeError, MutationError) as error:
        raise MissingRuleError(
            f"{name} has no derivative in what is traced here: the library's own code does not "
            f"keep it, in {user_line()}.\n  write cr.value(...) around that argument, where no "
            "derivative is wanted"
        ) from error
