"""Random classes of others beside traced values: what plain NumPy gives and its slope, or an error.

A class holds a number or an array, in a unit or not, and says what operators and functions mean to
it by ``__array_ufunc__``, ``__array_function__``, ``__mul__`` and ``__rmul__``, ``__array__``,
``__float__``, or by passing on whatever it is asked.
"""

import copy
import functools
import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrules as cr

pytestmark = pytest.mark.filterwarnings("ignore")
OPERATORS = ["add", "sub", "mul", "truediv", "pow", "matmul"]
TWO = 2  # an index, too
FEATURES = {
    "ufunc": ["absent", "own", "none", "refuse"],
    "function": ["absent", "own", "refuse"],
    **{name: [True, False] for name in ("wraps", "left", "right", "slots")},
    **{name: [False, False, True] for name in ("array", "float", "dtype", "sequence", "integer")},
    "compares": [False, False, True],
    **{name: [False, False, False, True] for name in ("proxy", "other class")},
    "unit": [1, 1, 0.1],
}
PROGRAMS = """
x*q|q*x|x+q|q-x|x/q|q/x|x**q|q**x|x@q|q@x|np.multiply(x, q)|np.add(q, x)|np.divide(q, x)
np.sin(q)*x|np.exp(x*q)|np.sum(x*q)|np.dot(x, q)|np.dot(q, x)|np.stack([x, q])
np.where(True, x, q)|x*q*x|-(x*q)|np.maximum(x, q)|np.multiply.reduce(x*q)|(x*q)+(q*x)
np.append(x, q)|cls(x)|cls(x)*q|x+cls(x)|abs(x*q)|np.sin(cls(x))|np.sum(cls(x))|[x*q, 1.0]
{'a': cls(x)}|np.multiply(x, q, dtype=float)|np.array([x, q])|np.asarray(q)*x|np.asarray(cls(x))
float(q)*x|float(cls(x))|np.multiply.outer(x, q)|np.clip(x*q, 0, 9)|np.linalg.norm(x*q)
np.full_like(x, 1.0)*q|sum([x*q, q*x])|max(x, q)|x*(x < q)|list(divmod(x, q))
x//q|x % q|written(x, q)
written(x, x*q)|in_place(x, q)|in_place(x, cls(x))|into(x, q)|into(x, cls(x))|x.dot(q)
np.linspace(x, q, 3)|np.broadcast_to(x*q, (2, 2))|np.einsum('i,i', x, q)|np.cumsum(x*q)
cls(cls(x))|cls([x, x])|cls((x, q))|x*round(q, 1)|np.array([x, x])*q
np.interp(0.5, [0, 1], [x, q])|x*(q > x)|x*(q <= x)|x*(x == q)|x*(x != q)|x*np.less(x, q)
np.where(x < q, x, q*x)|(x if x < q else x*x)|(q if q < x else x*q)|min(q, x*x)|x*int(q)|x*bool(q)
x*np.arange(9.0)[q]|x*range(9)[q]|x*np.zeros(q).size|[x, x*x][q]|x*complex(q).real|x**int(q)
x*np.float64(q)|round(x*q, 1)|x*len(q)|sum(v*x for v in q)|x*next(iter(q))|x*math.sin(q)
x*math.floor(q)|x*np.array(q, float)|np.fromiter([x, q], float)*x|x.reshape(-1)*q|x.astype(float)*q
x*q.v|x*q.copy()|cls(x).v*x|x*np.sum(q)|x*q.sum()|x*np.shape(q).__len__()
operator.mul(q, x)|operator.iadd(x*1.0, q)|functools.reduce(operator.add, [x, q, x])
sorted([x, q])[0]*x|x in [q]|x*(q in [q])|copy.copy(cls(x))*x|copy.deepcopy(q)*x
"""
PROGRAMS = PROGRAMS.strip().replace("\n", "|").split("|")


def held(x):
    """Return what an object of a made class holds, in the unit that all others are in."""
    return x.v * x.unit if "unit" in dir(type(x)) else x


def held_deep(x):
    return type(x)(map(held_deep, x)) if type(x) in (list, tuple) else held(x)


