"""``python -m chainrules cost module:function``: the price of each derivative of a function."""

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import chainrules as cr

from .._named import add_function, named
from ..rules import name_of

DESCRIPTION = """\
Measures what the derivatives of a function cost beside its value, as cr.cost does: jvp, grad,
jacfwd, jacrev, hessian, hvp and finite differences, as they are and compiled."""


def add_to(commands: Any) -> None:
    """Add the command to those of ``python -m chainrules``."""
    parser = commands.add_parser(
        "cost", help="measure what the derivatives of a function cost", description=DESCRIPTION
    )
    add_function(parser, seed="of the points that are tried")
    parser.add_argument(
        "--argnums", metavar="WHICH", action="append",
        help="the argument to differentiate, by position or by name; may be given again",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=10.0, help="how long, at each point")
    parser.add_argument("--eager", action="store_true", help="without the compiled forms")
    parser.add_argument("--adopt", action="store_true", help="adopt the module first: cr.adopt")
    parser.add_argument("--picture", metavar="FILE", help="draw it, too; needs matplotlib")
    parser.set_defaults(run=lambda given: run(parser, given))


def run(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Measure a function at each point that is given, or at the first one found; 0 if it can be."""
    if given.adopt:
        _adopt(parser, given.function.partition(":")[0])
    f, points = named(parser, given)
    for number, point in enumerate(points if given.at else points[:1]):
        picture = given.picture
        if picture and number:
            path = Path(picture)
            picture = path.with_stem(f"{path.stem}_{number + 1}")
        function = f
        if point.kwargs:
            function = _with_options(f, point.kwargs)
        try:
            found = cr.cost(
                function, *point.args, argnums=_argnums(given.argnums), seconds=given.seconds,
                compiled=not given.eager, picture=picture,
            )  # fmt: skip
        except (TypeError, ValueError, ModuleNotFoundError) as error:
            parser.error(str(error))
        found.show()
    return 0


def _adopt(parser: argparse.ArgumentParser, module: str) -> None:
    sys.path.insert(0, os.getcwd())  # as `python -m` does, but for `python -P -m`
    try:
        importlib.import_module(module)
        cr.adopt(module)
    except Exception as error:  # whatever the module does
        parser.error(f"{module}: {type(error).__name__}: {error}")


def _with_options(f: Any, kwargs: dict) -> Any:
    def function(*args: Any) -> Any:
        return f(*args, **kwargs)

    function.__name__ = function.__qualname__ = name_of(f)
    return function


def _argnums(words: list[str] | None) -> Any:
    if words is None:
        return 0
    found = tuple([int(word) if word.lstrip("-").isdigit() else word for word in words])
    return found if len(found) > 1 else found[0]
