"""Modules as people write them, plain and adopted: values, and derivatives of the adopted one."""

import dataclasses
import functools
import importlib.util
import textwrap

import fuzz_oracle
import numpy as np
from fuzz_oracle import CHECKS, Failure, Refused, attempt, expect, same_value
from fuzz_program import Program
from fuzz_settings import table
from hypothesis import strategies as st

import chainrules as cr

HEAD = """\
import ctypes, functools, math, operator, pickle
import numpy as np
import scipy.interpolate, scipy.linalg, scipy.optimize, scipy.sparse
from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from functools import partial, reduce
from math import hypot, sqrt
from numpy.linalg import norm"""
DEFINITIONS = """
@dataclass
class Box:
    x: float
    kind: type = float
    parts: list = field(default_factory=list)
class Mode(float, Enum):
    A = 1.5
    B = 0.5
class Own(np.ndarray): pass
def through_c(a):
    a = np.ascontiguousarray(a, dtype=np.float64)
    p = ctypes.cast(a.ctypes.data, ctypes.POINTER(ctypes.c_double))
    return [p[k] for k in range(a.size)]
def guarded(f):
    try: return f()
    except ZeroDivisionError: return 4.0
    except (ValueError, OverflowError): return 5.0
def kind_of(v):
    match v:
        case bool(): return 1.0
        case int(): return 2.0
        case float(): return 3.0
        case complex(): return 4.0
        case np.ndarray(): return 5.0
    return 6.0
P = np.arange(6.0).reshape(2, 3)
"""
NUMBA = """
import numba
@numba.njit
def kernel(v):
    y = np.empty_like(v)
    for i in range(v.shape[0]):
        y[i] = math.sin(v[i]) * v[i] + v[0]
    return y
@numba.njit
def total(v, p=2.0):
    s = 0.0
    for i in range(v.size):
        s += v[i] ** p
    return s
@numba.vectorize
def smooth(a, b): return math.exp(-a * a) + b
@numba.njit
def inner(t): return math.tanh(t) + 0.5 * t
@numba.njit
def outer(v): return inner(v[0]) * inner(v[1]) + np.sum(v)
"""
# Plain values: an adopted module computes with these as any other does.
PLAIN = """
np.asanyarray(np.ma.masked_array(P[0], mask=[0, 1, 0])).sum()|through_c(P.T)[1]|through_c(P)[1]
np.ascontiguousarray(P.T).ravel("K")[1]|np.asfortranarray(P).flags.f_contiguous * 1.0
(np.asanyarray(np.matrix(P[:, :2])) * np.matrix(P[:, :2])).sum()|1.0 * (P.dtype.type is np.float64)
1.0 * np.ascontiguousarray(2.0).size|1.0 * (np.ascontiguousarray(P.T).flags.c_contiguous)
1.0 * isinstance(scipy.interpolate.CubicSpline([0, 1, 2], [1, 2, 5]), scipy.interpolate.PPoly)
pickle.loads(pickle.dumps(partial(np.sum, axis=0)))(P[0])|1.0 * (float is (1.0).__class__)
pickle.loads(pickle.dumps(defaultdict(float)))["a"] + 1.0|Mode.A + Mode(0.5).value
1.0 * len(scipy.__version__ > "1" and "a")
1.0 * issubclass(float, (int, float))|guarded(lambda: 1 / float(0))
guarded(lambda: math.log(float(0)))
np.asanyarray(P.view(Own)).__class__.__name__.__len__() * 1.0|kind_of(np.float64(1)) + kind_of(1)
np.require(P.T, requirements="C").ravel("K")[1]|np.asarray(P, order="F").ravel("K")[1]
"""
NUMBERS = """
float({a}[0])|{s} * (2 if type(float({a}[0])) is float else 100)|float({s}) ** 2
sqrt(float({s}) ** 2 + 1)
guarded(lambda: 1 / (float({a}[0]) - {first}))
guarded(lambda: float({s}) / (float({s}) - float({s})))
guarded(lambda: math.log(float({s}) - float({s})))|hypot({s}, 1.0)
{s} if isinstance({s}, float) else 7.0
{s} * kind_of(float({s}))|{s} * kind_of({a})|{s} * Mode.A|Box({s}).x * 2|Box({s}).kind({s})
{s} if isinstance({a}[0], np.floating) else 9.0|{s} if {a}.dtype.type is np.float64 else 8.0
{s} if {a}.dtype == float else 8.0|math.fsum({a}.tolist())|sum(map(float, {a}))
max({a}, key=float) * 1.0
reduce(operator.mul, {a})|reduce(np.add, {a}) * 0.5|partial(np.sum, axis=0)({a})|norm({a})
sum(sorted({a}, key=float)[:2])|{s} if issubclass(type({s}), float) else 6.0|float(np.dot({a}, {a}))
np.interp({s}, [0.0, 9.0], [0.0, 3.0])|float(np.float64({s}))|round({s}, 0) * 0.0 + {s}
complex({s}, 1.0).real|abs(complex({s}, {s}))|{s} if hasattr({a}, "shape") else 5.0
np.float32({s}) * 1.0
float(scipy.linalg.norm({a}))|scipy.interpolate.CubicSpline(np.arange(3.0), {a})(0.7) * 1.0
scipy.optimize.brentq(lambda t: t ** 3 + t - {s}, -20.0, 20.0)|through_c(P.T)[1] * {s}
np.asanyarray({a}).sum()|{a}.sum() if isinstance({a}, np.ndarray) else 3.0|min({s}, 2.0) * 1.0
"""
ARRAYS = """
np.reshape(np.asfortranarray(np.stack([{a}, 2 * {a}])), -1, order="A")[:3]
np.array([{s}, float({s}), 1.0])
np.ascontiguousarray(np.stack([{a}, 2 * {a}]).T).ravel("K")[:3]|np.asanyarray({a}) * 2.0
np.ascontiguousarray(np.outer({a}, {a}).T).reshape(-1)[:3]|np.array([sqrt(t * t + 1) for t in {a}])
np.fromiter((t * t for t in {a}), float)|np.array(list(map(float, {a})))|np.vectorize(math.sin)({a})
np.require(np.outer({a}, {a}).T, requirements="C")[0]|np.asfortranarray(np.outer({a}, P[0]))[:, 1]
np.array(sorted({a}.tolist(), key=float)) * 1.0|np.where({a} > 0.6, {a}, float({s}))
{a}.astype(float)
np.array([d[k] for k in sorted(d)] + [{s}] * 3)[:3]|np.asarray({a}, dtype=float) * 1.0
np.copy({a}, order="F")
scipy.linalg.solve(np.eye(3) * 2.0 + 0.1 * np.outer({a}, {a}), {a})|np.array({a}, dtype=np.float64)
scipy.sparse.csr_array(np.eye(3)) @ {a}|np.linalg.solve(np.diag(2.0 + {a} ** 2), {a})
"""
WITH_NUMBA = """
kernel({a})|kernel({a} * 2.0)|np.array([total({a}), 1.0, total({a}, 3.0)])|smooth({a}, {s})
np.array([outer({a})] * 3)|kernel(np.ascontiguousarray({a}[::-1]))|np.array([inner({s}), 0.3, 0.4])
"""
WRITES = """
b = np.zeros(3); b[0] = {s}; b[1:] = {a}[:2]|e = np.empty(3); e[:] = {a}; e[1] += float({s}); b = e
b = np.zeros_like({a}); b += {a}; b *= {s}|d[0] += {s}; d[1] = {a}[0]|d[2] += float({a}[1])
b = np.ones(3); np.multiply(b, {a}, out=b)|b = np.full(3, 0.5); np.add.at(b, [0, 0], {s})
box = Box({s}); box.parts.append({a}); b = box.parts[0] * box.x|b = np.arange(3.0); b[b > 0] = {s}
"""


