"""Loops by ``scan``, ``loop`` and ``checkpoint``, of random steps, in segments of any length.

What a step captures is reached in many ways: through variables, containers, objects, methods,
partials and other functions; and a step may hold a loop or a derivative of its own.
"""

from fuzz_program import Program
from hypothesis import strategies as st

SETUP = """\
import dataclasses, functools
@dataclasses.dataclass
class Model:
    w: object
    b: float = 0.3
    def __call__(self, t):
        return np.tanh(t * self.w + self.b)
    def twice(self, t):
        return self(self(t))
"""
CAPTURED = """\
v = np.cos(w)
p = {"a": w * v, "b": [v, (0.5, w)]}
model = Model(v)
def g(t):
    return t * w - v
def power(t, n):
    return t * v if n == 0 else 0.7 * power(t, n - 1) + w
h = functools.partial(lambda u, t, s=w: t * u + s, v)
""".splitlines()
# Of what a step is made: of its carry c, of the number x beside it, of what is captured.
PARTS = """
np.sin(c * w) + x|0.5 * c * v[::-1]|np.where(c > 0.3, c * w, c ** 2 - x)
c - 0.1 * p["a"] * np.sum(c)
model(c) + x|model.twice(c)|0.5 * g(c)|np.tanh(g(c) * x)|np.tanh(power(c, 2))|0.3 * h(c) + 0.1 * x
c * p["b"][1][0] + p["b"][0]|np.stack([c[1], np.sin(c[0] + x)])|np.tanh(c)|0.2 * w + x|c + 0.0
cr.checkpoint(lambda d: np.tanh(d * w))(c)|cr.checkpoint(model)(c)|cr.checkpoint(g)(0.5 * c)
cr.loop(3, lambda d: np.sin(d) * v, c, segment=2)|cr.loop(2, model, c, segment=1)
cr.scan(lambda d, y: (np.sin(d + y), d * y), c, w, segment=1)[1][0]
cr.grad(lambda d: np.sum(np.sin(d) * w))(c)|cr.jvp(lambda d: np.sin(d * v), (c,), (w,))[1]
cr.grad(lambda d: np.sum(cr.loop(3, lambda u: np.sin(u * w), d * c, segment=2)))(c)
cr.checkpoint(lambda d: cr.checkpoint(lambda u: np.sin(u * d))(w))(c)
"""
# How a step is told its carry, and how it hands it on; where it begins.
CARRIES = [
    ("c = carry", "c", "np.array([0.4, 0.9])"),
    ("c = carry", "c", "w * 0.5"),
    ("c, s = carry; c = c + 0.1 * s", "(c, s * 0.9 + x)", "(w, 0.5)"),
    ('c = carry["c"] * carry["s"][0]', '{"c": c, "s": [0.8]}', '{"c": v, "s": [w[0]]}'),
    ("c = carry.w", "Model(c, carry.b)", "Model(w)"),
    ("c, k = carry; c = c * v[k % 2]", "(c, k + 1)", "(w, 0)"),
    (
        'c = carry["c"] * w[carry["i"][0]]',
        '{"c": c, "i": [1 - carry["i"][0]]}',
        '{"c": v, "i": [1]}',
    ),
    ("c = carry; c *= 0.9; c[1] = c[0] * w[0]", "c", "w * 1.0"),
    ("c = carry.copy(); c[0] = c[0] * w[1]; c += 0.1", "c", "w * v"),
]
ITEMS = [
    "np.linspace(-1.0, 1.0, {n})",
    "np.linspace(-1.0, 1.0, {n}) * w[0]",
    "[w[1]] * {n}",
    "range({n})",
    "(0.3 * k for k in range({n}))",
]
# What a step leaves behind, and what is read of it: right, or an error.
KEPT = [
    ("kept = []", "kept.append(np.sum(c * w))", "kept[-1]"),
    ("kept = []", "kept.append(0.5 * c)", "total(kept[:1])"),
    ("kept = {}", 'kept["c"] = c * 1.0', 'total(kept["c"])'),
    ("kept = np.zeros_like(w)", "kept[0] = c[1]", "kept[0] + kept[1]"),
    ("kept = w * 1.0", "kept[:1] = 0.3", "np.sum(kept * w)"),
    ("kept = Model(w)", "kept.b = np.sum(np.cos(c))", "kept.b"),
]
OUTPUTS = ["None", "c", "x * 2.0", '{"u": c, "v": (x, None)}', "np.sum(c * w)"]
TOTAL = "0.1 * total(carry) + 0.1 * total(ys)"
TOTALS = """\
def total(t):
    if t is None:
        return 0.0
    if isinstance(t, dict):
        return total(list(t.values()))
    if isinstance(t, Model):
        return total([t.w, t.b])
    if isinstance(t, (list, tuple)):
        return sum([total(part) for part in t])
    return np.sum(np.sin(t))
"""


@st.composite
def programs(draw):
    parts = [part for line in PARTS.strip().split("\n") for part in line.split("|")]
    begin, end, first = draw(st.sampled_from(CARRIES))
    count = draw(st.sampled_from([0, 1, 2, 3, 5, 7, 40]))
    segment = draw(st.sampled_from([None, 1, 2, 3, count + 1]))
    steps = [f"    c = {draw(st.sampled_from(parts))}" for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        output = draw(st.sampled_from(OUTPUTS))
        items = draw(st.sampled_from(ITEMS)).format(n=count)
        head, back = "def step(carry, x):", f"    return {end}, {output}"
        run = f"carry, ys = cr.scan(step, {first}, {items}, segment={segment})"
    else:
        head, back = "def step(carry, x=0.3):", f"    return {end}"
        run = f"carry, ys = cr.loop({count}, step, {first}, segment={segment}), None"
    made, result = (), TOTAL
    if count and draw(st.integers(0, 3)) == 0:
        kept, leave, read = draw(st.sampled_from(KEPT))
        made, result = (kept,), f"{TOTAL} + {read}"
        steps.append(f"    {leave}")
    body = (*CAPTURED, *made, head, f"    {begin}", *steps, back, run)
    return Program((("w", "np.array([0.7, -0.4])"),), body, result, (SETUP + TOTALS,))
