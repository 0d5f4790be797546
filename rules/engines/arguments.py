"""Selection of the arguments that a transform differentiates.

``grad(f, argnums=("w", 0))(x, w)`` chooses the positions 1 and 0, and hands ``f`` both.
"""

import difflib
import functools
import sys
from collections.abc import Callable
from itertools import islice
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from ...config import RuleConfig
from ...config.thresholds import REACHED_AT_MOST
from ...config.tracebacks import trim_traceback
from ..annotations import Function, Value
from ..containers import LEAVES, constants, iterate_leaves
from ..refusals.table import refusal
from ..shapes import FLOATS_AND_ARRAYS
from ..signatures import name_of, positional, positional_names
from ..table.keys import transformed
from ..tracing.classes.own_arrays import opening
from ..tracing.conversions import describe
from ..tracing.reached import arrays_read, reached
from .inputs import is_perturbable_input, taken_input

F = TypeVar("F", bound=Callable)
Argnums = int | str | tuple[int | str, ...]
Config = RuleConfig | None  # None where the transform chooses


class Arguments:
    """A call of ``f``, and the arguments of it that ``argnums`` chooses.

    Raises
    ------
    TypeError
        If ``argnums`` is no position of an argument, or an argument cannot be differentiated.
    """

    __slots__ = ("args", "f", "found", "kwargs", "positions", "primals", "several")

    def __init__(self, name: str, f: Function, argnums: Any, args: tuple, kwargs: dict) -> None:
        self.f = f
        self.found = 0  # by ``largest``
        self.positions: tuple[int, ...]
        if type(argnums) is int and 0 <= argnums < len(args):  # as nearly always
            self.several = False
            self.positions = (argnums,)
        else:
            self.several = isinstance(argnums, tuple | list)
            named = tuple(argnums) if self.several else (argnums,)
            chosen = tuple([_position(name, f, argnum) for argnum in named])
            if kwargs and max(chosen, default=0) >= len(args):
                args, kwargs = positional(f, args, kwargs)
            self.positions = _positions(name, f, argnums, chosen, len(args))
        self.kwargs = kwargs
        given = list(args)
        primals = []
        for i in self.positions:
            x = args[i]
            if type(x) not in LEAVES or not is_perturbable_input(x):
                given[i] = x = taken_input(x)
                if not any(map(is_perturbable_input, iterate_leaves(x))):
                    fixed = bool(constants(x))
                    more = "; the integers in its fields are constants, floats are not" * fixed
                    if isinstance(x, np.ndarray | np.void) and x.dtype.names is not None:
                        more = "; of named fields give a dict: {k: x[k] for k in x.dtype.names}"
                    raise refusal(
                        "nothing to differentiate",
                        i=i, f=name_of(f), x=type(x).__name__, name=name, more=more,
                    )  # fmt: skip
            primals.append(x)
        self.args = tuple(given)
        self.f = opening(f, self.args)
        self.primals = tuple(primals)

    @property
    def source(self) -> Any:
        """The argument that is chosen; a tuple of them where ``argnums`` is one."""
        return self.primals if self.several else self.primals[0]

    def largest(self) -> int:
        """Return the size of the largest array that ``f`` is given, or can read.

        Arrays that ``f`` makes are not known: sizes choose the cheaper of two ways, and both are
        right.
        """
        if not self.found:
            f = self.f
            while hasattr(f, "__wrapped__"):
                f = f.__wrapped__
            given = [*self.args, *self.kwargs.values()]
            plain = all(type(x) in FLOATS_AND_ARRAYS for x in given)
            arrays = arrays_read(f) if plain else None
            if arrays is None:
                all_read = islice(reached((f, given)), REACHED_AT_MOST)
                self.found = max([1, *[_size_of_array(x) for x, _ in all_read]])
            else:
                self.found = max([1, *[x.size for x in (*given, *arrays) if type(x) is np.ndarray]])
        return self.found

    def function(self) -> Callable:
        """Return ``f`` as a function of the chosen arguments alone."""
        count = len(self.args)
        if not self.kwargs and (count == 1 or self.positions == tuple(range(count))):
            return self.f

        def chosen(*primals: Value) -> Any:
            args = list(self.args)
            for i, x in zip(self.positions, primals, strict=True):
                args[i] = x
            return self.f(*args, **self.kwargs)

        return chosen


