"""``cr.adopt``: modules of plain code, differentiated as they stand, and given back."""

import functools
import importlib
import math
import os
import signal
import sys
import textwrap
import threading
import types

import numpy as np
import pytest
from differences import jacobian_of
from modules_of_text import module_of, slope

import chainrules as cr

SIMULATION = """
import cmath
import math
import numpy
import numpy as np
import scipy
import scipy.linalg
from math import exp, pi
from numpy import array, zeros
from numpy.linalg import norm
from scipy import linalg
from scipy.linalg import solve


def run(x):
    a = zeros((2, 2))
    a[0, 0] = exp(x)
    a[1, 1] = 1 + float(x)
    a[0, 1] = math.sin(x) * pi
    b = array([1.0, 2.0])
    b[0] = numpy.sqrt(x)
    y = np.linspace(0.0, 1.0, 3) * 2.0
    y[1] = complex(x, 2 * x).imag + cmath.exp(1j * x).real
    return solve(a, b) @ b + scipy.linalg.det(a) + linalg.det(a) + np.sum(y) + norm(b)


def kinds(x):
    return isinstance(x, float), type(x) == float, np.zeros(2, dtype=float).dtype, float("1.5")
"""


def module(source=SIMULATION):
    return module_of(source, "adopted_simulation")


def test_a_module_is_differentiated_as_it_stands():
    sim = module()
    x = 0.7
    plain, expected = sim.run(x), slope(sim.run, x)
    second = (sim.run(x + 1e-4) - 2 * plain + sim.run(x - 1e-4)) / 1e-8
    with pytest.raises(cr.ChainRulesError):
        cr.grad(sim.run)(x)
    with cr.adopt(sim):
        assert sim.run(x) == plain
        assert cr.value_and_grad(sim.run)(x) == pytest.approx((plain, expected), rel=1e-7)
        for hessian in (
            cr.hessian,
            lambda f: cr.grad(cr.grad(f)),
            lambda f: cr.jacfwd(cr.jacfwd(f)),
        ):
            assert hessian(sim.run)(x) == pytest.approx(second, rel=1e-4)
        assert cr.jvp(sim.run, (x,), (1.0,)) == pytest.approx((plain, expected), rel=1e-7)
    with pytest.raises(cr.ChainRulesError):
        cr.grad(sim.run)(x)


def test_undo_gives_back_every_name():
    sim = module()
    before = dict(vars(sim))
    adoption = cr.adopt(sim)
    assert sim.math is not math
    assert sim.math.pi == math.pi
    adoption.undo()
    adoption.undo()
    assert before == vars(sim)
    assert all(vars(sim)[name] is part for name, part in before.items())


def test_what_was_bound_anew_stays():
    sim = module()
    with cr.adopt(sim):
        sim.exp = len
        sim.float = str
    assert (len, str) == (sim.exp, sim.float)


def test_two_adoptions_of_one_module():
    sim = module()
    first, second = cr.adopt(sim), cr.adopt(sim)
    first.undo()
    assert cr.grad(sim.run)(0.7) == pytest.approx(slope(sim.run, 0.7), rel=1e-6)
    second.undo()
    assert sim.math is math


def test_the_calling_module():
    caller = module(
        "import chainrules as cr\nfrom math import sin\n\ndef f(x):\n    return sin(x)\n"
    )
    exec("adoption = cr.adopt()", vars(caller))
    assert cr.grad(caller.f)(0.0) == 1.0
    caller.adoption.undo()
    assert caller.sin is math.sin


