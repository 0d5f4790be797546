"""Noted call: a function that was called, the user's line, and the numbers that it was given.

Each operation is noted as it runs, where somebody watches. Its words are made when they are told.
"""

import contextlib
import contextvars
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...config.lines import Place, line_at, user_frame, user_place
from ..annotations import Function
from ..shapes import shape_of
from ..signatures import name_of
from .level import Traced
from .running import a_run


class FoundNumber(NamedTuple):
    """A number that was looked for: its name, its entry, and the shape of the array it is in.

    The first ``lead`` axes are those of the items of a batch, or of directions.
    """

    number: str
    entry: tuple[int, ...]
    shape: tuple[int, ...] = ()
    lead: int = 0
    of: str = "of item"

    @property
    def at(self) -> str:
        """The words for its place; none for that of a number."""
        led, index = self.entry[: self.lead], self.entry[self.lead :]
        place = f" at {list(index)}" if index else ""
        return f"{place} {self.of} {', '.join(map(str, led))}" if led else place


class Operand(NamedTuple):
    """Numbers that a call was given, and the user's local variable that holds them, if one does."""

    numbers: Any
    lead: int = 0  # axes of the items of batches
    name: str = ""
    key: object = None  # which tells the value from others, if it is a traced one


class PulledEntry(NamedTuple):
    """An entry under way back: the number of its cotangent that is not finite, and its slopes."""

    cotangent: FoundNumber | None
    slopes: Callable[[], Iterable[Any]]


class NotedCall(NamedTuple):
    """A function, or the name of an operation; where it was called, and on what.

    ``through`` is the call that it helps to pull back. ``pulled`` is there while it is pulled back.
    """

    f: Function | str
    place: Place | None
    through: "NotedCall | None" = None
    operands: tuple[Operand, ...] = ()
    pulled: PulledEntry | None = None

    @property
    def name(self) -> str:
        name = self.f if isinstance(self.f, str) else name_of(self.f).rpartition(".")[2]
        return name if self.through is None else f"{name} in the pullback of {self.through.name}"

    @property
    def by_user(self) -> "NotedCall":
        """The call of the user's that this one belongs to."""
        return self if self.through is None else self.through.by_user

    @property
    def line(self) -> str:
        return line_at(self.by_user.place)

    def located(self, found: FoundNumber) -> FoundNumber:
        """Return the place with as many axes of items as the operands have."""
        lead = max([found.lead, *[x.lead for x in self.by_user.operands]])
        return found._replace(lead=min(lead, len(found.entry)))

    def given(self, found: FoundNumber, key: object = None) -> str:
        """Return words for the operands at the place of ``found``: ``, where d2[0, 0] = 0.0``.

        Parameters
        ----------
        found : FoundNumber
            In the result of the call, or in the cotangent of the operand that ``key`` tells.
        """
        call = self.by_user
        operands, shapes = call.operands, [np.shape(x.numbers)[x.lead :] for x in call.operands]
        inner = found.shape[found.lead :]
        of_result = _is_elementwise(call.f) and inner == np.broadcast_shapes(*shapes)
        said = []
        for k, (x, shape) in enumerate(zip(operands, shapes, strict=True)):
            own = key is not None and x.key == key and shape == inner
            if x.lead not in (0, found.lead) or not (
                own or of_result or (shape == () and x.key is not None)
            ):
                continue
            led, index = found.entry[: x.lead], found.entry[found.lead :]
            index = index[len(index) - len(shape) :]
            index = tuple([0 if n == 1 else i for i, n in zip(index, shape, strict=True)])
            entry = np.asarray(x.numbers)[*led, *index]
            place = f"[{', '.join(map(str, index))}]" if index else ""
            if x.name:
                said.append(f"{x.name}{place} = {entry}")
            else:
                which = "its argument" if len(operands) == 1 else f"its argument {k}"
                said.append(f"{which} is {entry}{' at ' * bool(place)}{place}")
        return f", where {' and '.join(said)}" if said else ""

    def cause(self, found: FoundNumber) -> str:
        """Return words for the cotangent that came in, and the slope at the place of ``found``."""
        if self.pulled is None:
            return ""
        bad = self.pulled.cotangent
        if bad is not None:
            return f"; its cotangent has {bad.number}{bad.at}"
        with np.errstate(all="ignore"):
            slopes = [np.asarray(slope) for slope in self.pulled.slopes()]
        there = [x[found.entry] for x in slopes if x.shape == found.shape]
        infinite = not np.isfinite(there).all()
        return f"; its cotangent is finite{', its slope is not' * infinite}"


