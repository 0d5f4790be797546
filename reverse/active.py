"""Active arguments of a call: those that depend on the tape, and where their cotangents go.

For ``np.concatenate([a, c, b])`` with traced ``a`` and ``b`` the list is an ``ActiveParts``,
with an ``Active`` for ``a``, None for ``c``, and an ``Active`` for ``b``.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules import AbstractZero, InplaceableThunk, ProjectTo, Traced, children, unthunk
from ..rules.accelerated import numbers
from ..rules.annotations import Function, Tangentlike, Value
from ..rules.containers import LEAVES, Within, fold, is_flat
from ..rules.shapes import FLOATS_AND_ARRAYS
from ..rules.table.pullback import check_shape
from ..rules.table.structural_zeros import Masked, masked, plain_array
from ..rules.tangents.project import ProjectContainer, space_of
from ..rules.tangents.structural import child_tangents
from .cotangents import Cotangents
from .entries import NODE, Entry, is_sensitive

if TYPE_CHECKING:
    from .tape import Tape


class Active:
    """An argument, or a part of one, that depends on the tape: where its cotangent goes.

    ``parent`` is an entry's index and ``space`` the argument's tangent space.
    """

    __slots__ = ("parent", "space")
    parts: Any = None

    def __init__(self, parent: int, space: Any) -> None:
        self.parent = parent
        self.space = space

    def is_sensitive(self, entries: Sequence[Entry]) -> bool:
        """Say whether structural zeros matter to it, or to one of its parts."""
        return is_sensitive(entries[self.parent])

    def parents(self) -> list[int]:
        """Return the entries that it depends on."""
        return [self.parent]

    def receive(
        self,
        xbar: Tangentlike,
        cotangents: Cotangents,
        f: Function | str,
        i: int,
        counts: Any = None,
    ) -> None:
        """Check what a rule returned for argument ``i`` of ``f``, and add it up.

        ``counts`` is 0 where an entry of ``xbar`` is a structural zero; None where none is.
        """
        if type(xbar) not in FLOATS_AND_ARRAYS:
            if type(xbar) is InplaceableThunk and counts is None:
                cotangents.add_in_place(self.parent, xbar, self.space)
                return
            if type(xbar) is Masked and not is_sensitive(cotangents.entries[self.parent]):
                xbar, counts = xbar.value, None  # nobody asks what is a zero
            xbar = _untraced(xbar, cotangents.tape)
        if counts is None and self.space.holds(xbar):
            cotangents.add(self.parent, xbar)
            return
        xbar = unthunk(xbar)
        if issubclass(type(xbar), AbstractZero):
            return
        alive = None
        if counts is not None:
            alive = not_zero(counts, self.space.shape)
        if type(xbar) is Masked:
            alive = xbar.alive if alive is None else xbar.alive & alive
            xbar = xbar.value
        xbar = check_shape(_untraced(xbar, cotangents.tape), self.space, f, i)
        cotangents.add(self.parent, xbar if alive is None else masked(xbar, alive))


class ActiveParts(Active):
    """A container that depends on the tape: ``parts`` has one ``Active`` per part.

    It is None for parts that do not depend on the tape. A container that is itself such a part has
    no ``space``: nobody asks for it. In one that is ``flat`` no part is a container.
    """

    __slots__ = ("flat", "parts", "shell")

    def __init__(self, space: Any, shell: object, parts: list, flat: bool = False) -> None:
        self.parent = -1
        self.space = space
        self.shell = shell
        self.parts = parts
        self.flat = flat

    def is_sensitive(self, entries: Sequence[Entry]) -> bool:
        if self.flat:
            for part in self.parts:
                if part is not None and is_sensitive(entries[part.parent]):
                    return True
            return False

        def look(active: Active | None) -> bool | Within:
            if active is None or active.parts is None:
                return active is not None and is_sensitive(entries[active.parent])
            return Within(zip(active.parts), any)

        return fold(look, self)

    def parents(self) -> list[int]:
        def look(active: Active | None) -> list[int] | Within:
            if active is None or active.parts is None:
                return [] if active is None else [active.parent]
            return Within(zip(active.parts), lambda found: list(itertools.chain(*found)))

        return fold(look, self)

    def receive(
        self,
        xbar: Tangentlike,
        cotangents: Cotangents,
        f: Function | str,
        i: int,
        counts: Any = None,
    ) -> None:
        if self.flat and counts is None and type(xbar) is list and len(xbar) == len(self.parts):
            for active, part in zip(self.parts, xbar, strict=True):
                if active is not None:
                    active.receive(part, cotangents, f, i)
            return

        def look(active: Any, xbar: Tangentlike, counts: Any) -> Any:
            if active is None:
                return None
            if active.parts is None:
                return active.receive(xbar, cotangents, f, i, counts)
            given = child_tangents(active.shell, _untraced(unthunk(xbar), cotangents.tape))
            flags = [None] * len(given) if counts is None else child_tangents(active.shell, counts)
            return Within(zip(active.parts, given, flags, strict=True), list)

        fold(look, self, xbar, counts)


def not_zero(counts: Value, shape: tuple[int, ...]) -> Any:
    """Return where ``counts``, of ``shape`` or zero altogether, are not 0."""
    if isinstance(counts, AbstractZero):
        return np.zeros(shape, bool)
    return np.reshape(plain_array(counts) != 0, shape)


def _untraced(xbar: Tangentlike, tape: "Tape") -> Any:
    # What was computed from a captured value is traced here; only its number is a cotangent.
    return xbar.primal if isinstance(xbar, Traced) and xbar.at_level is tape else xbar


def are_sensitive(active: list[tuple[int, Active]], entries: Sequence[Entry]) -> bool:
    """Say whether structural zeros matter to one of the arguments of a call."""
    for _, argument in active:
        if argument.parts is None:
            entry = entries[argument.parent]
            # As ``is_sensitive`` says it: every call of a kind that adds asks.
            size = len(entry)
            if entry[0].sensitive if size == NODE else size > NODE:
                return True
        elif argument.is_sensitive(entries):
            return True
    return False


def find_active(tape: "Tape", x: Value) -> Active | None:
    """Return where the cotangent of ``x`` goes, or None where ``x`` does not depend on ``tape``."""
    if is_flat(x):
        return _active_in_flat(tape, x)

    def look(x: Value) -> Active | Within | None:
        if isinstance(x, Traced):
            if x.at_level is not tape:
                return None
            return Active(x.position, space_of(x.primal))
        parts = None if type(x) in LEAVES else children(x)
        if parts is None:
            return None

        def build(found: list) -> Active | None:
            if not any(found):
                return None
            return ActiveParts(None, parts.rebuild([None] * len(found)), found)

        return Within(zip(parts.values), build)

    active = fold(look, x)
    if active is not None and active.parts is not None:
        active.space = ProjectTo(x)
    return active


def _active_in_flat(tape: "Tape", x: Any) -> ActiveParts | None:
    """Return where the cotangents of a list or a tuple of leaves go, or None."""
    found: list[Any] = [None] * len(x)
    depends = False
    for k, part in enumerate(x):
        if isinstance(part, Traced) and part.at_level is tape:
            found[k] = Active(part.position, space_of(part.primal))
            depends = True
    if not depends:
        return None
    spaces = [
        ProjectTo(part) if active is None else active.space
        for part, active in zip(x, found, strict=True)
    ]
    return flat_parts(type(x), spaces, found)


def flat_parts(cls: type, spaces: list, found: list) -> ActiveParts:
    """Return a list or a tuple of leaves, of which some are active, as an argument."""
    space = ProjectContainer(cls, range(len(spaces)), cls, spaces)
    return ActiveParts(space, space.shell, found, flat=True)


def find_all_active(tape: "Tape", args: tuple) -> list[tuple[int, Active]]:
    """Return the positions of the arguments that depend on ``tape``, and where each is."""
    active = []
    for i, x in enumerate(args):
        if isinstance(x, Traced):
            if x.at_level is tape:
                active.append((i, Active(x.position, space_of(x.primal))))
        elif type(x) not in LEAVES:
            where = find_active(tape, x)
            if where is not None:
                active.append((i, where))
    return active


if numbers is not None:
    numbers.register_parts(ActiveParts, flat_parts)
