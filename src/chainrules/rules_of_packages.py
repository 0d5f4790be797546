"""Rules that installed packages bring, by entry points of the group ``chainrules.rules``.

They are loaded with this module, which is imported before the first transform. An entry point names
a module that registers rules, or a function in one that does.
"""

import sys
import warnings
from importlib.metadata import EntryPoint, entry_points

from .config import RulesNotLoadedWarning

GROUP = "chainrules.rules"


def _found() -> list[EntryPoint]:
    """Return the entry points of all installed packages, in the order of their names."""
    try:
        return sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    except Exception as error:  # somebody's entry_points.txt cannot be read
        _warn("the entry points of installed packages cannot be read", error)
        return []


def _load_each(entries: list[EntryPoint]) -> list[EntryPoint]:
    """Load the rules of packages; return those of packages that are just being imported."""
    waiting = []
    for entry in entries:
        if _is_being_imported(entry):
            waiting.append(entry)
            continue
        try:
            loaded = entry.load()
            if entry.attr:
                loaded()
        except Exception as error:
            name = entry.dist.name if entry.dist is not None else entry.name
            _warn(
                f"the rules of {name} were not loaded (entry point {entry.name} = {entry.value})",
                error,
            )
    return waiting


def _is_being_imported(entry: EntryPoint) -> bool:
    # It differentiates something while it is imported, and its rules may need the whole of it.
    package = sys.modules.get(entry.value.partition(":")[0].partition(".")[0].strip())
    return bool(getattr(getattr(package, "__spec__", None), "_initializing", False))


def _warn(what: str, error: Exception) -> None:
    warnings.warn(
        f"{what}: {type(error).__name__}: {error}\n"
        "  all else works; what these rules are for is differentiated as if there were none",
        RulesNotLoadedWarning,
        stacklevel=2,
    )


_waiting = _load_each(_found())


def load() -> bool:
    """Load what had to wait, and say whether all is there."""
    _waiting[:] = _load_each(_waiting)
    return not _waiting
