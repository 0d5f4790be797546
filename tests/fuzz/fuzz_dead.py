"""Singular functions whose bad entries are moved about and then never used."""

import numpy as np
from fuzz_program import Program
from fuzz_settings import table
from hypothesis import strategies as st

SINGULAR = """
np.log(x)|np.sqrt(x)|1.0 / x|x ** 0.5|np.log(x) * x|x ** -1.0|np.arctanh(1.0 - x)
np.arccosh(1.0 + x)|np.log10(x)
np.divide(1.0, x)|np.power(x, 1.5)|np.sqrt(x) * np.sin(x)|np.cbrt(x)|np.log(x) + x.T.T
np.arcsin(1.0 - x)|x / np.abs(x)
"""
MOVES = """
{s}.copy()|{s}.reshape(-1)|np.flip({s})|{s}.T|np.roll({s}, 1)|np.stack([{s}, {s}])
np.concatenate([{s}, {s}])
{s}[::-1]|np.expand_dims({s}, 0)|np.repeat({s}, 2)|np.tile({s}, 2)|np.atleast_2d({s})
np.ravel({s})|{s}.flatten()
np.broadcast_to({s}, (2, *{s}.shape)).copy()
np.swapaxes({s}, 0, -1)|np.rot90({s})
np.moveaxis({s}, 0, -1)|np.take({s}, [0, -1, 0], axis=0)|np.split({s}, 1)[0]|np.append({s}, {s})
np.squeeze({s})
{s}.astype({s}.dtype)|np.hstack([{s}, {s}])|{s}.view()
{s}[...]
"""
LINEAR = ["s * 2.0", "s + 1.0", "-s", "s + s", "s", "s", "s"]
USES = """
s[b] = 0.0|s[b] = 0.0|s = s[~b]|s = np.where(b, 0.0, s)|s = np.sum(s, where=~b)
np.copyto(s, 0.0, where=b)
np.putmask(s, b, 1.0)|np.place(s, b, [1.0])|s = np.extract(~b, s)
s = np.compress(~b.reshape(-1), s)
s = np.select([b], [0.0], s)|s = np.delete(s, np.flatnonzero(b))
s = np.multiply(s, 2.0, where=~b, out=np.zeros(s.shape))
s = np.mean(s, where=~b)|s.reshape(-1)[b.reshape(-1)] = 0.0
s = np.choose(b * 1, [s, np.zeros(s.shape)])
s = np.sum(s, axis=0, where=~b)|s = np.nansum(np.where(b, np.nan, s))
s = np.max(s, where=~b, initial=-9.0)
s = np.take(s, np.flatnonzero(~b))|s = s.reshape(-1)[np.flatnonzero(~b)]
s = np.ma.masked_array(s, b).sum()
s = s.reshape(-1)[~b.reshape(-1)]|s[np.nonzero(b)] = 0.0|s.flat[np.flatnonzero(b)] = 0.0
s = np.sum(np.where(b, 0.0, s))
"""


@st.composite
def programs(draw):
    shape = draw(st.sampled_from([(2,), (3,), (4,), (2, 2), (2, 3)]))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    x = rng.uniform(0.3, 0.9, shape).round(2)
    bad = rng.random(shape) < 0.5
    x[bad] = draw(st.sampled_from([0.0, -1.0, 0.0]))
    body = [f"b = np.array({bad.tolist()})", f"s = {draw(st.sampled_from(table(SINGULAR)))}"]
    if draw(st.integers(0, 5)) == 0:
        words = (
            "np.ones(x.shape), where=~b" if draw(st.booleans()) else "np.zeros(x.shape), where=~b"
        )
        body[1] = f"s = np.{draw(st.sampled_from(['log', 'sqrt', 'reciprocal']))}(x, out={words})"
    for _ in range(draw(st.integers(0, 3))):
        move = draw(st.sampled_from(table(MOVES)))
        # The mask takes the same way; it cannot be written through where NumPy gives a view of it.
        body.append(f"s, b = {move.format(s='s')}, {move.format(s='b')}")
        if draw(st.integers(0, 2)) == 0:
            body.append(f"s = {draw(st.sampled_from(LINEAR))}")
    body.append(draw(st.sampled_from(table(USES))))
    result = draw(st.sampled_from(["np.sum(s)", "s", "np.sum(s * s)"]))
    return Program((("x", f"np.array({x.tolist()})"),), tuple(body), result)