def test_imports_that_come_after_the_adoption(tmp_path, monkeypatch):
    area = "def area(p):\n    return integrate.quad(lambda t: t * p, 0, 1)[0]\n"
    text = f"import chainrules as cr\ncr.adopt()\nfrom scipy import integrate\n{area}"
    (tmp_path / "adopted_early.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    early = importlib.import_module("adopted_early")
    said = r"write cr.adopt\(\) below the imports: integrate was imported after it"
    with pytest.raises(cr.LostDerivativeError, match=said):
        cr.grad(early.area)(1.0)
    exec("cr.adopt()", vars(early))
    assert cr.grad(early.area)(1.0) == 0.5


def test_float_and_complex_are_the_builtins_to_all_who_ask():
    sim = module()
    plain = sim.kinds(2.0), sim.kinds(2), sim.kinds(np.float64(2))
    with cr.adopt(sim):
        assert plain == (sim.kinds(2.0), sim.kinds(2), sim.kinds(np.float64(2)))
        ours = sim.float
        assert ours == np.dtype(float)
        assert {ours, int} == {float, int}
        assert {float: 1}[ours] == 1
        assert {ours: 1}[float] == 1
        assert type(ours(3)) is float
        assert type(sim.complex(3)) is complex
        assert (ours(), sim.complex(), sim.complex(imag=2.0)) == (0.0, 0j, 2j)
        assert cr.grad(lambda x: abs(sim.complex(imag=x)))(-3.0) == -1.0
        assert issubclass(np.float64, ours)
        assert ours.fromhex("0x1p1") == 2.0
        assert np.ones(2, int).astype(ours).dtype == np.float64
        assert np.ones(2).astype(sim.complex).dtype == np.complex128
        assert repr(ours) == repr(float)
        for bad in ("x", [1.0]):
            with pytest.raises((ValueError, TypeError)):
                ours(bad)
        with pytest.raises(TypeError, match="keyword"):
            ours(x=1.0)


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "adopted_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .early import f\n")
    (folder / "early.py").write_text("import math\ndef f(x):\n    return math.sin(x)\n")
    (folder / "late.py").write_text(
        "import numpy as np\ndef g(x):\n    y = np.zeros(2)\n    y[0] = x\n    return np.sum(y)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "adopted_package"
    for name in [name for name in sys.modules if name.startswith("adopted_package")]:
        del sys.modules[name]


@pytest.mark.parametrize("loaded", [True, False])
def test_a_package_with_modules_loaded_now_or_later(package, loaded):
    if loaded:
        importlib.import_module(package)
    finders = list(sys.meta_path)
    with cr.adopt(package):
        early = importlib.import_module(f"{package}.early")
        late = importlib.import_module(f"{package}.late")
        assert cr.grad(importlib.import_module(package).f)(0.0) == 1.0
        assert cr.grad(late.g)(3.0) == 1.0
        assert type(late.__loader__).__module__.startswith("_frozen_importlib")
        assert late.__spec__.loader is late.__loader__
    assert finders == sys.meta_path
    assert (early.math, late.np) == (math, np)


def test_no_module_of_that_name():
    finders = list(sys.meta_path)
    with pytest.raises(ModuleNotFoundError, match="no module 'nowhere_at_all' to adopt"):
        cr.adopt("nowhere_at_all")
    assert finders == sys.meta_path


def test_other_modules_stay_as_they_are():
    sim, other = module(), module()
    with cr.adopt(sim):
        assert other.np is np
        assert other.zeros is np.zeros
        assert not hasattr(other, "float")


def test_threads_see_one_state():
    sim = module()
    wrong = []

    def work():
        for _ in range(20):
            with cr.adopt(sim):
                if cr.grad(sim.run)(0.7) != pytest.approx(expected, rel=1e-9):
                    wrong.append(1)

    with cr.adopt(sim):
        expected = cr.grad(sim.run)(0.7)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert sim.math is math


def test_arrays_that_were_made_plain_take_traced_values():
    made = module(
        """
        import numpy as np
        MAKERS = [
            lambda: np.array([1.0, 2.0]), lambda: np.asarray([1.0, 2.0]), lambda: np.ones(2),
            lambda: np.linspace(0.0, 1.0, 2), lambda: np.arange(2.0), lambda: np.full(2, 3.0),
            lambda: np.copy(np.ones(2)), lambda: np.ones(2).copy(), lambda: np.tile(np.ones(1), 2),
            lambda: np.diag(np.eye(2)).copy(), lambda: np.eye(2)[0], lambda: -np.ones(2),
            lambda: 2.0 * np.ones(2) + 1.0, lambda: np.concatenate([np.ones(1), np.ones(1)]),
            lambda: np.repeat(np.ones(1), 2), lambda: np.ones(2) ** 2, lambda: np.zeros((2, 2))[1],
            lambda: np.zeros_like([1.0, 2.0]), lambda: np.ones(2).astype(float),
        ]
        def f(x, k):
            y = MAKERS[k]()
            y[1] = x * x
            return np.sum(y)
        """
    )
    with cr.adopt(made):
        for k in range(len(made.MAKERS)):
            f = functools.partial(made.f, k=k)
            assert f(3.0) == cr.value_and_grad(f)(3.0)[0]
            assert cr.grad(f)(3.0) == 6.0
            assert cr.jvp(f, (3.0,), (1.0,))[1] == 6.0
            assert type(made.MAKERS[k]()) is np.ndarray


class Compiled:
    """Numba's compiled function, as far as it matters here."""

    __module__ = "numba.core.registry"

    def __init__(self, py_func):
        self.py_func = py_func

    def __call__(self, x):
        return float(self.py_func(float(x)))


def test_a_compiled_function_runs_its_python_where_a_value_is_traced():
    made = module("from operator import mul\n\ndef f(x):\n    return mul(g(x), x)\n")
    made.g = compiled = Compiled(lambda x: x * x)
    with cr.adopt(made):
        assert made.f(3.0) == 27.0
        assert cr.grad(made.f)(3.0) == 27.0
    assert made.g is compiled


class CompiledEntrywise:
    """Result of numba.vectorize: a ufunc, but for its class."""

    __module__ = "numba.np.ufunc.dufunc"
    accumulate = None
    __name__ = "square"

    def __init__(self, f):
        self.__wrapped__ = f

    def __call__(self, x):
        if hasattr(x, "__array_ufunc__") and not isinstance(x, np.ndarray | np.generic):
            return x.__array_ufunc__(self, "__call__", x, casting="safe")
        return np.square(x)


def test_a_function_compiled_for_each_entry_runs_its_python_where_a_value_is_traced():
    made = module("import numpy as np\n\ndef f(x):\n    return np.sum(g(x) * x)\n")
    made.g = CompiledEntrywise(lambda x: x * x if x > 0 else x)
    with pytest.raises(cr.LostDerivativeError, match=r"square, which is compiled, .*\n.*cr.adopt"):
        cr.grad(made.g)(cr.ProjectTo(3.0)(3.0))
    with cr.adopt(made):
        assert made.f(3.0) == 27.0
        assert cr.value_and_grad(made.f)(3.0) == (27.0, 27.0)
        np.testing.assert_array_equal(cr.grad(made.f)(np.array([1.0, -2.0])), [3.0, -4.0])


@pytest.mark.parametrize("name", ["numpy", "scipy", "scipy.linalg", "math"])
def test_what_the_mirrors_show_needs_no_adoption(name):
    with pytest.raises(ValueError, match=f"{name} needs no adoption: adopt the module that calls"):
        cr.adopt(name)
    with pytest.raises(ValueError, match="needs no adoption"):
        cr.adopt(np)


def test_pandas_is_adopted_in_parts_alone():
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"pandas needs no adoption: .*\.core\.window"):
        cr.adopt("pandas")
    cr.adopt("pandas.core.window").undo()