def made_class(features):
    has, unit = features.get, features["unit"]

    def wrapped(y):
        return y if y is NotImplemented or not has("wraps") else cls(y / unit if unit != 1 else y)

    def in_own_way(f):
        return lambda self, *args: wrapped(f(self, *args))

    def set_v(self, v):
        self.v = v

    names = {"__init__": set_v, "unit": unit, "__module__": "made"}
    if has("slots"):
        names["__slots__"] = ("v",)
    names |= {
        "own": {"__array_ufunc__": in_own_way(
            lambda self, ufunc, way, *xs, **options: getattr(ufunc, way)(*map(held, xs), **options)
        )},
        "none": {"__array_ufunc__": None},
        "refuse": {"__array_ufunc__": lambda *args, **options: NotImplemented},
        "absent": {},
    }[features["ufunc"]]  # fmt: skip
    names |= {
        "own": {"__array_function__": in_own_way(
            lambda self, f, types, args, options: f(*map(held_deep, args), **options)
        )},
        "refuse": {"__array_function__": lambda *args: NotImplemented},
        "absent": {},
    }[features["function"]]  # fmt: skip
    for word in OPERATORS:
        f = getattr(operator, word)
        if has("left"):
            names[f"__{word}__"] = in_own_way(lambda self, k, f=f: f(held(self), held(k)))
        if has("right"):
            names[f"__r{word}__"] = in_own_way(lambda self, k, f=f: f(held(k), held(self)))
    if has("array"):
        names["__array__"] = lambda self, dtype=None, copy=None: np.array(held(self), dtype)
    if has("float"):
        names["__float__"] = lambda self: float(held(self))
    if has("integer"):
        names["__index__"] = lambda self: operator.index(held(self))
        names["__int__"] = lambda self: int(held(self))
        names["__bool__"] = lambda self: bool(held(self))
    if has("compares"):
        for word in ("lt", "le", "gt", "ge", "eq", "ne"):
            f = getattr(operator, word)
            names[f"__{word}__"] = lambda self, k, f=f: f(held(self), held(k))
        names["__hash__"] = lambda self: 7
    if has("dtype"):
        names["dtype"] = property(lambda self: np.asarray(self.v).dtype)
        names["shape"] = property(lambda self: np.shape(self.v))
    if has("sequence"):
        names["__len__"] = lambda self: len(self.v)
        names["__getitem__"] = in_own_way(lambda self, i: held(self)[i])
    if has("proxy"):
        names["__getattr__"] = lambda self, name: getattr(object.__getattribute__(self, "v"), name)
    if has("other class"):
        names["__class__"] = property(lambda self: self.v.__class__)
    cls = type("Made", (), names)
    return cls


def written(x, q):
    y = x * 1.0
    y[0] = q
    return y


def in_place(x, q):
    y = x * 1.0
    y *= q
    return y


def into(x, q):
    y = np.zeros_like(x * 1.0)
    np.multiply(x, q, out=y)
    return y


def numbers_in(y):
    """Return all numbers in a result or a derivative, in a row."""
    if "unit" in dir(type(y)):
        return numbers_in(object.__getattribute__(y, "v"))
    if isinstance(y, cr.Tangent | dict):
        y = list(getattr(y, "backing", y).values())
    if type(y) in (list, tuple) or (type(y) is np.ndarray and y.dtype == object):
        parts = y.reshape(-1).tolist() if type(y) is np.ndarray else y
        return np.concatenate([np.zeros(0), *map(numbers_in, parts)])
    return np.ravel(np.asarray(y, float))


def program_of(text, cls):
    names = {"np": np, "cls": cls, "written": written, "in_place": in_place, "into": into}
    names |= {"copy": copy, "functools": functools, "math": math, "operator": operator}
    return eval(f"lambda x, q: {text}", names)


