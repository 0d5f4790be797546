"""One array, a view, a new array made of it, a view of that, a write into one, a read of others."""

from fuzz_indices import indices
from fuzz_settings import table
from fuzz_values import Scope, inputs
from fuzz_views import COPIES, HANDED_OUT, PLAIN_WRITES, VIEWS, WRITES, results
from hypothesis import strategies as st

SHAPES = [(2,), (3,), (1, 2), (2, 2), (2, 3), (1, 2, 2), ()]
SIMPLE = """
{x}|{x}.T|{x}[0]|{x}[:1]|{x}.reshape(-1)|{x}[::-1]|{x}[...]|{x}.ravel()|{x}[-1:]|{x}[None]
{x} * {x}
"""
# Each gives a new array; the tangent of most is the tangent of what they are made of.
NEW = """
{x} + 0.0|{x} - 1.0|-{x}|{x} * 1.0|{x}.copy()|+{x}|{x} * {x}|np.array({x})|1.0 + {x}|{x} / 1.0
np.sin({x})|{x}.T + 0.0
({x} + 0.0).T|np.stack([{x}, {x}])|np.where({x} > 0.9, {x}, {x} * 2.0)|np.outer({x}, {x})
{x}.T.copy()|{x} + {x}
"""


@st.composite
def programs(draw):
    expression = draw(inputs(SHAPES, ["C", "C", "F", "strided", "float32"]))
    scope = Scope([("x", expression)])
    seldom = draw(st.integers(0, 3)) == 0
    views = [*table(SIMPLE), *(table(VIEWS) if seldom else [])]
    new = [*table(NEW), *(table(COPIES) + table(HANDED_OUT) if seldom else [])]
    writes = table(WRITES) if seldom else table(PLAIN_WRITES)
    for name, pool in zip("abc", (views, new, views)):
        made = draw(st.sampled_from(pool)).format(x=scope.names[-1], y="x")
        scope.add(f"{name} = {made}", name)
    if draw(st.integers(0, 2)) == 0:
        scope.add(
            f"d = {draw(st.sampled_from(views)).format(x=draw(st.sampled_from('xb')), y='x')}", "d"
        )
    for _ in range(draw(st.integers(1, 2))):
        x = draw(st.sampled_from(scope.names[::-1]))
        shape = getattr(scope[x], "shape", ())
        index = draw(indices(shape, basic=True)) if draw(st.booleans()) else "..."
        v = draw(st.sampled_from(["0.0", "1.46", "x", "b"]))
        if v == "0.0" or v == "1.46" or v in scope.names:
            scope.add(draw(st.sampled_from(writes)).format(x=x, y="x", v=v, i=index))
    return scope.program(draw(results(scope)))
