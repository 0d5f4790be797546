"""Ways on which a number may lose its derivative: memory, text, conversions, second runs."""

from fuzz_program import Program
from hypothesis import strategies as st

POINT = "[1.0, 2.0, 3.0]"
MEMOS = [
    """\
import functools
@functools.lru_cache
def g(t):
    return t ** 2""",
    """\
import functools
@functools.cache
def g(t):
    return np.sin(t) * t""",
    """\
memo = {}
def g(t):
    if t not in memo:
        memo[t] = t * t
    return memo[t]""",
    """\
memo = {}
def g(t):
    return memo.setdefault(t, t * 3.0)""",
    """\
memo = {}
def g(t):
    return memo.setdefault(str(t), t * t)""",
    """\
import functools
class Held:
    def __init__(self, t):
        self.t = t
    @functools.cached_property
    def square(self):
        return self.t ** 2
def g(t):
    return Held(t).square""",
    """\
import functools
class Shared:
    t = 3.0
    @functools.cached_property
    def square(self):
        return self.t ** 2
shared = Shared()
def g(t):
    shared.t = t
    return shared.square""",
]
IMPURE = """
rng = np.random.default_rng(0);{x} * rng.normal()
rng = np.random.default_rng(0);cr.checkpoint(lambda t: t * rng.normal())({x})
it = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);np.stack([{x}, {x}]) * next(it)
it = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);cr.checkpoint(lambda t: t * next(it))({x})
calls = [];(calls.append(1), {x} * len(calls))[1]
calls = [];cr.checkpoint(lambda t: (calls.append(1), t * len(calls))[1])({x})
c = np.ones(3);cr.checkpoint(lambda t: np.sum(np.sin(t) * c))({x})
c = np.ones(3);{x} * c
c = 2.0;cr.checkpoint(lambda t: np.sin(t) * b)({x})
c = 2.0;cr.checkpoint(lambda t: np.sum(np.sin(t) * b * c))({x})
c = [2.0, 3.0];{x} * c.pop()
c = np.ones(3);cr.map(lambda t: t * c, np.stack([{x}, {x}]))
"""
AFTER = [
    "c[:] = 5.0",
    "c[0] = 5.0",
    "rng.normal()",
    "c.append(7.0)",
    "c += 1.0",
    "b *= 2.0",
    "b[...] = 5.0",
]
# NumPy hands the entries of an object array out as they are: an array without axes stays one, and
# becomes a number as soon as something is computed with it.
CONVERT = """
float(f"{{{x}}}") * {x}|float(str({x})) * {x}|float(repr({x})) * {x}|float("%s" % {x}) * {x}
float(format({x}, ".17g")) * {x}
np.sum({x}.astype(object))|np.array([{x}, {x}], dtype=object).sum()|np.asarray([{x}, {x}]).sum()
np.astype({x}, float)
np.array({x}, dtype=float)|np.float64({x})|float({x})|{x}.item()|{x}.tolist()
np.fromiter([{x}, {x}], float)|complex({x}).real
np.array([{x}])[0] * 1.0|sum([{x}, {x}])|max({x}, 0.5)|abs({x})
np.array([{x} * 1j, {x}]).imag|np.asarray({x} * 1j).imag
np.real(np.asarray({x} * 1j + {x}))|np.asarray({x})|np.asanyarray({x})|np.array({x}, copy=None)
np.full(2, {x})|np.full_like(np.ones(2), {x})
np.sum([{x}, {x}])|np.dot([{x}, 1.0], [{x}, 2.0])|np.array({x}, object)|np.linspace(0.0, {x}, 3)
np.arange(3) * {x}
np.array(str({x}), dtype=float)
np.array([str({x})]).astype(float)
np.ones(2) * {x}|np.ones(2).__mul__({x})|[1.0, 2.0] * {x}|np.add(np.ones(2, np.float32), {x})
np.ones(2, object) * {x}
np.ma.masked_array([1.0, 2.0]) * {x}|np.atleast_1d({x})|np.broadcast_to({x}, 3)
np.sum(np.array([{x}, {x}], object) ** 2)
cr.jvp(lambda t: t * t, (np.asarray({x}),), (np.asarray({x}),))[1]
cr.grad(lambda t: np.sum(t * t))(np.asarray({x}))
cr.linearize(np.tanh, np.asarray({x}))[1]({x})|cr.array([{x}, 1.0])
cr.grad(lambda t: np.sum(t * {x}))({x})
__import__("chainrules").numpy.full(2, {x}, dtype=object).sum()
__import__("chainrules").numpy.array([{x}], dtype=object).sum() * 1.0
__import__("math").sin({x})|__import__("statistics").mean([{x}, {x}])
__import__("copy").deepcopy({x}) * 2.0|hash({x}) * 0 + {x}
__import__("json").loads(__import__("json").dumps({x}))
__import__("fractions").Fraction({x}) * 2.0
__import__("pickle").loads(__import__("pickle").dumps({x}))
__import__("array").array("d", [{x}])[0]
np.char.mod("%.17g", {x}).astype(float)|np.vectorize(str)({x}).astype(float)|np.array2string({x})
float(np.format_float_positional({x}))
"""


@st.composite
def memos(draw):
    setup = draw(st.sampled_from(MEMOS))
    warm = draw(st.lists(st.sampled_from(["g(1.0)", "g(3.0)", "g(2.0)"]), min_size=1, max_size=3))
    x = draw(st.sampled_from(["1.0", "2.0", "3.0"]))
    result = draw(st.sampled_from(["g(x)", "g(x) * x", "g(x * 1.0) + g(2.0)"]))
    return Program((("x", x),), (), result, (setup, *warm))


@st.composite
def second_runs(draw):
    captured, expression = draw(st.sampled_from(IMPURE.strip().split("\n"))).split(";", 1)
    body = ["b = x * 1.0", f"a = {expression.format(x='x')}"]
    if draw(st.booleans()):
        body.append(draw(st.sampled_from(AFTER)))
    x = draw(st.sampled_from(["0.7", "np.array([0.3, 0.9, 1.4])", "np.array([0.7])"]))
    result = draw(st.sampled_from(["a", "a * a", "np.sum(a)"]))
    return Program((("x", x),), tuple(body), result, (captured,), check="first order")


@st.composite
def conversions(draw):
    entries = [entry for line in CONVERT.split("\n") for entry in line.split("|") if entry]
    x = draw(
        st.sampled_from(
            [
                "2.0",
                "3.0",
                "np.array(0.7)",
                "np.array([0.3, 0.9])",
                "np.float64(0.7)",
            ]
        )
    )
    name = draw(st.sampled_from(["x", "x", "(x * x)", "x[0]"]))
    line = f"a = {draw(st.sampled_from(entries)).format(x=name)}"
    return Program((("x", x),), (line,), draw(st.sampled_from(["a", "a * x", "np.sum(a)"])))


def programs():
    return st.one_of(memos(), second_runs(), conversions())
