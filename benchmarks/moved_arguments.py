"""Gradients at arguments that are new at every call: eager, compiled, and by JAX's jit.

``python benchmarks/moved_arguments.py``; ``--only expm`` measures the workloads whose name contains
the word, ``--quick`` takes a few rounds, ``--markdown FILE`` writes the tables. One thread, CPU
time, medians over rounds in which the three take turns; see README.md beside this file.
"""

import argparse
import dataclasses
import datetime
import itertools
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from run import FAMILIES, machine, warm_up, workloads
from table import COMPILED, JAX_JIT, OURS, with_unit
from threads import set_threads

MEASURED = (OURS, COMPILED, JAX_JIT)
CALLS, SECONDS = 40, 2.0  # that are compared and counted: so many calls, or of slow ones fewer
SETS, BYTES = 200, 1 << 25  # argument sets that are made beforehand; of large ones, fewer
HEADINGS = (
    "workload", "eager", "compiled", "eager / c", "jit", "c / jit", "first 3: c", "first 3: jit",
    "recordings", "said",
)  # fmt: skip


@dataclasses.dataclass
class MovedRow:
    """Figures of one workload, whose arguments are other ones at each call.

    ``seconds`` and ``ratios`` are medians over rounds, ``first`` the seconds of the first three
    calls together. ``recordings`` were made in the first ``calls``, ``said`` are warnings and
    errors; ``wrong`` names programs that computed another result.
    """

    name: str
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    ratios: dict[str, float] = dataclasses.field(default_factory=dict)
    first: dict[str, float] = dataclasses.field(default_factory=dict)
    calls: int = 0
    recordings: int = 0
    said: list[str] = dataclasses.field(default_factory=list)
    wrong: list[str] = dataclasses.field(default_factory=list)

    def cells(self) -> list[str]:
        """Return what stands below ``HEADINGS``."""
        times = [with_unit(self.seconds.get(name)) for name in MEASURED]
        first = [with_unit(self.first.get(name)) for name in MEASURED[1:]]
        ratios = [
            "" if ratio is None else f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"
            for ratio in map(self.ratios.get, (OURS, JAX_JIT))
        ]
        said = [*self.said, *[f"{name} differs" for name in self.wrong]]
        of = f"{self.recordings} in {self.calls}"
        return [self.name, *times[:2], ratios[0], times[2], ratios[1], *first, of, "; ".join(said)]

    def __str__(self) -> str:
        return "| " + " | ".join(self.cells()) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        metavar="NAME",
        default="",
        help="workloads that contain NAME, or one of NAME,NAME",
    )
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    options = parser.parse_args()
    set_threads(1)
    os.environ["CHAINRULES_CACHE"] = "off"  # first calls compile
    warm_up()
    when = datetime.date.today().isoformat()
    where = f"`python benchmarks/moved_arguments.py` on {when}: {machine(1)}."
    columns = "What the columns are: [README.md](README.md#moved-arguments)."
    lines = ["# Gradients at arguments that are new at every call", "", where, columns]
    wrong = False
    print("\n".join(lines))
    for title, found in groups():
        lines += ["", f"**{title}**", "", heading()]
        print("\n".join(lines[-4:]), flush=True)
        for workload in found:
            if any(part in workload.name.lower() for part in options.only.lower().split(",")):
                row = row_of(workload, options.quick)
                lines.append(str(row))
                print(row, flush=True)
                wrong = wrong or bool(row.wrong)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def heading() -> str:
    return "| " + " | ".join(HEADINGS) + " |\n|" + "---|" * len(HEADINGS)


def groups() -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield each group's title and workloads."""
    import workloads_scipy

    yield "Values move", workloads(["scipy", "small", *FAMILIES])
    yield "A length or an integer moves", workloads_scipy.of_moved_kinds()


def row_of(workload: Any, quick: bool = False) -> MovedRow:
    import timing
    from peers import peers

    row = MovedRow(workload.name)
    functions = workload.functions(among=MEASURED)
    programs = {name: peers()[name].waited(f) for name, f in functions.items()}
    sets, made = {}, argument_sets(workload)
    for name in programs:
        sets[name] = [tuple(map(peers()[name].array, args)) for args in made]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first_calls(row, programs, sets)
        row.wrong = sorted(differing_calls(row, programs, sets, workload.rtol))
    entries = functions[COMPILED].kinds.values()
    row.recordings = sum(entry.recordings for entry in entries)
    row.said += dict.fromkeys(str(warning.message).partition("\n")[0] for warning in caught)
    streams = {name: itertools.cycle(sets[name]) for name in programs}

    def points(name: str, calls: int) -> Iterable[tuple]:
        return list(itertools.islice(streams[name], calls))

    for name in programs:  # a timed call is none of those that were compared
        points(name, row.calls)
    effort = timing.QUICK if quick else dataclasses.replace(timing.FULL, fewest_rounds=5)
    times = timing.interleaved(programs, effort, time.process_time, points)
    row.seconds = {name: statistics.median(times[name]) for name in times}
    row.ratios[OURS] = timing.ratio(times, OURS, COMPILED)
    if JAX_JIT in times:
        row.ratios[JAX_JIT] = timing.ratio(times, COMPILED, JAX_JIT)
    return row


def argument_sets(workload: Any) -> list[tuple]:
    """Return the arguments of the calls: many, or of large arrays at least four sets."""
    import numpy as np

    size = sum(np.asarray(x).nbytes for x in workload.args)
    return [workload.at(k) for k in range(max(4, min(SETS, BYTES // max(size, 1))))]


def first_calls(row: MovedRow, programs: dict[str, Callable], sets: dict) -> None:
    """Time the first three calls of each program; JAX's is dropped where it raises."""
    for name in list(programs):
        begin = time.process_time()
        try:
            for args in sets[name][:3]:
                programs[name](*args)
        except Exception as error:
            if name != JAX_JIT:
                raise
            row.said.append(f"no {name}: {type(error).__name__}")
            del programs[name]
            continue
        row.first[name] = time.process_time() - begin


def differing_calls(row: MovedRow, programs: dict[str, Callable], sets: dict, rtol: float) -> set:
    """Return the programs of which a call differs from the eager one; count calls in ``row``."""
    from workload import close, numbers

    begin, wrong = time.process_time(), set()
    for k in range(min(CALLS, len(sets[OURS]))):
        results = {name: numbers(program(*sets[name][k])) for name, program in programs.items()}
        wrong |= {name for name in results if not close(results[OURS], results[name], rtol)}
        row.calls += 1
        if row.calls >= 4 and time.process_time() - begin > SECONDS:
            break
    return wrong


if __name__ == "__main__":
    sys.exit(main())