def test_numpy_gets_an_array_of_its_own_from_a_class_of_an_adopted_module():
    made = module(
        """
        import numpy as np
        class Labelled:
            def __init__(self, v):
                self.v = v
            def __array__(self, dtype=None, copy=None):
                return np.asarray(np.zeros(3) + self.v, dtype=dtype)
        def f(x):
            row = Labelled(np.array([3.0, 1.0, 2.0]))
            whole = np.asarray(row)
            whole[0] = x[0] ** 2
            stacked = np.stack([row, row])[1] * np.add(row, 1.0)
            return np.sum(x[np.lexsort((row,))] * stacked * whole * np.sin(Labelled(x)))
        """
    )
    x, method = np.array([0.5, 1.5, 0.7]), made.Labelled.__array__
    expected = jacobian_of(made.f, x)
    with cr.adopt(made), cr.adopt(made):
        np.testing.assert_allclose(cr.grad(made.f)(x), expected, rtol=1e-6)
        np.testing.assert_allclose(cr.jacfwd(made.f)(x), expected, rtol=1e-6)
        np.testing.assert_allclose(cr.hessian(made.f)(x), cr.jacfwd(cr.grad(made.f))(x))
        assert type(np.asarray(made.Labelled(x))) is np.ndarray
    assert made.Labelled.__array__ is method


def test_a_number_of_an_array_that_has_more_is_the_error_that_python_gives():
    made = module(
        """
        import numpy as np
        def f(x):
            try:
                return float(x)
            except TypeError:
                return np.sum(x)
        """
    )
    with cr.adopt(made):
        np.testing.assert_array_equal(cr.grad(made.f)(np.ones(3)), np.ones(3))
        assert cr.grad(made.f)(np.array(2.0)) == 1.0


