"""Measure chainrules, as it is and compiled, beside its peers and gradients written by hand.

One process, with rounds in which the libraries take turns; see README.md beside this file. Each
row is written to ``results.json`` as soon as it is there, and the tables to ``results.md``.
"""

import argparse
import dataclasses
import datetime
import gc
import importlib
import importlib.metadata
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from table import AUTOGRAD, BY_HAND, COMPILED, EAGER, JAX_JIT, OURS, PROGRAMS, Row, heading
from threads import set_threads

IMPORT_LIMIT = FIRST_LIMIT = 0.060
FAMILIES = (
    "elementwise",
    "indexing",
    "branches",
    "determinant",
    "rosenbrock",
    "models",
    "clusters",
    "bundle",
    "lstm",
    "orbit",
    "fit",
    "gaussian_process",
    "jacobians",
    "hand",
    "nested",
    "science",
)
PREFIX = {"workloads": "", "calls": "calls: "}  # of the names of rows, for --only


def main() -> int:
    options = parse()
    set_threads(options.threads)
    os.environ["CHAINRULES_CACHE"] = "off"  # first calls compile
    import calls
    from results import FILE, Results

    path = Path(options.results) if options.results else None if options.quick else FILE
    text = machine(options.threads)
    results = Results(path, options.threads, text, anew=not options.only and not options.resume)
    print(f"{text}, load {load()}\n", flush=True)

    def wanted(kind: str) -> Callable[[str], bool]:
        only, done = options.only.lower(), results.tables[kind] if options.resume else {}
        return lambda name: only in (PREFIX[kind] + name).lower() and name not in done

    def report(kind: str, title: str, found: Iterator[Any]) -> list[Any]:
        rows = []
        for row in found:
            if not rows:
                print(title)
            row.day, row.load = datetime.date.today().isoformat(), load()
            print(row, flush=True)
            results.keep(kind, row)
            rows.append(row)
        return rows

    rows = report("workloads", heading(), measure(wanted("workloads"), options))
    if rows:
        missed = [row.name for row in rows if row.missed()]
        print(f"\ntargets missed by {len(missed)} of {len(rows)}: {', '.join(missed) or 'none'}\n")
    of_calls = []
    if options.threads == 1:
        found = calls.measure(wanted("calls"), effort(options))
        of_calls = report("calls", calls.HEADING, found)
        if of_calls:
            print(f"\n{calls.summary(of_calls)}")
    return 1 if any(row.wrong for row in rows + of_calls) else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough, and not kept")
    parser.add_argument("--only", metavar="NAME", default="", help="rows that contain NAME")
    parser.add_argument("--resume", action="store_true", help="without the rows of results.json")
    parser.add_argument("--slow", action="store_true", help="also what takes minutes to compile")
    parser.add_argument("--ours", action="store_true", help="eager and compiled alone")
    parser.add_argument("--threads", type=int, default=1, help="2: by the clock, not CPU time")
    parser.add_argument("--results", metavar="FILE", help="keep the figures in FILE")
    return parser.parse_args()


def effort(options: argparse.Namespace) -> Any:
    import timing

    effort = timing.QUICK if options.quick else timing.FULL
    return dataclasses.replace(effort, patience=1000.0) if options.slow else effort


def machine(threads: int) -> str:
    """Describe the machine, and name the versions, in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    cpu = models[0] if models else platform.processor() or platform.machine()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    packages = ("numpy", "llvmlite", "autograd", "jax", "torch")
    used = "one thread, CPU time" if threads == 1 else f"{threads} threads, by the clock"
    return f"{cpu}, {os.cpu_count()} cores, {used}; {python}, {', '.join(map(version, packages))}"


def version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"


def load() -> float:
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def workloads(families: Iterable[str] = FAMILIES) -> Iterator[Any]:
    for family in families:
        yield from importlib.import_module(f"workloads_{family}").workloads()


def measure(wanted: Callable[[str], bool], options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row of figures after another."""
    from peers import peers

    yield from fresh_rows(wanted, runs=5 if options.quick else 15)
    warm_up()
    # What the libraries themselves hold is not walked by the collector while they are timed.
    peers()
    gc.collect()
    gc.freeze()
    for workload in workloads():
        if wanted(workload.name):
            yield row_of(workload, options)


