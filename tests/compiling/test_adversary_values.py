"""Arguments, results and looks of all kinds: aliases, ties, exceptions, types, other containers."""

import bisect
import collections
import copy
import dataclasses
import decimal
import functools
import json
import math
import operator
import pickle
import statistics
import struct
import types

import numpy as np
from beside_eager import VALUE, program, said

import chainrules as cr
from chainrules import numpy as cnp

X = np.array([1.0, 2.0, 3.0, 4.0])
GRAD = ("value_and_grad",)


# ---- arguments that are the same, or overlap ----------------------------------------------------


@program(modes=VALUE)
def test_one_array_twice(wrap):
    g = wrap(lambda x, y: np.sum(x @ y) if x is y else np.sum(x * 0.5 + y))
    z = X.copy()
    for x, y in ((X, X), (X, z), (X, X), (z, z), (X, z)):
        yield g(x, y)
    h = wrap(lambda x, y: np.sum(x @ y) if x is y else np.sum(x * 0.5 + y))
    for x, y in ((X, z), (X, z), (X, X)):
        yield h(x, y)


@program(modes=VALUE)
def test_which_arguments_share_memory(wrap):
    base, other = np.arange(8.0), np.arange(4.0)
    g = wrap(lambda x, y, z: np.sum(x) * (1 if np.shares_memory(x, z) else 2) + y[0] + z[0])
    for x, y, z in ((base[:4], other, base[2:6]), (other, base[:4], base[2:6])) * 2:
        yield g(x, y, z)


@program()
def test_overlapping_slices(wrap):
    base = np.arange(1.0, 9.0)
    g = wrap(lambda x, y: np.sum(x * y[::-1]) + np.sum(np.cumsum(x) * y))
    for x, y in ((base[:4], base[2:6]), (base[:4], base[4:]), (base[::2], base[1::2])) * 2:
        yield g(x, y)
        base += 1


@program(modes=VALUE)
def test_layouts_of_arguments(wrap):
    full = np.arange(1.0, 37.0).reshape(6, 6)
    fixed = full[:3, :3].copy()
    fixed.flags.writeable = False

    def f(x):
        return np.sum(np.ravel(x, order="K") ** 2 * np.arange(x.size)) + np.sum(x.T @ x)

    g = wrap(f)
    for x in (
        full[:3, :3], full[:3, :3].copy(), np.asfortranarray(full[:3, :3]), full[::2, ::2],
        full[2::-1, 2::-1], full[:3, :3].T, fixed, full[:1, :1], full[:0, :0],
        np.broadcast_to(X[:3], (3, 3)),
    ) * 2:  # fmt: skip
        yield g(x)


@program(modes=("value", "jvp"))
def test_small_and_odd_arguments(wrap):
    g = wrap(lambda x: x * 2 + 1)
    for x in (
        2.0, np.float64(2.0), np.array(2.0), np.zeros(0), np.zeros((0, 3)), np.float32(2.0),
        np.array(2.0, np.float32), 2.0j, np.complex64(2j), np.array([1j]), X.astype(">f8"),
        X.astype(np.float16), np.float64(-0.0), -0.0, -1.0, np.nan,
    ) * 2:  # fmt: skip
        yield g(x)


@program(modes=VALUE, warns="")
def test_integers_and_booleans(wrap):
    g = wrap(lambda x: (x * 2 + 1, x / 2, -x if x.dtype != bool else ~x, x**2, x.sum()))
    for x in ([1, 2], [True, False], np.uint8([200, 100]), np.int8([100, 3]), [1.0, 2.0]) * 2:
        yield g(np.asarray(x))
    h = wrap(lambda n: (n * 2, n / 2, isinstance(n, int), type(n) is bool, n == 1))
    for n in (1, True, 1.0, np.int64(1), np.bool_(True), 2**70, 0, False, -0.0, np.float64(1)) * 2:
        yield h(n)


