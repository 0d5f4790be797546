"""A logistic regression on 1.6 GB that no process holds: time, and peak memory of each worker.

    python benchmarks/out_of_core.py

Two workers of dask (``pip install "distributed"``), each with one thread, make chunks of the table
when they are asked for them, and throw them away. The gradient is a lazy array, which dask computes
chunk by chunk; so is the product of the Hessian with a vector.
"""

import argparse
import os
import resource
import time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dask.array as da
import numpy as np

import chainrules as cr

COLUMNS = 50


def loss(w: Any, x: Any, y: Any) -> Any:
    """The mean negative log-likelihood of a logistic regression."""
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def table(rows: int, chunk: int) -> tuple[Any, Any]:
    """Make a table of random numbers, and labels, in chunks that are computed when asked for."""
    rng = da.random.default_rng(0)
    x = rng.normal(size=(rows, COLUMNS), chunks=(chunk, COLUMNS))
    true = np.linspace(-1, 1, COLUMNS)
    y = 1.0 * (rng.random(rows, chunks=chunk) < 1 / (1 + da.exp(-(x @ true))))
    return x, y


def peak() -> float:
    """Return the largest memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def agrees(rows: int = 4000) -> bool:
    """Say whether the lazy gradient is NumPy's, on a table small enough for both."""
    x, y = table(rows, rows // 8)
    w = np.linspace(0, 1, COLUMNS)
    lazy = cr.grad(loss)(da.asarray(w), x, y)
    return np.allclose(lazy.compute(), cr.grad(loss)(w, x.compute(), y.compute()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--chunk", type=int, default=125_000)
    given = parser.parse_args()

    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        print("gradients agree with NumPy's:", agrees())
        x, y = table(given.rows, given.chunk)
        w, v = da.zeros(COLUMNS), da.ones(COLUMNS)
        before = max(client.run(peak).values())
        chunk = x.nbytes / x.npartitions / 1e6
        print(f"table of {x.nbytes / 1e9:.1f} GB in chunks of {chunk:.0f} MB; "
              f"a worker without work has {before:.0f} MB")  # fmt: skip
        products = {
            "value and gradient": lambda: cr.value_and_grad(loss)(w, x, y),
            "Hessian times vector": lambda: cr.hvp(lambda w: loss(w, x, y), (w,), (v,)),
        }
        for name, make in products.items():
            start = time.perf_counter()
            lazy = make()
            built = time.perf_counter()
            da.compute(lazy)
            done = time.perf_counter()
            workers = ", ".join(f"{p:.0f}" for p in client.run(peak).values())
            print(f"{name}: graph made in {built - start:.2f} s, computed in {done - built:.1f} s, "
                  f"peak so far {workers} MB a worker, {peak():.0f} MB the client")  # fmt: skip


if __name__ == "__main__":
    main()
