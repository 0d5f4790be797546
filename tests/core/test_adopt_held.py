"""Functions of adopted modules hold more than globals: imports, defaults, what they captured."""

import importlib
import inspect
import math
import pickle
import sys

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

HELD = """
import functools
import math
import numpy as np


def imports(x):
    import math
    import numpy
    import scipy.linalg
    import scipy.sparse.linalg as sparse_linalg
    from math import exp
    from numpy import zeros
    from scipy import sparse

    b = zeros(2)
    b[0] = exp(x) * math.sin(x)
    b[1] = numpy.linalg.norm([x, 1.0])
    a = sparse.diags([x, x + 1.0]).tocsc()
    solved = sparse_linalg.spsolve(a, b)
    return scipy.linalg.solve(np.diag([2.0, x]), solved).sum()


def defaults(x, sin=math.sin, *, zeros=np.zeros):
    y = zeros(2)
    y[0] = sin(x)
    return y.sum()


def captured(cos=math.cos):
    def kernel(x):
        return cos(x) * x

    return kernel


def logged(f):
    @functools.wraps(f)
    def calls(*args):
        return f(*args)

    return calls


@logged
def wrapped(x):
    from math import tanh

    return tanh(x)


class Model:
    log = staticmethod(math.log)

    def method(self, x):
        from math import cosh

        return cosh(x) + self.log(x)

    @staticmethod
    def of_none(x):
        import math

        return math.atan(x)

    @classmethod
    def of_class(cls, x):
        import math

        return math.asinh(x)

    @property
    def slope(self):
        import math

        return math.erf(self.x)


kernel = captured()


def all_of_it(x):
    model = Model()
    model.x = x
    parts = [imports(x), defaults(x), kernel(x), wrapped(x), model.method(x), model.slope]
    return sum(parts) + Model.of_none(x) + Model.of_class(x)
"""


def module(source=HELD, name="adopted_holders"):
    return module_of(source, name)


@pytest.mark.parametrize("name", ["imports", "defaults", "kernel", "wrapped", "all_of_it"])
def test_what_functions_hold_is_adopted(name):
    made, x = module(), 0.7
    plain, expected = getattr(made, name)(x), slope(getattr(made, name), x)
    with pytest.raises(cr.ChainRulesError):
        cr.grad(getattr(made, name))(x)
    with cr.adopt(made):
        f = getattr(made, name)
        assert f(x) == plain
        assert cr.value_and_grad(f)(x) == pytest.approx((plain, expected), rel=1e-8)
        assert cr.jvp(f, (x,), (1.0,)) == pytest.approx((plain, expected), rel=1e-8)
        assert cr.hessian(f)(x) == pytest.approx(slope(cr.grad(f), x), rel=1e-7)
    with pytest.raises(cr.ChainRulesError):
        cr.grad(getattr(made, name))(x)


def test_undo_gives_back_what_functions_held():
    made = module()
    names, methods = dict(vars(made)), dict(vars(made.Model))
    held = made.defaults.__defaults__, made.defaults.__kwdefaults__
    for _ in range(2):
        first, second = cr.adopt(made), cr.adopt(made)
        assert made.imports is not names["imports"]
        assert made.Model is names["Model"]
        assert made.kernel is names["kernel"]
        first.undo()
        assert made.defaults.__defaults__ != held[0]
        second.undo()
        assert dict(vars(made)) == names
        assert dict(vars(made.Model)) == methods
        assert (made.defaults.__defaults__, made.defaults.__kwdefaults__) == held
        assert made.kernel.__closure__[0].cell_contents is math.cos


def test_what_was_changed_meanwhile_stays():
    made = module()
    adoption = cr.adopt(made)
    made.imports = other = lambda x: x
    made.defaults.__defaults__ = (abs,)
    adoption.undo()
    assert made.imports is other
    assert made.defaults.__defaults__ == (abs,)


def test_a_function_made_once_more_is_the_same_to_all_who_ask():
    source = '''
    def f(a, b: float = 2.0, *args, c=3.0, **options) -> float:
        """Says what it does."""
        import math
        return math.sin(a) * b * c
    f.said = 1
    '''
    made = module(source, "adopted_again")
    sys.modules["adopted_again"] = made
    before = made.f
    with cr.adopt(made):
        f = made.f
        assert f is not before
        assert inspect.signature(f) == inspect.signature(before)
        for name in ("__doc__", "__name__", "__qualname__", "__module__", "__dict__", "__code__"):
            assert getattr(f, name) == getattr(before, name)
        assert pickle.loads(pickle.dumps(f)) is f
        assert vars(made)["__builtins__"] is before.__builtins__
    del sys.modules["adopted_again"]


