"""Adopted modules keep functions of NumPy, math and SciPy in dicts, lists, partials and objects."""

import functools
import math
import sys
import types

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

KEPT = """
import functools
import math
import types
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from scipy import special

OPS = {"zeros": np.zeros, "sin": math.sin, "deep": {"exp": math.exp, "all": [math.cosh]}}
LIST = [math.cos, np.array, special.gamma]
PAIR = (math.tan, (math.sqrt, 2.0))
FULL = functools.partial(np.full, 2)
POWER = functools.partial(functools.partial(pow_of := math.pow), 2.0)
NAMES = types.SimpleNamespace(np=np, log=math.log)
LOOP = {"sin": math.sin}
LOOP["itself"] = LOOP


class Space:
    xp = np
    log = math.log
    table = {"exp": math.exp}

    def __init__(self):
        self.np = np
        self.exp = math.exp
        self.lin = {"lin": np.linspace}

    def f(self, x):
        y = self.np.zeros(2)
        y[0] = x * self.exp(x)
        y[1] = self.xp.float64(x)
        return y.sum() + self.lin["lin"](0.0, x, 3).sum()

    def g(self, x):
        y = self.xp.zeros(2)
        y[0] = x
        return y.sum() * self.log(x) + type(self).log(x) + self.table["exp"](x)


@dataclass
class Layer:
    act: object = math.tanh
    more: dict = field(default_factory=lambda: {"sin": math.sin})

    def __call__(self, x):
        return self.act(x) * self.more["sin"](x)


space, layer = Space(), Layer()


def made(tools=(math.sin, {"cos": math.cos})):
    kept = {"tan": math.tan}

    def f(x, *, more={"exp": math.exp}):
        return tools[0](x) * tools[1]["cos"](x) + kept["tan"](x) * more["exp"](x)

    return f


inner = made()


def in_dict(x):
    y = OPS["zeros"](2)
    y[1] = OPS["sin"](x)
    return y.sum() * OPS["deep"]["exp"](x) * OPS["deep"]["all"][0](x)

def in_list(x): return LIST[0](x) + LIST[1]([x, 1.0]).sum() * LIST[2](x)
def in_tuple(x): return PAIR[0](x) * PAIR[1][0](x)
def in_partial(x): return FULL(x).sum() * POWER(x)
def in_namespace(x): return NAMES.np.array([x, 1.0]).sum() * NAMES.log(x)
def in_object(x): return space.f(x)
def in_class(x): return space.g(x)
def in_new_object(x): return Space().f(x) + Layer()(x)
def in_dataclass(x): return layer(x)
def in_closure(x): return inner(x)
def in_itself(x): return LOOP["itself"]["itself"]["sin"](x)
"""
NAMES = [line.split("(")[0][4:] for line in KEPT.splitlines() if line.startswith("def in_")]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_sees_traced_values(name, monkeypatch):
    made = types.ModuleType("adopted_kept")
    monkeypatch.setitem(sys.modules, "adopted_kept", made)  # where a dataclass looks for it
    exec(KEPT, vars(made))
    f = getattr(made, name)
    value, expected = f(0.7), slope(f, 0.7)
    with cr.adopt(made):
        f = getattr(made, name)
        assert f(0.7) == value
        assert cr.grad(f)(0.7) == pytest.approx(expected, rel=1e-6)
        assert cr.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
        assert cr.grad(cr.grad(f))(0.7) == pytest.approx(slope(cr.grad(f), 0.7), rel=1e-5)


def test_what_keeps_no_function_of_numpy_stays_the_same_one():
    made = module_of(
        """
        import functools
        def twice(x): return 2 * x
        PAIR, CALL = (twice, 2.0), functools.partial(twice, 3.0)
        """,
        "adopted_kept",
    )
    pair, call = made.PAIR, made.CALL
    with cr.adopt(made):
        assert made.PAIR is pair
        assert made.CALL is call