@dataclasses.dataclass(frozen=True)
class Module(Program):
    """A program whose function is one of a module that is adopted, or not."""

    def parts(self):
        body = textwrap.indent("\n".join((*self.body, f"return {self.result}")), "    ")
        rest = "\n".join([*self.setup[1:], "def f(x):", body])
        return "\n".join(self.setup[:1]) + "\n", rest.replace("\\", "\\\\") + "\n"

    def lines(self):
        head, rest = self.parts()
        made = [f"{name} = {expression}" for name, expression in self.inputs]
        runs = [f"exec('''{head}''', vars(m))", f"exec('''{rest}''', vars(m))"]
        runs.append("cr.adopt(m)")
        start = ["import sys, types", "m = sys.modules['m'] = types.ModuleType('m')"]
        return "\n".join([*start, *runs, "f = m.f", *made]) + "\n"

    def plain(self, double=False):
        space = {"__name__": "m"}
        for part in self.parts():
            exec(part.replace("np.float32(", "np.float64(") if double else part, space)
        return space["f"], [eval(expression, {"np": np}) for _, expression in self.inputs]


@st.composite
def programs(draw):
    numbers = [round(draw(st.floats(0.3, 1.6)), 2) for _ in range(3)]
    numba = importlib.util.find_spec("numba") is not None and draw(st.integers(0, 5)) == 0
    setup = (HEAD, DEFINITIONS, *([NUMBA] if numba else []))
    body, arrays, scalars = ["d = defaultdict(float)", "s = x[0] * x[1] + 0.3"], ["x"], ["s"]

    def filled(text):
        a, s = draw(st.sampled_from(arrays)), draw(st.sampled_from(scalars))
        return text.format(a=a, s=s, first=numbers[0])

    pools = [PLAIN, NUMBERS, NUMBERS, ARRAYS, ARRAYS, WRITES, *([WITH_NUMBA] * 4 if numba else [])]
    for name in "pqrtuvw"[: draw(st.integers(1, 6))]:
        pool = draw(st.sampled_from(pools))
        line = filled(draw(st.sampled_from(table(pool))))
        if pool == WRITES:
            body.append(line)
            if line.startswith("b"):
                arrays.append("b")
            continue
        body.append(f"{name} = {line}")
        (scalars if pool in (PLAIN, NUMBERS) else arrays).append(name)
    terms = [draw(st.sampled_from(scalars)), f"np.sum({draw(st.sampled_from(arrays))} ** 2)"]
    terms += [scalars[-1], f"np.sum({arrays[-1]})"]
    return Module(
        (("x", f"np.array({numbers})"),),
        tuple(body),
        " + ".join(terms),
        setup,
        "module",
    )


