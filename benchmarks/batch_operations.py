"""Batches, operation by operation: a thousand items in ``cr.vmap`` beside NumPy on the whole array.

``print_operations`` is called by ``benchmarks/batches.py``. Each operation is repeated fifty times
in one call, and a call that does nothing is taken off: what is left is what one operation costs.
"""

import statistics
import time

import numpy as np

import chainrules as cr

ITEMS, TIMES = 1000, 50
RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3))

# Of two numbers or rows for each item, and the same on all of them.
OF_NUMBERS = {
    "x + y": (lambda x, y: x + y,) * 2,
    "0.9 * x": (lambda x, y: 0.9 * x,) * 2,
    "x / y": (lambda x, y: x / y,) * 2,
    "x < y": (lambda x, y: x < y,) * 2,
    "np.exp(x)": (lambda x, y: np.exp(x),) * 2,
    "np.sin(x)": (lambda x, y: np.sin(x),) * 2,
    "np.maximum(x, y)": (lambda x, y: np.maximum(x, y),) * 2,
    "np.where(x < y, x, 0.0)": (lambda x, y: np.where(x < y, x, 0.0),) * 2,
    "np.clip(x, 0.2, 0.8)": (lambda x, y: np.clip(x, 0.2, 0.8),) * 2,
}
OF_ROWS = {
    "x[1]": (lambda x, y: x[1], lambda x, y: x[:, 1]),
    "x[1:]": (lambda x, y: x[1:], lambda x, y: x[:, 1:]),
    "x * y": (lambda x, y: x * y,) * 2,
    "x * y[0]": (lambda x, y: x * y[0], lambda x, y: x * y[:, :1]),
    "np.sum(x)": (lambda x, y: np.sum(x), lambda x, y: np.sum(x, axis=1)),
    "np.max(x)": (lambda x, y: np.max(x), lambda x, y: np.max(x, axis=1)),
    "x @ y": (lambda x, y: x @ y, lambda x, y: np.vecdot(x, y)),
    "W @ x": (lambda x, y: W @ x, lambda x, y: x @ W.T),
    "np.linalg.norm(x)": (lambda x, y: np.linalg.norm(x), lambda x, y: np.linalg.norm(x, axis=1)),
    "np.stack([x, y])": (lambda x, y: np.stack([x, y]), lambda x, y: np.stack([x, y], axis=1)),
    "np.argmax(x)": (lambda x, y: np.argmax(x), lambda x, y: np.argmax(x, axis=1)),
}


def repeated(operation):
    """Return a function that does an operation fifty times, and gives the first operand."""

    def f(x, y):
        for _ in range(TIMES):
            operation(x, y)
        return x

    return f


def print_operations(repeats):
    """Print what one operation on a thousand items costs, and what NumPy's own takes for them."""
    print("\n| us, an operation on a thousand items | in a batch | NumPy's |")
    print("|---|---|---|")
    for shape, operations in (((), OF_NUMBERS), ((3,), OF_ROWS)):
        for name, (of_one, of_all) in operations.items():
            runs = (
                cr.vmap(repeated(of_one)),
                cr.vmap(repeated(lambda x, y: None)),
                repeated(of_all),
                repeated(lambda x, y: None),
            )
            spent = [[] for _ in runs]
            for _ in range(2 * repeats):
                x, y = RNG.random((2, ITEMS, *shape))
                for run, times in zip(runs, spent, strict=True):
                    start = time.thread_time()
                    run(x, y)
                    times.append(time.thread_time() - start)
            batch, none, whole, nothing = (statistics.median(times) * 1e6 for times in spent)
            cells = f"{(batch - none) / TIMES:.3g} | {(whole - nothing) / TIMES:.3g}"
            print(f"| `{name}`{', rows of 3' if shape else ''} | {cells} |", flush=True)
