"""Programs that ask for types, capture functions, draw their arrays, or have arrays of a class."""

# ruff: noqa: B008 (programs as users wrote them)

import functools
import math
import statistics

import numpy as np


def by_type(x):
    if type(x) is float:
        return x + 1.0
    if type(x) != np.ndarray:  # noqa: E721
        raise TypeError("an array is wanted")
    return {np.ndarray: 2.0, list: 3.0}[type(x)] * x.sum() * type(x[0])(0.5)


def table_lookup(x):
    table = [0.0, 1.0, 4.0, 9.0]
    i = int(x / 0.5)
    part = x / 0.5 - i
    return table[i] * (1 - part) + table[i + 1] * part


def defaults(x, sin=math.sin, *, zeros=np.zeros):
    y = zeros(2)
    y[0] = sin(x)
    return y


def make_kernel(radians=math.radians, cos=math.cos):
    def kernel(a, b):
        return cos(radians(a)) * cos(radians(b))

    return kernel


kernel = make_kernel()


def distance(a, b):
    return 6371.0 * math.acos(kernel(a, b))


def logged(f):
    @functools.wraps(f)
    def calls(*args, scale=np.full(2, 1.5)):
        return f(*args) * scale

    return calls


@logged
def two(x):
    y = np.empty(2)
    y[:] = math.exp(x)
    return y


class Layer:
    act = staticmethod(math.tanh)

    def __init__(self, n, m):
        rng = np.random.RandomState(0)
        self.W = rng.randn(n, m) * 0.3
        self.noise = np.random.default_rng(1).random(m)

    def forward(self, x):
        self.x = x
        return np.array([self.act(v) for v in (x @ self.W).ravel()])[:, None]

    def backward(self, g, rate):
        self.W -= rate * (self.x.T @ g)
        self.noise[:] = self.noise * rate


def train(x, rate):
    layer = Layer(2, 1)
    for _ in range(3):
        y = layer.forward(x)
        layer.backward(2 * (y - 1) * (1 - y**2), rate)
    return layer.W, layer.noise


class Quantity(np.ndarray):
    """Numbers with a unit, which products multiply."""

    def __new__(cls, x, unit=1):
        y = np.asarray(x).view(cls)
        y.unit = unit
        return y

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", 1)

    def __mul__(self, other):
        y = super().__mul__(other)
        y.unit = self.unit + getattr(other, "unit", 0)
        return y


def quantities(x):
    force, way = Quantity(x**2, 2), Quantity(np.cos(x))
    work = force * way
    if work.unit != 3:
        raise ValueError(work.unit)
    filled = np.zeros(3)
    filled[:] = work - x
    return filled, np.asarray(np.dot(x, work)), np.array(np.concatenate([work, x]))


def kalman_with_gaps(z, q):
    observed = np.ma.masked_where(np.isnan([0.0, np.nan, 0.0]), z)
    means, p, m = np.zeros(3), 1.0, 0.0
    for t in range(3):
        p = p + q
        if not np.any(np.ma.getmaskarray(observed)[t]):
            gain = p / (p + 0.5)
            m, p = m + gain * (observed[t] - m), (1 - gain) * p
        means[t] = m
    return means, observed.mean(), np.ma.filled(observed * q, 0.3)


FUNCTIONS = {"sin": math.sin}


def called_by_dict(x):
    return FUNCTIONS["sin"](x)


IN_A_SET = frozenset({math.sin})


def called_by_set(x):
    return next(iter(IN_A_SET))(x)


def structured(x):
    a = np.zeros(3, dtype=[("m", float)])
    a["m"] = x
    return a["m"].sum()


def method_of_float(x):
    return float.__mul__(x, 2.0)


LAYER = np.zeros(3)


def global_buffer(x):
    LAYER[:] = x
    return LAYER.sum()


def nditer(x):
    return sum(float(v) for v in np.nditer(x))


def mean_of_statistics(x):
    return statistics.mean(x)


def formatted(x):
    return float("%g" % x)  # noqa: UP031


def masked_power(x):
    return (np.ma.asarray(x) ** 2).sum()


v3 = np.array([0.3, 1.2, 0.7])
PROGRAMS = [
    ("called_by_dict", called_by_dict, (0.3,)),
    ("by_type", by_type, (0.4,)),
    ("method_of_float", method_of_float, (0.3,)),
    ("by_type_of_array", by_type, (v3,)),
    ("table_lookup", table_lookup, (0.7,)),
    ("defaults", defaults, (0.4,)),
    ("distance", distance, (40.0, 10.0)),
    ("decorated", two, (0.3,)),
    ("train", train, (np.array([[0.2, 1.0], [0.5, -0.3]]), 0.1)),
    ("quantities", quantities, (v3,)),
    ("kalman_with_gaps", kalman_with_gaps, (v3, 0.2)),
]
LOST = "LostDerivativeError"
REFUSED: list = [
    ("called_by_set", called_by_set, (0.3,), LOST, "keep the traced value"),
    ("structured", structured, (v3,), LOST, "keep the fields in a dict of arrays"),
    ("global_buffer", global_buffer, (v3,), LOST, "make the array while the function runs"),
    ("nditer", nditer, (v3,), LOST, r"np\.ndenumerate"),
    ("statistics", mean_of_statistics, (v3,), LOST, r"statistics\.mean met.*\n.*np\.mean"),
    ("formatted", formatted, (0.3,), LOST, "shows a traced number"),
    ("masked_power", masked_power, (v3,), LOST, r"(?s)numpy\.ma.*np\.asarray\(x\) where nothing"),
]