@program()
def test_integers_as_sizes_exponents_and_indices(wrap):
    g = wrap(lambda x, n, k=1: np.sum(x[:n] ** n) * x[k] + np.sum(np.ones(n)) * x[-k])
    for n in (2, 3, np.int64(2), np.array(3), 2) * 2:
        yield g(X, n)
        yield g(X, n, k=2)
        yield g(X, k=0, n=n)


@program()
def test_arrays_of_indices(wrap):
    g = wrap(lambda x, k: x[k[0]] * np.sum(x[k]) + np.sum(x[k[k > 1]]) + x[int(k[-1])])
    for k in ([0, 1], [3, 2], [2, 2], [-1, 0], [0, 3]):
        yield g(X, np.array(k))


@program()
def test_texts_and_none(wrap):
    def f(x, kind="sum", bounds=None, options=()):
        y = getattr(np, kind)(x)
        return y if bounds is None else y * bounds[0] + sum(options)

    g = wrap(f)
    for _ in range(2):
        yield g(X), g(X, "prod"), g(X, kind="mean", bounds=(1.0, None)), g(X, bounds=[2.0])
        yield g(X, "sum", (2.0, "a"), options=[1, 2.0]), g(X, "sum", (2.0, "b"), options=[True, 2])
        yield said(g, X, "nothing")


@program(modes=VALUE)
def test_keys_that_are_equal_and_not_the_same(wrap):
    g = wrap(lambda d, x: x + sum(math.copysign(1.0, k) * v for k, v in d.items()))
    h = wrap(lambda d, x: [x * 1, *(type(k).__name__ for k in d)])
    for zero in (0.0, -0.0) * 3:
        yield g({zero: 2.0}, X)
    for one in (1, 1.0, True, np.int64(1)) * 2:
        yield h({one: 2.0}, X)


class Named:
    """Equal if the names are, whatever the rate."""

    def __init__(self, name, rate):
        self.name, self.rate = name, rate

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@program()
def test_objects_as_arguments(wrap):
    g = wrap(lambda x, settings: np.sum(x) * settings.rate)
    a, b = Named("n", 2.0), Named("n", 3.0)
    yield [g(X, a), g(X, a)]
    yield [g(X, b), g(X, a)]
    a.rate = 5.0
    yield g(X, a), g(X, b)


@program()
def test_decimals_fractions_and_functions_as_arguments(wrap):
    g = wrap(lambda x, d: np.sum(x) * len(str(d)))
    for d in (decimal.Decimal("1.0"), decimal.Decimal("1.00"), b"abc", b"ab", range(3), "abc") * 2:
        yield g(X, d)
    h = wrap(lambda x, f: np.sum(f(x)))
    scale, scaled = 2.0, lambda x: x * scale
    for f in (np.sin, np.cos, scaled, functools.partial(np.multiply, 3.0)) * 2:
        yield h(X, f)
        scale += 1.0


@dataclasses.dataclass
class Point:
    x: np.ndarray
    y: float
    tag: str = "p"


Pair = collections.namedtuple("Pair", "a b")


@program(modes=("value", "value_and_grad"))
def test_containers_as_arguments(wrap):
    g = wrap(lambda p: np.sum(p.x * p.y) * len(p.tag))
    h = wrap(lambda p: np.sum(p.a * p.b[0]) + sum(p._asdict()["b"]))
    for k in range(1, 4):
        yield g(Point(k * X, 2.0)), g(Point(X, float(k), "q" * k))
        yield h(Pair(k * X, [2.0])), h(Pair(X, (2.0, float(k))))


# ---- results ------------------------------------------------------------------------------------


@program(modes=VALUE)
def test_containers_as_results(wrap):
    def f(x):
        y = x * 2
        return {"p": Point(y, y[0]), "q": Pair(y, [x, None, "a"]), "t": (y, y.T), "n": 3, "e": ()}

    g = wrap(f)
    for k in (1, 2, 3):
        yield g(k * X), g(X.reshape(2, 2) * k)