def test_all_is_taken_back():
    made = module_of(KEPT, "adopted_kept")
    before = {name: part for name, part in vars(made).items() if name != "__builtins__"}
    dicts = {name: dict(getattr(made, name)) for name in ("OPS", "LOOP")}
    with cr.adopt(made):
        assert made.OPS["sin"] is not math.sin
        assert made.OPS is before["OPS"]
        made.LIST[0] = math.floor  # bound anew: that stays
    assert {name: part for name, part in vars(made).items() if name != "__builtins__"} == before
    assert made.OPS == dicts["OPS"]
    assert made.OPS["sin"] is math.sin
    assert made.OPS["deep"]["all"] == [math.cosh]
    assert made.LIST == [math.floor, np.array, made.special.gamma]
    assert made.space.exp is math.exp
    assert vars(made.Space)["log"] is math.log
    assert made.NAMES.np is np
    assert made.inner.__closure__[0].cell_contents == {"tan": math.tan}
    assert isinstance(made.FULL, functools.partial)
    assert made.FULL is before["FULL"]


def test_what_libraries_keep_is_left_to_them():
    made = types.ModuleType("adopted_of_libraries")
    made.space, made.modules, made.codes = vars(np), sys.modules, np.sctypeDict
    before = dict(vars(np)), dict(np.sctypeDict)
    with cr.adopt(made):
        assert (dict(vars(np)), dict(np.sctypeDict)) == before
        assert sys.modules["math"] is math


def test_what_is_kept_later_is_refused_in_words():
    made = module_of("F = {}\n\ndef f(x):\n    return F['sin'](x)\n", "adopted_later")
    with cr.adopt(made):
        made.F["sin"] = math.sin
        with pytest.raises(cr.LostDerivativeError):
            cr.grad(made.f)(0.3)


def test_adopted_twice_and_undone_in_any_order():
    made = module_of(KEPT, "adopted_kept")
    first, second = cr.adopt(made), cr.adopt(made)
    first.undo()
    assert cr.grad(made.in_dict)(0.7) == pytest.approx(slope(made.in_dict, 0.7), rel=1e-6)
    second.undo()
    assert made.OPS["sin"] is math.sin


CHECKS = """
import numpy as np
from numpy import testing
from numpy.testing import assert_allclose, assert_array_less, assert_equal


def checked(x):
    y = np.array([x, 1.0]) * 2.0
    np.testing.assert_allclose(y, [2.0 * x, 2.0])
    testing.assert_array_equal(y[1:], [2.0])
    assert_allclose(actual=y, desired=y + 1e-12)
    assert_array_less(y, 100.0)
    assert_equal({"a": y}, {"a": y})
    y.setflags(write=False)
    x.setflags(write=False)
    return y.sum()


def wrong(x):
    assert_allclose(np.array([x, 1.0]), [0.0, 1.0])
    return x
"""


def test_checks_of_numpy_testing_see_the_numbers():
    made = module_of(CHECKS, "adopted_checks")
    with cr.adopt(made):
        assert cr.grad(made.checked)(np.float64(0.7)) == 2.0
        assert cr.jvp(made.checked, (np.float64(0.7),), (1.0,)) == (3.4, 2.0)
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            cr.grad(made.wrong)(0.7)
        made.checked(np.float64(0.7))
    assert made.testing is np.testing


NAMESPACES = """
import array_api_compat.numpy as xp
from array_api_compat import array_namespace


def filled(x):
    y = xp.zeros(3)
    y[0] = x[0]
    return xp.sum(y**2)


def found(x):
    xp = array_namespace(x)
    y = xp.zeros(3)
    y[1] = x[1]
    return xp.sum(xp.sin(y) * x) + xp.linalg.vector_norm(x)


def stacked(x):
    xp = array_namespace(x)
    return xp.mean(xp.asarray([x[0], x[1]])) + xp.sum(xp.stack([x, x * 2]))
"""


