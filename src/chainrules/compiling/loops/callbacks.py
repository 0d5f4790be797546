"""Callbacks: functions of the user's that solvers call, by their recorded ways.

A way is recorded where it is first taken, and is then machine code, or where that is not to be had
a replay. What a callback gives is a row of numbers and arrays, as a round of a loop gives; it
carries nothing. Python's own code of it runs while a way is recorded, and never else: so what it
does besides is found out, and a loop of calls is recorded call by call then.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from ...config.thresholds import LOOKS_OF_A_WAY, LOOP_WAYS
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..ir.scalars import NotLowered
from ..native.steps.stepping import driver, integrand_address
from ..passes.fused.fusion import Fused
from ..passes.replay import Replay
from ..passes.scalar.scalar_program import is_of_numbers
from ..passes.scalar.stretches import Stretches
from ..record.recorder import Recorder
from .native_loop import NativeLoop
from .ways import native_way

_SIGNATURE = "double (int, double *, void *)"
_OF_NUMBER = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_LAST_BIT = ("value", "float", "complex")  # kinds of looks


class SolverCallback:
    """The ways through a step that carries nothing; ``step`` is a loop of it.

    Invariant: a way is that of the captured state as it is, or there is none.
    """

    __slots__ = ("exact", "idle", "replays", "state", "step")

    def __init__(self, step: NativeLoop, exact: bool = False) -> None:
        self.step, self.exact = step, exact
        self.replays: list[Any] = []  # ways without machine code
        self.state = 0  # of what is captured: how often that has changed
        self.idle: list[CallbackRun] = []

    def begin(self, captured: list) -> "CallbackRun":
        """Return a run of calls with these captured values; ``end`` takes it back."""
        step = self.step
        if step.captured is not None and step.captured.changed():
            step.captured, step.bodies, self.replays, self.idle = None, [], [], []
            self.state += 1
        try:
            run = self.idle.pop()
        except IndexError:
            run = CallbackRun(self)
        run.plain = captured
        step.layouts.captured.put(run.captured, captured)
        return run

    def end(self, run: "CallbackRun") -> None:
        self.idle.append(run)

    def round_as_numpy(self) -> bool:
        """Give NumPy's numbers to the last bit from now on; say whether that is something new."""
        new, self.exact = not self.exact, True
        if new:
            self.step.bodies, self.replays, self.idle = [], [], []
        return new

    def add(self, captured: list, row: list) -> None:
        """Record the way of a call.

        Raises
        ------
        UnsuitedLoopError
            If the call does more than compute what it returns, or goes too many ways.
        """
        if len(self.step.bodies) + len(self.replays) >= LOOP_WAYS:
            raise UnsuitedLoopError("a callback with many ways through it")
        try:
            self.take(*self.step.recorded_way([], captured, row))
        except NotRecordable as error:
            raise UnsuitedLoopError(str(error)) from error

    def take(self, recorder: Recorder, output: list) -> None:
        """Take a recorded way.

        Raises
        ------
        NotRecordable
            If it looks at a number to its last bit, and so would serve no other call.
        """
        if any(look.kind in _LAST_BIT for look in recorder.looks):
            raise NotRecordable("a callback that looks at a number, to its last bit")
        if self.exact:
            self.replays.append(Replay(recorder, output, shares=False))
            return
        try:
            if not is_of_numbers(recorder):
                raise NotLowered("arrays that are better taken as a whole")
            self.step.bodies.append(native_way(recorder, output, self.step.layouts))
        except Exception:  # a step with options that its lowering does not know, too
            self.replays.append(_in_numpy(recorder, output))


def _in_numpy(recorder: Recorder, output: list) -> Any:
    for way in (Stretches, Fused) if is_of_numbers(recorder) else (Fused,):
        try:
            return way(recorder, output)
        except Exception:  # as of machine code
            continue
    return Replay(recorder, output)


