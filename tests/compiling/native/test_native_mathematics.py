"""Functions of our own against mpmath: units in the last place, over the whole range."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")
mpmath = pytest.importorskip("mpmath")

from native_interpreter import build, op

from chainrules.compiling.native import Input, Output, available
from chainrules.compiling.native import kernel as kernels

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")

MOST = 2.0  # units in the last place; of these a little more:
MORE = {"tan": 2.5, "sinh": 2.5}
COUNT = 2000

FUNCTIONS = {
    "exp": mpmath.exp, "expm1": mpmath.expm1, "log": mpmath.log, "log1p": mpmath.log1p,
    "tanh": mpmath.tanh, "sin": mpmath.sin, "cos": mpmath.cos, "arctan": mpmath.atan,
    "exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10, "tan": mpmath.tan, "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh, "arctanh": mpmath.atanh,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
}  # fmt: skip

rng = np.random.default_rng(11)


def uniform(low, high):
    return rng.uniform(low, high, COUNT)


def sizes(low, high):
    """Of all orders of size, both signs."""
    return rng.choice([-1.0, 1.0], COUNT) * 10.0 ** rng.uniform(low, high, COUNT)


near_turns = np.arange(-1000, 1000) * (np.pi / 2)
RANGES = {
    "exp": [uniform(-708, 709.7), uniform(-1, 1), sizes(-20, 2), uniform(-745.1, -700)],
    "expm1": [uniform(-40, 709.7), uniform(-1, 1), sizes(-300, 2), uniform(-0.5, 0.5)],
    "log": [np.abs(sizes(-307, 308)), uniform(0.5, 2), 1 + sizes(-16, -1), uniform(0, 5e-308)],
    "log1p": [
        np.abs(sizes(-300, 308)), uniform(-1, 1), uniform(-0.3, 0.5), np.abs(sizes(-16, -1)) - 1
    ],
    "tanh": [uniform(-25, 25), uniform(-1, 1), sizes(-300, 2), uniform(-0.4, 0.4)],
    "sin": [uniform(-10, 10), uniform(-1e6, 1e6), sizes(-300, 22), near_turns],
    "cos": [uniform(-10, 10), uniform(-1e6, 1e6), sizes(-300, 22), near_turns],
    "exp2": [uniform(-1022, 1023.9), uniform(-1, 1), sizes(-20, 2), uniform(-1074, -1020)],
    "log2": [np.abs(sizes(-307, 308)), uniform(0.5, 2), 1 + sizes(-16, -1), uniform(0, 5e-308)],
    "log10": [np.abs(sizes(-307, 308)), uniform(0.5, 2), 1 + sizes(-16, -1), uniform(0, 5e-308)],
    "cbrt": [uniform(-10, 10), sizes(-307, 308), sizes(-323, -300), uniform(0.3, 3)],
    "tan": [uniform(-10, 10), uniform(-1e6, 1e6), sizes(-300, 22), near_turns],
    "sinh": [uniform(-710.4, 710.4), uniform(-1, 1), sizes(-300, 2), uniform(-4, 4)],
    "cosh": [uniform(-710.4, 710.4), uniform(-1, 1), sizes(-300, 2), uniform(-4, 4)],
    "arcsin": [uniform(-1, 1), uniform(-0.5, 0.5), sizes(-300, 0), 1 - np.abs(sizes(-16, -1))],
    "arccos": [uniform(-1, 1), uniform(-0.5, 0.5), sizes(-300, 0), 1 - np.abs(sizes(-16, -1))],
    "arcsinh": [uniform(-5, 5), uniform(-1, 1), sizes(-300, 300), uniform(-0.3, 0.3)],
    "arccosh": [uniform(1, 5), 1 + np.abs(sizes(-15, 0)), np.abs(sizes(1, 300)), uniform(1, 1.1)],
    "arctanh": [uniform(-1, 1), uniform(-0.5, 0.5), sizes(-300, 0), 1 - np.abs(sizes(-16, -1))],
    "arctan": [uniform(-5, 5), uniform(-1, 1), sizes(-300, 300), uniform(0.6, 2.5)],
}  # fmt: skip


def native(name, *xs):
    kind, y = xs[0].dtype.str[1:], np.empty_like(xs[0])
    ops = [op(name, *range(len(xs)))]
    out = Output(len(xs), (1,), None, kind)
    build((len(y),), [Input(kind, (1,))] * len(xs), ops, [out])(*xs, y)
    return y


def truths(f, *xs):
    """The true results, to more digits than any of ours."""
    with mpmath.workprec(160):
        return [f(*map(mpmath.mpf, numbers)) for numbers in zip(*(x.tolist() for x in xs))]


def units(y, true, *xs):
    """The largest error of ``y`` in units of the last place of the true results."""
    with np.errstate(over="ignore"):
        nearest = np.array([float(t) for t in true]).astype(y.dtype)
    exact = ~np.isfinite(nearest) | (nearest == 0)
    assert np.array_equal(y[exact], nearest[exact]), [x[exact] for x in xs]
    spacing = np.spacing(np.abs(nearest)).astype(float)
    with mpmath.workprec(160):
        errors = [
            (t - found) / space
            for t, found, space, known in zip(true, y.tolist(), spacing.tolist(), exact.tolist())
            if not known
        ]
    return float(max(map(abs, errors), default=0.0))


def worst_of(name, width, xs, true, monkeypatch):
    """The largest error in each range, by code for vectors of so many numbers."""
    monkeypatch.setattr(kernels, "host_width", lambda: width)
    kernels._known.clear()
    worst = [units(native(name, x), y, x) for x, y in zip(xs, true, strict=True)]
    kernels._known.clear()
    print(f"{name} {width}: {[round(u, 2) for u in worst]}")
    return max(worst)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_last_places(name, monkeypatch):
    true = [truths(FUNCTIONS[name], x) for x in RANGES[name]]
    for width in (2, 4, 8):
        assert worst_of(name, width, RANGES[name], true, monkeypatch) <= MORE.get(name, MOST)


DOMAINS = {
    "log": (0, np.inf), "log2": (0, np.inf), "log10": (0, np.inf), "log1p": (-1, np.inf),
    "arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-1, 1), "arccosh": (1, np.inf),
}  # fmt: skip


def in_float32(name, x):
    with np.errstate(all="ignore"):
        x = x[: COUNT // 4].astype(np.float32)
    low, high = DOMAINS.get(name, (-np.inf, np.inf))  # of which rounding may leave
    return x[(x > low) & (x < high)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_last_places_of_float32(name, monkeypatch):
    xs = [in_float32(name, x) for x in RANGES[name]]
    true = [truths(FUNCTIONS[name], x) for x in xs]
    for width in (4, 8):
        assert worst_of(name, width, xs, true, monkeypatch) <= MOST


POWERS = [
    (np.abs(sizes(-3, 3)), uniform(-100, 100)),
    (uniform(0.5, 2), uniform(-700, 700)),
    (1 + sizes(-10, -1), sizes(1, 8)),
    (np.abs(sizes(-300, 300)), uniform(-1.2, 1.2)),
    (sizes(-3, 3), np.rint(uniform(-40, 40))),
    (np.abs(sizes(-320, -300)), uniform(-1, 1)),
    (np.abs(sizes(-3, 3)), rng.choice([2.0, 3.0, 0.5, -1.0, -0.5, 1.0, 4.0], COUNT)),
]


@pytest.mark.slow
def test_last_places_of_powers():
    with np.errstate(all="ignore"):
        worst = [units(native("power", x, y), truths(mpmath.power, x, y), x, y) for x, y in POWERS]
    print(f"power: {[round(u, 2) for u in worst]}")
    assert max(worst) <= MOST


PLANE = [
    (uniform(-5, 5), uniform(-5, 5)),
    (sizes(-300, 300), sizes(-300, 300)),
    (sizes(-3, 3), sizes(-3, 3)),
    (uniform(0.9, 1.1), uniform(-1.1, -0.9)),
]


@pytest.mark.parametrize(("name", "f"), [("hypot", mpmath.hypot), ("arctan2", mpmath.atan2)])
def test_last_places_in_the_plane(name, f):
    worst = [units(native(name, x, y), truths(f, x, y), x, y) for x, y in PLANE]
    print(f"{name}: {[round(u, 2) for u in worst]}")
    assert max(worst) <= MOST


def test_subnormal_results():
    x = np.linspace(-745, -708, COUNT)
    assert units(native("exp", x), truths(mpmath.exp, x), x) <= MOST
    base = np.full(COUNT, 2.0)
    y = -np.linspace(1020, 1074.5, COUNT)
    true = truths(mpmath.power, base, y)
    assert units(native("power", base, y), true, base, y) <= MOST
