"""The tape: one run of a function in reverse mode, recorded as a flat list of entries.

``np.sin(x) * x`` of a float x, which is entry 0, appends ``(0, cos(x))``, entry 1, and then
``(1, x, 0, sin(x))``: which values an entry was made of, and the partials. See ``sweep`` for the
other forms.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..config import RuleConfig
from ..config.numpy_warnings import RAISED
from ..rules import Traced, call, getitem, is_traced, rrule, strip
from ..rules.accelerated import numbers
from ..rules.annotations import Function, Index, Value
from ..rules.engines.buffers import all_settled
from ..rules.engines.engine import Engine
from ..rules.shapes import COMPLEX128, FIELDS, FLOAT64, FLOATS, shape_of
from ..rules.signatures import RuleSignature
from ..rules.table.kinds import Kind, ScalarRule
from ..rules.tangents.project import space_of
from ..rules.tracing.array import EntryArray, EntryNumber, TracedArray
from ..rules.tracing.captured import Unwatched, Watch
from ..rules.tracing.no_rule import captures_inner, run_body
from ..rules.tracing.object_arrays import OBJECT
from ..rules.tracing.operands import is_array, is_array_of_indices, is_basic
from ..rules.tracing.views import (
    Memory,
    Path,
    bare,
    copied,
    draft_of,
    follow,
    is_draft,
    register_view,
    views_of_draft,
)
from .active import Active, find_all_active
from .complex_numbers import record_number
from .cotangents import Cotangents
from .entries import CLOSED, DISCARDED, Entry, append, index_of
from .motion import Motions
from .nodes import KindNode, RuleNode, wrap_output
from .sweep import broadcast_entry, in_dtype, keeps_dtype, sweep
from .writes import CONSTANT_NODE, write

_float64 = np.float64
_array = np.ndarray
_ONE = np.float64(1)
_ZEROS = {float: np.float64, int: np.int64, complex: np.complex128}
_kinds = rrule.kinds
_scalars = rrule.scalars


def number_of(x: Value) -> Any:
    """Return the number in an array of no axes; anything else as it is."""
    return x[()] if type(x) is _array else x


class Tape(Engine):
    """One run of a function, recorded; ``sweep`` runs it backwards as often as one likes."""

    __slots__ = ("entries", "motions", "recorded", "sweeps", "watch")
    table = rrule
    in_slots = True
    cotangents: type[Cotangents] = Cotangents

    def __init__(self, config: RuleConfig) -> None:
        super().__init__(config)
        self.entries: list[Entry] = []
        self.recorded = self.entries
        self.motions: Motions | None = None
        self.watch = Watch()
        self.sweeps = 0

    def wrap(self, x: Value, entry: Entry) -> Any:
        """Append ``entry`` and return the traced ``x`` that it makes."""
        traced: Any
        if type(x) is _array or (type(x) not in FLOATS and is_array(x)):
            traced = EntryArray()
            traced.base_and_path = None
        else:
            traced = EntryNumber()
        traced.primal = x
        traced.at_level = self
        entries = self.entries
        traced.position = index = len(entries)
        entries.append(entry)
        if entries[index] is not entry:
            traced.position = index_of(entry, entries, index)
        return traced

    def close(self) -> None:
        super().close()
        self.motions = None
        self.entries = CLOSED

    def sweep(self, seeds: list[tuple[int, Any]], inputs: int, last: bool) -> list[Any]:
        """Pull cotangents back; see ``sweep.sweep``."""
        cotangents = self.cotangents(self)
        try:
            return self.run_over_entries(sweep, cotangents, seeds, inputs, last)
        finally:
            cotangents.left()

    def run_over_entries(self, go: Callable[..., list[Any]], *args: object) -> list[Any]:
        """Go through the entries, back or forward, while captured values are read as numbers."""
        if self.watch.arrays:
            self.watch.check()
        self.sweeps += 1
        self.live, self.entries = True, DISCARDED
        try:
            return go(*args)
        finally:
            self.sweeps -= 1
            if self.sweeps == 0:
                self.live, self.entries = False, CLOSED

    def motion(self, x: Traced) -> Any:
        """Return which way ``x`` moves along one direction of the inputs: see ``Motions``."""
        if self.entries is not self.recorded:
            return None  # it has ended, and only numbers are read
        if self.motions is None:
            self.motions = Motions()
        return self.motions.of(self, x)

    def constant(self, x: Value) -> EntryArray:
        """Return ``x`` as an array of this tape that depends on nothing yet."""
        traced = EntryArray()
        traced.base_and_path = None
        traced.at_level = self
        traced.position = append(self.entries, (CONSTANT_NODE,))
        traced.memory = Memory((x,))
        return traced

    def write(self, x: TracedArray, index: Index, v: Value) -> None:
        """Record ``x[index] = v``."""
        self.check_live()
        write(self, x, index, v)

    def publish(self, root: TracedArray, draft: tuple) -> None:
        (root.primal,) = draft

    def refresh(self, view: Any, root: TracedArray, path: Path) -> None:
        draft = draft_of(root)
        same = EntryArray()
        same.base_and_path = None
        same.at_level = self
        same.primal = root.primal if draft is None else draft[0]
        same.position = root.position
        y = follow(path, same)
        view.primal, view.position = y.primal if draft is None else copied(y.primal), y.position

    # ---- the hot path: elementwise rules on floats and float64 arrays ----

    def unary(self, ufunc: np.ufunc, operation: Callable, x: Traced) -> Value:
        """Record ``operation(x)``, whose rule is that of ``ufunc``."""
        kind = _scalars.get(ufunc)
        if kind is None:
            return self.call(ufunc, (x,), {})
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
        if class_y is _float64 or class_y is float:
            if class_a is _float64 or class_a is float:
                if self.entries is DISCARDED:
                    return self.wrap(y, ())
                try:
                    da = kind.partials[0](y, a)
                except RAISED:  # by Python's floats, where NumPy's give an infinity, or by settings
                    return self.applied(kind, ufunc, (x,), {}, (a,), y)
                entry: Entry = (x.position, da)
                entries = self.entries
                index = len(entries)
                entries.append(entry)
                if entries[index] is not entry:
                    index = index_of(entry, entries, index)
                traced: Any = EntryNumber()
                traced.primal = y
                traced.at_level = self
                traced.position = index
                return traced
        elif class_y is _array and keeps_dtype(a, y.dtype):
            (partial,), reads_y, (reads_a,) = kind.needs.get((True,)) or kind.needed((True,))
            kept = (y if reads_y else None, a if reads_a else None)
            entry = (x.position, partial, kept)
            return self.wrap(y, entry if y.dtype is FLOAT64 else in_dtype(entry, y.dtype))
        return self.applied(kind, ufunc, (x,), {}, (a,), y)

    def binary(self, ufunc: np.ufunc, operation: Callable, a: Any, b: Any) -> Value:
        """Record ``operation(a, b)``, whose rule is that of ``ufunc``.

        In this order: another level answers, or what is no number becomes one (``meet``); of floats
        the partials are computed at once; of arrays the entry keeps what the partials read; what
        is left goes the way of all kinds.
        """
        kind = _scalars.get(ufunc)
        if kind is None:
            return self.call_operator(ufunc, operation, a, b)
        type_a, type_b = type(a), type(b)
        if (type_a is EntryNumber or type_a is EntryArray) and a.at_level is self:
            x = a.primal
            a_active = True
        else:
            x = a
            a_active = False
        if (type_b is EntryNumber or type_b is EntryArray) and b.at_level is self:
            z = b.primal
            b_active = True
        else:
            z = b
            b_active = False
        unlike = False  # whether an operand is no float, and may be less precise than the result
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
                unlike = True
        y = operation(x, z)
        if kind.branch is not None and isinstance(y, Traced) and is_traced(y):
            branch = kind.branch(y, x, z)
            if branch is not y:  # at a tie
                return self.applied(kind, ufunc, (a, b), {}, (x, z), branch)
        class_x, class_y, class_z = x.__class__, y.__class__, z.__class__
        if class_y is _float64 or class_y is float:
            if type_a is _array or type_b is _array:  # of no axes, which the user may write into
                x, z = number_of(x), number_of(z)
                class_x, class_z, unlike = x.__class__, z.__class__, True
            if unlike:
                x, z = kind.operands((x, z), y)
            plain_x = not a_active or class_x is _float64 or class_x is float
            plain_z = not b_active or class_z is _float64 or class_z is float
            if plain_x and plain_z:
                of_a, of_b = kind.partials
                entries = self.entries
                entry: Entry
                try:
                    if entries is DISCARDED:
                        entry = ()
                    elif not b_active:
                        entry = (a.position, of_a(y, x, z))
                    elif a_active:
                        entry = (a.position, of_a(y, x, z), b.position, of_b(y, x, z))
                    else:
                        entry = (b.position, of_b(y, x, z))
                except RAISED:
                    values = x * _ONE, z * _ONE
                    return self.applied(kind, ufunc, (a, b), {}, values, y * _ONE)
                index = len(entries)
                entries.append(entry)
                if entries[index] is not entry:
                    index = index_of(entry, entries, index)
                traced: Any = EntryNumber()
                traced.primal = y
                traced.at_level = self
                traced.position = index
                return traced
        elif class_y is _array:
            # Of traced arrays each question for a dtype or a shape takes longer than ``bare``.
            traced_y = type(y) is not _array
            under_x, under_y, under_z = (bare(x), bare(y), bare(z)) if traced_y else (x, y, z)
            dtype, shape = under_y.dtype, under_y.shape
            if (
                dtype is FLOAT64
                and (
                    not a_active
                    or (class_x is _array and under_x.dtype is dtype and under_x.shape == shape)
                )
                and (
                    not b_active
                    or (class_z is _array and under_z.dtype is dtype and under_z.shape == shape)
                )
            ):
                return self.wrap(y, self._array_entry(kind, a, a_active, b, b_active, y, x, z))
            if (not a_active or keeps_dtype(under_x, dtype)) and (
                not b_active or keeps_dtype(under_z, dtype)
            ):
                entry = self._array_entry(kind, a, a_active, b, b_active, y, x, z)
                if dtype is not FLOAT64:
                    entry = in_dtype(entry, dtype)
                given = under_x if a_active else under_z
                return self.wrap(y, broadcast_entry(entry, shape, given, under_z))
        return self.applied(kind, ufunc, (a, b), {}, (x, z), y)

    def _array_entry(
        self,
        kind: ScalarRule,
        a: Any,
        a_active: bool,
        b: Any,
        b_active: bool,
        y: Value,
        x: Value,
        z: Value,
    ) -> Entry:
        """Return the entry of a binary elementwise rule on arrays; it keeps what it reads."""
        active = a_active, b_active
        x, z = kind.operands((x, z), y)
        needed = kind.needs.get(active) or kind.needed(active)
        (of_a, of_b), reads_y, (reads_x, reads_z) = needed
        # Of Python's zero, which raises, the sweep gets NumPy's.
        if reads_x and not a_active:
            x = x or _ZEROS[type(x)](x) if type(x) in _ZEROS else self.watch.hold(x)
        if reads_z and not b_active:
            z = z or _ZEROS[type(z)](z) if type(z) in _ZEROS else self.watch.hold(z)
        kept = (y if reads_y else None, x if reads_x else None, z if reads_z else None)
        if a_active and b_active:
            return a.position, of_a, b.position, of_b, kept
        return (a.position, of_a, kept) if a_active else (b.position, of_b, kept)

    def getitem(self, x: Any, index: Index) -> Value:
        """Record ``x[index]``; plain indices, common in loops, have a short way."""
        kind = _kinds.get(getitem)
        basic = is_basic(index)
        if kind is not None and (basic or (is_array_of_indices(index) and x.__class__ is _array)):
            draft = is_draft(x)
            held = x.memory.draft[0] if draft else x.primal
            given = index
            if type(index) is list and type(held) is _array:
                with suppress(OverflowError):  # of which NumPy says that it is no index
                    index = np.array(index, np.intp)  # once, for the read and for the way back
            y = held[index]
            if draft and basic and is_array(y):
                view = views_of_draft(x, getitem, {"index": index})
                if view is not NotImplemented:  # which a part of an array of dask is
                    return view
            class_y = y.__class__
            if basic and (class_y is _float64 or class_y is np.complex128):
                shape = held.shape if type(held) is _array else shape_of(held)
                dtype = None if class_y is _float64 else COMPLEX128
                return self.wrap(y, (x.position, index, shape, dtype, None, None))
            if class_y is _array and y.dtype.kind in "fc":
                keep = basic or index is not given
                options = {"index": index if keep else self.watch.hold(index)}
                read: Any
                if not draft:
                    read = self.apply_kind(kind, getitem, (x,), options, (held,), y)
                else:
                    active = [(0, Active(x.position, space_of(held)))]
                    node = KindNode(kind, None, (None,), options, active, self.entries)
                    read = wrap_output(self, y, node, (x,))
                if basic:
                    register_view(read, x, getitem, options)
                return read
        return call(getitem, (x, index), {})

    # ---- everything else ----

    def hold_options(self, options: dict) -> dict:
        return self.watch.hold_all(options)

    def apply_kind(
        self, kind: Kind, f: Function, args: tuple, kwargs: dict, values: tuple, y: Value
    ) -> Value:
        if numbers is not None:
            traced = numbers.record(self, kind, args, kwargs, values, y)
            if traced is not NotImplemented:
                return traced
        if (traced := record_number(self, kind, args, values, y)) is not None:
            return traced
        if len(args) == 1 and isinstance(x := args[0], Traced) and x.at_level is self:
            active = [(0, Active(x.position, space_of(x.primal)))]
        else:
            active = find_all_active(self, args)
        if not active:
            return y
        node = KindNode(kind, y, kind.operands(values, y), kwargs, active, self.entries)
        if len(active) < len(args):
            node.args = self._held(node.args, args)
        return wrap_output(self, y, node, args)

    def _held(self, values: tuple, args: tuple) -> tuple:
        """Hold the plain arrays that were given beside traced values, where they are kept."""
        hold = self.watch.hold_beside
        pairs = zip(values, args, strict=True)
        return tuple([v if v is None else hold(v, x) for v, x in pairs])

    def apply_rule(
        self, rule: RuleSignature, f: Function, args: tuple, kwargs: dict, values: tuple
    ) -> Value:
        plain_f = strip(f, self)
        values, kwargs = self._held(values, args), self.watch.hold_all(kwargs)
        y, pullback = rrule.run(rule, self.config, plain_f, values, kwargs)
        y = all_settled(y)  # its body may be adopted code, which fills buffers
        if captures_inner(y, self):
            return run_body(f, args, kwargs)
        active = find_all_active(self, (f, *args))
        if not active:
            return y
        return wrap_output(self, y, RuleNode(pullback, plain_f, active, self.entries), (f, *args))


def forgetful(config: RuleConfig) -> Tape:
    """Return a tape for the value alone: what it traces is known to be so, and leads nowhere."""
    tape = Tape(config)
    tape.entries, tape.watch = DISCARDED, Unwatched()
    return tape


if numbers is not None:
    numbers.register_tape(Tape, EntryNumber, EntryArray, DISCARDED)
