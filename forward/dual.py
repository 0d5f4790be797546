"""Dual numbers: a value and its tangent travel together through one run of a function.

``Dual(2.0, 1.0) * Dual(2.0, 1.0)`` is ``Dual(4.0, 4.0)``; a ``DualArray`` holds two arrays of one
shape.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..config import TangentError
from ..config.numpy_warnings import RAISED
from ..rules import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ProjectTo,
    Traced,
    add,
    call,
    children,
    frule,
    getitem,
    strip,
    unthunk,
)
from ..rules.annotations import Function, Index, Tangentlike, Value
from ..rules.containers import LEAVES, Within, fold
from ..rules.engines.buffers import all_settled
from ..rules.engines.engine import Engine, escaped
from ..rules.engines.inputs import is_perturbable_input
from ..rules.shapes import FIELDS, FLOAT64, FLOATS, SMOOTH, TRUTHS, shape_of
from ..rules.signatures import RuleSignature, name_of
from ..rules.table.kinds import Kind, ScalarRule
from ..rules.table.pullback import fit_tangent
from ..rules.table.selection_kind import SelectionRule
from ..rules.table.structural_zeros import do_zeros_pass
from ..rules.tangents.filled import zero_tangent
from ..rules.tangents.fitting import as_numpys_beside
from ..rules.tangents.project import ProjectNothing
from ..rules.tangents.structural import Tangent, child_tangents, structural
from ..rules.tangents.zeros import ZERO, ZeroTangent
from ..rules.tracing.level import ONE, is_traced
from ..rules.tracing.no_rule import captures_inner, run_body
from ..rules.tracing.object_arrays import OBJECT
from ..rules.tracing.operands import is_array, is_array_of_indices, is_basic
from ..rules.tracing.views import (
    is_draft,
    register_view,
    views_of_draft,
)
from .complex_numbers import share_of_numbers
from .still import BOOL, Moving, moves_of, pushed, unmarked
from .writes import Dual, DualArray, DualWrites

_float64 = np.float64
_array = np.ndarray
_ONE = np.float64(1)
_kinds = frule.kinds
_scalars = frule.scalars


class ForwardLevel(DualWrites):
    """One run of a function on dual numbers."""

    __slots__ = ()
    table = frule
    directions: Any = None  # of tangents that are blocks

    def dual(self, x: Value, xdot: Tangentlike) -> Any:
        """Return ``x`` with the tangent ``xdot``, which fits it."""
        traced: Any
        if is_array(x):
            traced = DualArray()
            traced.base_and_path = None
        else:
            traced = Dual()
        traced.primal = x
        traced.at_level = self
        traced.tangent = as_numpys_beside(x, xdot)
        return traced

    def tangent_at(self, x: Traced) -> Any:
        """Return the tangent of ``x``, a value of this level, as rules see it."""
        return x.tangent

    def wrap(self, y: Value, ydot: Tangentlike, f: Function | str) -> Value:
        """Return what ``f`` gave, a value or a container, with its tangents."""
        duals = self.tuple_of_arrays(y, ydot)
        return fold(self._wrap, y, ydot, f) if duals is None else duals

    def tuple_of_arrays(self, y: Value, ydot: Any) -> Any:
        """Return a tuple of arrays of float64 with their tangents; None of anything else."""
        if type(ydot) is not Tangent or not isinstance(y, tuple):
            return None
        parts: Any = children(y)
        tangents = ydot.backing.values()
        if tuple(ydot.backing) != parts.keys or not all(map(self.fits, y, tangents)):
            return None
        return parts.rebuild(list(map(partial(ForwardLevel.dual, self), y, tangents)))

    def fits(self, y: Any, ydot: Any) -> bool:
        """Say whether ``ydot`` is what a slot holds for ``y``, both plain arrays of one dtype."""
        plain = type(y) is type(ydot) is _array and y.dtype is ydot.dtype
        return plain and y.dtype in SMOOTH and ydot.shape == self.of_slot(y.shape)

    def of_slot(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what a slot holds for an array of this shape."""
        return shape

    def _wrap(self, y: Value, ydot: Any, f: Function | str) -> Value:
        ydot = unthunk(ydot)
        # Not isinstance: of a traced value that would ask for the class of its number.
        if issubclass(type(ydot), AbstractZero):
            return y
        if issubclass(type(ydot), NotImplementedTangent):
            raise ydot.error()
        parts = children(y)
        if parts is not None:
            given = zip(parts.values, child_tangents(y, ydot), strict=True)
            return Within([(part, partdot, f) for part, partdot in given], parts.rebuild)
        ydot = strip(ydot, self)
        if self.carries(y):
            # It was computed from captured values too: the tangents of both ways add up.
            captured: Any = y
            return self.dual(captured.primal, add(self._tangent_of(captured), ydot))
        space = ProjectTo(y)
        if type(space) is ProjectNothing:
            return y
        shape = getattr(space, "shape", None)
        if shape is not None and shape_of(ydot) != shape:
            raise TangentError(
                f"the frule of {name_of(f)} gave a tangent of shape {shape_of(ydot)};\n"
                f"  its output has shape {shape}."
            )
        ydot = space(ydot)
        return y if isinstance(ydot, AbstractZero) else self.dual(y, ydot)

    def motion(self, x: Traced) -> Any:
        return self._tangent_of(x)

    # ---- the hot path: elementwise rules on floats and float64 arrays ----

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        """Evaluate ``operation(x)``, whose rule is that of ``ufunc``."""
        kind = _scalars.get(ufunc)
        if kind is None:
            return self.call(ufunc, (x,), {})
        if not self.live:
            raise escaped()
        a = x.primal
        type_a = type(a)
        if type_a is _float64 or type_a is _array or not isinstance(a, Traced):
            y = operation(a)
        else:  # NumPy would find that by its protocol, which takes as long again
            y = a.at_level.unary(ufunc, operation, a)
        if kind.branch is not None and isinstance(y, Traced) and is_traced(y):
            branch = kind.branch(y, a)
            if branch is not y:  # at a tie
                return self.applied(kind, ufunc, (x,), {}, (a,), branch)
        # Not type(y): a traced y of an outer level goes the way of the number or array it carries.
        class_y, class_a = y.__class__, a.__class__
        field = FIELDS.get(class_y)
        if field is not None and FIELDS.get(class_a) is field:
            try:
                ydot = x.tangent * kind.partials[0](y, a)
            except RAISED:  # by Python's floats, where NumPy's give an infinity, or by settings
                return self.applied(kind, ufunc, (x,), {}, (a,), y)
            dual: Any = Dual()
            dual.primal = y
            dual.at_level = self
            dual.tangent = as_numpys_beside(y, ydot)
            return dual
        if class_y is class_a is _array and y.dtype is a.dtype and y.dtype in SMOOTH:
            dual = DualArray()
            dual.base_and_path = None
            dual.primal = y
            dual.at_level = self
            try:
                dual.tangent = kind.push(0, x.tangent, y, (a,), {})
            except RAISED:
                return self.applied(kind, ufunc, (x,), {}, (a,), y)
            return dual
        return self.applied(kind, ufunc, (x,), {}, (a,), y)

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        """Evaluate ``operation(a, b)``, whose rule is that of ``ufunc``."""
        kind = _scalars.get(ufunc)
        if kind is None:
            return self.call_operator(ufunc, operation, a, b)
        if not self.live:
            raise escaped()
        type_a, type_b = type(a), type(b)
        a_active = (type_a is Dual or type_a is DualArray) and a.at_level is self
        b_active = (type_b is Dual or type_b is DualArray) and b.at_level is self
        x = a.primal if a_active else a
        z = b.primal if b_active else b
        if not (a_active and b_active):
            other = z if a_active else x
            type_other = type(other)
            if (
                type_other not in FIELDS
                and (type_other is not _array or other.dtype is OBJECT)
                and type_other is not int
            ):
                answer = self.meet(ufunc, operation, a, b, other)
                if answer is not None:
                    return answer
        y = operation(x, z)
        if kind.branch is not None and isinstance(y, Traced) and is_traced(y):
            branch = kind.branch(y, x, z)
            if branch is not y:  # at a tie
                return self.applied(kind, ufunc, (a, b), {}, (x, z), branch)
        class_x, class_y, class_z = x.__class__, y.__class__, z.__class__
        dual: Any
        if (field := FIELDS.get(class_y)) is not None:
            plain = (not a_active or FIELDS.get(class_x) is field) and (
                not b_active or FIELDS.get(class_z) is field
            )
            dual = Dual()
        elif class_y is _array and (dtype := y.dtype) in SMOOTH:
            shape = y.shape
            plain = (
                not a_active or (class_x is _array and x.dtype is dtype and x.shape == shape)
            ) and (not b_active or (class_z is _array and z.dtype is dtype and z.shape == shape))
            dual = DualArray()
            dual.base_and_path = None
        else:
            plain = False
        if not plain:
            return self.applied(kind, ufunc, (a, b), {}, (x, z), y)
        if not (kind.exact or (class_x in FLOATS and class_z in FLOATS)):
            x, z = kind.operands((x, z), y)
        dual.primal = y
        dual.at_level = self
        of_a, of_b = kind.partials
        one_a, one_b = kind.constants
        try:
            if a_active:
                ydot = a.tangent if one_a == 1 else a.tangent * of_a(y, x, z)
                if b_active:
                    ydot = ydot + (b.tangent if one_b == 1 else b.tangent * of_b(y, x, z))
            else:
                ydot = b.tangent if one_b == 1 else b.tangent * of_b(y, x, z)
        except RAISED:
            return self.applied(kind, ufunc, (a, b), {}, (x * _ONE, z * _ONE), y * _ONE)
        dual.tangent = as_numpys_beside(y, ydot)
        return dual

    def multiply_add(self, xbar: Any, ybar: Any, factor: Any) -> Value:
        other = type(factor)
        ours = other is Dual and factor.at_level is self
        known = xbar is None or (type(xbar) is Dual and xbar.at_level is self)
        if not known or not (ours or other is float or other is _float64 or factor is ONE):
            return Engine.multiply_add(self, xbar, ybar, factor)
        y, ydot = ybar.primal, ybar.tangent
        if ours:
            p = factor.primal
            y, ydot = y * p, ydot * p + factor.tangent * y
        elif factor is not ONE:
            y, ydot = y * factor, ydot * factor
        if xbar is not None:
            y, ydot = xbar.primal + y, xbar.tangent + ydot
        dual: Any = Dual()
        dual.primal = y
        dual.at_level = self
        dual.tangent = ydot
        return dual

    def getitem(self, x: Traced, index: Index) -> Value:
        """Evaluate ``x[index]``; integers and slices, common in loops, have a short way."""
        if is_basic(index) and self.live and getitem in _kinds:
            if is_draft(x):
                values, tangents = x.memory.draft
                y = values[index]
                if not is_array(y):
                    ydot = tangents[index]
                    return y if ydot is ZERO else self.dual(y, ydot)
                view = views_of_draft(x, getitem, {"index": index})
                # A part of an array of dask is no view.
                return call(getitem, (x, index), {}) if view is NotImplemented else view
            y, ydot = x.primal[index], x.tangent[index]
            if ydot is ZERO:
                return y
            class_y = y.__class__
            if class_y is ydot.__class__ and class_y in FIELDS:
                return self.dual(y, ydot)
            if class_y is ydot.__class__ is _array and y.dtype is ydot.dtype and y.dtype in SMOOTH:
                view = self.dual(y, ydot)
                register_view(view, x, getitem, {"index": index})
                return view
        elif (read := self._read_by_array(x, index)) is not None:
            return read
        return call(getitem, (x, index), {})

    def _read_by_array(self, x: Any, index: Index) -> Any:
        """Evaluate ``x[index]`` of plain arrays by an array of indices; None for anything else."""
        known = is_array_of_indices(index) and self.live and getitem in _kinds
        if (
            not known
            or is_draft(x)
            or type(x.primal) is not _array
            or type(x.tangent) is not _array
        ):
            return None
        if type(index) is list:
            with suppress(OverflowError):  # of which NumPy says that it is no index
                index = np.array(index, np.intp)  # once, for value and tangent
        y, ydot = x.primal[index], x.tangent[self.led(index)]
        return ForwardLevel.dual(self, y, ydot) if self.fits(y, ydot) else None

    # ---- everything else ----

    def apply_kind(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        if type(kind) is SelectionRule and type(y) is _array:
            ydot = self._selected(args, values, y)
            if ydot is not None:
                return ForwardLevel.dual(self, y, ydot)
        if type(kind) is ScalarRule and y.__class__ in FIELDS:
            ydot = share_of_numbers(self, kind, args, values, y)
            if ydot is not None:
                return ForwardLevel.dual(self, y, ydot)
        tangents: list[Any] = []
        if kind.joins and type(args[0]) in (list, tuple):
            parts = self.parts_of(args[0])
            if parts is not None:
                args, tangents = (), [parts]
        for x in args:
            if isinstance(x, Traced):
                tangents.append(self.tangent_at(x) if x.at_level is self else ZERO)
            else:
                tangents.append(ZERO if type(x) in LEAVES else self.tangent_of(x))
        ydot = pushed(kind, tangents, y, kind.operands(values, y), kwargs)
        if type(ydot) is Moving:
            if not (self.carries(y) or self.carries(ydot.held)):
                return self.dual(y, ydot)
            ydot = ydot.settled()
        if type(y) is type(ydot) is _float64:
            return self.dual(y, ydot)
        if not (self.carries(y) or self.carries(ydot)) and ProjectTo(y).holds(ydot):
            return self.dual(y, ydot)
        return self.wrap(y, fit_tangent(ydot, y), f)

    def _selected(self, args: tuple, values: tuple, y: Any) -> Any:
        """Return what a slot holds for entries selected of plain arrays; None of anything else."""
        condition, rank = values[0], y.ndim
        flags = condition.dtype is BOOL if type(condition) is _array else type(condition) in TRUTHS
        if not flags or y.dtype is not FLOAT64:
            return None
        slots = [x.tangent if self.carries(x) else ZERO for x in args[1:]]
        held = [0.0 if t is ZERO else self.in_rank(unmarked(t), rank) for t in slots]
        kinds = {*map(type, held)}
        if kinds == {float} or not kinds <= {_array, float, _float64}:
            return None
        ydot = np.where(condition, *held)
        if not self.fits(y, ydot):
            return None
        moves = list(map(moves_of, slots))
        if moves[0] is moves[1] is True:
            return ydot
        return Moving(ydot, np.where(condition, *moves))

    def in_rank(self, t: Any, rank: int) -> Any:
        """Return what a slot holds, as that of an array of ``rank`` axes."""
        return t

    def parts_of(self, xs: Any) -> list | None:
        """Return the tangents of numbers and arrays of float64, with zeros; None of others."""
        tangents: list[Any] = []
        for x in xs:
            if isinstance(x, Traced):
                t = self.tangent_at(x) if x.at_level is self else zero_tangent(x)
                if type(t) is Moving:
                    return None
                tangents.append(t)
            elif type(x) in FLOATS or (type(x) is _array and x.dtype is FLOAT64):
                tangents.append(np.zeros_like(x) if type(x) is _array else type(x)(0.0))
            else:
                return None
        return tangents

    def apply_rule(
        self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict, values: tuple
    ) -> Value:
        tangents = tuple(self.tangent_of(x) for x in (f, *args))
        pair = frule.run(rule, self.config, tangents, strip(f, self), values, kwargs)
        y, ydot = all_settled(pair)  # its body may be adopted code, which fills buffers
        if captures_inner(y, self):
            return run_body(f, args, kwargs)
        traced = self.wrap(y, ydot, f)
        given = getattr(args[0], "tangent", None) if args and self.carries(args[0]) else None
        if type(given) is Moving and do_zeros_pass(f) and type(traced) is DualArray:
            traced.tangent = Moving(traced.tangent, given.moves)
        return traced

    def tangent_of(self, x: Value) -> Any:
        """Return the tangent of ``x`` at this level: zero where it does not depend on it."""
        return fold(self._tangent_of, x)

    def _tangent_of(self, x: Value) -> Any:
        if isinstance(x, Traced):
            return unmarked(self.tangent_at(x)) if x.at_level is self else ZERO
        parts = children(x)
        if parts is None:
            return ZERO if is_perturbable_input(x) else NoTangent()

        def build(tangents: list) -> Tangent | ZeroTangent:
            if all(isinstance(xdot, AbstractZero) for xdot in tangents):
                return ZERO
            return structural(type(x), parts.keys, tangents)

        return Within(zip(parts.values), build)
