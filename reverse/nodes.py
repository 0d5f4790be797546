"""Entries of the tape that are more than an elementwise rule on floats."""

from functools import partial
from typing import Any

from numpy import float64, ndarray

from ..rules import (
    AbstractZero,
    InplaceableThunk,
    NoTangent,
    ProjectTo,
    Traced,
    ZeroTangent,
    children,
    getitem,
    strip,
    type_under,
    unthunk,
)
from ..rules.answers import Pullback, check_shape
from ..rules.containers import LEAVES
from ..rules.kinds import Kind, LinearRule, ScalarRule, SelectionRule
from ..rules.masked import Masked, is_told_of_masks, unmask
from ..rules.operands import is_basic
from ..rules.project import dtype_of, structural
from ..rules.tangents import child_tangents
from .pieces import Pieces
from .sweep import Cotangents


class Active:
    """An argument, or a part of one, that depends on the tape: where its cotangent goes.

    ``parent`` is an entry's index and ``space`` the argument's tangent space; for a container
    ``parts`` holds one of these per part, or None for parts that do not depend on the tape.
    """

    __slots__ = ("parent", "parts", "shell", "space")

    def __init__(self, parent: int, space: Any, shell: Any = None, parts: Any = None) -> None:
        self.parent = parent
        self.space = space
        self.shell = shell
        self.parts = parts

    def receive(self, tape: Any, xbar: Any, cotangents: Cotangents, f: Any, i: int) -> None:
        """Check what a rule returned for argument ``i`` of ``f``, and add it up."""
        if self.parts is not None:
            given = child_tangents(self.shell, strip(unthunk(xbar), tape))
            for part, partbar in zip(self.parts, given, strict=True):
                if part is not None:
                    part.receive(tape, partbar, cotangents, f, i)
            return
        xbar = _untraced(xbar, tape)
        if self.space.holds(xbar):
            cotangents.add(self.parent, xbar)
            return
        if type(xbar) is InplaceableThunk:
            cotangents.add_in_place(self.parent, xbar, self.space)
            return
        xbar = unthunk(xbar)
        if issubclass(type(xbar), AbstractZero):
            return
        if type(xbar) is Masked:
            value = check_shape(_untraced(xbar.value, tape), self.space, f, i)
            cotangents.add(self.parent, Masked(value, xbar.alive))
            return
        cotangents.add(self.parent, check_shape(_untraced(xbar, tape), self.space, f, i))


def _untraced(xbar: Any, tape: Any) -> Any:
    # What was computed from a captured value is traced here; only its number is a cotangent.
    return xbar.value if isinstance(xbar, Traced) and xbar.level is tape else xbar


def is_elementwise(entry: Any) -> bool:
    """Say whether an entry multiplies by a partial, or divides: structural zeros matter to it."""
    if len(entry) != 1:
        return len(entry) > 1
    node = entry[0]
    if isinstance(node, KindNode):
        return isinstance(node.kind, ScalarRule | SelectionRule)
    return isinstance(node, OutputNode) and node.template.masked


def find_active(tape: Any, x: Any) -> Active | None:
    """Return where the cotangent of ``x`` goes, or None where ``x`` does not depend on ``tape``."""
    if isinstance(x, Traced):
        return Active(x.index, ProjectTo(x.value)) if x.level is tape else None  # type: ignore
    parts = children(x)
    if parts is None:
        return None
    found = [find_active(tape, part) for part in parts.values]
    if not any(found):
        return None
    return Active(-1, ProjectTo(x), parts.rebuild([None] * len(found)), found)


def find_all_active(tape: Any, args: tuple) -> list[tuple[int, Active]]:
    """Return the positions of the arguments that depend on ``tape``, and where each is."""
    active = []
    for i, x in enumerate(args):
        if isinstance(x, Traced):
            if x.level is tape:
                active.append((i, Active(x.index, ProjectTo(x.value))))  # type: ignore[attr-defined]
        elif type(x) not in LEAVES:
            where = find_active(tape, x)
            if where is not None:
                active.append((i, where))
    return active


