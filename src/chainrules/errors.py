"""Errors and warnings of chainrules; each error is also the builtin that one would catch.

Examples
--------
>>> import chainrules as cr
>>> cr.errors.MissingRuleError is cr.MissingRuleError
True
"""

from .config.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BatchError,
    BatchWarning,
    ChainRulesError,
    CompileError,
    CompileWarning,
    ContainerError,
    ConvergenceWarning,
    EscapedTraceError,
    ExchangeError,
    InaccurateDerivativeError,
    IndependentOutputWarning,
    LostDataError,
    LostDerivativeError,
    MissingDerivativeError,
    MissingPackageError,
    MissingRuleError,
    MutationError,
    NoSolutionError,
    RuleError,
    RuleNeverAskedWarning,
    RuleReplacedWarning,
    RulesNotLoadedWarning,
    SingularJacobianError,
    TangentError,
    UnknownNameError,
)

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "BatchError",
    "BatchWarning",
    "ChainRulesError",
    "CompileError",
    "CompileWarning",
    "ContainerError",
    "ConvergenceWarning",
    "EscapedTraceError",
    "ExchangeError",
    "InaccurateDerivativeError",
    "IndependentOutputWarning",
    "LostDataError",
    "LostDerivativeError",
    "MissingDerivativeError",
    "MissingPackageError",
    "MissingRuleError",
    "MutationError",
    "NoSolutionError",
    "RuleError",
    "RuleNeverAskedWarning",
    "RuleReplacedWarning",
    "RulesNotLoadedWarning",
    "SingularJacobianError",
    "TangentError",
    "UnknownNameError",
]


def __dir__() -> list[str]:
    return __all__
