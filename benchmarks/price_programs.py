"""Programs of all kinds whose derivatives ``price.py`` measures."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import price_engineering as engineering
from peers import Function, Peer, optional, peers
from table import AUTOGRAD, JAX_JIT, PYTORCH
from workloads_fit import HARES, LYNXES
from workloads_gaussian_process import negative_log_likelihood
from workloads_orbit import step_in
from workloads_rosenbrock import rosenbrock
from workloads_small import OPERATIONS, many_operations, mixture, perceptron, recurrent

PEERS = (AUTOGRAD, JAX_JIT, PYTORCH)
AS_IT_STANDS = "classes, buffers and math as they stand"
NO_SOLVER = "it has no such solver"
NO_FUNCTION = "it has no such function"


@dataclass
class Priced:
    """A function, its arguments, and how the peers take it.

    ``function_in`` makes the function over a namespace of array functions; ``f`` is one that is
    ours alone, and ``reason`` says why. ``skipped`` maps a peer to the reason why it has none,
    ``own`` a peer to a formulation of its own (of its namespace).
    """

    name: str
    kind: str
    args: tuple
    f: Function | None = None
    function_in: Callable[[Any], Function] | None = None
    argnums: Any = 0
    reason: str = ""
    skipped: dict[str, str] = field(default_factory=dict)
    own: dict[str, Callable[[Any], Function]] = field(default_factory=dict)
    mode: str = ""  # of the peers' Jacobians, where it is not that of fewer passes

    @property
    def function(self) -> Function:
        return self.f if self.f is not None else self.function_in(np)  # type: ignore[misc]

    def of_peers(self) -> Iterator[tuple[Peer, Function]]:
        """Yield each peer that is installed and takes the program, and the function in it."""
        for name in PEERS:
            built = self.own.get(name, self.function_in)
            if name in peers() and built is not None and name not in self.skipped:
                yield peers()[name], built(peers()[name].namespace)

    def reasons(self) -> dict[str, str]:
        """Return why a peer has no figure."""
        found = {}
        for name in PEERS:
            if name not in self.own and (self.function_in is None or name in self.skipped):
                found[name] = self.skipped.get(name, self.reason)
        return found


# ---- scalar loops -------------------------------------------------------------------------------


def recurrence(namespace: Any) -> Function:
    sin, stack = namespace.sin, namespace.stack

    def f(p: Any) -> Any:
        x, out = p[0], []
        for i in range(1000):
            x = x + 0.001 * (p[1] * x - p[2] * x * x + p[3] * sin(x))
            if i % 10 == 0:
                out.append(x)
        return stack(out)

    return f


def looped(step: Callable) -> Callable:
    """Return the state after so many steps by JAX's own loop: jit would unroll Python's."""

    def states(x: Any, count: int) -> Any:
        scan = peers()[JAX_JIT].jax.lax.scan  # type: ignore[attr-defined]
        return scan(lambda x, _: (step(x), step(x)), x, None, length=count)[1]

    return states


def recurrence_in_scan(namespace: Any) -> Function:
    sin = namespace.sin

    def f(p: Any) -> Any:
        def step(x: Any) -> Any:
            return x + 0.001 * (p[1] * x - p[2] * x * x + p[3] * sin(x))

        return looped(step)(p[0], 1000)[::10]

    return f


def operations_in_scan(namespace: Any) -> Function:
    sin = namespace.sin

    def f(x: Any) -> Any:
        a, b, c, d = x[0], x[1], x[2], x[3]

        def step(y: Any) -> Any:
            y = sin(y * a + b) * c - d
            return y / (1.5 + y * y)

        return looped(step)(a, OPERATIONS // 8)[-1]

    return f


def orbit_in_scan(namespace: Any) -> Function:
    step = step_in(namespace)

    def loss(rates: Any, state: Any) -> Any:
        each = tuple(rates[i] for i in range(4))
        return namespace.sum(looped(lambda state: step(state, each))(state, 100)[-1] ** 2)

    return loss


def squared(function_in: Callable) -> Callable:
    def of(namespace: Any) -> Function:
        f = function_in(namespace)
        return lambda p: namespace.sum(f(p) ** 2)

    return of


def orbit(namespace: Any) -> Function:
    step = step_in(namespace)

    def loss(rates: Any, state: Any) -> Any:
        each = tuple(rates[i] for i in range(4))
        for _ in range(100):
            state = step(state, each)
        return namespace.sum(state**2)

    return loss


def power_flow(namespace: Any) -> Function:
    """Return the sum of squares of the powers at the nodes of a grid, of angles and voltages."""
    exp, conj, real, imag = namespace.exp, namespace.conj, namespace.real, namespace.imag
    rng, n = np.random.default_rng(0), 14
    half = 0.2 * (rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))
    admittances = (half + half.T).tolist()

    def f(x: Any) -> Any:
        voltages, total = [x[n + i] * exp(1j * x[i]) for i in range(n)], 0.0
        for voltage, row in zip(voltages, admittances, strict=True):
            current = 0.0
            for admittance, other in zip(row, voltages, strict=True):
                current = current + admittance * other
            power = voltage * conj(current)
            total = total + real(power) ** 2 + imag(power) ** 2
        return total

    return f


def ladder(namespace: Any) -> Function:
    """Return the reflected part of a wave at a ladder of coils and capacitors."""
    real, imag, n = namespace.real, namespace.imag, 20

    def f(x: Any) -> Any:
        z = 50.0 + 0j
        for i in range(n):
            z = 1.0 / (1.0 / (z + 2j * x[i]) + 2j * x[n + i])
        reflected = (z - 50.0) / (z + 50.0)
        return real(reflected) ** 2 + imag(reflected) ** 2

    return f


def scalar_loops() -> Iterator[Priced]:
    p, kind = np.array([1.0, 0.5, 0.2, 0.3]), "scalar loop"
    own: dict = {JAX_JIT: recurrence_in_scan}
    yield Priced("1000 scalar steps", kind, (p,), function_in=recurrence, own=own)
    own = {JAX_JIT: squared(recurrence_in_scan)}
    name = "1000 scalar steps, sum of squares"
    yield Priced(name, kind, (p,), function_in=squared(recurrence), own=own)
    x = np.array([0.6, 0.7, 0.8, 0.9])
    yield Priced(
        "1600 scalar operations",
        kind,
        (x,),
        function_in=many_operations,
        own={JAX_JIT: operations_in_scan},
    )
    given = np.array([0.55, 0.028, 0.84, 0.026]), np.array([33.0, 6.0])
    yield Priced(
        "RK4 of Lotka-Volterra, 100 steps",
        kind,
        given,
        function_in=orbit,
        own={JAX_JIT: orbit_in_scan},
    )
    x = np.random.default_rng(2).normal(size=28)
    yield Priced("power flow of 14 nodes, complex", kind, (x,), function_in=power_flow)
    x = np.random.default_rng(3).uniform(0.1, 1.0, size=40)
    yield Priced("ladder of 40 impedances, complex", kind, (x,), function_in=ladder)
    these = engineering
    alone = {"reason": AS_IT_STANDS}
    yield Priced("Kepler's equation", kind, (np.array([1.2, 0.3]),), these.kepler, **alone)
    given = (np.array([100.0, 0.2, 0.05]),)
    yield Priced("binomial tree", kind, given, these.binomial_tree, **alone)
    given = (np.array([100.0, 95.0, 0.5, 0.02, 0.25]),)
    yield Priced("Black and Scholes", kind, given, these.black_scholes, **alone)


# ---- classes ------------------------------------------------------------------------------------


def classes() -> Iterator[Priced]:
    own, alone = engineering, {"reason": AS_IT_STANDS}
    yield Priced("truss", "class", (np.linspace(1.0, 2.0, 31),), own.truss, **alone)
    yield Priced("Kalman filter", "class", (np.array([0.01, 0.1]),), own.kalman, **alone)
    yield Priced("thermal network", "class", (np.array([2.0, 5.0]),), own.thermal, **alone)
    yield Priced("PID", "class", (np.array([8.0, 2.0, 0.5]),), own.pid, **alone)
    yield Priced("low pass", "class", (np.array([2.0, 0.5]),), own.low_pass, **alone)


# ---- solvers ------------------------------------------------------------------------------------


def by_odeint(namespace: Any) -> Callable:
    """Return ``states(p, y0, times)`` of Lotka-Volterra by the peer's own solver."""
    if namespace.__name__.startswith("jax"):
        from jax.experimental.ode import odeint
    else:
        from autograd.scipy.integrate import odeint
    stack = namespace.stack

    def slope(y: Any, t: Any, p: Any) -> Any:
        met = y[0] * y[1]
        return stack([p[0] * y[0] - p[1] * met, p[3] * met - p[2] * y[1]])

    def states(p: Any, y0: Any, times: Any, given: Any) -> Any:
        return odeint(slope, y0, times, given(p), rtol=1e-6, atol=1e-6)

    return states


