"""Quadrature: SciPy integrates a recorded integrand, and so all its derivatives, as one step.

QUADPACK chooses the intervals, and gives the value; machine code evaluates the integrand for it.
A derivative is the same weighted sum over the nodes of the last intervals, where QUADPACK's own
estimate of its error finds that good enough, as in the rule of ``quad``; else it is integrated by
itself. It is again a quadrature, so there are derivatives of any order.
"""

import math
import warnings
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from ...config import RuleConfig
from ...rules import (
    ZERO,
    AbstractZero,
    NoTangent,
    Tangent,
    add,
    dtype_of,
    frule,
    innermost,
    instances,
    is_traced,
    rrule,
    thunk,
    unthunk,
    value,
)
from ...rules.rulesets.scipy.integrate.integrands import number
from ...rules.rulesets.scipy.integrate.quadrature import middle
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..record.recording import StepRecorder
from .callbacks import CallbackRun, SolverCallback, of_parts
from .derivatives import (
    REVERSE,
    Mask,
    active_in,
    cut,
    moved_by,
    only,
    parts_of_tangent,
    pushed,
    refuse_strong,
    spread,
)
from .layout import RowLayout, form_of, plain
from .loop_lowering import LoopBuilder, RowFunction, recorder_of
from .native_loop import NativeLoop, OwnStep, Step
from .quadpack_calls import of_rule, scipys
from .ways import Layouts

_KNOWN = {"epsabs", "epsrel", "limit", "points"}
TOLERANCE = 1.49e-8  # SciPy's


class Found(NamedTuple):
    """QUADPACK's value, its estimate of the error, and its last intervals."""

    value: float
    error: float
    info: dict


