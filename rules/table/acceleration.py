"""Acceleration: the tables of rules, and the classes of reads, as handed to the accelerator."""

import numpy as np

from ..accelerated import numbers
from ..containers import are_settings
from ..tangents.project import ProjectArray
from ..tracing.funnel import getitem
from ..tracing.level import ONE
from ..tracing.views import Memory, register_view, shares_memory
from .kinds import Kind, ScalarRule
from .linear_kinds import BilinearRule, LinearRule
from .other_kinds import NonDifferentiable
from .partials import first, minus_quotient_over_second, over_second, second
from .reduction_kind import ReductionRule
from .selection_kind import SelectionRule
from .structural_zeros import Masked
from .sums import unbroadcast
from .tables import frule, rrule

if numbers is not None:
    numbers.register_rules(
        ScalarRule, SelectionRule, NonDifferentiable, frule, rrule, ONE, np.positive, np.float64
    )
    numbers.register_reads(getitem, np.stack, Memory, Masked)
    numbers.register_partials(first, second, over_second, minus_quotient_over_second)
    numbers.register_kinds(Kind, ReductionRule)
    numbers.register_linear(LinearRule, BilinearRule, are_settings, shares_memory, register_view)
    numbers.register_pulls(LinearRule, BilinearRule, ProjectArray, unbroadcast)
