"""A long short-term memory: one layer of 32 cells that predicts the next of 100 characters."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from peers import gradient, peers
from table import JAX_JIT, OWN_LOOP
from workload import Workload

STEPS, INPUTS, CELLS = 100, 14, 32


def step_in(namespace: ModuleType) -> Callable:
    tanh = namespace.tanh

    def sigmoid(z: Any) -> Any:
        return 1.0 / (1.0 + namespace.exp(-z))

    def step(hidden: Any, cell: Any, x: Any, w: Any, u: Any, b: Any) -> tuple:
        z = w @ x + u @ hidden + b
        enter, forget = sigmoid(z[:CELLS]), sigmoid(z[CELLS : 2 * CELLS])
        leave, new = sigmoid(z[2 * CELLS : 3 * CELLS]), tanh(z[3 * CELLS :])
        cell = forget * cell + enter * new
        return leave * tanh(cell), cell

    return step


def surprise(namespace: ModuleType, hidden: Any, v: Any, c: Any, x: Any) -> Any:
    """Return minus the log of the probability of ``x``, which is one of the unit vectors."""
    scores = v @ hidden + c
    return namespace.log(namespace.sum(namespace.exp(scores))) - scores @ x


def lstm(namespace: ModuleType) -> Callable:
    step = step_in(namespace)

    def loss(w: Any, u: Any, b: Any, v: Any, c: Any, text: Any, start: Any) -> Any:
        hidden = cell = start
        y = 0.0
        for t in range(STEPS):
            hidden, cell = step(hidden, cell, text[t], w, u, b)
            y = y + surprise(namespace, hidden, v, c, text[t + 1])
        return y

    return loss


def lstm_in_loop(namespace: ModuleType) -> Callable:
    step, scan = step_in(namespace), peers()[JAX_JIT].jax.lax.scan

    def loss(w: Any, u: Any, b: Any, v: Any, c: Any, text: Any, start: Any) -> Any:
        def one(carry: Any, pair: Any) -> tuple:
            hidden, cell = step(*carry, pair[0], w, u, b)
            return (hidden, cell), surprise(namespace, hidden, v, c, pair[1])

        return namespace.sum(scan(one, (start, start), (text[:-1], text[1:]))[1])

    return loss


def lstm_by_hand(w: Any, u: Any, b: Any, v: Any, c: Any, text: Any, start: Any) -> tuple:
    # Products that no step has to wait for are taken for all steps at once.
    given = text[:-1] @ w.T + b
    gates = np.empty((STEPS, 4 * CELLS))
    hiddens, cells = np.empty((STEPS + 1, CELLS)), np.empty((STEPS + 1, CELLS))
    hiddens[0] = cells[0] = start
    for t in range(STEPS):
        z = given[t] + u @ hiddens[t]
        gates[t, : 3 * CELLS] = 1.0 / (1.0 + np.exp(-z[: 3 * CELLS]))
        gates[t, 3 * CELLS :] = np.tanh(z[3 * CELLS :])
        enter, forget, leave, new = gates[t].reshape(4, CELLS)
        cells[t + 1] = forget * cells[t] + enter * new
        hiddens[t + 1] = leave * np.tanh(cells[t + 1])
    scores = hiddens[1:] @ v.T + c
    odds = np.exp(scores)
    sums = np.sum(odds, axis=1)
    y = np.sum(np.log(sums)) - np.sum(scores * text[1:])

    scores_bar = odds / sums[:, None] - text[1:]
    given_bars = scores_bar @ v
    bends = np.tanh(cells[1:])
    slopes = gates * (1.0 - gates)
    slopes[:, 3 * CELLS :] = 1.0 - gates[:, 3 * CELLS :] ** 2
    zbar = np.empty((STEPS, 4, CELLS))
    hidden_bar, cell_bar = np.zeros(CELLS), np.zeros(CELLS)
    for t in reversed(range(STEPS)):
        enter, forget, leave, new = gates[t].reshape(4, CELLS)
        hidden_bar = hidden_bar + given_bars[t]
        cell_bar = cell_bar + hidden_bar * leave * (1.0 - bends[t] ** 2)
        zbar[t, 0], zbar[t, 1] = cell_bar * new, cell_bar * cells[t]
        zbar[t, 2], zbar[t, 3] = hidden_bar * bends[t], cell_bar * enter
        zbar[t] *= slopes[t].reshape(4, CELLS)
        hidden_bar, cell_bar = zbar[t].ravel() @ u, cell_bar * forget
    bars = zbar.reshape(STEPS, 4 * CELLS)
    layer = bars.T @ text[:-1], bars.T @ hiddens[:-1], np.sum(bars, axis=0)
    return y, (*layer, scores_bar.T @ hiddens[1:], np.sum(scores_bar, axis=0))


# ---- one layer without gates, on a batch of 32, 50 steps ----


def rnn_step(namespace: ModuleType, h: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    return namespace.tanh(x @ w + h @ u + b)


def rnn(namespace: ModuleType) -> Callable:
    def loss(w: Any, u: Any, b: Any, v: Any, inputs: Any, start: Any, goal: Any) -> Any:
        h = start
        for t in range(50):
            h = rnn_step(namespace, h, inputs[t], w, u, b)
        return namespace.mean((h @ v - goal) ** 2)

    return loss


def rnn_in_loop(namespace: ModuleType) -> Callable:
    scan = peers()[JAX_JIT].jax.lax.scan

    def loss(w: Any, u: Any, b: Any, v: Any, inputs: Any, start: Any, goal: Any) -> Any:
        h, _ = scan(lambda h, x: (rnn_step(namespace, h, x, w, u, b), None), start, inputs)
        return namespace.mean((h @ v - goal) ** 2)

    return loss


def workloads() -> Iterator[Workload]:
    rng, four, five = np.random.default_rng(0), (0, 1, 2, 3), (0, 1, 2, 3, 4)

    def normal(scale: float, *shape: int) -> np.ndarray:
        return scale * rng.normal(size=shape)

    shapes = [(4 * CELLS, INPUTS), (4 * CELLS, CELLS), (4 * CELLS,), (INPUTS, CELLS), (INPUTS,)]
    layers = [normal(0.2, *shape) for shape in shapes]
    text = np.eye(INPUTS)[rng.integers(INPUTS, size=STEPS + 1)]
    yield Workload(
        "gradient, LSTM, 32 cells, 100 steps",
        34 * STEPS,
        gradient(lstm, five),
        (*layers, text, np.zeros(CELLS)),
        lstm_by_hand,
        gradient(lstm_in_loop, five),
        compiled={JAX_JIT: 0.1, OWN_LOOP: 0.65},
        slow=(JAX_JIT,),
    )
    layers = [normal(0.2, 16, 64), normal(0.1, 64, 64), normal(0.1, 64), normal(0.2, 64, 4)]
    yield Workload(
        "gradient, RNN, 64 cells, 50 steps, batch of 32",
        250,
        gradient(rnn, four),
        (*layers, normal(1.0, 50, 32, 16), np.zeros((32, 64)), normal(1.0, 32, 4)),
        own_loop=gradient(rnn_in_loop, four),
        compiled={JAX_JIT: 0.8, OWN_LOOP: 0.95},
    )
