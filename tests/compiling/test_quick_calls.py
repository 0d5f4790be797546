"""Calls as the last one, which take a quick way: whatever is another call must not take it."""

import numpy as np
import pytest
from beside_eager import differs, quickly
from fuzz_settings import always_the_same
from hypothesis import given
from hypothesis import strategies as st

import chainrules as cr
from chainrules.compiling.native import available

pytestmark = pytest.mark.skipif(not available(), reason="the quick way is machine code")


class Number(float):
    """A float of another class."""


class Array(np.ndarray):
    """An array of another class."""


def described(x, *rest, scale=1.0):
    """Return what tells of each argument how it was given."""
    parts = []
    for y in (x, *rest):
        if isinstance(y, list | tuple):
            parts.append((type(y).__name__, sum(y)))
            continue
        parts.append((y * scale, type(y).__name__, np.shape(y), str(np.asarray(y).dtype)))
        if isinstance(y, np.ndarray):
            flags = y.flags
            parts.append((y.ndim, bool(flags.c_contiguous), bool(flags.f_contiguous)))
    return parts, [x is y for y in rest]


A = np.arange(6.0)
POOL = {
    "float": lambda: 1.5,
    "another float": lambda: -0.0,
    "float64": lambda: np.float64(0.5),
    "float32": lambda: np.float32(0.5),
    "complex": lambda: 1.5 + 2.0j,
    "float of a class": lambda: Number(1.5),
    "int": lambda: 2,
    "bool": lambda: True,
    "six": lambda: A.copy(),
    "the same six": lambda: A,
    "another six": lambda: A + 1.0,
    "one of six": lambda: A[:1],
    "five": lambda: A[:5],
    "two by three": lambda: A.reshape(2, 3),
    "three by two": lambda: A.reshape(3, 2),
    "transposed": lambda: A.reshape(2, 3).T,
    "reversed": lambda: A[::-1],
    "every second": lambda: np.arange(12.0)[::2],
    "one more axis": lambda: A[None],
    "none": lambda: A[:0],
    "single": lambda: np.array(2.0),
    "six of float32": lambda: A.astype(np.float32),
    "six of int": lambda: A.astype(int),
    "six of bool": lambda: A > 2.0,
    "six of complex": lambda: A + 1.0j,
    "other bytes": lambda: A.astype(">f8"),
    "read-only": lambda: np.broadcast_to(A, (6,)),
    "of a class": lambda: A.view(Array),
    "a list": lambda: [1.0, 2.0],
    "a tuple": lambda: (1.0, 2.0),
}  # fmt: skip


def called(g, names, scale):
    options = {} if scale is None else {"scale": scale}
    return g(*[POOL[name]() for name in names], **options)


@pytest.mark.slow
@always_the_same(30)
@given(st.data())
@pytest.mark.filterwarnings("ignore::chainrules.CompileWarning")
def test_random_calls(data):
    g = quickly(described)
    some = data.draw(st.lists(st.sampled_from(sorted(POOL)), min_size=2, max_size=4, unique=True))
    for _ in range(10):
        names = data.draw(st.lists(st.sampled_from(some), min_size=1, max_size=3))
        scale = data.draw(st.sampled_from([None, None, 2.0, 3]))
        difference = differs(called(g, names, scale), called(described, names, scale))
        assert not difference, (names, scale, difference)


def warm(f, *args):
    """Return a compiled function whose next call like the last one is quick."""
    g = cr.compile(f)
    for _ in range(4):
        g(*args)
    assert g.quick is not None
    assert g.quick.same(*args)
    return g


@pytest.mark.parametrize("name", [k for k in POOL if k != "six"])
def test_another_argument_is_another_call(name):
    g = warm(lambda x: x * 2.0, A.copy())  # whose captured state is held by nobody else
    same = g.quick.same
    assert same(A + 1.0)
    assert not same(np.broadcast_to(A, (6,)))
    assert same(POOL[name]()) == (name in ("the same six", "another six"))
    assert not same()
    assert not same(A, A)


def test_an_array_given_twice():
    g = warm(lambda x, y: x * y, A, A + 1.0)  # whose captured state is held by nobody else
    same = g.quick.same
    assert same(A + 2.0, A)
    assert not same(A, A)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_that_changes_its_form():
    x = np.arange(6.0)
    g = warm(lambda x: x * 2.0, x)  # whose captured state is held by nobody else
    same = g.quick.same
    x.shape = 2, 3
    assert not same(x)
    x.shape = 6
    assert same(x)
    x.dtype = np.int64
    assert not same(x)


RATE = 2.0


class Base:
    offset = 1.0


class OtherBase:
    offset = 4.0


class Settings(Base):
    rate = 2.0

    def __init__(self):
        self.list, self.dict, self.array = [1.0, 2.0], {"a": 1.0}, np.ones(3)
        self.empty, self.inner = {}, None
        self.several = {"a": 1.0, "b": 2.0, "c": 4.0}


