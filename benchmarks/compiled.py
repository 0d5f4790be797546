"""Measure ``cr.compile`` beside JAX's jit and its own loops: ``python benchmarks/compiled.py``.

CPU time of one thread, rounds in which all programs take turns; see README.md beside this file.
"""

import argparse
import datetime
import gc
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from run import machine
from table import BY_HAND, JAX_JIT, OURS
from threads import set_threads

EAGER, COMPILED, OWN_LOOP = "eager", "compiled", "JAX loop"
OTHERS = (JAX_JIT, OWN_LOOP, BY_HAND)
COLUMNS = (EAGER, COMPILED, *OTHERS)
COLD = """
import time, numpy, chainrules as cr
begin = time.process_time()
cr.compile(cr.value_and_grad(lambda x: x * x))(0.7)
print(time.process_time() - begin)
"""


@dataclass
class Row:
    """Figures of one program: microseconds, ratios of compiled code, and seconds of first calls."""

    name: str
    how: str = ""
    us: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    targets: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def missed(self) -> list[str]:
        found = [
            f"{target:.3g} of {name}"
            for name, target in self.targets.items()
            if self.ratios.get(name, 0.0) > target
        ]
        if self.first.get(COMPILED, 0.0) > self.first.get(JAX_JIT, float("inf")):
            found.append("first call")
        return found

    def cells(self) -> list[str]:
        ratios = []
        for name in OTHERS:
            target = f" ({self.targets[name]:.3g})" if name in self.targets else ""
            ratios.append(_figure(self.ratios.get(name)) + target)
        first = [_figure(self.first.get(name)) for name in (EAGER, COMPILED, JAX_JIT, OWN_LOOP)]
        us = [_figure(self.us.get(name)) for name in COLUMNS]
        return [*us, *ratios, *first, ", ".join([*self.missed(), *self.notes])]

    def __str__(self) -> str:
        *cells, notes = self.cells()
        return f"{self.name:38} " + " ".join(f"{cell:>12}" for cell in cells) + f"  {notes}"

    def markdown(self) -> str:
        return "| " + " | ".join([self.name, *self.cells()]) + " |"


HEADING = (
    "program", *COLUMNS, *(f"/ {name}" for name in OTHERS), "first: eager", *COLUMNS[1:4], "missed"
)  # fmt: skip


