"""Exceptions of the kit: assertions, one class for each way in which a rule can be wrong."""

__all__ = [
    "MutatedArgumentError",
    "NoRuleError",
    "RuleTestError",
    "UndecidedError",
    "WrongDerivativeError",
    "WrongStructureError",
    "WrongValueError",
]


class RuleTestError(AssertionError):
    """Base class: a rule, or the gradient of a function, failed its test."""


class NoRuleError(RuleTestError):
    """There is no rule for this call."""


class WrongValueError(RuleTestError):
    """A rule does not compute the value that a plain call computes."""


class WrongStructureError(RuleTestError):
    """A tangent or cotangent has the wrong form: count of entries, shape, dtype or type."""


class WrongDerivativeError(RuleTestError):
    """A tangent or cotangent has the wrong value."""


class MutatedArgumentError(RuleTestError):
    """A rule wrote into something that does not belong to it."""


class UndecidedError(RuleTestError):
    """Differences cannot tell here: the function is noisy, broken, random or at an edge."""
