"""Recordings depend on the state that the functions which ran can read, however it is read.

Each state of the random search is read here once, plainly; the search reads it by other ways, too.
"""

import cProfile
import itertools
import queue
import sys
import time
import types
import warnings

import numpy as np
import pytest
from fuzz_compiled import HEAD, calls, compiled_tells_the_same, numbered
from fuzz_program import Program
from fuzz_states import STATES

import chainrules as cr
from chainrules.compiling.record.state import watch
from chainrules.compiling.record.state.bytecode import reads_of

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("number", range(len(STATES)), ids=lambda k: STATES[k][1])
def test_each_state(number):
    setup, read, *changes = STATES[number]
    lines = [*HEAD, numbered(setup, "0", 2.0), f"def f(x): return x * ({numbered(read, '0', 2.0)})"]
    lines += ["g = wrap(f)", *calls("g(1.5 + k)", "0", 3)]
    for k, change in enumerate(changes):
        lines += [numbered(change, "0", 5.0 + k), *calls("g(1.5 + k)", "0", 2)]
    program = Program((), (), "None", tuple(lines), "compiled")
    assert not [str(failure) for failure in compiled_tells_the_same(program)]


# ---- modules as they are in use -----------------------------------------------------------------


def module_of(source, name):
    module = sys.modules[name] = types.ModuleType(name)
    exec(source, vars(module))
    return module


PLOTTING = """
import itertools, logging, sqlite3, subprocess
import numpy as np
log = logging.getLogger("plotting")
layouts = itertools.count()                      # is used up
units = {k: [float(k)] for k in range(30_000)}    # is too much to compare
tokens = (line for line in ["m", "s"])            # is used up
class Figure:
    number = next(layouts)
    def __init__(self):
        self.id, self.backend = next(layouts), subprocess.run
    def draw(self, model):
        log.info("drawing %s of %s", model, units)
        return sqlite3.connect(model.name), next(tokens)
"""
MODEL = """
import numpy as np
import plotting_of_the_test as plt
RATE = 2.0
class Model:
    def __init__(self): self.scale = 3.0
    def plot(self):
        figure = plt.Figure()
        return figure.draw(self), plt.units[2]
    def __call__(self, x):
        if x[0] > 100.0:
            return self.plot()
        return np.sum(np.sin(self.link(x))) * RATE
    def link(self, x): return x * self.scale
    def __repr__(self): return plt.units[0]
"""


@pytest.mark.parametrize("derived", [lambda f: f, cr.value_and_grad, cr.hessian])
def test_a_numeric_function_beside_plots(derived):
    module_of(PLOTTING, "plotting_of_the_test")
    scope = module_of(MODEL, "model_of_the_test")
    model = scope.Model()
    g = cr.compile(derived(model), fallback="error")
    for change in (
        lambda: None,
        lambda: setattr(scope, "RATE", 5.0),
        lambda: setattr(model, "scale", 1.0),
    ):
        change()
        for k in range(3):
            expected, found = derived(model)(X + k), g(X + k)
            for a, b in zip(pair(found), pair(expected), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9)


def pair(x):
    return x if isinstance(x, tuple) else (x,)


PARSER = """
import re, functools, logging
log = logging.getLogger(__name__)
TABLE = [re.compile(text) for text in ("[a-z]+", "[0-9]+")]
class Lexer:
    def __init__(self, text): self.tokens = iter(text.split())
    def __next__(self): return next(self.tokens)
class Unit:
    cache = {}
    def __init__(self, factor): self.factor, self.lexer = factor, None
    @classmethod
    def parse(cls, text):
        unit = cls.cache[text] = cls({"km": 1000.0, "m": 1.0}[text])
        unit.lexer = Lexer(text)
        return unit
    def __rmul__(self, x): return x * self.factor
kilometre, metre = Unit.parse("km"), Unit(1.0)
def in_metres(x): return x * metre
"""


def test_units_beside_their_parser():
    scope = module_of(PARSER, "units_of_the_test")
    g = cr.compile(cr.grad(lambda x: np.sum(scope.in_metres(x) ** 2)), fallback="error")
    assert [2.0, 4.0, 6.0] == g(X).tolist() == g(X).tolist()
    scope.metre.factor = 2.0
    assert [8.0, 16.0, 24.0] == g(X).tolist()