@program(modes=VALUE)
def test_aliases_among_results(wrap):
    def f(x):
        y, z = x * 2, x * 2
        return y, y, z, y[1:], y.reshape(2, 2)

    g = wrap(f)
    for k in (1, 2, 3):
        a, b, c, d, e = g(k * X)
        d[0], c[1], e[1, 1] = 50.0, 60.0, 70.0
        yield a, b, c, d, e, a is b, a is c


@program(modes=VALUE)
def test_an_argument_comes_back(wrap):
    g, h = wrap(lambda x: x), wrap(lambda x: (x[::2], [x]))
    for k in (1, 2, 3):
        x = k * X
        y, (z, (u,)) = g(x), h(x)
        z[0] = 9.0
        yield y is x, u is x, x, z


@program(modes=VALUE)
def test_what_is_captured_comes_back(wrap):
    w, table = np.ones(4), {"a": [1.0]}
    g = wrap(lambda x: (x * 2, w * 1, table["a"][0]))
    for k in (1, 2, 3):
        y, v, a = g(k * X)
        yield y, v, a
        v[:] = 0
        w[0], table["a"][0] = k, float(k)


@program(modes=VALUE, warns="that it returns")
def test_sets_and_lists_made_inside_are_new(wrap):
    g = wrap(lambda x: (x * 2, {1, 2}, [3], bytearray(b"a"), collections.deque([1])))
    for k in (1, 2, 3):
        y, chosen, many, raw, queue = g(k * X)
        yield y, set(chosen), list(many), bytes(raw), list(queue)
        chosen.add(9), many.append(9), raw.extend(b"b"), queue.append(9)


class Box:
    def __init__(self, value):
        self.value = value


@program(modes=VALUE)
def test_objects_that_hold_results(wrap):
    g = wrap(lambda x: Box(np.sum(x)))
    h = wrap(lambda x: types.SimpleNamespace(y=[x * 2]))
    for k in (1, 2, 3):
        yield g(k * X).value + 0, h(k * X).y[0] + 0


@program(modes=VALUE, warns="that it returns")
def test_functions_and_generators_as_results(wrap):
    g = wrap(lambda x: lambda y: np.sum(x * y))
    h = wrap(lambda x: cr.vjp(np.sin, x)[1])
    j = wrap(lambda x: cr.linearize(np.sin, x))
    e = wrap(lambda x: (v * 2 for v in x))
    m = wrap(lambda x: map(abs, [x, -x]))
    for k in (1, 2, 3):
        x = k * X
        yield g(x)(X), h(x)(X), j(x)[0], j(x)[1](X), list(e(x)), list(m(x))


@program(modes=VALUE)
def test_results_of_all_kinds(wrap):
    g = wrap(
        lambda x: (x > 2, bool(x > 2), int(x), f"{x:.2f}", x.is_integer(), round(x), round(x, 1))
    )
    for x in (2.0, 3.0, 2.5, -0.0, 1e300, np.float64(2.0)):
        yield g(x)
    h = wrap(lambda x: (x.shape, len(x), x > 2, x.any(), np.argmax(x), x.dtype, x.tolist(), x.size))
    for x in (X, -X, np.float32(X), X):
        yield h(x)


# ---- what Python asks ---------------------------------------------------------------------------


@program(modes=VALUE, warns="something else")
def test_exact_types(wrap):
    g = wrap(lambda x: x * 2 if type(x) is float else x * 3)
    h = wrap(lambda x: np.sum(x) if type(x) is np.ndarray else np.prod(x))
    k = wrap(lambda x: x * 2 if type(x) in (float, np.float64) else np.sum(x))
    for x in (2.0, 3.0, 4.0):
        yield g(x), h(x * X), k(x), k(np.float64(x)), k(x * X)


