"""Exceptions of the kit: assertions, one class for each way in which a rule can be wrong."""

from ..config import ChainRulesError

__all__ = [
    "MutatedArgumentError",
    "NoRuleError",
    "RuleTestError",
    "UndecidedError",
    "WrongDerivativeError",
    "WrongStructureError",
    "WrongValueError",
]


class RuleTestError(ChainRulesError, AssertionError):
    """Base class: a rule, or the gradient of a function, failed its test."""


class NoRuleError(RuleTestError):
    """There is no rule for the call that was to be tested.

    Register one; ``cr.which(cr.rrule, f, *args)`` says which are there, and why none answers.
    """

    code = "CR031"


class WrongValueError(RuleTestError):
    """A rule does not compute the value that a plain call computes.

    Return ``f(*args)`` itself as the first of the pair.
    """

    code = "CR032"


class WrongStructureError(RuleTestError):
    """A tangent or cotangent has the wrong form: count of entries, shape, dtype or type.

    Return one entry for the function and one for each argument, each fitted by ``ProjectTo``.
    """

    code = "CR033"


class WrongDerivativeError(RuleTestError):
    """A tangent or cotangent has another value than finite differences have.

    Look at the formula; the message says in which entries it is off, and by which factor.
    """

    code = "CR034"


class MutatedArgumentError(RuleTestError):
    """A rule wrote into something that does not belong to it.

    Write into a copy, or make a new array.
    """

    code = "CR035"


class UndecidedError(RuleTestError):
    """Differences cannot tell here: the function is noisy, broken, random or at an edge.

    Test at another point, or give the stencil that fits, ``fdm=forward_fdm(5, 1)``.
    """

    code = "CR036"
