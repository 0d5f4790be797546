"""Entries of the tape that are more than an elementwise rule on floats.

``y = np.sum(x, axis=0)`` appends ``(KindNode,)``, whose ``pull`` asks the kind of ``np.sum``; a
call with a hand-written rrule a ``RuleNode``; and ``q, r = np.linalg.qr(x)`` one of these, then an
``OutputNode`` for ``q`` and one for ``r``, which hand it their cotangents.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64, ndarray

from ..rules import (
    InplaceableThunk,
    ProjectTo,
    Traced,
    children,
    getitem,
    rrule,
    type_under,
)
from ..rules.accelerated import numbers
from ..rules.annotations import Function, Tangentlike, Value
from ..rules.containers import Within, fold, iterate_leaves
from ..rules.shapes import FIELDS, FLOAT64, FLOATS_AND_ARRAYS, dtype_of, shape_of
from ..rules.table.kinds import Kind
from ..rules.table.linear_kinds import LinearRule
from ..rules.table.pullback import CheckedPullback
from ..rules.table.structural_zeros import (
    Masked,
    counts_of,
    do_zeros_pass,
    is_told_of_masks,
    unmask,
)
from ..rules.tangents.project import (
    ProjectArray,
    ProjectNumber,
    Projector,
    space_of,
    space_of_arrays,
    structural,
)
from ..rules.tangents.zeros import NO_TANGENT, ZERO
from ..rules.tracing.operands import is_basic
from .active import Active, are_sensitive
from .cotangents import Cotangents
from .entries import Entry, TapeNode, append

if TYPE_CHECKING:
    from .tape import Tape


class CallNode(TapeNode):
    """A call, and which of its arguments depend on the tape."""

    __slots__ = ("active",)
    active: list[tuple[int, Active]]

    def parents(self) -> list[int]:
        return [parent for _, active in self.active for parent in active.parents()]


class KindNode(CallNode):
    """A call answered by a rule kind. ``form`` tells the space of its result: see ``space_at``."""

    __slots__ = (
        "args", "form", "kind", "kwargs", "leaves_out", "sensitive", "template", "y",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        y: Value,
        args: tuple,
        kwargs: dict,
        active: list[tuple[int, Active]],
        entries: list[Entry],
    ) -> None:
        self.kind = kind
        self.kwargs = kwargs
        self.active = active
        self.template = None
        self.y: Any
        self.args: tuple
        self.y, self.args = (None, (None,)) if kind.forgets else kind.kept(active, y, args)
        self.sensitive = kind.multiplies or (kind.adds and are_sensitive(active, entries))
        self.leaves_out = kind.drops or (
            bool(kwargs) and kind.adds and kwargs.get("where", True) is not True
        )

    def pull(self, ybar: Any, cotangents: Cotangents) -> None:
        kind = self.kind
        if type(ybar) in FLOATS_AND_ARRAYS and not (
            self.leaves_out and (self.sensitive or kind.f is getitem)
        ):
            for i, active in self.active:
                xbar = kind.pull(i, ybar, self.y, self.args, self.kwargs, active.space)
                if type(xbar) is ndarray and active.space.holds(xbar):  # as nearly always
                    cotangents.add(active.parent, xbar)
                else:
                    active.receive(xbar, cotangents, kind.f, i)
            return
        flags = None
        if self.template is not None:
            bars = ybar
            ybar = self.template.assemble(bars)
            if self.sensitive:
                flags = self.template.flags(bars)
        elif type(ybar) is Masked and (kind.adds or not kind.multiplies):
            ybar, flags = ybar.value, counts_of(ybar.alive)
        if kind.f is getitem and flags is None and self._add_piece(ybar, cotangents):
            return
        for i, active in self.active:
            xbar = kind.pull(i, ybar, self.y, self.args, self.kwargs, active.space)
            if not (kind.adds and self.sensitive and active.is_sensitive(cotangents.entries)):
                active.receive(xbar, cotangents, kind.f, i)
                continue
            if kind.drops and flags is None and type(xbar) is InplaceableThunk:
                # Many reads of single entries set a flag each, and not a flag for every entry.
                ones = np.ones(shape_of(ybar), bool)
                marks = kind.pull(i, ones, None, self.args, self.kwargs, active.space)
                cotangents.add_in_place(active.parent, xbar, active.space, marks)
                continue
            counts = None
            if flags is not None or self.leaves_out:
                space, shape = real_space(active.space), shape_of(ybar)
                counts = kind.counts(i, flags, shape, self.args, self.kwargs, space)
            active.receive(xbar, cotangents, kind.f, i, counts)

    def _add_piece(self, ybar: Tangentlike, cotangents: Cotangents) -> bool:
        """Add the cotangent of ``x[index]`` to that of ``x``, if it has a short way there."""
        ((_, active),) = self.active
        index, space = self.kwargs["index"], active.space
        if active.parts is not None or not is_basic(index):
            return False
        plain = type(ybar) is ndarray and type(space) is ProjectArray and ybar.dtype is space.dtype
        if plain and cotangents.add_plain(active.parent, index, ybar, space.shape, space.dtype):
            return True
        return cotangents.add_piece(active.parent, index, ybar, space)


def real_space(space: Projector) -> Projector:
    """Return the space of flags for the entries of a space."""
    if type(space) is not ProjectArray and type(space) is not ProjectNumber:
        return space
    return space_of_arrays(space.shape, FLOAT64)


def space_at(form: object) -> Any:
    """Return the space of a node's result; of a container, a list of those of its leaves.

    The ``form`` of a float64 is None, and of most arrays a shape and a dtype.
    """
    if form is None:
        return ProjectTo(0.0)
    if type(form) is not tuple:
        return form
    shape, dtype = form
    return space_of_arrays(shape, dtype)


def pull_item(entry: Entry, ybar: Tangentlike, cotangents: Cotangents) -> None:
    """Pull back the cotangent of one number, read from an array by integers."""
    parent, index, shape, dtype = entry[:4]
    space = space_of_arrays(shape, FLOAT64 if dtype is None else dtype)
    added = False
    if type(ybar) in FIELDS:
        added = cotangents.add_plain(parent, index, ybar, shape, space.dtype)
    elif isinstance(ybar, Traced):
        added = cotangents.add_piece(parent, index, ybar, space)
    if not added:
        kind, active = rrule.kinds[getitem], [(0, Active(parent, space))]
        node = KindNode(kind, None, (None,), {"index": index}, active, cotangents.entries)
        node.pull(ybar, cotangents)


class RuleNode(CallNode):
    """A call answered by a hand-written rrule; argument 0 is the function itself."""

    __slots__ = ("f", "form", "pullback", "sensitive", "template")

    def __init__(
        self,
        pullback: CheckedPullback,
        f: Function,
        active: list[tuple[int, Active]],
        entries: list[Entry],
    ) -> None:
        self.sensitive = do_zeros_pass(f) and are_sensitive(active, entries)
        pullback.plain = False
        self.pullback = pullback
        self.f = f
        self.active = active
        self.template = None

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        if self.template is not None:
            ybar = self.template.assemble(ybar)
        flags = None
        if self.sensitive and type(ybar) is Masked:
            flags = counts_of(ybar.alive)
        xbars = self.pullback(unmask(ybar))
        for i, active in self.active:
            counts = flags if i == 1 else None
            active.receive(xbars[i], cotangents, self.f, i - 1, counts)


class OutputNode(TapeNode):
    """One number or array inside a container that a call returned."""

    __slots__ = ("call", "key", "sensitive")

    def __init__(self, call: int, key: int, sensitive: bool) -> None:
        self.sensitive = sensitive
        self.call = call
        self.key = key

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        bars = cotangents.bars
        if bars[self.call] is None:
            bars[self.call] = {}
        bars[self.call][self.key] = ybar

    def parents(self) -> tuple[int, ...]:
        return (self.call,)


class MergeNode(TapeNode):
    """A call's result that is itself traced here: it was computed from captured values too."""

    __slots__ = ("captured", "node", "sensitive")

    def __init__(self, node: TapeNode, captured: int) -> None:
        self.sensitive = node.sensitive
        self.node = node
        self.captured = captured

    def pull(self, ybar: Tangentlike, cotangents: Cotangents) -> None:
        self.node.pull(ybar, cotangents)
        cotangents.add(self.captured, ybar)

    def parents(self) -> tuple[int, ...]:
        return (*self.node.parents(), self.captured)


