"""``cr.cost``: CPU time of derivatives, beside that of the value and of finite differences."""

import difflib
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..compiling import compile
from ..config import ArgumentTypeError, ArgumentValueError, CompileWarning
from ..config.thresholds import (
    FIRST_CALL,
    OF_ANY_FIRST_CALL,
    OF_FIRST_CALLS,
    OF_PRODUCTS,
    PRICED_ROUNDS,
    PRICED_TURN,
)
from ..config.tracebacks import door
from ..forward import jvp
from ..reverse import hvp
from ..rules import name_of
from .programs import Point, PricedProgram, compiled, programs
from .table import COMPILED, EAGER, Cost, Price
from .timing import Effort, interleaved, ratio, seconds_of

OPTIONS = ("argnums", "compiled", "picture", "seconds")
VALUE = ("value", EAGER)


@door
def cost(
    f: Callable,
    *args: Any,
    argnums: Any = 0,
    seconds: float = 10.0,
    compiled: bool = True,
    picture: Any = None,
    **unknown: Any,
) -> Cost:
    """Measure the price of each derivative of ``f`` at a point, in calls of ``f``.

    Measured are the value, ``jvp``, ``vjp``, ``grad``, ``jacfwd``, ``jacrev``, ``jacobian``,
    ``hvp``, ``hessian`` and finite differences with one side and with two, each as it is and
    compiled (differences: of the compiled function). The programs take turns, and each call has
    other numbers, near those that are given. A price in values is the median over rounds of
    its CPU time over that of ``f`` in the same round, so that a busy machine disturbs it little;
    in seconds it is that times the median of ``f``.

    Parameters
    ----------
    f : callable
        Returns a number, an array, or a container of these.
    *args : Any
        What ``f`` is called with.
    argnums : int, str, or tuple of these, optional
        Which arguments to differentiate, by position or by name.
    seconds : float, optional
        How much CPU time to measure, about. What does not fit is left out, and a note says so.
        A first call that has begun is not interrupted.
    compiled : bool, optional
        Whether to measure ``cr.compile`` of each, too.
    picture : str or path, optional
        A file for the picture that ``plot`` draws of the result; needs matplotlib.

    Returns
    -------
    Cost
        ``print`` it; ``rows`` are its data, ``cheapest()`` is the best way to the whole
        derivative, and ``plot()`` draws it.

    Raises
    ------
    TypeError
        If ``f`` is not called, or what it takes or gives holds no number.
    ValueError
        If ``seconds`` is not positive.

    Notes
    -----
    CPU time is that of the process, on all threads. ``f`` is called many times. The machine
    code of compiled forms may be on disk already: see ``cr.compile``.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> price = cr.cost(lambda x: np.sum(np.sin(x)), np.ones(5), seconds=0.1, compiled=False)
    >>> price.inputs, price.outputs
    (5, 1)
    >>> price["value"].values
    1.0
    >>> price["grad"].values > 0 and price.cheapest().order
    1
    """
    _check(f, args, seconds, unknown)
    point = Point(f, argnums, args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _load()
        rows = measured(point, float(seconds), compiled)
    found = Cost(point.text, point.inputs, point.outputs, rows)
    if picture is not None:
        found.plot().figure.savefig(os.fspath(picture))
    return found


def _check(f: Any, args: tuple, seconds: float, unknown: dict) -> None:
    if not callable(f):
        raise ArgumentTypeError(
            f"cost takes a function and its arguments, and {type(f).__name__} is no function.\n"
            "  write cr.cost(f, x)"
        )
    called = name_of(f)
    if unknown:
        name = next(iter(unknown))
        near = difflib.get_close_matches(name, OPTIONS, 1)
        raise ArgumentTypeError(
            f"cost has no option {name!r}"
            + (f"; did you mean {near[0]!r}?" if near else ".")
            + f"\n  for an argument of the function write cr.cost(lambda x: f(x, {name}=...), x)"
        )
    if not args:
        raise ArgumentTypeError(
            f"cost measures calls of {called}, and got no arguments.\n  write cr.cost(f, x)"
        )
    if not seconds > 0:
        raise ArgumentValueError(f"seconds={seconds!r} of cost is not positive.")


def _load() -> None:
    """Load what the first derivative of a process loads, and no later one."""
    jvp(lambda x: x * x, (1.0,), (1.0,))
    hvp(lambda x: x * x, (1.0,), (1.0,))


def measured(
    point: Point, seconds: float, with_compiled: bool, others: Sequence[PricedProgram] = ()
) -> list[Price]:
    """Return the prices: first calls one after the other, then rounds of all.

    ``others`` are programs of other libraries, which take turns with ours.
    """
    first = _FirstCalls(point, seconds)
    eager = programs(point)
    products = [program for program in eager if not program.whole]
    for program in products:  # the value among them; of these the others are expected
        first.try_eager(program)
    for program in sorted((p for p in eager if p.whole), key=first.expected):
        first.try_eager(program)
    for program in others:
        first.try_other(program)
    compiling: list[PricedProgram] = []
    if with_compiled:
        compile(lambda x: x * x)(1.0)
        compiling = compiled(point, eager)
        for program in sorted(compiling, key=first.expected):
            first.try_compiled(program)
    return first.prices([*eager, *compiling, *others])


class _FirstCalls:
    """Seconds of first and second calls, and reasons why programs have none."""

    def __init__(self, point: Point, seconds: float) -> None:
        self.point = point
        self.end = time.process_time() + OF_FIRST_CALLS * seconds
        self.seconds = seconds
        self.first: dict[tuple, float] = {}
        self.again: dict[tuple, float] = {}
        self.reasons: dict[tuple, str] = {}
        self.slowness: list[float] = []  # first calls of compiled code, in calls of the program

    def left(self) -> float:
        return self.end - time.process_time()

    def once(self, program: PricedProgram) -> float:
        return seconds_of(program.call, program.given(self.point.moved(1)))

    def expected(self, program: PricedProgram) -> float:
        """Return what a call takes at the least, as far as it is known."""
        value = self.again.get(VALUE, 0.0)
        if program.calls is not None:
            return program.calls * value
        product = self.again.get((program.needs, EAGER), value)
        return max(value, product * program.directions / OF_PRODUCTS)

    def try_eager(self, program: PricedProgram) -> None:
        if program.key == VALUE:  # its errors are the user's
            self.first[VALUE] = self.once(program)
            self.again[VALUE] = self.once(program)
        elif program.refused:
            self.reasons[program.key] = program.refused
        elif self.expected(program) > self.left():
            self.reasons[program.key] = (
                f"not within seconds={self.seconds:g}: a call takes at least "
                f"{self.expected(program):.1g} s"
                if self.left() > 0
                else f"not within seconds={self.seconds:g}"
            )
        elif self._succeeds(program, ()) and self.first[program.key] < self.left() / 20:
            self.again[program.key] = self.once(program)

    def try_other(self, program: PricedProgram) -> None:
        """Call another library's program, which may compile; ours get as much time without it."""
        begin = time.process_time()
        if self._succeeds(program, ()):
            self.again[program.key] = self.once(program)
        self.end += time.process_time() - begin

    def try_compiled(self, program: PricedProgram) -> None:
        eager = program.name, EAGER
        if eager in self.reasons:
            self.reasons[program.key] = self.reasons[eager]
            return
        once = self.again[eager] if program.exact else self.expected(program)
        slowness = statistics.median(self.slowness or [FIRST_CALL]) if program.exact else 1.0
        if once * slowness > self.left() / 2:
            self.reasons[program.key] = f"not within seconds={self.seconds:g}: compiling takes long"
            return
        if not program.exact and ("value", COMPILED) in self.reasons:
            self.reasons[program.key] = self.reasons["value", COMPILED]
        elif self._succeeds(program, (CompileWarning,)):
            if program.exact:
                more = self.first[program.key] - OF_ANY_FIRST_CALL
                self.slowness.append(max(FIRST_CALL, more / once))
                self.once(program)  # compared with the function
            self.again[program.key] = self.once(program)

    def _succeeds(self, program: PricedProgram, warned: tuple) -> bool:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            for category in warned:
                warnings.simplefilter("always", category)
            try:
                taken = self.once(program)
            except Exception as error:  # whatever the function raises of traced values
                reason = str(error).strip().partition("\n")[0]
                self.reasons[program.key] = f"{type(error).__name__}: {reason}"
                return False
        if warned and caught:
            self.reasons[program.key] = str(caught[0].message).partition("\n")[0]
            return False
        self.first[program.key] = self.again[program.key] = taken
        return True

    def prices(self, wanted: list[PricedProgram]) -> list[Price]:
        rest = max(self.left(), 0.0) + (1.0 - OF_FIRST_CALLS) * self.seconds
        share = rest / len(wanted)
        running = {p.key: p.call for p in wanted if 4 * self.again.get(p.key, share) <= share}
        running[VALUE] = self.point.f
        effort = Effort(PRICED_ROUNDS, min(PRICED_TURN, share / 4), share, fewest_rounds=3)

        by_key = {program.key: program for program in wanted}

        def moved(key: tuple[str, str], count: int) -> Any:
            return by_key[key].given(self.point.moved(count))

        times = interleaved(running, effort, time.process_time, moved)
        return [self.price(program, times) for program in wanted]

    def price(self, program: PricedProgram, times: dict) -> Price:
        key, of_value = program.key, statistics.median(times[VALUE])
        row = Price(
            program.name, program.form, program.order, program.whole, program.exact,
            note=self.reasons.get(key, ""),
        )  # fmt: skip
        if row.note:
            if program.calls is not None and not program.refused and program.form == EAGER:
                values = float(program.calls)
                return row._replace(values=values, seconds=values * of_value, note="counted")
            return row
        if reason := _left_behind(program):
            return row._replace(note=reason)
        first = self.first[key] if program.form == COMPILED and program.exact else None
        if key in times:
            values, note = ratio(times, key, VALUE), _often(program)
        else:
            values, note = self.again[key] / of_value, _often(program) or "of one call"
        return row._replace(values=values, seconds=values * of_value, first=first, note=note)


def _left_behind(program: PricedProgram) -> str:
    """Say why a compiled function is none by now."""
    kinds = program.compiled.kinds.values() if program.compiled is not None else ()
    reasons = [kind.reason for kind in kinds if kind.reason]
    return f"not compiled: {reasons[0].partition(chr(10))[0]}" if reasons else ""


def _often(program: PricedProgram) -> str:
    """Say that a compiled function was recorded again and again."""
    kinds = program.compiled.kinds.values() if program.compiled is not None else ()
    recordings = sum(kind.recordings for kind in kinds)
    return f"recorded {recordings} times" if recordings > 4 else ""
