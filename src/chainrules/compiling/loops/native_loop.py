"""Native loop: a step, carried on natively through any number of rounds, as one primitive.

``loop(count, *carry, *captured, *columns)`` returns the number of rounds, the last carry, and the
stacks of what each round gave. Where no native way fits a round, that round is run in Python.
"""

import itertools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ...config.thresholds import (
    ITEM_OPERATIONS,
    LOOP_REFUSALS,
    LOOP_WAYS,
)
from ...rules import ZERO
from ...rules.containers import LEAVES
from ...rules.rulesets.functions.foreign import Foreign
from ..ir.looks import NotRecordable, UnsuitedLoopError
from ..ir.scalars import NotLowered
from ..native.steps.branching import BranchingLoop
from ..native.steps.way_tree import NestedLoop, WayTree
from ..record.recorder import Recorder
from ..record.recording import ItemRecorder, StepRecorder, foreign_in
from ..record.state.captured_state import Captured
from ..record.state.walk import parts_of
from .loop_run import LoopRun, capacity, dense
from .reachable import are_same
from .ways import Layouts, native_way, recorded


class Step:
    """A step of a loop, and what it is made of.

    ``run(carry, captured, row)`` takes lists of plain, recorded or traced leaves, and returns two:
    the next carry, and a row of what the round gives. ``goes_on(carry, captured)`` is the condition
    of a ``while`` loop. ``new_captured`` returns the captured state, in which the functions are
    entered that hold traced values, and ``held`` what they hold besides.
    """

    __slots__ = ("goes_on", "held", "new_captured", "run")

    def __init__(
        self,
        run: Callable,
        new_captured: Callable[[], Captured],
        held: Callable[[], dict],
        goes_on: Callable | None = None,
    ) -> None:
        self.run, self.new_captured, self.held = run, new_captured, held
        self.goes_on = goes_on


class Items:
    """Options of a loop over the items of a batch, whose ways are one native function.

    At most ``ways`` are native; ``tell`` is told, with a reason and a line, where items run in
    Python. ``run`` is the class of its runs, and ``compiled`` compiles an item of another form.
    """

    __slots__ = ("compiled", "run", "tell", "threads", "ways")

    def __init__(
        self, ways: int, tell: Callable[[str, str], None], run: Any, compiled: Callable
    ) -> None:
        self.ways, self.tell, self.run, self.compiled = ways, tell, run, compiled
        self.threads = 1


class ItemCode(NamedTuple):
    """A native function for the ways ``first`` to ``end`` through an item."""

    first: int
    end: int
    code: BranchingLoop


class OwnStep(Foreign):
    """One step of a recording that looks after its own ways; rules of this room derive it."""

    __slots__ = ()
    __primitive__: type

    def __init_subclass__(cls) -> None:
        cls.__primitive__ = cls  # its calls ask the level, and so the rules for its instances
        LEAVES.add(cls)
        parts_of[cls] = lambda step: ()

    def __init__(self, name: str) -> None:
        super().__init__(name, self._run, self._none, self._none)

    def _run(self, *args: Any) -> tuple:
        raise NotImplementedError

    def _none(self, *args: Any) -> Any:
        raise AssertionError("the rules of this room answer")


