"""``python -m chainrules check module:function``: the rules of a function, run through the kit."""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import chainrules as cr
from chainrules.testing import NoRuleError, test_frule, test_rrule

from ._named import CallArguments, add_function, named
from .rules import name_of

DESCRIPTION = """\
Tests the rules of a function against finite differences and against themselves, in both modes and
to second order, as test_frule and test_rrule of chainrules.testing do. It exits with 1 where one
fails, and where there is none."""


def add_to(commands: Any) -> None:
    """Add the command to those of ``python -m chainrules``."""
    parser = commands.add_parser(
        "check", help="test the rules of a function", description=DESCRIPTION
    )
    add_function(parser, seed="of the points and of the tangents")
    parser.set_defaults(run=lambda given: run(parser, given))


def run(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Check a function at each point; 0 if there are rules and all pass."""
    f, points = named(parser, given)
    results = [result for point in points for result in _check(f, point, given.seed)]
    if not results:
        print("No rule answers these calls: there is nothing to check.")
        return 1
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed.")
    return 1 if failed else 0


def _check(f: Callable, point: CallArguments, seed: int) -> Iterator[bool]:
    """Test both rules at a point; yield whether each passed, and nothing where there is none."""
    print(f"{name_of(f)}({point})")
    for table, config, test in (
        (cr.frule, cr.ForwardConfig(), test_frule),
        (cr.rrule, cr.ReverseConfig(), test_rrule),
    ):
        print(f"  {cr.which(table, config, f, *point.args)}")
        try:
            test(f, *point.args, fkwargs=point.kwargs, seed=seed)
        except NoRuleError:
            continue
        except Exception as error:  # the kit's, or what the function or the rule raised
            print(f"    FAILED  {type(error).__name__}: {_indented(str(error))}")
            yield False
        else:
            print("    passed")
            yield True


def _indented(text: str) -> str:
    return text.replace("\n", "\n      ")
