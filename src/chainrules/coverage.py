"""Table of functions with derivatives, and of those refused: ``python -m chainrules.coverage``.

The table is read from the rules themselves. ``docs/coverage.md`` is its printed form;
``--counts`` prints its summary alone.
"""

import importlib
import importlib.util
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from . import frule, rrule
from .coverage_of_methods import method_rows
from .rules.linear.blocks import has_batch_form
from .rules.loading import load
from .rules.table.compositions import Composed
from .rules.tangents.missing import NotImplementedTangent

load()  # the tables are read as they are

STAND_IN = "composed of other functions: a stand-in of ours"
IN_PYTHON = "composed of other functions: plain Python"
SERIES = f"{IN_PYTHON}; roots and fit refused: {{}}; write chainrules.numpy.polynomial.{{}}"

# Functions that take nothing which could be differentiated.
NO_INPUT = {
    "reads or writes files, buffers or text": """
        base_repr binary_repr format_float_positional format_float_scientific from_dlpack
        frombuffer fromfile fromregex fromstring genfromtxt load loadtxt format_float
        set_default_printstyle""",
    "is about types, settings or the installation": """
        datetime_data get_include get_printoptions getbufsize geterr geterrcall info isdtype
        isfortran isscalar issubdtype iterable mintypecode printoptions promote_types
        set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename""",
    "takes sizes only, which are integers": """
        bartlett blackman hamming hanning kaiser broadcast_shapes diag_indices indices
        mask_indices nested_iters tri tril_indices triu_indices fftfreq rfftfreq
        chebgauss hermgauss hermegauss laggauss leggauss chebpts1 chebpts2""",
}

# Functions that NumPy's protocols do not show: why, and what to write instead.
OBJECTS = "NumPy makes an object array"
EIGENVALUES = "LAPACK takes no object array"
REFUSED = {
    name: (reason, remedy or f"chainrules.numpy.{name}")
    for reason, remedy, names in (
        (OBJECTS, "", "arange asarray_chkfinite asfortranarray fromiter require"),
        (OBJECTS, "cr.array", "asmatrix"),
        (OBJECTS, "np.block", "bmat"),
        ("makes a ufunc of Python code", "", "frompyfunc"),
        ("a file holds plain numbers", "cr.value(x)", "save savetxt savez savez_compressed"),
    )
    for name in names.split()
}
REFUSED |= {
    f"{prefix}{name}": (EIGENVALUES, f"chainrules.numpy.polynomial.{module}.{prefix}{name}")
    for prefix, module in (
        ("poly", "polynomial"), ("cheb", "chebyshev"), ("leg", "legendre"),
        ("herm", "hermite"), ("herme", "hermite_e"), ("lag", "laguerre"),
    )
    for name in ("roots", "fit")
}  # fmt: skip
REASONS = {name: reason for reason, names in NO_INPUT.items() for name in names.split()}
CALLS_BACK = {"fromfunction", "row_stack", "chebinterpolate"}


class Row(NamedTuple):
    """One function: its status, whether it has a derivative in each mode, and a batch form."""

    name: str
    status: str
    forward: bool
    reverse: bool
    batch: str = ""


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions of ``module``, with their names."""
    series = module.__name__.startswith("numpy.polynomial.")
    # Two functions of polyutils are in no __all__, nor are those of a module's own helpers.
    names = [n for n, f in vars(module).items() if getattr(f, "__module__", 0) == module.__name__]
    for name in sorted({*getattr(module, "__all__", dir(module)), *(names if series else [])}):
        f = getattr(module, name, None)
        classes = module is np.polynomial  # a series computes by the functions of its module
        if not callable(f) or name.startswith("_") or (isinstance(f, type) and not classes):
            continue
        # Of scipy.special NumPy's protocols show the ufuncs only.
        numpys = isinstance(f, np.ufunc) or module.__name__.startswith("numpy")
        if numpys or (module.__name__ in shown_by_scipy() and inspect.isroutine(f)):
            yield name, f


def _status(table: Any, f: Any) -> str | None:
    methods = table.methods.get(f)
    if methods is None:
        return None
    return "rule by hand" if methods.kind is None else methods.kind.label


def batch_form_of(f: Any) -> str:
    """Return what a batch does with a call of ``f``."""
    if has_batch_form(f):
        return "at once"
    kind = frule.kind_of(f)
    return "composed" if isinstance(kind, Composed) and not kind.keeps_own else "each"


def missing_partials(f: Any) -> list[str]:
    """List the arguments in which ``f`` has no derivative, with the reason of each."""
    kind = rrule.kinds.get(f)
    rows = () if kind is None else kind.rows
    partials = [p for row in rows for p in row.constants]
    found = {p.message: None for p in partials if isinstance(p, NotImplementedTangent)}
    return list(found)


def shown_by_scipy() -> dict[str, ModuleType]:
    """Return the rules of each module of SciPy that ``chainrules.scipy`` shows, by its name."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        return {}
    from . import scipy as shown

    names = [name for name in shown.FOLLOWED if importlib.util.find_spec(f"scipy.{name}")]
    return {f"scipy.{name}": shown.rules_of(name) for name in names}


