"""Words that everybody shares: configurations, their traits, and the errors.

``from chainrules.config import RuleConfig, HasReverseMode`` is all that an engine of another
library needs.
"""

from .config import (
    AllOf,
    AsksForBlocks,
    FollowsPython,
    HasBatchMode,
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    StrongZeros,
    batch_via_ad,
    frule_via_ad,
    rrule_via_ad,
    value_via_ad,
)
from .errors import (
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
from .lines import caller_line, defined_at, raised_at, user_frame, user_line, warn_user