class NativeLoop(OwnStep):
    """A loop of one step.

    ``backwards`` begins at the last row. ``zeros`` is not None where tangents are carried, and says
    which parts of the carry are zero tangents at first: with zeros in their place a slope that is
    infinite gives NaN, and such a loop is run again in Python, with structural zeros. ``items`` are
    the options of a loop over the items of a batch. Of such a one, and of one ``in_item``, all that
    is in floating point has a derivative, on whatever way: it ``is_wide``. What is derived from a
    loop is ``like`` that.
    """

    __slots__ = (
        "backwards",
        "bodies",
        "captured",
        "codes",
        "derived",
        "is_wide",
        "items",
        "layouts",
        "new_recorder",
        "of_solver",
        "refused",
        "replayed",
        "step",
        "tree",
        "zeros",
    )

    def __init__(
        self,
        step: Step,
        layouts: Layouts,
        backwards: bool = False,
        zeros: frozenset[int] | None = None,
        like: "NativeLoop | None" = None,
        items: Items | None = None,
        in_item: bool = False,
    ) -> None:
        super().__init__("loop")
        self.step, self.layouts = step, layouts
        self.items: Items | None = items if like is None else like.items
        self.of_solver: bool = like is not None and like.of_solver
        self.is_wide: bool = items is not None or in_item if like is None else like.is_wide
        self.new_recorder: type[Recorder] = StepRecorder if self.items is None else ItemRecorder
        self.tree = WayTree()
        self.replayed: Callable | None = None  # an item that is not native
        self.codes: list[ItemCode] = []  # of items, for one way after another
        self.backwards: bool = backwards
        self.zeros = zeros
        self.derived: dict[Hashable, Any] = {}  # loops
        self.captured: Captured | None = None
        self.bodies: list[Any] = []
        self.refused = 0  # ways

    @property
    def is_native(self) -> bool:  # type: ignore[override]
        """Say whether it has machine code of its own, as all but items of other forms have."""
        return self.items is None or self.refused <= LOOP_REFUSALS

    @property
    def gives_one_shape(self) -> bool:
        """Say whether it gives no rows of which there are as many as rounds, but for items."""
        return self.items is not None or not self.layouts.given.places

    @property
    def nested(self) -> NestedLoop | None:
        """Return the loop as a part of another's step; None of a ``while`` loop with rows."""
        of, endless = self.layouts, self.step.goes_on is not None
        if endless and of.given.places:
            return None
        sizes = of.carry.size, of.taken.size, of.given.size
        rounds = None if endless else 0
        finite = self.zeros is not None
        return NestedLoop(self, self.all_ways, *sizes, finite, self.backwards, rounds)

    def all_ways(self) -> WayTree:
        """Return the tree of the ways through a step that are known so far."""
        if self.tree.ways > len(self.bodies):
            self.tree = WayTree()
        return self.tree.grow([body.way for body in self.bodies])

    def replayed_item(self) -> Callable:
        """Return the step of items as a compiled function, for those that are not native."""
        if self.replayed is None:
            assert self.items is not None
            c, k = len(self.layouts.carry), len(self.layouts.captured)

            def flat(*values: Any) -> tuple:
                xs = list(values)
                after, given = self.step.run(xs[:c], xs[c : c + k], xs[c + k :])
                return *dense(self.layouts.carry, after), *dense(self.layouts.given, given)

            self.replayed = self.items.compiled(
                flat, "freeze", self.items.ways, "error", False, 1, False
            )
        return self.replayed

    def branched(self, as_one: bool = False) -> list[ItemCode]:
        """Return native functions that have all ways together; one, if asked for.

        New ways are put together as digits of a binary number are, since it takes the longer to
        make a function the more ways it has.
        """
        ways, codes = len(self.bodies), self.codes
        marks = [0, *[code.end for code in codes]]
        if as_one or not codes:
            marks = [0, ways] if ways else [0]
        for end in range(marks[-1] + 1, ways + 1):
            marks.append(end)
            while len(marks) > 2 and marks[-1] - marks[-2] >= marks[-2] - marks[-3]:
                del marks[-2]
        known = {(code.first, code.end): code for code in codes}
        self.codes = [
            known.get(ends) or ItemCode(*ends, self._code(*ends))
            for ends in itertools.pairwise(marks)
        ]
        return self.codes

    def _code(self, first: int, end: int) -> BranchingLoop:
        tree = WayTree().grow([body.way for body in self.bodies[first:end]])
        return BranchingLoop(tree, self.layouts.carry.size)

    def has_changed(self) -> bool:
        """Say whether anything is another that the loop, or one within it, captures."""
        nested = [x.of for code in self.codes for x in code.code.nested]
        return any(x.captured is not None and x.captured.changed() for x in (self, *nested))

    def about(self) -> str:
        if self.items is None:
            return ""
        if not self.is_native:
            return "items one after another, each a replay of a compiled item"
        return f"a native loop over items, by {len(self.bodies)} ways through an item"

    def on_threads(self, threads: int) -> None:
        if self.items is not None:
            self.items.threads = threads

    def split(self, leaves: tuple) -> tuple[list, list, list]:
        """Return the carry, what is captured, and the columns."""
        layouts, xs = self.layouts, list(leaves)
        c, k = len(layouts.carry), len(layouts.captured)
        return xs[:c], xs[c : c + k], xs[c + k :]

    # ---- ways through a step --------------------------------------------------------------------

    def recorded_way(self, carry: list, captured: list, row: list) -> tuple[Recorder, list]:
        """Record the step at these values; return the recording, and its results.

        Raises
        ------
        NotRecordable
        """
        c, k = len(carry), len(captured)

        def flat(*values: Any) -> list:
            xs = list(values)
            if not self.goes_on(xs[:c], xs[c : c + k]):
                raise NotRecordable("a round that is not done")
            after, given = self.step.run(xs[:c], xs[c : c + k], xs[c + k :])
            return [*dense(self.layouts.carry, after), *dense(self.layouts.given, given)]

        return self._recorded(flat, [*carry, *captured, *row])

    def add_way(self, carry: list, captured: list, row: list) -> None:
        """Record the step at these values, as one more way.

        Raises
        ------
        NotRecordable, NotLowered
        """
        while True:
            recorder, output = self.recorded_way(carry, captured, row)
            try:
                body = native_way(recorder, output, self.layouts)
                if self.items is not None and len(body.way.ops) > ITEM_OPERATIONS:
                    raise NotLowered("an item of many operations")
                self.bodies.append(body)
            except NotLowered:
                if not self._unrolls_from_now(recorder):
                    raise
            else:
                return

    def _unrolls_from_now(self, recorder: Recorder) -> bool:
        """Record the rounds of loops within a step one by one from now on; say if that is new.

        Those of solvers are too many.
        """
        of_solver = any(f.of_solver for f in foreign_in(recorder))
        if self.new_recorder is not ItemRecorder or of_solver:
            return False
        self.new_recorder = StepRecorder
        return True

    def add_end(self, carry: list, captured: list) -> None:
        """Record the condition at these values, of which it is not true.

        Raises
        ------
        NotRecordable, NotLowered
        """
        c = len(carry)

        def flat(*values: Any) -> list:
            xs = list(values)
            if self.goes_on(xs[:c], xs[c : c + len(captured)]):
                raise NotRecordable("a round that is done")
            return []

        row = [place.read(np.zeros(self.layouts.taken.size)) for place in self.layouts.taken.places]
        recorder, output = self._recorded(flat, [*carry, *captured, *row])
        self.bodies.append(native_way(recorder, output, self.layouts, stops=True))

    def goes_on(self, carry: list, captured: list) -> bool:
        """Say whether the condition of a ``while`` loop holds."""
        return self.step.goes_on is None or self.step.goes_on(carry, captured)

    def _recorded(self, flat: Callable, values: list) -> tuple[Recorder, list]:
        most = LOOP_WAYS if self.items is None else self.items.ways
        if len(self.bodies) >= most:
            raise NotLowered(f"a step with more than {most} ways through it")
        state = self.captured or self.step.new_captured()
        before = self.step.held()
        try:
            found = recorded(flat, values, state, self.new_recorder)
        finally:
            if not are_same(before, self.step.held()):
                raise UnsuitedLoopError("a step that writes into what it captures")
        self.captured = state
        return found

    def try_to(self, add: Callable, *values: list, patient: bool = False) -> None:
        """Add a way, or an end, at these values; without a native form it is run in Python.

        Who is ``patient`` counts by himself how often that happens.

        Raises
        ------
        UnsuitedLoopError
            If the step does more than compute what it returns, or has had no native form often.
        """
        try:
            add(*values)
        except UnsuitedLoopError:
            raise
        except NotRecordable as error:
            raise UnsuitedLoopError(str(error)) from error
        except Exception as error:  # if it is the user's own, it comes again in the round itself
            self.refused += 1
            if self.refused > LOOP_REFUSALS and not patient:
                raise UnsuitedLoopError(str(error)) from error

    # ---- running --------------------------------------------------------------------------------

    def _run(self, count: Any, *leaves: Any) -> tuple:
        carry, captured, columns = self.split(leaves)
        if self.has_changed():
            self.captured, self.bodies, self.codes, self.tree = None, [], [], WayTree()
            self.replayed = None
        new = LoopRun if self.items is None else self.items.run
        run = new(self, count, carry, captured, columns)
        while run.native() and run.round_in_python():
            pass
        if self.zeros is not None and not run.is_finite():
            exact = [ZERO if i in self.zeros else x for i, x in enumerate(carry)]
            return self._in_python(count, exact, captured, columns)
        return run.results()

    def _in_python(self, count: Any, carry: list, captured: list, columns: list) -> tuple:
        """Run all rounds in Python, with structural zeros where tangents are."""
        layouts = self.layouts
        given: list[list] = []
        goes_on = self.step.goes_on
        while goes_on(carry, captured) if goes_on is not None else len(given) < int(count):
            t = int(count) - 1 - len(given) if self.backwards else len(given)
            carry, y = self.step.run(carry, captured, [column[t] for column in columns])
            given.append(y)
        most = capacity(len(given)) if goes_on else max([len(given), *map(len, columns[:1])])
        rows = np.zeros((most, layouts.given.size))
        for t, y in enumerate(given[::-1] if self.backwards else given):
            layouts.given.write(rows[t], dense(layouts.given, y))
        last = dense(layouts.carry, carry)
        return np.int64(len(given)), *last, *[p.column(rows) for p in layouts.given.places]