def fresh_rows(wanted: Callable[[str], bool], runs: int) -> Iterator[Row]:
    from import_time import COMPILE, IMPORT, fresh

    if wanted(name := "import chainrules, after numpy"):
        seconds, scipy = fresh(IMPORT, runs)
        met = {f"{1e3 * IMPORT_LIMIT:.0f} ms": seconds <= IMPORT_LIMIT, "no SciPy": not scipy}
        yield Row(name, {OURS: seconds}, met=met)
    if wanted(name := "first use of cr.compile in a process"):
        seconds, _ = fresh(COMPILE, runs)
        met = {f"{1e3 * FIRST_LIMIT:.0f} ms": seconds <= FIRST_LIMIT}
        yield Row(name, {COMPILED: seconds}, met=met)


def warm_up() -> None:
    """Load what each compiler loads at its first use, which is no row's cost."""
    from peers import peers

    for name in {COMPILED, JAX_JIT} & set(peers()):
        peer = peers()[name]
        peer.call(peer.compiled(lambda x: x * x), (0.7,))()


def row_of(workload: Any, options: argparse.Namespace) -> Row:
    import timing
    from workload import differs_elsewhere, first_calls

    functions = workload.functions(options.slow)
    programs = workload.programs(functions)
    if options.ours:
        programs = {name: programs[name] for name in (OURS, COMPILED)}
    told = first_calls(programs, effort(options).patience, workload.rtol)
    row = Row(workload.name, operations=workload.operations, first=told.seconds)
    row.wrong, row.failed, row.warned = told.wrong, told.failed, told.warned
    row.skipped = workload.skipped | told.skipped
    if OURS not in programs:
        row.wrong.append(OURS)
        return row
    clock = time.process_time if options.threads == 1 else time.perf_counter
    # What the first calls left, such as programs of JAX, is nobody's cost in the rounds.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    times = timing.interleaved(programs, effort(options), clock)
    row.seconds = {name: statistics.median(times[name]) for name in times}
    others = [name for name in times if name in (*EAGER, BY_HAND) or name not in PROGRAMS]
    row.ratios = {name: timing.ratio(times, OURS, name) for name in others}
    row.met = verdicts(row.ratios, workload.targets)
    if COMPILED in times:
        add_compiled(row, workload, times)
        row.how = how(functions[COMPILED])
        if differs_elsewhere(functions[OURS], functions[COMPILED], workload.args, workload.rtol):
            row.wrong.append(f"{COMPILED}, elsewhere,")
    if workload.overhead is not None and {AUTOGRAD, BY_HAND} <= set(times):
        above = timing.overhead(times, OURS, BY_HAND, AUTOGRAD)
        row.met[f"{workload.overhead:.3g} {AUTOGRAD} over by hand"] = above <= workload.overhead
    if workload.reverse and BY_HAND in times:
        add_memory(row, workload, programs)
    return row


def add_compiled(row: Row, workload: Any, times: dict[str, list[float]]) -> None:
    """Enter the ratios of compiled code to what else is compiled, and to by hand."""
    import timing
    from table import COMPILERS

    others = [name for name in (*COMPILERS, BY_HAND) if name in times]
    row.compiled = {name: timing.ratio(times, COMPILED, name) for name in others}
    found = {f"{name}, compiled": ratio for name, ratio in row.compiled.items()}
    wanted = {f"{name}, compiled": limit for name, limit in workload.compiled.items()}
    row.met |= verdicts(found, wanted)
    if JAX_JIT in row.first:
        row.met["first call of JAX jit"] = row.first[COMPILED] <= row.first[JAX_JIT]


def add_memory(row: Row, workload: Any, programs: dict[str, Callable]) -> None:
    import timing
    from workload import LARGE_MEMORY

    peaks = {name: timing.peak_memory(programs[name]) for name in (OURS, BY_HAND)}
    row.memory = peaks[OURS] / max(peaks[BY_HAND], 1)
    if workload.large:
        wanted = {f"memory {k}": v for k, v in LARGE_MEMORY.items()}
        row.met |= verdicts({f"memory {BY_HAND}": row.memory}, wanted)


def how(compiled: Any) -> str:
    """Return how a compiled function runs, in words."""
    (kind,) = compiled.kinds.values()
    return kind.reason or "; ".join(kind.root.how)


def verdicts(ratios: dict[str, float], targets: dict[str, float]) -> dict[str, bool]:
    """Say for each target whether it is met; of a peer that is not there, nothing is said."""
    return {
        f"{limit:.3g} {name}": ratios[name] <= limit
        for name, limit in targets.items()
        if name in ratios
    }


if __name__ == "__main__":
    sys.exit(main())
