"""Function that a command names, ``module:function``, and the points at which it is called."""

import argparse
import copy
import importlib
import inspect
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import chainrules as cr

from .rules import iterate_leaves, name_of


class CallArguments(NamedTuple):
    """The arguments of one call."""

    args: tuple
    kwargs: dict

    def __str__(self) -> str:
        named = [f"{name}={_argument_text(x)}" for name, x in self.kwargs.items()]
        return ", ".join([*map(_argument_text, self.args), *named])


def _argument_text(x: Any) -> str:
    if type(x) is not np.ndarray:
        return repr(x)
    return " ".join(np.array2string(x, separator=", ", threshold=9).split())


def add_function(parser: argparse.ArgumentParser, seed: str) -> None:
    """Add the words for a function and its points; ``seed`` says what is drawn by it."""
    parser.add_argument("function", help="package.module:function, or module:Class.method")
    parser.add_argument(
        "--at",
        action="append",
        metavar="ARGUMENTS",
        help="the arguments of a call, with np for NumPy and the names of the module: "
        "'np.ones(3), 2.0, axis=0'; may be given again. Without it points are tried: numbers, "
        "vectors, matrices, at which the function gives finite numbers",
    )
    parser.add_argument("--seed", type=int, default=0, help=seed)


def named(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> tuple[Callable, list[CallArguments]]:
    """Return the function and its points; what is wrong with them ends the command."""
    try:
        module, f = _named(given.function)
    except (ImportError, AttributeError, ValueError) as error:
        parser.error(f"{given.function}: {error}")
    try:
        points = [_given(text, module) for text in given.at or ()]
    except Exception as error:  # whatever the expressions do
        parser.error(f"--at: {type(error).__name__}: {error}")
    points = points or list(_chosen(f, given.seed))
    if not points:
        parser.error(
            f"{name_of(f)} gave finite numbers at none of the points tried; give one: --at '...'"
        )
    return f, points


def _named(text: str) -> tuple[Any, Any]:
    """Return the module and the function of ``module:name``."""
    name, colon, attributes = text.partition(":")
    if not colon or not attributes:
        raise ValueError("write package.module:function")
    sys.path.insert(0, os.getcwd())  # as `python -m` does, but for `python -P -m`
    found = module = importlib.import_module(name)
    for attribute in attributes.split("."):
        found = getattr(found, attribute)
    if not callable(found):
        raise ValueError(f"it is no function, but of type {type(found).__name__}")
    return module, found


def _given(text: str, module: Any) -> CallArguments:
    def point(*args: Any, **kwargs: Any) -> CallArguments:
        return CallArguments(args, kwargs)

    return eval(f"_point_({text})", {"np": np, "cr": cr, **vars(module), "_point_": point})


def _chosen(f: Callable, seed: int) -> Iterator[CallArguments]:
    """Yield points of each form that the function takes, among numbers, vectors and matrices."""
    count = _required(f)
    if count > 3:  # the forms to be tried would be hundreds
        return
    numbers = np.random.default_rng(seed)
    shapes: tuple = ((), (3,), (3, 3))
    for forms in itertools.product(shapes, repeat=count):
        for lowest, highest in (-2.0, 2.0), (0.1, 0.9), (1.1, 3.0):
            xs = [numbers.uniform(lowest, highest, shape).round(3) for shape in forms]
            args = tuple([x if np.ndim(x) else float(x) for x in xs])
            if _gives_numbers(f, copy.deepcopy(args)):
                yield CallArguments(args, {})
                break


def _required(f: Callable) -> int:
    if isinstance(f, np.ufunc):
        return f.nin
    parameters = inspect.signature(f).parameters.values()
    positional = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return len(required) or 1


def _gives_numbers(f: Callable, args: tuple) -> bool:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            ys = list(iterate_leaves(f(*args)))
        return bool(ys) and all(np.all(np.isfinite(y)) for y in ys)
    except Exception:  # it may raise anything of what it is not made for
        return False
