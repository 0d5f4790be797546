"""Smooth functions written with functions that have kinks, where these have them.

Python's own max, min and sorted compare, and comparisons choose a branch at a tie: the derivative
is that of the branch, which need not be that of a function on both sides. Nor has np.sign, whose
value at 0 is on neither. np.abs and np.hypot are left out: by reverse over reverse their second
derivative at 0 is 0 where the cotangent is 0, which is right for distances of points from
themselves and wrong for squares.
"""

from fuzz_program import Program
from fuzz_settings import table
from hypothesis import strategies as st

SMOOTH = """
np.sum(np.sort(x) ** 2)|np.max(x) * np.min(x)|np.max(x) + np.min(x)|np.maximum(x, -x) ** 2
np.maximum(x, 0.0) ** 2 + np.minimum(x, 0.0) ** 2|np.sum(np.sort(x) ** 3)|np.prod(np.sort(x))
np.maximum(x, x.T) * np.minimum(x, x.T)|np.sort(x)[0] * np.sort(x)[-1]
np.sum(np.sort(x)) ** 2
np.maximum(x, x[::-1]) * np.minimum(x, x[::-1])|np.maximum(x, x[::-1]) + np.minimum(x, x[::-1])
np.linalg.norm(x) ** 2
np.fmax(x, 1.0) * np.fmin(x, 1.0)|np.partition(x, 0).sum() ** 2|np.sum(np.partition(x, 0) ** 2)
np.where(x > 1.0, x, x) ** 2|np.clip(x, 0.0, 1.0) * np.maximum(x, 1.0)
np.median(x[:2]) ** 2
np.sort(x, axis=0)[0] * np.sort(x, axis=0)[-1]|np.sum(x[np.argsort(x)] ** 2)
np.cumsum(np.sort(x))[-1] ** 2|np.sqrt(x * x) ** 2
x.max() * x.min() + np.sum(x)|np.amax(x, axis=0) * np.amin(x, axis=0)
np.maximum.reduce(x) * np.minimum.reduce(x)
np.ptp(x) ** 2|np.heaviside(x, 0.5) * x ** 3
np.max(x) ** 2 * np.min(x) ** 2
np.maximum(x[0], x[1]) * np.minimum(x[0], x[1])|np.quantile(x, 0.0) * np.quantile(x, 1.0)
"""

# Whose calls put the same numbers in different orders: smooth where a direction tells which one.
CROSSED = """
np.maximum(x, x[::-1]) * np.minimum(x[::-1], x)|np.max(x) * np.min(x[::-1])
(np.maximum(x, 0.0) - np.maximum(-x, 0.0)) ** 2|np.max(x) * -np.max(-x)
np.clip(x, 0.0, 9.0) * x[::-1] - np.clip(-x, 0.0, 9.0) * x[::-1]
np.sort(x) * np.sort(x[::-1])|np.sort(x)[0] * -np.sort(-x)[0]|np.sort(x)[-1] * np.min(x[::-1])
np.quantile(x, 1.0) * -np.quantile(-x[::-1], 1.0)|np.fmax.reduce(x[::-1]) * np.fmin.reduce(x)
np.maximum.accumulate(x)[-1] * np.minimum.accumulate(x[::-1])[-1]
np.maximum(x, 1.0) * np.clip(x, None, 1.0)|np.clip(x, x[::-1], 9.0) * np.minimum(x[::-1], x)
np.median(x[::-1]) * np.ptp(x) ** 2|np.partition(x, 0)[0] * -np.partition(-x, 0)[0]
"""

# Of ``d``, in which one number of ``x`` stands twice, and which is as smooth as ``x`` itself.
TWICE = """
np.unique(d) ** 2|np.unique(d, return_counts=True)[0] ** 3|np.union1d(x, d) ** 2
np.unique_values(d) ** 3|np.unique(np.stack([x, x]), axis=0) ** 2|np.sort(d) ** 3
np.partition(d, 1) ** 2|np.max(d) ** 3|np.min(d) ** 3|np.median(d) ** 2|np.ptp(d) ** 3
np.quantile(d, 0.3) ** 2|np.maximum(d, d[::-1]) ** 2|np.clip(d, x[0], None) ** 3
np.maximum.accumulate(d) ** 3|np.nanmax(d) ** 3|np.fmin.reduce(d) ** 2|d[np.argsort(d)] ** 3
np.setdiff1d(d, x[:1]) ** 2|np.intersect1d(d, x) ** 2|np.unique_counts(d).values ** 3
np.percentile(d, [10, 60]) ** 2|np.linalg.norm(d, np.inf) ** 2|np.trim_zeros(d) ** 3
"""


@st.composite
def programs(draw):
    if draw(st.integers(0, 3)) == 0:
        return twice(draw)
    entry = st.sampled_from([0.0, 1.0, 1.0, 2.0, -1.0])
    crossed = draw(st.booleans())
    result = draw(st.sampled_from(table(CROSSED if crossed else SMOOTH)))
    number = "x[" not in result and "axis" not in result and draw(st.integers(0, 5)) == 0
    number = number and not crossed
    # The largest of three by the smallest is not smooth where all three meet.
    most = 3 if "np.sum(np.sort" in result else 2
    x = draw(entry) if number else draw(st.lists(entry, min_size=2, max_size=most))
    body = [draw(st.sampled_from(["x = x * 1.0", "x = x + 0.0"]))] if draw(st.booleans()) else []
    made = f"{x}" if number else f"np.array({x})"
    check = "crossed ties" if crossed else "ties"
    return Program((("x", made),), tuple(body), result, check=check)


def twice(draw):
    some = draw(
        st.lists(st.sampled_from([0.3, 1.1, 2.4, -0.8]), min_size=2, max_size=3, unique=True)
    )
    again = draw(st.sampled_from(["x[:1]", "x", "x[-1:]", "x[::-1]"]))
    body = (f"d = np.concatenate([x, {again}])",)
    result = draw(st.sampled_from(table(TWICE)))
    return Program((("x", f"np.array({some})"),), body, result, check="agree")
