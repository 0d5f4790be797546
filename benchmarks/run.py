"""Measure chainrules against HIPS autograd, PyTorch and gradients written by hand.

One process, one thread, rounds in which the libraries take turns. ``make bench``, or
``python benchmarks/run.py --quick``; see README.md beside this file.
"""

import argparse
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

# Before NumPy is imported: its linear algebra reads them then.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
IMPORT_LIMIT = 0.060
COLUMNS = ("autograd", "PyTorch", "by hand")


def main() -> int:
    options = parse()
    for name in THREADS:
        os.environ[name] = "1"
    from workload import optional

    if (torch := optional("torch")) is not None:
        torch.set_num_threads(1)
    print(machine(), flush=True)
    rows = []
    print("\n" + heading(), flush=True)
    for row in measure(options):
        rows.append(row)
        print(line(row), flush=True)
    missed = [row["workload"] for row in rows if not all(row["met"].values())]
    wrong = [f"{row['workload']} ({', '.join(row['wrong'])})" for row in rows if row["wrong"]]
    print(f"\ntargets missed: {', '.join(missed) or 'none'}")
    if wrong:
        print(f"results that differ from ours: {', '.join(wrong)}")
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))
    return 1 if wrong else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds: rough figures")
    parser.add_argument("--only", metavar="NAME", help="workloads whose name contains NAME")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE too")
    return parser.parse_args()


def machine() -> str:
    """Describe the machine, and name the versions, in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    versions = []
    for package in ("numpy", "autograd", "torch"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    cpu = models[0] if models else platform.processor() or platform.machine()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{cpu}, {os.cpu_count()} cores, one thread used; {python}, {', '.join(versions)}"


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row of figures after another."""
    import timing
    import workloads_elementwise
    import workloads_indexing
    import workloads_models
    from import_time import import_time
    from workload import OURS

    rounds, seconds = (5, 0.002) if options.quick else (41, 0.01)
    if wanted(options, "import chainrules"):
        taken, scipy = import_time(5 if options.quick else 15)
        yield row(
            "import chainrules, after numpy",
            taken,
            {},
            {f"< {1e3 * IMPORT_LIMIT:.0f} ms": taken < IMPORT_LIMIT, "no SciPy": not scipy},
        )
    # What the libraries themselves hold is not walked by the collector while they are timed.
    gc.collect()
    gc.freeze()
    for module in (workloads_elementwise, workloads_indexing, workloads_models):
        for workload in module.workloads():
            if not wanted(options, workload.name):
                continue
            wrong = workload.disagreements()
            times = timing.interleaved(workload.programs, rounds, seconds)
            ratios = {name: timing.ratio(times, OURS, name) for name in times if name != OURS}
            yield row(
                workload.name,
                statistics.median(times[OURS]),
                ratios,
                verdicts(ratios, workload.targets),
                operations=workload.operations,
                quartiles={name: statistics.quantiles(taken) for name, taken in times.items()},
                wrong=wrong,
            )
            if workload.memory_targets:
                programs = {name: workload.programs[name] for name in (OURS, *workload.memory_targets)}
                peaks = {name: timing.peak_memory(program) for name, program in programs.items()}
                ratios = {name: peaks[OURS] / peak for name, peak in peaks.items() if name != OURS}
                yield row(
                    f"   its peak memory: {peaks[OURS] / 1e6:.0f} MB",
                    None,
                    ratios,
                    verdicts(ratios, workload.memory_targets),
                    peaks=peaks,
                )


def wanted(options: argparse.Namespace, name: str) -> bool:
    return options.only is None or options.only.lower() in name.lower()


def verdicts(ratios: dict[str, float], targets: dict[str, float]) -> dict[str, bool]:
    """Say for each target whether it is met; of a peer that is not there, nothing is said."""
    return {
        f"{limit:.3g} {name}": ratios[name] <= limit
        for name, limit in targets.items()
        if name in ratios
    }


def row(
    workload: str, seconds: float | None, ratios: dict, met: dict, **more: Any
) -> dict[str, Any]:
    return {
        "workload": workload, "ours": seconds, "ratios": ratios, "met": met, "wrong": [], **more
    }  # fmt: skip


def heading() -> str:
    return (
        f"{'':42} {'ours':>9} {'per op.':>8}   ratio of ours to\n{'workload':42} {'us':>9} {'us':>8}"
        + "".join(f" {name:>13}" for name in COLUMNS)
        + "  targets: at most"
    )


def line(row: dict[str, Any]) -> str:
    """Format one row of the table."""
    cells = [f"{row['workload']:42}"]
    taken, operations = row["ours"], row.get("operations")
    cells.append(f"{1e6 * taken:9.1f}" if taken is not None else " " * 9)
    cells.append(f"{1e6 * taken / operations:8.2f}" if operations else " " * 8)
    for name in COLUMNS:
        if name in row["ratios"]:
            cells.append(f"{row['ratios'][name]:13.3f}")
        else:
            absent = operations and name != "by hand"
            cells.append(f"{'not installed' if absent else '':>13}")
    notes = [f"{target}: {'met' if met else 'MISSED'}" for target, met in row["met"].items()]
    notes += [f"{x:.2f} of {name}" for name, x in row["ratios"].items() if name not in COLUMNS]
    return " ".join(cells) + "  " + ", ".join(notes)


if __name__ == "__main__":
    sys.exit(main())
