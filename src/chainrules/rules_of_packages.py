"""Rules that installed packages bring, by entry points of the group ``chainrules.rules``.

They are loaded with this module, which is imported before the first transform. An entry point names
a module that registers rules, or a function in one that does. A package that is named in
``CHAINRULES_WITHOUT``, or requires another version of chainrules, is left out.
"""

import os
import re
import sys
import time
from importlib.metadata import EntryPoint, entry_points

from . import __version__
from .config import RulesNotLoadedWarning
from .config.lines import warn_user
from .config.signals import ends_run
from .config.thresholds import RULES_SLOW

GROUP = "chainrules.rules"
WITHOUT = "CHAINRULES_WITHOUT"
_GOES_ON = "all else works; what these rules are for is differentiated as if there were none"


def _found() -> list[EntryPoint]:
    """Return the entry points of the packages whose rules are wanted, in the order of names."""
    try:
        found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    except Exception as error:  # somebody's entry_points.txt cannot be read
        if ends_run(error):
            raise
        _warn("the entry points of installed packages cannot be read", error)
        return []
    without = {_normal(name) for name in os.environ.get(WITHOUT, "").split(",")}
    return [x for x in found if without.isdisjoint([_normal(_package(x)), _normal(x.name), "all"])]


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.name


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name.strip()).lower()


def _load_each(entries: list[EntryPoint]) -> list[EntryPoint]:
    """Load the rules of packages; return those of packages that are just being imported."""
    waiting = []
    for entry in entries:
        if _is_being_imported(entry):
            waiting.append(entry)
        else:
            _load(entry)
    return waiting


def _load(entry: EntryPoint) -> None:
    name = _package(entry)
    what = f"the rules of {name} were not loaded (entry point {entry.name} = {entry.value})"
    wanted = _other_version(entry)
    if wanted:
        said = f"{what}: it requires chainrules {wanted}, and this is {__version__}"
        warn_user(RulesNotLoadedWarning(f"{said}\n  {_GOES_ON}"))
        return
    begun = time.perf_counter()
    try:
        loaded = entry.load()
        if entry.attr:
            loaded()
    except (Exception, SystemExit) as error:
        if ends_run(error):
            raise
        _warn(what, error)
        return
    seconds = time.perf_counter() - begun
    if seconds > RULES_SLOW:
        warn_user(
            RulesNotLoadedWarning(
                f"the rules of {name} took {seconds:.1f} s to load, for which the first derivative "
                f"waited (entry point {entry.name} = {entry.value})\n"
                f"  where they are not needed, leave them out: {WITHOUT}={name}"
            )
        )


def _is_being_imported(entry: EntryPoint) -> bool:
    # It differentiates something while it is imported, and its rules may need the whole of it.
    package = sys.modules.get(entry.value.partition(":")[0].partition(".")[0].strip())
    return bool(getattr(getattr(package, "__spec__", None), "_initializing", False))


def _other_version(entry: EntryPoint) -> str:
    """Return what the package requires of chainrules, if this version is none of these."""
    for line in (entry.dist and entry.dist.requires) or ():
        named = re.match(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?([^;)]*)", line)
        if named is None or _normal(named[1]) != "chainrules":
            continue
        wanted = named[2].strip()
        if not all(_allows(*part) for part in re.findall(r"([<>=!~]=?=?)\s*([\w.*+-]+)", wanted)):
            return wanted
    return ""


def _allows(operator: str, version: str) -> bool:
    """Say whether a part of a requirement allows this version, by the numbers of its release."""
    wanted, ours = _release(version), _release(__version__)
    most = max(len(wanted), len(ours))
    a, b = (numbers + (0,) * (most - len(numbers)) for numbers in (ours, wanted))
    begins = a[: len(wanted)] == wanted if version.endswith("*") else a == b
    if operator == "~=":
        return a >= b and a[: len(wanted) - 1] == wanted[:-1]
    return {
        "==": begins, "===": begins, "!=": not begins,
        ">=": a >= b, "<=": a <= b, ">": a > b, "<": a < b,
    }.get(operator, True)  # fmt: skip


def _release(version: str) -> tuple[int, ...]:
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _warn(what: str, error: BaseException) -> None:
    said = f"{type(error).__name__}: {error}"
    warn_user(
        RulesNotLoadedWarning(
            f"{what}: {said}\n  {_GOES_ON}; {WITHOUT}=... leaves a package out, by its name"
        )
    )


_waiting = _load_each(_found())


def load() -> bool:
    """Load what had to wait, and say whether all is there."""
    _waiting[:] = _load_each(_waiting)
    return not _waiting