class CallbackRun:
    """One solver's calls of a callback: the arrays that machine code reads and writes."""

    __slots__ = (
        "arrays", "bodies", "callback", "captured", "given", "integrands", "layouts", "plain",
        "state", "table", "taken", "truths", "ways",
    )  # fmt: skip

    def __init__(self, callback: SolverCallback) -> None:
        self.callback, self.layouts = callback, callback.step.layouts
        self.plain: list = []
        self.captured = np.zeros(max(self.layouts.captured.size, 1))
        self.taken = np.zeros((1, self.layouts.taken.size))
        self.given = np.zeros((1, self.layouts.given.size))
        self.state = np.zeros(7, np.int64)
        self.truths = np.zeros(LOOKS_OF_A_WAY, np.bool_)
        self._know_ways()

    def _know_ways(self) -> None:
        """Write the table of the bodies that there are; they live as long as it."""
        self.bodies = bodies = self.callback.step.bodies
        self.ways = len(bodies)
        self.table = np.array([body.row for body in bodies], np.int64)
        room = max((len(body.expected) for body in bodies), default=0)
        if room > len(self.truths):
            self.truths = np.zeros(room, np.bool_)
        self.arrays = self._arrays(self.taken, self.given)
        self.integrands: dict[int, tuple] = {}

    def _arrays(self, taken: np.ndarray, given: np.ndarray) -> tuple:
        nothing = self.truths  # a callback carries nothing
        return self.table, self.state, nothing, nothing, self.captured, taken, given, self.truths

    def ready(self) -> bool:
        """Say whether there is machine code, of which a run from row 0 may be begun."""
        bodies = self.callback.step.bodies
        if self.bodies is not bodies or self.ways != len(bodies):
            self._know_ways()
        state = self.state
        state[0], state[4], state[5], state[6] = 0, self.ways, 0, 0
        return self.ways > 0

    def entries(self, row: list) -> np.ndarray:
        """Return all numbers that one call gives, in an array that the next call writes into."""
        self.layouts.taken.put(self.taken[0], row)
        while True:
            if self.ready():
                self.state[1] = 1
                driver()(*self.arrays)
                if not self.state[6]:
                    return self.given[0]
            given = self.replayed(row)
            if given is not None:
                self.layouts.given.put(self.given[0], given)
                return self.given[0]
            self.callback.add(self.plain, row)

    def native_integrand(self, k: int) -> LowLevelCallable:
        """Return the function in C of one number that gives entry ``k`` of a call."""
        found = self.integrands.get(k)
        if found is None:
            data = np.array([*(x.ctypes.data for x in self.arrays), 8 * k], np.int64)
            f = _OF_NUMBER(integrand_address())
            made = LowLevelCallable(f, ctypes.c_void_p(data.ctypes.data), _SIGNATURE)
            found = self.integrands[k] = made, data
        return found[0]

    def replayed(self, row: Sequence[Any]) -> list | None:
        """Return what a way without machine code gives; None where none is that of the call."""
        for way in self.callback.replays:
            missed, given = way.run([*self.plain, *row])
            if missed is None:
                return list(given)
        return None

    def rows(self, column: np.ndarray) -> np.ndarray:
        """Return what calls with single numbers give, one row for each."""
        taken = np.reshape(column, (-1, 1))
        given = np.empty((len(taken), self.layouts.given.size))
        done = 0
        while done < len(taken):
            if self.ready():
                self.state[:4] = done, len(taken), taken.strides[0], given.strides[0]
                driver()(*self._arrays(taken, given))
                done = int(self.state[0])
                if not self.state[6]:
                    break
            given[done] = self.entries(self.layouts.taken.read(taken[done]))
            done += 1
        return given


def of_parts(
    step: NativeLoop, recorder: Recorder, output: list, exact: bool = False
) -> SolverCallback:
    """Return the callback of a step of which one way has been recorded."""
    made = SolverCallback(step, exact)
    made.take(recorder, output)
    return made
