"""The rule author's kit: everything that a rule needs is imported from here."""

from .calls import array_of, as_dtype, astype, body, call, getitem, primitive
from .containers import children, iterate_leaves, map_leaves
from .definitions import (
    bilinear_rule,
    composed,
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
from .engine import Engine
from .exits import describe
from .flatten import flatten
from .keys import instances
from .levels import Level, Traced, innermost, is_traced, next_level, strip, type_under, value
from .project import ProjectTo
from .registry import frule, rrule
from .stop import ignore_derivatives, stop_gradient
from .tangents import (
    AbstractZero,
    InplaceableThunk,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    add,
    not_implemented,
    sum_tangents,
    thunk,
    unthunk,
)
from .traced import TracedNumber
from .traced_array import TracedArray
from .zeros import as_structured, zero_tangent

__all__ = [
    "AbstractZero",
    "Engine",
    "InplaceableThunk",
    "Level",
    "NoTangent",
    "NotImplementedTangent",
    "ProjectTo",
    "Tangent",
    "Thunk",
    "Traced",
    "TracedArray",
    "TracedNumber",
    "ZeroTangent",
    "add",
    "array_of",
    "as_dtype",
    "as_structured",
    "astype",
    "bilinear_rule",
    "body",
    "call",
    "children",
    "composed",
    "derivatives_given_output",
    "describe",
    "flatten",
    "fresh_array",
    "frule",
    "getitem",
    "ignore_derivatives",
    "innermost",
    "instances",
    "is_traced",
    "iterate_leaves",
    "linear_rule",
    "map_leaves",
    "next_level",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "primitive",
    "reduction_rule",
    "rrule",
    "scalar_rule",
    "selection_rule",
    "stop_gradient",
    "strip",
    "sum_tangents",
    "thunk",
    "type_under",
    "unthunk",
    "value",
    "which",
    "zero_tangent",
]
