"""State that a function can reach besides its arguments, wherever Python keeps it."""

import array
import collections
import contextvars
import dataclasses
import enum
import functools
import importlib
import os
import sys
import tempfile
import threading
import types
import warnings

import numpy as np
import pytest
from beside_eager import VALUE, compiled, program, said

import chainrules as cr

X = np.array([1.0, 2.0, 3.0, 4.0])
ONE = ("value_and_grad",)


def module_of(source, name="settings_of_the_test"):
    """Return a new module with this source, as an import would."""
    module = sys.modules[name] = types.ModuleType(name)
    exec(source, vars(module))
    return module


# ---- functions ----------------------------------------------------------------------------------


@program()
def test_defaults_and_keyword_defaults(wrap):
    def f(x, rate=2.0, *, weights=[1.0, 2.0]):  # noqa: B006
        return np.sum(x * rate) * weights[-1]

    g = wrap(lambda x: f(x))
    yield [g(X), g(X)]
    f.__defaults__ = (3.0,)
    yield g(X)
    f.__kwdefaults__["weights"].append(7.0)
    yield g(X)
    f.__kwdefaults__ = {"weights": [0.5]}
    yield g(X)


@program()
def test_attributes_of_a_function(wrap):
    def f(x):
        return np.sum(x) * f.rate

    f.rate = 2.0
    g = wrap(f)
    yield [g(X), g(X)]
    f.rate = 3.0
    yield g(X)


@program()
def test_the_code_of_a_function_is_replaced(wrap):
    def helper(x):
        return np.sum(x)

    g = wrap(lambda x: helper(x))
    yield [g(X), g(X)]
    helper.__code__ = (lambda x: np.sum(x * x)).__code__
    yield g(X)


@program()
def test_partials(wrap):
    given = functools.partial(lambda k, r, x: np.sum(x**k) * r[0], 2, [1.5])
    g, h = wrap(lambda x: given(x)), wrap(given)
    yield [g(X), g(X), h(X), h(X)]
    given.args[1][0] = 2.5
    yield g(X), h(X)


@program()
def test_a_bound_method_of_a_dict(wrap):
    rates = {"a": 2.0}
    look_up = rates.get
    g = wrap(lambda x: np.sum(x) * look_up("a"))
    yield [g(X), g(X)]
    rates["a"] = 5.0
    yield g(X)


@program()
def test_a_wrapper_that_is_named_like_numpy(wrap):
    rates = module_of(
        "import functools, numpy as np\nRATE = 2.0\n"
        "@functools.wraps(np.sum)\ndef total(x): return np.sum(x) * RATE\n"
    )
    total = rates.total
    g = wrap(lambda x: total(x))
    yield [g(X), g(X)]
    rates.RATE = 3.0
    yield g(X)


@program()
def test_nested_functions_and_cells(wrap):
    a, b = 1.0, np.ones(4)

    def outer(x):
        def inner(y):
            return y * a + b

        return np.sum(inner(x))

    def change():
        nonlocal a, b
        a, b = a + 1.0, b * 2

    g = wrap(outer)
    for _ in range(4):
        yield g(X)
        change()


@program(error="changes what it captures")
def test_a_cell_that_counts(wrap):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return np.sum(x) * n

    g = wrap(f)
    yield [g(X), g(X)]


@program(modes=VALUE, error=".")
def test_a_new_global(wrap):
    scope = module_of("def f(x):\n    global LAST\n    LAST = x\n    return (x * x).sum()\n")
    g = wrap(scope.f)
    yield g(X)
    yield np.array(cr.value(scope.LAST))


@program(modes=VALUE, error=".")
def test_a_new_field(wrap):
    class Model:
        def __call__(self, x):
            self.last = x
            return np.sum(x * x)

    g = wrap(Model())
    yield [g(X), g(X)]


# ---- names and attributes that were not there ---------------------------------------------------


@program()
def test_a_builtin_that_is_shadowed_later(wrap):
    scope = module_of("def f(x): return max(x[0], x[1]) * abs(x[2])\n")
    g = wrap(scope.f)
    yield [g(X), g(X)]
    scope.max = min
    yield g(X)
    del scope.max
    yield g(X)


