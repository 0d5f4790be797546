"""Demonstration, ``python -m chainrules.compiling``: two programs through all passes.

A gradient on an array becomes fused loops, and a loop over numbers a scalarized program. Without
llvmlite both are replayed by NumPy, and have fewer stages.
"""

from typing import Any

import numpy as np

import chainrules as cr


def energy(x: Any) -> Any:
    """Return the sum of a smooth function of an array, with a call that is not elementwise."""
    y = np.tanh(x) * 2.0
    total = np.cumsum(y)
    return np.sum(total * np.exp(-x))


def orbit(x: Any) -> Any:
    """Return a number after three steps of a loop, with a guard in each."""
    for _ in range(3):
        x = np.sin(x) if x > 0.5 else x + 0.5
    return x


def main() -> None:
    for f, x in ((energy, np.linspace(0.1, 1.0, 5000)), (orbit, 0.25)):
        print(f"---- cr.grad({f.__name__}) ----")
        print(cr.explain(cr.compile(cr.grad(f)), x, stage="all"), end="\n\n")


if __name__ == "__main__":
    main()