# What a sweep under way pulls back through, and the run that it is part of.
_pulled: contextvars.ContextVar[tuple] = contextvars.ContextVar("pulled", default=(None, None))
# To ask for it, and to put it back as it was. Never where a generator ends, which the collector may
# do at any time: before Python 3.12 also while a variable is set, which spoils memory.
under_way, put_back = _pulled.get, _pulled.set


def pulled() -> NotedCall | None:
    """Return what is pulled back through, if somebody watches; None in a run that began since."""
    call, run = _pulled.get()
    return call if run is a_run() else None


def pull_through(call: NotedCall | None) -> None:
    """Say that what follows belongs to the pullback of a call, until that is put back."""
    _pulled.set((call, a_run()))


@contextlib.contextmanager
def pulling() -> Iterator[None]:
    """Let what is pulled back through be said inside; at first it is nothing."""
    outer = under_way()
    pull_through(None)
    try:
        yield
    finally:
        put_back(outer)


def noted(f: Function | str, operands: Iterable[Any] = ()) -> NotedCall:
    """Return the call that runs now, as one notes it; ``operands`` are numbers and arrays."""
    through = pulled()
    if through is not None:  # whose own operands are told
        return NotedCall(f, None, through)
    return NotedCall(f, user_place(), None, named([_operand(x) for x in operands if _is_told(x)]))


def named(operands: list[Operand]) -> tuple[Operand, ...]:
    """Name operands by local variables of the user's frame that hold exactly these values."""
    frame, keys = user_frame(), {x.key for x in operands if x.key is not None}
    # To read local variables fills the dict of ``locals()``, which the user may have.
    if frame is None or not keys or not _READERS.isdisjoint(frame.f_code.co_names):
        return tuple(operands)
    names: dict[object, tuple[str, int]] = {}
    for name, local in frame.f_locals.items():
        for layer in _layers_now(local):
            if (key := key_of(layer)) in keys and key not in names:
                names[key] = name, len(shape_of(layer)) - len(shape_of(local))
    found = [names.get(x.key, ("", 0)) for x in operands]
    return tuple(
        [
            x._replace(name=name, lead=max(x.lead, lead))
            for x, (name, lead) in zip(operands, found, strict=True)
        ]
    )


_READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})


def key_of(x: Any) -> object:
    """Return what tells an object from others: a traced value of a record by its entry there."""
    if issubclass(type(x), Traced):
        position = _slot(x, "position")
        return id(x) if position is None else (x.at_level.number, position)
    return id(x)


def numbers_of(x: Any) -> Any:
    """Return the plain numbers under a traced value; of a batch, those of all items."""
    while isinstance(x, Traced):
        x = x.whole()
    return x


def _operand(x: Any) -> Operand:
    *_, numbers = _layers_now(x)
    if type(x) is np.ndarray:
        return Operand(numbers.copy(), key=id(x))  # the user may write into it
    if isinstance(x, np.generic | Traced):
        return Operand(numbers, np.ndim(numbers) - len(shape_of(x)), key=key_of(x))
    return Operand(numbers)  # equal numbers of Python may be one object


def _is_told(x: Any) -> bool:
    """Say whether ``x`` is a number or an array, and has its value: not one written to by now."""
    *_, numbers = _layers_now(x)
    # Not isinstance: what has no value passes for an array as well.
    return issubclass(type(numbers), np.ndarray | np.number | float | complex | int)


def _layers_now(x: Any) -> Iterator[Any]:
    """Yield ``x``, what it carries, and so on, as far as no value has to be made for that."""
    yield x
    while issubclass(type(x), Traced):
        of_record = "block" if hasattr(type(x), "block") else "sample"
        x = _slot(x, of_record if x.records else "primal")
        if x is None:
            return
        yield x


def _slot(x: Any, name: str) -> Any:
    """Return what a slot holds, or None: a value that is being written to is not asked for."""
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return None


def _is_elementwise(f: Function | str) -> bool:
    return f in _OPERATORS or (isinstance(f, np.ufunc) and f.signature is None)


_OPERATORS = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.neg, operator.pos, operator.abs,
})  # fmt: skip