class Quadrature(OwnStep):
    """The integral of what a callback gives: a number first, and derivatives of it.

    ``quadrature(a, b, *captured)`` returns the integral, SciPy's estimate of its error, and the
    integrals of the derivatives. ``root`` is the quadrature of the number alone, which chooses the
    nodes. ``sizes`` are the captured values in which all derivatives are linear: tolerances are
    those for such values of the size of 1.
    """

    __slots__ = ("callback", "derived", "found", "line", "options", "root", "sizes", "template")

    is_native = calls_back = of_solver = gives_one_shape = True

    def __init__(
        self,
        callback: SolverCallback,
        options: dict,
        line: str,
        root: Any,
        sizes: list,
        template: tuple,
    ) -> None:
        super().__init__("quadrature")
        self.callback, self.options, self.line = callback, options, line
        self.root = self if root is None else root
        self.sizes = sizes
        self.template = template  # leaves, at which a derivative says what has one
        self.derived: dict[Hashable, Any] = {}
        self.found: tuple[Any, Found] | None = None

    def round_as_numpy(self) -> bool:
        self.root.found = None
        return self.root.callback.round_as_numpy() | self.callback.round_as_numpy()

    @property
    def step(self) -> NativeLoop:
        return self.callback.step

    def _run(self, a: Any, b: Any, *captured: Any) -> tuple:
        root = self.root
        found = root.integrated(a, b, captured[: len(root.step.layouts.captured)])
        if self is root:
            return found.value, found.error
        layout = self.step.layouts.given
        row = np.zeros(layout.size)
        run = self.callback.begin(list(captured))
        self._derivatives(run, a, b, found, row)
        self.callback.end(run)
        _, *own = layout.read(row)  # sums, which are numbers of NumPy's
        return found.value, found.error, *[np.float64(x) if type(x) is float else x for x in own]

    def integrated(self, a: Any, b: Any, captured: tuple) -> Found:
        """Return what QUADPACK finds; of the last call it is kept."""
        run = self.callback.begin(list(captured))
        key = a, b, run.captured.tobytes(), self.callback.state
        if self.found is not None and self.found[0] == key and not self.options.get("points"):
            self.callback.end(run)
            return self.found[1]
        y, error, info, *rest = scipys(run, 0, a, b, self.options)
        self.callback.end(run)
        if rest:
            warnings.warn(rest[0], integrate.IntegrationWarning, stacklevel=4)
        found = Found(y, error, info)
        if not rest:
            self.found = key, found
        return found

    def _derivatives(self, run: CallbackRun, a: Any, b: Any, found: Found, row: np.ndarray) -> None:
        """Store the integrals of all derivatives behind the first entry of ``row``."""
        sums, errors, weighed = of_rule(run, a, b, found.info)
        sizes = [run.captured[start:end] for start, end in self.sizes]
        size = math.prod(map(_size_of, sizes))
        options = self.options
        epsabs, epsrel = options.get("epsabs", TOLERANCE) * size, options.get("epsrel", TOLERANCE)
        if abs(sums[0] - found.value) <= 1e-13 * weighed[0] and all(
            error <= max(epsabs, epsrel * abs(y))
            for y, error in zip(sums[1:].tolist(), errors[1:].tolist())
        ):
            row[1:] = sums[1:]
            return
        scaled = options | {"epsabs": epsabs}
        for k in range(1, len(row)):
            try:
                row[k], _, _, *rest = scipys(run, k, a, b, scaled)
            except ArithmeticError as error:  # at a node that the value does not need
                raise UnsuitedLoopError(f"a derivative whose integrand raises {error}") from error
            if rest:
                message = f"the derivative of scipy.integrate.quad in {self.line}: {rest[0]}"
                warnings.warn(message, integrate.IntegrationWarning, stacklevel=4)

    # ---- derivatives ----------------------------------------------------------------------------

    def at(self, t: Any, captured: list) -> list:
        """Return what the callback gives at ``t``, recorded or traced."""
        return self.step.step.run([], captured, [t])[1]

    def _of_step(self, step: NativeLoop, sizes: list, more: list) -> "Quadrature":
        template = (*self.template, *more)
        return Quadrature(
            SolverCallback(step), self.options, self.line, self.root, self.sizes + sizes, template
        )

    def pushed(self, moving: Mask) -> tuple["Quadrature", Mask]:
        """Return the quadrature of the pushforward, and of which results it has tangents."""
        key = "pushed", moving
        if key not in self.derived:
            t, *leaves = self.template
            step, push = pushed(self.step, (), moving, (False,), (*leaves, np.array([t])))
            of = self.step.layouts.captured
            more = [x for x, moves in zip(leaves, moving) if moves]
            made = self._of_step(step, [(of.size, step.layouts.captured.size)], more)
            self.derived.setdefault(key, (made, push.given))
        return self.derived[key]

    def pulled(self, seen: Mask) -> tuple["Quadrature", Mask]:
        """Return the quadrature of the pullback, and which captured values have cotangents."""
        key = "pulled", seen
        if key not in self.derived:
            t, *leaves = self.template
            of = self.step.layouts
            pull = PulledIntegrand(self.step, seen)
            more = [form for form, sees in zip(of.given.forms, seen) if sees]
            samples = [
                place.read(np.ones(RowLayout(more).size)) for place in RowLayout(more).places
            ]
            pull.settle(leaves, samples, t)
            captured = RowLayout([*of.captured.forms, *more])
            xbars = [form for form, moves in zip(of.captured.forms, pull.moving) if moves]
            given = RowLayout([of.given.forms[0], *xbars])
            base = self.step.step
            step = NativeLoop(
                Step(pull, base.new_captured, base.held),
                Layouts(of.carry, captured, of.taken, given),
            )
            made = self._of_step(step, [(of.captured.size, captured.size)], samples)
            self.derived.setdefault(key, (made, pull.moving))
        return self.derived[key]


class PulledIntegrand:
    """The pullback of an integrand: the number that it gives, and cotangents of captured values."""

    def __init__(self, of: NativeLoop, seen: Mask) -> None:
        self.of, self.seen = of, seen
        self.moving: Mask = ()

    def settle(self, captured: list, bars: list, t: Any) -> None:
        """Find out what has a cotangent, from a call."""
        self.moving = active_in(self.pull(captured, bars, t)[1])

    def pull(self, captured: list, bars: list, t: Any) -> tuple[Any, list]:
        run = self.of.step.run

        def given(captured: tuple, t: Any) -> tuple:
            return tuple(run([], list(captured), [t])[1])

        y, pullback = REVERSE.rrule_via_ad(given, tuple(captured), t)
        _, xbars, _ = pullback(Tangent(tuple, *spread(bars, self.seen)))
        return y[0], parts_of_tangent(tuple(captured), xbars)

    def __call__(self, _: list, captured: list, row: list) -> tuple[list, list]:
        xs, bars = cut(captured, len(self.of.layouts.captured))
        y, xbars = self.pull(xs, bars, row[0])
        return [], [y, *only(xbars, self.moving)]


def _size_of(xs: np.ndarray) -> float:
    """Return the largest number; of zeros, and what is not finite, 1."""
    size = float(np.max(np.abs(xs), initial=0.0))
    return size if 0 < size < np.inf else 1.0


