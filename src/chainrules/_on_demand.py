"""Lazy imports of ``chainrules``: engines, rules, and the modules beside them."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy

from .config import UnknownNameError
from .rules import loading
from .rules.known_classes import asked_by, compilers, forms, keepers, late
from .rules.table.compositions import copies
from .rules.tracing.array_api import mirrors

_FUNCTIONS = ".rules.rulesets.functions"
_HOMES = {
    ".forward": ("ForwardConfig", "jacfwd", "jvp", "linearize", "sparsity"),
    ".reverse": (
        *("ReverseConfig", "grad", "hessian", "hvp", "jacobian", "jacrev", "value_and_grad"),
        *("vjp", "wirtinger"),
    ),
    ".batching": ("vmap",),
    ".functions": ("Pullback", "Pushforward"),
    "._ad": ("ad",),
    ".adoption": ("Adoption", "adopt"),
    ".compiling": ("compile", "explain"),
    "._price.cost": ("cost",),
    f"{_FUNCTIONS}.checkpoint": ("checkpoint",),
    f"{_FUNCTIONS}.flatten": ("flatten",),
    f"{_FUNCTIONS}.folds": ("accumulate", "reduce"),
    f"{_FUNCTIONS}.implicit": ("fixed_point", "implicit"),
    f"{_FUNCTIONS}.map": ("map",),
    f"{_FUNCTIONS}.scan": ("loop", "scan"),
    f"{_FUNCTIONS}.while_loop": ("while_loop",),
    f"{_FUNCTIONS}.sequences": ("unstack",),
    ".rules.rulesets.linalg.matrix_functions": ("matrix_function",),
}
HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_NAMES = "adoption cmath errors forward interop math numpy reverse scipy testing traits"
# What completion shows besides the transforms: of the kit of rule authors a few names, and modules.
_OFTEN = [
    "frule", "rrule", "primitive", "scalar_rule", "which", "value", "is_traced",
    "stop_gradient", "ignore_derivatives", "register_container", "zero_tangent",
]  # fmt: skip
_SHOWN = ["cmath", "errors", "interop", "math", "numpy", "rules", "scipy", "testing", "traits"]
MODULES = {**{name: f".{name}" for name in _NAMES.split()}, "_rulesets": ".rules.rulesets"}


def _rulesets() -> bool:
    loading.imported(f"{__package__}.rules.rulesets")
    return True


def _rules_of_packages() -> bool:
    # In the thread that asks: a package may be just being imported there.
    done: bool = loading.alone(loading.imported_here(f"{__package__}.rules_of_packages").load)
    return done


def _at(module: str, name: str) -> Callable[..., Any]:
    """Return a function that loads a module of ours when it is called, and calls what it names."""
    return lambda *args: getattr(loading.imported(f"{__package__}.{module}"), name)(*args)


late["pandas"] = _at("interop.pandas", "register_pandas")
late["xarray"] = _at("interop.xarray", "register_xarray")
late["pint"] = _at("interop.pint", "register_pint")
for _package in ("astropy", "unyt"):
    late[_package] = functools.partial(_at("interop.units", "register"), _package)
for _module in ("series", "construction", "internals.construction"):
    keepers[f"pandas.core.{_module}"] = _at("interop.pandas", "kept")
keepers["pandas.core.indexes.base"] = _at("interop.pandas", "kept_by_index")
asked_by["pandas.core.construction", "_typ"] = _at("interop.pandas", "kind_of_column")
asked_by["pandas.core.construction", "_values"] = _at("interop.pandas", "kept_uncopied")
keepers["dask.array.core"] = _at("rules.engines.buffers", "plain_copy")
mirrors[numpy] = lambda: loading.imported(f"{__package__}.numpy")
copies["scipy"] = _at("_sources", "source_of")
compilers["numba"] = _at("_adopted.mirrors", "python_of")
forms["jax"] = _at("interop.pytrees", "form_of_pytree")
# What engines ask; and then, so that they may replace rules of ours, the packages.
loading.needed += [_rulesets, _rules_of_packages]


def completions(names: list[str]) -> list[str]:
    """Return what ``dir`` lists: transforms first, others in modules: errors, traits, the kit."""
    from . import errors, rules, traits

    elsewhere = {*errors.__all__, *traits.__all__, *rules.__all__}.difference(_OFTEN)
    return sorted({*names, *_SHOWN, "__version__"} - elsewhere)


def find(name: str) -> Any:
    """Return what the face has under ``name``, or say what to write instead.

    Raises
    ------
    AttributeError
    """
    if name in MODULES:
        return loading.imported(f"{__package__}{MODULES[name]}")
    if name in HOME_OF:
        return getattr(loading.imported(f"{__package__}{HOME_OF[name]}"), name)
    from ._other_names import INSTEAD

    message = f"module {__package__!r} has no attribute {name!r}"
    face = sys.modules[__package__]
    if name in INSTEAD:
        raise UnknownNameError(f"{message}.\n  {INSTEAD[name]}", name=name, obj=face)
    raise AttributeError(message, name=name, obj=face)
