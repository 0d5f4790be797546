"""Measure chainrules against autograd, JAX, PyTorch and gradients written by hand.

For each count of threads one process, with rounds in which the libraries take turns; then the
plots of how costs grow: see README.md beside this file.
"""

import argparse
import dataclasses
import datetime
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import AUTOGRAD, BY_HAND, OURS, Row, heading, markdown_heading
from threads import set_threads

HERE = Path(__file__).parent
IMPORT_LIMIT = 0.060
FAMILIES = (
    "elementwise",
    "indexing",
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
)


def main() -> int:
    options = parse()
    if options.threads == "both":
        return both(options)
    set_threads(int(options.threads))
    print(f"{machine(options.threads)}\n", flush=True)
    rows = report(options)
    wrong = any(row.wrong or OURS in row.failed for row in rows)
    calls = report_calls(options) if options.threads == "1" else []
    wrong = wrong or any(row.wrong for row in calls)
    if options.json:
        day = datetime.date.today().isoformat()
        found, of_calls = [[dataclasses.asdict(row) for row in part] for part in (rows, calls)]
        figures = {"machine": machine(options.threads), "day": day, "rows": found}
        figures["calls"] = of_calls
        Path(options.json).write_text(json.dumps([figures], indent=1), encoding="utf-8")
    return 1 if wrong else 0


def report(options: argparse.Namespace) -> list[Row]:
    """Measure and print the table of the workloads."""
    rows = []
    for row in measure(options):
        if not rows:
            print(heading())
        rows.append(row)
        print(row, flush=True)
    if rows:
        missed = [row.name.strip() for row in rows if row.missed()]
        names = ", ".join(missed) or "none"
        print(f"\ntargets missed by {len(missed)} of {len(rows)} rows: {names}\n")
    return rows


def report_calls(options: argparse.Namespace) -> list[Any]:
    """Measure and print what single calls cost."""
    import calls
    import timing

    return calls.report(options.only, timing.QUICK if options.quick else timing.FULL)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough figures")
    parser.add_argument("--only", metavar="NAME", default="", help="workloads that contain NAME")
    parser.add_argument("--threads", choices=("1", "2", "both"), help="both, but 1 if quick")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE too")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables to FILE too")
    parser.add_argument("--no-plots", action="store_true", help="leave out how costs grow")
    options = parser.parse_args()
    options.threads = options.threads or ("1" if options.quick else "both")
    return options


def both(options: argparse.Namespace) -> int:
    """Run this program once for each count of threads, and then the plots of growth."""
    words = ["--quick"] * options.quick
    figures, codes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for threads in ("1", "2"):
            file = Path(folder) / f"{threads}.json"
            further = ["--only", options.only, "--threads", threads, "--json", str(file)]
            codes.append(subprocess.run([sys.executable, __file__, *words, *further]).returncode)
            if file.exists():
                figures += json.loads(file.read_text(encoding="utf-8"))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    # Only a whole run replaces the table that is kept.
    whole = not options.quick and not options.only
    if file_name := options.markdown or (HERE / "results.md" if whole else None):
        Path(file_name).write_text(markdown(figures), encoding="utf-8")
    if not options.only and not options.no_plots:
        codes.append(subprocess.run([sys.executable, HERE / "growth.py", *words]).returncode)
    return max(codes)


def markdown(figures: list[dict]) -> str:
    """Return the tables of a run in Markdown."""
    import calls

    parts = ["Our time divided by theirs: below 1 we are faster. Memory is beside by hand.\n"]
    for run in figures:
        rows = [Row(**row).markdown() for row in run["rows"]]
        parts.append(
            "\n".join([f"{run['machine']}, {run['day']}\n", markdown_heading(), *rows, ""])
        )
        if run["calls"]:
            parts.append(calls.markdown(run["calls"]))
    return "\n".join(parts)


def machine(threads: str) -> str:
    """Describe the machine, and name the versions, in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    cpu = models[0] if models else platform.processor() or platform.machine()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    versions = ", ".join(map(version, ("numpy", "autograd", "jax", "torch")))
    used = "one thread used" if threads == "1" else f"{threads} threads used"
    return f"{cpu}, {os.cpu_count()} cores, {used}; {python}, {versions}"


def version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row of figures after another."""
    import timing
    from peers import peers

    if options.only.lower() in "import chainrules":
        yield import_row(runs=5 if options.quick else 15)
    # What the libraries themselves hold is not walked by the collector while they are timed.
    peers()
    gc.collect()
    gc.freeze()
    effort = timing.QUICK if options.quick else timing.FULL
    for family in FAMILIES:
        for workload in importlib.import_module(f"workloads_{family}").workloads():
            if options.only.lower() in workload.name.lower():
                yield row_of(workload, effort)


def import_row(runs: int) -> Row:
    from import_time import import_time

    seconds, scipy = import_time(runs)
    limit = f"{1e3 * IMPORT_LIMIT:.0f} ms"
    met = {limit: seconds <= IMPORT_LIMIT, "no SciPy": not scipy}
    return Row("import chainrules, after numpy", seconds, met=met)


def row_of(workload: Any, effort: Any) -> Row:
    import timing
    from workload import LARGE_MEMORY

    wrong, failed = workload.first_calls(effort.patience)
    row = Row(workload.name, operations=workload.operations, wrong=wrong, failed=failed)
    row.skipped = workload.skipped
    if OURS in failed:
        return row
    times = timing.interleaved(workload.programs, effort)
    row.seconds = statistics.median(times[OURS])
    row.ratios = {name: timing.ratio(times, OURS, name) for name in times if name != OURS}
    row.met = verdicts(row.ratios, workload.targets)
    if workload.overhead is not None and {AUTOGRAD, BY_HAND} <= set(times):
        above = timing.overhead(times, OURS, BY_HAND, AUTOGRAD)
        row.met[f"{workload.overhead:.3g} {AUTOGRAD} over by hand"] = above <= workload.overhead
        row.details["overhead"] = above
    if workload.reverse and BY_HAND in times:
        peaks = {name: timing.peak_memory(workload.programs[name]) for name in (OURS, BY_HAND)}
        row.memory = peaks[OURS] / max(peaks[BY_HAND], 1)
        if workload.large:
            wanted = {f"memory {k}": v for k, v in LARGE_MEMORY.items()}
            row.met |= verdicts({f"memory {BY_HAND}": row.memory}, wanted)
        row.details["peaks"] = peaks
    row.details["times"] = times
    return row


def verdicts(ratios: dict[str, float], targets: dict[str, float]) -> dict[str, bool]:
    """Say for each target whether it is met; of a peer that is not there, nothing is said."""
    return {
        f"{limit:.3g} {name}": ratios[name] <= limit
        for name, limit in targets.items()
        if name in ratios
    }


if __name__ == "__main__":
    sys.exit(main())
