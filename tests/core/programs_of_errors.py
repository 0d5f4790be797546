"""Programs that meet each class of errors and warnings, by its code; the site shows them."""

PROGRAMS = {
    "CR001": """
import math

erf = cr.primitive(math.erf)
cr.grad(lambda x: erf(x) ** 2)(0.5)
""",
    "CR002": """
cr.jvp(np.sin, (np.ones(3),), (np.ones(2),))
""",
    "CR003": """
@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: 2.0 * ybar  # and not (cr.NoTangent(), 2.0 * ybar)

cr.grad(double)(1.0)
""",
    "CR004": """
kept = []

def loss(x):
    kept.append(x)
    return x**2

cr.compile(loss, captured="freeze")(3.0)
kept[0] + 1.0
""",
    "CR005": """
@cr.implicit(lambda x, a: x**2 - a)
def root(a, tolerance=0.0):
    return np.sqrt(cr.value(a))

cr.grad(lambda a: root(2.0, tolerance=a))(1.0)  # options go to the solver alone
""",
    "CR006": """
import os
from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(1) as executor:
    # Each item ends its worker, as when the memory is used up.
    cr.map(lambda x: os._exit(1), [1.0, 2.0], executor=executor)
""",
    "CR007": """
draws = np.random.default_rng(0)
cr.grad(cr.checkpoint(lambda x: x * draws.normal()))(1.0)  # evaluated again, and not the same
""",
    "CR008": """
@cr.primitive
def power(x, n):
    return x**n

cr.scalar_rule(power, lambda _, x, n: n * x ** (n - 1), cr.not_implemented("in the power"))
cr.grad(power, argnums=1)(2.0, 3.0)
""",
    "CR009": """
@cr.primitive(derivative="finite-difference")
def rounded(x):
    return np.floor(1000.0 * x) / 1000.0

cr.grad(rounded)(1.0)
""",
    "CR010": """
@cr.implicit(lambda x, a: (x - a) ** 2)
def solve(a):
    return cr.value(a)

cr.grad(solve)(1.0)
""",
    "CR011": """
rng = np.random.default_rng(0)
cr.compile(lambda x: x + rng.normal())(1.0)
""",
    "CR012": """
cr.vmap(lambda x: x if x > 0.0 else -x, ways=1)(np.array([1.0, -1.0]))
""",
    "CR013": """
cr.cost(np.ones(3))  # and not cr.cost(f, np.ones(3))
""",
    "CR014": """
cr.vmap(lambda x, y: x + y)(np.ones(3), np.ones(4))
""",
    "CR015": """
import sys

sys.modules["tqdm"] = None  # as where it is not installed
cr.loop(9, np.sin, 1.0, progress=True)
""",
    "CR016": """
from chainrules.scipy.integrate import solve_bvp

def flow(t, y):
    return np.stack([y[1], np.exp(y[0]) * 100.0])

def ends(left, right, a):
    return np.stack([left[0] - a, right[0]])

def inside(a):
    t, guess = np.linspace(0.0, 1.0, 5), np.ones((2, 5))
    found = solve_bvp(flow, lambda left, right: ends(left, right, a), t, guess, max_nodes=5)
    return found.y[0, 1]

cr.grad(inside)(9.0)
""",
    "CR017": """
cr.jit(lambda x: x**2)
""",
    "CR018": """
from chainrules.interop.jax import export

export(lambda x: f"the number {x}")(1.0)
""",
    "CR019": """
class Ring:
    pass

ring = Ring()
ring.weight, ring.next = 1.0, ring
cr.grad(lambda ring: ring.weight**2)(ring)
""",
    "CR021": """
@cr.fixed_point(lambda x, a: np.cos(a * x))
def solve(a):
    return 0.7  # and not 0.7390851

cr.grad(solve)(1.0)
""",
    "CR022": """
cr.grad(lambda x: np.sum(np.ones(3)))(np.ones(3))
""",
    "CR023": """
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return double(x), lambda ybar: (cr.NoTangent(), 2.0 * ybar)
""",
    "CR024": """
import sys, tempfile
from pathlib import Path

# As if a package were installed that needs a newer chainrules:
folder = Path(tempfile.mkdtemp())
info = folder / "waves-1.0.dist-info"
info.mkdir()
(info / "METADATA").write_text("Name: waves\\nVersion: 1.0\\nRequires-Dist: chainrules>=99\\n")
(info / "entry_points.txt").write_text("[chainrules.rules]\\nwaves = waves.rules\\n")
sys.path.append(str(folder))
cr.grad(np.sin)(1.0)  # the first derivative loads the rules of packages
""",
    "CR025": """
@cr.frule.register(np.sin)
def sin_frule(tangents, sin, x):
    return np.sin(x), np.cos(x) * tangents[1]
""",
    "CR026": """
import time

cr.compile(lambda x: x + time.time())(1.0)
""",
    "CR027": """
cr.vmap(lambda x: x if x > 0.0 else float(f"{x:.1f}"), ways=2)(np.linspace(-1.0, 1.0, 9))
""",
    "CR028": """
def loss(x):
    return np.sum(np.asarray(x) ** 2)

cr.grad(loss)(np.ones(2000))
""",
    "CR031": """
from chainrules.testing import test_rrule

test_rrule(lambda x: x**2, 3.0)
""",
    "CR032": """
from chainrules.testing import test_rrule

@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    return x, lambda ybar: (cr.NoTangent(), 2.0 * ybar)  # and not double(x)

test_rrule(double, 3.0)
""",
    "CR033": """
from chainrules.testing import test_rrule

@cr.primitive
def total(x):
    return np.sum(x)

@cr.rrule.register(total)
def total_rrule(total, x):
    return total(x), lambda ybar: (cr.NoTangent(), ybar)  # and not np.full(np.shape(x), ybar)

test_rrule(total, np.ones(3))
""",
    "CR034": """
from chainrules.testing import test_rrule

cube = cr.primitive(lambda x: x**3)
cr.scalar_rule(cube, lambda y, x: 2.0 * x**2)  # and not 3.0 * x**2
test_rrule(cube, 3.0)
""",
    "CR035": """
from chainrules.testing import test_rrule

@cr.primitive
def double(x):
    return 2.0 * x

@cr.rrule.register(double)
def double_rrule(double, x):
    def double_pullback(ybar):
        ybar *= 2.0  # and not ybar * 2.0
        return cr.NoTangent(), ybar

    return double(x), double_pullback

test_rrule(double, np.ones(3))
""",
    "CR036": """
from chainrules.testing import check_grad

check_grad(lambda x: np.sqrt(np.abs(x)), 1e-14)
""",
}