def test_modules_that_imported_a_function_have_the_one_that_was_made(tmp_path, monkeypatch):
    (tmp_path / "adopted_pair").mkdir()
    (tmp_path / "adopted_pair" / "__init__.py").write_text("from .part import f\n")
    (tmp_path / "adopted_pair" / "part.py").write_text(
        "def f(x):\n    from math import sin\n    return sin(x)\n"
    )
    (tmp_path / "adopted_pair" / "later.py").write_text("from .part import f\n")
    monkeypatch.syspath_prepend(tmp_path)
    pair = importlib.import_module("adopted_pair")
    with cr.adopt("adopted_pair"):
        later = importlib.import_module("adopted_pair.later")
        for f in (pair.f, pair.part.f, later.f):
            assert cr.grad(f)(0.3) == pytest.approx(math.cos(0.3))
    for name in [name for name in sys.modules if name.startswith("adopted_pair")]:
        del sys.modules[name]


def test_libraries_that_are_imported_as_ever():
    made = module(
        """
        def f(x):
            import json, os.path, collections.abc
            import surely_not_there
        def g(x):
            import json, math, os.path
            from collections.abc import Mapping
            return json.loads("1.5"), os.path.join("a", "b"), isinstance({}, Mapping), math.pi
        """
    )
    plain = made.g(1.0)
    with cr.adopt(made):
        assert made.g(1.0) == plain
        with pytest.raises(ImportError):
            made.f(1.0)


def test_the_module_that_a_function_was_defined_in():
    names: dict = {}
    exec("from math import sin\ndef f(x):\n    return sin(x) * x", names)  # as sympy.lambdify does
    with pytest.raises(cr.LostDerivativeError, match=r"cr.adopt\(f\), where f is the function"):
        cr.grad(names["f"])(0.4)
    with cr.adopt(names["f"]):
        assert cr.grad(names["f"])(0.4) == pytest.approx(slope(names["f"], 0.4))


def test_a_kernel_that_is_compiled_and_captures_functions():
    numba = pytest.importorskip("numba")

    def make(sin=math.sin):
        @numba.njit
        def kernel(x):
            return sin(x) * x

        return kernel

    made = module("def f(x):\n    return kernel(x)", "adopted_kernel")
    made.kernel = make()
    plain = made.f(0.4)
    with cr.adopt(made):
        assert made.f(0.4) == plain
        assert cr.grad(made.f)(0.4) == pytest.approx(math.sin(0.4) + 0.4 * math.cos(0.4))
        assert isinstance(np.float64(made.f(0.5)), float)


def test_what_numba_has_not_compiled_yet_is_compiled_of_the_plain_functions():
    pytest.importorskip("numba")
    made = module(
        """
        import math
        import numba
        import numpy as np

        @numba.njit
        def square(x):
            return x * x

        @numba.njit
        def f(x):
            y = np.zeros(3)
            y[0] = math.sin(x) * np.cos(x)
            return y.sum() + float(x) + square(x)

        @numba.vectorize
        def g(x):
            return math.exp(x)
        """
    )
    with cr.adopt(made):
        plain = math.sin(0.3) * math.cos(0.3) + 0.3 + 0.09
        assert made.f(0.3) == pytest.approx(plain)
        assert made.g(0.3) == pytest.approx(math.exp(0.3))
        assert cr.grad(made.f)(0.3) == pytest.approx(math.cos(0.6) + 1.6)
        assert cr.grad(made.g)(0.3) == pytest.approx(math.exp(0.3))
    assert made.f(1) == pytest.approx(math.sin(1) * math.cos(1) + 2)


PROXIES = """
import functools
import math
import numpy as np


class Proxy:
    # As those of wrapt: it is of the class of what it wraps, and takes no attributes.
    def __init__(self, f):
        object.__setattr__(self, "__wrapped__", f)

    __class__ = property(lambda self: type(self.__wrapped__))

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name, x):
        raise AttributeError(f"property {name!r} has no setter")

    def __get__(self, obj, cls=None):
        return self if obj is None else functools.partial(self, obj)

    def __call__(self, *args):
        return self.__wrapped__(*args)


@Proxy
def floats(x, exp=math.exp):
    return math.sin(float(x)) * (exp(x) if type(x) is float else 2.0)


class Model:
    @Proxy
    def method(self, x):
        return math.tanh(x)


@Proxy
class Other:
    pass


def f(x):
    return floats(x) * Model().method(x)
"""


def test_a_proxy_of_a_function_or_a_class_stays_and_what_it_wraps_is_adopted():
    made = module(PROXIES, "adopted_proxies")
    plain, expected = made.f(0.7), slope(made.f, 0.7)
    kept = made.floats, vars(made.Model)["method"], made.Other
    with cr.adopt(made):
        assert kept == (made.floats, vars(made.Model)["method"], made.Other)
        assert cr.value_and_grad(made.f)(0.7) == pytest.approx((plain, expected), rel=1e-8)
    assert made.floats.__wrapped__.__defaults__ == (math.exp,)


def test_a_method_that_a_function_of_another_module_made(monkeypatch):
    made = module("def made(f):\n    return lambda self, x: f(x)\n", "adopted_makers")
    with_class = module("class A:\n    pass\n", "adopted_classes")
    for each in (made, with_class):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    with_class.A.__call__ = made.made(math.sin)
    with cr.adopt(made, with_class):
        assert cr.grad(with_class.A())(0.7) == pytest.approx(math.cos(0.7))
    assert with_class.A.__call__.__closure__[0].cell_contents is math.sin
