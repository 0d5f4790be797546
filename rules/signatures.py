"""Signatures: which positional arguments a rule answers, and which are its options.

Of ``def sum_rrule(sum, x, *, axis=None)`` it is ``x`` and ``axis``, so that ``np.sum(x, 0)`` is
bound as ``np.sum(x, axis=0)``.
"""

import functools
import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..config import MissingRuleError, RuleError, defined_at
from .annotations import Function

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def content_of(cell: Any) -> Any:
    """Return what a variable of a closure holds, and None if it has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def name_of(f: Any) -> str:
    """Return the name of ``f`` as users write it: ``numpy.sum``, ``loss``, ``Model``."""
    owner = getattr(f, "__self__", None)
    if hasattr(owner, "__name__") and not inspect.ismodule(owner):
        return f"{name_of(owner)}.{f.__name__}"  # ufunc.reduce and other bound builtins
    name = getattr(f, "__name__", None) or type(f).__name__
    module = getattr(f, "__module__", None) or type(f).__module__
    if isinstance(f, np.ufunc) and getattr(np, name, None) is not f:
        # A ufunc does not say where it lives.
        special = sys.modules.get("scipy.special")
        return f"scipy.special.{name}" if getattr(special, name, None) is f else name
    public = module.partition(".")[0]
    if public == "numpy":
        part = ".linalg" if ".linalg" in module else ".fft" if ".fft" in module else ""
        return f"numpy{part}.{name}"
    return name


def parameters(f: Function) -> tuple[inspect.Parameter, ...] | None:
    """Return the parameters of ``f``, or None where it does not tell them."""
    # Kept for what stays for good; whatever else was kept would be kept alive.
    owner = getattr(f, "__self__", f)
    return _kept_parameters(f) if isinstance(owner, _LASTING) else _parameters(f)


_LASTING = (np.ufunc, type(np.sum), types.ModuleType)


def _parameters(f: Function) -> tuple[inspect.Parameter, ...] | None:
    try:
        return tuple(inspect.signature(f).parameters.values())
    except (ValueError, TypeError):
        stand_in = stand_in_for(f)
        return None if stand_in is None else _parameters(stand_in)


_kept_parameters = functools.lru_cache(maxsize=4096)(_parameters)


# What stands for "not given" must not be given: NumPy's own functions tell it by identity.
_NO_DEFAULTS = (inspect.Parameter.empty, np._NoValue)


def positional_names(f: Function) -> list[str]:
    """Return the names of the positional parameters of ``f``, as far as it tells them."""
    return [p.name for p in parameters(f) or () if p.kind in POSITIONAL]


def positional(f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Turn keyword arguments of ``f`` into positional ones, as far as its signature allows."""
    known = parameters(f)
    if not kwargs or known is None:
        return args, kwargs
    kwargs = dict(kwargs)
    positions = [p for p in known if p.kind in POSITIONAL]
    placed = list(args)
    for parameter in positions[len(args) :]:
        if parameter.name in kwargs:
            placed.append(kwargs.pop(parameter.name))
        elif not any(parameter.default is none for none in _NO_DEFAULTS) and any(
            later.name in kwargs for later in positions[len(placed) + 1 :]
        ):
            placed.append(parameter.default)
        else:
            break
    return tuple(placed), kwargs


_OF_SCIPY = "scipy.", f"{__package__.partition('.')[0]}.scipy."  # and its mirror