@program(modes=VALUE, warns="something else")
def test_kinds(wrap):
    def f(x):
        match x:
            case float():
                y = "float"
            case np.ndarray():
                y = "array"
            case _:
                y = type(x).__name__
        return x * 2, y, isinstance(x, float), isinstance(x, np.floating), np.isscalar(x)

    g = wrap(f)
    for x in (2.0, np.float64(2.0), X, np.array(2.0), 2.0j, 2.0):
        yield g(x), g(x)


@program()
def test_a_power_that_turns_complex(wrap):
    g = wrap(lambda x: abs(y) * 2 if isinstance(y := x**0.5, complex) else y)
    for x in (4.0, 9.0, -4.0, 4.0):
        yield said(g, x)


@program(modes=VALUE)
def test_dtypes_that_depend_on_values(wrap):
    g = wrap(lambda x: np.emath.sqrt(x) * 2)
    h = wrap(lambda x: np.sum(np.real_if_close(x * (1 + 0j))) if np.all(x > 0) else x * 1j)
    e = wrap(lambda x: np.sum(np.roots(x) ** 2))
    for x in (X, 2 * X, -X, np.array([1.0, -3.0, 2.0]), np.array([0.0, 1.0, -2.0]), X):
        yield g(x), h(x), e(x)


@program(modes=VALUE)
def test_shapes_that_depend_on_values(wrap):
    g = wrap(
        lambda x: (np.unique(x), np.nonzero(x > 2)[0], np.trim_zeros(x - 1), np.flatnonzero(x))
    )
    h = wrap(lambda x: [x[k] for k in np.argsort(x)[: np.count_nonzero(x > 2)]])
    e = wrap(lambda x: np.repeat(x, x.astype(int)).sum() * np.arange(int(x[0])).size)
    for x in (X, X - 1, np.array([3.0, 3.0, 1.0, 0.0]), X, np.zeros(4)):
        yield g(x), h(x), e(x)


@program(modes=VALUE)
def test_texts_and_bytes_of_values(wrap):
    def f(x):
        words = f"{x:.3f}", "%.2f" % x, str(x), repr(x), format(x, "g"), x.hex()  # noqa: UP031
        raw = struct.pack("d", x), x.as_integer_ratio(), pickle.loads(pickle.dumps(x))
        return x * 2, words, raw, hash(x), {x: 1}[x], x in {2.0}, copy.copy(x), copy.deepcopy(x)

    g = wrap(f)
    for x in (2.0, 3.0, 2.0, -0.0, 0.0, 1e-300):
        yield g(x)


@program(modes=VALUE, warns="")
def test_json_of_values(wrap):
    g = wrap(lambda x: (x * 2, json.dumps({"x": x, "y": [x]})))
    for x in (2.0, 3.0, 2.0):
        yield g(x)


@program(modes=VALUE, warns="")
def test_pythons_own_functions(wrap):
    def f(x):
        a, b, c, d = x
        y = [a, b, c, d]
        found = (
            min(y),
            max(y),
            sorted(y),
            sum(y),
            y.index(c),
            c in y,
            divmod(c, b),
            abs(a),
            pow(a, 2),
        )
        more = (
            math.fsum(y),
            statistics.mean(y),
            bisect.bisect(sorted(y), 2.5),
            operator.index(int(a)),
        )
        return found, more, math.isclose(a, b), a // b, a % b, bool(a), not b, a and b, int(c)

    g = wrap(f)
    for x in (X, X[::-1], np.array([2.5, 0.5, 2.5, -1.0]), np.array([np.nan, 1.0, np.inf, 2.0]), X):
        yield said(g, x)
        yield said(g, x.tolist())


# ---- ties, signs of zero, infinities ------------------------------------------------------------


@program()
def test_signs_of_zero(wrap):
    g = wrap(lambda x: math.copysign(1.0, cr.value(x)) + (1.0 if x == 0 else x))
    h = wrap(lambda x: x * 0.0 + x * -0.0)
    e = wrap(lambda x: np.arctan2(x, -1.0) if x >= 0 else x)
    for x in (0.0, -0.0, 1.0, -1.0, -0.0, 0.0):
        yield g(x), h(x), e(x)