def likelihood(namespace: Any) -> Function:
    states, exp, log = by_odeint(namespace), namespace.exp, namespace.log

    def given(p: Any) -> Any:
        if namespace.__name__.startswith("jax"):
            return p
        from autograd.builtins import tuple as boxed

        return boxed((p,))

    def loss(p: Any, pelts: Any) -> Any:
        y = states(exp(p[:4]), exp(p[4:6]), engineering.YEARS - 1900.0, given).T
        residuals = (log(pelts) - log(y)) / exp(p[6:, None])
        return namespace.sum(residuals**2 / 2 + p[6:, None])

    return loss


def trajectory(namespace: Any) -> Function:
    states, y0 = by_odeint(namespace), namespace.asarray([10.0, 5.0])
    return lambda p: states(p, y0, engineering.TIMES, lambda p: p).T.ravel()


def solvers() -> Iterator[Priced]:
    own, other = engineering, {"reason": NO_SOLVER}
    ode = {
        "own": {JAX_JIT: trajectory},
        "mode": "jacrev",
    }  # its solver is of reverse mode alone
    ode |= {"skipped": {AUTOGRAD: "its odeint takes minutes", PYTORCH: NO_SOLVER}}
    start, pelts = own.TRUE, np.array([HARES, LYNXES])
    yield Priced("Lotka-Volterra, solve_ivp", "solver", (start,), own.lotka_volterra, **ode)
    yield Priced(
        "residuals of a fit, class and solve_ivp", "solver", (own.NEAR,), own.MODEL.residuals,
        reason=AS_IT_STANDS,
    )  # fmt: skip
    yield Priced(
        "likelihood of notebook 7, solve_ivp", "solver", (own.GUESS, pelts),
        own.minus_log_likelihood, own={AUTOGRAD: likelihood, JAX_JIT: likelihood}, **other,
    )  # fmt: skip
    yield Priced("Robertson, BDF", "solver", (np.log([0.04, 3e7, 1e4]),), own.robertson, **other)
    yield Priced("quad", "solver", (np.array([0.7, 3.0]),), own.integral, **other)
    yield Priced("root of 2 equations", "solver", (np.array([0.5, 0.8]),), own.root_of_two, **other)
    yield Priced("brentq", "solver", (np.array([1.5, 2.0]),), own.bracketed, **other)
    yield Priced("minimize", "solver", (np.array([1.2, 5.0]),), own.smallest, **other)
    yield Priced("least_squares", "solver", (np.array([2.5, 1.3, 0.2]),), own.fitted, **other)


