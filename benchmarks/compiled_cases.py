"""What ``compiled.py`` measures: programs written once, over a library, and what is asked of ours.

Most are those of the workloads beside this file; here are the ones that only compiling is for.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from peers import JAX_JIT, Function, Peer, peers
from table import BY_HAND
from workloads_clusters import mixture, mixture_by_hand
from workloads_elementwise import (
    chain,
    chain_by_hand,
    chain_jvp_by_hand,
    large,
    large_by_hand,
    summed_chain,
    summed_chain_by_hand,
)
from workloads_gaussian_process import N as GP_N
from workloads_gaussian_process import by_hand as gaussian_process_by_hand
from workloads_gaussian_process import negative_log_likelihood
from workloads_indexing import index_loop_in_jit
from workloads_jacobians import N as JACOBIAN_N
from workloads_jacobians import by_hand as jacobian_by_hand
from workloads_jacobians import mixed
from workloads_lstm import CELLS, INPUTS, lstm, lstm_by_hand, lstm_in_jit
from workloads_lstm import STEPS as LETTERS
from workloads_models import classifier, classifier_by_hand, regression, regression_by_hand
from workloads_nested import MODES, particle, particle_by_hand, saddle, saddle_by_hand
from workloads_orbit import orbit, orbit_by_hand, orbit_in_jit
from workloads_rosenbrock import hessian_by_hand, product_by_hand, rosenbrock, rosenbrock_by_hand
from workloads_small import mean_squared_error

OWN_LOOP = "JAX loop"
In = Callable[[ModuleType], Function]


@dataclass
class Case:
    """A derivative, as a function of a peer; ``targets`` are the largest ratios of compiled code.

    ``own_loop`` is the same in JAX's own loop. ``refused``: values decide what it does, so that
    JAX's jit raises. ``slow``: its jit takes minutes, as it compiles every step of the loop.
    """

    name: str
    derived: Callable[[Peer], Function]
    args: tuple
    by_hand: Function | None = None
    targets: dict[str, float] = field(default_factory=dict)
    own_loop: Callable[[Peer], Function] | None = None
    refused: bool = False
    rtol: float = 1e-8
    slow: bool = False


def gradient(function_in: In, argnums: tuple = (0,)) -> Callable[[Peer], Function]:
    return lambda peer: peer.of["gradient"](function_in(peer.namespace), argnums=argnums)


def value(function_in: In) -> Callable[[Peer], Function]:
    return lambda peer: function_in(peer.namespace)


def derivative(kind: str, function_in: Callable, *data: Any) -> Callable[[Peer], Function]:
    def derived(peer: Peer) -> Function:
        return peer.of[kind](function_in(peer.namespace, *map(peer.array, data)))

    return derived


def jit(ratio: float) -> dict[str, float]:
    return {JAX_JIT: ratio}


def hand(ratio: float) -> dict[str, float]:
    return {BY_HAND: ratio}


# ---- loops ----


def sum3(namespace: ModuleType) -> Function:
    def f(x: Any) -> Any:
        y = 0.0
        for i in range(3):
            y = y + x[i]
        return y

    return f


def index_loop(namespace: ModuleType) -> Function:
    return lambda x: sum(x[i] ** 2 for i in range(len(x)))


def chain_in_jit(namespace: ModuleType) -> Function:
    loop, sin = peers()[JAX_JIT].jax.lax.fori_loop, namespace.sin  # type: ignore[attr-defined]
    # As many steps as in chain(namespace, 1000).
    return lambda x: sin(loop(0, 333, lambda _, y: sin(y) * x + 0.5, x))


def summed_chain_in_jit(namespace: ModuleType) -> Function:
    loop, sin = peers()[JAX_JIT].jax.lax.fori_loop, namespace.sin  # type: ignore[attr-defined]

    def f(x: Any) -> Any:
        y = loop(0, 66, lambda _, y: sin(y) * x + 0.5, x)
        return namespace.sum(sin(sin(y)))

    return f


RK4_STEPS, DT = 200, 0.02


def rk4_step(x: Any, y: Any, a: Any, b: Any, c: Any, d: Any) -> tuple:
    def slope(x: Any, y: Any) -> tuple:
        return a * x - b * x * y, d * x * y - c * y

    k1, l1 = slope(x, y)
    k2, l2 = slope(x + 0.5 * DT * k1, y + 0.5 * DT * l1)
    k3, l3 = slope(x + 0.5 * DT * k2, y + 0.5 * DT * l2)
    k4, l4 = slope(x + DT * k3, y + DT * l3)
    x = x + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return x, y + DT / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)


def rk4(namespace: ModuleType) -> Function:
    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        x, y = 1.0, 0.5
        for _ in range(RK4_STEPS):
            x, y = rk4_step(x, y, a, b, c, d)
        return x + y

    return f


def rk4_in_jit(namespace: ModuleType) -> Function:
    loop = peers()[JAX_JIT].jax.lax.fori_loop  # type: ignore[attr-defined]

    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        x, y = loop(0, RK4_STEPS, lambda _, s: rk4_step(*s, a, b, c, d), (1.0, 0.5))
        return x + y

    return f


def rnn_step(namespace: ModuleType, h: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    return namespace.tanh(x @ w + h @ u + b)


def rnn(namespace: ModuleType) -> Function:
    def loss(w: Any, u: Any, b: Any, v: Any, inputs: Any, start: Any, goal: Any) -> Any:
        h = start
        for t in range(50):
            h = rnn_step(namespace, h, inputs[t], w, u, b)
        return namespace.mean((h @ v - goal) ** 2)

    return loss


def rnn_in_jit(namespace: ModuleType) -> Function:
    scan = peers()[JAX_JIT].jax.lax.scan  # type: ignore[attr-defined]

    def loss(w: Any, u: Any, b: Any, v: Any, inputs: Any, start: Any, goal: Any) -> Any:
        h, _ = scan(lambda h, x: (rnn_step(namespace, h, x, w, u, b), None), start, inputs)
        return namespace.mean((h @ v - goal) ** 2)

    return loss


# ---- values decide what is done ----


def newton(namespace: ModuleType) -> Function:
    """Return the sum of 20 solutions of Kepler's equation, each by Newton's method."""
    sin, cos = namespace.sin, namespace.cos

    def f(e: Any, m: Any) -> Any:
        total = 0.0
        for k in range(20):
            u = goal = m + 0.3 * k
            while abs(u - e * sin(u) - goal) > 1e-12:
                u = u - (u - e * sin(u) - goal) / (1.0 - e * cos(u))
            total = total + sin(u)
        return total

    return f


def newton_by_hand(e: float, m: float) -> tuple:
    total = ebar = mbar = 0.0
    for k in range(20):
        u = goal = m + 0.3 * k
        while abs(u - e * math.sin(u) - goal) > 1e-12:
            u -= (u - e * math.sin(u) - goal) / (1.0 - e * math.cos(u))
        sine, cosine = math.sin(u), math.cos(u)
        slope = 1.0 - e * cosine
        total += sine
        ebar += cosine * sine / slope
        mbar += cosine / slope
    return total, (ebar, mbar)


def branches(namespace: ModuleType) -> Function:
    """Return the energy after 100 steps under a force that depends on where it is."""

    def f(a: Any, b: Any) -> Any:
        x, v = 0.0, a
        for _ in range(100):
            if x > 0.5:
                force = -b * (x - 0.5) - 0.1 * v
            elif x < -0.5:
                force = -b * (x + 0.5) ** 3
            else:
                force = -0.1 * v * abs(v)
            v = v + 0.05 * force
            x = x + 0.05 * v
        return x * x + v * v

    return f


def branches_by_hand(a: float, b: float) -> tuple:
    # The derivatives of x and v in a and in b are carried along.
    x, v, xa, va, xb, vb = 0.0, a, 0.0, 1.0, 0.0, 0.0
    for _ in range(100):
        in_b = 0.0
        if x > 0.5:
            in_x, in_v, in_b = -b, -0.1, 0.5 - x
            force = in_x * (x - 0.5) - 0.1 * v
        elif x < -0.5:
            in_x, in_v, in_b = -3.0 * b * (x + 0.5) ** 2, 0.0, -((x + 0.5) ** 3)
            force = b * in_b
        else:
            in_x, in_v = 0.0, -0.2 * abs(v)
            force = -0.1 * v * abs(v)
        va, vb = va + 0.05 * (in_x * xa + in_v * va), vb + 0.05 * (in_x * xb + in_v * vb + in_b)
        v += 0.05 * force
        x, xa, xb = x + 0.05 * v, xa + 0.05 * va, xb + 0.05 * vb
    return x * x + v * v, (2.0 * (x * xa + v * va), 2.0 * (x * xb + v * vb))


# ---- arrays ----


def twenty(namespace: ModuleType) -> Function:
    """Return a function of 20 products and sums, and a sum of all."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = y * x + 0.5
        return namespace.sum(y)

    return f