class KindNode:
    """A call answered by a rule kind."""

    __slots__ = ("active", "args", "kind", "kwargs", "template", "y")
    takes_pieces = False

    def __init__(
        self, kind: Kind, y: Any, args: tuple, kwargs: dict, active: list[tuple[int, Active]]
    ) -> None:
        self.kind = kind
        self.kwargs = kwargs
        self.active = active
        self.template: Template | None = None
        self.y, self.args = kind.kept(active, y, args)

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        kind = self.kind
        if self.template is not None:
            ybar = self.template.assemble(ybar)
        if type(ybar) is Masked and type(kind) is not ScalarRule:
            ybar = ybar.value
        if kind.f is getitem and collect(tape, self, ybar, cotangents):
            return
        for i, active in self.active:
            xbar = kind.pull(i, ybar, self.y, self.args, self.kwargs, active.space)
            if (
                kind.selects
                and active.parts is None
                and is_elementwise(tape.recorded[active.parent])
            ):
                if type(xbar) is InplaceableThunk and isinstance(kind, LinearRule):
                    mark = None if kind.mark is None else partial(kind.mark, **self.kwargs)
                    cotangents.add_in_place(active.parent, xbar, active.space, mark)
                    continue
                alive = kind.alive(i, self.args, self.kwargs, active.space)
                if alive is not None:
                    xbar = Masked(unthunk(xbar), alive)
            active.receive(tape, xbar, cotangents, kind.f, i)


def collect(tape: Any, node: KindNode, ybar: Any, cotangents: Cotangents) -> bool:
    """Add the cotangent of ``x[index]`` to the pieces of that of ``x``; say whether it is one."""
    _, active = node.active[0]
    index = node.kwargs["index"]
    present = cotangents.bars[active.parent]
    if type(present) is not Pieces:
        if not isinstance(ybar, Traced):
            return False
        if active.parts is not None or not is_basic(index):
            return False
        elementwise = is_elementwise(tape.recorded[active.parent])
        present = Pieces(node.kind, active.space, elementwise, present)
        cotangents.bars[active.parent] = present
        cotangents.owned.discard(active.parent)
    elif not is_basic(index):
        return False
    present.append(index, ybar)
    return True


class ItemNode:
    """One number, read from an array by integers."""

    __slots__ = ("index", "kind", "parent", "space")
    takes_pieces = False

    def __init__(self, kind: LinearRule, parent: int, space: Any, index: Any) -> None:
        self.kind = kind
        self.parent = parent
        self.space = space
        self.index = index

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        if type(ybar) is float64 and self.parent in cotangents.owned:
            present = cotangents.bars[self.parent]
            if type(present) is Masked:
                present.alive[self.index] = True
                present = present.value
            if type(present) is ndarray:
                present[self.index] += ybar
                return
        # The first read makes the array that the others are added into.
        active = [(0, Active(self.parent, self.space))]
        KindNode(self.kind, None, (None,), {"index": self.index}, active).pull(
            tape, ybar, cotangents
        )


class RuleNode:
    """A call answered by a hand-written rrule; argument 0 is the function itself."""

    __slots__ = ("active", "f", "pullback", "template")
    takes_pieces = False

    def __init__(self, pullback: Pullback, f: Any, active: list[tuple[int, Active]]) -> None:
        pullback.plain = False
        self.pullback = pullback
        self.f = f
        self.active = active
        self.template: Template | None = None

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        if self.template is not None:
            ybar = self.template.assemble(ybar)
        xbars = self.pullback(unmask(ybar))
        for i, active in self.active:
            active.receive(tape, xbars[i], cotangents, self.f, i - 1)


