"""Show where the time of our program for one workload goes: ``profiling.py NAME``."""

import argparse
import cProfile
import importlib
import pstats
import time
from collections.abc import Callable

from run import FAMILIES
from table import OURS
from threads import set_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a part of the workload's name; the first that fits is run")
    parser.add_argument("--sort", default="tottime", help="tottime (default), cumtime, ncalls")
    options = parser.parse_args()
    set_threads(1)
    for family in FAMILIES:
        for workload in importlib.import_module(f"workloads_{family}").workloads():
            if options.name.lower() in workload.name.lower():
                print(workload.name)
                return profile(workload.programs[OURS], options.sort)
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