@program()
def test_a_name_that_appears_and_goes(wrap):
    scope = module_of(
        "def f(x):\n    try:\n        return (x * RATE).sum()\n"
        "    except NameError:\n        return x.sum()\n"
    )
    g = wrap(scope.f)
    yield [g(X), g(X)]
    scope.RATE = 3.0
    yield g(X)
    del scope.RATE
    yield g(X)


@program()
def test_a_class_gains_an_attribute(wrap):
    class Base:
        rate = 2.0

    class Model(Base):
        __slots__ = ()

        def __call__(self, x):
            return np.sum(x) * self.rate

    g = wrap(Model())
    yield [g(X), g(X)]
    Model.rate = 3.0
    yield g(X)
    del Model.rate
    yield g(X)
    Base.rate = 4.0
    yield g(X)


@program()
def test_a_slot_that_is_filled_later(wrap):
    class Model:
        __slots__ = ("bias",)

        def __call__(self, x):
            return np.sum(x) + getattr(self, "bias", 0.0)

    m = Model()
    g = wrap(m)
    yield [g(X), g(X)]
    m.bias = 3.0
    yield g(X)
    del m.bias
    yield g(X)


@program()
def test_a_method_is_replaced(wrap):
    class Model:
        scale = property(lambda self: self.table["s"])
        table = {"s": 2.0}  # noqa: RUF012

        def link(self, x):
            return np.exp(-x)

        def __call__(self, x):
            return np.sum(self.link(x)) * self.scale

    m = Model()
    g = wrap(m)
    yield g(X)
    Model.link = lambda self, x: x * x
    yield g(X)
    m.link = np.sin
    yield g(X)
    Model.table["s"] = 5.0
    yield g(X)
    Model.scale = property(lambda self: 7.0)
    yield g(X)


# ---- names that code does not name --------------------------------------------------------------


@program()
def test_globals_and_getattr_by_text(wrap):
    scope = module_of(
        "import sys\nme = sys.modules[__name__]\nRATE, SCALE, SIZE = 2.0, 3.0, 4.0\n"
        "def f(x): return (x * globals()['RATE']).sum()\n"
        "def g(x): return (x * getattr(me, 'SCALE')).sum()\n"
        "def h(x): return eval('(x * SIZE).sum()')\n",
    )
    f, g, h = map(wrap, (scope.f, scope.g, scope.h))
    yield [f(X), g(X), h(X), f(X), g(X), h(X)]
    scope.RATE = scope.SCALE = scope.SIZE = 7.0
    yield f(X), g(X), h(X)


@program()
def test_a_module_that_is_imported_inside(wrap):
    settings = module_of("RATE = 2.0\n", "settings_imported_inside")

    def f(x):
        import settings_imported_inside

        return np.sum(x) * settings_imported_inside.RATE

    def g(x):
        from settings_imported_inside import RATE

        return np.sum(x) * RATE

    f, g = wrap(f), wrap(g)
    yield [f(X), g(X), f(X), g(X)]
    settings.RATE = 3.0
    yield f(X), g(X)


@program()
def test_a_module_named_like_one_of_pythons(wrap):
    settings = module_of("RATE = 2.0\ndef helper(x): return (x * RATE).sum()\n", "code.settings")
    g = wrap(lambda x: settings.helper(x) * settings.RATE)
    yield [g(X), g(X)]
    settings.RATE = 3.0
    yield g(X)


@program()
def test_a_package_and_its_modules(wrap):
    inner = module_of("class Options:\n    rate = 2.0\n", "package_of_the_test.options")
    package = module_of("", "package_of_the_test")
    package.options = inner
    g = wrap(lambda x: np.sum(x) * package.options.Options.rate)
    yield g(X)
    inner.Options.rate = 3.0
    yield g(X)
    package.options = types.SimpleNamespace(Options=types.SimpleNamespace(rate=4.0))
    yield g(X)
    package.options.Options.rate = 5.0
    yield g(X)


