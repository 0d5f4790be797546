"""``python -m chainrules doctor``: versions, extras, and whether machine code works here."""

import argparse
import importlib.metadata
import platform
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import chainrules as cr

from .compiling.native import disk_cache, kernel
from .rules import accelerated

DESCRIPTION = """\
Says what is installed, for which extra, and whether machine code works and where it is kept. It
exits with 1 where something that is installed does not work. A question is best asked with its
lines."""
# What only those who work on chainrules need.
OWN = {"benchmarks", "demo", "dev", "docs", "lint", "notebooks", "release", "test"}


def add_to(commands: Any) -> None:
    """Add the command to those of ``python -m chainrules``."""
    parser = commands.add_parser(
        "doctor", help="say what is installed, and whether it works", description=DESCRIPTION
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print the findings, a line each; 0 if all that is installed works."""
    print(f"chainrules {cr.__version__}, in {cr.__file__.rpartition('/')[0]}")
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}")
    print(f"NumPy {np.__version__}\n")
    for extra, packages in _extras():
        print(f"  {extra:<10} {', '.join(_state(package) for package in packages)}")
    built = (
        "is there"
        if accelerated.numbers
        else "is not there: the numbers are the same, and take longer"
    )
    print(f"\naccelerator in C: {built}")
    return 0 if all([_derivatives_work(), _machine_code_works()]) else 1


def _extras() -> Iterator[tuple[str, list[str]]]:
    """Yield each extra of a user's with the packages that it brings, as the metadata has them."""
    found: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("chainrules") or []:
        if named := re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]", line):
            package, extra = named.groups()
            found.setdefault(extra, []).append(package)
    for extra in sorted(found.keys() - OWN):
        yield extra, found[extra]


def _state(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} is not installed"


def _derivatives_work() -> bool:
    x = np.array([0.3, 1.2])
    fine = np.allclose(cr.grad(lambda x: np.sum(np.sin(x) ** 2))(x), np.sin(2 * x))
    print(f"derivatives: {'work' if fine else 'are WRONG'}")
    return bool(fine)


def _machine_code_works() -> bool:
    """Compile a gradient, compare it, and say how it runs and where machine code is kept."""
    if not kernel.available():
        print('machine code: none without llvmlite:  pip install "chainrules[compile]"')
        return True
    gradient = cr.grad(lambda x: np.sum(np.sin(x) ** 2))
    compiled, x = cr.compile(gradient), np.array([0.3, 1.2])
    fine = all(np.allclose(compiled(x + k), gradient(x + k)) for k in range(3))
    works = fine and "machine code" in str(cr.explain(compiled))
    print(f"machine code: {'works' if works else 'does NOT work'}")
    folder = disk_cache._folder()
    where = (
        f"kept in {folder}" if folder else "not kept: CHAINRULES_CACHE is off, or no platformdirs"
    )
    print(f"  {where}")
    return works
