"""Measure chainrules against HIPS autograd, PyTorch and gradients written by hand.

One process, one thread, rounds in which the libraries take turns: see README.md beside this file.
"""

import argparse
import dataclasses
import gc
import importlib.metadata
import json
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import Row, heading

# Before NumPy is imported: its linear algebra reads them then.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
IMPORT_LIMIT = 0.060


def main() -> int:
    options = parse()
    for name in THREADS:
        os.environ[name] = "1"
    from workload import optional

    if (torch := optional("torch")) is not None:
        torch.set_num_threads(1)
    print(f"{machine()}\n\n{heading()}", flush=True)
    rows = []
    for row in measure(options):
        rows.append(row)
        print(row, flush=True)
    missed = [row.name.strip() for row in rows if not all(row.met.values())]
    wrong = [f"{name} in {row.name}" for row in rows for name in row.wrong]
    print(f"\ntargets missed: {', '.join(missed) or 'none'}")
    if wrong:
        print(f"results that differ from ours: {', '.join(wrong)}")
    if options.json:
        figures = {"machine": machine(), "rows": [dataclasses.asdict(row) for row in rows]}
        Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 1 if wrong else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough figures")
    parser.add_argument("--only", metavar="NAME", default="", help="workloads that contain NAME")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE too")
    return parser.parse_args()


def machine() -> str:
    """Describe the machine, and name the versions, in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    cpu = models[0] if models else platform.processor() or platform.machine()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    versions = ", ".join(map(version, ("numpy", "autograd", "torch")))
    return f"{cpu}, {os.cpu_count()} cores, one thread used; {python}, {versions}"


def version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row of figures after another."""
    import workloads_elementwise
    import workloads_indexing
    import workloads_models

    if options.only.lower() in "import chainrules":
        yield import_row(runs=5 if options.quick else 15)
    # What the libraries themselves hold is not walked by the collector while they are timed.
    gc.collect()
    gc.freeze()
    rounds, seconds = (5, 0.002) if options.quick else (41, 0.01)
    for module in (workloads_elementwise, workloads_indexing, workloads_models):
        for workload in module.workloads():
            if options.only.lower() in workload.name.lower():
                yield time_row(workload, rounds, seconds)
                if workload.memory_targets:
                    yield memory_row(workload)


def import_row(runs: int) -> Row:
    from import_time import import_time

    seconds, scipy = import_time(runs)
    limit = f"{1e3 * IMPORT_LIMIT:.0f} ms"
    met = {limit: seconds <= IMPORT_LIMIT, "no SciPy": not scipy}
    return Row("import chainrules, after numpy", seconds, met=met)


def time_row(workload: Any, rounds: int, seconds: float) -> Row:
    import timing
    from workload import OURS

    wrong = workload.disagreements()
    times = timing.interleaved(workload.programs, rounds, seconds)
    ratios = {name: timing.ratio(times, OURS, name) for name in times if name != OURS}
    return Row(
        workload.name,
        statistics.median(times[OURS]),
        workload.operations,
        ratios,
        verdicts(ratios, workload.targets),
        wrong,
        {"quartiles": {name: statistics.quantiles(taken) for name, taken in times.items()}},
    )


def memory_row(workload: Any) -> Row:
    import timing
    from workload import OURS

    names = (OURS, *workload.memory_targets)
    peaks = {name: timing.peak_memory(workload.programs[name]) for name in names}
    ratios = {name: peaks[OURS] / peaks[name] for name in names[1:]}
    return Row(
        f"   its peak memory: {peaks[OURS] / 1e6:.0f} MB",
        ratios=ratios,
        met=verdicts(ratios, workload.memory_targets),
        details={"peaks": peaks},
    )


def verdicts(ratios: dict[str, float], targets: dict[str, float]) -> dict[str, bool]:
    """Say for each target whether it is met; of a peer that is not there, nothing is said."""
    return {
        f"{limit:.3g} {name}": ratios[name] <= limit
        for name, limit in targets.items()
        if name in ratios
    }


if __name__ == "__main__":
    sys.exit(main())