class Unadopted:
    """A program by its plain module, for the oracle that takes differences."""

    def __init__(self, program):
        self.program = program

    def build(self, module=cr, double=False):
        return self.program.plain(double)


def module(program):
    try:
        f, (x,) = program.plain()
        y = f(x)
        again = f(x)
    except Exception:
        return  # a line that is left refers to one that was struck
    if not isinstance(y, float | np.floating) or repr(y) != repr(again) or not np.isfinite(y):
        return
    slopes = fuzz_oracle.differences(Unadopted(program))
    tolerance = 2e-3 if "np.float32(" in "".join(program.parts()) else 1e-4
    for label, run in MODES.items():
        try:
            found = attempt(label, functools.partial(run, program, y))
            if slopes is not None and found is not None:
                expect(label, slopes[0], found, tolerance)
        except Refused:
            pass
        except Failure as failure:
            yield failure


def value(program, y):
    f, (x,) = program.build()
    same_value("the value in an adopted module", y, f(x))


def by_jvp(program, y):
    f, (x,) = program.build()
    slopes = []
    for xdot in np.eye(3):
        f, (x,) = program.build()
        there, ydot = cr.jvp(f, (x,), (xdot,))
        expect("the value under jvp", y, there, 1e-12)
        slopes.append(ydot)
    return np.array(slopes, float)


def by_grad(program, y):
    f, (x,) = program.build()
    there, xbar = cr.value_and_grad(f)(x)
    expect("the value under grad", y, there, 1e-12)
    return xbar


def by_compile(program, y):
    f, (x,) = program.build()
    g = cr.compile(cr.value_and_grad(f))
    g(x)
    there, xbar = g(x)
    expect("the value compiled", y, there, 1e-9)
    return xbar


MODES = {"adopted": value, "jvp adopted": by_jvp, "grad adopted": by_grad, "compiled": by_compile}
CHECKS["module"] = module