class Template:
    """The structure of a container that a call returned, to give its cotangent the same."""

    __slots__ = ("keys", "masked", "parts", "primal_type")

    def __init__(self, primal_type: type, keys: tuple, parts: Sequence, masked: bool) -> None:
        self.primal_type = primal_type
        self.keys = keys
        self.parts = parts
        self.masked = masked

    def assemble(self, bars: dict) -> Any:
        def bar_of(part: int | None) -> Any:
            if part is None:
                return NO_TANGENT
            ybar = bars.get(part, ZERO)
            return ybar if self.masked else unmask(ybar)

        return self.filled(bar_of)

    def filled(self, f: Callable) -> Any:
        """Return the structure with ``f`` applied to each number of a leaf, or None."""

        def look(part: Value) -> Any:
            if type(part) is not Template:
                return f(part)
            return Within(zip(part.parts), partial(structural, part.primal_type, part.keys))

        return fold(look, self)

    def flags(self, bars: dict) -> Any:
        """Return, in the structure, 1 for each entry of a cotangent, 0 for structural zeros."""

        def flags_of(part: int | None) -> Any:
            bar = None if part is None else bars.get(part)
            if bar is None:
                return ZERO
            return counts_of(bar.alive) if type(bar) is Masked else np.ones(shape_of(bar))

        return self.filled(flags_of)


