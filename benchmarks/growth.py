"""Growth of time and memory: with operations, array size, inputs, outputs, parts and nesting.

Prints each curve with the exponent that fits its upper half (1 is linear), and draws them all into
``figures/``.
"""

import argparse
import gc
import itertools
import math
import statistics
import sys
import time
from pathlib import Path

from growth_curves import Curve, curves
from timing import peak_memory

# Noise, and caches that overflow, bend the curve of what is linear this much at most.
LINEAR = 1.15
FIGURES = Path(__file__).parent / "figures"


def costs(curve: Curve, rounds: int) -> tuple[list[float], list[int]]:
    """Return the seconds and the peak memory of each size.

    The sizes take turns, and the least time of each counts: load disturbs that least.
    """
    programs = [curve.program_of(n) for n in curve.sizes]
    peaks = [peak_memory(program) for program in programs]
    times: list[list[float]] = [[] for _ in programs]
    for _ in range(rounds):
        for program, taken in zip(programs, times):
            begin = time.perf_counter()
            calls = 0
            while calls == 0 or (time.perf_counter() - begin < 0.01 and calls < 100):
                program()
                calls += 1
            taken.append((time.perf_counter() - begin) / calls)
    return list(map(min, times)), peaks


def exponent(sizes: list[int], costs: list[float]) -> float:
    """Return the slope of the upper half of the curve, both axes being logarithms."""
    half = len(sizes) // 2
    pairs = zip(map(math.log, sizes[half:]), map(math.log, costs[half:]))
    return statistics.linear_regression(*zip(*pairs)).slope


def describe(curve: Curve, seconds: list[float], peaks: list[int]) -> tuple[str, bool]:
    """Return the curve in one line, and whether it is as it must be."""
    figures = "  ".join(f"{n}: {1e3 * s:.3g} ms" for n, s in zip(curve.sizes, seconds))
    if curve.sizes[-1] < 10:
        factors = [b / a for a, b in itertools.pairwise(seconds)]
        return f"{curve.name:42} each level times {max(factors):.1f} at most      {figures}", True
    in_time, in_memory = exponent(curve.sizes, seconds), exponent(curve.sizes, peaks)
    held = curve.free or max(in_time, in_memory) <= LINEAR
    verdict = "" if held else "  MORE THAN LINEAR"
    shown = f"{curve.name:42} time n^{in_time:.2f}  memory n^{in_memory:.2f}  {figures}{verdict}"
    return shown, held


def draw(measured: list[tuple[Curve, list[float], list[int]]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    # The same file from the same figures, and text as text.
    matplotlib.rcParams |= {"svg.hashsalt": "chainrules", "svg.fonttype": "none"}
    from matplotlib import pyplot

    FIGURES.mkdir(exist_ok=True)
    columns = 4
    for which, name, unit in ((1, "time", "seconds"), (2, "memory", "bytes")):
        lines = -(-len(measured) // columns)
        figure, axes = pyplot.subplots(lines, columns, figsize=(4 * columns, 3 * lines))
        for plot in axes.flat[len(measured) :]:
            plot.set_visible(False)
        for plot, one in zip(axes.flat, measured):
            sizes, taken = one[0].sizes, one[which]
            if sizes[-1] < 10:
                plot.semilogy(sizes, taken, "o-")
                plot.set_xticks(sizes)
            else:
                plot.loglog(sizes, taken, "o-")
                # Dotted: what is linear, through the last point.
                plot.loglog(sizes, [taken[-1] * n / sizes[-1] for n in sizes], ":", color="grey")
            plot.minorticks_off()
            plot.set_title(one[0].name, fontsize=9)
            plot.set_ylabel(unit)
        figure.tight_layout()
        figure.savefig(FIGURES / f"growth_{name}.svg", metadata={"Date": None})
        pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the largest sizes")
    parser.add_argument("--only", metavar="NAME", default="", help="curves that contain NAME")
    options = parser.parse_args()
    gc.collect()
    gc.freeze()
    measured, bent = [], []
    for curve in curves():
        if options.only not in curve.name:
            continue
        if options.quick and curve.sizes[-1] > 10_000:
            curve.sizes = [n for n in curve.sizes if n <= 10_000]
        seconds, peaks = costs(curve, rounds=2 if options.quick else 7)
        measured.append((curve, seconds, peaks))
        line, held = describe(curve, seconds, peaks)
        print(line, flush=True)
        bent += [] if held else [curve.name]
    print(f"\nmore than linear: {', '.join(bent) or 'none'}")
    # Only a whole run replaces the plots that are kept.
    if not options.only and not options.quick:
        draw(measured)
        print(f"plots: {FIGURES}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
