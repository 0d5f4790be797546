"""Peak memory and time of the gradient of a long loop: ``python benchmarks/long_loops.py``.

A state of 1000 numbers goes through 10^3 to 10^6 steps; both the state and what the step captures
are differentiated. Each length runs in a process of its own, so that its peak is its own. Beside
``cr.loop`` stands Python's loop, whose steps are all recorded, where that fits into memory.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

import chainrules as cr

SIZE = 1000


def loss(w, carry, n):
    return np.sum(cr.loop(n, lambda c: c + 1e-3 * np.sin(w * c), carry) ** 2)


def recorded_loss(w, carry, n):
    for _ in range(n):
        carry = carry + 1e-3 * np.sin(w * carry)
    return np.sum(carry**2)


def measure(name, n):
    f = {"loop": loss, "python": recorded_loss}[name]
    w, carry = np.linspace(0.5, 1.0, SIZE), np.linspace(0.0, 1.0, SIZE)
    start = time.perf_counter()
    f(w, carry, n)
    primal = time.perf_counter() - start
    start = time.perf_counter()
    wbar, _ = cr.grad(f, argnums=(0, 1))(w, carry, n)
    gradient = time.perf_counter() - start
    error = None
    if n <= 10_000:
        h = 1e-5  # beside central differences, in all of w at once
        slope = (f(w + h, carry, n) - f(w - h, carry, n)) / (2 * h)
        error = abs(slope - np.sum(wbar)) / abs(slope)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"primal": primal, "gradient": gradient, "peak": peak, "error": error}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000_000, help="the longest loop")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one[0], int(options.one[1]))
        return
    print("| loop | steps | peak, MB | value, s | gradient, s | gradient / value | error |")
    print("|---|---|---|---|---|---|---|")
    for name, most in (("loop", options.most), ("python", min(options.most, 10_000))):
        n = 1000
        while n <= most:
            command = [sys.executable, __file__, "--one", name, str(n)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            r = json.loads(done.stdout)
            error = "" if r["error"] is None else f"{r['error']:.0e}"
            print(
                f"| {name} | {n} | {r['peak']:.0f} | {r['primal']:.2f} | {r['gradient']:.2f} "
                f"| {r['gradient'] / r['primal']:.1f} | {error} |",
                flush=True,
            )
            n *= 10


if __name__ == "__main__":
    main()