def function_with_state():
    held, cell = Settings(), 1.0

    def helper(x, shift=1.0, *, factor=1.0):
        return x * factor + shift

    def f(x):
        rest = sum(held.list) + sum(held.dict.values()) + np.sum(held.array) + len(held.empty)
        inner = 0.0 if held.inner is None else held.inner
        more = 5.0 if "later" in globals() else held.offset
        for name, rate in held.several.items():
            more = more * 2.0 + rate * (3.0 if name == "a" else 1.0)
        return helper(x) * RATE + cell + rest + held.rate + inner + more

    def set_cell(x):
        nonlocal cell
        cell = x

    return f, helper, held, set_cell


def set_global(name, x):
    globals()[name] = x


CHANGES = {
    "a cell": lambda f, helper, held, set_cell: set_cell(3.0),
    "a global": lambda f, helper, held, set_cell: set_global("RATE", 7.0),
    "a new global": lambda f, helper, held, set_cell: set_global("later", 1),
    "code": lambda f, helper, held, set_cell: setattr(helper, "__code__", other.__code__),
    "defaults": lambda f, helper, held, set_cell: setattr(helper, "__defaults__", (4.0,)),
    "keyword defaults": lambda f, helper, held, set_cell: helper.__kwdefaults__.update(factor=3.0),
    "other keyword defaults": lambda f, helper, held, set_cell: setattr(
        helper, "__kwdefaults__", {"factor": 4.0}
    ),
    "an item": lambda f, helper, held, set_cell: held.list.__setitem__(1, 7.0),
    "one item more": lambda f, helper, held, set_cell: held.list.append(7.0),
    "one item less": lambda f, helper, held, set_cell: held.list.pop(),
    "an entry": lambda f, helper, held, set_cell: held.dict.update(a=9.0),
    "one entry more": lambda f, helper, held, set_cell: held.dict.update(b=9.0),
    "no entry": lambda f, helper, held, set_cell: held.dict.clear(),
    "a first entry": lambda f, helper, held, set_cell: held.empty.update(a=1),
    "an array's entry": lambda f, helper, held, set_cell: held.array.__setitem__(2, 5.0),
    "another array": lambda f, helper, held, set_cell: setattr(held, "array", np.full(2, 3.0)),
    "a field": lambda f, helper, held, set_cell: setattr(held, "rate", 4.0),
    "a field that was None": lambda f, helper, held, set_cell: setattr(held, "inner", 4.0),
    "one of several": lambda f, helper, held, set_cell: held.several.update(b=9.0),
    "the last of several": lambda f, helper, held, set_cell: held.several.popitem(),
    "one more of several": lambda f, helper, held, set_cell: held.several.update(d=9.0),
    "the order of several": lambda f, helper, held, set_cell: held.several.update(
        a=held.several.pop("a")
    ),
    "a name of several": lambda f, helper, held, set_cell: held.several.update(
        z=held.several.pop("c")
    ),
    "bases of a class": lambda f, helper, held, set_cell: setattr(
        Settings, "__bases__", (OtherBase,)
    ),
    "a class": lambda f, helper, held, set_cell: setattr(Settings, "rate", 5.0),
}


def other(x, shift=1.0, *, factor=1.0):
    return x - factor * shift


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("derived", [lambda f: f, cr.value_and_grad], ids=["value", "gradient"])
def test_changed_state(name, derived, monkeypatch):
    monkeypatch.setitem(globals(), "RATE", 2.0)
    monkeypatch.setattr(Settings, "rate", 2.0)
    f, helper, held, set_cell = function_with_state()
    g = warm(derived(f), 0.5)
    try:
        CHANGES[name](f, helper, held, set_cell)
        assert not differs(g(0.5), derived(f)(0.5))
        assert not differs(g(0.25), derived(f)(0.25))
    finally:
        globals().pop("later", None)
        Settings.__bases__ = (Base,)


def test_a_cell_that_is_emptied_and_a_function_that_is_forgotten():
    f, *_ = function_with_state()
    g = warm(f, 0.5)
    g.clear()
    assert g.quick is None
    assert g(0.5) == f(0.5)
    cell = f.__closure__[f.__code__.co_freevars.index("cell")]
    for _ in range(4):
        g(0.5)
    del cell.cell_contents
    with pytest.raises(NameError):
        g(0.5)


def test_keywords_are_not_forgotten():
    g = cr.compile(lambda x, n=2: x * n)
    for _ in range(5):
        assert g(1.5, n=3) == 4.5
        assert g(1.5) == 3.0


def test_other_ways_through_the_function():
    g = cr.compile(lambda x: x * 2.0 if x > 0 else -x)
    for _ in range(4):
        assert [g(x) for x in (1.0, -1.0, 2.0, -3.0)] == [2.0, 1.0, 4.0, 3.0]
