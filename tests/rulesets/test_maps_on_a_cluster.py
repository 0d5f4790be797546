"""Maps on the workers of a dask cluster, of which some are killed: the same numbers."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import chainrules as cr
from chainrules.rules.rulesets.functions.executors import maps
from chainrules.rules.tracing.captured import may_change

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
# Workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

COLUMNS, CHUNKS = 5, 9
W, V = np.linspace(-1.0, 1.0, COLUMNS), np.ones(COLUMNS)


def chunk(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(100, COLUMNS)), (rng.random(100) < 0.5) * 1.0


def loss_of(w, data):
    x, y = data
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def rows_of(w, data):
    return np.tanh(data[0] @ w)[:3]


HERE = [chunk(seed) for seed in range(CHUNKS)]


def here(w):
    return sum(loss_of(w, data) for data in HERE)


@pytest.fixture(scope="module")
def cluster():
    # A worker that was killed twice within 15 s would not be started again.
    settings = {
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.scheduler.work-stealing": False,
        "distributed.admin.system-monitor.gil.enabled": False,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
    ):  # fmt: skip
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def chunks(client):
    return client.map(lambda seed: chunk(seed), range(CHUNKS))  # by value


def loss(chunks, client, **on):
    return lambda w: sum(cr.map(lambda data: loss_of(w, data), chunks, executor=client, **on))


def same(expected, found):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("back", [None, "tape", "slopes", "recompute"])
def test_derivatives(back, chunks, client):
    f = loss(chunks, client, back=back)
    same(here(W), f(W))
    same(cr.jvp(here, (W,), (V,))[1], cr.jvp(f, (W,), (V,))[1])
    same(cr.grad(here)(W), cr.grad(f)(W))
    same(cr.hvp(here, (W,), (V,)), cr.hvp(f, (W,), (V,)))


def test_higher_orders(chunks, client):
    f = loss(chunks[:2], client)

    def expected(w):
        return sum(loss_of(w, data) for data in HERE[:2])

    same(cr.jacrev(cr.grad(expected))(W), cr.jacrev(cr.grad(f))(W))
    third = [cr.jvp(lambda w, g=g: cr.hvp(g, (w,), (V,)), (W,), (V,))[1] for g in (expected, f)]
    same(*third)


def test_items_with_values_of_their_own(chunks, client):
    def f(w, xs, **on):
        ys = cr.map(lambda x, data: rows_of(w * x, data), xs, chunks if on else HERE, **on)
        return np.sum(np.stack(list(ys)) ** 2)

    xs = np.linspace(0.5, 1.5, CHUNKS)
    for derivative in (cr.grad(f, (0, 1)), lambda *args, **on: cr.hvp(
        lambda w, xs: f(w, xs, **on), args, (V, xs)
    )):  # fmt: skip
        for expected, found in zip(derivative(W, xs), derivative(W, xs, executor=client)):
            same(expected, found)


def test_futures_inside_of_items(chunks, client):
    items = [{"data": data, "weight": k} for k, data in enumerate(chunks)]

    def f(item):
        return item["weight"] * loss_of(W, item["data"])

    same(
        [f({"data": data, "weight": k}) for k, data in enumerate(HERE)],
        cr.map(f, items, executor=client),
    )


def test_only_sums_travel(chunks, client, monkeypatch):
    gathered = []
    gather = client.gather
    monkeypatch.setattr(client, "gather", lambda xs: gathered.append(len(xs)) or gather(xs))
    cr.grad(loss(chunks, client, back="tape", chunksize=1))(W)
    assert gathered == [CHUNKS, 1]  # the values, and one sum


def test_small_slopes_travel_with_the_values(chunks, client, monkeypatch):
    gathered = []
    gather = client.gather
    monkeypatch.setattr(client, "gather", lambda xs: gathered.append(len(xs)) or gather(xs))
    same(cr.grad(here)(W), cr.grad(loss(chunks, client, chunksize=1))(W))
    assert gathered == [CHUNKS]
    monkeypatch.setattr(maps, "BYTES_OF_SLOPES", 10)  # slopes stay, and are added up
    same(cr.grad(here)(W), cr.grad(loss(chunks, client, chunksize=1))(W))
    assert gathered == [CHUNKS, CHUNKS, 1]


def test_an_item_has_arrays_that_nobody_writes_to(client):
    data = client.submit(np.ones, 200_000)

    def f(x):
        try:
            x.view().flags.writeable = True
        except ValueError:
            return np.sum(x * x) if not may_change(x) else 0.0
        return 0.0

    def product(w):
        return sum(cr.map(lambda x: w * f(x), [data], executor=client))

    assert cr.grad(product)(0.5) == 200_000.0


def test_data_of_a_cluster_in_this_process_may_be_written_to():
    data = np.ones(200_000)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        future = client.scatter(data, hash=False)
        assert client.submit(id, future).result() == id(data)  # without a copy

        def f(w):
            y = sum(cr.map(lambda x: np.sum(x * w), [future], executor=client, back="tape"))
            data[:] = 0.0
            return y

        with pytest.raises(cr.MutationError):
            cr.grad(f)(2.0)


def test_large_shared_values(chunks, client):
    big = np.linspace(0.0, 1.0, 20_000)

    def f(data):
        return np.sum(big) * np.sum(data[0])

    same([f(data) for data in HERE[:2]], cr.map(f, chunks[:2], executor=client))


def test_a_large_captured_array_is_one_object_on_a_worker(client):
    big = np.arange(300_000.0)

    def f(k):
        return float(big.__array_interface__["data"][0])

    places = cr.map(f, list(range(12)), executor=client, chunksize=1)
    assert len(set(places)) <= 2  # workers
    gradient = cr.grad(lambda w: np.sum(cr.map(lambda k: w * big[k], [1, 2, 3], executor=client)))
    assert gradient(1.0) == 6.0


@pytest.mark.parametrize("back", [None, "recompute"])
@pytest.mark.parametrize("chunksize", [None, 7])
def test_many_items_are_joined(back, chunksize, client):
    xs = list(np.linspace(-1.0, 1.0, 60))

    def loss(w, **on):
        return np.sum(cr.map(lambda x: np.sin(w * x) * x, xs, **on))

    on = {"executor": client, "back": back, "chunksize": chunksize}
    np.testing.assert_allclose(loss(0.7, **on), loss(0.7), rtol=1e-12)
    found = cr.grad(lambda w: loss(w, **on))
    np.testing.assert_allclose(found(0.7), cr.grad(loss)(0.7), rtol=1e-12)
    np.testing.assert_allclose(cr.grad(found)(0.7), cr.grad(cr.grad(loss))(0.7), rtol=1e-12)


def test_a_map_inside_of_an_item_does_not_wait_for_its_own_worker(client):
    def row(w, x):
        inner = distributed.get_client()
        return np.sum(cr.map(lambda y: np.sin(w * x * y), [1.0, 2.0], executor=inner))

    def loss(w):
        return np.sum(cr.map(lambda x: row(w, x), [0.1, 0.2, 0.3], executor=client))

    expected = sum(np.cos(0.5 * x * y) * x * y for x in (0.1, 0.2, 0.3) for y in (1, 2))
    np.testing.assert_allclose(cr.grad(loss)(0.5), expected, rtol=1e-12)

    def in_a_task(w):
        inner = distributed.get_client()
        return cr.grad(lambda w: np.sum(cr.map(lambda x: x * w, [1.0, 2.0], executor=inner)))(w)

    found = client.gather([client.submit(in_a_task, 1.0 * k, pure=False) for k in range(4)])
    assert found == [3.0] * 4


def test_a_timeout_is_an_error_in_words(client):
    with pytest.raises(TimeoutError, match=r"took more than 0\.5 s"):
        cr.map(lambda x: time.sleep(3) or x, [1.0, 2.0], executor=client, timeout=0.5)
    assert cr.map(lambda x: 2 * x, [1.0], executor=client, timeout=60) == [2.0]


def test_reduce(client):
    def product(t, items, **on):
        return np.sum(cr.reduce(lambda a, b: a @ b * t, items, **on))

    loaded = client.map(lambda k: np.eye(2) + 0.1 * k, range(20))
    items = [np.eye(2) + 0.1 * k for k in range(20)]
    same(product(0.7, items), product(0.7, loaded, executor=client))
    gradient = cr.grad(lambda t: product(t, loaded, executor=client))(0.7)
    np.testing.assert_allclose(gradient, cr.grad(lambda t: product(t, items))(0.7), rtol=1e-11)


def test_its_executor(client):
    found = cr.grad(lambda w: sum(cr.map(lambda x: np.sum(w * x), [1.0, 2.0], executor=pool)))
    with client.get_executor() as pool:
        same(3.0 * V, found(W))


def test_the_users_own_error(chunks, client):
    def f(data):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cr.map(f, chunks, executor=client)


def test_one_future_for_all_items(client):
    with pytest.raises(TypeError, match=r"(?s)one future for all.*test_maps_on_a_cl.*client.map"):
        cr.map(np.sum, client.submit(list, (1.0, 2.0)), executor=client)


def test_progress(chunks, client, capsys):
    pytest.importorskip("tqdm")
    cr.grad(loss(chunks, client, progress=True, back="tape"))(W)
    said = capsys.readouterr().err
    assert "map: 100%" in said
    assert "map, back: 100%" in said


# ---- workers that die: last, since it takes them seconds to come back ---------------------------


def kill(client, count):
    for pid in [*client.run(os.getpid).values()][:count]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("back", ["tape", "slopes", "recompute"])
def test_a_worker_is_killed_on_the_way_back(back, chunks, client):
    client.wait_for_workers(2)
    y, pullback = cr.vjp(loss(chunks, client, back=back), W)
    kill(client, 1)
    same(here(W), y)
    same(cr.grad(here)(W), pullback(1.0)[0])
    same(2 * cr.grad(here)(W), pullback(2.0)[0])


@pytest.mark.slow
def test_all_workers_are_killed_on_the_way_back(chunks, client):
    client.wait_for_workers(2)
    _, pullback = cr.vjp(loss(chunks, client, back="tape"), W)
    kill(client, 2)
    same(cr.grad(here)(W), pullback(1.0)[0])


@pytest.mark.slow
def test_a_worker_is_killed_during_hessian_products(chunks, client):
    client.wait_for_workers(2)
    f, expected = loss(chunks, client), cr.hvp(here, (W,), (V,))
    killer = threading.Timer(0.05, kill, (client, 1))
    killer.start()
    for _ in range(3):
        same(expected, cr.hvp(f, (W,), (V,)))
    killer.join()


@pytest.mark.slow
def test_scattered_data_are_lost(client):
    client.wait_for_workers(2)
    scattered = client.scatter(HERE[:4], hash=False)
    _, pullback = cr.vjp(loss(scattered, client, back="tape"), W)
    kill(client, 1)
    with pytest.raises(cr.LostDataError, match=r"(?s)test_maps_on_a_cl.*scattered.*client.map"):
        pullback(1.0)


@pytest.mark.slow
def test_a_worker_is_retired_on_the_way_back(chunks, client, cluster):
    cluster.scale(3)  # so that the others have two
    client.wait_for_workers(3)
    _, pullback = cr.vjp(loss(chunks, client, back="tape"), W)
    client.retire_workers([next(iter(client.scheduler_info()["workers"]))])
    same(cr.grad(here)(W), pullback(1.0)[0])


def test_a_client_that_is_closed_meanwhile_is_named(cluster):
    client = distributed.Client(cluster)
    timer = threading.Timer(0.3, client.close)
    timer.start()
    try:
        with pytest.raises(cr.LostDataError, match="client of a cluster was closed before its"):
            cr.map(lambda k: (time.sleep(1.0), k)[1], [1.0, 2.0], executor=client)
    finally:
        timer.join()
        client.close()


def test_a_closed_client_is_refused_in_words(cluster):
    with distributed.Client(cluster) as closed:
        pass
    with pytest.raises(cr.LostDataError, match="a Client that is closed has no workers"):
        cr.map(np.sin, [1.0, 2.0], executor=closed)
