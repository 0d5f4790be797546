"""Show where the time of our program for one workload goes: ``profiling.py NAME``."""

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable

from run import workloads
from table import COMPILED, OURS
from threads import set_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a part of the workload's name; the first that fits is run")
    parser.add_argument("--sort", default="tottime", help="tottime (default), cumtime, ncalls")
    parser.add_argument("--compiled", action="store_true", help="of cr.compile")
    options = parser.parse_args()
    set_threads(1)
    for workload in workloads():
        if options.name.lower() in workload.name.lower():
            print(workload.name)
            name = COMPILED if options.compiled else OURS
            program = workload.programs(workload.functions())[name]
            return profile(program, options.sort)
    parser.error(f"no workload has {options.name} in its name")


def profile(program: Callable, sort: str) -> None:
    program()
    profiler = cProfile.Profile()
    end = time.perf_counter() + 2.0
    profiler.enable()
    while time.perf_counter() < end:
        program()
    profiler.disable()
    pstats.Stats(profiler).sort_stats(sort).print_stats(25)


if __name__ == "__main__":
    main()