@program()
def test_a_reloaded_module(wrap):
    path = os.path.join(FOLDER, "reloaded_in_the_test.py")

    def write(body):
        importlib.invalidate_caches()
        with open(path, "w") as file:
            file.write(body)

    write("RATE = 2.0\ndef helper(x): return x * x\ndef f(x): return helper(x).sum() * RATE\n")
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    sys.path.insert(0, FOLDER)
    try:
        sys.modules.pop("reloaded_in_the_test", None)
        module = importlib.import_module("reloaded_in_the_test")
        f, g = wrap(module.f), wrap(lambda x: module.f(x))
        yield f(X), g(X)
        write("RATE = 3.0\ndef helper(x): return x**3\ndef f(x): return helper(x).sum() - RATE\n")
        importlib.reload(module)
        yield f(X), g(X)
    finally:
        sys.path.remove(FOLDER)
        sys.dont_write_bytecode = before


FOLDER = ""


@pytest.fixture(autouse=True)
def folder(tmp_path):
    global FOLDER
    FOLDER = str(tmp_path)


# ---- containers ---------------------------------------------------------------------------------


class Color(enum.Enum):
    RED, GREEN = 1.0, 2.0


@dataclasses.dataclass
class Settings:
    rate: float = 2.0
    weights: list = dataclasses.field(default_factory=lambda: [1.0])
    kind: str = "plain"
    color: Color = Color.RED


Pair = collections.namedtuple("Pair", "a b")


@program()
def test_objects_with_settings(wrap):
    s, pair, space = Settings(), [Pair(1.0, [2.0])], types.SimpleNamespace(r=1.0)

    def f(x):
        y = np.sum(x) if s.kind == "plain" else np.prod(x)
        return y * s.rate * s.weights[-1] * s.color.value * pair[0].b[0] * space.r

    g = wrap(f)
    yield g(X)
    for change in (
        lambda: setattr(s, "rate", 3.0),
        lambda: s.weights.append(4.0),
        lambda: setattr(s, "kind", "other"),
        lambda: setattr(s, "color", Color.GREEN),
        lambda: pair[0].b.__setitem__(0, 5.0),
        lambda: pair.__setitem__(0, Pair(2.0, [7.0])),
        lambda: setattr(space, "r", 2.0),
        lambda: setattr(space, "r", 2),
    ):
        change()
        yield g(X), g(2 * X)


@program()
def test_dicts_lists_and_sets_that_grow(wrap):
    table, names, chosen = {"a": 1.0}, ["a"], {1.0}
    queue, many = collections.deque([1.0]), collections.ChainMap({"a": 2.0}, table)

    def f(x):
        y = x * sum(chosen) + sum(queue) + many["a"]
        for name in names:
            y = y * table[name]
        return np.sum(y)

    g = wrap(f)
    yield g(X)
    for change in (
        lambda: table.update(b=2.0),
        lambda: names.append("b"),
        lambda: chosen.add(5.0),
        lambda: queue.append(3.0),
        lambda: many.maps[0].update(a=4.0),
        lambda: table.update(a=table.pop("a") + 1),
        lambda: names.reverse(),
        lambda: names.clear(),
    ):
        change()
        yield g(X), g(X)


@program(modes=VALUE)
def test_sets_of_equal_numbers(wrap):
    signs = {0.0}
    g = wrap(lambda x: np.copysign(x, next(iter(signs))))
    yield [g(X), g(X)]
    signs.clear()
    signs.add(-0.0)
    yield g(X)


@program(modes=ONE)
def test_numbers_that_are_equal_and_not_the_same(wrap):
    s = types.SimpleNamespace(rate=1.0, zero=0.0)
    g = wrap(lambda x: np.sum(np.copysign(x, s.zero)) * s.rate)
    yield [g(X), g(X)]
    for _ in range(20):  # the same again, in new objects: no change at all
        s.rate = float("1.5")
        yield g(X)
    s.zero = -0.0
    yield g(X)


@program()
def test_a_view_of_a_dict_that_cannot_be_written(wrap):
    table = {"rate": 2.0}
    shown = types.MappingProxyType(table)
    g = wrap(lambda x: np.sum(x) * shown["rate"])
    yield [g(X), g(X)]
    table["rate"] = 3.0
    yield g(X)