@program(modes=VALUE)
def test_signs_of_zero_in_complex_constants(wrap):
    g = wrap(lambda z: (np.sqrt(z * complex(1.0, 0.0)), np.sqrt(z * complex(1.0, -0.0))))
    z = np.array([complex(-4.0, -0.0)])
    yield [g(z), g(z)]


@program(modes=GRAD)
def test_ties(wrap):
    f = wrap(lambda x: np.max(x) + np.sum(np.maximum(x, x[::-1])) + np.sort(x)[1] + np.median(x))
    g = wrap(lambda x: np.sum(np.clip(x, 2.0, 3.0)) + np.sum(np.where(x > 2, x, 2 * x)))
    for x in (
        X,
        np.full(4, 2.0),
        X[::-1],
        np.array([2.0, 3.0, 2.0, 3.0]),
        np.array([0.0, -0.0, 1, 1]),
    ):
        yield f(x), g(x)


@program()
def test_not_a_number_and_infinities(wrap):
    f = wrap(
        lambda x: np.sum(np.where(np.isnan(x), 0.0, x) * np.isfinite(x)) if not x.all() else x[0]
    )
    g = wrap(lambda x: np.sum(x) if x[0] == x[0] else np.sum(x[1:]))
    h = wrap(lambda x: max(x[0], x[1]) + min(x[1], x[0]) + np.nanmax(x))
    with np.errstate(all="ignore"):
        for x in (X, X * np.nan, np.array([np.nan, 1.0, np.inf, 0.0]), np.array([np.inf] * 4), X):
            yield said(f, x), said(g, x)
        for x in (X, X[::-1], np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, 2.0])):
            yield said(h, x)


# ---- exceptions ---------------------------------------------------------------------------------


@program(warns="")
def test_a_division_by_zero_that_is_caught(wrap):
    def f(x):
        try:
            return 1.0 / x
        except ZeroDivisionError:
            return x * 0.0

    g, h = wrap(f), wrap(f)
    for x in (2.0, 3.0, 0.0, 4.0):
        yield g(x)
    for x in (0.0, 0.0, 2.0, 0.0, 4.0):
        yield h(x)


@program(warns="")
def test_an_error_of_linear_algebra_that_is_caught(wrap):
    def f(a):
        try:
            return np.sum(np.linalg.cholesky(a))
        except np.linalg.LinAlgError:
            return np.sum(a) * 100

    g, h = wrap(f), wrap(f)
    for sign in (1, 1, -1, 1, -1):
        yield g(sign * np.eye(2))
    for sign in (-1, -1, 1, -1, 1):
        yield h(sign * np.eye(2))


@program(modes=VALUE, warns="")
def test_an_overflow_that_is_caught(wrap):
    def f(x):
        try:
            return x**2
        except OverflowError:
            return x * 0.0

    g = wrap(f)
    for x in (1e200, 1e200, 2.0, 1e200, 3.0):
        yield g(x)


@program(modes=VALUE, warns="")
def test_floating_point_errors_that_are_asked_for(wrap):
    def f(x):
        with np.errstate(divide="raise"):
            try:
                return np.sum(1 / x)
            except FloatingPointError:
                return np.sum(x)

    g = wrap(f)
    for x in (X, X, np.zeros(4), X):
        yield g(x)


@program()
def test_errors_of_all_kinds(wrap):
    def f(x, n):
        if n == 0:
            return x[int(cr.value(x[0]))]
        if n == 1 and x[0] > 3:
            raise AssertionError(f"too large: {float(cr.value(x[0]))}")
        if n == 2:
            return {1.0: x[1]}[float(cr.value(x[0]))]
        if n == 3:
            return np.sum(x[:2] + np.ones(int(cr.value(x[0]))))
        if n == 4:
            raise StopIteration(float(cr.value(x[0])))
        return np.sum(math.sqrt(float(cr.value(x[0]))) * x)

    g = wrap(f)
    for n in range(6):
        for first in (1.0, 2.0, 9.0, -1.0, 1.0, 2.0):
            yield said(g, np.array([first, 2.0, 3.0, 4.0]), n)


