"""The kit of rule authors and of engine authors: rules import from here, and from each other.

A file of rules begins with ``from ... import linear_rule, restore``, and an engine with
``from chainrules.rules import Engine, TracedNumber, frule``. ``__all__`` has the names in groups;
the first eight write nearly every rule (docs/writing_rules.md).
"""

from .containers import Within, children, fold, iterate_leaves, map_leaves, replaced
from .engines.buffers import all_settled, buffer, handed_out, writers
from .engines.engine import Engine
from .engines.held_arrays import HeldArrays
from .engines.inputs import is_perturbable_input, taken
from .engines.registration import register_container
from .linear.blocks import (
    Block,
    aligned,
    batch_form,
    block_rule,
    entry_by_entry,
    fitted,
    pushes_stacks,
    rank_of,
    run_on_block,
    spread,
)
from .linear.jacobians import gradient_via_ad, jacobian_via_ad
from .linear.patterns import Pattern, matrix, number, pattern_rule, refuse_too_many, run_on_pattern
from .shapes import dtype_of, is_foreign_array, is_lazy, shape_of, shifted
from .signatures import name_of, positional_names
from .table import acceleration as _acceleration
from .table import strong_zeros as _strong_zeros
from .table.compositions import (
    adjusted,
    as_library,
    in_a_copy,
    library_value,
    own_valued,
    refused_by_source,
    source_of,
    with_value,
    with_values,
)
from .table.define import (
    add_kind,
    bilinear_rule,
    by_source,
    composed,
    composed_each,
    composed_where_traced,
    fresh_array,
    linear_rule,
    non_differentiable,
    opt_out,
    reduction_rule,
    saved,
    scalar_rule,
    selection_rule,
    written_as_text,
)
from .table.keys import instances
from .table.kinds import Kind, Shares
from .table.pairs import pair_rule, solution_rule
from .table.partials import first, minus_quotient_over_second, over_second, second
from .table.queries import derivatives_given_output, which
from .table.reduction_kind import refuse_integers, refuse_real, restore, select, shared
from .table.structural_zeros import Masked, told_of_masks, unmask, zeros_pass
from .table.sums import spread_over, unbroadcast
from .table.tables import batch_rule, frule, late_rulesets, rrule
from .tangents.filled import as_structured, dense, zero_tangent
from .tangents.missing import NotImplementedTangent, not_implemented
from .tangents.project import ProjectContainer, Projector, ProjectTo
from .tangents.structural import Tangent, add, child_tangents, structural, sum_tangents
from .tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
from .tangents.zeros import ZERO, AbstractZero, NoTangent, ZeroTangent
from .tracing.array import TracedArray
from .tracing.captured import Watch, lent
from .tracing.classes.stand_ins import AbstractStandIn, StandIn, stands_for
from .tracing.conversions import describe
from .tracing.funnel import (
    array_of,
    as_dtype,
    astype,
    body,
    call,
    entry,
    getitem,
    is_primitive,
    lies_in_order,
    primitive,
)
from .tracing.level import (
    Level,
    Traced,
    innermost,
    is_traced,
    layers,
    levels_of,
    next_level,
    strip,
    type_under,
    value,
)
from .tracing.number import TracedNumber
from .tracing.object_arrays import healed, holds_traced
from .tracing.operands import is_array, is_basic
from .tracing.options import computed_into, write_out
from .tracing.reached import codes_of, is_users, reached
from .tracing.seen import seen
from .tracing.shown import as_object_array
from .tracing.stop import ignore_derivatives, stop_gradient
from .tracing.views import follow, laid_out, snapshot, tie_result
from .tracing.watching import SentFunction
from .tracing.writing import raised, refuse_overlap, written

__all__ = [
    # ---- write a rule ----
    "scalar_rule", "linear_rule", "bilinear_rule", "reduction_rule", "composed", "solution_rule",
    "pair_rule", "non_differentiable", "primitive", "by_source", "source_of", "in_a_copy",
    "adjusted", "refused_by_source", "composed_each", "composed_where_traced", "selection_rule",
    "fresh_array", "saved", "written_as_text", "block_rule", "pushes_stacks", "batch_form",
    "entry_by_entry", "pattern_rule", "frule", "rrule", "batch_rule", "opt_out", "instances",
    "seen", "Kind", "Shares", "first", "second", "over_second", "minus_quotient_over_second",
    "add_kind",
    "as_library", "late_rulesets", "own_valued", "with_value", "with_values", "register_container",
    "Masked", "told_of_masks", "unmask", "zeros_pass", "ignore_derivatives", "restore", "select",
    "shared", "spread_over", "refuse_integers", "refuse_real", "unbroadcast", "Block", "aligned",
    "fitted", "rank_of", "run_on_block", "shifted", "spread", "Pattern", "matrix", "number",
    "refuse_too_many", "run_on_pattern", "array_of", "as_dtype", "astype", "lies_in_order", "entry",
    "getitem", "name_of", "positional_names",
    # ---- tangents ----
    "AbstractZero", "NoTangent", "ZeroTangent", "ZERO", "NotImplementedTangent",
    "not_implemented", "Tangent", "structural", "child_tangents", "add", "sum_tangents",
    "Thunk", "InplaceableThunk", "thunk", "unthunk", "ProjectTo", "Projector",
    "ProjectContainer", "as_structured", "dense", "zero_tangent",
    # ---- ask a rule ----
    "which", "derivatives_given_output", "call", "body", "is_primitive", "describe",
    # ---- look under a trace ----
    "Traced", "TracedArray", "TracedNumber", "Level", "value", "is_traced", "innermost",
    "layers", "levels_of", "lent", "reached", "codes_of", "snapshot", "strip", "type_under",
    "HeldArrays", "next_level", "dtype_of", "shape_of", "is_foreign_array", "is_lazy", "is_array",
    "is_basic", "is_perturbable_input", "is_users", "children",
    "fold", "iterate_leaves", "map_leaves", "replaced", "Within", "taken", "stop_gradient",
    "all_settled", "buffer", "handed_out", "writers", "written", "raised", "refuse_overlap",
    "computed_into", "write_out", "follow", "laid_out", "library_value", "tie_result",
    "SentFunction", "healed", "holds_traced", "as_object_array", "AbstractStandIn",
    "StandIn", "stands_for", "Watch",
    # ---- call back ----
    "Engine", "gradient_via_ad", "jacobian_via_ad",
]  # fmt: skip