@program()
def test_buffers_that_are_no_arrays(wrap):
    numbers, raw = array.array("d", [1.0, 2.0]), bytearray(b"\x01\x02")
    g, h = wrap(lambda x: np.sum(x) * numbers[0]), wrap(lambda x: np.sum(x) * raw[0])
    yield [g(X), h(X), g(X), h(X)]
    numbers[0], raw[0] = 5.0, 7
    yield g(X), h(X)


@program()
def test_variables_of_contexts(wrap):
    rate = contextvars.ContextVar("rate", default=2.0)
    g = wrap(lambda x: np.sum(x) * rate.get())
    yield [g(X), g(X)]
    rate.set(3.0)
    yield g(X)


@program(modes=ONE)
def test_variables_of_threads(wrap):
    here = threading.local()
    here.rate = 2.0
    g = wrap(lambda x: np.sum(x) * here.rate)
    yield [g(X), g(X)]
    found = []

    def elsewhere():
        here.rate = 3.0
        found.append(g(X))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    yield found, g(X)


@program(modes=ONE)
def test_the_environment(wrap):
    os.environ["RATE_OF_THE_TEST"] = "2.0"
    g = wrap(lambda x: np.sum(x) * float(os.environ["RATE_OF_THE_TEST"]))
    yield [g(X), g(X)]
    os.environ["RATE_OF_THE_TEST"] = "3.0"
    yield g(X)


@program(modes=ONE, warns="")
def test_a_closure_that_is_a_running_generator(wrap):
    def counter():
        rate = 1.0
        while True:
            rate = (yield rate) or rate

    rates = counter()
    next(rates)
    g = wrap(lambda x: np.sum(x) * rates.send(None))
    yield [g(X), g(X)]
    rates.send(5.0)
    yield g(X)


@program(modes=ONE, warns="")
def test_an_iterator(wrap):
    it = iter([1.0, 2.0, 3.0, 4.0])
    g = wrap(lambda x: np.sum(x) * next(it))
    yield g(X)
    yield said(g, X)


@program(modes=ONE)
def test_a_reference_that_is_weak(wrap):
    import weakref

    class Model:
        rate = 2.0

    m = Model()
    reference = weakref.ref(m)
    g = wrap(lambda x: np.sum(x) * reference().rate)
    yield [g(X), g(X)]
    m.rate = 3.0
    yield g(X)
    Model.rate = 4.0
    del m.rate
    yield g(X)


# ---- arrays -------------------------------------------------------------------------------------


@program()
def test_captured_arrays_of_all_kinds(wrap):
    base, large = np.arange(8.0), np.ones(20_000)
    held = types.SimpleNamespace(
        view=base[::2],
        fixed=base[4:].view(),
        zero=np.array(2.0),
        fortran=np.ones((4, 4), order="F"),
    )
    held.fixed.flags.writeable = False
    integers, chosen = np.array([0, 1, 2, 3]), np.array([True, False, True, True])

    def f(x):
        y = x * held.view + held.fixed * held.zero + (held.fortran @ x)[integers]
        return np.sum(np.where(chosen, y, -y)) * large[777] * np.log(large + 1)[19_999]

    g = wrap(f)
    yield g(X)
    for change in (
        lambda: base.__setitem__(2, 9.0),
        lambda: base.__setitem__(5, 9.0),
        lambda: held.zero.__setitem__((), 3.0),
        lambda: held.fortran.__setitem__((1, 2), 3.0),
        lambda: integers.__setitem__(0, 3),
        lambda: chosen.__setitem__(1, True),
        lambda: large.__setitem__(777, 3.0),
        lambda: large.__setitem__(19_999, 3.0),
    ):
        change()
        yield g(X)


@program(modes=ONE)
def test_an_array_that_becomes_writeable_again(wrap):
    y = np.arange(4.0)
    y.flags.writeable = False
    g = wrap(lambda x: np.sum(x * np.log(y + 1)))
    yield [g(X), g(X)]
    y.flags.writeable = True
    y[0] = 50.0
    yield g(X)


