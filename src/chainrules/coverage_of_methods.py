"""The part of the coverage table about ndarray's methods and attributes, read from the code."""

import inspect
from typing import Any

import numpy as np

from .rules import frule
from .rules.tracing.array import TracedArray
from .rules.tracing.classes.duck_typing import OfNumPys
from .rules.tracing.number import OF_INSTANCES, TracedNumber

# What is written out in Python, and is not one call of a NumPy function.
IN_PYTHON = {
    "astype": "converts: as numpy.astype",
    "fill": "writes: as x[...] = v",
    "item": "an entry, as a traced number",
    "flat": "entries to read and to write",
    "to_device": "the traced value itself, on the one device",
    "tolist": "a list of traced numbers",
}


def method_rows() -> dict[str, list[tuple[str, str, bool]]]:
    """Return name, status and whether it is followed: of arrays, and of numbers that differ."""
    of_arrays = {name: status_of(TracedArray, name) for name in public(np.ndarray)}
    different = {n: s for n, s in number_statuses().items() if of_arrays.get(n) != s}
    return {
        "numpy.ndarray": [(n, s, followed(s)) for n, s in of_arrays.items()],
        "numpy.float64 (where it differs)": [(n, s, followed(s)) for n, s in different.items()],
    }


def number_statuses() -> dict[str, str]:
    """Return the status of each method and attribute of a NumPy number."""
    return {name: status_of(TracedNumber, name) for name in public(np.float64)}


def public(cls: type) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


def followed(status: str) -> bool:
    return not status.startswith("refused")


def status_of(cls: type, name: str) -> str:
    """Say what a traced value of class ``cls`` does with its attribute ``name``."""
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, OfNumPys):
        found = found.part
    if found is None and name in OF_INSTANCES:
        return "passed through"
    if found is None:
        return f"refused: cannot be followed; write cr.value(x).{name}"
    if not isinstance(found, property) and not inspect.isfunction(found):
        return "missing"
    body: Any = found.fget if isinstance(found, property) else found
    if not inspect.isfunction(body):  # an operator.attrgetter
        return "passed through"
    made_by = body.__qualname__.partition(".")[0]
    inside = inspect.getclosurevars(body).nonlocals
    if made_by in ("_constant_method", "_truth_method"):
        return "non-differentiable"
    if made_by in ("_constant_property", "_read", "follow_standard"):
        return "passed through"
    if made_by in ("lost", "_refused"):
        reason = "needs a plain number" if made_by == "lost" else "not possible"
        return f"refused: {reason}; {inside['instead']}; or cr.value(x).{name}"
    if name in IN_PYTHON:
        return f"composed: {IN_PYTHON[name]}"
    names = [inside["f"].__name__] if "f" in inside else body.__code__.co_names
    if not names:
        return "passed through"  # it gives back the traced value itself
    called = [n for n in names if getattr(np, n, None) in frule.methods]
    if not called:
        return "missing"
    moving = [n for n in called if not _is_constant(getattr(np, n))]
    return f"composed of numpy.{moving[0]}" if moving else "non-differentiable"


def _is_constant(f: Any) -> bool:
    kind = frule.methods[f].kind
    return kind is not None and kind.constant
