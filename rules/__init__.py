"""The kit of rule authors and of engine authors: rules import from here, and from each other.

A file of rules begins with ``from ... import linear_rule, restore``, and an engine with
``from chainrules.rules import Engine, TracedNumber, frule``.
"""

from .containers import Within, children, fold, iterate_leaves, map_leaves, replaced
from .engines.buffers import all_settled, buffer, handed_out, writers
from .engines.engine import Engine
from .engines.inputs import is_perturbable_input, taken
from .engines.labelled import register_xarray
from .engines.registration import register_container
from .linear.blocks import Block, aligned, block_rule, fitted, run_on_block, shifted, spread
from .linear.jacobians import gradient_via_ad, jacobian_via_ad
from .linear.patterns import Pattern, matrix, number, pattern_rule, refuse_too_many, run_on_pattern
from .shapes import dtype_of, is_lazy, shape_of
from .signatures import name_of, positional_names
from .table.compositions import as_library, own_valued, with_values
from .table.define import (
    add_kind,
    bilinear_rule,
    composed,
    composed_where_traced,
    derivatives_given_output,
    fresh_array,
    linear_rule,
    non_differentiable,
    opt_out,
    reduction_rule,
    scalar_rule,
    selection_rule,
    which,
)
from .table.keys import instances
from .table.kinds import Kind, Shares, unbroadcast
from .table.pairs import pair_rule, solution_rule
from .table.reduction_kind import refuse_integers, refuse_real, restore, select, shared
from .table.structural_zeros import Masked, told_of_masks, unmask, zeros_pass
from .table.sums import spread_over
from .table.tables import frule, late_rulesets, rrule
from .tangents.filled import as_structured, dense, zero_tangent
from .tangents.missing import NotImplementedTangent, not_implemented
from .tangents.project import ProjectContainer, Projector, ProjectTo
from .tangents.structural import Tangent, add, child_tangents, structural, sum_tangents
from .tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
from .tangents.zeros import ZERO, AbstractZero, NoTangent, ZeroTangent, linear_in
from .tracing.array import TracedArray
from .tracing.funnel import (
    array_of,
    as_dtype,
    astype,
    body,
    call,
    entry,
    getitem,
    is_primitive,
    primitive,
)
from .tracing.level import (
    Level,
    Traced,
    innermost,
    is_traced,
    layers,
    next_level,
    strip,
    type_under,
    value,
)
from .tracing.number import TracedNumber
from .tracing.object_arrays import healed, holds_traced
from .tracing.operands import is_array, is_basic
from .tracing.options import computed_into, write_out
from .tracing.refusals import describe
from .tracing.seen import seen
from .tracing.shown import as_object_array
from .tracing.stand_ins import AbstractStandIn, StandIn, stands_for
from .tracing.stop import ignore_derivatives, stop_gradient
from .tracing.views import follow, laid_out, tie_result
from .tracing.writing import raised, written

__all__ = [
    "AbstractStandIn",
    "AbstractZero",
    "Block",
    "Engine",
    "InplaceableThunk",
    "Kind",
    "Level",
    "Masked",
    "NoTangent",
    "NotImplementedTangent",
    "Pattern",
    "ProjectContainer",
    "ProjectTo",
    "Projector",
    "Shares",
    "StandIn",
    "Tangent",
    "Thunk",
    "Traced",
    "TracedArray",
    "TracedNumber",
    "Within",
    "ZERO",
    "ZeroTangent",
    "add",
    "add_kind",
    "aligned",
    "all_settled",
    "array_of",
    "as_dtype",
    "as_library",
    "as_object_array",
    "as_structured",
    "astype",
    "bilinear_rule",
    "block_rule",
    "body",
    "buffer",
    "call",
    "child_tangents",
    "children",
    "composed",
    "computed_into",
    "composed_where_traced",
    "dense",
    "derivatives_given_output",
    "describe",
    "dtype_of",
    "entry",
    "fitted",
    "fold",
    "follow",
    "fresh_array",
    "frule",
    "getitem",
    "gradient_via_ad",
    "handed_out",
    "healed",
    "holds_traced",
    "ignore_derivatives",
    "innermost",
    "layers",
    "instances",
    "is_array",
    "is_basic",
    "is_lazy",
    "is_perturbable_input",
    "is_primitive",
    "is_traced",
    "iterate_leaves",
    "jacobian_via_ad",
    "laid_out",
    "late_rulesets",
    "linear_in",
    "linear_rule",
    "map_leaves",
    "matrix",
    "name_of",
    "next_level",
    "non_differentiable",
    "not_implemented",
    "number",
    "opt_out",
    "own_valued",
    "pair_rule",
    "pattern_rule",
    "positional_names",
    "primitive",
    "raised",
    "reduction_rule",
    "refuse_integers",
    "refuse_real",
    "refuse_too_many",
    "register_container",
    "register_xarray",
    "replaced",
    "restore",
    "rrule",
    "run_on_block",
    "run_on_pattern",
    "scalar_rule",
    "seen",
    "select",
    "selection_rule",
    "shape_of",
    "shared",
    "shifted",
    "solution_rule",
    "spread",
    "spread_over",
    "stands_for",
    "stop_gradient",
    "strip",
    "structural",
    "sum_tangents",
    "taken",
    "thunk",
    "tie_result",
    "told_of_masks",
    "type_under",
    "unbroadcast",
    "unmask",
    "unthunk",
    "value",
    "which",
    "with_values",
    "write_out",
    "writers",
    "written",
    "zero_tangent",
    "zeros_pass",
]