# ---- rules --------------------------------------------------------------------------------------


@frule.register(instances(Quadrature))
def quadrature_frule(
    config: RuleConfig, tangents: tuple, quadrature: Quadrature, a: Any, b: Any, *captured: Any
) -> tuple:
    refuse_strong(config)
    _, adot, bdot, *dots = map(unthunk, tangents)
    moving, count = active_in(dots), len(quadrature.step.layouts.given)
    ydots: list = [ZERO] * count
    if any(moving):
        derived, known = quadrature.pushed(moving)
        moved = moved_by(list(captured), dots, moving)
        y, error, *more = derived(a, b, *captured, *moved)
        own, found = cut(more, count - 1)
        ydots = spread(found, known)
        if is_traced(moved):  # then all that comes of them is linear in them
            y, error, *own = quadrature(a, b, *captured)
    else:
        y, error, *own = quadrature(a, b, *captured)
    for t, tdot, sign in ((a, adot, -1), (b, bdot, 1)):
        if not isinstance(tdot, AbstractZero) and not np.isinf(value(t)):
            at_end = quadrature.at(t, list(captured))
            ydots = [add(ydot, sign * x * tdot) for ydot, x in zip(ydots, at_end, strict=True)]
    return (y, error, *own), Tangent(tuple, ydots[0], NoTangent(), *ydots[1:])


@rrule.register(instances(Quadrature))
def quadrature_rrule(
    config: RuleConfig, quadrature: Quadrature, a: Any, b: Any, *captured: Any
) -> tuple[tuple, Callable]:
    refuse_strong(config)
    y = quadrature(a, b, *captured)

    def quadrature_pullback(ybar: Any) -> tuple:
        first, _, *rest = parts_of_tangent(y, ybar)
        ybars = [first, *rest]
        seen = active_in(ybars)
        if not any(seen):
            return (NoTangent(),) * (len(captured) + 3)
        bars = moved_by([y[0], *y[2:]], ybars, seen)
        xbars: list = [ZERO] * len(captured)
        if captured:
            derived, moving = quadrature.pulled(seen)
            if any(moving):
                _, _, *found = derived(a, b, *captured, *bars)
                xbars = spread(found, moving)

        def pull_end(t: Any, sign: int) -> Any:
            if np.isinf(value(t)):
                return np.multiply(0.0, bars[0]) if np.ndim(bars[0]) == 0 else ZERO
            at_end = [x for x, sees in zip(quadrature.at(t, list(captured)), seen) if sees]
            return sum(sign * np.sum(x * bar) for x, bar in zip(at_end, bars, strict=True))

        abar, bbar = thunk(lambda: pull_end(a, -1)), thunk(lambda: pull_end(b, 1))
        return NoTangent(), abar, bbar, *xbars

    return y, quadrature_pullback


# ---- lowering -----------------------------------------------------------------------------------


def real(y: Any) -> Any:
    """Return what an integrand gave as a float of NumPy's.

    Raises
    ------
    NotRecordable
        If it is no real number.
    """
    y = number(y)
    if np.ndim(y) or getattr(dtype_of(y), "kind", "") not in tuple("fiu"):
        raise NotRecordable("an integrand that gives no real number")
    return np.float64(1.0) * y


def lowered_quad(
    func: Callable, args: tuple, ends: tuple, options: dict, line: str
) -> tuple | None:
    """Return the integral and SciPy's estimate of its error, as one step of the recording; or None.

    Raises
    ------
    UnsuitedLoopError
        If the integrand does more than compute what it returns.
    """
    builder = LoopBuilder((func, args), "quad")
    recorder = recorder_of((ends, builder.captured), StepRecorder)
    known = options.keys() <= _KNOWN and innermost(tuple(options.values())) is None
    if recorder is None or not known or any(np.ndim(x) for x in ends):
        return None

    integrand = RowFunction(builder, lambda given, t: real(given[0](*t, *given[1])), "an integrand")
    captured = plain(builder.captured)
    try:
        a, b = plain(list(ends))
        t = middle(a, b, options.get("points"))
        with recorder.unwatched():
            callback = of_parts(*integrand.loop(captured, [t], RowLayout([form_of(t)])))
    except UnsuitedLoopError:
        raise
    except Exception:  # if it is the user's own, it comes again as the integrand is recorded
        return None
    quadrature = Quadrature(callback, options, line, None, [], (t, *captured))
    y, error = quadrature(*ends, *builder.captured)
    return y, error
