"""Reductions by name: the operation that joins two totals, and the total of nothing."""

import math
from typing import Any, NamedTuple

import numpy as np

from .kinds import is_whole


class Reduction(NamedTuple):
    """The native operation of a reduction, which has NumPy's name, and the total of nothing.

    ``of_truths`` is the reduction that it is of truths; sums and products take these as numbers.
    """

    op: str
    neutral: float | bool
    of_truths: str = ""

    def neutral_of(self, kind: str) -> Any:
        """Return the total of nothing as a value of this kind."""
        if not is_whole(kind):
            return self.neutral
        ends = np.iinfo(np.dtype(kind))
        return int(min(max(self.neutral, ends.min), ends.max))


REDUCTIONS = {
    "sum": Reduction("add", 0.0),
    "prod": Reduction("multiply", 1.0),
    "max": Reduction("maximum", -math.inf, "any"),
    "min": Reduction("minimum", math.inf, "all"),
    "any": Reduction("logical_or", False, "any"),
    "all": Reduction("logical_and", True, "all"),
}
