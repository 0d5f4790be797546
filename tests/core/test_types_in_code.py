"""Names of types in adopted functions: as a value the class itself, in a call it sees traces."""

import enum
import functools
import pickle
import typing

import numpy as np
import pytest
from modules_of_text import module_of, slope

import chainrules as cr

IDENTITIES = """
import numpy as np
import numpy
from numpy import float32


def values(x):
    return [
        float, complex, type, map, float32, np.float64, numpy.complex64, [float][0], (np.float32,),
        {{"a": np.float64}}, float if x else complex, np.float16 if x else np.float64,
        (lambda: np.float64)(), type(x), np.dtype(np.float32).type is np.float32,
        np.float64 is type(np.float64(1.0)), numpy.float64.__mro__[1], float.fromhex("0x1p1"),
        isinstance(x, float), issubclass(np.float64, float), float == type(x),
        np.float64 (3.0), np.float64(*[2.0]), np.float64(np.float32(1.5)), np.float64(
            4.0
        ).item(), np.finfo(np.float32).eps, np.zeros(2, dtype=float).dtype,
    ]


def many(x):
    # More constants than one byte counts.
    y = {{{constants}}}
    return float, np.float64, type(x), len(y)


def inner():
    def innermost(t: float = 1.0) -> np.float64:
        return t is float, [float for _ in range(1)], type(t)

    class Reading(float):
        kind: type[int]

    return innermost(float), Reading.__mro__[1], type("Made", (), {{}}).__module__
""".format(constants=", ".join(f"{k}.5" for k in range(300)))


def module():
    return module_of(IDENTITIES, "adopted_identities")