def _figure(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough figures")
    parser.add_argument("--only", metavar="NAME", default="", help="programs that contain NAME")
    parser.add_argument("--slow", action="store_true", help="also jit that takes minutes")
    parser.add_argument("--ours", action="store_true", help="without JAX and by hand")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE too")
    parser.add_argument("--markdown", metavar="FILE", help="write the table to FILE too")
    options = parser.parse_args()
    set_threads(1)
    os.environ["CHAINRULES_CACHE"] = "off"  # first calls compile
    # On one core JAX's pool has one thread too: waking others would be counted as its work.
    os.environ["XLA_FLAGS"] += " intra_op_parallelism_threads=1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return run(options)


def run(options: argparse.Namespace) -> int:
    """Measure the programs, and print and write the table."""
    import timing
    from compiled_cases import cases

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    day = datetime.date.today().isoformat()
    title = f"{machine('1')}, llvmlite {_llvmlite()}, load {load:.1f}, {day}"
    if not options.only:
        title += f"; first use of cr.compile in a process: {cold():.0f} ms"
    print(f"{title}\nmicroseconds, ratios of compiled, seconds of first calls", flush=True)
    print(f"{HEADING[0]:38} " + " ".join(f"{name:>12}" for name in HEADING[1:]), flush=True)
    warm_up()
    gc.collect()
    gc.freeze()
    rows = []
    for case in cases():
        if options.only.lower() in case.name.lower():
            effort = timing.QUICK if options.quick else timing.FULL
            rows.append(measure(case, effort, options.slow, options.ours))
            print(rows[-1], flush=True)
            if options.json:
                figures = {"machine": title, "rows": [asdict(row) for row in rows]}
                Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if options.markdown:
        lines = [f"{title}\n", f"| {' | '.join(HEADING)} |", "|" + "---|" * len(HEADING)]
        text = "\n".join([*lines, *(row.markdown() for row in rows), ""])
        Path(options.markdown).write_text(text, encoding="utf-8")
    missed = [row.name for row in rows if row.missed()]
    print(f"\ntargets missed by {len(missed)} of {len(rows)}: {', '.join(missed) or 'none'}")
    return 1 if any("differs" in note for row in rows for note in row.notes) else 0


def measure(case: Any, effort: Any, slow: bool, ours_only: bool) -> Row:
    """Compare the results of all programs of one case, and time them."""
    import timing
    from peers import peers
    from workload import _close, _numbers

    import chainrules as cr

    row = Row(case.name, targets=case.targets)
    ours, jax = peers()[OURS], peers().get(JAX_JIT)
    f = case.derived(ours)
    compiled = cr.compile(f)
    programs: dict[str, Callable] = {
        EAGER: lambda: f(*case.args),
        COMPILED: lambda: compiled(*case.args),
    }
    if not ours_only and jax is not None:
        if not case.refused and (slow or not case.slow):
            programs[JAX_JIT] = jax.run(case.derived(jax), case.args)
        if case.own_loop is not None:
            programs[OWN_LOOP] = jax.run(case.own_loop(jax), case.args)
    if not ours_only and case.by_hand is not None:
        programs[BY_HAND] = lambda: case.by_hand(*case.args)
    expected: list = []
    for name in list(programs):
        begin = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = _numbers(programs[name]())
                row.first[name] = time.process_time() - begin
                if name == COMPILED:
                    result = _numbers((programs[name](), programs[name]())[1])
            except Exception as error:
                row.notes.append(f"{name} fails: {error!r:.100}")
                del programs[name]
                continue
        row.notes += [str(warning.message) for warning in caught if name == COMPILED]
        expected = expected or result
        if not _close(expected, result, case.rtol):
            row.notes.append(f"{name} differs")
    row.how = how(compiled)
    times = timing.interleaved(programs, effort, time.process_time)
    row.us = {name: 1e6 * statistics.median(times[name]) for name in times}
    row.ratios = {k: timing.ratio(times, COMPILED, k) for k in OTHERS if k in times}
    if elsewhere(f, compiled, case.args, case.rtol):
        row.notes.append("compiled differs elsewhere")
    return row


def elsewhere(f: Callable, compiled: Callable, args: tuple, rtol: float) -> bool:
    """Say whether compiled code differs from the function at other points."""
    import numpy as np
    from workload import _close, _numbers

    rng = np.random.default_rng(1)
    for _ in range(3):
        moved = tuple(
            np.asarray(x * (1.0 + 0.01 * rng.uniform(size=np.shape(x)))).astype(np.asarray(x).dtype)
            for x in args
        )
        given = tuple(
            float(x) if isinstance(old, float) else x for old, x in zip(args, moved, strict=True)
        )
        if not _close(_numbers(f(*given)), _numbers(compiled(*given)), rtol):
            return True
    return False


def how(compiled: Any) -> str:
    """Return how a compiled function runs, in words."""
    (kind,) = compiled.kinds.values()
    return kind.reason or "; ".join(kind.root.how)


def warm_up() -> None:
    """Load what each compiler loads at its first use, which is no row's cost."""
    from peers import peers

    import chainrules as cr

    cr.compile(lambda x: x * x)(0.7)
    if (jax := peers().get(JAX_JIT)) is not None:
        jax.run(lambda x: x * x, (0.7,))()


def cold() -> float:
    """Return the milliseconds that the first use of ``cr.compile`` costs a process."""
    # As for users, bytecode is kept from one run to the next.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", COLD]

    def once() -> float:
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return float(done.stdout)

    once()
    return 1e3 * statistics.median(once() for _ in range(5))


def _llvmlite() -> str:
    try:
        import llvmlite
    except ImportError:
        return "not installed"
    return str(llvmlite.__version__)


if __name__ == "__main__":
    sys.exit(main())