def test_data_frames_beside_a_loss():
    pandas = pytest.importorskip("pandas")

    class Fit:
        weights = np.array([1.0, 2.0, 3.0])

        def loss(self, x):
            return np.sum((x - self.weights) ** 2)

        def table(self):
            return pandas.DataFrame({"w": self.weights})

    g = cr.compile(cr.grad(Fit().loss), fallback="error")
    assert [0.0, 0.0, 0.0] == g(X).tolist()
    Fit.weights[0] = 0.0
    assert [2.0, 0.0, 0.0] == g(X).tolist()


def test_a_global_named_as_an_attribute_is_none_of_the_code():
    scope = module_of(
        "import numpy as np\ntable = [[float(k)] for k in range(30_000)]\n"
        "def mean(): return table\ndef f(x): return np.mean(x * x)\n",
        "attributes_of_the_test",
    )
    g = cr.compile(scope.f, fallback="error")
    assert g(X) == pytest.approx(14 / 3)


# ---- what is refused ----------------------------------------------------------------------------

COUNTER = iter([1.0] * 100)
QUEUE: queue.SimpleQueue = queue.SimpleQueue()
REFUSED = {
    "uses time.time": lambda x: x * (time.time() > 0),
    "uses sys.argv": lambda x: x * len(sys.argv),
    "uses open": lambda x: x * len([open(__file__).close()]),  # type: ignore[func-returns-value]
    "captures a _queue.SimpleQueue": lambda x: x * len([QUEUE.put(1)]),  # type: ignore[func-returns-value]
    "an iterator that it captures": lambda x: x * next(COUNTER),
    "uses the attribute __subclasses__": lambda x: x * len(type(X).__subclasses__()),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_compared_is_named(said):
    with pytest.warns(cr.CompileWarning, match=f"it runs as it always did: .*{said}.*(argument)"):
        assert np.size(cr.compile(REFUSED[said])(X)) == 3
    with pytest.raises(cr.CompileError, match=said):
        cr.compile(REFUSED[said], fallback="error")(X)


def test_a_refused_function_has_not_begun():
    before = QUEUE.qsize()
    g = cr.compile(REFUSED["captures a _queue.SimpleQueue"])
    with pytest.warns(cr.CompileWarning, match="SimpleQueue"):
        g(X)
    for _ in range(3):
        g(X)
    assert QUEUE.qsize() == before + 4


def test_frozen_refuses_nothing():
    start = time.time()
    g = cr.compile(lambda x: x * (time.time() >= start), captured="freeze", fallback="error")
    assert [1.0, 2.0, 3.0] == g(X).tolist() == g(X).tolist()


def test_the_body_of_a_primitive_does_what_it_likes():
    clock = itertools.count()

    @cr.primitive
    def body(x):
        next(clock)
        return x * (time.time() > 0)

    g = cr.compile(lambda x: np.sum(body(x)), fallback="error", check=False)
    assert [g(X) for _ in range(4)] == [6.0] * 4
    assert next(clock) >= 4


# ---- arguments ----------------------------------------------------------------------------------


class Counted:
    def __init__(self):
        self.calls, self.rate = 0, 2.0

    @cr.compile
    def run(self, x):
        self.calls += 1
        return self.rate * x * self.calls


def test_a_method_that_counts_its_calls():
    model = Counted()
    with pytest.warns(cr.CompileWarning, match="a write into an argument"):
        assert [model.run(1.0) for _ in range(4)] == [2.0, 4.0, 6.0, 8.0]
    assert model.calls == 4


def test_a_count_among_fields_belongs_to_the_kind():
    g = cr.compile(lambda m, x: x * m.calls, fallback="error")
    model = Counted()
    for calls_ in (1, 1, 2, 2, 1, 3):
        model.calls = calls_
        assert g(model, 2.0) == 2.0 * calls_


class Text(str):
    __slots__ = ("rate",)


def test_a_field_of_a_text_among_the_arguments():
    text, g = Text("a"), cr.compile(lambda t, x: x * t.rate, fallback="error")
    for rate in (2.0, 2.0, 3.0):
        text.rate = rate
        assert g(text, 1.5) == 1.5 * rate


def test_flags_of_arguments():
    g = cr.compile(lambda x: x * (2.0 if x.flags.writeable else 3.0), fallback="error")
    fixed = X.copy()
    fixed.flags.writeable = False
    for _ in range(5):
        assert [2.0, 4.0, 6.0] == g(X).tolist()
        assert [3.0, 6.0, 9.0] == g(fixed).tolist()


def test_errors_of_what_nobody_uses():
    def f(x):
        np.linalg.inv(x)
        return np.sum(x)

    g = cr.compile(f, fallback="error")
    assert [g(np.eye(2)), g(np.eye(2) * 2), g(np.eye(2) * 3)] == [2.0, 4.0, 6.0]
    with pytest.raises(np.linalg.LinAlgError):
        g(np.zeros((2, 2)))


# ---- who is told --------------------------------------------------------------------------------

RATES = [2.0]


def rate():
    return RATES[0]


def changed_state_is_seen():
    RATES[0] = 2.0
    g = cr.compile(lambda x: x * rate(), fallback="error")
    before = [g(1.0), g(1.0)]
    RATES[0] = 3.0
    return [*before, g(1.0)] == [2.0, 2.0, 3.0]


def test_a_profile_function_that_is_there_goes_on():
    seen = []

    def profile(frame, event, given):
        if event == "call" and frame.f_code is rate.__code__:
            seen.append(1)

    sys.setprofile(profile)
    try:
        assert changed_state_is_seen()
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert seen


def test_beside_cprofile():
    profile = cProfile.Profile()
    assert profile.runcall(changed_state_is_seen)
    assert profile.getstats()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of Python 3.12")
def test_where_others_have_taken_all_tools():
    tools = sys.monitoring
    taken = [number for number in range(6) if tools.get_tool(number) is None]
    for number in taken:
        tools.use_tool_id(number, "another")
    try:
        assert changed_state_is_seen()
        assert sys.getprofile() is None
    finally:
        for number in taken:
            tools.free_tool_id(number)
    assert changed_state_is_seen()
    assert not [k for k in range(6) if tools.get_tool(k) == watch.TOOL]


@pytest.mark.slow
def test_functions_that_the_collector_calls_are_nobodys():
    import gc

    def callback(phase, info):
        time.time()

    gc.callbacks.append(callback)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", cr.CompileWarning)
            g = cr.compile(lambda x: (gc.collect(), x * 2.0)[1])
            assert [g(1.0), g(2.0)] == [2.0, 4.0]
    finally:
        gc.callbacks.remove(callback)


# ---- names that code reads ----------------------------------------------------------------------


def module_names(m, n):
    import conf
    from conf import rate as r

    getattr(config, "scale", n + 1)  # noqa: F821
    return np.sum(m) * config.a.b * conf.shift * r  # noqa: F821


def test_reads():
    reads, names, computed, every = reads_of(module_names.__code__)
    found = {(read.kind, read.name, read.attributes) for read in reads}
    assert {("global", "np", ("sum",)), ("global", "config", ("a", "b"))} <= found
    assert {("global", "config", ()), ("import", "conf", ("shift",))} <= found
    assert {("import", "conf", ("rate",))} <= found
    assert "scale" in names
    assert not computed
    assert not every
    assert reads_of((lambda m, n: getattr(m, "k_" + n)).__code__).computed
    assert reads_of((lambda n: globals()[n]).__code__).all_globals
    assert not reads_of((lambda: globals()["n"]).__code__).all_globals


@pytest.mark.parametrize("f", [lambda x: x * len([print("", end="")]), lambda x: x * len(sys.argv)])
def test_warnings_show_the_line_of_the_user(f):
    g = cr.compile(f)
    with pytest.warns(cr.CompileWarning) as said:
        g(X)
    assert [warning.filename for warning in said] == [__file__]


def test_a_rule_that_is_registered_anew_is_recorded_anew():
    @cr.primitive
    def doubled(x):
        return 2.0 * x

    def register(slope):
        @cr.rrule.register(doubled)
        def doubled_rrule(doubled, x):
            return doubled(x), lambda ybar: (cr.NoTangent(), slope * ybar)

    register(2.0)
    g = cr.compile(cr.grad(doubled))
    assert [g(1.0), g(2.0), g(3.0)] == [2.0, 2.0, 2.0]
    register(5.0)
    assert [g(1.0), g(2.0)] == [5.0, 5.0]
