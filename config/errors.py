"""Every way to fail has a class of its own, and each is also the builtin a caller would catch.

``except cr.MissingRuleError`` catches a call of a function without a rule, and so does ``except
NotImplementedError``.
"""


class ChainRulesError(Exception):
    """Base class of the errors that name a rule, a tangent or a traced value."""


class MissingRuleError(ChainRulesError, NotImplementedError):
    """A function that depends on a traced value has no rule in the mode that was asked for."""


class TangentError(ChainRulesError, ValueError):
    """A tangent or a cotangent does not fit the value that it belongs to."""


class RuleError(ChainRulesError, TypeError):
    """A rule broke its contract: its signature, or what it returned."""


class EscapedTraceError(ChainRulesError, RuntimeError):
    """A traced value was used after the transform that made it had ended."""


class LostDerivativeError(ChainRulesError, TypeError):
    """A traced value was about to be turned into a plain number, and its derivative lost."""


class LostDataError(ChainRulesError, RuntimeError):
    """Data on a cluster are gone with the worker that had them, and cannot be made again."""


class MutationError(ChainRulesError, TypeError):
    """A write that the tracer cannot follow."""


class MissingDerivativeError(ChainRulesError, NotImplementedError):
    """A partial derivative marked ``not_implemented`` would have reached a result."""


class InaccurateDerivativeError(ChainRulesError, ArithmeticError):
    """A derivative by finite differences, or by a complex step, that cannot be trusted."""


class SingularJacobianError(ChainRulesError, ArithmeticError):
    """The equations that an answer solves do not determine how it moves."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before its answer was good enough to be differentiated."""


class IndependentOutputWarning(UserWarning):
    """A gradient is zero because the function's result does not depend on its input at all."""


class RuleNeverAskedWarning(UserWarning):
    """A rule was registered for something whose calls inside a program nobody sees."""


class RulesNotLoadedWarning(UserWarning):
    """Rules that an installed package brings were not loaded, or the program waited for them."""


class RuleReplacedWarning(UserWarning):
    """A rule took the place of one that another module had registered."""


class CompileError(ChainRulesError, RuntimeError):
    """A function that cannot be compiled, because it does more than compute what it returns."""


class CompileWarning(UserWarning):
    """A compiled function runs as it always did, and why."""


class BatchError(ChainRulesError, ValueError):
    """A function that cannot run on a batch, or whose results cannot be put together."""


class BatchWarning(UserWarning):
    """The items of a batch go one after another, and why."""