# ---- arrays -------------------------------------------------------------------------------------


def damped_sine(namespace: Any) -> Function:
    exp, sin = namespace.exp, namespace.sin
    return lambda p, t: p[0] * exp(-p[1] * t) * sin(p[2] * t + p[3])


def logistic(namespace: Any) -> Function:
    """Return the likelihood by functions that every namespace has."""
    log, exp, total = namespace.log, namespace.exp, namespace.sum

    def loss(w: Any, features: Any, labels: Any) -> Any:
        return total(log(1.0 + exp(-labels * (features @ w)))) + 0.5 * total(w**2)

    return loss


def heat(namespace: Any) -> Function:
    sin, cat = namespace.sin, getattr(namespace, "concatenate", None) or namespace.cat

    def f(p: Any, grid: Any) -> Any:
        u = p[0] * sin(grid)
        for _ in range(100):
            inside = u[1:-1] + 0.4 * p[1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            u = cat([u[:1], inside, u[-1:]])
        return u

    return f


def arrays() -> Iterator[Priced]:
    rng = np.random.default_rng(0)
    small, large = "small arrays", "large arrays"
    yield Priced("Rosenbrock, n = 10", small, (rng.normal(size=10),), function_in=rosenbrock)
    layers = tuple(0.5 * rng.normal(size=s) for s in ((4, 8), 8, (8, 3), 3))
    given = *layers, rng.normal(size=(30, 4)), np.eye(3)[rng.integers(3, size=30)]
    four = (0, 1, 2, 3)
    yield Priced("MLP 4-8-3, batch of 30", small, given, None, perceptron, four)
    sizes = (8, 4), (8, 8), 8, (4, 8), (21, 4)
    given = *(0.5 * rng.normal(size=s) for s in sizes), np.zeros(8)
    yield Priced("RNN, 8 cells, 20 steps", small, given, None, recurrent, four)
    given = np.array([2.0, 0.3, 4.0, 0.5]), np.linspace(0.0, 5.0, 100)
    yield Priced("damped sine at 100 points", small, given, function_in=damped_sine)
    given = given[0], np.linspace(0.0, 5.0, 30000)
    yield Priced("damped sine at 30000 points", large, given, function_in=damped_sine)
    yield Priced("Rosenbrock, n = 1000", large, (rng.normal(size=1000),), function_in=rosenbrock)
    given = 0.1 * rng.normal(size=30), rng.normal(size=(5000, 30)), rng.choice([-1.0, 1.0], 5000)
    yield Priced("logistic regression 5000 x 30", large, given, function_in=logistic)
    given = np.array([1.0, 0.8]), np.linspace(0.0, np.pi, 1000)
    yield Priced("heat, 100 steps of 1000 cells", large, given, function_in=heat)


# ---- linear algebra -----------------------------------------------------------------------------


def solved(namespace: Any) -> Function:
    solve = namespace.linalg.solve
    return lambda p, a, b, right: solve(a + p[0] * b + p[1] * p[2] * b.T, right * p[3])


def eigenvalues(namespace: Any) -> Function:
    eigh = namespace.linalg.eigh
    return lambda p, a, b: eigh(a + a.T + p[0] * (b + b.T) + p[1] * p[2] * (b @ b.T))[0]


def exponential(namespace: Any) -> Function:
    name = namespace.__name__
    if name == "torch":
        expm = namespace.linalg.matrix_exp
    elif name.startswith("jax"):
        expm = optional("jax.scipy.linalg").expm
    else:
        from chainrules.scipy.linalg import expm  # type: ignore[import-not-found, unused-ignore]
    return lambda p, a, b: expm(p[0] * a + p[1] * b)[0]


def linear_algebra() -> Iterator[Priced]:
    rng, kind = np.random.default_rng(1), "linear algebra"
    a, b = 4.0 * np.eye(20) + 0.2 * rng.normal(size=(20, 20)), 0.2 * rng.normal(size=(20, 20))
    four = np.array([0.5, 0.2, 0.3, 1.0])
    given = four, a, b, rng.normal(size=20)
    yield Priced("solve, 20 x 20", kind, given, function_in=solved)
    given = four[:3], rng.normal(size=(8, 8)), rng.normal(size=(8, 8))
    yield Priced("eigenvalues, 8 x 8", kind, given, function_in=eigenvalues)
    given = four[:2], rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    yield Priced(
        "expm, 4 x 4", kind, given, function_in=exponential, skipped={AUTOGRAD: NO_FUNCTION}
    )
    x = np.sort(rng.uniform(0, 10, 20))
    given = np.log([1.0, 1.5, 0.3]), (x[:, None] - x) ** 2, np.sin(x), np.eye(20)
    yield Priced("Gaussian process, n = 20", kind, given, function_in=negative_log_likelihood)


# ---- statistics, signals, interpolation ---------------------------------------------------------


def negative_binomial(p: Any, counts: Any, x: Any) -> Any:
    from chainrules.scipy.special import gammaln

    mean, r = np.exp(p[0] + p[1] * x), np.exp(p[2])
    terms = gammaln(counts + r) - gammaln(r) + r * np.log(r / (r + mean))
    return -np.sum(terms + counts * np.log(mean / (r + mean)))


def student(p: Any, x: Any) -> Any:
    from chainrules.scipy.stats import t

    return -np.sum(t.logpdf(x, p[0], loc=p[1], scale=p[2]))


def convolved(p: Any, x: Any) -> Any:
    return np.convolve(x, p, mode="same")


def filtered(p: Any, x: Any) -> Any:
    from chainrules.scipy.signal import lfilter

    return lfilter(p[:2], np.stack([1.0, p[2], p[3]]), x)


def spectrum(p: Any, x: Any) -> Any:
    frequencies = np.arange(len(x) // 2 + 1) / len(x)
    response = p[0] / (1.0 + (frequencies / p[1]) ** 2)
    return np.fft.irfft(np.fft.rfft(x) * response)


def spline(p: Any, x: Any) -> Any:
    from chainrules.scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(6.0), p)(x)


def table(p: Any, x: Any) -> Any:
    return np.interp(x, np.arange(6.0), p)


def shifted(p: Any, image: Any) -> Any:
    from chainrules.scipy.ndimage import map_coordinates

    rows, columns = np.meshgrid(np.arange(5.0, 25.0), np.arange(5.0, 25.0), indexing="ij")
    return map_coordinates(image, np.stack([rows + p[0], columns + p[1]]), order=3).ravel()


def with_scipy() -> Iterator[Priced]:
    rng, ours = np.random.default_rng(2), {"reason": "written with NumPy's and SciPy's own names"}
    parts = np.zeros(3), rng.normal(size=3), np.zeros(3)
    yield Priced(
        "mixture, 100 numbers, 3 parts", "statistics", (*parts, rng.normal(size=(100, 1))), None,
        mixture, (0, 1, 2),
    )  # fmt: skip
    x = rng.normal(size=200)
    counts = rng.poisson(np.exp(0.5 + 0.3 * x)).astype(float)
    p = np.array([0.4, 0.2, 0.5])
    yield Priced("negative binomial", "statistics", (p, counts, x), negative_binomial, **ours)
    yield Priced("Student's t", "statistics", (np.array([4.0, 0.1, 1.2]), x), student, **ours)
    signal = np.sin(np.arange(200.0) / 7) + 0.1 * rng.normal(size=200)
    yield Priced("convolve", "signal", (rng.normal(size=5), signal), convolved, **ours)
    p = np.array([0.2, 0.1, -0.9, 0.2])
    yield Priced("lfilter", "signal", (p, signal), filtered, **ours)
    yield Priced("filter by FFT", "signal", (np.array([1.0, 0.1]), signal), spectrum, **ours)
    given = rng.normal(size=6), np.linspace(0.1, 4.9, 100)
    yield Priced("cubic spline", "interpolation", given, spline, **ours)
    yield Priced("np.interp", "interpolation", given, table, **ours)
    image = np.cumsum(np.cumsum(rng.normal(size=(30, 30)), 0), 1)
    yield Priced("shift of an image", "image", (np.array([0.3, -0.6]), image), shifted, **ours)


def programs() -> Iterator[Priced]:
    for family in (scalar_loops, classes, solvers, arrays, linear_algebra, with_scipy):
        yield from family()
