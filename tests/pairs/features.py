"""Features of the library as wrappers: programs of three numbers around a program of three numbers.

Each is the text of a function ``make(body)``, so that its module can be adopted, beside a plain
program that computes the same: see ``exact``.
"""

import dataclasses
import functools
import importlib.util
import sys
import textwrap
import types
from collections.abc import Callable

import numpy as np
from exact import along, pulled

import chainrules as cr
import chainrules.scipy

V, W = np.array([0.7, -0.4, 0.5]), np.array([0.3, 1.1, -0.6])


@dataclasses.dataclass(frozen=True)
class Feature:
    """A wrapper of programs, by the text that makes it, and the plain equivalent."""

    name: str
    text: str
    plain: Callable
    needs: str = "numpy"

    @property
    def here(self):
        return importlib.util.find_spec(self.needs) is not None


FEATURES: dict[str, Feature] = {}


def feature(name, text, plain, needs="numpy"):
    FEATURES[name] = Feature(name, textwrap.dedent(text), plain, needs)


HEAD = """
import ctypes, ctypes.util, math
import numpy as np
import chainrules as cr
V, W = np.array([0.7, -0.4, 0.5]), np.array([0.3, 1.1, -0.6])
"""
BASE = """
def base(x):
    return 0.8 * np.sin(x) + 0.2 * x[::-1] * x
"""
# Code as it is written by those who know of no derivatives.
FILLED = """
def base(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = 0.8 * math.sin(float(x[i])) + 0.2 * x[2 - i] * x[i]
    return y
"""


def plain_base(x):
    return 0.8 * np.sin(x) + 0.2 * x[..., ::-1] * x


def module_of(*texts, adopted=False):
    """Return a module with these texts; its ``scipy`` sees traced values, adopted or not."""
    module = types.ModuleType(f"pairs_{len(sys.modules)}")
    scipy = "import scipy.integrate, scipy.optimize, scipy.sparse\n"
    exec("\n".join((HEAD, scipy if adopted else "", *texts)), vars(module))
    if adopted:
        cr.adopt(module)
    else:
        module.scipy = chainrules.scipy
    return module


@functools.cache
def module_with(name, adopted):
    """Return the module of a feature: one for all pairs, since some compile, or start threads."""
    return module_of(FEATURES[name].text, adopted=adopted)


@functools.cache
def module_of_base(adopted):
    return module_of(FILLED if adopted else BASE, adopted=adopted)


def made(outer, inner=None, *, outer_adopted=False, inner_adopted=False):
    """Return the program of one feature around that of another; "adopt" is a feature of modules."""
    body = module_of_base(inner_adopted).base
    for name, adopted in ((inner, inner_adopted), (outer, outer_adopted)):
        if name is not None:
            body = module_with(name, adopted).make(body)
    return body


def plain(*names):
    """Return the plain program of these features, the innermost first."""
    body = plain_base
    for name in names:
        body = FEATURES[name].plain(body)
    return body


# ---- loops --------------------------------------------------------------------------------------


