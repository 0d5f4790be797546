"""Costs of ``import chainrules`` for a program that has NumPy, and of that of ``cr.compile``."""

import json
import os
import statistics
import subprocess
import sys

IMPORT = """
import json, sys, time
import numpy
begin = time.perf_counter()
import chainrules
print(json.dumps([time.perf_counter() - begin, "scipy" in sys.modules]))
"""
COMPILE = """
import json, sys, time
import numpy, chainrules as cr
begin = time.process_time()
cr.compile(cr.value_and_grad(lambda x: x * x))(0.7)
print(json.dumps([time.process_time() - begin, "scipy" in sys.modules]))
"""


def fresh(program: str, runs: int) -> tuple[float, bool]:
    """Return the median seconds of one of these in fresh processes, and whether it loads SciPy."""
    _once(program)  # compiles the bytecode
    found = [_once(program) for _ in range(runs)]
    return statistics.median(seconds for seconds, _ in found), found[0][1]


def _once(program: str) -> tuple[float, bool]:
    # As for users, bytecode is kept from one run to the next.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    seconds, scipy = json.loads(done.stdout)
    return seconds, scipy