def without_overwriting(f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Drop leave to overwrite arguments of SciPy's ``f``: that memory may be read again."""
    of_scipy = (getattr(f, "__module__", None) or "").startswith(_OF_SCIPY)
    places = _overwriting(f) if of_scipy else ()
    if not places:
        return args, kwargs
    if any(name.startswith("overwrite_") for name in kwargs):
        kwargs = {name: x for name, x in kwargs.items() if not name.startswith("overwrite_")}
    return tuple([False if i in places else x for i, x in enumerate(args)]), kwargs


@functools.lru_cache(maxsize=4096)
def _overwriting(f: Function) -> frozenset[int]:
    names = [p.name for p in parameters(f) or ()]
    return frozenset(i for i, name in enumerate(names) if name.startswith("overwrite_"))


def without_defaults(f: Function, kwargs: dict, supported: Iterable[str]) -> dict:
    """Drop the unsupported keywords that only repeat a default of ``f``, and refuse others.

    Raises
    ------
    MissingRuleError
        If a keyword that changes the result is not supported.
    """
    supported = set(supported)
    defaults = {p.name: p.default for p in parameters(f) or ()}
    kept = {}
    for name, option in kwargs.items():
        if name in supported:
            kept[name] = option
        elif option is not None and defaults.get(name, inspect.Parameter.empty) is not option:
            known = ", ".join(sorted(supported)) or "none"
            raise MissingRuleError(
                f"the rule of {name_of(f)} does not support the keyword {name!r}.\n"
                f"  keywords it supports: {known}"
            )
    return kept


_AS_PYTHONS = frozenset({type(None), bool, int, float, complex, str, slice, type, np.ufunc})


def as_pythons(options: dict) -> dict:
    """Return options with integers and booleans of NumPy as Python's, in tuples and lists too.

    A small unsigned integer has no negative, and few of Python's functions take a 0-d array.
    """
    if _AS_PYTHONS.issuperset(map(type, options.values())):  # as nearly always
        return options
    return {name: _as_pythons(x) for name, x in options.items()}


def _as_pythons(x: Any) -> Any:
    cls = type(x)
    if cls is tuple or cls is list:
        return x if _AS_PYTHONS.issuperset(map(type, x)) else cls(map(_as_pythons, x))
    if issubclass(cls, np.generic) or (cls is np.ndarray and x.ndim == 0):
        return x.item() if x.dtype.kind in "iub" else x
    return x


class Bound:
    """Signature to which calls are bound: ``count`` arguments by position, and options by name.

    ``keywords`` are the options, or None where it takes any. Of ``np.sum(x, 0)``, whose rule takes
    one argument, it makes ``np.sum(x, axis=0)``.
    """

    __slots__ = ("count", "keywords", "names")

    def __init__(self, count: float, keywords: set[str] | None) -> None:
        self.count = count
        self.keywords = keywords
        self.names: list[str] | None = None  # of the parameters of ``f``, once they are asked for

    def bind(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Fit a call of ``f``: positional arguments after the first ``count`` become options."""
        if len(args) > self.count:
            args, kwargs = self._options_by_name(f, args, kwargs)
        if kwargs and self.keywords is not None and not kwargs.keys() <= self.keywords:
            kwargs = without_defaults(f, kwargs, self.keywords)
        return args, kwargs

    def _options_by_name(self, f: Function, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        count, names = int(self.count), self.names
        if names is None:
            names = self.names = positional_names(f)
        if len(names) < len(args):
            raise RuleError(
                f"{name_of(f)} was called with {len(args)} positional arguments, and the names of "
                f"those after the first {count} are unknown.\n  pass them by keyword"
            )
        if len(args) == count + 1:  # as most are, at once
            options = {names[count]: args[count]}
        else:
            options = dict(zip(names[count:], args[count:], strict=False))
        return args[:count], {**options, **kwargs} if kwargs else options


class RuleSignature(Bound):
    """Signature of a hand-written rule, read from its parameters.

    ``config_type`` is the annotation of a leading config parameter, or None. ``types`` are the
    annotations of the positional parameters after ``f``; ``required`` of them have no default.
    """

    __slots__ = ("config_type", "function", "positional", "required", "types", "varargs")

    def __init__(self, function: Callable, f: Function, leading: int, functor: type | None) -> None:
        self.function = function
        try:
            known = list(inspect.signature(function, eval_str=True).parameters.values())
        except NameError as error:
            raise RuleError(
                f"an annotation of {function.__name__} cannot be resolved: {error}"
            ) from None
        self.config_type = None
        if known and _is_config(known[0], f, functor):
            self.config_type = known[0].annotation
            known = known[1:]
        head, rest = known[:leading], known[leading:]
        if len(head) < leading or any(p.kind not in POSITIONAL for p in head):
            wanted = ("(f, *args)", "(tangents, f, *args)", "(axis_size, batched, f, *args)")[
                leading - 1
            ]
            raise RuleError(
                f"{function.__name__} ({defined_at(function)}) must have the signature {wanted}, "
                "where a leading parameter annotated with a config is allowed."
            )
        places = [p for p in rest if p.kind in POSITIONAL]
        self.types = tuple(dispatch_types(p.annotation) for p in places)
        self.positional = len(places)
        self.required = sum(p.default is inspect.Parameter.empty for p in places)
        self.varargs = next(
            (dispatch_types(p.annotation) for p in rest if p.kind is p.VAR_POSITIONAL), None
        )
        named = {p.name for p in rest if p.kind is p.KEYWORD_ONLY}
        named |= {p.name for p in places if p.kind is p.POSITIONAL_OR_KEYWORD}
        keywords = None if any(p.kind is p.VAR_KEYWORD for p in rest) else named
        super().__init__(self.positional if self.varargs is None else math.inf, keywords)


def _is_config(parameter: inspect.Parameter, f: Function, functor: type | None) -> bool:
    annotation = parameter.annotation
    if not isinstance(annotation, type) or annotation in (Any, inspect.Parameter.empty):
        return False
    if parameter.name == "config":
        return True
    # Any class may be a trait. What cannot be one is the annotation of the function itself, or of
    # the tangents, or of the size of a batch.
    of_f = isinstance(f, annotation) if functor is None else issubclass(functor, annotation)
    return not of_f and annotation not in (tuple, int)


def dispatch_types(annotation: object) -> type | tuple[type, ...]:
    """Return what to dispatch on for an annotation: ``object`` where it selects nothing."""
    if annotation in (Any, inspect.Parameter.empty):  # classes, the one since Python 3.11
        return object
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        options: list[type] = []
        for option in typing.get_args(annotation):
            found = dispatch_types(option)
            options.extend(found if isinstance(found, tuple) else (found,))
        return tuple(dict.fromkeys(options))
    if annotation is None:
        return type(None)
    return origin if isinstance(origin, type) else object


# Signatures of functions of NumPy's that are written in C, and tell none before NumPy 2.4: by these
# a call such as ``np.concatenate(xs, 1)`` is bound to a rule's options in each version.
_FUNCTIONS: dict[str, Callable] = {
    "bincount": lambda x, /, weights=None, minlength=0: None,
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "copyto": lambda dst, src, casting="same_kind", where=True: None,
    "dot": lambda a, b, out=None: None,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None: None,
    "inner": lambda a, b, /: None,
    "lexsort": lambda keys, axis=-1: None,
    "putmask": lambda a, /, mask, values: None,
    "vdot": lambda a, b, /: None,
    "where": lambda condition, x=None, y=None, /: None,
}
_METHODS: dict[str, Callable] = {
    "accumulate": lambda array, /, axis=0, dtype=None, out=None: None,
    "at": lambda a, indices, b=None, /: None,
    "outer": lambda a, b, /, **kwargs: None,
    "reduce": lambda array, /, axis=0, dtype=None, out=None, **kwargs: None,
    "reduceat": lambda array, /, indices, axis=0, dtype=None, out=None: None,
}


def stand_in_for(f: Any) -> Callable | None:
    """Return a function with the parameters of ``f``, if ``f`` is one of these."""
    name = getattr(f, "__name__", "")
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return _METHODS.get(name)
    return _FUNCTIONS.get(name) if f is getattr(np, name, None) else None