@pytest.mark.parametrize("name", ["filled", "found", "stacked"])
def test_namespaces_of_array_api_compat(name):
    pytest.importorskip("array_api_compat")
    made, x = module_of(NAMESPACES, "adopted_namespaces"), np.array([0.5, 1.2, 0.7])
    f = getattr(made, name)
    expected = [slope(lambda t, e=e: f(x + t * e), 0.0) for e in np.eye(3)]
    with cr.adopt(made, "array_api_compat"):
        np.testing.assert_allclose(expected, cr.grad(f)(x), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(expected, cr.jacfwd(f)(x), rtol=1e-6, atol=1e-8)
    if name != "filled":  # of an array's own namespace, which needs no adoption
        np.testing.assert_allclose(expected, cr.grad(f)(x), rtol=1e-6, atol=1e-8)


SPARSE = """
import numpy as np
from scipy import sparse
from scipy.sparse import linalg

A = sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
KEPT = {"diagonal": sparse.dia_array(np.diag([2.0, 0.5])), "same": A}
SUMS = linalg.aslinearoperator(A)


def f(x, lower=sparse.tril(A, format="csc")):
    y = A @ x + KEPT["diagonal"].dot(x) + KEPT["same"].T @ x + lower * x
    return np.sum(y * y) + np.sum(np.abs(A @ (1j * x + 1.0)))


def with_operator(x):
    return f(x) + np.sum(SUMS.matvec(x) ** 2)


def doubled():
    A.data *= 2.0
    A.data = A.data + 0.0
"""


def test_sparse_matrices_that_were_there_stand_beside_traced_values():
    made, x = module_of(SPARSE, "adopted_sparse"), np.array([0.5, -1.5])
    before = made.A, dict(made.KEPT), made.f.__defaults__
    f = made.with_operator
    value, expected = f(x), [slope(lambda t, e=e: f(x + t * e), 0.0) for e in np.eye(2)]
    with cr.adopt(made):
        assert f(x) == value
        found, gradient = cr.value_and_grad(f)(x)
        assert found == pytest.approx(value)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7)
        np.testing.assert_allclose(cr.jacfwd(f)(x), expected, rtol=1e-7)
        np.testing.assert_allclose(cr.compile(cr.grad(made.f))(2.0 * x), cr.grad(made.f)(2.0 * x))
        assert made.KEPT["same"] is made.A  # as before
        made.doubled()
        assert made.A[0, 1] == before[0][0, 1] == 4.0
    assert made.A is before[0]
    assert made.KEPT == before[1]
    assert made.f.__defaults__ is before[2]
    assert made.A[0, 1] == 4.0


def test_a_sparse_matrix_of_scipys_beside_a_traced_value_says_what_to_write():
    plain = module_of(SPARSE, "plain_sparse").A
    with pytest.raises(cr.LostDerivativeError, match=r"csr_array\(A\) @ x"):
        cr.grad(lambda x: np.sum(plain @ x))(np.ones(2))


FACTORS = """
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import factorized, spilu, splu

A = sp.csc_matrix(sp.diags([-1.0, 3.0, -0.5], [-1, 0, 1], shape=(4, 4)))
KEPT = {"lu": splu(A), "incomplete": spilu(A)}
SOLVES = {"factorized": factorized(A), "method": splu(A).solve}


def f(name, p):
    b = p * np.arange(4.0) ** p
    return np.sum((KEPT[name].solve(b, "T") if name in KEPT else SOLVES[name](b)) ** 2)
"""


@pytest.mark.parametrize("name", ["lu", "incomplete", "factorized", "method"])
def test_factors_that_were_there_see_traced_values(name):
    module = module_of(FACTORS, "adopted_factors")
    f = functools.partial(module.f, name)
    expected = slope(f, 1.3)
    with cr.adopt(module):
        assert f(1.3) == module.f(name, 1.3)
        assert cr.grad(f)(1.3) == pytest.approx(expected, rel=1e-7)
        assert cr.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)
        assert cr.grad(cr.grad(f))(1.3) == pytest.approx(slope(cr.grad(f), 1.3), rel=1e-6)


