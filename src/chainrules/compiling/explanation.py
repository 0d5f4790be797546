"""Explanations: ``cr.explain`` lists the steps of a compiled function, or those of one call."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..batching.ways import told_of_batches
from ..config import user_line
from ..config.tracebacks import door
from ..rules import name_of, rrule
from ..rules.containers import iterate_leaves
from ..rules.engines.engine import run
from ..rules.linear.steps import Slot
from ..rules.tracing.stop import value
from ..rules.tracing.watching import Stops, at_index, pulled, pulling_through, watching
from .compiled import Compiled
from .ir.forms import ValueForm
from .ir.looks import NotRecordable
from .ir.printing import shown
from .record.cache_key import with_inputs
from .record.constants import Constants
from .record.recorder import Recorder

LINES_SHOWN = 40  # lines that a text shows of a list


class ExplainedStep(NamedTuple):
    """One call: its name, the form of its result, the user's line, and the time until it ended.

    ``cuts`` says that what it reads moves with the inputs, and that its result is constant. Of a
    step of a pullback the line is that of the call which is pulled back, and ``pulled`` its name.
    """

    name: str
    form: ValueForm | None
    line: str
    seconds: float
    reads: tuple[int, ...]
    finite: bool
    cuts: bool = False
    pulled: str = ""

    def __str__(self) -> str:
        of = f"  in the pullback of {self.pulled}" if self.pulled else ""
        mark = "" if self.finite else "  not finite"
        return f"{self.line:28} {self.name:20} {shown(self.form):18}{of}{mark}".rstrip()


class Explanation:
    """Result of ``explain``, as text (``print`` it), as data, and as a graph.

    ``steps`` are the calls of an uncompiled function, in order; ``first_bad`` is the first one
    whose result has a NaN or an infinity that none of what it read had, or None.
    """

    def __init__(
        self, text: str, steps: list[ExplainedStep], first_bad: ExplainedStep | None = None
    ) -> None:
        self.text = text
        self.steps = steps
        self.first_bad = first_bad

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def dot(self) -> str:
        """Return the steps as a graph in the language of Graphviz."""
        lines = ["digraph {", "node [shape=box, fontname=monospace];"]
        for k, step in enumerate(self.steps):
            label = f"{step.name}\\n{shown(step.form)}\\n{step.line}"
            color = "" if step.finite else ", color=red"
            lines.append(f's{k} [label="{label}"{color}];')
            lines += [f"s{read} -> s{k};" for read in step.reads]
        return "\n".join([*lines, "}"])

    def graph(self) -> Any:
        """Return the steps as a ``graphviz.Source``, which a notebook draws."""
        import graphviz  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return graphviz.Source(self.dot())


@door
def explain(
    f: Callable, *args: Any, stop: str | None = None, stage: str | None = None, **kwargs: Any
) -> Explanation:
    """Tell what ``cr.compile`` made of a function; or, of a function that is called, what it does.

    Parameters
    ----------
    f : callable
        A compiled function, without arguments: its recordings, the looks on which they depend,
        with what each saw, and whether they run as machine code, or why not. Or any function of
        NumPy code, to be called with the arguments.
    *args, **kwargs
        What ``f`` is called with: each operation on their numbers is a step.
    stop : {"nan", "inf"}, optional
        Stop at the first step that gives a NaN, or a NaN or an infinity, of what had none.
    stage : {"recorded", "factored", "grouped", "scheduled", "scalarized", "source", "llvm", "all"}
        Print the program as the compiler has it at this stage, with your line on each operation.
        The function runs once more. Without arguments it runs with those of each recording, if
        their arrays were small. docs/compiling.md has the grammar.

    Returns
    -------
    Explanation
        ``print`` it; ``steps`` and ``first_bad`` are its data.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> found = cr.explain(lambda x: np.sum(np.log(x) ** 2), np.array([1.0, -1.0]), stop="nan")
    >>> found.first_bad.name
    'log'

    >>> slope = cr.compile(cr.grad(lambda x: x * x))
    >>> slope(3.0)
    6.0
    >>> print(cr.explain(slope, stage="recorded"))  # doctest: +ELLIPSIS
    arguments float
    recorded:
      v0 = input                               : float
      v2 = mul(1.0, v0)                        : float             # ...
      v3 = add(v2, v2)                         : float             # ...
      return v3
    """
    if stage is not None:
        return Explanation(_of_stage(f, value(args), value(kwargs), stage), [])
    if isinstance(f, Compiled):
        if args or kwargs:
            f = f.f
        else:
            return Explanation(_of_compiled(f), [])
    if stop not in (None, "nan", "inf"):
        raise ValueError(f"stop={stop!r} is none of None, 'nan', 'inf'")
    return _of_call(f, value(args), value(kwargs), stop)


# ---- a compiled function ------------------------------------------------------------------------


def _of_compiled(compiled: Compiled) -> str:
    lines = [f"{compiled!r}: {len(compiled.kinds)} kinds of arguments"]
    for key, kind in compiled.kinds.items():
        lines.append(f"arguments {_arguments(key)}")
        if kind.reason:
            lines.append(f"  not compiled: {kind.reason}")
        ways = [(kind.root, "")]
        while ways:
            recording, where = ways.pop(0)
            if recording is None:
                continue
            lines.append(f"  recording{where}: replayed {recording.replayed} times")
            lines += [f"    {line}" for line in recording.how]
            looks = [str(look) for look in recording.looks]
            lines += [f"    looked at in {look}" for look in looks[:LINES_SHOWN]]
            if len(looks) > LINES_SHOWN:
                lines.append(f"    and {len(looks) - LINES_SHOWN} more")
            for (at, seen), other in recording.others.items():
                line = recording.looks[at].line
                lines.append(f"    {line}: {_seen(seen)} leads to another recording")
                ways.append((other, f" where {line} sees {_seen(seen)}"))
    return "\n".join(lines)


def _of_stage(f: Callable, args: tuple, kwargs: dict, stage: str) -> str:
    """Return the program of a call, or of the calls that were recorded, at ``stage``."""
    from .stages import of_arguments  # with all passes, which a first call may do without

    if not isinstance(f, Compiled):
        return of_arguments(f, args, kwargs, stage)
    if args or kwargs or not f.kinds:
        return of_arguments(f.f, args, kwargs, stage, f.frozen, f.threads)
    texts = []
    for key, kind in f.kinds.items():
        given = f"arguments {_arguments(key)}"
        if kind.root is None:
            texts.append(f"{given}\nnot compiled: {kind.reason}")
        for recording in kind.all_recordings():
            if recording.example is None:
                text = "large arrays are not kept: write cr.explain(c, x, stage=...)"
            else:
                text = of_arguments(f.f, *recording.example, stage, f.frozen, f.threads)
            texts.append(f"{given}\n{text}")
    return "\n\n".join(texts)


def _seen(seen: Any) -> str:
    return repr(seen[-1]) if isinstance(seen, tuple) and len(seen) == 2 else "something else"


def _arguments(key: Any) -> str:
    shown = []
    for part in key:
        if isinstance(part, type):
            shown.append(part.__name__)
        elif isinstance(part, tuple) and part and isinstance(part[0], np.dtype):
            shown.append(f"{part[0]}{list(part[1])}")
        elif isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], type):
            shown.append(repr(part[1]) if part[0] in (int, str, bool) else part[0].__name__)
        else:
            shown.append(str(part))
    return ", ".join(shown) or "none"


# ---- a call -------------------------------------------------------------------------------------


class _Stop(Exception):  # noqa: N818 - it ends a call that is looked at
    ends_run = True


class _Watched(Recorder):
    """A recorder that notes of each step where it was, how long it took, and what it gave."""

    __slots__ = ("bad", "infinite", "last", "moving", "noted", "place", "stop")

    def __init__(self, stop: str | None) -> None:
        super().__init__(Constants(False))
        self.noted: list[ExplainedStep] = []
        self.moving: set[int] = set()  # the steps whose results have a derivative in the inputs
        self.stop = stop
        self.bad: ExplainedStep | None = None
        self.place = ""  # in its result
        self.infinite: ExplainedStep | None = None  # the first one with an infinity
        self.last = time.perf_counter()

    def append(self, step: tuple | None, y: Any) -> None:
        super().append(step, y)
        now = time.perf_counter()
        f, args, kwargs = step if step is not None else ("input", (), {})
        reads = tuple(x.position for x in iterate_leaves((args, kwargs)) if type(x) is Slot)
        name = f if isinstance(f, str) else name_of(f).rpartition(".")[2]
        finite = _is_finite(y, self.stop)
        cuts = False
        if step is None or not self.moving.isdisjoint(reads):
            cuts = step is not None and _is_constant(f, y)
            if not cuts:
                self.moving.add(len(self.noted))
        through = pulled()
        line, of = (user_line(), "") if through is None else (through.line, through.name)
        made = ExplainedStep(name, self.forms[-1], line, now - self.last, reads, finite, cuts, of)
        self.noted.append(made)
        if self.stop == "nan" and self.infinite is None and not _is_finite(y, "inf"):
            self.infinite = made
        if not finite and self.bad is None and all(self.noted[k].finite for k in reads):
            self.bad, self.place = made, _place_of_bad(y, self.stop)
            if self.stop is not None:
                raise _Stop
        self.last = time.perf_counter()


def _is_constant(f: Any, y: Any) -> bool:
    """Say whether ``y = f(...)`` has no derivative: its dtype tells, or the rule of ``f``."""
    leaves = [np.asarray(leaf).dtype.kind for leaf in iterate_leaves(y)]
    if not any(kind in "fcO" for kind in leaves):
        return True
    kind = rrule.kind_of(f) if callable(f) else None
    rows = () if kind is None else kind.rows
    still = [constant == 0 for row in rows for constant in row.constants]
    return kind is not None and (kind.constant or (bool(still) and all(still)))


def _place_of_bad(y: Any, stop: str | None) -> str:
    """Return the words for the index of the first number that is not finite."""
    bad = np.isnan(y) if stop == "nan" else ~np.isfinite(y)
    return at_index(tuple(map(int, np.argwhere(bad)[0])))


def _is_finite(y: Any, stop: str | None) -> bool:
    if not isinstance(y, np.ndarray | np.inexact | float | complex):
        return True
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        return True
    return not np.isnan(y).any() if stop == "nan" else bool(np.isfinite(y).all())


def _of_call(f: Callable, args: tuple, kwargs: dict, stop: str | None) -> Explanation:
    recorder, ended = _Watched(stop), ""
    given, options = (with_inputs(x, recorder.input) for x in (args, kwargs))
    try:
        with (
            np.errstate(all="ignore"),
            told_of_batches() as batches,
            watching(Stops()),
            pulling_through(None),
        ):
            run(f, given, options)
    except _Stop:
        pass
    except NotRecordable as error:
        ended = f"the steps end here: {error} cannot be followed"
    steps = recorder.noted
    lines = [f"{name_of(f)}: {len(steps)} steps", *batches[:LINES_SHOWN]]
    if not steps:
        ended = ended or "no argument is a number or an array of NumPy: there is nothing to follow"
    if ended:
        lines.append(ended)
    if recorder.bad is not None:
        lines.append(f"the first one that is not finite: {recorder.bad}{recorder.place}")
        if stop == "nan" and recorder.infinite not in (None, recorder.bad):
            lines.append(f"an infinity came before it: {recorder.infinite}")
    cuts = list(dict.fromkeys(f"{step.name} in {step.line}" for step in steps if step.cuts))
    if cuts:
        more = f" and {len(cuts) - LINES_SHOWN} more" * (len(cuts) > LINES_SHOWN)
        lines.append(
            f"constant, so that no derivative passes: {', '.join(cuts[:LINES_SHOWN])}{more}"
        )
    lines += ["where the time went:", *_times(steps), "steps:"]
    lines += [str(step) for step in steps[:LINES_SHOWN]]
    if len(steps) > LINES_SHOWN:
        lines.append(f"and {len(steps) - LINES_SHOWN} more")
    return Explanation("\n".join(lines), steps, recorder.bad)


def _times(steps: list[ExplainedStep]) -> list[str]:
    """Return the lines of the user's in which most of the time was spent."""
    spent: dict[tuple[str, str], list[float]] = {}
    for step in steps:
        spent.setdefault((step.line, step.name), []).append(step.seconds)
    most = sorted(spent.items(), key=lambda item: -sum(item[1]))[:10]
    return [
        f"  {line:28} {name:20} {len(seconds):6} times {1e3 * sum(seconds):9.3f} ms"
        for (line, name), seconds in most
    ]