def test_an_import_inside_a_function_defined_later_is_said_with_the_error_of_scipys():
    made = module("import numpy as np\nfrom scipy import sparse")
    later = """
        def f(x):
            from scipy.sparse.linalg import spsolve
            return spsolve(sparse.diags([x, x + 1]).tocsc(), np.ones(2))
        """
    with cr.adopt(made):
        exec(textwrap.dedent(later), vars(made))
        with pytest.raises(ValueError, match="CSC arrays") as caught:
            cr.jacobian(made.f)(2.0)
    assert "scipy.sparse.linalg.spsolve cannot follow a traced value" in caught.value.__notes__[0]
    assert "import scipy at the top of the module" in caught.value.__notes__[0]


def test_an_adoption_that_fails_leaves_nothing():
    sim = module()
    before = dict(vars(sim))
    with pytest.raises(ModuleNotFoundError):
        cr.adopt(sim, "nowhere_at_all")
    assert before == vars(sim)


def test_arrays_of_a_traced_number_and_in_an_order():
    made = module(
        """
        import numpy as np
        def f(x):
            a = np.asarray(x, dtype="float")
            b = np.array([a, a], dtype=float, order="F", copy=True, subok=True, ndmin=2)
            return np.atleast_2d(a).sum() * a.ndim + b.sum() + a.shape.__len__()
        """
    )
    with cr.adopt(made):
        assert cr.value_and_grad(made.f)(3.0) == (made.f(3.0), 2.0)


def test_lines_that_trials_of_packages_found():
    made = module(
        """
        import math
        import numpy as np
        def stiffness(x):
            k = np.zeros((3, 3))
            for e in range(2):
                k[np.ix_([e, e + 1], [e, e + 1])] += x * np.array([[1.0, -1.0], [-1.0, 1.0]])
            k[[0, 2]] *= x
            return np.sum(k * k)
        def total(x):
            return math.fsum(x * k for k in range(4)) + np.array([x, 2.0]).item(0)
        def branch(x):
            z = np.asarray(x)
            y = np.zeros_like(z)
            y[z > 0] = np.log(z[z > 0])
            return y if (z < 0).any() else 2 * y
        def computed(x):
            a = np.dot(np.ones((2, 2)), np.eye(2)) + np.linalg.inv(np.eye(2)) @ np.ones((2, 2))
            a[0] = x
            a[1, :] = np.array([x, 2 * x], dtype=object)
            b = np.array(a, copy=True)[[0, 1]]
            b[b > 1.0] *= x
            z = b[0, 0]
            return z[z > 0].sum() + np.sum(b) if hasattr(z, "sum") else 0.0
        def by_duck(x):
            return x.sum() if hasattr(x, "__iter__") or hasattr(x, "sum") else 2 * x
        """
    )
    with cr.adopt(made):
        for f in (made.stiffness, made.total, made.branch, made.computed, made.by_duck):
            y, slope_of_f = cr.value_and_grad(f)(1.5)
            assert y == f(1.5)
            assert slope_of_f == pytest.approx(slope(f, 1.5), rel=1e-6)
            assert cr.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope_of_f, rel=1e-12)


def test_an_entry_of_an_array_as_pythons_number():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = cr.grad(lambda x: x.item(2) * x.item((0, 1)) * x.item(1, 1))(x)
    np.testing.assert_array_equal([[0, 12], [8, 6]], found)
    y = cr.jvp(lambda x: x.item(1), (x.astype(np.float32),), (x.astype(np.float32),))[0]
    assert (type(y), y) == (float, 2.0)
    assert cr.value_and_grad(lambda x: 1.0 / x.tolist()[0][1])(x)[0] == 0.5
    with pytest.raises(ZeroDivisionError):
        cr.grad(lambda x: 1.0 / (x.item(0) - 1.0))(x)
    with pytest.raises(IndexError, match="index 4 is out of bounds for size 4"):
        cr.grad(lambda x: x.item(4))(x)
    with pytest.raises(ValueError, match="can only convert an array of size 1"):
        cr.grad(lambda x: x.item())(x)


def test_type_says_of_traced_values_what_it_says_of_plain_ones():
    made = module(
        """
        import numpy as np
        def kinds(x, y):
            return [
                type(x) is float, type(x) == float, type(x) in (int, float), type(x) is np.float64,
                {float: 1, np.ndarray: 2, np.float64: 3}.get(type(y)), type(y) is np.ndarray,
                type(x).__name__, type(x)("2"), type(3) is int, type([]) is list,
                type(type(3)) is type, type(float) is type, isinstance(int, type),
                isinstance(type(x), type), issubclass(type, type), type("A", (), {"b": 1}).b,
                repr(type(x)), isinstance(2.0, type(x)),
            ]
        """
    )
    points = [(2.0, np.ones(2)), (np.float64(2.0), np.float64(1.0)), (3, 1j)]
    plain = [made.kinds(*point) for point in points]
    with cr.adopt(made):
        assert [made.kinds(*point) for point in points] == plain
        for point, expected in zip(points[:2], plain[:2], strict=True):
            seen = []

            def f(x, y, seen=seen):
                seen.append(made.kinds(x, y))
                return x * np.sum(y)

            cr.jvp(f, point, point)
            cr.vjp(f, *point)
            assert seen == [expected] * 2