OBJECTS = """
import numpy as np
from scipy import interpolate, stats
from scipy.interpolate import interp1d

XS = np.linspace(0.0, 4.0, 9)
YS = np.sin(XS)
KEPT = {
    "spline": interpolate.CubicSpline(XS, YS),
    "pieces": interpolate.PPoly(np.array([[1.0, 2.0], [3.0, 1.0]]), [0.0, 2.0, 4.0]),
    "b-spline": interpolate.make_interp_spline(XS, YS),
    "fitpack": interpolate.UnivariateSpline(XS, YS, s=0),
    "table": interp1d(XS, YS),
    "cubic table": interp1d(XS[::-1], YS[::-1], kind="cubic"),
    "matrix of a table": interp1d(XS, np.outer([1.0, 2.0], YS), axis=1, fill_value="extrapolate"),
    "frozen": stats.gamma(2.0, scale=1.5),
    "method": stats.norm.logpdf,
    "method of frozen": stats.norm(1.0, 2.0).cdf,
    "method of a spline": interpolate.Akima1DInterpolator(XS, YS).__call__,
    "density": stats.gaussian_kde(YS),
}
GRID = interpolate.RegularGridInterpolator((XS, XS[::-1]), np.outer(YS, YS))


def on_grid(x):
    return float(GRID(np.array([[x, 2.0 * x]]))[0])


def f(name, x, grid=interpolate.RectBivariateSpline(XS, XS, np.outer(YS, YS)).ev):
    g = KEPT[name]
    y = g.pdf(x) if name == "frozen" else g(x)
    return np.sum(y) + np.sum(grid(x, 0.5)) + on_grid(x)
"""


@pytest.fixture(scope="module")
def of_scipy():
    return module_of(OBJECTS, "adopted_objects")


def test_objects_of_scipys_that_were_there_see_traced_values(of_scipy):
    kept, x = dict(of_scipy.KEPT), 1.3
    for name in kept:
        f = functools.partial(of_scipy.f, name)
        value, expected = f(x), slope(f, x)
        with cr.adopt(of_scipy):
            f = functools.partial(of_scipy.f, name)
            assert f(x) == value
            assert cr.value_and_grad(f)(x) == pytest.approx((value, expected), rel=1e-7), name
            assert cr.jvp(f, (x,), (1.0,)) == pytest.approx((value, expected), rel=1e-7), name
            assert cr.compile(cr.grad(f))(1.7) == pytest.approx(slope(f, 1.7), rel=1e-6), name
            assert isinstance(of_scipy.KEPT[name], type(kept[name]))
    assert of_scipy.KEPT == kept


def test_a_face_has_the_state_of_the_object_that_it_stands_for():
    made = module_of("from scipy import stats\nX = stats.norm(1.0)\nY = X\n", "adopted_states")
    spline = module_of(OBJECTS, "adopted_states")
    made.X.random_state = 3
    expected = made.X.rvs(3)
    made.X.random_state = 3
    with cr.adopt(made, spline):
        np.testing.assert_array_equal(made.X.rvs(3), expected)
        face = spline.KEPT["spline"]
        face.c[:] = 0.0
        assert face(1.0) == 0.0
        assert math.isclose(spline.KEPT["spline"].x[1], 0.5)
    assert spline.KEPT["spline"](1.0) == 0.0


VECTORIZED = """
import math
import numpy as np


@np.vectorize
def bend(x, sin=math.sin):
    from math import exp

    return sin(x) * exp(x) if x > 0 else 0.0


POWERS = {"cube": np.vectorize(lambda x, k: float(x) ** k, excluded=[1], otypes=[float])}


def f(x):
    return np.sum(bend(x) * POWERS["cube"](x, 3))
"""


@pytest.mark.parametrize("x", [0.7, np.array([0.7, -0.4])])
def test_vectorized_functions_that_were_there_see_traced_values(x):
    made = module_of(VECTORIZED, "adopted_vectorized")
    before, value = (made.bend, made.POWERS["cube"]), made.f(x)
    expected = slope(lambda t: made.f(x + t), 0.0)
    with cr.adopt(made):
        assert made.f(x) == value
        found, gradient = cr.value_and_grad(made.f)(x)
        assert (found, np.sum(gradient)) == pytest.approx((value, expected))
        assert cr.jvp(made.f, (x,), (np.ones_like(x),))[1] == pytest.approx(expected)
        assert cr.vmap(made.f)(np.stack([x, x])) == pytest.approx([value, value])
        assert cr.compile(made.f)(x) == pytest.approx(value)
    assert (made.bend, made.POWERS["cube"]) == before