def same(found, expected):
    return len(found) == len(expected) and all(
        a is b if isinstance(b, type) else type(a) is type(b) and a == b
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("x", [2.0, 0.0, np.float64(1.0)])
def test_values_are_the_classes_themselves(x):
    made = module()
    plain, many, inner = made.values(x), made.many(x), made.inner()
    codes = {name: getattr(made, name).__code__ for name in ("values", "many", "inner")}
    with cr.adopt(made):
        assert same(made.values(x), plain)
        assert same(made.many(x), many)
        assert same(made.inner()[0], inner[0])
        assert made.inner()[1:] == inner[1:] == (float, "adopted_identities")
        with cr.adopt(made):
            assert same(made.values(x), plain)
    assert codes == {name: getattr(made, name).__code__ for name in codes}


CALLS = """
import numpy as np
from numpy import float32


def called(x, k=2.0):
    parts = [
        float(x[0]), float(x[1] if k else x[0]), np.float64(x[2]), np.float64(float(x[0]) * k),
        complex(x[1], x[2]).imag, *map(float, x), *map(np.float64, [x[0]]), (float)(x[0]),
        np.vectorize(float)(x)[1], float32(x[1]) * 1.0, float(x[0] if x[0] > 0 else k).real,
    ]
    return sum(parts) * (3.0 if type(float(x[0])) is float else 1.0)
"""


def test_calls_see_traced_values():
    made = module_of(CALLS, "adopted_calls")
    x = np.array([0.5, 1.5, 2.5])
    plain = made.called(x)
    slopes = 3.0 * np.array([7.0, 4.0, 3.0])  # each use of an entry, counted by hand
    with cr.adopt(made):
        assert made.called(x) == plain
        value, gradient = cr.value_and_grad(made.called)(x)
        assert value == plain
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
        moved = cr.jvp(made.called, (x,), (np.ones(3),))
        np.testing.assert_allclose(moved, (plain, np.sum(gradient)), rtol=1e-6)


def test_a_class_kept_under_another_name_refuses_a_traced_value():
    made = module_of("def f(x):\n    cast = float\n    return cast(x)\n", "adopted_cast")
    with cr.adopt(made), pytest.raises(cr.LostDerivativeError, match=r"cast\(x\)|float\(x\)"):
        cr.grad(made.f)(2.0)


METHODS = """
def checked(f):
    return lambda *args: f(*args)


OPS = {"pow": checked(float.__pow__), "rpow": checked(float.__rpow__), "mul": float.__mul__}


class Ops:
    power = checked(float.__pow__)


def f(x, divided=float.__truediv__):
    y = OPS["pow"](x, 2.0) + OPS["rpow"](x, 3.0) + OPS["mul"](2.0, x) + divided(x, 4.0)
    y = y + float.__sub__(1.0, x) + float.__neg__(x) * float.__abs__(-x) + Ops.power(x, 3)
    return y if float.__divmod__(x, 0.2)[0] == 2.0 else -y
"""


@pytest.mark.parametrize("x", [0.5, np.float64(0.5)])
def test_methods_of_float_take_traced_numbers_wherever_they_are_kept(x):
    made = module_of(METHODS, "adopted_methods")
    plain, expected = made.f(x), slope(made.f, x)
    kept = dict(made.OPS)
    with cr.adopt(made):
        assert made.f(x) == plain
        assert cr.value_and_grad(made.f)(x) == pytest.approx((plain, expected))
        assert cr.jvp(made.f, (x,), (1.0,)) == pytest.approx((plain, expected))
        assert cr.vmap(made.f)(np.array([x, 0.41])) == pytest.approx([plain, made.f(0.41)])
    assert made.OPS == kept


def test_pythons_float_divides_as_python_does():
    made = module_of(
        """
        def f(x):
            try:
                return 1 / (float(x[0]) - 1.0)
            except ZeroDivisionError:
                return float(x[1]) ** 2
        """,
        "adopted_division",
    )
    x = np.array([1.0, 3.0])
    with cr.adopt(made):
        assert made.f(x) == 9.0
        y, gradient = cr.value_and_grad(made.f)(x)
        assert (type(y), y) == (float, 9.0)
        np.testing.assert_array_equal(gradient, [0.0, 6.0])
        assert cr.jvp(made.f, (x,), (x,)) == (9.0, 18.0)


LATER = """
import dataclasses
import functools
import typing


def make(cls: type[int]) -> "type[int]":
    return cls()


class Pair(typing.NamedTuple):
    kind: type[float]
    number: float | None = None


@dataclasses.dataclass
class Reading:
    number: float
    unit: type = float


@functools.singledispatch
def kind(x):
    return "other"


@kind.register(float)
def of_float(x):
    return "float"


def matched(x):
    match x:
        case float():
            return "float"
        case type():
            return "type"
    return "other"
"""


def test_stand_ins_behave_as_the_classes_in_code_that_comes_after_the_adoption():
    made = module_of("import numpy as np", "adopted_later")
    with cr.adopt(made):
        exec(LATER, vars(made))
        assert made.make(int) == 0
        assert made.Pair(float).number is None
        assert typing.get_type_hints(made.make)["cls"] == type[int]
        assert (made.kind(2.0), made.kind(2)) == ("float", "other")
        assert [made.matched(x) for x in (1.0, int, 2)] == ["float", "type", "other"]
        for shown, cls in ((made.float, float), (made.np.float64, np.float64), (made.map, map)):
            assert pickle.loads(pickle.dumps(shown)) is cls
            assert shown == cls
        assert isinstance(2.0, made.float | None)
        assert (made.float | None) == (float | None)
        assert list(made.map(made.float, ["1", "2"])) == [1.0, 2.0]


@pytest.mark.parametrize("name", ["sum", "concatenate", "array", "zeros", "linalg.norm", "fft.fft"])
def test_a_mirror_is_pickled_by_its_name(name):
    from chainrules import numpy

    shown = functools.reduce(getattr, name.split("."), numpy)
    again = pickle.loads(pickle.dumps(functools.partial(shown)))
    assert again.func is shown


def test_a_mirror_of_scipys_is_pickled_by_its_name():
    from chainrules import math, scipy

    for shown in (math.sqrt, math.fsum, scipy.linalg.solve, scipy.integrate.solve_ivp):
        assert pickle.loads(pickle.dumps(shown)) is shown
    assert (math.__name__, scipy.__name__, scipy.linalg.__name__) == (
        "math", "scipy", "scipy.linalg",
    )  # fmt: skip


def test_an_enumeration_of_floats_that_is_there_at_adoption():
    made = module_of("import enum\nclass E(float, enum.Enum):\n    A = 1.5\n", "adopted_enum")
    with cr.adopt(made):
        assert isinstance(made.E.A, float)
        assert made.E(1.5) is made.E.A
        assert issubclass(made.E, enum.Enum)


ASKED = """
import numpy as np

NAMES = ("__iter__", "__len__", "__float__", "__getitem__", "shape", "is_integer", "unit", "mro")


def asks(x):
    y = np.sin(x) * 2.0
    return 2.0 * y if [hasattr(y, name) for name in NAMES] == HAS else y * np.nan
"""


@pytest.mark.parametrize("x", [0.3, np.array([0.3, 0.7])])
def test_hasattr_says_of_recorded_and_batched_values_what_it_says_of_the_number(x):
    made = module_of(ASKED, "adopted_asked")
    made.HAS = [hasattr(np.sin(x) * 2.0, name) for name in made.NAMES]
    expected = 4.0 * np.sin(x)
    with cr.adopt(made):
        compiled = cr.compile(made.asks)
        for _ in range(2):
            np.testing.assert_allclose(compiled(x), expected)
        np.testing.assert_allclose(cr.compile(cr.jacobian(made.asks))(x), cr.jacobian(made.asks)(x))
        np.testing.assert_allclose(cr.vmap(made.asks)(np.stack([x, x])), [expected, expected])