# What is read once in a process, and lost: each of these has one of its own.
ALONE = {"CR006", "CR024", "CR120"}


# Of rows of the table of refusals: what needs other packages.
PROGRAMS_OF_ROWS = {
    "CR120": """
import pandas as pd

pd.__version__ = "2.3.3"  # as where an older one is installed
cr.grad(lambda x: (pd.Series([1.0, 2.0]) * x).sum())(3.0)
""",
    "CR121": """
import pandas as pd

def total(x):
    return pd.Series(x).interpolate("quadratic").sum()

cr.grad(total)(np.array([1.0, np.nan, 2.0, 4.0]))
""",
    "CR123": """
import pandas as pd

def total(x):
    column = pd.Series(x).array
    return np.exp(column, out=column).sum()

cr.grad(total)(np.ones(3))
""",
    "CR132": """
import xarray as xr

class Series(xr.DataArray):
    __slots__ = ()

    def copy(self, deep=True, data=None):
        return super().copy(deep)  # and not super().copy(deep, data)

cr.grad(lambda x: (x**2).sum())(Series([1.0, 2.0], dims="t"))
""",
    "CR133": """
import xarray as xr

def total(x):
    data = xr.DataArray(np.ones(3) * x, dims="t", coords={"t": ("t", [0.0, 1.0, 2.0])})
    return data.assign_coords(u=("t", x))

cr.jvp(total, (np.ones(3),), (np.ones(3),))
""",
    "CR153": """
from chainrules.scipy import integrate

known = {}

def loss(p):
    total = 0.0
    for k in (1.0, 2.0):
        known["k"] = k
        total = total + integrate.quad_vec(lambda t: known["k"] * np.sin(p * t), 0.0, 1.0)[0]
    return total

cr.grad(loss)(1.0)
""",
    "CR152": """
from astropy import units as u

cr.grad(lambda q: (q**2).info.meta["factor"] * q.value)(3.0 * u.km)
""",
}
