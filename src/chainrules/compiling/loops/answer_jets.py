"""Jets: a solver's answer with its derivatives, found by the engines, as one step of a recording.

Some solvers decide by numbers to the last bit what they do next, so that a recording of their
operations would serve no other call. Each replay calls such a solver anew: with the numbers of its
call, or with dual ones for derivatives of any order. The user's functions run in Python.
"""

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np

from ...config import RuleConfig, StrongZeros, user_line
from ...config.thresholds import SLOPES_COLUMNS
from ...rules import (
    AbstractZero,
    NoTangent,
    Tangent,
    dtype_of,
    frule,
    instances,
    jacobian_via_ad,
    levels_of,
    name_of,
    primitive,
    rrule,
    scalar_rule,
    type_under,
    unthunk,
    value,
)
from ...rules.rulesets.scipy.integrate.sensitivities import NO_STATE, Columns
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..record.recording import UnrollingRecorder
from .answers import AnswerStructure, numbered
from .derivatives import FORWARD, Mask, chosen, moved_by, parts_of_tangent, spread
from .layout import RECORDED, plain
from .loop_lowering import LoopBuilder, recorder_of
from .native_loop import OwnStep


@primitive
def complex_of(re: Any, im: Any) -> Any:
    """Return the complex number, or array, of these two parts, to the last bit."""
    y = np.empty(np.shape(re), np.complex128)
    y.real, y.imag = re, im
    return y[()]


scalar_rule(complex_of, 1, 1j)


class JetStructure(AnswerStructure):
    """The structure of an answer whose leaves are real: complex ones are two leaves."""

    def _spec(self, x: Any, inside: bool) -> Any:
        own = value(x)
        if getattr(own, "dtype", None) != np.complex128:
            return super()._spec(x, inside)
        self.leaves += np.real(x), np.imag(x)
        return "complex", own.shape

    def _made(self, spec: Any, rest: Iterator) -> Any:
        return (
            complex_of(next(rest), next(rest))
            if spec[0] == "complex"
            else super()._made(spec, rest)
        )


class RealParts:
    """Captured values as real ones: complex ones as two each, which ``joined`` puts together."""

    def __init__(self, captured: list) -> None:
        self.are_complex = [
            dtype_of(x) == np.complex128 and type_under(x) is not complex for x in captured
        ]
        parts = [
            (np.real(x), np.imag(x)) if is_complex else (x,)
            for x, is_complex in zip(captured, self.are_complex, strict=True)
        ]
        self.of_captured = list(itertools.chain(*parts))

    def joined(self, parts: Iterable) -> list:
        rest = iter(parts)
        return [
            complex_of(next(rest), next(rest)) if two else next(rest) for two in self.are_complex
        ]


class AnswerJet(OwnStep):
    """The jet of a solver's answer: ``jet(*captured)`` gives its structure, leaves and derivatives.

    First comes the number of the structure; then all leaves; then for each order the derivatives of
    leaves in floating point, with one axis more, along the entries of what is ``moving`` in a row.
    """

    __slots__ = ("builder", "known", "moving", "next", "order", "reals", "solve", "structures")

    calls_back = of_solver = gives_one_shape = True

    def __init__(
        self,
        builder: LoopBuilder,
        reals: RealParts,
        solve: Callable,
        moving: Mask,
        structures: list,
        order: int = 0,
    ) -> None:
        super().__init__(builder.name)
        self.builder, self.reals, self.solve = builder, reals, solve
        self.moving, self.order = moving, order
        self.structures: list[JetStructure] = structures
        self.next: AnswerJet | None = None
        self.known: tuple[list, tuple] | None = None  # of the first call

    def derived(self) -> "AnswerJet":
        """Return the jet of one order more."""
        if self.next is None:
            given = self.builder, self.reals, self.solve, self.moving, self.structures
            self.next = AnswerJet(*given, self.order + 1)
        return self.next

    def probe(self, captured: list) -> None:
        """Find the jet for the call that comes next, of the same objects.

        Raises
        ------
        NotRecordable
            If there is something in the answer that a recording cannot hold.
        """
        self.known = captured, self._run(*captured)

    def _run(self, *captured: Any) -> tuple:
        known, self.known = self.known, None
        if known is not None and all(map(operator.is_, known[0], captured)):
            return known[1]
        structure, orders = self._found(list(captured), self.order)
        return numbered(self.structures, structure), *itertools.chain(*orders)

    def _found(self, captured: list, order: int) -> tuple[JetStructure, list[list]]:
        """Return the structure of the answer at plain or traced values, and leaves by order."""
        if order == 0:
            given = self.reals.joined(captured)
            structure = JetStructure(self.builder.with_functions(given, self.solve))
            return structure, [structure.leaves]
        xs = chosen(captured, self.moving)
        columns, found = Columns(NO_STATE, xs), None

        def in_a_row(row: Any) -> Any:
            nonlocal found
            put = iter(columns.parts(row)[1])
            given = [next(put) if moves else x for x, moves in zip(captured, self.moving)]
            found = self._found(given, order - 1)
            whole = floats_in(itertools.chain(*found[1]))
            return Columns(NO_STATE, whole).row(NO_STATE, whole)

        values, slopes = jacobian_via_ad(FORWARD, in_a_row, columns.row(NO_STATE, xs))
        structure, orders = cast(Any, found)
        rows = Columns(NO_STATE, floats_in(itertools.chain(*orders)))
        parts = iter(rows.parts(values)[1])
        orders = [[next(parts) if is_float(x) else x for x in leaves] for leaves in orders]
        return structure, [*orders, rows.parts(slopes)[1][-len(floats_in(orders[-1])) :]]

    def split(self, number: int, leaves: list) -> list[list]:
        """Return the leaves of each order, of an answer of this structure."""
        first = self.structures[number].leaves
        sizes = [len(first), *[len(floats_in(first))] * self.order]
        rest = iter(leaves)
        return [list(itertools.islice(rest, size)) for size in sizes]

    def with_slopes(self, captured: tuple) -> tuple[tuple, list]:
        """Return what the jet gives, and for each float in it its slope, of an order more."""
        derived = self.derived()
        number, *leaves = derived(*captured)
        first, *orders = derived.split(number, leaves)
        own = number, *first, *itertools.chain(*orders[:-1])
        return own, list(itertools.chain(*orders))