def _size_of_array(x: Any) -> int:
    """Return the number of entries of an array, of NumPy or of another library; 0 for others."""
    size = getattr(x, "size", 0) if hasattr(type(x), "shape") else 0
    return size if isinstance(size, int) else 0


def _positions(
    name: str, f: Function, argnums: Argnums, chosen: tuple, count: int
) -> tuple[int, ...]:
    """Return the positions chosen, counted from the first of ``count`` arguments."""
    for argnum in chosen:
        if not -count <= argnum < count:
            given = f"{count} positional argument{'s' if count != 1 else ''}"
            raise refusal(
                "no such argument",
                name=name, f=name_of(f), argnums=repr(argnums), count=given, argnum=argnum,
            )  # fmt: skip
    positions = tuple([argnum % count for argnum in chosen])
    if len(set(positions)) != len(positions):
        raise refusal("argument named twice", argnums=repr(argnums))
    return positions


def _position(name: str, f: Function, argnum: object) -> int:
    if type(argnum) is int:
        return argnum
    if isinstance(argnum, str):
        names = positional_names(f)
        if argnum in names:
            return names.index(argnum)
        known = ", ".join(names) or "unknown"
        near = difflib.get_close_matches(argnum, names, 1)
        meant = f"; did you mean {near[0]!r}?" if near else "."
        raise refusal(
            "unknown name of an argument",
            f=name_of(f), argnum=repr(argnum), name=name, near=meant, known=known,
        )  # fmt: skip
    raise refusal("argnums of another type", name=name, argnum=repr(argnum), f=name_of(f))


def takes_argnums(transform: F) -> F:
    """Decorator: refuse ``argnum``, as in HIPS autograd, and the point in place of ``argnums``."""
    name = transform.__name__

    @functools.wraps(transform)
    def asked(*args: object, **kwargs: object) -> Any:
        try:
            if "argnum" in kwargs:
                raise refusal("argnum", name=name, argnum=repr(kwargs["argnum"]))
            argnums = args[1] if len(args) > 1 else kwargs.get("argnums", 0)
            if type(argnums) is not int and _is_point(argnums):
                f = name_of(args[0]) if args else "f"
                f = "f" if f == "<lambda>" else f
                raise refusal("point in place of argnums", name=name, x=describe(argnums), f=f)
            return transform(*args, **kwargs)
        except BaseException as error:
            trim_traceback(error)
            raise

    return asked  # type: ignore[return-value]


def _is_point(argnums: object) -> bool:
    """Say whether something given for ``argnums`` holds what a function is evaluated at."""
    named = argnums if isinstance(argnums, tuple | list) else (argnums,)
    return any(not isinstance(x, int | str | np.integer) or isinstance(x, bool) for x in named)


# What a transform's result has of the function, besides a name and a docstring of its own.
_KEPT = set(functools.WRAPPER_ASSIGNMENTS) - {"__name__", "__qualname__", "__doc__"}


class Transformed(functools.partial):
    """Function that a transform made of another one: it is named after it, and can be pickled.

    ``recipe`` is what makes it anew: the transform, and what that was called with.
    """

    __name__: str
    __qualname__: str
    recipe: tuple[Callable, tuple, dict]

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        transform, args, options = self.recipe
        f = args[0]
        found: Any = sys.modules.get(getattr(f, "__module__", "") or "")
        for name in (getattr(f, "__qualname__", "") or "").split("."):
            found = getattr(found, name, None)
        if found is self:  # what a decorator made is found by the name of the function
            return f.__qualname__
        return _made_by, (transform, args, options)


LEAVES.add(Transformed)
transformed.add(Transformed)


def _made_by(transform: Callable, args: tuple, options: dict) -> Any:
    return transform(*args, **options)


def titled(function: Callable, name: str, transform: Callable, *args: Any, **options: Any) -> Any:
    """Return what ``transform`` made of the first of ``args``, named after that: ``grad(loss)``."""
    f = args[0]
    made = Transformed(function)
    functools.update_wrapper(made, f, _KEPT)
    called = name_of(f)
    made.__name__ = made.__qualname__ = f"{name}({called})"
    made.__doc__ = f"{name} of {called}.\n\n{getattr(f, '__doc__', None) or ''}"
    made.recipe = transform, args, options
    return made