@pytest.mark.filterwarnings("ignore:Setting the")  # of NumPy 2.5
@program(modes=ONE)
def test_an_array_that_changes_its_shape(wrap):
    y = np.arange(4.0)
    g = wrap(lambda x: np.sum(np.sum(y.reshape(-1, y.shape[-1]), axis=0) * x[: y.shape[-1]]))
    yield [g(X), g(X)]
    y.shape = 2, 2
    yield g(X)
    y.shape, y.dtype = 4, np.int64
    yield g(X)


class Marked(np.ndarray):
    pass


@program(modes=ONE)
def test_subclasses_of_arrays(wrap):
    y, z = np.arange(4.0).view(Marked), np.ma.masked_array(np.arange(4.0), [0, 0, 1, 0])
    g, h = (
        wrap(lambda x: np.sum(x * np.asarray(np.log(y + 1)))),
        wrap(lambda x: np.sum(x) * z.sum()),
    )
    yield [g(X), h(X), g(X), h(X)]
    y[0] = z[0] = 50.0
    yield g(X), h(X)
    z.mask[1] = True
    yield g(X), h(X)


@program(modes=ONE)
def test_a_large_subclass_and_memory_maps_of_files(wrap):
    y = np.arange(20_000.0).view(Marked)
    with tempfile.TemporaryFile() as few, tempfile.TemporaryFile() as many:
        z = np.memmap(few, float, "w+", shape=4)
        w = np.memmap(many, float, "w+", shape=20_000)
        z[:], w[:] = X, 1.0
        g = wrap(lambda x: np.sum(x * z) * np.sum(np.asarray(y)) + np.sum(w[2:6] * x))
        yield [g(X), g(X)]
        z[1] = y[-1] = 50.0
        yield g(X)
        w[4] = 7.0
        yield g(X)


@program(modes=ONE)
def test_an_array_of_objects_and_a_structured_one(wrap):
    y, z = (
        np.array([1.0, [2.0]], dtype=object),
        np.array([(1.0, 2)], dtype=[("a", float), ("b", int)]),
    )
    g, h = wrap(lambda x: np.sum(x) * y[0] * y[1][0]), wrap(lambda x: np.sum(x) * float(z["a"][0]))
    yield g(X), h(X)
    y[0], z["a"] = 3.0, 4.0
    yield g(X), h(X)
    y[1][0] = 5.0
    yield g(X), h(X)


@program(warns="parts")
def test_many_captured_parts(wrap):
    parts = [[float(k)] for k in range(30_000)]
    g = wrap(lambda x: np.sum(x) * parts[29_999][0])
    yield g(X)
    parts[29_999][0] = 2.0
    yield g(X)


@program(modes=ONE)
def test_some_thousand_captured_parts(wrap):
    parts = [{"a": float(k)} for k in range(5_000)]
    g = wrap(lambda x: np.sum(x) * parts[4_999]["a"])
    yield g(X)
    parts[4_999]["a"] = 2.0
    yield g(X)


# ---- what the function itself keeps -------------------------------------------------------------


@program(modes=ONE)
def test_a_table_that_fills_itself(wrap):
    nodes = {}

    def f(x):
        if "t" not in nodes:
            nodes["t"] = np.linspace(0, 1, 4)
        return np.sum(x * nodes["t"])

    g = wrap(f)
    yield [g(X), g(X), g(2 * X)]


@program(modes=ONE)
def test_a_property_that_is_computed_once(wrap):
    class Model:
        @functools.cached_property
        def nodes(self):
            return np.linspace(0, 1, 4)

        def __call__(self, x):
            return np.sum(x * self.nodes)

    m = Model()
    g = wrap(m)
    yield [g(X), g(2 * X)]
    m.__dict__["nodes"] = np.ones(4)
    yield g(X)


@program(modes=VALUE, warns="cache")
def test_a_cache_of_numbers(wrap):
    @functools.lru_cache
    def square(x):
        return x * x

    g = wrap(lambda x: square(x) + square(2))
    for x in (2.0, 3.0, 2.0, 3.0, 3.0, 4.0):
        yield g(x), square(2.0)