def is_float(x: Any) -> bool:
    return getattr(dtype_of(x), "kind", "") == "f"


def floats_in(xs: Iterable) -> list:
    return [x for x in xs if is_float(x)]


# ---- rules --------------------------------------------------------------------------------------


@frule.register(instances(AnswerJet))
def jet_frule(config: RuleConfig, tangents: tuple, jet: AnswerJet, *captured: Any) -> tuple:
    dots = moved_by(list(captured), list(map(unthunk, tangents[1:])), jet.moving)
    row = Columns(NO_STATE, dots).row(NO_STATE, dots)
    (number, *leaves), slopes = jet.with_slopes(captured)
    along = iter([slope @ row for slope in slopes])
    dots = [next(along) if is_float(x) else NoTangent() for x in leaves]
    return (number, *leaves), Tangent(tuple, NoTangent(), *dots)


@rrule.register(instances(AnswerJet))
def jet_rrule(config: RuleConfig, jet: AnswerJet, *captured: Any) -> tuple[tuple, Callable]:
    own, slopes = jet.with_slopes(captured)

    def jet_pullback(ybar: Any) -> tuple:
        bars = parts_of_tangent(own, ybar)[1:]
        bars = [bar for x, bar in zip(own[1:], bars, strict=True) if is_float(x)]
        terms = [
            np.tensordot(bar, slope, np.ndim(bar))
            for bar, slope in zip(bars, slopes, strict=True)
            if not isinstance(bar, AbstractZero)
        ]
        if not terms:
            return (NoTangent(),) * (len(captured) + 1)
        columns = Columns(NO_STATE, chosen(captured, jet.moving))
        xbars = columns.parts(sum(terms[1:], terms[0]))[1]
        return NoTangent(), *spread(xbars, jet.moving)

    return own, jet_pullback


# ---- lowering -----------------------------------------------------------------------------------


def jet_to_take(solve: Callable, args: tuple, kwargs: dict) -> Callable[[], Any] | None:
    """Return what makes ``solve(*args, **kwargs)`` a step of the recording; None where it is none.

    It is none of many parameters, of other numbers than float64 and complex128, and where zeros are
    strong. What is returned gives the answer; or None, where that holds objects or other floats, or
    the user's functions do more than compute what they return.
    """
    builder = LoopBuilder((args, kwargs), name_of(solve))
    recorder = recorder_of(builder.captured, UnrollingRecorder)
    levels = levels_of(*builder.captured)
    configs = [getattr(level, "config", None) for level in levels]
    if recorder is None or any(isinstance(config, StrongZeros) for config in configs):
        return None
    reals = RealParts(builder.captured)
    captured = reals.of_captured
    moving = tuple(type(x) not in RECORDED for x in captured)
    xs = chosen(captured, moving)
    columns = Columns(NO_STATE, xs)
    order = sum(not getattr(level, "records", False) for level in levels)
    few = min(SLOPES_COLUMNS, int((4 * SLOPES_COLUMNS + 0.5) ** (1 / max(order, 1))))
    if columns.size > few or not columns.fit_a_block(NO_STATE, xs):
        _refuse_steps(solve, columns.size, few)
        return None
    jet = AnswerJet(builder, reals, lambda given: solve(*given[0], **given[1]), moving, [])

    def take() -> Any:
        values = plain(captured)
        try:
            with recorder.unwatched():
                if _does_more(builder, jet, values):
                    return None
                if xs:
                    jet.derived().probe(values)
        except UnsuitedLoopError:
            raise
        except Exception:  # if it is the user's own, it comes again as the call is recorded
            return None
        if any(dtype_of(x) != np.float64 for x in floats_in(jet.structures[0].leaves)):
            return None
        number, *leaves = jet(*captured)
        return jet.structures[number].filled(leaves)

    return take


def _refuse_steps(solve: Callable, size: int, few: int) -> None:
    """Refuse the steps of an initial value problem: by last bits, they serve no other call.

    Raises
    ------
    NotRecordable
    """
    name = name_of(solve)
    if name not in ("solve_ivp", "odeint", "solve_bvp"):
        return
    why = f"derivatives by {size} numbers" if size > few else "derivatives by float32 numbers"
    raise NotRecordable(
        f"{name} in {user_line()} has {why}, and is a step of a recording for up to {few} of "
        "float64; compute what depends on fewer numbers in the function that it is given, or "
        "compile what comes before and after by itself"
    )


def _does_more(builder: LoopBuilder, jet: AnswerJet, values: list) -> bool:
    """Say whether the user's functions, as they run once, change what they read, or draw."""
    captured = builder.new_captured()
    jet.probe(values)
    return bool(captured.drawn() or captured.changed())
