"""Lazy imports of ``chainrules``: engines, rules, and the modules beside them."""

import sys
from typing import Any

from .rules import loading
from .rules.known_classes import forms, keepers, late

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
    "._cost": ("cost",),
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
_NAMES = "adoption cmath forward interop math numpy reverse scipy testing"
MODULES = {**{name: f".{name}" for name in _NAMES.split()}, "_rulesets": ".rules.rulesets"}


def _rulesets() -> bool:
    loading.imported(f"{__package__}.rules.rulesets")
    return True


def _rules_of_packages() -> bool:
    # In the thread that asks: a package may be just being imported there.
    done: bool = loading.alone(loading.imported_here(f"{__package__}.rules_of_packages").load)
    return done


def _containers_of_xarray() -> None:
    loading.imported(f"{__package__}.interop.xarray").register_xarray()


def _quantities_of_pint() -> None:
    loading.imported(f"{__package__}.interop.pint").register_pint()


def _tables_of_pandas() -> None:
    loading.imported(f"{__package__}.interop.pandas").register_pandas()


def _modules_of_equinox() -> Any:
    return loading.imported(f"{__package__}.interop.equinox").MODULES


def _column_of_pandas(x: Any) -> Any:
    return loading.imported(f"{__package__}.interop.pandas").kept(x)


late["pandas"] = _tables_of_pandas
for _module in ("series", "construction", "internals.construction"):
    keepers[f"pandas.core.{_module}"] = _column_of_pandas
forms["equinox"] = _modules_of_equinox
late["xarray"], late["pint"] = _containers_of_xarray, _quantities_of_pint
# What engines ask; and then, so that they may replace rules of ours, the packages.
loading.needed += [_rulesets, _rules_of_packages]


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
    if name in INSTEAD:
        message += f".\n  {INSTEAD[name]}"
    raise AttributeError(message, name=name, obj=sys.modules[__package__])