def test_classes_that_an_adopted_module_derives_are_like_any_others():
    made = module("import numpy as np")
    with cr.adopt(made):
        source = """
            class Metre(float):
                def __new__(cls, x):
                    return super().__new__(cls, 2 * x)

                def half(self):
                    return self / 2

            class Meta(type):
                def __call__(cls, *args):
                    return "called"

            class Made(metaclass=Meta):
                pass

            class Single(np.float32):
                pass
            """
        exec(textwrap.dedent(source), vars(made))
        metre = made.Metre(3.0)
        assert type(metre) is made.Metre
        assert (metre.half(), made.Metre.__mro__[1]) == (3.0, float)
        assert isinstance(metre, made.float)
        assert not isinstance(2.0, made.Metre)
        assert (made.Made(), type(made.Made)) == ("called", made.Meta)
        assert isinstance(made.Made, made.type)
        assert type(made.Single(2.0)) is made.Single


def test_a_whole_number_of_a_traced_one():
    made = module("def f(x):\n    return x * int(x) + int(-x)")
    with pytest.raises(cr.LostDerivativeError, match=r"(?s)int\(x\).*cr\.adopt.*int\(np\.trunc"):
        cr.grad(made.f)(2.5)
    with cr.adopt(made):
        assert cr.value_and_grad(made.f)(2.5) == (made.f(2.5), 2.0)
        with pytest.raises(cr.LostDerivativeError, match=r"int\(x\)"):
            cr.grad(made.f)(3)  # a count, it seems


def test_random_arrays_take_traced_values():
    made = module(
        """
        import numpy as np
        def f(x):
            rng, old = np.random.default_rng(1), np.random.RandomState(2)
            drawn = [rng.normal(size=2), rng.random(2), old.randn(2), old.uniform(0, 1, 2)]
            for y in drawn:
                y *= x
            filled = np.empty(2)
            same = rng.random(out=filled)
            same += 1.0
            return sum(np.sum(y) for y in drawn) + np.sum(filled)
        """
    )
    plain = made.f(3.0)
    with cr.adopt(made):
        assert made.f(3.0) == plain
        assert cr.value_and_grad(made.f)(3.0) == pytest.approx((plain, made.f(1.0) - made.f(0.0)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")  # of threads of others, as of JAX
def test_a_child_of_a_process_in_which_a_thread_adopts_does_not_hang():
    sim, ended = module(), threading.Event()

    def work():
        while not ended.is_set():
            with cr.adopt(sim):
                pass

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                with cr.adopt(module()):
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        thread.join()


class Missing:
    """A placeholder for a library that is not installed: it raises whatever it is asked."""

    def __getattribute__(self, name):
        raise ImportError("install it")


def test_a_global_that_raises_whatever_it_is_asked():
    text = "import numpy as np\ndef f(x):\n    y = np.zeros(2)\n    y[0] = x\n    return np.sum(y)"
    module = module_of(text, "with_a_placeholder")
    module.missing = Missing()
    with cr.adopt(module):
        assert cr.grad(module.f)(2.0) == 1.0
    assert type(module.missing) is Missing


@pytest.mark.parametrize("named", ["chainrules", "chainrules.numpy", cr])
def test_chainrules_itself_is_not_adopted(named):
    with pytest.raises(ValueError, match="cannot be adopted itself"):
        cr.adopt(named)


def test_an_adoption_says_what_it_is_of():
    module = types.ModuleType("simulation")
    adoption = cr.adopt(module)
    assert "<adoption of simulation: undo() takes it back>" == repr(adoption)
    adoption.undo()
    assert "<adoption of nothing: undo() takes it back>" == repr(adoption)
    with cr.adopt(*[types.ModuleType(f"part{k}") for k in range(5)]) as adoption:
        assert "<adoption of part0, part1, part2 and 2 more: undo() takes it back>" == repr(
            adoption
        )