@program()
def test_a_cache_of_nodes(wrap):
    @functools.lru_cache
    def nodes(n):
        return np.linspace(0, 1, n)

    g = wrap(lambda x: np.sum(x * nodes(x.shape[0])))
    yield [g(X), g(X[:3]), g(2 * X), g(X[:3])]
    nodes(4)[0] = 5.0
    yield g(X)


@program()
def test_single_dispatch(wrap):
    @functools.singledispatch
    def energy(x):
        return np.sum(x)

    g = wrap(lambda x: energy(x))
    yield [g(X), g(2 * X)]
    energy.register(np.ndarray, lambda x: np.sum(x * x))
    energy.register(cr.rules.Traced, lambda x: np.sum(x * x))
    yield g(X)


@program(modes=ONE, error="changes what it captures")
def test_a_captured_array_is_a_buffer(wrap):
    buffer = np.zeros(4)

    def f(x):
        buffer[0] += 1.0
        return np.sum(x * buffer)

    g = wrap(f)
    yield [g(X), g(X)]


@program(modes=ONE)
def test_a_mode_that_is_set_and_set_back(wrap):
    m = types.SimpleNamespace(mode="test")

    def f(x):
        before, m.mode = m.mode, "train"
        try:
            return np.sum(x) if m.mode == "train" else np.prod(x)
        finally:
            m.mode = before

    g = wrap(f)
    yield [g(X), g(2 * X)], m.mode


@program(modes=ONE, error=".")
def test_counting_before_what_cannot_be_recorded(wrap):
    calls = [0]

    def f(x):
        calls[0] += 1
        return np.sum(list(map(functools.partial(str.format, "{}"), [x])) and x) * calls[0]

    g = wrap(f)
    yield [g(X), g(X)]


@program(modes=ONE, warns="captures has changed")
def test_what_changes_at_every_call(wrap):
    s = types.SimpleNamespace(rate=0.0)
    g = wrap(lambda x: np.sum(x) * s.rate)
    for k in range(40):
        s.rate = float(k)
        yield g(X)


def test_frozen():
    s, y = types.SimpleNamespace(rate=2.0), np.ones(4)
    g = compiled(lambda x: np.sum(x * y) * s.rate, captured="freeze")
    before = [g(X), g(X)][0]  # the second call is compared with an eager one
    s.rate, y[0] = 3.0, 9.0
    assert g(X) == before
    g.clear()
    assert g(X) != before


@pytest.mark.slow
def test_more_than_is_compared():
    from chainrules.config import CompileError

    rates = [[float(k)] for k in range(30_000)]

    def f(x):
        return x * rates[7][0]

    with pytest.raises(
        CompileError, match='capture only what it reads of it, or write captured="f'
    ):
        cr.compile(f, fallback="error")(2.0)
    g = cr.compile(f, captured="freeze", fallback="error")
    assert [14.0, 21.0] == [g(2.0), g(3.0)]


def test_fallback_error():
    from chainrules.config import CompileError

    g = compiled(lambda x: np.sum(x) * len(str(object())), fallback="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g(X)
    h = compiled(lambda x, buffer: buffer.__setitem__(0, 1.0), fallback="error")
    with pytest.raises(CompileError, match="not compiled"):
        h(X, np.ones(4))


# ---- rules --------------------------------------------------------------------------------------


@program()
def test_the_body_and_the_rules_of_a_primitive_read_state(wrap):
    scope = module_of(
        "import numpy as np, chainrules as cr\nRATE, SLOPE = 2.0, 2.0\n"
        "@cr.primitive\ndef scaled(x): return x * RATE\n"
        "@cr.frule.register(scaled)\n"
        "def push(tangents, f, x): return scaled(x), SLOPE * tangents[1]\n"
        "@cr.rrule.register(scaled)\n"
        "def pull(f, x): return scaled(x), lambda ybar: (cr.NoTangent(), SLOPE * ybar)\n",
        "rules_of_the_test",
    )
    scaled = scope.scaled
    g = wrap(lambda x: np.sum(np.sin(scaled(x))))
    yield g(X), g(2 * X)
    scope.RATE = 3.0
    yield g(X), g(X)
    scope.SLOPE = 5.0
    yield g(X), g(X)
