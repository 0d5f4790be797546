"""What ``import chainrules`` leaves for later: engines, rules, and the modules beside them."""

import importlib
import sys
from typing import Any

from .rules.tracing import first

_FUNCTIONS = ".rules.rulesets.functions"
_HOMES = {
    ".forward": ("ForwardConfig", "jacfwd", "jvp", "linearize", "sparsity"),
    ".reverse": (
        *("Pullback", "Pushforward", "ReverseConfig", "grad", "hessian", "hvp", "jacobian"),
        *("jacrev", "value_and_grad", "vjp", "wirtinger"),
    ),
    ".adoption": ("Adoption", "adopt"),
    ".compiling": ("compile", "explain"),
    f"{_FUNCTIONS}.checkpoint": ("checkpoint",),
    f"{_FUNCTIONS}.folds": ("accumulate", "reduce"),
    f"{_FUNCTIONS}.implicit": ("fixed_point", "implicit"),
    f"{_FUNCTIONS}.map": ("map",),
    f"{_FUNCTIONS}.scan": ("loop", "scan"),
    f"{_FUNCTIONS}.sequences": ("unstack",),
    ".rules.rulesets.linalg.matrix_functions": ("matrix_function",),
}
HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
MODULES = {
    **{name: f".{name}" for name in ("cmath", "interop", "math", "numpy", "scipy", "testing")},
    "_rulesets": ".rules.rulesets",
}


def _rulesets() -> bool:
    importlib.import_module(".rules.rulesets", __package__)
    return True


def _rules_of_packages() -> bool:
    done: bool = importlib.import_module(".rules_of_packages", __package__).load()
    return done


# What engines ask; and then, so that they may replace rules of ours, the packages.
first.needed += [_rulesets, _rules_of_packages]


def find(name: str) -> Any:
    """Return what the face has under ``name``, or say what to write instead.

    Raises
    ------
    AttributeError
    """
    if name in MODULES:
        return importlib.import_module(MODULES[name], __package__)
    if name in HOME_OF:
        return getattr(importlib.import_module(HOME_OF[name], __package__), name)
    from ._other_names import INSTEAD

    message = f"module {__package__!r} has no attribute {name!r}"
    if name in INSTEAD:
        message += f".\n  {INSTEAD[name]}"
    raise AttributeError(message, name=name, obj=sys.modules[__package__])