@program()
def test_an_error_after_a_branch_and_recursion(wrap):
    def depth(x, n=0):
        if n > 30:
            raise RecursionError(f"too deep at {n}")
        return x if abs(x) < 1 else depth(x / 2, n + 1) * 1.5

    g = wrap(depth)
    for x in (8.0, 3.0, 0.5, 1e30, 8.0, 100.0):
        yield said(g, x)


@program(modes=VALUE)
def test_an_error_in_a_finally_and_a_generator(wrap):
    def pieces(x):
        k = 0
        while k < len(x):
            yield x[k]
            k += 1 + int(x[k] > 2)

    def f(x):
        try:
            return sum(pieces(x)) / (x[0] - 1)
        finally:
            if x[1] > 5:
                raise ValueError("finally")

    g = wrap(f)
    with np.errstate(all="ignore"):
        for x in (X, 2 * X, 3 * X, X):
            yield said(g, x)


# ---- writes inside ------------------------------------------------------------------------------


@program()
def test_buffers_and_copies(wrap):
    def f(x):
        y = cnp.zeros(4)
        y[:2] = x[:2]
        y[2] += x[3] * 2
        z = x.copy()
        z[0] *= 3
        z[z > 2] -= 1
        v = z[1:3]
        before = v * 1
        z[1] = 7.0
        v += 1
        u = x
        u = u + y
        z[::-1].sort()
        return np.sum(y * z) + np.sum(before * v) + np.sum(u)

    g = wrap(f)
    for x in (X, 2 * X, X[::-1], np.full(4, 2.0), X):
        yield g(x), x.copy()


@program(warns="")
def test_adding_in_place_to_an_argument(wrap):
    def f(x):
        x += 1.0
        return np.sum(x * x)

    g = wrap(f)
    for _ in range(3):
        x = X.copy()
        yield said(g, x), x


@program(warns="")
def test_views_that_are_the_array_itself(wrap):
    views = {
        "real": np.real, "atleast_1d": np.atleast_1d, "squeeze": np.squeeze, "ravel": np.ravel,
        "nan_to_num": lambda x: np.nan_to_num(x, copy=False), "slice": lambda x: x[:],
        "broadcast": lambda x: np.broadcast_arrays(x, x)[0], "real_if_close": np.real_if_close,
        "second": lambda x: np.atleast_1d(x * 2, x)[1], "moveaxis": lambda x: np.moveaxis(x, 0, 0),
    }  # fmt: skip

    def f(x, view):
        x = x.copy()
        y = view(x)
        y[1] = 7.0
        return np.sum(x * x) + np.sum(y)

    g = wrap(f)
    for name, view in views.items():
        yield name, said(g, X, view), said(g, 2 * X, view)


@program(modes=VALUE, warns="")
def test_plain_arrays_made_inside(wrap):
    def f(x):
        y = np.zeros(3)
        y[1] = x[0]
        a = np.sum(x[:3] * y)
        y[1] = 5.0
        big = np.ones(20_000)
        b = x[0] * big
        big[7] = 3.0
        return a + np.sum(x[:3] * y) + np.sum(b * big)

    g = wrap(f)
    for k in (1, 1, 2, 3):
        yield g(k * X)


@program(modes=VALUE)
def test_writing_outputs_by_name(wrap):
    def f(x):
        y = np.empty_like(x)
        np.multiply(x, 2, out=y)
        np.add.at(y, [0, 0], x[1])
        np.copyto(y, x, where=x > 3)
        np.fill_diagonal(z := np.zeros((4, 4)) + x, 0.0)
        return y, z, np.put_along_axis(y, np.argmax(x, keepdims=True), 9.0, 0)

    g = wrap(f)
    for x in (X, 2 * X, X[::-1], X):
        yield g(x)