def whole_twenty(namespace: ModuleType) -> Function:
    """Return the same with numbers that integers keep."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = y * x + 5
        return namespace.sum(namespace.where(y != x, y, x))

    return f


def log_determinant_likelihood(namespace: ModuleType) -> Function:
    exp, total, linalg = namespace.exp, namespace.sum, namespace.linalg

    def f(logs: Any, squared: Any, seen: Any, eye: Any) -> Any:
        length, scale, noise = exp(logs[0]), exp(logs[1]), exp(logs[2])
        k = scale**2 * exp(-0.5 * squared / length**2) + noise**2 * eye
        return 0.5 * total(seen * linalg.solve(k, seen)) + 0.5 * linalg.slogdet(k)[1]

    return f


def kernels(namespace: Any) -> dict[str, Function]:
    exp, log1p, tanh, sqrt = namespace.exp, namespace.log1p, namespace.tanh, namespace.sqrt
    return {
        "exp": exp,
        "log": namespace.log,
        "tanh": tanh,
        "sin": namespace.sin,
        "log1p(exp)": lambda x: log1p(exp(x)),
        "sigmoid": lambda x: 1.0 / (1.0 + exp(-x)),
        "sqrt(x * x + 1)": lambda x: sqrt(x * x + 1.0),
        "gelu": lambda x: 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))),
        "where": lambda x: namespace.where(x > 1.0, x * x, exp(x)),
        "variance": lambda x: (x - namespace.mean(x)) ** 2,
    }


def kernel(name: str) -> In:
    return lambda namespace: lambda x: namespace.sum(kernels(namespace)[name](x))


# ---- the list ----


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    yield from scalar_cases(rng)
    yield from nested_cases()
    yield from vector_cases(rng)
    yield from model_cases(rng)
    yield from gaussian_processes(rng)
    yield from large_cases(rng)


def scalar_cases(rng: np.random.Generator) -> Iterator[Case]:
    ones = np.array([1.0, 1.0, 1.0])
    yield Case(
        "sum3", gradient(sum3), (rng.normal(size=3),), lambda x: (x.sum(), (ones.copy(),)), jit(0.3)
    )
    given: tuple = (rng.normal(size=30), rng.normal(size=30))

    def error_by_hand(y: np.ndarray, seen: np.ndarray) -> tuple:
        rest = y - seen
        return np.mean(rest**2), (2.0 / 30 * rest,)

    yield Case("mse of 30", gradient(mean_squared_error), given, error_by_hand, jit(0.3))
    yield Case(
        "index loop 1000",
        gradient(index_loop),
        (rng.normal(size=1000),),
        lambda x: (np.sum(x * x), (2.0 * x,)),
        jit(0.02) | {OWN_LOOP: 0.4},
        gradient(index_loop_in_jit),
        slow=True,
    )
    yield Case(
        "scalar chain, gradient",
        gradient(lambda namespace: chain(namespace, 1000)),
        (0.7,),
        lambda x: (lambda y, xbar: (y, (xbar,)))(*chain_by_hand(x, 1000)),
        jit(0.4) | {OWN_LOOP: 0.6},
        gradient(chain_in_jit),
    )
    yield Case(
        "scalar chain, jvp",
        derivative("jvp", lambda namespace: chain(namespace, 1000)),
        (0.7, 1.0),
        lambda x, xdot: chain_jvp_by_hand(x, xdot, 1000),
        jit(0.4) | {OWN_LOOP: 0.6},
        derivative("jvp", chain_in_jit),
    )
    given, four = (1.5, 1.0, 3.0, 1.0), (0, 1, 2, 3)
    targets = jit(0.3) | {OWN_LOOP: 0.1}
    yield Case(
        "RK4, 200 steps", gradient(rk4, four), given, None, targets, gradient(rk4_in_jit, four),
        slow=True,
    )  # fmt: skip
    given = (np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 5.0]))
    yield Case(
        "RK4 of arrays, 500 steps",
        gradient(orbit, (0, 1)),
        given,
        orbit_by_hand,
        {OWN_LOOP: 0.1},
        gradient(orbit_in_jit, (0, 1)),
        refused=True,  # not by jit, but nobody waits for it
    )
    two = (0, 1)
    given = (0.3, 0.5)
    yield Case("Newton", gradient(newton, two), given, newton_by_hand, hand(0.35), refused=True)
    given = (1.0, 4.0)
    yield Case(
        "branches", gradient(branches, two), given, branches_by_hand, hand(0.2), refused=True
    )


def nested_cases() -> Iterator[Case]:
    for outer, inner in itertools.product(MODES, MODES):

        def landing(peer: Peer, outer: str = outer, inner: str = inner) -> Function:
            f = particle(peer, inner)
            if outer == "reverse":
                return peer.of["grad"](f)
            push = peer.of["jvp"](f)
            return lambda w: push(w, 1.0)[1]

        name = f"particle, {outer} over {inner}"
        yield Case(name, landing, (1.0,), particle_by_hand, hand(0.06), refused=True)
    for outer, inner in itertools.product(MODES, MODES):

        def highest(peer: Peer, outer: str = outer, inner: str = inner) -> Function:
            return peer.of[MODES[outer]](saddle(peer, inner))

        name = f"saddle, {outer} over {inner}"
        yield Case(name, highest, (np.array([0.5, -1.0]),), saddle_by_hand, jit(0.35))


def vector_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case(
        "vector chain, 200 on 10",
        gradient(lambda namespace: summed_chain(namespace, 200)),
        (rng.uniform(0.1, 1, 10),),
        lambda x: summed_chain_by_hand(x, 200),
        jit(0.6),
        gradient(summed_chain_in_jit),
    )
    x, xdot = rng.normal(size=1000), rng.normal(size=1000)
    yield Case("Rosenbrock, gradient", gradient(rosenbrock), (x,), rosenbrock_by_hand, jit(0.25))
    yield Case(
        "Rosenbrock, hvp", derivative("hvp", rosenbrock), (x, xdot), product_by_hand, jit(0.2)
    )
    yield Case(
        "Rosenbrock, Hessian 50",
        derivative("hessian", rosenbrock),
        (x[:50].copy(),),
        hessian_by_hand,
        jit(0.45),
    )
    x, a = rng.normal(size=JACOBIAN_N), rng.normal(size=(JACOBIAN_N, JACOBIAN_N)) / 7
    for kind, mode in (("jacfwd", "forward"), ("jacrev", "reverse")):
        yield Case(
            f"Jacobian 50 x 50, {mode}",
            derivative(kind, mixed, a),
            (x,),
            lambda x: jacobian_by_hand(x, a),
            jit(1.0),
        )


def model_cases(rng: np.random.Generator) -> Iterator[Case]:
    def normal(scale: float, *shape: int) -> np.ndarray:
        return scale * rng.normal(size=shape)

    shapes = [(4 * CELLS, INPUTS), (4 * CELLS, CELLS), (4 * CELLS,), (INPUTS, CELLS), (INPUTS,)]
    text = np.eye(INPUTS)[rng.integers(INPUTS, size=LETTERS + 1)]
    given: tuple = (*(normal(0.2, *shape) for shape in shapes), text, np.zeros(CELLS))
    five = (0, 1, 2, 3, 4)
    targets = jit(0.1) | {OWN_LOOP: 0.65}
    yield Case(
        "LSTM, 32 cells, 100 steps", gradient(lstm, five), given, lstm_by_hand, targets,
        gradient(lstm_in_jit, five), slow=True,
    )  # fmt: skip
    layers = (normal(0.2, 16, 64), normal(0.1, 64, 64), normal(0.1, 64), normal(0.2, 64, 4))
    given = (*layers, normal(1.0, 50, 32, 16), np.zeros((32, 64)), normal(1.0, 32, 4))
    four = (0, 1, 2, 3)
    targets = jit(0.8) | {OWN_LOOP: 0.95}
    yield Case(
        "RNN, 64 cells, 50 steps, batch of 32", gradient(rnn, four), given, None, targets,
        gradient(rnn_in_jit, four),
    )  # fmt: skip
    layers = (normal(0.05, 784, 256), normal(0.05, 256), normal(0.05, 256, 10), normal(0.05, 10))
    given = (*layers, rng.uniform(size=(128, 784)), np.eye(10)[rng.integers(10, size=128)])
    yield Case(
        "MLP 784-256-10, batch of 128", gradient(classifier, four), given, classifier_by_hand,
        jit(0.85),
    )  # fmt: skip
    labels = rng.choice([-1.0, 1.0], size=10_000)
    given = (normal(0.1, 100), 0.2, normal(1.0, 10_000, 100), labels)
    yield Case(
        "logistic regression 10^4 x 100", gradient(regression, (0, 1)), given, regression_by_hand,
        jit(0.85),
    )  # fmt: skip
    n, d, k = 2000, 10, 10
    given = (normal(1.0, k), normal(1.0, k, d), normal(0.3, k, d), normal(0.3, k, d, d))
    given += (normal(1.0, n, d), np.tri(d, k=-1), np.eye(d))
    yield Case(
        "Gaussian mixture, 2000 x 10, 10", gradient(mixture, four), given, mixture_by_hand, jit(0.5)
    )


def gaussian_processes(rng: np.random.Generator) -> Iterator[Case]:
    x = np.sort(rng.uniform(0, 10, GP_N))
    seen = np.sin(x) + 0.1 * rng.normal(size=GP_N)
    given = (np.log([1.0, 1.5, 0.3]), (x[:, None] - x) ** 2, seen, np.eye(GP_N))
    for name, f, ratio in (
        ("Cholesky", negative_log_likelihood, 0.95),
        ("slogdet", log_determinant_likelihood, 1.0),
    ):
        name = f"Gaussian process, n = 200, {name}"
        yield Case(name, gradient(f), given, gaussian_process_by_hand, jit(ratio))


def large_cases(rng: np.random.Generator) -> Iterator[Case]:
    x = rng.uniform(0.1, 1.0, 10**6)
    yield Case("20 products and sums on 10^6", gradient(twenty), (x,), None, jit(0.35))
    yield Case("20 with 5 sines on 10^6", gradient(large), (x,), large_by_hand, jit(0.35))
    yield from large_cases_of_other_dtypes(x)
    x = rng.uniform(0.1, 3.0, 10**6)
    for name in kernels(np):
        yield Case(f"{name} on 10^6", gradient(kernel(name)), (x,), None, jit(0.9))


def large_cases_of_other_dtypes(x: np.ndarray) -> Iterator[Case]:
    single, products = (x.astype(np.float32),), "20 products and sums on 10^6"
    yield Case(f"{products} float32", gradient(twenty), single, None, jit(0.4), rtol=1e-3)
    yield Case("gelu on 10^6 float32", gradient(kernel("gelu")), single, None, jit(0.9), rtol=1e-3)
    for dtype in ("complex128", "int64"):
        given = (x * (1.0 + 0.3j) if dtype == "complex128" else (100.0 * x).astype(dtype),)
        yield Case(f"{products} {dtype}, value", value(whole_twenty), given, None, jit(0.9))