def iterated(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


def scanned(body, mix):
    def f(x):
        carry, total = 1 + 0 * x, 0
        for i in range(3):
            item = x[..., i : i + 1]
            total = total + mix * carry / 2
            carry = body(carry) / 2 + item
        return carry + total

    return f


def mapped(body):
    return lambda x: np.stack([np.mean(body(x[..., i : i + 1] * x), -1) for i in range(3)], -1)


feature("compile", "make = cr.compile", lambda body: body)
feature(
    "explain",
    """
    def make(body):
        def f(x):
            assert "steps" in str(cr.explain(body, x))
            return body(x) + x
        return f
    """,
    lambda body: lambda x: body(x) + x,
)
feature(
    "loop",
    """
    def make(body):
        return lambda x: cr.loop(3, lambda s: 0.5 * body(s) + 0.25 * x, np.ones(3))
    """,
    lambda body: lambda x: iterated(lambda s: body(s) / 2 + x / 4, 1 + 0 * x, 3),
)
feature(
    "scan",
    """
    def make(body):
        def f(x):
            carry, ys = cr.scan(lambda c, a: (0.5 * body(c) + a, 0.5 * c), np.ones(3), x)
            return carry + np.sum(ys, axis=0)
        return f
    """,
    lambda body: scanned(body, 1),
)
feature(
    "map",
    """
    def make(body):
        return lambda x: cr.map(lambda a: np.mean(body(a * x)), x)
    """,
    mapped,
)
feature(
    "reduce",
    """
    def make(body):
        return lambda x: cr.reduce(lambda c, a: 0.5 * body(c) + a, x, np.ones(3))
    """,
    lambda body: scanned(body, 0),
)
feature(
    "accumulate",
    """
    def make(body):
        def f(x):
            rows = np.stack([x, x * x])
            return np.sum(cr.accumulate(lambda c, row: 0.5 * body(c) + row, rows), axis=0)
        return f
    """,
    lambda body: lambda x: x + body(x) / 2 + x * x,
)
feature(
    "checkpoint",
    """
    def make(body):
        return lambda x: cr.checkpoint(lambda y: body(y) * x)(x)
    """,
    lambda body: lambda x: body(x) * x,
)
feature(
    "threads",
    """
    from concurrent.futures import ThreadPoolExecutor
    def make(body):
        pool = ThreadPoolExecutor(2)  # its own: who waits in a task for its pool waits for ever
        return lambda x: cr.map(lambda a: np.mean(body(a * x)), x, executor=pool)
    """,
    mapped,
)

# ---- solvers, integrators -----------------------------------------------------------------------


def solved(body):
    return lambda x: iterated(lambda u: x + body(u) / 16, x, 30)


def stepped(body):
    """A step of Runge and Kutta's method: the error of 0.01 ** 5 is small enough."""

    def f(x):
        h = 1 / 50
        k = body(x)
        m = body(x + h / 2 * k)
        n = body(x + h / 2 * m)
        return x + h / 6 * (k + 2 * m + 2 * n + body(x + h * n))

    return f


def integrated(body):
    nodes, weights = np.polynomial.legendre.leggauss(9)

    def f(x):
        parts = [w / 2 * np.sum(body((1 + t) / 2 * x), -1) for t, w in zip(nodes, weights)]
        return x * sum(parts)[..., None]

    return f


SOLVER = """
    def solve(y):
        u = y
        for _ in range(30):
            u = y + body(u) / 16
        return np.asarray(u)
    return solve
"""
feature(
    "implicit",
    "def make(body):\n    @cr.implicit(lambda u, y: u - body(u) / 16 - y)" + SOLVER,
    solved,
)
feature(
    "fixed_point",
    "def make(body):\n    @cr.fixed_point(lambda u, y: y + body(u) / 16)" + SOLVER,
    solved,
)
feature(
    "root",
    """
    def make(body):
        def f(x):
            start = np.zeros(3)
            return scipy.optimize.root(lambda u: u - body(u) / 16 - x, start, tol=1e-13).x
        return f
    """,
    solved,
    "scipy",
)
feature(
    "minimize",
    """
    def make(body):
        def f(x):
            y = body(x)
            energy = lambda u: np.sum(np.cosh(u) - u * y)
            slopes = dict(jac=lambda u: np.sinh(u) - y, hess=lambda u: np.diag(np.cosh(u)))
            how = dict(method="trust-exact", tol=1e-10)
            return scipy.optimize.minimize(energy, np.zeros(3), **slopes, **how).x
        return f
    """,
    lambda body: lambda x: np.arcsinh(body(x)),
    "scipy",
)
feature(
    "solve_ivp",
    """
    def make(body):
        step = dict(method="RK45", first_step=0.02, rtol=1e-3, atol=1.0)
        def f(x):
            rates = lambda t, u: body(u)
            return scipy.integrate.solve_ivp(rates, (0.0, 0.02), x, **step).y[:, -1]
        return f
    """,
    stepped,
    "scipy",
)
feature(
    "quad",
    """
    def make(body):
        return lambda x: x * scipy.integrate.quad(lambda t: np.sum(body(t * x)), 0.0, 1.0)[0]
    """,
    integrated,
    "scipy",
)

# ---- primitives, black boxes, bodies in C -------------------------------------------------------

feature(
    "rules",
    """
    @cr.primitive
    def applied(f, x):
        return f(x)
    @cr.frule.register(applied)
    def applied_frule(config: cr.HasForwardsMode, tangents, applied, f, x):
        _, fdot, xdot = tangents
        return cr.frule_via_ad(config, (fdot, xdot), f, x)
    @cr.rrule.register(applied)
    def applied_rrule(config: cr.HasReverseMode, applied, f, x):
        y, pullback = cr.rrule_via_ad(config, f, x)
        return y, lambda ybar: (cr.NoTangent(), *pullback(ybar))
    def make(body):
        return lambda x: applied(body, x) + x
    """,
    lambda body: lambda x: body(x) + x,
)
feature(
    "elementwise",
    """
    @cr.primitive
    def tangent(x):
        y = np.empty_like(x)
        for i in range(3):
            y[i] = math.tan(x[i])
        return y
    cr.scalar_rule(tangent, lambda y, x: 1 + tangent(x) ** 2)
    def make(body):
        return lambda x: tangent(0.25 * body(x))
    """,
    lambda body: lambda x: np.tan(body(x) / 4),
)
feature(
    "differences",
    """
    def make(body):
        return cr.primitive(lambda x: np.array(body(x)), derivative="finite-difference")
    """,
    lambda body: body,
)
feature(
    "complex step",
    """
    def make(body):
        return cr.primitive(lambda x: np.array(body(x)), derivative="complex-step")
    """,
    lambda body: body,
)
feature(
    "jac",
    """
    def make(body):
        return cr.primitive(lambda x: np.array(body(x)), jac=cr.jacobian(body))
    """,
    lambda body: body,
)
feature(
    "ctypes",
    """
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    libm.sin.argtypes, libm.sin.restype = [ctypes.c_double], ctypes.c_double
    @cr.primitive
    def sine(x):
        x, y = np.ascontiguousarray(x), np.empty_like(x)
        reads, writes = (a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (x, y))
        for i in range(3):
            writes[i] = libm.sin(reads[i])
        return y
    cr.scalar_rule(sine, lambda _, x: np.cos(x))
    def make(body):
        return lambda x: sine(body(x))
    """,
    lambda body: lambda x: np.sin(body(x)),
)
feature(
    "cffi",
    """
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("double sin(double);")
    libm = ffi.dlopen(ctypes.util.find_library("m"))
    @cr.primitive
    def sine(x):
        x, y = np.ascontiguousarray(x), np.empty_like(x)
        reads, writes = (ffi.cast("double *", ffi.from_buffer(a)) for a in (x, y))
        for i in range(3):
            writes[i] = libm.sin(reads[i])
        return y
    cr.scalar_rule(sine, lambda _, x: np.cos(x))
    def make(body):
        return lambda x: sine(body(x))
    """,
    lambda body: lambda x: np.sin(body(x)),
    "cffi",
)
feature(
    "numba",
    """
    import numba
    @numba.njit
    def compiled(x):
        y = np.empty_like(x)
        for i in range(3):
            y[i] = math.sin(x[i])
        return y
    sine = cr.primitive(lambda x: compiled(x))
    cr.scalar_rule(sine, lambda _, x: np.cos(x))
    def make(body):
        return lambda x: sine(body(x))
    """,
    lambda body: lambda x: np.sin(body(x)),
    "numba",
)

# ---- other libraries ----------------------------------------------------------------------------

feature(
    "jax",
    """
    import jax
    from chainrules.interop.jax import export, import_
    jax.config.update("jax_enable_x64", True)
    def make(body):
        inner = export(body)
        return import_(lambda x: jax.numpy.sin(inner(x)) + x)
    """,
    lambda body: lambda x: np.sin(body(x)) + x,
    "jax",
)
feature(
    "autograd",
    """
    import autograd.numpy
    from chainrules.interop import autograd as theirs
    def make(body):
        inner = theirs.export(body)
        return theirs.adopt(lambda x: autograd.numpy.sin(inner(x)) + x)
    """,
    lambda body: lambda x: np.sin(body(x)) + x,
    "autograd",
)
feature(
    "torch",
    """
    import torch
    from chainrules.interop.torch import export, import_
    def make(body):
        inner = export(body)
        return import_(lambda x: torch.sin(inner(x)) + x)
    """,
    lambda body: lambda x: np.sin(body(x)) + x,
    "torch",
)
feature(
    "xarray",
    """
    import xarray
    def make(body):
        def f(x):
            a = xarray.DataArray(body(x), dims="i", coords={"i": [1, 2, 3]})
            return (a * a.sel(i=2) + a.mean("i")).data
        return f
    """,
    lambda body: lambda x: (y := body(x)) * y[..., 1:2] + np.sum(y, -1)[..., None] / 3,
    "xarray",
)
feature(
    "pandas",
    """
    import pandas
    def make(body):
        table = pandas.DataFrame({"v": V, "k": ["a", "b", "a"]})
        def f(x):
            t = table.assign(y=body(x) * 1.0)
            return (t["y"] * t["v"] + t.groupby("k")["y"].transform("sum")).to_numpy()
        return f
    """,
    lambda body: lambda x: (y := body(x)) * V + y + y[..., [2, 1, 0]] * np.array([1.0, 0.0, 1.0]),
    "pandas",
)
feature(
    "np.asarray",
    """
    def make(body):
        return lambda x: np.asarray(body(np.asarray(x * 1.0)))
    """,
    lambda body: body,
)
feature(
    "sparse",
    """
    def make(body):
        def f(x):
            a = scipy.sparse.csr_array((body(x), ([0, 1, 2], [2, 0, 1])), shape=(3, 3))
            return a @ x
        return f
    """,
    lambda body: lambda x: body(x) * x[..., [2, 0, 1]],
    "scipy",
)

# ---- derivatives inside -------------------------------------------------------------------------


def forward(body):
    return along(body, V)


def reverse(body):
    return pulled(body, W)


def second(body):
    return along(pulled(body, W), V)


LOSS = "lambda x: np.sum(W * body(x))"
for name, expression, derivative in (
    ("jvp", "cr.jvp(body, (x,), (V,))[1]", forward),
    ("linearize", "cr.linearize(body, x)[1](V)", forward),
    ("vjp", "cr.vjp(body, x)[1](W)[0]", reverse),
    ("grad", f"cr.grad({LOSS})(x)", reverse),
    ("jacfwd", "cr.jacfwd(body)(x) @ V", forward),
    ("jacrev", "W @ cr.jacrev(body)(x)", reverse),
    ("hessian", f"cr.hessian({LOSS})(x) @ V", second),
    ("hvp", f"cr.hvp({LOSS}, (x,), (V,))", second),
    ("sparse=True", "cr.jacobian(body, sparse=True)(x) @ V", forward),
):
    feature(name, f"def make(body):\n    return lambda x: {expression}", derivative)
