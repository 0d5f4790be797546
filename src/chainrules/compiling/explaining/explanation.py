"""Public function ``cr.explain``: of a compiled function, of a call, or of a pullback."""

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from ...config.tracebacks import door
from ...reverse.held import held_by
from ...reverse.vjp import PullbackAt
from ...rules import name_of
from ...rules.refusals.table import refusal
from ...rules.tracing.stop import value
from ..compiled import Compiled
from .explained_call import of_call
from .guards import seen_by
from .report import RECORDINGS_SHOWN, Explanation
from .times import times_of


@door
def explain(
    f: Callable, *args: Any, stop: str | None = None, stage: str | None = None, **kwargs: Any
) -> Explanation:
    """Explain what ``cr.compile`` made of a function, or what a call of a function does.

    Parameters
    ----------
    f : callable
        A compiled function, without arguments: its recordings, the looks on which they depend,
        with what each saw, and whether they run as machine code, or why not. A pullback of
        ``cr.vjp``, without arguments: what it holds in memory, by your line; its function runs once
        more to know the lines. Or any function of NumPy code, to be called with the arguments: its
        steps, the time of each line forward and back, and what makes a constant of the result.
    *args, **kwargs
        What ``f`` is called with: each operation on their numbers is a step.
    stop : {"nan", "inf"}, optional
        Stop at the first step that gives a NaN, or a NaN or an infinity, of what had none.
    stage : {"recorded", ..., "llvm", "all", "times"}, optional
        Print the program as the compiler has it at this stage, with your line on each operation:
        "recorded", "factored", "grouped", "scheduled", "scalarized", "source", "llvm", or all.
        The function runs once more. Without arguments it runs with those of each recording, if
        their arrays were small. docs/compiling.md has the grammar. ``stage="times"`` measures
        instead, in one run that takes little longer than one without: the time of each line,
        forward and back.

    Returns
    -------
    Explanation
        ``print`` it: 40 lines, of which ``text`` has all; ``show()`` prints tables, where rich is
        installed. A notebook shows it as tables and a graph to be folded, with dear lines marked.
        ``steps``, ``spent()``, ``first_bad`` and ``held`` are its data, and ``dot()`` is its graph,
        in the language of Graphviz.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrules as cr
    >>> found = cr.explain(lambda x: np.sum(np.log(x) ** 2), np.array([1.0, -1.0]), stop="nan")
    >>> found.first_bad.name
    'log'

    >>> y, pullback = cr.vjp(lambda x: np.sum(np.exp(x)), np.ones(1000))
    >>> print(cr.explain(pullback))  # doctest: +ELLIPSIS
    <pullback of <lambda>: float64 -> (float64[1000])> holds ...

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
    if stage == "times":
        return times_of(f.f if isinstance(f, Compiled) else f, value(args), value(kwargs))
    if stage is not None:
        return Explanation(_of_stage(f, value(args), value(kwargs), stage), most=None)
    if isinstance(f, Compiled):
        if args or kwargs:
            f = f.f
        else:
            return Explanation(_of_compiled(f))
    if isinstance(f, PullbackAt) and not args and not kwargs:
        return _of_pullback(f)
    if stop not in (None, "nan", "inf"):
        known = "None, 'nan', 'inf'"
        raise refusal("value of an option", name="stop", x=repr(stop), known=known)
    return of_call(f, value(args), value(kwargs), stop)


# ---- a compiled function ------------------------------------------------------------------------


def _of_compiled(compiled: Compiled) -> str:
    lines = [f"<compiled {name_of(compiled.f)}>: {len(compiled.kinds)} kinds of arguments"]
    for key, kind in compiled.kinds.items():
        lines.append(f"arguments {_arguments(key)}")
        if kind.reason:
            lines.append(f"  not compiled: {kind.reason}")
        recordings = list(kind.all_recordings())
        for recording in recordings[:RECORDINGS_SHOWN]:
            lines.append(f"  recording: replayed {recording.replayed} times")
            lines += [f"    {line}" for line in recording.how]
            guards = collections.Counter((x.line, seen_by(x)) for x in recording.looks)
            for (line, text), n in guards.items():
                lines.append(f"    guard in {line}: {text}{f', {n} times' if n > 1 else ''}")
            others = [recording.looks[at]._replace(seen=seen) for at, seen in recording.others]
            for line, text in dict.fromkeys((x.line, seen_by(x)) for x in others):
                lines.append(f"    another recording where {line} sees: {text}")
        if len(recordings) > RECORDINGS_SHOWN:
            lines.append(f"  and {len(recordings) - RECORDINGS_SHOWN} more recordings")
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


# ---- a pullback ---------------------------------------------------------------------------------


def _of_pullback(pullback: PullbackAt) -> Explanation:
    held = held_by(pullback)
    total = sum(x.bytes for x in held)
    lines = [f"{pullback!r} holds {_size(total)}"]
    for x in held:
        share = f"{100 * x.bytes / total:3.0f} %"
        lines.append(
            f"  {x.line:28} {x.name:20} {_size(x.bytes):>10} {share}  {x.operations} of them"
        )
    return Explanation("\n".join(lines), held=held)


def _size(count: int) -> str:
    """Return a number of bytes in the unit that fits."""
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, _ = size / 1000, units.pop(0)
    return f"{size:.3g} {units[0]}"
