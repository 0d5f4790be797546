"""The testing kit: a rule, an engine or a gradient against finite differences and against itself.

``test_rrule(np.sum, x, axis=0)`` is a whole test of one rule at one point; ``check_grad(loss, x)``
is one of a user's own function. All randomness comes from ``seed``, and every failure is an
``AssertionError`` that names the argument and the entry.
"""

from .arguments import primal_with_tangent
from .case import Report
from .check_grad import check_grad
from .compare import assert_tangents_close
from .coordinates import to_vec
from .errors import (
    MutatedArgumentError,
    NoRuleError,
    RuleTestError,
    UndecidedError,
    WrongDerivativeError,
    WrongStructureError,
    WrongValueError,
)
from .finite_differences import Estimate, FiniteDifference, backward_fdm, central_fdm, forward_fdm
from .random_tangents import rand_tangent
from .rule_tests import test_frule, test_rrule
from .scalar_tests import test_scalar

__all__ = [
    # a rule
    "test_rrule", "test_frule", "test_scalar", "primal_with_tangent",
    # a function
    "check_grad", "Report",
    # the tools
    "central_fdm", "forward_fdm", "backward_fdm", "FiniteDifference", "Estimate",
    "rand_tangent", "to_vec", "assert_tangents_close",
    # what can be found
    "RuleTestError", "NoRuleError", "WrongValueError", "WrongStructureError",
    "WrongDerivativeError", "MutatedArgumentError", "UndecidedError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
