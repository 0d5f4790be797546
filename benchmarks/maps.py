"""Maps over a cluster: what a logistic regression costs there, beside one process.

``OPENBLAS_NUM_THREADS=1 python benchmarks/maps.py``, with the extra ``dask``. Rows 10^6 x 50 in 8
chunks on 2 workers of one thread each. On a busy machine CPU seconds say more than the clock, so
both are printed: the median of several rounds, in which the ways take turns, without what an idle
cluster takes for its heartbeats in the same time. Here is the client and, in its process, the
scheduler. The next table is what is lost of chunks that are worth so many milliseconds of CPU each:
the clock and the CPU of the workers, beside those of one task a worker that does the same work. The
last one is many items that take nothing, and a large array that all items capture.
"""

import statistics
import time

import numpy as np

import chainrules as cr

ROWS, COLUMNS, CHUNKS, WORKERS = 1_000_000, 50, 8, 2
ROUNDS = 7
WAYS = (None, "tape", "recompute")


def chunk(seed, rows):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, COLUMNS))
    y = rng.random(rows) < 1 / (1 + np.exp(-x @ np.linspace(-1, 1, COLUMNS)))
    return x, y * 1.0


def loss_of(w, data):
    x, y = data
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def busy(w, seconds):
    """Be worth so many seconds of CPU, and the gradient next to nothing more."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return np.sum(w * w)


def measured(client, f):
    """Return the clock of ``f``, and its CPU here and on all workers."""
    before = client.run(time.process_time)
    here, clock = time.process_time(), time.perf_counter()
    f()
    clock, here = time.perf_counter() - clock, time.process_time() - here
    after = client.run(time.process_time)
    return clock, here, sum(after[key] - before[key] for key in after)


def rounds(client, ways, count):
    """Return for each way the medians of what ``measured`` gives, in milliseconds."""
    found = {name: [] for name in ways}
    for f in ways.values():
        f()
    idle, here_idle, workers_idle = measured(client, lambda: time.sleep(3))
    for _ in range(count):
        for name, f in ways.items():
            clock, here, workers = measured(client, f)
            part = clock / idle
            found[name].append((clock, here - part * here_idle, workers - part * workers_idle))
    return {
        name: [1e3 * statistics.median(column) for column in zip(*rows)]
        for name, rows in found.items()
    }


def regression(client):
    from distributed import wait

    chunks = client.map(chunk, range(CHUNKS), rows=ROWS // CHUNKS)
    wait(chunks)
    parts = [chunk(seed, ROWS // CHUNKS) for seed in range(CHUNKS)]
    data = tuple(map(np.concatenate, zip(*parts)))
    w, v = np.zeros(COLUMNS), np.ones(COLUMNS)

    def mapped(back):
        def loss(w):
            return sum(cr.map(lambda data: loss_of(w, data), chunks, executor=client, back=back))

        return loss

    def one(w):
        return loss_of(w, data)

    gradients = {"one process": lambda: cr.grad(one)(w)}
    products = {"one process": lambda: cr.hvp(one, (w,), (v,))}
    for back in WAYS:
        name = f"cluster, {back or 'by default'}"
        gradients[name] = lambda back=back: cr.grad(mapped(back))(w)
        products[name] = lambda back=back: cr.hvp(mapped(back), (w,), (v,))
    for title, ways in (("gradient", gradients), ("Hessian product", products)):
        expected = ways["one process"]()
        for f in ways.values():
            np.testing.assert_allclose(f(), expected, rtol=1e-9)
        print(f"\n{title:28} {'clock':>8} {'CPU here':>9} {'workers':>8} {'beside one':>11}   (ms)")
        found = rounds(client, ways, ROUNDS)
        _, alone, _ = found["one process"]
        for name, (clock, here, workers) in found.items():
            beside = "" if name == "one process" else f"{workers / alone:11.2f}"
            print(f"{name:28} {clock:8.0f} {here:9.0f} {workers:8.0f} {beside}")


def what_is_lost(client):
    w = np.ones(COLUMNS)
    print("\nchunks worth     clock   beside     lost   CPU lost   (ms; 8 chunks, gradient)")
    for worth in (0.005, 0.05, 0.2):

        def mapped(w, worth=worth):
            return sum(cr.map(lambda _: busy(w, worth), range(CHUNKS), executor=client))

        def beside(worth=worth):
            tasks = client.map(alone, [worth] * WORKERS, pure=False)
            client.gather(tasks)

        ways = {"map": lambda f=mapped: cr.grad(f)(w), "beside": beside}
        found = rounds(client, ways, ROUNDS)
        (clock, _, workers), (ideal, _, least) = found["map"], found["beside"]
        lost = f"{clock / ideal - 1:8.0%} {workers / least - 1:10.0%}"
        print(f"{1e3 * worth:9.0f} ms {clock:9.0f} {ideal:8.0f} {lost}")


def alone(worth):
    """Do what one of the workers has to do, in one task."""
    for _ in range(CHUNKS // WORKERS):
        busy(np.ones(COLUMNS), worth)


def many_and_large(client):
    """Print the clock of many items that take nothing, and of few that capture 80 MB."""
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    big = np.ones(10_000_000)

    def many(w, executor):
        xs = list(np.linspace(0.0, 1.0, 10_000))
        return sum(cr.map(lambda x: np.sin(w * x), xs, executor=executor))

    def large(w, executor):
        return sum(cr.map(lambda k: w * k * big[k], list(range(32)), executor=executor))

    print("\ngradient of        10,000 items     32 items with 80 MB   (ms)")
    with ThreadPoolExecutor(WORKERS) as threads, ProcessPoolExecutor(WORKERS) as processes:
        for name, executor in (("threads", threads), ("processes", processes), ("dask", client)):
            clocks = []
            for f in (many, large):
                begun = time.perf_counter()
                cr.grad(f)(1.0, executor)
                clocks.append(1e3 * (time.perf_counter() - begun))
            print(f"{name:14} {clocks[0]:14.0f} {clocks[1]:22.0f}")


def main():
    import dask
    from distributed import Client, LocalCluster

    # Tasks stay with their chunks: to move 50 MB costs more than it gains.
    dask.config.set({"distributed.scheduler.work-stealing": False})
    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        regression(client)
        what_is_lost(client)
        many_and_large(client)


if __name__ == "__main__":
    main()
