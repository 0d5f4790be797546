"""What ``import chainrules`` costs a program that has NumPy already."""

import json
import os
import statistics
import subprocess
import sys

_PROGRAM = """
import json, sys, time
import numpy
begin = time.perf_counter()
import chainrules
print(json.dumps([time.perf_counter() - begin, "scipy" in sys.modules]))
"""


def import_time(runs: int) -> tuple[float, bool]:
    """Return the median seconds of the import in fresh processes, and whether it loads SciPy."""
    _import_once()  # compiles the bytecode
    found = [_import_once() for _ in range(runs)]
    return statistics.median(seconds for seconds, _ in found), found[0][1]


def _import_once() -> tuple[float, bool]:
    # As for users, bytecode is kept from one run to the next.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    seconds, scipy = json.loads(done.stdout)
    return seconds, scipy
