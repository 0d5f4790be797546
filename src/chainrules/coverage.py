"""Which of NumPy's functions have derivatives: ``python -m chainrules.coverage``.

The table is read from the rules themselves. ``docs/coverage.md`` is its printed form.
"""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from . import frule, rrule
from .rules.kinds import (
    BilinearRule,
    Composed,
    FreshArray,
    LinearRule,
    NonDifferentiable,
    ScalarRule,
    SelectionRule,
)

STATUS: dict[type, str] = {
    ScalarRule: "rule: partials",
    LinearRule: "rule: transpose",
    BilinearRule: "rule: two transposes",
    SelectionRule: "rule: selection",
    Composed: "composed of others",
    FreshArray: "makes a new array",
    NonDifferentiable: "piecewise constant",
}

# Functions that have no rule, by the reason.
NOT_FOLLOWED = {
    "reads files, buffers or text": """
        base_repr binary_repr format_float_positional format_float_scientific from_dlpack
        frombuffer fromfile fromregex fromstring genfromtxt load loadtxt""",
    "is about types, settings or the installation": """
        datetime_data get_include get_printoptions getbufsize geterr geterrcall info isdtype
        isfortran isscalar issubdtype iterable mintypecode printoptions promote_types
        set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename""",
    "takes sizes only, which are integers": """
        bartlett blackman hamming hanning kaiser broadcast_shapes diag_indices indices
        mask_indices nested_iters tri tril_indices triu_indices fftfreq rfftfreq""",
    "gets an object array or raises; chainrules.numpy has one that sees traced values": """
        arange asarray_chkfinite asfortranarray asmatrix bmat fromiter require""",
    "calls a function of yours on traced values, so nothing is needed": "fromfunction",
    "makes a ufunc of Python code; chainrules.numpy.vectorize sees traced values": "frompyfunc",
    "is another name of vstack, deprecated": "row_stack",
}
REASONS = {name: reason for reason, names in NOT_FOLLOWED.items() for name in names.split()}


class Row(NamedTuple):
    """One function: its status, and whether it has a derivative in each mode."""

    name: str
    status: str
    forward: bool
    reverse: bool


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions of ``module``, with their names."""
    for name in sorted(set(getattr(module, "__all__", dir(module)))):
        f = getattr(module, name, None)
        if not callable(f) or isinstance(f, type) or name.startswith("_"):
            continue
        # Of scipy.special NumPy's protocols show the ufuncs only.
        if isinstance(f, np.ufunc) or module.__name__.startswith("numpy"):
            yield name, f


def _status(table: Any, f: Any) -> str | None:
    methods = table.methods.get(f)
    if methods is None:
        return None
    return "rule: by hand" if methods.kind is None else STATUS[type(methods.kind)]


def rows(module: ModuleType) -> list[Row]:
    """Return one row per public function of ``module``.

    Examples
    --------
    >>> [row.status for row in rows(np.linalg) if row.name == "inv"]
    ['rule: by hand']
    """
    found = []
    for name, f in functions(module):
        forward, reverse = _status(frule, f), _status(rrule, f)
        status = forward or reverse
        if status is None:
            reason = REASONS.get(name)
            status = f"not followed: {reason}" if reason else "missing"
        found.append(Row(name, status, forward is not None, reverse is not None))
    return found


def modules() -> dict[str, ModuleType]:
    """Return the namespaces that the table covers; scipy.special only where it is installed."""
    found = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}
    try:
        import scipy.special
    except ImportError:
        return found
    rrule(scipy.special.erf, 0.5)  # asking for one registers the rules of all
    return {**found, "scipy.special": scipy.special}


def table() -> str:
    """Return the whole table as Markdown."""
    lines = [
        "# What has derivatives",
        "",
        f"Made by `python -m chainrules.coverage` with NumPy {np.__version__}. Keywords that a "
        "rule does not handle are refused with an error, never ignored.",
    ]
    for title, module in modules().items():
        entries = rows(module)
        followed = sum(not row.status.startswith("not followed") for row in entries)
        lines += [
            "",
            f"## {title}",
            "",
            f"{followed} of {len(entries)} functions are followed.",
            "",
        ]
        lines += ["| function | status | forward | reverse |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {row.name} | {row.status} | {'yes' if row.forward else '-'} "
            f"| {'yes' if row.reverse else '-'} |"
            for row in entries
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