@settings(max_examples=150)
@given(
    st.fixed_dictionaries({name: st.sampled_from(ways) for name, ways in FEATURES.items()}),
    st.sampled_from(PROGRAMS),
    st.sampled_from([1.3, np.float64(1.3), np.array(1.3), np.array([1.3, 2.1])]),
    st.sampled_from([1.7, TWO, np.array([0.7, 1.9])]),
    st.booleans(),
)
def test_values_and_slopes(features, program, x, v, of_x):
    passes_on = features["proxy"] or features["other class"]
    v = v if of_x or v is not TWO else 2.3  # no jump of floor
    array = features["dtype"]
    if passes_on or (array and not of_x):
        features |= {"unit": 1}  # of an array the unit is its own, and so is that of a tangent
    cls = made_class(features)
    run = program_of(program, cls)
    point = x if of_x else v

    def f(t):
        return run(t, cls(v)) if of_x else run(x, t)

    xdot = np.cos(1 + np.arange(np.size(point))).reshape(np.shape(point))
    xdot = xdot if isinstance(point, np.ndarray) else float(xdot)
    given = (lambda t: t) if of_x else cls
    with np.errstate(all="ignore"):
        try:
            expected = f(given(point))
            before, after = (numbers_in(f(given(point + h * xdot))) for h in (-1e-6, 1e-6))
            value = numbers_in(expected)
        except Exception:
            return  # plain NumPy gives nothing
        slope = (after - before) / 2e-6
        try:
            y, ydot = cr.jvp(f, (given(point),), (xdot,))
        except Exception:
            pass
        else:
            loose = passes_on or array or features["sequence"]
            assert loose or type(y) is type(expected) or np.isscalar(y)
            np.testing.assert_allclose(numbers_in(y), value)
            moved = numbers_in(ydot), slope
            if moved[0].size != slope.size:  # the zero of an array is one number
                moved = tuple(part[part != 0] for part in moved)
            np.testing.assert_allclose(*moved, rtol=1e-4, atol=1e-5)
        try:
            gradient = cr.grad(f)(given(point))
        except Exception:
            return
        total = np.sum(numbers_in(gradient) * np.ravel(xdot))
        np.testing.assert_allclose(total, np.sum(slope), rtol=1e-4, atol=1e-5)
        assert not of_x or np.shape(gradient) == np.shape(point)


def called_thrice(g, x):
    return [g(x), g(1.1 * x), g(0.7 * x)]


TRANSFORMS = {
    "vmap": lambda f, x: cr.vmap(f)(np.stack([x, 1.1 * x, 0.7 * x])),
    "compiled": lambda f, x: called_thrice(cr.compile(f), x),
    "compiled gradient": lambda f, x: called_thrice(cr.compile(cr.grad(f)), x),
    "vmap of gradients": lambda f, x: cr.vmap(cr.grad(f))(np.stack([x, 1.1 * x, 0.7 * x])),
    "second order": lambda f, x: [cr.hvp(f, (k * x,), (x,)) for k in (1.0, 1.1, 0.7)],
}


def expected_of(name, f, x):
    points = [x, 1.1 * x, 0.7 * x]
    if name.startswith("vmap"):  # of which an item is a number of NumPy's
        points = [point if np.ndim(point) else np.float64(point) for point in points]
    if name in ("vmap", "compiled"):
        return [f(point) for point in points]
    if name != "second order":
        return [cr.grad(f)(point) for point in points]
    near = [[cr.grad(f)(k * x + h * x) for h in (1e-6, -1e-6)] for k in (1.0, 1.1, 0.7)]
    return [(numbers_in(a) - numbers_in(b)) / 2e-6 for a, b in near]


@settings(max_examples=120)
@given(
    st.fixed_dictionaries({name: st.sampled_from(ways) for name, ways in FEATURES.items()}),
    st.sampled_from(PROGRAMS),
    st.sampled_from([1.3, np.float64(1.3), np.array([1.3, 2.1])]),
    st.sampled_from([1.7, TWO, np.array([0.7, 1.9])]),
    st.sampled_from(list(TRANSFORMS)),
)
def test_other_transforms(features, program, x, v, name):
    """Each gives what the function, or its gradient, gives for one point after another."""
    if features["proxy"] or features["other class"]:
        features |= {"unit": 1}
    cls = made_class(features)
    run = program_of(program, cls)

    def f(t):
        y = run(t, cls(v))
        return y if name in ("vmap", "compiled") else np.sum(y)

    with np.errstate(all="ignore"):
        try:
            expected = [numbers_in(y) for y in expected_of(name, f, x)]
        except Exception:
            return
        try:
            found = TRANSFORMS[name](f, x)
        except Exception:
            return
        found = [numbers_in(y) for y in found] if isinstance(found, list) else [numbers_in(found)]
    found, expected = np.concatenate(found), np.concatenate(expected)
    if name == "vmap":  # of a container each part is a batch, but for what all items share
        found, expected = np.unique(found.round(6)), np.unique(expected.round(6))
    elif found.size != expected.size:  # the same object for each point
        found = np.tile(found, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
