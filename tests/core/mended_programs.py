"""Programs that follow the remedy of an error or a warning, by its code; the site shows them.

Each stands beside the one of ``programs_of_errors``, or of ``test_refusals``, that meets it.
"""

MENDED = {
    "CR001": """
from chainrules.scipy.special import erf

cr.grad(lambda x: erf(x) ** 2)(0.5)
""",
    "CR002": """
cr.jvp(np.sin, (np.ones(3),), (np.ones(3),))
""",
    "CR003": """
@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: (cr.NoTangent(), 2.0 * ybar)

cr.grad(double)(1.0)
""",
    "CR004": """
def loss(x):
    return x**2, x

squared, kept = cr.compile(loss)(3.0)
kept + 1.0
""",
    "CR005": """
@cr.implicit(lambda x, a: x**2 - a)
def root(a, tolerance=0.0):
    return np.sqrt(cr.value(a))

cr.grad(lambda a: root(a, tolerance=1e-9))(2.0)
""",
    "CR006": """
from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(1) as executor:  # a new one
    cr.map(np.sin, [1.0, 2.0], executor=executor)
""",
    "CR007": """
factor = np.random.default_rng(0).normal()
cr.grad(cr.checkpoint(lambda x: x * factor))(1.0)
""",
    "CR008": """
@cr.primitive
def power(x, n):
    return x**n

cr.scalar_rule(power, lambda _, x, n: n * x ** (n - 1), lambda y, x, n: y * np.log(x))
cr.grad(power, argnums=1)(2.0, 3.0)
""",
    "CR009": """
@cr.primitive(derivative="finite-difference")
def cubed(x):
    return x**3

cr.grad(cubed)(1.0)
""",
    "CR010": """
@cr.implicit(lambda x, a: x - a)
def solve(a):
    return cr.value(a)

cr.grad(solve)(1.0)
""",
    "CR011": """
rng = np.random.default_rng(0)
cr.compile(lambda x, noise: x + noise)(1.0, rng.normal())
""",
    "CR012": """
cr.vmap(np.abs)(np.array([1.0, -1.0]))
""",
    "CR013": """
cr.cost(np.sum, np.ones(3), seconds=0.5)
""",
    "CR014": """
cr.vmap(lambda x, y: x + y)(np.ones(4), np.ones(4))
""",
    "CR015": """
cr.loop(9, np.sin, 1.0)
""",
    "CR016": """
from chainrules.scipy.integrate import solve_bvp

def flow(t, y):
    return np.stack([y[1], np.exp(y[0]) * 100.0])

def ends(left, right, a):
    return np.stack([left[0] - a, right[0]])

def inside(a):
    t, guess = np.linspace(0.0, 1.0, 50), np.zeros((2, 50))
    found = solve_bvp(flow, lambda left, right: ends(left, right, a), t, guess)
    return found.sol(0.5)[0]

cr.grad(inside)(0.1)
""",
    "CR017": """
cr.compile(lambda x: x**2)
""",
    "CR018": """
from chainrules.interop.jax import export

export(lambda x: 2.0 * x)(1.0)
""",
    "CR019": """
class Ring:
    pass

ring = Ring()
ring.weight, ring.next = 1.0, None
cr.grad(lambda ring: ring.weight**2)(ring)
""",
    "CR021": """
@cr.fixed_point(lambda x, a: np.cos(a * x))
def solve(a):
    x = 0.7
    for _ in range(100):
        x = np.cos(cr.value(a) * x)
    return x

cr.grad(solve)(1.0)
""",
    "CR022": """
cr.grad(lambda x: np.sum(x * np.ones(3)))(np.ones(3))
""",
    "CR023": """
@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: (cr.NoTangent(), 2.0 * ybar)
""",
    "CR024": """
import os

os.environ["CHAINRULES_WITHOUT"] = "waves"  # or install the chainrules that waves asks for
cr.grad(np.sin)(1.0)
""",
    "CR025": """
@cr.primitive
def sine(x):
    return np.sin(x)

@cr.frule.register(sine)
def sine_frule(tangents, sine, x):
    return sine(x), np.cos(x) * tangents[1]
""",
    "CR026": """
import time

cr.compile(lambda x, now: x + now)(1.0, time.time())
""",
    "CR027": """
cr.vmap(lambda x: x if x > 0.0 else np.round(x, 1), ways=2)(np.linspace(-1.0, 1.0, 9))
""",
    "CR028": """
def loss(x):
    return np.sum(x**2)

cr.grad(loss)(np.ones(2000))
""",
    "CR031": """
from chainrules.testing import check_grad

check_grad(lambda x: x**2, 3.0)  # test_rrule is for functions that have a rule
""",
    "CR032": """
from chainrules.testing import test_rrule

@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: (cr.NoTangent(), 2.0 * ybar)

test_rrule(double, 3.0)
""",
    "CR033": """
from chainrules.testing import test_rrule

@cr.primitive
def total(x):
    return np.sum(x)

@cr.rrule.register(total)
def total_rrule(total, x):
    return total(x), lambda ybar: (cr.NoTangent(), np.full(np.shape(x), ybar))

test_rrule(total, np.ones(3))
""",
    "CR034": """
from chainrules.testing import test_rrule

cube = cr.primitive(lambda x: x**3)
cr.scalar_rule(cube, lambda y, x: 3.0 * x**2)
test_rrule(cube, 3.0)
""",
    "CR035": """
from chainrules.testing import test_rrule

@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: (cr.NoTangent(), ybar * 2.0)

test_rrule(double, np.ones(3))
""",
    "CR036": """
from chainrules.testing import check_grad

check_grad(lambda x: np.sqrt(np.abs(x)), 0.5)
""",
    "CR112": """
@cr.primitive
def total(g, n, x):
    return sum(float(g(k, x)) for k in range(n))

cr.scalar_rule(total, 0.0, 0.0, lambda y, g, n, x: sum(range(n)))
cr.grad(lambda x: total(lambda k, x: k * x, 3, x))(2.0)
""",
    "CR120": """
import pandas as pd

column = pd.Series([1.0, 2.0]).to_numpy()
cr.grad(lambda x: (column * x).sum())(3.0)
""",
    "CR121": """
def total(x):
    known = np.flatnonzero(~np.isnan(x))
    return np.sum(np.interp(np.arange(len(x)), known, x[known]))

cr.grad(total)(np.array([1.0, np.nan, 2.0, 4.0]))
""",
    "CR123": """
import pandas as pd

def total(x):
    return np.exp(pd.Series(x)).sum()

cr.grad(total)(np.ones(3))
""",
    "CR130": """
class Total:
    def __init__(self, x):
        self.x = x

    @property
    def total(self):
        return np.sum(self.x)

cr.register_container(Total, lambda b: {"x": b.x}, lambda b, v: Total(v["x"]))
cr.grad(lambda b: np.sum(b.x**2))(Total(np.array([2.0, 3.0])))
""",
    "CR131": """
class AsArray:
    def __init__(self, x):
        self.x = x

cr.register_container(AsArray, lambda b: {"x": b.x}, lambda b, v: AsArray(v["x"]))
cr.grad(lambda b: b.x[0])(AsArray(np.array([2.0, 3.0])))
""",
    "CR132": """
import xarray as xr

class Series(xr.DataArray):
    __slots__ = ()

    def copy(self, deep=True, data=None):
        return super().copy(deep, data)

cr.grad(lambda x: (x**2).sum())(Series([1.0, 2.0], dims="t"))
""",
    "CR133": """
import xarray as xr

def total(x):
    data = xr.DataArray(np.ones(3) * x, dims="t", coords={"t": ("t", [0.0, 1.0, 2.0])})
    return data.to_dataset(name="data").assign(u=("t", x))

cr.jvp(total, (np.ones(3),), (np.ones(3),))
""",
    "CR137": """
def swaps(x):
    y = np.reshape(x * np.array([1.0, 2.0]), (2, 1))
    y[[0, 1]] = y[[1, 0]]
    return y[0, 0]

cr.grad(swaps)(np.array([2.0, 3.0]))
""",
    "CR153": """
from chainrules.scipy import integrate

known = {}

def loss(p):
    total = 0.0
    for k in (1.0, 2.0):
        known["k"] = k
        total = total + integrate.quad_vec(lambda t, k: k * np.sin(p * t), 0.0, 1.0, args=(k,))[0]
    return total

cr.grad(loss)(1.0)
""",
    "CR152": """
from astropy import units as u

cr.grad(lambda q: (q**2).to_value(u.m**2) * q.value)(3.0 * u.km)
""",
}
