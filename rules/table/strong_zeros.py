"""Strong zeros: products of slopes with exact zeros are zero, even where the slope is infinite.

``0 * inf`` is NaN in arithmetic. A level whose config has the trait ``StrongZeros`` asks these
kinds in place of those that are registered: ``strong_product`` multiplies in them.
"""

from typing import Any

import numpy as np

from ..annotations import Tangentlike, Value
from ..tracing.funnel import primitive
from ..tracing.operands import is_array
from .define import scalar_rule
from .kinds import Kind, OutputsRule, ScalarRule, Shares
from .partials import first, second
from .reduction_kind import ReductionRule
from .strength import strong_kinds


@primitive
def strong_product(slope: Any, t: Any) -> Any:
    """Return ``slope * t``, entry by entry, and 0 where ``t`` is exactly 0.

    Examples
    --------
    >>> float(strong_product(np.inf, 0.0)), strong_product(np.inf, np.array([0.0, 1.0]))
    (0.0, array([ 0., inf]))
    """
    with np.errstate(invalid="ignore"):  # infinity times 0, which is not read
        product = slope * t
    y = np.where(np.equal(t, 0), 0, product)
    return y if is_array(product) else y[()]


strong_product.runs_as_steps = True  # type: ignore[attr-defined]
# Bilinear: what a zero hides at this level is seen by those further out, which decide themselves.
scalar_rule(strong_product, second, first)


class StrongProducts(Kind):
    """A kind that multiplies tangents and cotangents by ``strong_product``."""

    __slots__ = ()

    def times(self, slope: Any, t: Tangentlike) -> Any:
        return slope * t if type(slope) is Shares else strong_product(slope, t)


class StrongScalarRule(StrongProducts, ScalarRule):
    """An elementwise kind with strong zeros."""

    __slots__ = ()

    def push(self, i: int, xdot: Tangentlike, y: Value, args: tuple, kwargs: dict) -> Tangentlike:
        if self.constants[i] is not None:
            return ScalarRule.push(self, i, xdot, y, args, kwargs)
        partial = self.partial(i, y, args)
        return self.times(partial.branch if type(partial) is Shares else partial, xdot)


class StrongOutputsRule(OutputsRule):
    """An elementwise kind of several outputs with strong zeros."""

    __slots__ = ()


class StrongReductionRule(StrongProducts, ReductionRule):
    """A reduction with strong zeros."""

    __slots__ = ()


strong_kinds.update(
    {
        ScalarRule: StrongScalarRule,
        OutputsRule: StrongOutputsRule,
        ReductionRule: StrongReductionRule,
    }
)