def is_perturbable(tape: "Tape", y: Value, args: tuple) -> bool:
    """Say whether an output can depend smoothly on ``args``; an integer only on integers."""
    dtype = dtype_of(y)
    if dtype is None:
        return False
    if type(y) is int or dtype.kind in "iu":  # of Python's, dtype_of says that of its tangents
        return any_integer(tape, args)
    return dtype.kind in "fc"


def wrap_output(tape: "Tape", y: Value, node: "KindNode | RuleNode", args: tuple) -> Any:
    """Append ``node`` to the tape, and return ``y`` traced: a value, or a container of values."""
    if type(y) is float64 or (type(y) is ndarray and y.dtype.kind == "f"):
        node.form = None if type(y) is float64 else (y.shape, y.dtype)
        return tape.wrap(y, (node,))  # at once, since most are
    parts = children(y)
    if parts is None:
        node.form = space_of(y)
        return _wrap_leaf(tape, y, node) if is_perturbable(tape, y, args) else y
    node.form = spaces = []
    call = append(tape.entries, (node,))
    masked = is_told_of_masks(node.f) if isinstance(node, RuleNode) else node.kind.multiplies
    numbers = itertools.count()

    def look(part: Value) -> Any:
        """Answer with what stands for ``part`` in the template, and with what is handed on."""
        parts = children(part)
        if parts is None:
            if not is_perturbable(tape, part, args):
                return None, part
            number = next(numbers)
            spaces.append(space_of(part))
            output = OutputNode(call, number, masked or node.sensitive)
            return number, _wrap_leaf(tape, part, output)

        def build(found: list) -> tuple:
            structure, traced = zip(*found) if found else ((), ())
            return Template(type(part), parts.keys, structure, masked), parts.rebuild(list(traced))

        return Within(zip(parts.values), build)

    node.template, traced = fold(look, y)
    return traced


def _wrap_leaf(tape: "Tape", y: Value, node: TapeNode) -> Any:
    if isinstance(y, Traced) and y.at_level is tape:
        return tape.wrap(y.primal, (MergeNode(node, y.position),))
    return tape.wrap(y, (node,))


def any_integer(tape: "Tape", args: tuple) -> bool:
    """Say whether one number of ``tape`` among ``args`` is an integer."""
    for x in iterate_leaves(tuple(args)):
        if isinstance(x, Traced) and x.at_level is tape:
            dtype = dtype_of(x)  # of a Python int it says float64, the dtype of its tangents
            if type_under(x) is int or (dtype is not None and dtype.kind in "iu"):
                return True
    return False


if numbers is not None:
    numbers.register_nodes(LinearRule, KindNode, Active, space_of)
