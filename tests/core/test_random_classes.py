"""Random classes of others beside traced values: what plain NumPy gives and its slope, or an error.

A class holds a number or an array, in a unit or not, and says what operators and functions mean to
it by ``__array_ufunc__``, ``__array_function__``, ``__mul__`` and ``__rmul__``, ``__array__``,
``__array_wrap__``, ``__array_priority__``, ``__array_interface__``, ``__float__``, by passing on
whatever it is asked, or by being a subclass of ``float`` or of ``np.ndarray``.
"""

import collections
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
    **{name: [False, False, False, True] for name in ("wrap", "interface", "in place")},
    "priority": [None, None, None, -5.0, 15.0, 1e9],
    "base": [*6 * [object], float, np.ndarray],
    "unit": [1, 1, 0.1],
}
PROGRAMS = """
x*q|q*x|x+q|q-x|x/q|q/x|x**q|q**x|x@q|q@x|np.multiply(x, q)|np.add(q, x)|np.divide(q, x)
np.sin(q)*x|np.exp(x*q)|np.sum(x*q)|np.dot(x, q)|np.dot(q, x)|np.stack([x, q])
np.where(True, x, q)|x*q*x|-(x*q)|np.maximum(x, q)|np.multiply.reduce(x*q)|(x*q)+(q*x)
np.append(x, q)|cls(x)|cls(x)*q|x+cls(x)|abs(x*q)|np.sin(cls(x))|np.sum(cls(x))|[x*q, 1.0]
{'a': cls(x)}|np.multiply(x, q, dtype=float)|np.array([x, q])|np.asarray(q)*x|np.asarray(cls(x))
float(q)*x|float(cls(x))|np.multiply.outer(x, q)|np.clip(x*q, 0, 9)|np.linalg.norm(x*q)
np.full_like(x, 1.0)*q|sum([x*q, q*x])|max(x, q)|x*(x < q)|list(divmod(x, q))|x//q|x % q
written(x, q)|written(x, x*q)|in_place(x, q)|in_place(x, cls(x))|into(x, q)|into(x, cls(x))
x.dot(q)|np.linspace(x, q, 3)|np.broadcast_to(x*q, (2, 2))|np.einsum('i,i', x, q)|np.cumsum(x*q)
cls(cls(x))|cls([x, x])|cls((x, q))|x*round(q, 1)|np.array([x, x])*q
np.interp(0.5, [0, 1], [x, q])|x*(q > x)|x*(q <= x)|x*(x == q)|x*(x != q)|x*np.less(x, q)
np.where(x < q, x, q*x)|(x if x < q else x*x)|(q if q < x else x*q)|min(q, x*x)|x*int(q)|x*bool(q)
x*np.arange(9.0)[q]|x*range(9)[q]|x*np.zeros(q).size|[x, x*x][q]|x*complex(q).real|x**int(q)
x*np.float64(q)|round(x*q, 1)|x*len(q)|sum(v*x for v in q)|x*next(iter(q))|x*math.sin(q)
x*math.floor(q)|x*np.array(q, float)|np.fromiter([x, q], float)*x|x.reshape(-1)*q
x.astype(float)*q|x*q.v|x*q.copy()|cls(x).v*x|x*np.sum(q)|x*q.sum()|x*np.shape(q).__len__()
operator.mul(q, x)|operator.iadd(x*1.0, q)|functools.reduce(operator.add, [x, q, x])
sorted([x, q])[0]*x|x in [q]|x*(q in [q])|copy.copy(cls(x))*x|copy.deepcopy(q)*x|np.vdot(x, q)
np.vdot(q, x)|np.inner(x, q)|np.inner(q, x)|np.outer(x, q)|np.outer(q, x)|np.tensordot(x, q, 0)
np.tensordot(q, x, 1)|np.kron(x, q)|np.concatenate([np.ravel(x), np.ravel(q)])|np.hstack([x, q])
np.vstack([q, x])|np.where(q > 0, x, q)|np.where(x > 0, q, x)|np.matmul(x, q)
np.linalg.solve(np.diag(np.ravel(x)), np.ravel(q))|np.linalg.norm(q)*x|np.linalg.outer(x, q)
np.clip(x, 0, q)|np.clip(q, 0, x)|np.clip(x, q, None)|np.interp(x, [0, 3], [0, 3*q])
np.interp(q, [0.0, 3.0], [x, x])|np.average(x, weights=q)|np.convolve(x, q)
np.select([True], [x], q)|np.select([False], [x], q)|np.full(2, q)*x|np.full(2, x)*q
np.hypot(x, q)|np.arctan2(q, x)|np.float_power(x, q)|np.copysign(x, q)|np.fmax(q, x)
np.heaviside(q, x)|np.trapezoid([0, x], dx=q)|np.gradient([0, x], q)|np.take(x, [0])*q
np.repeat(x, 2)*q|np.searchsorted(q, x)*x|np.isclose(x, q)*x|np.array_equal(x, q)*x
np.piecewise(x, [x > 0], [q])|np.pad(np.ravel(x), 1, constant_values=q)|np.nan_to_num(q)*x
np.real(q)*x|np.insert(np.ravel(x), 0, q)|np.geomspace(x, q, 3)|np.logspace(x, q, 3)
np.arange(0.0, 3.0, q)*x|np.atleast_1d(q)*x|np.ravel(q)*x|np.reshape(q, -1)*x|np.squeeze(q)*x
np.broadcast_to(q, (2, 2))*x|np.zeros_like(q)+x|np.full_like(q, 1.0)*x|np.full_like(x, q)*x
np.copy(q)*x|np.ones_like(x)*q|np.einsum(',', x, q)|np.einsum('i,i->i', q, x)|np.block([x, q])
np.choose([0, 1], [x, q])|np.meshgrid(x, q)[1]*x|np.ix_(np.ravel(q))[0]*x|q @ np.ravel(x)
np.ravel(x) @ q|divmod(q, x)[0]*x|np.float64(x)*q|q*np.float64(2)*x|np.multiply(x, q, where=True)
np.add(x, q, out=np.zeros(2))|np.asanyarray(q)*x|np.asarray([q, q])*x
np.array(q, dtype=float, ndmin=1)*x|q.__array_priority__*x|np.sinc(q)*x|np.i0(q)*x
np.angle(x + 1j*q)|complex(x, 1.0)*q|np.abs(x + 1j*q)
np.apply_along_axis(lambda v: v*q, 0, np.ravel(x))|np.vectorize(lambda v: v*q)(x)|np.hypot(q, q)*x
np.digitize(q, [0.0, x])*x
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

    names = {"unit": unit, "__module__": "made"}
    if has("base") is float:
        names["v"] = property(lambda self: float(self))
    elif has("base") is np.ndarray:
        names["__new__"] = lambda cls, v: np.asarray(v).view(cls)
        names["v"] = property(lambda self: self.view(np.ndarray))
    else:
        names["__init__"] = set_v
    if has("slots") and has("base") is object:
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
    if has("wrap"):
        names["__array_wrap__"] = lambda self, y, context=None, scalar=False: wrapped(y)
    if has("interface"):
        names["__array_interface__"] = property(lambda self: interface_of(held(self)))
    if has("in place"):
        for word in OPERATORS:
            f = getattr(operator, word)
            names[f"__i{word}__"] = in_own_way(lambda self, k, f=f: f(held(self), held(k)))
    if has("priority") is not None:
        names["__array_priority__"] = features["priority"]
    if has("proxy"):
        names["__getattr__"] = lambda self, name: getattr(object.__getattribute__(self, "v"), name)
    if has("other class"):
        names["__class__"] = property(lambda self: self.v.__class__)
    if has("base") is not object:
        for name in (
            "dtype",
            "shape",
            "__float__",
            "__array__",
            "__class__",
            "__array_interface__",
        ):
            names.pop(name, None)
    cls = type("Made", (has("base"),), names)
    return cls


KEPT: collections.deque = collections.deque(
    maxlen=1000
)  # arrays that an interface has shown: NumPy keeps none


def interface_of(x):
    KEPT.append(np.asarray(x))
    return KEPT[-1].__array_interface__


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
    return np.ravel(np.asarray(y, complex))


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
    if "[" in program and features["base"] is not object:
        features |= {
            "base": object
        }  # of a list NumPy makes an array of objects, and asks operators
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
            near = [point + h * xdot for h in (-1e-6, 1e-6)]
            if isinstance(point, np.ndarray):  # without axes NumPy would make numbers of it
                near = [np.asarray(x) for x in near]
            before, after = (numbers_in(f(given(x))) for x in near)
            value = numbers_in(expected)
        except Exception:
            return  # plain NumPy gives nothing
        slope = (after - before) / 2e-6
        try:
            y, ydot = cr.jvp(f, (given(point),), (xdot,))
        except Exception:
            pass
        else:
            of_array = features["base"] is np.ndarray  # without axes it comes back plain
            # Of a list NumPy makes an array of objects, which are as good as their numbers.
            as_object = type(y) is cls and type(expected) is not cls and "[" in program
            loose = passes_on or array or features["sequence"] or of_array or as_object
            assert loose or type(y) is type(expected) or np.isscalar(y)
            unit = features["unit"] if as_object else 1
            np.testing.assert_allclose(numbers_in(y) * unit, value)
            moved = numbers_in(ydot) * unit, slope
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
    "compiled second order": lambda f, x: called_thrice(
        cr.compile(lambda t: cr.hvp(f, (t,), (x,))), x
    ),
    "jacobian": lambda f, x: called_thrice(cr.jacobian(f), x),
    "forward": lambda f, x: called_thrice(cr.jacfwd(f), x),
    "linearized": lambda f, x: called_thrice(lambda t: cr.vjp(f, t)[1](1.0)[0], x),
    "compiled vmap of gradients": lambda f, x: cr.compile(cr.vmap(cr.grad(f)))(
        np.stack([x, 1.1 * x, 0.7 * x])
    ),
    "nested vmap": lambda f, x: cr.vmap(cr.vmap(f))(np.stack([x, 1.1 * x, 0.7 * x])[None]),
}


VALUES = ("vmap", "compiled", "nested vmap")


def expected_of(name, f, x):
    points = [x, 1.1 * x, 0.7 * x]
    if "vmap" in name:  # of which an item is a number of NumPy's
        points = [point if np.ndim(point) else np.float64(point) for point in points]
    if name in VALUES:
        return [f(point) for point in points]
    if "second order" not in name:
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
    if "[" in program and features["base"] is not object:
        features |= {"base": object}
    cls = made_class(features)
    run = program_of(program, cls)

    def f(t):
        y = run(t, cls(v))
        return y if name in VALUES else np.sum(y)

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
    if name in (
        "vmap",
        "nested vmap",
    ):  # of a container each part is a batch, but for what all items share
        found, expected = np.unique(found.round(6)), np.unique(expected.round(6))
    elif not found.any():  # of an object that does not move, no array of zeros
        found = np.zeros_like(expected)
    elif found.size != expected.size:  # the same object for each point
        found = np.tile(found, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
