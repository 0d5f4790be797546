"""Automatic differentiation for plain NumPy code, from one vocabulary of rules.

``import chainrules as cr``. The names below follow the order of the architecture.
"""

import importlib as _importlib
import os as _os
import sys as _sys
import typing as _typing

__version__ = "0.1.0"

_top = _os.path.dirname(_os.path.dirname(_os.path.dirname(_os.path.realpath(__file__))))
_parts = ("config", "forward", "reverse", "rules")
if all(_os.path.isfile(_os.path.join(_top, part, "__init__.py")) for part in _parts):
    # A checkout: the four folders lie at its top. The links beside this file serve only type
    # checkers and editors. (All four are asked for: after `pip install --target src chainrules`
    # the top may be somebody's, with a config/ of its own.)
    __path__ = [_top, *__path__]

# The words that rules and engines share.
from .config import (
    AllOf,
    AsksForBlocks,
    ChainRulesError,
    CompileError,
    CompileWarning,
    ConvergenceWarning,
    EscapedTraceError,
    FollowsPython,
    HasForwardsMode,
    HasReverseMode,
    InaccurateDerivativeError,
    LostDataError,
    LostDerivativeError,
    MissingDerivativeError,
    MissingRuleError,
    MutationError,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    RuleError,
    RuleNeverAskedWarning,
    RuleReplacedWarning,
    SingularJacobianError,
    TangentError,
    frule_via_ad,
    rrule_via_ad,
)

# Asking rules, and writing them.
from .rules import (
    InplaceableThunk,
    NoTangent,
    ProjectTo,
    Tangent,
    ZeroTangent,
    bilinear_rule,
    composed,
    derivatives_given_output,
    flatten,
    frule,
    ignore_derivatives,
    instances,
    linear_rule,
    non_differentiable,
    not_implemented,
    opt_out,
    rrule,
    reduction_rule,
    register_container,
    scalar_rule,
    stop_gradient,
    thunk,
    unthunk,
    which,
    zero_tangent,
)
from .rules import array_of as array
from .rules.tracing.level import is_traced
from .rules.tracing.stop import value

# Derivatives, forward and reverse.
from .forward import ForwardConfig, jacfwd, jvp, linearize, sparsity
from .reverse import (
    Pullback,
    Pushforward,
    ReverseConfig,
    grad,
    hessian,
    hvp,
    jacobian,
    jacrev,
    value_and_grad,
    vjp,
    wirtinger,
)

# Code as it stands.
from .adoption import Adoption, adopt

# The rules themselves, and the functions that come with rules of their own.
from .rules import rulesets as _rulesets
from .black_boxes import primitive
from .rules.rulesets.functions.checkpoint import checkpoint
from .rules.rulesets.functions.folds import accumulate, reduce
from .rules.rulesets.functions.implicit import fixed_point, implicit
from .rules.rulesets.functions.map import map
from .rules.rulesets.functions.scan import loop, scan
from .rules.rulesets.functions.sequences import unstack
from .rules.rulesets.linalg.matrix_functions import matrix_function

__all__ = [
    "Adoption",
    "AllOf",
    "AsksForBlocks",
    "ChainRulesError",
    "CompileError",
    "CompileWarning",
    "ConvergenceWarning",
    "EscapedTraceError",
    "FollowsPython",
    "ForwardConfig",
    "HasForwardsMode",
    "HasReverseMode",
    "InaccurateDerivativeError",
    "InplaceableThunk",
    "LostDataError",
    "LostDerivativeError",
    "MissingDerivativeError",
    "MissingRuleError",
    "MutationError",
    "NoForwardsMode",
    "NoReverseMode",
    "NoTangent",
    "ProjectTo",
    "Pullback",
    "Pushforward",
    "ReverseConfig",
    "RuleConfig",
    "RuleError",
    "RuleNeverAskedWarning",
    "RuleReplacedWarning",
    "SingularJacobianError",
    "Tangent",
    "TangentError",
    "ZeroTangent",
    "accumulate",
    "adopt",
    "array",
    "bilinear_rule",
    "checkpoint",
    "compile",
    "composed",
    "derivatives_given_output",
    "explain",
    "fixed_point",
    "flatten",
    "frule",
    "frule_via_ad",
    "grad",
    "hessian",
    "hvp",
    "ignore_derivatives",
    "implicit",
    "instances",
    "is_traced",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear_rule",
    "linearize",
    "loop",
    "map",
    "matrix_function",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "primitive",
    "reduce",
    "reduction_rule",
    "register_container",
    "rrule",
    "rrule_via_ad",
    "scalar_rule",
    "scan",
    "sparsity",
    "stop_gradient",
    "thunk",
    "unstack",
    "unthunk",
    "value",
    "value_and_grad",
    "vjp",
    "which",
    "wirtinger",
    "zero_tangent",
]

# What is recorded and replayed; loaded when it is first asked for.
if _typing.TYPE_CHECKING:
    from .compiling import compile, explain
else:  # a type checker would take it that every name exists
    from ._other_names import INSTEAD as _INSTEAD

    def __getattr__(name):
        """Load a module of the face; of names of other libraries say what to write."""
        if name in ("cmath", "interop", "math", "numpy", "scipy", "testing"):
            return _importlib.import_module(f".{name}", __name__)
        if name in ("compile", "explain"):
            return getattr(_importlib.import_module(".compiling", __name__), name)
        message = f"module {__name__!r} has no attribute {name!r}"
        if name in _INSTEAD:
            message += f".\n  {_INSTEAD[name]}"
        raise AttributeError(message, name=name, obj=_sys.modules[__name__])