def row_of(name: str, f: Any, refused: dict[str, tuple[str, str]] = REFUSED) -> Row:
    """Return the row of the function ``f``."""
    forward, reverse = _status(frule, f), _status(rrule, f)
    status = forward or reverse
    if status and status != "refused":
        missing = missing_partials(f)
        status += f", but refused in an argument: {'; '.join(missing)}" if missing else ""
        return Row(name, status, forward is not None, reverse is not None)
    numpys = refused is REFUSED or f is getattr(np.fft, name, None)  # scipy.fftpack shows some
    if name in REASONS and numpys:
        return Row(name, f"no input to differentiate: {REASONS[name]}", False, False)
    if name in refused:
        reason, remedy = refused[name]
        return Row(name, f"refused: {reason}; write {remedy}", False, False)
    if isinstance(f, type):
        return Row(name, SERIES.format(EIGENVALUES, name), True, True)
    if inspect.isfunction(f) and (
        f.__module__.startswith("numpy.polynomial") or name in CALLS_BACK
    ):
        return Row(name, IN_PYTHON, True, True)
    return Row(name, "missing", False, False)


def rows(module: ModuleType) -> list[Row]:
    """Return one row per public function of ``module``.

    Examples
    --------
    >>> [row.status for row in rows(np.linalg) if row.name == "inv"]
    ['matrix rule']
    """
    rules = shown_by_scipy().get(module.__name__)
    refused = REFUSED if rules is None else rules.REFUSED
    found = [row_of(name, f, refused) for name, f in functions(module)]
    shown = {} if rules is None else rules.INSTEAD
    return [
        Row(row.name, getattr(rules, "STATUS", {}).get(row.name, STAND_IN), True, True)
        if row.status == "missing" and row.name in shown
        else row._replace(batch=batch_form_of(f) if row.forward else "")
        for row, (_, f) in zip(found, functions(module), strict=True)
    ]


def modules() -> dict[str, ModuleType]:
    """Return the namespaces that the table covers; scipy.special only where it is installed."""
    found = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}
    found["numpy.polynomial"] = np.polynomial
    series = ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
    for name in (*series, "polyutils"):
        found[f"numpy.polynomial.{name}"] = getattr(np.polynomial, name)
    try:
        import scipy.special
    except ImportError:
        return found
    rrule(scipy.special.erf, 0.5)  # asking for one registers the rules of all
    for name in shown_by_scipy():
        found[name] = importlib.import_module(name)
    return {**found, "scipy.special": scipy.special}


def sections() -> dict[str, list[Row]]:
    """Return all rows, by the title of their section; scipy.special comes last."""
    found = {title: rows(module) for title, module in modules().items()}
    special = found.pop("scipy.special", None)
    for title, triples in method_rows().items():
        found[title] = [Row(name, status, followed, followed) for name, status, followed in triples]
    return found if special is None else {**found, "scipy.special": special}


# The beginning of a status holds one of these.
HEADS = (
    "rule", "composed", "non-differentiable", "fresh array", "passed through", "refused",
    "no input", "missing",
)  # fmt: skip


def head_of(status: str) -> str:
    """Return which of ``HEADS`` a status belongs to."""
    first = status.partition(":")[0].partition(",")[0]
    return next(head for head in HEADS if head in first)


def counts(found: dict[str, list[Row]]) -> list[str]:
    """Return the summary as the lines of a Markdown table: rows by status and by mode."""
    lines = [
        f"| namespace | rows | {' | '.join(HEADS)} | forward | reverse |",
        "| --- " * (len(HEADS) + 4) + "|",
    ]
    for title, entries in found.items():
        number = Counter(head_of(row.status) for row in entries)
        modes = sum(row.forward for row in entries), sum(row.reverse for row in entries)
        cells = [title, len(entries), *(number[head] for head in HEADS), *modes]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def table() -> str:
    """Return the whole table as Markdown."""
    found = sections()
    lines = [
        "# What has derivatives",
        "",
        f"Made by `python -m chainrules.coverage` with NumPy {np.__version__}. Keywords that a "
        "rule does not handle are refused with an error, never ignored.",
        "",
        "*rule*, *composed*: with a derivative in both modes and to any order; *of its own "
        "source*: by the code of the library itself, with its value to the last bit. "
        "*non-differentiable*: the derivative is zero. *refused*: a clear error, and what to "
        "write instead. `cr` is chainrules. *batch*: whether `cr.vmap` calls the function once for "
        "all items, what it is composed of, or the function for each item.",
        "",
        *counts(found),
    ]
    for title, entries in found.items():
        lines += ["", f"## {title}", ""]
        lines += ["| name | status | forward | reverse | batch |", "| --- " * 5 + "|"]
        lines += [
            f"| {row.name} | {row.status} | {'yes' if row.forward else '-'} "
            f"| {'yes' if row.reverse else '-'} | {row.batch} |"
            for row in entries
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--counts" in sys.argv[1:]:
        sys.stdout.write("\n".join(counts(sections())) + "\n")
    else:
        sys.stdout.write(table())