class OutputNode:
    """One number or array inside a container that a call returned."""

    __slots__ = ("call", "key", "template")
    takes_pieces = False

    def __init__(self, call: int, key: int, template: "Template") -> None:
        self.call = call
        self.key = key
        self.template = template

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        bars = cotangents.bars
        if bars[self.call] is None:
            bars[self.call] = {}
        bars[self.call][self.key] = ybar


class MergeNode:
    """A call's result that is itself traced here: it was computed from captured values too."""

    __slots__ = ("captured", "node")
    takes_pieces = False

    def __init__(self, node: Any, captured: int) -> None:
        self.node = node
        self.captured = captured

    def pull(self, tape: Any, ybar: Any, cotangents: Cotangents) -> None:
        self.node.pull(tape, ybar, cotangents)
        cotangents.add(self.captured, ybar)


class Template:
    """The structure of a container that a call returned, to give its cotangent the same."""

    __slots__ = ("keys", "masked", "parts", "primal_type")

    def __init__(self, primal_type: type, keys: tuple, parts: list, masked: bool) -> None:
        self.primal_type = primal_type
        self.keys = keys
        self.parts = parts
        self.masked = masked

    def assemble(self, bars: dict) -> Any:
        parts = [
            part.assemble(bars)
            if isinstance(part, Template)
            else NoTangent()
            if part is None
            else bars.get(part, ZeroTangent())
            if self.masked
            else unmask(bars.get(part, ZeroTangent()))
            for part in self.parts
        ]
        return structural(self.primal_type, self.keys, parts)


def is_perturbable(tape: Any, y: Any, args: Any) -> bool:
    """Say whether an output can depend smoothly on ``args``; an integer only on integers."""
    dtype = dtype_of(y)
    if dtype is None:
        return False
    return dtype.kind in "fc" or (dtype.kind in "iu" and all_integers(tape, args))


def wrap_output(tape: Any, y: Any, node: Any, args: Any) -> Any:
    """Append ``node`` to the tape, and return ``y`` traced: a value, or a container of values."""
    if type(y) is float64 or (type(y) is ndarray and y.dtype.kind == "f"):
        return tape.wrap(y, (node,))  # at once, since most are
    parts = children(y)
    if parts is None:
        return _wrap_leaf(tape, y, node) if is_perturbable(tape, y, args) else y
    call = len(tape.entries)
    tape.entries.append((node,))
    masked = isinstance(node, RuleNode) and is_told_of_masks(node.f)
    node.template, _ = _number_leaves(tape, y, 0, args, masked)

    def wrap(part: Any, structure: Any) -> Any:
        if isinstance(structure, Template):
            inner = children(part)
            assert inner is not None
            return inner.rebuild(list(map(wrap, inner.values, structure.parts)))
        if structure is None:
            return part
        return _wrap_leaf(tape, part, OutputNode(call, structure, node.template))

    return wrap(y, node.template)


def _wrap_leaf(tape: Any, y: Any, node: Any) -> Any:
    if isinstance(y, Traced) and y.level is tape:
        return tape.wrap(y.value, (MergeNode(node, y.index),))  # type: ignore[attr-defined]
    return tape.wrap(y, (node,))


def _number_leaves(tape: Any, y: Any, count: int, args: Any, masked: bool) -> tuple[Any, int]:
    parts = children(y)
    if parts is None:
        return (count, count + 1) if is_perturbable(tape, y, args) else (None, count)
    structures = []
    for part in parts.values:
        structure, count = _number_leaves(tape, part, count, args, masked)
        structures.append(structure)
    return Template(type(y), parts.keys, structures, masked), count


def all_integers(tape: Any, args: Any) -> bool:
    """Say whether every number of ``tape`` among ``args`` is an integer."""
    for x in args:
        if isinstance(x, Traced):
            dtype = dtype_of(x)  # of a Python int it says float64, the dtype of its tangents
            integer = type_under(x) is int or (dtype is not None and dtype.kind in "iu")
            if x.level is tape and not integer:
                return False
        else:
            parts = children(x)
            if parts is not None and not all_integers(tape, parts.values):
                return False
    return True
