"""Code as adopted modules have it: arrays made plain and filled, math, float, SciPy by a mirror."""

from fuzz_settings import table
from fuzz_values import Scope, inputs
from hypothesis import strategies as st

SETUP = (
    "from chainrules import math, numpy as np",
    "from chainrules._numbers import Float as float, Type as type",
    "from chainrules.scipy import linalg",
    "class Own(np.ndarray): pass",
    "draws = lambda: np.random.default_rng(3)",
)
MAKERS = """
np.zeros(3)|np.ones((2, 3))|np.array([0.5, 1.0, 1.5])|np.asarray([0.5, 1.0, 1.5])|np.arange(3.0)
np.linspace(0.2, 0.8, 3)|np.full((3,), 0.7)|np.eye(3)|np.tile(np.ones(1), 3)|np.copy(np.ones(3))
np.zeros_like([1.0, 2.0, 3.0])|np.ones(3) * 2.0|-np.eye(2)|np.diag(np.arange(1.0, 4.0))
np.concatenate([np.ones(1), np.zeros(2)])|np.array([[1.0, 2.0], [3.0, 4.0]])|np.ones(3).copy()
np.array({x})|np.asarray({x})|np.array({x}, dtype=float)|{x} * 1.0|np.full(3, {s})
np.array([{s}, 1.0, {s}])|np.array([[{s}, 0.5], [0.5, {s}]])|np.stack([{x}, {x}])[0]
np.r_[{s}, 0.5, {s}]|np.r_[0.2, 0.3]|np.c_[[{s}, 0.5], [0.1, 0.2]]
np.linalg.inv([[{s}, 0.1], [0.2, 1.5]])|np.cumsum([{s}, 0.5, {s}])|np.float64([0.1, 0.2])
np.concatenate([[{s}], [0.1, {s}]])|np.vstack([[0.4, {s}], [1.0, 0.5]])
np.broadcast_arrays({s}, np.ones(2))[0].copy()|draws().random(3)|draws().normal(0.0, 1.0, (2, 2))
draws().standard_normal(3) * {s}
"""
# Arrays of a class of its own, and masked ones, beside traced arrays.
OWN = """
np.array({a}).view(Own)|np.array({a}).view(Own) * x|x - np.asarray({a} * {s}).view(Own)
{s} * np.array({a}).view(Own)|np.ma.array({a} * 1.0, mask=np.zeros({a}.shape, bool)) * x
x * np.ma.masked_where({a} > 0.7, {a} * {s})|np.dot(x, np.array({a}).view(Own))
x @ np.ma.asarray({a} + 1.0)|np.where(x > 0.6, x, np.array({a}).view(Own))
np.concatenate([x, np.array({a}).view(Own)])|np.multiply(x, np.array({a}).view(Own))
np.ma.masked_where({a} > 0.7, {a} * 1.0).filled(0.3)
"""
NUMBERS = """
{a}.flat[0]|{s}|math.sin({s})|math.exp({s}) * 0.5|float({s})|math.hypot({s}, 1.0)|float({a}.sum())
math.log({s} + 2.0)|math.atan2({s}, 0.7)|math.sqrt({s} * {s} + 1.0)|math.fsum([{s}, 0.5])
np.linalg.norm([{s}, 0.5])|np.std([{s}, 0.5, 1.0])|np.float64({s})|np.median([{s}, 0.1, 0.2])
np.linalg.det([[{s}, 0.5], [0.1, 1.0]])|np.sum([{s}, {s}])|np.interp(0.3, [0.0, 1.0], [{s}, 0.5])
{s} if type({s}) in (float, np.float64) else 2.0 * {s}|{s} if type({a}) is np.ndarray else 0.5 * {s}
type(float({s}))({s} * 0.7)|np.sum(np.asarray({a})) * 0.1|np.sum({a} * np.ones({a}.shape))
math.pow(1.0 + {s} * {s}, 0.3)|np.sum({a})|linalg.det(np.eye(2) * {s} + 0.5)
"""
WRITES = """
{b}[0] = {s}|{b}[-1] += {s}|{b}[...] *= {s}|{b}[:1] = {b}[-1:]|{b} += {s}|{b}[0] = {b}[-1] * {s}
{b} *= 0.5|{b}[::2] = {s}|{b}.fill({s})|np.copyto({b}, {s})|{b}[{b} > 0.6] = {s}
np.multiply({b}, {s}, out={b})|{b}[:] = {b}[::-1]|{b}.T[0] -= {s}
"""
ARRAYS = """
{a} * {s}|{a} + {a}[::-1]|np.cumsum({a})|{a}.T|{a}[1:]|{a}.reshape(-1)|np.sqrt({a} * {a} + 1.0)
{a}.copy()|np.where({a} > 0.6, {a}, {s})|{a}[...]|np.outer({a}, {a})|{a}.ravel()|{a}[::-1]
linalg.solve(np.eye(2) * 2.0 + {s}, np.array([1.0, {s}]))|np.array([*map(math.cos, {a}.flat)])
np.array([t * {s} for t in {a}.flat])|np.diag({a}.reshape(-1))|np.asarray({a})|np.array({a})
np.dot({a}, {a})|{a} - x|x * {a}|{a} / (1.0 + {s} * {s})|np.multiply({a}, {a})
np.concatenate([{a}, {a}])|np.where({a} > 0.6, x, {a})
"""


KINDS = ["make", "make", "own", "number", "write", "write", "write", "array"]


@st.composite
def programs(draw):
    given = [("x", draw(inputs([(3,), (3,), (2, 2), ()], ["C", "C", "F", "strided"])))]
    scope = Scope(given, SETUP)
    scope.add("s = np.sum(x) * 0.3", "s")
    arrays, numbers, own = ["x"], ["s"], []

    def filled(text):
        return text.format(
            x="x",
            a=draw(st.sampled_from([*arrays, *own])),
            s=draw(st.sampled_from(numbers)),
            b=draw(st.sampled_from(arrays)),
        )

    for _ in range(draw(st.integers(3, 10))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "write":
            scope.add(filled(draw(st.sampled_from(table(WRITES)))))
            continue
        expressions = {"make": MAKERS, "own": OWN, "number": NUMBERS, "array": ARRAYS}[kind]
        expression, name = filled(draw(st.sampled_from(table(expressions)))), scope.fresh()
        if name != "s" and scope.add(f"{name} = {expression}", name):
            {"number": numbers, "own": own}.get(kind, arrays).append(name)
    used = [draw(st.sampled_from([*arrays[-2:], *numbers[-2:], *own[-2:]])) for _ in range(2)]
    return scope.program(" + ".join(f"np.sum(np.array({name}) ** 2)" for name in used))
