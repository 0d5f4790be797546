"""Words that everybody shares: configurations, their traits, and the errors."""

from .config import (
    TRAITS,
    AllOf,
    AsksForBlocks,
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from .errors import (
    ChainRulesError,
    EscapedTraceError,
    LostDerivativeError,
    MissingDerivativeError,
    MissingRuleError,
    MutationError,
    RuleError,
    RuleNeverAskedWarning,
    RuleReplacedWarning,
    TangentError,
)
from .lines import caller_line, defined_at, raised_at, user_line

__all__ = [
    "TRAITS",
    "AllOf",
    "AsksForBlocks",
    "ChainRulesError",
    "EscapedTraceError",
    "HasForwardsMode",
    "HasReverseMode",
    "LostDerivativeError",
    "MissingDerivativeError",
    "MissingRuleError",
    "MutationError",
    "NoForwardsMode",
    "NoReverseMode",
    "RuleConfig",
    "RuleError",
    "RuleNeverAskedWarning",
    "RuleReplacedWarning",
    "TangentError",
    "caller_line",
    "defined_at",
    "frule_via_ad",
    "raised_at",
    "rrule_via_ad",
    "user_line",
]
