"""Errors and warnings of chainrules; each error is also the builtin that one would catch.

Examples
--------
>>> import chainrules as cr
>>> cr.errors.MissingRuleError is cr.MissingRuleError
True
"""

from .config.errors import (
    BatchError,
    BatchWarning,
    ChainRulesError,
    CompileError,
    CompileWarning,
    ConvergenceWarning,
    EscapedTraceError,
    InaccurateDerivativeError,
    IndependentOutputWarning,
    LostDataError,
    LostDerivativeError,
    MissingDerivativeError,
    MissingRuleError,
    MutationError,
    RuleError,
    RuleNeverAskedWarning,
    RuleReplacedWarning,
    RulesNotLoadedWarning,
    SingularJacobianError,
    TangentError,
)

__all__ = [
    "BatchError",
    "BatchWarning",
    "ChainRulesError",
    "CompileError",
    "CompileWarning",
    "ConvergenceWarning",
    "EscapedTraceError",
    "InaccurateDerivativeError",
    "IndependentOutputWarning",
    "LostDataError",
    "LostDerivativeError",
    "MissingDerivativeError",
    "MissingRuleError",
    "MutationError",
    "RuleError",
    "RuleNeverAskedWarning",
    "RuleReplacedWarning",
    "RulesNotLoadedWarning",
    "SingularJacobianError",
    "TangentError",
]


def __dir__() -> list[str]:
    return __all__
